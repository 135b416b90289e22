/* SPDX-License-Identifier: MIT */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "unit/support.h"

static void shapes_are_chains_of_bits(void **state)
{
    (void)state;
    blm_filter              *f = make_flavour(&flavours[0], 1000, 0.01, 1);
    const struct blm__shape *s = &f->body.layers[0].shape;
    assert_int_equal(s->kind, BLM_CLASSIC);
    assert_int_equal(s->rule, BLM__CHAIN);
    assert_int_equal(s->cell_bits, 1);
    assert_int_equal(s->probes, 7);
    assert_true(s->line_count == 0 && s->lines == 0);
    assert_true(s->bits >= 9586 && s->bits < 9700); /* 9 586 is the textbook's, a little short */
    blm_free(f);
}

/* The smallest filters there are: one bit, one probe; a bit for many probes. */
static void the_smallest_filters_work(void **state)
{
    (void)state;
    for (uint64_t m = 1; m <= 130; m++)
        for (uint32_t k = 1; k <= 9; k += 4) {
            blm_options o = BLM_OPTIONS_INIT;
            o.flags       = BLM_SEEDED;
            o.bits        = m;
            o.probes      = k;
            blm_filter *f = make(&o);
            assert_false(blm_check(f, "a", 1));
            assert_status(blm_add(f, "a", 1), BLM_OK);
            assert_true(blm_check(f, "a", 1));
            assert_in_range(stats_of(f).ones, 1, m < k ? m : k);
            assert_true(params_of(f).bytes == (m + 63) / 64 * 8);
            blm_free(f);
        }
}

static void many_probes_work(void **state)
{
    (void)state;
    blm_options o     = BLM_OPTIONS_INIT;
    o.flags           = BLM_SEEDED;
    o.bits            = 100000;
    o.probes          = BLM__MAX_PROBES;
    blm_filter     *f = make(&o);
    static uint64_t pos[BLM__MAX_PROBES];
    size_t          n = 0;
    assert_status(blm_positions(f, "a", 1, pos, BLM__MAX_PROBES, &n), BLM_OK);
    assert_int_equal(n, BLM__MAX_PROBES);
    assert_status(blm_add(f, "a", 1), BLM_OK);
    assert_true(blm_check(f, "a", 1));
    assert_false(blm_check(f, "b", 1));
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_chains_of_bits),
        cmocka_unit_test(the_smallest_filters_work),
        cmocka_unit_test(many_probes_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
