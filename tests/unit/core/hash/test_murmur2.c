/* SPDX-License-Identifier: MIT */
/* MurmurHash2 and 64A against tables printed by the code RedisBloom ships. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/hash/murmur2.h"
#include "hash_table.h"

static void print_32(const uint8_t *key, size_t len, const char *seed, char *out)
{
    uint32_t h = blm__murmur2_32(key, len, (uint32_t)strtoull(seed, NULL, 10));
    snprintf(out, HASH_TEXT, "%08x", (unsigned)h);
}

static void print_64a(const uint8_t *key, size_t len, const char *seed, char *out)
{
    uint64_t h = blm__murmur64a(key, len, strtoull(seed, NULL, 10));
    snprintf(out, HASH_TEXT, "%016llx", (unsigned long long)h);
}

static void test_32(void **state)
{
    (void)state;
    assert_int_equal(check_hash_table("murmur2_32", print_32), 39 * 3);
}

static void test_64a(void **state)
{
    (void)state;
    assert_int_equal(check_hash_table("murmur64a", print_64a), 39 * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_32), cmocka_unit_test(test_64a) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
