/* SPDX-License-Identifier: MIT */
/*
 * MurmurHash64A of four keys at once, twice: with a seed, and with what came of that as the seed.
 * RedisBloom asks that of a key, and key by key it is a third of what a lookup executes: 91
 * instructions of 307 for one of 15 bytes, and 39 here; 10% of the time (core/kernel/flow.h).
 *
 * Keys of 8 to 31 bytes with the same number of whole words, as identifiers are: what is left of a
 * word then hangs on a lane's shift, and whether there is any on a mask, not on a branch.
 */
#include "core/hash/murmur2.h"
#include "core/kernel/steps.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/avx2_line.h"

#define WORDS 3u

BLM__AVX2_INLINE __m256i times(__m256i v) { return blm__avx2_mul64(v, BLM__MURMUR64A); }

BLM__AVX2_INLINE __m256i shaken(__m256i v) { return _mm256_xor_si256(v, _mm256_srli_epi64(v, 47)); }

/* 8 bytes of each key, `at` bytes from its start. */
BLM__AVX2_INLINE __m256i words_at(const uint8_t *const *p, size_t at)
{
    uint64_t w[4];
    for (unsigned i = 0; i < 4; i++)
        w[i] = blm__get64le(p[i] + at);
    return _mm256_setr_epi64x((long long)w[0], (long long)w[1], (long long)w[2], (long long)w[3]);
}

/* From the seed, or what stands for it, mixed with the length. */
BLM__AVX2_INLINE __m256i hash(__m256i h, const __m256i *mixed, unsigned words, __m256i tail,
                              __m256i whole)
{
    for (unsigned i = 0; i < words; i++)
        h = times(_mm256_xor_si256(h, mixed[i]));
    h = _mm256_blendv_epi8(times(_mm256_xor_si256(h, tail)), h, whole);
    return shaken(times(shaken(h)));
}

BLM__AVX2_INLINE void hash_both(const blm_key *k, unsigned words, uint64_t seed, uint64_t *start,
                                uint64_t *step)
{
    const __m256i bits =
        _mm256_slli_epi64(_mm256_setr_epi64x((long long)k[0].len, (long long)k[1].len,
                                             (long long)k[2].len, (long long)k[3].len),
                          3);
    const __m256i  left  = _mm256_and_si256(bits, _mm256_set1_epi64x(56));
    const __m256i  whole = _mm256_cmpeq_epi64(left, _mm256_setzero_si256());
    const __m256i  size  = times(_mm256_srli_epi64(bits, 3));
    const uint8_t *p[4], *last[4];
    __m256i        mixed[WORDS];
    for (unsigned i = 0; i < 4; i++) {
        p[i]    = k[i].data;
        last[i] = p[i] + k[i].len - 8;
    }
    for (unsigned i = 0; i < words; i++)
        mixed[i] = times(shaken(times(words_at(p, 8 * i))));
    /* Shifted by 64 where nothing is left: that gives 0. */
    __m256i tail =
        _mm256_srlv_epi64(words_at(last, 0), _mm256_sub_epi64(_mm256_set1_epi64x(64), left));
    __m256i first = hash(_mm256_xor_si256(_mm256_set1_epi64x((long long)seed), size), mixed, words,
                         tail, whole);
    _mm256_storeu_si256((void *)start, first);
    _mm256_storeu_si256((void *)step,
                        hash(_mm256_xor_si256(first, size), mixed, words, tail, whole));
}

BLM__AVX2 bool blm__murmur4_avx2(const blm_key *k, uint64_t seed, uint64_t *start, uint64_t *step)
{
    const size_t words  = k[0].len / 8,
                 differ = (k[0].len ^ k[1].len) | (k[0].len ^ k[2].len) | (k[0].len ^ k[3].len);
    if (words - 1 >= WORDS || differ >= 8)
        return false;
    switch (words) { /* known to the compiler, so that they stay in registers */
    case 1:
        hash_both(k, 1, seed, start, step);
        break;
    case 2:
        hash_both(k, 2, seed, start, step);
        break;
    default:
        hash_both(k, 3, seed, start, step);
        break;
    }
    return true;
}

/* ---- keys of 8 bytes, side by side ---- */

BLM__AVX2 void blm__murmur_8_avx2(const uint8_t *keys, size_t n, uint64_t seed, uint64_t *start,
                                  uint64_t *step)
{
    const __m256i len   = _mm256_set1_epi64x((long long)(8 * BLM__MURMUR64A));
    const __m256i first = _mm256_xor_si256(_mm256_set1_epi64x((long long)seed), len);
    size_t        i     = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i word = _mm256_loadu_si256((const void *)(keys + 8 * i));
        word         = times(shaken(times(word)));
        __m256i h    = shaken(times(shaken(times(_mm256_xor_si256(first, word)))));
        blm__avx2_store4(start + i, h);
        h = _mm256_xor_si256(_mm256_xor_si256(h, len), word);
        blm__avx2_store4(step + i, shaken(times(shaken(times(h)))));
    }
    blm__murmur_8(keys + 8 * i, n - i, seed, start + i, step + i);
}

BLM__AVX2_INLINE __m256i avalanche(__m256i h)
{
    h = _mm256_xor_si256(h, _mm256_srli_epi64(h, 33));
    h = blm__avx2_mul64(h, 0xff51afd7ed558ccdu);
    h = _mm256_xor_si256(h, _mm256_srli_epi64(h, 33));
    h = blm__avx2_mul64(h, 0xc4ceb9fe1a85ec53u);
    return _mm256_xor_si256(h, _mm256_srli_epi64(h, 33));
}

/* blm__murmur3_finish of four keys: the upper half of 16 bytes is 0, and scrambles to 0. */
BLM__AVX2 void blm__murmur3_8_avx2(const uint8_t *keys, size_t n, uint64_t *start, uint64_t *step)
{
    const __m256i len = _mm256_set1_epi64x(8);
    size_t        i   = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i a = _mm256_loadu_si256((const void *)(keys + 8 * i));
        a         = blm__avx2_rotl(blm__avx2_mul64(a, 0x87c37b91114253d5u), 31);
        a         = _mm256_xor_si256(blm__avx2_mul64(a, 0x4cf5ad432745937fu), len);
        a         = _mm256_add_epi64(a, len);
        __m256i b = avalanche(_mm256_add_epi64(a, len));
        a         = _mm256_add_epi64(avalanche(a), b);
        blm__avx2_store4(start + i, a);
        blm__avx2_store4(step + i, _mm256_add_epi64(a, b));
    }
    blm__murmur3_8(keys + 8 * i, n - i, start + i, step + i);
}
#endif
