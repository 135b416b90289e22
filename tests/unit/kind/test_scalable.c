/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "api/filter.h"
#include "unit/support.h"

static const bool layer_forms[] = { false, true }; /* blocked layers, classic layers */

static blm_options growing(bool classic, uint64_t first, double p)
{
    blm_options o   = BLM_OPTIONS_INIT;
    o.kind          = BLM_SCALABLE;
    o.flags         = BLM_SEEDED;
    o.items         = first;
    o.rate          = p;
    o.layer_classic = classic;
    return o;
}

/* Layer i holds growth^i times the first, at tightening^i times its rate; the promises of all
 * layers, however many come, stay below what was asked. */
static void layers_grow_and_tighten(void **state)
{
    (void)state;
    static const double growths[] = { 1.2, 2, 4 }, tightenings[] = { 0.5, 0.9 };
    for (size_t c = 0; c < 2; c++)
        for (size_t g = 0; g < COUNT_OF(growths); g++)
            for (size_t t = 0; t < COUNT_OF(tightenings); t++) {
                blm_options o = growing(layer_forms[c], 50, 0.02);
                o.growth      = growths[g];
                o.tightening  = tightenings[t];
                blm_filter *f = make(&o);
                for (uint64_t i = 0; i < 3000; i++)
                    assert_true(blm_add(f, &i, 8) >= 0);
                blm_params p = params_of(f);
                assert_true(p.layers >= 3);
                assert_true(p.growth == growths[g] && p.tightening == tightenings[t]);
                double sum = 0, rate = 0.02 * (1 - tightenings[t]);
                for (uint32_t i = 0; i < p.layers; i++, rate *= tightenings[t]) {
                    blm_params l = layer_of(f, i);
                    assert_true(fabs(l.rate / rate - 1) < 1e-9);
                    assert_int_equal(l.kind, layer_forms[c] ? BLM_CLASSIC : BLM_BLOCKED);
                    if (i > 0) {
                        uint64_t before = layer_of(f, i - 1).capacity;
                        assert_true(l.capacity == (uint64_t)((double)before * growths[g]));
                        assert_true(layer_of(f, i - 1).items == before); /* full, not over */
                    }
                    assert_true(l.items <= l.capacity);
                    sum += l.rate;
                }
                assert_true(sum < 0.02);
                assert_true(p.rate == 0.02);
                assert_true(stats_of(f).rate_now < 0.02);
                blm_free(f);
            }
}

/* A growth that rounds to nothing still grows. */
static void tiny_layers_grow_by_one_at_least(void **state)
{
    (void)state;
    blm_options o = growing(true, 1, 0.1);
    o.growth      = 1.0001;
    blm_filter *f = make(&o);
    for (uint64_t i = 0; i < 20; i++)
        blm_add(f, &i, 8);
    assert_true(params_of(f).layers > 3 && params_of(f).layers <= 20);
    for (uint32_t i = 1; i < params_of(f).layers; i++)
        assert_true(layer_of(f, i).capacity == layer_of(f, i - 1).capacity + 1);
    blm_free(f);
}

/* Told anything of how it grows it does so by layers (told nothing: test_young.c). */
static void the_first_layer_has_a_default(void **state)
{
    (void)state;
    blm_options rows[3] = { growing(false, 0, 0.01), growing(false, 0, 0.01),
                            growing(true, 0, 0.01) };
    rows[0].growth      = 2;
    rows[1].tightening  = 0.5;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_filter *f = make(&rows[i]);
        assert_true(params_of(f).capacity == 131072);
        blm_free(f);
    }
}

static void bad_growth_is_named(void **state)
{
    (void)state;
    static const struct {
        double      growth, tightening, cap;
        const char *word;
    } rows[] = { { 1, 0, 0, "growth" },        { 0.5, 0, 0, "growth" },
                 { -2, 0, 0, "growth" },       { NAN, 0, 0, "growth" },
                 { 2000, 0, 0, "growth" },     { 0, 1, 0, "tightening" },
                 { 0, -0.5, 0, "tightening" }, { 0, NAN, 0, "tightening" },
                 { 0, 0, 0.001, "rate_cap" },  { 0, 0, 1, "rate_cap" },
                 { 0, 0, NAN, "rate_cap" },    { 0, 0, -1, "rate_cap" } };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o = growing(false, 100, 0.01);
        blm_filter *f;
        blm_error   e;
        o.growth     = rows[i].growth;
        o.tightening = rows[i].tightening;
        o.rate_cap   = rows[i].cap;
        assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
        check_error(&e, BLM_E_ARGUMENT, rows[i].word);
    }
}

/* Batches across the borders between layers, full of repeats near and far: each key is fresh at
 * most once, never missing, and the bits are those of single calls. */
/* The next layer's rate is no number any more: a named end of growth, and nothing is lost. */
static void a_rate_that_vanishes_ends_growth(void **state)
{
    (void)state;
    for (int classic = 0; classic <= 1; classic++) {
        blm_options o    = BLM_OPTIONS_INIT;
        double      rate = 0;
        uint64_t    key  = 0;
        o.kind           = BLM_SCALABLE;
        o.items          = 3;
        o.rate           = 1e-9;
        o.tightening     = 5e-324;
        o.layer_classic  = classic;
        blm_filter *f    = make(&o);
        for (; key < 3; key++)
            assert_status(blm_add(f, &key, 8), BLM_OK);
        assert_status(blm_add(f, &key, 8), BLM_E_LIMIT);
        assert_status(blm_rate_at(f, 4, &rate), BLM_E_LIMIT);
        assert_int_equal(params_of(f).items, 3);
        for (key = 0; key < 3; key++)
            assert_true(blm_check(f, &key, 8));
        blm_free(f);
    }
}

static void growth_in_the_middle_of_a_batch(void **state)
{
    (void)state;
    enum { N = 6000 };
    uint32_t  *keys  = malloc(N * sizeof *keys);
    uint8_t   *fresh = malloc(N), *seen = malloc(N);
    struct rng r = { 5 };
    for (size_t c = 0; c < 2; c++)
        for (uint64_t first = 1; first <= 300; first += 37)
            for (size_t batch = 1; batch <= N; batch = batch * 5 + 3) {
                blm_options o = growing(layer_forms[c], first, 0.1);
                blm_filter *f = make(&o), *g = make(&o);
                for (size_t i = 0; i < N; i++)
                    keys[i] = i > 3 && rng_below(&r, 3) == 0
                                  ? keys[i - 1 - rng_below(&r, i < 400 ? i : 400)]
                                  : (uint32_t)rng_below(&r, N);
                memset(seen, 0, N);
                for (size_t at = 0; at < N; at += batch) {
                    size_t n = N - at < batch ? N - at : batch, done = 0;
                    assert_status(blm_add_fixed(f, keys + at, 4, n, fresh + at, &done), BLM_OK);
                    assert_int_equal(done, n);
                }
                for (size_t i = 0; i < N; i++) {
                    assert_false(fresh[i] && seen[keys[i]]);
                    seen[keys[i]] = 1;
                    assert_int_equal(blm_add(g, &keys[i], 4) == BLM_OK, fresh[i]);
                }
                assert_true(same_bits(f, g));
                assert_true(params_of(f).items == params_of(g).items);
                assert_int_equal(blm_check_fixed(f, keys, 4, N, NULL), N);
                blm_free(f);
                blm_free(g);
            }
    free(keys);
    free(fresh);
    free(seen);
}

/* When it cannot grow, it says where it stopped; what it says is in is in, and old keys in the
 * rest of the batch do not count as added. */
static void a_cap_stops_growth_at_a_key(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        blm_options o = growing(layer_forms[c], 100, 0.01);
        blm_filter *f = make(&o);
        uint32_t    keys[2000];
        uint8_t     fresh[2000];
        size_t      done = 0;
        o.max_bytes      = params_of(f).bytes * 2; /* the second layer does not fit */
        blm_free(f);
        f = make(&o);
        for (uint32_t i = 0; i < 2000; i++)
            keys[i] = i % 7 == 6 ? i - 5 : i;
        assert_status(blm_add_fixed(f, keys, 4, 2000, fresh, &done), BLM_E_LIMIT);
        assert_true(done >= 100 && done < 300);
        assert_true(params_of(f).layers == 1 && params_of(f).items == 100);
        assert_int_equal(blm_check_fixed(f, keys, 4, done, NULL), done);
        uint64_t said = 0;
        for (size_t i = 0; i < done; i++)
            said += fresh[i];
        assert_true(said == 100);
        assert_false(blm_check(f, &keys[done], 4)); /* the one it stopped at is not in */
        assert_status(blm_add(f, &keys[done], 4), BLM_E_LIMIT);
        assert_status(blm_add(f, &keys[0], 4), BLM_PRESENT); /* old keys need no room */
        blm_free(f);
    }
}

static void layers_end_at_the_most_there_may_be(void **state)
{
    (void)state;
    blm_options o = growing(true, 1, 0.5);
    o.growth      = 1.0001;
    o.tightening  = 0.99;
    blm_filter *f = make(&o);
    blm_status  s = BLM_OK;
    uint64_t    i = 0;
    while (s >= 0 && i < 200000) {
        s = blm_add(f, &i, 8);
        i += s >= 0;
    }
    assert_status(s, BLM_E_FULL);
    assert_int_equal(params_of(f).layers, BLM__MAX_LAYERS);
    assert_false(blm_check(f, &i, 8));
    for (uint64_t j = 0; j < i; j++)
        assert_true(blm_check(f, &j, 8));
    blm_free(f);
}

/* ---- union ---- */

static void a_union_appends_layers_and_adds_rates(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        blm_options o = growing(layer_forms[c], 100, 0.01);
        blm_filter *a = make(&o), *b = make(&o);
        for (uint64_t i = 0; i < 500; i++) {
            uint64_t j = i + 400;
            blm_add(a, &i, 8);
            blm_add(b, &j, 8);
        }
        blm_params x = params_of(a), y = params_of(b);
        assert_status(blm_union(a, b, NULL), BLM_OK);
        blm_params u = params_of(a);
        assert_int_equal(u.layers, x.layers + y.layers);
        assert_true(u.bits == x.bits + y.bits && u.items == x.items + y.items);
        assert_true(fabs(u.rate - 0.02) < 1e-15);
        for (uint64_t i = 0; i < 900; i++)
            assert_true(blm_check(a, &i, 8));
        /* It goes on growing from its own last layer, not from the one it was given. */
        for (uint64_t i = 10000; i < 11000; i++)
            blm_add(a, &i, 8);
        blm_params mine = layer_of(a, x.layers - 1), next = layer_of(a, u.layers);
        assert_true(mine.items == mine.capacity);
        assert_true(next.capacity == 4 * mine.capacity);
        assert_true(fabs(next.rate / mine.rate - 0.85) < 1e-9);
        for (uint64_t i = 10000; i < 11000; i++)
            assert_true(blm_check(a, &i, 8));
        /* A key that came with b is not new. */
        uint64_t old = 899;
        assert_status(blm_add(a, &old, 8), BLM_PRESENT);
        /* What is made like it has its parameters, not its union's promise. */
        blm_options like = BLM_OPTIONS_INIT;
        like.like        = a;
        blm_filter *new  = make(&like);
        assert_true(fabs(params_of(new).rate - 0.01) < 1e-15);
        assert_int_equal(params_of(new).layers, 1);
        blm_free(new);
        /* Cleared, it is its own first layer and its own promise again. */
        assert_status(blm_clear(a), BLM_OK);
        assert_true(fabs(params_of(a).rate - 0.01) < 1e-15);
        assert_int_equal(params_of(a).layers, 1);
        assert_false(blm_check(a, &old, 8));
        for (uint64_t i = 0; i < 500; i++)
            blm_add(a, &i, 8);
        assert_int_equal(params_of(a).layers, x.layers);
        blm_free(a);
        blm_free(b);
    }
}

/* Other sizes, rates and growth may meet: only the rule from key to positions must be the same. */
static void unlike_layers_may_meet(void **state)
{
    (void)state;
    blm_options o = growing(false, 100, 0.01), p = growing(true, 10, 0.001);
    p.growth      = 3;
    blm_filter *a = make(&o), *b = make(&p);
    for (uint64_t i = 0; i < 300; i++)
        blm_add(b, &i, 8);
    assert_status(blm_union(a, b, NULL), BLM_OK);
    assert_true(fabs(params_of(a).rate - 0.011) < 1e-15);
    for (uint64_t i = 0; i < 300; i++)
        assert_true(blm_check(a, &i, 8));
    p.seed[0]     = 1;
    blm_filter *c = make(&p);
    blm_error   e;
    assert_status(blm_union(a, c, &e), BLM_E_MISMATCH);
    check_error(&e, BLM_E_MISMATCH, "seeds");
    blm_free(a);
    blm_free(b);
    blm_free(c);
}

/* How many keys two have in common does not show: no fewer than one of them, no more than both. */
static void a_union_has_the_keys_of_one_or_of_both(void **state)
{
    (void)state;
    enum { TRIALS = 100, EACH = 3000 };
    for (uint64_t common = 0; common <= EACH; common += EACH / 2) {
        unsigned held = 0;
        for (uint64_t t = 0; t < TRIALS; t++) {
            blm_options o = growing(t % 2, 100, 0.01);
            o.seed[0]     = t;
            blm_filter *a = make(&o), *b = make(&o);
            double      keys = (double)(2 * EACH - common);
            for (uint64_t i = 0; i < 2 * EACH - common; i++) {
                if (i < EACH)
                    blm_add(a, &i, 8);
                if (i >= EACH - common)
                    blm_add(b, &i, 8);
            }
            assert_status(blm_union(a, b, NULL), BLM_OK);
            blm_estimate e = stats_of(a).estimated;
            assert_true(fabs(e.value / (2 * EACH) - 1) < 0.02);
            held += e.low <= keys && keys <= e.high;
            blm_free(a);
            blm_free(b);
        }
        if (held < 88)
            fail_msg("%u in common: %u of 100 intervals held", (unsigned)common, held);
    }
}

static void unions_stop_at_the_cap(void **state)
{
    (void)state;
    blm_options o = growing(false, 100, 0.01);
    o.rate_cap    = 0.035;
    blm_filter *a = make(&o), *b = make(&o), *was;
    blm_error   e;
    for (uint64_t i = 0; i < 300; i++)
        blm_add(b, &i, 8);
    assert_status(blm_union(a, b, NULL), BLM_OK);
    assert_status(blm_union(a, b, NULL), BLM_OK);
    assert_status(blm_copy(a, &was, NULL), BLM_OK);
    b->body.unclosed = true;                         /* which a refused union does not pass on */
    assert_status(blm_union(a, b, &e), BLM_E_LIMIT); /* 0.04 */
    assert_false(params_of(a).unclosed);
    check_error(&e, BLM_E_LIMIT, "rate_cap");
    assert_true(blm_equal(a, was));
    assert_true(params_of(a).rate == params_of(was).rate);
    blm_free(a);
    blm_free(b);
    blm_free(was);
    o.rate_cap = 0.02; /* the cap itself is allowed */
    a          = make(&o);
    b          = make(&o);
    assert_status(blm_union(a, b, NULL), BLM_OK);
    assert_true(params_of(a).rate == 0.02);
    blm_free(a);
    blm_free(b);
    blm_options d = growing(false, 100, 0.2); /* ten times that is no rate: half is the most */
    a             = make(&d);
    assert_true(params_of(a).rate_cap == 0.5);
    blm_free(a);
    d.rate = 0.6; /* but never less than the filter's own */
    a      = make(&d);
    assert_true(params_of(a).rate_cap == 0.6);
    blm_free(a);
}

static void unions_stop_at_the_most_layers(void **state)
{
    (void)state;
    blm_options o = growing(true, 1, 1e-4);
    o.rate_cap    = 0.9;
    blm_filter *a = make(&o), *b;
    blm_error   e = { .status = BLM_OK };
    assert_status(blm_copy(a, &b, NULL), BLM_OK);
    blm_status s = BLM_OK;
    unsigned   n = 0;
    while (s == BLM_OK && n < 300) {
        s = blm_union(a, b, &e);
        n += s == BLM_OK;
    }
    assert_status(s, BLM_E_FULL);
    check_error(&e, BLM_E_FULL, "layers");
    assert_int_equal(params_of(a).layers, BLM__MAX_LAYERS);
    blm_free(a);
    blm_free(b);
}

/* Without a growth given: steep while small, then doubling; explicit ones are taken as they are. */
static void the_usual_growth(void **state)
{
    (void)state;
    static const struct {
        uint64_t keys;
        double   below, from; /* the growth of a layer of one key less, and of as many */
    } rows[]            = { { 1 << 15, 4, 16 }, { (1 << 17) + 1, 16, 4 }, { 1 << 23, 4, 2 } };
    struct blm__layer l = { .shape = { .capacity = 1, .scheme = &blm__scheme_native } };
    struct blm__body  b = { .layers = &l, .layer_count = 1 };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        l.shape.capacity = rows[i].keys - 1;
        assert_true(blm__kind_of(BLM_SCALABLE)->growth(&b) == rows[i].below);
        l.shape.capacity++;
        assert_true(blm__kind_of(BLM_SCALABLE)->growth(&b) == rows[i].from);
    }
    b.growth = 1.5;
    assert_true(blm__kind_of(BLM_SCALABLE)->growth(&b) == 1.5);
}

/* All layers asked at once give what one after the other gives, in every kernel: layers of one, two
 * and three lines and of several k, in cache and past it. */
static void layers_at_once_are_layers_one_by_one(void **state)
{
    (void)state;
    static const struct {
        uint64_t items;
        double   rate;
        uint64_t keys;
        double   growth;
    } rows[] = { { 100, 0.2, 5000, 4 },   { 100, 0.01, 5000, 4 },      { 500, 1e-6, 20000, 4 },
                 { 200, 1e-11, 4000, 4 }, { 20000, 0.003, 300000, 4 }, { 50, 0.01, 20000, 2 },
                 { 100, 0.01, 20000, 0 } };
    unsigned lines_seen = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = BLM_SCALABLE;
        o.flags       = BLM_SEEDED;
        o.items       = rows[i].items;
        o.rate        = rows[i].rate;
        o.growth      = rows[i].growth;
        blm_filter *f = make(&o), *g = make(&o);
        uint64_t    keys[BLM__BATCH];
        uint8_t     x[BLM__BATCH], y[BLM__BATCH];
        struct rng  r  = { i + 1 };
        g->body.kernel = &blm__kernel_portable;
        for (uint64_t at = 0; at < rows[i].keys;) {
            size_t n = (size_t)rng_below(&r, BLM__BATCH) + 1;
            for (size_t j = 0; j < n; j++)
                keys[j] = rng_below(&r, 4) ? at + j : rng_below(&r, rows[i].keys);
            blm_add_fixed(f, keys, 8, n, x, NULL);
            blm_add_fixed(g, keys, 8, n, y, NULL);
            assert_memory_equal(x, y, n);
            at += n;
        }
        assert_true(params_of(f).layers >= 3 && blm_equal(f, g));
        for (int round = 0; round < 200; round++) {
            size_t n = (size_t)rng_below(&r, BLM__BATCH + 1), a, b, sum = 0;
            for (size_t j = 0; j < n; j++)
                keys[j] = rng_below(&r, rows[i].keys * 2);
            a = blm_check_fixed(f, keys, 8, n, x);
            b = blm_check_fixed(g, keys, 8, n, y);
            for (size_t j = 0; j < n; j++) {
                bool     one = false;
                uint64_t h   = blm__native_hash(&f->body.hasher, &keys[j], 8);
                for (uint32_t t = 0; t < f->body.layer_count; t++)
                    one |= g->body.layers[t].engine->check_one(&g->body, &g->body.layers[t], h);
                assert_true(x[j] == one && y[j] == one);
                sum += one;
            }
            assert_true(a == sum && b == sum);
        }
        for (uint32_t t = 0; t < f->body.layer_count; t++)
            lines_seen |= 1u << f->body.layers[t].shape.lines;
        blm_free(f);
        blm_free(g);
    }
    assert_int_equal(lines_seen, 1 << 1 | 1 << 2 | 1 << 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_grow_and_tighten),
        cmocka_unit_test(tiny_layers_grow_by_one_at_least),
        cmocka_unit_test(the_first_layer_has_a_default),
        cmocka_unit_test(bad_growth_is_named),
        cmocka_unit_test(the_usual_growth),
        cmocka_unit_test(layers_at_once_are_layers_one_by_one),
        cmocka_unit_test(a_rate_that_vanishes_ends_growth),
        cmocka_unit_test(growth_in_the_middle_of_a_batch),
        cmocka_unit_test(a_cap_stops_growth_at_a_key),
        cmocka_unit_test(layers_end_at_the_most_there_may_be),
        cmocka_unit_test(a_union_appends_layers_and_adds_rates),
        cmocka_unit_test(a_union_has_the_keys_of_one_or_of_both),
        cmocka_unit_test(unlike_layers_may_meet),
        cmocka_unit_test(unions_stop_at_the_cap),
        cmocka_unit_test(unions_stop_at_the_most_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
