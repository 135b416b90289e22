/* SPDX-License-Identifier: MIT */
/* filterload payloads: Bitcoin Core's bytes in and out, the filters that match everything, and what
 * is no payload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden_filter.h"

static const char *const vectors[] = {
    "bip37/small10",   "bip37/med1000-p03", "bip37/med1000-p01-zh", "bip37/emptykey",
    "bip37/binary200", "bip37/overfilled",  "bip37/empty",
};
#define VECTORS (sizeof vectors / sizeof *vectors)

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        blm_options o = golden_as("bip37");
        blm_filter *f = golden_load(vectors[i], "filter.bin", &o);
        blm_params  p = { .size = sizeof p };
        assert_int_equal(blm_get_params(f, &p), BLM_OK);
        assert_int_equal(p.bits, golden_meta(vectors[i], "m"));
        assert_int_equal(p.probes, golden_meta(vectors[i], "k"));
        assert_true((double)p.seed[0] == golden_meta(vectors[i], "tweak"));
        assert_int_equal(p.variant, golden_meta(vectors[i], "flags"));
        assert_null(p.notice);
        check_probes(f, vectors[i]);
        golden_writes(f, NULL, vectors[i], "filter.bin");
        blm_free(f);
        o.format = NULL; /* sniffed */
        f        = golden_load(vectors[i], "filter.bin", &o);
        assert_int_equal(blm_get_params(f, &p), BLM_OK);
        assert_string_equal(p.format, "bip37");
        blm_free(f);
    }
}

/* From n and p alone, as Core sizes. */
static void test_rebuilt(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.scheme      = "bip37";
        o.items       = (uint64_t)golden_meta(vectors[i], "design_n");
        o.rate        = golden_meta(vectors[i], "design_p");
        o.flags       = BLM_SEEDED;
        o.seed[0]     = (uint64_t)golden_meta(vectors[i], "tweak");
        o.variant     = (uint64_t)golden_meta(vectors[i], "flags");
        blm_filter *f = create_or_fail(&o);
        golden_add_members(f, vectors[i]);
        golden_writes(f, NULL, vectors[i], "filter.bin");
        blm_free(f);
    }
}

static void test_bad(void **state)
{
    (void)state;
    blm_options o = golden_as("bip37");
    assert_int_equal(golden_refuses("bip37", "", &o), 13);
    o.format = NULL;
    assert_int_equal(golden_refuses("bip37", "", &o), 13);
}

/* A payload that matches everything: it says so, takes no keys, and goes out as it came in. */
static void matches_everything(const char *what, const uint8_t *bytes, size_t len)
{
    blm_options o = golden_as("bip37");
    blm_filter *f = golden_decode(what, bytes, len, &o), *g;
    blm_params  p = { .size = sizeof p };
    blm_stats   s = { .size = sizeof s };
    blm_digest  d;
    assert_true(blm_check(f, "anything", 8));
    assert_true(blm_check(f, "", 0));
    assert_int_equal(blm_add(f, "anything", 8), BLM_PRESENT);
    assert_int_equal(blm_digest_of(f, "key", 3, &d), BLM_OK);
    assert_true(blm_check_digest(f, &d));
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_int_equal(p.probes, 0);
    assert_non_null(p.notice);
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_true(s.rate_now == 1);
    assert_true(s.estimated.saturated);
    golden_encodes_to(f, NULL, what, bytes, len);
    /* through a native file, and copied */
    struct golden_file b = encode_as(f, "native");
    o                    = (blm_options)BLM_OPTIONS_INIT;
    g                    = golden_decode(what, b.data, b.len, &o);
    golden_encodes_to(g, "bip37", what, bytes, len);
    blm_free(g);
    assert_int_equal(blm_copy(f, &g, NULL), BLM_OK);
    golden_encodes_to(g, NULL, what, bytes, len);
    blm_free(g);
    free(b.data);
    blm_free(f);
}

static void test_matches_everything(void **state)
{
    (void)state;
    static const uint8_t empty[]        = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    static const uint8_t claims[]       = { 0, 50, 0, 0, 0, 1, 0, 0, 0, 1 };
    static const uint8_t no_hash[]      = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
    static const uint8_t no_hash_data[] = { 2, 0xa5, 0x3c, 0, 0, 0, 0, 7, 0, 0, 0, 2 };
    matches_everything("no bytes", empty, sizeof empty);
    matches_everything("no bytes, 50 hash functions", claims, sizeof claims);
    matches_everything("no hash functions", no_hash, sizeof no_hash);
    matches_everything("no hash functions, bits set", no_hash_data, sizeof no_hash_data);
}

/* A native file of another scheme may not have no probes, nor bip37 more than 50. */
static void test_limits_of_shapes(void **state)
{
    (void)state;
    uint8_t big[3 + 36000 + 9] = { 0xfd, 0xa0, 0x8c };
    big[3 + 36000]             = 50;
    blm_options o              = golden_as(NULL);
    blm_filter *f              = golden_decode("the largest", big, sizeof big, &o);
    golden_encodes_to(f, NULL, "the largest", big, sizeof big);
    blm_free(f);
}

/* Inside a message: 24 bytes in front, and another message behind. */
static void test_offset(void **state)
{
    (void)state;
    struct golden_file in = golden_read("bip37/small10/filter.bin"), all = { NULL, 0, 0 };
    uint8_t            front[24] = { 0xf9, 0xbe, 0xb4, 0xd9 };
    blm_options        o         = golden_as("bip37");
    bytes_append(&all, front, 24);
    bytes_append(&all, in.data, in.len);
    bytes_append(&all, front, 24);
    golden_refused("a message", all.data, all.len, &o);
    o.offset      = 24;
    blm_filter *f = golden_decode("in a message", all.data, all.len, &o);
    check_probes(f, "bip37/small10");
    golden_encodes_to(f, NULL, "from a message", in.data, in.len);
    blm_free(f);
    golden_free_file(&in);
    golden_free_file(&all);
}

static void test_starved(void **state)
{
    (void)state;
    static const uint8_t none[10]; /* a filter of no bytes */
    blm_options          any = golden_as("bip37");
    golden_starve(none, sizeof none, &any);
    struct golden_file in = golden_read("bip37/small10/filter.bin");
    blm_options        o  = golden_as("bip37");
    golden_starve(in.data, in.len, &o);
    golden_free_file(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_rebuilt),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_matches_everything),
        cmocka_unit_test(test_limits_of_shapes),
        cmocka_unit_test(test_offset),
        cmocka_unit_test(test_starved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
