/* SPDX-License-Identifier: MIT */
/*
 * Cuckoo: each add puts one fingerprint into a cell, each remove takes one out. So a layer can be
 * full: then the filter gets another layer if it was asked to grow, and else the add fails and
 * nothing has changed.
 *
 * A key goes into the newest layer that has a free cell for it, and where none has, into the newest,
 * which moves others. It is looked for, and removed, newest layer first.
 *
 * A remove may take another key's fingerprint, if the filter cannot tell the two apart. That does no
 * harm as long as each then answers for the other. So all layers have fingerprints of one length, and
 * a larger one is made of parts like the first: keys that are the same in a layer are the same in
 * all that are older. The rates of the layers add up, so each has a sixteenth of the promise, four
 * bits of a fingerprint, and there are sixteen at most.
 *
 * engine/buckets.c has the native layers; those of RedisBloom's CF are engine/slots.c.
 */
#include <math.h>
#include <string.h>

#include "kind/kind.h"
#include "maths/plan.h"

#define LAYERS 16u /* of a native filter that grows */

/* ---- planning ---- */

/* A power of two. */
static bool growth_fits(double g)
{
    int e;
    return g > 1 && g <= 1024 && frexp(g, &e) == 0.5;
}

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err);

static blm_status again(const void *ctx, const blm_options *o, blm_plan *out)
{
    (void)ctx;
    return plan(o, out, NULL);
}

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    blm_options first = *o;
    blm_status  st    = BLM_OK;
    if (o->growth != 0 && !growth_fits(o->growth))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "growth of a cuckoo filter must be 2, 4, 8 … 1024, not %g", o->growth);
    if (o->growth != 0 && o->flags & BLM_SHARED)
        return blm__fail(err, BLM_E_UNSUPPORTED, BLM__GROWS_ALONE);
    if (o->growth != 0 && !(o->items && o->rate > 0 && !o->bits && !o->memory))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "a cuckoo filter that grows is planned by rate, and items for its first "
                         "layer");
    if (o->growth != 0 && !(o->rate < 1))
        return blm__fail(err, BLM_E_ARGUMENT, "rate must be between 0 and 1, not %g", o->rate);
    if (o->growth != 0) {
        first.rate /= LAYERS;
        st = blm__want_fingerprints(o->items, first.rate, err);
    }
    if (st == BLM_OK && o->growth != 0)
        st = blm__want_hashes(o, 1.0 / LAYERS, again, NULL, err);
    if (st == BLM_OK)
        st = blm__plan_buckets(&first, out, err);
    if (st == BLM_OK && o->growth != 0)
        out->asked = o->rate;
    return st;
}

static void shape(const blm_options *o, const blm_plan *p, struct blm__body *b,
                  struct blm__shape *out)
{
    out->rule       = BLM__BUCKETS;
    out->bits       = p->bits;
    out->line_count = p->bits / BLM__BUCKET;
    out->probes     = p->probes;
    out->cell_bits  = p->lines;
    out->capacity   = p->items;
    b->growth       = o->growth;
    if (o->growth != 0)
        out->rate = b->rate / LAYERS;
}

static void like(struct blm__body *b, const struct blm__body *other, const struct blm__shape *first)
{
    (void)first;
    b->growth = other->growth;
}

static const char *fault(const struct blm__body *b, bool native)
{
    bool grows = b->growth != 0;
    if (grows && native && !growth_fits(b->growth))
        return "growth is not a power of two";
    if (b->tightening != 0 || b->rate_cap != 0)
        return "a cuckoo filter does not tighten its rate, and has no unions";
    if (!grows && b->layer_count != 1)
        return "more than one layer in a filter that does not grow";
    if (b->active != b->layer_count - 1)
        return "the layer that adds go to is not the newest";
    for (uint32_t i = 0; i < b->layer_count; i++)
        if (!blm__engine_of(&b->layers[i].shape)->place)
            return "its layer is of another kind";
        else if (!native && i > 0 &&
                 (double)b->layers[i].shape.bits != (double)b->layers[i - 1].shape.bits * b->growth)
            return "its layers do not grow as it says";
        else if (native && (b->layers[i].shape.line_count != b->layers[0].shape.line_count ||
                            b->layers[i].shape.cell_bits != b->layers[0].shape.cell_bits))
            return "its layers are not of equal parts";
    return NULL;
}

/* ---- growing ---- */

/* The layer after `count` of them, of which this is the last. */
static blm_status next_shape(const struct blm__body *b, const struct blm__shape *last,
                             uint32_t count, struct blm__shape *out)
{
    uint64_t g = (uint64_t)b->growth;
    *out       = *last;
    if (g == 0 || count >= blm__most_layers(b, b->scheme))
        return BLM_E_FULL;
    if (last->scheme->grow)
        return last->scheme->grow(b, out, NULL);
    if (count >= LAYERS)
        return BLM_E_FULL;
    if (last->bits > BLM__MAX_BITS / last->cell_bits / g)
        return BLM_E_LIMIT;
    out->bits *= g;
    out->capacity *= g;
    return BLM_OK;
}

static blm_status grow(struct blm__body *b)
{
    struct blm__shape s;
    blm_status        st = next_shape(b, &b->layers[b->active].shape, b->layer_count, &s);
    if (st != BLM_OK)
        return st;
    uint32_t was = b->active;
    b->active    = b->layer_count; /* before, because a file publishes it together with the layer */
    st           = b->store->add_layer(b, &s, NULL);
    if (st != BLM_OK)
        b->active = was;
    return st;
}

/* ---- keys ---- */

static uint64_t copies_in(const struct blm__body *b, const struct blm__keys *k, size_t i)
{
    uint64_t sum = 0;
    for (uint32_t n = b->layer_count; n-- > 0;)
        sum += b->layers[n].engine->copies(b, &b->layers[n], k, i);
    return sum;
}

static bool place_in(struct blm__body *b, uint32_t layer, const struct blm__keys *k, size_t i,
                     bool move)
{
    struct blm__layer *l = &b->layers[layer];
    if (!l->engine->place(b, l, k, i, move))
        return false;
    blm__layer_count(l, 1);
    return true;
}

static blm_status add_one(struct blm__body *b, const struct blm__keys *k, size_t i, uint8_t *fresh)
{
    uint64_t had  = copies_in(b, k, i);
    uint32_t most = b->layers[0].engine->most_copies;
    if (most && had >= (uint64_t)most * b->layer_count)
        return BLM_E_FULL; /* of this one key: more layers would not help for long */
    *fresh = had == 0;
    for (uint32_t n = b->layer_count; n-- > 0;)
        if (place_in(b, n, k, i, false))
            return BLM_OK;
    if (place_in(b, b->active, k, i, true))
        return BLM_OK;
    if (blm__save_failed(b))
        return BLM_E_IO;
    blm_status st = grow(b);
    return st != BLM_OK ? st : place_in(b, b->active, k, i, true) ? BLM_OK : BLM_E_FULL;
}

/* One thread at a time: a fingerprint that moves has no lock of its own. Checks go on meanwhile. */
static blm_status add(struct blm__body *b, const struct blm__keys *k, uint8_t *fresh, size_t *done)
{
    blm_status st = BLM_OK;
    size_t     i  = 0;
    blm__adds_stop(b);
    if (b->layer_count == 1 && b->layers[0].engine->place_many) {
        i = b->layers[0].engine->place_many(b, b->layers, k, fresh);
        blm__layer_count(b->layers, (int64_t)i);
    } else {
        b->layers[b->active].engine->fetch(&b->layers[b->active], k);
    }
    while (st == BLM_OK && i < k->n) {
        st = add_one(b, k, i, &fresh[i]);
        i += st == BLM_OK;
    }
    blm__adds_go_on(b);
    *done = i;
    return st;
}

static bool stale(const struct blm__body *b)
{
    return (b->growth != 0 || b->snapshot) && b->store->stale && b->store->stale(b);
}

static size_t check(const struct blm__body *b, const struct blm__keys *k, uint8_t *maybe)
{
    uint8_t                  more[BLM__BATCH];
    uint32_t                 at   = b->layer_count - 1;
    const struct blm__layer *l    = &b->layers[at];
    size_t                   hits = l->engine->check(b, l, k, maybe);
    while (at-- > 0 && hits < k->n) {
        l = &b->layers[at];
        l->engine->check(b, l, k, more);
        for (size_t i = 0; i < k->n; i++) {
            hits += more[i] & !maybe[i];
            maybe[i] |= more[i];
        }
    }
    if (hits < k->n && stale(b)) { /* a writer has changed what we do not see: nobody knows */
        memset(maybe, 1, k->n);
        hits = k->n;
    }
    return hits;
}

static bool check_one(const struct blm__body *b, uint64_t h)
{
    for (uint32_t i = b->layer_count; i-- > 0;)
        if (b->layers[i].engine->check_one(b, &b->layers[i], h))
            return true;
    return stale(b);
}

static bool remove_one(struct blm__body *b, const struct blm__keys *k, size_t i)
{
    for (uint32_t n = b->layer_count; n-- > 0;) {
        struct blm__layer *l = &b->layers[n];
        if (!l->engine->take(b, l, k, i))
            continue;
        blm__layer_uncount(l, 1);
        if (l->engine->removed)
            l->engine->removed(b);
        return true;
    }
    return false;
}

static size_t remove_keys(struct blm__body *b, const struct blm__keys *k, uint8_t *gone)
{
    size_t sum = 0;
    b->layers[b->active].engine->fetch(&b->layers[b->active], k);
    for (size_t i = 0; i < k->n; i++)
        sum += gone[i] = remove_one(b, k, i);
    return sum;
}

static uint64_t room(const struct blm__body *b)
{
    (void)b;
    return 0; /* adds may fail, so none goes past the kind */
}

/* Layers that are there, and those that would come, each to its capacity. The last that there can be
 * takes as many as it has cells. */
static blm_status rate_at(const struct blm__body *b, uint64_t n, double *rate)
{
    struct blm__shape s      = b->layers[0].shape, next;
    double            absent = 0; /* log of the chance that no layer says "maybe" */
    for (uint32_t i = 1;; i++, s = next) {
        blm_status st = BLM_OK;
        if (i < b->layer_count)
            next = b->layers[i].shape;
        else
            st = next_shape(b, &s, i, &next);
        uint64_t most = st == BLM_OK && s.capacity ? s.capacity : s.bits;
        uint64_t some = n < most ? n : most;
        absent += log1p(-blm__layer_model(&s, some));
        n -= some;
        if (n == 0)
            break;
        if (st != BLM_OK)
            return st;
    }
    *rate = -expm1(absent);
    return BLM_OK;
}

const struct blm__kind blm__kind_cuckoo = {
    .row       = { sizeof(blm_kind_row), BLM_CUCKOO, "cuckoo",
                   "fingerprints, so keys can be removed; may be full",
                   BLM_CAN_ADD | BLM_CAN_REMOVE | BLM_CAN_SHARE | BLM_CAN_FILL_UP, 0, 0 },
    .plan      = plan,
    .shape     = shape,
    .like      = like,
    .fault     = fault,
    .add       = add,
    .check     = check,
    .check_one = check_one,
    .remove    = remove_keys,
    .room      = room,
    .rate_at   = rate_at,
};
