/* SPDX-License-Identifier: MIT */
/*
 * A near copy: a filter on Redis, also held in this process, where it is asked in nanoseconds. The copy
 * is loaded once, and then only told what was added (BF.CHANGES of bloomery's module).
 *
 *     blm_near *n;
 *     if (blm_near_open("redis://cache1/visited", NULL, &n, &err) == BLM_OK) {
 *         if (blm_near_check(n, key, len))
 *             ...                                   // maybe
 *         blm_near_close(n);
 *     }
 *
 * What is promised
 *   "no" means: the key was not among those that the server had acknowledged options.stale_ms ago. A
 *   copy that is older than that, because the server does not answer or the copy is being loaded
 *   again, answers "maybe" to everything, or asks the server if options.ask says so.
 *   blm_near_update brings the copy up to date at once. Keys that this process adds by
 *   blm_near_add_many are in the copy when the call returns.
 *
 *   After a failover, a restart, BF.MERGE or a replacement of the filter, also by one of another type
 *   or in other shards, the copy is loaded again. Keys that were removed from a counting filter stay in the copy until then. Windows and cuckoo
 *   filters cannot be copied (E_UNSUPPORTED).
 *
 * Any number of threads may use a handle. A thread of the handle's own asks for changes.
 *
 * May still change before 1.0: everything in this file.
 */
#ifndef BLOOMERY_NEAR_H
#define BLOOMERY_NEAR_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blm_near blm_near;

typedef struct blm_near_options {
    size_t      size;
    uint32_t    every_ms; /* how often to ask for changes (0: 100) */
    uint32_t    stale_ms; /* how old an answer may be (0: 1 000) */
    bool        ask;      /* if the copy is older: ask the server, instead of "maybe" */
    uint32_t    wait;     /* for adds: replicas that must have a key, as in blm_remote_options */
    const char *file; /* keep the copy in this native file, for other processes to map; of shards,
                          in this directory, a file for each (see blm_near_open_file). Its
                          modification time, or that of the file "shards" in it, is how current it is.
                          NULL: in memory */
    bool        replace; /* replace a file that is not a copy of the same filter; else E_EXISTS */
} blm_near_options;

#ifdef __cplusplus
#define BLM_NEAR_OPTIONS_INIT blm_near_options_init()
#else
#define BLM_NEAR_OPTIONS_INIT            \
    {                                    \
        .size = sizeof(blm_near_options) \
    }
#endif
static inline blm_near_options blm_near_options_init(void)
{
#ifdef __cplusplus
    blm_near_options o = {};
#else
    blm_near_options o = { 0 };
#endif
    o.size = sizeof o;
    return o;
}

/* Loads the filter at a URL, in one key or in shards (see bloomery_remote.h), and starts to follow
 * it. `o` may be NULL. */
BLM_API blm_status blm_near_open(const char *url, const blm_near_options *o, blm_near **out,
                                 blm_error *err);
/* Both release everything; blm_near_finish says whether the file, if there is one, was written to the
 * disk. The handle is gone either way. NULL is fine, for both. */
BLM_API void       blm_near_close(blm_near *n);
BLM_API blm_status blm_near_finish(blm_near *n, blm_error *err);

/* Opens a copy that another process keeps in options.file, for checks: its files are mapped, and opened
 * again when that process has replaced them. A file of one filter can also be opened by blm_open; the
 * directory of a filter in shards only here. Of the options, every_ms is how often to look, and
 * stale_ms how old the copy may be (0: as old as it is). A file whose date is still to come, because the
 * clock was set back, is too old for any stale_ms. Nothing can be added (E_READONLY). */
BLM_API blm_status blm_near_open_file(const char *file, const blm_near_options *o, blm_near **out,
                                      blm_error *err);

BLM_API bool   blm_near_check(blm_near *n, const void *key, size_t len);
BLM_API size_t blm_near_check_many(blm_near *n, const blm_key *keys, size_t count, uint8_t *maybe);
/* To the server first, then into the copy. fresh and done are as in blm_remote_add_many. */
BLM_API blm_status blm_near_add_many(blm_near *n, const blm_key *keys, size_t count, uint8_t *fresh,
                                     size_t *done, blm_error *err);

/* Asks for changes now. BLM_OK: every add that was acknowledged before the call is in the copy. */
BLM_API blm_status blm_near_update(blm_near *n, blm_error *err);

typedef struct blm_near_stats {
    size_t    size;
    uint32_t  shards;
    bool      current; /* not older than stale_ms */
    uint64_t  age_ms; /* every add acknowledged so long ago is in the copy; UINT64_MAX: not known */
    uint64_t  loads;  /* of whole shards; the first included */
    uint64_t  changes;  /* adds that were taken over */
    uint64_t  failures; /* times that the server could not be asked */
    uint64_t  received; /* bytes, of loads and changes */
    uint64_t  bytes;    /* of the copy */
    blm_error why;      /* the last failure; status is BLM_OK if the server was asked since */
} blm_near_stats;
BLM_API void blm_near_get_stats(blm_near *n, blm_near_stats *out);

/* Calls `use` with the filter of a shard, which nobody changes meanwhile. *loads is how often that
 * shard was loaded: if it is another number than before, the filter is another one, and else only
 * bits were added to it. False: there is no such shard, or its file could not be replaced. */
BLM_API bool blm_near_use(blm_near *n, uint32_t                                              shard,
                          void (*use)(void *ctx, const blm_filter *f, uint64_t loads), void *ctx);

#ifdef __cplusplus
}
#endif
#endif
