/* SPDX-License-Identifier: MIT */
/* The native format as bytes: what must not get in. */
#include <math.h>

#include "unit/codec/native.h"

/* ---- bytes that are missing, or wrong ---- */

static void every_truncation_is_named(void **state)
{
    (void)state;
    blm_filter  *f = tiny(), *g = NULL;
    struct bytes b = encoded(f);
    for (size_t len = 0; len < b.len; len++) {
        struct bytes cut = { .p = b.p, .len = len };
        blm_error    e   = { .text = "" };
        assert_status(decode(&cut, &g, &e), BLM_E_TRUNCATED);
        assert_int_equal(e.offset, len);
        assert_null(g);
        assert_status(decode_pipe(&cut, 100, NULL, &g, &e), BLM_E_TRUNCATED);
        assert_int_equal(e.offset, len);
    }
    free(b.p);
    blm_free(f);
}

static void what_follows_is_not_ours(void **state)
{
    (void)state;
    blm_filter  *f = tiny(), *g = NULL;
    struct bytes b   = encoded(f);
    size_t       len = b.len;
    bytes_add(&b, "more", 4);
    struct pipe_in in = { b.p, b.len, 0, 1u << 20, SIZE_MAX };
    assert_status(blm_decode_stream(pipe_read, &in, NULL, &g, NULL), BLM_OK);
    assert_int_equal(in.at, len); /* not a byte too much is taken from a stream */
    blm_free(g);
    assert_status(decode(&b, &g, NULL), BLM_OK);
    blm_free(g);
    blm_free(f);
    free(b.p);
}

/* Each byte, each bit: an error, or, in one of the two slots, no harm at all. */
static void every_bit_flip_is_found(void **state)
{
    (void)state;
    blm_filter  *f = tiny(), *g = NULL;
    struct bytes b = encoded(f);
    for (size_t i = 0; i < b.len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            blm_error e = { .text = "" };
            b.p[i] ^= (uint8_t)(1u << bit);
            blm_status st   = decode(&b, &g, &e);
            bool       slot = i >= 512 && i < 3 * 512;
            if (slot != (st == BLM_OK))
                fail_msg("byte %zu bit %u: %s %s", i, bit, blm_status_name(st), e.text);
            if (st == BLM_OK) {
                assert_true(same_bits(f, g));
                assert_int_equal(params_of(g).items, params_of(f).items);
                blm_free(g);
            } else if (i >= 2048 && i < 2048 + 16) { /* the words: two of them */
                assert_int_equal(st, BLM_E_CHECKSUM);
                assert_int_equal(e.offset, 2048);
                assert_non_null(strstr(e.text, "region 0"));
            } else if (i >= 12 && i < 512) {
                assert_int_equal(st, BLM_E_CHECKSUM);
            } else if (i >= 8 && i < 12) {
                assert_int_equal(st, BLM_E_VERSION);
            } else if (i < 8) {
                assert_int_equal(st, BLM_E_FORMAT);
                assert_int_equal(e.offset, i);
            }
            b.p[i] ^= (uint8_t)(1u << bit);
        }
    /* Both slots at once are too much. */
    b.p[512] ^= 1;
    b.p[1024] ^= 1;
    assert_status(decode(&b, &g, NULL), BLM_E_CHECKSUM);
    free(b.p);
    blm_free(f);
}

static void regions_that_change_places_are_found(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 3 * 65536 * 8;
    o.probes      = 3;
    blm_filter *f = make(&o), *g = NULL;
    add_range(f, 0, 1000);
    struct bytes b     = encoded(f);
    uint64_t     words = blm__get64le(b.p + 3 * 4096 + 80);
    uint8_t     *one = b.p + words, *two = one + 65536;
    for (size_t i = 0; i < 65536; i++) {
        uint8_t t = one[i];
        one[i]    = two[i];
        two[i]    = t;
    }
    uint64_t sums = blm__get64le(b.p + 3 * 4096 + 104), first = blm__get64le(b.p + sums);
    blm__put64le(b.p + sums, blm__get64le(b.p + sums + 8)); /* their checksums go with them */
    blm__put64le(b.p + sums + 8, first);
    assert_status(decode(&b, &g, NULL), BLM_E_CHECKSUM);
    free(b.p);
    blm_free(f);
}

/* ---- versions and features ---- */

static blm_status patched(struct bytes b, size_t where, uint64_t value, unsigned size, blm_error *e)
{
    uint8_t *copy = malloc(b.len);
    memcpy(copy, b.p, b.len);
    for (unsigned i = 0; i < size; i++)
        copy[where + i] = (uint8_t)(value >> 8 * i);
    seal_head(copy);
    blm_filter *g  = NULL;
    blm_status  st = blm_decode(copy, b.len, NULL, &g, e);
    blm_free(g);
    free(copy);
    return st;
}

static void newer_files_are_refused(void **state)
{
    (void)state;
    blm_filter  *f = tiny();
    struct bytes b = encoded(f);
    blm_error    e;
    assert_status(patched(b, 8, 2, 4, &e), BLM_E_VERSION);
    assert_int_equal(e.offset, 8);
    assert_status(patched(b, 8, 0, 4, &e), BLM_E_UNSUPPORTED); /* before it was settled */
    assert_int_equal(e.offset, 8);
    assert_non_null(strstr(e.text, "rebuild"));
    assert_status(patched(b, 16, 1, 8, &e), BLM_E_VERSION);
    assert_int_equal(e.offset, 16);
    assert_status(patched(b, 16, (uint64_t)1 << 63, 8, &e), BLM_E_VERSION);
    assert_status(patched(b, 24, (uint64_t)1 << 63 | 5, 8, &e), BLM_OK); /* may be ignored */
    assert_status(patched(b, 96, 3, 4, &e), BLM_E_VERSION);              /* of the scheme */
    assert_int_equal(e.offset, 96);
    assert_status(patched(b, 64, 'x', 1, &e), BLM_E_UNSUPPORTED); /* "xative" */
    free(b.p);
    blm_free(f);
}

static void impossible_headers_are_refused(void **state)
{
    (void)state;
    blm_filter  *f = tiny();
    struct bytes b = encoded(f);
    blm_error    e;
    struct {
        size_t     where;
        uint64_t   value;
        unsigned   size;
        blm_status want;
    } rows[] = {
        { 12, 1024, 4, BLM_E_FORMAT },        { 48, 0, 4, BLM_E_FORMAT },
        { 48, 4096, 4, BLM_E_FORMAT },        { 52, 1024, 4, BLM_E_FORMAT },
        { 52, 0xffffffff, 4, BLM_E_FORMAT },  { 56, 0, 4, BLM_E_FORMAT },
        { 56, 257, 4, BLM_E_FORMAT },         { 60, 4, 4, BLM_E_FORMAT },
        { 60, 1, 4, BLM_E_FORMAT },           { 60, 0xffffffff, 4, BLM_E_FORMAT },
        { 100, 3, 4, BLM_E_UNSUPPORTED },     { 100, 1, 4, BLM_E_FORMAT },
        { 104, 0, 1, BLM_E_FORMAT },          { 104, 0x7878787878787878u, 8, BLM_E_FORMAT },
        { 136, 3, 4, BLM_E_FORMAT },          { 144, 1, 8, BLM_E_FORMAT },
        { 144, UINT64_MAX, 8, BLM_E_FORMAT }, { 144, 1u << 31, 8, BLM_E_TRUNCATED },
        { 96, 0, 4, BLM_E_FORMAT },           { 160, 'x', 1, BLM_E_UNSUPPORTED },
        { 161, 'x', 1, BLM_E_FORMAT },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_status st = patched(b, rows[i].where, rows[i].value, rows[i].size, &e);
        /* Attached bytes come out of what was something else: any error will do. */
        if (rows[i].where == 144 ? st == BLM_OK : st != rows[i].want)
            fail_msg("row %zu: %s %s", i, blm_status_name(st), e.text);
    }
    free(b.p);
    blm_free(f);
}

static blm_status slot_patched(struct bytes b, size_t where, uint64_t value, unsigned size,
                               blm_error *e)
{
    uint8_t *copy  = malloc(b.len);
    uint32_t block = blm__get32le(b.p + 48), slot = blm__get32le(b.p + 52);
    memcpy(copy, b.p, b.len);
    for (unsigned s = 0; s < 2; s++)
        for (unsigned i = 0; i < size; i++)
            copy[block + s * slot + where + i] = (uint8_t)(value >> 8 * i);
    seal_slots(copy);
    blm_filter *g  = NULL;
    blm_status  st = blm_decode(copy, b.len, NULL, &g, e);
    blm_free(g);
    free(copy);
    return st;
}

static void impossible_slots_are_refused(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_SCALABLE;
    o.items       = 20;
    o.rate        = 0.1;
    blm_filter *f = make(&o);
    add_range(f, 0, 100);
    assert_true(params_of(f).layers >= 2);
    struct bytes b = encoded(f);
    uint64_t     nan;
    double       d = NAN;
    memcpy(&nan, &d, 8);
    struct {
        size_t   where;
        uint64_t value;
        unsigned size;
    } rows[] = {
        { 16, 0, 8 },          { 16, b.len + 512, 8 },
        { 16, UINT64_MAX, 8 }, { 24, 0, 4 },
        { 24, 1, 4 },          { 24, 257, 4 },
        { 24, 256, 4 },        { 28, 200, 4 },
        { 32, 4, 4 },          { 64, nan, 8 },
        { 72, nan, 8 },        { 72, 0x3ff0000000000000u, 8 },
        { 80, nan, 8 },        { 80, 0, 8 },
        { 88, nan, 8 },        { 64, 0x3ff0000000000000u, 8 },
        { 128, 0, 8 },         { 128, 512, 8 },
        { 144, 0, 8 },         { 144, UINT64_MAX - 511, 8 },
        { 144, 513, 8 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_error  e  = { .text = "" };
        blm_status st = slot_patched(b, rows[i].where, rows[i].value, rows[i].size, &e);
        if (st != BLM_E_FORMAT)
            fail_msg("row %zu: %s %s", i, blm_status_name(st), e.text);
    }
    free(b.p);
    blm_free(f);
}

static blm_status record_patched(struct bytes b, size_t where, uint64_t value, unsigned size,
                                 blm_error *e)
{
    uint8_t *copy    = malloc(b.len);
    uint64_t at_byte = blm__get64le(b.p + blm__get32le(b.p + 48) + 128);
    memcpy(copy, b.p, b.len);
    for (unsigned i = 0; i < size; i++)
        copy[at_byte + where + i] = (uint8_t)(value >> 8 * i);
    seal_record(copy + at_byte);
    blm_filter *g  = NULL;
    blm_status  st = blm_decode(copy, b.len, NULL, &g, e);
    blm_free(g);
    free(copy);
    return st;
}

static void impossible_layers_are_refused(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING };
    uint64_t              nan, one, minus;
    double                d[3] = { NAN, 1.0, -0.5 };
    memcpy(&nan, &d[0], 8);
    memcpy(&one, &d[1], 8);
    memcpy(&minus, &d[2], 8);
    for (size_t k = 0; k < 3; k++) {
        blm_options o  = BLM_OPTIONS_INIT;
        o.kind         = kinds[k];
        o.items        = 100;
        o.rate         = 0.01;
        blm_filter  *f = make(&o);
        struct bytes b = encoded(f);
        struct {
            size_t   where;
            uint64_t value;
            unsigned size;
        } rows[] = {
            { 0, 3, 4 },
            { 0, (uint64_t)(kinds[k] + 1) % 3, 4 },
            { 4, 2, 4 },
            { 4, 7, 4 },
            { 4, kinds[k] == BLM_BLOCKED ? 0 : 1, 4 },
            { 4, kinds[k] == BLM_COUNTING ? 0 : 3, 4 },
            { 8, 0, 8 },
            { 8, ((uint64_t)1 << 48) + 512, 8 },
            { 8, UINT64_MAX, 8 },
            { 8, 512 * 100, 8 },
            { 16, 77, 8 },
            { 16, UINT64_MAX / 512 + 2, 8 },
            { 24, 0, 4 },
            { 24, 2049, 4 },
            { 28, 6, 4 },
            { 28, kinds[k] == BLM_CLASSIC ? 1 : 0, 4 },
            { 32, 0, 4 },
            { 32, 2, 4 },
            { 32, kinds[k] == BLM_COUNTING ? 1 : 4, 4 },
            { 36, 17, 4 },
            { 36, 200, 4 },
            { 48, nan, 8 },
            { 48, one, 8 },
            { 48, minus, 8 },
            { 80, 0, 8 },
            { 88, 8, 8 },
            { 96, 2, 8 },
            { 104, 0, 8 },
            { 112, 0, 8 },
            { 120, 0, 8 },
        };
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            blm_error  e  = { .text = "" };
            blm_status st = record_patched(b, rows[i].where, rows[i].value, rows[i].size, &e);
            if (st != BLM_E_FORMAT && st != BLM_E_LIMIT)
                fail_msg("kind %zu row %zu: %s %s", k, i, blm_status_name(st), e.text);
        }
        free(b.p);
        blm_free(f);
    }
}

/* Layers that cannot be added to, that forget, or that are counted, would not do what a scalable filter
 * does with its layers. */
static void scalable_layers_are_plain_bits(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_COUNTING, BLM_WINDOW, BLM_CUCKOO };
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        blm_options o  = BLM_OPTIONS_INIT;
        o.kind         = kinds[k];
        o.items        = 100;
        o.rate         = 0.01;
        blm_filter  *f = make(&o), *g = NULL;
        struct bytes b     = encoded(f);
        uint32_t     block = blm__get32le(b.p + 48), slot = blm__get32le(b.p + 52);
        blm_error    e;
        blm__put32le(b.p + 60, BLM_SCALABLE - 1); /* kinds count from 0 there */
        for (unsigned s = 0; s < 2; s++) {        /* rate, growth, tightening, cap */
            static const double numbers[] = { 0.5, 2, 0.5, 0.5 };
            for (size_t i = 0; i < COUNT_OF(numbers); i++)
                blm__put64le(b.p + block + s * slot + 64 + 8 * i, blm__f64_bits(numbers[i]));
        }
        seal_head(b.p);
        seal_slots(b.p);
        assert_status(decode(&b, &g, &e), BLM_E_FORMAT);
        assert_non_null(strstr(e.text, "plain bits"));
        free(b.p);
        blm_free(f);
    }
}

static void bits_past_the_last_are_refused(void **state)
{
    (void)state;
    blm_options o  = BLM_OPTIONS_INIT;
    o.bits         = 100;
    o.probes       = 3;
    blm_filter  *f = make(&o), *g = NULL;
    struct bytes b = encoded(f);
    b.p[2048 + 15] |= 0x80; /* bit 127 */
    uint64_t sum = blm__checksum(b.p + 2048, 16);
    blm__put64le(b.p + 2048 + 16, sum);
    blm_error e;
    assert_status(decode(&b, &g, &e), BLM_E_FORMAT);
    assert_int_equal(e.offset, 2048 + 8);
    free(b.p);
    blm_free(f);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_named),
        cmocka_unit_test(what_follows_is_not_ours),
        cmocka_unit_test(every_bit_flip_is_found),
        cmocka_unit_test(regions_that_change_places_are_found),
        cmocka_unit_test(newer_files_are_refused),
        cmocka_unit_test(impossible_headers_are_refused),
        cmocka_unit_test(impossible_slots_are_refused),
        cmocka_unit_test(impossible_layers_are_refused),
        cmocka_unit_test(scalable_layers_are_plain_bits),
        cmocka_unit_test(bits_past_the_last_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
