/* SPDX-License-Identifier: MIT */
/*
 * AVX2: the four buckets of two keys in one vector, each from one unaligned load: a bucket of narrow
 * cells begins on a half byte and ends within 64 bits of it.
 *
 * Answers as buckets.c does. Wide fingerprints are left to it.
 */
#include <string.h>

#include "core/kernel/avx2.h"
#include "core/kernel/buckets.h"
#include "core/kernel/loops.h"

#ifdef BLM__HAVE_AVX2

BLM__AVX2_INLINE long long load(const struct blm__layer *l, uint64_t bucket)
{
    long long v;
    memcpy(&v, blm__bucket_at(l, bucket), 8);
    return v;
}

/* 0 where bucket * f is even, else 4: the bits before a bucket in its first byte. */
BLM__AVX2_INLINE __m256i skips(const struct blm__pair *p, uint32_t f)
{
    __m256i bucket = _mm256_loadu2_m128i((const void *)p[1].bucket, (const void *)p[0].bucket);
    __m256i odd    = _mm256_and_si256(bucket, _mm256_set1_epi64x(f & 1));
    return _mm256_slli_epi64(odd, 2);
}

/* Bit 0: the first of two keys may be there; bit 1: the second. */
BLM__AVX2_INLINE unsigned two_have(const struct blm__layer *l, struct blm__cells c,
                                   const struct blm__pair *p)
{
    const __m256i rest = _mm256_set1_epi64x((long long)c.rest);
    const __m256i high = _mm256_set1_epi64x((long long)c.high);
    __m256i       v    = _mm256_set_epi64x(load(l, p[1].bucket[1]), load(l, p[1].bucket[0]),
                                           load(l, p[0].bucket[1]), load(l, p[0].bucket[0]));
    long long     a = (long long)(p[0].print * c.low), b = (long long)(p[1].print * c.low);
    v = _mm256_xor_si256(_mm256_srlv_epi64(v, skips(p, c.bits)), _mm256_set_epi64x(b, b, a, a));
    __m256i  used = _mm256_or_si256(_mm256_add_epi64(_mm256_and_si256(v, rest), rest), v);
    __m256i  none = _mm256_cmpeq_epi64(_mm256_andnot_si256(used, high), _mm256_setzero_si256());
    unsigned m    = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(none));
    return ((m & 3) != 3) | (unsigned)((m & 12) != 12) << 1;
}

BLM__AVX2_INLINE size_t look(const struct blm__layer *l, struct blm__cells c,
                             const struct blm__pair *p, size_t n, uint8_t *maybe)
{
    size_t hits = 0, i = 0;
    for (; i + 2 <= n; i += 2) {
        unsigned two = two_have(l, c, p + i);
        maybe[i]     = two & 1;
        maybe[i + 1] = (uint8_t)(two >> 1);
        hits += (two & 1) + (two >> 1);
    }
    if (i < n)
        hits += maybe[i] = blm__pair_has(l, c, p[i]);
    return hits;
}

BLM__AVX2 static size_t check(const struct blm__layer *l, const uint64_t *h, size_t n,
                              uint8_t *maybe)
{
    struct blm__cells c = blm__cells_of(l);
    if (c.wide || n == 1)
        return blm__buckets_portable.check(l, h, n, maybe);
    bool             fetch = !blm__layer_small(l);
    size_t           hits  = 0;
    struct blm__pair p[BLM__BUCKETS_AHEAD];
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BUCKETS_AHEAD ? n - at : BLM__BUCKETS_AHEAD;
        blm__pairs_of(l, h + at, some, fetch, p);
        hits += look(l, c, p, some, maybe + at);
    }
    return hits;
}

const struct blm__buckets blm__buckets_avx2 = { .check = check };
#endif
