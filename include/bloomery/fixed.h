/* SPDX-License-Identifier: MIT */
/*
 * Fixed sets: filters that are built at once from all their keys, and then only asked.
 *
 *     blm_options o = BLM_OPTIONS_INIT;
 *     o.kind = BLM_STATIC;                     // or BLM_CASCADE, or any kind
 *     o.rate = 0.004;
 *     blm_builder *b;
 *     if (blm_builder_new(&o, &b, NULL) != BLM_OK) return 1;
 *     blm_builder_add(b, keys, count);         // again and again
 *     blm_filter *f;
 *     if (blm_builder_build(b, &f, NULL) == BLM_OK) blm_save(f, "set.blm", NULL, 0, NULL);
 *     blm_builder_free(b);
 *
 * static takes the fewest bits of all kinds, 9 a key at 0.4%. cascade is built from two lists, of
 * keys that are in and of keys that are not: it answers "maybe" to every key of the first and "no"
 * to every key of the second. Of a key in neither list it knows nothing, and answers "maybe" at
 * blm_fixed.rate. Both can be asked, saved, opened, copied and verified as any filter. Adding,
 * removing, unions, folds and comparisons are E_UNSUPPORTED.
 *
 * A builder keeps the 64-bit hash of each key, 8 bytes. Building takes another 50 MB for each thread
 * and the filter itself. Keys may come twice. A builder is for one thread at a time.
 *
 * May still change before 1.0.
 */
#ifndef BLOOMERY_FIXED_H
#define BLOOMERY_FIXED_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blm_builder blm_builder;

/* Of the options: kind, rate, hash, seed, version, hash_fn, allocator, max_bytes, threads and
 * progress; items, if the number of keys is known, saves memory. The scheme is native. BLM_ANY_KIND:
 * cascade if keys are excluded, else the smallest of static, classic and blocked. The rate may be
 * left out for a cascade: the smallest is built then. On success you own *out: blm_builder_free it. */
BLM_API blm_status blm_builder_new(const blm_options *o, blm_builder **out, blm_error *err);
BLM_API void       blm_builder_free(blm_builder *b); /* NULL is allowed */

/* Keys that are in, and, for a cascade, keys that are not. Their bytes are read, not kept. E_MEMORY:
 * nothing of this call was taken. */
BLM_API blm_status blm_builder_add(blm_builder *b, const blm_key *keys, size_t count);
BLM_API blm_status blm_builder_exclude(blm_builder *b, const blm_key *keys, size_t count);
/* Keys of one width, side by side. */
BLM_API blm_status blm_builder_add_fixed(blm_builder *b, const void *keys, size_t width,
                                         size_t count);
BLM_API blm_status blm_builder_exclude_fixed(blm_builder *b, const void *keys, size_t width,
                                             size_t count);
/* The same in two steps, the first of which may run in several threads at once. */
BLM_API blm_status blm_builder_hash(const blm_builder *b, const blm_key *keys, size_t count,
                                    uint64_t *out);
BLM_API blm_status blm_builder_add_hashes(blm_builder *b, const uint64_t *hashes, size_t count);
BLM_API blm_status blm_builder_exclude_hashes(blm_builder *b, const uint64_t *hashes, size_t count);

/* Builds the filter, in memory, from everything that was given; once. Calls progress with the keys
 * done and their total. You own *out. E_CONFLICT: an included and an excluded key have the same hash
 * (blm_builder_conflict): they are the same key, or, once in 2^64 / (included · excluded) builds, two
 * that another seed tells apart. The answers for all keys of both lists are verified before it
 * returns. */
BLM_API blm_status blm_builder_build(blm_builder *b, blm_filter **out, blm_error *err);
/* After E_CONFLICT: the hash that both have. Hash the keys again to find them. */
BLM_API bool blm_builder_conflict(const blm_builder *b, uint64_t *hash);

typedef struct blm_fixed {
    size_t   size;
    uint64_t included, excluded; /* different keys */
    uint64_t passed;             /* excluded keys that the first level of a cascade lets pass */
    uint32_t levels;             /* 1 or 2 */
    uint32_t print_bits; /* of a fingerprint of the first level; 0: there is only the last */
    double   rate;       /* at which keys of neither list are answered "maybe" */
} blm_fixed;
/* E_UNSUPPORTED: keys can be added to it. Takes no time to get. */
BLM_API blm_status blm_get_fixed(const blm_filter *f, blm_fixed *out);

#ifdef __cplusplus
}
#endif
#endif
