/* SPDX-License-Identifier: MIT */
/* Guava's sizes and hashes, from tables Guava 31.1 printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "core/bytes.h"
#include "foreign.h"

static blm_plan plan_or_fail(const blm_options *o)
{
    blm_plan  p = { .size = sizeof p };
    blm_error err;
    if (blm_plan_for(o, &p, &err) != BLM_OK)
        fail_msg("plan: %s", err.text);
    return p;
}

/* Columns: n, p, bits, k before 33.4, words, k since, and perhaps an error. */
static void test_sizes(void **state)
{
    (void)state;
    struct golden_file f = golden_read("guava/tables/sizing.tsv");
    char              *field[7], *line = golden_line(&f, NULL);
    size_t             rows = 0, differ = 0;
    for (; (line = golden_line(&f, NULL)); rows++) {
        size_t      fields = golden_fields(line, field, 7);
        blm_options o      = BLM_OPTIONS_INIT;
        blm_plan    none   = { .size = sizeof none };
        o.scheme           = "guava";
        o.items            = strtoull(field[0], NULL, 10);
        o.rate             = strtod(field[1], NULL);
        if (fields == 7) { /* an error of Guava's */
            assert_int_equal(blm_plan_for(&o, &none, NULL), BLM_E_ARGUMENT);
            continue;
        }
        blm_plan now    = plan_or_fail(&o);
        o.variant       = 1;
        blm_plan before = plan_or_fail(&o);
        uint64_t bits   = strtoull(field[4], NULL, 10) * 64;
        assert_int_equal(now.bits, bits);
        assert_int_equal(before.bits, bits);
        assert_int_equal(before.probes, strtoul(field[3], NULL, 10));
        assert_int_equal(now.probes, strtoul(field[5], NULL, 10));
        assert_int_equal(now.items, o.items ? o.items : 1);
        differ += now.probes != before.probes;
    }
    assert_int_equal(rows, 280);
    assert_true(differ > 0);
    golden_free_file(&f);
}

/* Both halves of the 128-bit hash, funnel by funnel. */
static void test_funnels(void **state)
{
    (void)state;
    struct golden_file f = golden_read("guava/tables/funnel-hashes.tsv");
    char              *field[4], *line = golden_line(&f, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&f, NULL)); rows++) {
        blm_options o = BLM_OPTIONS_INIT;
        uint8_t     number[8], hash[16];
        assert_int_equal(golden_fields(line, field, 4), 4);
        blm_key key = { field[1], strlen(field[1]) };
        o.scheme    = "guava64";
        o.items     = 10;
        o.funnel    = field[0];
        blm__put64le(number, (uint64_t)strtoll(field[1], NULL, 10));
        if (strcmp(field[0], "int") == 0)
            key = (blm_key){ number, 4 };
        else if (strcmp(field[0], "long") == 0)
            key = (blm_key){ number, 8 };
        else if (strcmp(field[0], "unencodedChars") == 0)
            o.funnel = "chars";
        else
            o.funnel = "string";
        if (strncmp(field[0], "utf8-lone", 9) == 0)
            key = (blm_key){ "x?y", 3 }; /* Guava puts ? for half a character */
        blm_filter *filter = create_or_fail(&o);
        blm_digest  d;
        assert_int_equal(blm_digest_of(filter, key.data, key.len, &d), BLM_OK);
        blm__put64le(hash, d.w[0]);
        blm__put64le(hash + 8, d.w[1]);
        assert_int_equal(golden_unhex(field[2]), 16);
        assert_memory_equal(hash, field[2], 16);
        blm_free(filter);
    }
    assert_int_equal(rows, 30);
    golden_free_file(&f);
}

static void test_defaults(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "guava";
    o.items       = 1000;
    blm_plan p    = plan_or_fail(&o);
    assert_int_equal(p.probes, 5); /* 3% */
    assert_int_equal(p.bits, 7360);
    blm_filter *f = create_or_fail(&o);
    blm_params  q = { .size = sizeof q };
    blm_get_params(f, &q);
    assert_string_equal(q.scheme, "guava64");
    assert_true(q.rate == 0.03);
    assert_int_equal(q.seed_policy, BLM_SEED_NONE);
    blm_free(f);
}

/* 255 probes are the most a byte holds. */
static void test_most_probes(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "guava";
    o.bits        = 64;
    o.probes      = 255;
    assert_int_equal(plan_or_fail(&o).probes, 255);
}

/* Bits come in words; probes asked for stay; both k's of one size are one filter. */
static void test_bits(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "guava32";
    o.bits        = 1000;
    o.probes      = 3;
    blm_plan p    = plan_or_fail(&o);
    assert_int_equal(p.bits, 1024);
    assert_int_equal(p.probes, 3);
    o.bits   = 0;
    o.probes = 0;
    o.memory = 1000;
    o.items  = 800;
    p        = plan_or_fail(&o);
    assert_int_equal(p.bits, 8000);
    assert_int_equal(p.probes, 7);
    blm_options a = BLM_OPTIONS_INIT, b;
    a.scheme      = "guava";
    a.items       = 1000;
    b             = a;
    b.variant     = 1;
    blm_filter *x = create_or_fail(&a), *y = create_or_fail(&b);
    assert_int_equal(blm_union(x, y, NULL), BLM_OK);
    blm_free(x);
    blm_free(y);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t    items, bits, memory, variant;
        double      rate;
        uint32_t    probes;
        blm_hash    hash;
        uint32_t    flags;
        blm_status  status;
        const char *word;
    } rows[] = {
        { 0, 0, 0, 0, 0, 0, 0, 0, BLM_E_ARGUMENT, "no size" },
        { 10, 0, 0, 0, 1.0, 0, 0, 0, BLM_E_ARGUMENT, "rate" },
        { 10, 0, 0, 0, -0.5, 0, 0, 0, BLM_E_ARGUMENT, "rate" },
        { 1, 0, 0, 0, 0.9, 0, 0, 0, BLM_E_ARGUMENT, "0 bits" },
        { 10, 0, 0, 2, 0.1, 0, 0, 0, BLM_E_ARGUMENT, "variant" },
        { 10, 0, 0, 0, 1e-80, 0, 0, 0, BLM_E_ARGUMENT, "255" },
        { 10, 0, 0, 0, 0.1, 4, 0, 0, BLM_E_ARGUMENT, "probes" },
        { 0, 64, 0, 0, 0, 0, 0, 0, BLM_E_ARGUMENT, "not enough" },
        { 0, 64, 64, 0, 0, 1, 0, 0, BLM_E_ARGUMENT, "both" },
        { 0, 64, 0, 0, 0, 256, 0, 0, BLM_E_ARGUMENT, "255" },
        { 1u << 31, 0, 0, 0, 1e-30, 0, 0, 0, BLM_E_LIMIT, "words" },
        { UINT64_MAX, 0, 0, 0, 1e-30, 0, 0, 0, BLM_E_LIMIT, "words" },
        { 1000, 64, 0, 0, 0.01, 0, 0, 0, BLM_E_LIMIT, "cannot be reached" },
        { 10, 0, 0, 0, 0.1, 0, BLM_HASH_SIPHASH, 0, BLM_E_UNSUPPORTED, "hash" },
        { 10, 0, 0, 0, 0.1, 0, 0, BLM_SEEDED, BLM_E_UNSUPPORTED, "seed" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f;
        blm_error   err = { .text = "" };
        o.scheme        = "guava64";
        o.items         = rows[i].items;
        o.bits          = rows[i].bits;
        o.memory        = rows[i].memory;
        o.variant       = rows[i].variant;
        o.rate          = rows[i].rate;
        o.probes        = rows[i].probes;
        o.hash          = rows[i].hash;
        o.flags         = rows[i].flags;
        if (blm_create(&o, &f, &err) != rows[i].status || !strstr(err.text, rows[i].word))
            fail_msg("row %zu: %s: %s", i, blm_status_name(err.status), err.text);
    }
}

/* Guava's positions for one key by hand: h1 + i·h2 with and without the top bit. */
static void test_positions(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    uint64_t    pos[8], raw[8];
    size_t      count;
    blm_digest  d;
    o.scheme      = "guava64";
    o.bits        = 7360;
    o.probes      = 8;
    blm_filter *f = create_or_fail(&o);
    assert_int_equal(blm_digest_of(f, "abc", 3, &d), BLM_OK);
    assert_int_equal(blm_positions(f, "abc", 3, pos, 8, &count), BLM_OK);
    assert_int_equal(blm_positions_raw(f, "abc", 3, raw, 8, &count), BLM_OK);
    assert_int_equal(count, 8);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(raw[i], (d.w[0] + i * d.w[1]) << 1 >> 1);
        assert_int_equal(pos[i], raw[i] % 7360);
    }
    assert_false(blm_check_positions_raw(f, raw, 8));
    blm_add(f, "abc", 3);
    assert_true(blm_check_positions(f, pos, 8));
    assert_true(blm_check_positions_raw(f, raw, 8));
    /* The empty key: hash 0, one bit. */
    assert_int_equal(blm_positions(f, "", 0, pos, 8, &count), BLM_OK);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(pos[i], 0);
    blm_free(f);
}

/* A filter folded answers as one built small; the words stay whole. */
static void test_fold(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   err;
    blm_filter *small, *folded;
    o.scheme      = "guava32";
    o.bits        = 640;
    o.probes      = 4;
    blm_filter *f = create_or_fail(&o);
    o.bits        = 128;
    small         = create_or_fail(&o);
    for (uint32_t i = 0; i < 20; i++) {
        blm_add(f, &i, sizeof i);
        blm_add(small, &i, sizeof i);
    }
    assert_int_equal(blm_fold(f, 5, &folded, &err), BLM_OK);
    assert_true(blm_equal(folded, small));
    blm_free(folded);
    assert_int_equal(blm_fold(f, 20, &folded, &err), BLM_E_INDIVISIBLE);
    blm_free(f);
    blm_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_funnels),
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_bits),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_positions),
        cmocka_unit_test(test_fold),     cmocka_unit_test(test_most_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
