/* SPDX-License-Identifier: MIT */
/* What every file of AVX2 begins with: the instructions a function may use (by attribute, so that
 * default flags do), and four words in and out of a vector. */
#ifndef BLM_CORE_KERNEL_AVX2_H
#define BLM_CORE_KERNEL_AVX2_H

#include "core/kernel/kernel.h"

#ifdef BLM__HAVE_AVX2
#include <immintrin.h>

#define BLM__AVX2_SET    "avx2,bmi,bmi2,popcnt"
#define BLM__AVX2        __attribute__((target(BLM__AVX2_SET)))
#define BLM__AVX2_INLINE static inline __attribute__((always_inline, target(BLM__AVX2_SET)))

/* Aligned or not: a caller's own words may not be. */
BLM__AVX2_INLINE __m256i blm__avx2_load4(const uint64_t *w)
{
    return _mm256_loadu_si256((const void *)w);
}

BLM__AVX2_INLINE void blm__avx2_store4(uint64_t *w, __m256i v)
{
    _mm256_storeu_si256((void *)w, v);
}

#endif
#endif
