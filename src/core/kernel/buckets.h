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

/* A key whose add is not just a free cell filled. False: there is no room for it, and nothing
 * changed. */
typedef bool (*blm__hard_add)(const struct blm__body *b, struct blm__layer *l, struct blm__pair p,
                              uint8_t *fresh);

/* Keys of which some add may be hard. */
struct blm__adds {
    const struct blm__body *body; /* for `hard` alone */
    blm__hard_add           hard;
    bool                    crowded; /* many will be: worth a look before their turn */
};

/* A kernel's last three, which may be NULL, are for layers that blm__buckets_vectors says yes to; the
 * portable ones for all. add: of which nobody reads or marks words meanwhile. */
struct blm__buckets {
    size_t (*check)(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe);
    /* From n keys of 8 bytes, side by side, to the answers; v: whose hash8 it is. Any n. */
    size_t (*check8)(const struct blm__layer *l, const struct blm__kernel *v, uint64_t flip,
                     const void *keys, size_t n, uint8_t *maybe);
    /* Where the fingerprints of two buckets of a part may go: those of the first, then of the second,
     * up to the first that has a free cell. Which one that is; 8: none. ask_around: fetches all. */
    unsigned (*around)(const struct blm__layer *l, uint64_t part, const uint64_t two[2],
                       uint64_t other[2 * BLM__BUCKET]);
    void (*ask_around)(const struct blm__layer *l, uint64_t part, const uint64_t two[2]);
    /* Keys of 8 bytes, or hashes, in their order, each as `hard` would add it; how many, up to the
     * first that it refused. fresh[i]: no cell had key i. NULL: there is no such loop. */
    size_t (*add)(struct blm__layer *l, const struct blm__adds *a, const void *from, bool keys,
                  uint64_t flip, size_t n, uint8_t *fresh);
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

BLM__INLINE uint64_t blm__bucket_count(const struct blm__layer *l)
{
    return l->shape.bits / BLM__BUCKET;
}

/* Fewer than 2^32 buckets, in one part: what 32-bit multiplies can find. */
BLM__INLINE bool blm__buckets_few(const struct blm__layer *l)
{
    return l->shape.line_count >> 32 == 0 && l->shape.line_count == blm__bucket_count(l);
}

/* Narrow cells, too: four in a vector's word. */
BLM__INLINE bool blm__buckets_vectors(const struct blm__layer *l)
{
    return l->shape.cell_bits <= BLM__NARROW_MOST && blm__buckets_few(l);
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

/* Where the fingerprint in a cell of a bucket may go. */
BLM__INLINE uint64_t blm__cell_other(const struct blm__layer *l, uint64_t part, uint64_t bucket,
                                     uint32_t cell)
{
    uint32_t f     = l->shape.cell_bits;
    uint64_t print = blm__bits_from(l->words, (bucket * BLM__BUCKET + cell) * f, f);
    print &= ((uint64_t)1 << f) - 1;
    return part + blm__other_bucket(bucket - part, print, l->shape.line_count);
}

BLM__INLINE bool blm__pair_has(const struct blm__layer *l, struct blm__cells c, struct blm__pair p)
{
    return blm__bucket_has(l, c, p.bucket[0], p.print) ||
           blm__bucket_has(l, c, p.bucket[1], p.print);
}

#endif
