/* SPDX-License-Identifier: MIT */
/* Several layers at once, a line as two vectors: what layers.c does, bit for bit. */
#include "core/kernel/layers.h"

#ifdef BLM__HAVE_AVX2
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,bmi,bmi2,popcnt")))

#define AHEAD 16u

struct mask {
    __m256i lo, hi;
};

/* One bit in each of the eight words; which of them are asked depends on the layer's k. */
AVX2_INLINE struct mask all_of(uint64_t x)
{
    const __m256i one = _mm256_set1_epi64x(1), field = _mm256_set1_epi64x(63);
    __m256i       v   = _mm256_set1_epi64x((long long)x);
    __m256i a = _mm256_and_si256(_mm256_srlv_epi64(v, _mm256_setr_epi64x(13, 19, 25, 31)), field);
    __m256i b = _mm256_and_si256(_mm256_srlv_epi64(v, _mm256_setr_epi64x(37, 43, 49, 55)), field);
    struct mask m = { _mm256_sllv_epi64(one, a), _mm256_sllv_epi64(one, b) };
    return m;
}

AVX2_INLINE struct mask used_of(struct mask m, uint64_t x, uint32_t k)
{
    const __m256i lo = _mm256_setr_epi64x(1, 2, 4, 8), hi = _mm256_setr_epi64x(16, 32, 64, 128);
    __m256i       w = _mm256_set1_epi64x((long long)blm__line_words(x, k));
    m.lo = _mm256_and_si256(m.lo, _mm256_cmpeq_epi64(_mm256_and_si256(w, lo), lo));
    m.hi = _mm256_and_si256(m.hi, _mm256_cmpeq_epi64(_mm256_and_si256(w, hi), hi));
    return m;
}

AVX2_INLINE unsigned has(const uint64_t *line, struct mask m)
{
    __m256i lo = _mm256_loadu_si256((const __m256i *)(const void *)line);
    __m256i hi = _mm256_loadu_si256((const __m256i *)(const void *)(line + 4));
    return (unsigned)(_mm256_testc_si256(lo, m.lo) & _mm256_testc_si256(hi, m.hi));
}

AVX2 size_t blm__layers_check_avx2(const struct blm_stack *s, const uint64_t *h, size_t n,
                                   uint8_t *maybe)
{
    struct blm_passed p;
    size_t            hits = 0;
    p.n                    = 0;
    for (size_t i = 0; i < AHEAD && i < n; i++)
        blm__stack_fetch(s, h[i]);
    for (size_t i = 0; i < n; i++) {
        const uint64_t    x = blm__line_x(h[i]);
        const struct mask all = all_of(x);
        struct mask       m = all;
        uint64_t          more = 0;
        unsigned          in = 0;
        uint32_t          k = 8; /* of m */
        if (i + AHEAD < n)
            blm__stack_fetch(s, h[i + AHEAD]);
        /* Neighbouring layers mostly have the same k: the branch is the same for every key. */
        for (unsigned t = 0; t < s->single; t++) {
            if (s->layer[t].probes != k)
                m = used_of(all, x, k = s->layer[t].probes);
            in |= has(blm__stacked_line(&s->layer[t], h[i]), m);
        }
        for (unsigned t = s->single; t < s->count; t++) {
            if (s->layer[t].probes != k)
                m = used_of(all, x, k = s->layer[t].probes);
            more |= (uint64_t)has(blm__stacked_line(&s->layer[t], h[i]), m) << t;
        }
        hits += maybe[i] = (uint8_t)in;
        if (!in && more)
            blm__passed_add(&p, s, i, h[i], more);
    }
    return hits + blm__passed_settle(&p, s, h, maybe);
}
#endif
