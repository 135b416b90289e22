/* SPDX-License-Identifier: MIT */
/* Murmur hashes of keys of 8 bytes, eight at once: avx2_murmur.c's with whole 64-bit multiplies and rotates. */
#include "core/hash/murmur2.h"
#include "core/kernel/steps.h"

#ifdef BLM__HAVE_AVX512
#include "core/kernel/avx512.h"

#define INLINE BLM__AVX512_INLINE

INLINE __m512i wide(uint64_t v) { return _mm512_set1_epi64((long long)v); }
INLINE __m512i both(__m512i a, __m512i b) { return _mm512_xor_si512(a, b); }
INLINE __m512i product(__m512i v, uint64_t by) { return _mm512_mullo_epi64(v, wide(by)); }

INLINE __m512i times(__m512i v) { return product(v, BLM__MURMUR64A); }
INLINE __m512i shaken(__m512i v) { return both(v, _mm512_srli_epi64(v, 47)); }

BLM__AVX512 void blm__murmur_8_avx512(const uint8_t *keys, size_t n, uint64_t seed, uint64_t *start,
                                      uint64_t *step)
{
    const __m512i len = wide(8 * BLM__MURMUR64A), first = both(wide(seed), len);
    size_t        i = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i word = times(shaken(times(_mm512_loadu_si512(keys + 8 * i))));
        __m512i h    = shaken(times(shaken(times(both(first, word)))));
        _mm512_storeu_si512(start + i, h);
        h = both(both(h, len), word);
        _mm512_storeu_si512(step + i, shaken(times(shaken(times(h)))));
    }
    blm__murmur_8(keys + 8 * i, n - i, seed, start + i, step + i);
}

INLINE __m512i avalanche(__m512i h)
{
    h = product(both(h, _mm512_srli_epi64(h, 33)), 0xff51afd7ed558ccdu);
    h = product(both(h, _mm512_srli_epi64(h, 33)), 0xc4ceb9fe1a85ec53u);
    return both(h, _mm512_srli_epi64(h, 33));
}

/* blm__murmur3_finish of eight keys: the upper half of 16 bytes is 0, and scrambles to 0. */
BLM__AVX512 void blm__murmur3_8_avx512(const uint8_t *keys, size_t n, uint64_t *start,
                                       uint64_t *step)
{
    const __m512i len = wide(8);
    size_t        i   = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i a = product(_mm512_loadu_si512(keys + 8 * i), 0x87c37b91114253d5u);
        a         = both(product(_mm512_rol_epi64(a, 31), 0x4cf5ad432745937fu), len);
        a         = _mm512_add_epi64(a, len);
        __m512i b = avalanche(_mm512_add_epi64(a, len));
        a         = _mm512_add_epi64(avalanche(a), b);
        _mm512_storeu_si512(start + i, a);
        _mm512_storeu_si512(step + i, _mm512_add_epi64(a, b));
    }
    blm__murmur3_8(keys + 8 * i, n - i, start + i, step + i);
}
#endif
