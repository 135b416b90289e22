/* SPDX-License-Identifier: MIT */
/* Spark's sizes, hashes, seeds and funnels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/maths.h"
#include "core/bytes.h"
#include "foreign.h"

/* Columns: n, p, bits, k, words. */
static void test_sizes(void **state)
{
    (void)state;
    struct golden_file f = golden_read("spark/tables/sizing.tsv");
    char              *field[5], *line = golden_line(&f, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&f, NULL)); rows++) {
        assert_int_equal(golden_fields(line, field, 5), 5);
        blm_options o = BLM_OPTIONS_INIT;
        blm_plan    p = { .size = sizeof p };
        o.scheme      = "spark";
        o.items       = strtoull(field[0], NULL, 10);
        o.rate        = strtod(field[1], NULL);
        assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
        assert_int_equal(p.bits, strtoull(field[4], NULL, 10) * 64);
        assert_int_equal(p.probes, strtoul(field[3], NULL, 10));
        o.probes = 9; /* and probes that are asked for stay */
        o.rate   = 0;
        o.bits   = 64;
        assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
        assert_int_equal(p.probes, 9);
        o.probes = 0;
        /* create(n, numBits): k from the bits as given, words from them rounded up. */
        o.rate = 0;
        o.bits = strtoull(field[2], NULL, 10);
        assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
        assert_int_equal(p.bits, strtoull(field[4], NULL, 10) * 64);
        assert_int_equal(p.probes, strtoul(field[3], NULL, 10));
    }
    assert_int_equal(rows, 64);
    golden_free_file(&f);
}

static blm_filter *make(const char *scheme, const char *funnel, uint64_t seed)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = scheme;
    o.funnel      = funnel;
    o.items       = 100;
    if (seed) {
        o.flags   = BLM_SEEDED;
        o.seed[0] = seed;
    }
    return create_or_fail(&o);
}

/* h1 of every row of the two hash tables through a filter: version 2 takes any seed. */
static void check_table(const char *path, const char *funnel)
{
    struct golden_file f = golden_read(path);
    char              *field[4], *line = golden_line(&f, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&f, NULL)); rows++) {
        assert_true(golden_fields(line, field, 4) >= 3);
        blm_filter *filter = make("spark2", funnel, (uint64_t)strtoll(field[1], NULL, 10));
        uint8_t     number[8];
        blm_key     key = { number, 8 };
        blm_digest  d;
        blm__put64le(number, (uint64_t)strtoll(field[0], NULL, 10));
        if (strcmp(funnel, "long") != 0)
            key = (blm_key){ field[0], golden_unhex(field[0]) };
        assert_int_equal(blm_digest_of(filter, key.data, key.len, &d), BLM_OK);
        assert_int_equal(d.w[0], (uint32_t)strtoll(field[2], NULL, 10));
        blm_free(filter);
    }
    assert_true(rows >= 36);
    golden_free_file(&f);
}

static void test_hashes(void **state)
{
    (void)state;
    check_table("spark/tables/hash-bytes.tsv", "binary");
    check_table("spark/tables/hash-long.tsv", "long");
}

/* putByte, putShort and putInt widen with the sign; other lengths are bytes. */
static void test_widening(void **state)
{
    (void)state;
    blm_filter *f            = make("spark1", "long", 0);
    uint8_t     minus_two[8] = { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    uint8_t     five[8]      = { 5 };
    blm_add(f, minus_two, 8);
    for (size_t len = 1; len <= 8; len++) {
        bool widens = len == 1 || len == 2 || len == 4 || len == 8;
        assert_int_equal(blm_check(f, minus_two, len), widens);
    }
    /* The sign is the key's own, not that of the byte behind it. */
    uint8_t mixed[4] = { 0x85, 0x05, 0x00, 0x80 }, wide[8] = { 0x85, 0x05 };
    blm_clear(f);
    blm_add(f, mixed, 2);
    assert_true(blm_check(f, wide, 8));
    blm_clear(f);
    memset(wide + 1, 0xff, 7);
    blm_add(f, mixed, 1);
    assert_true(blm_check(f, wide, 8));
    blm_clear(f);
    blm_add(f, five, 2);
    assert_true(blm_check(f, five, 8));
    assert_true(blm_check(f, five, 4));
    blm_clear(f);
    blm_add(f, "", 0);
    assert_true(blm_check(f, "", 0));
    assert_false(blm_check(f, five, 8));
    blm_free(f);
}

static void test_seeds(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   err;
    blm_params  p = { .size = sizeof p };
    o.items       = 100;
    o.flags       = BLM_SEEDED;
    o.scheme      = "spark1";
    assert_int_equal(blm_create(&o, &f, &err), BLM_E_UNSUPPORTED);
    o.scheme  = "spark2";
    o.seed[0] = (uint64_t)1 << 32;
    assert_int_equal(blm_create(&o, &f, &err), BLM_E_ARGUMENT);
    o.seed[0] = (uint64_t)INT32_MIN - 1;
    assert_int_equal(blm_create(&o, &f, &err), BLM_E_ARGUMENT);
    static const int64_t seeds[] = { -5, INT32_MIN, 0, 5, UINT32_MAX }; /* an int, or its bits */
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        o.seed[0] = (uint64_t)seeds[i];
        o.seed[1] = 7; /* no int has it */
        assert_int_equal(blm_create(&o, &f, &err), BLM_E_ARGUMENT);
        o.seed[1] = 0;
        f         = create_or_fail(&o);
        blm_get_params(f, &p);
        assert_int_equal(p.seed[0], (uint32_t)seeds[i]);
        assert_int_equal(p.seed[1], 0);
        blm_free(f);
    }
    f = make("spark", NULL, 0);
    blm_get_params(f, &p);
    assert_string_equal(p.scheme, "spark2");
    assert_int_equal(p.seed[0], 0);
    assert_int_equal(p.probes, 5); /* 3% */
    blm_free(f);
    o.flags = 0;
    o.items = 0;
    o.rate  = 0.1;
    assert_int_equal(blm_create(&o, &f, &err), BLM_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_widening),
        cmocka_unit_test(test_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
