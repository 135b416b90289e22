/* SPDX-License-Identifier: MIT */
/*
 * AVX2: a line of counters is two vectors of four words, and a key has one counter in a word. So
 * four counters are tested, raised or lowered by a compare and an addition; no carry leaves a
 * counter, because one at 15 is not raised and one at 0 not lowered.
 *
 * Each function does what its namesake in counters.c does, bit for bit.
 */
#include "core/kernel/avx2.h"
#include "core/kernel/counters.h"

#ifdef BLM__HAVE_AVX2

BLM__AVX2_INLINE __m256i full_of(uint64_t x, unsigned words, __m256i shift, __m256i bit)
{
    const __m256i fifteen = _mm256_set1_epi64x(15);
    __m256i       v       = _mm256_set1_epi64x((long long)x);
    __m256i place = _mm256_slli_epi64(_mm256_and_si256(_mm256_srlv_epi64(v, shift), fifteen), 2);
    __m256i used  = _mm256_and_si256(_mm256_set1_epi64x((long long)words), bit);
    return _mm256_and_si256(_mm256_sllv_epi64(fifteen, place), _mm256_cmpeq_epi64(used, bit));
}

struct mask {
    __m256i lo, hi;
};

BLM__AVX2_INLINE struct mask mask_of(uint64_t x, uint32_t k)
{
    unsigned    words = blm__line_words(x, k);
    struct mask m     = {
            full_of(x, words, _mm256_setr_epi64x(29, 33, 37, 41), _mm256_setr_epi64x(1, 2, 4, 8)),
            full_of(x, words, _mm256_setr_epi64x(45, 49, 53, 57), _mm256_setr_epi64x(16, 32, 64, 128))
    };
    return m;
}

/* All ones in the lanes whose counter is used and 0. */
BLM__AVX2_INLINE __m256i zeroes(__m256i v, __m256i full)
{
    const __m256i none = _mm256_setzero_si256();
    return _mm256_andnot_si256(_mm256_cmpeq_epi64(full, none),
                               _mm256_cmpeq_epi64(_mm256_and_si256(v, full), none));
}

BLM__AVX2_INLINE bool line_all(const uint64_t *line, struct mask m)
{
    __m256i zero = _mm256_or_si256(zeroes(blm__avx2_load4(line), m.lo),
                                   zeroes(blm__avx2_load4(line + 4), m.hi));
    return _mm256_testz_si256(zero, zero);
}

BLM__AVX2_INLINE bool all(const struct blm__layer *l, uint64_t h, uint32_t k, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++) {
        uint64_t x = blm__line_x(h);
        if (!line_all(l->words + blm__counters_line(l, h), mask_of(x, k)))
            return false;
        h = blm__line_next(x);
    }
    return true;
}

BLM__AVX2 static size_t check(const struct blm__layer *l, const uint64_t *h, size_t n,
                              uint8_t *maybe)
{
    uint32_t k = l->shape.probes, lines = l->shape.lines;
    size_t   hits = 0, ahead = blm__layer_small(l) || n == 1 ? 0 : BLM__COUNTERS_AHEAD;
    for (size_t i = 0; i < ahead && i < n; i++)
        blm__short_fetch(l, h[i], 3, false);
    for (size_t i = 0; i < n; i++) {
        if (ahead && i + ahead < n)
            blm__short_fetch(l, h[i + ahead], 3, false);
        hits += maybe[i] = all(l, h[i], k, lines);
    }
    return hits;
}

/* v with 1 added to (or taken from) each used counter that is not stuck. 15 is 1111, so the lowest
 * bit of a full counter is its one. */
BLM__AVX2_INLINE __m256i moved(__m256i v, __m256i full, bool up)
{
    const __m256i low   = _mm256_set1_epi64x(0x1111111111111111);
    __m256i       stuck = _mm256_cmpeq_epi64(_mm256_and_si256(v, full), full);
    __m256i       one   = _mm256_andnot_si256(stuck, _mm256_and_si256(full, low));
    return up ? _mm256_add_epi64(v, one) : _mm256_sub_epi64(v, one);
}

/* Moves a key's counters in one line; whether one of them was 0. */
BLM__AVX2_INLINE bool move_line(struct blm__layer *l, uint64_t at, struct mask m, bool up)
{
    uint64_t *line = l->words + at;
    __m256i   lo = blm__avx2_load4(line), hi = blm__avx2_load4(line + 4);
    __m256i   zero = _mm256_or_si256(zeroes(lo, m.lo), zeroes(hi, m.hi));
    if (l->marks)
        blm__mark(l, at); /* also where all were stuck: a mark too many costs a checksum */
    blm__avx2_store4(line, moved(lo, m.lo, up));
    blm__avx2_store4(line + 4, moved(hi, m.hi, up));
    return !_mm256_testz_si256(zero, zero);
}

BLM__AVX2_INLINE bool move_key(struct blm__layer *l, uint64_t h, uint32_t k, uint32_t lines,
                               bool up)
{
    bool was_zero = false;
    for (uint32_t t = 0; t < lines; t++) {
        uint64_t x = blm__line_x(h);
        was_zero |= move_line(l, blm__counters_line(l, h), mask_of(x, k), up);
        h = blm__line_next(x);
    }
    return was_zero;
}

BLM__AVX2 static size_t add(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    uint32_t k = l->shape.probes, lines = l->shape.lines;
    size_t   count = 0, ahead = blm__layer_small(l) || n == 1 ? 0 : BLM__COUNTERS_AHEAD;
    for (size_t i = 0; i < ahead && i < n; i++)
        blm__short_fetch(l, h[i], 3, true);
    for (size_t i = 0; i < n; i++) {
        if (ahead && i + ahead < n)
            blm__short_fetch(l, h[i + ahead], 3, true);
        count += fresh[i] = move_key(l, h[i], k, lines, true);
    }
    return count;
}

BLM__AVX2 static size_t remove_keys(struct blm__layer *l, const uint64_t *h, size_t n,
                                    uint8_t *gone)
{
    uint32_t k = l->shape.probes, lines = l->shape.lines;
    size_t   count = 0, ahead = blm__layer_small(l) || n == 1 ? 0 : BLM__COUNTERS_AHEAD;
    for (size_t i = 0; i < ahead && i < n; i++)
        blm__short_fetch(l, h[i], 3, true);
    for (size_t i = 0; i < n; i++) {
        if (ahead && i + ahead < n)
            blm__short_fetch(l, h[i + ahead], 3, true);
        gone[i] = all(l, h[i], k, lines) &&
                  (lines == 1 || !blm__lines_meet(l, h[i]) || blm__counters_bear(l, h[i]));
        if (gone[i]) {
            move_key(l, h[i], k, lines, false);
            count++;
        }
    }
    return count;
}

/* ---- single calls ---- */

BLM__AVX2_INLINE bool has(const struct blm__layer *l, uint64_t h)
{
    return all(l, h, l->shape.probes, l->shape.lines);
}

/* Every add counts, fresh or not. */
BLM__AVX2_INLINE blm_status add_hash(struct blm__layer *l, uint64_t h, bool shared)
{
    (void)shared;
    unsigned fresh = move_key(l, h, l->shape.probes, l->shape.lines, true);
    blm__added_key(l, 1, false);
    return fresh ? BLM_OK : BLM_PRESENT;
}

BLM__SINGLE_CHECK(BLM__AVX2, blm__avx2_counters, has)
BLM__SINGLE_ADD(BLM__AVX2, blm__avx2_counters_add_key, blm__avx2_counters_add_any, add_hash, false)

const struct blm__counters blm__counters_avx2 = {
    .add        = add,
    .check      = check,
    .remove     = remove_keys,
    .add_shared = blm__counters_add_shared,
    .check_key  = blm__avx2_counters_check_key,
    .add_key    = blm__avx2_counters_add_key,
};
#endif
