/* SPDX-License-Identifier: MIT */
/*
 * The native scheme's hash and what is derived from it behave as chance: avalanche, keys with
 * little or regular entropy, line and bits that know nothing of each other,
 * seeds that do not either.
 *
 * Every bound is statistical and could fail: each statistic is also shown a hash (or a derivation)
 * known to be poor, and must refuse it. The keys are fixed, so a run never differs from another.
 */
#include <math.h>

#include "bloomery/maths.h"
#include "core/bytes.h"
#include "core/probe.h"
#include "unit/support.h"

/* ---- the hash, as the public calls give it ---- */

static blm_filter *seeded(blm_kind kind, uint64_t n, double p, uint64_t seed, blm_hash_fn poor)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.kind    = kind;
    o.items   = n;
    o.rate    = p;
    o.flags   = BLM_SEEDED;
    o.seed[0] = seed;
    if (poor) {
        o.hash      = BLM_HASH_CUSTOM;
        o.hash_fn   = poor;
        o.hash_name = "poor";
    }
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    return f;
}

static uint64_t hash_of(const blm_filter *f, const void *key, size_t len)
{
    blm_digest d;
    assert_int_equal(blm_digest_of(f, key, len, &d), BLM_OK);
    return d.w[0];
}

/* One multiplication: what a hurried hash does. */
static uint64_t one_multiply(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    (void)ctx;
    uint64_t v = seed[0];
    for (size_t i = 0; i < len; i += 8) {
        uint64_t part = 0;
        memcpy(&part, (const char *)key + i, len - i < 8 ? len - i : 8);
        v = (v ^ part) * 0x9e3779b97f4a7c15u;
    }
    return v;
}

/* ---- avalanche ---- */

#define TRIALS 2000

/* The worst bias of any output bit under a flip of any input bit, in standard deviations. */
static double worst_bias(const blm_filter *f, size_t len)
{
    struct rng rng   = { len };
    double     worst = 0;
    uint8_t    key[128];
    for (size_t bit = 0; bit < len * 8; bit++) {
        uint32_t flips[64] = { 0 };
        for (int t = 0; t < TRIALS; t++) {
            rng_bytes(&rng, key, len);
            uint64_t was = hash_of(f, key, len);
            key[bit / 8] ^= (uint8_t)(1u << bit % 8);
            uint64_t changed = was ^ hash_of(f, key, len);
            for (int i = 0; i < 64; i++)
                flips[i] += (uint32_t)(changed >> i & 1);
        }
        for (int i = 0; i < 64; i++) { /* fmax here breaks gcc 12 for AArch64 */
            double bias = fabs(flips[i] - TRIALS / 2.0);
            if (bias > worst)
                worst = bias;
        }
    }
    return worst / sqrt(TRIALS / 4.0);
}

/* The most of some 80 000 normal deviations passes 6 once in six thousand such tests. */
static void test_every_input_bit_flips_half_of_the_output(void **state)
{
    (void)state;
    static const size_t lens[] = { 2, 4, 8, 12, 16, 20, 33, 60 };
    blm_filter         *f      = seeded(BLM_CLASSIC, 10, 0.01, 77, NULL);
    for (size_t i = 0; i < COUNT_OF(lens); i++)
        assert_true(worst_bias(f, lens[i]) < 6);
    blm_free(f);
    f = seeded(BLM_CLASSIC, 10, 0.01, 77, one_multiply);
    assert_true(worst_bias(f, 8) > 20);
    blm_free(f);
}

/* ---- keys with a pattern ---- */

enum pattern { SEQUENCE, SHIFTED, STRIDE, GRID, TWO_VALUES, DECIMAL, REPEATED, PATTERNS };

static size_t write_pattern(enum pattern p, uint64_t i, uint8_t out[64])
{
    uint64_t v = 0;
    memset(out, 0, 64);
    switch (p) {
    case SEQUENCE:
        v = i;
        break;
    case SHIFTED:
        v = i << 40 | i >> 24;
        break;
    case STRIDE:
        v = i << 20;
        break;
    case GRID:
        v = (i % 1024) << 32 | i / 1024;
        break;
    case TWO_VALUES: /* 32 bytes, each 'a' or 'b': 1 bit of entropy in 8 */
        for (int j = 0; j < 32; j++)
            out[j] = i >> j & 1 ? 'b' : 'a';
        return 32;
    case DECIMAL:
        return (size_t)snprintf((char *)out, 64, "user:%llu", (unsigned long long)i);
    default: /* the same four bytes, five times: 20 bytes */
        for (int j = 0; j < 20; j += 4)
            blm__put32le(out + j, (uint32_t)i);
        return 20;
    }
    blm__put64le(out, v);
    return 8;
}

#define IN  100000u
#define ASK 1000000u

static double pattern_rate(enum pattern p, blm_kind kind, uint64_t seed, blm_hash_fn hash)
{
    blm_filter *f = seeded(kind, IN, 0.01, seed, hash);
    uint8_t     key[64];
    uint64_t    wrong = 0;
    for (uint64_t i = 0; i < IN; i++)
        assert_true(blm_add(f, key, write_pattern(p, i, key)) >= 0);
    for (uint64_t i = IN; i < IN + ASK; i++)
        wrong += blm_check(f, key, write_pattern(p, i, key));
    blm_free(f);
    return (double)wrong / ASK;
}

/* About 1e4 wrong answers: a standard deviation of 1%, and as the bits fall a little more. The
 * shared bound for all fits six of them. */
static void test_patterns_are_answered_at_the_modelled_rate(void **state)
{
    (void)state;
    bool poor_refused = false;
    for (int p = 0; p < PATTERNS; p++)
        for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++) {
            blm_options o    = BLM_OPTIONS_INIT;
            blm_plan    plan = { .size = sizeof plan };
            o.kind           = (blm_kind)kind;
            o.items          = IN;
            o.rate           = 0.01;
            assert_int_equal(blm_plan_for(&o, &plan, NULL), BLM_OK);
            double ratio =
                pattern_rate((enum pattern)p, (blm_kind)kind, 1000 + (uint64_t)p, NULL) / plan.rate;
            assert_true(ratio > 0.93 && ratio < 1.07);
            if (kind == BLM_BLOCKED) {
                ratio = pattern_rate((enum pattern)p, BLM_BLOCKED, 5, one_multiply) / plan.rate;
                poor_refused |= ratio < 0.5 || ratio > 2;
            }
        }
    assert_true(poor_refused);
}

/* ---- line and bits ---- */

/* The rate of one line holding 51 keys, whose index has eaten the hash's first b bits: all keys
 * agree in them, as the keys of one line of 2^b do. `plain`: bits straight from the hash. */
static double rate_in_a_line(unsigned b, bool plain)
{
    enum { LINES = 20000, QUESTIONS = 100, LOAD = 51 };
    struct rng rng   = { b };
    uint64_t   wrong = 0;
    for (int l = 0; l < LINES; l++) {
        uint64_t top = rng_next(&rng) >> (64 - b) << (64 - b), word[8] = { 0 };
        for (int i = 0; i < LOAD + QUESTIONS; i++) {
            uint64_t h = top | rng_next(&rng) >> b, x = plain ? h : blm__line_x(h);
            bool     all = true;
            for (unsigned j = 0; j < 8; j++) {
                uint64_t bit = (uint64_t)1 << blm__line_bit(x, j);
                all          = all && (word[j] & bit);
                if (i < LOAD)
                    word[j] |= bit;
            }
            wrong += i >= LOAD && all;
        }
    }
    double theory = pow(1 - pow(63.0 / 64, LOAD), 8);
    return (double)wrong / LINES / QUESTIONS / theory;
}

static void test_bits_do_not_know_their_line(void **state)
{
    (void)state;
    for (unsigned b = 8; b <= 40; b += 8) {
        double ratio = rate_in_a_line(b, false);
        assert_true(ratio > 0.95 && ratio < 1.05);
    }
    assert_true(rate_in_a_line(16, true) > 2); /* what the multiplication is for */
}

/* The second line of keys that share their first 2^-16 of the lines: chi-squared over 256. */
static void test_the_next_line_does_not_know_the_first(void **state)
{
    (void)state;
    enum { CELLS = 256, DRAWS = CELLS * 1000 };
    for (uint64_t top = 1; top < 65536; top = top * 17 + 1) {
        struct rng rng         = { top };
        uint32_t   seen[CELLS] = { 0 };
        double     chi         = 0;
        for (int i = 0; i < DRAWS; i++) {
            uint64_t h = top << 48 | rng_next(&rng) >> 16;
            seen[blm__reduce(blm__line_next(blm__line_x(h)), CELLS)]++;
        }
        for (int i = 0; i < CELLS; i++)
            chi += (seen[i] - 1000.0) * (seen[i] - 1000.0) / 1000;
        assert_true(chi < 255 + 6 * sqrt(2 * 255));
        assert_true(chi > 255 - 6 * sqrt(2 * 255)); /* nor too even */
    }
}

/* Whole filters of 2^b lines, sequential keys; 2^22 lines (256 MiB) with BLM_SLOW. */
static void test_the_rate_holds_at_every_number_of_lines(void **state)
{
    (void)state;
    unsigned top = getenv("BLM_SLOW") ? 22 : 16;
    for (unsigned b = 8; b <= top; b += 2) {
        enum { SOME = 4096 };
        static uint64_t keys[SOME];
        blm_options     o    = BLM_OPTIONS_INIT;
        blm_plan        plan = { .size = sizeof plan };
        blm_filter     *f;
        uint64_t        next = 0, wrong = 0;
        o.kind  = BLM_BLOCKED;
        o.bits  = (uint64_t)512 << b;
        o.rate  = 0.01;
        o.flags = BLM_SEEDED;
        assert_int_equal(blm_plan_for(&o, &plan, NULL), BLM_OK);
        assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
        while (next < plan.items) {
            size_t some = plan.items - next < SOME ? (size_t)(plan.items - next) : SOME;
            for (size_t i = 0; i < some; i++)
                keys[i] = next++;
            assert_int_equal(blm_add_fixed(f, keys, 8, some, NULL, NULL), BLM_OK);
        }
        for (int r = 0; r < 245; r++) { /* a million questions */
            for (size_t i = 0; i < SOME; i++)
                keys[i] = next++;
            wrong += blm_check_fixed(f, keys, 8, SOME, NULL);
        }
        blm_free(f);
        /* Few lines: the filter's own fill has its spread, sqrt(1/keys) times some. */
        double off = 0.06 + 3 / sqrt((double)plan.items);
        assert_true(fabs((double)wrong / (245.0 * SOME) / plan.rate - 1) < off);
    }
}

/* ---- seeds ---- */

/* Wrong answers of two filters with the same keys and neighbouring seeds fall together no more
 * often than chance has it: 400 expected, five deviations allowed. */
static void test_neighbouring_seeds_are_strangers(void **state)
{
    (void)state;
    blm_filter *a    = seeded(BLM_BLOCKED, IN, 0.01, 41, NULL);
    blm_filter *b    = seeded(BLM_BLOCKED, IN, 0.01, 42, NULL);
    uint64_t    in_a = 0, in_b = 0, both = 0;
    for (uint64_t i = 0; i < IN; i++) {
        blm_add(a, &i, 8);
        blm_add(b, &i, 8);
    }
    for (uint64_t i = IN; i < IN + 4000000; i++) {
        bool x = blm_check(a, &i, 8), y = blm_check(b, &i, 8);
        in_a += x;
        in_b += y;
        both += x && y;
    }
    double expected = (double)in_a * (double)in_b / 4e6;
    assert_true(expected > 300);
    assert_true(fabs((double)both - expected) < 5 * sqrt(expected));
    blm_free(a);
    blm_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_input_bit_flips_half_of_the_output),
        cmocka_unit_test(test_patterns_are_answered_at_the_modelled_rate),
        cmocka_unit_test(test_bits_do_not_know_their_line),
        cmocka_unit_test(test_the_next_line_does_not_know_the_first),
        cmocka_unit_test(test_the_rate_holds_at_every_number_of_lines),
        cmocka_unit_test(test_neighbouring_seeds_are_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
