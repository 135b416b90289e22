/* SPDX-License-Identifier: MIT */
/* SCANDUMP chunks: RedisBloom's bytes in and out, old headers, and what is no dump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/filter.h"
#include "bloomery/embed.h"
#include "codec/redisbloom_header.h"
#include "core/bytes.h"
#include "redisbloom.h"

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_VECTORS; i++) {
        struct golden_file all = rb_chunks(rb_vectors[i]);
        blm_options        o   = golden_as(i % 2 ? "redisbloom" : NULL); /* named, and sniffed */
        blm_filter        *f   = golden_decode(rb_vectors[i], all.data, all.len, &o);
        blm_params         p   = { .size = sizeof p };
        assert_int_equal(blm_get_params(f, &p), BLM_OK);
        assert_int_equal(p.kind, BLM_SCALABLE);
        assert_string_equal(p.scheme, "redisbloom");
        assert_string_equal(p.format, "redisbloom");
        assert_int_equal(p.items, golden_meta(rb_vectors[i], "BF_CARD"));
        check_probes(f, rb_vectors[i]);
        golden_encodes_to(f, NULL, rb_vectors[i], all.data, all.len);
        blm_free(f);
        free(all.data);
    }
}

/* In order, because what falsely seems present is not stored: chains, counts and bits come out. */
static void test_rebuilt(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_VECTORS; i++) {
        struct golden_file all = rb_chunks(rb_vectors[i]);
        blm_filter        *f   = rb_empty(rb_vectors[i]);
        golden_add_members(f, rb_vectors[i]);
        golden_encodes_to(f, NULL, rb_vectors[i], all.data, all.len);
        blm_free(f);
        /* one key at a time */
        f                    = rb_empty(rb_vectors[i]);
        struct golden_keys k = golden_members(rb_vectors[i]);
        for (size_t j = 0; j < k.count; j++)
            assert_true(blm_add(f, k.key[j].data, k.key[j].len) >= 0);
        golden_encodes_to(f, NULL, rb_vectors[i], all.data, all.len);
        golden_free_keys(&k);
        blm_free(f);
        free(all.data);
    }
}

static void test_bad(void **state)
{
    (void)state;
    blm_options o = golden_as("redisbloom");
    assert_int_equal(golden_refuses("redisbloom", "hdr-", &o), 19);
    o.format = NULL;
    assert_int_equal(golden_refuses("redisbloom", "hdr-", &o), 19);
}

/* A whole dump cut anywhere, and with a byte too many. */
static void test_cut(void **state)
{
    (void)state;
    struct golden_file all  = rb_chunks("redisbloom/cap1");
    blm_options        o    = golden_as("redisbloom");
    uint8_t            more = 0;
    bytes_append(&all, &more, 1);
    for (size_t n = 0; n <= all.len; n++)
        if (n != all.len - 1)
            golden_refused("cut", all.data, n, &o);
    free(all.data);
}

/* One layer without the last four bytes has the length that 2.2.0's header would make of it. */
static void test_cut_by_four(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_VECTORS; i++) {
        struct golden_file all = rb_chunks(rb_vectors[i]);
        blm_options        o   = golden_as("redisbloom");
        blm_filter        *f   = NULL;
        blm_error          err;
        assert_int_equal(blm_decode(all.data, all.len - 4, &o, &f, &err), BLM_E_TRUNCATED);
        assert_int_equal(err.offset, all.len - 4);
        free(all.data);
    }
}

/* As many bits as are needed, a multiple of 64: every version from 2.2.0 on makes this layer, and the
 * bits of 2.2.0's would be those of another four bytes on. */
static void test_cut_by_four_ambiguous(void **state)
{
    (void)state;
    struct golden_file b = { NULL, 0, 0 };
    blm_options        o = BLM_OPTIONS_INIT;
    blm_filter        *f = NULL, *g = NULL;
    blm_error          err;
    o.scheme = "redisbloom";
    o.rate   = 0.01;
    for (o.items = 100;; o.items++) {
        blm_params p = { .size = sizeof p };
        f            = create_or_fail(&o);
        assert_int_equal(blm_get_layer(f, 0, &p), BLM_OK);
        if ((uint64_t)((double)o.items * 11.027753418256411) == p.bits)
            break;
        blm_free(f);
    }
    for (uint32_t keys = 0; keys < 2; keys++) {
        b = encode_as(f, "redisbloom");
        o = golden_as("redisbloom");
        blm_free(golden_decode("whole", b.data, b.len, &o));
        if (keys) {
            assert_int_equal(blm_decode(b.data, b.len - 4, &o, &g, &err), BLM_E_AMBIGUOUS);
            assert_non_null(strstr(err.text, "2.2.0"));
            assert_int_equal(err.offset, b.len - 4);
        } else {
            blm_free(golden_decode("empty", b.data, b.len - 4, &o));
        }
        free(b.data);
        assert_true(blm_add(f, "key", 3) >= 0);
    }
    blm_free(f);
}

/* ---- headers of old versions ---- */

/* The same chain with another header: 49 bytes a layer, entries in four, n2 behind them. */
static struct golden_file old_header(const struct golden_file *now, bool growth)
{
    struct golden_file old    = { NULL, 0, 0 };
    uint32_t           layers = blm__get32le(now->data + 8);
    bytes_append(&old, now->data, growth ? 20 : 16);
    for (uint32_t i = 0; i < layers; i++) {
        const char *l = now->data + 20 + 53 * i;
        bytes_append(&old, l, 48);
        bytes_append(&old, l + 52, 1);
    }
    bytes_append(&old, now->data + 20 + 53 * layers, now->len - 20 - 53 * layers);
    return old;
}

/* An empty dump of one layer as 2.2.0 makes it: the bits that the entries need, and no more. */
static struct golden_file empty_220(const struct golden_file *now)
{
    struct golden_file old     = { NULL, 0, 0 };
    uint8_t            h[69]   = { 0 };
    double             bpe     = blm__f64_from_bits(blm__get64le(now->data + 20 + 32));
    uint64_t           entries = blm__get64le(now->data + 20 + 44);
    uint64_t           bits    = (uint64_t)((double)entries * bpe);
    memcpy(h, now->data, 68);
    memset(h, 0, 8);
    memset(h + 20 + 16, 0, 8);
    blm__put64le(h + 20, (bits + 7) / 8);
    blm__put64le(h + 20 + 8, bits);
    bytes_append(&old, h, sizeof h);
    for (uint64_t i = 0; i < (bits + 7) / 8; i++)
        bytes_append(&old, "", 1);
    return old;
}

static void check_members(const blm_filter *f, const char *dir)
{
    struct golden_keys k = golden_members(dir);
    for (size_t i = 0; i < k.count; i++)
        assert_true(blm_check(f, k.key[i].data, k.key[i].len));
    golden_free_keys(&k);
}

/* What came of it with the vector's members: bytes that are read as they are, or, if they may be a
 * later version's without the last four, refused. */
static void check_220(const char *dir, const struct golden_file *now)
{
    struct golden_file empty = empty_220(now);
    blm_options        o     = golden_as(NULL);
    blm_filter        *f = golden_decode(dir, empty.data, empty.len, &o), *g = NULL;
    blm_error          err;
    golden_encodes_to(f, NULL, dir, empty.data, empty.len);
    golden_add_members(f, dir);
    struct golden_file full = encode_as(f, "redisbloom");
    uint8_t            zero[4];
    memcpy(zero, full.data + 69, 4);
    if (blm__get64le(full.data)) {
        assert_int_not_equal(blm__get32le(zero), 0); /* in all the vectors */
        g = golden_decode(dir, full.data, full.len, &o);
        check_members(g, dir);
        golden_encodes_to(g, NULL, dir, full.data, full.len);
        blm_free(g);
        memset(full.data + 69, 0, 4);
        o.format = "redisbloom";
        assert_int_equal(blm_decode(full.data, full.len, &o, &g, &err), BLM_E_AMBIGUOUS);
        assert_int_equal(err.offset, full.len);
        memcpy(full.data + 69, "\1", 2); /* no entries of today */
        blm_free(golden_decode(dir, full.data, full.len, &o));
        memcpy(full.data + 69, "\0\0\0\77", 4); /* nor an n2 */
        blm_free(golden_decode(dir, full.data, full.len, &o));
    }
    blm_free(f);
    free(empty.data);
    free(full.data);
}

/* 2.2.0: 20 + 49 a layer. */
static void test_header_220(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_VECTORS; i++) {
        struct golden_file now = rb_chunks(rb_vectors[i]), old = old_header(&now, true);
        blm_options        o = golden_as(NULL);
        if (blm__get32le(now.data + 8) == 1 && now.data[72] == 0) { /* the bits were rounded */
            golden_refused("bits that 2.2.0 does not store", old.data, old.len, &o);
            check_220(rb_vectors[i], &now);
            free(now.data);
            free(old.data);
            continue;
        }
        blm_filter *f = golden_decode(rb_vectors[i], old.data, old.len, &o);
        check_probes(f, rb_vectors[i]);
        golden_encodes_to(f, NULL, rb_vectors[i], old.data, old.len);
        blm_free(f);
        free(now.data);
        free(old.data);
    }
}

/* A reader that fails there has not ended. */
static size_t fails_at_end(void *ctx, void *to, size_t len)
{
    struct golden_file *in = ctx;
    if (in->len == 0)
        return SIZE_MAX;
    len = len < in->len ? len : in->len;
    memcpy(to, in->data, len);
    in->data += len;
    in->len -= len;
    return len;
}

static void test_fails_where_220_ends(void **state)
{
    (void)state;
    struct golden_file now = rb_chunks("redisbloom/small10"), old = empty_220(&now), in = old;
    blm_options        o = golden_as("redisbloom");
    blm_filter        *f = NULL;
    blm_error          err;
    assert_int_equal(blm_decode_stream(fails_at_end, &in, &o, &f, &err), BLM_E_IO);
    free(now.data);
    free(old.data);
}

/* Layers of a 1.x chain under the header of today, which says the bits. */
static void test_united_with_old(void **state)
{
    (void)state;
    struct golden_file then = rb_chunks("redisbloom/legacy64-pow2"), old = old_header(&then, false);
    struct golden_file now = rb_chunks("redisbloom/small10");
    blm_options        o   = golden_as("redisbloom");
    memset(old.data + 16 + 8, 0, 8);
    blm_filter *a = golden_decode("old", old.data, old.len, &o);
    for (int with_220 = 0; with_220 < 2; with_220++) {
        struct golden_file first = with_220 ? empty_220(&now) : now;
        blm_filter        *b     = golden_decode("newer", first.data, first.len, &o);
        if (with_220)
            golden_add_members(b, "redisbloom/small10");
        assert_int_equal(blm_union(b, a, NULL), BLM_OK);
        struct golden_file both = encode_as(b, "redisbloom");
        blm_filter        *g    = golden_decode("both", both.data, both.len, &o);
        check_members(g, "redisbloom/legacy64-pow2");
        check_members(g, "redisbloom/small10");
        golden_encodes_to(g, NULL, "both", both.data, both.len);
        blm_free(g);
        blm_free(b);
        free(both.data);
        if (with_220)
            free(first.data);
    }
    blm_free(a);
    free(then.data);
    free(old.data);
    free(now.data);
}

/* 1.0.0 to 2.0.3: 16 + 49 a layer, powers of two, the bits field 0. */
static void test_header_1(void **state)
{
    (void)state;
    static const char *const dirs[] = { "redisbloom/legacy32-pow2", "redisbloom/legacy64-pow2",
                                        "redisbloom/legacy32-pow2-scales" };
    for (size_t i = 0; i < 3; i++) {
        struct golden_file now = rb_chunks(dirs[i]), old = old_header(&now, false);
        uint32_t           layers = blm__get32le(now.data + 8);
        blm_options        o      = golden_as(NULL);
        for (uint32_t l = 0; l < layers; l++)
            memset(old.data + 16 + 49 * l + 8, 0, 8);
        blm_filter *f = golden_decode(dirs[i], old.data, old.len, &o);
        check_probes(f, dirs[i]);
        golden_encodes_to(f, NULL, dirs[i], old.data, old.len);
        /* a dump says the bits again */
        struct golden_file dump = encode_as(f, "redisbloom-dump");
        blm_filter        *g    = golden_decode(dirs[i], dump.data, dump.len, &o);
        check_probes(g, dirs[i]);
        blm_free(g);
        free(dump.data);
        blm_free(f);
        /* …but not in a header of today */
        memset(now.data + 20 + 8, 0, 8);
        o.format = "redisbloom";
        golden_refused("no bits in a new header", now.data, now.len, &o);
        free(now.data);
        free(old.data);
    }
}

/* What 2.2.1 to 2.2.4 wrote: today's header, arrays of whole bytes, bits as many as were needed. */
static void test_bits_not_rounded(void **state)
{
    (void)state;
    uint8_t     h[73 + 20] = { 0 };
    blm_options o          = golden_as("redisbloom");
    blm_params  p          = { .size = sizeof p };
    h[8]                   = 1;
    h[12]                  = 5;
    h[16]                  = 2;
    h[20]                  = 20;  /* bytes */
    h[28]                  = 157; /* bits */
    blm__put64le(h + 44, blm__f64_bits(0.01));
    blm__put64le(h + 52, blm__f64_bits(9.585058377367439));
    h[60]         = 7;
    h[64]         = 16; /* 16 · 9.585 = 153.4, never mind */
    blm_filter *f = golden_decode("157 bits", h, sizeof h, &o);
    uint64_t    pos[7], raw[7];
    size_t      n;
    assert_int_equal(blm_positions(f, "key", 3, pos, 7, &n), BLM_OK);
    assert_int_equal(blm_positions_raw(f, "key", 3, raw, 7, &n), BLM_OK);
    assert_int_equal(n, 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(pos[i], raw[i] % 157);
    golden_encodes_to(f, NULL, "157 bits", h, sizeof h);
    /* it grows as it was made */
    for (uint32_t i = 0; i < 40; i++)
        assert_true(blm_add(f, &i, 4) >= 0);
    assert_int_equal(blm_get_layer(f, 1, &p), BLM_OK);
    assert_int_equal(p.capacity, 32);
    assert_int_equal(p.bits, 352); /* 32 entries at 0.005: 352.88… bits, in 44 bytes */
    blm_free(f);
    h[28] = 152; /* a byte less than the bytes */
    golden_refused("152 bits in 20 bytes", h, sizeof h, &o);
}

/* A layer of one to six bytes under today's header, which is four bytes longer than the one it is first
 * taken for: those four are some of the array, all of it, or more than it has. */
static void test_tiny_arrays(void **state)
{
    (void)state;
    for (uint8_t bytes = 1; bytes <= 6; bytes++) {
        uint8_t     h[73 + 6] = { 0 };
        blm_options o         = golden_as("redisbloom");
        h[8]                  = 1;
        h[12]                 = 5;
        h[16]                 = 2;
        h[20]                 = bytes;
        h[28]                 = (uint8_t)(bytes * 8);
        blm__put64le(h + 44, blm__f64_bits(0.01));
        blm__put64le(h + 52, blm__f64_bits(9.585058377367439));
        h[60] = 7;
        h[64] = 1;
        for (uint8_t i = 0; i < bytes; i++)
            h[73 + i] = (uint8_t)(0x11 * (i + 1));
        blm_filter *f = golden_decode("tiny", h, 73u + bytes, &o);
        uint64_t    n;
        assert_memory_equal(blm_view(f, 0, &n), h + 73, bytes);
        golden_encodes_to(f, NULL, "tiny", h, 73u + bytes);
        blm_free(f);
        for (size_t len = 69; len < 73u + bytes; len++)
            golden_refused("cut", h, len, &o);
        h[72] = 64; /* n2, of today's header only */
        golden_refused("n2 above 63", h, 73u + bytes, &o);
    }
}

/* As many bits as 2.2.0 stores, in arrays shorter than what a cut header would leave of them. */
static void test_tiny_220(void **state)
{
    (void)state;
    static const double bpe[] = { 9.585058377367439, 0.5 };
    for (size_t i = 0; i < 2; i++)
        for (uint8_t keys = 0; keys < 2; keys++) {
            uint8_t     h[69 + 2] = { keys };
            uint8_t     bits = i ? 1 : 9, bytes = i ? 1 : 2;
            blm_options o = golden_as("redisbloom");
            blm_filter *f = NULL;
            h[8]          = 1;
            h[12]         = 5;
            h[16]         = 2;
            h[20]         = bytes;
            h[28]         = bits;
            h[36]         = keys;
            blm__put64le(h + 44, blm__f64_bits(0.01));
            blm__put64le(h + 52, blm__f64_bits(bpe[i]));
            h[60] = i ? 1 : 7;
            h[64] = 1;
            assert_int_equal(blm_decode(h, 69u + bytes, &o, &f, NULL),
                             keys ? BLM_E_AMBIGUOUS : BLM_OK);
            blm_free(f);
            h[69] = 1; /* not what the header of today would have there */
            blm_free(golden_decode("tiny", h, 69u + bytes, &o));
        }
}

/* An old header has 32 bits for entries, and names its own places. */
static void test_old_headers_forged(void **state)
{
    (void)state;
    struct golden_file now = rb_chunks("redisbloom/legacy32-pow2"), old = old_header(&now, false);
    blm_options        o      = golden_as("redisbloom");
    struct golden_file b      = { NULL, 0, 0 };
    blm_error          err    = { .status = BLM_OK };
    uint32_t           layers = blm__get32le(old.data + 8);
    memset(old.data + 16 + 8, 0, 8);
    blm_filter *f     = golden_decode("old", old.data, old.len, &o);
    old.data[16 + 48] = 99; /* n2 */
    assert_int_equal(blm__rb_check_header((const uint8_t *)old.data, BLM__RB_1, layers, &err),
                     BLM_E_FORMAT);
    assert_int_equal(err.offset, 16 + 48);
    f->body.layers[0].shape.capacity = (uint64_t)1 << 32;
    assert_int_equal(blm_encode(f, NULL, bytes_append, &b, &err), BLM_E_UNSUPPORTED);
    assert_int_equal(b.len, 0);
    blm_free(f);
    free(now.data);
    free(old.data);
}

/* ---- the rest ---- */

static void test_native_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_VECTORS; i++) {
        struct golden_file all = rb_chunks(rb_vectors[i]);
        blm_options        o   = golden_as("redisbloom");
        blm_filter        *f   = golden_decode(rb_vectors[i], all.data, all.len, &o);
        struct golden_file b   = encode_as(f, "native");
        o                      = golden_as(NULL);
        blm_filter *g          = golden_decode(rb_vectors[i], b.data, b.len, &o);
        check_probes(g, rb_vectors[i]);
        golden_encodes_to(g, "redisbloom", rb_vectors[i], all.data, all.len);
        blm_free(f);
        blm_free(g);
        free(b.data);
        free(all.data);
    }
}

static void test_starved(void **state)
{
    (void)state;
    struct golden_file all = rb_chunks("redisbloom/expansion1");
    blm_options        o   = golden_as("redisbloom");
    golden_starve(all.data, all.len, &o);
    free(all.data);
}

static void test_other_scheme(void **state)
{
    (void)state;
    blm_options        o = BLM_OPTIONS_INIT;
    struct golden_file b = { NULL, 0, 0 };
    o.kind               = BLM_SCALABLE;
    o.rate               = 0.01;
    blm_filter *f        = create_or_fail(&o);
    assert_int_equal(blm_encode(f, "redisbloom", bytes_append, &b, NULL), BLM_E_UNSUPPORTED);
    assert_int_equal(blm_encode(f, "redisbloom-dump", bytes_append, &b, NULL), BLM_E_UNSUPPORTED);
    assert_int_equal(b.len, 0);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_rebuilt),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_header_220),
        cmocka_unit_test(test_cut_by_four),
        cmocka_unit_test(test_cut_by_four_ambiguous),
        cmocka_unit_test(test_fails_where_220_ends),
        cmocka_unit_test(test_united_with_old),
        cmocka_unit_test(test_header_1),
        cmocka_unit_test(test_bits_not_rounded),
        cmocka_unit_test(test_tiny_arrays),
        cmocka_unit_test(test_tiny_220),
        cmocka_unit_test(test_old_headers_forged),
        cmocka_unit_test(test_native_file),
        cmocka_unit_test(test_starved),
        cmocka_unit_test(test_other_scheme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
