/* SPDX-License-Identifier: MIT */
/* The modelled rate of a filter at n keys, whatever it is: beside what the bits give when n keys
 * are in it. */
#include <math.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "bloomery/redisbloom.h"
#include "unit/support.h"

static double rate_at(const blm_filter *f, uint64_t n)
{
    double r = -1;
    assert_status(blm_rate_at(f, n, &r), BLM_OK);
    return r;
}

static void add_keys(blm_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        uint64_t key = (i + 1) * 0x9e3779b97f4a7c15u; /* counters are hard on FNV */
        key          = (key ^ key >> 31) * 0xbf58476d1ce4e5b9u;
        assert_true(blm_add(f, &key, 8) >= 0);
    }
}

/* The bits of one filter stray from the mean: m and n are large enough that 15% is far off. */
static void near_the_bits(const blm_filter *f, uint64_t n)
{
    double modelled = rate_at(f, n), now = stats_of(f).rate_now;
    if (!(fabs(modelled - now) <= 0.15 * now))
        fail_msg("%s %s at %llu keys: %g modelled, %g by the bits", params_of(f).scheme,
                 blm_kind_name(params_of(f).kind), (unsigned long long)n, modelled, now);
}

static void kinds_are_modelled_as_they_probe(void **state)
{
    (void)state;
    const blm_kind_row *row;
    for (size_t i = 0; (row = blm_kind_at(i)) != NULL; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = row->kind;
        o.items       = 20000;
        o.rate        = 0.02;
        o.flags       = BLM_SEEDED;
        if (!(row->can & BLM_CAN_ADD))
            continue; /* its rate does not depend on how many keys it has: unit.kind.static */
        blm_filter *f = make(&o);
        assert_true(rate_at(f, 0) == 0);
        add_keys(f, 0, 10000);
        near_the_bits(f, 10000);
        add_keys(f, 10000, 20000);
        if (!(row->can & BLM_CAN_FORGET)) /* modelled when the turn ends, an eighth later */
            near_the_bits(f, 20000);
        if (!(row->can & BLM_CAN_GROW)) {
            blm_plan p = { .size = sizeof p };
            blm_rate r = { .size = sizeof r };
            assert_status(blm_plan_for(&o, &p, NULL), BLM_OK);
            assert_true(fabs(p.rate - rate_at(f, 20000)) < 1e-9);
            assert_status(blm_rate_of(p.model, p.bits, p.probes, p.lines, 20000, &r), BLM_OK);
            assert_true(fabs(p.rate - r.value) < 1e-9);
            if (row->can & BLM_CAN_FILL_UP)
                assert_int_equal(blm_rate_at(f, 60000, &r.value), BLM_E_FULL);
            else
                add_keys(f, 20000, 60000); /* past its capacity: the rate goes up without end */
            near_the_bits(f, row->can & BLM_CAN_FILL_UP ? 20000 : 60000);
        }
        blm_free(f);
    }
}

/* Schemes of others, each by its own model. Those whose probes crowd are not modelled so well. */
static void other_schemes_are_modelled(void **state)
{
    (void)state;
    static const char *const schemes[] = { "guava64", "guava32", "go",      "spark1",    "spark2",
                                           "dcso",    "bip37",   "parquet", "redisbloom" };
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.scheme      = schemes[i];
        o.items       = 10000;
        o.rate        = 0.02;
        blm_filter *f = make(&o);
        add_keys(f, 0, 10000);
        near_the_bits(f, 10000);
        blm_free(f);
    }
}

/* A new filter knows how it will be when it has grown: the same as the one that has. */
static void growth_is_foreseen(void **state)
{
    (void)state;
    static const struct {
        const char *scheme;
        uint64_t    items, keys;
    } rows[] = { { NULL, 1000, 60000 }, { NULL, 0, 300000 }, { "redisbloom", 1000, 30000 } };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.scheme      = rows[i].scheme;
        o.kind        = BLM_SCALABLE;
        o.items       = rows[i].items;
        o.rate        = 0.02;
        blm_filter *f = make(&o), *fresh = make(&o);
        double      foreseen = rate_at(fresh, rows[i].keys);
        add_keys(f, 0, rows[i].keys);
        assert_true(params_of(f).capacity >= params_of(f).items);
        assert_true(fabs(rate_at(f, rows[i].keys) - foreseen) <= 1e-9);
        near_the_bits(f, rows[i].keys);
        assert_true(foreseen > 0 && foreseen <= 0.02);
        blm_free(f);
        blm_free(fresh);
    }
}

static void what_cannot_grow_so_far_says_so(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    double      r;
    o.scheme      = "redisbloom";
    o.items       = 1000;
    o.rate        = 0.01;
    o.variant     = BLM_CHAIN_NOROUND | BLM_CHAIN_FORCE64 | BLM_CHAIN_NO_SCALING;
    blm_filter *f = make(&o);
    assert_true(rate_at(f, 1000) > 0);
    assert_status(blm_rate_at(f, 1001, &r), BLM_E_FULL);
    blm_free(f);
    o.variant = 0;
    f         = make(&o);
    assert_true(rate_at(f, 5000) > 0);
    blm_set_max_bytes(f, params_of(f).bytes + 8);
    assert_status(blm_rate_at(f, 5000, &r), BLM_E_LIMIT);
    assert_status(blm_rate_at(f, 5000, NULL), BLM_E_ARGUMENT);
    blm_free(f);
}

static void layers_one_by_one(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    double      r, absent = 1;
    o.kind        = BLM_SCALABLE;
    o.items       = 1000;
    o.rate        = 0.01;
    blm_filter *f = make(&o);
    add_keys(f, 0, 20000);
    uint32_t layers = params_of(f).layers;
    assert_true(layers > 1);
    for (uint32_t i = 0; i < layers; i++) {
        blm_params p = { .size = sizeof p };
        assert_status(blm_get_layer(f, i, &p), BLM_OK);
        assert_status(blm_layer_rate_at(f, i, p.capacity, &r), BLM_OK);
        assert_true(r > 0 && r <= p.rate * 1.000001);
        absent *= 1 - r;
    }
    assert_true(fabs(1 - absent - rate_at(f, params_of(f).capacity)) < 1e-9);
    assert_status(blm_layer_rate_at(f, layers, 1, &r), BLM_E_ARGUMENT);
    blm_free(f);
}

/* Of no probes, every answer is "maybe". */
static void without_probes_it_is_one(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "bip37";
    o.items       = 1;
    o.rate        = 0.9;
    blm_filter *f = make(&o);
    assert_int_equal(params_of(f).probes, 0);
    assert_true(rate_at(f, 0) == 1 && rate_at(f, 5) == 1);
    blm_free(f);
}

/* A limit that stops the real filter stops the model. */
static void a_limit_ends_the_model_too(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    double      rate;
    o.kind        = BLM_SCALABLE;
    o.rate        = 0.01;
    o.max_bytes   = 64 << 10; /* the first layer, and not the second size of a young filter */
    blm_filter *f = make(&o);
    assert_status(blm_rate_at(f, 1000, &rate), BLM_OK);
    assert_status(blm_rate_at(f, 500000, &rate), BLM_E_LIMIT);
    uint64_t   i  = 0;
    blm_status st = BLM_OK;
    for (; st >= 0 && i < 500000; i++)
        st = blm_add(f, &i, 8);
    assert_status(st, BLM_E_LIMIT);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_modelled_as_they_probe),
        cmocka_unit_test(other_schemes_are_modelled),
        cmocka_unit_test(growth_is_foreseen),
        cmocka_unit_test(what_cannot_grow_so_far_says_so),
        cmocka_unit_test(layers_one_by_one),
        cmocka_unit_test(without_probes_it_is_one),
        cmocka_unit_test(a_limit_ends_the_model_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
