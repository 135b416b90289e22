/* SPDX-License-Identifier: MIT */
/*
 * The rate of native blocked and counting probes (core/probe.h): L lines a key, and in each line
 * one cell in each of k of its eight groups, the groups being a pattern rotated at random. A line
 * has 512 bits in groups of 64 (blocked) or 128 counters in groups of 16; below, "word" and "bit".
 *
 * A question's line is passed when its k bits are set. For a set T of its words let h(T) be the
 * chance that one key of that line sets a bit asked for in T; then, with N keys thrown at nb
 * lines, inclusion–exclusion over T gives the chance F that all k are set:
 *
 *     F = Σ_T (−1)^|T| · (1 − h(T)/nb)^N
 *
 * exactly, for the patterns in use. The terms cancel where F is small; there F is summed over the
 * number of keys in the line instead, where every term is positive. With L lines the rate is
 * E[V^L], V being the share of all possible one-line questions that pass: F^L and a little more,
 * because V varies from filter to filter. docs/maths.md, "Lines".
 */
#include <math.h>
#include <string.h>

#include "bloomery/maths.h"
#include "core/probe.h"
#include "maths/sizing.h"

#define BLM__CANCELS   1e-6  /* below, the alternating sum has lost half its digits */
#define BLM__LOAD_MOST 600.0 /* keys a line; above, its fill has no spread to speak of */

/* The alternating sum's terms: sign and multiplicity, and h(T). 1, 7 and 8 words make all sets of
 * one size alike; else each of at most 2^6 sets stands for itself. */
struct terms {
    uint32_t count, words;
    double   width; /* cells of a word: 64 or 16 */
    double   miss;  /* one of them, asked for and not met: 1 − 1/width */
    double   weight[64], hit[64];
};

/* Keys per line of a question: binomial, or with lines = INFINITY Poisson. */
struct load {
    double keys, lines, mean;
};

static unsigned pattern(uint32_t words, unsigned turn)
{
    return blm__line_words((uint64_t)turn << 61, words);
}

static double hit_chance(const struct terms *t, unsigned set)
{
    double hit[9] = { 0 }, sum = 0; /* hit[i] = 1 − miss^i */
    for (unsigned i = 0; i < 8; i++)
        hit[i + 1] = 1 / t->width + hit[i] * t->miss;
    for (unsigned turn = 0; turn < 8; turn++)
        sum += hit[BLM__POPCOUNT64(set & pattern(t->words, turn))];
    return sum / 8;
}

static void make_terms(uint32_t cells, uint32_t words, struct terms *t)
{
    unsigned all = pattern(words, 0);
    t->count     = 0;
    t->words     = words;
    t->width     = cells / 8;
    t->miss      = 1 - 1 / t->width;
    if (words == 1 || words >= 7) {
        double choose = 1; /* (−1)^i · C(words, i) */
        for (uint32_t i = 0; i <= words; i++) {
            t->weight[t->count] = choose;
            t->hit[t->count++]  = hit_chance(t, (1u << i) - 1);
            choose *= -(double)(words - i) / (i + 1);
        }
        return;
    }
    for (unsigned set = all;; set = (set - 1) & all) {
        t->weight[t->count] = BLM__POPCOUNT64(set) % 2 ? -1 : 1;
        t->hit[t->count++]  = hit_chance(t, set);
        if (set == 0)
            return;
    }
}

/* ln of the chance that no key hits. */
static double log_miss(const struct load *l, double hit)
{
    return isinf(l->lines) ? -l->mean * hit : l->keys * log1p(-hit / l->lines);
}

static double alternating(const struct terms *t, const struct load *l)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->count; i++)
        sum += t->weight[i] * exp(log_miss(l, t->hit[i]));
    return sum;
}

/* dF/dλ, λ being the mean load. */
static double slope(const struct terms *t, const struct load *l)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        double log = log_miss(l, t->hit[i]);
        sum += t->weight[i] * log * exp(log);
    }
    return l->mean > 0 ? sum / l->mean : 0;
}

/* The chance of no key in the line, and that of i + 1 from that of i. */
static double load_first(const struct load *l) { return exp(log_miss(l, 1)); }

static double load_next(const struct load *l, double i, double chance)
{
    if (l->lines <= 1)
        return i + 1 == l->keys;
    double ratio = isinf(l->lines) ? l->mean : (l->keys - i) / (l->lines - 1);
    return chance * ratio / (i + 1);
}

/* One more key in the line: u[S] is the chance that of the words asked for, S are met. */
static void one_key(const struct terms *t, double *u)
{
    const uint32_t words    = t->words;
    const unsigned all      = pattern(words, 0);
    double         sum[128] = { 0 }, turned[128];
    const unsigned sets     = 1u << words;
    for (unsigned turn = 0; turn < 8; turn++) {
        memcpy(turned, u, sets * sizeof *u);
        unsigned bit = 1;
        for (unsigned word = 0; word < 8; word++) {
            if (!(all >> word & 1))
                continue;
            for (unsigned s = 0; s < sets && pattern(words, turn) >> word & 1; s++)
                if (!(s & bit)) {
                    turned[s | bit] += turned[s] / t->width;
                    turned[s] *= t->miss;
                }
            bit <<= 1;
        }
        for (unsigned s = 0; s < sets; s++)
            sum[s] += turned[s] / 8;
    }
    memcpy(u, sum, sets * sizeof *u);
}

/* F again, every term positive: over the number of keys in the line. For light loads. */
static double over_loads(const struct terms *t, const struct load *l)
{
    double u[128] = { 1 }, chance = load_first(l), sum = 0, met = 0;
    for (double i = 0; i < l->keys; i++) {
        chance = load_next(l, i, chance);
        if (t->words == 8) { /* every key has a bit in every word */
            met = pow(-expm1((i + 1) * log(t->miss)), 8);
        } else {
            one_key(t, u);
            met = u[(1u << t->words) - 1];
        }
        sum += chance * met;
        if (i > l->mean && chance * met <= 1e-16 * sum)
            break;
    }
    return sum;
}

static double one_line(const struct terms *t, const struct load *l)
{
    double f = alternating(t, l);
    if (f < BLM__CANCELS)
        f = over_loads(t, l);
    return f < 1 ? f : 1;
}

/* Two questions of one line: what the second's chance gains, given i keys, from the first having
 * passed. Their words overlap in k²/8 places; in each, the fill of its bits has its own spread. */
static double twice(const struct terms *t, double i)
{
    double keys = i * t->words / 8, miss = pow(t->miss, keys), fill = 1 - miss;
    if (fill <= 0)
        return 1;
    double neither = pow(1 - 2 / t->width, keys);
    double both    = fill / t->width + t->miss * (1 - 2 * miss + neither);
    return pow(both / (fill * fill), t->words * t->words / 8.0);
}

/* E[v²] over the load, v being a line's share of passing questions. */
static double second_moment(const struct terms *t, const struct load *l)
{
    double power[64], sum = 0, chance = load_first(l), first = l->lines <= 1 ? l->keys : 0;
    for (uint32_t j = 0; j < t->count; j++)
        power[j] = t->weight[j] * pow(1 - t->hit[j], first);
    if (first > 0)
        chance = 1;
    for (double i = first; i <= l->keys; i++) {
        double v = 0;
        for (uint32_t j = 0; j < t->count; j++) {
            v += power[j];
            power[j] *= 1 - t->hit[j];
        }
        sum += chance * v * v * twice(t, i);
        if (i > l->mean && chance < 1e-12)
            break;
        chance = load_next(l, i, chance);
    }
    return sum;
}

/* Var V / F²: that of one line's v, spread over all lines, less what their loads have in common:
 * they add up to N, so that a fuller line leaves the others emptier. */
static double spread(const struct terms *t, const struct load *l, double f)
{
    if (f < 1e-150 || l->mean > BLM__LOAD_MOST)
        return 0;
    double rise = slope(t, l);
    double own  = second_moment(t, l) - f * f;
    double var  = (own - (1 - 1 / l->lines) * l->mean * rise * rise) / l->lines;
    return var > 0 ? var / (f * f) : 0;
}

double blm__line_rate(uint32_t cells, uint32_t words, double load)
{
    struct terms t;
    struct load  l = { INFINITY, INFINITY, load };
    make_terms(cells, words, &t);
    return load > 0 ? one_line(&t, &l) : 0;
}

void blm__model_lines(uint32_t cells, uint64_t line_count, uint32_t words, uint32_t lines,
                      uint64_t n, blm_rate *out)
{
    struct terms t;
    struct load  l = { (double)n * lines, (double)line_count, 0 };
    double       f = 0, c = 0;
    l.mean = l.keys / l.lines;
    if (n > 0) {
        make_terms(cells, words, &t);
        f = one_line(&t, &l);
        c = lines > 1 ? spread(&t, &l, f) : 0;
    }
    /* The moments of a gamma distribution with this mean and variance. */
    double low = pow(f, lines), rise = 1, top = 1;
    for (uint32_t i = 1; i < lines; i++) {
        rise *= 1 + i * c;
        top *= 1 + 3 * i * c;
    }
    out->low    = blm__with_collisions(low, n);
    out->value  = blm__with_collisions(fmin(low * rise, 1), n);
    out->high   = blm__with_collisions(fmin(low * top, 1), n);
    out->method = lines > 1 && n > 0 ? BLM_BY_BOUND : BLM_BY_SUM;
}

double blm__rate_lines(uint32_t cells, uint64_t line_count, uint32_t words, uint32_t lines,
                       uint64_t n)
{
    blm_rate r;
    blm__model_lines(cells, line_count, words, lines, n, &r);
    return r.value;
}
