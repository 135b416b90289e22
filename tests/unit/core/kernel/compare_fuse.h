/* SPDX-License-Identifier: MIT */
/* Fuse by one kernel, judged by another: the same answers from hashes and from keys, for cells of every
 * width, one part or several, one of them without keys. */
#ifndef BLM_UNIT_KERNEL_COMPARE_FUSE_H
#define BLM_UNIT_KERNEL_COMPARE_FUSE_H

#include "core/kernel/fuse.h"
#include "unit/core/kernel/compare.h"

#define FUSE_KEYS 300u

static inline struct blm__shape fuse_shape(uint64_t parts, uint64_t segment, uint64_t segments,
                                           uint32_t bits)
{
    struct blm__shape s = { .kind       = BLM_STATIC,
                            .rule       = BLM__FUSE,
                            .bits       = parts * segment * segments,
                            .line_count = parts,
                            .probes     = BLM__FUSE_PROBES,
                            .cell_bits  = bits,
                            .aux        = { segment, 0 } };
    return s;
}

/* Changes the third cell of a key so that the layer has it; another key may have changed it before. */
static inline void fuse_put(struct blm__layer *l, uint64_t h)
{
    struct blm__fuse_layer f = blm__fuse_of(l);
    struct blm__fuse_key   k;
    blm__fuse_place(&f, h, &k);
    uint8_t *cells = (uint8_t *)(l->words + f.parts);
    uint64_t want  = k.print >> (64 - f.bits);
    for (unsigned i = 0; i < BLM__FUSE_PROBES; i++)
        want ^= blm__fuse_cell(f.cells, k.cell[i], f.bits);
    for (uint32_t i = 0; i < f.bits; i++) {
        uint64_t bit = k.cell[2] * f.bits + i;
        cells[bit / 8] ^= (uint8_t)((want >> i & 1) << bit % 8);
    }
}

/* Noise in which a third of the keys are; part 1 of several has none. */
static inline void fuse_fill(struct blm__layer *l, const uint64_t *h, struct rng *r)
{
    for (uint64_t i = 0; i + 1 < l->word_count; i++)
        l->words[i] = rng_next(r);
    for (uint64_t i = 0; i < l->shape.line_count; i++)
        l->words[i] = i == 1 ? 0 : l->words[i] | 1;
    for (size_t i = 0; i < FUSE_KEYS; i += 3)
        fuse_put(l, h[i]);
}

static inline void agree_on_fuse_shape(const struct blm__kernel *oracle,
                                       const struct blm__kernel *other, struct blm__shape s)
{
    struct rng              r = { s.bits + s.cell_bits };
    struct blm__layer       l = bare_layer(s, s.cell_bits % 2);
    const struct blm__fuse *a = oracle->fuse, *b = other->fuse;
    uint64_t                keys[FUSE_KEYS], h[FUSE_KEYS], flip = rng_next(&r);
    uint8_t                 is[FUSE_KEYS + 1], got[FUSE_KEYS + 1];
    for (size_t i = 0; i < FUSE_KEYS; i++)
        keys[i] = rng_next(&r);
    oracle->hash8(flip, keys, FUSE_KEYS, h);
    fuse_fill(&l, h, &r);
    for (size_t n = 0; n <= FUSE_KEYS; n += n < 45 ? 1 : 51) {
        size_t from = FUSE_KEYS - n, some;
        memset(is, 9, sizeof is);
        memset(got, 9, sizeof got);
        some = a->check(&l, h + from, n, is);
        assert_true(n < FUSE_KEYS || (some > 5 && some < n)); /* both answers are there */
        assert_int_equal(b->check(&l, h + from, n, got), some);
        assert_memory_equal(got, is, n + 1);
        if (!b->check8)
            continue;
        memset(got, 9, sizeof got);
        assert_int_equal(b->check8(&l, flip, keys + from, n, got), some);
        assert_memory_equal(got, is, n + 1);
    }
    bare_free(&l);
}

static inline void agree_on_fuse(const struct blm__kernel *oracle, const struct blm__kernel *other)
{
    for (uint32_t bits = 1; bits <= BLM__FUSE_BITS_MOST; bits++) {
        agree_on_fuse_shape(oracle, other, fuse_shape(1, 64, 5, bits));
        agree_on_fuse_shape(oracle, other, fuse_shape(3, 16, 40, bits));
    }
    agree_on_fuse_shape(oracle, other, fuse_shape(1, 1 << 14, 7, 8));
    agree_on_fuse_shape(oracle, other, fuse_shape(7, 1 << 12, 9, 12));
}

#endif
