/* SPDX-License-Identifier: MIT */
/* The checksum of native files: XXH64 with seed 0. Frozen, published, short to write in any
 * language, and fast enough (a few GB/s) to be no part of any cost. */
#ifndef BLM_CORE_CHECKSUM_H
#define BLM_CORE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t blm__checksum(const void *bytes, size_t len);

/* Words that others may be changing meanwhile, copied out piece by piece, each with a sequentially
 * consistent load: what `piece` is given stays as it is, whatever happens to the words afterwards.
 * piece returns false to stop. False: it stopped. */
typedef bool (*blm_piece_fn)(void *ctx, const void *bytes, size_t len);
bool blm__words_out(const uint64_t *words, uint64_t count, blm_piece_fn piece, void *ctx);

/* The checksum of such words, and of exactly what `piece` (may be NULL) was given. */
bool blm__checksum_words(const uint64_t *words, uint64_t count, blm_piece_fn piece, void *ctx,
                         uint64_t *out);

/* 128 bits of a sequence of byte strings, for fingerprints: XXH3-128. */
struct blm_print {
    _Alignas(64) unsigned char state[640];
};
void blm__print_begin(struct blm_print *p);
void blm__print_add(struct blm_print *p, const void *bytes, size_t len);
void blm__print_end(struct blm_print *p, uint8_t out[16]);

#endif
