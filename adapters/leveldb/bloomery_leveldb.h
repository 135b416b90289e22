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
 * LevelDB asks the policy for one filter per 2 KiB of table, about a dozen keys. It keeps the bytes
 * in the table and checks them before it reads a block. A filter has bits per key × keys bits, at
 * least 64, and one byte for the number of probes. That is the size of LevelDB's own filters, with
 * fewer wrong answers, because LevelDB's probes (a + i·b mod m) collide far more often in a few
 * hundred bits than ours do. A table whose filter was made by another policy is read as if it had
 * none, until it is compacted.
 *
 * In C++, options.filter_policy needs a class that makes the calls below: bloomery_leveldb.hpp has
 * one.
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

/* A policy for leveldb_options_set_filter_policy. bits_per_key: 1 … 64, also fractions; 10 lets 1%
 * of absent keys through (blm_leveldb_bits gives the bits for a rate). name: NULL for
 * BLM_LEVELDB_NAME. The filters' seed is made from the name, which LevelDB stores with them. A name of
 * your own, 1 … 63 bytes, gives a seed of your own; if somebody else may choose keys, take
 * blm_leveldb_policy_keyed. Use the same name for as long as the database lives. Call leveldb_filterpolicy_destroy on the
 * policy after the database is closed. NULL on failure, with err filled unless it is NULL. */
BLM_API leveldb_filterpolicy_t *blm_leveldb_policy(double bits_per_key, const char *name,
                                                   blm_error *err);

/* The same for keys that somebody else may choose: the hash is version 2's, keyed by your secret seed
 * (docs/hash.md). Draw the seed once, keep it where you keep the database's other settings, and give it
 * whenever you open the database. The policy's name is BLM_LEVELDB_KEYED, a dot, and sixteen digits
 * that depend on the seed and do not tell it. So filters of another seed, or of blm_leveldb_policy, are
 * never asked: LevelDB reads their tables without a filter until it compacts them. */
#define BLM_LEVELDB_KEYED "bloomery.classic2"
BLM_API leveldb_filterpolicy_t *blm_leveldb_policy_keyed(double         bits_per_key,
                                                         const uint64_t seed[2], blm_error *err);

/* Bits per key at which filters of `keys` keys (0: 30) let at most `rate` of absent keys through.
 * E_ARGUMENT unless 0 < rate < 1, E_LIMIT if it takes more than 64. */
BLM_API blm_status blm_leveldb_bits(double rate, uint32_t keys, double *bits_per_key,
                                    blm_error *err);

/* A database as a guard's data set. You keep `db`, and it must outlive the guard. Any thread may
 * continue to use it, but writes that bypass the guard make it advisory. prefix: NULL, or the
 * prefix of the rows' keys in the database. sync: writes reach the disk before they are
 * acknowledged. The guard's mark is kept under BLM_LEVELDB_MARK + prefix, so no row may have that
 * key: a put or delete of it is E_ARGUMENT. Without a prefix all other keys are rows, also the marks of
 * guards with one. */
#define BLM_LEVELDB_MARK \
    "\x01"               \
    "bloomery.guard:"
BLM_API blm_status blm_leveldb_dataset(leveldb_t *db, const char *prefix, bool sync,
                                       blm_dataset *out, blm_error *err);

/* The parts of the policy, for your own FilterPolicy class, or for another store with blocks. */

/* The seed that is made from a name. */
BLM_API uint64_t blm_leveldb_seed(const char *name);
/* The name of the keyed policy with this seed. */
#define BLM_LEVELDB_NAME_ROOM 64
BLM_API blm_status blm_leveldb_keyed_name(const uint64_t seed[2], char out[BLM_LEVELDB_NAME_ROOM],
                                          blm_error *err);
/* How many bytes a filter of `keys` keys takes. */
BLM_API size_t blm_leveldb_filter_size(double bits_per_key, size_t keys);
/* Writes a filter of these keys to `out`; it takes blm_leveldb_filter_size bytes. */
BLM_API void blm_leveldb_filter_make(uint64_t seed, double bits_per_key, const char *const *keys,
                                     const size_t *lens, size_t count, char *out);
/* False: the key is not in the filter. For bytes that are not one of our filters, the answer is
 * "maybe". */
BLM_API bool blm_leveldb_filter_check(uint64_t seed, const char *filter, size_t size,
                                      const char *key, size_t len);

#ifdef __cplusplus
}
#endif
#endif
