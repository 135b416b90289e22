/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/random.h"
#include "unit/support.h"

/* Chance of a false alarm: 2^-128, and some hundred times 2^-512. */
static void random_bytes_fill_exactly_what_was_asked(void **state)
{
    (void)state;
    uint8_t a[16], b[16];
    assert_true(blm__random(a, 16));
    assert_true(blm__random(b, 16));
    assert_memory_not_equal(a, b, 16);
    for (size_t len = 0; len <= 300; len += 75) {
        uint8_t buf[316], seen[316] = { 0 };
        for (int round = 0; round < 64; round++) {
            memset(buf, 0, sizeof buf);
            assert_true(blm__random(buf, len));
            for (size_t i = 0; i < sizeof buf; i++)
                seen[i] |= buf[i];
        }
        for (size_t i = 0; i < sizeof seen; i++)
            assert_true((seen[i] != 0) == (i < len));
    }
}

static void errno_is_left_alone(void **state)
{
    (void)state;
    uint8_t a[8];
    errno = 4321;
    assert_true(blm__random(a, 8));
    assert_int_equal(errno, 4321);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bytes_fill_exactly_what_was_asked),
        cmocka_unit_test(errno_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
