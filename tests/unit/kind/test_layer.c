/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "api/filter.h"
#include "unit/support.h"

/* Full filters are right at the promise: the model of the shape at its capacity is what the plan
 * promised, and never above what was asked. */
static void shapes_keep_their_promise_on_paper(void **state)
{
    (void)state;
    static const double rates[] = { 0.1, 0.01, 1e-3, 1e-5 };
    EACH_FLAVOUR(v)
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        blm_filter             *f = make_flavour(v, 50000, rates[i], 1);
        const struct blm_shape *s = &f->body.layers[0].shape;
        double                  r = blm__shape_rate(s, s->capacity);
        assert_true(r > 0 && r <= s->rate * (1 + 1e-9));
        assert_true(r > 0.8 * s->rate); /* and no memory is wasted to get there */
        assert_true(blm__shape_rate(s, 0) == 0);
        assert_true(blm__shape_rate(s, s->capacity * 100) > 0.99);
        blm_free(f);
    }
}

/* The rate of the bits as they are is the chance that a random hash passes: counted here
 * hash by hash, and judged at 4.5 standard errors (a false alarm in 150 000; fixed seeds). */
static void the_rate_of_the_bits_is_the_share_that_passes(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 300, 0.05, 1);
        for (uint64_t i = 0; i < 300; i++)
            blm_add(f, &i, 8);
        struct rng r    = { 17 };
        uint64_t   hits = 0, n = 200000;
        for (uint64_t i = 0; i < n; i++)
            hits += f->kind->check_one(&f->body, rng_next(&r));
        double want = stats_of(f).rate_now, got = (double)hits / (double)n;
        double sd = sqrt(want * (1 - want) / (double)n);
        if (fabs(got - want) > 4.5 * sd)
            fail_msg("%s: the bits say %g, %g pass (%.1f sd)", v->name, want, got,
                     (got - want) / sd);
        blm_free(f);
    }
}

static void ones_are_counted_cell_by_cell(void **state)
{
    (void)state;
    uint64_t         words[3] = { 0x00000000000000f1u, 0, 0x8000000000000001u };
    struct blm_layer l        = { .words = words, .word_count = 3 };
    l.shape.cell_bits         = 1;
    assert_true(blm__layer_ones(&l, &blm__kernel_portable) == 7);
    l.shape.cell_bits = 4;
    assert_true(blm__layer_ones(&l, &blm__kernel_portable) == 4);
    assert_true(blm__counters_stuck(&l) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_keep_their_promise_on_paper),
        cmocka_unit_test(the_rate_of_the_bits_is_the_share_that_passes),
        cmocka_unit_test(ones_are_counted_cell_by_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
