/* SPDX-License-Identifier: MIT */
/*
 * Follows Redis's keyspace notifications and passes them to a guard: a message
 * "__keyspace@0__:user:7" "set" becomes blm_guard_note_put of "7". Events that delete a row are few
 * and known by name. Every other event counts as a write, which at worst lets a key through.
 *
 * Redis does not repeat what it announced while we were not connected, and does not announce
 * SWAPDB, FLUSHDB and FLUSHALL at all. It counts them, so we ask for those counts ten times a second.
 * After a gap, or one of those, the guard is distrusted: everything is "maybe" until a rebuild
 * succeeds that began once the subscription was active again. What was written before is in its scan,
 * and what is written during the scan is announced. A rebuild that fails is tried again, after ever
 * longer waits. A connection on which nothing comes, not even the answer to PING, is a gap too.
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

#define TICK_MS    100   /* how quickly a stop is noticed, and SWAPDB */
#define RETRY_MS   500   /* between two tries to connect, and at first between two rebuilds */
#define RETRY_MOST 30000 /* … and in the end */
#define PING_MS    1000

struct blm_redis_follower {
    struct blm_redis_pool pool; /* for its options */
    blm_guard            *guard;
    pthread_t             thread;
    redisContext         *c;
    char                  channel[64];   /* the prefix of a key in a channel's name */
    uint64_t              heard, pinged; /* when; milliseconds, monotonic */
    uint64_t              looked, swaps; /* when we asked for the counts, and what came */
    bool                  owed;          /* a rebuild that has not succeeded yet */
    uint64_t    try_at, wait_ms;         /* … when to ask for it again, and how long after that */
    atomic_bool stop, connected;
    atomic_uint_least64_t puts, deletes, gaps, swapped;
};

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

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

static uint64_t calls_of(const char *text, const char *field)
{
    const char *at = strstr(text, field);
    return at ? strtoull(at + strlen(field), NULL, 10) : 0;
}

/* How often the database may have been replaced without an announcement. Any change counts: the
 * counts can be reset. */
static blm_status count_swaps(blm_redis_follower *f, uint64_t *out, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
    blm__redis_word(&c, "INFO");
    blm__redis_word(&c, "commandstats");
    blm_status st = blm__redis_ask(&f->pool, &c, true, &r, err);
    if (st != BLM_OK)
        return st;
    *out = r->str ? calls_of(r->str, "cmdstat_swapdb:calls=") * 0x9e3779b97f4a7c15u +
                        calls_of(r->str, "cmdstat_flushdb:calls=") * 0xa0761d6478bd642fu +
                        calls_of(r->str, "cmdstat_flushall:calls=")
                  : 0;
    freeReplyObject(r);
    return BLM_OK;
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
    if (st == BLM_OK)
        st = count_swaps(f, &f->swaps, err);
    if (st != BLM_OK) {
        redisFree(f->c);
        f->c = NULL;
    }
    f->heard = f->pinged = f->looked = now_ms();
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
    void *r  = NULL;
    f->heard = now_ms();
    while (redisGetReplyFromReader(f->c, &r) == REDIS_OK && r) {
        told(f, r);
        freeReplyObject(r);
    }
    return !f->c->err;
}

/* ---- what the guard owes ------------------------------------------------------------------- */

/* The guard may have missed writes. */
static void owe(blm_redis_follower *f)
{
    blm_guard_distrust(f->guard);
    f->owed    = true;
    f->try_at  = 0;
    f->wait_ms = RETRY_MS;
}

/* Asks for the rebuild that is owed, until one has succeeded. */
static void settle(blm_redis_follower *f)
{
    blm_guard_stats s = { .size = sizeof s };
    if (!f->owed || blm_guard_get_stats(f->guard, &s) != BLM_OK)
        return;
    if (s.trusted) {
        f->owed = false;
    } else if (!s.rebuilding && now_ms() >= f->try_at) {
        blm_guard_rebuild(f->guard, NULL);
        f->try_at  = now_ms() + f->wait_ms;
        f->wait_ms = f->wait_ms * 2 < RETRY_MOST ? f->wait_ms * 2 : RETRY_MOST;
    }
}

/* Has the database been replaced? False: the server does not answer. */
static bool look(blm_redis_follower *f)
{
    blm_error err;
    uint64_t  swaps = f->swaps;
    if (now_ms() < f->looked + TICK_MS)
        return true;
    f->looked = now_ms();
    if (count_swaps(f, &swaps, &err) != BLM_OK)
        return false;
    if (swaps != f->swaps) {
        f->swaps = swaps;
        atomic_fetch_add(&f->swapped, 1);
        owe(f);
    }
    return true;
}

/* Does the subscription's own connection still carry anything? */
static bool alive(blm_redis_follower *f)
{
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    uint64_t          now    = now_ms();
    uint64_t patience        = f->pool.o.timeout_ms > 0 ? (uint64_t)f->pool.o.timeout_ms : PING_MS;
    if (now < f->pinged + PING_MS)
        return true;
    bool late = f->heard + PING_MS + patience + TICK_MS < f->pinged;
    f->pinged = now;
    return !late && send(f->c->fd, ping, sizeof ping - 1, MSG_NOSIGNAL) == (ssize_t)sizeof ping - 1;
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
        if (f->c && hear(f) && look(f) && alive(f)) {
            settle(f);
            continue;
        }
        if (f->c) {
            atomic_store(&f->connected, false);
            atomic_fetch_add(&f->gaps, 1);
            redisFree(f->c);
            f->c = NULL;
            owe(f);
        }
        if (listen_to(f, &err) == BLM_OK) {
            atomic_store(&f->connected, true);
            owe(f); /* once more: a scan that began in the gap does not have all of it */
            settle(f);
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
    if (st == BLM_OK) {
        atomic_store(&f->connected, true);
        owe(f); /* writes before we subscribed */
        settle(f);
    }
    if (st == BLM_OK && pthread_create(&f->thread, NULL, follow, f) != 0)
        st = blm__redis_fail(err, BLM_E_MEMORY, "could not start a thread");
    if (st != BLM_OK) {
        follower_free(f);
        return st;
    }
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
    if (out->size >= sizeof *out)
        out->swapped = atomic_load(&f->swapped);
}
