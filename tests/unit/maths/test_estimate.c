/* SPDX-License-Identifier: MIT */
/* Estimators against filters whose keys are known: the value is right on average, and the interval
 * holds the truth as often as it says, neither much less nor much more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bloomery/maths.h"
#include "maths/sizing.h"
#include "near.h"

#define ROOM 4096u /* cells of the filters here, at most */

struct bits {
    uint64_t w[ROOM / 64];
};

static void add_keys(struct bits *b, uint64_t m, uint32_t k, uint64_t n, uint64_t *rng)
{
    for (uint64_t i = 0; i < n * k; i++) {
        uint64_t at = blm__mulhi(random_bits(rng), m);
        b->w[at / 64] |= (uint64_t)1 << at % 64;
    }
}

static struct bits either(const struct bits *a, const struct bits *b)
{
    struct bits u;
    for (size_t i = 0; i < ROOM / 64; i++)
        u.w[i] = a->w[i] | b->w[i];
    return u;
}

static uint64_t ones(const struct bits *b)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < ROOM / 64; i++)
        sum += BLM__POPCOUNT64(b->w[i]);
    return sum;
}

static bool holds(const blm_estimate *e, double truth)
{
    return e->low <= truth && truth <= e->high;
}

/* 95% of `runs`, and how far chance can move it (four standard deviations). */
static void assert_covers(unsigned covered, unsigned runs, double at_most)
{
    double slack = 4 * sqrt(0.95 * 0.05 * runs);
    assert_between(covered, 0.95 * runs - slack, fmin(at_most * runs + slack, runs));
}

static void items_from_bits(void **state)
{
    (void)state;
    static const struct {
        uint64_t m;
        uint32_t k;
        uint64_t n;
    } row[]      = { { 4096, 7, 40 },   { 4096, 7, 400 }, { 4096, 1, 4000 }, { 2000, 3, 1500 },
                     { 4096, 4, 6000 }, { 256, 5, 40 },   { 4096, 7, 3500 } };
    uint64_t rng = 1;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        enum { runs = 3000 };
        unsigned covered = 0;
        double   sum = 0, width = 0;
        for (int r = 0; r < runs; r++) {
            struct bits  b = { { 0 } };
            blm_estimate e;
            add_keys(&b, row[i].m, row[i].k, row[i].n, &rng);
            assert_int_equal(blm_estimate_items(row[i].m, row[i].k, ones(&b), &e), BLM_OK);
            covered += holds(&e, (double)row[i].n);
            sum += e.value;
            width += e.high - e.low;
        }
        /* A small filter's estimate is quantised: whole bits are more than the interval. */
        assert_covers(covered, runs, row[i].n < 50 ? 1 : 0.95);
        assert_near(sum / runs, (double)row[i].n, 0.02);
        assert_true(width / runs < 0.4 * (double)row[i].n);
    }
}

static void ends_of_the_scale(void **state)
{
    (void)state;
    blm_estimate e;
    assert_int_equal(blm_estimate_items(1000, 7, 0, &e), BLM_OK);
    assert_true(e.value == 0 && e.low == 0 && e.high == 0 && !e.saturated);

    assert_int_equal(blm_estimate_items(1000, 7, 999, &e), BLM_OK);
    assert_true(!e.saturated && isfinite(e.high) && e.low < e.value && e.value < e.high);

    /* All set: the coupon collector's m·H_m throws, k a key. */
    double harmonic = 0, before = e.low;
    for (int i = 1; i <= 1000; i++)
        harmonic += 1.0 / i;
    assert_int_equal(blm_estimate_items(1000, 7, 1000, &e), BLM_OK);
    assert_near(e.value, 1000 * harmonic / 7, 1e-9);
    assert_true(e.saturated && isinf(e.high) && e.low < e.value && e.low > before);

    for (uint64_t m = 1; m < 70; m++) {
        for (uint32_t k = 1; k < 9; k += 7) {
            double last = 0;
            for (uint64_t set = 0; set <= m; set++) {
                assert_int_equal(blm_estimate_items(m, k, set, &e), BLM_OK);
                assert_between(e.value, e.low, e.high);
                assert_true(e.low * k >= (double)set * (1 - 1e-12)); /* k bits a key at most */
                assert_true(e.value >= last);
                last = e.value;
            }
        }
    }
    /* One bit of very many: the difference of almost equal numbers is in the variance. */
    assert_int_equal(blm_estimate_items((uint64_t)1 << 48, 1, 1, &e), BLM_OK);
    assert_near(e.value, 1, 1e-9);
    assert_near(e.high, 1, 1e-6);
    /* And all but one. */
    assert_int_equal(blm_estimate_items((uint64_t)1 << 48, 1, ((uint64_t)1 << 48) - 1, &e), BLM_OK);
    assert_near(e.value, 0x1p48 * 48 * log(2), 1e-12);
}

static void saturation_is_honest(void **state)
{
    (void)state;
    /* Filters that have just been filled: the interval for the keys that did it. */
    uint64_t     rng     = 7;
    unsigned     covered = 0, runs = 400;
    blm_estimate e;
    blm_estimate_items(256, 1, 256, &e);
    for (unsigned r = 0; r < runs; r++) {
        struct bits b = { { 0 } };
        uint64_t    n = 0;
        while (ones(&b) < 256) {
            add_keys(&b, 256, 1, 1, &rng);
            n++;
        }
        covered += (double)n >= e.low;
    }
    assert_covers(covered, runs, 1);
}

static void overlap_from_bits(void **state)
{
    (void)state;
    static const struct {
        uint64_t m;
        uint32_t k;
        uint64_t a, b, both;
    } row[]      = { { 4096, 5, 300, 200, 100 },
                     { 4096, 5, 300, 200, 0 },
                     { 4096, 5, 250, 250, 250 },
                     { 4096, 3, 900, 400, 50 },
                     { 4096, 4, 600, 30, 20 } };
    uint64_t rng = 3;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        enum { runs = 1000 };
        unsigned covered[5] = { 0 };
        double   sum = 0, jaccard = 0, all = (double)(row[i].a + row[i].b - row[i].both);
        for (int r = 0; r < runs; r++) {
            struct bits a = { { 0 } }, b = { { 0 } }, shared = { { 0 } };
            add_keys(&shared, row[i].m, row[i].k, row[i].both, &rng);
            a = b = shared;
            add_keys(&a, row[i].m, row[i].k, row[i].a - row[i].both, &rng);
            add_keys(&b, row[i].m, row[i].k, row[i].b - row[i].both, &rng);
            struct bits u = either(&a, &b);
            blm_overlap o = { .size = sizeof o };
            assert_int_equal(
                blm_estimate_overlap(row[i].m, row[i].k, ones(&a), ones(&b), ones(&u), &o), BLM_OK);
            covered[0] += holds(&o.a, (double)row[i].a);
            covered[1] += holds(&o.b, (double)row[i].b);
            covered[2] += holds(&o.both, (double)row[i].both);
            covered[3] += holds(&o.either, all);
            covered[4] += holds(&o.jaccard, (double)row[i].both / all);
            sum += o.both.value;
            jaccard += o.jaccard.value;
        }
        for (int j = 0; j < 5; j++)
            assert_covers(covered[j], runs, j < 2 || row[i].both < 50 ? 1 : 0.98);
        if (row[i].both >= 50) {
            assert_near(sum / runs, (double)row[i].both, 0.03);
            assert_near(jaccard / runs, (double)row[i].both / all, 0.03);
        }
    }
}

static void overlap_at_the_ends(void **state)
{
    (void)state;
    blm_overlap o = { .size = sizeof o };
    assert_int_equal(blm_estimate_overlap(1000, 7, 0, 0, 0, &o), BLM_OK);
    assert_true(o.both.value == 0 && o.jaccard.value == 0 && o.either.high == 0);

    assert_int_equal(blm_estimate_overlap(1000, 7, 1000, 500, 1000, &o), BLM_OK);
    assert_true(o.either.saturated && o.a.saturated && !o.b.saturated && o.both.saturated);
    assert_true(o.both.low == 0 && o.both.high == o.b.high && isinf(o.either.high));
    assert_between(o.jaccard.value, 0, 1);

    /* Every triple of counts that can be gives numbers in order. */
    for (uint64_t a = 0; a <= 40; a += 4) {
        for (uint64_t b = 0; b <= 40; b += 4) {
            for (uint64_t u = a > b ? a : b; u <= 40 && u <= a + b; u++) {
                assert_int_equal(blm_estimate_overlap(40, 2, a, b, u, &o), BLM_OK);
                const blm_estimate *e[] = { &o.a, &o.b, &o.both, &o.either, &o.jaccard };
                for (int i = 0; i < 5; i++)
                    assert_between(e[i]->value, e[i]->low, e[i]->high);
                assert_between(o.jaccard.high, 0, 1);
                assert_true(o.both.value <= fmin(o.a.value, o.b.value) * (1 + 1e-12));
            }
        }
    }
}

static void fill_interval(void **state)
{
    (void)state;
    blm_estimate e, derived;
    assert_int_equal(blm_fill_interval(9585059, 7, 1000000, false, 0.95, &e), BLM_OK);
    assert_near(e.value, 1 - exp(-7e6 / 9585059), 1e-7);
    /* 2·exp(−2λ²/kn) = 5% */
    double lambda = (e.high - e.value) * 9585059;
    assert_near(2 * exp(-2 * lambda * lambda / 7e6), 0.05, 1e-9);
    blm_fill_interval(9585059, 7, 1000000, true, 0.95, &derived);
    assert_near(derived.high - derived.value, sqrt(7) * (e.high - e.value), 1e-9);

    /* It is a bound: fills leave it no more often than promised. */
    enum { runs = 2000 };
    unsigned out = 0;
    uint64_t rng = 5;
    blm_fill_interval(1000, 4, 150, false, 0.9, &e);
    for (int r = 0; r < runs; r++) {
        struct bits b = { { 0 } };
        add_keys(&b, 1000, 4, 150, &rng);
        out += !holds(&e, (double)ones(&b) / 1000);
    }
    assert_true(out <= runs / 10);

    blm_fill_interval(1000, 4, 0, false, 0.9, &e);
    assert_true(e.value == 0 && e.low == 0 && e.high == 0);
    blm_fill_interval(1000, 4, UINT64_MAX, true, 0.9, &e);
    assert_between(e.value, e.low, e.high);
    assert_near(e.value, 1, 1e-12);
    blm_fill_interval(1, 1, 1, false, 0.9, &e);
    assert_true(e.value == 1);
}

static void outside_the_domain(void **state)
{
    (void)state;
    blm_estimate e;
    blm_overlap  o = { .size = sizeof o }, small = { .size = 8 };
    assert_int_equal(blm_estimate_items(0, 1, 0, &e), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_items(1, 0, 0, &e), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_items(1, 1, 2, &e), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_items(1, 1, 1, NULL), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_overlap(10, 1, 3, 3, 2, &o), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_overlap(10, 1, 3, 3, 7, &o), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_overlap(10, 1, 8, 8, 11, &o), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_overlap(0, 1, 0, 0, 0, &o), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_overlap(1, 0, 0, 0, 0, &o), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_overlap(1, 1, 0, 0, 0, &small), BLM_E_ARGUMENT);
    assert_int_equal(blm_estimate_overlap(1, 1, 0, 0, 0, NULL), BLM_E_ARGUMENT);
    assert_int_equal(blm_fill_interval(0, 1, 1, false, 0.9, &e), BLM_E_ARGUMENT);
    assert_int_equal(blm_fill_interval(1, 0, 1, false, 0.9, &e), BLM_E_ARGUMENT);
    assert_int_equal(blm_fill_interval(1, 1, 1, false, 1, &e), BLM_E_ARGUMENT);
    assert_int_equal(blm_fill_interval(1, 1, 1, false, 0, &e), BLM_E_ARGUMENT);
    assert_int_equal(blm_fill_interval(1, 1, 1, false, NAN, &e), BLM_E_ARGUMENT);
    assert_int_equal(blm_fill_interval(1, 1, 1, false, 0.9, NULL), BLM_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_from_bits),      cmocka_unit_test(ends_of_the_scale),
        cmocka_unit_test(saturation_is_honest), cmocka_unit_test(overlap_from_bits),
        cmocka_unit_test(overlap_at_the_ends),  cmocka_unit_test(fill_interval),
        cmocka_unit_test(outside_the_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
