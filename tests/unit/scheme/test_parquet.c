/* SPDX-License-Identifier: MIT */
/* The split-block scheme: Arrow's sizes, the rate of unequal blocks, folding, odd shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/maths.h"
#include "golden_filter.h"

static blm_options sized(uint64_t n, double p)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "parquet";
    o.items       = n;
    o.rate        = p;
    return o;
}

/* n, p and the bytes that Arrow's OptimalNumOfBytes gives. */
static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        double   p;
        uint64_t bytes;
    } row[] = {
        { 256, 0.01, 512 }, { 200, 0.01, 256 }, { 1500, 0.05, 2048 },
        { 1, 0.5, 32 },     { 1, 0.01, 32 },    { UINT64_C(1000000000000), 0.01, 128u << 20 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blm_options o = sized(row[i].n, row[i].p);
        blm_plan    p = { .size = sizeof p };
        assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
        assert_int_equal(p.bytes, row[i].bytes);
        assert_int_equal(p.probes, 8);
    }
}

static void test_refused(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "parquet";
    create_is(o, BLM_E_ARGUMENT);
    o.bits = 100;
    create_is(o, BLM_E_ARGUMENT);
    o.bits   = 256;
    o.probes = 7;
    create_is(o, BLM_E_ARGUMENT);
    o.probes = 8;
    o.bits   = (uint64_t)1 << 34;
    create_is(o, BLM_E_LIMIT);
    o = sized(1000, 1);
    create_is(o, BLM_E_ARGUMENT);
    o = sized(1000, 0);
    create_is(o, BLM_E_ARGUMENT);
    o      = sized(1000, 0.01);
    o.kind = BLM_COUNTING;
    create_is(o, BLM_E_UNSUPPORTED);
    o       = sized(1000, 0.01);
    o.flags = BLM_SEEDED;
    create_is(o, BLM_E_UNSUPPORTED);
}

/* The rate by the bits, by the plan, and by trial agree; the textbook's formula does not. */
static void test_rate(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_stats   s = { .size = sizeof s };
    blm_trial   t = { .size = sizeof t };
    blm_plan    p = { .size = sizeof p };
    o.scheme      = "parquet";
    o.bits        = 1 << 16;
    o.items       = 6554; /* ten bits a key */
    assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
    blm_filter *f = create_or_fail(&o);
    for (uint64_t i = 0; i < o.items; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_int_equal(blm_try_rate(f, NULL, 400000, 7, &t, NULL), BLM_OK);
    assert_true(t.low <= s.rate_now && s.rate_now <= t.high);
    assert_true(p.rate > s.rate_now * 0.9 && p.rate < s.rate_now * 1.1);
    blm_rate usual = { .size = sizeof usual };
    assert_int_equal(blm_rate_of(BLM_MODEL_USUAL, o.bits, 8, 0, o.items, &usual), BLM_OK);
    assert_true(usual.value < t.low);
    assert_true(s.estimated.low <= 6554 && 6554 <= s.estimated.high);
    blm_free(f);
}

static void test_empty_and_full(void **state)
{
    (void)state;
    blm_options o        = BLM_OPTIONS_INIT;
    blm_stats   s        = { .size = sizeof s };
    uint64_t    words[8] = { 0 };
    o.scheme             = "parquet";
    o.words              = words;
    o.word_count         = 8;
    blm_filter *f        = create_or_fail(&o);
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_true(s.rate_now == 0);
    memset(words, 0xff, 32); /* one of two blocks is full */
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_true(s.rate_now == 0.5);
    memset(words, 0xff, 64);
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_true(s.rate_now == 1);
    blm_free(f);
}

static void test_fold(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *g;
    o.scheme      = "parquet";
    o.bits        = 48 * 256;
    blm_filter *f = create_or_fail(&o);
    for (uint32_t i = 0; i < 200; i++)
        assert_true(blm_add(f, &i, 4) >= 0);
    assert_int_equal(blm_fold(f, 5, &g, NULL), BLM_E_INDIVISIBLE);
    assert_int_equal(blm_fold(f, 3, &g, NULL), BLM_OK);
    /* what a smaller filter with the same keys would be, bit for bit */
    o.bits        = 16 * 256;
    blm_filter *h = create_or_fail(&o);
    for (uint32_t i = 0; i < 200; i++)
        assert_true(blm_add(h, &i, 4) >= 0);
    assert_true(blm_equal(g, h));
    blm_free(f);
    blm_free(g);
    blm_free(h);
}

/* In the native file, and back. A native file that claims an impossible shape is refused. */
static void test_native_file(void **state)
{
    (void)state;
    blm_options o = sized(1000, 0.03);
    blm_filter *f = create_or_fail(&o);
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(blm_add(f, &i, 4) >= 0);
    struct golden_file b = encode_as(f, "native");
    o                    = (blm_options)BLM_OPTIONS_INIT;
    blm_filter *g        = golden_decode("native", b.data, b.len, &o);
    assert_true(blm_equal(f, g));
    struct golden_file c = encode_as(f, "parquet");
    golden_encodes_to(g, "parquet", "by way of a native file", c.data, c.len);
    free(b.data);
    free(c.data);
    blm_free(f);
    blm_free(g);
}

/* However many keys are asked for: it takes no time, and never less than fewer keys give. */
static void test_rate_of_too_many(void **state)
{
    (void)state;
    blm_options o    = sized(10, 0);
    double      last = 0, now;
    o.bits           = 256;
    blm_filter *f    = create_or_fail(&o);
    for (uint64_t n = 1; n; n = n < 4096 ? n + 1 : 2 * n) {
        assert_int_equal(blm_rate_at(f, n, &now), BLM_OK);
        if (!(now >= last * (1 - 1e-14) && now <= 1))
            fail_msg("%.17g for %llu keys, %.17g for fewer", now, (unsigned long long)n, last);
        if (n > 1200 && n < 1400) /* where it becomes 1 */
            assert_true(now > 1 - 1e-14);
        last = now;
    }
    assert_true(last == 1);
    blm_free(f);
    blm_plan p = { .size = sizeof p };
    o.items    = (uint64_t)1 << 62;
    assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
    assert_true(p.rate == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_empty_and_full),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_native_file),
        cmocka_unit_test(test_rate_of_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
