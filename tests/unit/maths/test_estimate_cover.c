/* SPDX-License-Identifier: MIT */
/* How often a 95% interval of the number of keys holds the true number, over many filters. */
#include "unit/rates.h"

static void judge_kind(blm_kind kind, double rate, uint64_t planned, uint64_t n)
{
    int trials = quick_tests() ? 20 : 2000, held = 0;
    for (int i = 0; i < trials; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f = NULL;
        blm_stats   s = { .size = sizeof s };
        o.kind        = kind;
        o.items       = planned;
        o.rate        = rate;
        o.flags       = BLM_SEEDED;
        o.seed[0]     = (uint64_t)i * 2654435761u + 1;
        assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
        for (uint64_t j = 0; j < n; j++)
            blm_add(f, &j, sizeof j);
        blm_get_stats(f, &s);
        double keys = (double)n;
        held += s.estimated.low <= keys + 0.5 && s.estimated.high >= keys - 0.5;
        blm_free(f);
    }
    double low, high;
    blm_binomial_interval((uint64_t)held, (uint64_t)trials, 0.9999, &low, &high);
    if (getenv("BLM_SHOW"))
        print_message("%s, rate %g, %llu of %llu keys: %.1f%%\n", blm_kind_name(kind), rate,
                      (unsigned long long)n, (unsigned long long)planned, 100.0 * held / trials);
    if (!quick_tests() && (high < 0.95 || low > 0.985))
        fail_msg("%s, rate %g, %llu keys: the interval holds %.1f%% of the time",
                 blm_kind_name(kind), rate, (unsigned long long)n, 100.0 * held / trials);
}

static void test_intervals_hold(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING };
    static const double   rates[] = { 0.1, 0.01, 1e-4 };
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (size_t j = 0; j < COUNT_OF(rates); j++)
            for (uint64_t n = 200; n <= 2000; n *= 3)
                judge_kind(kinds[i], rates[j], 1000, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_intervals_hold) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
