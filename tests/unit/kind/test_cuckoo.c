/* SPDX-License-Identifier: MIT */
/* Cuckoo filters: what they hold, when they are full, and what a bag of fingerprints would say. */
#include "../support.h"

#include <math.h>

#include "api/filter.h"
#include "bloomery/delta.h"
#include "bloomery/maths.h"
#include "core/kernel/buckets.h"
#include "core/probe.h"
#include "unit/files.h"

static blm_options options(uint64_t n, double p)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_CUCKOO;
    o.flags       = BLM_SEEDED;
    o.items       = n;
    o.rate        = p;
    o.seed[0]     = 7;
    return o;
}

static blm_filter *cuckoo(uint64_t n, double p)
{
    blm_options o = options(n, p);
    return make(&o);
}

static blm_status add(blm_filter *f, uint64_t i) { return blm_add(f, &i, sizeof i); }
static bool       has(const blm_filter *f, uint64_t i) { return blm_check(f, &i, sizeof i); }

/* Every planned filter takes the keys it was planned for. */
static void a_plan_holds_its_keys(void **state)
{
    (void)state;
    static const uint64_t counts[] = { 1, 2, 7, 8, 9, 10, 16, 33, 64, 100, 145, 500, 1000, 20000 };
    static const double   rates[]  = { 0.5, 0.05, 0.01, 0.001, 1e-5, 1e-8 };
    for (size_t c = 0; c < COUNT_OF(counts); c++)
        for (size_t r = 0; r < COUNT_OF(rates); r++)
            for (uint64_t seed = 0; seed < (counts[c] < 200 ? 30 : 2); seed++) {
                blm_options o = options(counts[c], rates[r]);
                o.seed[0]     = seed;
                blm_filter *f = make(&o);
                for (uint64_t i = 0; i < counts[c]; i++)
                    assert_true(add(f, i) >= 0);
                for (uint64_t i = 0; i < counts[c]; i++)
                    assert_true(has(f, i));
                assert_true(params_of(f).items == counts[c]);
                assert_true(stats_of(f).ones == counts[c]);
                blm_free(f);
            }
}

static void it_takes_no_more_bits_than_promised(void **state)
{
    (void)state;
    static const struct {
        double rate, bits;
    } most[] = { { 0.01, 11 }, { 0.001, 14.5 } };
    for (size_t i = 0; i < COUNT_OF(most); i++)
        for (uint64_t n = 10000; n <= 10000000; n *= 10) {
            blm_options o = options(n, most[i].rate);
            blm_plan    p = { .size = sizeof p };
            assert_status(blm_plan_for(&o, &p, NULL), BLM_OK);
            assert_true((double)p.bytes * 8 / (double)n <= most[i].bits);
            assert_true(p.rate <= most[i].rate && p.fits && p.probes == 1);
        }
}

/* At least 95% of its cells are used before it says that it is full, and then it is as it was. */
static void it_is_full_late_and_unchanged(void **state)
{
    (void)state;
    static const uint64_t counts[] = { 2000, 30000, 400000 };
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        blm_filter *f    = cuckoo(counts[c], 0.01), *before;
        uint64_t    n    = 0;
        blm_status  st   = BLM_OK;
        uint64_t    room = params_of(f).bits;
        while ((st = add(f, n)) >= 0) {
            n++;
            assert_true(n <= room);
        }
        assert_status(st, BLM_E_FULL);
        assert_true((double)n >= 0.95 * (double)room);
        assert_status(blm_copy(f, &before, NULL), BLM_OK);
        for (uint64_t i = n; i < n + 200; i++) { /* most of them find nothing either */
            blm_filter *now;
            assert_status(blm_copy(f, &now, NULL), BLM_OK);
            if (add(now, i) == BLM_E_FULL)
                assert_true(same_bits(now, before) && params_of(now).items == n);
            blm_free(now);
        }
        for (uint64_t i = 0; i < n; i++)
            assert_true(has(f, i));
        uint64_t one = 17;
        assert_status(blm_remove(f, &one, 8), BLM_OK); /* and there is room again */
        assert_status(blm_remove(f, &one, 8), BLM_E_ABSENT);
        assert_true(params_of(f).items == n - 1);
        blm_free(before);
        blm_free(f);
    }
}

/* A batch says how many keys went in. */
static void a_full_batch_says_how_many(void **state)
{
    (void)state;
    blm_filter *f    = cuckoo(1000, 0.01);
    size_t      n    = (size_t)params_of(f).bits + 500;
    uint64_t   *keys = malloc(n * sizeof *keys);
    size_t      done = 0;
    for (uint64_t i = 0; i < n; i++)
        keys[i] = i;
    assert_status(blm_add_fixed(f, keys, 8, n, NULL, &done), BLM_E_FULL);
    assert_true(done >= 1000 && done < n && params_of(f).items == done);
    assert_true(stats_of(f).ones == done);
    assert_true(blm_check_fixed(f, keys, 8, done, NULL) == done);
    free(keys);
    blm_free(f);
}

/* Who counts the new keys does not count one that found no room. */
static void a_key_without_room_is_not_new(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        blm_options o = options(100, 0.01);
        uint64_t    keys[256];
        uint8_t     fresh[256];
        size_t      done = 0, count = 0;
        o.flags       = BLM_SEEDED;
        o.seed[0]     = seed;
        blm_filter *f = make(&o);
        for (uint64_t i = 0; i < 256; i++)
            keys[i] = i * 0x9e3779b97f4a7c15u;
        memset(fresh, 9, sizeof fresh);
        assert_status(blm_add_fixed(f, keys, 8, 256, fresh, &done), BLM_E_FULL);
        for (size_t i = 0; i < 256; i++)
            count += fresh[i];
        assert_true(done < 256 && count <= done);
        for (size_t i = done; i < 256; i++) /* not one of those behind it either, by any kernel */
            assert_true(fresh[i] == 0);
        assert_true(params_of(f).items == done);
        blm_free(f);
    }
}

static void copies_are_counted_and_bounded(void **state)
{
    (void)state;
    blm_filter *f = cuckoo(1000, 0.001);
    assert_true(blm_count(f, "a", 1) == 0);
    for (unsigned i = 0; i < 8; i++) {
        assert_status(blm_add(f, "a", 1), i ? BLM_PRESENT : BLM_OK);
        assert_true(blm_count(f, "a", 1) == i + 1);
    }
    assert_status(blm_add(f, "a", 1), BLM_E_FULL);
    assert_true(params_of(f).items == 8);
    assert_status(blm_add(f, "b", 1), BLM_OK); /* others have room */
    for (unsigned i = 8; i-- > 0;) {
        assert_status(blm_remove(f, "a", 1), BLM_OK);
        assert_true(blm_count(f, "a", 1) == i);
    }
    assert_status(blm_remove(f, "a", 1), BLM_E_ABSENT);
    assert_true(blm_check(f, "b", 1) && blm_count(f, NULL, 3) == 1);
    blm_free(f);
}

/* ---- against a bag of fingerprints ---- */

/* A key is the pair of its buckets and its fingerprint: what the filter cannot tell apart. The bag
 * counts each, so the filter's every answer follows from it. */
#define KEYS 3000u

struct bag {
    uint64_t name[KEYS]; /* of key i: the first key that is the same to the filter */
    uint32_t copies[KEYS];
    uint64_t total;
};

static void bag_names(struct bag *g, const blm_filter *f)
{
    const struct blm__layer *l = &f->body.layers[0];
    for (uint64_t i = 0; i < KEYS; i++) {
        struct blm__pair p = blm__pair_of(l, blm__native_hash(&f->body.hasher, &i, 8));
        g->name[i]         = i;
        for (uint64_t j = 0; j < i; j++) {
            struct blm__pair q = blm__pair_of(l, blm__native_hash(&f->body.hasher, &j, 8));
            if (q.print == p.print && (q.bucket[0] == p.bucket[0] || q.bucket[0] == p.bucket[1])) {
                g->name[i] = g->name[j];
                break;
            }
        }
    }
}

static void a_bag_of_fingerprints_agrees(void **state)
{
    (void)state;
    uint64_t steps = long_tests() ? 400000 : quick_tests() ? 20000 : 200000;
    for (unsigned wide = 0; wide < 2; wide++) {
        blm_filter *f       = cuckoo(2000, wide ? 1e-5 : 0.01);
        struct bag *g       = calloc(1, sizeof *g);
        struct rng  r       = { 23 + wide };
        uint64_t    refused = 0;
        assert_true((params_of(f).cell_bits > BLM__NARROW_MOST) == wide);
        bag_names(g, f);
        for (uint64_t s = 0; s < steps; s++) {
            uint64_t i = rng_below(&r, KEYS), at = g->name[i];
            /* It fills and empties by turns: an add to a full filter takes a hundred times as long. */
            bool     fills = s / 9000 % 2 == 0;
            unsigned deed  = (unsigned)rng_below(&r, 4);
            if (deed == 0) {
                assert_int_equal(blm_count(f, &i, 8), g->copies[at]);
                assert_int_equal(has(f, i), g->copies[at] > 0);
            } else if (deed == 1 || (deed == 2 && !fills)) {
                blm_status st = blm_remove(f, &i, 8);
                assert_int_equal(st, g->copies[at] ? BLM_OK : BLM_E_ABSENT);
                g->total -= g->copies[at] > 0;
                g->copies[at] -= g->copies[at] > 0;
            } else {
                blm_status st = add(f, i);
                if (st == BLM_E_FULL) {
                    refused++;
                    assert_true(g->copies[at] == 8 ||
                                (double)g->total >= 0.9 * (double)params_of(f).bits);
                    continue;
                }
                assert_int_equal(st, g->copies[at] ? BLM_PRESENT : BLM_OK);
                g->copies[at]++;
                g->total++;
            }
            if (s % 4096 == 0)
                assert_true(params_of(f).items == g->total && stats_of(f).ones == g->total);
        }
        for (uint64_t i = 0; i < KEYS; i++)
            assert_int_equal(blm_count(f, &i, 8), g->copies[g->name[i]]);
        assert_true(refused > 0);
        free(g);
        blm_free(f);
    }
}

/* ---- the rate ---- */

static void the_rate_is_as_modelled(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        double   p;
    } cases[] = { { 100, 0.01 }, { 3000, 0.03 }, { 300000, 0.01 }, { 300000, 0.001 } };
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        blm_filter *f = cuckoo(cases[c].n, cases[c].p);
        for (uint64_t i = 0; i < cases[c].n; i++)
            assert_true(add(f, i) >= 0);
        blm_trial t = { .size = sizeof t };
        assert_status(blm_try_rate(f, NULL, 2000000, 5, &t, NULL), BLM_OK);
        double at = 0, sd = sqrt(t.modelled / 2e6),
               spread = 3 * t.modelled / sqrt((double)cases[c].n);
        assert_status(blm_rate_at(f, cases[c].n, &at), BLM_OK);
        /* How many keys cannot be told apart, which the bits count once, varies: n·rate/2 on average. */
        assert_true(fabs(t.modelled / at - 1) < 4.5 * sqrt(at / 2 / (double)cases[c].n) + 1e-9);
        assert_true(t.holds && at <= cases[c].p);
        if (fabs(t.rate - t.modelled) > 4.5 * sd + spread)
            fail_msg("n = %llu: %g, modelled %g", (unsigned long long)cases[c].n, t.rate,
                     t.modelled);
        blm_stats s = stats_of(f);
        double    n = (double)cases[c].n; /* a few cannot be told from keys that came again */
        assert_true(s.estimated.low <= n && n <= s.estimated.high + 1);
        assert_true(s.estimated.low > 0.98 * n && fabs(s.estimated.value / n - 1) < 0.003);
        assert_true(!s.overfilled);
        blm_free(f);
    }
}

/* ---- growth ---- */

static void it_grows_when_asked_to(void **state)
{
    (void)state;
    blm_options o = options(500, 0.01);
    o.growth      = 2;
    blm_filter *f = make(&o);
    assert_true(params_of(f).can & BLM_CAN_GROW);
    for (uint64_t i = 0; i < 20000; i++)
        assert_true(add(f, i) >= 0);
    blm_params p = params_of(f);
    assert_true(p.layers >= 6 && p.layers <= 8 && p.items == 20000);
    assert_true(p.rate == 0.01 && p.growth == 2 && p.cell_bits == 14);
    for (uint64_t i = 0; i < 20000; i++)
        assert_true(has(f, i));
    blm_trial t = { .size = sizeof t };
    assert_status(blm_try_rate(f, NULL, 200000, 5, &t, NULL), BLM_OK);
    assert_true(t.holds && t.modelled <= 0.01);
    uint8_t maybe[3];
    blm_key keys[3] = { { "x", 1 }, { &(uint64_t){ 5 }, 8 }, { "y", 1 } };
    assert_true(blm_check_many(f, keys, 3, maybe) >= 1 && maybe[1]);
    for (uint64_t i = 0; i < 20000; i++)
        assert_status(blm_remove(f, &i, 8), BLM_OK);
    assert_true(params_of(f).items == 0 && stats_of(f).ones == 0);
    /* One key may not make it grow without end. */
    for (unsigned i = 0; i < 8 * p.layers; i++)
        assert_true(blm_add(f, "a", 1) >= 0);
    assert_status(blm_add(f, "a", 1), BLM_E_FULL);
    assert_true(params_of(f).layers == p.layers);
    assert_status(blm_clear(f), BLM_OK);
    assert_true(params_of(f).layers == 1 && add(f, 1) == BLM_OK);
    blm_free(f);
}

/* A delta carries what was added, moved and removed, and layers that came. */
static void deltas_lead_from_one_to_the_other(void **state)
{
    (void)state;
    for (uint64_t grows = 0; grows < 2; grows++)
        for (uint64_t n = 10; n < 3000; n += n / 2 + 1) {
            blm_options  o     = options(n, 0.01);
            struct bytes delta = { 0 };
            o.growth           = grows ? 2 : 0;
            blm_filter *f      = make(&o), *before, *after;
            for (uint64_t i = 0; i < n / 2; i++)
                add(f, i);
            assert_status(blm_copy(f, &before, NULL), BLM_OK);
            for (uint64_t i = n / 2; i < (grows ? 3 * n : n); i++)
                assert_true(add(f, i) >= 0);
            uint64_t gone = 1;
            assert_status(blm_remove(f, &gone, 8), BLM_OK);
            assert_status(blm_diff(before, f, bytes_add, &delta, NULL), BLM_OK);
            assert_status(blm_patch(before, bytes_get, &delta, &after, NULL), BLM_OK);
            assert_true(blm_equal(f, after));
            for (uint64_t i = 0; i < 4 * n; i++)
                assert_int_equal(has(f, i), has(after, i));
            free(delta.p);
            blm_free(f);
            blm_free(before);
            blm_free(after);
        }
}

/* ---- what it refuses ---- */

static void refused(blm_options o, blm_status want, const char *word)
{
    blm_filter *f = NULL;
    blm_error   e = { .status = BLM_OK };
    assert_status(blm_create(&o, &f, &e), want);
    check_error(&e, want, word);
    assert_null(f);
}

/* As it fills: the modelled rate is that of the layers it would grow, and ends where it does. */
static void the_rate_of_one_that_grows_is_modelled(void **state)
{
    (void)state;
    blm_options o    = options(1000, 0.01);
    double      last = 0, now;
    o.growth         = 2;
    blm_filter *f = make(&o), *g = make(&o);
    uint64_t    most = params_of(f).capacity;
    for (uint64_t n = 250; n < most << 15; n = n * 5 / 4) {
        assert_status(blm_rate_at(f, n, &now), BLM_OK);
        assert_true(now >= last && now > 0 && now <= 0.01);
        last = now;
    }
    assert_status(blm_rate_at(f, UINT64_MAX, &now), BLM_E_FULL);
    for (uint64_t i = 0; i < 20000; i++)
        assert_true(blm_add(g, &i, 8) >= 0);
    assert_true(params_of(g).layers > 3);
    for (uint64_t n = 1000; n < 100000; n += 1000) { /* the same before and after */
        assert_status(blm_rate_at(f, n, &last), BLM_OK);
        assert_status(blm_rate_at(g, n, &now), BLM_OK);
        assert_true(fabs(now - last) < 1e-12);
    }
    assert_status(blm_rate_at(f, 20000, &now), BLM_OK);
    assert_true(fabs(stats_of(g).rate_now / now - 1) < 0.1);
    blm_free(f);
    blm_free(g);
    f = cuckoo(1000, 0.01); /* one that does not: its cells are the end */
    assert_status(blm_rate_at(f, params_of(f).bits, &now), BLM_OK);
    assert_status(blm_rate_at(f, params_of(f).bits + 1, &now), BLM_E_FULL);
    blm_free(f);
}

/* Their fingerprints are there again, and no more absent keys pass for that. */
static void keys_that_came_again_pass_once(void **state)
{
    (void)state;
    static const double rates[] = { 0.5, 0.02, 0.002 };
    const uint64_t      trials  = quick_tests() ? 200000 : 2000000;
    for (size_t r = 0; r < COUNT_OF(rates); r++)
        for (uint64_t times = 1; times <= 4; times++) {
            blm_filter *f = cuckoo(5000 * times, rates[r]);
            blm_trial   t = { .size = sizeof t };
            for (uint64_t i = 0; i < 5000 * times && add(f, i % 5000) >= 0; i++)
                ;
            double now = stats_of(f).rate_now;
            assert_status(blm_try_rate(f, NULL, trials, 3, &t, NULL), BLM_OK);
            if (fabs(t.rate - now) >
                4.5 * sqrt(now / (double)trials)) /* of each bit of the filter */
                fail_msg("at %g, %u times: %g is shown, %g measured", rates[r], (unsigned)times,
                         now, t.rate);
            blm_free(f);
        }
}

/* Of a large filter only some buckets are looked at. */
static void the_rate_of_a_large_one_is_sampled(void **state)
{
    (void)state;
    const uint64_t n = quick_tests() ? 400000 : 2000000, trials = quick_tests() ? 100000 : 1000000;
    blm_filter    *f = cuckoo(2 * n, 0.05);
    blm_trial      t = { .size = sizeof t };
    for (uint64_t i = 0; i < 2 * n; i++)
        add(f, i % n);
    double now = stats_of(f).rate_now;
    assert_status(blm_try_rate(f, NULL, trials, 3, &t, NULL), BLM_OK);
    assert_true(fabs(t.rate - now) < 4.5 * sqrt(now / (double)trials) + 0.01 * now);
    blm_free(f);
}

/* How many different keys there are, of those that came `times` times, and how often the interval has that. */
static void counted_once(double rate, uint64_t n, uint64_t times, uint64_t filters, uint64_t least)
{
    uint64_t held = 0;
    for (uint64_t x = 0; x < filters; x++) {
        blm_options o = options(2 * n * times, rate);
        o.flags       = BLM_SEEDED;
        o.seed[0]     = x;
        blm_filter *f = make(&o);
        uint64_t    i = 0;
        while (i < n * times && add(f, i % n) >= 0) /* copies crowd: it may be full of them */
            i++;
        assert_true(i >= n);
        blm_estimate e = stats_of(f).estimated;
        assert_true(e.low <= e.value && e.value <= e.high && e.high <= (double)params_of(f).items);
        held += e.low <= (double)n && (double)n <= e.high;
        blm_free(f);
    }
    if (held < least)
        fail_msg("%u keys, %u times, at %g: only %u of %u intervals hold", (unsigned)n,
                 (unsigned)times, rate, (unsigned)held, (unsigned)filters);
}

static void keys_that_came_again_are_one_key(void **state)
{
    (void)state;
    static const double rates[] = { 0.5, 0.05, 0.001, 1e-6 };
    const uint64_t      filters = quick_tests() ? 20 : 100;
    for (size_t r = 0; r < COUNT_OF(rates); r++)
        for (uint64_t times = 1; times <= 4; times++) {
            counted_once(rates[r], 1, times, filters, filters);
            counted_once(rates[r], 1000, times, filters, filters * 9 / 10);
        }
    for (uint64_t times = 1; times <= 3; times += 2) /* only some buckets are looked at */
        counted_once(0.02, 300000, times, 2, 2);
}

/* A layer that is added moves those that others read. */
static void one_that_grows_is_never_shared(void **state)
{
    (void)state;
    blm_options o = options(100, 0.01), like = BLM_OPTIONS_INIT;
    blm_error   e;
    o.growth      = 2;
    blm_filter *f = make(&o), *g;
    like.like     = f;
    like.flags    = BLM_SHARED;
    refused(like, BLM_E_UNSUPPORTED, "that grows cannot be shared");
    struct bytes b      = encoded(f);
    blm_options  opened = BLM_OPTIONS_INIT;
    opened.flags        = BLM_SHARED;
    assert_status(blm_decode(b.p, b.len, &opened, &g, &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "that grows cannot be shared");
    free(b.p);
    assert_status(blm_save(f, at("grows.blm"), NULL, 0, &e), BLM_OK);
    opened.flags = BLM_SHARED | BLM_WRITE;
    assert_status(blm_open(at("grows.blm"), &opened, &g, &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "that grows cannot be shared");
    opened.flags = BLM_WRITE; /* and nobody has it open now */
    assert_status(blm_open(at("grows.blm"), &opened, &g, &e), BLM_OK);
    blm_free(g);
    like.flags = 0;
    g          = make(&like);
    assert_true(params_of(g).growth == 2);
    blm_free(g);
    blm_free(f);
}

static void what_it_cannot_be_is_named(void **state)
{
    (void)state;
    blm_options o = options(100, 1e-9);
    refused(o, BLM_E_LIMIT, "fingerprints of 30 bits");
    o        = options(100, 0.01);
    o.probes = 3;
    refused(o, BLM_E_ARGUMENT, "one cell");
    o        = options(1000, 0.01);
    o.memory = 900;
    refused(o, BLM_E_LIMIT, "do not fit");
    o        = options(100, 0.01);
    o.growth = 2;
    o.flags |= BLM_SHARED;
    refused(o, BLM_E_UNSUPPORTED, "shared");
    o        = options(100, 0.01);
    o.growth = 3;
    refused(o, BLM_E_ARGUMENT, "growth");
    for (double rate = 1; rate < 17; rate *= 1.99) { /* of which a layer has a sixteenth */
        o        = options(100, rate);
        o.growth = 2;
        refused(o, BLM_E_ARGUMENT, "rate must be between 0 and 1");
    }
    o            = options(100, 0.01);
    o.words      = &(uint64_t){ 0 };
    o.word_count = 1;
    refused(o, BLM_E_UNSUPPORTED, "words");

    blm_filter *f = cuckoo(100, 0.01), *g = cuckoo(100, 0.01), *out = NULL;
    blm_error   e = { .status = BLM_OK };
    blm_overlap v = { .size = sizeof v };
    assert_status(blm_union(f, g, &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "no union");
    assert_status(blm_intersect(f, g, &e), BLM_E_UNSUPPORTED);
    assert_status(blm_compare(f, g, &v, &e), BLM_E_UNSUPPORTED);
    assert_status(blm_fold(f, 2, &out, &e), BLM_E_UNSUPPORTED);
    assert_status(blm_reduce(f, &out, &e), BLM_E_UNSUPPORTED);
    blm_free(f);
    blm_free(g);
}

static void sizes_can_be_given_otherwise(void **state)
{
    (void)state;
    blm_plan    p = { .size = sizeof p };
    blm_options o = options(10000, 0);
    o.memory      = 20000;
    assert_status(blm_plan_for(&o, &p, NULL), BLM_OK);
    assert_true(p.bytes <= 20000 && p.bytes > 18000 && p.items == 10000 && p.lines == 15);
    o        = options(0, 0.01);
    o.memory = 1 << 20;
    assert_status(blm_plan_for(&o, &p, NULL), BLM_OK);
    assert_true(p.bytes <= 1 << 20 && p.lines == 10 && p.items > 790000 && p.items < 800000);
    o      = options(0, 0.01);
    o.bits = 8000;
    assert_status(blm_plan_for(&o, &p, NULL), BLM_OK);
    assert_true(p.bits == 8000 && p.items > 7500 && p.items < 7600);
    blm_filter *f = make(&o);
    for (uint64_t i = 0; i < p.items; i++)
        assert_true(add(f, i) >= 0);
    blm_free(f);
}

/* ---- ways ---- */

/* In a few buckets ways to a free cell are long and meet their own buckets. Every seed is given, so
 * this is the same walk each time. */
static void no_way_loses_a_key(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = BLM_CUCKOO;
        o.items       = 8 + seed % 60;
        o.rate        = 0.001;
        o.flags       = BLM_SEEDED;
        o.seed[0]     = seed;
        blm_filter *f = make(&o);
        uint64_t    n = 0;
        while (add(f, n) >= 0) {
            n++;
            for (uint64_t i = 0; i < n; i++)
                assert_true(blm_check(f, &i, 8));
        }
        assert_true(n >= o.items && stats_of(f).ones == n);
        blm_free(f);
    }
}

/* ---- batches ---- */

/* A batch leaves what single adds leave, bit for bit, and stops where they do. */
static void a_batch_is_its_single_adds(void **state)
{
    (void)state;
    static const double rates[] = { 0.03, 0.01, 1e-4, 1e-6 };
    for (size_t r = 0; r < COUNT_OF(rates); r++)
        for (uint32_t flags = 0; flags < 2; flags++)
            for (size_t n = 20; n <= 20000; n *= 10) {
                blm_options o = BLM_OPTIONS_INIT;
                o.kind        = BLM_CUCKOO;
                o.items       = n;
                o.rate        = rates[r];
                o.flags       = BLM_SEEDED | (flags ? BLM_SHARED : 0);
                blm_filter *a = make(&o), *b = make(&o);
                uint64_t   *keys = malloc(3 * n * sizeof *keys), alone = 0;
                uint8_t    *fresh = malloc(3 * n);
                size_t      done  = 0;
                assert_true(keys && fresh);
                for (uint64_t i = 0; i < 3 * n; i++)
                    keys[i] = i % 7 == 6 ? keys[i / 2] : i; /* some come again */
                uint64_t before = atomic_exchange(&blm__in_cache_bytes, r % 2 ? 0 : UINT64_MAX);
                assert_status(blm_add_fixed(a, keys, 8, 3 * n, fresh, &done), BLM_E_FULL);
                atomic_store(&blm__in_cache_bytes, before);
                for (int was; (was = blm_add(b, &keys[alone], 8)) >= 0; alone++)
                    assert_int_equal(fresh[alone], was == BLM_OK);
                assert_true(done == alone);
                assert_true(blm_equal(a, b) && params_of(a).items == params_of(b).items);
                assert_true(params_of(a).items == done);
                free(keys);
                free(fresh);
                blm_free(a);
                blm_free(b);
            }
}

/* ---- kernels ---- */

static void kernels_agree_with_the_oracle(void **state)
{
    (void)state;
    static const char *const names[] = { "avx2", "avx512", "neon" };
    for (uint32_t bits = BLM__FINGERPRINT_MIN; bits <= BLM__FINGERPRINT_MAX;
         bits += bits > 17 ? 4 : 1)
        for (uint64_t n = 5; n < 100000; n *= 7) {
            blm_filter        *f = cuckoo(n, 8.2 / (ldexp(1, (int)bits) - 1));
            struct blm__layer *l = &f->body.layers[0];
            struct rng         r = { bits };
            uint64_t           h[256];
            uint8_t            want[256], got[256];
            assert_int_equal(l->shape.cell_bits, bits);
            for (uint64_t i = 0; i < n; i++)
                add(f, i);
            for (uint64_t i = 0; i < 256; i++)
                h[i] = i % 2 ? rng_next(&r) : blm__native_hash(&f->body.hasher, &i, 8);
            h[7] = 0;
            h[9] = UINT64_MAX;
            for (size_t some = 0; some <= 256; some += 1 + some / 3)
                for (size_t k = 0; k < COUNT_OF(names); k++) {
                    const struct blm__kernel *v = blm__kernel_named(names[k]);
                    if (!v)
                        continue;
                    size_t hits = blm__kernel_portable.buckets->check(l, h, some, want);
                    assert_int_equal(v->buckets->check(l, h, some, got), hits);
                    assert_memory_equal(got, want, some);
                }
            blm_free(f);
        }
}

/* ---- the rule ---- */

static void buckets_lead_to_each_other(void **state)
{
    (void)state;
    struct rng r = { 3 };
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t n    = 2 + 2 * rng_below(&r, i % 2 ? 20 : (uint64_t)1 << 44);
        uint32_t bits = 8 + (uint32_t)rng_below(&r, 23);
        uint64_t h = rng_next(&r), print = blm__fingerprint_of(h, bits);
        uint64_t first = blm__reduce(h, n), other = blm__other_bucket(first, print, n);
        assert_true(print >= 1 && print >> bits == 0);
        assert_true(first < n && other < n && first != other);
        assert_true(blm__other_bucket(other, print, n) == first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_lead_to_each_other),
        cmocka_unit_test(kernels_agree_with_the_oracle),
        cmocka_unit_test(no_way_loses_a_key),
        cmocka_unit_test(a_batch_is_its_single_adds),
        cmocka_unit_test(a_plan_holds_its_keys),
        cmocka_unit_test(it_takes_no_more_bits_than_promised),
        cmocka_unit_test(it_is_full_late_and_unchanged),
        cmocka_unit_test(a_full_batch_says_how_many),
        cmocka_unit_test(a_key_without_room_is_not_new),
        cmocka_unit_test(copies_are_counted_and_bounded),
        cmocka_unit_test(a_bag_of_fingerprints_agrees),
        cmocka_unit_test(the_rate_is_as_modelled),
        cmocka_unit_test(it_grows_when_asked_to),
        cmocka_unit_test(deltas_lead_from_one_to_the_other),
        cmocka_unit_test(the_rate_of_one_that_grows_is_modelled),
        file_test(one_that_grows_is_never_shared),
        cmocka_unit_test(keys_that_came_again_pass_once),
        cmocka_unit_test(keys_that_came_again_are_one_key),
        cmocka_unit_test(the_rate_of_a_large_one_is_sampled),
        cmocka_unit_test(what_it_cannot_be_is_named),
        cmocka_unit_test(sizes_can_be_given_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
