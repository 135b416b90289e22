/* SPDX-License-Identifier: MIT */
/* UTF-8 to UTF-16 units, against a table of cases where decoders differ. The expectations are what
 * new String(bytes, UTF_8) gave in OpenJDK 17. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/utf16.h"

struct row {
    const char *bytes;
    size_t      len;
    uint16_t    units[8];
    size_t      count;
};

#define ROW(text, ...)                                             \
    {                                                              \
        text, sizeof(text) - 1, { __VA_ARGS__ },                   \
            sizeof((uint16_t[]){ __VA_ARGS__ }) / sizeof(uint16_t) \
    }

static const struct row rows[] = {
    ROW("a", 'a'),
    ROW("a\0b", 'a', 0, 'b'),
    ROW("\x7f\xc2\x80", 0x7f, 0x80),
    ROW("\xdf\xbf\xe0\xa0\x80", 0x7ff, 0x800),
    ROW("\xe4\xbe\x8b", 0x4f8b),
    ROW("\xed\x9f\xbf\xee\x80\x80", 0xd7ff, 0xe000),
    ROW("\xef\xbf\xbf", 0xffff),
    ROW("\xf0\x90\x80\x80", 0xd800, 0xdc00),
    ROW("\xf0\x9f\x98\x80z", 0xd83d, 0xde00, 'z'),
    ROW("\xf4\x8f\xbf\xbf", 0xdbff, 0xdfff),
    /* what is not UTF-8 */
    ROW("\x80", 0xfffd),
    ROW("\xc0\x80", 0xfffd, 0xfffd),
    ROW("\xc1\xbf", 0xfffd, 0xfffd),
    ROW("\xe0\x80\x80", 0xfffd, 0xfffd, 0xfffd),
    ROW("\xed\xa0\x80", 0xfffd),
    ROW("\xed\xbf\xbf\xed\xa0"
        "a",
        0xfffd, 0xfffd, 'a'),
    ROW("\xf0\x8f\xbf\xbf", 0xfffd, 0xfffd, 0xfffd, 0xfffd),
    ROW("\xf4\x90\x80\x80", 0xfffd, 0xfffd, 0xfffd, 0xfffd),
    ROW("\xf5\x80\x80\x80", 0xfffd, 0xfffd, 0xfffd, 0xfffd),
    ROW("\xff\xfe", 0xfffd, 0xfffd),
    ROW("\xe4\xbe", 0xfffd),
    ROW("\xe4\xbe"
        "a",
        0xfffd, 'a'),
    ROW("\xf0\x9f\x98", 0xfffd),
    ROW("\xf0\x9f\x98\xe4\xbe\x8b", 0xfffd, 0x4f8b),
    ROW("\xc3", 0xfffd),
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct blm__utf16 u = blm__utf16(rows[i].bytes, rows[i].len);
        uint16_t          unit;
        for (size_t j = 0; j < rows[i].count; j++) {
            if (!blm__utf16_next(&u, &unit))
                fail_msg("row %zu ends after %zu units", i, j);
            if (unit != rows[i].units[j])
                fail_msg("row %zu, unit %zu: %04x, not %04x", i, j, unit, rows[i].units[j]);
        }
        if (blm__utf16_next(&u, &unit))
            fail_msg("row %zu has more units than %zu", i, rows[i].count);
    }
}

static void test_empty(void **state)
{
    (void)state;
    struct blm__utf16 u = blm__utf16("", 0);
    uint16_t          unit;
    assert_false(blm__utf16_next(&u, &unit));
}

/* Every character there and back, by arithmetic of its own. */
static void test_all_characters(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        uint8_t  b[4];
        size_t   n = 0;
        uint16_t one, two = 0;
        if (c >= 0xd800 && c < 0xe000)
            continue;
        if (c < 0x80) {
            b[n++] = (uint8_t)c;
        } else if (c < 0x800) {
            b[n++] = (uint8_t)(0xc0 + c / 64);
            b[n++] = (uint8_t)(0x80 + c % 64);
        } else if (c < 0x10000) {
            b[n++] = (uint8_t)(0xe0 + c / 4096);
            b[n++] = (uint8_t)(0x80 + c / 64 % 64);
            b[n++] = (uint8_t)(0x80 + c % 64);
        } else {
            b[n++] = (uint8_t)(0xf0 + c / 262144);
            b[n++] = (uint8_t)(0x80 + c / 4096 % 64);
            b[n++] = (uint8_t)(0x80 + c / 64 % 64);
            b[n++] = (uint8_t)(0x80 + c % 64);
        }
        struct blm__utf16 u = blm__utf16(b, n);
        assert_true(blm__utf16_next(&u, &one));
        if (c >= 0x10000) {
            assert_true(blm__utf16_next(&u, &two));
            assert_int_equal(one, 0xd800 + (c - 0x10000) / 1024);
            assert_int_equal(two, 0xdc00 + (c - 0x10000) % 1024);
        } else {
            assert_int_equal(one, c);
        }
        assert_false(blm__utf16_next(&u, &one));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_all_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
