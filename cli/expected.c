/* SPDX-License-Identifier: MIT */
#include "expected.h"

#include <math.h>
#include <stdlib.h>

#include "bloomery/maths.h"
#include "memory.h"

#define MOST    0.999999 /* a layer that is always wrong would never take another key */
#define STEPS   256      /* r is smooth: the error is far below 1% */
#define GIVE_UP 64

void expected_start(struct expected *e, const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    blm_get_params(f, &p);
    e->layers = p.layers;
    e->items  = memory_need(p.layers * sizeof *e->items);
    for (uint32_t i = 0; i < p.layers; i++) {
        blm_params layer = { .size = sizeof layer };
        blm_get_layer(f, i, &layer);
        e->items[i] = layer.items;
    }
}

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

double expected_end(struct expected *e, const blm_filter *f, double *rate)
{
    blm_params whole  = { .size = sizeof whole };
    double     wrong  = 0;
    double     others = 0; /* log of the chance that no layer before this one is wrong */
    blm_get_params(f, &whole);
    for (uint32_t i = 0; i < whole.layers; i++) {
        blm_params   p = { .size = sizeof p };
        struct layer l = { f, i };
        blm_get_layer(f, i, &p);
        double     before = i < e->layers ? (double)e->items[i] : 0, after = (double)p.items;
        struct way w = { 0, 0 }, start;
        go(&l, &w, before - e->lag);
        start = w;
        go(&l, &w, after - e->lag);
        wrong += w.wrong - start.wrong;
        /* Older layers kept some of the keys from reaching this layer while it filled. */
        wrong += (after - before) * expm1(-others);
        go(&l, &w, after);
        others += log1p(-rate_at(&l, w.keys));
    }
    *rate = -expm1(others);
    free(e->items);
    e->items = NULL;
    return wrong;
}
