/* SPDX-License-Identifier: MIT */
/* The native format as bytes: what goes round, by whatever reader, writer and memory. What must not
 * get in: test_native_refused.c. */
#include "bloomery/embed.h"
#include "unit/codec/native.h"

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

/* The first half of a dump from before some adds, the second from after: the checksums do not match,
 * and the bits of what was there before are all there. */
static void torn_dump(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 200000, 0.01, 1), *back = NULL;
        blm_options o = BLM_OPTIONS_INIT;
        if (params_of(f).can & (BLM_CAN_FORGET | BLM_CAN_GROW)) {
            blm_free(f);
            continue;
        }
        add_range(f, 0, 1000);
        struct bytes before = encoded(f);
        add_range(f, 1000, 3000);
        struct bytes after = encoded(f);
        assert_int_equal(before.len, after.len);
        memcpy(after.p, before.p, before.len / 2);
        assert_true(blm_decode(after.p, after.len, NULL, &back, NULL) < 0);
        o.flags = BLM_TORN;
        assert_status(blm_decode(after.p, after.len, &o, &back, NULL), BLM_OK);
        assert_true(params_of(back).unclosed);
        for (uint64_t i = 0; i < 1000; i++)
            assert_true(blm_check(back, &i, sizeof i));
        free(before.p);
        free(after.p);
        blm_free(back);
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
    struct looked  l = { 0, 0 };
    blm_options    o = BLM_OPTIONS_INIT;
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
    blm_options o                = BLM_OPTIONS_INIT;
    o.bits                       = 1u << 20;
    o.probes                     = 5;
    blm_filter                *f = make(&o), *g = NULL;
    struct bytes               b     = encoded(f);
    uint64_t                   first = blm__get64le(b.p + 4096 + 128);
    struct blm__native_section s;
    struct blm__shape          shape = f->body.layers[0].shape;
    shape.bits                       = (uint64_t)1 << 40;
    assert_true(blm__native_place(&shape, first, 4096, &s));
    blm__native_put_record(&s, b.p + first);
    for (int i = 0; i < 2; i++)
        blm__put64le(b.p + 4096 * (1 + i) + 16, s.end);
    seal_slots(b.p);
    b.p = realloc(b.p, 1 << 20);
    memset(b.p + b.len, 0, (1 << 20) - b.len);
    b.len = 1 << 20;
    for (size_t len = (size_t)first + 256; len <= b.len;
         len        = len * 2 > b.len && len < b.len ? b.len : len * 2) {
        struct peak   peak = { .m = { .fail_at = UINT64_MAX } };
        blm_allocator a    = { &peak, peak_alloc, NULL, peak_free };
        blm_options   d    = BLM_OPTIONS_INIT;
        blm_error     e;
        d.allocator       = &a;
        struct bytes part = { .p = b.p, .len = len };
        assert_status(blm_decode(part.p, part.len, &d, &g, &e), BLM_E_TRUNCATED);
        assert_true(peak.most <= (int64_t)sizeof(blm_filter) + 4096);
        assert_status(decode_pipe(&part, 5000, &d, &g, &e),
                      sizeof(size_t) < 8 && len >= s.words_at ? BLM_E_LIMIT : BLM_E_TRUNCATED);
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
    blm_set_progress(f, stop_progress, &s);
    assert_status(blm_encode(f, NULL, bytes_add, &b, NULL), BLM_E_CANCELLED);
    free(b.p);
    blm_set_progress(f, NULL, NULL);
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
        cmocka_unit_test(torn_dump),
        cmocka_unit_test(decoded_grows_on),
        cmocka_unit_test(shared_when_asked),
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
