/* SPDX-License-Identifier: MIT */
/* AVX-512: a key's eight cells are made in one vector, and a line of ages is compared as one. Each
 * function does what its namesake in ages.c does, bit for bit. */
#include "core/kernel/ages.h"
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

const struct blm__ages blm__ages_avx512 = { blm__ages_check_avx512, blm__ages_add_avx512,
                                            blm__ages_add_shared_avx512 };
#endif
