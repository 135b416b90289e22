/* SPDX-License-Identifier: MIT */
/*
 * A check that the compiler puts into your loop, for programs that ask one key at a time. A call of
 * blm_check is a jump that nothing can be moved across; this is forty instructions between your own.
 *
 *     blm_inline of = BLM_INLINE_INIT;
 *     blm_inline_of(f, &of);
 *     const blm_inline in = of;   // a copy, which stays in registers
 *     for (size_t i = 0; i < n; i++)
 *         hits += blm_inline_check(&in, &numbers[i], 8);
 *
 * A call in a loop, even one that is never made, costs registers. Without any, for keys of eight bytes:
 *
 *     if (blm_inline_ready(&in))
 *         for (size_t i = 0; i < n; i++)
 *             hits += blm_inline_check8(&in, &numbers[i]);
 *
 * It answers what blm_check answers, for every filter and key. Inlined are 8-byte keys of filters of
 * kind blocked with one line a key (rates down to 1e-3; the default) and the native scheme, in code
 * that is compiled for AVX2 or AVX-512 (-mavx2; better -march=haswell or -march=native, as rotations and
 * wide products gain from BMI2). The rest is a call of blm_check, which
 * finds the best instructions of the machine by itself. With BLM_INLINE_AVX2 defined the functions have
 * target("avx2"): for callers that have it too and see to it that the machine does. BLM_INLINE_AVX512
 * beside it makes blm_inline_check_avx512, with target("avx512f,avx512dq,bmi2").
 *
 * The struct is a view. It is valid until the filter is freed, refreshed (blm_refresh) or moved
 * (blm_relocate); keys may be added meanwhile, and it can be copied. `version` says what the fields mean: 1 is as below, for good. A library that keeps
 * its filters in another way, now or later, says 0, and this header then calls blm_check. So a
 * program built with this header works with every later library of the same SONAME.
 */
#ifndef BLOOMERY_INLINE_H
#define BLOOMERY_INLINE_H

#include <bloomery.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && (defined(__AVX2__) || defined(BLM_INLINE_AVX2))
#include <immintrin.h>
#define BLM_INLINES 1
#endif
#if defined(BLM_INLINES) && \
    ((defined(__AVX512F__) && defined(__AVX512DQ__)) || defined(BLM_INLINE_AVX512))
#define BLM_INLINES_AVX512 1
#endif
#if defined(BLM_INLINES_AVX512) && defined(BLM_INLINE_AVX512)
#define BLM_INLINE_FN_AVX512 static inline __attribute__((target("avx512f,avx512dq,bmi2")))
#else
#define BLM_INLINE_FN_AVX512 static inline
#endif
#if defined(BLM_INLINES) && defined(BLM_INLINE_AVX2)
#define BLM_INLINE_FN static inline __attribute__((target("avx2")))
#else
#define BLM_INLINE_FN static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blm_inline {
    size_t            size;    /* of this struct */
    uint32_t          version; /* 1: what follows the filter is set; 0: it is not */
    uint32_t          zero;
    const blm_filter *filter;
    /* h is the 64-bit hash of the key, and x = h · 0xA0761D6478BD642F. */
    const uint64_t *lines;      /* of eight 64-bit words; a key's is ⌊h · line_count / 2^64⌋ */
    uint64_t        line_count; /* word j has the key's bit (x >> (13 + 6j)) & 63 … */
    uint64_t flip; /* what an 8-byte key, turned three ways, is xored with before it is hashed */
    uint8_t  needed[8]; /* … if it is needed, by x >> 61: bits for words 0 1 4 5 2 3 6 7 */
    uint8_t  words[8];  /* the same for words 0 to 7 in their order */
    /* As needed, with a sign for each bit; NULL: of a library without, or for another processor. */
    const uint32_t (*asked)[8];
} blm_inline;

#define BLM_INLINE_INIT                                                         \
    {                                                                           \
        sizeof(blm_inline), 0, 0, NULL, NULL, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 0 }, \
            { 0, 0, 0, 0, 0, 0, 0, 0 }, NULL                                    \
    }

/* E_ARGUMENT: the size was not set. */
BLM_API blm_status blm_inline_of(const blm_filter *f, blm_inline *out);

#ifdef BLM_INLINES
BLM_INLINE_FN uint64_t blm_inline_rotl(uint64_t v, unsigned r) { return v << r | v >> (64 - r); }

/* docs/hash.md, keys of 8 bytes. */
BLM_INLINE_FN uint64_t blm_inline_hash8(const blm_inline *v, const void *key)
{
    const uint64_t prime = 0x9fb21c651e98df25u;
    uint64_t       k;
    memcpy(&k, key, sizeof k);
    k = (blm_inline_rotl(k, 32) ^ v->flip) ^ (blm_inline_rotl(k, 17) ^ blm_inline_rotl(k, 56));
    k *= prime;
    k ^= (k >> 35) + 8;
    k *= prime;
    return k ^ k >> 28;
}

/* Shifts each word so that the bit asked for is its sign, and tests the eight signs at once. The line's
 * place and the row's come from a product and a shift with bits to spare, which are masked off: ports
 * that shift and multiply are short here. */
BLM_INLINE_FN bool blm_inline_test(const blm_inline *v, uint64_t h)
{
    __extension__ typedef unsigned __int128 wide;
    const char                             *line = (const char *)(const void *)v->lines +
                       ((uint64_t)((wide)h * (v->line_count * 64) >> 64) & ~(uint64_t)63);
    const uint64_t x   = h * 0xA0761D6478BD642Fu;
    const char    *row = (const char *)(const void *)v->asked + (x >> 56 & 0xe0);
    const __m256i  six = _mm256_set1_epi64x(63);
    __m256i        at =
        _mm256_srlv_epi64(_mm256_set1_epi64x((long long)x), _mm256_setr_epi64x(13, 19, 25, 31));
    __m256i lo = _mm256_sllv_epi64(_mm256_loadu_si256((const __m256i *)(const void *)line),
                                   _mm256_andnot_si256(at, six));
    __m256i hi = _mm256_sllv_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(line + 32)),
                                   _mm256_andnot_si256(_mm256_srli_epi64(at, 24), six));
    __m256  signs = _mm256_shuffle_ps(_mm256_castsi256_ps(lo), _mm256_castsi256_ps(hi), 0xdd);
    return _mm256_testc_ps(signs, _mm256_loadu_ps((const float *)(const void *)row)) != 0;
}
#endif

#ifdef BLM_INLINES_AVX512
/* The line is one register: its words, turned until the bit asked for is the lowest. */
BLM_INLINE_FN_AVX512 bool blm_inline_test_avx512(const blm_inline *v, uint64_t h)
{
    __extension__ typedef unsigned __int128 wide;
    const uint64_t *line = v->lines + (uint64_t)((wide)h * v->line_count >> 64) * 8;
    const uint64_t  x    = h * 0xA0761D6478BD642Fu;
    __m512i         at   = _mm512_srlv_epi64(_mm512_set1_epi64((long long)x),
                                             _mm512_set_epi64(55, 49, 43, 37, 31, 25, 19, 13));
    __m512i         bits = _mm512_rorv_epi64(_mm512_loadu_si512((const void *)line), at);
    return (_mm512_testn_epi64_mask(bits, _mm512_set1_epi64(1)) & v->words[x >> 61]) == 0;
}

/* As blm_inline_check8. */
BLM_INLINE_FN_AVX512 bool blm_inline_check8_avx512(const blm_inline *v, const void *key)
{
    return blm_inline_test_avx512(v, blm_inline_hash8(v, key));
}

/* As blm_check. */
BLM_INLINE_FN_AVX512 bool blm_inline_check_avx512(const blm_inline *v, const void *key, size_t len)
{
    if (len == 8 && v->version == 1 && v->words[0] && key) /* 0: of a library without */
        return blm_inline_test_avx512(v, blm_inline_hash8(v, key));
    return blm_check(v->filter, key, len);
}
#endif

/* Are 8-byte keys inlined here? It never changes for a view. */
BLM_INLINE_FN bool blm_inline_ready(const blm_inline *v)
{
#ifdef BLM_INLINES
    return v->version == 1 && v->asked && v->words[0]; /* NULL, 0: of a library without */
#else
    return (void)v, false;
#endif
}

/* As blm_check of the eight bytes at key, which is not NULL, where blm_inline_ready says so. */
BLM_INLINE_FN bool blm_inline_check8(const blm_inline *v, const void *key)
{
#if defined(BLM_INLINES_AVX512) && !defined(BLM_INLINE_AVX512)
    return blm_inline_check8_avx512(v, key);
#elif defined(BLM_INLINES)
    return blm_inline_test(v, blm_inline_hash8(v, key));
#else
    return blm_check(v->filter, key, 8);
#endif
}

/* As blm_check. */
BLM_INLINE_FN bool blm_inline_check(const blm_inline *v, const void *key, size_t len)
{
#if defined(BLM_INLINES_AVX512) && !defined(BLM_INLINE_AVX512)
    return blm_inline_check_avx512(v, key, len);
#elif defined(BLM_INLINES)
    if (len == 8 && v->asked && key)
        return blm_inline_test(v, blm_inline_hash8(v, key));
#endif
    return blm_check(v->filter, key, len);
}

#ifdef __cplusplus
}
#endif

#endif
