/* SPDX-License-Identifier: MIT */
/* Bits under a scheme that is not ours, so that grouping, reducing and counting stand alone. */
#include "engine/bits.h"
#include "unit/engine/toy.h"

/* The scheme as one that lists positions, and as one that lists raw values and says modulo what. */
static void toy_form(int raw)
{
    toy.positions_raw = raw ? toy_raw : NULL;
    toy.modulus       = raw ? blm__modulus_m : NULL;
    toy.reduce        = raw ? blm__reduce_m : NULL;
}

static unsigned set_by_rule(struct toy_filter *f, const blm_digest *d)
{
    uint64_t pos[BLM__MAX_PROBES];
    unsigned is_new = 0;
    toy_positions(&f->layer.shape, d, pos);
    for (uint32_t j = 0; j < f->layer.shape.probes; j++) {
        is_new |= !toy_get(f->words, pos[j]);
        toy_set(f->words, pos[j]);
    }
    return is_new;
}

static unsigned has_by_rule(const struct toy_filter *f, const blm_digest *d)
{
    uint64_t pos[BLM__MAX_PROBES];
    unsigned all = 1;
    toy_positions(&f->layer.shape, d, pos);
    for (uint32_t j = 0; j < f->layer.shape.probes; j++)
        all &= toy_get(f->words, pos[j]);
    return all;
}

static void one_batch(uint32_t k, size_t n, bool shared)
{
    static struct toy_filter f, g;
    static blm_digest        d[64];
    uint8_t                  fresh[64], maybe[64];
    struct rng               r     = { k * 100 + n };
    size_t                   count = 0;
    toy_init(&f, 10007, k, 1);
    toy_init(&g, 10007, k, 1);
    assert_string_equal(f.layer.engine->name, "positions");
    f.body.shared = shared;
    for (size_t i = 0; i < n; i++)
        d[i] = i % 5 == 4 ? d[i - 3] : toy_digest(&r);
    struct blm__keys all  = { .digests = d, .n = n };
    size_t           said = f.layer.engine->add(&f.body, &f.layer, &all, fresh);
    for (size_t i = 0; i < n; i++) {
        unsigned is_new = set_by_rule(&g, &d[i]);
        assert_int_equal(fresh[i], is_new);
        count += is_new;
    }
    assert_int_equal(said, count);
    assert_true(blm__layer_items(&f.layer) == count);
    assert_memory_equal(f.words, g.words, sizeof f.words);
    assert_int_equal(f.layer.engine->check(&f.body, &f.layer, &all, maybe), n);
    for (size_t i = 0; i < n; i++) { /* and strangers, asked in one batch */
        d[i] = toy_digest(&r);
        assert_int_equal(maybe[i], 1);
    }
    said  = f.layer.engine->check(&f.body, &f.layer, &all, maybe);
    count = 0;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(maybe[i], has_by_rule(&f, &d[i]));
        count += maybe[i];
    }
    assert_int_equal(said, count);
}

/* Groups of keys go through a buffer of 2 048 positions: with k = 1, 7, 300, 2 047 or 2 048 a
 * group is 128 keys, 6 or one. Each batch is compared with keys added one by one. */
static void positions_are_grouped_without_losing_any(void **state)
{
    (void)state;
    static const uint32_t ks[] = { 1, 2, 7, 127, 128, 129, 300, 1024, 2047, 2048 };
    static const size_t   ns[] = { 0, 1, 15, 16, 17, 64 };
    for (int raw = 0; raw < 2; raw++) {
        toy_form(raw);
        for (size_t i = 0; i < COUNT_OF(ks); i++)
            for (size_t j = 0; j < COUNT_OF(ns); j++)
                for (int shared = 0; shared < 2; shared++)
                    one_batch(ks[i], ns[j], shared);
    }
    toy_form(0);
}

/* Keys that another layer has are left out by a list of places, not by moving digests. */
static void picked_digests_are_those_digests(void **state)
{
    (void)state;
    static struct toy_filter f, g;
    static blm_digest        d[64];
    uint16_t                 pick[20];
    uint8_t                  x[20], y;
    struct rng               r = { 3 };
    toy_init(&f, 1009, 5, 1);
    toy_init(&g, 1009, 5, 1);
    for (size_t i = 0; i < 64; i++)
        d[i] = toy_digest(&r);
    for (uint16_t i = 0; i < 20; i++)
        pick[i] = (uint16_t)(i * 37 % 64);
    struct blm__keys k = { .n = 20, .digests = d, .pick = pick };
    size_t           n = f.layer.engine->add(&f.body, &f.layer, &k, x), count = 0;
    for (size_t i = 0; i < 20; i++) {
        struct blm__keys one = { .n = 1, .digests = &d[pick[i]] };
        count += g.layer.engine->add(&g.body, &g.layer, &one, &y);
        assert_int_equal(x[i], y);
    }
    assert_int_equal(n, count);
    assert_memory_equal(f.words, g.words, sizeof f.words);
    assert_int_equal(f.layer.engine->check(&f.body, &f.layer, &k, x), 20);
}

static void raw_values_are_the_schemes_or_none(void **state)
{
    (void)state;
    static struct toy_filter f;
    blm_digest               d = { .w = { UINT64_MAX, 5 } };
    uint64_t                 out[3];
    toy_init(&f, 1000, 3, 1);
    assert_true(f.layer.engine->positions(&f.layer.shape, &d, false, out));
    assert_true(out[0] == UINT64_MAX % 1000 && out[1] == 4 && out[2] == 9);
    assert_false(f.layer.engine->positions(&f.layer.shape, &d, true, out));
    toy_form(1);
    assert_true(f.layer.engine->positions(&f.layer.shape, &d, true, out));
    assert_true(out[0] == UINT64_MAX && out[1] == 4 && out[2] == 9);
    toy_form(0);
}

static double quarter_now(const struct blm__layer *l, uint64_t ones)
{
    (void)ones;
    (void)l;
    return 0.25;
}

static double eighth_at(const struct blm__shape *s, uint64_t n)
{
    (void)s;
    return n ? 0.125 : 0;
}

static uint64_t half_of_it(const struct blm__shape *s) { return s->bits / 2; }

/* fill^k of the cells that a probe can reach, and the scheme's model; its own, where it has one. */
static void the_scheme_has_the_last_word_on_rates(void **state)
{
    (void)state;
    static struct toy_filter f;
    toy_init(&f, 1000, 3, 1);
    assert_true(blm__layer_rate_now(&f.layer, 500) == 0.125);
    assert_true(blm__layer_rate_now(&f.layer, 0) == 0);
    double all = blm__shape_rate(&f.layer.shape, 100);
    toy.reach  = half_of_it;
    assert_true(blm__layer_rate_now(&f.layer, 250) == 0.125);
    assert_true(blm__shape_rate(&f.layer.shape, 100) > 2 * all && all > 0);
    toy.rate_now = quarter_now;
    toy.rate_at  = eighth_at;
    assert_true(blm__layer_rate_now(&f.layer, 500) == 0.25);
    assert_true(blm__shape_rate(&f.layer.shape, 100) == 0.125);
    toy.reach    = NULL;
    toy.rate_now = NULL;
    toy.rate_at  = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_grouped_without_losing_any),
        cmocka_unit_test(picked_digests_are_those_digests),
        cmocka_unit_test(raw_values_are_the_schemes_or_none),
        cmocka_unit_test(the_scheme_has_the_last_word_on_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
