/* SPDX-License-Identifier: MIT */
/*
 * A guard's data set in Redis, through hiredis: a local filter in front of remote keys.
 *
 *     blm_redis_options r = BLM_REDIS_OPTIONS_INIT;
 *     r.host = "cache1", r.prefix = "user:";
 *     blm_dataset data;
 *     if (blm_redis_open(&r, &data, &err) == BLM_OK)
 *         blm_guard_open(&o, &data, &guard, &err);        // builds its filter by SCAN
 *
 * Rows are one of
 *     strings               prefix + key                  GET, SET, DEL, SCAN
 *     hashes, one field     prefix + key, .field          HGET, HSET, HDEL, SCAN
 *     fields of one hash    .hash, key                    HGET, HSET, HDEL, HSCAN
 *
 * If there is no answer (no connection, a timeout, an error reply), that is a failure, never
 * "absent". A read is tried once more on a new connection. A write is not, because its outcome is
 * unknown, and a scan is not, because another server process counts otherwise.
 *
 * A server that was restarted, or that took over from another, may have older rows, and another guard's
 * mark. The adapter knows server processes by their run_id (INFO server, once for each connection that
 * writes or scans). On another one than before reads go on, the first write fails with E_MISMATCH before
 * anything is sent, and puts do so until the guard has read its mark again, which it does with the next
 * one. It also rebuilds its filter. If the user may not run INFO, or whatever is in between does not know
 * it, nobody notices.
 *
 * If others write to the same keys, open the guard with BLM_GUARD_ADVISORY. blm_redis_follow then
 * tells it of their writes as Redis announces them. Announcements come a moment after the write, so
 * the guard stays advisory. They are lost while disconnected: until the guard has been rebuilt after
 * that, everything is "maybe".
 */
#ifndef BLOOMERY_REDIS_H
#define BLOOMERY_REDIS_H

#include <bloomery.h>
#include <bloomery/guard.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blm_redis_options {
    size_t      size;
    const char *host;       /* NULL: 127.0.0.1 */
    int         port;       /* 0: 6379 */
    const char *socket;     /* a Unix socket's path, instead of host and port */
    const char *user;       /* NULL: the default user */
    const char *password;   /* NULL: none is given */
    int         database;   /* SELECT */
    const char *prefix;     /* in front of every key; NULL: none */
    const char *field;      /* each row is this field of a hash */
    const char *hash;       /* rows are the fields of this one hash; prefix must be NULL */
    int         timeout_ms; /* to connect, and for each command (0: 1 000) */
    int connections; /* at most this many at once (0: 8), and one for each scan; further calls wait */
} blm_redis_options;

#ifdef __cplusplus
#define BLM_REDIS_OPTIONS_INIT blm_redis_options_init()
#else
#define BLM_REDIS_OPTIONS_INIT            \
    {                                     \
        .size = sizeof(blm_redis_options) \
    }
#endif
static inline blm_redis_options blm_redis_options_init(void)
{
#ifdef __cplusplus
    blm_redis_options o = {};
#else
    blm_redis_options o = { 0 };
#endif
    o.size = sizeof o;
    return o;
}

/* Connects once to test the connection, and fills *out. out->close(out->ctx) closes it; a guard
 * does that for you. The options' texts are copied. The guard's mark is kept under bloomery:guard:…
 * in the same database; a put or delete of just that key is E_ARGUMENT. */
BLM_API blm_status blm_redis_open(const blm_redis_options *o, blm_dataset *out, blm_error *err);

/* Follows the writes of others: a thread with its own connection tells the guard which keys were
 * written and deleted. At first, after a time without a connection, and after SWAPDB, FLUSHDB,
 * FLUSHALL, REPLICAOF and a replica's synchronisation (noticed within a moment), everything is "maybe"
 * until the guard has been rebuilt; a rebuild that fails is tried again. A server that no longer
 * announces writes counts as one that is gone. The user must be allowed to run INFO. The server must
 * announce writes: set notify-keyspace-events to K and A (or K and the classes that write your
 * rows), else E_UNSUPPORTED. Does not work for the fields of one hash, because Redis does not say
 * which field changed (E_UNSUPPORTED). `o` is as for blm_redis_open. Stop it before the guard is
 * closed. */
typedef struct blm_redis_follower blm_redis_follower;
BLM_API blm_status                blm_redis_follow(const blm_redis_options *o, blm_guard *g,
                                                   blm_redis_follower **out, blm_error *err);
BLM_API void                      blm_redis_unfollow(blm_redis_follower *f); /* NULL is fine */

typedef struct blm_redis_follow_stats {
    size_t   size;
    uint64_t puts, deletes; /* reported to the guard */
    uint64_t gaps;          /* times without a connection, each followed by a rebuild */
    bool     connected;
    uint64_t swapped; /* times that all rows may have been replaced, each followed by a rebuild */
} blm_redis_follow_stats;
BLM_API void blm_redis_follow_get_stats(blm_redis_follower *f, blm_redis_follow_stats *out);

#ifdef __cplusplus
}
#endif
#endif
