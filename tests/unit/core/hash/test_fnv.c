/* SPDX-License-Identifier: MIT */
/* FNV against tables printed by Go's hash/fnv. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/hash/fnv.h"
#include "hash_table.h"

#define PRINTER(name, basis, format, type)                                                \
    static void print_##name(const uint8_t *key, size_t len, const char *seed, char *out) \
    {                                                                                     \
        (void)seed;                                                                       \
        snprintf(out, HASH_TEXT, format, (type)blm__##name(basis, key, len));             \
    }                                                                                     \
    static void test_##name(void **state)                                                 \
    {                                                                                     \
        (void)state;                                                                      \
        assert_int_equal(check_hash_table(#name, print_##name), 39);                      \
    }

PRINTER(fnv1_32, BLM__FNV32_BASIS, "%08x", unsigned)
PRINTER(fnv1a_32, BLM__FNV32_BASIS, "%08x", unsigned)
PRINTER(fnv1_64, BLM__FNV64_BASIS, "%016llx", unsigned long long)
PRINTER(fnv1a_64, BLM__FNV64_BASIS, "%016llx", unsigned long long)

/* A hash may be continued where it stopped. */
static void test_continued(void **state)
{
    (void)state;
    assert_int_equal(blm__fnv1_64(blm__fnv1_64(BLM__FNV64_BASIS, "foo", 3), "bar", 3),
                     blm__fnv1_64(BLM__FNV64_BASIS, "foobar", 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fnv1_32),   cmocka_unit_test(test_fnv1a_32),
        cmocka_unit_test(test_fnv1_64),   cmocka_unit_test(test_fnv1a_64),
        cmocka_unit_test(test_continued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
