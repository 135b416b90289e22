/* SPDX-License-Identifier: MIT */
/*
 * Cascade: built from two lists, of keys that are in and of keys that are not, it makes no error on
 * either. The first level is a static filter of the included keys. The second has all keys that
 * pass the first, included or not, and a bit for each that says which. Where the excluded keys are
 * few, there is only the second. A key of neither list is answered "maybe" as often as it happens to
 * fit both levels.
 *
 * A layer's capacity: the included keys of the first level; the excluded keys of the second. Its
 * items: the keys that it was built from.
 */
#include <math.h>
#include <string.h>

#include "engine/runs.h"
#include "kind/kind.h"

#define LEVELS 2u

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    (void)o, (void)out;
    return blm__fail(err, BLM_E_UNSUPPORTED,
                     "the size of a cascade follows from its two lists: it is known when it has "
                     "been built");
}

static const struct blm__layer *exact(const struct blm__body *b)
{
    return &b->layers[b->layer_count - 1];
}

static uint64_t included(const struct blm__body *b)
{
    return blm__layer_items(b->layers) - (b->layer_count == LEVELS ? 0 : exact(b)->shape.capacity);
}

static const char *fault(const struct blm__body *b, bool native)
{
    (void)native;
    if (b->layer_count > LEVELS)
        return "a cascade has at most two levels";
    if (b->growth != 0 || b->tightening != 0 || b->rate_cap != 0 || b->active != 0)
        return "growth in a filter that does not grow";
    for (uint32_t i = 0; i < b->layer_count; i++)
        if (b->layers[i].shape.kind != b->kind || b->layers[i].shape.rule != BLM__FUSE)
            return "its layer is of another kind";
    if (exact(b)->shape.cell_bits != 1)
        return "its last level has cells of more than one bit";
    uint64_t least =
        b->layer_count == LEVELS ? blm__layer_items(b->layers) : exact(b)->shape.capacity;
    return blm__layer_items(exact(b)) < least ? "its levels' numbers of keys do not agree" : NULL;
}

/* The keys that passed the first level, side by side: hashes, or keys of eight bytes. */
struct passed {
    size_t   n;
    uint64_t key[BLM__RUN + 8];
    uint16_t at[BLM__RUN + 8]; /* which of the run it is */
};

/* Keys i … i + 7, all of them. */
static void pass_eight(struct passed *p, const uint8_t *keys, size_t i)
{
    memcpy(p->key + p->n, keys + 8 * i, 64);
    for (size_t q = 0; q < 8; q++)
        p->at[p->n + q] = (uint16_t)(i + q);
    p->n += 8;
}

/* Keys i … end − 1, those that have a 1. */
static void pass_some(struct passed *p, const uint8_t *keys, const uint8_t *maybe, size_t i,
                      size_t end)
{
    size_t n = p->n;
    for (; i < end; i++) {
        memcpy(p->key + n, keys + 8 * i, 8);
        p->at[n] = (uint16_t)i;
        n += maybe[i];
    }
    p->n = n;
}

/* Most often none of eight neighbours passed, or all. */
static void list_passed(struct passed *p, const void *keys, const uint8_t *maybe, size_t n)
{
    size_t i = 0;
    p->n     = 0;
    for (uint64_t eight; i + 8 <= n; i += 8) {
        memcpy(&eight, maybe + i, 8);
        if (eight == 0x0101010101010101u)
            pass_eight(p, keys, i);
        else if (eight)
            pass_some(p, keys, maybe, i, i + 8);
    }
    pass_some(p, keys, maybe, i, n);
}

/* Most absent keys fail the first level: only the others are looked for in the second. k: hashes, or
 * keys of eight bytes that the engine hashes by itself, BLM__RUN at most. */
static size_t check_run(const struct blm__body *b, const struct blm__keys *k, uint8_t *maybe)
{
    struct passed            p;
    uint8_t                  in[BLM__RUN];
    const struct blm__layer *first = b->layers, *last = exact(b);
    size_t                   hits = first->engine->check_raw(b, first, k, maybe);
    if (first == last || hits == 0)
        return hits;
    list_passed(&p, k->hashes ? (const void *)k->hashes : k->fixed, maybe, k->n);
    struct blm__keys rest = { .n      = p.n,
                              .hashes = k->hashes ? p.key : NULL,
                              .fixed  = k->hashes ? NULL : (const uint8_t *)p.key,
                              .width  = 8 };
    hits                  = last->engine->check_raw(b, last, &rest, in);
    for (size_t i = 0; hits < p.n && i < p.n; i++)
        maybe[p.at[i]] = in[i];
    return hits;
}

static size_t check_raw(const struct blm__body *b, const struct blm__keys *k, uint8_t *maybe)
{
    uint64_t h[BLM__RUN];
    size_t   hits = 0;
    for (size_t at = 0; at < k->n;) {
        struct blm__keys run = blm__run_of(b, k, at, blm__run_eights(b, k), h);
        hits += check_run(b, &run, maybe + at);
        at += run.n;
    }
    return hits;
}

static bool check_one(const struct blm__body *b, uint64_t h)
{
    for (uint32_t i = 0; i < b->layer_count; i++)
        if (!b->layers[i].engine->check_one(b, &b->layers[i], h))
            return false;
    return true;
}

/* Of a key that is in neither list. */
static blm_status rate_at(const struct blm__body *b, uint64_t n, double *rate)
{
    *rate = n ? 1 : 0;
    for (uint32_t i = 0; i < b->layer_count; i++)
        *rate *= ldexp(1, -(int)b->layers[i].shape.cell_bits);
    return BLM_OK;
}

static void totals(const struct blm__body *b, blm_params *p, blm_stats *s)
{
    uint64_t n = included(b);
    p->items = p->capacity = n;
    if (!s)
        return;
    s->estimated = (blm_estimate){ (double)n, (double)n, (double)n, false };
    rate_at(b, n, &s->rate_now);
}

const struct blm__kind blm__kind_cascade = {
    .row       = { sizeof(blm_kind_row), BLM_CASCADE, "cascade",
                   "built once from two lists, without errors on either", 0, 0, 0 },
    .layers    = LEVELS,
    .every     = true,
    .certain   = true,
    .plan      = plan,
    .fault     = fault,
    .check     = check_raw,
    .check_raw = check_raw,
    .check_one = check_one,
    .rate_at   = rate_at,
    .totals    = totals,
};
