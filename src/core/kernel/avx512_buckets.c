/* SPDX-License-Identifier: MIT */
/*
 * AVX-512: eight keys are placed in one vector, and their buckets gathered into two. Answers as
 * buckets.c does; wide fingerprints are left to it.
 */
#include "core/kernel/avx512.h"
#include "core/kernel/buckets.h"
#include "core/kernel/loops.h"

#ifdef BLM__HAVE_AVX512

BLM__AVX512_INLINE void place8(const struct blm__layer *l, const uint64_t *h, struct blm__eight *e)
{
    const __m512i n     = _mm512_set1_epi64((long long)l->shape.line_count);
    const __m512i f     = _mm512_set1_epi64(l->shape.cell_bits);
    const __m512i all   = _mm512_set1_epi64((1ll << l->shape.cell_bits) - 1);
    const __m512i one   = _mm512_set1_epi64(1);
    __m512i       v     = _mm512_loadu_si512((const void *)h);
    __m512i       first = blm__avx512_reduce(v, n);
    __m512i       x     = _mm512_mullo_epi64(v, _mm512_set1_epi64((long long)BLM__C));
    __m512i       print = _mm512_add_epi64(blm__avx512_reduce(x, all), one);
    __m512i       y     = _mm512_mullo_epi64(print, _mm512_set1_epi64((long long)BLM__D));
    __m512i       other = _mm512_sub_epi64(_mm512_or_si512(blm__avx512_reduce(y, n), one), first);
    uint8_t       below = _mm512_test_epi64_mask(other, _mm512_set1_epi64(INT64_MIN));
    other               = _mm512_mask_add_epi64(other, below, other, n);
    _mm512_store_si512((void *)e->print, print);
    _mm512_store_si512((void *)e->at[0], _mm512_mul_epu32(first, f));
    _mm512_store_si512((void *)e->at[1], _mm512_mul_epu32(other, f));
}

BLM__AVX512_INLINE __m512i bucket8(const struct blm__layer *l, const uint64_t *half_bytes)
{
    __m512i at   = _mm512_load_si512((const void *)half_bytes);
    __m512i skip = _mm512_slli_epi64(_mm512_and_si512(at, _mm512_set1_epi64(1)), 2);
    at           = _mm512_srli_epi64(at, 1);
    return _mm512_srlv_epi64(_mm512_i64gather_epi64(at, (const void *)l->words, 1), skip);
}

/* The highest bits of the cells that are not `value`, and others below them. */
BLM__AVX512_INLINE __m512i others(__m512i bucket, __m512i value, __m512i rest)
{
    __m512i v = _mm512_xor_si512(bucket, value);
    return _mm512_or_si512(_mm512_add_epi64(_mm512_and_si512(v, rest), rest), v);
}

BLM__AVX512_INLINE unsigned have8(const struct blm__layer *l, struct blm__cells c,
                                  const struct blm__eight *e)
{
    const __m512i rest = _mm512_set1_epi64((long long)c.rest);
    const __m512i high = _mm512_set1_epi64((long long)c.high);
    __m512i       p    = _mm512_load_si512((const void *)e->print); /* in all four cells: */
    p                  = _mm512_or_si512(p, _mm512_sllv_epi64(p, _mm512_set1_epi64(c.bits)));
    p                  = _mm512_or_si512(p, _mm512_sllv_epi64(p, _mm512_set1_epi64(2 * c.bits)));
    __m512i none       = _mm512_and_si512(others(bucket8(l, e->at[0]), p, rest),
                                          others(bucket8(l, e->at[1]), p, rest));
    return _mm512_test_epi64_mask(_mm512_andnot_si512(none, high), high);
}

BLM__BUCKETS_LOOPS(avx512, BLM__AVX512, BLM__AVX512_INLINE, place8, have8)

const struct blm__buckets blm__buckets_avx512 = { .check  = blm__buckets_check_avx512,
                                                  .check8 = blm__buckets_check8_avx512 };
#endif
