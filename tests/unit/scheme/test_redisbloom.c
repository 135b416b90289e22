/* SPDX-License-Identifier: MIT */
/* RedisBloom's scheme: sizes as BF.RESERVE prints them, chains that grow as BF.INFO tells, filters
 * that may not, and the growth of old versions. */
#include <bloomery/maths.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "core/bytes.h"
#include "redisbloom.h"

static blm_options reserve(uint64_t items, double rate)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "redisbloom";
    o.items       = items;
    o.rate        = rate;
    return o;
}

static void test_sizes(void **state)
{
    (void)state;
    struct golden_file t = golden_read("redisbloom/tables/sizing.tsv");
    char              *field[8], *line = golden_line(&t, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&t, NULL)); rows++) {
        assert_int_equal(golden_fields(line, field, 8), 8);
        blm_options o = reserve(strtoull(field[0], NULL, 10), strtod(field[1], NULL));
        blm_params  p = { .size = sizeof p };
        if (strcmp(field[2], "no") == 0)
            o.variant = 13;
        blm_filter *f = create_or_fail(&o);
        assert_int_equal(blm_get_layer(f, 0, &p), BLM_OK);
        assert_int_equal(p.bits, strtoull(field[4], NULL, 10));
        assert_int_equal(p.bits, strtoull(field[3], NULL, 10) * 8);
        assert_int_equal(p.probes, strtoull(field[5], NULL, 10));
        assert_int_equal(p.capacity, strtoull(field[6], NULL, 10));
        assert_true(fabs(p.rate - strtod(field[7], NULL)) <= 1e-5 * p.rate);
        blm_free(f);
    }
    assert_int_equal(rows, 242);
    golden_free_file(&t);
}

/* Numbers that BF.INFO lists on lines of their own, by name. */
static double info(const char *dir, const char *name)
{
    struct golden_file f = golden_read_in(dir, "meta.json");
    char               want[64];
    double             v = -1;
    snprintf(want, sizeof want, "  \"%s\",", name);
    for (char *line; (line = golden_line(&f, NULL));)
        if (strcmp(line, want) == 0) {
            line = golden_line(&f, NULL);
            v    = strstr(line, "null") ? -2 : strtod(line, NULL);
            break;
        }
    golden_free_file(&f);
    assert_true(v != -1);
    return v;
}

static void test_info(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_VECTORS; i++) {
        const char *dir = rb_vectors[i];
        blm_filter *f   = rb_empty(dir);
        blm_params  p   = { .size = sizeof p };
        golden_add_members(f, dir);
        assert_int_equal(blm_get_params(f, &p), BLM_OK);
        assert_int_equal(p.capacity, info(dir, "Capacity"));
        assert_int_equal(p.layers, info(dir, "Number of filters"));
        assert_int_equal(p.items, info(dir, "Number of items inserted"));
        assert_int_equal(32 + 64 * p.layers + p.bits / 8, info(dir, "Size"));
        if (info(dir, "Expansion rate") >= 0)
            assert_int_equal(p.growth, info(dir, "Expansion rate"));
        blm_free(f);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    blm_options o = reserve(0, 0);
    blm_params  p = { .size = sizeof p };
    blm_filter *f = create_or_fail(&o);
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_int_equal(p.capacity, 100);
    assert_true(p.rate == 0.01 && p.growth == 2);
    assert_string_equal(p.format, "redisbloom");
    assert_null(p.notice);
    blm_free(f);
    o = reserve(10, 0.9); /* capped */
    f = create_or_fail(&o);
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_true(p.rate == 0.25);
    blm_free(f);
}

static void test_refused(void **state)
{
    (void)state;
    blm_options o = reserve(((uint64_t)1 << 30) + 1, 0.01);
    create_is(o, BLM_E_LIMIT);
    create_is(reserve(10, 1), BLM_E_ARGUMENT);
    create_is(reserve(10, -0.1), BLM_E_ARGUMENT);
    create_is(reserve(10, NAN), BLM_E_ARGUMENT);
    o      = reserve(10, 0.01);
    o.bits = 100;
    create_is(o, BLM_E_ARGUMENT);
    o        = reserve(10, 0.01);
    o.growth = 2.5;
    create_is(o, BLM_E_ARGUMENT);
    o.growth = 32769;
    create_is(o, BLM_E_ARGUMENT);
    o.growth = NAN;
    create_is(o, BLM_E_ARGUMENT);
    o.growth = 1;
    create_is(o, BLM_OK);
    o.variant = 2;
    create_is(o, BLM_E_ARGUMENT);
    o.variant = 16;
    create_is(o, BLM_E_ARGUMENT);
    o.variant = 0;
    o.kind    = BLM_BLOCKED;
    create_is(o, BLM_E_UNSUPPORTED);
    create_is(reserve(10, 1e-300), BLM_OK);     /* 997 probes */
    create_is(reserve(10, 5e-324), BLM_E_FULL); /* halved it is 0 */
    static const double caps[] = { 1, 1.5, 1e308, INFINITY, -INFINITY, NAN, -1, 0.009 };
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        o          = reserve(10, 0.01);
        o.rate_cap = caps[i];
        create_is(o, BLM_E_ARGUMENT);
    }
    o          = reserve(10, 0.4); /* as RedisBloom, a quarter at most */
    o.rate_cap = 0.25;
    create_is(o, BLM_OK);
}

/* Not scaling: full is full, but what is there is still there. */
static void test_full(void **state)
{
    (void)state;
    blm_options o = reserve(50, 0.01);
    uint8_t     fresh[64];
    size_t      done;
    uint64_t    keys[64];
    o.variant     = 13;
    blm_filter *f = create_or_fail(&o);
    for (uint64_t i = 0; i < 64; i++)
        keys[i] = i;
    blm_status st = blm_add_fixed(f, keys, 8, 64, fresh, &done);
    assert_int_equal(st, BLM_E_FULL);
    assert_true(done >= 50 && done < 64);
    assert_int_equal(blm_add(f, &keys[done], 8), BLM_E_FULL);
    assert_int_equal(blm_add(f, &keys[0], 8), BLM_PRESENT);
    for (size_t i = 0; i < done; i++)
        assert_true(blm_check(f, &keys[i], 8));
    blm_params p = { .size = sizeof p };
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_int_equal(p.items, 50);
    blm_free(f);
}

/* ---- chains of old versions grow as those did ---- */

/* 1.x and 2.0: twice the entries, error · 0.5^(links + 1), powers of two, bits 0 in the header. */
static void test_growth_of_version_1(void **state)
{
    (void)state;
    uint8_t     h[16 + 49 + 32] = { 0 };
    blm_options o               = BLM_OPTIONS_INIT;
    blm_params  p               = { .size = sizeof p };
    h[8]                        = 1; /* options 0: a 32-bit hash */
    h[16]                       = 32;
    blm__put64le(h + 40, blm__f64_bits(0.02));
    blm__put64le(h + 48, blm__f64_bits(8.14236332399949));
    h[56]         = 6;
    h[60]         = 31;
    h[64]         = 8;
    o.format      = "redisbloom";
    blm_filter *f = golden_decode("version 1", h, sizeof h, &o);
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_true(p.rate == 0.02); /* what was asked for: the first link had all of it */
    assert_non_null(p.notice);
    for (uint32_t i = 0; i < 200; i++)
        assert_true(blm_add(f, &i, 4) >= 0);
    assert_int_equal(blm_get_layer(f, 1, &p), BLM_OK);
    assert_true(p.rate == 0.02 * 0.25);
    /* 62 entries need 683.7 bits: 1024, and room for 30 more */
    assert_int_equal(p.bits, 1024);
    assert_int_equal(p.capacity, 92);
    assert_int_equal(p.probes, 8);
    assert_int_equal(blm_get_layer(f, 2, &p), BLM_OK);
    assert_true(p.rate == 0.02 * 0.25 * 0.125);
    struct golden_file b     = encode_as(f, NULL);
    uint32_t           links = blm__get32le(b.data + 8);
    assert_int_equal(links, 3);
    for (uint32_t i = 0; i < links; i++)
        assert_int_equal(blm__get64le(b.data + 16 + 49 * i + 8), 0);
    blm_filter *g = golden_decode("again", b.data, b.len, &o);
    assert_true(blm_equal(f, g));
    free(b.data);
    blm_free(f);
    blm_free(g);
}

/* Growth 0 is accepted by LOADCHUNK, and fails when the chain must grow. */
static void test_growth_0(void **state)
{
    (void)state;
    struct golden_file all = rb_chunks("redisbloom/small10");
    blm_options        o   = BLM_OPTIONS_INIT;
    memset(all.data + 16, 0, 4);
    blm_filter *f  = golden_decode("growth 0", all.data, all.len, &o);
    blm_status  st = BLM_OK;
    for (uint32_t i = 0; i < 10 && st >= 0; i++) /* it is full, but some falsely seem present */
        st = blm_add(f, &i, 4);
    assert_int_equal(st, BLM_E_FULL);
    check_probes(f, "redisbloom/small10");
    blm_free(f);
    free(all.data);
}

/* ---- as a filter among others ---- */

static void test_digests(void **state)
{
    (void)state;
    struct golden_file all = rb_chunks("redisbloom/legacy32-pow2");
    blm_options        o   = BLM_OPTIONS_INIT;
    blm_digest         d;
    blm_filter        *old = golden_decode("32 bits", all.data, all.len, &o);
    o                      = reserve(100, 0.01);
    blm_filter *now        = create_or_fail(&o);
    o.variant              = 13;
    blm_filter *other      = create_or_fail(&o);
    assert_int_equal(blm_digest_of(now, "key", 3, &d), BLM_OK);
    assert_int_equal(blm_add_digest(old, &d), BLM_E_MISMATCH);
    assert_int_equal(blm_add_digest(other, &d), BLM_OK);
    assert_true(blm_check(other, "key", 3));
    assert_int_equal(blm_union(now, old, NULL), BLM_E_MISMATCH);
    blm_free(old);
    blm_free(now);
    blm_free(other);
    free(all.data);
}

static void test_union(void **state)
{
    (void)state;
    blm_options o = reserve(100, 0.001);
    blm_filter *a = create_or_fail(&o), *b = create_or_fail(&o);
    blm_params  p = { .size = sizeof p };
    for (uint32_t i = 0; i < 250; i++) {
        uint32_t k = i + 100000;
        assert_true(blm_add(a, &i, 4) >= 0 && blm_add(b, &k, 4) >= 0);
    }
    assert_int_equal(blm_union(a, b, NULL), BLM_OK);
    assert_int_equal(blm_get_params(a, &p), BLM_OK);
    assert_int_equal(p.layers, 4);
    struct golden_file bytes = encode_as(a, NULL);
    o                        = (blm_options)BLM_OPTIONS_INIT;
    blm_filter *c            = golden_decode("united", bytes.data, bytes.len, &o);
    blm_params  read         = { .size = sizeof read };
    assert_int_equal(blm_get_params(c, &read), BLM_OK); /* both promises, and the cap of one */
    assert_true(fabs(p.rate - 0.002) < 1e-12 && fabs(read.rate - 0.002) < 1e-12);
    assert_true(fabs(p.rate_cap - 0.01) < 1e-12 && fabs(read.rate_cap - 0.01) < 1e-12);
    for (uint32_t i = 0; i < 250; i++) {
        uint32_t k = i + 100000;
        assert_true(blm_check(c, &i, 4) && blm_check(c, &k, 4));
    }
    assert_int_equal(blm_clear(a), BLM_OK);
    assert_int_equal(blm_get_params(a, &p), BLM_OK);
    assert_int_equal(p.layers, 1);
    assert_int_equal(p.items, 0);
    free(bytes.data);
    blm_free(a);
    blm_free(b);
    blm_free(c);
}

/* The rate by the bits is the rate found. */
static void test_rate(void **state)
{
    (void)state;
    blm_options o = reserve(200, 0.05);
    blm_stats   s = { .size = sizeof s };
    blm_trial   t = { .size = sizeof t };
    blm_filter *f = create_or_fail(&o);
    for (uint64_t i = 0; i < 1400; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_int_equal(blm_try_rate(f, NULL, 200000, 11, &t, NULL), BLM_OK);
    assert_true(s.rate_now > t.low * 0.9 && s.rate_now < t.high * 1.1); /* a + i·b: near fill^k */
    assert_true(s.estimated.low <= 1400 && 1400 * 0.95 <= s.estimated.high);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_info),
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_full),     cmocka_unit_test(test_growth_of_version_1),
        cmocka_unit_test(test_growth_0), cmocka_unit_test(test_digests),
        cmocka_unit_test(test_union),    cmocka_unit_test(test_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
