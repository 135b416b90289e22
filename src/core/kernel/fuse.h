/* SPDX-License-Identifier: MIT */
/*
 * Fingerprints that three cells add up to (core/probe.h): cells of 1 to 32 bits side by side,
 * whatever their width, behind the parts' factors. A cell is read by the eight bytes it begins in; in
 * batches by as few as it lies in. Nobody writes to a layer that can be asked, so loads are plain.
 */
#ifndef BLM_CORE_KERNEL_FUSE_H
#define BLM_CORE_KERNEL_FUSE_H

#include <string.h>

#include "core/kernel/loops.h"

#define BLM__FUSE_BITS_MOST 32u
#define BLM__FUSE_AHEAD     32u /* keys between asking for cells and using them … */
#define BLM__FUSE_RING      32u
#define BLM__FUSE_RUN       2048u /* … and hashes that are looked for in one go */

struct blm__fuse {
    size_t (*check)(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe);
    /* From n keys of 8 bytes, side by side. NULL: hashed by hash8 first they take as long. */
    size_t (*check8)(const struct blm__layer *l, uint64_t flip, const void *keys, size_t n,
                     uint8_t *maybe);
};

extern const struct blm__fuse blm__fuse_portable;
#ifdef BLM__HAVE_AVX2
extern const struct blm__fuse blm__fuse_avx2;
#endif
#ifdef BLM__HAVE_AVX512
extern const struct blm__fuse blm__fuse_avx512;
#endif

/* One part: what its keys' cells depend on. */
struct blm__fuse_part {
    uint64_t span;    /* cells that may be a key's first */
    uint64_t segment; /* cells */
};

/* A layer, as its keys are looked for. */
struct blm__fuse_layer {
    const uint64_t       *factors;
    const uint8_t        *cells;
    uint64_t              parts, part_cells;
    struct blm__fuse_part part;
    uint32_t              bits;
    uint64_t              mask;
};

/* Of one key: its cells, and the 64 bits of which its fingerprint is the first. */
struct blm__fuse_key {
    uint64_t cell[BLM__FUSE_PROBES];
    uint64_t print;
};

BLM__INLINE uint64_t blm__fuse_part_cells(const struct blm__shape *s)
{
    return s->bits / s->line_count;
}

BLM__INLINE struct blm__fuse_part blm__fuse_part_of(uint64_t cells, uint64_t segment)
{
    return (struct blm__fuse_part){ cells - 2 * segment, segment };
}

BLM__INLINE struct blm__fuse_layer blm__fuse_of(const struct blm__layer *l)
{
    uint64_t               cells = blm__fuse_part_cells(&l->shape);
    struct blm__fuse_layer f     = { .factors    = l->words,
                                     .parts      = l->shape.line_count,
                                     .part_cells = cells,
                                     .part       = blm__fuse_part_of(cells, l->shape.aux[0]),
                                     .bits       = l->shape.cell_bits };
    f.cells                      = (const uint8_t *)(l->words + f.parts);
    f.mask                       = UINT64_MAX >> (64 - f.bits);
    return f;
}

/* share: the key's place in its part, h · parts mod 2^64. */
BLM__INLINE struct blm__fuse_key blm__fuse_key_of(struct blm__fuse_part p, uint64_t share,
                                                  uint64_t factor)
{
    uint64_t             z = share * factor, x = z * BLM__C, low = p.segment - 1;
    uint64_t             first = blm__reduce(z, p.span);
    struct blm__fuse_key k     = { { first, (first + p.segment) ^ (x >> 46 & low),
                                     (first + 2 * p.segment) ^ (x >> 28 & low) },
                                   (x ^ x >> 32) * BLM__D };
    return k;
}

/* From the cell's first bit on; those above it are others'. */
BLM__INLINE uint64_t blm__fuse_cell(const uint8_t *cells, uint64_t cell, uint32_t bits)
{
    uint64_t bit = cell * bits, v;
    memcpy(&v, cells + (bit >> 3), sizeof v);
    return blm__le64(v) >> (bit & 7);
}

BLM__INLINE bool blm__fuse_has(const struct blm__fuse_layer *f, const struct blm__fuse_key *k)
{
    uint64_t v = k->print >> (64 - f->bits);
    for (unsigned i = 0; i < BLM__FUSE_PROBES; i++)
        v ^= blm__fuse_cell(f->cells, k->cell[i], f->bits);
    return (v & f->mask) == 0;
}

/* The key in its layer; false: its part has none. */
BLM__INLINE bool blm__fuse_place(const struct blm__fuse_layer *f, uint64_t h,
                                 struct blm__fuse_key *out)
{
    uint64_t part = blm__reduce(h, f->parts), from = part * f->part_cells;
    uint64_t factor = blm__le64(f->factors[part]);
    *out            = blm__fuse_key_of(f->part, h * f->parts, factor);
    for (unsigned i = 0; i < BLM__FUSE_PROBES; i++)
        out->cell[i] += from;
    return factor != 0;
}

/* ---- batches ----
 *
 * A key is placed and its cells asked for, and used when 32 others have been placed: one key after
 * another, in plain C. core/kernel/fuse_ring.h has them in vectors. A cell is read by as few bytes as it
 * may lie in, because one byte more can be on a line that nobody has asked for. */

/* A key that waits for its cells. */
struct blm__fuse_waiting {
    uint64_t bit[BLM__FUSE_PROBES]; /* where they begin */
    uint64_t print;                 /* what they must add up to; more bits than a cell's: never */
};

BLM__INLINE void blm__fuse_wait(const struct blm__fuse_layer *f, uint64_t h, bool fetch,
                                struct blm__fuse_waiting *w)
{
    struct blm__fuse_key k;
    bool                 some = blm__fuse_place(f, h, &k);
    for (unsigned i = 0; i < BLM__FUSE_PROBES; i++) {
        w->bit[i] = k.cell[i] * f->bits;
        if (fetch)
            BLM__PREFETCH(f->cells + (w->bit[i] >> 3));
    }
    w->print = some ? k.print >> (64 - f->bits) : UINT64_MAX;
}

/* Bytes in which a cell lies, wherever it begins: 1, 2, 4 or 8. */
BLM__INLINE unsigned blm__fuse_width(uint32_t bits)
{
    return bits == 8 ? 1 : bits <= 9 || bits == 16 ? 2 : bits <= 25 || bits == 32 ? 4 : 8;
}

BLM__INLINE uint64_t blm__fuse_read(const uint8_t *at, unsigned width)
{
    uint64_t v = 0;
    if (width == 1)
        return *at;
    if (width == 2)
        return (uint64_t)at[0] | (uint64_t)at[1] << 8;
    if (width == 4)
        return blm__get32le(at);
    memcpy(&v, at, sizeof v);
    return blm__le64(v);
}

BLM__INLINE bool blm__fuse_came(const struct blm__fuse_layer *f, const struct blm__fuse_waiting *w,
                                unsigned width)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < BLM__FUSE_PROBES; i++)
        v ^= blm__fuse_read(f->cells + (w->bit[i] >> 3), width) >> (w->bit[i] & 7);
    return (v & f->mask) == w->print;
}

BLM__INLINE size_t blm__fuse_check(const struct blm__layer *l, const uint64_t *h, size_t n,
                                   uint8_t *maybe, unsigned width)
{
    struct blm__fuse_layer   f    = blm__fuse_of(l);
    size_t                   hits = 0;
    struct blm__fuse_waiting ring[BLM__FUSE_RING];
    if (n < 2 || blm__layer_small(l)) {
        for (size_t i = 0; i < n; i++) {
            blm__fuse_wait(&f, h[i], false, ring);
            hits += maybe[i] = blm__fuse_came(&f, ring, width);
        }
        return hits;
    }
    size_t ahead = n < BLM__FUSE_AHEAD ? n : BLM__FUSE_AHEAD;
    for (size_t i = 0; i < ahead; i++)
        blm__fuse_wait(&f, h[i], true, &ring[i]);
    for (size_t i = ahead; i < n; i++) {
        struct blm__fuse_waiting *w = &ring[i % BLM__FUSE_RING];
        hits += maybe[i - ahead]    = blm__fuse_came(&f, w, width);
        blm__fuse_wait(&f, h[i], true, w);
    }
    for (size_t i = n - ahead; i < n; i++)
        hits += maybe[i] = blm__fuse_came(&f, &ring[i % BLM__FUSE_RING], width);
    return hits;
}

#endif
