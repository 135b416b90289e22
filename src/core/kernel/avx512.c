/* SPDX-License-Identifier: MIT */
/*
 * AVX-512: a line is one register. Rotating a 1 by eight fields of x (the count is taken modulo 64,
 * so the fields need no masking) makes the key's eight bits at once, and one test instruction gives
 * the words that lack theirs as a byte; which words count is a byte too.
 *
 * Checked bit for bit against the portable kernel: natively where the processor has it, and
 * anywhere by compiling this file over SIMDe (tests/unit/core/kernel/test_avx512_emulated.c), which
 * supplies the intrinsics and leaves AVX512 empty. docs/performance.md has its speed beside AVX2's.
 *
 * Shared filters: as avx2.c. An aligned 8-byte lane of a 64-byte load is never torn on x86-64.
 */
#include "core/kernel/avx512_line.h"

#ifdef BLM__HAVE_AVX512
#include "core/kernel/ages.h"
#include "core/kernel/buckets.h"
#include "core/kernel/counters.h"
#include "core/kernel/fuse.h"
#include "core/kernel/layers.h"
#include "core/kernel/lines.h"
#include "core/kernel/steps.h"

#define AVX512        BLM__AVX512
#define AVX512_INLINE BLM__AVX512_INLINE

/* ---- one line ---- */

/* The fields of x that say which bit of each word.
 * Bits above the six are for the rotate to drop. */
AVX512_INLINE __m512i fields_of(uint64_t x)
{
    return _mm512_srlv_epi64(_mm512_set1_epi64((long long)x),
                             _mm512_set_epi64(55, 49, 43, 37, 31, 25, 19, 13));
}

AVX512_INLINE __mmask8 lacking(const void *line, uint64_t x)
{
    __m512i mask = _mm512_rolv_epi64(_mm512_set1_epi64(1), fields_of(x));
    return _mm512_testn_epi64_mask(_mm512_loadu_si512(line), mask);
}

AVX512_INLINE bool test_line(const uint64_t *line, uint64_t x, uint32_t k)
{
    return (lacking(line, x) & blm__avx512_used[k][x >> 61]) == 0;
}

AVX512_INLINE void test8(const uint64_t *words, const uint64_t *at, const uint64_t *x, uint32_t k,
                         uint8_t *maybe)
{
    blm__avx512_test8(words, at, x, k, maybe, lacking);
}

AVX512_INLINE unsigned set_line(struct blm__layer *l, uint64_t *line, uint64_t x, uint32_t k,
                                bool marks)
{
    uint8_t  words = blm__avx512_used[k][x >> 61];
    __m512i  mask  = _mm512_maskz_rolv_epi64(words, _mm512_set1_epi64(1), fields_of(x));
    __m512i  old   = _mm512_loadu_si512((const void *)line);
    unsigned fresh = (_mm512_testn_epi64_mask(old, mask) & words) != 0;
    if (marks && fresh)
        blm__mark(l, (uint64_t)(line - l->words));
    _mm512_storeu_si512((void *)line, _mm512_or_si512(old, mask));
    return fresh;
}

/* ---- hashes ---- */

AVX512 static void hash8(uint64_t flip, const void *keys, size_t n, uint64_t *h)
{
    const uint8_t *p = keys;
    const __m512i  f = _mm512_set1_epi64((long long)flip);
    size_t         i = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i v = _mm512_loadu_si512((const void *)(p + 8 * i));
        _mm512_storeu_si512((void *)(h + i), blm__avx512_hash(v, f));
    }
    for (; i < n; i++)
        h[i] = blm__xxh3_8(p + 8 * i, flip);
}

/* ---- batches and single calls ---- */

BLM__VECTOR_LINES(AVX512, AVX512_INLINE, blm__avx512, blm__avx512_take8, test_line, test8, set_line)
BLM__VECTOR_LINE(AVX512, AVX512_INLINE, blm__avx512, test_line, set_line)
BLM__VECTOR_CHAINS(AVX512, blm__avx512)
#ifdef BLM__AVX512_EMULATED
BLM__CHAIN_FOLLOW(AVX512, blm__avx512)
#else
#define blm__avx512_chain_follow blm__chain_follow_avx512
#endif

/* ---- words ---- */

/* Counting word by word keeps up with memory, and wants no instructions beyond what core/cpu.c asks
 * for. */
AVX512 static uint64_t popcount(const uint64_t *w, uint64_t n)
{
    uint64_t a = 0, b = 0, i = 0;
    for (; i + 2 <= n; i += 2) {
        a += BLM__POPCOUNT64(w[i]);
        b += BLM__POPCOUNT64(w[i + 1]);
    }
    return a + b + (i < n ? BLM__POPCOUNT64(w[i]) : 0);
}

AVX512 static uint64_t popcount_or(const uint64_t *x, const uint64_t *y, uint64_t n)
{
    uint64_t a = 0, b = 0, i = 0;
    for (; i + 2 <= n; i += 2) {
        a += BLM__POPCOUNT64(x[i] | y[i]);
        b += BLM__POPCOUNT64(x[i + 1] | y[i + 1]);
    }
    return a + b + (i < n ? BLM__POPCOUNT64(x[i] | y[i]) : 0);
}

AVX512 static void or_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i a = _mm512_loadu_si512((const void *)(dst + i));
        __m512i b = _mm512_loadu_si512((const void *)(src + i));
        _mm512_storeu_si512((void *)(dst + i), _mm512_or_si512(a, b));
    }
    for (; i < n; i++)
        dst[i] |= src[i];
}

AVX512 static void and_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i a = _mm512_loadu_si512((const void *)(dst + i));
        __m512i b = _mm512_loadu_si512((const void *)(src + i));
        _mm512_storeu_si512((void *)(dst + i), _mm512_and_si512(a, b));
    }
    for (; i < n; i++)
        dst[i] &= src[i];
}

/* ---- single calls with one line a key ---- */

static void quick(struct blm__quick *q, uint32_t k) { memcpy(q->needed, blm__avx512_used[k], 8); }

AVX512_INLINE bool quick_has(const uint64_t *line, uint64_t x, uint8_t needed)
{
    __m512i mask = _mm512_rolv_epi64(_mm512_set1_epi64(1), fields_of(x));
    return (_mm512_testn_epi64_mask(_mm512_loadu_si512((const void *)line), mask) & needed) == 0;
}

AVX512_INLINE unsigned quick_put(uint64_t *line, uint64_t x, const struct blm__quick *q)
{
    uint8_t words = q->needed[x >> 61];
    __m512i mask  = _mm512_maskz_rolv_epi64(words, _mm512_set1_epi64(1), fields_of(x));
    __m512i old   = _mm512_loadu_si512((const void *)line);
    _mm512_storeu_si512((void *)line, _mm512_or_si512(old, mask));
    return (_mm512_testn_epi64_mask(old, mask) & words) == 0;
}

BLM__QUICK_CALLS(AVX512, AVX512_INLINE, blm__avx512, quick_has, quick_put)

const struct blm__kernel blm__kernel_avx512 = {
    .name            = "avx512",
    .hash8           = hash8,
    .hash_many       = blm__hash_many_avx2,
    .line_check_keys = blm__line_check_keys_avx2,
    .line_add_keys   = blm__line_add_keys_avx2,
    BLM__VECTOR_ROWS(blm__avx512),
    .hands_for      = blm__hands_always,
    .quick          = quick,
    .line_check_key = blm__avx512_quick_check,
    .line_add_key   = blm__avx512_quick_add,
    .popcount       = popcount,
    .popcount_or    = popcount_or,
    .or_into        = or_into,
    .and_into       = and_into,
    .counters       = &blm__counters_avx512,
    .ages           = &blm__ages_avx512,
    .buckets        = &blm__buckets_avx512,
    .fuse           = &blm__fuse_avx512,
    .layers_check   = blm__layers_check_avx2,
    .stepper        = &blm__stepper_avx512,
    .layers_add     = blm__layers_add_avx2,
};
#endif
