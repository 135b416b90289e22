/* SPDX-License-Identifier: MIT */
/* Options to a plan for blocked filters: lines, words and lines a key, and their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bloomery/maths.h"
#include "maths/plan.h"
#include "maths/sizing.h"
#include "near.h"

#define OPTIONS(...) ((blm_options){ .size = sizeof(blm_options), __VA_ARGS__ })

static blm_plan plan(const blm_options *o)
{
    blm_plan  p = { .size = sizeof p };
    blm_error e;
    if (blm__plan_lines(o, &p, &e) != BLM_OK)
        fail_msg("%s", e.text);
    assert_int_equal(p.bits % 512, 0);
    assert_int_equal(p.bytes, p.bits / 8);
    assert_true(p.lines >= 1 && p.lines <= 3 && p.probes % p.lines == 0);
    assert_true(p.lines == 1 || p.bits >= 2 * 512 * (uint64_t)p.lines);
    assert_near(p.rate, blm__rate_lines(512, p.bits / 512, p.probes / p.lines, p.lines, p.items),
                1e-12);
    return p;
}

static void refused(const blm_options *o, blm_status status, const char *word)
{
    blm_plan  p = { .size = sizeof p };
    blm_error e = { .status = BLM_OK };
    assert_int_equal(blm__plan_lines(o, &p, &e), status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, word))
        fail_msg("\"%s\" does not say \"%s\"", e.text, word);
    assert_int_equal(blm__plan_lines(o, &p, NULL), status);
}

/* What the layout was designed to cost at n = 1e6: lines × words, bits a key. */
static void the_design_table(void **state)
{
    (void)state;
    static const struct {
        double   rate;
        uint32_t lines, words;
        double   bits;
    } row[] = { { 1e-1, 1, 3, 4.84 },  { 1e-2, 1, 6, 9.93 },  { 1e-3, 1, 8, 15.72 },
                { 1e-4, 2, 6, 19.86 }, { 1e-5, 2, 8, 25.38 }, { 1e-6, 2, 8, 31.45 },
                { 1e-7, 3, 7, 35.24 }, { 1e-9, 3, 8, 47.17 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blm_options o = OPTIONS(.items = 1000000, .rate = row[i].rate);
        blm_plan    p = plan(&o);
        assert_int_equal(p.lines, row[i].lines);
        assert_int_equal(p.probes, row[i].lines * row[i].words);
        assert_near(p.bits_per_item, row[i].bits, 1e-3);
        assert_true(p.rate <= row[i].rate && p.fits && p.bytes_needed == p.bytes);
    }
}

/* No fewer lines would do, with any words, at this number of lines a key or fewer. */
static void items_and_rate_give_the_fewest_lines(void **state)
{
    (void)state;
    static const uint64_t items[] = { 1, 10, 100, 1000, 20000 };
    static const double   rates[] = { 0.9, 0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-5 };
    for (size_t a = 0; a < sizeof items / sizeof *items; a++) {
        for (size_t b = 0; b < sizeof rates / sizeof *rates; b++) {
            blm_options o = OPTIONS(.items = items[a], .rate = rates[b]);
            blm_plan    p = plan(&o);
            assert_true(p.rate <= rates[b]);
            for (uint32_t shape = 0; shape < 8 * p.lines; shape++) {
                uint32_t lines = shape / 8 + 1;
                uint64_t count = p.bits / 512 - 1;
                if (count >= (lines > 1 ? 2 * lines : 1))
                    assert_true(blm__rate_lines(512, count, shape % 8 + 1, lines, items[a]) >
                                rates[b]);
            }
        }
    }
}

static void one_line_where_it_costs_no_more(void **state)
{
    (void)state;
    blm_options o = OPTIONS(.items = 10, .rate = 1e-4);
    blm_plan    p = plan(&o);
    assert_int_equal(p.lines, 1);
    assert_int_equal(p.bits, 512);
    o.lines = 2; /* but as asked */
    p       = plan(&o);
    assert_int_equal(p.lines, 2);
    assert_int_equal(p.bits, 2048);
}

/* Twenty lines do with six words or with seven: the lower rate comes for nothing. */
static void of_equal_sizes_the_lower_rate(void **state)
{
    (void)state;
    blm_options o = OPTIONS(.items = 1000, .rate = 0.01);
    blm_plan    p = plan(&o);
    assert_int_equal(p.bits, 20 * 512);
    assert_true(blm__rate_lines(512, 20, 6, 1, 1000) < 0.01);
    assert_int_equal(p.probes, 7);
    for (uint32_t k = 1; k <= 8; k++)
        assert_true(blm__rate_lines(512, 20, k, 1, 1000) >= p.rate);
}

static void lines_can_be_asked_for(void **state)
{
    (void)state;
    blm_options one = OPTIONS(.items = 1000000, .rate = 1e-3),
                two = OPTIONS(.items = 1000000, .rate = 1e-3, .lines = 2);
    blm_plan p = plan(&one), q = plan(&two);
    assert_int_equal(p.lines, 1);
    assert_int_equal(q.lines, 2);
    assert_near(p.bits_per_item, 15.72, 1e-3);
    assert_near(q.bits_per_item, 14.64, 1e-3);
}

static void probes_are_split_over_lines(void **state)
{
    (void)state;
    static const uint32_t row[][3] = { { 1, 1, 1 },  { 6, 1, 6 },  { 8, 1, 8 },  { 9, 3, 3 },
                                       { 10, 2, 5 }, { 12, 2, 6 }, { 16, 2, 8 }, { 24, 3, 8 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blm_options rated = OPTIONS(.items = 100000, .rate = 0.01, .probes = row[i][0]);
        blm_options sized = OPTIONS(.items = 100000, .bits = 1 << 20, .probes = row[i][0]);
        blm_options alone = OPTIONS(.bits = 1 << 20, .probes = row[i][0]);
        blm_options keys  = OPTIONS(.bits = 1 << 20, .rate = 0.01, .probes = row[i][0]);
        blm_plan    p[]   = { plan(&rated), plan(&sized), plan(&alone), plan(&keys) };
        for (int j = 0; j < 4; j++) {
            assert_int_equal(p[j].probes, row[i][0]);
            assert_int_equal(p[j].lines, row[i][1]);
        }
        assert_true(p[0].rate <= 0.01 && p[3].rate <= 0.01);
    }
    blm_options asked = OPTIONS(.items = 1000, .rate = 0.01, .probes = 6, .lines = 2);
    assert_int_equal(plan(&asked).lines, 2);
}

static void sizes_are_whole_lines(void **state)
{
    (void)state;
    blm_options bits = OPTIONS(.items = 1000, .bits = 10000), memory = OPTIONS(.memory = 1000);
    assert_int_equal(plan(&bits).bits, 10240);
    assert_int_equal(plan(&memory).bits, 15 * 512);
    assert_true(plan(&memory).asked == 0.01 && plan(&memory).rate <= 0.01);
}

/* Size and keys given: the words with the least rate, and the lines that rate calls for. */
static void the_best_shape_for_a_size(void **state)
{
    (void)state;
    static const struct {
        uint64_t items;
        uint32_t lines;
    } row[] = { { 1000000, 1 }, { 600000, 1 }, { 400000, 2 }, { 240000, 3 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blm_options o = OPTIONS(.items = row[i].items, .memory = 1u << 20);
        blm_plan    p = plan(&o);
        assert_int_equal(p.lines, row[i].lines);
        assert_int_equal(p.bits, 8u << 20);
        for (uint32_t k = 1; k <= 8; k++)
            assert_true(blm__rate_lines(512, p.bits / 512, k, p.lines, p.items) >= p.rate);
    }
    blm_options o = OPTIONS(.items = 1000000, .memory = 1u << 20, .rate = 0.01);
    blm_plan    p = plan(&o);
    assert_true(!p.fits && p.bytes_needed > p.bytes);
    o.memory = p.bytes_needed;
    assert_true(plan(&o).fits);
    o.memory -= 64;
    assert_false(plan(&o).fits);
}

static void keys_that_fit_are_counted(void **state)
{
    (void)state;
    static const double rates[] = { 0.5, 0.01, 1e-3, 1e-5 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        blm_options o = OPTIONS(.bits = 512 * 200, .rate = rates[i]);
        blm_plan    p = plan(&o);
        assert_true(p.rate <= rates[i] && p.fits);
        for (uint32_t k = 1; k <= 8; k++)
            assert_true(blm__rate_lines(512, 200, k, p.lines, p.items + 1) > rates[i]);
    }
    blm_options half = OPTIONS(.bits = 512 * 200, .probes = 8);
    assert_near((double)plan(&half).items, 200 * 512 * log(2) / 8, 1e-2);
    assert_true(plan(&half).asked == 0);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const double bad[] = { -0.01, 1, 2, NAN, INFINITY, -INFINITY };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(&OPTIONS(.items = 10, .rate = bad[i]), BLM_E_ARGUMENT, "between 0 and 1");
    refused(&OPTIONS(.items = 0), BLM_E_ARGUMENT, "items");
    refused(&OPTIONS(.items = 10), BLM_E_ARGUMENT, "rate, memory or bits");
    refused(&OPTIONS(.items = 10, .rate = 0.1, .lines = 4), BLM_E_ARGUMENT, "1 to 3");
    refused(&OPTIONS(.items = 10, .rate = 0.1, .probes = 11), BLM_E_ARGUMENT, "evenly");
    refused(&OPTIONS(.items = 10, .rate = 0.1, .probes = 25), BLM_E_ARGUMENT, "evenly");
    refused(&OPTIONS(.items = 10, .rate = 0.1, .probes = 5, .lines = 2), BLM_E_ARGUMENT,
            "over 2 lines");
    refused(&OPTIONS(.bits = 1024, .items = 10, .lines = 2), BLM_E_ARGUMENT, "2048");
    refused(&OPTIONS(.bits = 1024, .items = 10, .probes = 16), BLM_E_ARGUMENT, "2048");
}

static void what_is_too_large_is_refused(void **state)
{
    (void)state;
    refused(&OPTIONS(.memory = 63, .rate = 0.1), BLM_E_LIMIT, "at least 64");
    refused(&OPTIONS(.bits = BLM__MAX_BITS + 1, .rate = 0.1), BLM_E_LIMIT, "split");
    refused(&OPTIONS(.items = (uint64_t)1 << 47, .rate = 0.01), BLM_E_LIMIT, "2^48");
    refused(&OPTIONS(.items = 100000000000, .rate = 1e-9), BLM_E_LIMIT, "at least 1.1e-08");
    refused(&OPTIONS(.items = 1, .rate = 1e-310), BLM_E_LIMIT, "64-bit hashes");
    refused(&OPTIONS(.bits = 512, .rate = 1e-18), BLM_E_LIMIT, "one key");
    refused(&OPTIONS(.bits = 5120, .rate = 1e-310), BLM_E_LIMIT, "one key");
    refused(&OPTIONS(.items = 1000000, .rate = 0.01, .max_bytes = 1000000), BLM_E_LIMIT,
            "limit of 1000000");
    refused(&OPTIONS(.bits = 10000, .memory = 1000, .items = 10), BLM_E_LIMIT, "memory");
    blm_options most = OPTIONS(.memory = UINT64_MAX, .rate = 0.01);
    assert_int_equal(plan(&most).bits, BLM__MAX_BITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_design_table),
        cmocka_unit_test(items_and_rate_give_the_fewest_lines),
        cmocka_unit_test(one_line_where_it_costs_no_more),
        cmocka_unit_test(of_equal_sizes_the_lower_rate),
        cmocka_unit_test(lines_can_be_asked_for),
        cmocka_unit_test(probes_are_split_over_lines),
        cmocka_unit_test(sizes_are_whole_lines),
        cmocka_unit_test(the_best_shape_for_a_size),
        cmocka_unit_test(keys_that_fit_are_counted),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(what_is_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
