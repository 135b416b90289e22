/* SPDX-License-Identifier: MIT */
/*
 * BIP37: the filter that a light Bitcoin wallet gives a full node, matched against transactions and
 * blocks.
 *
 * A filter of scheme "bip37" holds what the wallet cares about: keys, addresses, outpoints. To make
 * one, give its tweak as the seed (BLM_SEEDED) and one of BLM_BIP37_… as options.variant. Ids are
 * 32 bytes in internal order, the reverse of how they are printed. Matching needs SHA-256: in a
 * build without libmd every call here is E_UNSUPPORTED.
 *
 * Settled: everything here; BIP37 itself no longer changes.
 */
#ifndef BLOOMERY_BIP37_H
#define BLOOMERY_BIP37_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* options.variant: what a match in an output adds to the filter. */
#define BLM_BIP37_NONE 0u /* nothing */
#define BLM_BIP37_ALL  1u /* the output's outpoint, so that spending it matches too */
#define BLM_BIP37_KEYS 2u /* the same, but only for pay-to-pubkey and multisig outputs */

/* Whether a transaction (its bytes, with or without witness) matches the filter, and its id.
 * Updates the filter as its variant says. relevant and txid may be NULL. E_FORMAT, E_TRUNCATED:
 * this is not a transaction, and nothing changed. E_READONLY: the filter would have to be updated.
 * Exclusive. */
BLM_API blm_status blm_bip37_match(blm_filter *f, const void *tx, size_t len, bool *relevant,
                                   uint8_t txid[32], blm_error *err);

/* Called for each matched transaction, with its number in the block. Return false to stop; the call
 * then gives E_CANCELLED. */
typedef bool (*blm_bip37_fn)(void *ctx, uint32_t index, const uint8_t txid[32]);

/* Matches every transaction of a block, in order, as blm_bip37_match does. Calls `found` (may be
 * NULL) for the matches, then writes the payload of the merkleblock message that proves them (write
 * may be NULL too). A damaged block changes nothing. Exclusive on f. */
BLM_API blm_status blm_bip37_match_block(blm_filter *f, const void *block, size_t len,
                                         blm_bip37_fn found, void *found_ctx, blm_write_fn write,
                                         void *ctx, blm_error *err);

/* What a merkleblock proves. */
typedef struct blm_bip37_proof {
    size_t   size;
    uint8_t  block[32];    /* the block's id; its proof of work is for you to check */
    uint8_t  root[32];     /* the Merkle root, the same in the tree and in the header */
    uint32_t transactions; /* in the block, as the message says: the tree does not prove it */
    uint32_t matched;
} blm_bip37_proof;

/* Checks a merkleblock's payload: the tree must be whole, use every hash and flag it came with, and
 * lead to the root in the header (else E_FORMAT, E_TRUNCATED or E_CHECKSUM). Only then is `found`
 * (may be NULL) called for the matched transactions, and *out (may be NULL) filled. */
BLM_API blm_status blm_bip37_check(const void *merkleblock, size_t len, blm_bip37_fn found,
                                   void *ctx, blm_bip37_proof *out, blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
