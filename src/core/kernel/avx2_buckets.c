/* SPDX-License-Identifier: MIT */
/*
 * AVX2: four keys are placed in one vector, and their buckets loaded into two, each by one unaligned
 * load. Answers as buckets.c does; wide fingerprints are left to it.
 */
#include "core/kernel/avx2_line.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/bucket_ring.h"

BLM__AVX2_INLINE __m256i all4(uint64_t v) { return _mm256_set1_epi64x((long long)v); }

/* ⌊v · m / 2^64⌋, m below 2^32. */
BLM__AVX2_INLINE __m256i reduce4(__m256i v, __m256i m)
{
    __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), m);
    __m256i low  = _mm256_srli_epi64(_mm256_mul_epu32(v, m), 32);
    return _mm256_srli_epi64(_mm256_add_epi64(high, low), 32);
}

/* blm__other_bucket. */
BLM__AVX2_INLINE __m256i across4(__m256i bucket, __m256i print, __m256i n)
{
    __m256i sum   = _mm256_or_si256(reduce4(blm__avx2_mul64(print, BLM__D), n), all4(1));
    __m256i below = _mm256_cmpgt_epi64(bucket, sum);
    return _mm256_sub_epi64(_mm256_add_epi64(sum, _mm256_and_si256(below, n)), bucket);
}

/* The bytes that buckets begin in. */
BLM__AVX2_INLINE __m256i begin4(__m256i bucket, uint32_t f)
{
    return _mm256_srli_epi64(_mm256_mul_epu32(bucket, all4(f)), 1);
}

BLM__AVX2_INLINE void take4_buckets(const struct blm__bucket_table *t, const struct blm__stream *s,
                                    size_t i, struct blm__eight *e, unsigned to)
{
    const __m256i  n = all4(t->n);
    const uint32_t f = t->c.bits;
    __m256i        h = _mm256_loadu_si256((const void *)(s->from + 8 * i));
    if (s->keys)
        h = blm__avx2_hash4(h, all4(s->flip));
    __m256i first = reduce4(h, n);
    __m256i x     = reduce4(blm__avx2_mul64(h, BLM__C), all4(((uint64_t)1 << f) - 1));
    __m256i print = _mm256_add_epi64(x, all4(1)), other = across4(first, print, n);
    blm__avx2_store4(e->print + to, print);
    blm__avx2_store4(e->bucket[0] + to, first);
    blm__avx2_store4(e->bucket[1] + to, other);
    blm__avx2_store4(e->at[0] + to, begin4(first, f));
    blm__avx2_store4(e->at[1] + to, begin4(other, f));
}

BLM__AVX2_INLINE void take8_buckets(const struct blm__bucket_table *t, const struct blm__stream *s,
                                    size_t i, struct blm__eight *e)
{
    take4_buckets(t, s, i, e, 0);
    take4_buckets(t, s, i + 4, e, 4);
}

/* How far into its byte a bucket begins: half of it, every other one of an odd width. */
BLM__AVX2_INLINE __m256i skip4(__m256i bucket, struct blm__cells c)
{
    return _mm256_slli_epi64(_mm256_and_si256(bucket, all4(c.bits & 1)), 2);
}

BLM__AVX2_INLINE __m256i words4(const struct blm__bucket_table *t, const uint64_t *at)
{
    const uint8_t *b = t->bytes;
    return _mm256_set_epi64x((long long)blm__bytes8(b + at[3]), (long long)blm__bytes8(b + at[2]),
                             (long long)blm__bytes8(b + at[1]), (long long)blm__bytes8(b + at[0]));
}

BLM__AVX2_INLINE __m256i bucket4(const struct blm__bucket_table *t, const struct blm__eight *e,
                                 unsigned which, unsigned from)
{
    __m256i skip = skip4(blm__avx2_load4(e->bucket[which] + from), t->c);
    return _mm256_srlv_epi64(words4(t, e->at[which] + from), skip);
}

/* The highest bits of the cells that are not 0, and others below them. */
BLM__AVX2_INLINE __m256i others(__m256i v, struct blm__cells c)
{
    const __m256i rest = all4(c.rest);
    return _mm256_or_si256(_mm256_add_epi64(_mm256_and_si256(v, rest), rest), v);
}

/* The highest bits of the cells that are. */
BLM__AVX2_INLINE __m256i free4(__m256i v, struct blm__cells c)
{
    return _mm256_andnot_si256(others(v, c), all4(c.high));
}

BLM__AVX2_INLINE __m256i prints4(const struct blm__eight *e, struct blm__cells c, unsigned from)
{
    __m256i p = blm__avx2_load4(e->print + from); /* in all four cells: */
    p         = _mm256_or_si256(p, _mm256_sllv_epi64(p, all4(c.bits)));
    return _mm256_or_si256(p, _mm256_sllv_epi64(p, all4(2 * c.bits)));
}

BLM__AVX2_INLINE unsigned signs4(__m256i v)
{
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(v));
}

/* Which are 0. */
BLM__AVX2_INLINE unsigned none4(__m256i v)
{
    return signs4(_mm256_cmpeq_epi64(v, _mm256_setzero_si256()));
}

/* Of which one has this print. */
BLM__AVX2_INLINE unsigned hold4(__m256i a, __m256i b, __m256i print, struct blm__cells c)
{
    __m256i none = _mm256_and_si256(others(_mm256_xor_si256(a, print), c),
                                    others(_mm256_xor_si256(b, print), c));
    return ~none4(_mm256_andnot_si256(none, all4(c.high))) & 15;
}

BLM__AVX2_INLINE unsigned have4(const struct blm__bucket_table *t, const struct blm__eight *e,
                                unsigned from)
{
    return hold4(bucket4(t, e, 0, from), bucket4(t, e, 1, from), prints4(e, t->c, from), t->c);
}

BLM__AVX2_INLINE unsigned have8(const struct blm__bucket_table *t, const struct blm__eight *e)
{
    return have4(t, e, 0) | have4(t, e, 4) << 4;
}

/* ---- adds ---- */

/* How many cells these highest bits are of. */
BLM__AVX2_INLINE __m256i count4(__m256i highs, struct blm__cells c)
{
    __m256i v = _mm256_srlv_epi64(highs, all4(c.bits - 1));
    v         = _mm256_add_epi64(v, _mm256_srlv_epi64(v, all4(c.bits)));
    v         = _mm256_add_epi64(v, _mm256_srlv_epi64(v, all4(2 * c.bits)));
    return _mm256_and_si256(v, all4(7));
}

BLM__AVX2_INLINE __m256i either4(__m256i a, __m256i b, __m256i second)
{
    return _mm256_blendv_epi8(a, b, second);
}

BLM__AVX2_INLINE void aim4(const struct blm__bucket_table *t, const struct blm__eight *e,
                           struct blm__aims *to, unsigned from)
{
    const struct blm__cells c = t->c;
    __m256i                 at[2], skip[2], v[2], room[2], p = prints4(e, c, from);
    for (unsigned i = 0; i < 2; i++) {
        at[i]       = blm__avx2_load4(e->at[i] + from);
        skip[i]     = skip4(blm__avx2_load4(e->bucket[i] + from), c);
        __m256i was = words4(t, e->at[i] + from);
        blm__avx2_store4(to->was[i] + from, was);
        v[i]    = _mm256_srlv_epi64(was, skip[i]);
        room[i] = free4(v[i], c);
    }
    __m256i second = _mm256_cmpgt_epi64(count4(room[1], c), count4(room[0], c));
    __m256i one    = either4(room[0], room[1], second);
    __m256i high   = _mm256_and_si256(one, _mm256_sub_epi64(_mm256_setzero_si256(), one));
    __m256i cell =
        _mm256_sub_epi64(_mm256_slli_epi64(high, 1), _mm256_srlv_epi64(high, all4(c.bits - 1)));
    __m256i set = _mm256_sllv_epi64(_mm256_and_si256(p, cell), either4(skip[0], skip[1], second));
    blm__avx2_store4(to->at + from, either4(at[0], at[1], second));
    blm__avx2_store4(to->set + from, set);
    to->full |= none4(one) << from;
    to->had |= hold4(v[0], v[1], p, c) << from;
}

BLM__AVX2_INLINE void aim8(const struct blm__bucket_table *t, const struct blm__eight *e,
                           struct blm__aims *to)
{
    to->full = to->had = 0;
    to->apart          = false; /* to look for it takes longer here than to compare */
    aim4(t, e, to, 0);
    aim4(t, e, to, 4);
}

/* ---- where room is made ---- */

/* Of a bucket's fingerprints, the buckets that they may go to. */
BLM__AVX2_INLINE __m256i around4(const struct blm__bucket_table *t, uint64_t v, uint64_t bucket)
{
    const long long f     = t->c.bits;
    __m256i         print = _mm256_srlv_epi64(all4(v), _mm256_setr_epi64x(0, f, 2 * f, 3 * f));
    print                 = _mm256_and_si256(print, all4(((uint64_t)1 << f) - 1));
    return across4(all4(bucket), print, all4(t->n));
}

BLM__AVX2_INLINE void ask_around4(const struct blm__bucket_table *t, uint64_t v, uint64_t bucket)
{
    uint64_t at[4];
    blm__avx2_store4(at, begin4(around4(t, v, bucket), t->c.bits));
    for (unsigned i = 0; i < 4; i++)
        BLM__PREFETCH_NEAR(t->bytes + at[i]);
}

BLM__AVX2_INLINE void ask4(const struct blm__bucket_table *t, const struct blm__eight *e,
                           unsigned from)
{
    uint64_t v[2][4];
    __m256i  a = bucket4(t, e, 0, from), b = bucket4(t, e, 1, from);
    unsigned full = none4(_mm256_or_si256(free4(a, t->c), free4(b, t->c)));
    blm__avx2_store4(v[0], a);
    blm__avx2_store4(v[1], b);
    for (; full; full &= full - 1) {
        unsigned q = BLM__LOWEST64(full);
        ask_around4(t, v[0][q], e->bucket[0][from + q]);
        ask_around4(t, v[1][q], e->bucket[1][from + q]);
    }
}

BLM__AVX2_INLINE void ask8(const struct blm__bucket_table *t, const struct blm__eight *e)
{
    ask4(t, e, 0);
    ask4(t, e, 4);
}

/* The highest bits of the free cells of four buckets. */
BLM__AVX2_INLINE __m256i room4(const struct blm__bucket_table *t, __m256i bucket, uint64_t *at)
{
    blm__avx2_store4(at, begin4(bucket, t->c.bits));
    return free4(_mm256_srlv_epi64(words4(t, at), skip4(bucket, t->c)), t->c);
}

/* Into one of the key's buckets. */
BLM__AVX2_INLINE bool shift4(const struct blm__bucket_table *t, const struct blm__eight *e,
                             const struct blm__aims *to, unsigned q, unsigned which)
{
    const struct blm__cells c = t->c;
    uint64_t                at[4], bucket[4], room[4], own = e->bucket[which][q];
    unsigned                skip = blm__bucket_skip(own, c);
    uint64_t                v    = to->was[which][q] >> skip;
    __m256i                 o = around4(t, v, own), some = room4(t, o, at);
    unsigned                none = none4(some);
    if (none == 15)
        return false;
    blm__avx2_store4(bucket, o);
    blm__avx2_store4(room, some);
    unsigned i = BLM__LOWEST64(~none), cell = i * c.bits;
    uint64_t mask   = ((uint64_t)1 << c.bits) - 1;
    unsigned to_bit = BLM__LOWEST64(room[i]) - (c.bits - 1) + blm__bucket_skip(bucket[i], c);
    blm__bytes_set(t->bytes + at[i], (v >> cell & mask) << to_bit);
    cell += skip;
    blm__bytes_put(t->bytes + e->at[which][q], mask << cell, e->print[q] << cell);
    return true;
}

BLM__AVX2_INLINE bool shift8(const struct blm__bucket_table *t, const struct blm__eight *e,
                             const struct blm__aims *to, unsigned q)
{
    return shift4(t, e, to, q, 0) || shift4(t, e, to, q, 1);
}

BLM__AVX2 static unsigned around(const struct blm__layer *l, uint64_t part, const uint64_t two[2],
                                 uint64_t other[2 * BLM__BUCKET])
{
    const struct blm__bucket_table t = blm__bucket_table_of(l);
    uint64_t                       at[4];
    unsigned                       room = 1u << 8;
    (void)part; /* there is one */
    for (unsigned i = 0; i < 2; i++) {
        __m256i o = around4(&t, blm__bucket_word(&t, two[i]), two[i]);
        blm__avx2_store4(other + 4 * i, o);
        room |= (~none4(room4(&t, o, at)) & 15) << 4 * i;
    }
    return BLM__LOWEST64(room);
}

BLM__AVX2 static void ask_around(const struct blm__layer *l, uint64_t part, const uint64_t two[2])
{
    const struct blm__bucket_table t = blm__bucket_table_of(l);
    (void)part;
    ask_around4(&t, blm__bucket_word(&t, two[0]), two[0]);
    ask_around4(&t, blm__bucket_word(&t, two[1]), two[1]);
}

BLM__BUCKETS_CHECKS(avx2, BLM__AVX2, take8_buckets, have8)
BLM__BUCKETS_ADDS(avx2, BLM__AVX2, take8_buckets, aim8, ask8, shift8)

const struct blm__buckets blm__buckets_avx2 = { BLM__BUCKETS_ROWS(avx2), .around = around,
                                                .ask_around = ask_around };
#endif
