/* SPDX-License-Identifier: MIT */
/*
 * bloomery for LevelDB: the filter policy, and a database as a guard's data set.
 *
 *     leveldb_filterpolicy_t *policy = blm_leveldb_policy(10, NULL, NULL);
 *     leveldb_options_set_filter_policy(options, policy);
 *     leveldb_t *db = leveldb_open(options, path, &error);
 *     …
 *     leveldb_close(db);
 *     leveldb_filterpolicy_destroy(policy);
 *
 * LevelDB asks the policy for one filter per 2 KiB of table, some dozen keys, keeps the bytes in
 * the table and asks them before it reads a block. A filter is bits per key × keys bits, at least
 * 64, and one byte that says how many probes were set: LevelDB's own size, with fewer wrong
 * answers, since its probes (a + i·b mod m) meet far more often in a few hundred bits than ours do.
 * A table whose filter was made by another policy is read as if it had none, until it is compacted.
 *
 * In C++ give options.filter_policy a class over the calls below: bloomery_leveldb.hpp has it.
 */
#ifndef BLOOMERY_LEVELDB_H
#define BLOOMERY_LEVELDB_H

#include <bloomery.h>
#include <bloomery/guard.h>
#include <leveldb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BLM_LEVELDB_NAME "bloomery.classic1"

/* A policy for leveldb_options_set_filter_policy. bits_per_key: 1 … 64, fractions too; 10 lets 1%
 * of absent keys through (blm_leveldb_bits has the figure for a rate). name: NULL for
 * BLM_LEVELDB_NAME. The filters' seed is made from the name, which LevelDB keeps with them: a name
 * of your own, 1 … 63 bytes, is a seed of your own, for keys that an adversary may choose; use it
 * for as long as the database lives. Yours to leveldb_filterpolicy_destroy once the database is
 * closed. NULL on failure, err (or NULL) filled. */
BLM_API leveldb_filterpolicy_t *blm_leveldb_policy(double bits_per_key, const char *name,
                                                   blm_error *err);

/* Bits per key at which filters of `keys` keys (0: 30) let at most `rate` of absent ones through:
 * E_ARGUMENT unless 0 < rate < 1, E_LIMIT when it takes more than 64. */
BLM_API blm_status blm_leveldb_bits(double rate, uint32_t keys, double *bits_per_key,
                                    blm_error *err);

/* A database as a guard's data set. `db` stays yours and must outlive the guard; any thread may go
 * on using it, but writes past the guard make it advisory. prefix: NULL, or what stands in front of
 * the rows' keys in the database. sync: writes reach the disk before they are acknowledged. The
 * guard's mark is kept under BLM_LEVELDB_MARK + prefix, which is no key for a row. */
#define BLM_LEVELDB_MARK \
    "\x01"               \
    "bloomery.guard:"
BLM_API blm_status blm_leveldb_dataset(leveldb_t *db, const char *prefix, bool sync,
                                       blm_dataset *out, blm_error *err);

/* What the policy is made of, for a FilterPolicy class of your own,
 * or another store with blocks. */

/* The seed that a name gives. */
BLM_API uint64_t blm_leveldb_seed(const char *name);
/* Bytes of a filter of `keys` keys. */
BLM_API size_t blm_leveldb_filter_size(double bits_per_key, size_t keys);
/* Writes a filter of these keys, size blm_leveldb_filter_size, to `out`. */
BLM_API void blm_leveldb_filter_make(uint64_t seed, double bits_per_key, const char *const *keys,
                                     const size_t *lens, size_t count, char *out);
/* false: the key is not in the filter. Bytes that are no filter of ours are "maybe". */
BLM_API bool blm_leveldb_filter_check(uint64_t seed, const char *filter, size_t size,
                                      const char *key, size_t len);

#ifdef __cplusplus
}
#endif
#endif
