/* SPDX-License-Identifier: MIT */
/* LZF: there and back over many kinds of data, and input that is no LZF. That Redis makes the same
 * choices is proven by its dumps, in test_redisbloom_dump.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/lzf.h"
#include "core/bits.h"

static uint32_t table[BLM__LZF_TABLE];

struct out {
    uint8_t *data;
    size_t   len;
};

static bool put(void *ctx, const void *bytes, size_t len)
{
    struct out *o = ctx;
    memcpy(o->data + o->len, bytes, len);
    o->len += len;
    return true;
}

/* Bytes of `kind`: how much they repeat. */
static void fill(uint8_t *p, size_t len, unsigned kind)
{
    for (size_t i = 0; i < len; i++) {
        uint64_t r = blm__mix64(i + 1000003 * kind);
        uint64_t v = kind % 5 == 0   ? 0
                     : kind % 5 == 1 ? r
                     : kind % 5 == 2 ? r % 3
                     : kind % 5 == 3 ? (r % 97 ? 0 : r >> 8)
                                     : i % (kind + 2);
        p[i]       = (uint8_t)v;
    }
}

static void test_there_and_back(void **state)
{
    (void)state;
    uint8_t *in = malloc(20000), *packed = malloc(40000), *again = malloc(20000);
    size_t   packs = 0;
    for (unsigned kind = 0; kind < 40; kind++)
        for (size_t len = 1; len <= 20000; len += len < 60 ? 1 : len / 3) {
            struct out o = { packed, 0 };
            fill(in, len, kind);
            memset(table, 0, sizeof table);
            size_t counted = blm__lzf_pack(in, len, len, table, NULL, NULL);
            memset(table, 0, sizeof table);
            size_t n = blm__lzf_pack(in, len, len, table, put, &o);
            assert_int_equal(n, counted);
            if (n == 0)
                continue;
            packs++;
            assert_int_equal(o.len, n);
            assert_true(n <= len && len <= n * BLM__LZF_RATIO);
            memset(again, 0xee, len);
            assert_true(blm__lzf_unpack(packed, n, again, len));
            assert_memory_equal(again, in, len);
            assert_false(blm__lzf_unpack(packed, n, again, len - 1));
            assert_false(blm__lzf_unpack(packed, n, again, len + 1));
        }
    assert_true(packs > 500);
    free(in);
    free(packed);
    free(again);
}

static void test_by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *packed;
        size_t      len;
        const char *plain; /* NULL: refused */
    } row[] = {
        { "\x02"
          "abc",
          4, "abc" },
        { "\x00"
          "a\x20\x00",
          4, "aaaa" },
        { "\x02"
          "abc\x20\x02",
          6, "abcabc" },
        { "\x00"
          "a\xe0\x01\x00",
          5, "aaaaaaaaaaa" },
        { "\x02"
          "ab",
          3, NULL }, /* a run that is cut */
        { "\x00"
          "a\x20",
          3, NULL }, /* no distance */
        { "\x00"
          "a\xe0\x01",
          4, NULL },
        { "\x00"
          "a\x20\x01",
          4, NULL }, /* from before the beginning */
        { "\x20\x00", 2, NULL },
        { "\xe0", 1, NULL },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint8_t  out[32];
        size_t   len   = row[i].plain ? strlen(row[i].plain) : 12;
        uint8_t *exact = malloc(row[i].len); /* so that a read past its end is seen */
        memcpy(exact, row[i].packed, row[i].len);
        bool ok = blm__lzf_unpack(exact, row[i].len, out, len);
        assert_int_equal(ok, row[i].plain != NULL);
        if (ok)
            assert_memory_equal(out, row[i].plain, len);
        free(exact);
    }
}

/* What liblzf 3.6 makes of these: the same choices at the ends of runs and of the input. */
static void test_choices(void **state)
{
    (void)state;
    static const struct {
        const char *in, *packed;
        size_t      len;
    } row[] = {
        { "xabcdefghijklmnopqrsabcdefghijklmnopqrs", "\x13xabcdefghijklmnopqrs\xe0\x0a\x12", 24 },
        { "xabcdefghijklmnopqrabcdefghijklmnopqr", "\x12xabcdefghijklmnopqr\xe0\x07\x11\x01qr",
          26 },
        { "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
          "\x1a"
          "abcdefghijklmnopqrstuvwxyza\xe0\x0e\x19\x01yz",
          34 },
    };
    for (size_t i = 0; i < 3; i++) {
        uint8_t    packed[64];
        struct out o   = { packed, 0 };
        size_t     len = strlen(row[i].in);
        memset(table, 0, sizeof table);
        assert_int_equal(blm__lzf_pack((const uint8_t *)row[i].in, len, len - 4, table, put, &o),
                         row[i].len);
        assert_memory_equal(packed, row[i].packed, row[i].len);
    }
}

static bool stop(void *ctx, const void *bytes, size_t len)
{
    (void)bytes;
    (void)len;
    return --*(int *)ctx > 0;
}

static void test_stopped(void **state)
{
    (void)state;
    uint8_t in[500];
    int     calls = 2;
    fill(in, sizeof in, 4);
    memset(table, 0, sizeof table);
    assert_int_equal(blm__lzf_pack(in, sizeof in, sizeof in, table, stop, &calls), 0);
    assert_int_equal(calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
