/* SPDX-License-Identifier: MIT */
/* BIP37: a Bitcoin wallet's filter at work. */
#ifndef BLOOMERY_BIP37_H
#define BLOOMERY_BIP37_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A filter of scheme "bip37" is what a light wallet gives a full node: keys, addresses, outpoints
 * it cares about. A new one takes its tweak as seed (BLM_SEEDED) and, as options.variant, what a
 * match in an output adds to the filter: nothing; that output's outpoint, so that spending it
 * matches too; or the same only for outputs that name public keys (pay-to-pubkey, multisig).
 * Ids are 32 bytes in internal order, the reverse of how they are printed. All of this needs
 * SHA-256: E_UNSUPPORTED in a build without libmd. */
#define BLM_BIP37_NONE 0u
#define BLM_BIP37_ALL  1u
#define BLM_BIP37_KEYS 2u

/* Is this transaction (its bytes, with or without witness) relevant to the filter? Updates the
 * filter by its flags. relevant and txid may be NULL. E_FORMAT, E_TRUNCATED: it is no transaction,
 * and nothing changed. E_READONLY: the filter would have to be updated. Exclusive. */
BLM_API blm_status blm_bip37_match(blm_filter *f, const void *tx, size_t len, bool *relevant,
                                   uint8_t txid[32], blm_error *err);

/* Told of each matched transaction and its place in the block. Return false to stop
 * (E_CANCELLED). */
typedef bool (*blm_bip37_fn)(void *ctx, uint32_t index, const uint8_t txid[32]);

/* Matches every transaction of a block, in order, as blm_bip37_match; tells `found` (may be NULL)
 * of the matches; then writes the payload of the merkleblock message that proves them (write NULL:
 * none is made). A damaged block changes nothing. Exclusive on f. */
BLM_API blm_status blm_bip37_match_block(blm_filter *f, const void *block, size_t len,
                                         blm_bip37_fn found, void *found_ctx, blm_write_fn write,
                                         void *ctx, blm_error *err);

/* What a merkleblock proves. */
typedef struct blm_bip37_proof {
    size_t   size;
    uint8_t  block[32];    /* the block's id; that it has the work it claims is yours to check */
    uint8_t  root[32];     /* the Merkle root: the tree's, and the header's */
    uint32_t transactions; /* of the block, by the message's word: not proven by the tree */
    uint32_t matched;
} blm_bip37_proof;

/* Checks a merkleblock's payload: the tree is whole, uses up all it brought, and leads to the root
 * in the header (else E_FORMAT, E_TRUNCATED, E_CHECKSUM). Only then `found` (may be NULL) is told
 * of the matched transactions, and *out (may be NULL) is filled. */
BLM_API blm_status blm_bip37_check(const void *merkleblock, size_t len, blm_bip37_fn found,
                                   void *ctx, blm_bip37_proof *out, blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
