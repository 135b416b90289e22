/* SPDX-License-Identifier: MIT */
/* What a filter says of itself, against what the test counts. */
#include <math.h>

#include "api/filter.h"
#include "bloomery/maths.h"
#include "unit/support.h"

static void add_range(blm_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
}

/* ---- parameters ---- */

static void parameters_are_what_was_asked(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *f = make_flavour(v, 1000, 0.01, 33);
        blm_params  p = params_of(f);
        assert_int_equal(p.kind, v->kind);
        assert_string_equal(p.scheme, "native");
        assert_int_equal(p.scheme_version, 2);
        assert_string_equal(p.hash, "xxh3");
        assert_true(p.probes > 0 && p.bits > 0);
        assert_int_equal(p.lines, v->lines                                       ? v->lines
                                  : v->kind == BLM_COUNTING                      ? 1
                                  : v->kind == BLM_SCALABLE && !v->layer_classic ? p.lines
                                                                                 : 0);
        assert_int_equal(p.layers, 1);
        assert_true(p.capacity == (v->kind == BLM_SCALABLE ? 101 : 1000));
        assert_true(p.items == 0 && p.rate == 0.01);
        assert_true(p.seed[0] == 33 && p.seed[1] == 0);
        assert_int_equal(p.seed_policy, BLM_SEED_FIXED);
        assert_int_equal(p.shared, (v->flags & BLM_SHARED) != 0);
        assert_int_equal(p.backing, BLM_IN_MEMORY);
        assert_int_equal(p.writer, BLM_WRITER_NONE);
        assert_string_equal(p.format, "native");
        assert_string_equal(p.kernel, blm__kernel_best()->name);
        uint64_t bits = p.bits * (v->kind == BLM_COUNTING ? 4 : 1);
        assert_true(p.bytes == (bits + 63) / 64 * 8);
        if (v->kind == BLM_SCALABLE)
            assert_true(p.growth == 4 && p.tightening == 0.85 && p.rate_cap == 0.1);
        else
            assert_true(p.growth == 0 && p.tightening == 0 && p.rate_cap == 0);
        blm_free(f);
    }
}

static void a_whole_is_the_sum_of_its_layers(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 1000, 0.01, 33);
        add_range(f, 0, 1500);
        blm_params whole = params_of(f), l = { .size = sizeof l };
        uint64_t   bits = 0, bytes = 0, items = 0, capacity = 0;
        for (uint32_t i = 0; i < whole.layers; i++) {
            assert_status(blm_get_layer(f, i, &l), BLM_OK);
            assert_int_equal(l.layers, 1);
            assert_true(l.kind != BLM_SCALABLE);
            bits += l.bits;
            bytes += l.bytes;
            items += l.items;
            capacity += l.capacity;
        }
        assert_true(bits == whole.bits && bytes == whole.bytes);
        assert_true(items == whole.items && capacity == whole.capacity);
        assert_int_equal(l.probes, whole.probes); /* the newest layer's */
        assert_status(blm_get_layer(f, whole.layers, &l), BLM_E_ARGUMENT);
        blm_free(f);
    }
}

/* Result structs may be older or newer than ours: what fits is written, nothing more. */
static void results_respect_their_size(void **state)
{
    (void)state;
    blm_filter *f = make_flavour(&flavours[0], 1000, 0.01, 33);
    add_range(f, 0, 100);
    struct {
        blm_params p;
        uint64_t   fence;
    } s;
    memset(&s, 0xee, sizeof s);
    s.p.size = offsetof(blm_params, layers);
    assert_status(blm_get_params(f, &s.p), BLM_OK);
    assert_true(s.p.size == offsetof(blm_params, layers));
    assert_string_equal(s.p.scheme, "native");
    assert_true(s.p.layers == 0xeeeeeeee);
    memset(&s, 0xee, sizeof s);
    s.p.size = sizeof s; /* newer: the rest is left as it was */
    assert_status(blm_get_params(f, &s.p), BLM_OK);
    assert_true(s.p.size == sizeof s && s.fence == 0xeeeeeeeeeeeeeeeeu);
    s.p.size = 0;
    assert_status(blm_get_params(f, &s.p), BLM_E_ARGUMENT);
    assert_status(blm_get_params(f, NULL), BLM_E_ARGUMENT);
    blm_stats st = { .size = 0 };
    assert_status(blm_get_stats(f, &st), BLM_E_ARGUMENT);
    blm_trial t = { .size = 3 };
    blm_error e;
    assert_status(blm_try_rate(f, NULL, 10, 1, &t, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "size");
    blm_overlap o = { .size = 0 };
    assert_status(blm_compare(f, f, &o, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "size");
    blm_free(f);
}

/* ---- stats ---- */

static void stats_of_an_empty_filter_are_zero(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 1000, 0.01, 33);
        blm_stats   s = stats_of(f);
        assert_true(s.ones == 0 && s.fill == 0 && s.rate_now == 0 && s.stuck == 0);
        assert_true(s.estimated.value == 0 && s.estimated.low == 0);
        assert_false(s.estimated.saturated);
        assert_false(s.overfilled);
        assert_int_equal(s.params.kind, v->kind);
        assert_true(s.params.size == sizeof s.params);
        blm_free(f);
    }
}

/* Ones and fill are counted here bit by bit; the estimate must hold the truth: the interval is
 * 95%, so of twenty seeds at most four may miss (chance below 0.3% a flavour, and fixed seeds). */
static void stats_count_and_estimate(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        int missed = 0;
        for (uint64_t seed = 0; seed < 20; seed++) {
            blm_filter *f = make_flavour(v, 1000, 0.01, seed);
            add_range(f, 0, 1000);
            blm_stats s    = stats_of(f);
            uint64_t  ones = 0;
            for (uint32_t l = 0; l < s.params.layers; l++) {
                uint64_t       bytes;
                const uint8_t *p = blm_view(f, l, &bytes);
                for (uint64_t c = 0; c < bytes * 8; c += v->kind == BLM_COUNTING ? 4 : 1)
                    ones += (p[c / 8] >> c % 8 & (v->kind == BLM_COUNTING ? 15 : 1)) != 0;
            }
            assert_true(s.ones == ones);
            assert_true(fabs(s.fill - (double)ones / (double)s.params.bits) < 1e-12);
            assert_true(s.estimated.low <= s.estimated.value);
            assert_true(s.estimated.value <= s.estimated.high);
            double truth = (double)s.params.items; /* keys that are in the bits */
            missed += !(s.estimated.low <= truth && truth <= s.estimated.high);
            assert_true(fabs(s.estimated.value - 1000) < 60);
            assert_true(s.rate_now > 0 && s.rate_now < 0.02);
            assert_false(s.overfilled);
            blm_free(f);
        }
        if (missed > 4)
            fail_msg("%s: the estimate's interval missed the truth %d times of 20", v->name,
                     missed);
    }
}

/* Where a rate is near 1, hardly a bit is to stay free, and that none is free is as planned. */
static void as_full_as_planned(void **state)
{
    (void)state;
    static const double rates[] = { 0.9, 0.99, 0.999, 0.99999 };
    for (size_t r = 0; r < COUNT_OF(rates); r++)
        for (uint64_t n = 13; n < 2000; n = n * 3 + 1)
            for (uint64_t seed = 0; seed < 60; seed++) {
                blm_options o = BLM_OPTIONS_INIT;
                o.kind        = BLM_CLASSIC;
                o.items       = n;
                o.rate        = rates[r];
                o.flags       = BLM_SEEDED;
                o.seed[0]     = seed;
                blm_filter *f = make(&o);
                add_range(f, 0, n);
                assert_false(stats_of(f).overfilled);
                blm_free(f);
            }
    blm_filter *f = make_flavour(&flavours[0], 1000, 0.5, 3); /* but here they are to */
    add_range(f, 0, 100000);
    assert_true(stats_of(f).estimated.saturated && stats_of(f).overfilled);
    blm_free(f);
}

static void overfilled_filters_say_so(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *f = make_flavour(v, 1000, 0.01, 3);
        add_range(f, 0, 2000);
        blm_stats s = stats_of(f);
        if (v->kind == BLM_SCALABLE) { /* grows instead */
            assert_false(s.overfilled);
            assert_true(s.rate_now < 0.01);
        } else {
            assert_true(s.overfilled);
            assert_true(s.rate_now > 0.05);
        }
        blm_free(f);
    }
}

static void saturated_filters_have_defined_numbers(void **state)
{
    (void)state;
    for (int kind = BLM_CLASSIC; kind <= BLM_COUNTING; kind++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = (blm_kind)kind;
        o.bits        = 512;
        o.probes      = 4;
        blm_filter *f = make(&o);
        add_range(f, 0, 20000);
        blm_stats s = stats_of(f);
        assert_true(s.ones == 512 && s.fill == 1 && s.rate_now == 1);
        assert_true(s.estimated.saturated);
        assert_true(isfinite(s.estimated.value) && s.estimated.value > 0);
        assert_true(isinf(s.estimated.high));
        assert_true(blm_check(f, "anything", 8));
        blm_trial t = { .size = sizeof t };
        assert_status(blm_try_rate(f, NULL, 1000, 1, &t, NULL), BLM_OK);
        assert_true(t.hits == 1000 && t.rate == 1);
        blm_free(f);
    }
}

/* One full layer among others says maybe to everything, and makes the whole estimate a least. */
static void one_saturated_layer_is_enough(void **state)
{
    (void)state;
    blm_filter *f = make_flavour(&flavours[9], 500, 0.01, 3);
    uint64_t    bytes;
    add_range(f, 0, 500);
    assert_false(stats_of(f).estimated.saturated);
    uint8_t *first = (uint8_t *)(uintptr_t)blm_view(f, 0, &bytes);
    assert_true(params_of(f).layers > 1);
    memset(first, 0xff, (size_t)bytes);
    blm_stats s = stats_of(f);
    assert_true(s.estimated.saturated && isinf(s.estimated.high) && isfinite(s.estimated.value));
    assert_true(s.rate_now == 1 && s.fill < 1);
    blm_free(f);
}

/* ---- fill map ---- */

static void the_fill_map_adds_up(void **state)
{
    (void)state;
    static const size_t slices[] = { 1, 2, 7, 64, 997 };
    EACH_BITS(v)
    {
        blm_filter *f = make_flavour(v, 1000, 0.01, 33);
        add_range(f, 0, 1200);
        blm_stats s = stats_of(f);
        double    map[1000];
        for (size_t i = 0; i < COUNT_OF(slices); i++) {
            size_t   n = slices[i];
            uint64_t q = s.params.bits / n, r = s.params.bits % n;
            double   ones = 0;
            assert_status(blm_fill_map(f, map, n), BLM_OK);
            for (size_t j = 0; j < n; j++) {
                assert_true(map[j] >= 0 && map[j] <= 1);
                ones += map[j] * (double)(q + (j < r)); /* the first r have one cell more */
            }
            assert_true(fabs(ones - (double)s.ones) < 1e-6);
        }
        assert_status(blm_fill_map(f, map, 0), BLM_E_ARGUMENT);
        assert_status(blm_fill_map(f, NULL, 5), BLM_E_ARGUMENT);
        assert_status(blm_fill_map(f, map, (size_t)s.params.bits + 1), BLM_E_ARGUMENT);
        blm_free(f);
    }
}

/* One slice a cell shows each cell, across the border between layers too. */
static void the_fill_map_is_in_order(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *f = make_flavour(v, 60, 0.05, 33);
        add_range(f, 0, 80);
        blm_params p   = params_of(f);
        double    *map = malloc((size_t)p.bits * sizeof *map);
        size_t     at  = 0;
        assert_status(blm_fill_map(f, map, (size_t)p.bits), BLM_OK);
        for (uint32_t l = 0; l < p.layers; l++) {
            const uint8_t *w     = blm_view(f, l, NULL);
            blm_params     layer = { .size = sizeof layer };
            size_t         cell  = v->kind == BLM_COUNTING ? 4 : 1;
            blm_get_layer(f, l, &layer);
            for (size_t c = 0; c < layer.bits; c++, at++)
                assert_true((map[at] == 1) ==
                            ((w[c * cell / 8] >> c * cell % 8 & (cell == 4 ? 15 : 1)) != 0));
        }
        assert_true(at == p.bits);
        free(map);
        blm_free(f);
    }
}

/* ---- compare ---- */

static bool holds(const blm_estimate *e, double truth)
{
    assert_true(e->low <= e->value && e->value <= e->high);
    return e->low <= truth && truth <= e->high;
}

/* 95% intervals of five numbers, twenty seeds: more than 14 misses of 100 would be a chance of
 * about 1e-4 for independent ones; the seeds are fixed. The values are near the truth each time. */
static void comparisons_hold_the_truth(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        if (v->kind == BLM_SCALABLE)
            continue;
        int missed = 0;
        for (uint64_t seed = 0; seed < 20; seed++) {
            blm_filter *a = make_flavour(v, 3000, 0.01, seed);
            blm_filter *b = make_flavour(v, 3000, 0.01, seed);
            blm_overlap o = { .size = sizeof o };
            add_range(a, 0, 2000);
            add_range(b, 1500, 3000);
            assert_status(blm_compare(a, b, &o, NULL), BLM_OK);
            missed += !holds(&o.a, 2000) + !holds(&o.b, 1500) + !holds(&o.both, 500) +
                      !holds(&o.either, 3000) + !holds(&o.jaccard, 500.0 / 3000);
            assert_true(fabs(o.a.value - 2000) < 120 && fabs(o.b.value - 1500) < 120);
            assert_true(fabs(o.both.value - 500) < 150 && fabs(o.either.value - 3000) < 150);
            assert_true(fabs(o.jaccard.value - 1.0 / 6) < 0.05);
            blm_free(a);
            blm_free(b);
        }
        if (missed > 14)
            fail_msg("%s: intervals missed the truth %d times of 100", v->name, missed);
    }
}

/* md5-or has fewer different hashes of a key than probes. */
static void comparisons_go_by_what_keys_throw(void **state)
{
    (void)state;
    if (!blm_scheme_find("md5-or")->creates)
        skip();
    for (uint32_t k = 2; k <= 8; k += 3) {
        blm_filter *f[2];
        blm_options o = BLM_OPTIONS_INIT;
        blm_overlap v = { .size = sizeof v };
        o.scheme      = "md5-or";
        o.bits        = 60000;
        o.probes      = k;
        for (uint64_t i = 0; i < 2; i++) {
            f[i] = make(&o);
            for (uint64_t j = 1500 * i; j < 2000 + 1000 * i; j++) {
                uint64_t key = blm__mix64(j); /* any last byte */
                blm_add(f[i], &key, sizeof key);
            }
        }
        assert_status(blm_compare(f[0], f[1], &v, NULL), BLM_OK);
        assert_true(fabs(v.a.value - 2000) < 100 && fabs(v.b.value - 1500) < 100);
        assert_true(fabs(v.both.value - 500) < 100 && fabs(v.either.value - 3000) < 100);
        assert_true(fabs(v.jaccard.value - 1.0 / 6) < 0.03);
        blm_stats s = { .size = sizeof s };
        assert_status(blm_get_stats(f[0], &s), BLM_OK);
        assert_true(fabs(s.estimated.value - v.a.value) < 1e-6 * v.a.value);
        blm_free(f[0]);
        blm_free(f[1]);
    }
}

/* … and one key more of them than another, which makes most of the interval while bits are few. */
static void intervals_hold_what_keys_throw(void **state)
{
    (void)state;
    enum { TRIALS = 100, SOME = 200, EACH = 300, LEAST = 88 };
    if (!blm_scheme_find("md5-or")->creates)
        skip();
    for (uint32_t k = 2; k <= 8; k += 6) {
        unsigned held[6] = { 0 };
        for (uint64_t t = 0; t < TRIALS; t++) {
            blm_filter *f[2];
            blm_options o = BLM_OPTIONS_INIT;
            blm_overlap v = { .size = sizeof v };
            blm_stats   s = { .size = sizeof s };
            o.scheme      = "md5-or";
            o.bits        = 4000 * k;
            o.probes      = k;
            for (uint64_t i = 0; i < 2; i++) {
                f[i] = make(&o);
                for (uint64_t j = SOME * i; j < SOME * i + EACH; j++) {
                    uint64_t key = blm__mix64(t << 32 | j);
                    blm_add(f[i], &key, sizeof key);
                }
            }
            assert_status(blm_get_stats(f[0], &s), BLM_OK);
            assert_status(blm_compare(f[0], f[1], &v, NULL), BLM_OK);
            assert_true(v.both.high <= fmin(v.a.high, v.b.high));
            const struct {
                const blm_estimate *e;
                double              is;
            } rows[] = {
                { &s.estimated, EACH },   { &v.a, EACH },
                { &v.b, EACH },           { &v.either, SOME + EACH },
                { &v.both, EACH - SOME }, { &v.jaccard, (double)(EACH - SOME) / (SOME + EACH) },
            };
            for (size_t i = 0; i < COUNT_OF(rows); i++)
                held[i] += rows[i].e->low <= rows[i].is && rows[i].is <= rows[i].e->high;
            blm_free(f[0]);
            blm_free(f[1]);
        }
        for (size_t i = 0; i < COUNT_OF(held); i++)
            if (held[i] < LEAST)
                fail_msg("%u probes, number %zu: held %u of %u times", (unsigned)k, i, held[i],
                         (unsigned)TRIALS);
    }
}

/* How many keys an older layer claims is chance, too: most of the interval, at rates like these. */
static void intervals_hold_what_was_claimed(void **state)
{
    (void)state;
    enum { TRIALS = 400, KEYS = 3000, LEAST = 360 };
    static const double rates[] = { 0.01, 0.1, 0.5 };
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        unsigned held = 0;
        for (uint64_t t = 0; t < TRIALS; t++) {
            blm_options o = BLM_OPTIONS_INIT;
            blm_stats   s = { .size = sizeof s };
            o.kind        = BLM_SCALABLE;
            o.items       = 100;
            o.rate        = rates[i];
            o.flags       = BLM_SEEDED;
            o.seed[0]     = t;
            blm_filter *f = make(&o);
            for (uint64_t key = 0; key < KEYS; key++)
                blm_add(f, &key, sizeof key);
            assert_status(blm_get_stats(f, &s), BLM_OK);
            assert_true(s.params.layers > 2);
            held += s.estimated.low <= KEYS && KEYS <= s.estimated.high;
            blm_free(f);
        }
        if (held < LEAST)
            fail_msg("at %g: held %u of %u times", rates[i], held, (unsigned)TRIALS);
    }
}

static void scalable_filters_are_not_compared(void **state)
{
    (void)state;
    blm_filter *a = make_flavour(&flavours[9], 100, 0.01, 1), *b;
    blm_overlap o = { .size = sizeof o };
    blm_error   e;
    assert_status(blm_copy(a, &b, NULL), BLM_OK);
    assert_status(blm_compare(a, b, &o, &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "scalable");
    blm_free(a);
    blm_free(b);
}

/* ---- the rate, tried ---- */

static void trials_count_what_check_says(void **state)
{
    (void)state;
    enum { N = 5000 };
    uint64_t *keys = malloc(N * 8);
    blm_key  *list = malloc(N * sizeof *list);
    for (uint64_t i = 0; i < N; i++) {
        keys[i] = 1000000 + i;
        list[i] = (blm_key){ &keys[i], 8 };
    }
    EACH_FLAVOUR(v)
    {
        blm_filter *f    = make_flavour(v, 1000, 0.05, 3);
        blm_trial   t    = { .size = sizeof t };
        uint64_t    hits = 0;
        double      low, high;
        add_range(f, 0, 1000);
        for (size_t i = 0; i < N; i++)
            hits += blm_check(f, &keys[i], 8);
        assert_status(blm_try_rate(f, list, N, 0, &t, NULL), BLM_OK);
        assert_true(t.trials == N && t.hits == hits);
        assert_true(t.rate == (double)hits / N);
        blm_binomial_interval(hits, N, 0.95, &low, &high);
        assert_true(t.low == low && t.high == high && low <= t.rate && t.rate <= high);
        assert_true(t.promised == 0.05 && t.modelled == stats_of(f).rate_now);
        assert_true(t.holds);
        blm_free(f);
    }
    free(keys);
    free(list);
}

static void generated_keys_follow_their_seed(void **state)
{
    (void)state;
    blm_filter *f = make_flavour(&flavours[0], 1000, 0.05, 3);
    blm_trial   a = { .size = sizeof a }, b = a, c = a;
    add_range(f, 0, 1000);
    assert_status(blm_try_rate(f, NULL, 100000, 1, &a, NULL), BLM_OK);
    assert_status(blm_try_rate(f, NULL, 100000, 1, &b, NULL), BLM_OK);
    assert_status(blm_try_rate(f, NULL, 100000, 2, &c, NULL), BLM_OK);
    assert_true(a.hits == b.hits && a.hits != c.hits);
    /* 100 000 at about 5%: 5 000 ± 69; six of those. */
    assert_true(fabs(a.rate - a.modelled) < 6 * sqrt(a.modelled / 100000));
    assert_true(fabs(c.rate - c.modelled) < 6 * sqrt(c.modelled / 100000));
    blm_free(f);
}

static void a_broken_promise_is_seen(void **state)
{
    (void)state;
    blm_filter *f = make_flavour(&flavours[0], 1000, 0.01, 3);
    blm_trial   t = { .size = sizeof t };
    add_range(f, 0, 3000);
    assert_status(blm_try_rate(f, NULL, 10000, 1, &t, NULL), BLM_OK);
    assert_false(t.holds);
    assert_true(t.low > 0.01);
    blm_free(f);
}

static bool refuse(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    (void)done;
    (void)total;
    return false;
}

static void trials_need_keys_and_can_be_stopped(void **state)
{
    (void)state;
    blm_filter *f = make_flavour(&flavours[0], 1000, 0.01, 3);
    blm_trial   t = { .size = sizeof t };
    blm_error   e;
    assert_status(blm_try_rate(f, NULL, 0, 1, &t, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "at least one");
    blm_set_progress(f, refuse, NULL);
    assert_status(blm_try_rate(f, NULL, 1000000, 1, &t, &e), BLM_E_CANCELLED);
    check_error(&e, BLM_E_CANCELLED, "cancelled");
    blm_free(f);
}

/* ---- plans ---- */

/* The plan is what create makes, and its rate is no worse than what was asked. */
static void plans_come_true(void **state)
{
    (void)state;
    static const double rates[] = { 0.3, 0.01, 1e-4, 1e-7 };
    EACH_BITS(v)
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        blm_options o = flavour_options(v, 5000, rates[i], 1);
        blm_plan    p = { .size = sizeof p };
        assert_status(blm_plan_for(&o, &p, NULL), BLM_OK);
        blm_filter *f = make(&o);
        blm_params  q = params_of(f);
        assert_int_equal(p.kind, v->kind);
        assert_true(p.bits == q.bits && p.probes == q.probes && p.lines == q.lines);
        assert_true(p.bytes == q.bytes && p.items == q.capacity);
        assert_true(p.asked == rates[i] && p.rate > 0 && p.rate <= rates[i]);
        assert_true(p.fits && p.bits_per_item > 0);
        blm_free(f);
    }
}

static void a_plan_like_another_is_its_size(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 5000, 0.01, 1);
        blm_params  q = params_of(f);
        blm_options o = BLM_OPTIONS_INIT;
        blm_plan    p = { .size = sizeof p };
        o.like        = f;
        assert_status(blm_plan_for(&o, &p, NULL), BLM_OK);
        assert_int_equal(p.kind, v->kind);
        assert_true(p.bits == q.bits && p.probes == q.probes && p.lines == q.lines);
        assert_true(p.bytes == q.bytes && p.items == q.capacity);
        assert_true(p.rate > 0 && p.rate <= 0.01 && p.asked == 0 && p.bytes_needed == 0);
        assert_true(p.fits && p.bits_per_item > 4);
        blm_free(f);
    }
}

static void bad_plans_are_named(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_plan    p = { .size = sizeof p };
    blm_error   e;
    assert_status(blm_plan_for(NULL, &p, &e), BLM_E_ARGUMENT);
    assert_status(blm_plan_for(&o, &p, &e), BLM_E_ARGUMENT);
    o.items = 100;
    o.rate  = 0.01;
    assert_status(blm_plan_for(&o, NULL, &e), BLM_E_ARGUMENT);
    p.size = 0;
    assert_status(blm_plan_for(&o, &p, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "size");
    p.size   = sizeof p;
    o.scheme = "nobody's";
    assert_status(blm_plan_for(&o, &p, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "nobody's");
    o.scheme = NULL;
    o.kind   = (blm_kind)77;
    assert_status(blm_plan_for(&o, &p, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "77");
    o.kind   = BLM_CLASSIC; /* what does not fit can still be planned: that is the question */
    o.items  = 1000000;
    o.memory = 100000;
    assert_status(blm_plan_for(&o, &p, &e), BLM_OK);
    assert_false(p.fits);
    assert_true(p.bytes <= 100000 && p.bytes_needed > 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_what_was_asked),
        cmocka_unit_test(a_whole_is_the_sum_of_its_layers),
        cmocka_unit_test(results_respect_their_size),
        cmocka_unit_test(stats_of_an_empty_filter_are_zero),
        cmocka_unit_test(stats_count_and_estimate),
        cmocka_unit_test(as_full_as_planned),
        cmocka_unit_test(overfilled_filters_say_so),
        cmocka_unit_test(saturated_filters_have_defined_numbers),
        cmocka_unit_test(one_saturated_layer_is_enough),
        cmocka_unit_test(the_fill_map_adds_up),
        cmocka_unit_test(the_fill_map_is_in_order),
        cmocka_unit_test(comparisons_hold_the_truth),
        cmocka_unit_test(comparisons_go_by_what_keys_throw),
        cmocka_unit_test(intervals_hold_what_keys_throw),
        cmocka_unit_test(intervals_hold_what_was_claimed),
        cmocka_unit_test(scalable_filters_are_not_compared),
        cmocka_unit_test(trials_count_what_check_says),
        cmocka_unit_test(generated_keys_follow_their_seed),
        cmocka_unit_test(a_broken_promise_is_seen),
        cmocka_unit_test(trials_need_keys_and_can_be_stopped),
        cmocka_unit_test(plans_come_true),
        cmocka_unit_test(a_plan_like_another_is_its_size),
        cmocka_unit_test(bad_plans_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
