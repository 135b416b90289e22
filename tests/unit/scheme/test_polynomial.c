/* SPDX-License-Identifier: MIT */
/* byteslot and polynomial: the indices a Java program printed, sizes, rates, unreachable bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "golden_filter.h"

static blm_options of(const char *scheme, uint64_t bits)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = scheme;
    o.bits        = bits;
    return o;
}

/* A comma-separated list of n numbers. */
static void read_list(char *text, uint64_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = strtoull(text, &text, 10);
        assert_int_equal(*text, i + 1 < n ? ',' : 0);
        text++;
    }
}

static void test_table(void **state)
{
    (void)state;
    struct golden_file t = golden_read("byteslot/tables/hashes.tsv");
    char              *field[5], *line = golden_line(&t, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&t, NULL)); rows++) {
        uint64_t want[8], got[8], raw[8];
        size_t   n;
        assert_int_equal(golden_fields(line, field, 5), 5);
        size_t      len = strlen(field[0]);
        blm_options o   = of("byteslot", strtoull(field[1], NULL, 10) * 8);
        blm_filter *f   = create_or_fail(&o);
        read_list(field[2], want, 8);
        assert_int_equal(blm_positions(f, field[0], len, got, 8, &n), BLM_OK);
        assert_int_equal(n, 8);
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(got[i], want[i] * 8 + i);
        assert_int_equal(blm_positions_raw(f, field[0], len, raw, 8, &n), BLM_OK);
        assert_true(blm_check_positions_raw(f, raw, 8) == false);
        assert_int_equal(blm_add(f, field[0], len), BLM_OK);
        assert_true(blm_check_positions_raw(f, raw, 8));
        blm_free(f);
        o = of("polynomial", strtoull(field[3], NULL, 10));
        f = create_or_fail(&o);
        read_list(field[4], want, 7);
        assert_int_equal(blm_positions(f, field[0], len, got, 8, &n), BLM_OK);
        assert_int_equal(n, 7);
        for (size_t i = 0; i < 7; i++)
            assert_int_equal(got[i], want[i]);
        blm_free(f);
    }
    assert_int_equal(rows, 50);
    golden_free_file(&t);
}

static uint64_t planned(blm_options o)
{
    blm_plan  p = { .size = sizeof p };
    blm_error err;
    if (blm_plan_for(&o, &p, &err) != BLM_OK)
        fail_msg("no plan: %s", err.text);
    return p.bits;
}

static void test_sizes(void **state)
{
    (void)state;
    blm_options o = of("byteslot", 0);
    o.items       = 1001; /* alone: 1.5 bytes a key */
    assert_int_equal(planned(o), 1502 * 8);
    o.rate = 0.01; /* -1001 / ln(1 - 0.01^(1/8)) = 1211.3… bytes */
    assert_int_equal(planned(o), 1212 * 8);
    o        = of("byteslot", 0);
    o.memory = 31; /* of which whole words are used */
    assert_int_equal(planned(o), 192);
    o       = of("polynomial", 0);
    o.items = 1000;
    o.rate  = 0.01; /* -7000 / ln(1 - 0.01^(1/7)) = 9597.9… bits */
    assert_int_equal(planned(o), 16384);
    o        = of("polynomial", 0);
    o.memory = 1000;
    assert_int_equal(planned(o), 4096);
    o.kind = BLM_COUNTING;
    assert_int_equal(planned(o), 1024);
}

static void test_limits(void **state)
{
    (void)state;
    create_is(of("byteslot", 12), BLM_E_ARGUMENT);
    create_is(of("byteslot", 8), BLM_OK);
    create_is(of("byteslot", ((uint64_t)1 << 34) + 8), BLM_E_LIMIT);
    create_is(of("byteslot", 0), BLM_E_ARGUMENT);
    blm_options o = of("byteslot", 80);
    o.probes      = 7;
    create_is(o, BLM_E_ARGUMENT);
    o.probes = 8;
    create_is(o, BLM_OK);
    o.kind = BLM_COUNTING;
    create_is(o, BLM_E_UNSUPPORTED);
    o       = of("byteslot", 0);
    o.items = UINT64_MAX;
    create_is(o, BLM_E_LIMIT);
    create_is(of("polynomial", 1), BLM_OK);
    create_is(of("polynomial", ((uint64_t)1 << 31) + 1), BLM_E_LIMIT);
}

/* UTF-16: an emoji is two units, so are its two halves' polynomials; the Java golden files prove
 * the rest. */
static void test_supplementary(void **state)
{
    (void)state;
    blm_options           o = of("polynomial", (uint64_t)1 << 20);
    blm_filter           *f = create_or_fail(&o);
    uint64_t              got[7];
    size_t                n;
    static const uint64_t seed[7] = { 5, 7, 11, 13, 31, 37, 61 };
    assert_int_equal(blm_positions(f, "\xf0\x9f\x98\x80", 4, got, 7, &n), BLM_OK);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(got[i], (seed[i] * 0xd83d + 0xde00) & 0xfffff);
    blm_free(f);
}

/* Each hash has a plane to itself: what the planes' fills give is what trials find. */
static void test_slot_rate(void **state)
{
    (void)state;
    blm_options o = of("byteslot", 8 * 4000);
    blm_stats   s = { .size = sizeof s };
    blm_filter *f = create_or_fail(&o);
    char        key[32];
    uint64_t    hits = 0, trials = 100000;
    double      low, high;
    for (int i = 0; i < 4000; i++)
        assert_true(blm_add(f, key, (size_t)snprintf(key, sizeof key, "member %d", i * 7919)) >= 0);
    for (uint64_t i = 0; i < trials; i++)
        hits += blm_check(f, key,
                          (size_t)snprintf(key, sizeof key, "%llx absent",
                                           (unsigned long long)(i * 0x9e3779b97f4a7c15u)));
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    blm_binomial_interval(hits, trials, 0.999, &low, &high);
    assert_true(low <= s.rate_now && s.rate_now <= high);
    blm_free(f);
    /* by hand: planes 0 … 7 of two bytes, half full each, but plane 7 empty */
    uint64_t words[1] = { 0 };
    uint8_t *bytes    = (uint8_t *)words; /* bit i is bit i % 8 of byte i / 8 */
    bytes[0]          = 0x7f;
    o                 = of("byteslot", 16);
    o.words           = words;
    o.word_count      = 1;
    f                 = create_or_fail(&o);
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_true(s.rate_now == 0);
    bytes[0] = 0xff;
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_true(s.rate_now == 1.0 / 256);
    blm_free(f);
}

/* The original's example: 15 MiB as a capacity is no power of two. Not refused, said, and reckoned
 * with: all the bits that are ever set lie within what the mask reaches. */
static void test_unreachable(void **state)
{
    (void)state;
    blm_options o = of("polynomial", 15u << 20);
    blm_params  p = { .size = sizeof p };
    blm_stats   s = { .size = sizeof s };
    blm_filter *f = create_or_fail(&o);
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_non_null(p.notice);
    char key[32];
    for (int i = 0; i < 20000; i++)
        assert_true(blm_add(f, key, (size_t)snprintf(key, sizeof key, "http://ex.org/%d", i)) >= 0);
    uint64_t       bytes;
    const uint8_t *bits = blm_view(f, 0, &bytes);
    for (uint64_t i = 0; i < bytes * 8; i++)
        if (i & ~(uint64_t)((15u << 20) - 1))
            assert_int_equal(bits[i / 8] >> (i % 8) & 1, 0);
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    double reach = (double)(1u << 23); /* 15·2^20 − 1 has 23 ones */
    double fill = (double)s.ones / reach, want = 1;
    for (int i = 0; i < 7; i++)
        want *= fill;
    assert_true(s.rate_now > want * 0.999 && s.rate_now < want * 1.001);
    blm_free(f);
    o = of("polynomial", 1u << 20);
    f = create_or_fail(&o);
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_null(p.notice);
    blm_free(f);
}

static void test_advice(void **state)
{
    (void)state;
    blm_options o = of("byteslot", 8 * 149);
    blm_params  p = { .size = sizeof p };
    o.items       = 100;
    blm_filter *f = create_or_fail(&o);
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_non_null(p.notice);
    blm_free(f);
    o.bits = 8 * 150;
    f      = create_or_fail(&o);
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_null(p.notice);
    blm_free(f);
}

static void test_fold(void **state)
{
    (void)state;
    blm_options o = of("byteslot", 8 * 600);
    blm_filter *f = create_or_fail(&o), *g;
    o.bits        = 8 * 200;
    blm_filter *h = create_or_fail(&o);
    for (uint32_t i = 0; i < 50; i++) {
        assert_true(blm_add(f, &i, 4) >= 0);
        assert_true(blm_add(h, &i, 4) >= 0);
    }
    assert_int_equal(blm_fold(f, 3, &g, NULL), BLM_OK);
    assert_true(blm_equal(g, h));
    blm_free(f);
    blm_free(g);
    blm_free(h);
    o = of("polynomial", 1024);
    f = create_or_fail(&o);
    assert_int_equal(blm_fold(f, 2, &g, NULL), BLM_E_UNSUPPORTED);
    blm_free(f);
}

/* Variants 1 and 2 hash bytes: worked out here, from the rule. */
static void test_bytes(void **state)
{
    (void)state;
    static const uint32_t seeds[] = { 5, 7, 11, 13, 31, 37, 61 };
    static const char     key[]   = "na\xc3\xafve \xff\x80";
    for (uint64_t variant = 1; variant <= 2; variant++) {
        blm_options o = of("polynomial", 1u << 20);
        o.variant     = variant;
        blm_filter *f = create_or_fail(&o);
        uint64_t    got[7];
        size_t      count;
        blm_add(f, key, sizeof key - 1);
        assert_int_equal(blm_positions(f, key, sizeof key - 1, got, 7, &count), BLM_OK);
        for (unsigned i = 0; i < 7; i++) {
            uint32_t h = 0;
            for (size_t j = 0; j < sizeof key - 1; j++) {
                uint32_t unit = (uint8_t)key[j];
                h             = seeds[i] * h + (variant == 2 && unit > 127 ? unit - 256 : unit);
            }
            assert_int_equal(got[i], h & ((1u << 20) - 1));
        }
        blm_options units = of("polynomial", 1u << 20);
        blm_filter *g     = create_or_fail(&units);
        blm_add(g, key, sizeof key - 1);
        assert_false(blm_equal(f, g));
        blm_free(f);
        blm_free(g);
    }
    blm_options o = of("polynomial", 1u << 20);
    blm_filter *f = NULL;
    o.variant     = 3;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),     cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_supplementary),
        cmocka_unit_test(test_slot_rate), cmocka_unit_test(test_unreachable),
        cmocka_unit_test(test_advice),    cmocka_unit_test(test_fold),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
