/* SPDX-License-Identifier: MIT */
/* The power of the matrix against the plain walk: one throw after the other, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "maths/cover.h"
#include "near.h"

/* One throw at m cells: each of j clear bits is met with chance 1/m. */
static void one_throw(struct blm__cover *c, uint32_t bits, double m)
{
    c->bits = bits;
    for (uint32_t j = 1; j <= bits; j++) {
        for (uint32_t i = 0; i < j; i++)
            *blm__cover_at(c, j, i) = i + 1 == j ? j / m : 0;
        c->log_stay[j] = log1p(-(double)j / m);
    }
}

/* all[j] after n throws: the first throw meets one of the j, or none of them. */
static void walk(uint32_t bits, double m, uint64_t n, double *all)
{
    for (uint32_t j = 0; j <= bits; j++)
        all[j] = j == 0;
    while (n--)
        for (uint32_t j = bits; j > 0; j--)
            all[j] = all[j] * (1 - j / m) + all[j - 1] * (j / m);
}

static void power_is_the_walk(void **state)
{
    (void)state;
    static const uint64_t    throws[] = { 1, 2, 3, 7, 64, 1000, 12345 };
    static const double      cells[]  = { 1, 10, 64, 1000, 1e6, 1e12 };
    static struct blm__cover c;
    double                   fast[BLM__COVER_MAX + 1], slow[BLM__COVER_MAX + 1];
    for (size_t a = 0; a < sizeof throws / sizeof *throws; a++) {
        for (size_t b = 0; b < sizeof cells / sizeof *cells; b++) {
            uint32_t bits = cells[b] < BLM__COVER_MAX ? (uint32_t)cells[b] : BLM__COVER_MAX;
            one_throw(&c, bits, cells[b]);
            blm__cover_power(&c, throws[a], fast);
            walk(bits, cells[b], throws[a], slow);
            for (uint32_t j = 0; j <= bits; j++)
                if (slow[j] > 1e-290)
                    assert_near(fast[j], slow[j], 1e-11);
        }
    }
}

static void nothing_thrown_nothing_set(void **state)
{
    (void)state;
    static struct blm__cover c;
    double                   all[4];
    one_throw(&c, 3, 100);
    blm__cover_power(&c, 0, all);
    assert_true(all[0] == 1 && all[1] == 0 && all[2] == 0 && all[3] == 0);
}

/* One bit has a closed form for any n: rounding must not grow with n. */
static void huge_powers_keep_their_digits(void **state)
{
    (void)state;
    static struct blm__cover c;
    double                   all[9];
    const double             m = 0x1p48;
    for (uint64_t n = 1; n < (uint64_t)1 << 52; n *= 8) {
        one_throw(&c, 8, m);
        blm__cover_power(&c, n, all);
        double one = -expm1((double)n * log1p(-1 / m));
        assert_near(all[1], one, 1e-12);
        /* m is so large that bits are all but independent. */
        if (n > (uint64_t)1 << 40)
            assert_near(all[8], pow(one, 8), 1e-9);
    }
    one_throw(&c, 8, m);
    blm__cover_power(&c, UINT64_MAX, all);
    assert_near(all[8], 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_is_the_walk),
        cmocka_unit_test(nothing_thrown_nothing_set),
        cmocka_unit_test(huge_powers_keep_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
