/* SPDX-License-Identifier: MIT */
#include "core/bits.h"
#include "unit/support.h"

/* 128-bit product by school multiplication on 16-bit digits: slow, and another way. */
static uint64_t mulhi_by_digits(uint64_t a, uint64_t b)
{
    uint64_t digit[8] = { 0 };
    for (unsigned i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; j < 4; j++) {
            uint64_t v = (a >> (16 * i) & 0xffff) * (b >> (16 * j) & 0xffff) + digit[i + j] + carry;
            digit[i + j] = v & 0xffff;
            carry        = v >> 16;
        }
        digit[i + 4] = carry;
    }
    return digit[4] | digit[5] << 16 | digit[6] << 32 | digit[7] << 48;
}

static void mulhi_is_the_high_half(void **state)
{
    (void)state;
    static const uint64_t edges[] = {
        0, 1, 2, 0xffffffff, 0x100000000, 0x100000001, UINT64_MAX >> 1, UINT64_MAX - 1, UINT64_MAX
    };
    for (size_t i = 0; i < COUNT_OF(edges); i++)
        for (size_t j = 0; j < COUNT_OF(edges); j++)
            assert_true(blm__mulhi(edges[i], edges[j]) == mulhi_by_digits(edges[i], edges[j]));
    struct rng r = { 1 };
    for (int i = 0; i < 20000; i++) {
        uint64_t a = rng_next(&r), b = rng_next(&r) >> (i % 64);
        assert_true(blm__mulhi(a, b) == mulhi_by_digits(a, b));
    }
}

static void rotations_turn(void **state)
{
    (void)state;
    uint64_t v = 0x0123456789abcdefu;
    for (unsigned r = 0; r <= 64; r++) {
        uint64_t want = v;
        for (unsigned i = 0; i < r; i++)
            want = want << 1 | want >> 63;
        assert_true(blm__rotl64(v, r) == want);
    }
    assert_true(blm__rotl32(0x80000001u, 1) == 3);
    assert_true(blm__rotl32(0x12345678u, 0) == 0x12345678u);
    assert_true(blm__rotl32(0x12345678u, 8) == 0x34567812u);
}

static void popcount_counts(void **state)
{
    (void)state;
    struct rng r = { 2 };
    for (int i = 0; i < 5000; i++) {
        uint64_t v    = rng_next(&r) & rng_next(&r);
        unsigned want = 0;
        for (unsigned b = 0; b < 64; b++)
            want += (unsigned)(v >> b) & 1;
        assert_int_equal(BLM__POPCOUNT64(v), want);
    }
    assert_int_equal(BLM__POPCOUNT64((uint64_t)0), 0);
    assert_int_equal(BLM__POPCOUNT64(UINT64_MAX), 64);
}

/* Every input bit moves about half of the output: 28 to 36 of 64 on average over 400
 * values, where the mean of so many fair coins lies within 0.2 of 32. */
static void mix64_avalanches(void **state)
{
    (void)state;
    struct rng r = { 3 };
    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned flips = 0;
        for (int i = 0; i < 400; i++) {
            uint64_t v = rng_next(&r);
            flips += BLM__POPCOUNT64(blm__mix64(v) ^ blm__mix64(v ^ (uint64_t)1 << bit));
        }
        assert_in_range(flips, 400 * 28, 400 * 36);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mulhi_is_the_high_half),
        cmocka_unit_test(rotations_turn),
        cmocka_unit_test(popcount_counts),
        cmocka_unit_test(mix64_avalanches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
