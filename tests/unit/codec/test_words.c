/* SPDX-License-Identifier: MIT */
/* What goes through codec/words.c, for every foreign format at once: filters of many words come
 * back whole, a sink that refuses is heard at every byte, a caller who cancels is heard too. */
#include "unit/support.h"

#include "api/filter.h"
#include "foreign.h"

static const struct {
    const char *scheme, *format;
} forms[] = {
    { "guava64", "guava" }, { "go", "go" },        { "go", "go-gob" },
    { "go", "go-json" },    { "spark1", "spark" }, { "spark2", "spark" },
    { "dcso", "dcso" },     { "dcso", "dcso-gz" }, { "dcso01", "dcso01" },
};

static bool knows(const char *format, bool to_write)
{
    for (size_t i = 0; blm_format_at(i); i++)
        if (strcmp(blm_format_at(i)->name, format) == 0)
            return to_write ? blm_format_at(i)->writes : blm_format_at(i)->reads;
    return false;
}

static blm_filter *filled(const char *scheme, uint64_t bits, size_t keys)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = scheme;
    o.bits        = bits;
    o.probes      = 4;
    blm_filter *f = create_or_fail(&o);
    for (uint64_t i = 0; i < keys; i++)
        blm_add(f, &i, sizeof i);
    return f;
}

/* Around the pieces of 512 words, half of the bits set, so that gzip finds nothing to save. */
static void test_many_words(void **state)
{
    (void)state;
    static const size_t words[] = { 1, 511, 512, 513, 1024, 1025, 20000 };
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        for (size_t j = 0; j < COUNT_OF(words) && knows(forms[i].format, true); j++) {
            blm_filter        *f   = filled(forms[i].scheme, words[j] * 64, words[j] * 11);
            struct golden_file out = encode_as(f, forms[i].format);
            blm_options        o   = BLM_OPTIONS_INIT;
            o.format               = forms[i].format;
            if (knows(forms[i].format, false)) {
                blm_filter *g = decode_bytes(&out, &o);
                assert_true(blm_equal(f, g));
                blm_free(g);
            }
            blm_free(f);
            golden_free_file(&out);
        }
}

struct refusing {
    size_t left;
    bool   refused;
};

static bool refuse_after(void *ctx, const void *bytes, size_t len)
{
    struct refusing *r = ctx;
    (void)bytes;
    assert_false(r->refused); /* who was refused does not try again */
    r->refused = len > r->left;
    r->left -= r->refused ? 0 : len;
    return !r->refused;
}

static void test_refusing_sink(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        if (!knows(forms[i].format, true))
            continue;
        blm_filter        *f     = filled(forms[i].scheme, 320, 10);
        struct golden_file whole = encode_as(f, forms[i].format);
        for (size_t at = 0; at < whole.len; at++) {
            struct refusing r   = { at, false };
            blm_error       err = { .status = BLM_OK };
            assert_int_equal(blm_encode(f, forms[i].format, refuse_after, &r, &err), BLM_E_IO);
            assert_int_equal(err.status, BLM_E_IO);
            assert_true(r.refused && err.text[0] && err.offset <= at);
        }
        blm_free(f);
        golden_free_file(&whole);
    }
}

static bool stop_at_half(void *ctx, uint64_t done, uint64_t total)
{
    int *calls = ctx;
    ++*calls;
    assert_true(done <= total);
    assert_int_equal(total, (uint64_t)16 << 20);
    return done < total / 2;
}

/* 16 MiB of words: told about now and then, and stopped half way. */
static void test_cancel(void **state)
{
    (void)state;
    blm_filter        *f     = filled("guava64", (uint64_t)16 << 23, 10);
    struct golden_file out   = { NULL, 0, 0 };
    int                calls = 0;
    blm_error          err;
    blm_set_progress(f, stop_at_half, &calls);
    assert_int_equal(blm_encode(f, "guava", bytes_append, &out, &err), BLM_E_CANCELLED);
    assert_true(calls >= 2 && calls <= 16);
    assert_int_equal(out.len, 6 + (8 << 20));
    blm_free(f);
    golden_free_file(&out);
}

/* A reader that fails is not a file that ends: everywhere, also behind the last byte. */
struct failing {
    struct trickle t;
};

static size_t read_then_fail(void *ctx, void *bytes, size_t len)
{
    struct failing *f = ctx;
    size_t          n = trickle_read(&f->t, bytes, len);
    return n ? n : SIZE_MAX;
}

static void test_failing_reader(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        if (!knows(forms[i].format, true) || !knows(forms[i].format, false))
            continue;
        blm_filter        *f     = filled(forms[i].scheme, 320, 10), *g;
        struct golden_file whole = encode_as(f, forms[i].format);
        blm_options        o     = BLM_OPTIONS_INIT;
        o.format                 = forms[i].format;
        for (size_t len = 0; len <= whole.len; len++) {
            struct failing r = { { whole.data, len, 0, 5 } };
            blm_error      err;
            assert_int_equal(blm_decode_stream(read_then_fail, &r, &o, &g, &err), BLM_E_IO);
            assert_null(g);
        }
        blm_free(f);
        golden_free_file(&whole);
    }
}

/* A filter of a scheme that has plain bits only, forged to be more. */
static void test_more_than_plain_bits(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        blm_filter        *f = filled("go", 640, 10);
        struct golden_file b = { NULL, 0, 0 };
        blm_error          err;
        struct blm__body   was = f->body;
        if (i == 0)
            f->body.layer_count = 2;
        else if (i == 1)
            f->body.growth = 2;
        else
            f->body.layers[0].shape.cell_bits = 4;
        assert_int_equal(blm_encode(f, "go", bytes_append, &b, &err), BLM_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, "plain bits"));
        assert_int_equal(b.len, 0);
        f->body                           = was;
        f->body.layers[0].shape.cell_bits = 1;
        blm_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_words),
        cmocka_unit_test(test_refusing_sink),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_failing_reader),
        cmocka_unit_test(test_more_than_plain_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
