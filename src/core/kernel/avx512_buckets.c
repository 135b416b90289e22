/* SPDX-License-Identifier: MIT */
/*
 * AVX-512: eight keys are placed in one vector, and their buckets gathered into two. Answers as
 * buckets.c does; wide fingerprints are left to it.
 */
#include "core/kernel/avx512.h"

#ifdef BLM__HAVE_AVX512
#include "core/kernel/bucket_ring.h"

BLM__AVX512_INLINE __m512i all8(uint64_t v) { return _mm512_set1_epi64((long long)v); }
BLM__AVX512_INLINE __m512i load8(const uint64_t *v) { return _mm512_load_si512((const void *)v); }
BLM__AVX512_INLINE void    store8(uint64_t *to, __m512i v) { _mm512_store_si512((void *)to, v); }

/* blm__other_bucket. */
BLM__AVX512_INLINE __m512i across8(__m512i bucket, __m512i print, __m512i n)
{
    __m512i  sum   = blm__avx512_reduce(_mm512_mullo_epi64(print, all8(BLM__D)), n);
    __m512i  other = _mm512_sub_epi64(_mm512_or_si512(sum, all8(1)), bucket);
    __mmask8 below = _mm512_test_epi64_mask(other, all8((uint64_t)1 << 63));
    return _mm512_mask_add_epi64(other, below, other, n);
}

/* The bytes that buckets begin in. */
BLM__AVX512_INLINE __m512i begin8(__m512i bucket, uint32_t f)
{
    return _mm512_srli_epi64(_mm512_mul_epu32(bucket, all8(f)), 1);
}

BLM__AVX512_INLINE void take8_buckets(const struct blm__bucket_table *t,
                                      const struct blm__stream *s, size_t i, struct blm__eight *e)
{
    const __m512i  n = all8(t->n);
    const uint32_t f = t->c.bits;
    __m512i        h = _mm512_loadu_si512((const void *)(s->from + 8 * i));
    if (s->keys)
        h = blm__avx512_hash(h, all8(s->flip));
    __m512i first = blm__avx512_reduce(h, n);
    __m512i x     = _mm512_mullo_epi64(h, all8(BLM__C));
    __m512i print = _mm512_add_epi64(blm__avx512_reduce(x, all8(((uint64_t)1 << f) - 1)), all8(1));
    __m512i other = across8(first, print, n);
    store8(e->print, print);
    store8(e->bucket[0], first);
    store8(e->bucket[1], other);
    store8(e->at[0], begin8(first, f));
    store8(e->at[1], begin8(other, f));
}

/* How far into its byte a bucket begins: half of it, every other one of an odd width. */
BLM__AVX512_INLINE __m512i skip8(__m512i bucket, struct blm__cells c)
{
    return _mm512_slli_epi64(_mm512_and_si512(bucket, all8(c.bits & 1)), 2);
}

BLM__AVX512_INLINE __m512i gather8(const struct blm__bucket_table *t, __m512i at)
{
    return blm__avx512_gather(t->bytes, at);
}

BLM__AVX512_INLINE __m512i bucket8(const struct blm__bucket_table *t, const struct blm__eight *e,
                                   unsigned which)
{
    return _mm512_srlv_epi64(gather8(t, load8(e->at[which])), skip8(load8(e->bucket[which]), t->c));
}

/* The highest bits of the cells that are not 0, and others below them. */
BLM__AVX512_INLINE __m512i others(__m512i v, struct blm__cells c)
{
    const __m512i rest = all8(c.rest);
    return _mm512_or_si512(_mm512_add_epi64(_mm512_and_si512(v, rest), rest), v);
}

/* The highest bits of the cells that are. */
BLM__AVX512_INLINE __m512i free8(__m512i v, struct blm__cells c)
{
    return _mm512_andnot_si512(others(v, c), all8(c.high));
}

BLM__AVX512_INLINE __m512i prints8(const struct blm__eight *e, struct blm__cells c)
{
    __m512i p = load8(e->print); /* in all four cells: */
    p         = _mm512_or_si512(p, _mm512_sllv_epi64(p, all8(c.bits)));
    return _mm512_or_si512(p, _mm512_sllv_epi64(p, all8(2 * c.bits)));
}

/* Of which one has this print. */
BLM__AVX512_INLINE unsigned hold8(__m512i a, __m512i b, __m512i print, struct blm__cells c)
{
    __m512i none = _mm512_and_si512(others(_mm512_xor_si512(a, print), c),
                                    others(_mm512_xor_si512(b, print), c));
    return _mm512_test_epi64_mask(_mm512_andnot_si512(none, all8(c.high)), all8(c.high));
}

BLM__AVX512_INLINE unsigned have8(const struct blm__bucket_table *t, const struct blm__eight *e)
{
    return hold8(bucket8(t, e, 0), bucket8(t, e, 1), prints8(e, t->c), t->c);
}

/* How many cells these highest bits are of. */
BLM__AVX512_INLINE __m512i count8(__m512i highs, struct blm__cells c)
{
    __m512i v = _mm512_srlv_epi64(highs, all8(c.bits - 1));
    v         = _mm512_add_epi64(v, _mm512_srlv_epi64(v, all8(c.bits)));
    v         = _mm512_add_epi64(v, _mm512_srlv_epi64(v, all8(2 * c.bits)));
    return _mm512_and_si512(v, all8(7));
}

/* Has no bucket of the eight keys another key too? Each of the sixteen is compared with those one to
 * eight places on. */
BLM__AVX512_INLINE bool apart8(const struct blm__eight *e)
{
    __m512i  v = _mm512_or_si512(load8(e->bucket[0]), _mm512_slli_epi64(load8(e->bucket[1]), 32));
    unsigned same = _mm512_cmpeq_epi32_mask(v, _mm512_alignr_epi32(v, v, 1)) |
                    _mm512_cmpeq_epi32_mask(v, _mm512_alignr_epi32(v, v, 2)) |
                    _mm512_cmpeq_epi32_mask(v, _mm512_alignr_epi32(v, v, 3)) |
                    _mm512_cmpeq_epi32_mask(v, _mm512_alignr_epi32(v, v, 4)) |
                    _mm512_cmpeq_epi32_mask(v, _mm512_alignr_epi32(v, v, 5)) |
                    _mm512_cmpeq_epi32_mask(v, _mm512_alignr_epi32(v, v, 6)) |
                    _mm512_cmpeq_epi32_mask(v, _mm512_alignr_epi32(v, v, 7)) |
                    _mm512_cmpeq_epi32_mask(v, _mm512_alignr_epi32(v, v, 8));
    return same == 0;
}

BLM__AVX512_INLINE void aim8(const struct blm__bucket_table *t, const struct blm__eight *e,
                             struct blm__aims *to)
{
    const struct blm__cells c = t->c;
    __m512i                 at[2], skip[2], v[2], room[2], p = prints8(e, c);
    for (unsigned i = 0; i < 2; i++) {
        at[i]       = load8(e->at[i]);
        skip[i]     = skip8(load8(e->bucket[i]), c);
        __m512i was = gather8(t, at[i]);
        store8(to->was[i], was);
        v[i]    = _mm512_srlv_epi64(was, skip[i]);
        room[i] = free8(v[i], c);
    }
    __mmask8 second = _mm512_cmpgt_epi64_mask(count8(room[1], c), count8(room[0], c));
    __m512i  from   = _mm512_mask_mov_epi64(room[0], second, room[1]);
    __m512i  high   = _mm512_and_si512(from, _mm512_sub_epi64(_mm512_setzero_si512(), from));
    __m512i  cell =
        _mm512_sub_epi64(_mm512_slli_epi64(high, 1), _mm512_srlv_epi64(high, all8(c.bits - 1)));
    __m512i set = _mm512_sllv_epi64(_mm512_and_si512(p, cell),
                                    _mm512_mask_mov_epi64(skip[0], second, skip[1]));
    store8(to->at, _mm512_mask_mov_epi64(at[0], second, at[1]));
    store8(to->set, set);
    to->full  = _mm512_testn_epi64_mask(from, from);
    to->had   = hold8(v[0], v[1], p, c);
    to->apart = apart8(e);
}

/* ---- where room is made ---- */

/* Of two buckets' fingerprints, the buckets that they may go to. */
BLM__AVX512_INLINE __m512i around8(const struct blm__bucket_table *t, uint64_t v0, uint64_t v1,
                                   uint64_t bucket0, uint64_t bucket1)
{
    const long long f    = t->c.bits;
    const __m512i   cell = _mm512_set_epi64(3 * f, 2 * f, f, 0, 3 * f, 2 * f, f, 0);
    __m512i         v    = _mm512_mask_mov_epi64(all8(v0), 0xf0, all8(v1));
    __m512i         from = _mm512_mask_mov_epi64(all8(bucket0), 0xf0, all8(bucket1));
    v = _mm512_and_si512(_mm512_srlv_epi64(v, cell), all8(((uint64_t)1 << f) - 1));
    return across8(from, v, all8(t->n));
}

BLM__AVX512_INLINE void ask_around8(const struct blm__bucket_table *t, uint64_t v0, uint64_t v1,
                                    uint64_t bucket0, uint64_t bucket1)
{
    _Alignas(64) uint64_t at[8];
    store8(at, begin8(around8(t, v0, v1, bucket0, bucket1), t->c.bits));
    for (unsigned i = 0; i < 8; i++)
        BLM__PREFETCH_NEAR(t->bytes + at[i]);
}

BLM__AVX512_INLINE void ask8(const struct blm__bucket_table *t, const struct blm__eight *e)
{
    _Alignas(64) uint64_t v[2][8];
    __m512i               a = bucket8(t, e, 0), b = bucket8(t, e, 1);
    __m512i               room = _mm512_or_si512(free8(a, t->c), free8(b, t->c));
    unsigned              full = _mm512_testn_epi64_mask(room, room);
    store8(v[0], a);
    store8(v[1], b);
    for (; full; full &= full - 1) {
        unsigned q = BLM__LOWEST64(full);
        ask_around8(t, v[0][q], v[1][q], e->bucket[0][q], e->bucket[1][q]);
    }
}

BLM__AVX512_INLINE bool shift8(const struct blm__bucket_table *t, const struct blm__eight *e,
                               const struct blm__aims *to, unsigned q)
{
    _Alignas(64) uint64_t   at[8], into[8], room[8];
    const struct blm__cells c  = t->c;
    unsigned                s0 = blm__bucket_skip(e->bucket[0][q], c);
    unsigned                s1 = blm__bucket_skip(e->bucket[1][q], c);
    uint64_t                v0 = to->was[0][q] >> s0, v1 = to->was[1][q] >> s1;
    __m512i                 o  = around8(t, v0, v1, e->bucket[0][q], e->bucket[1][q]);
    __m512i                 by = begin8(o, c.bits), skip = skip8(o, c);
    __m512i                 v    = free8(_mm512_srlv_epi64(gather8(t, by), skip), c);
    unsigned                some = _mm512_test_epi64_mask(v, v);
    if (!some)
        return false;
    store8(at, by);
    store8(into, skip);
    store8(room, v);
    unsigned i = BLM__LOWEST64(some), cell = i % BLM__BUCKET * c.bits;
    uint64_t mask = ((uint64_t)1 << c.bits) - 1, moved = (i < BLM__BUCKET ? v0 : v1) >> cell & mask;
    unsigned to_bit = BLM__LOWEST64(room[i]) - (c.bits - 1) + (unsigned)into[i];
    unsigned own    = cell + (i < BLM__BUCKET ? s0 : s1);
    blm__bytes_set(t->bytes + at[i], moved << to_bit);
    blm__bytes_put(t->bytes + e->at[i / BLM__BUCKET][q], mask << own, e->print[q] << own);
    return true;
}

BLM__AVX512 static unsigned around(const struct blm__layer *l, uint64_t part, const uint64_t two[2],
                                   uint64_t other[2 * BLM__BUCKET])
{
    (void)part; /* there is one */
    const struct blm__bucket_table t = blm__bucket_table_of(l);
    uint64_t v0 = blm__bucket_word(&t, two[0]), v1 = blm__bucket_word(&t, two[1]);
    __m512i  o = around8(&t, v0, v1, two[0], two[1]);
    __m512i  v = _mm512_srlv_epi64(gather8(&t, begin8(o, t.c.bits)), skip8(o, t.c));
    _mm512_storeu_si512((void *)other, o);
    v = free8(v, t.c);
    return BLM__LOWEST64(_mm512_test_epi64_mask(v, v) | 1u << 8);
}

BLM__AVX512 static void ask_around(const struct blm__layer *l, uint64_t part, const uint64_t two[2])
{
    (void)part;
    const struct blm__bucket_table t = blm__bucket_table_of(l);
    ask_around8(&t, blm__bucket_word(&t, two[0]), blm__bucket_word(&t, two[1]), two[0], two[1]);
}

BLM__BUCKETS_CHECKS(avx512, BLM__AVX512, take8_buckets, have8)
BLM__BUCKETS_ADDS(avx512, BLM__AVX512, take8_buckets, aim8, ask8, shift8)

const struct blm__buckets blm__buckets_avx512 = { BLM__BUCKETS_ROWS(avx512), .around = around,
                                                  .ask_around = ask_around };
#endif
