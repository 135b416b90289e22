/* SPDX-License-Identifier: MIT */
/* The textbook's formulas at the values every textbook prints, and outside their domain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/maths.h"
#include "maths/sizing.h"
#include "near.h"

static double rate(blm_model model, uint64_t m, uint32_t k, uint64_t n)
{
    blm_rate r = { .size = sizeof r };
    assert_int_equal(blm_rate_of(model, m, k, 0, n, &r), BLM_OK);
    return r.value;
}

static void a_million_keys_at_one_percent(void **state)
{
    (void)state;
    uint64_t m;
    uint32_t k;
    assert_int_equal(blm_textbook(1000000, 0.01, &m, &k), BLM_OK);
    assert_int_equal(m, 9585059);
    assert_int_equal(k, 7);
    assert_between(rate(BLM_MODEL_USUAL, m, k, 1000000), 0.0100385, 0.0100395); /* 1.0039% */
    assert_between(rate(BLM_MODEL_INDEPENDENT, m, k, 1000000), 0.0100385, 0.0100395);
}

static void bits_a_key(void **state)
{
    (void)state;
    uint64_t m, ten;
    uint32_t k;
    blm_textbook(1000000000, 0.01, &m, &k);
    assert_near((double)m / 1e9, 9.585, 1e-4);
    blm_textbook(1000000000, 0.001, &ten, &k);
    assert_near((double)(ten - m) / 1e9, 4.793, 1e-4);
}

static void known_rates(void **state)
{
    (void)state;
    double p;
    assert_int_equal(blm_best_rate(10000000, 1000000, &p), BLM_OK);
    assert_near(p, pow(0.6185, 10), 1e-4);
    assert_near(p, pow(0.61850313780157598, 10), 1e-13);
    assert_near(rate(BLM_MODEL_USUAL, 100000000, 1, 1000000), 0.00995, 1e-4);
    assert_near(rate(BLM_MODEL_INDEPENDENT, 100000000, 1, 1000000), 0.00995, 1e-4);
    assert_near(rate(BLM_MODEL_USUAL, 13000000, 8, 1000000), 0.00199, 2e-3);
    for (int model = BLM_MODEL_USUAL; model <= BLM_MODEL_DOUBLE; model++) {
        assert_true(rate((blm_model)model, 1000, 7, 0) == 0);
        assert_near(rate((blm_model)model, 1000, 7, UINT64_MAX), 1, 1e-12);
    }
    blm_best_rate(100, 0, &p);
    assert_true(p == 0);
}

static void best_probes_are_rounded(void **state)
{
    (void)state;
    uint32_t k;
    blm_best_probes(10, 1, &k); /* 6.93 */
    assert_int_equal(k, 7);
    blm_best_probes(8, 1, &k); /* 5.55 */
    assert_int_equal(k, 6);
    blm_best_probes(1, 1000, &k);
    assert_int_equal(k, 1);
    assert_int_equal(blm_best_probes(UINT64_MAX, 1, &k), BLM_E_LIMIT);
}

static void probes_for_powers_of_two_are_exact(void **state)
{
    (void)state;
    uint32_t k;
    for (int e = 1; e <= 1074; e++) {
        double p = ldexp(1, -e);
        assert_int_equal(blm_probes_for_rate(p, &k), BLM_OK);
        assert_int_equal(k, e);
        if (e <= 1020) {
            blm_probes_for_rate(nextafter(p, 0), &k);
            assert_int_equal(k, e + 1);
            blm_probes_for_rate(nextafter(p, 1), &k);
            assert_int_equal(k, e);
        }
    }
    blm_probes_for_rate(0.01, &k);
    assert_int_equal(k, 7);
    blm_probes_for_rate(0.9, &k);
    assert_int_equal(k, 1);
}

/* The most that fit, to the key. */
static void capacity_is_the_last_that_fits(void **state)
{
    (void)state;
    static const double rates[] = { 0.9, 0.5, 0.01, 1e-4, 1e-9 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        for (uint32_t k = 1; k <= 30; k += 4) {
            uint64_t n;
            assert_int_equal(blm_capacity_for(1000003, k, rates[i], &n), BLM_OK);
            assert_true(n == 0 || blm__rate_usual(1000003, k, n) <= rates[i]);
            assert_true(blm__rate_usual(1000003, k, n + 1) > rates[i]);
        }
        uint64_t best, one;
        blm_capacity_for(1000003, 0, rates[i], &best);
        for (uint32_t k = 1; k <= 40; k++) {
            blm_capacity_for(1000003, k, rates[i], &one);
            assert_true(one <= best);
        }
    }
    uint64_t n;
    blm_capacity_for(9585059, 7, 0.0100393, &n);
    assert_between((double)n, 1000000, 1000010);
    blm_capacity_for(UINT64_MAX, 1, 0.999, &n);
    assert_true(n == UINT64_MAX);
    blm_capacity_for(64, 7, 1e-18, &n);
    assert_true(n == 0);
}

static void the_method_is_told(void **state)
{
    (void)state;
    blm_rate r = { .size = sizeof r };
    blm_rate_of(BLM_MODEL_USUAL, 1000, 7, 0, 100, &r);
    assert_int_equal(r.method, BLM_BY_FORMULA);
    blm_rate_of(BLM_MODEL_INDEPENDENT, 1000, 7, 0, 100, &r);
    assert_int_equal(r.method, BLM_BY_SUM);
    blm_rate_of(BLM_MODEL_INDEPENDENT, 1000, 65, 0, 100, &r);
    assert_int_equal(r.method, BLM_BY_BOUND);
    blm_rate_of(BLM_MODEL_DOUBLE, 1000, 7, 0, 100, &r);
    assert_int_equal(r.method, BLM_BY_BOUND);
    assert_true(r.low < r.value && r.value < r.high);
    assert_int_equal(blm_rate_of(BLM_MODEL_LINES, 512 * 20, 6, 1, 1000, &r), BLM_OK);
    assert_int_equal(r.method, BLM_BY_SUM);
    assert_int_equal(blm_rate_of(BLM_MODEL_LINES, 512 * 20, 12, 2, 500, &r), BLM_OK);
    assert_int_equal(r.method, BLM_BY_BOUND);
    assert_near(r.value, blm__rate_lines(512, 20, 6, 2, 500), 1e-15);
}

static void outside_the_domain(void **state)
{
    (void)state;
    static const double bad[] = { 0, 1, -0.1, 1.5, NAN, INFINITY, -INFINITY };
    uint64_t            m, n;
    uint32_t            k;
    double              p;
    blm_rate            r = { .size = sizeof r }, small = { .size = 8 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(blm_textbook(10, bad[i], &m, &k), BLM_E_ARGUMENT);
        assert_int_equal(blm_probes_for_rate(bad[i], &k), BLM_E_ARGUMENT);
        assert_int_equal(blm_capacity_for(10, 1, bad[i], &n), BLM_E_ARGUMENT);
    }
    assert_int_equal(blm_textbook(0, 0.01, &m, &k), BLM_E_ARGUMENT);
    assert_int_equal(blm_textbook(UINT64_MAX, 0.01, &m, &k), BLM_E_LIMIT);
    assert_int_equal(blm_textbook(1, 0.01, NULL, &k), BLM_E_ARGUMENT);
    assert_int_equal(blm_textbook(1, 0.01, &m, NULL), BLM_E_ARGUMENT);
    assert_int_equal(blm_best_probes(0, 1, &k), BLM_E_ARGUMENT);
    assert_int_equal(blm_best_probes(1, 0, &k), BLM_E_ARGUMENT);
    assert_int_equal(blm_best_rate(0, 1, &p), BLM_E_ARGUMENT);
    assert_int_equal(blm_capacity_for(0, 1, 0.01, &n), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of(BLM_MODEL_USUAL, 0, 1, 0, 1, &r), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of(BLM_MODEL_USUAL, 1, 0, 0, 1, &r), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of(BLM_MODEL_USUAL, 1, 1, 0, 1, NULL), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of(BLM_MODEL_USUAL, 1, 1, 0, 1, &small), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of((blm_model)9, 1, 1, 0, 1, &r), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of(BLM_MODEL_DOUBLE, 1, 2049, 0, 1, &r), BLM_E_LIMIT);
    assert_int_equal(blm_rate_of(BLM_MODEL_DOUBLE, UINT64_MAX, 1, 0, 1, &r), BLM_E_LIMIT);
    assert_int_equal(blm_rate_of(BLM_MODEL_LINES, 512, 8, 0, 1, &r), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of(BLM_MODEL_LINES, 512, 9, 1, 1, &r), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of(BLM_MODEL_LINES, 512, 7, 2, 1, &r), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of(BLM_MODEL_LINES, 500, 8, 1, 1, &r), BLM_E_ARGUMENT);
    assert_int_equal(blm_rate_of(BLM_MODEL_LINES, 512, 8, 4, 1, &r), BLM_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_keys_at_one_percent),
        cmocka_unit_test(bits_a_key),
        cmocka_unit_test(known_rates),
        cmocka_unit_test(best_probes_are_rounded),
        cmocka_unit_test(probes_for_powers_of_two_are_exact),
        cmocka_unit_test(capacity_is_the_last_that_fits),
        cmocka_unit_test(the_method_is_told),
        cmocka_unit_test(outside_the_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
