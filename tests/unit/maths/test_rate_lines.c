/* SPDX-License-Identifier: MIT */
/* The line layout's model against closed forms, and against native probes thrown at a few lines,
 * where Poisson's loads and free choice of words are both visibly wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bloomery/maths.h"
#include "core/probe.h"
#include "maths/sizing.h"
#include "near.h"

/* Eight words: every key of the line has a bit in each, so a sum over Poisson loads will do. */
static double eight_words(double load)
{
    double chance = exp(-load), sum = 0;
    for (int i = 1; i < 2000; i++) {
        chance *= load / i;
        sum += chance * pow(1 - pow(63.0 / 64, i), 8);
    }
    return sum;
}

static void one_line_has_closed_forms(void **state)
{
    (void)state;
    for (double load = 1e-3; load < 600; load *= 1.7) {
        assert_near(blm__line_rate(512, 8, load), eight_words(load), 1e-7);
        assert_near(blm__line_rate(512, 1, load), -expm1(-load / 512), 1e-7);
    }
    for (uint32_t k = 1; k <= 8; k++) {
        assert_true(blm__line_rate(512, k, 0) == 0);
        assert_true(blm__line_rate(512, k, 1e9) == 1);
        /* One key in the line, the same words, the same bits; two keys are too rare to count. */
        double alone = blm__line_rate(512, k, 1e-9) / 1e-9;
        assert_near(alone, (k < 8 ? 1.0 / 8 : 1) * pow(64, -(double)k), 1e-5);
    }
}

/* The alternating sum gives way to the positive one at 1e-6: no step there. */
static void both_ways_to_the_rate_agree(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 8; k++) {
        double load = 1e-3;
        while (blm__line_rate(512, k, load) < 1e-6)
            load *= 1.01;
        double before = log(blm__line_rate(512, k, load / 1.01)),
               at     = log(blm__line_rate(512, k, load));
        double after  = log(blm__line_rate(512, k, load * 1.01));
        assert_true(before < log(1e-6) && at >= log(1e-6));
        assert_near(after - at, at - before, 0.02);
    }
}

/* Bits a key needs at the rates and words of the design table, to its two decimals. */
static void known_bits_per_key(void **state)
{
    (void)state;
    static const struct {
        uint32_t words;
        double   rate, bits;
    } row[] = { { 3, 1e-1, 4.83 }, { 6, 1e-2, 9.93 }, { 8, 1e-2, 10.10 }, { 8, 1e-3, 15.72 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double tight = blm__line_rate(512, row[i].words, 512 / (row[i].bits - 0.01));
        double loose = blm__line_rate(512, row[i].words, 512 / (row[i].bits + 0.01));
        assert_between(row[i].rate, loose, tight);
    }
}

/* ---- thrown ---- */

static bool visit(uint64_t *words, uint64_t count, uint32_t k, uint32_t lines, uint64_t h, bool add)
{
    for (uint32_t l = 0; l < lines; l++) {
        uint64_t *line = words + 8 * blm__reduce(h, count), x = blm__line_x(h);
        unsigned  used = blm__line_words(x, k);
        for (unsigned j = 0; j < 8; j++) {
            uint64_t bit = (uint64_t)1 << blm__line_bit(x, j);
            if (!(used >> j & 1))
                continue;
            if (add)
                line[j] |= bit;
            else if (!(line[j] & bit))
                return false;
        }
        h = blm__line_next(x);
    }
    return true;
}

static double throw_lines(uint64_t count, uint32_t k, uint32_t lines, uint64_t n, int questions,
                          double *error)
{
    enum { seeds = 10000 };
    uint64_t words[8 * 8], rng = n * 1000003 + count * 31 + k;
    double   sum = 0, squares = 0;
    assert_true(count <= 8);
    for (int s = 0; s < seeds; s++) {
        int hits = 0;
        memset(words, 0, sizeof words);
        for (uint64_t i = 0; i < n; i++)
            visit(words, count, k, lines, random_bits(&rng), true);
        for (int i = 0; i < questions; i++)
            hits += visit(words, count, k, lines, random_bits(&rng), false);
        double rate = (double)hits / questions;
        sum += rate;
        squares += rate * rate;
    }
    sum /= seeds;
    *error = sqrt((squares / seeds - sum * sum) / seeds);
    return sum;
}

static void native_lines_behave_as_modelled(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        uint32_t k, lines;
        uint64_t n;
        bool     poisson_fails; /* the model with Poisson's loads is visibly wrong */
    } row[] = { { 1, 3, 1, 100, false }, { 1, 6, 1, 60, true },  { 1, 8, 1, 50, true },
                { 2, 6, 1, 100, true },  { 2, 2, 1, 90, false }, { 2, 4, 1, 80, true },
                { 2, 5, 1, 90, true },   { 3, 7, 1, 150, true }, { 4, 6, 2, 206, false },
                { 4, 4, 2, 206, false }, { 6, 8, 3, 220, false } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double error;
        double seen  = throw_lines(row[i].count, row[i].k, row[i].lines, row[i].n, 400, &error);
        double model = blm__rate_lines(512, row[i].count, row[i].k, row[i].lines, row[i].n);
        assert_between(seen, model - 4 * error, model + 4 * error);
        assert_true(error < 0.01 * model);
        double load    = (double)row[i].n * row[i].lines / (double)row[i].count;
        double poisson = pow(blm__line_rate(512, row[i].k, load), row[i].lines);
        if (row[i].poisson_fails)
            assert_true(fabs(seen - poisson) > 5 * error);
    }
}

/* Few lines and several a key: the mean to the power L is the lower bound, and visibly low. */
static void the_spread_between_filters_counts(void **state)
{
    (void)state;
    double   error, seen = throw_lines(6, 8, 3, 220, 3000, &error);
    blm_rate r;
    blm__model_lines(512, 6, 8, 3, 220, &r);
    assert_between(seen, r.value - 4 * error, r.value + 4 * error);
    assert_true(seen - r.low > 3 * error);
    assert_true(r.high - seen > 3 * error);
}

static void the_bounds_hold_the_value(void **state)
{
    (void)state;
    static const uint64_t counts[] = { 1, 2, 4, 6, 100, 1000000, (uint64_t)1 << 39 };
    static const uint64_t keys[]   = { 0, 1, 10, 200, 1000000, (uint64_t)1 << 40, UINT64_MAX };
    for (size_t a = 0; a < sizeof counts / sizeof *counts; a++) {
        for (uint32_t shape = 0; shape < 24; shape++) {
            uint32_t k = shape % 8 + 1, lines = shape / 8 + 1;
            double   before = 0;
            for (size_t b = 0; b < sizeof keys / sizeof *keys; b++) {
                blm_rate r;
                blm__model_lines(512, counts[a], k, lines, keys[b], &r);
                assert_between(r.value, r.low, r.high);
                assert_between(r.value, before * (1 - 1e-7), 1);
                assert_true(r.high <= 1 &&
                            r.method == (lines > 1 && keys[b] ? BLM_BY_BOUND : BLM_BY_SUM));
                if (lines == 1)
                    assert_true(r.low == r.high);
                if (keys[b] == 0)
                    assert_true(r.value == 0);
                if (keys[b] == UINT64_MAX)
                    assert_near(r.value, 1, 1e-9);
                before = r.value;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_has_closed_forms),
        cmocka_unit_test(both_ways_to_the_rate_agree),
        cmocka_unit_test(known_bits_per_key),
        cmocka_unit_test(native_lines_behave_as_modelled),
        cmocka_unit_test(the_spread_between_filters_counts),
        cmocka_unit_test(the_bounds_hold_the_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
