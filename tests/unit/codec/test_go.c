/* SPDX-License-Identifier: MIT */
/* Filters written by Go's bloom: the plain form, JSON and gob. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/maths.h"
#include "core/bytes.h"
#include "foreign.h"

static const char *const vectors[] = { "binary200",   "empty",      "emptykey", "med1000-p01-zh",
                                       "med1000-p03", "overfilled", "small10",  "union" };

#define VECTORS (sizeof vectors / sizeof *vectors)

static const struct {
    const char *format, *file;
} forms[] = { { "go", "filter.bin" }, { "go-gob", "filter.gob" }, { "go-json", "filter.json" } };

#define FORMS (sizeof forms / sizeof *forms)

static void path_of(const char *vector, char *dir) { snprintf(dir, 64, "go/%s", vector); }

static blm_options create_options(const char *dir)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "go";
    o.items       = (uint64_t)golden_meta(dir, "design_n");
    o.rate        = golden_meta(dir, "design_p");
    return o;
}

static void test_read_and_write(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    for (size_t i = 0; i < VECTORS; i++)
        for (size_t j = 0; j < FORMS; j++) {
            char dir[64];
            path_of(vectors[i], dir);
            prove_file(dir, forms[j].file, forms[j].format, true, &o);
        }
}

static void test_rebuild(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++)
        for (size_t j = 0; j < FORMS; j++) {
            char dir[64];
            path_of(vectors[i], dir);
            blm_options o = create_options(dir);
            blm_plan    p = { .size = sizeof p };
            assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
            assert_int_equal(p.bits, golden_meta(dir, "m"));
            assert_int_equal(p.probes, golden_meta(dir, "k"));
            prove_rebuild(dir, forms[j].file, forms[j].format, &o, 0, 0);
        }
}

static void test_union(void **state)
{
    (void)state;
    blm_options o = create_options("go/union");
    prove_union("go/union", "go", &o);
}

/* ---- sets of another length than m ---- */

/* Made by the Go library: New(0, 3) before and after an add, and FromWithM over four words with
 * every seventh bit set, m = 130: bits past m, which are kept. */
static void test_lengths(void **state)
{
    (void)state;
    static const char *const names[] = { "new-0-3", "new-0-3-added", "from-4-words-m130" };
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < FORMS; j++) {
            char name[64];
            snprintf(name, sizeof name, "go/lengths/%s%s", names[i], strchr(forms[j].file, '.'));
            struct golden_file bytes = golden_read(name);
            blm_filter        *f     = decode_bytes(&bytes, NULL), *g;
            struct golden_file again = encode_as(f, NULL);
            assert_same_bytes(&again, &bytes);
            assert_int_equal(blm_copy(f, &g, NULL), BLM_OK); /* a copy loses nothing */
            struct golden_file copy = encode_as(g, NULL);
            assert_same_bytes(&copy, &bytes);
            blm_free(f);
            blm_free(g);
            golden_free_file(&bytes);
            golden_free_file(&again);
            golden_free_file(&copy);
        }
}

/* A set of length 0 grows with the first add, as Go's does. */
static void test_growth(void **state)
{
    (void)state;
    struct golden_file before = golden_read("go/lengths/new-0-3.bin");
    struct golden_file after  = golden_read("go/lengths/new-0-3-added.bin");
    blm_filter        *f      = decode_bytes(&before, NULL);
    assert_false(blm_check(f, "x", 1));
    assert_int_equal(blm_add(f, "x", 1), BLM_OK);
    struct golden_file out = encode_as(f, NULL);
    assert_same_bytes(&out, &after);
    blm_free(f);
    golden_free_file(&out);
    golden_free_file(&before);
    golden_free_file(&after);
}

/* Bits past m survive the native file too, and are not counted. */
static void test_bits_past_m(void **state)
{
    (void)state;
    struct golden_file bytes  = golden_read("go/lengths/from-4-words-m130.bin");
    blm_filter        *f      = decode_bytes(&bytes, NULL);
    blm_stats          s      = { .size = sizeof s };
    struct golden_file native = encode_as(f, "native");
    blm_filter        *g      = decode_bytes(&native, NULL);
    struct golden_file again  = encode_as(g, "go");
    assert_same_bytes(&again, &bytes);
    assert_int_equal(blm_get_stats(g, &s), BLM_OK);
    assert_int_equal(s.ones, 19); /* 0, 7, … 126 of 130 */
    blm_free(f);
    blm_free(g);
    golden_free_file(&bytes);
    golden_free_file(&native);
    golden_free_file(&again);
}

/* A set of `length` bits, all of them set, around m: only m count, all are kept. */
static void check_all_ones(uint64_t m, uint64_t length)
{
    size_t             words = (size_t)((length + 63) / 64);
    struct golden_file in    = { malloc(24 + words * 8), 24 + words * 8, 0 };
    blm__put64be(in.data, m);
    blm__put64be(in.data + 8, 3);
    blm__put64be(in.data + 16, length);
    memset(in.data + 24, 0xff, words * 8);
    if (length % 64)
        blm__put64be(in.data + in.len - 8, UINT64_MAX >> (64 - length % 64));
    blm_filter        *f   = decode_bytes(&in, NULL);
    blm_stats          s   = { .size = sizeof s };
    struct golden_file out = encode_as(f, NULL);
    blm_get_stats(f, &s);
    assert_int_equal(s.ones, length < m ? length : m);
    assert_same_bytes(&out, &in);
    golden_free_file(&out);
    blm_clear(f); /* the bits past m are no keys': they stay */
    out = encode_as(f, NULL);
    for (uint64_t bit = 0; bit < length; bit++) {
        uint64_t word = blm__get64be(out.data + 24 + bit / 64 * 8);
        assert_int_equal(word >> (bit % 64) & 1, bit >= m);
    }
    blm_free(f);
    golden_free_file(&out);
    golden_free_file(&in);
}

static void test_all_ones(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1, 63, 64, 65, 70, 127, 128, 129, 192 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            check_all_ones(sizes[i], sizes[j]);
}

/* Nothing past m, nothing beside the filter. */
static void test_nothing_attached(void **state)
{
    (void)state;
    char               bytes[24 + 24] = { 0 };
    struct golden_file in             = { bytes, sizeof bytes, 0 };
    struct counted     c;
    size_t             before;
    blm__put64be(bytes, 70);
    blm__put64be(bytes + 8, 3);
    blm__put64be(bytes + 16, 192);
    blm__put64be(bytes + 24, UINT64_MAX);
    blm__put64be(bytes + 32, 63); /* bits 64 … 69 */
    blm_options o = BLM_OPTIONS_INIT;
    counted_start(&c);
    o.allocator   = &c.allocator;
    o.format      = "go";
    blm_filter *f = decode_bytes(&in, &o);
    before        = c.now;
    blm_free(f);
    blm__put64be(bytes + 40, 1); /* bit 128 */
    f = decode_bytes(&in, &o);
    assert_true(c.now > before);
    blm_free(f);
    assert_int_equal(c.now, 0);
}

/* ---- gob ---- */

/* Any one byte before the filter's words changed: refused, or kept as it is. */
static void check_changed(const char *dir, const char *file, size_t head)
{
    struct golden_file bytes = golden_read_in(dir, file);
    blm_options        o     = BLM_OPTIONS_INIT;
    size_t             taken = 0;
    o.format                 = "go-gob";
    for (size_t at = 0; at < head; at++)
        for (unsigned value = 0; value < 256; value++) {
            char        old = bytes.data[at];
            blm_filter *f;
            blm_error   err;
            bytes.data[at] = (char)value;
            blm_status st  = blm_decode(bytes.data, bytes.len, &o, &f, &err);
            if (st == BLM_OK) {
                struct golden_file again = encode_as(f, NULL);
                assert_same_bytes(&again, &bytes);
                golden_free_file(&again);
                blm_free(f);
                taken += (char)value != old;
            } else {
                assert_true(err.offset <= bytes.len);
            }
            bytes.data[at] = old;
        }
    assert_true(taken > 0);
    golden_free_file(&bytes);
}

static void test_gob_changed(void **state)
{
    (void)state;
    check_changed("go/small10", "filter.gob", 16);
    check_changed("go/gob", "named-type.gob", 38);
    check_changed("go/gob", "later-ids.gob", 21);
}

/* Types without end are refused after a kilobyte. */
static void test_gob_types_without_end(void **state)
{
    (void)state;
    struct golden_file one = golden_read("go/small10/filter.gob"), many = { NULL, 0, 0 };
    for (int i = 0; i < 90; i++)
        bytes_append(&many, one.data, 11);
    bytes_append(&many, one.data + 11, one.len - 11);
    blm_filter *f = decode_bytes(&many, NULL); /* 990 bytes of them pass */
    blm_free(f);
    many.len = 0;
    for (int i = 0; i < 100; i++)
        bytes_append(&many, one.data, 11);
    bytes_append(&many, one.data + 11, one.len - 11);
    blm_error err = refuse_bytes(&many, "a hundred types", "go-gob");
    assert_int_equal(err.status, BLM_E_FORMAT);
    assert_true(err.offset > 990 && err.offset < 1024);
    golden_free_file(&one);
    golden_free_file(&many);
}

/* Type ids and a type's name are the writing program's: kept. */
static void test_gob_types(void **state)
{
    (void)state;
    static const char *const files[] = { "go/gob/named-type.gob", "go/gob/later-ids.gob" };
    for (size_t i = 0; i < 2; i++) {
        struct golden_file bytes = golden_read(files[i]);
        blm_filter        *f     = decode_bytes(&bytes, NULL);
        struct golden_file again = encode_as(f, NULL);
        assert_same_bytes(&again, &bytes);
        refuse_cuts("go/gob", files[i] + strlen("go/gob/"), "go-gob");
        assert_true(blm_check(f, "hello", 5));
        assert_false(blm_check(f, "world", 5));
        blm_free(f);
        golden_free_file(&bytes);
        golden_free_file(&again);
    }
}

/* ---- JSON ---- */

static blm_status decode_text(const char *text, blm_filter **f, blm_error *err)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.format      = "go-json";
    *f            = NULL;
    return blm_decode(text, strlen(text), &o, f, err);
}

/* Spaces, another order, members of no meaning, the other alphabet. */
static void test_json_freedom(void **state)
{
    (void)state;
    static const char *const same[] = {
        "{\"m\":96,\"k\":7,\"b\":\"AAAAAAAAAGDU1BLIdx57BQAAAADCZZGO\"}",
        " {\n\"b\": \"AAAAAAAAAGDU1BLIdx57BQAAAADCZZGO\", \"k\": 7, \"m\" : 96 }\n",
        "{\"note\":[1,{\"x\":null}],\"m\":96,\"k\":7,\"b\":\"AAAAAAAAAGDU1BLIdx57BQAAAADCZZGO\"}",
    };
    blm_filter *first = NULL, *f;
    blm_error   err;
    for (size_t i = 0; i < 3; i++) {
        if (decode_text(same[i], &f, &err) != BLM_OK)
            fail_msg("%s", err.text);
        if (!first)
            first = f;
        assert_true(blm_equal(first, f));
        if (f != first)
            blm_free(f);
    }
    blm_free(first);
    blm_filter *url, *standard;
    assert_int_equal(
        decode_text("{\"m\":64,\"k\":1,\"b\":\"AAAAAAAAAED7_____vvv-w==\"}", &url, &err), BLM_OK);
    assert_int_equal(
        decode_text("{\"m\":64,\"k\":1,\"b\":\"AAAAAAAAAED7/////vvv+w==\"}", &standard, &err),
        BLM_OK);
    assert_true(blm_equal(url, standard));
    blm_free(url);
    blm_free(standard);
}

static void test_json_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
        blm_status  status;
        uint64_t    offset;
    } rows[] = {
        { "{\"m\":0,\"k\":1,\"b\":\"AAAAAAAAAAA=\"}", "m is 0", BLM_E_FORMAT, 1 },
        { "{\"m\":1,\"k\":0,\"b\":\"AAAAAAAAAAA=\"}", "k is 0", BLM_E_FORMAT, 7 },
        { "{\"m\":1.5,\"k\":1,\"b\":\"AAAAAAAAAAA=\"}", "member m", BLM_E_FORMAT, 1 },
        { "{\"m\":1,\"b\":\"AAAAAAAAAAA=\"}", "member k is missing", BLM_E_FORMAT, 0 },
        { "{\"m\":1,\"k\":1,\"b\":\"AAAAAAAAAAA\"}", "base64", BLM_E_FORMAT, 13 },
        { "{\"m\":1,\"k\":1,\"b\":\"AAAAAAAAAAB=\"}", "base64", BLM_E_FORMAT, 13 },
        { "{\"m\":1,\"k\":1,\"b\":\"AAAA*AAAAAA=\"}", "character 4", BLM_E_FORMAT, 13 },
        { "{\"m\":1,\"k\":1,\"b\":\"AAAA\"}", "too short", BLM_E_TRUNCATED, 13 },
        { "{\"m\":64,\"k\":1,\"b\":\"AAAAAAAAAEAAAAAA\"}", "takes 8", BLM_E_TRUNCATED, 14 },
        { "{\"m\":1,\"k\":1,\"b\":\"AAAAAAAAAAAAAAAAAAAAAA==\"}", "takes 0", BLM_E_FORMAT, 13 },
        { "{\"m\":1,\"k\":1,\"b\":\"AAAAAAAAAAEAAAAAAAAAAg==\"}", "past", BLM_E_FORMAT, 13 },
        { "{\"m\":\"1\",\"m\":1,\"k\":1,\"b\":\"AAAAAAAAAAA=\"}", "member m", BLM_E_FORMAT, 1 },
        { "{\"m\":1,\"k\":1,\"K\":-0,\"b\":\"AAAAAAAAAAA=\"}", "member k", BLM_E_FORMAT, 13 },
        { "{\"m\":1,\"k\":1e0,\"b\":\"AAAAAAAAAAA=\"}", "member k", BLM_E_FORMAT, 7 },
        { "{\"m\":18446744073709551616,\"k\":1,\"b\":\"\"}", "member m", BLM_E_FORMAT, 1 },
        { "{\"m\":18446744073709551615,\"k\":1,\"b\":\"AAAAAAAAAAA=\"}", "2^48", BLM_E_FORMAT, 1 },
        { "{\"m\":null,\"k\":1,\"b\":\"AAAAAAAAAAA=\"}", "member m is missing", BLM_E_FORMAT, 0 },
        { "{\"m\":1,\"k\":1,\"b\":\"AAAAAAAAAAA=\",\"b\":null}", "b is missing", BLM_E_FORMAT, 0 },
        { "{\"m\":1,\"k\":1,\"b\":7,\"b\":\"AAAAAAAAAAA=\"}", "not a string", BLM_E_FORMAT, 13 },
        { "{\"m\":1,\"k\":1,\"b\":\"AAAA\\u00e9\\n\\tAAA\"}", "character 4", BLM_E_FORMAT, 13 },
        { "{\"\\x\":1}", "escape", BLM_E_FORMAT, 3 },
        { "{\"\\u12g4\":1}", "hexadecimal", BLM_E_FORMAT, 6 },
        { "{\"a\nb\":1}", "control", BLM_E_FORMAT, 3 },
        { "{\"a\":01}", "no comma", BLM_E_FORMAT, 6 },
        { "{\"a\":-}", "digit", BLM_E_FORMAT, 6 },
        { "{\"a\":1.}", "digit", BLM_E_FORMAT, 7 },
        { "{\"a\":1e+}", "digit", BLM_E_FORMAT, 8 },
        { "{\"a\":NaN}", "no JSON value", BLM_E_FORMAT, 5 },
        { "{\"a\":nul}", "no JSON value", BLM_E_FORMAT, 8 },
        { "{\"a\":[1,]}", "no JSON value", BLM_E_FORMAT, 8 },
        { "{\"a\":[1}}", "no comma", BLM_E_FORMAT, 7 },
        { "{\"a\":{\"b\" 1}}", "colon", BLM_E_FORMAT, 10 },
        { "{\"a\":{1:1}}", "name", BLM_E_FORMAT, 6 },
        { "{\"a\":{\"b\":1,2}}", "name", BLM_E_FORMAT, 12 },
        { "{\"a\":\"\\u00:0\"}", "hexadecimal", BLM_E_FORMAT, 10 },
        { "{\"a\":\"\\", "too early", BLM_E_FORMAT, 7 },
        { "{\"a\":1,}", "name", BLM_E_FORMAT, 7 },
        { "{\"a\":1 \"b\":1}", "no comma", BLM_E_FORMAT, 7 },
        { "{,\"a\":1}", "name", BLM_E_FORMAT, 1 },
        { "{\"a\":\"b", "too early", BLM_E_FORMAT, 7 },
        { "{\"a\":[", "too early", BLM_E_FORMAT, 6 },
        { "{} x", "follows", BLM_E_FORMAT, 3 },
        { "\xef\xbb\xbf{}", "no object", BLM_E_FORMAT, 0 },
        { "{}", "member m is missing", BLM_E_FORMAT, 0 },
        { "[1,2]", "object", BLM_E_FORMAT, 0 },
        { "", "not a JSON object", BLM_E_FORMAT, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        blm_filter *f;
        blm_error   err;
        blm_status  st = decode_text(rows[i].text, &f, &err);
        if (st != rows[i].status || err.offset != rows[i].offset || !strstr(err.text, rows[i].word))
            fail_msg("%s: %s at %llu: %s", rows[i].text, blm_status_name(st),
                     (unsigned long long)err.offset, err.text);
    }
}

/* What Go's encoding/json takes beside m, k and b, and for their names. */
static void test_json_as_go_reads_it(void **state)
{
    (void)state;
#define REST "\"m\":64,\"k\":1,\"b\":\"AAAAAAAAAED7_____vvv-w==\"}"
    static const char *const same[] = {
        "{" REST,
        "{\"id\":18446744073709551615," REST,
        "{\"id\":-1.5e-1000,\"to\":1E999,\"abc\":0," REST,
        "{\"s\":\"\\u0000\\ud800 \\udc00\\b\\f\\n\\r\\t\\/\\\\\\\"\"," REST,
        "{\"\xff\xfe\":\"\x80\"," REST,
        "{\"a\":1,\"a\":2,\"\":[{},[],{\"m\":[true,false,null]}]," REST,
        "{\"m\":3,\"k\":null,\"b\":\"*\",\"k\":7," REST,
        "{\"M\":64,\"\\u212a\":1,\"\\u0042\":\"AAAAAAAAAED7_____vvv-w==\"}",
        "{\"m\":64,\"\xe2\x84\xaa\":1,\"b\":\"AAAAAAAAAED7\\u002f\\/\\/\\/\\/vvv-w=\\u003D\"}",
        "{\"m\":64,\"k\":1,\"b\":\"AAAAAAAAAED7\\r\\n\\u000a\\u000d_____vvv-w==\",\"m\":null}",
        "{\"mm\":{},\"\\u006\x62\":0,\"km\":0,\"\\n\":0," REST "\r\n\t ",
    };
#undef REST
    blm_filter *first = NULL, *f;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        blm_options any = BLM_OPTIONS_INIT;
        blm_error   err;
        if (decode_text(same[i], &f, &err) != BLM_OK)
            fail_msg("%s: %s", same[i], err.text);
        first = first ? first : f;
        assert_true(blm_equal(first, f));
        if (f != first)
            blm_free(f);
        if (blm_decode(same[i], strlen(same[i]), &any, &f, &err) != BLM_OK) /* recognised, too */
            fail_msg("%s: %s", same[i], err.text);
        blm_free(f);
    }
    blm_free(first);
}

static void check_depth(size_t depth, blm_status want)
{
    static const char rest[] = ",\"m\":1,\"k\":1,\"b\":\"AAAAAAAAAAA=\"}";
    char             *text   = calloc(1, 3 * depth + 64);
    blm_filter       *f;
    blm_error         err;
    strcpy(text, "{\"x\":");
    memset(text + 5, '[', depth);
    memset(text + 5 + depth, ']', depth);
    strcpy(text + 5 + 2 * depth, rest);
    assert_int_equal(decode_text(text, &f, &err), want);
    if (want != BLM_OK)
        assert_int_equal(err.offset, 5 + 10000);
    blm_free(f);
    free(text);
}

/* As deep as Go goes, the object's own bracket counted: it counts from one there. */
static void test_json_deep(void **state)
{
    (void)state;
    check_depth(10000, BLM_OK);
    check_depth(10001, BLM_E_FORMAT);
}

/* Other members may come first. A text that can have none of ours is left to others. */
static void test_json_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int         bid;
    } rows[] = {
        { "{\"m\":", 85 },
        { " {\n\"B\" :", 85 },
        { "{\"k\"", 85 },
        { "{\"id\":12,\"m\":", 85 },
        { "{\"id\":[12,{}],\"m", 60 },
        { "{\"id\":\"a text that goes on for so long that nothing of ours is in the head, which",
          60 },
        { "{\"id\":", 60 },
        { "{\"id\"", 0 },
        { "{\"id\":12}", 0 },
        { "{\"id\":12 12", 0 },
        { "{\"m\" 1", 0 },
        { "{\"mm\";", 0 },
        { "[\"m\":", 0 },
        { "{", 0 },
        { "{}", 0 },
        { "", 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        blm_bid bids[32];
        size_t  n   = blm_sniff(rows[i].text, strlen(rows[i].text), 0, bids, 32);
        int     bid = 0;
        for (size_t j = 0; j < n; j++)
            bid = strcmp(bids[j].format, "go-json") == 0 ? bids[j].bid : bid;
        if (bid != rows[i].bid)
            fail_msg("%s: bid %d, not %d", rows[i].text, bid, rows[i].bid);
    }
}

/* A megabyte of empty arrays would be forty of parsed values: refused by counting first. And text
 * past the cap is not read to its end. */
static void test_json_bomb(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    char       *text = malloc(SIZE);
    blm_filter *f;
    blm_error   err;
    blm_options o = BLM_OPTIONS_INIT;
    for (size_t i = 0; i < SIZE; i++)
        text[i] = "[],"[i % 3];
    text[0]        = '[';
    text[SIZE - 1] = ']';
    o.format       = "go-json";
    assert_int_equal(blm_decode(text, SIZE, &o, &f, &err), BLM_E_FORMAT);
    assert_true(err.offset < 256);
    memset(text, ' ', SIZE);
    text[0]          = '{';
    o.max_bytes      = 1000;
    struct trickle t = { text, SIZE, 0, 4096 };
    assert_int_equal(blm_decode_stream(trickle_read, &t, &o, &f, &err), BLM_E_LIMIT);
    assert_true(t.at < 256 << 10);
    free(text);
}

/* ---- bad ---- */

static const char *format_of(const char *file)
{
    return strstr(file, ".bin") ? "go" : strstr(file, ".gob") ? "go-gob" : "go-json";
}

static void test_bad(void **state)
{
    (void)state;
    assert_int_equal(refuse_all("go", format_of), 27);
    for (size_t j = 0; j < FORMS; j++)
        starve("go/med1000-p03", forms[j].file, forms[j].format);
    refuse_cuts("go/small10", "filter.bin", "go");
    refuse_cuts("go/small10", "filter.gob", "go-gob");
}

static void test_places(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        { "trunc-header.bin", "header", BLM_E_TRUNCATED, 20 },
        { "trunc-body.bin", "ends", BLM_E_TRUNCATED, 37 },
        { "m-zero.bin", "m is 0", BLM_E_FORMAT, 0 },
        { "m-huge.bin", "m is 1152921504606846976", BLM_E_FORMAT, 0 },
        { "k-zero.bin", "k is 0", BLM_E_FORMAT, 8 },
        { "k-max.bin", "k is 18446744073709551615", BLM_E_FORMAT, 8 },
        { "len-max.bin", "bit set", BLM_E_FORMAT, 16 },
        { "len-huge.bin", "ends", BLM_E_TRUNCATED, 40 },
        { "len-more.bin", "ends", BLM_E_TRUNCATED, 40 },
        { "trailing.bin", "follow", BLM_E_FORMAT, 40 },
        { "len-lies.gob", "byte count", BLM_E_FORMAT, 15 },
        { "trunc.gob", "ends", BLM_E_TRUNCATED, 52 },
    };
    refuse_at("go", faults, sizeof faults / sizeof *faults, format_of);
}

/* A set much shorter than m is a claim that nothing backs. */
static void test_short_set(void **state)
{
    (void)state;
    char               bytes[24] = { 0 };
    struct golden_file in        = { bytes, sizeof bytes, 0 };
    blm__put64be(bytes, (uint64_t)1 << 40);
    blm__put64be(bytes + 8, 3);
    blm_error err = refuse_bytes(&in, "2^40 bits in a set of none", "go");
    assert_int_equal(err.offset, 16);
    /* 64 KiB of bits may be missing, not one more. */
    blm__put64be(bytes, (64 << 13) + 1);
    refuse_bytes(&in, "64 KiB and a bit", "go");
    blm__put64be(bytes, 64 << 13);
    blm_filter *large = decode_bytes(&in, NULL);
    blm_free(large);
    blm__put64be(bytes + 8, 2049);
    refuse_bytes(&in, "2049 probes", "go");
    blm__put64be(bytes + 8, 2048);
    blm__put64be(bytes, 1000);
    blm_filter        *f   = decode_bytes(&in, NULL);
    struct golden_file out = encode_as(f, NULL);
    assert_same_bytes(&out, &in);
    blm_add(f, "x", 1);
    golden_free_file(&out);
    out = encode_as(f, NULL);
    assert_true(out.len > in.len && blm__get64be(out.data + 16) <= 1000);
    blm_free(f);
    golden_free_file(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_and_write),
        cmocka_unit_test(test_rebuild),
        cmocka_unit_test(test_union),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_bits_past_m),
        cmocka_unit_test(test_all_ones),
        cmocka_unit_test(test_nothing_attached),
        cmocka_unit_test(test_gob_types),
        cmocka_unit_test(test_gob_changed),
        cmocka_unit_test(test_gob_types_without_end),
        cmocka_unit_test(test_json_freedom),
        cmocka_unit_test(test_json_refused),
        cmocka_unit_test(test_json_as_go_reads_it),
        cmocka_unit_test(test_json_deep),
        cmocka_unit_test(test_json_recognised),
        cmocka_unit_test(test_json_bomb),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_short_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
