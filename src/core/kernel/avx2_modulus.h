/* SPDX-License-Identifier: MIT */
/*
 * Remainders of 64-bit words, eight at once, by a modulus of up to 30 bits. For avx2_chain.c and
 * avx2_hands.c.
 *
 * A remainder is the fraction of a/m times m, as in steps.h, with fewer products. a is two halves;
 * 1/m and 2^32/m are rounded to 64 bits, so that either half's product is off by 2^-33 at most. What
 * is cut from the sum is less than 2^-32, and half of that is added before. So the fraction is off by
 * less than 1.5 · 2^-32, which is below 1/2m for m up to BLM__STEPS_NARROW.
 */
#ifndef BLM_CORE_KERNEL_AVX2_MODULUS_H
#define BLM_CORE_KERNEL_AVX2_MODULUS_H

#include "core/kernel/avx2.h"
#include "core/kernel/steps.h"

#ifdef BLM__HAVE_AVX2

struct blm__avx2_modulus {
    __m256i one, one_up, word, word_up; /* 1/m and 2^32/m, the fractions, in units of 2^-64 */
    __m256i half, m;
    __m256i m32, wrap; /* in 32 bits: m, and 2^64 mod m, or where sums have fewer bits 2 to these */
};

BLM__AVX2_INLINE struct blm__avx2_modulus blm__avx2_modulus_of(const struct blm__steps *s)
{
    const uint64_t one  = s->hi + (s->lo >> 63);
    const uint64_t word = (s->hi << 32 | s->lo >> 32) + (s->lo >> 31 & 1);
    return (struct blm__avx2_modulus){
        _mm256_set1_epi64x((long long)one),
        _mm256_set1_epi64x((long long)(one >> 32)),
        _mm256_set1_epi64x((long long)word),
        _mm256_set1_epi64x((long long)(word >> 32)),
        _mm256_set1_epi64x((long long)((s->hi >> 1) + ((uint64_t)1 << 31))),
        _mm256_set1_epi64x((long long)s->m),
        _mm256_set1_epi32((int)s->m),
        _mm256_set1_epi32((int)blm__steps_wrap(s)),
    };
}

/* In the upper halves. */
BLM__AVX2_INLINE __m256i blm__avx2_remainder4(const struct blm__avx2_modulus *d, __m256i v)
{
    __m256i up  = _mm256_srli_epi64(v, 32);
    __m256i low = _mm256_add_epi64(_mm256_mul_epu32(v, d->one), _mm256_mul_epu32(up, d->word));
    __m256i top =
        _mm256_add_epi64(_mm256_mul_epu32(v, d->one_up), _mm256_mul_epu32(up, d->word_up));
    __m256i turn = _mm256_add_epi64(_mm256_add_epi64(low, d->half), _mm256_slli_epi64(top, 32));
    return _mm256_mul_epu32(_mm256_srli_epi64(turn, 32), d->m);
}

/* Eight words: 0, 2, 4, 6 and 1, 3, 5, 7. */
BLM__AVX2_INLINE void blm__avx2_apart(const uint64_t *w, __m256i *out)
{
    __m256i low = blm__avx2_load4(w), top = blm__avx2_load4(w + 4);
    out[0] = _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(low, top), 0xd8);
    out[1] = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(low, top), 0xd8);
}

BLM__AVX2_INLINE __m256i blm__avx2_remainder8(const struct blm__avx2_modulus *d, const __m256i *v)
{
    return _mm256_blend_epi32(_mm256_srli_epi64(blm__avx2_remainder4(d, v[0]), 32),
                              blm__avx2_remainder4(d, v[1]), 0xaa);
}

#endif
#endif
