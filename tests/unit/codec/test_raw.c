/* SPDX-License-Identifier: MIT */
/* Bits alone: the byteslot and polynomial vectors in and out, and what the options must say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden_filter.h"

static const char *const slots[] = {
    "byteslot/slot8-small10",  "byteslot/slot8-med1000-p03", "byteslot/slot8-med1000-p01-zh",
    "byteslot/slot8-emptykey", "byteslot/slot8-overfilled",  "byteslot/slot8-empty",
    "byteslot/slot8-union",
};
static const char *const olds[] = { "byteslot/old7-small10", "byteslot/old7-med1000-p01-zh" };

static blm_options as(const char *format, const char *scheme)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.format      = format;
    o.scheme      = scheme;
    return o;
}

/* Read, answered, written back, and rebuilt from its members. */
static void check_vector(const char *dir, blm_options o, const char *scheme)
{
    uint64_t    bits = (uint64_t)golden_meta(dir, "m");
    blm_filter *f    = golden_load(dir, "filter.bin", &o);
    blm_params  p    = { .size = sizeof p };
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_int_equal(p.bits, bits);
    assert_int_equal(p.probes, golden_meta(dir, "k"));
    assert_string_equal(p.scheme, scheme);
    assert_string_equal(p.format, o.format);
    check_probes(f, dir);
    golden_writes(f, NULL, dir, "filter.bin");
    blm_free(f);
    o.format = NULL;
    o.scheme = scheme;
    o.bits   = bits;
    f        = create_or_fail(&o);
    golden_add_members(f, dir);
    golden_writes(f, "raw", dir, "filter.bin");
    blm_free(f);
}

static void test_byteslot(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        check_vector(slots[i], as("byteslot", NULL), "byteslot");
        check_vector(slots[i], as("raw", "byteslot"), "byteslot");
        blm_options o = as("byteslot", NULL);
        o.bits        = (uint64_t)golden_meta(slots[i], "m");
        check_vector(slots[i], o, "byteslot");
    }
}

static void test_polynomial(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof olds / sizeof *olds; i++)
        check_vector(olds[i], as("raw", "polynomial"), "polynomial");
}

/* Bits promise nothing: for how many keys they are, and at which rate, is the caller's to say. */
static void test_nothing_is_promised(void **state)
{
    (void)state;
    static const uint8_t bits[125] = { 1 };
    static const struct {
        uint64_t items;
        double   rate;
    } said[] = { { 0, 0 }, { 50, 0 }, { 0, 0.01 }, { 50, 0.01 } };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        blm_options o = as("raw", "go");
        blm_filter *f = NULL;
        o.probes      = 7;
        o.items       = said[i].items;
        o.rate        = said[i].rate;
        assert_int_equal(blm_decode(bits, sizeof bits, &o, &f, NULL), BLM_OK);
        blm_stats s = { .size = sizeof s };
        assert_int_equal(blm_get_stats(f, &s), BLM_OK);
        assert_true(s.params.rate == said[i].rate);
        if (said[i].items || said[i].rate == 0)
            assert_int_equal(s.params.capacity, said[i].items);
        else
            assert_in_range(s.params.capacity, 100, 110); /* 1000 bits, 7 probes, 1%: 104 */
        blm_free(f);
    }
}

static void test_union(void **state)
{
    (void)state;
    blm_options o = as("byteslot", NULL);
    blm_filter *a = golden_load("byteslot/slot8-union", "a.bin", &o);
    blm_filter *b = golden_load("byteslot/slot8-union", "b.bin", &o);
    assert_int_equal(blm_union(a, b, NULL), BLM_OK);
    golden_writes(a, NULL, "byteslot/slot8-union", "filter.bin");
    blm_free(a);
    blm_free(b);
    /* equal sizes are required */
    a = golden_load("byteslot/slot8-small10", "filter.bin", &o);
    b = golden_load("byteslot/slot8-union", "b.bin", &o);
    assert_int_equal(blm_union(a, b, NULL), BLM_E_MISMATCH);
    blm_free(a);
    blm_free(b);
}

static void test_bad(void **state)
{
    (void)state;
    blm_options o = as("byteslot", NULL);
    assert_int_equal(golden_refuses("byteslot", "slot8-", &o), 1);
    o = as("raw", "polynomial");
    assert_int_equal(golden_refuses("byteslot", "old7-", &o), 2);
    /* …but a capacity that is no power of two is the caller's right, when it is said */
    struct golden_file in = golden_read("byteslot/bad/old7-3bytes.bin");
    memset(in.data, 0, in.len);
    o.bits        = 24;
    blm_filter *f = golden_decode("24 bits", in.data, in.len, &o);
    blm_params  p = { .size = sizeof p };
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_non_null(p.notice);
    blm_free(f);
    golden_free_file(&in);
}

/* As many probes as no filter has: a batch had no room for one key's, and never ended. */
static void test_too_many_probes(void **state)
{
    (void)state;
    const uint8_t bits[512] = { 0 };
    blm_filter   *f         = NULL;
    for (size_t i = 0; blm_scheme_at(i); i++) {
        blm_options o = as("raw", blm_scheme_at(i)->name);
        o.probes      = 2049;
        assert_true(blm_decode(bits, sizeof bits, &o, &f, NULL) < 0);
        assert_null(f);
    }
}

/* Never taken for anything when a format is sniffed. */
static void test_never_sniffed(void **state)
{
    (void)state;
    struct golden_file in = golden_read("byteslot/slot8-small10/filter.bin");
    blm_bid            bid[16];
    size_t             n = blm_sniff(in.data, in.len, in.len, bid, 16);
    for (size_t i = 0; i < n && i < 16; i++) {
        assert_string_not_equal(bid[i].format, "raw");
        assert_string_not_equal(bid[i].format, "byteslot");
    }
    golden_free_file(&in);
}

/* Bits that do not fill their last byte. */
static void test_odd_bits(void **state)
{
    (void)state;
    blm_options o = as(NULL, "bkdr-js-rs");
    o.bits        = 1001;
    blm_filter *f = create_or_fail(&o);
    for (int i = 0; i < 100; i++) {
        char key[16];
        int  n = snprintf(key, sizeof key, "key %d", i);
        assert_true(blm_add(f, key, (size_t)n) >= 0);
    }
    struct golden_file b = encode_as(f, "raw");
    assert_int_equal(b.len, 126);
    o.format      = "raw";
    blm_filter *g = golden_decode("1001 bits", b.data, b.len, &o);
    assert_true(blm_equal(f, g));
    b.data[125] |= 0x40;
    golden_refused("a bit past the last", b.data, b.len, &o);
    b.data[125] &= 1;
    golden_refused("one byte less", b.data, b.len - 1, &o);
    golden_refused(
        "one byte more", b.data, b.len + 0,
        &(blm_options){ .size = sizeof o, .format = "raw", .scheme = "bkdr-js-rs", .bits = 1000 });
    free(b.data);
    blm_free(f);
    blm_free(g);
}

static void decode_is(const blm_options *o, blm_status want)
{
    static const uint8_t bytes[64];
    blm_filter          *f;
    blm_error            err;
    assert_int_equal(blm_decode(bytes, sizeof bytes, o, &f, &err), want);
    assert_null(f);
    assert_true(strlen(err.text) > 10);
}

/* What raw bits cannot say must be said. */
static void test_options(void **state)
{
    (void)state;
    blm_options o = as("raw", NULL);
    decode_is(&o, BLM_E_ARGUMENT);
    o.scheme = "no such scheme";
    decode_is(&o, BLM_E_ARGUMENT);
    o.scheme = "native";
    decode_is(&o, BLM_E_UNSUPPORTED);
    o.scheme = "bkdr"; /* how many probes? */
    decode_is(&o, BLM_E_ARGUMENT);
    o.probes = 9;
    decode_is(&o, BLM_E_ARGUMENT);
    o.probes = 3;
    o.bits   = UINT64_MAX;
    decode_is(&o, BLM_E_LIMIT);
    o.bits      = 0;
    o.max_bytes = 32;
    decode_is(&o, BLM_E_LIMIT);
    o = as("raw", "go"); /* which has any number of probes */
    decode_is(&o, BLM_E_ARGUMENT);
    o.scheme = "redisbloom-cf";
    decode_is(&o, BLM_E_UNSUPPORTED);
    o         = as("raw", "dcso");
    o.variant = 7; /* which it does not have */
    o.probes  = 3;
    decode_is(&o, BLM_E_ARGUMENT);
    o        = as("raw", "guava64"); /* which has whole words */
    o.bits   = 500;
    o.probes = 3;
    golden_refused("63 bytes", (uint8_t[63]){ 0 }, 63, &o);
}

/* Each of the three says how many probes there are. */
static void test_probes_that_follow(void **state)
{
    (void)state;
    static const uint8_t bytes[64];
    for (unsigned i = 0; i < 3; i++) {
        blm_options o = as("raw", "go");
        o.probes      = i == 0 ? 3 : 0;
        o.items       = i == 1 ? 50 : 0;
        o.rate        = i == 2 ? 0.01 : 0;
        blm_free(golden_decode("bits of Go's", bytes, sizeof bytes, &o));
    }
}

/* From a stream, whose length nobody knows, up to a limit. */
static void test_streams(void **state)
{
    (void)state;
    static const char bytes[64];
    blm_options       o = as("raw", "bkdr-js-rs");
    for (unsigned i = 0; i < 3; i++) {
        struct trickle in = { bytes, sizeof bytes, 0, 7 };
        blm_filter    *f  = NULL;
        o.max_bytes       = 63 + i;
        assert_int_equal(blm_decode_stream(trickle_read, &in, &o, &f, NULL),
                         i ? BLM_OK : BLM_E_LIMIT);
        blm_free(f);
    }
    blm_status st = BLM_E_MEMORY;
    for (size_t at = 1; st != BLM_OK; at++) {
        struct counted c;
        struct trickle in = { bytes, sizeof bytes, 0, 7 };
        blm_filter    *f  = NULL;
        counted_start(&c);
        c.fail_at   = at;
        o.allocator = &c.allocator;
        st          = blm_decode_stream(trickle_read, &in, &o, &f, NULL);
        assert_true(st == BLM_OK || st == BLM_E_MEMORY);
        blm_free(f);
        assert_int_equal(c.now, 0);
    }
}

/* What is more than its bits is not written as bits. */
static void test_not_written(void **state)
{
    (void)state;
    blm_options        o = BLM_OPTIONS_INIT;
    struct golden_file b = { NULL, 0, 0 };
    o.items              = 100;
    o.rate               = 0.01;
    blm_filter *f        = create_or_fail(&o);
    assert_int_equal(blm_encode(f, "raw", bytes_append, &b, NULL), BLM_E_UNSUPPORTED);
    blm_free(f);
    o.scheme = "polynomial";
    o.kind   = BLM_COUNTING;
    f        = create_or_fail(&o);
    assert_int_equal(blm_encode(f, "raw", bytes_append, &b, NULL), BLM_E_UNSUPPORTED);
    assert_int_equal(blm_encode(f, "byteslot", bytes_append, &b, NULL), BLM_E_UNSUPPORTED);
    blm_free(f);
    o.scheme = "redisbloom"; /* which grows, and has one layer, and then two */
    o.kind   = BLM_SCALABLE;
    f        = create_or_fail(&o);
    for (uint64_t i = 0; i < 300; i += 299) {
        assert_int_equal(blm_encode(f, "raw", bytes_append, &b, NULL), BLM_E_UNSUPPORTED);
        for (uint64_t j = 0; j < 300; j++)
            assert_true(blm_add(f, &j, sizeof j) >= 0);
    }
    blm_free(f);
    assert_int_equal(b.len, 0);
}

/* Bits alone would match nothing. */
static void test_matches_everything(void **state)
{
    (void)state;
    static const uint8_t payloads[][11] = { { 0, 9, 0, 0, 0, 5 }, { 1, 0, 0, 0, 0, 0, 5 } };
    static const size_t  lens[]         = { 10, 11 };
    for (size_t i = 0; i < 2; i++) {
        struct golden_file b = { NULL, 0, 0 };
        blm_options        o = as("bip37", NULL);
        blm_filter        *f = golden_decode("matches all", payloads[i], lens[i], &o);
        blm_error          err;
        assert_true(blm_check(f, "key", 3));
        assert_int_equal(blm_encode(f, "raw", bytes_append, &b, &err), BLM_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, "matches everything"));
        assert_non_null(strstr(err.text, "bip37 or native"));
        assert_int_equal(b.len, 0);
        blm_free(f);
    }
}

static void test_starved(void **state)
{
    (void)state;
    struct golden_file in = golden_read("byteslot/slot8-small10/filter.bin");
    blm_options        o  = as("byteslot", NULL);
    golden_starve(in.data, in.len, &o);
    golden_free_file(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byteslot),
        cmocka_unit_test(test_polynomial),
        cmocka_unit_test(test_nothing_is_promised),
        cmocka_unit_test(test_union),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_too_many_probes),
        cmocka_unit_test(test_never_sniffed),
        cmocka_unit_test(test_odd_bits),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_probes_that_follow),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_not_written),
        cmocka_unit_test(test_matches_everything),
        cmocka_unit_test(test_starved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
