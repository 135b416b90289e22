/* SPDX-License-Identifier: MIT */
/* Checks of other systems' steps with AVX2, by core/kernel/sieve.h. */
#include "core/kernel/sieve.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/avx2_modulus.h"

struct steps {
    struct blm__avx2_modulus d;
    const uint64_t          *a, *b;
    __m128i                  spare;
};

/* Sums are followed beside the remainders: where one wraps, what is added is (b − 2^wrap) mod m. They
 * are compared as signed numbers, with their top bits turned. */
BLM__AVX2_INLINE void list_steps(const void *from, size_t i, uint32_t k, uint32_t *pos)
{
    const struct steps             *s    = from;
    const struct blm__avx2_modulus *d    = &s->d;
    const __m256i                   sign = _mm256_set1_epi64x(INT64_MIN);
    __m256i                         c[2], step[2], low[2], limit[2];
    blm__avx2_apart(s->a + i, c);
    blm__avx2_apart(s->b + i, step);
    for (unsigned j = 0; j < 2; j++) {
        c[j]     = _mm256_sll_epi64(c[j], s->spare);
        step[j]  = _mm256_sll_epi64(step[j], s->spare);
        low[j]   = _mm256_srl_epi64(c[j], s->spare);
        limit[j] = _mm256_xor_si256(step[j], sign);
        c[j]     = _mm256_xor_si256(c[j], sign);
    }
    __m256i at = blm__avx2_remainder8(d, low);
    for (unsigned j = 0; j < 2; j++)
        low[j] = _mm256_srl_epi64(step[j], s->spare);
    __m256i by = blm__avx2_remainder8(d, low), less = _mm256_sub_epi32(by, d->wrap);
    less = _mm256_min_epu32(less, _mm256_add_epi32(less, d->m32));
    _mm256_storeu_si256((void *)pos, at);
    BLM__UNROLL_8
    for (uint32_t j = 1; j < k; j++) {
        c[0]            = _mm256_add_epi64(c[0], step[0]);
        c[1]            = _mm256_add_epi64(c[1], step[1]);
        __m256i wrapped = _mm256_blend_epi32(_mm256_cmpgt_epi64(limit[0], c[0]),
                                             _mm256_cmpgt_epi64(limit[1], c[1]), 0xaa);
        at              = _mm256_add_epi32(at, _mm256_blendv_epi8(by, less, wrapped));
        at              = _mm256_min_epu32(at, _mm256_sub_epi32(at, d->m32));
        _mm256_storeu_si256((void *)(pos + BLM__SIEVE_LANES * (size_t)j), at);
    }
}

BLM__AVX2 static size_t check_steps(const struct blm__layer *l, const uint64_t *a,
                                    const uint64_t *b, size_t n, uint8_t *maybe)
{
    const struct steps s = { blm__avx2_modulus_of(&l->steps), a, b,
                             _mm_cvtsi32_si128((int)l->steps.spare) };
    return blm__sieve_check(l->words, &s, n, l->shape.probes, maybe, list_steps, NULL);
}

bool blm__sieve_steps_avx2(const struct blm__layer *l, const uint64_t *a, const uint64_t *b,
                           size_t n, uint8_t *maybe, size_t *hits)
{
    if (!blm__sieve_fits(l, n) || l->steps.m > BLM__MODULUS_MOST)
        return false;
    *hits = check_steps(l, a, b, n, maybe);
    return true;
}
#endif
