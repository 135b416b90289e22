/* SPDX-License-Identifier: MIT */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "unit/support.h"

/* One line for rates down to 1e-3, two to 1e-6, three below. */
static void strict_rates_take_more_lines(void **state)
{
    (void)state;
    static const struct {
        double   p;
        uint32_t lines;
    } rows[] = { { 0.1, 1 }, { 0.01, 1 }, { 1e-3, 1 }, { 1e-4, 2 }, { 1e-6, 2 }, { 1e-8, 3 } };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o              = BLM_OPTIONS_INIT;
        o.kind                     = BLM_BLOCKED;
        o.items                    = 100000;
        o.rate                     = rows[i].p;
        blm_filter              *f = make(&o);
        const struct blm__shape *s = &f->body.layers[0].shape;
        assert_int_equal(s->rule, BLM__LINES);
        assert_int_equal(params_of(f).lines, rows[i].lines);
        assert_int_equal(params_of(f).probes, s->probes * s->lines);
        assert_true(s->probes >= 1 && s->probes <= 8);
        assert_true(s->bits == s->line_count * 512 && s->bits % 512 == 0);
        blm_free(f);
    }
}

/* Every probe of a key lies in one of its lines, and each line holds its share, a word each. */
static void a_key_stays_in_its_lines(void **state)
{
    (void)state;
    for (uint32_t lines = 1; lines <= 3; lines++)
        for (uint32_t k = 1; k <= 8; k++) {
            blm_options o = BLM_OPTIONS_INIT;
            o.kind        = BLM_BLOCKED;
            o.flags       = BLM_SEEDED;
            o.bits        = 512 * 1000;
            o.probes      = k * lines;
            o.lines       = lines;
            blm_filter *f = make(&o);
            for (uint32_t key = 0; key < 50; key++) {
                uint64_t pos[24];
                size_t   n = 0;
                assert_status(blm_positions(f, &key, 4, pos, 24, &n), BLM_OK);
                assert_int_equal(n, k * lines);
                for (uint32_t l = 0; l < lines; l++)
                    for (uint32_t j = 1; j < k; j++) {
                        uint64_t a = pos[l * k + j - 1], b = pos[l * k + j];
                        assert_true(a / 512 == b / 512); /* same line */
                        assert_true(a / 64 < b / 64);    /* another word, in order */
                    }
            }
            blm_free(f);
        }
}

/* Where a hash's lines come from: the second line of a key is not the first one's neighbour. Over
 * 20 000 keys and 64 lines the pair (first, second) falls on each of 4 096 cells about 4.9 times;
 * chi-square with 4 095 degrees has σ = √8190 ≈ 90.5. */
static void lines_of_one_key_are_independent(void **state)
{
    (void)state;
    blm_options o     = BLM_OPTIONS_INIT;
    o.kind            = BLM_BLOCKED;
    o.flags           = BLM_SEEDED;
    o.bits            = 512 * 64;
    o.probes          = 9;
    o.lines           = 3;
    blm_filter     *f = make(&o);
    static unsigned pair[3][4096];
    double          chi[3] = { 0, 0, 0 };
    for (uint32_t key = 0; key < 20000; key++) {
        uint64_t pos[9];
        size_t   n = 0;
        blm_positions(f, &key, 4, pos, 9, &n);
        uint64_t a = pos[0] / 512, b = pos[3] / 512, c = pos[6] / 512;
        pair[0][a * 64 + b]++;
        pair[1][a * 64 + c]++;
        pair[2][b * 64 + c]++;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4096; j++) {
            double want = 20000.0 / 4096, d = pair[i][j] - want;
            chi[i] += d * d / want;
        }
        assert_true(chi[i] > 4095 - 5 * 90.5 && chi[i] < 4095 + 5 * 90.5);
    }
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict_rates_take_more_lines),
        cmocka_unit_test(a_key_stays_in_its_lines),
        cmocka_unit_test(lines_of_one_key_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
