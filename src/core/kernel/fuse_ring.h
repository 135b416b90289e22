/* SPDX-License-Identifier: MIT */
/*
 * Fuse in batches, for instruction sets that place four keys at once:
 *
 *   take(layer, stream, i, several, bytes, ring, to)   keys i … i + 3 of the stream, to ring places
 *                                                      to … to + 3; several: the layer has more parts
 *                                                      than one; bytes: a cell is a byte, and places
 *                                                      count bytes in place of bits
 *
 * What was placed waits in a ring while its cells are fetched, and is then looked for by plain loads.
 * Between the fetches of two keys another is looked for: a processor that is given two dozen fetches
 * in a row waits for them before it goes on with anything else. Zen 3 (AVX2), 1e7 keys of 8 bytes, ns a
 * key, where the three lines alone take 4.9: 12.4 key by key (fuse.h), 9.1 with eight placed and then
 * fetched, 7.0 with fetches and lookups by turns and four a step, 6.3 with the hash in the same loop.
 * How far ahead, 16 to 64 keys, and into which cache make no difference there. In cache 7.8 → 2.7,
 * with the hash in the same loop 3.0.
 */
#ifndef BLM_CORE_KERNEL_FUSE_RING_H
#define BLM_CORE_KERNEL_FUSE_RING_H

#include "core/kernel/fuse.h"
#include "core/kernel/stream.h"

#define BLM__FUSE_STEP  4u
#define BLM__FUSE_STEPS 16u /* in the ring: a power of two, and two more than … */
#define BLM__FUSE_LAG   8u  /* … those between a step and its lookup */

struct blm__fuse_ring {
    _Alignas(64) uint64_t at[BLM__FUSE_PROBES][BLM__FUSE_STEP * BLM__FUSE_STEPS];
    _Alignas(64) uint64_t print[BLM__FUSE_STEP * BLM__FUSE_STEPS];
};

typedef void (*blm__fuse_take)(const struct blm__fuse_layer *f, const struct blm__stream *s,
                               size_t i, bool several, bool bytes, struct blm__fuse_ring *r,
                               size_t to);

BLM__INLINE void blm__fuse_ask(const struct blm__fuse_layer *f, const struct blm__fuse_ring *r,
                               size_t j, bool bytes)
{
    for (unsigned i = 0; i < BLM__FUSE_PROBES; i++)
        BLM__PREFETCH(f->cells + (r->at[i][j] >> (bytes ? 0 : 3)));
}

BLM__INLINE bool blm__fuse_look(const struct blm__fuse_layer *f, const struct blm__fuse_ring *r,
                                size_t j, unsigned width)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < BLM__FUSE_PROBES; i++) {
        uint64_t at = r->at[i][j];
        v ^= width == 1 ? f->cells[at] : blm__fuse_read(f->cells + (at >> 3), width) >> (at & 7);
    }
    return (width == 1 ? v : v & f->mask) == r->print[j];
}

/* The place of step i in the ring, and its first key: the last step may have some of the one before. */
BLM__INLINE size_t blm__fuse_slot(size_t i) { return i % BLM__FUSE_STEPS * BLM__FUSE_STEP; }
BLM__INLINE size_t blm__fuse_first(size_t i, size_t n)
{
    size_t at = i * BLM__FUSE_STEP, last = n - BLM__FUSE_STEP;
    return at < last ? at : last;
}

/* far: its cells are fetched. At least a step of keys. A step is taken one before it is fetched, so
 * that the fetches do not wait for its products. */
BLM__INLINE size_t blm__fuse_check_ring(const struct blm__layer *l, struct blm__stream s,
                                        uint8_t *maybe, bool far, unsigned width, bool several,
                                        blm__fuse_take take)
{
    const struct blm__fuse_layer f     = blm__fuse_of(l);
    const size_t                 steps = (s.n + BLM__FUSE_STEP - 1) / BLM__FUSE_STEP;
    const bool                   bytes = width == 1;
    struct blm__fuse_ring        r;
    size_t                       i = 0;
    take(&f, &s, 0, several, bytes, &r, 0);
    for (; i < steps && i < BLM__FUSE_LAG; i++) {
        if (i + 1 < steps)
            take(&f, &s, blm__fuse_first(i + 1, s.n), several, bytes, &r, blm__fuse_slot(i + 1));
        for (size_t q = 0; far && q < BLM__FUSE_STEP; q++)
            blm__fuse_ask(&f, &r, blm__fuse_slot(i) + q, bytes);
    }
    for (; i < steps; i++) {
        const size_t in = blm__fuse_slot(i), out = blm__fuse_slot(i - BLM__FUSE_LAG);
        uint8_t     *to = maybe + (i - BLM__FUSE_LAG) * BLM__FUSE_STEP;
        if (i + 1 < steps)
            take(&f, &s, blm__fuse_first(i + 1, s.n), several, bytes, &r, blm__fuse_slot(i + 1));
        for (size_t q = 0; q < BLM__FUSE_STEP; q++) {
            if (far)
                blm__fuse_ask(&f, &r, in + q, bytes);
            to[q] = blm__fuse_look(&f, &r, out + q, width);
        }
    }
    for (i = steps < BLM__FUSE_LAG ? 0 : steps - BLM__FUSE_LAG; i < steps; i++)
        for (size_t q = 0; q < BLM__FUSE_STEP; q++)
            maybe[blm__fuse_first(i, s.n) + q] =
                blm__fuse_look(&f, &r, blm__fuse_slot(i) + q, width);
    return blm__ones(maybe, s.n);
}

BLM__INLINE size_t blm__fuse_check_width(const struct blm__layer *l, struct blm__stream s,
                                         uint8_t *maybe, unsigned width, blm__fuse_take take)
{
    const bool far = !blm__layer_small(l);
    if (l->shape.line_count > 1)
        return far ? blm__fuse_check_ring(l, s, maybe, true, width, true, take)
                   : blm__fuse_check_ring(l, s, maybe, false, width, true, take);
    return far ? blm__fuse_check_ring(l, s, maybe, true, width, false, take)
               : blm__fuse_check_ring(l, s, maybe, false, width, false, take);
}

BLM__INLINE size_t blm__fuse_check_steps(const struct blm__layer *l, struct blm__stream s,
                                         uint8_t *maybe, blm__fuse_take take)
{
    switch (blm__fuse_width(l->shape.cell_bits)) { /* each a loop of its own */
    case 1:
        return blm__fuse_check_width(l, s, maybe, 1, take);
    case 2:
        return blm__fuse_check_width(l, s, maybe, 2, take);
    case 4:
        return blm__fuse_check_width(l, s, maybe, 4, take);
    default:
        return blm__fuse_check_width(l, s, maybe, 8, take);
    }
}

#endif
