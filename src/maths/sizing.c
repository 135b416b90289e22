/* SPDX-License-Identifier: MIT */
/* The formulas as the textbook has them, and blm_rate_of, which chooses a model of the rate. What
 * blm_create makes is planned in maths/plan.c. */
#include "maths/sizing.h"

#include "bloomery/maths.h"
#include "core/ages.h"

#include <math.h>

static bool rate_ok(double p) { return p > 0 && p < 1; } /* false for a NaN */

/* A double as a count: E_LIMIT past 2^64. */
static blm_status to_count(double v, uint64_t *out)
{
    if (!(v < 0x1p64))
        return BLM_E_LIMIT;
    *out = (uint64_t)v;
    return BLM_OK;
}

blm_status blm_best_probes(uint64_t m, uint64_t n, uint32_t *k)
{
    if (!k || m == 0 || n == 0)
        return BLM_E_ARGUMENT;
    double best = round((double)m / (double)n * BLM__LN2);
    if (best > (double)UINT32_MAX)
        return BLM_E_LIMIT;
    *k = best < 1 ? 1 : (uint32_t)best;
    return BLM_OK;
}

blm_status blm_textbook(uint64_t n, double p, uint64_t *m, uint32_t *k)
{
    if (!m || !k || n == 0 || !rate_ok(p))
        return BLM_E_ARGUMENT;
    uint64_t   bits;
    blm_status s = to_count(ceil(-(double)n * log(p) / (BLM__LN2 * BLM__LN2)), &bits);
    if (s != BLM_OK)
        return s;
    *m = bits > 0 ? bits : 1;
    return blm_best_probes(*m, n, k);
}

blm_status blm_probes_for_rate(double p, uint32_t *k)
{
    if (!k || !rate_ok(p))
        return BLM_E_ARGUMENT;
    int exponent; /* p = f·2^exponent, 1/2 ≤ f < 1: a logarithm could be off by one */
    frexp(p, &exponent);
    *k = (uint32_t)(1 - exponent);
    return BLM_OK;
}

blm_status blm_best_rate(uint64_t m, uint64_t n, double *p)
{
    if (!p || m == 0)
        return BLM_E_ARGUMENT;
    *p = n == 0 ? 0 : exp(-(double)m / (double)n * BLM__LN2 * BLM__LN2);
    return BLM_OK;
}

/* The largest n with blm__rate_usual(m, k, n) ≤ p: the inverse, corrected for rounding. */
static uint64_t usual_capacity(uint64_t m, uint32_t k, double p)
{
    double   exact = -(double)m / k * log1p(-pow(p, 1.0 / k));
    uint64_t n;
    if (!(exact > 0))
        return 0;
    if (to_count(exact, &n) != BLM_OK)
        return UINT64_MAX;
    for (int i = 0; i < 4 && n > 0 && blm__rate_usual(m, k, n) > p; i++)
        n--;
    for (int i = 0; i < 4 && n < UINT64_MAX && blm__rate_usual(m, k, n + 1) <= p; i++)
        n++;
    return n;
}

blm_status blm_capacity_for(uint64_t m, uint32_t k, double p, uint64_t *n)
{
    if (!n || m == 0 || !rate_ok(p))
        return BLM_E_ARGUMENT;
    if (k > 0) {
        *n = usual_capacity(m, k, p);
        return BLM_OK;
    }
    /* The best k is −log2 p, rounded one way or the other. */
    uint32_t up;
    blm_probes_for_rate(p, &up);
    uint64_t a = usual_capacity(m, up, p), b = up > 1 ? usual_capacity(m, up - 1, p) : 0;
    *n = a > b ? a : b;
    return BLM_OK;
}

/* Of the models of windows; 0: it is another. */
static uint32_t ages_of(blm_model m)
{
    return m >= BLM_MODEL_WINDOW && m <= BLM_MODEL_WINDOW_64
               ? BLM__AGES_LEAST << (m - BLM_MODEL_WINDOW)
               : 0;
}

static blm_status check_model(blm_model model, uint64_t m, uint32_t k, uint32_t lines)
{
    if (m == 0 || k == 0)
        return BLM_E_ARGUMENT;
    if (model == BLM_MODEL_USUAL)
        return BLM_OK;
    if (m > BLM__MAX_BITS || k > BLM__MAX_PROBES)
        return BLM_E_LIMIT;
    if (model == BLM_MODEL_FUSE)
        return k == BLM__FUSE_PROBES && lines >= 1 && lines <= 32 ? BLM_OK : BLM_E_ARGUMENT;
    if (model == BLM_MODEL_BUCKETS)
        return k == 1 && lines >= 1 && lines < 64 ? BLM_OK : BLM_E_ARGUMENT;
    enum blm__rule rule = model == BLM_MODEL_LINES      ? BLM__LINES
                          : model == BLM_MODEL_COUNTERS ? BLM__SHORT
                                                        : BLM__CHAIN;
    uint32_t       ages = ages_of(model);
    if (rule == BLM__CHAIN && !ages)
        return BLM_OK;
    if (ages)
        return lines >= 1 && lines <= BLM__MAX_LINES && k % lines == 0 && k / lines <= 8 &&
                       blm__ages_spans(m / 64, ages) > 0
                   ? BLM_OK
                   : BLM_E_ARGUMENT;
    bool whole = lines >= 1 && lines <= blm__lines_most(rule) && k % lines == 0 &&
                 k / lines <= BLM__LINE_WORDS && m % blm__line_cells(rule) == 0;
    return whole ? BLM_OK : BLM_E_ARGUMENT;
}

blm_status blm_rate_of(blm_model model, uint64_t m, uint32_t k, uint32_t lines, uint64_t n,
                       blm_rate *out)
{
    if (!out || out->size < sizeof *out)
        return BLM_E_ARGUMENT;
    blm_status s = check_model(model, m, k, lines);
    if (s != BLM_OK)
        return s;
    switch (model) {
    case BLM_MODEL_USUAL:
        out->value = out->low = out->high = blm__rate_usual(m, k, n);
        out->method                       = BLM_BY_FORMULA;
        return BLM_OK;
    case BLM_MODEL_INDEPENDENT:
        blm__model_independent(m, k, n, out);
        return BLM_OK;
    case BLM_MODEL_DOUBLE:
        blm__model_double(m, k, n, out);
        return BLM_OK;
    case BLM_MODEL_LINES:
        blm__model_lines(BLM__LINE_BITS, m / BLM__LINE_BITS, k / lines, lines, n, out);
        return BLM_OK;
    case BLM_MODEL_BUCKETS:
        out->value = out->low = out->high = blm__rate_buckets(m, lines, n);
        out->method                       = BLM_BY_FORMULA;
        return BLM_OK;
    case BLM_MODEL_FUSE:
        out->value = out->low = out->high = n ? blm__rate_fuse(lines, n) : 0;
        out->method                       = BLM_BY_FORMULA;
        return BLM_OK;
    case BLM_MODEL_COUNTERS:
        blm__model_lines(BLM__SHORT_CELLS, m / BLM__SHORT_CELLS, k / lines, lines, n, out);
        return BLM_OK;
    case BLM_MODEL_WINDOW:
    case BLM_MODEL_WINDOW_16:
    case BLM_MODEL_WINDOW_32:
    case BLM_MODEL_WINDOW_64: {
        uint32_t ages = ages_of(model);
        out->value = out->low = out->high = blm__rate_ages(blm__ages_spans(m / 64, ages), k / lines,
                                                           lines, blm__turn_length(n, ages), ages);
        out->method                       = BLM_BY_BOUND;
        return BLM_OK;
    }
    }
    return BLM_E_ARGUMENT;
}
