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
    bool          negative; /* the cache remembers what is not there, too */
    uint64_t      cache_reads, cache_hits, cache_writes, table_reads; /* since last set to 0 */
};

/* For a guard, or to be asked as it is. The tiers stay the caller's. */
blm_dataset tiers_dataset(struct tiers *t);

#endif
