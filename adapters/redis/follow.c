/* SPDX-License-Identifier: MIT */
/*
 * Follows Redis's keyspace notifications and passes them to a guard: a message
 * "__keyspace@0__:user:7" "set" becomes blm_guard_note_put of "7". Events that delete a row are few
 * and known by name. Every other event counts as a write, which at worst lets a key through.
 *
 * Redis does not repeat what it announced while we were not connected, and does not announce
 * SWAPDB, FLUSHDB and FLUSHALL at all, nor what a replica gets when it loads its master's rows. It counts
 * the former and tells the latter's state, so we ask for both ten times a second, and whether writes are
 * still announced. After a gap, or one of those, the guard is distrusted: everything is "maybe" until a rebuild
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
    bool                  may_ask;       /* what the server announces */
    bool                  owed;          /* a rebuild that has not succeeded yet */
    uint64_t    try_at, wait_ms;         /* … when to ask for it again, and how long after that */
    atomic_bool stop, connected;
    atomic_uint_least64_t puts, deletes, gaps, swapped;
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

/* The command that asks what the server announces. */
static void ask_events(struct blm_redis_command *c)
{
    blm__redis_word(c, "CONFIG");
    blm__redis_word(c, "GET");
    blm__redis_word(c, "notify-keyspace-events");
}

/* What it does, in letters. NULL: it does not say. */
static const char *events_of(const redisReply *r)
{
    return r->type == REDIS_REPLY_ARRAY && r->elements == 2 &&
                   r->element[1]->type == REDIS_REPLY_STRING
               ? r->element[1]->str
               : NULL;
}

static blm_status need_events(const char *set, blm_error *err)
{
    return strchr(set, 'K') && strpbrk(set, "A$h")
               ? BLM_OK
               : blm__redis_fail(err, BLM_E_UNSUPPORTED,
                                 "this server does not announce writes: run CONFIG SET "
                                 "notify-keyspace-events KA");
}

/* Does the server announce what we need? If the server does not let us ask, we assume that it
 * does. */
static blm_status announces(blm_redis_follower *f, blm_error *err)
{
    struct blm_redis_command ask = { .count = 0 };
    ask_events(&ask);
    redisReply *r = blm__redis_call(f->c, &ask);
    if (!r)
        return blm__redis_fail(err, BLM_E_IO, "Redis went away");
    const char *set = events_of(r);
    blm_status  st  = set ? need_events(set, err) : BLM_OK;
    f->may_ask      = set != NULL;
    freeReplyObject(r);
    return st;
}

/* ---- rows that are replaced without an announcement --------------------------------------- */

static uint64_t mix(uint64_t hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
    return (hash ^ 0xff) * 0x100000001b3u;
}

/* Takes in what a section of INFO says of the fields. */
static blm_status mix_info(blm_redis_follower *f, const char *section, const char *const *fields,
                           uint64_t *hash, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
    blm__redis_word(&c, "INFO");
    blm__redis_word(&c, section);
    blm_status st = blm__redis_ask(&f->pool, &c, true, &r, err);
    if (st != BLM_OK)
        return st;
    for (; *fields; fields++) {
        const char *at = r->str ? strstr(r->str, *fields) : NULL;
        at             = at ? at + strlen(*fields) : "";
        *hash          = mix(*hash, at, strcspn(at, ",\r\n"));
    }
    freeReplyObject(r);
    return BLM_OK;
}

static blm_status mix_events(blm_redis_follower *f, uint64_t *hash, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
    if (!f->may_ask)
        return BLM_OK;
    ask_events(&c);
    blm_status st = blm__redis_ask(&f->pool, &c, true, &r, err);
    if (st != BLM_OK)
        return st;
    const char *set = events_of(r);
    st              = set ? need_events(set, err) : BLM_OK;
    *hash           = mix(*hash, set ? set : "", set ? strlen(set) : 0);
    freeReplyObject(r);
    return st;
}

/* A number that is another one when the database may have been replaced without an announcement: by
 * SWAPDB and the like, whose counts can be reset, so that any change counts; by a full synchronisation,
 * at whose end the replica has its master's ID, or its link is up again; or when less was announced. */
static blm_status count_swaps(blm_redis_follower *f, uint64_t *out, blm_error *err)
{
    static const char *const calls[] = { "cmdstat_swapdb:calls=", "cmdstat_flushdb:calls=",
                                         "cmdstat_flushall:calls=", NULL };
    static const char *const role[]  = { "role:",
                                         "master_host:",
                                         "master_port:",
                                         "master_link_status:",
                                         "master_sync_in_progress:",
                                         "master_replid:",
                                         NULL };
    *out                             = 0xcbf29ce484222325u;
    blm_status st                    = mix_info(f, "commandstats", calls, out, err);
    if (st == BLM_OK)
        st = mix_info(f, "replication", role, out, err);
    return st == BLM_OK ? mix_events(f, out, err) : st;
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
    blm_status  st = announces(f, err);
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
    f->heard = f->pinged = f->looked = blm__redis_now();
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
    f->heard = blm__redis_now();
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
    } else if (!s.rebuilding && blm__redis_now() >= f->try_at) {
        blm_guard_rebuild(f->guard, NULL);
        f->try_at  = blm__redis_now() + f->wait_ms;
        f->wait_ms = f->wait_ms * 2 < RETRY_MOST ? f->wait_ms * 2 : RETRY_MOST;
    }
}

/* Has the database been replaced? False: the server does not answer. */
static bool look(blm_redis_follower *f)
{
    blm_error err;
    uint64_t  swaps = f->swaps;
    if (blm__redis_now() < f->looked + TICK_MS)
        return true;
    f->looked = blm__redis_now();
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
    uint64_t          now    = blm__redis_now();
    uint64_t patience        = f->pool.o.timeout_ms > 0 ? (uint64_t)f->pool.o.timeout_ms : PING_MS;
    if (now < f->pinged + PING_MS)
        return true;
    bool late = f->heard + PING_MS + patience + TICK_MS < f->pinged;
    f->pinged = now;
    return !late && blm__redis_send(f->c->fd, ping, sizeof ping - 1);
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
