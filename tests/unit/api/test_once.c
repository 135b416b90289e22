/* SPDX-License-Identifier: MIT */
/* Filters that are made for one question: rates by trial, and the values of a key. */
#include <math.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "unit/support.h"

static void a_trial_is_near_the_model(void **state)
{
    (void)state;
    const blm_kind_row *row;
    for (size_t i = 0; (row = blm_kind_at(i)) != NULL; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_trial   t = { .size = sizeof t };
        o.kind        = row->kind;
        o.items       = 5000;
        o.rate        = 0.03;
        o.flags       = BLM_SEEDED;
        o.seed[0]     = 11;
        if (!(row->can & BLM_CAN_ADD)) {
            assert_status(blm_try_options(&o, 5000, &t, NULL), BLM_E_UNSUPPORTED);
            continue;
        }
        assert_status(blm_try_options(&o, 5000, &t, NULL), BLM_OK);
        assert_int_equal(t.trials, 100000);
        assert_true(t.rate == (double)t.hits / 100000 && t.low < t.rate && t.rate < t.high);
        assert_true(t.modelled > 0 && fabs(t.rate - t.modelled) < 0.25 * t.modelled);
        assert_true(t.promised == 0.03 && t.holds);
        assert_status(blm_try_options(&o, 0, &t, NULL), BLM_OK);
        assert_true(t.hits == 0 && t.rate == 0 && t.modelled == 0);
    }
}

static void what_cannot_be_tried(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_trial   t = { .size = sizeof t };
    blm_error   e;
    assert_status(blm_try_options(&o, 10, &t, &e), BLM_E_ARGUMENT); /* no size */
    o.items = 10;
    o.rate  = 0.1;
    assert_status(blm_try_options(&o, UINT32_MAX, &t, &e), BLM_E_LIMIT);
    t.size = 0;
    assert_status(blm_try_options(&o, 10, &t, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "size");
}

/* Whatever the size of a filter, a key has these values in it. */
static void values_are_those_of_every_filter(void **state)
{
    (void)state;
    const blm_scheme_row *row;
    unsigned              seen = 0;
    for (size_t i = 0; (row = blm_scheme_at(i)) != NULL; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f;
        uint64_t    want[64], got[64];
        size_t      count;
        o.scheme = row->name;
        o.bits   = 1u << 12;
        o.probes = 3;
        o.flags  = row->seeded && strcmp(row->name, "native") == 0 ? BLM_SEEDED : 0;
        if (row->by_caller || !row->creates || blm_create(&o, &f, NULL) != BLM_OK)
            continue;
        count = params_of(f).probes;
        if (blm_positions_raw(f, "tuesday", 7, want, 64, &count) == BLM_OK &&
            params_of(f).layers == 1) {
            assert_status(blm_locations(row->name, (uint32_t)count, "tuesday", 7, got), BLM_OK);
            assert_memory_equal(got, want, count * sizeof *got);
            seen++;
        }
        blm_free(f);
    }
    assert_true(seen > 8);
}

static void what_has_no_values(void **state)
{
    (void)state;
    uint64_t v[8];
    assert_status(blm_locations("parquet", 8, "a", 1, v), BLM_E_UNSUPPORTED);
    assert_status(blm_locations("js", 2, "a", 1, v), BLM_E_ARGUMENT); /* it has one */
    assert_status(blm_locations("no such", 2, "a", 1, v), BLM_E_ARGUMENT);
    assert_status(blm_locations("functions", 2, "a", 1, v), BLM_E_ARGUMENT);
    assert_status(blm_locations("go", 0, "a", 1, v), BLM_E_ARGUMENT);
    assert_status(blm_locations("go", 2, NULL, 1, v), BLM_E_ARGUMENT);
    assert_status(blm_locations("go", 2, NULL, 0, v), BLM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trial_is_near_the_model),
        cmocka_unit_test(what_cannot_be_tried),
        cmocka_unit_test(values_are_those_of_every_filter),
        cmocka_unit_test(what_has_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
