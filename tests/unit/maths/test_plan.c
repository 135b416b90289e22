/* SPDX-License-Identifier: MIT */
/* Options to a plan for probes that fall anywhere: each combination that blm_plan_for lists, and
 * each that it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bloomery/maths.h"
#include "maths/plan.h"
#include "maths/sizing.h"
#include "near.h"

static blm_plan plan(const blm_options *o, uint32_t cell_bits)
{
    blm_plan  p = { .size = sizeof p };
    blm_error e;
    if (blm__plan_cells(o, cell_bits, &p, &e) != BLM_OK)
        fail_msg("%s", e.text);
    return p;
}

static void refused(const blm_options *o, blm_status status, const char *word)
{
    for (uint32_t cell_bits = 1; cell_bits <= 4; cell_bits += 3) {
        blm_plan  p = { .size = sizeof p };
        blm_error e = { .status = BLM_OK };
        assert_int_equal(blm__plan_cells(o, cell_bits, &p, &e), status);
        assert_int_equal(e.status, status);
        if (!strstr(e.text, word))
            fail_msg("\"%s\" does not say \"%s\"", e.text, word);
        assert_int_equal(blm__plan_cells(o, cell_bits, &p, NULL), status);
    }
}

#define OPTIONS(...) ((blm_options){ .size = sizeof(blm_options), __VA_ARGS__ })

/* No smaller multiple of a word would do, with any number of probes. */
static void items_and_rate_give_the_least_size(void **state)
{
    (void)state;
    static const uint64_t items[] = { 1, 10, 100, 1000, 12345, 1000000 };
    static const double   rates[] = { 0.9, 0.5, 0.1, 0.03, 0.01, 1e-3, 1e-5 };
    for (size_t a = 0; a < sizeof items / sizeof *items; a++) {
        for (size_t b = 0; b < sizeof rates / sizeof *rates; b++) {
            for (uint32_t cell_bits = 1; cell_bits <= 4; cell_bits += 3) {
                blm_options o    = OPTIONS(.items = items[a], .rate = rates[b]);
                blm_plan    p    = plan(&o, cell_bits);
                uint64_t    unit = 64 / cell_bits;
                assert_int_equal(p.bits % unit, 0);
                assert_true(p.rate <= rates[b] && p.fits);
                assert_near(p.rate, blm__rate_classic(p.bits, p.probes, items[a]), 1e-15);
                assert_int_equal(p.bytes, p.bits * cell_bits / 8);
                assert_int_equal(p.bytes_needed, p.bytes);
                assert_true(p.items == items[a] && p.asked == rates[b] && p.lines == 0);
                for (uint32_t k = 1; k <= 30 && p.bits > unit; k++)
                    assert_true(blm__rate_classic(p.bits - unit, k, items[a]) > rates[b]);
            }
        }
    }
}

static void a_million_at_one_percent_is_a_little_more_than_the_textbook(void **state)
{
    (void)state;
    blm_options o = OPTIONS(.items = 1000000, .rate = 0.01);
    blm_plan    p = plan(&o, 1);
    assert_int_equal(p.probes, 7);
    assert_between((double)p.bits, 9585059, 9585059 * 1.001);
    assert_near(p.bits_per_item, 9.593, 1e-4);
}

/* The promise of the header: within half a percent of −n·ln p/ln²2 where k rounds well. */
static void the_cost_of_whole_probes_is_small(void **state)
{
    (void)state;
    for (double rate = 0.03; rate > 1e-12; rate *= 0.83) {
        blm_options o = OPTIONS(.items = 10000000, .rate = rate);
        /* The bits spent on hash collisions are not the rounding's. */
        double ideal = -1e7 * log(rate - ldexp(1e7, -64)) / (BLM__LN2 * BLM__LN2);
        assert_between((double)plan(&o, 1).bits, ideal, ideal * 1.005);
    }
}

static void a_given_k_is_kept(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 20; k += 3) {
        blm_options o = OPTIONS(.items = 10000, .rate = 0.01, .probes = k);
        blm_plan    p = plan(&o, 1);
        assert_int_equal(p.probes, k);
        assert_true(p.rate <= 0.01 && blm__rate_classic(p.bits - 64, k, 10000) > 0.01);
    }
}

static void memory_is_filled(void **state)
{
    (void)state;
    blm_options o = OPTIONS(.items = 1000000, .memory = 1u << 20);
    blm_plan    p = plan(&o, 1);
    assert_int_equal(p.bits, 8u << 20);
    assert_true(p.bytes == 1u << 20 && p.asked == 0 && p.bytes_needed == 0 && p.fits);
    for (uint32_t k = 1; k < 20; k++)
        assert_true(blm__rate_classic(p.bits, k, 1000000) >= p.rate);
    assert_int_equal(plan(&o, 4).bits, 2u << 20);

    /* With a rate too: whether it fits, and how much would. */
    o.rate = 0.01;
    p      = plan(&o, 1);
    assert_true(!p.fits && p.asked == 0.01 && p.bits == 8u << 20);
    blm_options least = OPTIONS(.items = 1000000, .rate = 0.01);
    assert_int_equal(p.bytes_needed, plan(&least, 1).bytes);
    o.rate = 0.05;
    p      = plan(&o, 1);
    assert_true(p.fits && p.bits == 8u << 20 && p.bytes_needed < p.bytes);
    o.rate = 1e-18; /* out of reach of 64-bit hashes, in any memory */
    p      = plan(&o, 1);
    assert_true(!p.fits && p.bytes_needed == UINT64_MAX);
    o.probes = 3;
    assert_int_equal(plan(&o, 1).probes, 3);
}

/* So roomy that hash collisions are the rate: no probe more than it takes. */
static void roomy_filters_do_not_waste_probes(void **state)
{
    (void)state;
    blm_options o = OPTIONS(.items = 100, .memory = 1u << 30);
    blm_plan    p = plan(&o, 1);
    assert_true(p.probes <= 4);
    assert_near(p.rate, ldexp(100, -64), 0.01);
}

static void bits_are_kept_as_they_are(void **state)
{
    (void)state;
    blm_options o = OPTIONS(.items = 100000, .bits = 999983);
    blm_plan    p = plan(&o, 1);
    assert_int_equal(p.bits, 999983);
    assert_int_equal(p.probes, 7);
    assert_int_equal(p.bytes, (999983 + 63) / 64 * 8);
    o.probes = 4;
    p        = plan(&o, 1);
    assert_near(p.rate, blm__rate_classic(999983, 4, 100000), 1e-15);
    blm_options words = OPTIONS(.items = 10, .words = (uint64_t[3]){ 0 }, .word_count = 3);
    assert_int_equal(plan(&words, 1).bits, 192);
    assert_int_equal(plan(&words, 4).bits, 48);
}

static void keys_that_fit_are_counted(void **state)
{
    (void)state;
    static const double rates[] = { 0.5, 0.01, 1e-6 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        blm_options o = OPTIONS(.bits = 100003, .rate = rates[i]);
        blm_plan    p = plan(&o, 1);
        assert_true(p.rate <= rates[i] && p.fits);
        for (uint32_t k = 1; k < 30; k++)
            assert_true(blm__rate_classic(100003, k, p.items + 1) > rates[i]);
        o.probes = 3;
        p        = plan(&o, 1);
        assert_int_equal(p.probes, 3);
        assert_true(p.rate <= rates[i]);
        assert_true(blm__rate_classic(100003, 3, p.items + 1) > rates[i]);
    }
    /* Memory alone: at 1%, and the whole words of it. */
    blm_options memory = OPTIONS(.memory = 12500), both = OPTIONS(.bits = 99968, .rate = 0.01);
    assert_int_equal(plan(&memory, 1).bytes, 12496);
    assert_int_equal(plan(&memory, 1).items, plan(&both, 1).items);
    assert_true(plan(&memory, 1).asked == 0.01);
}

static void bits_and_probes_alone_mean_half_full(void **state)
{
    (void)state;
    blm_options o = OPTIONS(.bits = 1000000, .probes = 6);
    blm_plan    p = plan(&o, 1);
    assert_near((double)p.items, 1e6 * log(2) / 6, 1e-5);
    assert_near(p.rate, pow(0.5, 6), 1e-4);
    assert_true(p.asked == 0 && p.fits && p.bytes_needed == 0);
    blm_options tiny = OPTIONS(.bits = 1, .probes = 1);
    assert_int_equal(plan(&tiny, 1).items, 1);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const double bad[] = { -0.01, 1, 2, NAN, INFINITY, -INFINITY };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        blm_options o = OPTIONS(.items = 10, .rate = bad[i]);
        refused(&o, BLM_E_ARGUMENT, "between 0 and 1");
    }
    refused(&OPTIONS(.items = 0), BLM_E_ARGUMENT, "items");
    refused(&OPTIONS(.rate = 0.01), BLM_E_ARGUMENT, "number of keys");
    refused(&OPTIONS(.items = 10), BLM_E_ARGUMENT, "rate, memory or bits");
    refused(&OPTIONS(.items = 10, .probes = 3), BLM_E_ARGUMENT, "rate, memory or bits");
    refused(&OPTIONS(.bits = 10, .probes = 2049), BLM_E_ARGUMENT, "2048");
}

static void what_is_too_large_is_refused(void **state)
{
    (void)state;
    refused(&OPTIONS(.bits = BLM__MAX_BITS + 1, .probes = 1), BLM_E_LIMIT, "split");
    refused(&OPTIONS(.items = (uint64_t)1 << 47, .rate = 0.01), BLM_E_LIMIT, "2^48");
    refused(&OPTIONS(.items = UINT64_MAX, .rate = 0.9), BLM_E_LIMIT, "64-bit hashes");
    refused(&OPTIONS(.items = 100000000000, .rate = 1e-9), BLM_E_LIMIT, "at least 1.1e-08");
    refused(&OPTIONS(.items = 1, .rate = 1e-310), BLM_E_LIMIT, "64-bit hashes");
    refused(&OPTIONS(.items = 1000000, .rate = 0.01, .max_bytes = 1000000), BLM_E_LIMIT,
            "limit of 1000000");
    refused(&OPTIONS(.bits = 64, .rate = 1e-18), BLM_E_LIMIT, "one key");
    refused(&OPTIONS(.bits = 100000, .memory = 1000, .items = 10), BLM_E_LIMIT, "memory");
    /* The last that is not. */
    blm_options most = OPTIONS(.bits = BLM__MAX_BITS, .rate = 0.01), fits, cap;
    assert_int_equal(plan(&most, 1).bits, BLM__MAX_BITS);
    most = OPTIONS(.memory = UINT64_MAX, .rate = 0.01);
    assert_int_equal(plan(&most, 1).bits, BLM__MAX_BITS);
    assert_int_equal(plan(&most, 4).bits, BLM__MAX_BITS / 4);
    cap           = OPTIONS(.items = 1000000, .rate = 0.01);
    cap.max_bytes = plan(&cap, 1).bytes;
    plan(&cap, 1);
    fits = OPTIONS(.bits = 8000, .memory = 1000, .items = 10);
    assert_int_equal(plan(&fits, 1).bits, 8000);
}

/* What a refusal names as the least rate can be had; far below it nothing can. True: it names one. */
static bool advice_works(blm_options o)
{
    blm_plan    p = { .size = sizeof p };
    blm_error   e;
    const char *least;
    if (blm_plan_for(&o, &p, &e) == BLM_OK || !strstr(e.text, "64-bit hashes"))
        return false;
    least = strstr(e.text, "at least ");
    if (!least)
        return false;
    double rate = strtod(least + strlen("at least "), NULL);
    o.rate      = rate;
    if (blm_plan_for(&o, &p, &e) != BLM_OK || !p.fits)
        fail_msg("kind %d, %llu keys: a rate of %g was advised, and then \"%s\"", (int)o.kind,
                 (unsigned long long)o.items, rate, e.text);
    o.rate = rate * 0.8;
    assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_E_LIMIT);
    return true;
}

static void a_rate_that_is_advised_can_be_had(void **state)
{
    (void)state;
    static const double keys[]  = { 10, 1e5, 3.3e9, 1e10, 2.4e11, 1e12, 7e13, 1e15, 1e18 };
    static const double rates[] = { 0.01, 1e-6, 9e-9, 1e-9, 3e-10, 1e-12, 1e-18, 1e-300 };
    unsigned            advised = 0, kinds = 0;
    for (int kind = BLM_CLASSIC; kind <= BLM_STATIC; kind++) {
        unsigned before = advised;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
                blm_options o =
                    OPTIONS(.kind = (blm_kind)kind, .items = (uint64_t)keys[i], .rate = rates[j]);
                advised += advice_works(o);
                o.tightening = 0.5;
                o.slack      = 0.02;
                o.growth     = kind == BLM_CUCKOO ? 2 : 0;
                o.lines      = kind == BLM_BLOCKED || kind == BLM_COUNTING;
                o.probes     = kind == BLM_CLASSIC ? 7 : 0;
                advised += advice_works(o);
            }
        kinds += advised > before;
    }
    assert_int_equal(kinds, BLM_STATIC);
    /* As many as this fit at no rate. */
    refused(&OPTIONS(.items = 1000000000000000000, .rate = 1e-320), BLM_E_LIMIT,
            "; raise the rate");
    refused(&OPTIONS(.items = 1, .rate = 1e-320, .probes = 1), BLM_E_LIMIT, "; raise the rate");
    refused(&OPTIONS(.items = 1, .rate = 1e-18, .probes = 1), BLM_E_LIMIT,
            "1 key at a rate of 1e-18 needs more than 2^48 bits; raise the rate, or the number of "
            "probes");
    refused(&OPTIONS(.items = 1000000000000000000, .rate = 0.01), BLM_E_LIMIT, "split the keys");
}

static bool below(const void *ctx, uint64_t x) { return x <= *(const uint64_t *)ctx; }

static void greatest_finds_it_from_any_guess(void **state)
{
    (void)state;
    static const uint64_t edges[] = { 0, 1, 2, 3, 100, 12345, UINT64_MAX - 1, UINT64_MAX };
    for (size_t a = 0; a < sizeof edges / sizeof *edges; a++)
        for (size_t b = 0; b < sizeof edges / sizeof *edges; b++)
            for (size_t c = 0; c < sizeof edges / sizeof *edges; c++) {
                uint64_t most = edges[c], truth = edges[a] < most ? edges[a] : most;
                assert_true(blm__greatest(below, &edges[a], edges[b], most) == truth);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_and_rate_give_the_least_size),
        cmocka_unit_test(a_million_at_one_percent_is_a_little_more_than_the_textbook),
        cmocka_unit_test(the_cost_of_whole_probes_is_small),
        cmocka_unit_test(a_given_k_is_kept),
        cmocka_unit_test(memory_is_filled),
        cmocka_unit_test(roomy_filters_do_not_waste_probes),
        cmocka_unit_test(bits_are_kept_as_they_are),
        cmocka_unit_test(keys_that_fit_are_counted),
        cmocka_unit_test(bits_and_probes_alone_mean_half_full),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(a_rate_that_is_advised_can_be_had),
        cmocka_unit_test(greatest_finds_it_from_any_guess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
