/* SPDX-License-Identifier: MIT */
/* A layer of plain bits, whatever sets them: everything here is words. */
#include "engine/bits.h"

#include "core/kernel/lanes.h"

uint64_t blm__bits_ones(const struct blm__layer *l, const struct blm__kernel *v)
{
    return v->popcount(l->words, l->word_count);
}

uint64_t blm__bits_ones_or(const struct blm__layer *a, const struct blm__layer *b,
                           const struct blm__kernel *v)
{
    return v->popcount_or(a->words, b->words, a->word_count);
}

void blm__bits_unite(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src, uint64_t n)
{
    v->or_into(dst, src, n);
}

void blm__bits_intersect(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src,
                         uint64_t n)
{
    v->and_into(dst, src, n);
}

unsigned blm__bits_use(const struct blm__body *b, struct blm__layer *l, uint64_t cell)
{
    return l->lanes ? blm__lane_bit(l, cell) : blm__bit_set(l, cell, b->shared);
}

/* ---- fold ---- */

/* ORs n bits of src from bit `from` into dst at bit `to`, a word at a time. */
static void or_bits(uint64_t *dst, uint64_t to, const uint64_t *src, uint64_t from, uint64_t n)
{
    while (n > 0) {
        unsigned room = 64 - (unsigned)(to & 63), have = 64 - (unsigned)(from & 63);
        unsigned take = room < have ? room : have;
        if (take > n)
            take = (unsigned)n;
        uint64_t v = blm__le64(blm__load(&src[from >> 6])) >> (from & 63);
        if (take < 64)
            v &= ((uint64_t)1 << take) - 1;
        dst[to >> 6] |= blm__le64(v << (to & 63));
        to += take;
        from += take;
        n -= take;
    }
}

void blm__bits_fold(const struct blm__layer *from, uint64_t factor, struct blm__layer *to)
{
    uint64_t unit = blm__fold_unit(&from->shape), units = to->shape.bits / unit;
    for (uint64_t part = 0; part < factor; part++)
        if (from->shape.scheme->fold == BLM__FOLD_STRIDED)
            or_bits(to->words, 0, from->words, part * to->shape.bits, to->shape.bits);
        else
            for (uint64_t u = 0; u < units; u++)
                or_bits(to->words, u * unit, from->words, (u * factor + part) * unit, unit);
}
