/* SPDX-License-Identifier: MIT */
/* Clopper–Pearson against values computed with 40 digits by summing the binomial distribution, and
 * against its own definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery.h"
#include "bloomery/maths.h"
#include "near.h"

static void known_intervals(void **state)
{
    (void)state;
    static const struct {
        uint64_t hits, trials;
        double   confidence, low, high;
    } row[] = {
        { 0, 10, 0.95, 0, 0.308497107818761 },
        { 10, 10, 0.95, 0.691502892181239, 1 },
        { 1, 10, 0.95, 0.00252857854446178, 0.445016117028195 },
        { 5, 10, 0.95, 0.187086028447399, 0.812913971552601 },
        { 1, 100, 0.95, 0.000253146032977421, 0.0544593853920807 },
        { 7, 100, 0.99, 0.0207899303296243, 0.162802855584423 },
        { 0, 1000, 0.95, 0, 0.00368208389686567 },
        { 50, 1000, 0.95, 0.0373353976046618, 0.0653904879154937 },
        { 990, 1000, 0.95, 0.981686756944887, 0.995194489308951 },
        { 3, 2000, 0.95, 0.000309442949312333, 0.00437732010452962 },
        { 0, 0, 0.95, 0, 1 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double low, high;
        assert_int_equal(
            blm_binomial_interval(row[i].hits, row[i].trials, row[i].confidence, &low, &high),
            BLM_OK);
        assert_near(low, row[i].low, 1e-11);
        assert_near(high, row[i].high, 1e-11);
    }
}

/* Few hits of very many trials: Poisson's own limits, scaled. */
static void rare_hits_are_poisson(void **state)
{
    (void)state;
    double low, high;
    blm_binomial_interval(3, 1000000000000, 0.95, &low, &high);
    assert_near(low * 1e12, 0.618672122896, 1e-9); /* Pr(Poisson(low) ≥ 3) = 2.5% */
    assert_near(high * 1e12, 8.76727306974, 1e-9); /* Pr(Poisson(high) ≤ 3) = 2.5% */
}

/* Past a million hits another formula takes over: no step between the two. */
static void the_formulas_meet(void **state)
{
    (void)state;
    static const uint64_t trials[] = { 2000002, 1000000000, 1000000000000000 };
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        double a[2], b[2], c[2];
        blm_binomial_interval(999999, trials[i], 0.99, &a[0], &a[1]);
        blm_binomial_interval(1000000, trials[i], 0.99, &b[0], &b[1]);
        blm_binomial_interval(1000001, trials[i], 0.99, &c[0], &c[1]);
        for (int end = 0; end < 2; end++)
            assert_near(c[end] - b[end], b[end] - a[end], 0.01);
    }
}

static void always_an_interval(void **state)
{
    (void)state;
    static const uint64_t trials[] = { 1, 2, 3, 1000, UINT64_MAX / 2, UINT64_MAX };
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        for (int share = 0; share <= 4; share++) {
            for (double c = 0.5; c < 1; c = c < 0.999 ? 0.999 : c < 0.99999 ? 0.999999 : 1) {
                uint64_t hits = trials[i] / 4 * (uint64_t)share;
                hits          = share == 4 ? trials[i] - (trials[i] > 1) : hits;
                double low, high, rate = (double)hits / (double)trials[i];
                assert_int_equal(blm_binomial_interval(hits, trials[i], c, &low, &high), BLM_OK);
                assert_between(rate, low, high);
                assert_true(low >= 0 && high <= 1);
            }
        }
    }
}

static void outside_the_domain(void **state)
{
    (void)state;
    double x;
    assert_int_equal(blm_binomial_interval(2, 1, 0.95, &x, &x), BLM_E_ARGUMENT);
    assert_int_equal(blm_binomial_interval(1, 2, 0, &x, &x), BLM_E_ARGUMENT);
    assert_int_equal(blm_binomial_interval(1, 2, 1, &x, &x), BLM_E_ARGUMENT);
    assert_int_equal(blm_binomial_interval(1, 2, NAN, &x, &x), BLM_E_ARGUMENT);
    assert_int_equal(blm_binomial_interval(1, 2, 0.95, NULL, &x), BLM_E_ARGUMENT);
    assert_int_equal(blm_binomial_interval(1, 2, 0.95, &x, NULL), BLM_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_intervals),    cmocka_unit_test(rare_hits_are_poisson),
        cmocka_unit_test(the_formulas_meet),  cmocka_unit_test(always_an_interval),
        cmocka_unit_test(outside_the_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
