/* SPDX-License-Identifier: MIT */
/* AVX-512: a key's eight cells are made in one vector, and a line of ages is compared as one. Each
 * function does what its namesake in ages.c does, bit for bit. */
#include "core/kernel/ages_ring.h"
#include "core/kernel/avx512.h"

#ifdef BLM__HAVE_AVX512

BLM__AVX512_INLINE uint64_t mask_of(uint64_t x, uint32_t k)
{
    const __m512i shift = _mm512_set_epi64(47, 41, 35, 29, 23, 17, 11, 5);
    const __m512i group = _mm512_set_epi64(49, 42, 35, 28, 21, 14, 7, 0);
    uint8_t       used  = (uint8_t)blm__line_words(x, k);
    __m512i       one = _mm512_mask_blend_epi64(used, _mm512_setzero_si512(), _mm512_set1_epi64(1));
    __m512i       v   = _mm512_srlv_epi64(_mm512_set1_epi64((long long)x), shift);
    v                 = _mm512_and_si512(v, _mm512_set1_epi64(0x3fff));
    v                 = _mm512_srli_epi64(_mm512_mul_epu32(v, _mm512_set1_epi64(7)), 14);
    return (uint64_t)_mm512_reduce_or_epi64(_mm512_sllv_epi64(one, _mm512_add_epi64(v, group)));
}

BLM__AVX512_INLINE unsigned has8(const uint64_t *line, const struct blm__age_turn *t, uint32_t from,
                                 uint64_t mask)
{
    /* Words 0 … at are young. */
    unsigned young = t->at < from ? 0 : t->at >= from + 7 ? 0xff : (2u << (t->at - from)) - 1;
    __m512i  m     = _mm512_set1_epi64((long long)mask);
    __m512i  tag   = _mm512_mask_blend_epi64((uint8_t)young, _mm512_set1_epi64((long long)t->old),
                                             _mm512_set1_epi64((long long)t->young));
    __m512i  kept  = _mm512_and_si512(_mm512_loadu_si512((const void *)line),
                                      _mm512_or_si512(m, _mm512_set1_epi64((long long)BLM__AGE_TAG)));
    return _mm512_cmpeq_epi64_mask(kept, _mm512_or_si512(m, tag));
}

BLM__AGES_LOOPS(avx512, BLM__AVX512, BLM__AVX512_INLINE, mask_of, has8)

/* ---- eight keys at once (core/kernel/ages_ring.h) ---- */

BLM__AVX512_INLINE __m512i wide(uint64_t v) { return _mm512_set1_epi64((long long)v); }

/* The cell of every group, as a number of three bits at 19 + 6·group. Every third field is far enough
 * from the next to be multiplied in place. */
BLM__AVX512_INLINE __m512i cell_numbers(__m512i x)
{
    __m512i a =
        _mm512_and_si512(x, wide(BLM__AGE_FIELD(0) | BLM__AGE_FIELD(3) | BLM__AGE_FIELD(6)));
    __m512i b =
        _mm512_and_si512(x, wide(BLM__AGE_FIELD(1) | BLM__AGE_FIELD(4) | BLM__AGE_FIELD(7)));
    __m512i c = _mm512_and_si512(x, wide(BLM__AGE_FIELD(2) | BLM__AGE_FIELD(5)));
    a         = _mm512_sub_epi64(_mm512_slli_epi64(a, 3), a);
    b         = _mm512_sub_epi64(_mm512_slli_epi64(b, 3), b);
    c         = _mm512_sub_epi64(_mm512_slli_epi64(c, 3), c);
    a         = _mm512_ternarylogic_epi64(
                wide(BLM__AGE_NUMBER(0) | BLM__AGE_NUMBER(3) | BLM__AGE_NUMBER(6)), a, b, 0xca);
    return _mm512_ternarylogic_epi64(wide(BLM__AGE_NUMBER(2) | BLM__AGE_NUMBER(5)), c, a, 0xca);
}

/* Group after group, in bytes: 1 << cell, or 0 where the group is not used. unused: 0x80 there. */
BLM__AVX512_INLINE __m512i cell_bytes(__m512i numbers, __m512i unused)
{
    const __m512i pairs = _mm512_broadcast_i32x4(
        _mm_setr_epi8(2, 3, 3, 4, 5, 6, 6, 7, 10, 11, 11, 12, 13, 14, 14, 15));
    const __m512i bits =
        _mm512_broadcast_i32x4(_mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    __m512i v    = _mm512_shuffle_epi8(numbers, pairs); /* in each of its words two of them */
    __m512i even = _mm512_srlv_epi16(v, wide(0x0007000300070003u));
    __m512i odd  = _mm512_srlv_epi16(v, wide(0x0005000100050001u));
    v            = _mm512_ternarylogic_epi64(wide(0x00ff00ff00ff00ffu), even, odd, 0xca);
    v            = _mm512_ternarylogic_epi64(v, wide(0x0707070707070707u), unused, 0xea);
    return _mm512_shuffle_epi8(bits, v);
}

/* Eight bytes of seven bits each, side by side; and the tag's bits. */
BLM__AVX512_INLINE __m512i joined_cells(__m512i v)
{
    v = _mm512_maddubs_epi16(wide(0x8001800180018001u), v);
    v = _mm512_madd_epi16(v, wide(0x4000000140000001u));
    v = _mm512_ternarylogic_epi64(wide(0x0fffffff), v, _mm512_srli_epi64(v, 4), 0xca);
    return _mm512_or_si512(v, wide(BLM__AGE_TAG));
}

BLM__AVX512_INLINE void take8_ages(const struct blm__ages_place *p, const struct blm__stream *s,
                                   size_t i, uint32_t lines, struct blm__ages_ring *r, size_t to)
{
    const __m512i unused = _mm512_load_si512((const void *)blm__unused_groups[p->k]);
    const __m128i scale  = _mm_cvtsi32_si128((int)BLM__LOWEST64((uint64_t)p->ages) + 3);
    __m512i       h      = _mm512_loadu_si512((const void *)(s->from + 8 * i));
    if (s->keys)
        h = blm__avx512_hash(h, wide(s->flip));
    for (uint32_t line = 0; line < lines; line++) {
        __m512i x    = _mm512_mullo_epi64(h, wide(BLM__C));
        __m512i at   = _mm512_sll_epi64(blm__avx512_reduce(h, wide(p->spans)), scale);
        __m512i none = _mm512_permutexvar_epi64(_mm512_srli_epi64(x, 61), unused);
        _mm512_store_si512((void *)(r->at[line] + to), at);
        _mm512_store_si512((void *)(r->mask[line] + to),
                           joined_cells(cell_bytes(cell_numbers(x), none)));
        if (line + 1 < lines) {
            h = _mm512_mullo_epi64(x, wide(BLM__D));
            h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 32));
        }
    }
}

/* The ages, of eight from word `from` on, that have the key in all of its spans. */
BLM__AVX512_INLINE __mmask8 has_in(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                                   size_t j, uint32_t from, uint32_t lines)
{
    const __m512i other = _mm512_load_si512((const void *)(p->other + from));
    __mmask8      has   = 0xff;
    for (uint32_t i = 0; i < lines; i++) {
        const uint64_t *line  = blm__ages_span(p, r, i, j) + from;
        __m512i         lacks = _mm512_xor_si512(_mm512_loadu_si512((const void *)line), other);
        has                   = _mm512_mask_testn_epi64_mask(has, lacks, wide(r->mask[i][j]));
    }
    return has;
}

BLM__AVX512_INLINE __mmask8 has_ages(const struct blm__ages_place *p,
                                     const struct blm__ages_ring *r, size_t j, uint32_t ages,
                                     uint32_t lines)
{
    __mmask8 has = has_in(p, r, j, 0, lines);
    for (uint32_t from = 8; from < ages; from += 8)
        has |= has_in(p, r, j, from, lines);
    return has;
}

BLM__AVX512_INLINE bool has_key(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                                size_t j, uint32_t ages, uint32_t lines)
{
    return has_ages(p, r, j, ages, lines) != 0;
}

/* Two keys: a byte each of ages that have them. */
BLM__AVX512_INLINE uint32_t look2(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                                  size_t j, uint32_t ages, uint32_t lines)
{
    return _mm512_kunpackb(has_ages(p, r, j + 1, ages, lines), has_ages(p, r, j, ages, lines));
}

BLM__AVX512_INLINE void tell8(uint64_t ages, uint8_t *maybe)
{
    __m128i no = _mm_cmpeq_epi8(_mm_cvtsi64_si128((long long)ages), _mm_setzero_si128());
    _mm_storel_epi64((void *)maybe, _mm_add_epi8(no, _mm_set1_epi8(1)));
}

BLM__AGES_STREAMS(avx512, BLM__AVX512, BLM__AVX512_INLINE, take8_ages, look2, tell8, has_key)

const struct blm__ages blm__ages_avx512 = { BLM__AGES_ROWS(avx512) };
#endif
