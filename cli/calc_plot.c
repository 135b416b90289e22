/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "bloomery/maths.h"
#include "calc.h"
#include "numbers.h"
#include "out.h"
#include "plot.h"

#define SAMPLES 2 /* per column */

/* From no keys to twice the capacity. */
static void against_items(const blm_plan *p)
{
    double rate[SAMPLES * PLOT_MOST];
    size_t count = SAMPLES * (plot_width() - PLOT_LABEL);
    char   title[160], last[2 * NUMBER_TEXT], keys[NUMBER_TEXT], now[NUMBER_TEXT];
    double end = 2 * (double)p->items;
    for (size_t i = 0; i < count; i++)
        rate[i] = calc_rate(p, p->probes, (uint64_t)(end * (double)i / (double)(count - 1)));
    snprintf(title, sizeof title, "rate against keys: %s at %s keys", rate_text(p->rate, now),
             count_text(p->items, keys));
    snprintf(last, sizeof last, "%s keys", count_text((uint64_t)end, keys));
    struct curve c = {
        .title = title, .first = "0", .last = last, .at = 0.5, .count = count, .rate = rate
    };
    plot_curve(&c);
}

/* Every number of probes from one to twice the best. Blocked filters have equally many in each
 * line. */
static void against_probes(const blm_plan *p)
{
    double   rate[SAMPLES * PLOT_MOST];
    uint32_t step = p->lines ? p->lines : 1, most = p->lines ? 8 : 2 * p->probes;
    char     title[160], first[NUMBER_TEXT], last[NUMBER_TEXT], now[NUMBER_TEXT];
    if (most < 8)
        most = 8;
    if (most > SAMPLES * (plot_width() - PLOT_LABEL))
        most = (uint32_t)(SAMPLES * (plot_width() - PLOT_LABEL));
    for (uint32_t i = 0; i < most; i++)
        rate[i] = calc_rate(p, (i + 1) * step, p->items);
    snprintf(title, sizeof title, "rate against probes: %s with %u", rate_text(p->rate, now),
             (unsigned)p->probes);
    snprintf(first, sizeof first, "%u", (unsigned)step);
    snprintf(last, sizeof last, "%u probes", (unsigned)(most * step));
    struct curve c = { .title = title,
                       .first = first,
                       .last  = last,
                       .at    = (double)(p->probes / step - 1) / (double)(most - 1),
                       .dots  = true,
                       .count = most,
                       .rate  = rate };
    plot_curve(&c);
}

void calc_plot(const blm_plan *p)
{
    out_print("\n");
    against_items(p);
    if (p->model == BLM_MODEL_BUCKETS || p->model == BLM_MODEL_FUSE)
        return; /* a fingerprint always has the same number */
    out_print("\n");
    against_probes(p);
}
