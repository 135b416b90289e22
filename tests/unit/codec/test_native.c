/* SPDX-License-Identifier: MIT */
/* The native format as bytes: what goes round, and what must not get in. */
#include "unit/support.h"

#include "unit/files.h"

#include <math.h>

static blm_status decode(const struct bytes *b, blm_filter **out, blm_error *e)
{
    return blm_decode(b->p, b->len, NULL, out, e);
}

/* A reader that gives its bytes in pieces of changing size, as pipes do. */
struct pipe_in {
    const uint8_t *p;
    size_t         len, at, most;
    size_t         fail_after; /* SIZE_MAX: never */
};

static size_t pipe_read(void *ctx, void *to, size_t len)
{
    struct pipe_in *in = ctx;
    if (in->at >= in->fail_after)
        return SIZE_MAX;
    size_t n = 1 + in->at * 7 % in->most;
    n        = n < len ? n : len;
    n        = n < in->len - in->at ? n : in->len - in->at;
    memcpy(to, in->p + in->at, n);
    in->at += n;
    return n;
}

static blm_status decode_pipe(const struct bytes *b, size_t most, const blm_options *o,
                              blm_filter **out, blm_error *e)
{
    struct pipe_in in = { b->p, b->len, 0, most, SIZE_MAX };
    return blm_decode_stream(pipe_read, &in, o, out, e);
}

/* One region, one block: every byte of it can be tried. */
static blm_filter *tiny(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.items       = 20;
    o.rate        = 0.1;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 7;
    blm_filter *f = make(&o);
    add_range(f, 0, 20);
    return f;
}

static void every_kind_goes_round(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 3000, 0.01, 1), *back = NULL;
        add_range(f, 0, 3000);
        struct bytes b = encoded(f), again = encoded(f);
        assert_int_equal(b.len, again.len);
        assert_memory_equal(b.p, again.p, b.len);
        blm_error e = { .text = "" };
        for (int i = 0; i < 3; i++) {
            size_t     most[] = { 1, 13, 100000 };
            blm_status st =
                i == 0 ? decode(&b, &back, &e) : decode_pipe(&b, most[i], NULL, &back, &e);
            if (st != BLM_OK)
                fail_msg("%s: %s", v->name, e.text);
            assert_true(same_bits(f, back));
            assert_true(blm_equal(f, back));
            blm_params p = params_of(f), q = params_of(back);
            assert_int_equal(p.items, q.items);
            assert_int_equal(p.layers, q.layers);
            assert_int_equal(p.capacity, q.capacity);
            assert_true(p.rate == q.rate && p.growth == q.growth && p.tightening == q.tightening);
            assert_true(p.rate_cap == q.rate_cap && p.seed_policy == q.seed_policy);
            assert_string_equal(q.format, "native");
            struct bytes third = encoded(back);
            assert_int_equal(third.len, b.len);
            assert_memory_equal(third.p, b.p, b.len);
            free(third.p);
            blm_free(back);
        }
        free(b.p);
        free(again.p);
        blm_free(f);
    }
}

static void decoded_grows_on(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_SCALABLE;
    o.items       = 100;
    o.rate        = 0.01;
    o.flags       = BLM_SEEDED;
    blm_filter *a = make(&o), *b = NULL;
    add_range(a, 0, 450);
    struct bytes bytes = encoded(a);
    assert_status(decode(&bytes, &b, NULL), BLM_OK);
    add_range(a, 450, 5000);
    add_range(b, 450, 5000);
    assert_true(same_bits(a, b));
    assert_int_equal(params_of(a).layers, params_of(b).layers);
    free(bytes.p);
    blm_free(a);
    blm_free(b);
}

static void shared_when_asked(void **state)
{
    (void)state;
    blm_filter  *f = tiny(), *g = NULL;
    struct bytes b = encoded(f);
    blm_options  o = BLM_OPTIONS_INIT;
    o.flags        = BLM_SHARED;
    assert_status(blm_decode(b.p, b.len, &o, &g, NULL), BLM_OK);
    assert_true(params_of(g).shared);
    add_range(g, 20, 30);
    assert_int_equal(missing(g, 0, 30), 0);
    blm_free(g);
    blm_free(f);
    free(b.p);
}

/* ---- from the middle ---- */

static void every_piece_is_of_the_whole(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter  *f = make_flavour(v, 3000, 0.01, 1);
        struct bytes b;
        uint64_t     size;
        add_range(f, 0, 3000);
        b = encoded(f);
        assert_status(blm_encoded_size(f, "native", &size, NULL), BLM_OK);
        assert_int_equal(size, b.len);
        for (size_t at = 0; at < b.len + 600; at += at % 509 == 0 ? 1 : 127) {
            struct bytes rest = { 0 };
            assert_status(blm_encode_from(f, "native", at, bytes_add, &rest, NULL), BLM_OK);
            assert_int_equal(rest.len, at < b.len ? b.len - at : 0);
            if (rest.len)
                assert_memory_equal(rest.p, b.p + at, rest.len);
            free(rest.p);
        }
        free(b.p);
        blm_free(f);
    }
}

struct looked {
    unsigned regions;
    size_t   left; /* bytes that are still wanted */
};

static bool look(void *ctx, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    ((struct looked *)ctx)->regions++;
    return true;
}

static bool want(void *ctx, const void *bytes, size_t len)
{
    struct looked *l = ctx;
    (void)bytes;
    l->left = len < l->left ? l->left - len : 0;
    return l->left > 0;
}

/* What a piece costs follows from what is in it, and not from where it is. */
static void a_piece_reads_what_it_gives(void **state)
{
    (void)state;
    const uint64_t region = 65536, words = 100 * region;
    struct looked  l      = { 0, 0 };
    blm_options    o      = BLM_OPTIONS_INIT;
    uint64_t       size;
    o.bits         = words * 8;
    o.probes       = 3;
    o.flags        = BLM_SEEDED;
    o.progress     = look;
    o.progress_ctx = &l;
    blm_filter *f  = make(&o);
    l.regions      = 0;
    assert_status(blm_encoded_size(f, NULL, &size, NULL), BLM_OK);
    assert_int_equal(l.regions, 0);
    for (uint64_t at = 8192; at < words; at += 17 * region) {
        l = (struct looked){ 0, region };
        assert_status(blm_encode_from(f, NULL, at, want, &l, NULL), BLM_E_IO);
        assert_in_range(l.regions, 1, 2);
    }
    /* Words, then the table of checksums, which takes a pass over all of them, then nothing. */
    unsigned seen[101] = { 0 };
    for (uint64_t at = size - 4096; at < size; at += 8) {
        l = (struct looked){ 0, 1 };
        assert_status(blm_encode_from(f, NULL, at, want, &l, NULL), BLM_E_IO);
        assert_in_range(l.regions, 0, 100);
        seen[l.regions]++;
    }
    assert_int_equal(seen[100], 100);
    assert_true(seen[0] > 0 && seen[0] + seen[1] + seen[100] == 512);
    blm_free(f);
}

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
    assert_status(patched(b, 96, 2, 4, &e), BLM_E_VERSION);              /* of the scheme */
    assert_status(patched(b, 64, 'x', 1, &e), BLM_E_UNSUPPORTED);        /* "xative" */
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
        { 160, 'x', 1, BLM_E_UNSUPPORTED },   { 161, 'x', 1, BLM_E_FORMAT },
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

/* ---- memory ---- */

/* Counts what is allocated at once. */
struct peak {
    struct meter m;
    int64_t      most;
};

static void *peak_alloc(void *ctx, size_t size)
{
    struct peak *p = ctx;
    void        *q = meter_alloc(&p->m, size);
    if (p->m.live_bytes > p->most)
        p->most = p->m.live_bytes;
    return q;
}

static void peak_free(void *ctx, void *q, size_t size)
{
    meter_free(&((struct peak *)ctx)->m, q, size);
}

static void a_claim_is_not_believed(void **state)
{
    (void)state;
    /* 2^40 bits promised, 3 KiB to 1 MiB delivered. */
    blm_options o               = BLM_OPTIONS_INIT;
    o.bits                      = 1u << 20;
    o.probes                    = 5;
    blm_filter               *f = make(&o), *g = NULL;
    struct bytes              b     = encoded(f);
    uint64_t                  first = blm__get64le(b.p + 4096 + 128);
    struct blm_native_section s;
    struct blm_shape          shape = f->body.layers[0].shape;
    shape.bits                      = (uint64_t)1 << 40;
    assert_true(blm__native_place(&shape, first, 4096, &s));
    blm__native_put_record(&s, b.p + first);
    for (int i = 0; i < 2; i++)
        blm__put64le(b.p + 4096 * (1 + i) + 16, s.end);
    seal_slots(b.p);
    b.p = realloc(b.p, 1 << 20);
    memset(b.p + b.len, 0, (1 << 20) - b.len);
    b.len = 1 << 20;
    for (size_t len = first + 256; len <= b.len;
         len        = len * 2 > b.len && len < b.len ? b.len : len * 2) {
        struct peak   peak = { .m = { .fail_at = UINT64_MAX } };
        blm_allocator a    = { &peak, peak_alloc, NULL, peak_free };
        blm_options   d    = BLM_OPTIONS_INIT;
        blm_error     e;
        d.allocator       = &a;
        struct bytes part = { .p = b.p, .len = len };
        assert_status(blm_decode(part.p, part.len, &d, &g, &e), BLM_E_TRUNCATED);
        assert_true(peak.most <= (int64_t)sizeof(blm_filter) + 4096);
        assert_status(decode_pipe(&part, 5000, &d, &g, &e), BLM_E_TRUNCATED);
        if (peak.most > 2 * (int64_t)len + 65536 + 8192)
            fail_msg("%zu bytes read, %lld allocated", len, (long long)peak.most);
        assert_int_equal(peak.m.live, 0);
    }
    free(b.p);
    blm_free(f);
}

static void a_long_stream_is_joined_right(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 8u * 900000; /* several pieces, the last one short */
    o.probes      = 4;
    blm_filter *f = make(&o), *g = NULL;
    add_range(f, 0, 100000);
    struct bytes  b    = encoded(f);
    struct peak   peak = { .m = { .fail_at = UINT64_MAX } };
    blm_allocator a    = { &peak, peak_alloc, NULL, peak_free };
    blm_options   d    = BLM_OPTIONS_INIT;
    d.allocator        = &a;
    assert_status(decode_pipe(&b, 70000, &d, &g, NULL), BLM_OK);
    assert_true(same_bits(f, g));
    assert_true(peak.most <= 2 * (int64_t)b.len + 65536);
    blm_free(g);
    assert_int_equal(peak.m.live, 0);
    free(b.p);
    blm_free(f);
}

static void caps_are_kept(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT, d = BLM_OPTIONS_INIT;
    o.kind        = BLM_SCALABLE;
    o.items       = 100;
    o.rate        = 0.01;
    blm_filter *f = make(&o), *g = NULL;
    add_range(f, 0, 1000);
    struct bytes b     = encoded(f);
    uint64_t     bytes = params_of(f).bytes;
    d.max_bytes        = bytes;
    assert_status(blm_decode(b.p, b.len, &d, &g, NULL), BLM_OK);
    blm_free(g);
    d.max_bytes = bytes - 1;
    assert_status(blm_decode(b.p, b.len, &d, &g, NULL), BLM_E_LIMIT);
    assert_status(decode_pipe(&b, 999, &d, &g, NULL), BLM_E_LIMIT);
    d.max_bytes = 1;
    assert_status(blm_decode(b.p, b.len, &d, &g, NULL), BLM_E_LIMIT);
    free(b.p);
    blm_free(f);
}

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 2000, 0.01, 3);
        add_range(f, 0, 2000);
        struct bytes b = encoded(f);
        for (int way = 0; way < 2; way++)
            for (uint64_t n = 0;; n++) {
                struct meter  m = { .fail_at = n };
                blm_allocator a = meter_allocator(&m);
                blm_options   o = BLM_OPTIONS_INIT;
                blm_filter   *g = NULL;
                blm_error     e = { .text = "" };
                o.allocator     = &a;
                o.flags         = v->flags & BLM_SHARED;
                blm_status st =
                    way ? decode_pipe(&b, 4096, &o, &g, &e) : blm_decode(b.p, b.len, &o, &g, &e);
                if (st == BLM_OK) {
                    assert_true(n > 0);
                    assert_true(same_bits(f, g));
                    blm_free(g);
                    assert_int_equal(m.live, 0);
                    break;
                }
                assert_int_equal(st, BLM_E_MEMORY);
                assert_int_equal(e.status, BLM_E_MEMORY);
                assert_null(g);
                assert_int_equal(m.live, 0);
            }
        free(b.p);
        blm_free(f);
    }
}

static void encode_may_lack_memory(void **state)
{
    (void)state;
    struct meter  m = { .fail_at = UINT64_MAX };
    blm_allocator a = meter_allocator(&m);
    blm_options   o = BLM_OPTIONS_INIT;
    o.items         = 100;
    o.rate          = 0.01;
    o.allocator     = &a;
    blm_filter  *f  = make(&o);
    struct bytes b  = { 0 };
    m.fail_at       = m.calls;
    assert_status(blm_encode(f, NULL, bytes_add, &b, NULL), BLM_E_MEMORY);
    m.fail_at = UINT64_MAX;
    blm_free(f);
    assert_int_equal(m.live, 0);
    free(b.p);
}

/* ---- callbacks ---- */

struct stopping {
    int left;
};

static bool stop_write(void *ctx, const void *p, size_t len)
{
    (void)p;
    (void)len;
    return ((struct stopping *)ctx)->left-- > 0;
}

static bool stop_progress(void *ctx, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    return ((struct stopping *)ctx)->left-- > 0;
}

static void a_sink_may_stop_anywhere(void **state)
{
    (void)state;
    blm_filter *f = tiny();
    int         n = 0;
    for (;; n++) {
        struct stopping s  = { n };
        blm_error       e  = { .text = "" };
        blm_status      st = blm_encode(f, NULL, stop_write, &s, &e);
        if (st == BLM_OK)
            break;
        assert_int_equal(st, BLM_E_IO);
        assert_int_equal(e.status, BLM_E_IO);
    }
    assert_true(n > 5);
    blm_free(f);
}

static void progress_may_cancel(void **state)
{
    (void)state;
    blm_options o     = BLM_OPTIONS_INIT;
    o.bits            = 300000 * 8;
    o.probes          = 3;
    blm_filter     *f = make(&o), *g = NULL;
    struct stopping s = { 2 };
    struct bytes    b = { 0 };
    blm_on_progress(f, stop_progress, &s);
    assert_status(blm_encode(f, NULL, bytes_add, &b, NULL), BLM_E_CANCELLED);
    free(b.p);
    blm_on_progress(f, NULL, NULL);
    b              = encoded(f);
    s.left         = 2;
    blm_options d  = BLM_OPTIONS_INIT;
    d.progress     = stop_progress;
    d.progress_ctx = &s;
    assert_status(blm_decode(b.p, b.len, &d, &g, NULL), BLM_E_CANCELLED);
    assert_null(g);
    free(b.p);
    blm_free(f);
}

static void a_reader_may_fail_anywhere(void **state)
{
    (void)state;
    blm_filter  *f = tiny(), *g = NULL;
    struct bytes b = encoded(f);
    for (size_t n = 0; n < b.len; n++) {
        struct pipe_in in = { b.p, b.len, 0, 1, n };
        blm_error      e  = { .text = "" };
        assert_status(blm_decode_stream(pipe_read, &in, NULL, &g, &e), BLM_E_IO);
        assert_int_equal(e.status, BLM_E_IO);
    }
    free(b.p);
    blm_free(f);
}

static void attached_bytes_travel(void **state)
{
    (void)state;
    blm_filter *f = tiny(), *g = NULL;
    for (size_t len = 1; len < 2000; len += 333) {
        f->body.attached     = blm__alloc(f->body.alloc, len);
        f->body.attached_len = len;
        for (size_t i = 0; i < len; i++)
            f->body.attached[i] = (uint8_t)(i * 3 + 1);
        struct bytes b = encoded(f);
        assert_status(decode(&b, &g, NULL), BLM_OK);
        assert_int_equal(g->body.attached_len, len);
        assert_memory_equal(g->body.attached, f->body.attached, len);
        blm_free(g);
        for (size_t i = 0; i < len; i += 97) {
            b.p[1536 + i] ^= 4;
            blm_error e;
            assert_status(decode(&b, &g, &e), BLM_E_CHECKSUM);
            b.p[1536 + i] ^= 4;
        }
        free(b.p);
        blm__free(f->body.alloc, f->body.attached, len);
    }
    f->body.attached     = NULL;
    f->body.attached_len = 0;
    blm_free(f);
}

static uint64_t my_hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    uint64_t h = seed[0] + *(uint64_t *)ctx;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * 0x100000001b3u;
    return (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
}

static void a_custom_hash_is_asked_for(void **state)
{
    (void)state;
    uint64_t    ctx = 5;
    blm_options o   = BLM_OPTIONS_INIT;
    o.items         = 100;
    o.rate          = 0.01;
    o.hash          = BLM_HASH_CUSTOM;
    o.hash_fn       = my_hash;
    o.hash_ctx      = &ctx;
    o.hash_name     = "fnv-ish";
    blm_filter *f = make(&o), *g = NULL;
    add_range(f, 0, 100);
    struct bytes b = encoded(f);
    blm_error    e;
    assert_status(blm_decode(b.p, b.len, NULL, &g, &e), BLM_E_HASH);
    assert_non_null(strstr(e.text, "fnv-ish"));
    o.hash_name = "another";
    assert_status(blm_decode(b.p, b.len, &o, &g, &e), BLM_E_HASH);
    o.hash_name = "fnv-ish";
    assert_status(blm_decode(b.p, b.len, &o, &g, &e), BLM_OK);
    assert_int_equal(missing(g, 0, 100), 0);
    blm_free(g);
    free(b.p);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_goes_round),
        cmocka_unit_test(every_piece_is_of_the_whole),
        cmocka_unit_test(a_piece_reads_what_it_gives),
        cmocka_unit_test(decoded_grows_on),
        cmocka_unit_test(shared_when_asked),
        cmocka_unit_test(every_truncation_is_named),
        cmocka_unit_test(what_follows_is_not_ours),
        cmocka_unit_test(every_bit_flip_is_found),
        cmocka_unit_test(regions_that_change_places_are_found),
        cmocka_unit_test(newer_files_are_refused),
        cmocka_unit_test(impossible_headers_are_refused),
        cmocka_unit_test(impossible_slots_are_refused),
        cmocka_unit_test(impossible_layers_are_refused),
        cmocka_unit_test(bits_past_the_last_are_refused),
        cmocka_unit_test(a_claim_is_not_believed),
        cmocka_unit_test(a_long_stream_is_joined_right),
        cmocka_unit_test(caps_are_kept),
        cmocka_unit_test(memory_may_fail_anywhere),
        cmocka_unit_test(encode_may_lack_memory),
        cmocka_unit_test(a_sink_may_stop_anywhere),
        cmocka_unit_test(progress_may_cancel),
        cmocka_unit_test(a_reader_may_fail_anywhere),
        cmocka_unit_test(attached_bytes_travel),
        cmocka_unit_test(a_custom_hash_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
