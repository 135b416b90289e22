/* SPDX-License-Identifier: MIT */
/* DUMP payloads: Redis' bytes in and out, packed strings and all, older encodings in, and what is
 * none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/embed.h"
#include "core/bytes.h"
#include "core/hash/crc64.h"
#include "redisbloom.h"

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_VECTORS; i++) {
        blm_options        o   = golden_as(i % 2 ? "redisbloom-dump" : NULL);
        blm_filter        *f   = golden_load(rb_vectors[i], "dump.bin", &o);
        struct golden_file all = rb_chunks(rb_vectors[i]);
        check_probes(f, rb_vectors[i]);
        golden_writes(f, NULL, rb_vectors[i], "dump.bin");
        golden_encodes_to(f, "redisbloom", rb_vectors[i], all.data, all.len);
        blm_free(f);
        o = golden_as("redisbloom"); /* and from chunks to a dump */
        f = golden_decode(rb_vectors[i], all.data, all.len, &o);
        golden_writes(f, "redisbloom-dump", rb_vectors[i], "dump.bin");
        blm_free(f);
        free(all.data);
    }
}

/* Encodings 1 to 3 are read and written as 4. */
static void test_older(void **state)
{
    (void)state;
    static const struct {
        const char *dir, *name;
    } row[] = {
        { "redisbloom/legacy32-pow2", "dump-encver1.bin" },
        { "redisbloom/legacy32-pow2-scales", "dump-encver1.bin" },
        { "redisbloom/legacy32-compat-mod", "dump-encver1.bin" },
        { "redisbloom/legacy64-pow2", "dump-encver2.bin" },
        { "redisbloom/legacy64-pow2", "dump-encver3.bin" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blm_options o = golden_as(NULL);
        blm_filter *f = golden_load(row[i].dir, row[i].name, &o);
        check_probes(f, row[i].dir);
        golden_writes(f, NULL, row[i].dir, "dump.bin");
        blm_free(f);
    }
}

static void test_bad(void **state)
{
    (void)state;
    blm_options o = golden_as("redisbloom-dump");
    assert_int_equal(golden_refuses("redisbloom", "dump-", &o), 4);
    o.format = NULL;
    assert_int_equal(golden_refuses("redisbloom", "dump-", &o), 4);
}

/* Sets the checksum right again. */
static void resum(void *bytes, size_t len)
{
    uint8_t          *p = bytes;
    struct blm__crc64 t;
    blm__crc64_init(&t);
    blm__put64le(p + len - 8, blm__crc64(&t, 0, p, len - 8));
}

/* Cut anywhere; and with any one byte changed and the checksum made to match, it is refused or it
 * is another filter, never anything worse. */
static void test_damaged(void **state)
{
    (void)state;
    static const char *const dirs[] = { "redisbloom/cap1", "redisbloom/empty" };
    for (size_t d = 0; d < 2; d++) {
        struct golden_file in = golden_read_in(dirs[d], "dump.bin");
        uint8_t           *p  = (uint8_t *)in.data;
        blm_options        o  = golden_as("redisbloom-dump");
        for (size_t n = 0; n < in.len; n++)
            golden_refused("cut", p, n, &o);
        o.max_bytes = 1 << 20;
        for (size_t i = 0; i < in.len - 8; i++)
            for (unsigned v = 0; v < 256; v += i < 64 ? 1 : 37) {
                uint8_t     was = p[i];
                blm_filter *f   = NULL;
                p[i]            = (uint8_t)v;
                resum(p, in.len);
                if (blm_decode(p, in.len, &o, &f, NULL) == BLM_OK)
                    blm_check(f, "key", 3);
                blm_free(f);
                p[i] = was;
            }
        golden_free_file(&in);
    }
}

/* ---- payloads made by hand ---- */

static void add_length(struct golden_file *b, uint64_t v)
{
    uint8_t p[9] = { 0x81 };
    blm__put64be(p + 1, v);
    bytes_append(b, p, 9);
}

static void add_number(struct golden_file *b, uint64_t v)
{
    bytes_append(b, "\2", 1);
    add_length(b, v);
}

static void add_double(struct golden_file *b, double v)
{
    uint8_t p[9] = { 4 };
    blm__put64le(p + 1, blm__f64_bits(v));
    bytes_append(b, p, 9);
}

/* One layer of 64 bits whose array is written as `string`, all numbers in eight bytes. */
static struct golden_file payload(unsigned encver, const char *string, size_t len)
{
    struct golden_file b      = { NULL, 0, 0 };
    uint8_t            id[10] = { 7, 0x81, 0x30, 0x16, 0xe5, 0xa2, 0x89, 0xbe, 0xf8, 0x00 };
    id[9]                     = (uint8_t)encver;
    bytes_append(&b, id, 10);
    add_number(&b, 3);
    add_number(&b, 1);
    if (encver >= 2)
        add_number(&b, 5);
    if (encver >= 4)
        add_number(&b, 2);
    add_number(&b, 6);
    add_double(&b, 0.005);
    add_number(&b, 8);
    add_double(&b, 11.027761987506586);
    if (encver >= 1) {
        add_number(&b, 64);
        add_number(&b, 0);
    }
    bytes_append(&b, "\5", 1);
    bytes_append(&b, string, len);
    add_number(&b, 3);
    bytes_append(&b, "\0\x09\0\0\0\0\0\0\0\0\0", 11);
    resum(b.data, b.len);
    return b;
}

static void holds(const char *what, unsigned encver, const char *string, size_t len,
                  const char *bits)
{
    struct golden_file b = payload(encver, string, len);
    blm_options        o = golden_as("redisbloom-dump");
    uint64_t           bytes;
    if (!bits) {
        golden_refused(what, b.data, b.len, &o);
    } else {
        blm_filter *f = golden_decode(what, b.data, b.len, &o);
        assert_memory_equal(blm_view(f, 0, &bytes), bits, 8);
        assert_int_equal(bytes, 8);
        blm_free(f);
    }
    free(b.data);
}

static void test_strings(void **state)
{
    (void)state;
    holds("plain", 4,
          "\10"
          "abcdefgh",
          9, "abcdefgh");
    holds("14 bits", 4,
          "\x40\10"
          "abcdefgh",
          10, "abcdefgh");
    holds("32 bits", 4,
          "\x80\0\0\0\10"
          "abcdefgh",
          13, "abcdefgh");
    holds("64 bits", 4,
          "\x81\0\0\0\0\0\0\0\10"
          "abcdefgh",
          17, "abcdefgh");
    holds("packed", 4, "\xc3\5\10\0a\xa0\0", 6, NULL); /* cut */
    holds("packed", 4, "\xc3\4\10\0a\xa0\0", 7, "aaaaaaaa");
    holds("packed, one too long", 4, "\xc3\4\10\0a\xc0\0", 7, NULL);
    holds("a bomb", 4, "\xc3\4\x80\x10\0\0\0\0a\xc0\0", 11, NULL);
    holds("packed from nothing", 4, "\xc3\0\10", 3, NULL);
    holds("a number's text", 4, "\xc2\x4e\x61\xbc\0", 5, "12345678");
    holds("a negative number's text", 4, "\xc2\x79\x29\xed\xff", 5, "-1234567");
    holds("a small number's text", 4, "\xc0\5", 2, NULL); /* one byte is not 64 bits */
    holds("encoding is unknown", 4, "\xc4\5", 2, NULL);
    holds("an empty string", 4, "\0", 1, NULL);
    holds("7 bytes", 4, "\7abcdefg", 8, NULL);
    holds("9 bytes", 4, "\11abcdefghi", 10, NULL);
    holds("longer than the input", 4, "\x81\0\0\1\0\0\0\0\0abcdefgh", 17, NULL);
}

/* Redis writes text that looks like a number as one; so do we. */
static void test_decimal_out(void **state)
{
    (void)state;
    static const struct {
        const char *bits, *string;
        size_t      len;
    } row[] = {
        { "12345678", "\xc2\x4e\x61\xbc\0", 5 },
        { "-1234567", "\xc2\x79\x29\xed\xff", 5 },
        { "01234567",
          "\10"
          "01234567",
          9 },
        { "+1234567",
          "\10"
          "+1234567",
          9 },
        { "1234567 ",
          "\10"
          "1234567 ",
          9 },
        { "-0000000",
          "\10"
          "-0000000",
          9 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char        plain[16] = "\10";
        blm_options o         = golden_as("redisbloom-dump");
        memcpy(plain + 1, row[i].bits, 8);
        struct golden_file in    = payload(4, plain, 9);
        blm_filter        *f     = golden_decode(row[i].bits, in.data, in.len, &o);
        struct golden_file out   = encode_as(f, NULL);
        bool               there = false;
        for (size_t at = 0; at + row[i].len < out.len; at++)
            there |= memcmp(out.data + at, row[i].string, row[i].len) == 0 && out.data[at - 1] == 5;
        assert_true(there);
        assert_int_equal(out.data[out.len - 10], 9); /* the RDB version it came with */
        free(in.data);
        free(out.data);
        blm_free(f);
    }
}

/* Encoding 0: no bits; they follow from entries and bits per entry, 66 here. */
static void test_encver_0(void **state)
{
    (void)state;
    holds("66 bits in 8 bytes", 0,
          "\10"
          "abcdefgh",
          9, NULL);
    struct golden_file b = payload(0, "\11abcdefgh\2", 10);
    blm_options        o = golden_as("redisbloom-dump");
    blm_filter        *f = golden_decode("66 bits in 9 bytes", b.data, b.len, &o);
    uint64_t           pos[8], raw[8];
    size_t             n;
    assert_int_equal(blm_positions(f, "key", 3, pos, 8, &n), BLM_OK);
    assert_int_equal(blm_positions_raw(f, "key", 3, raw, 8, &n), BLM_OK);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(pos[i], raw[i] % 66);
        assert_true(raw[i] < (uint64_t)1 << 36); /* options 0: a 32-bit hash */
    }
    blm_free(f);
    free(b.data);
}

static void test_starved(void **state)
{
    (void)state;
    struct golden_file in = golden_read("redisbloom/empty/dump.bin");
    blm_options        o  = golden_as("redisbloom-dump");
    golden_starve(in.data, in.len, &o);
    golden_free_file(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),  cmocka_unit_test(test_older),
        cmocka_unit_test(test_bad),      cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_strings),  cmocka_unit_test(test_decimal_out),
        cmocka_unit_test(test_encver_0), cmocka_unit_test(test_starved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
