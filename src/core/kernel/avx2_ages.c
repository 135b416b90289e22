/* SPDX-License-Identifier: MIT */
/* AVX2: a key's eight cells are made in two vectors, and a line of ages is compared as two. Each
 * function does what its namesake in ages.c does, bit for bit. */
#include "core/kernel/ages.h"
#include "core/kernel/avx2.h"

#ifdef BLM__HAVE_AVX2

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

const struct blm__ages blm__ages_avx2 = { blm__ages_check_avx2, blm__ages_add_avx2,
                                          blm__ages_add_shared_avx2 };
#endif
