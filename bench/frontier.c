/* SPDX-License-Identifier: MIT */
/*
 * The frontier: what a rate costs in space and in time, layout by layout, from 1e-1 to 1e-9. The
 * blocked kind's choice of lines follows from this table (docs/performance.md).
 *
 *   frontier [--json] [--quick] [--no-speed] [--no-rates]
 *
 * Layouts: classic (k bits anywhere); L lines of 512 bits per key with one bit in each of k of
 * their eight words, L = 1, 2, 3, the best k for each; a 256-bit split block (eight words of 32
 * bits); and, by formula only, k distinct bits anywhere in one 512-bit line.
 *
 * Space: the fewest bits per key with a modelled rate of at most p. These are the library's plans,
 * and for the other layouts the same inclusion-exclusion over a Poisson load, written here a second
 * time. "formula" is this second opinion on the library's lines too.
 * Rates: filters of a million keys are checked for absent keys until about four hundred wrong
 * answers are expected or 1e8 keys are checked. Below that, a rate rests on the formula.
 * Speed: ns per key, batches, in cache (1e5 keys) and in 128 MiB; 8-byte keys; best of a few
 * rounds.
 */
#include <math.h>

#include "bloomery/maths.h"
#include "clock.h"
#include "keys.h"
#include "memory.h"
#include "report.h"
#include "split.h"

#define SIZED      10000000u /* keys of the plans */
#define RATED      1000000u  /* keys of the filters whose rate is measured */
#define LARGE      ((uint64_t)128 << 20)
#define MOST       100000000u
#define BATCH      65536u
#define ROUNDS     5
#define SAMPLE     1000000u
#define CONFIDENCE 0.999

static bool json, quick, first = true;

/* ---- the second opinion: F_k(λ), all k bits asked for are set in a block with λ keys ---- */

static double choose(unsigned n, unsigned k)
{
    double c = 1;
    for (unsigned i = 0; i < k; i++)
        c = c * (n - i) / (i + 1);
    return c;
}

/* One bit in each of k of `words` words of `width` bits, any k of them. In long double: terms of
 * up to C(8, 4) cancel down to 1e-9 and keep nine digits. */
static double block_rate(unsigned words, double width, unsigned k, double load)
{
    long double sum = 0;
    for (unsigned t = 0; t <= k; t++) {
        long double clear = 0; /* one key leaves t given bits clear */
        for (unsigned s = t + k > words ? t + k - words : 0; s <= t; s++)
            clear += (long double)(choose(t, s) * choose(words - t, k - s) / choose(words, k)) *
                     powl(1 - 1 / (long double)width, s);
        sum +=
            (t % 2 ? -1 : 1) * (long double)choose(k, t) * expl(-(long double)load * (1 - clear));
    }
    return (double)sum;
}

/* k distinct bits anywhere in one line: summed over the number of keys in it, every term
 * positive. */
static double random_rate(unsigned width, unsigned k, double load)
{
    double sum = 0, chance = exp(-load), miss = 1;
    for (unsigned i = 0; i < 20 + 2 * load; i++) {
        double fill = 1 - miss, all = 1;
        for (unsigned j = 0; j < k; j++) /* distinct: drawn without replacement */
            all *= fmax(fill * width - j, 0) / (width - j);
        sum += chance * all;
        chance *= load / (i + 1);
        miss *= 1 - (double)k / width;
    }
    return sum;
}

/* The highest load at which a rate holds, by bisection. */
static double load_at(double p, unsigned words, double width, unsigned k, bool spread)
{
    double low = 0, high = 300; /* a line at 1e-1 takes 107 */
    for (int i = 0; i < 50; i++) {
        double load = (low + high) / 2;
        double rate =
            spread ? random_rate((unsigned)width, k, load) : block_rate(words, width, k, load);
        *(rate <= p ? &low : &high) = load;
    }
    return low;
}

/* ---- a layout at a rate ---- */

enum family { CLASSIC, LINES, SPLIT, SPREAD };

struct layout {
    enum family family;
    unsigned    lines, words; /* LINES: L and k; SPLIT, SPREAD: words = k; CLASSIC: words = k */
    double      p, bits, formula;
    bool        rule; /* the blocked kind's choice at this rate */
    double      measured, low, high;
    uint64_t    trials;
};

static void name_of(const struct layout *l, char out[32])
{
    static const char *const family[] = { "classic", "lines", "split", "spread" };
    if (l->family == LINES)
        snprintf(out, 32, "%ux%u", l->lines, l->words);
    else
        snprintf(out, 32, "%s %u", family[l->family], l->words);
}

static blm_options options_of(const struct layout *l, uint64_t n)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = l->family == CLASSIC ? BLM_CLASSIC : BLM_BLOCKED;
    o.items       = n;
    o.rate        = l->p;
    o.lines       = l->family == LINES ? l->lines : 0;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 5;
    return o;
}

static void plan(struct layout *l)
{
    blm_plan    made = { .size = sizeof made };
    blm_error   e;
    blm_options o = options_of(l, SIZED);
    if (blm_plan_for(&o, &made, &e) != BLM_OK) {
        fprintf(stderr, "frontier: %s\n", e.text);
        exit(2);
    }
    l->bits  = (double)made.bits / SIZED;
    l->words = made.probes;
    if (l->family == CLASSIC)
        return;
    l->words   = made.probes / made.lines;
    l->lines   = made.lines;
    l->formula = 512 * l->lines / load_at(pow(l->p, 1.0 / l->lines), 8, 64, l->words, false);
}

/* The split block is published with k = 8; the best k for k bits anywhere is looked for. */
static void plan_other(struct layout *l)
{
    l->lines = 1;
    if (l->family == SPLIT) {
        l->words = 8;
        l->bits = l->formula = 256 / load_at(l->p, 8, 32, 8, false);
        return;
    }
    for (unsigned k = 1; k <= 24; k++) {
        double bits = 512 / load_at(l->p, 0, 512, k, true);
        if (l->bits == 0 || bits < l->bits) {
            l->bits = l->formula = bits;
            l->words             = k;
        }
    }
}

/* ---- rates ---- */

static uint64_t wrong_of(const blm_filter *f, const struct split *s, uint64_t trials)
{
    static uint64_t keys[BATCH];
    static uint8_t  answers[BATCH];
    uint64_t        wrong = 0;
    for (uint64_t at = 0; at < trials; at += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            keys[i] = number(1, at + i);
        wrong += f ? blm_check_fixed(f, keys, 8, BATCH, answers)
                   : split_check_many(s, (const char *)keys, 8, BATCH, answers);
    }
    return wrong;
}

static blm_filter *make(const struct layout *l, uint64_t n)
{
    blm_options o = options_of(l, n);
    blm_filter *f;
    if (blm_create(&o, &f, NULL) != BLM_OK)
        exit(2);
    return f;
}

static void measure_rate(struct layout *l)
{
    double       trials = 400 / l->p;
    blm_filter  *f      = NULL;
    struct split s      = { 0 };
    if (l->family == SPREAD || trials > 1000 * (double)MOST)
        return;
    trials    = fmin(trials, quick ? MOST / 10 : MOST);
    l->trials = ((uint64_t)trials + BATCH - 1) / BATCH * BATCH;
    if (l->p * (double)l->trials < 50) { /* too few to say anything */
        l->trials = 0;
        return;
    }
    struct keys k = make_keys(INTS, 0, RATED, RATED);
    if (l->family == SPLIT) {
        split_open(&s, RATED, l->bits);
        split_add_many(&s, k.bytes, 8, RATED);
    } else {
        f = make(l, RATED);
        blm_add_fixed(f, k.bytes, 8, RATED, NULL, NULL);
    }
    uint64_t wrong = wrong_of(f, &s, l->trials);
    l->measured    = (double)wrong / (double)l->trials;
    blm_binomial_interval(wrong, l->trials, CONFIDENCE, &l->low, &l->high);
    blm_free(f);
    split_close(&s);
    free_keys(&k);
}

/* ---- speed ---- */

static volatile uint64_t sink; /* keeps the compiler from dropping the work */

struct speed {
    double add, hit, miss;
};

static void pass(blm_filter *f, struct split *s, const struct keys *k, bool add, double *best)
{
    static uint8_t answers[SAMPLE];
    struct watch   w = { 0, 0 };
    watch_go(&w);
    if (add && f)
        blm_add_fixed(f, k->bytes, 8, k->n, answers, NULL);
    else if (add)
        split_add_many(s, k->bytes, 8, k->n);
    else if (f)
        sink += blm_check_fixed(f, k->bytes, 8, k->n, answers);
    else
        sink += split_check_many(s, k->bytes, 8, k->n, answers);
    watch_halt(&w);
    least(best, w.spent / (double)k->n);
}

static void fill(blm_filter *f, struct split *s, uint64_t n)
{
    size_t      run = n < 16 * SAMPLE ? (size_t)n : 16 * SAMPLE;
    struct keys k   = { INTS, run, 8, need(malloc(run * 8)), NULL };
    for (uint64_t at = 0; at < n; at += k.n) {
        k.n = n - at < run ? (size_t)(n - at) : run;
        for (size_t i = 0; i < k.n; i++)
            write_key(INTS, 0, at + i, k.bytes + i * 8);
        if (f)
            blm_add_fixed(f, k.bytes, 8, k.n, NULL, NULL);
        else
            split_add_many(s, k.bytes, 8, k.n);
    }
    free_keys(&k);
}

/* Adds come last, to the full filter, with new keys in every round. */
static struct speed measure_speed(const struct layout *l, uint64_t n)
{
    struct speed v  = { 0, 0, 0 };
    size_t       q  = n < SAMPLE ? (size_t)n : SAMPLE;
    struct split s  = { 0 };
    blm_filter  *f  = NULL;
    struct keys  in = make_keys(INTS, 0, q, n), out = make_keys(INTS, 1, q, q);
    if (l->family == SPLIT)
        split_open(&s, n, l->bits);
    else
        f = make(l, n);
    fill(f, &s, n);
    for (int r = 0; r < ROUNDS * (n < SAMPLE ? 4 : 1); r++) {
        pass(f, &s, &in, false, &v.hit);
        pass(f, &s, &out, false, &v.miss);
    }
    for (int r = 0; r < ROUNDS; r++) {
        struct keys fresh = make_keys(INTS, 2 + (unsigned)r, q, q);
        pass(f, &s, &fresh, true, &v.add);
        free_keys(&fresh);
    }
    blm_free(f);
    split_close(&s);
    free_keys(&in);
    free_keys(&out);
    return v;
}

/* ---- the tables ---- */

static void print_layout(const struct layout *l)
{
    char   name[32];
    double ideal = -log(l->p) / (M_LN2 * M_LN2);
    name_of(l, name);
    if (json) {
        printf("%s\n  {\"p\": %g, \"layout\": \"%s\", \"bits\": %.3f, \"over\": %.4f, \"rule\": %s",
               first ? "" : ",", l->p, name, l->bits, l->bits / ideal - 1,
               l->rule ? "true" : "false");
        if (l->formula > 0)
            printf(", \"formula\": %.3f", l->formula);
        if (l->trials)
            printf(", \"measured\": %.4g, \"low\": %.4g, \"high\": %.4g, \"trials\": %.0f",
                   l->measured, l->low, l->high, (double)l->trials);
        printf("}");
        first = false;
    } else {
        printf("%-6.0e %-10s%s %8.2f %+7.1f%%", l->p, name, l->rule ? "*" : " ", l->bits,
               100 * (l->bits / ideal - 1));
        if (l->trials)
            printf("   %.4g (%.4g … %.4g)", l->measured, l->low, l->high);
        putchar('\n');
    }
    fflush(stdout);
}

static void print_speed(const struct layout *l, const char *where, struct speed v)
{
    char name[32];
    name_of(l, name);
    if (json)
        printf("%s\n  {\"layout\": \"%s\", \"where\": \"%s\", \"add\": %.2f, \"hit\": %.2f, "
               "\"miss\": %.2f}",
               first ? "" : ",", name, where, v.add, v.hit, v.miss);
    else
        printf("%-10s %-7s %6.1f %6.1f %6.1f\n", name, where, v.add, v.hit, v.miss);
    first = false;
    fflush(stdout);
}

#define RATES 9
#define ROW   6 /* classic, L = 1 2 3, split, spread */

static void make_row(struct layout row[ROW], double p, bool rates)
{
    static const enum family family[ROW] = { CLASSIC, LINES, LINES, LINES, SPLIT, SPREAD };
    struct layout            rule        = { .family = LINES, .p = p };
    plan(&rule); /* lines not given: the kind's own choice */
    for (unsigned i = 0; i < ROW; i++) {
        row[i] =
            (struct layout){ .family = family[i], .p = p, .lines = family[i] == LINES ? i : 0 };
        if (family[i] == CLASSIC || family[i] == LINES)
            plan(&row[i]);
        else
            plan_other(&row[i]);
        row[i].rule =
            family[i] == LINES && row[i].lines == rule.lines && row[i].words == rule.words;
        if (rates)
            measure_rate(&row[i]);
        print_layout(&row[i]);
    }
}

/* A shape's speed does not depend on its rate, except for how soon a check is answered "no". So
 * each is measured once, at the first rate of the table where it is the best. */
static void speeds(struct layout table[RATES][ROW])
{
    char seen[RATES * ROW][32], name[32];
    int  count = 0;
    for (int r = 0; r < RATES; r++)
        for (int i = 0; i < ROW - 1; i++) {
            const struct layout *l = &table[r][i];
            bool new               = true;
            name_of(l, name);
            for (int j = 0; j < count; j++)
                new = new &&strcmp(seen[j], name) != 0;
            /* Classic is only here for comparison, so every third rate is enough. */
            if (!new || (l->family == CLASSIC && r % 3 != 1) || (quick && !l->rule))
                continue;
            strcpy(seen[count++], name);
            print_speed(l, "cache", measure_speed(l, 100000));
            print_speed(l, "memory", measure_speed(l, (uint64_t)((double)LARGE * 8 / l->bits)));
        }
}

int main(int argc, char **argv)
{
    static struct layout table[RATES][ROW];
    bool                 rates = true, speed = true;
    for (int i = 1; i < argc; i++) {
        json |= strcmp(argv[i], "--json") == 0;
        quick |= strcmp(argv[i], "--quick") == 0;
        rates &= strcmp(argv[i], "--no-rates") != 0;
        speed &= strcmp(argv[i], "--no-speed") != 0;
    }
    if (json) {
        report_head("frontier", argc, argv);
        printf(" \"confidence\": %g,\n \"space\": [", CONFIDENCE);
    } else
        printf("p      layout         bits    over   rate measured (interval); *: what blocked "
               "takes\n");
    for (int i = 0; i < RATES; i++)
        make_row(table[i], pow(10, -1 - i), rates);
    first = true;
    if (json)
        printf("\n ],\n \"unit\": \"ns/key\", \"speed\": [");
    else if (speed)
        printf("\nlayout     where      add    hit   miss   (ns a key, batches)\n");
    if (speed)
        speeds(table);
    if (json)
        printf("\n ]}\n");
    return 0;
}
