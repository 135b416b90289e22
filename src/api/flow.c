/* SPDX-License-Identifier: MIT */
/*
 * Flows: the public batches whose keys come and whose answers go while others wait for memory.
 *
 * Filters of one layer of steps take them so (core/kernel/flow.h). For all others a flow is batches,
 * one after another.
 */
#include "core/kernel/flow.h"

#include "api/batch.h"
#include "bloomery/embed.h"

/* Keys that we ask for at once. They are hashed by four, so that lines are asked for evenly. */
#define ASKED 16u
#define WORDS 2u /* blocks of four keys whose words are in hand */

struct flow {
    struct blm__steps_flow w; /* first: it is what fill and tell get */
    const blm_filter      *f;
    const blm_flow        *c;
    uint64_t               room;      /* keys that may come */
    size_t                 sum, told; /* answers of 1, and all */
    size_t                 at, have;  /* of key: taken, and there */
    bool                   ended;     /* the caller has no more keys */
    blm_key                key[BLM__BATCH];
    uint64_t               start[4 * WORDS], step[4 * WORDS];
};

static void begin(struct flow *s, const blm_filter *f, const blm_flow *c)
{
    s->w.a      = s->start;
    s->w.b      = s->step;
    s->w.blocks = WORDS;
    s->f        = f;
    s->c        = c;
    s->sum = s->told = s->at = s->have = 0;
    s->ended                           = false;
}

static void told(struct flow *s, const uint8_t *answer, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += answer[i];
    s->sum += sum;
    s->told += n;
    if (n && s->c->tell)
        s->c->tell(s->c->ctx, answer, n);
}

/* Is there a key in hand? Where there is none, asks for at most `room`. */
static bool more(struct flow *s, uint64_t room, size_t most)
{
    if (s->at < s->have)
        return true;
    s->at = s->have = 0;
    if (!s->ended && room)
        s->have = s->c->next(s->c->ctx, s->key, room < most ? (size_t)room : most);
    s->ended = s->ended || (room && s->have == 0);
    return s->have > 0;
}

/* ---- one layer of steps ---- */

/* The words of n keys in hand, up to what is no key. Returns how many. */
static size_t take(struct flow *s, uint64_t *a, uint64_t *b, size_t n)
{
    const struct blm__keys keys = { .n = n, .list = s->key + s->at };
    size_t                 good = 0;
    while (good < n && (keys.list[good].data || !keys.list[good].len))
        good++;
    s->f->body.scheme->pairs(&s->f->body.hasher, s->f->body.kernel, &keys, good, a, b);
    s->at += good;
    s->room -= good;
    return good;
}

static size_t fill(struct blm__steps_flow *w, uint64_t *a, uint64_t *b)
{
    struct flow *s   = (struct flow *)w;
    size_t       got = 0;
    if (BLM__LIKELY(s->have - s->at >= 4 && s->room >= 4))
        return take(s, a, b, 4);
    while (got < 4 && more(s, s->room, ASKED)) {
        size_t some = s->have - s->at < 4 - got ? s->have - s->at : 4 - got;
        some        = some < s->room ? some : (size_t)s->room;
        size_t good = take(s, a + got, b + got, some);
        got += good;
        if (good < some)
            break; /* what is no key ends this run, and stands first in what is left */
    }
    return got;
}

static void tell(struct blm__steps_flow *w, const uint8_t *answer, size_t n)
{
    told((struct flow *)w, answer, n);
}

/* ---- whatever it is ---- */

/* The layer to flow through, or NULL: it is not that kind of filter, or in cache, where nothing
 * waits. */
static struct blm__layer *layer_of(const struct blm__body *b)
{
    struct blm__layer *l = b->layers;
    return b->layer_count == 1 && l->engine->flows && l->shape.probes <= BLM__FLOW_MOST &&
                   !blm__layer_small(l)
               ? l
               : NULL;
}

static void flow_by(struct flow *s, struct blm__layer *l, uint64_t room)
{
    s->w.layer = l;
    s->w.fill  = fill;
    s->w.tell  = tell;
    s->room    = room;
}

/* Keys until they end, or one is no key. */
static void run_check(struct flow *s)
{
    const struct blm__body *b = &s->f->body;
    struct blm__layer      *l = b->store->stale ? NULL : layer_of(b);
    if (!l)
        return;
    flow_by(s, l, UINT64_MAX);
    b->kernel->stepper->check_flow(&s->w);
}

/* Keys until they end, or one is no key, or the layer is full. */
static void run_add(struct flow *s, struct blm__body *b)
{
    struct blm__layer *l = layer_of(b);
    if (!l || b->shared || l->marks)
        return;
    flow_by(s, l, b->ops->room(b));
    if (s->room)
        blm__layer_count(l, (int64_t)b->kernel->stepper->add_flow(&s->w));
}

/* ---- the public calls ---- */

size_t blm_check_flow(const blm_filter *f, const blm_flow *flow)
{
    struct flow s;
    uint8_t     maybe[BLM__BATCH];
    begin(&s, f, flow);
    run_check(&s);
    while (more(&s, BLM__BATCH, BLM__BATCH)) {
        size_t n = s.have - s.at;
        blm_check_many(f, s.key + s.at, n, maybe);
        s.at = s.have;
        told(&s, maybe, n);
        run_check(&s);
    }
    return s.sum;
}

blm_status blm_add_flow(blm_filter *f, const blm_flow *flow, size_t *done)
{
    struct flow s;
    uint8_t     fresh[BLM__BATCH];
    blm_status  st = !f->body.ops->add   ? BLM_E_UNSUPPORTED
                     : f->body.read_only ? BLM_E_READONLY
                                         : BLM_OK;
    begin(&s, f, flow);
    if (st == BLM_OK)
        run_add(&s, &f->body);
    while (st == BLM_OK && more(&s, BLM__BATCH, BLM__BATCH)) {
        size_t took = 0;
        st          = blm_add_many(f, s.key + s.at, s.have - s.at, fresh, &took);
        s.at += took;
        told(&s, fresh, took);
        if (st == BLM_OK)
            run_add(&s, &f->body);
    }
    if (done)
        *done = s.told;
    return st;
}
