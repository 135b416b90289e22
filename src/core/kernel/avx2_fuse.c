/* SPDX-License-Identifier: MIT */
/* Fuse with AVX2: four keys are placed at once, and looked for one by one (core/kernel/fuse_ring.h). */
#include "core/kernel/fuse.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/avx2_line.h"
#include "core/kernel/fuse_ring.h"

/* a·b mod 2^64: as blm__avx2_mul64, of two vectors. */
BLM__AVX2_INLINE __m256i times(__m256i a, __m256i b)
{
    const __m256i high  = _mm256_set1_epi64x((long long)0xffffffff00000000u);
    __m256i       mixed = _mm256_mullo_epi32(a, _mm256_shuffle_epi32(b, 0xb1));
    mixed               = _mm256_add_epi64(mixed, _mm256_slli_epi64(mixed, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_and_si256(mixed, high));
}

/* ⌊v · m / 2^64⌋, m below 2^32. */
BLM__AVX2_INLINE __m256i reduce(__m256i v, __m256i m)
{
    __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), m);
    __m256i low  = _mm256_srli_epi64(_mm256_mul_epu32(v, m), 32);
    return _mm256_srli_epi64(_mm256_add_epi64(high, low), 32);
}

BLM__AVX2_INLINE __m256i wide(uint64_t v) { return _mm256_set1_epi64x((long long)v); }

/* Of four hashes: where a key's part begins, its share of it and its factor. */
struct shares {
    __m256i from, share, factor;
};

BLM__AVX2_INLINE struct shares shares_of(const struct blm__fuse_layer *f, __m256i h, bool several)
{
    if (!several)
        return (struct shares){ _mm256_setzero_si256(), h, wide(f->factors[0]) };
    __m256i parts = wide(f->parts), low = _mm256_mul_epu32(h, parts);
    __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(h, 32), parts);
    __m256i part = _mm256_srli_epi64(_mm256_add_epi64(high, _mm256_srli_epi64(low, 32)), 32);
    return (struct shares){ _mm256_mul_epu32(part, wide(f->part_cells)),
                            _mm256_add_epi64(low, _mm256_slli_epi64(high, 32)),
                            _mm256_i64gather_epi64((const long long *)(const void *)f->factors,
                                                   part, 8) };
}

BLM__AVX2_INLINE __m256i place_of(const struct blm__fuse_layer *f, __m256i cell, bool bytes)
{
    return bytes ? cell : _mm256_mul_epu32(cell, wide(f->bits));
}

BLM__AVX2_INLINE void take4(const struct blm__fuse_layer *f, __m256i h, bool several, bool bytes,
                            struct blm__fuse_ring *r, size_t to)
{
    const __m256i       low = wide(f->part.segment - 1), segment = wide(f->part.segment);
    const struct shares s = shares_of(f, h, several);
    __m256i             z = times(s.share, s.factor), x = blm__avx2_mul64(z, BLM__C);
    __m256i             first = reduce(z, wide(f->part.span));
    __m256i second = _mm256_add_epi64(first, segment), third = _mm256_add_epi64(second, segment);
    second        = _mm256_xor_si256(second, _mm256_and_si256(_mm256_srli_epi64(x, 46), low));
    third         = _mm256_xor_si256(third, _mm256_and_si256(_mm256_srli_epi64(x, 28), low));
    __m256i print = blm__avx2_mul64(_mm256_xor_si256(x, _mm256_srli_epi64(x, 32)), BLM__D);
    print         = _mm256_srl_epi64(print, _mm_cvtsi32_si128(64 - (int)f->bits));
    /* Of a part without keys: more bits than a cell's. */
    print = _mm256_or_si256(print, _mm256_cmpeq_epi64(s.factor, _mm256_setzero_si256()));
    blm__avx2_store4(r->at[0] + to, place_of(f, _mm256_add_epi64(first, s.from), bytes));
    blm__avx2_store4(r->at[1] + to, place_of(f, _mm256_add_epi64(second, s.from), bytes));
    blm__avx2_store4(r->at[2] + to, place_of(f, _mm256_add_epi64(third, s.from), bytes));
    blm__avx2_store4(r->print + to, print);
}

BLM__AVX2_INLINE void take(const struct blm__fuse_layer *f, const struct blm__stream *s, size_t i,
                           bool several, bool bytes, struct blm__fuse_ring *r, size_t to)
{
    __m256i h = _mm256_loadu_si256((const void *)(s->from + 8 * i));
    if (s->keys) {
        BLM__PREFETCH_NEAR((const void *)((uintptr_t)s->from + 8 * i + BLM__KEYS_AHEAD));
        h = blm__avx2_hash4(h, wide(s->flip));
    }
    take4(f, h, several, bytes, r, to);
}

/* Too few keys, or too many cells for 32 bits. */
static bool other(const struct blm__layer *l, size_t n)
{
    return n < BLM__FUSE_STEP || l->shape.bits >> 32 || l->shape.line_count >> 32;
}

BLM__AVX2 static size_t check(const struct blm__layer *l, const uint64_t *h, size_t n,
                              uint8_t *maybe)
{
    if (other(l, n))
        return blm__fuse_portable.check(l, h, n, maybe);
    return blm__fuse_check_steps(l, blm__stream_hashes(h, n), maybe, take);
}

BLM__AVX2 static size_t check8(const struct blm__layer *l, uint64_t flip, const void *keys,
                               size_t n, uint8_t *maybe)
{
    if (!other(l, n) && !blm__layer_small(l)) /* in cache it is better to hash first */
        return blm__fuse_check_steps(l, blm__stream_keys(keys, n, flip), maybe, take);
    uint64_t h[BLM__FUSE_RUN];
    size_t   hits = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = blm__hash_some(&blm__kernel_avx2, flip, keys, at, n, BLM__FUSE_RUN, h);
        hits += check(l, h, some, maybe + at);
    }
    return hits;
}

const struct blm__fuse blm__fuse_avx2 = { .check = check, .check8 = check8 };
#endif
