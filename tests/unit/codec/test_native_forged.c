/* SPDX-License-Identifier: MIT */
/* The native format as bytes: files that were forged with checksums that match, files of several
 * layers under a limit, attached bytes, and more regions than one read takes. */
#include "unit/codec/native.h"

/* ---- marks ---- */

/* A file that its writer did not close may have marks; 2 is the largest. */
static void marks_are_0_to_2(void **state)
{
    (void)state;
    blm_filter  *f = tiny(), *g = NULL;
    struct bytes b     = encoded(f);
    uint64_t     marks = blm__get64le(b.p + 3 * 512 + 112);
    blm_error    e;
    b.p[marks] = 1;
    assert_status(decode(&b, &g, &e), BLM_E_FORMAT);
    check_error(&e, BLM_E_FORMAT, "a closed file has a mark");
    assert_int_equal(e.offset, marks);
    for (unsigned i = 0; i < 2; i++)
        b.p[512 + 512 * i + 32] = BLM__SLOT_WRITER;
    seal_slots(b.p);
    for (uint8_t mark = 0; mark < 4; mark++) {
        b.p[marks] = mark;
        assert_status(decode(&b, &g, &e), mark < 3 ? BLM_OK : BLM_E_FORMAT);
        blm_free(g);
        g = NULL;
    }
    check_error(&e, BLM_E_FORMAT, "the mark is invalid");
    assert_int_equal(e.offset, marks);
    free(b.p);
    blm_free(f);
}

/* A writer that does not move what it has. */
static bool put_in_room(void *ctx, const void *p, size_t len)
{
    struct bytes *b = ctx;
    memcpy(b->p + b->len, p, len);
    b->len += len;
    return true;
}

/* 33 MiB: as many marks as are not read at once. */
static void more_than_512_regions(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = (uint64_t)33 << 23;
    o.probes      = 3;
    blm_filter *f = make(&o), *g = NULL;
    add_range(f, 0, 100);
    uint64_t     size;
    struct bytes b = { 0 };
    blm_error    e;
    assert_status(blm_encoded_size(f, NULL, &size, &e), BLM_OK);
    b.p = malloc((size_t)size);
    assert_non_null(b.p);
    assert_status(blm_encode(f, NULL, put_in_room, &b, &e), BLM_OK);
    assert_status(decode(&b, &g, &e), BLM_OK);
    assert_true(same_bits(f, g));
    blm_free(g);
    uint64_t marks   = blm__get64le(b.p + 3 * 4096 + 112);
    b.p[marks + 520] = 1;
    assert_status(decode(&b, &g, &e), BLM_E_FORMAT);
    assert_int_equal(e.offset, marks + 520);
    free(b.p);
    blm_free(f);
}

/* ---- limits ---- */

static void a_limit_counts_all_layers(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_SCALABLE;
    o.items       = 100;
    o.rate        = 0.01;
    blm_filter *f = make(&o), *g = NULL;
    add_range(f, 0, 150);
    assert_int_equal(params_of(f).layers, 2);
    struct bytes b     = encoded(f);
    uint64_t     first = layer_of(f, 0).bytes, second = layer_of(f, 1).bytes;
    const struct {
        uint64_t    most;
        blm_status  want;
        const char *word;
    } rows[] = {
        { first - 8, BLM_E_LIMIT, "more than the limit" },
        { first, BLM_E_LIMIT, "with layer 1 there are more" },
        { first + second - 8, BLM_E_LIMIT, "more than the limit" },
        { first + second, BLM_OK, "" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_error e = { .text = "" };
        o           = (blm_options)BLM_OPTIONS_INIT;
        o.max_bytes = rows[i].most;
        assert_status(blm_decode(b.p, b.len, &o, &g, &e), rows[i].want);
        if (rows[i].want != BLM_OK)
            check_error(&e, rows[i].want, rows[i].word);
        blm_free(g);
        g = NULL;
    }
    free(b.p);
    blm_free(f);
}

/* ---- attached bytes ---- */

/* A dcso filter with ten bytes behind it, in a native file. */
static struct bytes with_attached(blm_filter **f)
{
    blm_options  o = BLM_OPTIONS_INIT;
    struct bytes b = { 0 };
    blm_error    e = { .text = "" };
    o.scheme       = "dcso";
    o.items        = 20;
    o.rate         = 0.1;
    blm_filter *g  = make(&o);
    assert_status(blm_encode(g, "dcso", bytes_add, &b, NULL), BLM_OK);
    blm_free(g);
    bytes_add(&b, "0123456789", 10);
    if (decode(&b, f, &e) != BLM_OK)
        fail_msg("%s", e.text);
    free(b.p);
    b = (struct bytes){ 0 };
    assert_status(blm_encode(*f, "native", bytes_add, &b, NULL), BLM_OK);
    return b;
}

static void attached_bytes_come_whole_or_not(void **state)
{
    (void)state;
    blm_filter  *f, *g = NULL;
    struct bytes b  = with_attached(&f);
    blm_options  o  = BLM_OPTIONS_INIT;
    blm_status   st = BLM_E_MEMORY;
    blm_error    e;
    o.max_bytes = 9;
    assert_status(blm_decode(b.p, b.len, &o, &g, &e), BLM_E_LIMIT);
    for (size_t len = 3 * 512; len < 3 * 512 + 10; len++) {
        struct bytes cut = { .p = b.p, .len = len };
        assert_status(decode(&cut, &g, &e), BLM_E_TRUNCATED);
    }
    b.p[3 * 512 + 4] ^= 1;
    assert_status(decode(&b, &g, &e), BLM_E_CHECKSUM);
    assert_int_equal(e.offset, 3 * 512);
    b.p[3 * 512 + 4] ^= 1;
    for (uint64_t n = 0; st != BLM_OK; n++) {
        struct meter  m = { .fail_at = n };
        blm_allocator a = meter_allocator(&m);
        o.max_bytes     = 0;
        o.allocator     = &a;
        st              = blm_decode(b.p, b.len, &o, &g, &e);
        assert_true(st == BLM_OK || st == BLM_E_MEMORY);
        m.fail_at = UINT64_MAX;
        blm_free(g);
        g = NULL;
        assert_int_equal(m.live, 0);
    }
    free(b.p);
    blm_free(f);
}

/* ---- out ---- */

/* What could not be read again is not written. */
static void a_body_that_is_none_is_not_written(void **state)
{
    (void)state;
    blm_filter  *f = tiny();
    struct bytes b = { 0 };
    blm_error    e;
    double       rate = f->body.rate;
    f->body.rate      = 2;
    assert_status(blm_encode(f, NULL, bytes_add, &b, &e), BLM_E_FORMAT);
    check_error(&e, BLM_E_FORMAT, "a rate that is not between");
    assert_int_equal(b.len, 0);
    f->body.rate = rate;
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_0_to_2),
        cmocka_unit_test(more_than_512_regions),
        cmocka_unit_test(a_limit_counts_all_layers),
        cmocka_unit_test(attached_bytes_come_whole_or_not),
        cmocka_unit_test(a_body_that_is_none_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
