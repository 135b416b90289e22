/* SPDX-License-Identifier: MIT */
#include "expected.h"

#include <math.h>
#include <stdlib.h>

#include "bloomery/maths.h"
#include "memory.h"

#define MOST    0.999999 /* a layer that is always wrong would never take another key */
#define STEPS   256      /* r is smooth: the error is far below 1% */
#define GIVE_UP 64

struct layer {
    const blm_filter *filter;
    uint32_t          number;
};

static double rate_at(const struct layer *l, double items)
{
    double r;
    if (blm_layer_rate_at(l->filter, l->number, (uint64_t)items, &r) != BLM_OK)
        return 0;
    return r < MOST ? r : MOST;
}

/* A layer while it fills: `keys` different keys have reached it, it answered maybe for `wrong` of
 * them, and the others set a bit. */
struct way {
    double keys, wrong;
};

/* Continues until `items` keys have set a bit, by Simpson's rule. A full layer takes no more keys:
 * after GIVE_UP times as many steps as an empty layer needs, the result so far is a lower bound. */
static void go(const struct layer *l, struct way *w, double items)
{
    double h = (items - (w->keys - w->wrong)) / STEPS;
    if (h <= 0)
        return;
    double a = rate_at(l, w->keys);
    for (int i = 0; i < STEPS * GIVE_UP; i++) {
        double left = items - (w->keys - w->wrong);
        if (left <= 0)
            break;
        double middle = rate_at(l, w->keys + h / 2), b = rate_at(l, w->keys + h);
        double wrong = h * (a + 4 * middle + b) / 6;
        double part  = h - wrong > left ? left / (h - wrong) : 1;
        w->keys += h * part;
        w->wrong += wrong * part;
        a = b;
    }
}

static double items_of(const struct layer *l)
{
    blm_params p = { .size = sizeof p };
    return blm_get_layer(l->filter, l->number, &p) == BLM_OK ? (double)p.items : 0;
}

static uint32_t layers_of(const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    blm_get_params(f, &p);
    return p.layers;
}

/* Room for layers that have been added. They start empty. */
static void grow(struct expected *e, uint32_t layers)
{
    if (layers <= e->layers)
        return;
    e->items = memory_grow(e->items, layers * sizeof *e->items);
    if (e->keys)
        e->keys = memory_grow(e->keys, layers * sizeof *e->keys);
    for (uint32_t i = e->layers; i < layers; i++) {
        e->items[i] = 0;
        if (e->keys)
            e->keys[i] = 0;
    }
    e->layers = layers;
}

void expected_start(struct expected *e, const blm_filter *f)
{
    grow(e, layers_of(f));
    for (uint32_t i = 0; i < e->layers; i++)
        e->items[i] = items_of(&(struct layer){ f, i });
}

/* ---- in batches ---- */

static void begin_batches(struct expected *e, const blm_filter *f)
{
    e->keys = memory_need((e->layers ? e->layers : 1) * sizeof *e->keys);
    for (uint32_t i = 0; i < e->layers; i++) {
        struct layer l = { f, i };
        struct way   w = { 0, 0 };
        go(&l, &w, e->items[i]);
        e->keys[i] = w.keys;
    }
}

static double rate_of_batch(const struct expected *e, const blm_filter *f)
{
    double none = 0; /* log of the chance that no layer is wrong */
    for (uint32_t i = 0; i < e->layers; i++)
        none += log1p(-rate_at(&(struct layer){ f, i }, e->keys[i]));
    return fmin(-expm1(none), MOST);
}

void expected_batch(struct expected *e, const blm_filter *f, size_t count)
{
    if (!e->keys)
        begin_batches(e, f);
    double r = rate_of_batch(e, f);
    e->wrong += (double)count * r / (1 - r);
    e->batch = (double)count;
}

void expected_added(struct expected *e, const blm_filter *f)
{
    double before = 0, after = 0;
    grow(e, layers_of(f));
    for (uint32_t i = 0; i < e->layers; i++) {
        before += e->items[i];
        after += items_of(&(struct layer){ f, i });
    }
    /* Some keys of the batch are taken for others of it and do not count as new: only their shares
     * of the batch are known by the layers' counts. */
    for (uint32_t i = 0; i < e->layers && after > before; i++) {
        struct layer l     = { f, i };
        double       share = (items_of(&l) - e->items[i]) / (after - before);
        e->keys[i] += share * e->batch / (1 - rate_at(&l, e->keys[i]));
        e->items[i] = items_of(&l);
    }
}

/* ---- the end ---- */

static double sum_of_batches(const struct expected *e, const blm_filter *f, double *rate)
{
    *rate = rate_of_batch(e, f);
    return e->wrong;
}

static double integral(const struct expected *e, const blm_filter *f, double *rate)
{
    double wrong  = 0;
    double others = 0; /* log of the chance that no layer before this one is wrong */
    for (uint32_t i = 0, n = layers_of(f); i < n; i++) {
        struct layer l      = { f, i };
        double       before = i < e->layers ? e->items[i] : 0, after = items_of(&l);
        struct way   w = { 0, 0 }, start;
        go(&l, &w, before);
        start = w;
        go(&l, &w, after);
        wrong += w.wrong - start.wrong;
        /* Older layers kept some of the keys from reaching this layer while it filled. */
        wrong += (after - before) * expm1(-others);
        others += log1p(-rate_at(&l, w.keys));
    }
    *rate = -expm1(others);
    return wrong;
}

double expected_end(struct expected *e, const blm_filter *f, double *rate)
{
    double wrong = e->keys ? sum_of_batches(e, f, rate) : integral(e, f, rate);
    free(e->items);
    free(e->keys);
    *e = (struct expected){ 0 };
    return wrong;
}
