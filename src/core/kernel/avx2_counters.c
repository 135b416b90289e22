/* SPDX-License-Identifier: MIT */
/*
 * AVX2: a line of counters is two vectors of four words, and a key has one counter in a word. So
 * four counters are tested, raised or lowered by a compare and an addition; no carry leaves a
 * counter, because one at 15 is not raised and one at 0 not lowered.
 *
 * Each function does what its namesake in counters.c does, bit for bit.
 */
#include "core/kernel/avx2.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/avx2_line.h"
#include "core/kernel/counters_ring.h"

/* Where a key's counters begin in their words. */
struct places {
    __m256i lo, hi;
};

BLM__AVX2_INLINE struct places places_of(uint64_t x)
{
    const __m256i field = _mm256_set1_epi64x(60);
    __m256i       v     = _mm256_set1_epi64x((long long)x);
    v                   = _mm256_srlv_epi64(v, _mm256_setr_epi64x(27, 31, 35, 39));
    struct places p     = { _mm256_and_si256(v, field),
                            _mm256_and_si256(_mm256_srli_epi64(v, 16), field) };
    return p;
}

/* All ones where the counter is 0, in use or not. */
BLM__AVX2_INLINE __m256i zeroes(const uint64_t *line, __m256i place)
{
    __m256i full = _mm256_sllv_epi64(_mm256_set1_epi64x(15), place);
    return _mm256_cmpeq_epi64(_mm256_and_si256(blm__avx2_load4(line), full),
                              _mm256_setzero_si256());
}

BLM__AVX2_INLINE bool test(const uint64_t *line, uint64_t x, uint32_t k)
{
    struct places p = places_of(x);
    return (blm__avx2_signs8(zeroes(line, p.lo), zeroes(line + 4, p.hi)) &
            blm__avx2_needed[k][x >> 56]) == 0;
}

/* Moves four counters by `one` where they are not stuck; all ones where one is 0. */
BLM__AVX2_INLINE __m256i move4(uint64_t *line, __m256i one, bool up)
{
    __m256i v = blm__avx2_load4(line), full = _mm256_sub_epi64(_mm256_slli_epi64(one, 4), one);
    __m256i value = _mm256_and_si256(v, full);
    __m256i by    = _mm256_andnot_si256(_mm256_cmpeq_epi64(value, full), one);
    blm__avx2_store4(line, up ? _mm256_add_epi64(v, by) : _mm256_sub_epi64(v, by));
    return _mm256_cmpeq_epi64(value, _mm256_setzero_si256());
}

/* One where a word is used and nothing where it is not; 1 when one of them was 0. */
BLM__AVX2_INLINE unsigned moved(struct blm__layer *l, uint64_t *line, uint64_t x, uint32_t k,
                                bool marks, bool up)
{
    const uint64_t *one = blm__avx2_ones[k][x >> 61];
    struct places   p   = places_of(x);
    if (marks)
        blm__mark(l, (uint64_t)(line - l->words)); /* where all were stuck too, for a checksum */
    __m256i lo = move4(line, _mm256_sllv_epi64(blm__avx2_load4(one), p.lo), up);
    __m256i hi = move4(line + 4, _mm256_sllv_epi64(blm__avx2_load4(one + 4), p.hi), up);
    return (blm__avx2_signs8(lo, hi) & blm__avx2_needed[k][x >> 56]) != 0;
}

BLM__AVX2_INLINE unsigned raise(struct blm__layer *l, uint64_t *line, uint64_t x, uint32_t k,
                                bool marks)
{
    return moved(l, line, x, k, marks, true);
}

BLM__AVX2_INLINE unsigned lower(struct blm__layer *l, uint64_t *line, uint64_t x, uint32_t k,
                                bool marks)
{
    return moved(l, line, x, k, marks, false);
}

BLM__COUNTERS_LOOPS(BLM__AVX2, BLM__AVX2_INLINE, blm__avx2, blm__avx2_take8, test, NULL, raise,
                    lower)

const struct blm__counters blm__counters_avx2 = { BLM__COUNTERS_ROWS(blm__avx2) };
#endif
