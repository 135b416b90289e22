/* SPDX-License-Identifier: MIT */
/*
 * The modelled rate of a filter when it holds so many keys: that of the probes it really makes.
 *
 * A filter that grows is modelled as it fills: its layers one after the other, each to its
 * capacity, then the layers that it would grow. For that a body without bits is grown, by the rule
 * that grows the real one.
 */
#include <math.h>

#include "api/filter.h"
#include "bloomery/maths.h"

blm_model blm__shape_model(const struct blm_shape *s)
{
    switch (s->engine) {
    case BLM__LINES:
        return BLM_MODEL_LINES;
    case BLM__SHORT:
        return BLM_MODEL_COUNTERS;
    case BLM__CHAIN:
        return BLM_MODEL_INDEPENDENT;
    case BLM__POSITIONS:
        break;
    }
    return s->scheme->model;
}

static double layer_rate(const struct blm_shape *s, uint64_t n)
{
    if (n == 0 && s->probes > 0)
        return 0;
    double r = s->probes ? blm__shape_rate(s, n) : 1; /* of no probes: everything is "maybe" */
    return r < 1 ? r : 1;
}

blm_status blm_layer_rate_at(const blm_filter *f, uint32_t layer, uint64_t n, double *rate)
{
    if (layer >= f->body.layer_count || !rate)
        return BLM_E_ARGUMENT;
    *rate = layer_rate(&f->body.layers[layer].shape, n);
    return BLM_OK;
}

/* ---- a filter that grows ---- */

/* Layers in order, each full before the next. Returns the keys that are left over. */
static uint64_t fill(const struct blm_body *b, uint64_t n, double *rate)
{
    double absent = 0; /* log of the chance that no layer says "maybe" */
    for (uint32_t i = 0; i < b->layer_count; i++) {
        const struct blm_shape *s    = &b->layers[i].shape;
        uint64_t                some = n < s->capacity ? n : s->capacity;
        absent += log1p(-layer_rate(s, some));
        n -= some;
    }
    *rate = -expm1(absent);
    return n;
}

static uint64_t capacity_of(const struct blm_body *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->layer_count; i++)
        sum += b->layers[i].shape.capacity;
    return sum;
}

/* One more layer, or, of a young filter, a larger one in its place. */
static blm_status grow(struct blm_body *b)
{
    struct blm_shape s;
    blm_status       st = blm__next_layer(b, &s, NULL);
    if (st != BLM_OK)
        return st;
    struct blm_layer *l = b->young.on ? &b->layers[0] : blm__body_room(b);
    if (!l)
        return BLM_E_MEMORY;
    l->shape      = s;
    l->word_count = blm__shape_words(&s);
    if (b->young.on)
        b->young.on = blm__young_next(s.capacity) > 0;
    else
        b->active = b->layer_count++;
    return BLM_OK;
}

static blm_status grown(const blm_filter *f, uint64_t n, double *rate)
{
    struct blm_body b  = f->body; /* of which only the shapes are read */
    size_t          sz = b.layer_count * sizeof *b.layers;
    b.layers           = blm__alloc(b.alloc, sz);
    b.layer_room       = b.layer_count;
    if (!b.layers)
        return BLM_E_MEMORY;
    memcpy(b.layers, f->body.layers, sz);
    blm_status st = BLM_OK;
    while (st == BLM_OK && capacity_of(&b) < n)
        st = grow(&b);
    if (st == BLM_OK)
        fill(&b, n, rate);
    blm__free(b.alloc, b.layers, b.layer_room * sizeof *b.layers);
    return st;
}

blm_status blm_rate_at(const blm_filter *f, uint64_t n, double *rate)
{
    if (!rate)
        return BLM_E_ARGUMENT;
    if (!(f->kind->row.can & BLM_CAN_GROW)) {
        *rate = layer_rate(&f->body.layers[0].shape, n);
        return BLM_OK;
    }
    return fill(&f->body, n, rate) > 0 ? grown(f, n, rate) : BLM_OK;
}
