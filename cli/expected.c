/* SPDX-License-Identifier: MIT */
#include "expected.h"

#include <math.h>
#include <stdlib.h>

#include "bloomery/maths.h"
#include "memory.h"
#include "numbers.h"

#define DOUBT   0.25     /* the share of a figure that may be doubtful */
#define MOST    0.999999 /* a layer that is always wrong would never take another key */
#define STEPS   256      /* r is smooth: the error is far below 1% */
#define GIVE_UP 64       /* times as many steps as an empty layer needs */

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
 * them, and the others set a bit. How many do so varies by chance: `variance`. */
struct way {
    double keys, wrong, variance;
    double least; /* the rate above which the counts say no more: expected.h; 0: not reached */
};

/* By how much `wrong` is uncertain, because the count of new keys is: by two standard deviations,
 * and three where none came. */
static double doubt(double rate, double variance)
{
    return (2 * sqrt(variance) + 3) * rate / (1 - rate);
}

/* Does the count of new keys still say how many keys came? Up to a rate of 1/2 its chance is below
 * that of the true number of wrong answers itself. */
static bool is_doubtful(double rate, double variance, double wrong)
{
    return rate > 0.5 && doubt(rate, variance) > DOUBT * wrong;
}

/* From here each new key only says that 1 / (1 − least) keys came, or more. */
static void give_up(struct way *w, double rate)
{
    double less = fmin(w->wrong, doubt(rate, w->variance));
    w->keys -= less;
    w->wrong -= less;
    w->least = rate;
}

/* Continues until `items` keys have set a bit, by Simpson's rule. A full layer takes no more keys:
 * the result is a lower bound after GIVE_UP times as many steps as an empty layer needs, or, if we
 * are careful, where the count says no more. */
static void go(const struct layer *l, struct way *w, double items, bool careful)
{
    double h = (items - (w->keys - w->wrong)) / STEPS;
    if (h <= 0)
        return;
    double a = rate_at(l, w->keys);
    for (int i = 0; i < STEPS * GIVE_UP && w->least == 0; i++) {
        double left = items - (w->keys - w->wrong);
        if (left <= 0)
            return;
        double middle = rate_at(l, w->keys + h / 2), b = rate_at(l, w->keys + h);
        double wrong = h * (a + 4 * middle + b) / 6;
        double part  = h - wrong > left ? left / (h - wrong) : 1;
        w->keys += h * part;
        w->wrong += wrong * part;
        w->variance += middle * (h - wrong) * part;
        a = b;
        if (careful && is_doubtful(a, w->variance, w->wrong))
            give_up(w, a);
    }
    if (w->least == 0)
        return;
    double left = items - (w->keys - w->wrong);
    w->keys += left / (1 - w->least);
    w->wrong += left * w->least / (1 - w->least);
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

/* Some formats keep no count, a union adds counts up, and counters count a key each time: then the bits know
 * better. Those of a filter that we made now are not looked at: there are none. */
static double begun(const struct expected *e, const blm_filter *f)
{
    struct layer l = { f, 0 };
    struct way   w = { 0 };
    blm_stats    s = { .size = sizeof s };
    blm_params   p = { .size = sizeof p };
    if (e->layers != 1 || blm_get_params(f, &p) != BLM_OK || (p.items == 0 && !p.unclosed) ||
        blm_get_stats(f, &s) != BLM_OK)
        return 0;
    const blm_estimate *bits = &s.estimated;
    go(&l, &w, e->items[0], true);
    bool same = w.keys >= surely_above(bits) && w.keys <= surely_below(bits);
    return same ? 0 : bits->value;
}

void expected_start(struct expected *e, const blm_filter *f)
{
    grow(e, layers_of(f));
    e->careful = true;
    for (uint32_t i = 0; i < e->layers; i++)
        e->items[i] = items_of(&(struct layer){ f, i });
    e->begun = begun(e, f);
}

/* How the layer came to what it had at the start, or after the last batch. */
static struct way way_of(const struct expected *e, const struct layer *l)
{
    struct way w = { 0 };
    if (l->number == 0 && e->begun > 0)
        w.keys = e->begun;
    else if (l->number < e->layers)
        go(l, &w, e->items[l->number], e->careful);
    return w;
}

/* ---- in batches ---- */

static void begin_batches(struct expected *e, const blm_filter *f)
{
    e->keys = memory_need((e->layers ? e->layers : 1) * sizeof *e->keys);
    for (uint32_t i = 0; i < e->layers; i++) {
        struct way w = way_of(e, &(struct layer){ f, i });
        e->keys[i]   = w.keys;
        e->before.wrong += w.wrong;
        e->before.variance += w.variance;
        e->least = fmax(e->least, w.least);
    }
}

static double rate_of_batch(const struct expected *e, const blm_filter *f)
{
    double none = 0; /* log of the chance that no layer is wrong */
    for (uint32_t i = 0; i < e->layers; i++)
        none += log1p(-rate_at(&(struct layer){ f, i }, e->keys[i]));
    return fmin(-expm1(none), MOST);
}

/* A batch is a large step: if it makes the figure doubtful, the rate of the one before is the last
 * that is sure. */
static double sure_rate(struct expected *e, double rate, double count)
{
    double variance = e->before.variance + e->variance, wrong = e->before.wrong + e->wrong;
    bool   first = e->batch == 0;
    if (e->least == 0 &&
        is_doubtful(rate, variance + count * rate, wrong + count * rate / (1 - rate))) {
        e->least = first ? rate : e->rate;
        e->wrong -= fmin(e->wrong, doubt(e->least, variance));
    }
    return e->least > 0 ? e->least : rate;
}

void expected_batch(struct expected *e, const blm_filter *f, size_t count)
{
    if (!e->keys)
        begin_batches(e, f);
    double r = sure_rate(e, rate_of_batch(e, f), (double)count);
    e->wrong += (double)count * r / (1 - r);
    e->variance += (double)count * r;
    e->batch = (double)count;
    e->rate  = r;
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

static double integral(struct expected *e, const blm_filter *f, double *rate)
{
    double wrong  = 0;
    double others = 0; /* log of the chance that no layer before this one is wrong */
    for (uint32_t i = 0, n = layers_of(f); i < n; i++) {
        struct layer l      = { f, i };
        double       before = i < e->layers ? e->items[i] : 0, after = items_of(&l);
        struct way   w = way_of(e, &l), start = w;
        go(&l, &w, i == 0 && e->begun > 0 ? e->begun + after - before : after, e->careful);
        wrong += fmax(w.wrong - start.wrong, 0);
        e->least = fmax(e->least, w.least);
        /* Older layers kept some of the keys from reaching this layer while it filled. */
        wrong += (after - before) * expm1(-others);
        others += log1p(-rate_at(&l, w.keys));
    }
    *rate = -expm1(others);
    return wrong;
}

double expected_end(struct expected *e, const blm_filter *f, double *rate)
{
    double wrong    = e->keys ? sum_of_batches(e, f, rate) : integral(e, f, rate);
    bool   at_least = e->least > 0;
    if (e->careful && !at_least && is_doubtful(*rate, e->variance, wrong)) {
        wrong -= fmin(wrong, doubt(e->rate, e->variance)); /* few were new, and many may be wrong */
        at_least = true;
    }
    free(e->items);
    free(e->keys);
    *e = (struct expected){ .at_least = at_least };
    return wrong;
}
