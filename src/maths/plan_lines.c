/* SPDX-License-Identifier: MIT */
/*
 * The plan of blocked and counting filters: how many lines there are, how many of them a key has
 * (L) and how many words of a line it uses (k, 1…8).
 *
 * One line per key is fastest, but at rates below 1/1000 it takes space that a second line saves: L
 * is the least with p^(1/L) ≥ 1/1000, at most 3. A line of counters has a quarter of the cells, so
 * its load varies more: there the limit is 1/100, and L is at most 5. docs/maths.md has the
 * frontier. A smaller L is taken if it costs no more (a filter of one or two lines). For each L the
 * best k is the one with which a line holds most keys.
 */
#include <inttypes.h>
#include <math.h>

#include "bloomery/maths.h"
#include "core/ages.h"
#include "core/error.h"
#include "maths/plan.h"
#include "maths/sizing.h"

#define NEARLY 0.9 /* numbers of words that reach this share of the best load are tried too */

/* What differs between blocked and counting. */
struct layout {
    uint32_t cell_bits, cells; /* of a cell; of a line */
    uint32_t lines_most;       /* lines per key */
    uint64_t count_most;       /* lines in all */
    double   least_rate;       /* for which one line is enough */
};
static const struct layout bits = { 1, BLM__LINE_BITS, BLM__MAX_LINES,
                                    BLM__MAX_BITS / BLM__LINE_BITS, 1e-3 };
/* Layers of a scalable filter: each of them is asked, so lines cost more than bits. */
static const struct layout layers   = { 1, BLM__LINE_BITS, BLM__MAX_LINES,
                                        BLM__MAX_BITS / BLM__LINE_BITS, 2.5e-4 };
static const struct layout counters = { 4, BLM__SHORT_CELLS, BLM__MAX_SHORT,
                                        BLM__MAX_BITS / 4 / BLM__SHORT_CELLS, 1e-2 };

/* The words of one turn of a window (core/ages.h). */
static const struct layout ages = { 1, BLM__AGE_CELLS, BLM__MAX_LINES, BLM__MAX_BITS / 512, 1e-2 };

/* A plan with one number still missing: the context of a search. */
struct lines {
    uint64_t             count, n;
    uint32_t             words, lines;
    double               p;
    const struct layout *in;
};

static double rate_of(const struct lines *l)
{
    return blm__rate_lines(l->in->cells, l->count, l->words, l->lines, l->n);
}

static bool holds_keys(const void *ctx, uint64_t n)
{
    struct lines l = *(const struct lines *)ctx;
    l.n            = n;
    return rate_of(&l) <= l.p;
}

static bool too_few(const void *ctx, uint64_t count)
{
    struct lines l = *(const struct lines *)ctx;
    l.count        = count;
    return count == 0 || rate_of(&l) > l.p;
}

static uint64_t least_count(uint32_t lines) { return lines > 1 ? 2 * lines : 1; }

/* How many keys a line holds at this rate, if there are many lines. The search starts here, so a
 * few digits are enough. ln F is nearly linear in ln λ: secant steps from the λ of k independent
 * bits. */
static double load_for(uint32_t cells, uint32_t words, double rate)
{
    double fill = pow(rate, 1.0 / words), target = log(rate);
    double x = log(-(double)cells / words * log1p(-fill)), slope = words;
    if (!isfinite(x))
        return 0x1p60; /* the rate is nearly 1: any load will do */
    double y = log(blm__line_rate(cells, words, exp(x)));
    for (int i = 0; i < 6 && fabs(y - target) > 1e-4 && isfinite(y); i++) {
        double dx = (target - y) / slope, next = log(blm__line_rate(cells, words, exp(x + dx)));
        if (next != y && isfinite(next))
            slope = fmax((next - y) / dx, 1e-3);
        x += dx;
        y = next;
    }
    return exp(x);
}

/* Whether a is better than b: fewer lines or, if their number is given, more keys. A plan with
 * count 0 is not a plan. */
static bool saves(const struct lines *a, const struct lines *b)
{
    if (a->count == 0 || b->count == 0)
        return a->count > b->count;
    return a->count != b->count ? a->count < b->count : a->n > b->n;
}

/* Solves for the lines (count = 0) or the keys (n = 0), for one number of words. */
static void solve_one(struct lines *l, double load)
{
    if (l->n == 0) {
        double guess = load * (double)l->count / l->lines;
        l->n = blm__greatest(holds_keys, l, guess < 0x1p63 ? (uint64_t)guess : 1, UINT64_MAX);
        return;
    }
    double guess = (double)l->n * l->lines / load;
    if (!(guess <= (double)l->in->count_most))
        return;
    uint64_t count = blm__greatest(too_few, l, (uint64_t)guess, l->in->count_most) + 1;
    if (count <= l->in->count_most)
        l->count = count > least_count(l->lines) ? count : least_count(l->lines);
}

/* The same for the best number of words (want.words = 0) or the one wanted. */
static struct lines solve(const struct lines *want)
{
    /* The rate of one line, without the hash collisions. */
    double room = want->p - (want->n ? ldexp((double)want->n, -64) : 0);
    double each = pow(room, 1.0 / want->lines), load[BLM__LINE_WORDS + 1] = { 0 }, top = 0;
    for (uint32_t k = 1; k <= BLM__LINE_WORDS; k++) {
        if (want->words == 0 || want->words == k)
            load[k] = load_for(want->in->cells, k, each);
        top = fmax(top, load[k]);
    }
    struct lines best = { 0 };
    for (uint32_t k = 1; k <= BLM__LINE_WORDS; k++) {
        if (load[k] <= 0 || load[k] < NEARLY * top)
            continue;
        struct lines l = *want;
        l.words        = k;
        solve_one(&l, load[k]);
        if (saves(&l, &best) || (!saves(&best, &l) && l.count && rate_of(&l) < rate_of(&best)))
            best = l;
    }
    return best;
}

/* How many lines per key, by the rule above. */
static uint32_t lines_for(const struct layout *in, double rate)
{
    uint32_t lines = 1;
    while (lines < in->lines_most && pow(rate, 1.0 / lines) < in->least_rate * (1 - 1e-12))
        lines++;
    return lines;
}

/* Splits the given probes over lines. False: that is impossible. */
static bool split_probes(const struct blm__want *w, uint32_t lines, uint32_t *words)
{
    *words = w->probes / lines;
    return w->probes % lines == 0 && *words <= BLM__LINE_WORDS && (!w->lines || w->lines == lines);
}

/* Solves for every L up to the one that rate and probes need. A larger L must be better. */
static struct lines solve_all(const struct layout *in, const struct blm__want *w, uint64_t count,
                              double rate)
{
    struct lines best = { 0 };
    uint32_t     most = w->lines ? w->lines : lines_for(in, rate);
    for (uint32_t lines = w->lines ? w->lines : 1; lines <= in->lines_most; lines++) {
        struct lines l = { count, count ? 0 : w->items, 0, lines, rate, in };
        if (lines > most && (best.count || !w->probes))
            break;
        if (w->probes && !split_probes(w, lines, &l.words))
            continue;
        if (count && count < least_count(lines))
            continue;
        l = solve(&l);
        if (saves(&l, &best))
            best = l;
    }
    return best;
}

/* Size and keys are given: the best words and, unless given, the L that the rate needs. */
static struct lines fit(const struct layout *in, const struct blm__want *w, uint64_t count)
{
    struct lines best    = { 0 };
    double       reached = 2;
    for (uint32_t lines = w->lines ? w->lines : 1; lines <= in->lines_most; lines++) {
        struct lines here  = { 0 };
        double       least = 2;
        for (uint32_t k = 1; k <= BLM__LINE_WORDS && count >= least_count(lines); k++) {
            struct lines l = { count, w->items, k, lines, 0, in };
            if (w->probes && w->probes != k * lines)
                continue;
            double rate = rate_of(&l);
            if (rate < least) {
                least = rate;
                here  = l;
            }
        }
        if (least < reached) {
            best    = here;
            reached = least;
        }
        if (w->lines || (best.count && (w->probes || lines_for(in, reached) <= lines)))
            break;
    }
    return best;
}

/* Only size and probes are given: half of the bits set. */
static struct lines half_full(const struct layout *in, const struct blm__want *w, uint64_t count)
{
    struct lines l = { 0 };
    for (uint32_t lines = 1; lines <= in->lines_most && l.count == 0; lines++) {
        uint32_t words;
        if (count < least_count(lines) || !split_probes(w, lines, &words))
            continue;
        double each = (double)words / ((double)count * in->cells);
        l = (struct lines){ count, (uint64_t)(-BLM__LN2 / (lines * log1p(-each))), words, lines, 0,
                            in };
    }
    return l;
}

static blm_status check_shape(const struct layout *in, const struct blm__want *w, uint64_t count,
                              blm_error *err)
{
    if (w->lines > in->lines_most)
        return blm__fail(err, BLM_E_ARGUMENT, "lines must be 1 to %u, not %" PRIu32, in->lines_most,
                         w->lines);
    uint32_t least = w->lines ? w->lines : 1, words;
    if (w->probes) {
        while (least <= in->lines_most && !split_probes(w, least, &words))
            least++;
        if (least > in->lines_most)
            return blm__fail(err, BLM_E_ARGUMENT,
                             "probes = %" PRIu32 " cannot be spread evenly over %s%" PRIu32
                             " lines with at most 8 in each",
                             w->probes, w->lines ? "" : "1 to ",
                             w->lines ? w->lines : in->lines_most);
    }
    if (count && count < least_count(least))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "%" PRIu32 " lines per key need a filter of at least %" PRIu64
                         " %s; give more of them, or fewer lines or probes",
                         least, least_count(least) * in->cells,
                         in->cell_bits == 1 ? "bits" : "counters");
    return BLM_OK;
}

static void fill_plan(const struct lines *l, blm_plan *out)
{
    out->items  = l->n;
    out->rate   = rate_of(l);
    out->bits   = l->count * l->in->cells;
    out->probes = l->words * l->lines;
    out->lines  = l->lines;
    out->model  = l->in->cells == BLM__LINE_BITS ? BLM_MODEL_LINES : BLM_MODEL_COUNTERS;
}

static blm_status plan(const struct layout *in, const blm_options *o, blm_plan *out,
                       blm_error *err);

static blm_status again(const void *layout, const blm_options *o, blm_plan *out)
{
    return plan(layout, o, out, NULL);
}

static blm_status plan(const struct layout *in, const blm_options *o, blm_plan *out, blm_error *err)
{
    struct blm__want w;
    blm_status       s = blm__want_read(o, in->cell_bits, in->cells, &w, err);
    if (s == BLM_OK)
        s = check_shape(in, &w, w.cells / in->cells, err);
    if (s == BLM_OK && w.cells == 0)
        s = blm__want_hashes(o, 1, again, in, err);
    if (s != BLM_OK)
        return s;
    const uint64_t count = w.cells / in->cells;
    double         asked = w.rate;
    if (w.items == 0 && w.rate == 0 && w.probes == 0)
        asked = BLM__DEFAULT_RATE;
    struct lines l = { .in = in }, needed = { .in = in };
    if (w.items > 0 && w.rate > 0 && ldexp((double)w.items, -64) <= w.rate / 2)
        needed = solve_all(in, &w, 0, w.rate);
    if (count == 0)
        l = needed;
    else if (w.items > 0)
        l = fit(in, &w, count);
    else
        l = asked > 0 ? solve_all(in, &w, count, asked) : half_full(in, &w, count);
    if (l.count == 0 && count == 0)
        return blm__want_less(&w, err);
    if (l.n == 0)
        return blm__fail(err, BLM_E_LIMIT,
                         "%" PRIu64 " %s cannot hold one key at a rate of %g; give more, or a "
                         "higher rate",
                         w.cells, in->cell_bits == 1 ? "bits" : "counters", asked);
    fill_plan(&l, out);
    uint64_t enough = w.items == 0        ? out->bits
                      : needed.count == 0 ? UINT64_MAX
                                          : needed.count * in->cells;
    return blm__plan_finish(o, in->cell_bits, asked, enough, out, err);
}

blm_status blm__plan_lines(const blm_options *o, blm_plan *out, blm_error *err)
{
    return plan(&bits, o, out, err);
}

blm_status blm__plan_layer(const blm_options *o, blm_plan *out, blm_error *err)
{
    return plan(&layers, o, out, err);
}

blm_status blm__plan_words(const blm_options *o, blm_plan *out, blm_error *err)
{
    return plan(&ages, o, out, err);
}

blm_status blm__plan_counters(const blm_options *o, blm_plan *out, blm_error *err)
{
    return plan(&counters, o, out, err);
}
