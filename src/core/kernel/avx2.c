/* SPDX-License-Identifier: MIT */
/*
 * AVX2: a 512-bit line is two vectors of four words.
 *
 * A check shifts each word so that the bit it asks for becomes the sign, and takes the eight signs as
 * one byte: `(signs & needed) == needed`, with the words that a key does not use absent from needed. Per
 * key that is 4 shifts, 1 shuffle, 1 movemask and no table of vectors. Against building the mask of
 * bits and two vptest (what stood here before): batch in cache 2.9 → 1.7 ns a key on Zen 3.
 * An add must have the mask: one bit shifted into place a word, from a table of ones and zeroes.
 *
 * Shared filters: adds go word by word with atomic operations, as in the portable kernel. Checks
 * load 32 bytes at once; on x86-64 an aligned 8-byte lane of such a load is never torn, so a check
 * sees each word either before or after a concurrent add. (No language rule says so, which is why
 * the thread tests run under TSan on the portable kernel.)
 */
#include "core/kernel/kernel.h"

#ifdef BLM__HAVE_AVX2
#include <immintrin.h>

#include "core/kernel/counters.h"
#include "core/kernel/layers.h"
#include "core/kernel/steps.h"
#include "core/kernel/lines.h"

#define AVX2        __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,bmi,bmi2,popcnt")))

/* ---- one line ---- */

/* The signs needed, in the order in which signs_of gives them: words 0 1 4 5 2 3 6 7. */
#define SIGNS(p) (uint8_t)(((p) & 0xc3) | ((p) & 0x30) >> 2 | ((p) & 0x0c) << 2)
/* By the top byte of x, of which three bits count: one load finds it, in place of a shift and one. */
#define SIGNS4(p)  SIGNS(p), SIGNS(p), SIGNS(p), SIGNS(p)
#define SIGNS32(p) SIGNS4(p), SIGNS4(p), SIGNS4(p), SIGNS4(p), SIGNS4(p), SIGNS4(p), SIGNS4(p), SIGNS4(p)
static const _Alignas(64) uint8_t  needed[9][256] = BLM__LINE_TABLE(SIGNS32);
static const _Alignas(64) uint64_t ones[9][8][8]   = BLM__LINE_TABLE(BLM__LINE_ONES);

/* A line's half: four words, aligned or not (a caller's own words may not be). */
AVX2_INLINE __m256i load4(const uint64_t *w) { return _mm256_loadu_si256((const void *)w); }

AVX2_INLINE unsigned signs_of(const uint64_t *line, uint64_t x)
{
    const __m256i field = _mm256_set1_epi64x(63);
    __m256i       v     = _mm256_set1_epi64x((long long)x);
    __m256i       a     = _mm256_srlv_epi64(v, _mm256_setr_epi64x(13, 19, 25, 31));
    __m256i       b     = _mm256_srli_epi64(a, 24);
    /* 63 − bit = ~bit & 63: how far left until the bit is the sign. */
    a = _mm256_sllv_epi64(load4(line), _mm256_andnot_si256(a, field));
    b = _mm256_sllv_epi64(load4(line + 4), _mm256_andnot_si256(b, field));
    __m256 high = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd);
    return (unsigned)_mm256_movemask_ps(high);
}

AVX2_INLINE bool test_line(const uint64_t *line, uint64_t x, uint32_t k)
{
    return (~signs_of(line, x) & needed[k][x >> 56]) == 0;
}

AVX2_INLINE unsigned set_line(struct blm_layer *l, uint64_t *line, uint64_t x, uint32_t k,
                              bool marks)
{
    const __m256i   field = _mm256_set1_epi64x(63);
    const uint64_t *one   = ones[k][x >> 61];
    __m256i v = _mm256_srlv_epi64(_mm256_set1_epi64x((long long)x),
                                  _mm256_setr_epi64x(13, 19, 25, 31));
    __m256i a = _mm256_sllv_epi64(load4(one), _mm256_and_si256(v, field));
    __m256i b = _mm256_sllv_epi64(load4(one + 4), _mm256_and_si256(_mm256_srli_epi64(v, 24), field));
    __m256i lo = load4(line), hi = load4(line + 4);
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(lo, a), _mm256_andnot_si256(hi, b));
    unsigned fresh  = !_mm256_testz_si256(missing, missing);
    if (marks && fresh)
        blm__mark(l, (uint64_t)(line - l->words));
    _mm256_storeu_si256((void *)line, _mm256_or_si256(lo, a));
    _mm256_storeu_si256((void *)(line + 4), _mm256_or_si256(hi, b));
    return fresh;
}

/* ---- hashes ---- */

/* a·b mod 2^64, b a constant: the low halves' product, and what the two mixed products (one 32-bit
 * multiply for both) add to its high half. One multiply and one shift less than three 32 × 32 → 64
 * products, and those are what the units are short of: 4% of a check in cache. */
AVX2_INLINE __m256i mul64(__m256i a, uint64_t b)
{
    const __m256i high    = _mm256_set1_epi64x((long long)0xffffffff00000000u);
    const __m256i by      = _mm256_set1_epi64x((long long)b);
    const __m256i swapped = _mm256_set1_epi64x((long long)(b << 32 | b >> 32));
    __m256i       mixed   = _mm256_mullo_epi32(a, swapped);
    mixed                 = _mm256_add_epi64(mixed, _mm256_slli_epi64(mixed, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(a, by), _mm256_and_si256(mixed, high));
}

AVX2_INLINE __m256i rotl64(__m256i v, int r)
{
    return _mm256_or_si256(_mm256_slli_epi64(v, r), _mm256_srli_epi64(v, 64 - r));
}

/* blm__xxh3_8 of four keys. */
AVX2_INLINE __m256i hash4(__m256i v, __m256i flip)
{
    const __m256i by24  = _mm256_setr_epi8(5, 6, 7, 0, 1, 2, 3, 4, 13, 14, 15, 8, 9, 10, 11, 12, 5, 6,
                                           7, 0, 1, 2, 3, 4, 13, 14, 15, 8, 9, 10, 11, 12);
    v = _mm256_xor_si256(_mm256_shuffle_epi32(v, 0xb1), flip);
    v = _mm256_xor_si256(v, _mm256_xor_si256(rotl64(v, 49), _mm256_shuffle_epi8(v, by24)));
    v = mul64(v, BLM__XXH3_PRIME_MX2);
    v = _mm256_xor_si256(v, _mm256_add_epi64(_mm256_srli_epi64(v, 35), _mm256_set1_epi64x(8)));
    v = mul64(v, BLM__XXH3_PRIME_MX2);
    return _mm256_xor_si256(v, _mm256_srli_epi64(v, 28));
}

/* Eight keys a step: 0.75 ns a key where the scalar form takes 1.7 and one vector a step 0.78; half
 * vectors, half scalar 0.77 to 1.4 (Zen 3, in cache). */
AVX2 static void hash8(uint64_t seed, const void *keys, size_t n, uint64_t *h)
{
    const uint8_t *p    = keys;
    uint64_t       flip = blm__xxh3_flip(seed);
    const __m256i  f    = _mm256_set1_epi64x((long long)flip);
    size_t         i    = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i a = _mm256_loadu_si256((const void *)(p + 8 * i));
        __m256i b = _mm256_loadu_si256((const void *)(p + 8 * i + 32));
        _mm256_storeu_si256((void *)(h + i), hash4(a, f));
        _mm256_storeu_si256((void *)(h + i + 4), hash4(b, f));
    }
    for (; i < n; i++)
        h[i] = blm__xxh3_8(p + 8 * i, flip);
}

/* ---- batches and single calls ---- */

/* h's line of `count` < 2^32, as an offset in bytes: ⌊h · count / 2^64⌋ · 64 from 32-bit multiplies. */
AVX2_INLINE __m256i offset4(__m256i h, __m256i count)
{
    __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(h, 32), count);
    __m256i low  = _mm256_srli_epi64(_mm256_mul_epu32(h, count), 32);
    return _mm256_slli_epi64(_mm256_srli_epi64(_mm256_add_epi64(high, low), 32), 6);
}

/* Eight keys: see core/kernel/stream.h. */
AVX2_INLINE void take8(const uint8_t *from, bool keys, uint64_t flip, uint64_t lines, uint64_t *at,
                       uint64_t *x)
{
    const __m256i f = _mm256_set1_epi64x((long long)flip), m = _mm256_set1_epi64x((long long)lines);
    __m256i       a = _mm256_loadu_si256((const void *)from);
    __m256i       b = _mm256_loadu_si256((const void *)(from + 32));
    if (keys) {
        a = hash4(a, f);
        b = hash4(b, f);
    }
    _mm256_store_si256((void *)x, mul64(a, BLM__C));
    _mm256_store_si256((void *)(x + 4), mul64(b, BLM__C));
    _mm256_store_si256((void *)at, lines ? offset4(a, m) : a);
    _mm256_store_si256((void *)(at + 4), lines ? offset4(b, m) : b);
}

BLM__VECTOR_LINES(AVX2, AVX2_INLINE, blm__avx2, take8, test_line, set_line)
BLM__VECTOR_CHAINS(AVX2, blm__avx2)

/* ---- words ---- */

AVX2 static uint64_t popcount(const uint64_t *w, uint64_t n)
{
    uint64_t a = 0, b = 0, c = 0, d = 0, i = 0;
    for (; i + 4 <= n; i += 4) {
        a += BLM__POPCOUNT64(w[i]);
        b += BLM__POPCOUNT64(w[i + 1]);
        c += BLM__POPCOUNT64(w[i + 2]);
        d += BLM__POPCOUNT64(w[i + 3]);
    }
    for (; i < n; i++)
        a += BLM__POPCOUNT64(w[i]);
    return a + b + c + d;
}

AVX2 static uint64_t popcount_or(const uint64_t *x, const uint64_t *y, uint64_t n)
{
    uint64_t a = 0, b = 0, i = 0;
    for (; i + 2 <= n; i += 2) {
        a += BLM__POPCOUNT64(x[i] | y[i]);
        b += BLM__POPCOUNT64(x[i + 1] | y[i + 1]);
    }
    for (; i < n; i++)
        a += BLM__POPCOUNT64(x[i] | y[i]);
    return a + b;
}

AVX2 static void or_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] |= src[i];
}

AVX2 static void and_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] &= src[i];
}

const struct blm_kernel blm__kernel_avx2 = {
    .name  = "avx2",
    .hash8 = hash8,
    BLM__VECTOR_ROWS(blm__avx2),
    .popcount     = popcount,
    .popcount_or  = popcount_or,
    .or_into      = or_into,
    .and_into     = and_into,
    .counters     = &blm__counters_avx2,
    .layers_check = blm__layers_check_avx2,
    .stepper      = &blm__stepper_avx2,
};
#endif
