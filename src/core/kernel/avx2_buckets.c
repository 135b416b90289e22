/* SPDX-License-Identifier: MIT */
/*
 * AVX2: four keys are placed in one vector, and their buckets loaded into two, each by one unaligned
 * load. Answers as buckets.c does; wide fingerprints are left to it.
 */
#include <string.h>

#include "core/kernel/avx2_line.h"
#include "core/kernel/buckets.h"
#include "core/kernel/loops.h"

#ifdef BLM__HAVE_AVX2

/* ⌊v · m / 2^64⌋, m below 2^32. */
BLM__AVX2_INLINE __m256i reduce4(__m256i v, __m256i m)
{
    __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), m);
    __m256i low  = _mm256_srli_epi64(_mm256_mul_epu32(v, m), 32);
    return _mm256_srli_epi64(_mm256_add_epi64(high, low), 32);
}

BLM__AVX2_INLINE void place4(const struct blm__layer *l, const uint64_t *h, struct blm__eight *e,
                             unsigned from)
{
    const __m256i n     = _mm256_set1_epi64x((long long)l->shape.line_count);
    const __m256i f     = _mm256_set1_epi64x(l->shape.cell_bits);
    const __m256i all   = _mm256_set1_epi64x((1ll << l->shape.cell_bits) - 1);
    const __m256i one   = _mm256_set1_epi64x(1);
    __m256i       v     = blm__avx2_load4(h + from);
    __m256i       first = reduce4(v, n);
    __m256i       print = _mm256_add_epi64(reduce4(blm__avx2_mul64(v, BLM__C), all), one);
    __m256i       sum   = _mm256_or_si256(reduce4(blm__avx2_mul64(print, BLM__D), n), one);
    __m256i       below = _mm256_cmpgt_epi64(first, sum);
    __m256i other = _mm256_sub_epi64(_mm256_add_epi64(sum, _mm256_and_si256(below, n)), first);
    blm__avx2_store4(e->print + from, print);
    blm__avx2_store4(e->at[0] + from, _mm256_mul_epu32(first, f));
    blm__avx2_store4(e->at[1] + from, _mm256_mul_epu32(other, f));
}

BLM__AVX2_INLINE void place8(const struct blm__layer *l, const uint64_t *h, struct blm__eight *e)
{
    place4(l, h, e, 0);
    place4(l, h, e, 4);
}

BLM__AVX2_INLINE long long load(const struct blm__layer *l, uint64_t half_byte)
{
    long long v;
    memcpy(&v, (const uint8_t *)l->words + (half_byte >> 1), 8);
    return v;
}

BLM__AVX2_INLINE __m256i bucket4(const struct blm__layer *l, const uint64_t *at)
{
    __m256i skip =
        _mm256_slli_epi64(_mm256_and_si256(blm__avx2_load4(at), _mm256_set1_epi64x(1)), 2);
    __m256i v = _mm256_set_epi64x(load(l, at[3]), load(l, at[2]), load(l, at[1]), load(l, at[0]));
    return _mm256_srlv_epi64(v, skip);
}

/* The highest bits of the cells that are not `value`, and others below them. */
BLM__AVX2_INLINE __m256i others(__m256i bucket, __m256i value, __m256i rest)
{
    __m256i v = _mm256_xor_si256(bucket, value);
    return _mm256_or_si256(_mm256_add_epi64(_mm256_and_si256(v, rest), rest), v);
}

BLM__AVX2_INLINE unsigned have4(const struct blm__layer *l, struct blm__cells c,
                                const struct blm__eight *e, unsigned from)
{
    const __m256i rest = _mm256_set1_epi64x((long long)c.rest);
    const __m256i high = _mm256_set1_epi64x((long long)c.high);
    __m256i       p    = blm__avx2_load4(e->print + from); /* in all four cells: */
    p                  = _mm256_or_si256(p, _mm256_sllv_epi64(p, _mm256_set1_epi64x(c.bits)));
    p                  = _mm256_or_si256(p, _mm256_sllv_epi64(p, _mm256_set1_epi64x(2 * c.bits)));
    __m256i none       = _mm256_and_si256(others(bucket4(l, e->at[0] + from), p, rest),
                                          others(bucket4(l, e->at[1] + from), p, rest));
    none               = _mm256_cmpeq_epi64(_mm256_and_si256(none, high), high);
    return ~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(none)) & 15;
}

BLM__AVX2_INLINE unsigned have8(const struct blm__layer *l, struct blm__cells c,
                                const struct blm__eight *e)
{
    return have4(l, c, e, 0) | have4(l, c, e, 4) << 4;
}

BLM__BUCKETS_LOOPS(avx2, BLM__AVX2, BLM__AVX2_INLINE, place8, have8)

const struct blm__buckets blm__buckets_avx2 = { .check  = blm__buckets_check_avx2,
                                                .check8 = blm__buckets_check8_avx2 };
#endif
