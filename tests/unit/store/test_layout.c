/* SPDX-License-Identifier: MIT */
/* The fields of a native file, each forged with checksums that match: the status, and the byte that
 * is named. What no file can hold is asked of the functions themselves. */
#include "unit/support.h"

#include "engine/shape.h"
#include "unit/files.h"

static blm_filter *plain(const char *scheme)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_CLASSIC;
    o.scheme      = scheme;
    o.items       = 20;
    o.rate        = 0.1;
    return make(&o);
}

/* In a native file, also what has a format of its own. */
static struct bytes native(const blm_filter *f)
{
    struct bytes b = { 0 };
    assert_status(blm_encode(f, "native", bytes_add, &b, NULL), BLM_OK);
    return b;
}

struct forgery {
    size_t      where;
    const char *bytes;
    size_t      len;
    blm_status  want;
    uint64_t    offset;
    const char *word;
};
#define F(where, bytes, want, offset, word)                  \
    {                                                        \
        where, bytes, sizeof(bytes) - 1, want, offset, word, \
    }

static void refused(struct bytes b, const struct forgery *row)
{
    uint8_t    *copy = malloc(b.len);
    blm_filter *g    = NULL;
    blm_error   e    = { .text = "" };
    memcpy(copy, b.p, b.len);
    memcpy(copy + row->where, row->bytes, row->len);
    seal_head(copy);
    seal_slots(copy);
    seal_record(copy + blm__get64le(copy + blm__get32le(copy + 48) + 128));
    blm_status st = blm_decode(copy, b.len, NULL, &g, &e);
    if (st != row->want || e.offset != row->offset || !strstr(e.text, row->word))
        fail_msg("byte %zu: %s at %llu, \"%s\"; not %s at %llu with \"%s\"", row->where,
                 blm_status_name(st), (unsigned long long)e.offset, e.text,
                 blm_status_name(row->want), (unsigned long long)row->offset, row->word);
    blm_free(g);
    free(copy);
}

static void forged_fields_are_named(void **state)
{
    (void)state;
    static const struct forgery rows[] = {
        F(64, "nat\x7fve", BLM_E_FORMAT, 64, "scheme or funnel"),
        F(64, "thirty-two-characters-and-no-end", BLM_E_FORMAT, 64, "scheme or funnel"),
        F(64, "guava64", BLM_E_VERSION, 96, "version"),
        F(104, "\0\0\0\0", BLM_E_FORMAT, 104, "name of hash"),
        F(104, "sixteen-no-zero!", BLM_E_FORMAT, 104, "name of hash"),
        /* siphash, in a version that has its own hash */
        F(100, "\1\0\0\0siphash", BLM_E_FORMAT, 96, "no version"),
        F(160, "x", BLM_E_UNSUPPORTED, 160, "no funnel x"),
        F(512 + 32, "\x10", BLM_E_FORMAT, 512 + 32, "unknown flags"),
        F(512 + 32, "\x0c", BLM_E_FORMAT, 512 + 32, "unknown flags"), /* saves, and no writer */
        F(1024 + 512, "\xff", BLM_E_FORMAT, 1024 + 512, "kind of layer 0"),
    };
    blm_filter  *f = plain(NULL);
    struct bytes b = native(f);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        refused(b, &rows[i]);
    free(b.p);
    blm_free(f);
}

/* Names that other schemes have: a funnel that is none of several, a kind that is not theirs. */
static void forged_fields_of_other_schemes(void **state)
{
    (void)state;
    static const struct forgery rows[] = {
        F(160, "words", BLM_E_UNSUPPORTED, 160, "no funnel words"),
        F(60, "\2", BLM_E_FORMAT, 60, "filters of this kind"),
        F(64, "redisbloom-cf", BLM_E_FORMAT, 60, "filters of this kind"),
    };
    blm_filter  *f = plain("guava64");
    struct bytes b = native(f);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        refused(b, &rows[i]);
    b.p[60] = BLM_CUCKOO - 1; /* a kind that it has, but native files do not keep it */
    refused(b, &rows[2]);
    free(b.p);
    blm_free(f);
    /* and the last of several funnels is found */
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "guava64";
    o.funnel      = "long";
    o.items       = 20;
    o.rate        = 0.1;
    f             = make(&o);
    b             = native(f);
    blm_filter *g = NULL;
    assert_status(blm_decode(b.p, b.len, NULL, &g, NULL), BLM_OK);
    assert_string_equal(params_of(g).funnel, "long");
    blm_free(g);
    blm_free(f);
    free(b.p);
}

/* What a body cannot be, unless somebody forged that: it does not become a header. */
static void names_that_do_not_fit_are_not_written(void **state)
{
    (void)state;
    blm_filter              *f    = plain(NULL);
    struct blm__body         body = f->body;
    struct blm__shape        s    = body.layers[0].shape;
    struct blm__scheme       long_name;
    struct blm__native_head  head;
    blm_error                e;
    static const char *const text = "a name of thirty-two characters!";
    body.hasher.funnel            = text;
    assert_status(blm__native_head_of(&body, &s, &head, &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "does not fit");
    body.hasher.funnel = NULL;
    strcpy(body.hasher.name, "two words");
    assert_status(blm__native_head_of(&body, &s, &head, &e), BLM_E_UNSUPPORTED);
    body               = f->body;
    long_name          = *s.scheme;
    long_name.row.name = text;
    s.scheme           = &long_name;
    assert_status(blm__native_head_of(&body, &s, &head, &e), BLM_E_UNSUPPORTED);
    s = f->body.layers[0].shape;
    assert_status(blm__native_head_of(&f->body, &s, &head, &e), BLM_OK);
    blm_free(f);
}

#define END ((uint64_t)1 << 62)

/* 2^62 bytes are the end of every file. */
static void places_end_at_2_to_the_62(void **state)
{
    (void)state;
    blm_filter                *f = plain(NULL);
    struct blm__shape          s = f->body.layers[0].shape;
    struct blm__native_section out;
    assert_true(blm__native_place(&s, END - 2048, 512, &out));
    assert_true(out.end <= END);
    assert_false(blm__native_place(&s, END - 512, 512, &out));
    assert_false(blm__native_place(&s, END + 512, 512, &out));
    blm_free(f);
}

/* A record at a place where its layer would pass the end. */
static void records_end_at_2_to_the_62(void **state)
{
    (void)state;
    blm_filter                *f    = plain(NULL);
    struct bytes               b    = native(f);
    struct blm__native_slot    slot = { .length = END, .layer_count = 1 };
    struct blm__native_head    head;
    struct blm__native_section out;
    blm_error                  e;
    uint8_t                   *record = b.p + 3 * 512;
    assert_status(blm__native_get_head(b.p, &head, &e), BLM_OK);
    slot.layer[0].at = END - 512;
    assert_status(blm__native_get_record(&head, &slot, 0, f->body.scheme, record, &out, &e),
                  BLM_E_FORMAT);
    check_error(&e, BLM_E_FORMAT, "not where it should be");
    assert_true(e.offset == END - 512 + 80);
    free(b.p);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forged_fields_are_named),
        cmocka_unit_test(forged_fields_of_other_schemes),
        cmocka_unit_test(names_that_do_not_fit_are_not_written),
        cmocka_unit_test(places_end_at_2_to_the_62),
        cmocka_unit_test(records_end_at_2_to_the_62),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
