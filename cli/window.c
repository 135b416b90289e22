/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <math.h>
#include <stdio.h>

#include "numbers.h"
#include "out.h"
#include "plot.h"

#define AGES 64 /* the most there are */

bool window_parse(const char *text, uint64_t *keys, uint64_t *ms)
{
    *keys = *ms = 0;
    return (parse_count(text, keys) && *keys > 0) || (*keys = 0, parse_time(text, ms) && *ms > 0);
}

static bool get(const blm_filter *f, blm_window *w)
{
    *w = (blm_window){ .size = sizeof *w };
    return blm_get_window(f, w) == BLM_OK;
}

/* A length of time, or of keys. */
static const char *length_text(const blm_window *w, uint64_t length, char *out)
{
    return w->by_time ? span_text(length, out) : plural_text(length, "key", out);
}

const char *window_text(const blm_filter *f, char *out)
{
    blm_window w;
    char       length[NUMBER_TEXT];
    if (!get(f, &w))
        return NULL;
    snprintf(out, NUMBER_TEXT + 16, "the last %s", length_text(&w, w.length, length));
    return out;
}

bool window_overfilled(const struct ref *r, const blm_params *p)
{
    blm_stats  s = { .size = sizeof s };
    blm_window w;
    if (!(p->can & BLM_CAN_FORGET))
        return p->items > p->capacity;
    if (!r->remote && get(r->filter, &w) && !w.by_time && !p->unclosed)
        return false; /* no turn gets more than its share, unless windows were merged */
    return !r->remote && blm_get_stats(r->filter, &s) == BLM_OK && s.overfilled;
}

/* More keys than the share of an age; 0: not for sure. As many as were added, unless the bits say for sure that
 * some came again, or that a merge put those of another window there. */
static uint64_t crowd(const blm_age *age, uint64_t share)
{
    const blm_estimate *e    = &age->estimated;
    double              adds = (double)age->adds;
    if (adds >= surely_above(e) && adds <= surely_below(e))
        return age->adds > share ? age->adds : 0;
    return surely_above(e) > (double)share ? (uint64_t)llround(e->value) : 0;
}

const char *window_burst(const blm_filter *f, char *out)
{
    blm_window w;
    blm_age    age[AGES];
    uint64_t   most = 0;
    char       keys[NUMBER_TEXT], share[NUMBER_TEXT], items[NUMBER_TEXT];
    if (!get(f, &w))
        return NULL;
    for (size_t i = blm_get_ages(f, age, AGES); i-- > 0;)
        most = crowd(&age[i], w.share) > most ? crowd(&age[i], w.share) : most;
    if (most == 0)
        return NULL;
    int n = snprintf(out, 4 * NUMBER_TEXT, "%s in one age, planned for %s",
                     plural_text(most, "key", keys), count_text(w.share, share));
    if (w.by_time)
        snprintf(out + n, 4 * NUMBER_TEXT - (size_t)n, ": -n %s would hold the rate",
                 count_text(most * (w.ages - 1), items));
    else
        snprintf(out + n, 4 * NUMBER_TEXT - (size_t)n, ": windows were merged");
    return out;
}

bool window_plan(const blm_filter *f, blm_options *o)
{
    blm_window w;
    blm_age    age[AGES];
    double     most = 0;
    if (!get(f, &w))
        return false;
    for (size_t i = blm_get_ages(f, age, AGES); i-- > 0;)
        most = fmax(most, age[i].estimated.value);
    o->items     = w.by_time ? (uint64_t)llround(most) * (w.ages - 1) : w.length;
    o->window_ms = w.by_time ? w.length : 0;
    o->slack     = (double)w.slack / (double)w.length;
    return true;
}

void window_show(const blm_filter *f)
{
    blm_window w;
    char       length[NUMBER_TEXT], slack[NUMBER_TEXT], turn[NUMBER_TEXT], burst[4 * NUMBER_TEXT];
    if (!get(f, &w))
        return;
    out_print("  %-12sthe last %s, and up to %s more\n", "window",
              length_text(&w, w.length, length), length_text(&w, w.slack, slack));
    out_print("  %-12s%u, %s each\n", "ages", (unsigned)w.ages,
              length_text(&w, w.turn_length, turn));
    if (window_burst(f, burst))
        out_print("  %-12s%s\n", "burst", burst);
    if (w.behind)
        out_print("  %-12s%s behind what the filter has seen; its time goes on from there\n",
                  "clock", span_text(w.behind, length));
}

bool window_plot(const blm_filter *f)
{
    blm_window w;
    blm_age    age[AGES];
    double     height[PLOT_MOST];
    char       oldest[NUMBER_TEXT];
    if (!get(f, &w))
        return false;
    size_t ages = blm_get_ages(f, age, AGES), each = (plot_width() - PLOT_LABEL) / ages, n = 0;
    for (size_t i = 0; i < ages; i++)
        for (size_t j = 0; j < (each ? each : 1) && n < PLOT_MOST; j++)
            height[n++] = age[i].fill;
    out_print("\n%*sfill by age\n", PLOT_LABEL, "");
    plot_bars(height, n, "now", length_text(&w, w.ages * w.turn_length, oldest));
    return true;
}
