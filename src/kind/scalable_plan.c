/* SPDX-License-Identifier: MIT */
/* How a scalable filter is planned, how it grows, and what its rate is when it holds so many keys. */
#include <math.h>
#include <string.h>

#include "kind/scalable.h"
#include "kind/young.h"
#include "maths/plan.h"

/* Keys of the first layer where nobody said, and the filter grows by layers. */
#define FIRST_LAYER ((uint64_t)1 << 17)
/* Every question asks every layer, so layers are steep where that costs little memory: what was
 * planned for few keys stays small, the next layer is of 4 MB at most while growing by 16, and
 * where it grows by 4 of 64 MB; from there on they double. 3 layers for 10^7 keys and 16 bits a
 * key, where doubling from 65 536 takes 8 layers and 29 bits.
 * docs/maths.md, "Scalable", has the table. */
static const struct {
    uint64_t below; /* keys in the last layer */
    double   growth;
} steps[] = { { (uint64_t)1 << 15, 4 }, { FIRST_LAYER + 1, 16 }, { (uint64_t)1 << 23, 4 } };
#define GROWTH     2.0
#define TIGHTENING 0.85 /* with the textbook's other 0.5 the tenth layer has 1/1024 of the rate */

/* The share of the filter's rate that its first layer has: 1 − tightening, or half for one that is
 * or was young. */
static double first_share(const struct blm__shape *first, double tightening)
{
    return first->aux[0] == BLM__HALF ? 0.5 : 1 - tightening;
}

/* What the options say of growth, checked. */
static blm_status growth_of(const blm_options *o, double *growth, double *tightening,
                            blm_error *err)
{
    *growth     = o->growth;
    *tightening = o->tightening != 0 ? o->tightening : TIGHTENING;
    if (*growth != 0 && !(*growth > 1 && *growth <= 1024))
        return blm__fail(err, BLM_E_ARGUMENT, "growth must be above 1 and at most 1024, not %g",
                         *growth);
    if (!(*tightening > 0 && *tightening < 1))
        return blm__fail(err, BLM_E_ARGUMENT, "tightening must be between 0 and 1, not %g",
                         *tightening);
    return BLM_OK;
}

/* Told nothing of size or growth, so that the filter may begin young. */
static bool may_be_young(const blm_options *o)
{
    return o->items == 0 && o->growth == 0 && o->tightening == 0 && !o->layer_classic;
}

static double next_growth(const struct blm__body *b)
{
    if (b->growth != 0)
        return b->growth;
    if (blm__young(b))
        return (double)blm__young_next(b->layers[0].shape.capacity) /
               (double)b->layers[0].shape.capacity;
    const struct blm__shape *last = &b->layers[b->active].shape;
    if (last->aux[0] == BLM__HALF && last->capacity > 0 && last->capacity < steps[0].below)
        return (double)FIRST_LAYER / (double)last->capacity; /* small by nobody's wish */
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (last->capacity < steps[i].below)
            return steps[i].growth;
    return GROWTH;
}

static blm_status plan_layer(const blm_options *o, blm_plan *out, blm_error *err)
{
    return o->layer_classic ? blm__plan_cells(o, 1, out, err) : blm__plan_layer(o, out, err);
}

static blm_status again(const void *ctx, const blm_options *o, blm_plan *out)
{
    (void)ctx;
    return blm__scalable_plan(o, out, NULL);
}

/* The plan of a scalable filter is its first layer's, but for the rate. */
blm_status blm__scalable_plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    double     growth, tightening;
    blm_status s = growth_of(o, &growth, &tightening, err);
    if (s != BLM_OK)
        return s;
    if (o->bits || o->probes || o->memory)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "a scalable filter is planned by rate, and items for its first layer; "
                         "bits, probes and memory do not apply");
    if (!(o->rate > 0 && o->rate < 1))
        return blm__fail(err, BLM_E_ARGUMENT, "rate must be between 0 and 1, not %g", o->rate);
    if (!(o->rate_cap >= 0 && o->rate_cap < 1) || (o->rate_cap > 0 && o->rate_cap < o->rate))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "rate_cap must be at least the rate and below 1, not %g", o->rate_cap);
    blm_options first = *o;
    double      share = may_be_young(o) ? 0.5 : 1 - tightening;
    first.items       = o->items ? o->items : may_be_young(o) ? blm__young_first() : FIRST_LAYER;
    first.rate        = o->rate * share;
    s                 = o->items ? blm__want_hashes(o, share, again, NULL, err) : BLM_OK;
    if (s == BLM_OK)
        s = plan_layer(&first, out, err);
    if (s != BLM_OK)
        return s;
    out->asked = o->rate;
    return BLM_OK;
}

static void shape_of(const blm_plan *p, bool classic, struct blm__shape *out)
{
    out->kind      = classic ? BLM_CLASSIC : BLM_BLOCKED;
    out->rule      = classic ? BLM__CHAIN : BLM__LINES;
    out->bits      = p->bits;
    out->cell_bits = 1;
    out->capacity  = p->items;
    if (classic) {
        out->probes = p->probes;
    } else {
        out->line_count = p->bits / BLM__LINE_BITS;
        out->lines      = p->lines;
        out->probes     = p->probes / p->lines;
    }
}

void blm__scalable_shape(const blm_options *o, const blm_plan *p, struct blm__body *b,
                         struct blm__shape *out)
{
    growth_of(o, &b->growth, &b->tightening, NULL); /* checked by plan */
    b->rate     = o->rate;
    b->rate_cap = o->rate_cap > 0 ? o->rate_cap : o->rate < 0.05 ? o->rate * 10 : 0.5;
    if (b->rate_cap < b->rate)
        b->rate_cap = b->rate;
    shape_of(p, o->layer_classic, out);
    if (may_be_young(o)) {
        out->aux[0] = BLM__HALF;
        blm__young_begin(b);
    }
    out->rate = o->rate * first_share(out, b->tightening);
}

blm_status blm__scalable_next(const struct blm__body *b, struct blm__shape *out, blm_error *err)
{
    const struct blm__shape *last = &b->layers[b->active].shape;
    *out                          = *last;
    if (last->scheme->grow)
        return last->scheme->grow(b, out, err);
    blm_options o    = BLM_OPTIONS_INIT;
    double      want = (double)last->capacity * next_growth(b);
    bool        half = last->aux[0] == BLM__HALF;
    if (!(want < 9e18))
        return blm__fail(err, BLM_E_LIMIT, "the next layer would hold more than 9e18 keys");
    o.items = (uint64_t)want;
    if (o.items <= last->capacity)
        o.items = last->capacity + 1;
    /* Of what the layers so far have left of the promise, the same share as of all of it. A young
     * layer is made anew at its own rate. */
    o.rate = last->rate * (blm__young(b) ? 1 : half ? 1 - b->tightening : b->tightening);
    if (!(o.rate > 0))
        return blm__fail(err, BLM_E_LIMIT, "the rate of the next layer is too small for a number");
    if (!blm__young(b))
        out->aux[0] = 0;
    o.lines         = 0;
    o.layer_classic = last->rule == BLM__CHAIN;
    blm_plan   p    = { .size = sizeof p };
    blm_status s    = plan_layer(&o, &p, err);
    if (s != BLM_OK)
        return s;
    shape_of(&p, o.layer_classic, out);
    out->rate = o.rate;
    return BLM_OK;
}

blm_status blm__scalable_next_layer(const struct blm__body *b, struct blm__shape *out,
                                    blm_error *err)
{
    uint32_t most = blm__most_layers(b, b->layers[0].shape.scheme);
    if (b->layer_count >= most)
        return blm__fail(err, BLM_E_FULL, "%u layers are the most it may have", (unsigned)most);
    blm_status st = blm__scalable_next(b, out, err);
    if (st != BLM_OK)
        return st;
    uint64_t bytes = blm__shape_words(out) * 8;
    if (b->max_bytes && (bytes > b->max_bytes || blm__body_bytes(b) > b->max_bytes - bytes))
        return blm__fail(err, BLM_E_LIMIT,
                         "the next layer takes %llu bytes, more than the limit of %llu",
                         (unsigned long long)bytes, (unsigned long long)b->max_bytes);
    return BLM_OK;
}

/* Layers of a file stay where they are: it is never young. */
void blm__scalable_in_file(blm_options *o)
{
    if (o->items == 0)
        o->items = FIRST_LAYER;
}

double blm__scalable_rate(const struct blm__body *b, const struct blm__shape *first)
{
    return first->scheme->native ? first->rate / first_share(first, b->tightening) : b->rate;
}

void blm__scalable_like(struct blm__body *b, const struct blm__body *other,
                        const struct blm__shape *first)
{
    b->growth     = other->growth;
    b->tightening = other->tightening;
    b->rate_cap   = other->rate_cap;
    if (first->rate > 0)
        b->rate = blm__scalable_rate(b, first);
}

double blm__scalable_growth(const struct blm__body *b)
{
    return b->layers[0].shape.scheme->native ? next_growth(b) : b->growth;
}

/* ---- the rate of a filter as it fills ---- */

/* Layers in order, each full before the next. Returns the keys that are left over. */
static uint64_t fill(const struct blm__body *b, uint64_t n, double *rate)
{
    double absent = 0; /* log of the chance that no layer says "maybe" */
    for (uint32_t i = 0; i < b->layer_count; i++) {
        const struct blm__shape *s    = &b->layers[i].shape;
        uint64_t                 some = n < s->capacity ? n : s->capacity;
        absent += log1p(-blm__layer_model(s, some));
        n -= some;
    }
    *rate = -expm1(absent);
    return n;
}

static uint64_t capacity_of(const struct blm__body *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->layer_count; i++)
        sum += b->layers[i].shape.capacity;
    return sum;
}

/* One more layer, or, of a young filter, a larger one in its place. */
static blm_status grow(struct blm__body *b)
{
    struct blm__shape s;
    blm_status        st = BLM_OK;
    if (blm__young(b) && (blm__scalable_next(b, &s, NULL) != BLM_OK ||
                          !blm__young_may_take(b, blm__shape_words(&s) * 8)))
        b->state = NULL; /* its youth ends here; the state is its owner's to free */
    if (!blm__young(b))
        st = blm__scalable_next_layer(b, &s, NULL);
    if (st != BLM_OK)
        return st;
    struct blm__layer *l = blm__young(b) ? &b->layers[0] : blm__body_room(b);
    if (!l)
        return BLM_E_MEMORY;
    l->shape      = s;
    l->word_count = blm__shape_words(&s);
    if (!blm__young(b))
        b->active = b->layer_count++;
    else if (blm__young_next(s.capacity) == 0)
        b->state = NULL;
    return BLM_OK;
}

static blm_status grown(const struct blm__body *real, uint64_t n, double *rate)
{
    struct blm__body b  = *real; /* of which only the shapes are read */
    size_t           sz = b.layer_count * sizeof *b.layers;
    b.layers            = blm__alloc(b.alloc, sz);
    b.layer_room        = b.layer_count;
    if (!b.layers)
        return BLM_E_MEMORY;
    memcpy(b.layers, real->layers, sz);
    blm_status st = BLM_OK;
    while (st == BLM_OK && capacity_of(&b) < n)
        st = grow(&b);
    if (st == BLM_OK)
        fill(&b, n, rate);
    blm__free(b.alloc, b.layers, b.layer_room * sizeof *b.layers);
    return st;
}

/* As it fills: its layers one after the other, each to its capacity, then the layers that it would
 * grow. For that a body without bits is grown, by the rule that grows the real one. */
blm_status blm__scalable_rate_at(const struct blm__body *b, uint64_t n, double *rate)
{
    return fill(b, n, rate) > 0 ? grown(b, n, rate) : BLM_OK;
}
