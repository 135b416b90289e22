/* SPDX-License-Identifier: MIT */
#include "expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define MOST  0.999999 /* a rate of 1 would make the odds infinite */
#define STEPS 256 /* Simpson's; r is smooth, and this is far below 1% of the sum */

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

/* Odds of a wrong answer: this layer with `items` keys, and `others`, the logarithm of the chance
 * that none of the other layers errs. */
static double odds_at(const blm_params *p, double items, double others)
{
    return expm1(-(others + log1p(-rate_at(p, items))));
}

/* The sum over a … b − 1 as an integral. */
static double sum(const blm_params *p, uint64_t a, uint64_t b, double others)
{
    if (b <= a)
        return 0;
    double h = (double)(b - a) / STEPS, s = 0;
    for (int i = 0; i <= STEPS; i++)
        s += odds_at(p, (double)a + i * h, others) * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
    return s * h / 3;
}

double expected_end(struct expected *e, const blm_filter *f, double *rate)
{
    blm_params whole  = { .size = sizeof whole };
    double     wrong  = 0;
    double     others = 0; /* layers before this one; later ones are empty while it fills */
    blm_get_params(f, &whole);
    for (uint32_t i = 0; i < whole.layers; i++) {
        blm_params p = { .size = sizeof p };
        blm_get_layer(f, i, &p);
        wrong += sum(&p, i < e->layers ? e->items[i] : 0, p.items, others);
        others += log1p(-rate_at(&p, (double)p.items));
    }
    *rate = -expm1(others);
    free(e->items);
    e->items = NULL;
    return wrong;
}
