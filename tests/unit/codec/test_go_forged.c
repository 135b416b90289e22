/* SPDX-License-Identifier: MIT */
/* Go's three formats: bit sets longer and shorter than their filter, without memory; gobs whose counts
 * do not fit; and attached bytes that somebody forged in a native file. test_go.c has the true ones. */
#include "unit/support.h"

#include "api/filter.h"
#include "codec/base64.h"
#include "core/bytes.h"
#include "golden_filter.h"

struct reads {
    const char *p;
    size_t      len, at;
};

static size_t reads_then_fails(void *ctx, void *to, size_t len)
{
    struct reads *r = ctx;
    size_t        n = r->len - r->at < len ? r->len - r->at : len;
    if (n == 0)
        return SIZE_MAX;
    memcpy(to, r->p + r->at, n);
    r->at += n;
    return n;
}

/* ---- lengths ---- */

/* m, k, length and the words of a bit set, big-endian. */
static struct golden_file plain(uint64_t m, uint64_t length, uint64_t first, uint64_t second)
{
    struct golden_file b = { NULL, 0, 0 };
    uint64_t           n = (length + 63) / 64;
    uint8_t            word[8];
    for (uint64_t i = 0; i < 3 + n; i++) {
        uint64_t v = i == 0   ? m
                     : i == 1 ? 2
                     : i == 2 ? length
                     : i == 3 ? first
                     : i == 4 ? second
                              : 0;
        blm__put64be(word, v);
        bytes_append(&b, word, 8);
    }
    return b;
}

/* Words past m that are 0, or where only the first is not: they come back. */
static void test_longer_than_the_filter(void **state)
{
    (void)state;
    for (unsigned set = 0; set < 2; set++) {
        struct golden_file in = plain(64, 300, 0xf0, set);
        blm_options        o  = golden_as("go");
        blm_filter        *f  = golden_decode("300 bits for 64", in.data, in.len, &o);
        golden_encodes_to(f, "go", "300 bits for 64", in.data, in.len);
        golden_starve(in.data, in.len, &o);
        blm_free(f);
        golden_free_file(&in);
    }
}

/* A tail past m is kept, and so counts. Zeroes there are not. */
static void test_a_tail_counts(void **state)
{
    (void)state;
    struct golden_file in = plain(64, 6400, 0xf0, 0);
    blm_filter        *f  = NULL;
    blm_options        o  = golden_as("go");
    in.data[in.len - 1]   = 1; /* so that all 99 words are kept, and 16 bytes with them */
    for (o.max_bytes = 800; o.max_bytes < 820; o.max_bytes++) {
        blm_status st = blm_decode(in.data, in.len, &o, &f, NULL);
        assert_int_equal(st, o.max_bytes < 8 + 16 + 99 * 8 ? BLM_E_LIMIT : BLM_OK);
        blm_free(f);
        f = NULL;
    }
    golden_free_file(&in);
    struct meter  m = { .fail_at = UINT64_MAX };
    blm_allocator a = meter_allocator(&m);
    in              = plain(64, 8 << 17, 0xf0, 0);
    o.max_bytes     = 0;
    o.allocator     = &a;
    f               = golden_decode("128 KiB of zeroes", in.data, in.len, &o);
    assert_true(m.live_bytes < 64 << 10);
    golden_encodes_to(f, NULL, "128 KiB of zeroes", in.data, in.len);
    blm_free(f);
    golden_free_file(&in);
}

static void test_starved(void **state)
{
    (void)state;
    static const char *const names[] = { "lengths/from-4-words-m130.bin",
                                         "lengths/from-4-words-m130.gob", "lengths/new-0-3.bin",
                                         "lengths/new-0-3-added.bin", "gob/named-type.gob" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct golden_file in = golden_read_in("go", names[i]);
        blm_options        o  = golden_as(strstr(names[i], "gob") ? "go-gob" : "go");
        golden_starve(in.data, in.len, &o);
        golden_free_file(&in);
    }
}

/* ---- gobs ---- */

static struct golden_file small_gob(size_t *value)
{
    struct golden_file in = plain(64, 64, 0xf0, 0);
    blm_options        o  = golden_as("go");
    blm_filter        *f  = golden_decode("64 bits", in.data, in.len, &o);
    struct golden_file b  = encode_as(f, "go-gob");
    *value                = b.len - 32; /* where the 32 bytes of the filter begin */
    assert_int_equal(b.data[*value - 1], 32);
    blm_free(f);
    golden_free_file(&in);
    return b;
}

static void refused_at(const struct golden_file *b, uint64_t offset, const char *word)
{
    blm_options o = golden_as("go-gob");
    blm_filter *f = NULL;
    blm_error   e = { .text = "" };
    assert_status(blm_decode(b->data, b->len, &o, &f, &e), BLM_E_FORMAT);
    check_error(&e, BLM_E_FORMAT, word);
    assert_int_equal(e.offset, offset);
}

static void test_counts_that_do_not_fit(void **state)
{
    (void)state;
    size_t             at;
    struct golden_file b       = small_gob(&at);
    char              *p       = b.data;
    size_t             message = at - 2;
    while ((uint8_t)p[message] != b.len - message - 1) /* the message's length, in one byte */
        message--;
    p[message] -= 10; /* the message and its value are ten bytes shorter, and too short */
    p[at - 1] -= 10;
    refused_at(&b, at - 1, "does not fit its message");
    p[message] += 10;
    p[at - 1] += 10;
    p[at + 23] += 64; /* the bit set has two words, and there is one */
    refused_at(&b, at - 1, "does not fit a bit set of 128 bits");
    p[at + 23] -= 64;
    p[at + 15] = 0; /* no probes */
    refused_at(&b, at + 8, "");
    golden_free_file(&b);
}

/* ---- what a native file attaches ---- */

/* A gob with a type of its own, and bits past the filter. */
static blm_filter *with_attached(void)
{
    struct golden_file in = golden_read_in("go", "lengths/from-4-words-m130.gob");
    blm_options        o  = golden_as("go-gob");
    blm_filter        *f  = golden_decode("gob", in.data, in.len, &o);
    assert_true(f->body.attached_len >= 24);
    golden_free_file(&in);
    return f;
}

static void still_written(blm_filter *f)
{
    static const char *const formats[] = { "go", "go-gob", "go-json" };
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        struct golden_file b = encode_as(f, formats[i]);
        blm_options        o = golden_as(formats[i]);
        blm_filter        *g = golden_decode(formats[i], b.data, b.len, &o);
        uint64_t           n;
        assert_memory_equal(blm_view(f, 0, &n), blm_view(g, 0, &n), 16);
        blm_free(g);
        golden_free_file(&b);
    }
    blm_free(f);
}

static void test_forged_attached(void **state)
{
    (void)state;
    blm_filter *f = with_attached();
    blm__put64le(f->body.attached + 8, 1000); /* more bytes of types than there are bytes */
    still_written(f);
    f = with_attached();
    blm__put64le(f->body.attached, 4); /* its bits begin behind the last word */
    still_written(f);
    f                              = with_attached();
    f->body.layers[0].shape.aux[0] = UINT64_MAX; /* a length above all others */
    still_written(f);
}

/* ---- JSON ---- */

static void test_json_inside_something(void **state)
{
    (void)state;
    struct golden_file in = golden_read_in("go", "lengths/new-0-3.json"), b = { NULL, 0, 0 };
    blm_options        o = golden_as("go-json");
    bytes_append(&b, "[1, ", 4);
    bytes_append(&b, in.data, in.len);
    bytes_append(&b, ", 2]", 4);
    golden_refused("a filter in a list", b.data, b.len, &o);
    o.offset      = 4;
    o.max_bytes   = UINT64_MAX;
    blm_filter *f = golden_decode("a filter at an offset", b.data, b.len, &o);
    blm_free(f);
    golden_free_file(&in);
    golden_free_file(&b);
}

/* What follows is not looked at, whatever it is and however long. */
static void test_json_before_other_things(void **state)
{
    (void)state;
    static const char *const befores[] = { "log ", "{\"\\\"}" };
    static const char odd[] = "\n {\"x\\\\\\\"}]\": [{\"y\": \"\\\\\"}], \"m\":96, \"k\":7, \"b\":";
    struct golden_file in   = golden_read_in("go", "small10/filter.json");
    for (size_t i = 0; i < 4; i++) {
        struct golden_file b      = { NULL, 0, 0 };
        blm_options        o      = golden_as(i < 2 ? "go-json" : NULL);
        const char        *before = befores[i % 2], *bits = strstr(in.data, "\"b\":") + 4;
        blm_error          e;
        blm_filter        *f = NULL;
        bytes_append(&b, before, strlen(before));
        if (i < 2) { /* with members that we do not know */
            bytes_append(&b, odd, sizeof odd - 1);
            bytes_append(&b, bits, (size_t)(in.data + in.len - bits));
        } else {
            bytes_append(&b, in.data, in.len);
        }
        size_t end = b.len;
        while (b.len < 100000)
            bytes_append(&b, ",1]}", 4);
        o.offset    = strlen(before);
        o.max_bytes = 1000;
        f           = golden_decode("in a log", b.data, b.len, &o);
        golden_encodes_to(f, NULL, "in a log", in.data, in.len);
        blm_free(f);
        b.data[end - 1] = ' '; /* the bracket that closes it */
        assert_true(blm_decode(b.data, b.len, &o, &f, &e) < 0);
        struct reads r = { b.data, end - 1, 0 };
        assert_int_equal(blm_decode_stream(reads_then_fails, &r, &o, &f, &e), BLM_E_IO);
        assert_int_equal(e.offset, end - 1);
        golden_free_file(&b);
    }
    blm_options o = golden_as("go-json");
    blm_filter *f = NULL;
    blm_error   e;
    o.offset = 1;
    assert_int_equal(blm_decode("? 5 {}", 6, &o, &f, &e), BLM_E_FORMAT);
    assert_non_null(strstr(e.text, "not a JSON object"));
    assert_int_equal(blm_decode("?\t\r\n {\"m\":", 11, &o, &f, &e), BLM_E_FORMAT); /* it ends */
    assert_non_null(strstr(e.text, "not a JSON object"));
    /* … within the last piece of what is asked for at once */
    size_t len  = 63 << 10;
    char  *text = malloc(len);
    assert_non_null(text);
    memset(text, ' ', len);
    memcpy(text, "?{\"m\":", 6);
    assert_int_equal(blm_decode(text, len, &o, &f, &e), BLM_E_FORMAT);
    free(text);
    golden_free_file(&in);
}

static void test_base64(void **state)
{
    (void)state;
    uint8_t out[8];
    size_t  bad = 99;
    assert_int_equal(blm__base64_decode("", 0, out, &bad), 0);
    assert_int_equal(blm__base64_decode("YWI=", 4, out, &bad), 2);
    assert_memory_equal(out, "ab", 2);
    assert_true(blm__base64_decode("==", 2, out, &bad) == SIZE_MAX && bad == 2);
    assert_true(blm__base64_decode("YW{=", 4, out, &bad) == SIZE_MAX && bad == 2);
    assert_true(blm__base64_decode("YWJ=", 4, out, &bad) == SIZE_MAX && bad == 2);
    assert_true(blm__base64_decode("Y===", 4, out, &bad) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longer_than_the_filter),
        cmocka_unit_test(test_a_tail_counts),
        cmocka_unit_test(test_starved),
        cmocka_unit_test(test_counts_that_do_not_fit),
        cmocka_unit_test(test_forged_attached),
        cmocka_unit_test(test_json_inside_something),
        cmocka_unit_test(test_json_before_other_things),
        cmocka_unit_test(test_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
