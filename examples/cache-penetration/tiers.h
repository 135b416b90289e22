/* SPDX-License-Identifier: MIT */
/* Two tiers as one data set: a cache in Redis, filled on demand, in front of a table in SQLite. */
#ifndef CACHE_PENETRATION_TIERS_H
#define CACHE_PENETRATION_TIERS_H

#include <bloomery.h>
#include <bloomery/guard.h>
#include <hiredis/hiredis.h>

struct tiers {
    redisContext *cache;
    blm_dataset   table;    /* SQLite's */
    bool          negative; /* the cache also remembers absent rows */
    uint64_t      cache_reads, cache_hits, cache_writes, table_reads; /* since last set to 0 */
};

/* The tiers as a data set, for a guard or for direct use. The caller keeps the tiers. */
blm_dataset tiers_dataset(struct tiers *t);

#endif
