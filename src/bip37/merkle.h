/* SPDX-License-Identifier: MIT */
/* The partial Merkle tree of a merkleblock message: the matched transactions of a block, and the
 * hashes that lead from them to the root in its header.
 *
 * Level 0 is the transactions' ids. Each level above is SHA-256, twice, of each pair below (a last
 * one without a partner is paired with itself), up to one hash. The tree is walked from the root,
 * left before right. There is a flag bit for every node visited, 1 if something below it matches,
 * and a hash for every node where the walk stops: where the bit is 0, or on level 0. */
#ifndef BLM_BIP37_MERKLE_H
#define BLM_BIP37_MERKLE_H

#include "bloomery/bip37.h"
#include "core/bytes.h"
#include "core/error.h"

#define BLM__MERKLE_HEADER 80u
#define BLM__MERKLE_ROOT   36u /* where the root is in the header */

/* A tree over `count` ids, of which some matched. */
struct blm__merkle {
    const uint8_t (*id)[32];
    const uint8_t *matched; /* one byte each */
    uint32_t       count;
};

/* How many bytes the flags of such a tree may take. */
size_t blm__merkle_flag_room(uint32_t count);
/* Sets the flags, in a zeroed buffer of that size, and says how many bits and hashes there are. */
void blm__merkle_flags(const struct blm__merkle *m, uint8_t *flags, uint32_t *bits,
                       uint32_t *hashes);
/* Writes the hashes, in order. put returns false to stop. */
bool blm__merkle_hashes(const struct blm__merkle *m, blm_write_fn put, void *ctx);

/* A merkleblock's tree, as it was read. */
struct blm__proof {
    uint32_t       count;
    const uint8_t *hashes, *flags;
    uint64_t       hash_count, flag_bytes;
    uint64_t       hashes_at, flags_at; /* their offsets, for errors */
};

/* Walks the tree and computes its root. found (may be NULL) is called for every match, and returns
 * false to stop (E_CANCELLED). */
blm_status blm__merkle_check(const struct blm__proof *p, uint8_t root[32], blm_bip37_fn found,
                             void *ctx, blm_error *err);

#endif
