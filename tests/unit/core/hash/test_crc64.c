/* SPDX-License-Identifier: MIT */
/* CRC-64: the check value that Redis' own source states, and pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/hash/crc64.h"

static void test_check_value(void **state)
{
    (void)state;
    struct blm__crc64 t;
    blm__crc64_init(&t);
    assert_true(blm__crc64(&t, 0, "123456789", 9) == 0xe9c6d914c4b8d9cau);
    assert_true(blm__crc64(&t, 0, "", 0) == 0);
    assert_true(blm__crc64(&t, blm__crc64(&t, 0, "1234", 4), "56789", 5) == 0xe9c6d914c4b8d9cau);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_check_value) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
