/* SPDX-License-Identifier: MIT */
/* How the rate tests judge: a mean against a model, in standard errors.
 *
 * A case (kind, n, p) is fine while |z| ≤ 4.5: by chance alone that is passed once in 147 000
 * cases, and with about 150 cases once in a thousand sets of seeds. The seeds are fixed, so a set
 * that passed passes for ever, and what fails is a change in the code. docs/testing.md says how
 * large an error is seen where. */
#ifndef BLM_UNIT_RATES_H
#define BLM_UNIT_RATES_H

#include <math.h>

#include "bloomery/maths.h"
#include "unit/support.h"

#define Z_MOST 4.5

/* Sum of many equal experiments, for a mean and its standard error. */
struct tally {
    double n, sum, squares, model;
};

static inline void tally_add(struct tally *t, double value, double model)
{
    t->n += 1;
    t->sum += value;
    t->squares += value * value;
    t->model += model;
}

static inline double tally_mean(const struct tally *t) { return t->sum / t->n; }

/* Standard error of the mean: from the spread of the experiments themselves, so that filters
 * which came out fuller or emptier than others are in it. */
static inline double tally_error(const struct tally *t)
{
    double mean = t->sum / t->n, variance = t->squares / t->n - mean * mean;
    return sqrt(variance / (t->n - 1));
}

/* `slack`: what the model itself leaves open, as a share of it. */
static inline void judge(const char *what, double got, double model, double error, double slack)
{
    double off = fabs(got - model) - slack * model;
    double z   = off <= 0 ? 0 : off / error;
    if (getenv("BLM_SHOW"))
        print_message("%-40s measured %.6g  model %.6g  %+.2f%%  z %.2f\n", what, got, model,
                      100 * (got / model - 1), (got - model) / error);
    if (!(z <= Z_MOST) && !quick_tests())
        fail_msg("%s: measured %.6g, the model says %.6g (%+.2f%%, z = %.1f)", what, got, model,
                 100 * (got / model - 1), (got - model) / error);
}

/* The rate of n keys in these parameters, by the model of the probes that are used. */
static inline double modelled(const blm_params *p, uint64_t n)
{
    blm_rate r = { .size = sizeof r };
    assert_int_equal(blm_rate_of(p->kind == BLM_COUNTING && p->lines ? BLM_MODEL_COUNTERS
                                 : p->lines                          ? BLM_MODEL_LINES
                                                                     : BLM_MODEL_INDEPENDENT,
                                 p->bits, p->probes, p->lines, n, &r),
                     BLM_OK);
    return r.value;
}

#endif
