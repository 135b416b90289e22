/* SPDX-License-Identifier: MIT */
/* Windows against an exact oracle: what was added lately, by number and by a clock that the test
 * turns; the rate of a filter that never stops; two windows; what is refused. */
#include "windows.h"

#include <bloomery/maths.h>

#include "unit/rates.h"

/* ---- the oracle ---- */

/* When each key was added last, in adds or milliseconds. */
#define KEYS 4000u
struct oracle {
    uint64_t last[KEYS], added[KEYS]; /* … and the number of times */
};

/* Nothing inside the window is missing; of what is older than window + slack no more is there than
 * the rate explains. `late` counts those. */
static void ask_all(const blm_filter *f, const struct oracle *o, uint64_t now, uint64_t *asked_old,
                    uint64_t *late)
{
    blm_window w = window_of(f);
    for (uint64_t k = 0; k < KEYS; k++) {
        uint64_t age = now - o->last[k];
        bool     in  = has(f, k);
        if (o->added[k] && age + !w.by_time <= w.length && !in)
            fail_msg("key %llu, %llu old, is forgotten in a window of %llu", (unsigned long long)k,
                     (unsigned long long)age, (unsigned long long)w.length);
        if (!o->added[k] || age >= w.length + w.slack) {
            ++*asked_old;
            *late += in;
        }
    }
}

/* A hundred turns of the whole window, with keys that come back early and late, one by one and in
 * batches. */
static void a_hundred_windows(bool by_time, double slack, uint32_t flags)
{
    static struct oracle o;
    memset(&o, 0, sizeof o);
    uint64_t    clock = 1700000000123u, adds = 0, old = 0, late = 0;
    blm_options options = asked(700, 0.01, by_time ? 5000 : 0, &clock);
    options.slack       = slack;
    options.flags |= flags;
    blm_filter *f     = made(&options);
    blm_window  w     = window_of(f);
    struct rng  r     = { 99 + flags };
    uint64_t    start = clock, rounds = 0;
    while (by_time ? clock - start < 100 * w.length : adds < 100 * w.length) {
        uint64_t keys[300];
        size_t   n = rng_size(&r, 4) ? 1 : by_time ? rng_size(&r, 8) : rng_size(&r, 300);
        uint8_t  fresh[300];
        clock += rng_below(&r, 40);
        if (rng_below(&r, 2000) == 0)
            clock += rng_below(&r, 4 * w.length);
        for (size_t i = 0; i < n; i++)
            keys[i] = rng_below(&r, KEYS / 2) + (rounds / 64 % 2) * KEYS / 2;
        assert_int_equal(blm_add_fixed(f, keys, 8, n, fresh, NULL), BLM_OK);
        for (size_t i = 0; i < n; i++) {
            uint64_t now = by_time ? clock : adds + 1;
            if (o.added[keys[i]] && now - o.last[keys[i]] <= w.length)
                assert_int_equal(fresh[i], 0);
            o.last[keys[i]] = by_time ? clock : adds + 1;
            o.added[keys[i]]++;
            adds++;
        }
        if (rounds++ % (quick_tests() ? 128 : 16) == 0)
            ask_all(f, &o, by_time ? clock : adds, &old, &late);
    }
    assert_true(old > (quick_tests() ? 10000u : 100000u));
    assert_true((double)late < 0.011 * (double)old);
    blm_free(f);
}

static void by_number(void **state)
{
    (void)state;
    a_hundred_windows(false, 0, 0);
    a_hundred_windows(false, 0.1, 0);
    a_hundred_windows(false, 0, BLM_SHARED);
}

static void by_time(void **state)
{
    (void)state;
    a_hundred_windows(true, 0, 0);
    a_hundred_windows(true, 0.03, 0);
    a_hundred_windows(true, 0, BLM_SHARED);
}

/* Tags repeat after 256 rounds: nobody may come back then. */
static void nothing_comes_back(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    blm_options o     = asked(2000, 0.001, 8000, &clock);
    blm_filter *f     = made(&o);
    blm_window  w     = window_of(f);
    for (uint64_t k = 0; k < 2000; k++)
        blm_add(f, &k, 8);
    for (uint64_t turn = 0; turn < 3 * 256 * w.ages; turn++) {
        uint64_t other = 1000000; /* the same spans, so that nothing else is written over */
        clock += w.turn_length;
        blm_add(f, &other, 8);
        size_t there = 0;
        if (turn >= w.ages && turn % 4 == 0)
            for (uint64_t k = 0; k < 2000; k++)
                there += blm_check(f, &k, 8);
        assert_true(there <= 3);
    }
    for (uint64_t k = 0; k < 2000; k++)
        blm_add(f, &k, 8);
    clock += (uint64_t)1 << 40; /* nobody came for 34 years */
    for (uint64_t k = 0; k < 2000; k++)
        assert_false(blm_check(f, &k, 8));
    assert_true(window_of(f).adds == 0);
    blm_free(f);
}

/* The shortest window: whoever is slower than it and its slack, here 8 ms, finds the key forgotten. */
static void a_millisecond(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    blm_options o     = asked(20, 0.01, 1, &clock);
    blm_filter *f     = made(&o);
    blm_window  w     = window_of(f);
    assert_int_equal(w.length + w.slack, 8);
    for (uint64_t late = 0; late < 12; late++) {
        uint64_t key = 5;
        clock += 1000;
        assert_int_equal(blm_add(f, &key, 8), BLM_OK);
        clock += late;
        if (late <= w.length || late >= w.length + w.slack)
            assert_int_equal(has(f, key), late <= w.length);
    }
    blm_free(f);
}

#define LAST (((uint64_t)1 << 44) - 1) /* ms that a file can hold, in the year 2527 */

/* Past the last moment that a state holds, time stands still: nothing is forgotten early. */
static void time_ends(void **state)
{
    (void)state;
    static const uint64_t past[] = { 0,
                                     1,
                                     99,
                                     8000,
                                     80000,
                                     (uint64_t)1 << 40,
                                     LAST - 4,
                                     1700000000000000u, /* microseconds */
                                     (uint64_t)1 << 63,
                                     UINT64_MAX - LAST };
    for (size_t i = 0; i < COUNT_OF(past); i++) {
        uint64_t     clock = LAST - 5000, old = 1, new = 2, kept = 3;
        blm_options  o = asked(200, 0.001, 7000, &clock);
        blm_filter  *f = made(&o), *g;
        struct bytes b = { 0 };
        blm_add(f, &old, 8);
        clock = LAST - 10;
        blm_add(f, &new, 8);
        clock = LAST + past[i];
        assert_true(has(f, new) && has(f, old));
        blm_add(f, &kept, 8);
        assert_true(has(f, kept) && has(f, new) && has(f, old));
        assert_int_equal(window_of(f).now, LAST);
        assert_int_equal(window_of(f).behind, 0);
        g = made(&o);
        assert_int_equal(blm_union(g, f, NULL), BLM_OK);
        assert_true(has(g, kept) && has(g, new));
        blm_free(g);
        assert_int_equal(blm_encode(f, NULL, bytes_add, &b, NULL), BLM_OK);
        blm_free(f);
        assert_int_equal(blm_decode(b.p, b.len, &o, &f, NULL), BLM_OK);
        free(b.p);
        clock += 1;
        assert_true(has(f, kept) && has(f, new) && has(f, old));
        blm_free(f);
    }
}

/* A caller's clock that counts microseconds: keys stay, at every step. */
static void a_clock_of_microseconds(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000000u;
    blm_options o     = asked(100000, 0.001, 1000, &clock);
    blm_filter *f     = made(&o);
    for (uint64_t key = 0; key < 2000; key++) {
        clock += (uint64_t)1 << (key % 40);
        assert_true(blm_add(f, &key, 8) >= 0);
        assert_true(has(f, key) && has(f, 0));
    }
    blm_free(f);
}

/* ---- rates ---- */

static double tried(const blm_filter *f, uint64_t trials, uint64_t seed)
{
    blm_trial t = { .size = sizeof t };
    assert_int_equal(blm_try_rate(f, NULL, trials, seed, &t, NULL), BLM_OK);
    return t.rate;
}

/* The size that a rate is said to need holds it, and is the one that the rate alone gets. */
static void the_size_it_needs(void **state)
{
    (void)state;
    static const double rates[] = { 0.3, 0.00390625, 1e-4 };
    for (uint64_t n = 1; n < 4000; n += 1 + n / 20)
        for (size_t i = 0; i < COUNT_OF(rates); i++) {
            blm_options o = asked(n, rates[i], 0, NULL);
            blm_plan    p = { .size = sizeof p }, q = p;
            assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
            assert_true(p.fits);
            assert_int_equal(p.bytes_needed, p.bytes);
            o.memory = p.bytes + 640;
            assert_int_equal(blm_plan_for(&o, &q, NULL), BLM_OK);
            assert_true(q.fits && q.bytes > p.bytes);
            assert_int_equal(q.bytes_needed, p.bytes);
            o.memory = p.bytes;
            assert_int_equal(blm_plan_for(&o, &q, NULL), BLM_OK);
            assert_true(q.fits && q.bytes == p.bytes);
            o.memory = p.bytes - 64;
            if (blm_plan_for(&o, &q, NULL) == BLM_OK)
                assert_int_equal(q.bytes_needed, p.bytes);
        }
}

/* Of many small windows after ten times their length, when a turn ends: on average as planned. */
static void the_rate_of_small_ones(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 7, 50, 700, 5000 };
    static const double   rates[] = { 0.1, 0.01, 0.001 };
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (size_t p = 0; p < COUNT_OF(rates); p++) {
            struct tally t = { 0 };
            char         name[64];
            uint64_t     each = quick_tests() ? 2 : sizes[s] > 700 ? 20 : 200;
            for (uint64_t seed = 1; seed <= each; seed++) {
                blm_options o = asked(sizes[s], rates[p], 0, NULL);
                o.seed[0]     = seed;
                blm_filter *f = made(&o);
                blm_window  w = window_of(f);
                uint64_t    n = 10 * w.ages * w.turn_length - 1;
                for (uint64_t k = 0; k < n; k++)
                    blm_add(f, &k, 8);
                double model;
                assert_int_equal(blm_rate_at(f, sizes[s], &model), BLM_OK);
                assert_true(model <= rates[p] * (1 + 1e-9));
                tally_add(&t, tried(f, 20000, seed), model);
                blm_free(f);
            }
            snprintf(name, sizeof name, "window of %llu at %g", (unsigned long long)sizes[s],
                     rates[p]);
            judge(name, tally_mean(&t), t.model / t.n, tally_error(&t), 0.01);
        }
}

static void the_rate_of_a_large_one(void **state)
{
    (void)state;
    blm_options o = asked(slow_tests() ? 10000000 : 300000, 0.01, 0, NULL);
    blm_filter *f = made(&o);
    blm_window  w = window_of(f);
    uint64_t    keys[256], next = 0, n = 3 * w.ages * w.turn_length - 1;
    while (next < n) {
        size_t some = n - next < 256 ? (size_t)(n - next) : 256;
        for (size_t i = 0; i < some; i++)
            keys[i] = next++;
        assert_int_equal(blm_add_fixed(f, keys, 8, some, NULL, NULL), BLM_OK);
    }
    blm_stats s = { .size = sizeof s };
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_false(s.overfilled);
    assert_int_equal(s.params.items, w.ages * w.turn_length - 1);
    assert_true(fabs(s.estimated.value / (double)s.params.items - 1) < 0.02);
    uint64_t trials = quick_tests() ? 20000 : 2000000;
    double   rate = tried(f, trials, 3), error = sqrt(0.01 / (double)trials);
    judge("a large window, by its bits", rate, s.rate_now, error, 0.002);
    judge("a large window, as planned", rate, 0.01, error, 0.02);
    blm_age  ages[64];
    uint64_t adds = 0;
    assert_int_equal(blm_get_ages(f, ages, 64), 8);
    for (size_t i = 0; i < 8; i++) {
        adds += ages[i].adds;
        assert_true(fabs(ages[i].estimated.value / (double)ages[i].adds - 1) < 0.03);
    }
    assert_int_equal(adds, s.params.items);
    blm_free(f);
}

/* ---- how many keys ---- */

/* Windows that have seen four times their length, of `some` keys again and again (0: of new ones). */
static void counted(uint64_t n, double slack, uint64_t some, double most_off)
{
    const unsigned rounds = quick_tests() ? 100 : 500;
    unsigned       held   = 0;
    double         sum = 0, truth = 0;
    for (unsigned r = 0; r < rounds; r++) {
        blm_options o = asked(n, 0.01, 0, NULL);
        o.slack       = slack;
        o.seed[0]     = r;
        blm_filter *f = made(&o);
        uint64_t    x = r, adds = 4 * n, last[300] = { 0 }, keys = 0;
        assert_true(some <= COUNT_OF(last));
        for (uint64_t i = 0; i < adds; i++) {
            x            = x * 6364136223846793005u + 1442695040888963407u;
            uint64_t key = some ? (x >> 33) % some : i;
            blm_add(f, &key, 8);
            if (some)
                last[key] = i + 1;
        }
        uint64_t in = window_of(f).adds;
        for (uint64_t k = 0; k < some; k++)
            keys += last[k] > adds - in;
        keys        = some ? keys : in;
        blm_stats s = { .size = sizeof s };
        assert_int_equal(blm_get_stats(f, &s), BLM_OK);
        assert_int_equal(s.params.items, in);
        held += s.estimated.low <= (double)keys && (double)keys <= s.estimated.high;
        sum += s.estimated.value;
        truth += (double)keys;
        blm_free(f);
    }
    double chance = 4.5 * sqrt(0.95 * 0.05 * rounds);
    if (held < 0.95 * rounds - chance || fabs(sum / truth - 1) > most_off)
        fail_msg("%llu keys, slack %g, %llu different ones: %u of %u intervals held, and %g of the "
                 "truth",
                 (unsigned long long)n, slack, (unsigned long long)some, held, rounds, sum / truth);
}

/* A key that came back is in many ages, and is one key. */
static void keys_that_come_back(void **state)
{
    (void)state;
    counted(100, 0, 0, 0.02);
    counted(100, 0, 10, 0.03);
    counted(100, 0, 60, 0.03);
    counted(1000, 0, 0, 0.02);
    counted(1000, 0, 300, 0.02);
    counted(1000, 0.05, 60, 0.03);
    counted(1000, 0.05, 300, INFINITY); /* in 32 ages hardly a cell is free: the interval says so */
    counted(1000, 0.05, 0, 0.03);
}

/* More keys than planned in the time: the rate says so, and nothing is forgotten. */
static void too_many_in_the_time(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    blm_options o     = asked(1000, 0.01, 60000, &clock);
    blm_filter *f     = made(&o);
    for (uint64_t k = 0; k < 5000; k++) {
        clock += k % 2;
        blm_add(f, &k, 8);
    }
    blm_stats s = { .size = sizeof s };
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    assert_true(s.overfilled && s.rate_now > 0.02 && s.params.items == 5000);
    for (uint64_t k = 0; k < 5000; k++)
        assert_true(has(f, k));
    blm_free(f);
}

/* All keys of a window in one turn: none is forgotten, the rate of this moment is what is measured,
 * and it is said which plan would hold. When the turn is forgotten, so is the burst. */
static void a_burst_is_said(void **state)
{
    (void)state;
    static const double rates[] = { 0.1, 0.01, 0.001 };
    const uint64_t      trials  = quick_tests() ? 20000 : 1000000;
    for (size_t i = 0; i < 2 * COUNT_OF(rates); i++) {
        uint64_t    clock = 1700000000000u, n = 20000, shares = i % 2 ? 7 : 2, key = 0;
        double      p      = rates[i / 2];
        blm_options o      = asked(n, p, 70000, &clock);
        blm_filter *f      = made(&o);
        uint64_t    share  = window_of(f).share;
        double      error  = 0;
        blm_stats   before = { .size = sizeof before }, after = before;
        assert_int_equal(share, n / 7 + 1);
        for (; key < shares * share; key++)
            blm_add(f, &key, 8);
        assert_int_equal(window_of(f).busiest, shares * share);
        assert_int_equal(blm_get_stats(f, &before), BLM_OK);
        assert_true(before.overfilled == (p < 0.1 || shares == 7));
        error = sqrt(before.rate_now * (1 - before.rate_now) / (double)trials);
        judge("a burst", tried(f, trials, i), before.rate_now, error, 0.002);
        for (uint64_t k = 0; k < key; k++)
            assert_true(has(f, k));
        clock += 80000;
        for (uint64_t turn = 0; turn < 8; turn++, clock += 10000)
            for (uint64_t k = 0; k < share; k++, key++)
                blm_add(f, &key, 8);
        clock -= 10000;
        assert_int_equal(window_of(f).busiest, share);
        assert_int_equal(blm_get_stats(f, &after), BLM_OK);
        assert_false(after.overfilled);
        blm_free(f);

        o = asked(shares * share * 7, p, 70000, &clock); /* as it is told to plan */
        f = made(&o);
        for (uint64_t turn = 0; turn < 8; turn++, clock += 10000)
            for (uint64_t k = 0; k < shares * share; k++, key++)
                blm_add(f, &key, 8);
        clock -= 10000;
        assert_int_equal(window_of(f).busiest, window_of(f).share);
        error = sqrt(p / (double)trials);
        assert_true(tried(f, trials, i) <= p + 4 * error + 0.02 * p);
        blm_free(f);
    }
}

/* ---- two windows ---- */

static void unions_remember_what_either_does(void **state)
{
    (void)state;
    for (int time = 0; time < 2; time++)
        for (uint64_t seed = 0; seed < 40; seed++) {
            uint64_t    clock = 1700000000000u + seed * 77;
            struct rng  r     = { seed };
            blm_options o     = asked(500, 0.001, time ? 5000 : 0, &clock);
            blm_filter *f = made(&o), *g = made(&o);
            uint64_t    last[2][400] = { { 0 } }, adds[2] = { 0 };
            for (uint64_t i = 0, n = 500 + rng_below(&r, 1500); i < n; i++) {
                uint64_t side = rng_below(&r, 5) == 0, k = rng_below(&r, 400);
                clock += rng_below(&r, 8);
                if (rng_below(&r, 300) == 0)
                    clock += rng_below(&r, 2) ? 3000 : 40000;
                blm_add(side ? g : f, &k, 8);
                last[side][k] = time ? clock : ++adds[side];
            }
            clock += rng_below(&r, 3000);
            assert_int_equal(blm_union(f, g, NULL), BLM_OK);
            uint64_t more = 0;
            for (int step = 0; step < 8; step++) {
                for (uint64_t k = 0; k < 400; k++)
                    for (int side = 0; side < 2; side++) {
                        uint64_t now = time ? clock : adds[side] + more;
                        if (last[side][k] && now - last[side][k] <= (time ? 5000 : 499))
                            assert_true(has(f, k));
                    }
                clock += 800;
                for (uint64_t i = 0; i < 90; i++, more++) {
                    uint64_t k = 100000 + more;
                    blm_add(f, &k, 8);
                }
            }
            size_t left = 0;
            clock += 2000;
            for (uint64_t k = 0; k < 400; k++)
                left += has(f, k);
            assert_true(left <= 8);
            blm_free(f);
            blm_free(g);
        }
    blm_options o = asked(500, 0.01, 5000, NULL), p = asked(500, 0.01, 6000, NULL);
    blm_filter *f = made(&o), *g = made(&p);
    blm_error   e;
    assert_int_equal(blm_union(f, g, &e), BLM_E_MISMATCH);
    assert_non_null(strstr(e.text, "windows differ"));
    assert_false(blm_equal(f, g));
    uint8_t print[2][16];
    blm_fingerprint(f, print[0]);
    blm_fingerprint(g, print[1]);
    assert_memory_not_equal(print[0], print[1], 16);
    assert_int_equal(blm_intersect(f, f, &e), BLM_E_UNSUPPORTED);
    blm_free(f);
    blm_free(g);
}

/* By number each window counts its own turns. What comes from another is in no count, and its turns may be too
 * full with it; by time both count the same turns. */
static void unions_may_crowd_an_age(void **state)
{
    (void)state;
    for (int time = 0; time < 2; time++)
        for (uint64_t keys = 50; keys <= 1000; keys += 950) {
            uint64_t    clock = 1700000000000u;
            blm_options o     = asked(1000, 0.01, time ? 80000 : 0, &clock);
            blm_filter *f = made(&o), *g = made(&o);
            for (uint64_t i = 0; i < keys; i++, clock += 80000 / keys) {
                uint64_t other = i + 5000;
                blm_add(f, &i, 8);
                blm_add(g, &other, 8);
            }
            assert_false(stats_of(f).overfilled || params_of(f).unclosed);
            assert_int_equal(blm_union(f, f, NULL), BLM_OK);
            assert_false(params_of(f).unclosed);
            assert_int_equal(blm_union(f, g, NULL), BLM_OK);
            assert_int_equal(params_of(f).unclosed, !time);
            assert_int_equal(stats_of(f).overfilled, keys == 1000);
            blm_clear(f);
            assert_false(params_of(f).unclosed);
            blm_clear(g);
            assert_int_equal(blm_union(f, g, NULL), BLM_OK); /* it had nothing */
            assert_false(params_of(f).unclosed);
            blm_free(f);
            blm_free(g);
        }
}

/* Who repeats a union later, and the adds that came after it, gets what was there the first time. */
static void unions_do_not_depend_on_the_moment(void **state)
{
    (void)state;
    for (uint64_t late = 0; late < 20000; late += 300) {
        uint64_t    clock = 1700000000000u, k = 1, before = 2, after = 3;
        blm_options o = asked(500, 0.001, 7000, &clock);
        blm_filter *f = made(&o), *g = made(&o), *again = NULL;
        blm_add(f, &k, 8);
        clock += 2500;
        blm_add(g, &before, 8);
        assert_int_equal(blm_copy(f, &again, NULL), BLM_OK);
        clock += 1300;
        assert_int_equal(blm_union(f, g, NULL), BLM_OK);
        blm_add(f, &after, 8);
        clock += late;
        assert_int_equal(blm_union(again, g, NULL), BLM_OK);
        clock -= late;
        blm_add(again, &after, 8);
        assert_true(blm_equal(f, again));
        for (uint64_t end = clock + 16000; clock < end; clock += 250) {
            bool due = end - clock > 16000 - 7000;
            for (uint64_t i = 1; i <= after; i++)
                assert_int_equal(has(f, i), has(again, i));
            assert_true(!due || has(f, after));
        }
        assert_false(has(again, k) || has(again, before) || has(again, after));
        blm_free(f);
        blm_free(g);
        blm_free(again);
    }
}

/* One that has seen a later time than our clock does not make the other forget. */
static void unions_with_a_clock_that_is_ahead(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u, mine = 1, theirs = 2;
    blm_options o = asked(500, 0.001, 7000, &clock);
    blm_filter *f = made(&o), *g = made(&o);
    blm_add(f, &mine, 8);
    clock += 3600000;
    blm_add(g, &theirs, 8);
    clock -= 3600000;
    assert_int_equal(blm_union(f, g, NULL), BLM_OK);
    assert_true(has(f, mine) && has(f, theirs));
    clock += 7000;
    assert_true(has(f, mine) && has(f, theirs));
    clock += 2000;
    assert_false(has(f, mine) || has(f, theirs));
    blm_free(f);
    blm_free(g);
}

/* ---- refusals ---- */

static void refused(const blm_options *o, blm_status st, const char *words)
{
    blm_filter *f;
    blm_error   e;
    assert_int_equal(blm_create(o, &f, &e), st);
    if (!strstr(e.text, words))
        fail_msg("\"%s\" does not say \"%s\"", e.text, words);
}

/* What a refusal names can be given, and nothing less. */
static void the_least_slack(uint64_t window, uint32_t ages, uint64_t over)
{
    blm_options o    = asked(window, 0.01, 0, NULL);
    double      said = 0;
    blm_plan    p    = { .size = sizeof p };
    blm_error   e;
    o.slack = (double)over / (double)window * 0.99;
    assert_int_equal(blm_plan_for(&o, &p, &e), BLM_E_ARGUMENT);
    const char *least = strstr(e.text, "the least of this window is ");
    assert_non_null(least);
    assert_int_equal(sscanf(least, "the least of this window is %lf", &said), 1);
    assert_true(said >= (double)over / (double)window && said <= o.slack * 1.03);
    o.slack = said;
    assert_int_equal(blm_plan_for(&o, &p, &e), BLM_OK);
    assert_int_equal(p.model, BLM_MODEL_WINDOW + (ages == 16 ? 1 : ages == 64 ? 3 : 0));
}

static void what_is_refused(void **state)
{
    (void)state;
    blm_options o = asked(0, 0.01, 0, NULL);
    refused(&o, BLM_E_ARGUMENT, "items is 0");
    o = asked(1000, 0.01, 0, NULL);
    for (int i = 0; i < 3; i++) {
        static const double bad[] = { -1, 0.015, NAN };
        o.slack                   = bad[i];
        refused(&o, BLM_E_ARGUMENT, "slack");
    }
    o       = asked(63000, 0.01, 0, NULL);
    o.slack = 0.016;
    blm_free(made(&o));
    o       = asked(3, 0.01, 0, NULL); /* turns are whole keys: 8 · 1 − 3 */
    o.slack = 1;
    refused(&o, BLM_E_ARGUMENT, "slack");
    the_least_slack(1000, 64, 24);
    the_least_slack(100, 16, 12);
    the_least_slack(3, 8, 5);
    the_least_slack(63000, 64, 1000);
    the_least_slack((uint64_t)1 << 39, 64, 8726205042);
    o = asked(1000, 0.01, (uint64_t)1 << 41, NULL);
    refused(&o, BLM_E_ARGUMENT, "2^40");
    o        = asked(1000, 0.01, 0, NULL);
    o.memory = 100;
    o.rate   = 0;
    refused(&o, BLM_E_LIMIT, "at least");
    o            = asked(1000, 0.01, 0, NULL);
    o.words      = (uint64_t[64]){ 0 };
    o.word_count = 64;
    refused(&o, BLM_E_UNSUPPORTED, "words");
    o             = asked(1000, 0.01, 0, NULL);
    blm_filter *f = made(&o), *g;
    double      map[4];
    uint64_t    pos[4] = { 0 }, key = 1;
    size_t      count;
    assert_int_equal(blm_fill_map(f, map, 4), BLM_E_UNSUPPORTED);
    assert_int_equal(blm_remove(f, &key, 8), BLM_E_UNSUPPORTED);
    assert_int_equal(blm_positions(f, &key, 8, pos, 4, &count), BLM_E_UNSUPPORTED);
    assert_true(blm_check_positions(f, pos, 4));
    assert_int_equal(blm_fold(f, 2, &g, NULL), BLM_E_UNSUPPORTED);
    assert_int_equal(blm_reduce(f, &g, NULL), BLM_E_UNSUPPORTED);
    blm_free(f);
    o      = asked(1000, 0.01, 0, NULL);
    o.kind = BLM_BLOCKED;
    f      = made(&o);
    assert_int_equal(blm_get_window(f, &(blm_window){ .size = sizeof(blm_window) }),
                     BLM_E_UNSUPPORTED);
    assert_int_equal(blm_get_ages(f, NULL, 0), 0);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_number),
        cmocka_unit_test(by_time),
        cmocka_unit_test(nothing_comes_back),
        cmocka_unit_test(a_millisecond),
        cmocka_unit_test(time_ends),
        cmocka_unit_test(a_clock_of_microseconds),
        cmocka_unit_test(the_size_it_needs),
        cmocka_unit_test(the_rate_of_small_ones),
        cmocka_unit_test(the_rate_of_a_large_one),
        cmocka_unit_test(keys_that_come_back),
        cmocka_unit_test(too_many_in_the_time),
        cmocka_unit_test(a_burst_is_said),
        cmocka_unit_test(unions_remember_what_either_does),
        cmocka_unit_test(unions_may_crowd_an_age),
        cmocka_unit_test(unions_do_not_depend_on_the_moment),
        cmocka_unit_test(unions_with_a_clock_that_is_ahead),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
