/* SPDX-License-Identifier: MIT */
/* Deltas written by hand, with checksums that match: what blm_patch refuses, at which byte, and in
 * which words. test_delta.c has the true ones. */
#include "unit/support.h"

#include "api/delta.h"
#include "bloomery/delta.h"
#include "unit/files.h"

/* ---- writing one ---- */

static struct bytes begin(const blm_filter *base, uint32_t before, uint32_t after)
{
    struct bytes d = { 0 };
    uint8_t      h[BLM__DELTA_HEADER];
    memset(h, 0, sizeof h);
    memcpy(h, BLM__DELTA_MAGIC, 8);
    blm__put32le(h + 8, BLM__DELTA_VERSION);
    blm__put32le(h + 12, before);
    assert_status(blm_fingerprint(base, h + 16), BLM_OK);
    blm__put32le(h + 48, after);
    blm__put64le(h + 56, blm__f64_bits(base->body.rate));
    blm__put64le(h + 64, blm__f64_bits(base->body.rate_cap));
    blm__put64le(h + BLM__DELTA_SUM, blm__checksum(h, BLM__DELTA_SUM));
    bytes_add(&d, h, sizeof h);
    return d;
}

static void frame(struct bytes *d, uint32_t type, uint64_t place, const void *payload, uint32_t len)
{
    uint8_t f[BLM__FRAME_FRONT + 256 + 8];
    assert_true(len <= 256);
    blm__put32le(f, type);
    blm__put32le(f + 4, len);
    blm__put64le(f + 8, place);
    if (len)
        memcpy(f + BLM__FRAME_FRONT, payload, len);
    blm__put64le(f + BLM__FRAME_FRONT + len, blm__checksum(f, BLM__FRAME_FRONT + len));
    bytes_add(d, f, BLM__FRAME_FRONT + len + 8);
}

static void layer_frame(struct bytes *d, uint64_t place, const struct blm__shape *s)
{
    uint8_t b[BLM__DELTA_LAYER] = { 0 };
    blm__put64le(b + 8, s->bits);
    blm__put32le(b + 16, s->kind - 1u);
    blm__put32le(b + 20, s->rule);
    blm__put32le(b + 24, s->probes);
    blm__put32le(b + 28, s->lines);
    blm__put32le(b + 32, s->cell_bits);
    blm__put64le(b + 40, s->capacity);
    blm__put64le(b + 48, blm__f64_bits(s->rate));
    blm__put64le(b + 56, s->variant);
    blm__put64le(b + 64, s->aux[0]);
    blm__put64le(b + 72, s->aux[1]);
    frame(d, BLM__FRAME_LAYER, place, b, sizeof b);
}

/* Refused in its last frame. Takes the delta. */
static void refused(const blm_filter *base, struct bytes *d, blm_status want, const char *word)
{
    blm_filter *g = NULL;
    blm_error   e = { .text = "" };
    uint64_t    last;
    for (uint64_t at = last = BLM__DELTA_HEADER; at < d->len;
         at += BLM__FRAME_FRONT + blm__get32le(d->p + at + 4) + 8)
        last = at;
    blm_status st = blm_patch(base, bytes_get, d, &g, &e);
    assert_null(g);
    check_error(&e, want, word);
    assert_int_equal(st, want);
    assert_int_equal(e.offset, last);
    free(d->p);
}

static blm_filter *made(blm_kind kind, uint32_t lines)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = kind;
    o.items       = 100;
    o.rate        = 0.01;
    o.lines       = lines;
    return make(&o);
}

/* ---- layers ---- */

static void wrong_numbers_of_layers(void **state)
{
    (void)state;
    blm_filter       *f = made(BLM_CLASSIC, 0), *g = NULL;
    struct blm__shape s = f->body.layers[0].shape;
    blm_error         e;
    struct bytes      d = begin(f, 2, 2); /* the base's own fingerprint, but it has one layer */
    assert_status(blm_patch(f, bytes_get, &d, &g, &e), BLM_E_FORMAT);
    check_error(&e, BLM_E_FORMAT, "wrong number of layers");
    assert_int_equal(e.offset, 12);
    free(d.p);
    d = begin(f, 1, 1);
    layer_frame(&d, 0, &s);
    layer_frame(&d, 1, &s);
    refused(f, &d, BLM_E_FORMAT, "layers out of order");
    d = begin(f, 1, 2);
    layer_frame(&d, 0, &s);
    layer_frame(&d, 1, &s);
    refused(f, &d, BLM_E_FORMAT, "does not grow");
    blm_free(f);
}

/* Changes that leave a shape a shape, but not the base's. */
static void to_classic(struct blm__shape *s)
{
    s->kind  = BLM_CLASSIC;
    s->rule  = BLM__CHAIN;
    s->lines = 0;
}
static void to_short(struct blm__shape *s) { s->rule = BLM__SHORT; }
static void to_two_lines(struct blm__shape *s) { s->lines = 2; }
static void to_wider_cells(struct blm__shape *s) { s->cell_bits++; }
static void to_longer_window(struct blm__shape *s) { s->aux[0]++; }

static void other_layers(void **state)
{
    (void)state;
    static const struct {
        blm_kind kind;
        uint32_t lines;
        void (*change)(struct blm__shape *s);
    } rows[] = {
        { BLM_BLOCKED, 1, to_classic },      { BLM_BLOCKED, 1, to_short },
        { BLM_BLOCKED, 1, to_two_lines },    { BLM_CUCKOO, 0, to_wider_cells },
        { BLM_WINDOW, 1, to_longer_window },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_filter       *f = made(rows[i].kind, rows[i].lines);
        struct blm__shape s = f->body.layers[0].shape;
        struct bytes      d = begin(f, 1, 1);
        rows[i].change(&s);
        layer_frame(&d, 0, &s);
        refused(f, &d, BLM_E_FORMAT, "layer 0 is not the filter's");
        blm_free(f);
    }
}

/* What the scheme itself says is no filter of it. */
static void layers_that_their_scheme_refuses(void **state)
{
    (void)state;
    blm_options o       = BLM_OPTIONS_INIT;
    o.scheme            = "bip37";
    o.items             = 10;
    o.rate              = 0.01;
    blm_filter       *f = make(&o);
    struct blm__shape s = f->body.layers[0].shape;
    struct bytes      d = begin(f, 1, 1);
    s.variant           = 256;
    layer_frame(&d, 0, &s);
    refused(f, &d, BLM_E_FORMAT, "its flags are one byte");
    blm_free(f);
}

/* A new layer that alone may be, but not together with what the filter has. */
static void growth_counts_what_there_is(void **state)
{
    (void)state;
    blm_options o       = BLM_OPTIONS_INIT;
    o.kind              = BLM_SCALABLE;
    o.items             = 100;
    o.rate              = 0.01;
    o.layer_classic     = true;
    blm_filter       *f = make(&o);
    struct blm__shape s = f->body.layers[0].shape;
    struct bytes      d = begin(f, 1, 2);
    layer_frame(&d, 0, &s);
    s.bits = f->body.layers[0].word_count * BLM__DELTA_GROWTH * 64;
    layer_frame(&d, 1, &s);
    refused(f, &d, BLM_E_LIMIT, "4096 times");
    blm_free(f);
}

/* ---- bits ---- */

static void forged_bits(void **state)
{
    (void)state;
    static const uint8_t endless[10] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 };
    static const uint8_t one[1] = { 5 }, word[8] = { 0, 0, 0, 0, 0, 0, 0, 0x80 };
    blm_options          o = BLM_OPTIONS_INIT;
    o.bits                 = 100;
    o.probes               = 3;
    blm_filter       *f    = make(&o);
    struct blm__shape s    = f->body.layers[0].shape;
    struct bytes      d    = begin(f, 1, 1);
    layer_frame(&d, 0, &s);
    frame(&d, BLM__FRAME_FLIPS, 0, NULL, 0);
    refused(f, &d, BLM_E_FORMAT, "bits out of order");
    d = begin(f, 1, 1);
    layer_frame(&d, 0, &s);
    frame(&d, BLM__FRAME_FLIPS, 0, one, sizeof one);
    frame(&d, BLM__FRAME_FLIPS, 5, one, sizeof one); /* bit 5 was the last: 6 could follow */
    refused(f, &d, BLM_E_FORMAT, "bits out of order");
    d = begin(f, 1, 1);
    layer_frame(&d, 0, &s);
    frame(&d, BLM__FRAME_FLIPS, 0, endless, sizeof endless);
    refused(f, &d, BLM_E_FORMAT, "a gap that does not end");
    d = begin(f, 1, 1);
    layer_frame(&d, 0, &s);
    frame(&d, BLM__FRAME_WORDS, 1, word, sizeof word); /* bit 127 of 100 */
    frame(&d, BLM__FRAME_END, 1, NULL, 0);
    refused(f, &d, BLM_E_FORMAT, "bits past the last one of layer 0");
    blm_free(f);
}

/* ---- the ends ---- */

static void what_is_missing_is_named(void **state)
{
    (void)state;
    blm_filter       *f = made(BLM_CLASSIC, 0), *g = NULL;
    struct blm__shape s = f->body.layers[0].shape;
    struct bytes      d = begin(f, 1, 1);
    blm_error         e;
    assert_status(blm_patch(NULL, bytes_get, &d, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_patch(f, NULL, &d, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_patch(f, bytes_get, &d, NULL, &e), BLM_E_ARGUMENT);
    layer_frame(&d, 0, &s);
    frame(&d, BLM__FRAME_END, 1, NULL, 0);
    d.at     = 0;
    d.broken = true; /* the reader fails where the end should be */
    assert_status(blm_patch(f, bytes_get, &d, &g, &e), BLM_E_IO);
    assert_int_equal(e.offset, d.len);
    assert_null(g);
    free(d.p);
    blm_free(f);
}

static void the_last_piece_is_empty(void **state)
{
    (void)state;
    blm_filter       *f = made(BLM_CLASSIC, 0);
    struct blm__shape s = f->body.layers[0].shape;
    static const struct {
        uint64_t place;
        uint32_t len;
    } ends[] = { { 1, 1 }, { 0, 0 }, { 2, 0 } };
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct bytes d = begin(f, 1, 1);
        layer_frame(&d, 0, &s);
        frame(&d, BLM__FRAME_END, ends[i].place, "x", ends[i].len);
        refused(f, &d, BLM_E_FORMAT, "ends too early");
    }
    struct bytes d = begin(f, 1, 1);
    frame(&d, BLM__FRAME_END, 0, NULL, 0);
    refused(f, &d, BLM_E_FORMAT, "ends too early");
    blm_free(f);
}

/* The base is already what the delta makes: a copy is given, unless there is no memory for one. */
static void a_copy_may_find_no_memory(void **state)
{
    (void)state;
    struct meter  m = { .fail_at = UINT64_MAX };
    blm_allocator a = meter_allocator(&m);
    blm_options   o = BLM_OPTIONS_INIT;
    o.items         = 100;
    o.rate          = 0.01;
    o.allocator     = &a;
    blm_filter  *f = make(&o), *g = NULL;
    struct bytes d = begin(f, 1, 1);
    blm_error    e;
    memcpy(d.p + 32, d.p + 16, 16); /* where it leads is where we are, … */
    d.p[16] ^= 1;                   /* … and it comes from elsewhere */
    blm__put64le(d.p + BLM__DELTA_SUM, blm__checksum(d.p, BLM__DELTA_SUM));
    assert_status(blm_patch(f, bytes_get, &d, &g, &e), BLM_PRESENT);
    assert_non_null(g);
    blm_free(g);
    d.at      = 0;
    m.fail_at = m.calls;
    assert_status(blm_patch(f, bytes_get, &d, &g, &e), BLM_E_MEMORY);
    assert_null(g);
    m.fail_at = UINT64_MAX;
    free(d.p);
    blm_free(f);
    assert_int_equal(m.live, 0);
}

static void a_base_that_is_behind_its_file(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_SCALABLE, 100);
    blm_filter *w = create_at(at("f"), &o), *r, *g = NULL;
    blm_error   e;
    add_range(w, 0, 50);
    assert_status(blm_sync(w, NULL), BLM_OK);
    r              = open_at(at("f"), 0);
    struct bytes d = begin(r, 1, 1);
    add_range(w, 50, 1000);
    assert_true(params_of(w).layers > 1);
    assert_status(blm_patch(r, bytes_get, &d, &g, &e), BLM_E_BUSY);
    check_error(&e, BLM_E_BUSY, "blm_refresh");
    free(d.p);
    blm_free(r);
    close_well(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_numbers_of_layers),
        cmocka_unit_test(other_layers),
        cmocka_unit_test(layers_that_their_scheme_refuses),
        cmocka_unit_test(growth_counts_what_there_is),
        cmocka_unit_test(forged_bits),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(the_last_piece_is_empty),
        cmocka_unit_test(a_copy_may_find_no_memory),
        file_test(a_base_that_is_behind_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
