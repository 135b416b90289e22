/* SPDX-License-Identifier: MIT */
/*
 * From set bits back to keys, and from keys to how many bits will be set.
 *
 * n keys leave a bit clear with a chance of e^(−kn/m), so n follows from the share of set bits
 * (Swamidass and Baldi). The intervals come from the variance of the number of clear bits Z after
 * μ = kn/m throws per bit: m·e^−μ·(1 − (1 + μ)·e^−μ). docs/maths.md, "Back from the bits".
 */
#include <math.h>

#include "bloomery/maths.h"
#include "maths/sizing.h"

#define BLM__Z95   1.95996398454005423552 /* 95% of a normal distribution lies within ± this */
#define BLM__EULER 0.57721566490153286061

/* ---- how full ---- */

blm_status blm_fill_interval(uint64_t m, uint32_t k, uint64_t n, bool derived, double confidence,
                             blm_estimate *out)
{
    if (!out || m == 0 || k == 0 || !(confidence > 0 && confidence < 1))
        return BLM_E_ARGUMENT;
    double throws = (double)k * (double)n, cells = (double)m;
    /* One throw moves the fill by at most 1/m; with derived probes one key moves it by k/m. */
    double moves   = derived ? throws * k : throws;
    double reach   = sqrt(moves * log(2 / (1 - confidence)) / 2) / cells;
    out->value     = n == 0 ? 0 : -expm1(throws * log1p(-1 / cells));
    out->low       = fmax(out->value - reach, 0);
    out->high      = fmin(out->value + reach, fmin(throws / cells, 1));
    out->high      = fmax(out->high, out->value);
    out->saturated = false;
    return BLM_OK;
}

/* ---- how many keys ---- */

/* m·Var(ln Z) when a filter with μ throws a bit is nearly where it is expected to be. */
static double log_variance(double mu)
{
    return mu < 1e-4 ? mu * mu * (0.5 + mu / 6) : expm1(mu) - mu; /* the difference cancels */
}

/* μ̂ = −ln(1 − set/m), and how many more bits μ should set than are set. Both count the set or the
 * clear bits, whichever are fewer, so that one bit in 2^48 still counts. */
static double load_of(double m, double set, double clear)
{
    return set < clear ? -log1p(-set / m) : log(m / clear);
}
static double surplus(double m, double set, double clear, double mu)
{
    return set < clear ? -m * expm1(-mu) - set : clear - m * exp(-mu);
}

/* The μ at which the number of set bits is z standard deviations above (low end) or below (high
 * end) what is expected. The variance is taken there and not at the estimate, which keeps the ends
 * right when few bits are clear. */
static double load_end(double m, double set, double clear, bool high)
{
    double at  = load_of(m, set, clear > 0 ? clear : 0.5);
    double low = high ? at : 0, top = high ? at + 40 : at;
    for (int i = 0; i < 100; i++) {
        double mu = (low + top) / 2, spread = BLM__Z95 * exp(-mu) * sqrt(m * log_variance(mu));
        double past = surplus(m, set, clear, mu) + (high ? -spread : spread);
        if (past > 0)
            top = mu;
        else
            low = mu;
    }
    return (low + top) / 2;
}

/* μ̂ and its interval, in throws per bit. If all bits are set: the throws until the last one is
 * set, on average m·H_m; there may have been any number more. */
static void estimate_load(uint64_t m, uint64_t ones, blm_estimate *out)
{
    double cells = (double)m, set = (double)ones, clear = (double)(m - ones);
    out->saturated = ones == m;
    if (ones == 0) {
        out->value = out->low = out->high = 0;
        return;
    }
    if (out->saturated) {
        double harmonic = log(cells) + BLM__EULER + 1 / (2 * cells) - 1 / (12 * cells * cells);
        out->value      = fmax(harmonic, 1); /* the series is a little low at m = 1 */
        out->high       = INFINITY;
    } else {
        out->value = load_of(cells, set, clear);
        out->high  = fmax(load_end(cells, set, clear, true), out->value);
    }
    /* Never fewer throws than bits. */
    out->low = fmax(load_end(cells, set, clear, false), set / cells);
    out->low = fmin(out->low, out->value);
}

void blm__estimate_scale(blm_estimate *e, double factor)
{
    e->value *= factor;
    e->low *= factor;
    e->high *= factor;
}

void blm__estimate_widen(blm_estimate *e, double variance, double least, double most)
{
    double reach = BLM__Z95 * sqrt(fmax(variance, 0));
    e->low       = fmin(fmax(e->value - hypot(e->value - e->low, reach), least), e->value);
    e->high      = fmax(fmin(e->value + hypot(e->high - e->value, reach), most), e->value);
}

blm_status blm_estimate_items(uint64_t m, uint32_t k, uint64_t ones, blm_estimate *out)
{
    if (!out || m == 0 || k == 0 || ones > m)
        return BLM_E_ARGUMENT;
    estimate_load(m, ones, out);
    blm__estimate_scale(out, (double)m / k);
    return BLM_OK;
}

/* ---- in lines ---- */

#define GROUPS 8.0 /* of a line; a key has `words` of them, and one cell in each */

/* Where the throws of a key go: anywhere (cells 0), or in one line of `cells` cells, one in each of
 * `words` groups. */
struct throws {
    double cells, words;
};

/* m·Cov(ln Z, ln Z') for the clear cells of two filters that share the keys of a load x and no others;
 * of one filter with itself, m·Var(ln Z). Those of one line: the sum over pairs of cells of the chance
 * that both are clear. A key misses one cell with chance 1 − a, two of one group with 1 − 2a, two of
 * different groups with 1 − 2a + both; keys of only one filter cancel. The last term is there because
 * the number of keys in all lines together is fixed. docs/maths.md. */
static double log_covariance(const struct throws *t, double x)
{
    if (t->cells == 0)
        return log_variance(x);
    double w = t->words, c = t->cells, width = c / GROUPS;
    double both = w * (w - 1) / (GROUPS * (GROUPS - 1)) / (width * width);
    return fmax(expm1(x) + (c - width) * expm1(x * c / w * both) - x * w, 0);
}

void blm__estimate_in_lines(uint32_t cells, uint64_t m, uint32_t k, uint32_t lines, uint64_t ones,
                            blm_estimate *e)
{
    double        mu = e->value * k / (double)m, even = log_variance(mu);
    struct throws t = { cells, (double)k / lines };
    if (e->saturated || !(even > 0))
        return;
    double wider = sqrt(log_covariance(&t, mu) / even);
    e->low       = fmax(e->value - (e->value - e->low) * fmax(wider, 1), (double)ones / k);
    e->low       = fmin(e->low, e->value);
    e->high      = e->value + (e->high - e->value) * fmax(wider, 1);
}

/* ---- two sets ---- */

static blm_estimate around(double value, double variance, double low, double high)
{
    double       reach = BLM__Z95 * sqrt(fmax(variance, 0));
    blm_estimate e     = { .value = fmin(fmax(value, low), high), .saturated = false };
    e.low              = fmin(fmax(value - reach, low), e.value);
    e.high             = fmax(fmin(value + reach, high), e.value);
    return e;
}

/* Loads a, b of two filters and u of their union; c = a + b − u is what they share. The delta
 * method on ln Z_or − ln Z_a − ln Z_b, the number of keys being fixed. */
static void estimate_shared(double m, const struct throws *t, blm_overlap *o)
{
    double a = o->a.value, b = o->b.value, u = o->either.value, c = fmax(a + b - u, 0);
    double most = fmin(a, b);
    if (c > most)
        c = most;
    double var_u = log_covariance(t, u) / m;
    double cov   = (log_covariance(t, a) + log_covariance(t, b)) / m - var_u;
    double var_c = 2 * log_covariance(t, c) / m - cov;
    o->both      = around(c, var_c, 0, fmin(o->a.high, o->b.high));
    if (u > 0) {
        double j = c / u, var_j = (var_c - 2 * j * cov + j * j * var_u) / (u * u);
        o->jaccard = around(j, var_j, 0, 1);
    } else {
        o->jaccard = around(0, 0, 0, 1); /* two empty sets: nothing shared, 0 by convention */
    }
}

/* A full array says only that the two have no more in common than the smaller one has. */
static void shared_unknown(blm_overlap *o)
{
    o->both.value =
        fmin(fmax(o->a.value + o->b.value - o->either.value, 0), fmin(o->a.value, o->b.value));
    o->both.low       = 0;
    o->both.high      = fmin(o->a.high, o->b.high);
    o->both.saturated = o->jaccard.saturated = true;
    o->jaccard.value                         = o->both.value / o->either.value;
    o->jaccard.low                           = 0;
    o->jaccard.high                          = 1;
}

blm_status blm__estimate_overlap(uint32_t cells, uint64_t m, uint32_t k, uint32_t lines,
                                 uint64_t ones_a, uint64_t ones_b, uint64_t ones_or,
                                 blm_overlap *out)
{
    struct throws t = { cells, cells ? (double)k / lines : 0 };
    if (!out || out->size < sizeof *out || m == 0 || k == 0)
        return BLM_E_ARGUMENT;
    uint64_t more = ones_a > ones_b ? ones_a : ones_b;
    if (ones_or > m || ones_or < more || ones_or - more > (ones_a < ones_b ? ones_a : ones_b))
        return BLM_E_ARGUMENT;
    estimate_load(m, ones_a, &out->a);
    estimate_load(m, ones_b, &out->b);
    estimate_load(m, ones_or, &out->either);
    if (out->either.saturated)
        shared_unknown(out);
    else
        estimate_shared((double)m, &t, out);
    double keys = (double)m / k;
    blm__estimate_scale(&out->a, keys);
    blm__estimate_scale(&out->b, keys);
    blm__estimate_scale(&out->both, keys);
    blm__estimate_scale(&out->either, keys);
    if (cells) {
        blm__estimate_in_lines(cells, m, k, lines, ones_a, &out->a);
        blm__estimate_in_lines(cells, m, k, lines, ones_b, &out->b);
        blm__estimate_in_lines(cells, m, k, lines, ones_or, &out->either);
    }
    return BLM_OK;
}

blm_status blm_estimate_overlap(uint64_t m, uint32_t k, uint64_t ones_a, uint64_t ones_b,
                                uint64_t ones_or, blm_overlap *out)
{
    return blm__estimate_overlap(0, m, k, 1, ones_a, ones_b, ones_or, out);
}
