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
 * and the filter itself. Where that is more than there is, blm_builder_open keeps the hashes in files
 * and makes a file. Keys may come twice. A builder is for one thread at a time.
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
 * done and their total. You own *out. If it fails (E_CANCELLED, E_MEMORY) the keys are still there: call
 * it again, or give more before. E_CONFLICT: an included and an excluded key have the same hash
 * (blm_builder_conflict): they are the same key, or, once in 2^64 / (included · excluded) builds, two
 * that another seed tells apart. The answers for all keys of both lists are verified before it
 * returns. */
BLM_API blm_status blm_builder_build(blm_builder *b, blm_filter **out, blm_error *err);
/* After E_CONFLICT: the hash that both have. Hash the keys again to find them. */
BLM_API bool blm_builder_conflict(const blm_builder *b, uint64_t *hash);

/* Larger than memory, and builds that can be killed and resumed. The hashes of the keys go to files of
 * a directory, sorted by the memory-full; then they are merged, and the filter is worked out part by
 * part, as it would have been in memory, bit for bit (with the same seed).
 *
 *     if (blm_builder_open("set.spill", &o, 256 << 20, &b, &err) != BLM_OK) …
 *     while (more keys) if (blm_builder_add(b, keys, count) != BLM_OK) …
 *     if (blm_builder_save(b, "set.blm", 0, &err) != BLM_OK) …
 *
 * After a kill, a power cut or a full disk (E_SPACE) do the same again, with the same options and each
 * list's keys in the same order. What the directory has is not done again: keys that it holds are
 * only compared (E_MISMATCH if they are others), and once all have come (state.building) they need
 * not be given again. Disk: 16 bytes a key, and twice the filter at the end. Memory: what you allow
 * (64 KiB at least; below 1 MiB flushing many short files takes most of the time), and 40 MB, which a
 * part takes. For static, cascade, classic and blocked.
 * The directory must be empty or new, or of the same build: E_EXISTS, if it has other files, which
 * stay untouched. E_BUSY: another process is at it. E_MISMATCH: it is of another filter. */
BLM_API blm_status blm_builder_open(const char *dir, const blm_options *o, uint64_t memory,
                                    blm_builder **out, blm_error *err);
/* Makes durable what was given so far. After a call above has failed, says why, again. */
BLM_API blm_status blm_builder_sync(blm_builder *b, blm_error *err);
/* Builds, and saves the filter as blm_save does (flags too); then its files go, and the directory if
 * blm_builder_open made it. Of builders in memory too. A path that blm_save would refuse (E_EXISTS, no
 * such directory) is refused before anything is built, and with the keys durable: call it again with
 * another. After any other failure (E_CANCELLED, E_SPACE) a builder in memory still has everything and
 * can be called again; of one on disk free the handle, and open the directory again. After E_CONFLICT
 * its files are gone as well. */
BLM_API blm_status blm_builder_save(blm_builder *b, const char *path, uint32_t flags,
                                    blm_error *err);
typedef struct blm_builder_state {
    size_t   size;
    uint64_t included, excluded;           /* keys that were given, those compared too */
    uint64_t kept_included, kept_excluded; /* that the directory had when it was opened */
    uint64_t runs, sorted;                 /* files of hashes, and hashes merged from them */
    uint64_t filled;                       /* parts of the filter */
    bool     building;                     /* all keys have come, in this run or an earlier one */
} blm_builder_state;
BLM_API blm_status blm_builder_get_state(const blm_builder *b, blm_builder_state *out);

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
