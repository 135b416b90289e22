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
#include <math.h>
#include <string.h>

#include "core/kernel/layers.h"
#include "core/kernel/steps.h"
#include "engine/shape.h"
#include "kind/scalable.h"
#include "kind/young.h"

#define FAR_BYTES (64u << 10) /* layers share the caches: past this one is fetched ahead */

/* The layer of a young filter, larger; or its youth is over. */
static void rebuild(struct blm__body *b)
{
    struct blm__shape s;
    if (blm__scalable_next(b, &s, NULL) != BLM_OK || !blm__young_grow(b, &s))
        blm__young_end(b);
}

static blm_status grow(struct blm__body *b, blm_error *err)
{
    struct blm__shape s;
    blm_status        st = blm__scalable_next_layer(b, &s, err);
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

static void rest_all(struct rest *r, const struct blm__keys *k)
{
    r->d     = k->digests;
    r->n     = k->n;
    r->steps = k->steps != NULL;
    if (!r->d)
        memcpy(r->h, k->hashes, k->n * sizeof *r->h);
    if (r->steps)
        memcpy(r->step, k->steps, k->n * sizeof *r->step);
    for (size_t i = 0; i < k->n; i++)
        r->at[i] = (uint16_t)i;
}

static struct blm__keys rest_batch(const struct rest *r, size_t from, size_t n)
{
    struct blm__keys k = { .n = n };
    if (r->d) {
        k.digests = r->d;
        k.pick    = r->at + from;
    } else {
        k.hashes = r->h + from;
        k.steps  = r->steps ? r->step + from : NULL;
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
static void claim(const struct blm__body *b, const struct blm__layer *l, struct rest *r,
                  size_t from, uint8_t *maybe)
{
    uint8_t has[BLM__BATCH];
    size_t  n = r->n - from;
    if (n == 0)
        return;
    struct blm__keys k = rest_batch(r, from, n);
    if (l->engine->check(b, l, &k, has) == 0)
        return;
    if (maybe)
        for (size_t i = 0; i < n; i++)
            if (has[i])
                maybe[r->at[from + i]] = 1;
    rest_drop(r, from, has);
}

/* All layers but `without` (UINT32_MAX: all), those of one line a key first. False: they cannot be
 * asked at once, because one has no lines, or they are too many. */
static bool stack_of(const struct blm__body *b, uint32_t without, struct blm__stack *s)
{
    s->count = 0;
    if (b->layer_count > BLM__STACK)
        return false;
    for (int several = 0; several < 2; several++) {
        for (uint32_t i = b->layer_count; i-- > 0;) {
            const struct blm__layer *l = &b->layers[i];
            if (l->shape.rule != BLM__LINES)
                return false;
            if (i == without || (l->shape.lines > 1) != several)
                continue;
            s->layer[s->count++] =
                (struct blm__stacked){ l->words, l->shape.line_count, l->shape.probes,
                                       l->shape.lines, l->word_count * 8 > FAR_BYTES };
        }
        if (!several)
            s->single = s->count;
    }
    return true;
}

static bool stale(const struct blm__body *b) { return b->store->stale && b->store->stale(b); }

static size_t check(const struct blm__body *b, const struct blm__keys *k, uint8_t *maybe)
{
    if (stale(b)) { /* a writer has added layers that we do not see: not knowing is maybe */
        memset(maybe, 1, k->n);
        return k->n;
    }
    if (b->layer_count == 1)
        return b->layers->engine->check(b, b->layers, k, maybe);
    struct blm__stack s;
    if (k->steps && k->n > 1)
        return b->kernel->stepper->check_chain(b->layers, b->layer_count, UINT32_MAX, k->hashes,
                                               k->steps, k->n, maybe);
    if (k->n > 1 && stack_of(b, UINT32_MAX, &s))
        return b->kernel->layers_check(&s, k->hashes, k->n, maybe);
    struct rest r;
    rest_all(&r, k);
    memset(maybe, 0, k->n);
    for (uint32_t i = b->layer_count; i-- > 0 && r.n > 0;) /* the newest has the most keys */
        claim(b, &b->layers[i], &r, 0, maybe);
    return k->n - r.n;
}

static bool check_one(const struct blm__body *b, uint64_t h)
{
    for (uint32_t i = b->layer_count; i-- > 0;)
        if (b->layers[i].engine->check_one(b, &b->layers[i], h))
            return true;
    return stale(b);
}

/* Claims what layers other than the one that adds go to have. */
static void claim_others(const struct blm__body *b, struct rest *r)
{
    struct blm__stack s;
    uint8_t           has[BLM__BATCH];
    if (r->steps && r->n > 1) {
        if (b->kernel->stepper->check_chain(b->layers, b->layer_count, b->active, r->h, r->step,
                                            r->n, has) > 0)
            rest_drop(r, 0, has);
        return;
    }
    if (r->n > 1 && stack_of(b, b->active, &s)) {
        if (s.count > 0 && b->kernel->layers_check(&s, r->h, r->n, has) > 0)
            rest_drop(r, 0, has);
        return;
    }
    for (uint32_t i = b->layer_count; i-- > 0;)
        if (i != b->active)
            claim(b, &b->layers[i], r, 0, NULL);
}

/* Keys that a layer still has room for. A young one goes by its hashes, which are all its keys,
 * those too that its bits cover by chance. */
static uint64_t room_of(const struct blm__body *b, const struct blm__layer *l)
{
    uint64_t keys = blm__young(b) ? blm__young_count(b) : blm__layer_items(l);
    return keys < l->shape.capacity ? l->shape.capacity - keys : 0;
}

/* All of a batch that the active layer has room for, asked and added in one pass. */
static bool add_at_once(struct blm__body *b, const struct blm__keys *k, uint8_t *fresh)
{
    struct blm__stack  s;
    struct blm__layer *mine = &b->layers[b->active];
    size_t             count;
    if (k->n < 2 || room_of(b, mine) < k->n)
        return false;
    if (k->steps && !b->shared && !mine->marks)
        count = b->kernel->stepper->add_chain(b->layers, b->layer_count, b->active, k->hashes,
                                              k->steps, k->n, fresh);
    else if (stack_of(b, b->active, &s))
        count = b->kernel->layers_add(&s, mine, k->hashes, k->n, fresh);
    else
        return false;
    blm__layer_count(mine, (int64_t)count);
    return true;
}

static bool has_key(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k)
{
    uint8_t maybe;
    return l->engine->native ? l->engine->check_one(b, l, k->hashes[0])
                             : l->engine->check(b, l, k, &maybe) != 0;
}

/* A single key, where there is room. */
static bool add_alone(struct blm__body *b, const struct blm__keys *k, uint8_t *fresh)
{
    struct blm__layer *mine = &b->layers[b->active];
    if (k->n != 1 || room_of(b, mine) < 1)
        return false;
    *fresh = 0;
    for (uint32_t i = b->layer_count; i-- > 0;)
        if (i != b->active && has_key(b, &b->layers[i], k))
            return true;
    mine->engine->add(b, mine, k, fresh);
    return true;
}

static blm_status add(struct blm__body *b, const struct blm__keys *k, uint8_t *fresh, size_t *done)
{
    struct rest r;
    if (b->layer_count == 1 && room_of(b, &b->layers[0]) >= k->n) {
        b->layers->engine->add(b, b->layers, k, fresh);
        if (blm__young(b))
            blm__young_keep(b, k->hashes, k->n);
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
        struct blm__layer *mine = &b->layers[b->active];
        uint64_t           room = room_of(b, mine);
        /* A full layer still says of its keys that it has them; only new ones need room. */
        if (room == 0 && blm__young(b)) {
            at += blm__young_known(b, r.h + at, r.n - at);
            if (at < r.n)
                rebuild(b);
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
        struct blm__keys some = rest_batch(&r, at, n);
        mine->engine->add(b, mine, &some, is_new);
        if (blm__young(b))
            blm__young_keep(b, some.hashes, n);
        for (size_t i = 0; i < n; i++)
            fresh[r.at[at + i]] = is_new[i];
        at += n;
    }
    *done = k->n;
    return BLM_OK;
}

/* src's layers are copied behind ours. Rates add up: the promise becomes the sum of both. */
static blm_status unite(struct blm__body *dst, const struct blm__body *src, blm_error *err)
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
        struct blm__layer *d = &dst->layers[had + i];
        blm__mark_all(d);
        memcpy(d->words, src->layers[i].words, (size_t)d->word_count * 8);
        blm__layer_count(d, (int64_t)blm__layer_items(&src->layers[i]));
    }
    return BLM_OK;
}

/* ---- the kind ---- */

static const char *fault(const struct blm__body *b, bool native)
{
    /* Other systems' chains may not grow at all, or by equal steps. */
    if (!(b->growth == 0 || (native ? b->growth > 1 : b->growth > 0)) || isinf(b->growth))
        return "growth is not above 1";
    if (!(native ? b->tightening > 0 && b->tightening < 1
                 : b->tightening >= 0 && b->tightening <= 1))
        return "tightening is not between 0 and 1";
    if (!blm__rate_valid(b->rate_cap))
        return "a cap of the rate that is not between 0 and 1";
    if (b->active >= b->layer_count)
        return "the layer that adds go to is not there";
    for (uint32_t i = 0; i < b->layer_count; i++)
        if (b->layers[i].shape.kind != BLM_CLASSIC && b->layers[i].shape.kind != BLM_BLOCKED)
            return "a scalable filter has layers of plain bits, classic or blocked";
    return NULL;
}

static uint64_t room_now(const struct blm__body *b)
{
    return blm__young(b) ? 0 : room_of(b, b->layers);
}

static void clear(struct blm__body *b, bool dropped)
{
    if (dropped)
        b->rate = blm__scalable_rate(b, &b->layers[0].shape);
    blm__young_clear(b);
}

const struct blm__kind blm__kind_scalable = {
    .row       = { sizeof(blm_kind_row), BLM_SCALABLE, "scalable", "grows layer by layer",
                   BLM_CAN_ADD | BLM_CAN_GROW | BLM_CAN_UNION, 1, 0 },
    .plan      = blm__scalable_plan,
    .shape     = blm__scalable_shape,
    .in_file   = blm__scalable_in_file,
    .like      = blm__scalable_like,
    .fault     = fault,
    .add       = add,
    .check     = check,
    .check_one = check_one,
    .room      = room_now,
    .unite     = unite,
    .replaced  = blm__young_replaced,
    .growth    = blm__scalable_growth,
    .rate_at   = blm__scalable_rate_at,
    .clear     = clear,
    .copy      = blm__young_copy,
    .changed   = blm__young_end,
    .move      = blm__young_move,
    .kept      = blm__young_kept,
    .memory    = blm__young_memory,
    .close     = blm__young_end,
};
