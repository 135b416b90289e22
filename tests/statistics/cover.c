/* SPDX-License-Identifier: MIT */
/*
 * Do the intervals hold what they say? Each row counts, over many filters with other seeds, how often
 * an interval held the truth, and asks by an exact binomial test (one-sided) whether that is fewer
 * than its confidence. More is not wrong: bounds hold for sure more often than they say.
 *
 * The interval of a measured rate (Clopper–Pearson) is not tried but worked out: its coverage is a sum
 * over all outcomes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "statistics.h"

#define N 1000u

struct row {
    char     what[24], kind[24];
    uint64_t n, shared; /* keys; of them in both filters */
    double   confidence;
    uint64_t held, seeds;
    double   width; /* of the interval over the truth, mean */
    size_t   claim;
};
static struct row *table;
static size_t      rows;

static struct row *new_row(const char *what, const char *kind, uint64_t n, uint64_t shared,
                           double confidence)
{
    table = realloc(table, (rows + 1) * sizeof *table);
    if (!table)
        exit(2);
    struct row *r = &table[rows++];
    *r            = (struct row){ .n = n, .shared = shared, .confidence = confidence };
    snprintf(r->what, sizeof r->what, "%s", what);
    snprintf(r->kind, sizeof r->kind, "%s", kind);
    return r;
}

static void look(struct row *r, double low, double high, double truth)
{
    r->held += low <= truth && truth <= high;
    r->seeds++;
    r->width += (high - low) / (truth > 0 ? truth : 1);
}

static void finish(struct row *r)
{
    static bool comma;
    double      p = chance_below(r->held, r->seeds, r->confidence);
    r->claim      = judge(p);
    printf("%s\n  {\"what\": \"%s\", \"kind\": \"%s\", \"n\": %" PRIu64 ", \"shared\": %" PRIu64
           ", \"confidence\": %g, \"seeds\": %" PRIu64 ", \"held\": %" PRIu64
           ", \"width\": %.4g, \"p_short\": %.4g}",
           comma ? "," : "", r->what, r->kind, r->n, r->shared, r->confidence, r->seeds, r->held,
           r->width / (double)r->seeds, p);
    fflush(stdout);
    comma = true;
}

/* ---- filters ---- */

static blm_filter *make(const char *scheme, blm_kind kind, uint64_t seed)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.kind    = kind;
    o.scheme  = scheme;
    o.items   = N;
    o.rate    = 0.01;
    o.flags   = scheme ? 0 : BLM_SEEDED;
    o.seed[0] = mix(seed);
    o.seed[1] = mix(seed + ((uint64_t)kind << 40));
    must(blm_create(&o, &f, NULL), "create");
    return f;
}

static void add(blm_filter *f, uint64_t first, uint64_t n)
{
    static uint64_t keys[8 * N];
    for (uint64_t i = 0; i < n; i++)
        keys[i] = first + i;
    must(blm_add_fixed(f, keys, 8, (size_t)n, NULL, NULL), "add");
}

/* ---- one filter: how many keys, how full, which rate ---- */

/* Each of n keys comes so many times, after the others. */
static void items(blm_kind kind, uint64_t n, unsigned times, uint64_t seeds)
{
    struct row *r = new_row(times > 1 ? "again" : "items", blm_kind_name(kind), n, 0, 0.95);
    for (uint64_t s = 0; s < seeds; s++) {
        blm_filter *f       = make(NULL, kind, s);
        blm_stats   look_at = { .size = sizeof look_at };
        for (unsigned i = 0; i < times; i++)
            add(f, 0, n);
        must(blm_get_stats(f, &look_at), "stats");
        look(r, look_at.estimated.low, look_at.estimated.high, (double)n);
        blm_free(f);
    }
    finish(r);
}

/* scheme NULL: native and classic, k independent probes; else one with derived ones, which has no
 * seed and gets other keys. */
static void fill(const char *scheme, uint64_t n, double confidence, uint64_t seeds)
{
    struct row *r = new_row("fill", scheme ? scheme : "classic", n, 0, confidence);
    for (uint64_t s = 0; s < seeds; s++) {
        blm_filter  *f     = make(scheme, BLM_CLASSIC, s);
        blm_stats    stats = { .size = sizeof stats };
        blm_estimate e;
        add(f, scheme ? mix(s) : 0, n);
        must(blm_get_stats(f, &stats), "stats");
        must(blm_fill_interval(stats.params.bits, stats.params.probes, n, scheme != NULL,
                               confidence, &e),
             "fill");
        look(r, e.low, e.high, stats.fill);
        blm_free(f);
    }
    finish(r);
}

/* The truth is the rate that the bits give, which for these kinds is exact. */
static void rate(blm_kind kind, uint64_t trials, uint64_t seeds)
{
    struct row *r = new_row("rate", blm_kind_name(kind), N, 0, 0.95);
    for (uint64_t s = 0; s < seeds; s++) {
        blm_filter *f = make(NULL, kind, s);
        blm_trial   t = { .size = sizeof t };
        add(f, 0, N);
        must(blm_try_rate(f, NULL, trials, mix(~s), &t, NULL), "trial");
        look(r, t.low, t.high, t.modelled);
        blm_free(f);
    }
    finish(r);
}

/* ---- two filters ---- */

static void overlap(blm_kind kind, uint64_t n, uint64_t shared, uint64_t seeds)
{
    static const char *const what[] = { "a", "b", "both", "either", "jaccard" };
    double      truth[] = { (double)n, (double)n, (double)shared, (double)(2 * n - shared),
                            (double)shared / (double)(2 * n - shared) };
    size_t      first   = rows;
    const char *name    = blm_kind_name(kind);
    for (size_t i = 0; i < 5; i++)
        new_row(what[i], name, n, shared, 0.95);
    for (uint64_t s = 0; s < seeds; s++) {
        blm_filter *a = make(NULL, kind, s), *b = make(NULL, kind, s);
        blm_overlap o = { .size = sizeof o };
        add(a, 0, n);
        add(b, n - shared, n);
        must(blm_compare(a, b, &o, NULL), "compare");
        const blm_estimate *e[] = { &o.a, &o.b, &o.both, &o.either, &o.jaccard };
        for (size_t i = 0; i < 5; i++)
            look(&table[first + i], e[i]->low, e[i]->high, truth[i]);
        blm_free(a);
        blm_free(b);
    }
    for (size_t i = 0; i < 5; i++)
        finish(&table[first + i]);
}

/* ---- Clopper–Pearson ---- */

static double log_mass(double h, double n, double p)
{
    return lgamma(n + 1) - lgamma(h + 1) - lgamma(n - h + 1) + h * log(p) + (n - h) * log1p(-p);
}

static double least_coverage(uint64_t trials, double confidence)
{
    double  least = 1;
    double *low = malloc((trials + 1) * sizeof *low), *high = malloc((trials + 1) * sizeof *high);
    if (!low || !high)
        exit(2);
    for (uint64_t h = 0; h <= trials; h++)
        must(blm_binomial_interval(h, trials, confidence, &low[h], &high[h]), "interval");
    for (int i = 1; i < 400; i++) {
        double p = pow(10, -4.0 * i / 400), sum = 0;
        for (uint64_t h = 0; h <= trials; h++)
            if (low[h] <= p && p <= high[h])
                sum += exp(log_mass((double)h, (double)trials, p));
        least = fmin(least, sum);
    }
    free(low);
    free(high);
    return least;
}

static bool binomial_holds = true;

static void binomial(void)
{
    static const uint64_t trials[]     = { 1, 10, 100, 1000 };
    static const double   confidence[] = { 0.5, 0.95, 0.999 };
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++) {
            double least = least_coverage(trials[i], confidence[j]);
            printf(",\n  {\"what\": \"binomial\", \"trials\": %" PRIu64
                   ", \"confidence\": %g, \"least\": %.6g}",
                   trials[i], confidence[j], least);
            binomial_holds &= least >= confidence[j] - 1e-9;
        }
}

void coverage(const struct effort *e)
{
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED,  BLM_COUNTING,
                                      BLM_CUCKOO,  BLM_SCALABLE, BLM_WINDOW };
    static const uint64_t apart[] = { 0, 100, 500, 1000 };
    for (size_t k = 0; k < 6; k++)
        for (uint64_t n = 250; n <= 4000; n *= 2) {
            bool keeps = kinds[k] != BLM_CUCKOO && kinds[k] != BLM_WINDOW; /* more than planned */
            if (n <= N || keeps)
                items(kinds[k], n, 1, e->seeds);
        }
    for (uint64_t n = 50; n <= 200; n *= 2) {
        items(BLM_WINDOW, n, 5, e->seeds);
        items(BLM_CUCKOO, n, 2, e->seeds); /* more copies may find no room */
    }
    for (uint64_t n = 100; n <= 3000; n *= 5) {
        fill(NULL, n, 0.95, e->seeds);
        fill(NULL, n, 0.5, e->seeds);
        fill("guava64", n, 0.95, e->seeds);
        fill("guava64", n, 0.5, e->seeds);
    }
    for (size_t k = 0; k < 3; k++) {
        rate(kinds[k], 5000, e->seeds / 4);
        for (size_t i = 0; i < 4; i++)
            overlap(kinds[k], N, apart[i], e->seeds);
        overlap(kinds[k], 2 * N, N, e->seeds); /* both over-filled */
    }
    binomial();
}

bool coverage_verdict(void)
{
    bool fine = binomial_holds;
    for (size_t i = 0; i < rows; i++) {
        struct row *r = &table[i];
        printf("%s%d", i ? ", " : "", rejected(r->claim));
        fine = fine && !rejected(r->claim);
        if (rejected(r->claim))
            fprintf(stderr,
                    "statistics: the interval of %s (%s, %" PRIu64 " keys, %" PRIu64
                    " shared) says %g and held the truth in %" PRIu64 " of %" PRIu64 "\n",
                    r->what, r->kind, r->n, r->shared, r->confidence, r->held, r->seeds);
    }
    if (!binomial_holds)
        fprintf(stderr, "statistics: an exact binomial interval covers less than it says\n");
    return fine;
}
