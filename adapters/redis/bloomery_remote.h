/* SPDX-License-Identifier: MIT */
/*
 * Filters that live on Redis or Valkey, on one server or spread over a cluster: the keys are sent to
 * them, in batches.
 *
 *     blm_remote *r;
 *     if (blm_remote_open("redis+cluster://10.0.0.1,10.0.0.2/visited", NULL, &r, &err) == BLM_OK) {
 *         blm_remote_add_many(r, keys, count, fresh, NULL, &err);
 *         blm_remote_close(r);
 *     }
 *
 * URLs
 *     redis://[user:password@]host[:port]/[db/]KEY[?timeout=SECONDS]
 *     unix://[user:password@]/path/of/socket[?db=N&timeout=SECONDS]#KEY
 *     redis+cluster://[user:password@]host[:port],host[:port]…/KEY[?shards=N&timeout=SECONDS]
 *
 * The first two name one key. On a cluster they find the node that has it. The third is one filter
 * in many keys, its shards, so that it can be larger and busier than one node: docs/scale.md says
 * where they are and which key goes to which.
 *
 * What is promised
 *   BLM_OK of an add: the master of each key has answered; with options.wait, that many of its
 *   replicas have it too. Redirections (MOVED, ASK), nodes that are not ready, lost connections and
 *   failovers are followed until there was no answer for the URL's timeout (30 seconds). A key is
 *   sent again if its answer was lost, unless the filter counts its keys; then a lost answer is
 *   E_IO. A check that cannot be answered is an error too, never "no".
 *
 * One thread at a time may use a handle. The server needs bloomery's module; filters of scheme
 * "redisbloom" also work with RedisBloom.
 *
 * May still change before 1.0: everything in this file. How shards are named and found is settled:
 * it has a version of its own, kept with the filter.
 */
#ifndef BLOOMERY_REMOTE_H
#define BLOOMERY_REMOTE_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blm_remote blm_remote;

typedef struct blm_remote_options {
    size_t   size;
    uint32_t wait; /* an add is done when so many replicas have it (WAIT); 0: when the master has */
    bool (*stop)(void *ctx); /* called now and then; true ends the call with E_CANCELLED */
    void *stop_ctx;
} blm_remote_options;

#ifdef __cplusplus
#define BLM_REMOTE_OPTIONS_INIT blm_remote_options_init()
#else
#define BLM_REMOTE_OPTIONS_INIT            \
    {                                      \
        .size = sizeof(blm_remote_options) \
    }
#endif
static inline blm_remote_options blm_remote_options_init(void)
{
#ifdef __cplusplus
    blm_remote_options o = {};
#else
    blm_remote_options o = { 0 };
#endif
    o.size = sizeof o;
    return o;
}

/* Opens the filter at a URL. E_ABSENT: there is none. `o` may be NULL. */
BLM_API blm_status blm_remote_open(const char *url, const blm_remote_options *o, blm_remote **out,
                                   blm_error *err);
BLM_API void       blm_remote_close(blm_remote *r); /* NULL is fine */

/* Makes an empty filter there, as blm_create would. E_EXISTS: there is something, unless f->flags
 * has BLM_REPLACE. A filter of shards is planned as a whole: f->items, memory and bits are shared
 * out, with so much room in each that no shard gets more keys than it was planned for, but for a
 * chance of 10^-9. */
BLM_API blm_status blm_remote_create(const char *url, const blm_options *f,
                                     const blm_remote_options *o, blm_remote **out, blm_error *err);
/* Puts a whole filter under the key, all at once. format: "native", "redisbloom", or NULL: its own.
 * Not for shards (E_UNSUPPORTED). */
BLM_API blm_status blm_remote_store(const char *url, const blm_filter *f, const char *format,
                                    bool replace, const blm_remote_options *o, blm_error *err);
/* A copy of what is there: in `f` the options as for blm_decode. Of shards, one of them. Keys that
 * others add meanwhile may be in it or not. */
BLM_API blm_status blm_remote_fetch(blm_remote *r, uint32_t shard, const blm_options *f,
                                    blm_filter **out, blm_error *err);
/* Makes a filter of shards that holds the keys of several, each node merging what it has (BF.MERGE).
 * All must be on one cluster and have as many shards, the same parameters and the same seed
 * (E_MISMATCH). E_EXISTS: there is something at the URL, unless `replace`. */
BLM_API blm_status blm_remote_merge(const char *url, blm_remote *const *from, size_t count,
                                    bool replace, const blm_remote_options *o, blm_error *err);
/* Is there anything under the key? False also if that cannot be found out. */
BLM_API bool blm_remote_exists(const char *url, const blm_remote_options *o);

/* fresh[i] (fresh may be NULL): the key was new, was there, or was sent twice, because the first
 * answer was lost, and the second said that it is there: then nobody knows. No key is reported as new
 * to two callers, as long as no server loses adds. *done (or NULL) is how many were added. If it
 * fails, fresh[] of keys that may not have been added is BLM_REMOTE_UNKNOWN. */
#define BLM_REMOTE_PRESENT 0
#define BLM_REMOTE_NEW     1
#define BLM_REMOTE_UNKNOWN 2
BLM_API blm_status blm_remote_add_many(blm_remote *r, const blm_key *keys, size_t count,
                                       uint8_t *fresh, size_t *done, blm_error *err);
/* maybe[i] and hits as in blm_check_many; either may be NULL. */
BLM_API blm_status blm_remote_check_many(blm_remote *r, const blm_key *keys, size_t count,
                                         uint8_t *maybe, size_t *hits, blm_error *err);
/* For kinds that can remove. gone[i]: it was removed (1), or was not there (0). */
BLM_API blm_status blm_remote_remove_many(blm_remote *r, const blm_key *keys, size_t count,
                                          uint8_t *gone, size_t *done, blm_error *err);

/* What the server says of it, of all shards together. Fields that it does not give are 0. */
BLM_API blm_status blm_remote_get_params(blm_remote *r, blm_params *out, blm_error *err);

/* What its bits say, as blm_get_stats does; of all shards together, with sums, and the mean of their
 * rates. Fetches them one after the other, and calls `each` (or NULL) with each one's. */
BLM_API blm_status blm_remote_measure(blm_remote *r,
                                      void (*each)(void *ctx, uint32_t shard, const blm_stats *s),
                                      void *ctx, blm_stats *out, blm_error *err);

typedef struct blm_remote_stats {
    size_t   size;
    uint32_t shards;         /* 1: one key */
    uint32_t nodes;          /* that have answered */
    uint64_t commands;       /* sent */
    uint64_t redirected;     /* MOVED and ASK */
    uint64_t repeated;       /* commands sent again that may have been done before */
    uint64_t lost;           /* connections */
    uint64_t sent, received; /* bytes */
} blm_remote_stats;
BLM_API void blm_remote_get_stats(const blm_remote *r, blm_remote_stats *out);

/* The Redis key of a shard, with its length, and its slot. Borrowed from the handle. NULL: there is
 * no such shard. */
BLM_API const char *blm_remote_shard(const blm_remote *r, uint32_t shard, size_t *len,
                                     uint32_t *slot);
/* Which shard a key goes to. */
BLM_API uint32_t blm_remote_route(const blm_remote *r, const void *key, size_t len);

/* The part of a URL that nobody should see: user, password and @. Returns its length, 0: none. */
BLM_API size_t blm_remote_secret(const char *url, size_t *at);

#ifdef __cplusplus
}
#endif
#endif
