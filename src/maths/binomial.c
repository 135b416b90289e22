/* SPDX-License-Identifier: MIT */
/*
 * Clopper and Pearson's interval: every rate at which this many hits, or more (fewer), would not be
 * too surprising. It is found by bisection on the binomial tail, which is summed from its largest
 * term outwards, so that all terms are positive and shrink. The largest term comes from Stirling's
 * series in deviance form (after Loader), since logarithms of factorials of 10^12 leave no digits.
 * Past a million hits the tail is long, and the normal distribution with a term for its skewness is
 * good to a millionth of the interval's width.
 */
#include <math.h>

#include "bloomery/maths.h"
#include "maths/sizing.h"

#define BLM__SUM_MOST 1e6 /* hits (or misses); above, the corrected normal law */
#define BLM__TWO_PI   6.28318530717958647693

/* ln n! − ln(√(2πn)·(n/e)^n), for n ≥ 1. */
static double stirling_rest(double n)
{
    static const double low[] = {
        /* n = 1…7, where the series is not exact enough */
        0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509,
        0.01664469118982119, 0.01387612882307075, 0.01189670994589177,
    };
    if (n < 7.5)
        return low[(int)n - 1];
    double s = 1 / (n * n);
    return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / n;
}

/* x·ln(x/np) + np − x without cancellation where x is near np. */
static double deviance(double x, double np)
{
    double d = x - np, v = d / (x + np);
    if (fabs(v) > 0.1)
        return x * log(x / np) - d;
    double sum = d * v, term = 2 * x * v, square = v * v;
    for (int j = 3; j < 60; j += 2) {
        term *= square;
        double next = sum + term / j;
        if (next == sum)
            break;
        sum = next;
    }
    return sum;
}

/* The chance of exactly x hits and y misses, both at least 1 (their sum may round to one of
 * them), 0 < p < 1. */
static double one_chance(double x, double y, double p)
{
    double n   = x + y;
    double log = stirling_rest(n) - stirling_rest(x) - stirling_rest(y) - deviance(x, n * p) -
                 deviance(y, n * (1 - p));
    return exp(log) * sqrt(n / (BLM__TWO_PI * x * y));
}

/* The chance of x or more hits (up; p is at most x/n) or of x or fewer (p is at least x/n), so
 * that the terms shrink. */
static double tail_from(double x, double y, double p, bool up)
{
    double term = one_chance(x, y, p), sum = 0, odds = p / (1 - p);
    while (term > 1e-17 * sum) {
        sum += term;
        if (up) {
            term *= y / (x + 1) * odds;
            x++, y--;
        } else {
            term *= x / ((y + 1) * odds);
            x--, y++;
        }
    }
    return sum;
}

/* z with Pr(N > z) = tail, tail < 1/2. */
static double normal_quantile(double tail)
{
    double low = 0, high = 40;
    for (int i = 0; i < 80; i++) {
        double z = (low + high) / 2;
        if (erfc(z / sqrt(2)) / 2 > tail)
            low = z;
        else
            high = z;
    }
    return low;
}

/* The end of the interval when hits and misses are many: x ∓ 1/2 lies z spreads from the mean, and
 * the third moment moves it by (z² − 1)(1 − 2p)/6. */
static double end_by_normal(double x, double y, double tail, bool up)
{
    double n = x + y, z = normal_quantile(tail), p = x / n, side = up ? -1 : 1;
    for (int i = 0; i < 60; i++)
        p = (x + side * (0.5 + z * sqrt(n * p * (1 - p))) - (z * z - 1) * (1 - 2 * p) / 6) / n;
    return p;
}

/* The rate at which x or more hits (up: the lower end) or x or fewer (the upper end) have exactly
 * this chance. */
static double end_of(double x, double y, double tail, bool up)
{
    if (x > BLM__SUM_MOST && y > BLM__SUM_MOST)
        return end_by_normal(x, y, tail, up);
    double inside = x / (x + y), outside = up ? 0 : 1;
    for (int i = 0; i < 200; i++) {
        double p = (inside + outside) / 2;
        if (p == inside || p == outside)
            break;
        if (tail_from(x, y, p, up) < tail)
            outside = p;
        else
            inside = p;
    }
    return outside;
}

blm_status blm_binomial_interval(uint64_t hits, uint64_t trials, double confidence, double *low,
                                 double *high)
{
    if (!low || !high || hits > trials || !(confidence > 0 && confidence < 1))
        return BLM_E_ARGUMENT;
    *low  = 0;
    *high = 1;
    if (trials == 0)
        return BLM_OK;
    double tail = (1 - confidence) / 2, x = (double)hits, y = (double)(trials - hits);
    if (hits == 0)
        *high = -expm1(log(tail) / y);
    else if (hits == trials)
        *low = exp(log(tail) / x);
    if (hits > 0 && hits < trials) {
        *low  = end_of(x, y, tail, true);
        *high = end_of(x, y, tail, false);
    }
    return BLM_OK;
}
