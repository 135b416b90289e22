/* SPDX-License-Identifier: MIT */
#include "expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define MOST    0.999999 /* a layer that always errs would never take another key */
#define STEPS   256 /* r is smooth: the error is far below 1% */
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

static double rate_at(const blm_params *p, double items)
{
    blm_model model = p->lines                             ? BLM_MODEL_LINES
                      : strcmp(p->scheme, "native") == 0 ? BLM_MODEL_INDEPENDENT
                                                         : BLM_MODEL_DOUBLE;
    blm_rate  r     = { .size = sizeof r };
    if (blm_rate_of(model, p->bits, p->probes, p->lines, (uint64_t)items, &r) != BLM_OK)
        return 0;
    return r.value < MOST ? r.value : MOST;
}

/* A layer on its way: after `keys` different ones reached it, of which `items` set a bit of it. */
struct way {
    double keys, items;
};

/* Goes on until `items` have set a bit, by Simpson's rule. A full layer takes no more: after GIVE_UP
 * times as many steps as an empty one would take, what has come by then is the least there was. */
static void go(const blm_params *p, struct way *w, double items)
{
    double h = (items - w->items) / STEPS;
    double a = 1 - rate_at(p, w->keys);
    for (int i = 0; i < STEPS * GIVE_UP && w->items < items; i++) {
        double middle = 1 - rate_at(p, w->keys + h / 2), b = 1 - rate_at(p, w->keys + h);
        double more   = h * (a + 4 * middle + b) / 6;
        double part   = w->items + more > items ? (items - w->items) / more : 1;
        w->keys += h * part;
        w->items += more * part;
        a = b;
    }
}

double expected_end(struct expected *e, const blm_filter *f, double *rate)
{
    blm_params whole  = { .size = sizeof whole };
    double     wrong  = 0;
    double     others = 0; /* log of the chance that no layer before this one errs */
    blm_get_params(f, &whole);
    for (uint32_t i = 0; i < whole.layers; i++) {
        blm_params p = { .size = sizeof p };
        blm_get_layer(f, i, &p);
        double     before = i < e->layers ? (double)e->items[i] : 0;
        struct way w = { 0, 0 };
        if (before > 0)
            go(&p, &w, before);
        struct way start = w;
        if ((double)p.items > before)
            go(&p, &w, (double)p.items);
        /* Of the keys that came while this layer filled, some stayed with older ones. */
        double reached = w.keys - start.keys;
        wrong += reached - (w.items - start.items) + reached * expm1(-others);
        others += log1p(-rate_at(&p, w.keys));
    }
    *rate = -expm1(others);
    free(e->items);
    e->items = NULL;
    return wrong;
}
