/* SPDX-License-Identifier: MIT */
/* The rule from hash to cells, against its own words: the examples are worked out by hand (in
 * Python's long integers), because files live by them. */
#include "core/probe.h"
#include "unit/support.h"

/* h = 0x0123456789abcdef: g, g·C, g·C², … mod 2^64 and ⌊g·1000003 / 2^64⌋. */
static void the_chain_is_the_documented_one(void **state)
{
    (void)state;
    static const uint64_t g[] = {
        0x0123456789abcdefu, 0x4c29e084746f2ae1u, 0xa6c044dced45c34fu,
        0x1b510f29096cb781u, 0x503c06e324e114afu,
    };
    static const uint64_t at[] = { 4444, 297514, 651373, 106705, 313416 };
    uint64_t              h    = 0x0123456789abcdefu;
    for (size_t i = 0; i < COUNT_OF(g); i++, h = blm__chain_next(h)) {
        assert_true(h == g[i]);
        assert_true(blm__reduce(h, 1000003) == at[i]);
    }
}

static void reduction_covers_the_range_and_stays_in_it(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {
        1, 2, 3, 63, 64, 65, 1000003, (uint64_t)1 << 32, ((uint64_t)1 << 32) + 1, (uint64_t)1 << 48
    };
    struct rng r = { 1 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        uint64_t m = sizes[i];
        assert_true(blm__reduce(0, m) == 0);
        assert_true(blm__reduce(UINT64_MAX, m) == m - 1);
        for (int j = 0; j < 1000; j++)
            assert_true(blm__reduce(rng_next(&r), m) < m);
    }
    /* No bias a test can see: each third of 2^64 goes to one of three cells, exactly. */
    assert_true(blm__reduce(UINT64_MAX / 3, 3) == 0);
    assert_true(blm__reduce(UINT64_MAX / 3 + 1, 3) == 1);
    assert_true(blm__reduce(UINT64_MAX / 3 * 2 + 1, 3) == 2);
}

/* The step multiplies by an odd number, so it can be undone: no value leads nowhere, no two meet.
 * Zero is the one fixed point, a hash in 2^64; its k probes are one cell. */
static void no_step_degenerates(void **state)
{
    (void)state;
    uint64_t inverse = BLM__C; /* Newton: doubles the correct low bits each round */
    for (int i = 0; i < 6; i++)
        inverse *= 2 - BLM__C * inverse;
    struct rng r = { 2 };
    for (int i = 0; i < 1000; i++) {
        uint64_t g = rng_next(&r);
        assert_true(blm__chain_next(g) * inverse == g);
        assert_true(blm__chain_next(g) != g);
    }
    assert_true(BLM__D % 2 == 1);
}

static void the_line_rule_is_the_documented_one(void **state)
{
    (void)state;
    static const unsigned bit[8] = { 57, 13, 58, 8, 4, 60, 20, 24 };
    uint64_t              h = 0x0123456789abcdefu, x = blm__line_x(h);
    assert_true(x == 0x4c29e084746f2ae1u);
    assert_true(blm__reduce(h, 977) == 4);
    for (unsigned j = 0; j < 8; j++)
        assert_int_equal(blm__line_bit(x, j), bit[j]);
    assert_true(blm__line_next(x) == 0xa64edc28664e0a53u);
}

/* k words for every k and rotation, and each word equally often over the rotations. */
static void patterns_rotate(void **state)
{
    (void)state;
    static const uint8_t first[9] = { 0, 0x01, 0x03, 0x0b, 0x17, 0x2f, 0x3f, 0x7f, 0xff };
    for (unsigned k = 1; k <= 8; k++) {
        unsigned used[8] = { 0 };
        for (uint64_t r = 0; r < 8; r++) {
            unsigned p = blm__line_words(r << 61 | 12345, k), n = 0;
            for (unsigned j = 0; j < 8; j++) {
                n += p >> j & 1;
                used[j] += p >> j & 1;
                assert_int_equal(p >> j & 1, first[k] >> ((j + 8 - r) % 8) & 1);
            }
            assert_int_equal(n, k);
            assert_true(p <= 0xff);
        }
        for (unsigned j = 0; j < 8; j++)
            assert_int_equal(used[j], k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chain_is_the_documented_one),
        cmocka_unit_test(reduction_covers_the_range_and_stays_in_it),
        cmocka_unit_test(no_step_degenerates),
        cmocka_unit_test(the_line_rule_is_the_documented_one),
        cmocka_unit_test(patterns_rotate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
