/* SPDX-License-Identifier: MIT */
/* AVX2: a key's eight cells are made in two vectors, and a line of ages is compared as two. Each
 * function does what its namesake in ages.c does, bit for bit. */
#include "core/kernel/avx2.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/ages_ring.h"
#include "core/kernel/avx2_line.h"

/* The cells of four groups, each in a lane of its own. */
BLM__AVX2_INLINE __m256i cells_of(uint64_t x, unsigned used, __m256i shift, __m256i bit,
                                  __m256i group)
{
    __m256i v   = _mm256_srlv_epi64(_mm256_set1_epi64x((long long)x), shift);
    v           = _mm256_and_si256(v, _mm256_set1_epi64x(0x3fff));
    v           = _mm256_srli_epi64(_mm256_mul_epu32(v, _mm256_set1_epi64x(7)), 14);
    __m256i u   = _mm256_and_si256(_mm256_set1_epi64x((long long)used), bit);
    __m256i one = _mm256_and_si256(_mm256_cmpeq_epi64(u, bit), _mm256_set1_epi64x(1));
    return _mm256_sllv_epi64(one, _mm256_add_epi64(v, group));
}

BLM__AVX2_INLINE uint64_t mask_of(uint64_t x, uint32_t k)
{
    unsigned used = blm__line_words(x, k);
    __m256i  v    = _mm256_or_si256(
            cells_of(x, used, _mm256_setr_epi64x(5, 11, 17, 23), _mm256_setr_epi64x(1, 2, 4, 8),
                     _mm256_setr_epi64x(0, 7, 14, 21)),
            cells_of(x, used, _mm256_setr_epi64x(29, 35, 41, 47), _mm256_setr_epi64x(16, 32, 64, 128),
                     _mm256_setr_epi64x(28, 35, 42, 49)));
    __m128i w = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    w         = _mm_or_si128(w, _mm_unpackhi_epi64(w, w));
    return (uint64_t)_mm_cvtsi128_si64(w);
}

BLM__AVX2_INLINE unsigned has4(const uint64_t *line, const struct blm__age_turn *t, __m256i index,
                               __m256i mask)
{
    __m256i above = _mm256_cmpgt_epi64(index, _mm256_set1_epi64x((long long)t->at));
    __m256i tag   = _mm256_blendv_epi8(_mm256_set1_epi64x((long long)t->young),
                                       _mm256_set1_epi64x((long long)t->old), above);
    __m256i kept  = _mm256_and_si256(
         blm__avx2_load4(line), _mm256_or_si256(mask, _mm256_set1_epi64x((long long)BLM__AGE_TAG)));
    __m256i same = _mm256_cmpeq_epi64(kept, _mm256_or_si256(mask, tag));
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same));
}

BLM__AVX2_INLINE unsigned has8(const uint64_t *line, const struct blm__age_turn *t, uint32_t from,
                               uint64_t mask)
{
    __m256i m = _mm256_set1_epi64x((long long)mask), f = _mm256_set1_epi64x(from);
    return has4(line, t, _mm256_add_epi64(f, _mm256_setr_epi64x(0, 1, 2, 3)), m) |
           has4(line + 4, t, _mm256_add_epi64(f, _mm256_setr_epi64x(4, 5, 6, 7)), m) << 4;
}

BLM__AGES_LOOPS(avx2, BLM__AVX2, BLM__AVX2_INLINE, mask_of, has8)

/* ---- eight keys at once (core/kernel/ages_ring.h): as in avx512_ages.c, in halves ---- */

BLM__AVX2_INLINE __m256i wide(uint64_t v) { return _mm256_set1_epi64x((long long)v); }

BLM__AVX2_INLINE __m256i seven_times(__m256i v, uint64_t fields)
{
    v = _mm256_and_si256(v, wide(fields));
    return _mm256_sub_epi64(_mm256_slli_epi64(v, 3), v);
}

/* The cell of every group, as a number of three bits at 19 + 6·group. */
BLM__AVX2_INLINE __m256i cell_numbers(__m256i x)
{
    __m256i a = seven_times(x, BLM__AGE_FIELD(0) | BLM__AGE_FIELD(3) | BLM__AGE_FIELD(6));
    __m256i b = seven_times(x, BLM__AGE_FIELD(1) | BLM__AGE_FIELD(4) | BLM__AGE_FIELD(7));
    __m256i c = seven_times(x, BLM__AGE_FIELD(2) | BLM__AGE_FIELD(5));
    a = _mm256_and_si256(a, wide(BLM__AGE_NUMBER(0) | BLM__AGE_NUMBER(3) | BLM__AGE_NUMBER(6)));
    b = _mm256_and_si256(b, wide(BLM__AGE_NUMBER(1) | BLM__AGE_NUMBER(4) | BLM__AGE_NUMBER(7)));
    c = _mm256_and_si256(c, wide(BLM__AGE_NUMBER(2) | BLM__AGE_NUMBER(5)));
    return _mm256_or_si256(_mm256_or_si256(a, b), c);
}

/* Group after group, in bytes: 1 << cell, or 0 where the group is not used. unused: 0x80 there. What
 * is shifted right by words is the high half of a product. */
BLM__AVX2_INLINE __m256i cell_bytes(__m256i numbers, __m256i unused)
{
    const __m256i pairs = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(2, 3, 3, 4, 5, 6, 6, 7, 10, 11, 11, 12, 13, 14, 14, 15));
    const __m256i bits = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    __m256i v    = _mm256_shuffle_epi8(numbers, pairs);
    __m256i even = _mm256_mulhi_epu16(v, wide(0x0200200002002000u));
    __m256i odd  = _mm256_mulhi_epu16(v, wide(0x0800800008008000u));
    even         = _mm256_and_si256(even, wide(0x0007000700070007u));
    odd          = _mm256_and_si256(odd, wide(0x0700070007000700u));
    v            = _mm256_or_si256(_mm256_or_si256(even, odd), unused);
    return _mm256_shuffle_epi8(bits, v);
}

/* Eight bytes of seven bits each, side by side; and the tag's bits. */
BLM__AVX2_INLINE __m256i joined_cells(__m256i v)
{
    v            = _mm256_maddubs_epi16(wide(0x8001800180018001u), v);
    v            = _mm256_madd_epi16(v, wide(0x4000000140000001u));
    __m256i high = _mm256_and_si256(_mm256_srli_epi64(v, 4), wide(0x00fffffff0000000u));
    v            = _mm256_or_si256(_mm256_and_si256(v, wide(0x0fffffff)), high);
    return _mm256_or_si256(v, wide(BLM__AGE_TAG));
}

/* The pattern, turned by x >> 61: byte j of it is byte j + 8 − turn of the pattern twice over. */
BLM__AVX2_INLINE __m256i unused_of(__m256i x, __m256i pattern)
{
    const __m256i firsts =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8));
    __m256i turn = _mm256_shuffle_epi8(_mm256_srli_epi64(x, 61), firsts);
    return _mm256_shuffle_epi8(pattern, _mm256_sub_epi8(wide(0x0f0e0d0c0b0a0908u), turn));
}

BLM__AVX2_INLINE void take4(const struct blm__ages_place *p, __m256i h, uint32_t lines,
                            struct blm__ages_ring *r, size_t to)
{
    const __m256i spans   = wide(p->spans);
    const __m256i pattern = wide(blm__unused_groups[p->k][0]);
    const __m128i scale   = _mm_cvtsi32_si128((int)BLM__LOWEST64((uint64_t)p->ages) + 3);
    for (uint32_t line = 0; line < lines; line++) {
        __m256i x    = blm__avx2_mul64(h, BLM__C);
        __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(h, 32), spans);
        __m256i low  = _mm256_srli_epi64(_mm256_mul_epu32(h, spans), 32);
        __m256i at   = _mm256_srli_epi64(_mm256_add_epi64(high, low), 32);
        _mm256_store_si256((void *)(r->at[line] + to), _mm256_sll_epi64(at, scale));
        _mm256_store_si256((void *)(r->mask[line] + to),
                           joined_cells(cell_bytes(cell_numbers(x), unused_of(x, pattern))));
        if (line + 1 < lines) {
            h = blm__avx2_mul64(x, BLM__D);
            h = _mm256_xor_si256(h, _mm256_srli_epi64(h, 32));
        }
    }
}

BLM__AVX2_INLINE void take8_ages(const struct blm__ages_place *p, const struct blm__stream *s,
                                 size_t i, uint32_t lines, struct blm__ages_ring *r, size_t to)
{
    __m256i a = _mm256_loadu_si256((const void *)(s->from + 8 * i));
    __m256i b = _mm256_loadu_si256((const void *)(s->from + 8 * i + 32));
    if (s->keys) {
        a = blm__avx2_hash4(a, wide(s->flip));
        b = blm__avx2_hash4(b, wide(s->flip));
    }
    take4(p, a, lines, r, to);
    take4(p, b, lines, r, to + 4);
}

/* Of eight ages from word `from` on: ones in lanes of those that have the key in all of its spans. */
BLM__AVX2_INLINE __m256i has_in(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                                size_t j, uint32_t from, uint32_t lines)
{
    __m256i lo = _mm256_setzero_si256(), hi = lo;
    for (uint32_t i = 0; i < lines; i++) {
        const uint64_t *line = blm__ages_span(p, r, i, j) + from;
        const __m256i   mask = wide(r->mask[i][j]);
        __m256i a = _mm256_xor_si256(blm__avx2_load4(line), blm__avx2_load4(p->other + from));
        __m256i b =
            _mm256_xor_si256(blm__avx2_load4(line + 4), blm__avx2_load4(p->other + from + 4));
        lo = _mm256_or_si256(lo, _mm256_and_si256(a, mask));
        hi = _mm256_or_si256(hi, _mm256_and_si256(b, mask));
    }
    return _mm256_or_si256(_mm256_cmpeq_epi64(lo, _mm256_setzero_si256()),
                           _mm256_cmpeq_epi64(hi, _mm256_setzero_si256()));
}

BLM__AVX2_INLINE bool has_key(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                              size_t j, uint32_t ages, uint32_t lines)
{
    __m256i has = has_in(p, r, j, 0, lines);
    for (uint32_t from = 8; from < ages; from += 8)
        has = _mm256_or_si256(has, has_in(p, r, j, from, lines));
    return _mm256_movemask_pd(_mm256_castsi256_pd(has)) != 0;
}

BLM__AVX2_INLINE uint32_t look2(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                                size_t j, uint32_t ages, uint32_t lines)
{
    return (uint32_t)has_key(p, r, j, ages, lines) | (uint32_t)has_key(p, r, j + 1, ages, lines)
                                                         << 8;
}

BLM__AVX2_INLINE void tell8(uint64_t eight, uint8_t *maybe) { memcpy(maybe, &eight, 8); }

BLM__AGES_STREAMS(avx2, BLM__AVX2, BLM__AVX2_INLINE, take8_ages, look2, tell8, has_key)

const struct blm__ages blm__ages_avx2 = { BLM__AGES_ROWS(avx2) };
#endif
