/* SPDX-License-Identifier: MIT */
/* The checksum of native files: XXH64 with seed 0. It is frozen, published, short to write in any
 * language, and so fast (a few GB/s) that its cost does not matter. */
#ifndef BLM_CORE_CHECKSUM_H
#define BLM_CORE_CHECKSUM_H

#include "bloomery.h"

uint64_t blm__checksum(const void *bytes, size_t len);

/* Whether a checksum is the one that is stored. A fuzzer must get past checksums to be of use: in a build
 * for fuzzing its targets take any (fuzz/any_sum.c), and tests of the same build do not. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
extern bool blm__any_sum;
#endif
static inline bool blm__sum_matches(uint64_t found, uint64_t stored)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    if (blm__any_sum)
        return true;
#endif
    return found == stored;
}

/* Writes words that others may be changing meanwhile. Each is read by a sequentially consistent
 * load and copied, so what `write` gets does not change. False: `write` returned false. */
bool blm__words_out(const uint64_t *words, uint64_t count, blm_write_fn write, void *ctx);

/* The checksum of such words: of exactly what `write` (may be NULL) got. */
bool blm__checksum_words(const uint64_t *words, uint64_t count, blm_write_fn write, void *ctx,
                         uint64_t *out);

/* XXH3-128 of a sequence of byte strings, for fingerprints. */
struct blm__print {
    _Alignas(64) unsigned char state[640];
};
void blm__print_begin(struct blm__print *p);
void blm__print_add(struct blm__print *p, const void *bytes, size_t len);
void blm__print_end(struct blm__print *p, uint8_t out[16]);

#endif
