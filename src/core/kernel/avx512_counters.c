/* SPDX-License-Identifier: MIT */
/*
 * AVX-512: a line of counters is one vector of eight words, and a key has one counter in a word. So all
 * of them are tested, raised or lowered at once; no carry leaves a counter, because one at 15 is not
 * raised and one at 0 not lowered.
 *
 * Each function does what its namesake in counters.c does, bit for bit.
 */
#include "core/kernel/avx512_line.h"

#ifdef BLM__HAVE_AVX512
#include "core/kernel/counters_ring.h"

/* Where a key's counters begin in their words. */
BLM__AVX512_INLINE __m512i counters_at(uint64_t x)
{
    __m512i v = _mm512_srlv_epi64(_mm512_set1_epi64((long long)x),
                                  _mm512_set_epi64(55, 51, 47, 43, 39, 35, 31, 27));
    return _mm512_and_si512(v, _mm512_set1_epi64(60));
}

/* The words whose counter is 0. */
BLM__AVX512_INLINE __mmask8 counters_zero(const void *line, uint64_t x)
{
    __m512i full = _mm512_sllv_epi64(_mm512_set1_epi64(15), counters_at(x));
    return _mm512_testn_epi64_mask(_mm512_loadu_si512(line), full);
}

BLM__AVX512_INLINE bool counters_test(const uint64_t *line, uint64_t x, uint32_t k)
{
    return (counters_zero(line, x) & blm__avx512_used[k][x >> 61]) == 0;
}

BLM__AVX512_INLINE void counters_test8(const uint64_t *words, const uint64_t *at, const uint64_t *x,
                                       uint32_t k, uint8_t *maybe)
{
    blm__avx512_test8(words, at, x, k, maybe, counters_zero);
}

/* Moves those that are not stuck; 1 when one of them was 0. */
BLM__AVX512_INLINE unsigned counters_moved(struct blm__layer *l, uint64_t *line, uint64_t x,
                                           uint32_t k, bool marks, bool up)
{
    __mmask8 words = blm__avx512_used[k][x >> 61];
    __m512i  at = counters_at(x), old = _mm512_loadu_si512((const void *)line);
    __m512i  one   = _mm512_sllv_epi64(_mm512_set1_epi64(1), at);
    __m512i  full  = _mm512_maskz_sllv_epi64(words, _mm512_set1_epi64(15), at);
    __m512i  lacks = _mm512_andnot_si512(old, full);
    __mmask8 move  = _mm512_test_epi64_mask(lacks, lacks);
    __m512i  now   = up ? _mm512_mask_add_epi64(old, move, old, one)
                        : _mm512_mask_sub_epi64(old, move, old, one);
    if (marks)
        blm__mark(l, (uint64_t)(line - l->words)); /* where all were stuck too, for a checksum */
    _mm512_storeu_si512((void *)line, now);
    return (_mm512_testn_epi64_mask(old, full) & words) != 0;
}

BLM__AVX512_INLINE unsigned counters_raise(struct blm__layer *l, uint64_t *line, uint64_t x,
                                           uint32_t k, bool marks)
{
    return counters_moved(l, line, x, k, marks, true);
}

BLM__AVX512_INLINE unsigned counters_lower(struct blm__layer *l, uint64_t *line, uint64_t x,
                                           uint32_t k, bool marks)
{
    return counters_moved(l, line, x, k, marks, false);
}

BLM__COUNTERS_LOOPS(BLM__AVX512, BLM__AVX512_INLINE, blm__avx512, blm__avx512_take8, counters_test,
                    counters_test8, counters_raise, counters_lower)

const struct blm__counters blm__counters_avx512 = { BLM__COUNTERS_ROWS(blm__avx512) };
#endif
