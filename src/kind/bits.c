/* SPDX-License-Identifier: MIT */
/* A layer of plain bits: what classic, blocked and the layers of scalable have in common. The
 * layer's engine says how a key finds its bits; everything else is words. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/kernel/counters.h"
#include "kind/kind.h"
#include "scheme/scheme.h"

/* ---- add and check ---- */

size_t blm__bits_add(struct blm_body *b, struct blm_layer *l, const struct blm_batch *k,
                     uint8_t *fresh)
{
    const struct blm_kernel *v = b->kernel;
    size_t                   count;
    switch (l->shape.engine) {
    case BLM__CHAIN:
        count = (b->shared ? v->chain_add_shared : v->chain_add)(l, k->h, k->n, fresh);
        break;
    case BLM__LINES:
        count = (b->shared ? v->lines_add_shared : v->lines_add)(l, k->h, k->n, fresh);
        break;
    case BLM__SHORT:
        count = blm__short_add(l, k->h, k->n, fresh, b->shared);
        break;
    default:
        count = blm__positions_add(b, l, k, fresh);
        break;
    }
    blm__layer_count(l, (int64_t)count);
    return count;
}

size_t blm__bits_check(const struct blm_body *b, const struct blm_layer *l,
                       const struct blm_batch *k, uint8_t *maybe)
{
    switch (l->shape.engine) {
    case BLM__CHAIN:
        return b->kernel->chain_check(l, k->h, k->n, maybe);
    case BLM__LINES:
        return b->kernel->lines_check(l, k->h, k->n, maybe);
    case BLM__SHORT:
        return blm__short_check(l, k->h, k->n, maybe);
    default:
        return blm__positions_check(b, l, k, maybe);
    }
}

bool blm__bits_check_one(const struct blm_body *b, const struct blm_layer *l, uint64_t h)
{
    uint8_t maybe;
    switch (l->shape.engine) {
    case BLM__LINES:
        return b->kernel->lines_check_one(l, h);
    case BLM__SHORT:
        return blm__short_check(l, &h, 1, &maybe) != 0;
    default:
        return b->kernel->chain_check_one(l, h);
    }
}

blm_status blm__single_add(struct blm_body *b, const struct blm_batch *k, uint8_t *fresh,
                           size_t *done)
{
    blm__bits_add(b, &b->layers[0], k, fresh);
    *done = k->n;
    return BLM_OK;
}

size_t blm__single_check(const struct blm_body *b, const struct blm_batch *k, uint8_t *maybe)
{
    return blm__bits_check(b, &b->layers[0], k, maybe);
}

bool blm__single_check_one(const struct blm_body *b, uint64_t h)
{
    return blm__bits_check_one(b, &b->layers[0], h);
}

/* ---- set operations ---- */

/* Many words, a piece at a time so that a caller can watch and stop. A stopped union has some of
 * src's bits: more "maybe", never a wrong "no"; a stopped intersection is as harmless. */
#define PIECE ((uint64_t)1 << 20)

blm_status blm__combine(struct blm_body *dst, const struct blm_body *src, blm_error *err,
                        void (*op)(uint64_t *, const uint64_t *, uint64_t))
{
    struct blm_layer       *d = &dst->layers[0];
    const struct blm_layer *s = &src->layers[0];
    blm__mark_all(d);
    for (uint64_t at = 0; at < d->word_count; at += PIECE) {
        uint64_t n = d->word_count - at < PIECE ? d->word_count - at : PIECE;
        if (!blm__go_on(dst, at * 8, d->word_count * 8))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu of %llu bytes",
                             (unsigned long long)(at * 8), (unsigned long long)(d->word_count * 8));
        op(d->words + at, s->words + at, n);
    }
    return BLM_OK;
}

blm_status blm__bits_unite(struct blm_body *dst, const struct blm_body *src, blm_error *err)
{
    if (dst == src)
        return BLM_OK;
    blm_status s = blm__combine(dst, src, err, dst->kernel->or_into);
    if (s == BLM_OK)
        blm__layer_count(&dst->layers[0], (int64_t)blm__layer_items(&src->layers[0]));
    return s;
}

blm_status blm__bits_intersect(struct blm_body *dst, const struct blm_body *src, blm_error *err)
{
    blm_status s = blm__combine(dst, src, err, dst->kernel->and_into);
    if (s != BLM_OK)
        return s;
    /* No one counted the common keys: the smaller count is the most there can be. */
    struct blm_layer *d    = &dst->layers[0];
    uint64_t          mine = blm__layer_items(d), theirs = blm__layer_items(&src->layers[0]);
    if (theirs < mine)
        blm__layer_recount(d, theirs);
    return BLM_OK;
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

void blm__bits_fold(const struct blm_layer *from, uint64_t factor, struct blm_layer *to)
{
    uint64_t unit = blm__fold_unit(&from->shape), units = to->shape.bits / unit;
    for (uint64_t part = 0; part < factor; part++)
        if (from->shape.scheme->fold == BLM__FOLD_STRIDED)
            or_bits(to->words, 0, from->words, part * to->shape.bits, to->shape.bits);
        else
            for (uint64_t u = 0; u < units; u++)
                or_bits(to->words, u * unit, from->words, (u * factor + part) * unit, unit);
}
