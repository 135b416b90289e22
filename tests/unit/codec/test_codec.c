/* SPDX-License-Identifier: MIT */
/* The table of formats, and the bytes in and out that codecs share. */
#include "unit/support.h"

#include "codec/codec.h"

static const uint8_t *pattern(size_t len)
{
    static uint8_t p[300000];
    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)(i * 31 + i / 251);
    return p;
}

struct feed {
    const uint8_t *p;
    size_t         len, at, most;
    bool           fails, lies;
};

static size_t feed_read(void *ctx, void *to, size_t len)
{
    struct feed *f = ctx;
    if (f->at == f->len && f->fails)
        return SIZE_MAX;
    if (f->at == f->len && f->lies)
        return len + 1;
    size_t n = f->len - f->at < f->most ? f->len - f->at : f->most;
    n        = n < len ? n : len;
    memcpy(to, f->p + f->at, n);
    f->at += n;
    return n;
}

/* ---- the table ---- */

static void rows_are_whole(void **state)
{
    (void)state;
    size_t n = 0;
    for (const blm_format_row *r; (r = blm_format_at(n)); n++) {
        assert_int_equal(r->size, sizeof *r);
        assert_true(r->name && *r->name && r->summary && *r->summary);
        /* dcso-gz is gzip around dcso: built without zlib it has its name, and no use. */
        assert_true(r->reads || r->writes || strcmp(r->name, "dcso-gz") == 0);
        const struct blm__codec *c = blm__codec_find(r->name);
        assert_non_null(c);
        assert_ptr_equal(&c->row, r); /* no two of one name */
        assert_true(!r->reads || (c->decode && c->sniff));
        assert_true(!r->writes || c->encode);
    }
    assert_true(n >= 1);
    assert_null(blm_format_at(SIZE_MAX));
    assert_null(blm__codec_find("no such format"));
    assert_ptr_equal(blm__codec_find("native"), &blm__codec_native);
}

static void bids_come_best_first(void **state)
{
    (void)state;
    static const uint8_t magic[] = { 0x89, 'b', 'l', 'o', 'o', 'm', '\r', '\n', 0, 0, 0, 0 };
    blm_bid              bids[64];
    size_t               n = blm_sniff(magic, sizeof magic, 0, bids, 64);
    assert_true(n >= 1 && n <= 64);
    assert_string_equal(bids[0].format, "native");
    assert_int_equal(bids[0].bid, 100);
    for (size_t i = 1; i < n; i++)
        assert_true(bids[i].bid <= bids[i - 1].bid && bids[i].bid > 0);
    for (size_t cap = 0; cap < n; cap++) { /* fewer places: the best of them, and all counted */
        blm_bid few[64] = { { NULL, 0 } };
        assert_int_equal(blm_sniff(magic, sizeof magic, 0, few, cap), n);
        for (size_t i = 0; i < cap; i++)
            assert_int_equal(few[i].bid, bids[i].bid);
        assert_null(few[cap].format);
    }
    assert_int_equal(blm_sniff(magic, 12, 0, NULL, 0), n);
    uint8_t damaged[12];
    for (size_t i = 0; i < 8; i++) { /* a byte or two of the magic may be wrong */
        memcpy(damaged, magic, sizeof magic);
        damaged[i] ^= 0x20;
        damaged[(i + 3) % 8] ^= 0x20;
        assert_true(blm_sniff(damaged, sizeof damaged, 0, bids, 64) >= 1);
        assert_string_equal(bids[0].format, "native");
        assert_int_equal(bids[0].bid, 90);
    }
    for (size_t len = 1; len < 8; len++) { /* or missing */
        assert_true(blm_sniff(magic, len, len, bids, 64) >= 1);
        assert_string_equal(bids[0].format, "native");
    }
    assert_int_equal(blm_sniff(NULL, 0, 0, bids, 64), 0);
}

/* ---- in ---- */

static void reads_exactly(void **state)
{
    (void)state;
    const uint8_t *p = pattern(1000);
    for (size_t most = 1; most < 300; most += 37)
        for (int stream = 0; stream < 2; stream++) {
            struct feed        f = { p, 1000, 0, most, false, false };
            struct blm__source s = {
                .data = stream ? NULL : p, .len = 1000, .read = feed_read, .ctx = &f
            };
            uint8_t got[1200];
            if (stream) { /* what was read to sniff comes again */
                s.head_len = blm__read(&s, s.head, sizeof s.head);
                s.at       = 0;
            }
            assert_int_equal(blm__read(&s, got, 10), 10);
            assert_int_equal(blm__read(&s, got + 10, 400), 400);
            assert_int_equal(blm__read(&s, got + 410, 0), 0);
            assert_int_equal(s.at, 410);
            assert_true(blm__remaining(&s) == (stream ? UINT64_MAX : 590));
            assert_int_equal(blm__read(&s, got + 410, 700), 590);
            assert_memory_equal(got, p, 1000);
            assert_int_equal(blm__read(&s, got, 1), 0);
            blm_error e;
            assert_status(blm__short(&s, "a part", &e), BLM_E_TRUNCATED);
            assert_int_equal(e.offset, 1000);
        }
}

static void readers_that_fail(void **state)
{
    (void)state;
    for (int lies = 0; lies < 2; lies++) {
        struct feed        f = { pattern(100), 100, 0, 30, !lies, lies };
        struct blm__source s = { .read = feed_read, .ctx = &f };
        uint8_t            got[200];
        blm_error          e;
        assert_int_equal(blm__read(&s, got, 200), 100);
        assert_true(s.failed);
        assert_status(blm__short(&s, "a part", &e), BLM_E_IO);
        struct blm__block block;
        f.at     = 0;
        s.failed = false;
        assert_status(blm__read_block(&s, &blm__default_allocator, 200, 0, &block, &e), BLM_E_IO);
        uint8_t *all;
        size_t   len, room;
        f.at     = 0;
        s.failed = false;
        assert_status(blm__read_all(&s, &blm__default_allocator, 1000, &all, &len, &room, &e),
                      BLM_E_IO);
    }
}

static void blocks(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 64, 65535, 65536, 65537, 131072, 131073, 262144, 300000 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (int stream = 0; stream < 2; stream++) {
            struct meter       m = { .fail_at = UINT64_MAX };
            blm_allocator      a = meter_allocator(&m);
            const uint8_t     *p = pattern(sizes[i]);
            struct feed        f = { p, sizes[i], 0, 4000, false, false };
            struct blm__source s = {
                .data = stream ? NULL : p, .len = sizes[i], .read = feed_read, .ctx = &f
            };
            struct blm__block block;
            blm_error         e;
            assert_status(blm__read_block(&s, &a, sizes[i], sizes[i], &block, &e), BLM_OK);
            assert_memory_equal(block.words, p, sizes[i]);
            assert_int_equal((uintptr_t)block.words % 64, 0);
            blm__block_free(&a, &block);
            assert_int_equal(m.live, 0);
            s.at = f.at = 0;
            assert_status(blm__read_block(&s, &a, sizes[i] + 1, 0, &block, &e), BLM_E_TRUNCATED);
            assert_int_equal(e.offset, sizes[i]);
            s.at = f.at = 0;
            assert_status(blm__read_block(&s, &a, sizes[i], sizes[i] - 1, &block, &e),
                          sizes[i] > 1 ? BLM_E_LIMIT : BLM_OK);
            if (sizes[i] == 1)
                blm__block_free(&a, &block); /* a cap of 0 is none */
            assert_int_equal(m.live, 0);
        }
}

static void everything_that_is_left(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 65535, 65536, 65537, 200000 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (int stream = 0; stream < 2; stream++)
            for (uint64_t fail_at = 0;; fail_at++) {
                struct meter       m = { .fail_at = fail_at };
                blm_allocator      a = meter_allocator(&m);
                const uint8_t     *p = pattern(sizes[i]);
                struct feed        f = { p, sizes[i], 0, 4000, false, false };
                struct blm__source s = {
                    .data = stream ? NULL : p, .len = sizes[i], .read = feed_read, .ctx = &f
                };
                uint8_t   *all;
                size_t     len, room;
                blm_error  e;
                blm_status st = blm__read_all(&s, &a, sizes[i], &all, &len, &room, &e);
                if (st != BLM_OK) {
                    assert_int_equal(st, BLM_E_MEMORY);
                    assert_int_equal(m.live, 0);
                    continue;
                }
                assert_int_equal(len, sizes[i]);
                assert_true(room >= len);
                assert_memory_equal(all, p, len);
                blm__free(&a, all, room);
                assert_int_equal(m.live, 0);
                if (sizes[i] > 0) {
                    s.at = f.at = 0;
                    m.fail_at   = UINT64_MAX;
                    assert_status(blm__read_all(&s, &a, sizes[i] - 1, &all, &len, &room, &e),
                                  BLM_E_LIMIT);
                    assert_int_equal(m.live, 0);
                }
                break;
            }
}

/* ---- out ---- */

static bool until(void *ctx, const void *p, size_t len)
{
    (void)p;
    size_t *left = ctx;
    if (len > *left)
        return false;
    *left -= len;
    return true;
}

static void a_sink_counts_and_remembers(void **state)
{
    (void)state;
    size_t           left = 10;
    struct blm__sink s    = { .write = until, .ctx = &left };
    assert_true(blm__put(&s, "1234", 4));
    assert_true(blm__put(&s, NULL, 0));
    assert_int_equal(s.written, 4);
    assert_false(blm__put(&s, "12345678", 8));
    assert_false(blm__put(&s, "1", 1)); /* it would fit, but something is missing before it */
    assert_int_equal(s.written, 4);
    assert_true(s.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(bids_come_best_first),
        cmocka_unit_test(reads_exactly),
        cmocka_unit_test(readers_that_fail),
        cmocka_unit_test(blocks),
        cmocka_unit_test(everything_that_is_left),
        cmocka_unit_test(a_sink_counts_and_remembers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
