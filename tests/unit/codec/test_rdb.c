/* SPDX-License-Identifier: MIT */
/* Values in RDB's encodings, as both of RedisBloom's types write and read them: strings that look like
 * numbers, that are long, or that change meanwhile; and numbers that no server would write. */
#include "unit/support.h"

#include "api/filter.h"
#include "bloomery/redisbloom.h"
#include "core/bytes.h"
#include "core/hash/crc64.h"
#include "unit/bytes.h"

/* ---- strings out ---- */

/* One layer of `len` slots, which are these bytes. */
static blm_filter *slots_of(const char *bytes, uint32_t len)
{
    blm_cf      c = { .size           = sizeof c,
                      .buckets        = 1,
                      .layers         = 1,
                      .bucket_size    = len,
                      .max_iterations = 20,
                      .expansion      = 1 };
    blm_filter *f = NULL;
    blm_error   e = { .text = "" };
    if (blm_cf_create(&c, NULL, &f, &e) != BLM_OK)
        fail_msg("%s", e.text);
    memcpy(f->body.layers[0].words, bytes, len);
    return f;
}

/* Redis writes text that it would print itself as a number, of 8, 16 or 32 bits. */
static void text_that_is_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *text, *string;
        size_t      len;
    } rows[] = {
        { "7", "\5\xc0\7", 3 },
        { "-7", "\5\xc0\xf9", 3 },
        { "0", "\5\xc0\0", 3 },
        { "-", "\5\1-", 3 },
        { "007",
          "\5\x3"
          "007",
          5 },
        { "300", "\5\xc1\x2c\1", 4 },
        { "-300", "\5\xc1\xd4\xfe", 4 },
        { "40000", "\5\xc2\x40\x9c\0\0", 6 },
        { "-2147483648", "\5\xc2\0\0\0\x80", 6 },
        { "-2147483649", "\5\13-2147483649", 13 },
        { "2147483647", "\5\xc2\xff\xff\xff\x7f", 6 },
        { "2147483648",
          "\5\12"
          "2147483648",
          12 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_filter  *f = slots_of(rows[i].text, (uint32_t)strlen(rows[i].text)), *g = NULL;
        struct bytes b     = { 0 };
        bool         there = false;
        assert_status(blm_encode(f, "redisbloom-cf-dump", bytes_add, &b, NULL), BLM_OK);
        for (size_t at = 0; at + rows[i].len < b.len; at++)
            there |= memcmp(b.p + at, rows[i].string, rows[i].len) == 0;
        if (!there)
            fail_msg("%s is not written as Redis does", rows[i].text);
        assert_status(blm_decode(b.p, b.len, NULL, &g, NULL), BLM_OK);
        assert_true(same_bits(f, g));
        free(b.p);
        blm_free(g);
        blm_free(f);
    }
}

static blm_filter *chain_of(uint64_t bits)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "redisbloom";
    o.items       = bits / 10;
    o.rate        = 0.01;
    return make(&o);
}

static bool stop_after(void *ctx, uint64_t done, uint64_t total)
{
    unsigned *left = ctx;
    (void)done, (void)total;
    return (*left)-- > 0;
}

/* What does not pack is written a MiB at a time. */
static void a_long_string(void **state)
{
    (void)state;
    blm_filter *f = chain_of(24u << 20), *g = NULL;
    struct rng  r = { 5 };
    rng_bytes(&r, f->body.layers[0].words, (size_t)f->body.layers[0].word_count * 8);
    struct bytes b    = { 0 };
    unsigned     left = UINT32_MAX, steps;
    blm_error    e;
    blm_set_progress(f, stop_after, &left);
    assert_status(blm_encode(f, "redisbloom-dump", bytes_add, &b, &e), BLM_OK);
    steps = UINT32_MAX - left;
    assert_true(steps >= 3);
    assert_status(blm_decode(b.p, b.len, NULL, &g, &e), BLM_OK);
    assert_true(same_bits(f, g));
    blm_free(g);
    for (unsigned n = 0; n < steps; n++) {
        left  = n;
        b.len = 0;
        assert_status(blm_encode(f, "redisbloom-dump", bytes_add, &b, &e), BLM_E_CANCELLED);
        check_error(&e, BLM_E_CANCELLED, "cancelled after");
    }
    free(b.p);
    blm_free(f);
}

struct meddler {
    blm_filter  *f;
    struct bytes b;
};

/* Adds a key between the two passes over an array that packs: after its first byte is written. */
static bool meddle(void *ctx, const void *bytes, size_t len)
{
    struct meddler *m = ctx;
    if (len == 1 && *(const uint8_t *)bytes == 0xc3)
        memset(m->f->body.layers[0].words, 0x5a, 200);
    return bytes_add(&m->b, bytes, len);
}

static void a_string_that_changes_meanwhile(void **state)
{
    (void)state;
    struct meddler m = { .f = chain_of(1u << 16) };
    blm_error      e;
    assert_status(blm_encode(m.f, "redisbloom-dump", meddle, &m, &e), BLM_E_BUSY);
    check_error(&e, BLM_E_BUSY, "changed while");
    m.b.len = 0;
    assert_status(blm_encode(m.f, "redisbloom-dump", meddle, &m, &e), BLM_OK); /* nothing new */
    free(m.b.p);
    blm_free(m.f);
}

/* ---- numbers in ---- */

static void add_number(struct bytes *b, uint64_t v)
{
    uint8_t p[10] = { 2, 0x81 };
    blm__put64be(p + 2, v);
    bytes_add(b, p, 10);
}

static void add_double(struct bytes *b, double v)
{
    uint8_t p[9] = { 4 };
    blm__put64le(p + 1, blm__f64_bits(v));
    bytes_add(b, p, 9);
}

static void seal(struct bytes *b)
{
    struct blm__crc64 t;
    uint8_t           tail[11] = { 0, 9, 0 };
    bytes_add(b, tail, 11);
    blm__crc64_init(&t);
    blm__put64le(b->p + b->len - 8, blm__crc64(&t, 0, b->p, b->len - 8));
}

static void refused_at(struct bytes *b, const char *format, blm_status want, uint64_t offset,
                       const char *word)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    blm_error   e = { .text = "" };
    o.format      = format;
    assert_status(blm_decode(b->p, b->len, &o, &f, &e), want);
    check_error(&e, want, word);
    assert_int_equal(e.offset, offset);
    free(b->p);
}

/* Each of the three that have 16 bits there. */
static void wide_numbers_of_a_cuckoo_filter(void **state)
{
    (void)state;
    for (unsigned wide = 0; wide < 3; wide++) {
        blm_filter  *f = slots_of("ab", 2);
        struct bytes b = { 0 };
        assert_status(blm_encode(f, "redisbloom-cf-dump", bytes_add, &b, NULL), BLM_OK);
        b.len = 10; /* the type and the module's id */
        for (unsigned i = 0; i < 4; i++)
            add_number(&b, i < 2);
        for (unsigned i = 0; i < 3; i++)
            add_number(&b, i == wide ? 65536 : 1);
        seal(&b);
        refused_at(&b, "redisbloom-cf-dump", BLM_E_FORMAT, 10, "more than 16 bits");
        blm_free(f);
    }
}

struct layer {
    unsigned encver;
    uint64_t entries, bits, n2, size;
};

static struct bytes dump_of(const struct layer *l, const char *string, size_t len)
{
    struct bytes b      = { 0 };
    uint8_t      id[10] = { 7, 0x81, 0x30, 0x16, 0xe5, 0xa2, 0x89, 0xbe, 0xf8, 0x00 };
    id[9]               = (uint8_t)l->encver;
    bytes_add(&b, id, 10);
    add_number(&b, 3);
    add_number(&b, 1);
    if (l->encver >= 2)
        add_number(&b, 5);
    if (l->encver >= 4)
        add_number(&b, 2);
    add_number(&b, l->entries);
    add_double(&b, 0.005);
    add_number(&b, 8);
    add_double(&b, 11.027761987506586);
    if (l->encver >= 1) {
        add_number(&b, l->bits);
        add_number(&b, l->n2);
    }
    bytes_add(&b, "\5", 1);
    bytes_add(&b, string, len);
    add_number(&b, l->size);
    seal(&b);
    return b;
}

static void layers_of_old_versions(void **state)
{
    (void)state;
    static const char plain[] = "\10"
                                "abcdefgh";
    struct layer      l       = { .encver = 1, .entries = 6, .bits = 0, .n2 = 6, .size = 3 };
    struct bytes      b = dump_of(&l, plain, 9), again = { 0 };
    blm_filter       *f = NULL, *g = NULL;
    blm_error         e = { .text = "" };
    /* without bits: 2^n2 of them */
    if (blm_decode(b.p, b.len, NULL, &f, &e) != BLM_OK)
        fail_msg("%s", e.text);
    assert_int_equal(params_of(f).bits, 64);
    assert_status(blm_encode(f, "redisbloom-dump", bytes_add, &again, &e), BLM_OK);
    assert_status(blm_decode(again.p, again.len, NULL, &g, &e), BLM_OK);
    assert_true(blm_equal(f, g));
    free(again.p);
    free(b.p);
    blm_free(f);
    blm_free(g);
    /* encoding 0 has neither, and bits per entry times entries is too much */
    l.encver  = 0;
    l.entries = UINT64_MAX;
    b         = dump_of(&l, plain, 9);
    refused_at(&b, "redisbloom-dump", BLM_E_FORMAT, 30, "bits of layer 0");
}

/* A number that stands for its text, cut. */
static void a_cut_number(void **state)
{
    (void)state;
    struct layer l = { .encver = 4, .entries = 6, .bits = 64, .size = 3 };
    struct bytes b = dump_of(&l, "\xc2\x4e\x61", 3);
    b.len          = b.len - 11 - 10; /* in the middle of it */
    refused_at(&b, "redisbloom-dump", BLM_E_TRUNCATED, b.len, "within the array");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_is_a_number),
        cmocka_unit_test(a_long_string),
        cmocka_unit_test(a_string_that_changes_meanwhile),
        cmocka_unit_test(wide_numbers_of_a_cuckoo_filter),
        cmocka_unit_test(layers_of_old_versions),
        cmocka_unit_test(a_cut_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
