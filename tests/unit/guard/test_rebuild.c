/* SPDX-License-Identifier: MIT */
/* What makes a guard rebuild its filter, and what a build, done or failed, leaves behind. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "guards.h"

/* ---- why ---- */

static void test_staleness_rebuilds(void **state)
{
    (void)state;
    blm_guard *g = open_built(plain());
    put_keys(g, 0, 1000);
    for (uint64_t i = 0; i < 250; i++)
        assert_int_equal(delete_key(g, i), BLM_OK);
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    for (uint64_t i = 250; i < 300; i++) /* items are an estimate: it may take a few more */
        assert_int_equal(delete_key(g, i), BLM_OK);
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    blm_guard_stats s = figures_of(g);
    assert_int_equal(s.rebuilds, 2);
    assert_int_equal(s.cause, BLM_CAUSE_STALE);
    assert_true(s.stale <= 50 && s.items <= 760);
    for (uint64_t i = 300; i < 1000; i++)
        assert_int_equal(get_key(g, i), BLM_OK);
    close_guard(g);
}

/* Past the plan the rate climbs; measured at twice the promise, a larger filter takes over. */
static void test_a_bad_rate_rebuilds(void **state)
{
    (void)state;
    blm_guard *g = open_built(plain());
    put_keys(g, 0, 6000);
    uint64_t i = 6000;
    while (figures_of(g).rebuilds < 2 && i < 60000)
        assert_int_equal(get_key(g, i++), BLM_E_ABSENT);
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    blm_guard_stats s = figures_of(g);
    assert_true(s.rebuilds >= 2);
    assert_int_equal(s.cause, BLM_CAUSE_RATE);
    assert_true(s.capacity >= 6000);
    assert_int_equal(s.rebuild_keys, 6000);
    uint64_t before = rows.gets;
    for (i = 60000; i < 70000; i++)
        assert_int_equal(get_key(g, i), BLM_E_ABSENT);
    assert_in_range(rows.gets - before, 0, 200);
    close_guard(g);
}

/* ---- how it ends ---- */

static void test_a_build_learns_its_size(void **state)
{
    (void)state;
    blm_guard_options o = plain();
    o.flags             = BLM_GUARD_MANUAL;
    blm_guard *g        = open_guard(o);
    put_keys(g, 0, 5000); /* nothing to add to: only the data set knows */
    assert_false(figures_of(g).trusted);
    assert_int_equal(get_key(g, 9999), BLM_E_ABSENT);
    assert_int_equal(figures_of(g).false_positives, 0); /* nobody was asked */
    rows.scans = 0;
    assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
    assert_int_equal(rows.scans, 2);
    blm_guard_stats s = figures_of(g);
    assert_true(s.trusted && s.capacity >= 7500 && s.items > 4900);
    for (uint64_t i = 0; i < 5000; i++)
        assert_int_equal(get_key(g, i), BLM_OK);
    close_guard(g);
}

static void test_a_failed_build_changes_nothing(void **state)
{
    (void)state;
    blm_guard_options o = plain();
    o.flags             = BLM_GUARD_MANUAL;
    blm_guard *g        = open_guard(o);
    blm_error  err      = { .status = BLM_OK };
    rows.fail_scan      = true;
    assert_int_equal(blm_guard_build(g, &err), BLM_E_IO);
    assert_string_equal(err.text, "the data set is away");
    assert_false(figures_of(g).trusted);
    put_keys(g, 0, 100);
    assert_int_equal(get_key(g, 5), BLM_OK);
    rows.fail_scan = false;
    assert_int_equal(blm_guard_build(g, &err), BLM_OK);
    rows.fail_scan = true;
    assert_int_equal(blm_guard_build(g, &err), BLM_E_IO);
    rows.fail_scan = false;
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(get_key(g, i), BLM_OK);
    blm_guard_stats s = figures_of(g);
    assert_int_equal(s.generation, 1);
    assert_int_equal(s.rebuild_failures, 2);
    close_guard(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROWS(test_staleness_rebuilds),
        ROWS(test_a_bad_rate_rebuilds),
        ROWS(test_a_build_learns_its_size),
        ROWS(test_a_failed_build_changes_nothing),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
