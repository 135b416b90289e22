/* SPDX-License-Identifier: MIT */
/*
 * Space as promised: what a plan costs in bits a key, from 1e-1 to 1e-9, and that the blocked kind
 * takes the layout that the frontier (bench/frontier, docs/performance.md) says: the fewest lines
 * that keep it within a tenth of a classic filter, and in them the best number of words.
 */
#include <math.h>

#include "bloomery/maths.h"
#include "unit/support.h"

#define N 10000000u

static blm_plan plan_of(blm_kind kind, double p, uint32_t lines, uint32_t probes)
{
    blm_options o    = BLM_OPTIONS_INIT;
    blm_plan    plan = { .size = sizeof plan };
    o.kind           = kind;
    o.items          = N;
    o.rate           = p;
    o.lines          = lines;
    o.probes         = probes;
    assert_int_equal(blm_plan_for(&o, &plan, NULL), BLM_OK);
    assert_true(plan.rate <= p);
    return plan;
}

static double ideal(double p) { return -log(p) / (log(2) * log(2)); }

static void test_blocked_costs_no_more_than_owed(void **state)
{
    (void)state;
    static const struct {
        double   p, most;
        uint32_t lines;
    } row[] = {
        { 0.0098, 10.0, 1 },
        { 1e-3, 15.75, 1 },
        { 1e-6, 31.5, 2 },
        { 1e-9, 47.2, 3 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blm_plan plan = plan_of(BLM_BLOCKED, row[i].p, 0, 0);
        assert_true(plan.bits_per_item <= row[i].most);
        assert_int_equal(plan.lines, row[i].lines);
    }
    assert_true(plan_of(BLM_BLOCKED, 1e-3, 2, 0).bits_per_item <= 14.7); /* the knob */
}

/* Twenty rates a decade, the decades' ends among them. */
static void test_the_choice_follows_the_frontier(void **state)
{
    (void)state;
    for (int i = 20; i <= 180; i++) {
        double   p    = pow(10, -i / 20.0);
        blm_plan plan = plan_of(BLM_BLOCKED, p, 0, 0);
        assert_true(plan.bits_per_item <= 1.10 * plan_of(BLM_CLASSIC, p, 0, 0).bits_per_item);
        assert_int_equal(plan.lines, p >= 0.999e-3 ? 1 : p >= 0.999e-6 ? 2 : 3);
        for (uint32_t words = 1; words <= 8; words++) {
            blm_options o     = BLM_OPTIONS_INIT;
            blm_plan    other = { .size = sizeof other };
            o.kind            = BLM_BLOCKED;
            o.items           = N;
            o.rate            = p;
            o.lines           = plan.lines;
            o.probes          = words * plan.lines;
            if (blm_plan_for(&o, &other, NULL) == BLM_OK)
                assert_true(other.bits >= plan.bits);
        }
        if (plan.lines > 1) { /* a line less would have cost more than the tenth */
            double fewer = plan_of(BLM_BLOCKED, p, plan.lines - 1, 0).bits_per_item;
            assert_true(fewer > 1.09 * ideal(p));
        }
    }
}

static void test_classic_is_within_half_a_percent(void **state)
{
    (void)state;
    for (int i = 0; i <= 150; i++) {
        double p = 0.03 * pow(10, -i / 20.0);
        assert_true(plan_of(BLM_CLASSIC, p, 0, 0).bits_per_item <= 1.005 * ideal(p));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked_costs_no_more_than_owed),
        cmocka_unit_test(test_the_choice_follows_the_frontier),
        cmocka_unit_test(test_classic_is_within_half_a_percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
