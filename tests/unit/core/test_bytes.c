/* SPDX-License-Identifier: MIT */
#include "core/bytes.h"
#include "unit/support.h"

static const uint8_t eight[] = { 0x81, 0x82, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88 };

static void loads_name_their_byte_order(void **state)
{
    (void)state;
    assert_int_equal(blm__get16le(eight), 0x8281);
    assert_true(blm__get32le(eight) == 0x04038281u);
    assert_true(blm__get64le(eight) == 0x8807060504038281u);
    assert_true(blm__get32be(eight) == 0x81820304u);
    assert_true(blm__get64be(eight) == 0x8182030405060788u);
}

static void stores_undo_loads_at_any_address(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 8; shift++) {
        uint8_t out[24];
        memset(out, 0, sizeof out);
        blm__put16le(out + shift, 0x8281);
        assert_memory_equal(out + shift, eight, 2);
        blm__put32le(out + shift, 0x04038281u);
        assert_memory_equal(out + shift, eight, 4);
        blm__put64le(out + shift, 0x8807060504038281u);
        assert_memory_equal(out + shift, eight, 8);
        blm__put32be(out + shift, 0x81820304u);
        assert_memory_equal(out + shift, eight, 4);
        blm__put64be(out + shift, 0x8182030405060788u);
        assert_memory_equal(out + shift, eight, 8);
        assert_int_equal(out[shift + 8], 0);
    }
}

static void swaps_reverse(void **state)
{
    (void)state;
    assert_true(blm__swap64(0x0102030405060708u) == 0x0807060504030201u);
    assert_true(blm__swap32(0x01020304u) == 0x04030201u);
    uint64_t v = blm__le64(1);
    assert_int_equal(*(const uint8_t *)&v, 1);
}

static void doubles_keep_their_bits(void **state)
{
    (void)state;
    assert_true(blm__f64_bits(1.0) == 0x3ff0000000000000u);
    assert_true(blm__f64_from_bits(0x3ff8000000000000u) == 1.5);
}

static void the_cursor_reads_in_order(void **state)
{
    (void)state;
    struct blm__cursor c = blm__cursor(eight, 8);
    assert_int_equal(blm__left(&c), 8);
    assert_int_equal(blm__take8(&c), 0x81);
    assert_int_equal(blm__take16le(&c), 0x0382);
    assert_true(blm__take32be(&c) == 0x04050607u);
    assert_int_equal(blm__left(&c), 1);
    assert_int_equal(blm__take8(&c), 0x88);
    assert_false(c.bad);
    assert_non_null(blm__take(&c, 0));
    assert_false(c.bad);
}

/* Once short, always short: zeroes, no movement, and the first failure's offset. */
static void the_cursor_never_passes_the_end(void **state)
{
    (void)state;
    struct blm__cursor c = blm__cursor(eight, 6);
    blm__take32le(&c);
    assert_true(blm__take64le(&c) == 0);
    assert_true(c.bad);
    assert_int_equal(c.short_at, 4);
    assert_int_equal(blm__take8(&c), 0); /* there is a byte at 4, but nothing is trusted now */
    assert_true(blm__take64be(&c) == 0);
    assert_true(blm__takef64le(&c) == 0);
    assert_null(blm__take(&c, 0));
    assert_int_equal(c.short_at, 4);
    c = blm__cursor(eight, 6);
    assert_null(blm__take(&c, SIZE_MAX));
    assert_int_equal(c.short_at, 0);
    c = blm__cursor(NULL, 0);
    assert_int_equal(blm__take8(&c), 0);
    assert_true(c.bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_name_their_byte_order),
        cmocka_unit_test(stores_undo_loads_at_any_address),
        cmocka_unit_test(swaps_reverse),
        cmocka_unit_test(doubles_keep_their_bits),
        cmocka_unit_test(the_cursor_reads_in_order),
        cmocka_unit_test(the_cursor_never_passes_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
