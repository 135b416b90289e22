/* SPDX-License-Identifier: MIT */
/*
 * Theory and measurement side by side: the tables of docs/maths.md. Nothing here depends on speed,
 * so the same seeds give the same figures on every machine.
 *
 *   rates [SECTION …]       small large double estimate; default: all (about a minute)
 *
 * "error" is the standard error of the measured mean. A mean that is off by more than three
 * standard errors needs an explanation.
 */
#include <bloomery.h>
#include <bloomery/maths.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 5000u

static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static uint64_t next(uint64_t *state) { return mix(*state += 0x9e3779b97f4a7c15u); }

static void must(blm_status s, const char *what)
{
    if (s < 0) {
        fprintf(stderr, "rates: %s: %s\n", what, blm_status_text(s));
        exit(2);
    }
}

/* Mean and standard error of a series. */
struct mean {
    double sum, squares, count;
};
static void take(struct mean *m, double v)
{
    m->sum += v;
    m->squares += v * v;
    m->count++;
}
static double mean(const struct mean *m) { return m->sum / m->count; }
static double error(const struct mean *m)
{
    return sqrt(fmax(m->squares / m->count - mean(m) * mean(m), 0) / m->count);
}

/* ---- filters ---- */

static blm_filter *make(blm_kind kind, uint64_t n, double p, uint64_t seed, blm_plan *plan)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   err;
    blm_filter *f;
    o.kind    = kind;
    o.items   = n;
    o.rate    = p;
    o.flags   = BLM_SEEDED;
    o.seed[0] = seed;
    must(blm_plan_for(&o, plan, &err), "plan");
    must(blm_create(&o, &f, &err), "create");
    return f;
}

static void fill(blm_filter *f, uint64_t n, uint64_t *rng)
{
    static uint64_t keys[BATCH];
    while (n > 0) {
        size_t some = n < BATCH ? (size_t)n : BATCH;
        for (size_t i = 0; i < some; i++)
            keys[i] = next(rng);
        must(blm_add_fixed(f, keys, 8, some, NULL, NULL), "add");
        n -= some;
    }
}

/* Keys are 64 random bits, so an absent key is a member with a chance of n/2^64. */
static uint64_t ask(const blm_filter *f, uint64_t questions, uint64_t *rng)
{
    static uint64_t keys[BATCH];
    uint64_t        hits = 0;
    while (questions > 0) {
        size_t some = questions < BATCH ? (size_t)questions : BATCH;
        for (size_t i = 0; i < some; i++)
            keys[i] = next(rng);
        hits += blm_check_fixed(f, keys, 8, some, NULL);
        questions -= some;
    }
    return hits;
}

static void row(blm_kind kind, uint64_t n, double p, unsigned filters, uint64_t questions)
{
    struct mean seen = { 0, 0, 0 };
    blm_plan    plan = { .size = sizeof plan };
    uint64_t    rng  = n;
    double      hits = 0;
    for (unsigned i = 0; i < filters; i++) {
        blm_filter *f = make(kind, n, p, next(&rng), &plan);
        fill(f, n, &rng);
        uint64_t h = ask(f, questions, &rng);
        hits += (double)h;
        take(&seen, (double)h / (double)questions);
        blm_free(f);
    }
    double off = filters > 1 ? error(&seen) : sqrt(hits) / (double)questions;
    printf("| %s | %" PRIu64 " | %g | %" PRIu64 " | %u", blm_kind_name(kind), n, p, plan.bits,
           plan.probes);
    if (plan.lines)
        printf(" (%u×%u)", plan.lines, plan.probes / plan.lines);
    blm_rate usual = { .size = sizeof usual };
    must(blm_rate_of(BLM_MODEL_USUAL, plan.bits, plan.probes, 0, n, &usual), "usual");
    printf(" | %.5g | %.5g | %.5g | %.1g |\n", usual.value, plan.rate, mean(&seen), off);
    fflush(stdout);
}

static const char *const head =
    "| kind | n | p asked | bits | k | usual formula | modelled | measured | error |\n"
    "|---|---|---|---|---|---|---|---|---|\n";

static void small(void)
{
    static const uint64_t items[] = { 10, 100, 1000 };
    static const double   rates[] = { 0.1, 0.01, 0.001 };
    printf("Small filters: 10 000 of each, 5 000 questions to each\n\n%s", head);
    for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                row((blm_kind)kind, items[i], rates[j], 10000, 5000);
    row(BLM_BLOCKED, 1000, 0.0001, 10000, 5000);
}

static void large(void)
{
    static const double rates[] = { 0.1, 0.01, 0.001, 0.0001 };
    printf("One filter of a million keys, 2e7 questions\n\n%s", head);
    for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++)
        for (int j = 0; j < 4; j++)
            row((blm_kind)kind, 1000000, rates[j], 1, 20000000);
}

/* ---- a + i·b ---- */

static uint64_t below(uint64_t m, uint64_t *rng) { return next(rng) % m; }

static void double_row(uint64_t m, uint32_t k, uint64_t n, unsigned filters, uint64_t questions)
{
    uint8_t *set = malloc((size_t)m);
    uint64_t rng = m, hits = 0;
    blm_rate plain = { .size = sizeof plain }, model = { .size = sizeof model };
    if (!set)
        exit(2);
    for (unsigned f = 0; f < filters; f++) {
        memset(set, 0, (size_t)m);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = below(m, &rng), step = 1 + below(m - 1, &rng);
            for (uint32_t j = 0; j < k; j++, at = (at + step) % m)
                set[at] = 1;
        }
        for (uint64_t i = 0; i < questions; i++) {
            uint64_t at = below(m, &rng), step = 1 + below(m - 1, &rng);
            uint32_t j = 0;
            for (; j < k && set[at]; j++)
                at = (at + step) % m;
            hits += j == k;
        }
    }
    free(set);
    double asked = (double)filters * (double)questions;
    must(blm_rate_of(BLM_MODEL_INDEPENDENT, m, k, 0, n, &plain), "independent");
    must(blm_rate_of(BLM_MODEL_DOUBLE, m, k, 0, n, &model), "double");
    printf("| %" PRIu64 " | %u | %" PRIu64 " | %.4g | %.4g (%.4g … %.4g) | %.4g | %.1g |\n", m, k,
           n, plain.value, model.value, model.low, model.high, (double)hits / asked,
           sqrt((double)hits) / asked);
    fflush(stdout);
}

static void doubles(void)
{
    printf("Probes a + i·b mod m, b ≠ 0\n\n"
           "| m | k | n | independent | model (bounds) | measured | error |\n"
           "|---|---|---|---|---|---|---|\n");
    double_row(96, 7, 10, 20000, 2000);
    double_row(97, 7, 10, 20000, 2000);
    double_row(960, 7, 100, 5000, 10000);
    double_row(967, 7, 100, 5000, 10000);
    double_row(9600, 7, 1000, 2000, 20000);
    double_row(14400, 10, 1000, 1000, 100000);
    double_row(14401, 10, 1000, 1000, 100000); /* a prime */
    double_row(28800, 20, 1000, 1000, 200000);
    double_row(28759, 20, 1000, 1000, 200000); /* a prime */
}

/* ---- estimates from the bits ---- */

/* How often the 95% interval contained the truth, over filters filled to a share of their
 * capacity. */
static void estimate_row(blm_kind kind, uint64_t n, double share)
{
    enum { filters = 10000 };
    struct mean value = { 0, 0, 0 }, width = { 0, 0, 0 };
    unsigned    held = 0;
    uint64_t    rng = 99, keys = (uint64_t)((double)n * share);
    for (int i = 0; i < filters; i++) {
        blm_plan    plan  = { .size = sizeof plan };
        blm_stats   stats = { .size = sizeof stats };
        blm_filter *f     = make(kind, n, 0.01, next(&rng), &plan);
        fill(f, keys, &rng);
        must(blm_get_stats(f, &stats), "stats");
        take(&value, stats.estimated.value);
        take(&width, stats.estimated.high - stats.estimated.low);
        held += stats.estimated.low <= (double)keys && (double)keys <= stats.estimated.high;
        blm_free(f);
    }
    printf("| %s | %" PRIu64 " | %" PRIu64 " | %.2f | ±%.2f | %.1f%% |\n", blm_kind_name(kind), n,
           keys, mean(&value), mean(&width) / 2, 100.0 * held / filters);
}

static void estimates(void)
{
    static const double shares[] = { 0.1, 1, 4 };
    printf("Keys from the bits, 10 000 filters each, planned for 1%%\n\n"
           "| kind | planned | keys in it | mean estimate | mean interval | held the truth |\n"
           "|---|---|---|---|---|---|\n");
    for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++)
        for (int i = 0; i < 3; i++)
            estimate_row((blm_kind)kind, 10000, shares[i]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } section[] = {
        { "small", small }, { "large", large }, { "double", doubles }, { "estimate", estimates }
    };
    for (size_t i = 0; i < sizeof section / sizeof *section; i++) {
        bool wanted = argc < 2;
        for (int j = 1; j < argc; j++)
            wanted |= strcmp(argv[j], section[i].name) == 0;
        if (wanted) {
            section[i].run();
            putchar('\n');
        }
    }
    return 0;
}
