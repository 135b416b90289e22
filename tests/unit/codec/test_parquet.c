/* SPDX-License-Identifier: MIT */
/* Parquet's filter files: DuckDB's and parquet-mr's bytes in and out, and what is no such file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden_filter.h"

static const char *const vectors[] = {
    "parquet/small10",   "parquet/med1000-p03", "parquet/med1000-p01-zh", "parquet/emptykey",
    "parquet/binary200", "parquet/overfilled",  "parquet/empty",          "parquet/union",
    "parquet/int32",     "parquet/int64",       "parquet/double",
};
#define VECTORS (sizeof vectors / sizeof *vectors)

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        blm_options o = golden_as("parquet");
        blm_filter *f = golden_load(vectors[i], "filter.bin", &o);
        blm_params  p = { .size = sizeof p };
        assert_int_equal(blm_get_params(f, &p), BLM_OK);
        assert_int_equal(p.kind, BLM_BLOCKED);
        assert_int_equal(p.bits, golden_meta(vectors[i], "m"));
        assert_int_equal(p.probes, 8);
        assert_string_equal(p.scheme, "parquet");
        assert_string_equal(p.format, "parquet");
        check_probes(f, vectors[i]);
        golden_writes(f, NULL, vectors[i], "filter.bin");
        blm_free(f);
    }
}

static void test_sniffed(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f = golden_load(vectors[i], "filter.bin", &o);
        check_probes(f, vectors[i]);
        blm_free(f);
    }
}

static void test_rebuilt(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.scheme      = "parquet";
        o.bits        = (uint64_t)golden_meta(vectors[i], "m");
        blm_filter *f = create_or_fail(&o);
        golden_add_members(f, vectors[i]);
        golden_writes(f, NULL, vectors[i], "filter.bin");
        blm_free(f);
    }
}

static void test_union(void **state)
{
    (void)state;
    blm_options o = golden_as("parquet");
    blm_filter *a = golden_load("parquet/union", "a.bin", &o);
    blm_filter *b = golden_load("parquet/union", "b.bin", &o);
    assert_int_equal(blm_union(a, b, NULL), BLM_OK);
    golden_writes(a, NULL, "parquet/union", "filter.bin");
    blm_free(a);
    blm_free(b);
}

/* The bitset alone: all of the input, or as many bits as are said, inside something larger. */
static void test_bitset(void **state)
{
    (void)state;
    struct golden_file in    = golden_read("parquet/small10/filter.bin");
    size_t             bytes = (size_t)golden_meta("parquet/small10", "m") / 8;
    const char        *bits  = in.data + in.len - bytes;
    blm_options        o     = golden_as("parquet-bitset");
    blm_filter        *f     = golden_decode("bitset", bits, bytes, &o);
    check_probes(f, "parquet/small10");
    golden_encodes_to(f, NULL, "bitset", bits, bytes);
    golden_encodes_to(f, "parquet", "bitset with a header", in.data, in.len);
    blm_free(f);
    o.bits   = bytes * 8;
    o.offset = in.len - bytes;
    f        = golden_decode("bitset at an offset", in.data, in.len, &o);
    check_probes(f, "parquet/small10");
    blm_free(f);
    golden_refused("bitset longer than said", in.data, in.len,
                   &(blm_options){ .size = sizeof o, .format = "parquet-bitset", .bits = 256 });
    o = golden_as("parquet-bitset");
    golden_refused("bitset of 31 bytes", bits, 31, &o);
    golden_refused("no bitset", bits, 0, &o);
    golden_free_file(&in);
}

/* In the middle of a file, with bytes on both sides. */
static void test_offset(void **state)
{
    (void)state;
    struct golden_file in   = golden_read("parquet/int32/filter.bin");
    uint8_t           *file = calloc(in.len + 300, 1);
    memcpy(file, "PAR1", 4);
    memcpy(file + 123, in.data, in.len);
    blm_options o = golden_as("parquet");
    blm_error   err;
    blm_filter *f;
    assert_int_equal(blm_decode(file, in.len + 300, &o, &f, &err), BLM_E_FORMAT);
    assert_non_null(strstr(err.text, "whole Parquet file"));
    o.format = NULL;
    assert_int_equal(blm_decode(file, in.len + 300, &o, &f, &err), BLM_E_FORMAT);
    assert_non_null(strstr(err.text, "whole Parquet file"));
    o.offset = 123;
    f        = golden_decode("at an offset", file, in.len + 300, &o);
    check_probes(f, "parquet/int32");
    golden_encodes_to(f, NULL, "from an offset", in.data, in.len);
    blm_free(f);
    o.offset = in.len + 301;
    golden_refused("offset past the end", file, in.len + 300, &o);
    /* errors count from the file's start */
    o.offset = 123;
    file[124] |= 1; /* numBytes becomes odd in zigzag: negative */
    assert_int_equal(
        blm_decode(file, in.len + 300,
                   &(blm_options){ .size = sizeof o, .format = "parquet", .offset = 123 }, &f,
                   &err),
        BLM_E_FORMAT);
    assert_int_equal(err.offset, 124);
    free(file);
    golden_free_file(&in);
}

static void test_bad(void **state)
{
    (void)state;
    blm_options o = golden_as("parquet");
    assert_int_equal(golden_refuses("parquet", "", &o), 17);
    o.format = NULL;
    assert_int_equal(golden_refuses("parquet", "", &o), 17);
}

/* A 32-byte filter's header, in the way of writing it that each row is about. */
struct header {
    const char *what;
    const char *bytes;
    size_t      len;
    bool        good;
};

#define H(what, text, good)                \
    {                                      \
        what, text, sizeof(text) - 1, good \
    }

static const struct header headers[] = {
    H("as all write it", "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", true),
    H("field numbers in full", "\x05\x02\x40\x0c\x04\x1c\0\0\x0c\x06\x1c\0\0\x0c\x08\x1c\0\0\0",
      true),
    H("another order", "\x4c\x1c\0\0\x0c\x06\x1c\0\0\x0c\x04\x1c\0\0\x05\x02\x40\0", true),
    H("an unknown i64 behind", "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x16\x80\x01\0", true),
    H("an unknown string", "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x18\3abc\0", true),
    H("an unknown list of structs",
      "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x19\x2c\x15\2\0\x11\0\0", true),
    H("an unknown list of 20 booleans",
      "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x19\xf1\x14"
      "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\0",
      true),
    H("an unknown map", "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x1b\1\x85\1x\2\0", true),
    H("an unknown empty map", "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x1b\0\0", true),
    H("an unknown double and booleans",
      "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x17\1\2\3\4\5\6\7\10\x11\x12\0", true),
    H("a field inside SplitBlock", "\x15\x40\x1c\x1c\x15\2\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", true),
    H("numBytes twice", "\x15\x40\x05\x02\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", false),
    H("numBytes an i64", "\x16\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", false),
    H("algorithm an i32", "\x15\x40\x15\2\x1c\x1c\0\0\x1c\x1c\0\0\0", false),
    H("a union with no member", "\x15\x40\x1c\0\x1c\x1c\0\0\x1c\x1c\0\0\0", false),
    H("a union with two members", "\x15\x40\x1c\x1c\0\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", false),
    H("an unknown type", "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x1d\0", false),
    H("a string longer than the input",
      "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x18"
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0",
      false),
    H("a list longer than the input",
      "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x19\xf1"
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0",
      false),
    H("numBytes of 2^32", "\x15\x80\x80\x80\x80\x20\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", false),
    H("no algorithm", "\x15\x40\x2c\x1c\0\0\x1c\x1c\0\0\0", false),
    H("no hash", "\x15\x40\x1c\x1c\0\0\x2c\x1c\0\0\0", false),
    H("no compression", "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\0", false),
    H("structs nested without end",
      "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0",
      false),
};

static void test_headers(void **state)
{
    (void)state;
    blm_options o = golden_as("parquet");
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const struct header *h              = &headers[i];
        uint8_t              file[128 + 32] = { 0 };
        assert_true(h->len <= 128);
        memcpy(file, h->bytes, h->len);
        memset(file + h->len, 0x5a, 32);
        if (!h->good) {
            golden_refused(h->what, file, h->len + 32, &o);
            continue;
        }
        blm_filter    *f = golden_decode(h->what, file, h->len + 32, &o);
        uint64_t       bytes;
        const uint8_t *bits = blm_view(f, 0, &bytes);
        assert_int_equal(bytes, 32);
        assert_memory_equal(bits, file + h->len, 32);
        blm_free(f);
    }
}

/* The header's end, wherever it comes: TRUNCATED there, with an error and without. */
static void test_cut_header(void **state)
{
    (void)state;
    const struct header *h = &headers[0];
    blm_options          o = golden_as("parquet");
    for (size_t len = 0; len < h->len; len++) {
        blm_filter *f = NULL;
        blm_error   err;
        assert_int_equal(blm_decode(h->bytes, len, &o, &f, &err), BLM_E_TRUNCATED);
        assert_int_equal(err.offset, len);
        assert_int_equal(blm_decode(h->bytes, len, &o, &f, NULL), BLM_E_TRUNCATED);
    }
    /* too short to be told from anything else, also within the number of bytes */
    blm_bid bids[8];
    for (size_t i = blm_sniff("\x15\x80\x80", 3, 0, bids, 8); i > 0; i--)
        assert_string_not_equal(bids[i - 1].format, "parquet");
}

static bool put_nothing(void *ctx, const void *bytes, size_t len)
{
    (void)ctx, (void)bytes, (void)len;
    return false;
}

/* A header must end, even if all of it is there. */
static void test_long_header(void **state)
{
    (void)state;
    static const char  front[] = "\x15\x40\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\x18\xd0\x0f";
    struct golden_file in      = { NULL, 0, 0 };
    uint8_t            zero[2000 + 1 + 32] = { 0 }; /* the string, the stop, the bitset */
    blm_options        o                   = golden_as("parquet");
    bytes_append(&in, front, sizeof front - 1);
    bytes_append(&in, zero, sizeof zero);
    golden_refused("a string of 2000 bytes", in.data, in.len, &o);
    golden_free_file(&in);
}

/* Three blocks: legal by the format, though Arrow reads only powers of two. */
static void test_three_blocks(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_params  p = { .size = sizeof p };
    o.scheme      = "parquet";
    o.bits        = 3 * 256;
    blm_filter *f = create_or_fail(&o);
    for (uint32_t i = 0; i < 60; i++)
        assert_true(blm_add(f, &i, 4) >= 0);
    struct golden_file b = encode_as(f, NULL);
    assert_int_equal(b.len, 16 + 96);
    o             = golden_as(NULL);
    blm_filter *g = golden_decode("three blocks", b.data, b.len, &o);
    assert_true(blm_equal(f, g));
    assert_int_equal(blm_get_params(g, &p), BLM_OK);
    assert_non_null(p.notice);
    free(b.data);
    blm_free(f);
    blm_free(g);
}

static void test_starved(void **state)
{
    (void)state;
    struct golden_file in = golden_read("parquet/small10/filter.bin");
    blm_options        o  = golden_as("parquet");
    golden_starve(in.data, in.len, &o);
    golden_free_file(&in);
}

/* Another scheme's filter has no place in this format. */
static void test_other_scheme(void **state)
{
    (void)state;
    blm_options o        = BLM_OPTIONS_INIT;
    o.items              = 100;
    o.rate               = 0.01;
    blm_filter        *f = create_or_fail(&o);
    blm_error          err;
    struct golden_file b = { NULL, 0, 0 };
    assert_int_equal(blm_encode(f, "parquet", bytes_append, &b, &err), BLM_E_UNSUPPORTED);
    assert_int_equal(blm_encode(f, "parquet-bitset", bytes_append, &b, &err), BLM_E_UNSUPPORTED);
    assert_int_equal(b.len, 0);
    blm_free(f);
    f = create_or_fail(&(blm_options){ .size = sizeof o, .scheme = "parquet", .memory = 32 });
    assert_int_equal(blm_encode(f, NULL, put_nothing, NULL, &err), BLM_E_IO);
    assert_int_equal(err.offset, 0);
    blm_free(f);
}

static void has_all(const blm_filter *f, const char *const *keys)
{
    for (; *keys; keys++)
        assert_true(blm_check(f, *keys, strlen(*keys)));
}

/* The Parquet project's own files, written by parquet-mr and parquet-rs. */
static void test_fetched(void **state)
{
    (void)state;
    static const char *const four[] = { "hello", "parquet", "bloom", "filter", NULL };
    static const char *const many[] = { "Hello",   "This is", "a",        "test",      "How",
                                        "are you", "doing ",  "today",    "the quick", "brown fox",
                                        "jumps",   "over",    "the lazy", "dog",       NULL };
    static const struct {
        const char        *name;
        uint64_t           offset;
        const char *const *keys;
        size_t             bytes;
    } file[] = {
        { "parquet-testing/bloom_filter.xxhash.bin", 0, four, 1024 },
        { "parquet-testing/data_index_bloom_encoding_stats.parquet", 192, many, 1024 },
        { "parquet-testing/data_index_bloom_encoding_with_length.parquet", 253, many, 2048 },
    };
    struct golden_file in = { 0 };
    for (size_t i = 0; i < 3; i++) {
        blm_options o = golden_as("parquet");
        if (!golden_fetched(file[i].name, &in))
            skip();
        o.offset      = file[i].offset;
        blm_filter *f = golden_decode(file[i].name, in.data, in.len, &o);
        has_all(f, file[i].keys);
        golden_encodes_to(f, NULL, file[i].name, in.data + o.offset, 16 + file[i].bytes);
        /* and rebuilt from nothing but the keys */
        blm_filter *g = create_or_fail(
            &(blm_options){ .size = sizeof o, .scheme = "parquet", .memory = file[i].bytes });
        for (const char *const *k = file[i].keys; *k; k++)
            assert_true(blm_add(g, *k, strlen(*k)) >= 0);
        assert_true(blm_equal(f, g));
        blm_free(f);
        blm_free(g);
        golden_free_file(&in);
    }
    blm_options o = golden_as("parquet");
    assert_true(golden_fetched("parquet-testing/bloom_filter.bin", &in));
    golden_refused("the format before Thrift", in.data, in.len, &o);
    golden_free_file(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),     cmocka_unit_test(test_sniffed),
        cmocka_unit_test(test_rebuilt),     cmocka_unit_test(test_union),
        cmocka_unit_test(test_bitset),      cmocka_unit_test(test_offset),
        cmocka_unit_test(test_bad),         cmocka_unit_test(test_headers),
        cmocka_unit_test(test_long_header), cmocka_unit_test(test_three_blocks),
        cmocka_unit_test(test_starved),     cmocka_unit_test(test_other_scheme),
        cmocka_unit_test(test_fetched),     cmocka_unit_test(test_cut_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
