/* SPDX-License-Identifier: MIT */
/* Kinds of one layer (classic, blocked, counting): the layer is layers[0], and its engine does what
 * is asked. */
#include "kind/kind.h"

const char *blm__single_fault(const struct blm__body *b, bool native)
{
    if (b->layer_count != 1)
        return "more than one layer in a filter that does not grow";
    if (b->layers[0].shape.kind != b->kind)
        return "its layer is of another kind";
    if (b->growth != 0 || b->tightening != 0 || b->rate_cap != 0 || b->active != 0)
        return "growth in a filter that does not grow";
    if (native && b->layers[0].shape.rule < BLM__AGES && b->layers[0].shape.aux[0])
        return "a scalable filter's layer in one that does not grow";
    return NULL;
}

/* ---- keys ---- */

blm_status blm__single_add(struct blm__body *b, const struct blm__keys *k, uint8_t *fresh,
                           size_t *done)
{
    b->layers->engine->add(b, b->layers, k, fresh);
    *done = k->n;
    return BLM_OK;
}

size_t blm__single_check(const struct blm__body *b, const struct blm__keys *k, uint8_t *maybe)
{
    return b->layers->engine->check(b, b->layers, k, maybe);
}

bool blm__single_check_one(const struct blm__body *b, uint64_t h)
{
    return b->layers->engine->check_one(b, b->layers, h);
}

size_t blm__single_remove(struct blm__body *b, const struct blm__keys *k, uint8_t *gone)
{
    return b->layers->engine->remove(b, b->layers, k, gone);
}

uint64_t blm__single_room(const struct blm__body *b)
{
    (void)b;
    return UINT64_MAX;
}

blm_status blm__single_rate_at(const struct blm__body *b, uint64_t n, double *rate)
{
    *rate = blm__layer_model(&b->layers[0].shape, n);
    return BLM_OK;
}

/* ---- two filters ---- */

/* Words combined between two looks at the caller's progress. A stopped union has some of src's
 * keys: more "maybe", never a wrong "no"; a stopped intersection is as harmless. */
#define RUN ((uint64_t)1 << 20)

typedef void (*combine_fn)(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src,
                           uint64_t n);

static blm_status combine(struct blm__body *dst, const struct blm__body *src, combine_fn op,
                          blm_error *err)
{
    struct blm__layer       *d = &dst->layers[0];
    const struct blm__layer *s = &src->layers[0];
    blm__mark_all(d);
    for (uint64_t at = 0; at < d->word_count; at += RUN) {
        uint64_t n = d->word_count - at < RUN ? d->word_count - at : RUN;
        if (!blm__go_on(dst, at * 8, d->word_count * 8))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu of %llu bytes",
                             (unsigned long long)(at * 8), (unsigned long long)(d->word_count * 8));
        op(dst->kernel, d->words + at, s->words + at, n);
    }
    return BLM_OK;
}

/* A set united with itself is itself; counters united with themselves count twice. */
blm_status blm__single_unite(struct blm__body *dst, const struct blm__body *src, blm_error *err)
{
    const struct blm__engine *e = dst->layers[0].engine;
    if (dst == src && !e->remove)
        return BLM_OK;
    blm_status st = combine(dst, src, e->unite, err);
    if (st == BLM_OK)
        blm__layer_count(&dst->layers[0], (int64_t)blm__layer_items(&src->layers[0]));
    return st;
}

/* No one counted the common keys: the smaller count is the most there can be, unless there is no cell
 * left that one could be in. */
blm_status blm__single_intersect(struct blm__body *dst, const struct blm__body *src, blm_error *err)
{
    blm_status st = combine(dst, src, dst->layers[0].engine->intersect, err);
    if (st != BLM_OK)
        return st;
    struct blm__layer *l    = &dst->layers[0];
    uint64_t           mine = blm__layer_items(l), most = blm__layer_items(&src->layers[0]);
    if (blm__layer_ones(l, dst->kernel) == 0)
        most = 0;
    if (most < mine)
        blm__layer_recount(l, most);
    return BLM_OK;
}
