/* SPDX-License-Identifier: MIT */
/* Filters written by Guava 31.1: read, written back, asked, rebuilt, united; bad ones refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "foreign.h"

static const char *const vectors[] = {
    "m32-binary200",      "m32-int32",          "m32-int64",      "m32-med1000-p03",
    "m32-overfilled",     "m32-unencodedchars", "m32-union",      "m64-binary200",
    "m64-empty",          "m64-emptykey",       "m64-int32",      "m64-int64",
    "m64-med1000-p01-zh", "m64-med1000-p03",    "m64-overfilled", "m64-small10",
    "m64-unencodedchars", "m64-union",
};

#define VECTORS (sizeof vectors / sizeof *vectors)

static void path_of(const char *vector, char *dir) { snprintf(dir, 64, "guava/%s", vector); }

/* Guava's name for a funnel to ours. */
static const char *funnel_of(const char *dir)
{
    char name[64];
    assert_true(golden_meta_text(dir, "funnel", name, sizeof name));
    return strcmp(name, "byteArrayFunnel") == 0        ? "bytes"
           : strcmp(name, "unencodedCharsFunnel") == 0 ? "chars"
           : strcmp(name, "integerFunnel") == 0        ? "int"
           : strcmp(name, "longFunnel") == 0           ? "long"
                                                       : "string";
}

/* The filter as Guava 31.1 would create it. */
static blm_options create_options(const char *dir)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = golden_meta(dir, "strategy_ordinal") != 0 ? "guava64" : "guava32";
    o.funnel      = funnel_of(dir);
    o.items       = (uint64_t)golden_meta(dir, "design_n");
    o.rate        = golden_meta(dir, "design_p");
    o.variant     = 1;
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
        prove_file(dir, "filter.bin", "guava", true, &o);
    }
}

static void test_rebuild(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        char dir[64];
        path_of(vectors[i], dir);
        blm_options o = create_options(dir);
        blm_filter *f = create_or_fail(&o);
        blm_params  p = { .size = sizeof p };
        blm_get_params(f, &p);
        assert_int_equal(p.bits, golden_meta(dir, "m"));
        assert_int_equal(p.probes, golden_meta(dir, "k"));
        assert_string_equal(p.format, "guava");
        blm_free(f);
        prove_rebuild(dir, "filter.bin", NULL, &o, 0, 0);
    }
}

static void test_union(void **state)
{
    (void)state;
    blm_options o = create_options("guava/m64-union");
    prove_union("guava/m64-union", "guava", &o);
    o = create_options("guava/m32-union");
    prove_union("guava/m32-union", "guava", &o);
}

/* approximateElementCount and expectedFpp as Guava printed them. */
static void test_estimates(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        char        dir[64];
        blm_options o = BLM_OPTIONS_INIT;
        blm_stats   s = { .size = sizeof s };
        path_of(vectors[i], dir);
        struct golden_file bytes = golden_read_in(dir, "filter.bin");
        blm_filter        *f     = decode_bytes(&bytes, &o);
        assert_int_equal(blm_get_stats(f, &s), BLM_OK);
        assert_int_equal((uint64_t)floor(s.estimated.value + 0.5),
                         golden_meta(dir, "approximateElementCount"));
        assert_java_rate(dir, &s);
        blm_free(f);
        golden_free_file(&bytes);
    }
}

/* The strategies do not unite, and a funnel has to be one of the five. */
static void test_mismatch(void **state)
{
    (void)state;
    struct golden_file a = golden_read("guava/m64-int32/filter.bin");
    struct golden_file b = golden_read("guava/m32-int32/filter.bin");
    blm_options        o = BLM_OPTIONS_INIT;
    blm_error          err;
    blm_filter        *x = decode_bytes(&a, &o), *y = decode_bytes(&b, &o), *none;
    assert_int_equal(blm_union(x, y, &err), BLM_E_MISMATCH);
    assert_non_null(strstr(err.text, "guava64"));
    o.funnel = "no such";
    assert_int_equal(blm_decode(a.data, a.len, &o, &none, &err), BLM_E_FUNNEL);
    blm_free(x);
    blm_free(y);
    golden_free_file(&a);
    golden_free_file(&b);
}

static const char *format_of(const char *file)
{
    (void)file;
    return "guava";
}

static void test_bad(void **state)
{
    (void)state;
    assert_int_equal(refuse_all("guava", format_of), 12);
    refuse_cuts("guava/m64-small10", "filter.bin", "guava");
    starve("guava/m64-small10", "filter.bin", "guava");
}

/* Each fault is told by its field. */
static void test_places(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        { "strategy-2.bin", "strategy", BLM_E_FORMAT, 0 },
        { "strategy-minus1.bin", "strategy", BLM_E_FORMAT, 0 },
        { "k-zero.bin", "k is 0", BLM_E_FORMAT, 1 },
        { "words-zero.bin", "word count is 0", BLM_E_FORMAT, 2 },
        { "words-negative.bin", "word count is -", BLM_E_FORMAT, 2 },
        { "words-huge.bin", "ends", BLM_E_TRUNCATED, 22 },
        { "trunc-body.bin", "ends", BLM_E_TRUNCATED, 17 },
        { "trunc-header.bin", "header", BLM_E_TRUNCATED, 3 },
        { "trailing.bin", "follow", BLM_E_FORMAT, 22 },
    };
    refuse_at("guava", faults, sizeof faults / sizeof *faults, format_of);
}

/* k = 255 is a legal byte. */
static void test_most_probes(void **state)
{
    (void)state;
    char               bytes[14] = { 1, (char)255, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 };
    struct golden_file in        = { bytes, sizeof bytes, 0 };
    blm_options        o         = BLM_OPTIONS_INIT;
    o.format                     = "guava";
    blm_filter *f                = decode_bytes(&in, &o);
    assert_int_equal(blm_add(f, "x", 1), BLM_OK);
    assert_true(blm_check(f, "x", 1));
    struct golden_file out = encode_as(f, NULL);
    assert_int_equal(out.len, sizeof bytes);
    assert_memory_equal(out.data, bytes, 6);
    blm_free(f);
    golden_free_file(&out);
}

/* What the format cannot say is refused, with what to do. */
static void test_not_guava(void **state)
{
    (void)state;
    blm_options        o = BLM_OPTIONS_INIT;
    blm_error          err;
    struct golden_file out = { NULL, 0, 0 };
    o.items                = 100;
    o.rate                 = 0.01;
    blm_filter *f          = create_or_fail(&o);
    assert_int_equal(blm_encode(f, "guava", bytes_append, &out, &err), BLM_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "rebuild"));
    assert_int_equal(out.len, 0);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_and_write), cmocka_unit_test(test_rebuild),
        cmocka_unit_test(test_union),          cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_mismatch),       cmocka_unit_test(test_bad),
        cmocka_unit_test(test_places),         cmocka_unit_test(test_most_probes),
        cmocka_unit_test(test_not_guava),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
