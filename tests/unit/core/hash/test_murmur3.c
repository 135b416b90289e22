/* SPDX-License-Identifier: MIT */
/* MurmurHash3 against tables printed by Guava, Bitcoin Core and Spark. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/bytes.h"
#include "core/hash/murmur3.h"
#include "golden.h"
#include "hash_table.h"

static void x86_32(const uint8_t *key, size_t len, const char *seed, char *out)
{
    uint32_t h = blm__murmur3_32(key, len, (uint32_t)strtoull(seed, NULL, 10));
    snprintf(out, HASH_TEXT, "%08x", (unsigned)h);
}

static void x64_128(const uint8_t *key, size_t len, const char *seed, char *out)
{
    uint64_t h[2];
    uint8_t  bytes[16];
    blm__murmur3_128(key, len, (uint64_t)strtoll(seed, NULL, 10), h);
    blm__put64le(bytes, h[0]);
    blm__put64le(bytes + 8, h[1]);
    for (size_t i = 0; i < 16; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void test_x86_32(void **state)
{
    (void)state;
    assert_int_equal(check_hash_table("murmur3_x86_32", x86_32), 39 * 7);
}

static void test_x64_128(void **state)
{
    (void)state;
    assert_int_equal(check_hash_table("murmur3_x64_128_bytes", x64_128), 39 * 5);
}

/* Cut anywhere into three pieces, around the 16-byte blocks. */
static void test_x64_128_pieces(void **state)
{
    (void)state;
    uint8_t key[53];
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(i * 37 + 11);
    for (size_t a = 0; a <= sizeof key; a++)
        for (size_t b = a; b <= sizeof key; b++) {
            struct blm__murmur3_128 s;
            uint64_t                whole[2], head[2], pieces[2];
            blm__murmur3_128_start(&s, 5);
            blm__murmur3_128_put(&s, key, a);
            blm__murmur3_128_put(&s, key + a, b - a);
            struct blm__murmur3_128 fork = s;
            blm__murmur3_128_end(&fork, head);
            blm__murmur3_128_put(&s, key + b, sizeof key - b);
            blm__murmur3_128_end(&s, pieces);
            blm__murmur3_128(key, b, 5, whole);
            assert_memory_equal(head, whole, sizeof whole);
            blm__murmur3_128(key, sizeof key, 5, whole);
            assert_memory_equal(pieces, whole, sizeof whole);
        }
}

static void test_spark_bytes(void **state)
{
    (void)state;
    struct golden_file f = golden_read("spark/tables/hash-bytes.tsv");
    char              *field[4], *line = golden_line(&f, NULL); /* header */
    size_t             rows = 0, odd = 0;
    while ((line = golden_line(&f, NULL))) {
        assert_int_equal(golden_fields(line, field, 4), 4);
        size_t   len  = golden_unhex(field[0]);
        uint32_t seed = (uint32_t)strtoll(field[1], NULL, 10);
        int64_t  own = strtoll(field[2], NULL, 10), standard = strtoll(field[3], NULL, 10);
        assert_int_equal(blm__murmur3_32_spark(field[0], len, seed), (uint32_t)own);
        assert_int_equal(blm__murmur3_32(field[0], len, seed), (uint32_t)standard);
        odd += own != standard;
        rows++;
    }
    assert_int_equal(rows, 96);
    assert_true(odd > 30); /* the table does tell the two apart */
    golden_free_file(&f);
}

static void test_spark_long(void **state)
{
    (void)state;
    struct golden_file f = golden_read("spark/tables/hash-long.tsv");
    char              *field[3], *line = golden_line(&f, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&f, NULL)); rows++) {
        uint8_t key[8];
        assert_int_equal(golden_fields(line, field, 3), 3);
        blm__put64le(key, (uint64_t)strtoll(field[0], NULL, 10));
        uint32_t seed = (uint32_t)strtoll(field[1], NULL, 10);
        assert_int_equal(blm__murmur3_32_spark(key, 8, seed),
                         (uint32_t)strtoll(field[2], NULL, 10));
    }
    assert_int_equal(rows, 36);
    golden_free_file(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86_32),         cmocka_unit_test(test_x64_128),
        cmocka_unit_test(test_x64_128_pieces), cmocka_unit_test(test_spark_bytes),
        cmocka_unit_test(test_spark_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
