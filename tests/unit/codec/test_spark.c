/* SPDX-License-Identifier: MIT */
/* Filters written by Apache Spark: read, written back, asked, rebuilt, united; bad ones refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "bloomery/maths.h"
#include "foreign.h"

static const char *const vectors[] = {
    "v1-binary200",      "v1-empty",       "v1-emptykey",   "v1-long-seed0",
    "v1-med1000-p01-zh", "v1-med1000-p03", "v1-overfilled", "v1-union",
    "v2-binary200",      "v2-empty",       "v2-long-seed0", "v2-long-seed12345",
    "v2-med1000-p01-zh", "v2-overfilled",  "v2-small10",    "v2-union",
    "v2-utf8-seed12345",
};

#define VECTORS (sizeof vectors / sizeof *vectors)

static void path_of(const char *vector, char *dir) { snprintf(dir, 64, "spark/%s", vector); }

static const char *funnel_of(const char *dir)
{
    char put[32];
    assert_true(golden_meta_text(dir, "put", put, sizeof put));
    return strcmp(put, "putLong") == 0     ? "long"
           : strcmp(put, "putBinary") == 0 ? "binary"
                                           : "string";
}

static blm_options create_options(const char *dir)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = golden_meta(dir, "version") > 1 ? "spark2" : "spark1";
    o.funnel      = funnel_of(dir);
    o.items       = (uint64_t)golden_meta(dir, "design_n");
    o.rate        = golden_meta(dir, "design_p");
    if (golden_meta(dir, "seed") != 0) {
        o.flags   = BLM_SEEDED;
        o.seed[0] = (uint64_t)golden_meta(dir, "seed");
    }
    return o;
}

static void test_read_and_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        char        dir[64];
        blm_options o = BLM_OPTIONS_INIT;
        path_of(vectors[i], dir);
        o.funnel = funnel_of(dir);
        prove_file(dir, "filter.bin", "spark", true, &o);
    }
}

static void test_rebuild(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        char dir[64];
        path_of(vectors[i], dir);
        blm_options o = create_options(dir);
        blm_plan    p = { .size = sizeof p };
        assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
        assert_int_equal(p.bits, golden_meta(dir, "m"));
        assert_int_equal(p.probes, golden_meta(dir, "k"));
        prove_rebuild(dir, "filter.bin", NULL, &o, 0, 0);
    }
}

static void test_union(void **state)
{
    (void)state;
    blm_options o = create_options("spark/v1-union");
    prove_union("spark/v1-union", "spark", &o);
    o = create_options("spark/v2-union");
    prove_union("spark/v2-union", "spark", &o);
}

/* cardinality is Spark's number of set bits. */
static void test_estimates(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        char      dir[64];
        blm_stats s = { .size = sizeof s };
        path_of(vectors[i], dir);
        struct golden_file bytes = golden_read_in(dir, "filter.bin");
        blm_filter        *f     = decode_bytes(&bytes, NULL);
        assert_int_equal(blm_get_stats(f, &s), BLM_OK);
        assert_int_equal(s.ones, golden_meta(dir, "cardinality"));
        assert_java_rate(dir, &s);
        blm_free(f);
        golden_free_file(&bytes);
    }
}

/* Filters of another seed do not unite; versions neither. */
static void test_mismatch(void **state)
{
    (void)state;
    struct golden_file a = golden_read("spark/v2-long-seed0/filter.bin");
    struct golden_file b = golden_read("spark/v2-long-seed12345/filter.bin");
    struct golden_file c = golden_read("spark/v1-long-seed0/filter.bin");
    blm_filter        *x = decode_bytes(&a, NULL), *y = decode_bytes(&b, NULL),
               *z = decode_bytes(&c, NULL);
    blm_error  err;
    blm_params p = { .size = sizeof p };
    assert_int_equal(blm_union(x, y, &err), BLM_E_MISMATCH);
    assert_non_null(strstr(err.text, "seed"));
    assert_int_equal(blm_union(x, z, &err), BLM_E_MISMATCH);
    blm_get_params(y, &p);
    assert_int_equal(p.seed[0], 12345);
    assert_int_equal(p.seed_policy, BLM_SEED_FIXED);
    blm_get_params(z, &p);
    assert_int_equal(p.seed_policy, BLM_SEED_NONE);
    blm_free(x);
    blm_free(y);
    blm_free(z);
    golden_free_file(&a);
    golden_free_file(&b);
    golden_free_file(&c);
}

static const char *format_of(const char *file)
{
    (void)file;
    return "spark";
}

static void test_bad(void **state)
{
    (void)state;
    assert_int_equal(refuse_all("spark", format_of), 19);
    refuse_cuts("spark/v2-small10", "filter.bin", "spark");
    starve("spark/v2-small10", "filter.bin", "spark");
}

static void test_places(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        { "trunc-version.bin", "version", BLM_E_TRUNCATED, 3 },
        { "version3.bin", "version 3", BLM_E_FORMAT, 0 },
        { "version-neg.bin", "version -1", BLM_E_FORMAT, 0 },
        { "v1-k-neg.bin", "k is -", BLM_E_FORMAT, 4 },
        { "v1-k-huge.bin", "k is 2147483647", BLM_E_FORMAT, 4 },
        { "v1-words-zero.bin", "word count is 0", BLM_E_FORMAT, 8 },
        { "v1-words-neg.bin", "word count is -", BLM_E_FORMAT, 8 },
        { "v1-words-huge.bin", "ends", BLM_E_TRUNCATED, 36 },
        { "v2-words-zero.bin", "word count is 0", BLM_E_FORMAT, 12 },
        { "v1-trailing.bin", "follow", BLM_E_FORMAT, 36 },
        { "v2-trailing.bin", "follow", BLM_E_FORMAT, 32 },
    };
    refuse_at("spark", faults, sizeof faults / sizeof *faults, format_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_and_write), cmocka_unit_test(test_rebuild),
        cmocka_unit_test(test_union),          cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_mismatch),       cmocka_unit_test(test_bad),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
