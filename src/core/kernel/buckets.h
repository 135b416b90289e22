/* SPDX-License-Identifier: MIT */
/*
 * Buckets of fingerprints (core/probe.h): four cells of f bits side by side, and buckets side by
 * side, whatever their width. 0 is a free cell.
 *
 * Cells are compared four at a time inside one 64-bit word; fingerprints of more than 16 bits two
 * at a time. zeroes() has no borrow from one cell to the next, so every cell's bit is right.
 *
 * A fingerprint is moved by copying it to its new place before its old one is overwritten, so it is
 * always in one of its buckets. Somebody who reads meanwhile may still look into the one before the
 * copy and into the other after it. So between the two the count of moves goes up: a reader who
 * found nothing, and sees another count than before, looks again.
 *
 *     writer: copy, count + 1 (release), overwrite (release)
 *     reader: count (acquire), buckets (acquire, or plain and a fence), count
 */
#ifndef BLM_CORE_KERNEL_BUCKETS_H
#define BLM_CORE_KERNEL_BUCKETS_H

#include <string.h>

#include "core/kernel/kernel.h"
#include "core/probe.h"

#define BLM__NARROW_MOST     16u /* bits of fingerprints of which four fit a word */
#define BLM__FINGERPRINT_MIN 8u
#define BLM__FINGERPRINT_MAX 30u
#define BLM__BUCKETS_AHEAD   64u /* keys whose buckets are asked for at once */

struct blm__buckets {
    size_t (*check)(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe);
    /* From n keys of 8 bytes, side by side, to the answers; v: whose hash8 it is. Any n. */
    size_t (*check8)(const struct blm__layer *l, const struct blm__kernel *v, uint64_t flip,
                     const void *keys, size_t n, uint8_t *maybe);
};

extern const struct blm__buckets blm__buckets_portable;
#ifdef BLM__HAVE_AVX2
extern const struct blm__buckets blm__buckets_avx2;
#endif
#ifdef BLM__HAVE_AVX512
extern const struct blm__buckets blm__buckets_avx512;
#endif
#ifdef BLM__HAVE_NEON
extern const struct blm__buckets blm__buckets_neon;
#endif

/* Where a key may be. */
struct blm__pair {
    uint64_t print, bucket[2];
    uint64_t part; /* its first bucket */
};

/* What a layer's cells look like in a word: its lowest bits, its highest, and all but the highest. */
struct blm__cells {
    uint64_t low, high, rest;
    uint32_t bits, span; /* of one, and of those in a word */
    bool     wide;
};

BLM__INLINE uint64_t blm__bucket_count(const struct blm__layer *l)
{
    return l->shape.bits / BLM__BUCKET;
}

BLM__INLINE struct blm__cells blm__cells_of(const struct blm__layer *l)
{
    uint32_t          f = l->shape.cell_bits;
    struct blm__cells c = { .bits = f, .wide = f > BLM__NARROW_MOST };
    c.low               = 1 | (uint64_t)1 << f;
    if (!c.wide)
        c.low |= c.low << 2 * f;
    c.high = c.low << (f - 1);
    c.rest = c.high - c.low;
    c.span = (c.wide ? 2 : 4) * f;
    return c;
}

BLM__INLINE struct blm__pair blm__pair_of(const struct blm__layer *l, uint64_t h)
{
    uint64_t         all = blm__bucket_count(l), n = l->shape.line_count;
    uint64_t         print = blm__fingerprint_of(h, l->shape.cell_bits), first = blm__reduce(h, n);
    struct blm__pair p = { print, { first, blm__other_bucket(first, print, n) }, 0 };
    if (BLM__UNLIKELY(n < all)) {
        p.part = blm__reduce(h * BLM__D, all / n) * n;
        p.bucket[0] += p.part;
        p.bucket[1] += p.part;
    }
    return p;
}

BLM__INLINE const void *blm__bucket_at(const struct blm__layer *l, uint64_t bucket)
{
    return (const uint8_t *)l->words + bucket * l->shape.cell_bits / 2;
}

/* Where n keys may be, n at most BLM__BUCKETS_AHEAD, and their buckets asked for. */
BLM__INLINE void blm__pairs_of(const struct blm__layer *l, const uint64_t *h, size_t n, bool fetch,
                               struct blm__pair *p)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = blm__pair_of(l, h[i]);
        if (fetch) {
            BLM__PREFETCH(blm__bucket_at(l, p[i].bucket[0]));
            BLM__PREFETCH(blm__bucket_at(l, p[i].bucket[1]));
        }
    }
}

/* n ≤ 64 bits from any bit on, and above them anything. The word behind is read only if it has some:
 * it may be in the next line, which nobody asked for. */
BLM__INLINE uint64_t blm__bits_from(const uint64_t *words, uint64_t bit, uint32_t n)
{
    unsigned shift = (unsigned)bit & 63;
    uint64_t lo    = blm__le64(__atomic_load_n(words + (bit >> 6), __ATOMIC_ACQUIRE));
    uint64_t hi    = blm__le64(__atomic_load_n(words + ((bit + n - 1) >> 6), __ATOMIC_ACQUIRE));
    return lo >> shift | hi << 1 << (63 - shift);
}

/* The highest bit of every cell of v that is 0. */
BLM__INLINE uint64_t blm__zeroes(uint64_t v, struct blm__cells c)
{
    return ~(((v & c.rest) + c.rest) | v) & c.high;
}

/* Of a bucket, the highest bits of the cells that hold `value`: of all four, or of the first two and
 * of the last two. */
BLM__INLINE uint64_t blm__bucket_holds(const struct blm__layer *l, struct blm__cells c,
                                       uint64_t bucket, uint64_t value, unsigned half)
{
    uint64_t bit = (bucket * BLM__BUCKET + 2 * half) * c.bits;
    return blm__zeroes(blm__bits_from(l->words, bit, c.span) ^ value * c.low, c);
}

BLM__INLINE bool blm__bucket_has(const struct blm__layer *l, struct blm__cells c, uint64_t bucket,
                                 uint64_t value)
{
    return blm__bucket_holds(l, c, bucket, value, 0) ||
           (c.wide && blm__bucket_holds(l, c, bucket, value, 1));
}

BLM__INLINE bool blm__pair_has(const struct blm__layer *l, struct blm__cells c, struct blm__pair p)
{
    return blm__bucket_has(l, c, p.bucket[0], p.print) ||
           blm__bucket_has(l, c, p.bucket[1], p.print);
}

/* ---- vectors ---- */

/* Where eight keys may be: their fingerprints, and of each bucket the half byte that it begins with.
 * Buckets of narrow cells end within 64 bits of that byte. */
struct blm__eight {
    _Alignas(64) uint64_t print[8];
    uint64_t at[2][8];
};
#define BLM__EIGHTS (BLM__BUCKETS_AHEAD / 8)

/* Fewer than 2^32 buckets, in one part: what 32-bit multiplies can find. */
BLM__INLINE bool blm__buckets_few(const struct blm__layer *l)
{
    return l->shape.line_count >> 32 == 0 && l->shape.line_count == blm__bucket_count(l);
}

BLM__INLINE void blm__place8(const struct blm__layer *l, const uint64_t *h, struct blm__eight *e)
{
    for (unsigned i = 0; i < 8; i++) {
        struct blm__pair p = blm__pair_of(l, h[i]);
        e->print[i]        = p.print;
        e->at[0][i]        = p.bucket[0] * l->shape.cell_bits;
        e->at[1][i]        = p.bucket[1] * l->shape.cell_bits;
    }
}

BLM__INLINE void blm__fetch8(const struct blm__layer *l, const struct blm__eight *e)
{
    const uint8_t *bytes = (const uint8_t *)l->words;
    for (unsigned i = 0; i < 8; i++) {
        BLM__PREFETCH(bytes + (e->at[0][i] >> 1));
        BLM__PREFETCH(bytes + (e->at[1][i] >> 1));
    }
}

/* Eight bits as eight bytes, 0 or 1, the lowest first. */
BLM__INLINE void blm__spread8(unsigned bits, uint8_t *out)
{
    uint64_t low = bits & 0x7f, v = low * 0x0002040810204081u & 0x0101010101010101u;
    v = blm__le64(v | (uint64_t)(bits >> 7) << 56);
    memcpy(out, &v, 8);
}

/* The check of a kernel, of narrow cells. A ring of eights: each is placed and asked for when the one
 * before it in its place was looked up, 64 keys ahead, so that neither waits for the other (64 placed,
 * then 64 looked up: 9.6 ns a key where this takes 7.7, AVX-512, 1e7 keys). place8: as
 * blm__place8, of a layer with few buckets. have8: bit i of the result: key i may be there. */
#define BLM__BUCKETS_LOOPS(isa, TARGET, INLINE, place8, have8)                                     \
    INLINE size_t blm__roll_##isa(const struct blm__layer *l, const struct blm__kernel *v,         \
                                  uint64_t flip, const uint64_t *h, const uint8_t *keys, size_t n, \
                                  uint8_t *maybe, bool few)                                        \
    {                                                                                              \
        struct blm__cells c     = blm__cells_of(l);                                                \
        bool              fetch = !blm__layer_small(l);                                            \
        size_t            hits = 0, eights = n / 8;                                                \
        struct blm__eight ring[BLM__EIGHTS];                                                       \
        uint64_t          own[BLM__BUCKETS_AHEAD];                                                 \
        for (size_t put = 0; put < eights + BLM__EIGHTS; put++) {                                  \
            struct blm__eight *e = &ring[put % BLM__EIGHTS];                                       \
            if (put >= BLM__EIGHTS && put - BLM__EIGHTS < eights) {                                \
                uint8_t *out = maybe + (put - BLM__EIGHTS) * 8;                                    \
                unsigned has = have8(l, c, e);                                                     \
                blm__spread8(has, out);                                                            \
                hits += BLM__POPCOUNT64(has);                                                      \
            }                                                                                      \
            if (put >= eights)                                                                     \
                continue;                                                                          \
            if (keys && put % BLM__EIGHTS == 0)                                                    \
                v->hash8(flip, keys + put * 64,                                                    \
                         eights - put < BLM__EIGHTS ? (eights - put) * 8 : BLM__BUCKETS_AHEAD,     \
                         own);                                                                     \
            const uint64_t *from = keys ? own + put % BLM__EIGHTS * 8 : h + put * 8;               \
            if (few)                                                                               \
                place8(l, from, e);                                                                \
            else                                                                                   \
                blm__place8(l, from, e);                                                           \
            if (fetch)                                                                             \
                blm__fetch8(l, e);                                                                 \
        }                                                                                          \
        if (keys)                                                                                  \
            v->hash8(flip, keys + eights * 64, n % 8, own);                                        \
        for (size_t i = eights * 8; i < n; i++)                                                    \
            hits += maybe[i] = blm__pair_has(l, c, blm__pair_of(l, keys ? own[i % 8] : h[i]));     \
        return hits;                                                                               \
    }                                                                                              \
    TARGET static size_t blm__buckets_check_##isa(const struct blm__layer *l, const uint64_t *h,   \
                                                  size_t n, uint8_t *maybe)                        \
    {                                                                                              \
        if (n < 8 || l->shape.cell_bits > BLM__NARROW_MOST)                                        \
            return blm__buckets_portable.check(l, h, n, maybe);                                    \
        return blm__roll_##isa(l, NULL, 0, h, NULL, n, maybe, blm__buckets_few(l));                \
    }                                                                                              \
    TARGET static size_t blm__buckets_check8_##isa(const struct blm__layer  *l,                    \
                                                   const struct blm__kernel *v, uint64_t flip,     \
                                                   const void *keys, size_t n, uint8_t *maybe)     \
    {                                                                                              \
        if (n < 8 || l->shape.cell_bits > BLM__NARROW_MOST)                                        \
            return blm__buckets_portable.check8(l, v, flip, keys, n, maybe);                       \
        return blm__roll_##isa(l, v, flip, NULL, keys, n, maybe, blm__buckets_few(l));             \
    }

#endif
