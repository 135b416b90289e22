/* SPDX-License-Identifier: MIT */
/* The native format as bytes: what must not get in. */
#include <math.h>

#include "core/checksum.h"
#include "store/layout.h"
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
        { 12, 1024, 4, BLM_E_FORMAT },
        { 48, 0, 4, BLM_E_FORMAT },
        { 48, 4096, 4, BLM_E_FORMAT },
        { 52, 1024, 4, BLM_E_FORMAT },
        { 52, 0xffffffff, 4, BLM_E_FORMAT },
        { 56, 0, 4, BLM_E_FORMAT },
        { 56, 257, 4, BLM_E_FORMAT },
        { 56, 2, 4, BLM_E_FORMAT },
        { 60, 4, 4, BLM_E_FORMAT },
        { 60, 1, 4, BLM_E_FORMAT },
        { 60, 0xffffffff, 4, BLM_E_FORMAT },
        { 100, 3, 4, BLM_E_UNSUPPORTED },
        { 100, 1, 4, BLM_E_FORMAT },
        { 104, 0, 1, BLM_E_FORMAT },
        { 104, 0x7878787878787878u, 8, BLM_E_FORMAT },
        { 136, 3, 4, BLM_E_FORMAT },
        { 144, 1, 8, BLM_E_FORMAT },
        { 144, UINT64_MAX, 8, BLM_E_FORMAT },
        { 144, 1u << 31, 8, BLM_E_TRUNCATED },
        { 96, 0, 4, BLM_E_FORMAT },
        { 160, 'x', 1, BLM_E_UNSUPPORTED },
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

/* The file of a filter with blocks of this size, and room for so many layers. */
static struct bytes laid_out(const blm_filter *f, uint32_t block, uint32_t room)
{
    const struct blm__layer   *l = &f->body.layers[0];
    struct blm__native_head    h;
    struct blm__native_slot    slot = { .generation = 1 };
    struct blm__native_section s;
    struct bytes               b = { 0 };
    assert_status(blm__native_head_of(&f->body, &l->shape, &h, NULL), BLM_OK);
    h.block      = block;
    h.room       = room;
    h.slot_bytes = (uint32_t)blm__align(136 + 16 * room, block);
    blm__native_slot_of(&f->body, &slot);
    slot.layer[0].at    = blm__native_first(&h);
    slot.layer[0].items = blm__layer_items(l);
    assert_true(blm__native_place(&l->shape, slot.layer[0].at, block, &s));
    slot.length = s.end;
    s.live      = slot.layer[0].items;
    b.len       = (size_t)s.end;
    b.p         = calloc(1, b.len);
    blm__native_put_head(&h, b.p);
    for (unsigned i = 0; i < 2; i++)
        blm__native_put_slot(&h, &slot, b.p + blm__native_slot_at(&h, i));
    blm__native_put_record(&s, b.p + s.at);
    memcpy(b.p + s.words_at, l->words, (size_t)s.words_len);
    for (uint64_t r = 0; r < s.regions; r++) {
        uint64_t sum = blm__checksum(b.p + s.words_at + (r << s.region_log2),
                                     (size_t)blm__native_region_bytes(&s, r));
        blm__put64le(b.p + s.sums_at + 8 * r, blm__native_region_sum(sum, r));
    }
    return b;
}

/* Block and room follow from the filter: no other values are read, in bytes or in a file. */
static void the_layout_is_the_filters_own(void **state)
{
    (void)state;
    static const struct {
        blm_kind kind;
        uint64_t items;
        double   growth;
        uint32_t block, room;
    } rows[] = {
        { BLM_CLASSIC, 100, 0, 512, 1 },    { BLM_CLASSIC, 100000, 0, 4096, 1 },
        { BLM_SCALABLE, 100, 2, 512, 256 }, { BLM_SCALABLE, 100000, 2, 4096, 256 },
        { BLM_CUCKOO, 100, 0, 512, 1 },     { BLM_CUCKOO, 100, 2, 512, 256 },
    };
    static const uint32_t rooms[] = { 1, 2, 256 };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = rows[i].kind;
        o.items       = rows[i].items;
        o.rate        = 0.01;
        o.growth      = rows[i].growth;
        blm_filter *f = make(&o);
        add_range(f, 0, 50);
        for (uint32_t block = 512; block <= 4096; block *= 8)
            for (size_t j = 0; j < COUNT_OF(rooms); j++) {
                struct bytes b    = laid_out(f, block, rooms[j]);
                bool         good = block == rows[i].block && rooms[j] == rows[i].room;
                blm_filter  *g    = NULL;
                blm_error    e    = { .text = "" };
                if (decode(&b, &g, &e) != (good ? BLM_OK : BLM_E_FORMAT))
                    fail_msg("row %zu, block %u, room %u: %s", i, block, rooms[j], e.text);
                assert_true(good || e.offset == (rooms[j] == rows[i].room ? 48u : 56u));
                blm_free(g);
                spit(at("laid.blm"), b.p, b.len);
                assert_status(blm_open(at("laid.blm"), NULL, &g, &e), good ? BLM_OK : BLM_E_FORMAT);
                blm_free(g);
                unlink(at("laid.blm"));
                free(b.p);
            }
        blm_free(f);
    }
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

/* Every byte that no table of docs/formats/native.md names, under a checksum that matches. */
static void bytes_without_a_meaning_are_0(void **state)
{
    (void)state;
    blm_filter  *f      = tiny();
    struct bytes b      = encoded(f);
    uint64_t     record = 3 * 512;
    blm_error    e;
    for (size_t i = 0; i < 504; i++)
        if ((i >= 140 && i < 144) || i >= 192) {
            assert_status(patched(b, i, 1, 1, &e), BLM_E_FORMAT);
            assert_int_equal(e.offset, i);
        }
    for (size_t i = 0; i < 504; i++)
        if ((i >= 36 && i < 40) || (i >= 96 && i < 128) || i >= 144) {
            assert_status(slot_patched(b, i, 1, 1, &e), BLM_E_FORMAT);
            assert_int_equal(e.offset, 512 + i);
        }
    for (size_t i = 128; i < 184; i++) {
        assert_status(record_patched(b, i, 1, 1, &e), BLM_E_FORMAT);
        assert_int_equal(e.offset, record + i);
    }
    assert_status(patched(b, 152, 1, 8, &e), BLM_E_FORMAT);
    assert_int_equal(e.offset, 152);
    assert_status(slot_patched(b, 32, 2, 4, &e), BLM_E_FORMAT); /* shared by no writer */
    assert_int_equal(e.offset, 512 + 32);
    for (size_t i = 40; i < 64; i++) { /* boot and process of no writer */
        assert_status(slot_patched(b, i, 1, 1, &e), BLM_E_FORMAT);
        assert_int_equal(e.offset, 512 + 40);
    }
    /* Features that we may ignore may have bytes of their own. */
    b.p[24] = 1;
    seal_head(b.p);
    assert_status(patched(b, 300, 1, 1, &e), BLM_OK);
    assert_status(slot_patched(b, 100, 1, 1, &e), BLM_OK);
    assert_status(record_patched(b, 130, 1, 1, &e), BLM_OK);
    free(b.p);
    blm_free(f);
}

/* The scheme's variant was written as it was asked for, once, by a library that did not refuse it. */
static void a_native_variant_is_read(void **state)
{
    (void)state;
    blm_filter  *f = tiny();
    struct bytes b = encoded(f);
    blm_error    e;
    assert_status(record_patched(b, 56, 7, 8, &e), BLM_OK);
    free(b.p);
    blm_free(f);
}

/* Values of formats that the layers did not come from. */
static void values_of_native_layers(void **state)
{
    (void)state;
    static const struct {
        blm_kind kind;
        uint64_t most; /* of the first value */
    } rows[] = { { BLM_CLASSIC, 0 },
                 { BLM_BLOCKED, 0 },
                 { BLM_COUNTING, 0 },
                 { BLM_CUCKOO, 0 },
                 { BLM_SCALABLE, 1 } };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o  = BLM_OPTIONS_INIT;
        o.kind         = rows[i].kind;
        o.items        = 100;
        o.rate         = 0.01;
        blm_filter  *f = make(&o);
        struct bytes b = encoded(f);
        blm_error    e;
        for (uint64_t v = 0; v < 3; v++)
            assert_status(record_patched(b, 64, v, 8, &e),
                          v <= rows[i].most ? BLM_OK : BLM_E_FORMAT);
        assert_non_null(strstr(e.text, "values of another format"));
        assert_status(record_patched(b, 72, 1, 8, &e), BLM_E_FORMAT);
        free(b.p);
        blm_free(f);
    }
}

/* A seed that its scheme cannot have: its own format would lose it, and with it every key. */
static void seeds_of_schemes_without(void **state)
{
    (void)state;
    static const struct {
        const char *scheme;
        uint32_t    probes, origin;
        uint64_t    first, second, offset;
    } rows[] = {
        { "native", 3, 0, 5, 0, 136 },       { "native", 3, 0, 0, 5, 136 },
        { "spark1", 3, 2, 5, 0, 120 },       { "spark1", 3, 2, 0, 0, 120 },
        { "spark1", 3, 0, 5, 0, 136 },       { "spark2", 3, 2, (uint64_t)1 << 32, 0, 120 },
        { "spark2", 3, 2, 5, 1, 120 },       { "bip37", 3, 2, (uint64_t)1 << 32, 0, 120 },
        { "bkdr", 3, 2, 33, 0, UINT64_MAX }, { "spark2", 3, 2, UINT32_MAX, 0, 0 },
        { "bip37", 3, 2, UINT32_MAX, 0, 0 }, { "bkdr", 1, 2, UINT64_MAX, 7, 0 },
        { "bkdr", 3, 0, 0, 0, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options  o = BLM_OPTIONS_INIT;
        struct bytes b = { 0 };
        blm_filter  *g = NULL;
        blm_error    e = { .text = "" };
        o.kind         = BLM_CLASSIC;
        o.scheme       = rows[i].scheme;
        o.bits         = 256;
        o.probes       = rows[i].probes;
        blm_filter *f  = make(&o);
        assert_status(blm_encode(f, "native", bytes_add, &b, NULL), BLM_OK);
        blm__put64le(b.p + 120, rows[i].first);
        blm__put64le(b.p + 128, rows[i].second);
        blm__put32le(b.p + 136, rows[i].origin);
        seal_head(b.p);
        blm_status st = decode(&b, &g, &e);
        if (st != (rows[i].offset ? BLM_E_FORMAT : BLM_OK))
            fail_msg("row %zu: %s", i, e.text);
        if (rows[i].offset)
            assert_int_equal(e.offset, rows[i].offset);
        blm_free(g);
        blm_free(f);
        free(b.p);
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
        struct bytes b     = laid_out(f, 512, BLM__MAX_LAYERS);
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
        file_test(the_layout_is_the_filters_own),
        cmocka_unit_test(impossible_slots_are_refused),
        cmocka_unit_test(impossible_layers_are_refused),
        cmocka_unit_test(bytes_without_a_meaning_are_0),
        cmocka_unit_test(a_native_variant_is_read),
        cmocka_unit_test(values_of_native_layers),
        cmocka_unit_test(seeds_of_schemes_without),
        cmocka_unit_test(scalable_layers_are_plain_bits),
        cmocka_unit_test(bits_past_the_last_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
