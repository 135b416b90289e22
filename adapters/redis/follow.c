/* SPDX-License-Identifier: MIT */
/*
 * Follows Redis's keyspace notifications and passes them to a guard: a message
 * "__keyspace@0__:user:7" "set" becomes blm_guard_note_put of "7". Events that delete a row are few
 * and known by name. Every other event counts as a write, which at worst lets a key through.
 *
 * Redis does not repeat what it announced while we were not connected. So after each gap the guard
 * is rebuilt, starting once the subscription is active again: what was written in the gap is in the
 * scan, and what is written during the scan is announced.
 */
#include "bloomery/guard.h"
#include "connection.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS  100 /* how quickly a stop is noticed */
#define RETRY_MS 500 /* between two tries to connect */

struct blm_redis_follower {
    struct blm_redis_pool pool; /* for its options */
    blm_guard            *guard;
    pthread_t             thread;
    redisContext         *c;
    char                  channel[64]; /* the prefix of a key in a channel's name */
    atomic_bool           stop, connected;
    atomic_uint_least64_t puts, deletes, gaps;
};

/* ---- messages ---------------------------------------------------------------------------- */

static bool takes_away(const char *event)
{
    static const char *const events[] = { "del", "expired", "evicted", "rename_from", "move_from" };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (strcmp(event, events[i]) == 0)
            return true;
    return false;
}

/* pmessage, pattern, channel, event */
static void told(blm_redis_follower *f, const redisReply *r)
{
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 4)
        return;
    for (size_t i = 0; i < 4; i++)
        if (r->element[i]->type != REDIS_REPLY_STRING)
            return;
    const redisReply *channel = r->element[2], *event = r->element[3];
    size_t            prefix = f->pool.o.prefix ? strlen(f->pool.o.prefix) : 0;
    size_t            front  = strlen(f->channel) + prefix;
    if (strcmp(r->element[0]->str, "pmessage") != 0 || (size_t)channel->len < front)
        return;
    const char *key = channel->str + front;
    size_t      len = (size_t)channel->len - front;
    if (takes_away(event->str)) {
        blm_guard_note_delete(f->guard, key, len);
        atomic_fetch_add(&f->deletes, 1);
    } else {
        blm_guard_note_put(f->guard, key, len);
        atomic_fetch_add(&f->puts, 1);
    }
}

/* ---- the connection ---------------------------------------------------------------------- */

/* Does the server announce what we need? If the server does not let us ask, we assume that it
 * does. */
static blm_status announces(redisContext *c, blm_error *err)
{
    struct blm_redis_command ask = { .count = 0 };
    blm__redis_word(&ask, "CONFIG");
    blm__redis_word(&ask, "GET");
    blm__redis_word(&ask, "notify-keyspace-events");
    redisReply *r = blm__redis_call(c, &ask);
    if (!r)
        return blm__redis_fail(err, BLM_E_IO, "Redis went away");
    blm_status st = BLM_OK;
    if (r->type == REDIS_REPLY_ARRAY && r->elements == 2 &&
        r->element[1]->type == REDIS_REPLY_STRING) {
        const char *set = r->element[1]->str;
        if (!strchr(set, 'K') || !strpbrk(set, "A$h"))
            st = blm__redis_fail(err, BLM_E_UNSUPPORTED,
                                 "this server does not announce writes: run CONFIG SET "
                                 "notify-keyspace-events KA");
    }
    freeReplyObject(r);
    return st;
}

/* Connects and subscribes. */
static blm_status listen_to(blm_redis_follower *f, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    char                     pattern[1100];
    size_t                   at = (size_t)snprintf(pattern, sizeof pattern, "%s", f->channel);
    for (const char *p = f->pool.o.prefix; p && *p && at < sizeof pattern - 4; p++) {
        if (strchr("*?[]\\^-", *p))
            pattern[at++] = '\\';
        pattern[at++] = *p;
    }
    memcpy(pattern + at, "*", 2);
    f->c = blm__redis_connect(&f->pool.o, err);
    if (!f->c)
        return err->status;
    blm__redis_word(&c, "PSUBSCRIBE");
    blm__redis_word(&c, pattern);
    blm_status  st = announces(f->c, err);
    redisReply *r  = st == BLM_OK ? blm__redis_call(f->c, &c) : NULL;
    if (st == BLM_OK && (!r || r->type != REDIS_REPLY_ARRAY))
        st = blm__redis_fail(err, BLM_E_IO, "Redis: %.200s",
                             r && r->str ? r->str : "no subscription");
    if (r)
        freeReplyObject(r);
    if (st != BLM_OK) {
        redisFree(f->c);
        f->c = NULL;
    }
    return st;
}

/* Handles all messages that have arrived, waiting up to a tick. False: the connection is lost. */
static bool hear(blm_redis_follower *f)
{
    struct pollfd p = { .fd = f->c->fd, .events = POLLIN };
    int           n = poll(&p, 1, TICK_MS);
    if (n == 0)
        return true;
    if (n < 0 || redisBufferRead(f->c) != REDIS_OK)
        return n < 0;
    void *r = NULL;
    while (redisGetReplyFromReader(f->c, &r) == REDIS_OK && r) {
        told(f, r);
        freeReplyObject(r);
    }
    return !f->c->err;
}

static void pause_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
    nanosleep(&t, NULL);
}

static void *follow(void *ctx)
{
    blm_redis_follower *f = ctx;
    blm_error           err;
    while (!atomic_load(&f->stop)) {
        if (f->c && hear(f))
            continue;
        if (f->c) {
            atomic_store(&f->connected, false);
            atomic_fetch_add(&f->gaps, 1);
            redisFree(f->c);
            f->c = NULL;
        }
        if (listen_to(f, &err) == BLM_OK) {
            atomic_store(&f->connected, true);
            blm_guard_rebuild(f->guard, &err);
        } else {
            for (int ms = 0; ms < RETRY_MS && !atomic_load(&f->stop); ms += TICK_MS)
                pause_ms(TICK_MS);
        }
    }
    return NULL;
}

/* ---- the public side --------------------------------------------------------------------- */

static void follower_free(blm_redis_follower *f)
{
    if (f->c)
        redisFree(f->c);
    blm__redis_pool_free(&f->pool);
    free(f);
}

blm_status blm_redis_follow(const blm_redis_options *o, blm_guard *g, blm_redis_follower **out,
                            blm_error *err)
{
    blm_error own;
    err = err ? err : &own;
    if (!o || o->size != sizeof *o || !g || !out)
        return blm__redis_fail(err, BLM_E_ARGUMENT, "start options from BLM_REDIS_OPTIONS_INIT");
    if (o->hash)
        return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                               "the fields of one hash cannot be followed: Redis announces that a "
                               "hash changed, not which field");
    if (o->prefix && strlen(o->prefix) > 500)
        return blm__redis_fail(err, BLM_E_LIMIT, "a prefix to follow must have at most 500 bytes");
    blm_redis_follower *f = calloc(1, sizeof *f);
    if (!f)
        return blm__redis_fail(err, BLM_E_MEMORY, "no memory for a follower");
    blm_status st = blm__redis_pool_make(&f->pool, o, err);
    if (st != BLM_OK) {
        free(f);
        return st;
    }
    f->guard = g;
    snprintf(f->channel, sizeof f->channel, "__keyspace@%d__:", o->database);
    st = listen_to(f, err);
    atomic_store(&f->connected, true);
    if (st == BLM_OK && pthread_create(&f->thread, NULL, follow, f) != 0)
        st = blm__redis_fail(err, BLM_E_MEMORY, "could not start a thread");
    if (st != BLM_OK) {
        follower_free(f);
        return st;
    }
    blm_guard_rebuild(g, err); /* to learn of writes before we subscribed */
    *out = f;
    return BLM_OK;
}

void blm_redis_unfollow(blm_redis_follower *f)
{
    if (!f)
        return;
    atomic_store(&f->stop, true);
    pthread_join(f->thread, NULL);
    follower_free(f);
}

void blm_redis_follow_get_stats(blm_redis_follower *f, blm_redis_follow_stats *out)
{
    out->puts      = atomic_load(&f->puts);
    out->deletes   = atomic_load(&f->deletes);
    out->gaps      = atomic_load(&f->gaps);
    out->connected = atomic_load(&f->connected);
}
