/* SPDX-License-Identifier: MIT */
/*
 * AVX2: a 512-bit line is two vectors of four words (avx2_line.h).
 *
 * Shared filters: adds go word by word with atomic operations, as in the portable kernel. Checks
 * load 32 bytes at once; on x86-64 an aligned 8-byte lane of such a load is never torn, so a check
 * sees each word either before or after a concurrent add. (No language rule says so, which is why
 * the thread tests run under TSan on the portable kernel.)
 */
#include "core/kernel/kernel.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/ages.h"
#include "core/kernel/avx2_line.h"
#include "core/kernel/buckets.h"
#include "core/kernel/counters.h"
#include "core/kernel/fuse.h"
#include "core/kernel/layers.h"
#include "core/kernel/steps.h"

/* ---- hashes ---- */

/* Eight keys a step: 0.75 ns a key where the scalar form takes 1.7 and one vector a step 0.78; half
 * vectors, half scalar 0.77 to 1.4 (Zen 3, in cache). */
BLM__AVX2 static void hash8(uint64_t flip, const void *keys, size_t n, uint64_t *h)
{
    const uint8_t *p = keys;
    const __m256i  f = _mm256_set1_epi64x((long long)flip);
    size_t         i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i a = _mm256_loadu_si256((const void *)(p + 8 * i));
        __m256i b = _mm256_loadu_si256((const void *)(p + 8 * i + 32));
        blm__avx2_store4(h + i, blm__avx2_hash4(a, f));
        blm__avx2_store4(h + i + 4, blm__avx2_hash4(b, f));
    }
    for (; i < n; i++)
        h[i] = blm__xxh3_8(p + 8 * i, flip);
}

/* ---- batches and single calls ---- */

BLM__VECTOR_LINES(BLM__AVX2, BLM__AVX2_INLINE, blm__avx2, blm__avx2_take8, blm__avx2_test, NULL,
                  blm__avx2_set)
BLM__VECTOR_LINE(BLM__AVX2, BLM__AVX2_INLINE, blm__avx2, blm__avx2_test, blm__avx2_set)
BLM__VECTOR_CHAINS(BLM__AVX2, blm__avx2)
#define blm__avx2_chain_follow blm__chain_follow_avx2

/* ---- single calls with one line a key ---- */

static void quick(struct blm__quick *q, uint32_t k)
{
    for (unsigned r = 0; r < 8; r++) {
        q->needed[r] = blm__avx2_needed[k][r << 5];
        for (unsigned j = 0; j < 8; j++)
            q->ones[r][j] = (uint8_t)blm__avx2_ones[k][r][j];
    }
}

BLM__AVX2_INLINE bool quick_has(const uint64_t *line, uint64_t x, uint8_t needed)
{
    return (~blm__avx2_signs(line, blm__avx2_shifts_of(x)) & needed) == 0;
}

BLM__AVX2_INLINE __m256i ones4(const uint8_t *ones)
{
    int32_t four;
    memcpy(&four, ones, sizeof four);
    return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
}

BLM__AVX2_INLINE unsigned quick_put(uint64_t *line, uint64_t x, const struct blm__quick *q)
{
    const uint8_t        *ones = q->ones[x >> 61];
    struct blm__avx2_bits put  = blm__avx2_bits_of(x, ones4(ones), ones4(ones + 4));
    __m256i               lo = blm__avx2_load4(line), hi = blm__avx2_load4(line + 4);
    __m256i               missing =
        _mm256_or_si256(_mm256_andnot_si256(lo, put.lo), _mm256_andnot_si256(hi, put.hi));
    blm__avx2_store4(line, _mm256_or_si256(lo, put.lo));
    blm__avx2_store4(line + 4, _mm256_or_si256(hi, put.hi));
    return (unsigned)_mm256_testz_si256(missing, missing);
}

BLM__QUICK_CALLS(BLM__AVX2, BLM__AVX2_INLINE, blm__avx2, quick_has, quick_put)

/* ---- words ---- */

BLM__AVX2 static uint64_t popcount(const uint64_t *w, uint64_t n)
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

BLM__AVX2 static uint64_t popcount_or(const uint64_t *x, const uint64_t *y, uint64_t n)
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

BLM__AVX2 static void or_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] |= src[i];
}

BLM__AVX2 static void and_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] &= src[i];
}

const struct blm__kernel blm__kernel_avx2 = {
    .name            = "avx2",
    .hash8           = hash8,
    .hash_many       = blm__hash_many_avx2,
    .line_check_keys = blm__line_check_keys_avx2,
    .line_add_keys   = blm__line_add_keys_avx2,
    BLM__VECTOR_ROWS(blm__avx2),
    .hands_for      = blm__hands_if_absent,
    .quick          = quick,
    .line_check_key = blm__avx2_quick_check,
    .line_add_key   = blm__avx2_quick_add,
    .popcount       = popcount,
    .popcount_or    = popcount_or,
    .or_into        = or_into,
    .and_into       = and_into,
    .counters       = &blm__counters_avx2,
    .ages           = &blm__ages_avx2,
    .buckets        = &blm__buckets_avx2,
    .fuse           = &blm__fuse_avx2,
    .layers_check   = blm__layers_check_avx2,
    .stepper        = &blm__stepper_avx2,
    .layers_add     = blm__layers_add_avx2,
};
#endif
