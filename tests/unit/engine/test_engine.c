/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "api/filter.h"
#include "engine/bits.h"
#include "unit/support.h"

/* Full filters are right at the promise: the model of the shape at its capacity is what the plan
 * promised, and never above what was asked. */
static void shapes_keep_their_promise_on_paper(void **state)
{
    (void)state;
    static const double rates[] = { 0.1, 0.01, 1e-3, 1e-5 };
    EACH_BITS(v)
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        blm_filter              *f = make_flavour(v, 50000, rates[i], 1);
        const struct blm__shape *s = &f->body.layers[0].shape;
        double                   r = blm__shape_rate(s, s->capacity);
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
            hits += f->body.ops->check_one(&f->body, rng_next(&r));
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
    uint64_t                  words[3] = { 0x00000000000000f1u, 0, 0x8000000000000001u };
    struct blm__layer         l        = { .words = words, .word_count = 3 };
    const struct blm__kernel *v        = &blm__kernel_portable;
    assert_true(blm__bits_ones(&l, v) == 7);
    assert_true(blm__counters_ones(&l, v) == 4);
    assert_true(blm__counters_stuck(&l) == 1);
    for (unsigned width = 1; width <= 8; width *= 2) {
        uint64_t sum      = 0;
        l.shape.cell_bits = width;
        for (uint64_t c = 0; c < 192 / width; c++) {
            sum += blm__cell_used(&l, c);
            assert_true(blm__cells_used(&l, 0, c + 1) == sum);
        }
        assert_true(sum == (width == 1 ? 7 : width == 2 ? 5 : width == 4 ? 4 : 3));
    }
}

/* What callers reach through without asking, of every engine that a shape can have. */
static void every_engine_can_do_the_common_things(void **state)
{
    (void)state;
    const char *seen[16];
    size_t      count = 0;
    for (size_t i = 0; blm_scheme_at(i); i++)
        for (int rule = 0; rule < 5; rule++)
            for (uint32_t width = 1; width <= 4; width += 3) {
                struct blm__shape         s = { .rule      = (enum blm__rule)rule,
                                                .cell_bits = width,
                                                .scheme = blm__scheme_find(blm_scheme_at(i)->name) };
                const struct blm__engine *e = blm__engine_of(&s);
                if (!e) /* no such rule; lines and chains of counters */
                    continue;
                assert_true(e->rule == s.rule && e->cell_bits == width);
                assert_int_equal(e->steps, rule == BLM__POSITIONS && width == 1 && s.scheme->wrap);
                assert_true(e->add && e->check && e->ones && e->rate_now && e->rate_at);
                if (e->rule != BLM__AGES) /* whose cells mean something only for a while */
                    assert_true(e->positions && e->use && e->ones_or && e->unite && e->intersect &&
                                e->fold);
                assert_true(!e->native || e->check_one);
                assert_true(!e->takes == !e->add_raw && !e->takes == !e->check_raw);
                assert_true(!e->remove == !e->reduce && !e->reduce == !e->reduced);
                assert_true(!e->stuck == !e->remove);
                size_t n = 0;
                while (n < count && strcmp(seen[n], e->name) != 0)
                    n++;
                if (n == count)
                    seen[count++] = e->name;
            }
    assert_true(count >= 8); /* chain, lines, short, counters, positions, steps, tallies, ages */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_keep_their_promise_on_paper),
        cmocka_unit_test(the_rate_of_the_bits_is_the_share_that_passes),
        cmocka_unit_test(ones_are_counted_cell_by_cell),
        cmocka_unit_test(every_engine_can_do_the_common_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
