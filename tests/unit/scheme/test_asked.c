/* SPDX-License-Identifier: MIT */
/* Which sizes were asked for, and what follows where one was not: the same for all foreign schemes,
 * seen through dcso, which rounds nothing. */
#include "unit/support.h"

#include "foreign.h"

static blm_status plan(uint64_t items, double rate, uint64_t bits, uint32_t probes, uint64_t memory,
                       blm_params *out)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   err = { .text = "" };
    o.scheme        = "dcso";
    o.items         = items;
    o.rate          = rate;
    o.bits          = bits;
    o.probes        = probes;
    o.memory        = memory;
    blm_status st   = blm_create(&o, &f, &err);
    if (st != BLM_OK) {
        assert_true(err.text[0]);
        return st;
    }
    out->size = sizeof *out;
    blm_get_params(f, out);
    blm_free(f);
    return st;
}

static void test_probes(void **state)
{
    (void)state;
    blm_params p;
    assert_int_equal(plan(100, 0, 1000, 0, 0, &p), BLM_OK); /* round(10·ln 2) */
    assert_int_equal(p.probes, 7);
    assert_int_equal(plan(5000, 0, 1000, 0, 0, &p), BLM_OK); /* 0.14: at least one */
    assert_int_equal(p.probes, 1);
    assert_int_equal(plan(1000, 0, 1000, 0, 0, &p), BLM_OK); /* 0.69 rounds to one */
    assert_int_equal(p.probes, 1);
    assert_int_equal(plan(400, 0, 1000, 0, 0, &p), BLM_OK); /* 1.73 */
    assert_int_equal(p.probes, 2);
    assert_int_equal(plan(1, 0, 2954, 0, 0, &p), BLM_OK); /* 2047.6: the most there are */
    assert_int_equal(p.probes, 2048);
    assert_int_equal(plan(1, 0, 2956, 0, 0, &p), BLM_E_ARGUMENT);
    assert_int_equal(plan(1, 0, 1u << 30, 0, 0, &p), BLM_E_ARGUMENT);
    assert_int_equal(plan(0, 0.25, 1000, 0, 0, &p), BLM_OK);
    assert_int_equal(p.probes, 2);
}

/* The root of such a rate is 1, and the number of keys that reach that is infinite. */
static void test_rate_near_one(void **state)
{
    (void)state;
    blm_params p;
    assert_int_equal(plan(0, 1 - 0x1p-53, 1024, 3, 0, &p), BLM_OK);
    assert_true(p.capacity == (uint64_t)1 << 63);
    assert_int_equal(plan(0, 1 - 0x1p-40, 1024, 3, 0, &p), BLM_OK);
    assert_true(p.capacity > 9000 && p.capacity < 11000); /* 1024/3·29 */
}

static void test_memory(void **state)
{
    (void)state;
    blm_params p;
    assert_int_equal(plan(1, 0, 0, 0, 7, &p), BLM_E_ARGUMENT);
    assert_int_equal(plan(1, 0, 0, 0, 8, &p), BLM_OK);
    assert_int_equal(p.bits, 63);                       /* of DCSO's schemes m is odd */
    assert_int_equal(plan(1, 0, 0, 0, 15, &p), BLM_OK); /* whole words that fit */
    assert_int_equal(p.bits, 63);
    assert_int_equal(plan(1000, 0, 0, 0, ((uint64_t)1 << 45) + 1, &p), BLM_E_LIMIT);
    assert_int_equal(plan(0, 0, 64, 1, 8, &p), BLM_E_ARGUMENT);
}

/* Capacity and rate that were not asked for follow from the others. */
static void test_settle(void **state)
{
    (void)state;
    blm_params p;
    assert_int_equal(plan(0, 0, 100, 100, 0, &p), BLM_OK);
    assert_int_equal(p.capacity, 1);
    assert_int_equal(plan(0, 0, 1000, 1, 0, &p), BLM_OK); /* 1000·ln 2 keys set half of the bits */
    assert_int_equal(p.capacity, 693);
    assert_true(p.rate > 0.499 && p.rate < 0.5);
    assert_int_equal(plan(0, 0.75, 1000, 2, 0, &p), BLM_OK); /* 500·−ln(1 − √0.75) */
    assert_int_equal(p.capacity, 1005);
    assert_true(p.rate == 0.75);
    assert_int_equal(plan(100, 0, 1000, 3, 0, &p), BLM_OK);
    assert_int_equal(p.capacity, 100);
    assert_true(p.rate > 0.0174 && p.rate < 0.0175);
    /* All three: kept when they go together, else refused. */
    assert_int_equal(plan(100, 0.0175, 1000, 3, 0, &p), BLM_OK);
    assert_true(p.rate == 0.0175 && p.capacity == 100);
    assert_int_equal(plan(100, 0.0174, 1000, 3, 0, &p), BLM_E_LIMIT);
}

static void test_native_only(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.scheme = "dcso";
    o.items  = 100;
    o.rate   = 0.01;
    o.lines  = 1;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_E_UNSUPPORTED);
    o.lines = 0;
    o.kind  = BLM_SCALABLE;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes),      cmocka_unit_test(test_rate_near_one),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_settle),
        cmocka_unit_test(test_native_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
