/* SPDX-License-Identifier: MIT */
/* What every file of AVX-512 begins with: the instructions a function may use, by attribute; over
 * SIMDe (tests/unit/core/kernel/test_avx512_emulated.c) there are none, and no attribute. */
#ifndef BLM_CORE_KERNEL_AVX512_H
#define BLM_CORE_KERNEL_AVX512_H

#include "core/hash/xxh3_key.h"
#include "core/kernel/kernel.h"
#include "core/probe.h"

#ifdef BLM__HAVE_AVX512
#ifndef BLM__AVX512_EMULATED
#include <immintrin.h>
#define BLM__AVX512_SET    "avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,popcnt"
#define BLM__AVX512        __attribute__((target(BLM__AVX512_SET)))
#define BLM__AVX512_INLINE static inline __attribute__((always_inline, target(BLM__AVX512_SET)))
#else /* each intrinsic is a loop then: what is inlined everywhere takes minutes to compile */
#define BLM__AVX512
#define BLM__AVX512_INLINE static inline
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"

/* Eight words, from these bytes on. Without an optimiser gcc's gathers are macros, with conversions
 * of their own. */
BLM__AVX512_INLINE __m512i blm__avx512_gather(const void *bytes, __m512i at)
{
    return _mm512_i64gather_epi64(at, bytes, 1);
}
#pragma GCC diagnostic pop

/* ⌊v · m / 2^64⌋ of eight words, m below 2^32: from 32-bit multiplies. */
BLM__AVX512_INLINE __m512i blm__avx512_reduce(__m512i v, __m512i m)
{
    __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(v, 32), m);
    __m512i low  = _mm512_srli_epi64(_mm512_mul_epu32(v, m), 32);
    return _mm512_srli_epi64(_mm512_add_epi64(high, low), 32);
}

/* blm__xxh3_8 of eight keys: rotates and whole 64-bit multiplies, as written. */
BLM__AVX512_INLINE __m512i blm__avx512_hash(__m512i v, __m512i flip)
{
    const __m512i prime = _mm512_set1_epi64((long long)BLM__XXH3_PRIME_MX2);
    v                   = _mm512_xor_si512(_mm512_rol_epi64(v, 32), flip);
    v = _mm512_xor_si512(v, _mm512_xor_si512(_mm512_rol_epi64(v, 49), _mm512_rol_epi64(v, 24)));
    v = _mm512_mullo_epi64(v, prime);
    v = _mm512_xor_si512(v, _mm512_add_epi64(_mm512_srli_epi64(v, 35), _mm512_set1_epi64(8)));
    v = _mm512_mullo_epi64(v, prime);
    return _mm512_xor_si512(v, _mm512_srli_epi64(v, 28));
}

/* Eight keys: see core/kernel/stream.h. */
BLM__AVX512_INLINE void blm__avx512_take8(const uint8_t *from, bool keys, uint64_t flip,
                                          uint64_t lines, uint64_t *at, uint64_t *x)
{
    const __m512i m = _mm512_set1_epi64((long long)lines);
    __m512i       v = _mm512_loadu_si512((const void *)from);
    if (keys)
        v = blm__avx512_hash(v, _mm512_set1_epi64((long long)flip));
    _mm512_storeu_si512((void *)x, _mm512_mullo_epi64(v, _mm512_set1_epi64((long long)BLM__C)));
    if (lines)
        v = _mm512_slli_epi64(blm__avx512_reduce(v, m), 6);
    _mm512_storeu_si512((void *)at, v);
}
#endif
#endif
