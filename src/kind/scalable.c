/* SPDX-License-Identifier: MIT */
/*
 * Scalable: layers, each `growth` times the size of the one before and with its rate `tightening`
 * times as high, so that the rates of any number of layers add up to no more than the promise:
 * p·(1 − r) · (1 + r + r² + …) = p.
 *
 * A key lives in exactly one layer: it is added to the newest only when no layer has it. Layers
 * are never merged or moved. A filter united into this one brings its layers along; body.active
 * keeps saying which layer is ours to fill.
 */
#include <string.h>

#include "bloomery/maths.h"
#include "core/error.h"
#include "core/kernel/layers.h"
#include "kind/kind.h"
#include "maths/plan.h"
#include "scheme/scheme.h"

#define FAR_BYTES (64u << 10) /* layers share the caches: past this one is fetched ahead */
/* Every question asks every layer, so layers are steep where that costs little memory: what was
 * planned for few keys stays small, the next layer is of 4 MB at most while growing by 16, and
 * where it grows by 4 of 64 MB; from there on they double. 3 layers for 10^7 keys and 16 bits a
 * key, where doubling from 65 536 takes 8 layers and 29 bits.
 * docs/maths.md, "Scalable", has the table. */
static const struct {
    uint64_t below; /* keys in the last layer */
    double   growth;
} steps[] = { { (uint64_t)1 << 15, 4 }, { BLM__FIRST_LAYER + 1, 16 }, { (uint64_t)1 << 23, 4 } };
#define GROWTH     2.0
#define TIGHTENING 0.85 /* with the textbook's other 0.5 the tenth layer has 1/1024 of the rate */

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

double blm__next_growth(const struct blm_body *b)
{
    if (b->growth != 0)
        return b->growth;
    if (b->young.on)
        return (double)blm__young_next(b->layers[0].shape.capacity) /
               (double)b->layers[0].shape.capacity;
    const struct blm_shape *last = &b->layers[b->active].shape;
    if (last->aux[0] == BLM__HALF && last->capacity > 0 && last->capacity < steps[0].below)
        return (double)BLM__FIRST_LAYER / (double)last->capacity; /* small by nobody's wish */
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (last->capacity < steps[i].below)
            return steps[i].growth;
    return GROWTH;
}

static blm_status plan_layer(const blm_options *o, blm_plan *out, blm_error *err)
{
    return o->layer_classic ? blm__plan_cells(o, 1, out, err) : blm__plan_layer(o, out, err);
}

/* The plan of a scalable filter is its first layer's, but for the rate. */
static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
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
    first.items = o->items ? o->items : may_be_young(o) ? blm__young_first() : BLM__FIRST_LAYER;
    first.rate  = o->rate * (may_be_young(o) ? 0.5 : 1 - tightening);
    s           = plan_layer(&first, out, err);
    if (s != BLM_OK)
        return s;
    out->asked = o->rate;
    return BLM_OK;
}

static void shape_of(const blm_plan *p, bool classic, struct blm_shape *out)
{
    out->kind      = classic ? BLM_CLASSIC : BLM_BLOCKED;
    out->engine    = classic ? BLM__CHAIN : BLM__LINES;
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

static void shape(const blm_options *o, const blm_plan *p, struct blm_body *b,
                  struct blm_shape *out)
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
    out->rate = o->rate * blm__first_share(out, b->tightening);
}

static blm_status next_shape(const struct blm_body *b, struct blm_shape *out, blm_error *err)
{
    const struct blm_shape *last = &b->layers[b->active].shape;
    *out                         = *last;
    if (last->scheme->grow)
        return last->scheme->grow(b, out, err);
    blm_options o    = BLM_OPTIONS_INIT;
    double      want = (double)last->capacity * blm__next_growth(b);
    bool        half = last->aux[0] == BLM__HALF;
    if (!(want < 9e18))
        return blm__fail(err, BLM_E_LIMIT, "the next layer would hold more than 9e18 keys");
    o.items = (uint64_t)want;
    if (o.items <= last->capacity)
        o.items = last->capacity + 1;
    /* Of what the layers so far have left of the promise, the same share as of all of it. A young
     * layer is made anew at its own rate. */
    o.rate = last->rate * (b->young.on ? 1 : half ? 1 - b->tightening : b->tightening);
    if (!b->young.on)
        out->aux[0] = 0;
    o.lines         = 0;
    o.layer_classic = last->engine == BLM__CHAIN;
    blm_plan   p    = { .size = sizeof p };
    blm_status s    = plan_layer(&o, &p, err);
    if (s != BLM_OK)
        return s;
    shape_of(&p, o.layer_classic, out);
    out->rate = o.rate;
    return BLM_OK;
}

/* The layer of a young filter, larger; or its youth is over. */
static void make_anew(struct blm_body *b)
{
    struct blm_shape s;
    if (next_shape(b, &s, NULL) != BLM_OK || !blm__young_grow(b, &s))
        blm__young_end(b);
}

blm_status blm__next_layer(const struct blm_body *b, struct blm_shape *out, blm_error *err)
{
    uint32_t most = blm__most_layers(b, b->layers[0].shape.scheme);
    if (b->layer_count >= most)
        return blm__fail(err, BLM_E_FULL, "%u layers are the most it may have", (unsigned)most);
    blm_status st = next_shape(b, out, err);
    if (st != BLM_OK)
        return st;
    uint64_t bytes = blm__shape_words(out) * 8;
    if (b->max_bytes && (bytes > b->max_bytes || blm__body_bytes(b) > b->max_bytes - bytes))
        return blm__fail(err, BLM_E_LIMIT, "the next layer takes %llu bytes, past the cap of %llu",
                         (unsigned long long)bytes, (unsigned long long)b->max_bytes);
    return BLM_OK;
}

static blm_status grow(struct blm_body *b, blm_error *err)
{
    struct blm_shape s;
    blm_status       st = blm__next_layer(b, &s, err);
    if (st != BLM_OK)
        return st;
    /* Said before, because a file publishes it together with the layer: a writer that is killed
     * right after must not leave a file that grows from the old layer again, at its rate. */
    uint32_t was = b->active;
    b->active    = b->layer_count;
    st           = b->store->add_layer(b, &s, err);
    if (st != BLM_OK)
        b->active = was;
    return st;
}

/* The keys of a batch that no layer has claimed yet, by their places in the batch. Hashes stand
 * side by side so that kernels can take them; digests are large, and stay where they are. */
struct rest {
    uint64_t          h[BLM__BATCH], step[BLM__BATCH];
    const blm_digest *d;     /* NULL: h */
    bool              steps; /* step too */
    uint16_t          at[BLM__BATCH];
    size_t            n;
};

static void rest_all(struct rest *r, const struct blm_batch *k)
{
    r->d     = k->d;
    r->n     = k->n;
    r->steps = k->step != NULL;
    if (!r->d)
        memcpy(r->h, k->h, k->n * sizeof *r->h);
    if (r->steps)
        memcpy(r->step, k->step, k->n * sizeof *r->step);
    for (size_t i = 0; i < k->n; i++)
        r->at[i] = (uint16_t)i;
}

static struct blm_batch rest_batch(const struct rest *r, size_t from, size_t n)
{
    struct blm_batch k = { .n = n };
    if (r->d) {
        k.d    = r->d;
        k.pick = r->at + from;
    } else {
        k.h    = r->h + from;
        k.step = r->steps ? r->step + from : NULL;
    }
    return k;
}

/* Drops those that `gone` marks, from `from` on. */
static void rest_drop(struct rest *r, size_t from, const uint8_t *gone)
{
    size_t to = from;
    for (size_t i = from; i < r->n; i++) {
        if (gone[i - from])
            continue;
        if (!r->d)
            r->h[to] = r->h[i];
        if (r->steps)
            r->step[to] = r->step[i];
        r->at[to++] = r->at[i];
    }
    r->n = to;
}

/* Claims, from `from` on, the keys that layer l has; sets maybe for them. */
static void claim(const struct blm_body *b, const struct blm_layer *l, struct rest *r, size_t from,
                  uint8_t *maybe)
{
    uint8_t has[BLM__BATCH];
    size_t  n = r->n - from;
    if (n == 0)
        return;
    struct blm_batch k = rest_batch(r, from, n);
    if (blm__bits_check(b, l, &k, has) == 0)
        return;
    if (maybe)
        for (size_t i = 0; i < n; i++)
            if (has[i])
                maybe[r->at[from + i]] = 1;
    rest_drop(r, from, has);
}

/* All layers but `without` (UINT32_MAX: all), those of one line a key first. False: they cannot be
 * asked at once, because one has no lines, or they are too many. */
static bool stack_of(const struct blm_body *b, uint32_t without, struct blm_stack *s)
{
    s->count = 0;
    if (b->layer_count > BLM__STACK)
        return false;
    for (int several = 0; several < 2; several++) {
        for (uint32_t i = b->layer_count; i-- > 0;) {
            const struct blm_layer *l = &b->layers[i];
            if (l->shape.engine != BLM__LINES)
                return false;
            if (i == without || (l->shape.lines > 1) != several)
                continue;
            s->layer[s->count++] =
                (struct blm_stacked){ l->words, l->shape.line_count, l->shape.probes,
                                      l->shape.lines, l->word_count * 8 > FAR_BYTES };
        }
        if (!several)
            s->single = s->count;
    }
    return true;
}

static size_t ask_stack(const struct blm_body *b, const struct blm_stack *s, const uint64_t *h,
                        size_t n, uint8_t *maybe)
{
    return (b->kernel->layers_check ? b->kernel->layers_check : blm__layers_check)(s, h, n, maybe);
}

static bool stale(const struct blm_body *b) { return b->store->stale && b->store->stale(b); }

static size_t check(const struct blm_body *b, const struct blm_batch *k, uint8_t *maybe)
{
    if (stale(b)) { /* a writer has added layers that we do not see: not knowing is maybe */
        memset(maybe, 1, k->n);
        return k->n;
    }
    if (b->layer_count == 1)
        return blm__bits_check(b, &b->layers[0], k, maybe);
    struct blm_stack s;
    if (k->h && k->n > 1 && stack_of(b, UINT32_MAX, &s))
        return ask_stack(b, &s, k->h, k->n, maybe);
    struct rest r;
    rest_all(&r, k);
    memset(maybe, 0, k->n);
    for (uint32_t i = b->layer_count; i-- > 0 && r.n > 0;) /* the newest has the most keys */
        claim(b, &b->layers[i], &r, 0, maybe);
    return k->n - r.n;
}

static bool check_one(const struct blm_body *b, uint64_t h)
{
    for (uint32_t i = b->layer_count; i-- > 0;)
        if (blm__bits_check_one(b, &b->layers[i], h))
            return true;
    return stale(b);
}

/* Claims what layers other than the one that adds go to have. */
static void claim_others(const struct blm_body *b, struct rest *r)
{
    struct blm_stack s;
    uint8_t          has[BLM__BATCH];
    if (!r->d && r->n > 1 && stack_of(b, b->active, &s)) {
        if (s.count > 0 && ask_stack(b, &s, r->h, r->n, has) > 0)
            rest_drop(r, 0, has);
        return;
    }
    for (uint32_t i = b->layer_count; i-- > 0;)
        if (i != b->active)
            claim(b, &b->layers[i], r, 0, NULL);
}

/* Keys that a layer still has room for. A young one goes by its hashes, which are all its keys,
 * those too that its bits cover by chance. */
static uint64_t room_of(const struct blm_body *b, const struct blm_layer *l)
{
    uint64_t keys = b->young.on ? blm__young_count(b) : blm__layer_items(l);
    return keys < l->shape.capacity ? l->shape.capacity - keys : 0;
}

/* All of a batch that the active layer has room for:
 * asked and added in one pass, where the kernel can. */
static bool add_at_once(struct blm_body *b, const struct blm_batch *k, uint8_t *fresh)
{
    struct blm_stack  s;
    struct blm_layer *mine  = &b->layers[b->active];
    size_t            count = 0;
    if (!k->h || k->step || k->n < 2 || !b->kernel->layers_add || room_of(b, mine) < k->n ||
        !stack_of(b, b->active, &s) || !b->kernel->layers_add(&s, mine, k->h, k->n, fresh, &count))
        return false;
    blm__layer_count(mine, (int64_t)count);
    return true;
}

/* A single key, where there is room. */
static bool add_alone(struct blm_body *b, const struct blm_batch *k, uint8_t *fresh)
{
    struct blm_layer *mine = &b->layers[b->active];
    if (!k->h || k->step || k->n != 1 || room_of(b, mine) < 1)
        return false;
    *fresh = 0;
    for (uint32_t i = b->layer_count; i-- > 0;)
        if (i != b->active && blm__bits_check_one(b, &b->layers[i], k->h[0]))
            return true;
    blm__bits_add(b, mine, k, fresh);
    return true;
}

static blm_status add(struct blm_body *b, const struct blm_batch *k, uint8_t *fresh, size_t *done)
{
    struct rest r;
    if (b->layer_count == 1 && room_of(b, &b->layers[0]) >= k->n) {
        blm__bits_add(b, &b->layers[0], k, fresh);
        if (b->young.on)
            blm__young_keep(b, k->h, k->n);
        *done = k->n;
        return BLM_OK;
    }
    if (add_alone(b, k, fresh) || add_at_once(b, k, fresh)) {
        *done = k->n;
        return BLM_OK;
    }
    rest_all(&r, k);
    memset(fresh, 0, k->n);
    claim_others(b, &r);
    size_t at = 0;
    while (at < r.n) {
        struct blm_layer *mine = &b->layers[b->active];
        uint64_t          room = room_of(b, mine);
        /* A full layer still says of its keys that it has them; only new ones need room. */
        if (room == 0 && b->young.on) {
            at += blm__young_known(b, r.h + at, r.n - at);
            if (at < r.n)
                make_anew(b);
            continue;
        }
        if (room == 0) {
            claim(b, mine, &r, at, NULL);
            blm_status s = at < r.n ? grow(b, NULL) : BLM_OK;
            if (s != BLM_OK) {
                *done = r.at[at]; /* every key before this one is in */
                return s;
            }
            continue;
        }
        size_t           n = r.n - at < room ? r.n - at : (size_t)room;
        uint8_t          is_new[BLM__BATCH];
        struct blm_batch some = rest_batch(&r, at, n);
        blm__bits_add(b, mine, &some, is_new);
        if (b->young.on)
            blm__young_keep(b, some.h, n);
        for (size_t i = 0; i < n; i++)
            fresh[r.at[at + i]] = is_new[i];
        at += n;
    }
    *done = k->n;
    return BLM_OK;
}

/* src's layers are copied behind ours. Rates add up: the promise becomes the sum of both. */
static blm_status unite(struct blm_body *dst, const struct blm_body *src, blm_error *err)
{
    if (dst == src) /* nothing it does not have */
        return BLM_OK;
    double sum = dst->rate + src->rate;
    if (sum > dst->rate_cap)
        return blm__fail(err, BLM_E_LIMIT,
                         "the union would promise a rate of %g, above the cap of %g: raise "
                         "rate_cap, or build one filter from both sets of keys",
                         sum, dst->rate_cap);
    uint32_t had = dst->layer_count, more = src->layer_count;
    uint32_t most = blm__most_layers(dst, dst->layers[0].shape.scheme);
    if (had + more > most)
        return blm__fail(err, BLM_E_FULL, "%u layers, where %u are the most it may have",
                         (unsigned)(had + more), (unsigned)most);
    blm__young_end(dst);
    double was = dst->rate;
    dst->rate  = sum; /* published with the first layer: never a promise that is too good */
    for (uint32_t i = 0; i < more; i++) {
        blm_status st = dst->store->add_layer(dst, &src->layers[i].shape, err);
        if (st != BLM_OK) {
            dst->rate = was;
            dst->store->drop_layers(dst, had, NULL);
            return st;
        }
        struct blm_layer *d = &dst->layers[had + i];
        blm__mark_all(d);
        memcpy(d->words, src->layers[i].words, (size_t)d->word_count * 8);
        blm__layer_count(d, (int64_t)blm__layer_items(&src->layers[i]));
    }
    return BLM_OK;
}

const struct blm_kind_ops blm__kind_scalable = {
    .name      = "scalable",
    .id        = BLM_SCALABLE,
    .shares    = false,
    .row       = { sizeof(blm_kind_row), BLM_SCALABLE, "scalable", "grows layer by layer",
                   BLM_CAN_ADD | BLM_CAN_GROW | BLM_CAN_UNION, 1, 0 },
    .plan      = plan,
    .shape     = shape,
    .add       = add,
    .check     = check,
    .check_one = check_one,
    .unite     = unite,
};
