/* SPDX-License-Identifier: MIT */
/* Windows against an exact oracle: what was added lately, by number and by a clock that the test
 * turns; the rate of a filter that never stops; what is refused. */
#include "bloomery/window.h"
#include <bloomery/maths.h>

#include <pthread.h>

#include "bloomery/delta.h"
#include "bloomery/embed.h"
#include "core/kernel/kernel.h"
#include "unit/files.h"
#include "unit/rates.h"

static uint64_t test_clock(void *ctx) { return *(uint64_t *)ctx; }

static blm_options asked(uint64_t items, double rate, uint64_t ms, uint64_t *clock)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_WINDOW;
    o.items       = items;
    o.rate        = rate;
    o.window_ms   = ms;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 7;
    o.clock       = clock ? test_clock : NULL;
    o.clock_ctx   = clock;
    return o;
}

static blm_filter *made(const blm_options *o)
{
    blm_filter *f;
    assert_int_equal(blm_create(o, &f, NULL), BLM_OK);
    return f;
}

static blm_window window_of(const blm_filter *f)
{
    blm_window w = { .size = sizeof w };
    assert_int_equal(blm_get_window(f, &w), BLM_OK);
    return w;
}

static bool has(const blm_filter *f, uint64_t key)
{
    bool one = blm_check(f, &key, 8);
    assert_int_equal(one, blm_check_fixed(f, &key, 8, 1, NULL));
    return one;
}

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
        size_t   n = rng_below(&r, 4) ? 1 : by_time ? rng_below(&r, 8) : rng_below(&r, 300);
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
        if (rounds++ % 16 == 0)
            ask_all(f, &o, by_time ? clock : adds, &old, &late);
    }
    assert_true(old > 100000);
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

/* ---- rates ---- */

static double tried(const blm_filter *f, uint64_t trials, uint64_t seed)
{
    blm_trial t = { .size = sizeof t };
    assert_int_equal(blm_try_rate(f, NULL, trials, seed, &t, NULL), BLM_OK);
    return t.rate;
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
            uint64_t     each = sizes[s] > 700 ? 20 : 200;
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
    double rate = tried(f, 2000000, 3), error = sqrt(0.01 / 2000000);
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

/* ---- the clock ---- */

static void time_may_go_back(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u, key = 5, other = 6;
    blm_options o = asked(1000, 0.01, 7000, &clock);
    blm_filter *f = made(&o);
    blm_add(f, &key, 8);
    clock -= 1000000;
    assert_true(has(f, key));
    assert_true(window_of(f).behind > 0);
    blm_add(f, &other, 8);
    assert_true(has(f, key) && has(f, other));
    clock += 1000000 + 7000;
    assert_int_equal(window_of(f).behind, 0);
    clock += 1000;
    assert_false(has(f, key));
    blm_free(f);
}

/* The system's clock: a file that has seen a later time goes on from there. */
static void a_file_from_the_future(void **state)
{
    (void)state;
    uint64_t    clock = (uint64_t)4000000000u * 1000, key = 5;
    blm_options o = asked(1000, 0.01, 3600000, &clock);
    blm_filter *f;
    assert_int_equal(blm_create_file(at("future.blm"), &o, &f, NULL), BLM_OK);
    blm_add(f, &key, 8);
    assert_int_equal(blm_close(f, NULL), BLM_OK);
    assert_int_equal(blm_open(at("future.blm"), NULL, &f, NULL), BLM_OK);
    assert_true(has(f, key));
    assert_true(window_of(f).behind > (uint64_t)1000 * 86400 * 365);
    blm_free(f);
}

/* ---- files, copies, bytes ---- */

static void a_file_forgets_while_it_is_closed(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u, a = 1, b = 2;
    blm_options o = asked(1000, 0.01, 7000, &clock);
    blm_filter *f, *reader;
    assert_int_equal(blm_create_file(at("window.blm"), &o, &f, NULL), BLM_OK);
    blm_add(f, &a, 8);
    clock += 6000;
    blm_add(f, &b, 8);
    assert_int_equal(blm_open(at("window.blm"), &o, &reader, NULL), BLM_OK); /* beside the writer */
    assert_true(has(reader, a) && has(reader, b));
    assert_int_equal(blm_close(f, NULL), BLM_OK);
    clock += 3000; /* nobody writes */
    assert_true(!has(reader, a) && has(reader, b));
    blm_free(reader);
    o.flags = BLM_WRITE | BLM_VERIFY;
    assert_int_equal(blm_open(at("window.blm"), &o, &f, NULL), BLM_OK);
    assert_true(!has(f, a) && has(f, b));
    blm_add(f, &a, 8);
    assert_true(has(f, a) && has(f, b));
    blm_verdict v = { .size = sizeof v };
    assert_int_equal(blm_close(f, NULL), BLM_OK);
    assert_int_equal(blm_open(at("window.blm"), &o, &f, NULL), BLM_OK);
    assert_int_equal(blm_verify(f, &v, NULL), BLM_OK);
    assert_int_equal(v.good, v.regions);
    blm_free(f);
}

/* A killed writer's adds are all there, and its count too. */
static void a_killed_writer_loses_nothing(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    blm_options o     = asked(5000, 0.01, 0, &clock);
    blm_filter *f;
    for (int shared = 0; shared < 2; shared++) {
        o.flags   = BLM_SEEDED | BLM_REPLACE | (shared ? BLM_SHARED : 0);
        pid_t pid = fork();
        if (pid == 0) {
            if (blm_create_file(at("killed.blm"), &o, &f, NULL) != BLM_OK)
                _exit(1);
            for (uint64_t k = 0; k < 23456; k++)
                blm_add(f, &k, 8);
            kill(getpid(), SIGKILL);
        }
        int how;
        assert_int_equal(waitpid(pid, &how, 0), pid);
        assert_true(WIFSIGNALED(how));
        blm_options again = BLM_OPTIONS_INIT;
        again.flags       = BLM_WRITE;
        assert_int_equal(blm_open(at("killed.blm"), &again, &f, NULL), BLM_OK);
        for (uint64_t k = 23456 - 5000; k < 23456; k++)
            assert_true(has(f, k));
        for (uint64_t k = 23456; k < 30000; k++) {
            blm_add(f, &k, 8);
            assert_true(has(f, k - 4999));
        }
        assert_int_equal(blm_close(f, NULL), BLM_OK);
    }
}

/* Another boot than the writer's, in both slots. */
static void reboot(uint8_t *file)
{
    uint32_t block = blm__get32le(file + 48), size = blm__get32le(file + 52);
    for (unsigned i = 0; i < 2; i++)
        memset(file + block + i * size + 40, 0x55, 16);
    seal_slots(file);
}

/* Power fails: of the pages since the last sync any may be there, the count of adds an old one. What
 * was synced, and is in the window of all that was added, is there; and the next writer's adds are,
 * whatever it finds. */
static void a_power_cut_keeps_what_was_synced(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    struct rng  r     = { 4 };
    blm_filter *f;
    for (unsigned round = 0; round < 60; round++) {
        blm_options o = asked(20000, 0.01, round & 1 ? 20000 : 0, &clock);
        o.flags |= BLM_REPLACE;
        assert_int_equal(blm_create_file(at("cut.blm"), &o, &f, NULL), BLM_OK);
        for (uint64_t k = 0; k < 30000; k++, clock++)
            blm_add(f, &k, 8);
        assert_int_equal(blm_sync(f, NULL), BLM_OK);
        struct bytes disk = slurp(at("cut.blm"));
        uint64_t     last = 30000 + rng_below(&r, round % 3 ? 19000 : 90000);
        for (uint64_t k = 30000; k < last; k++, clock++)
            blm_add(f, &k, 8);
        struct bytes now = slurp(at("cut.blm"));
        assert_int_equal(now.len, disk.len);
        blm_free(f);
        for (size_t page = 0; page < disk.len; page += 4096)
            if (rng_below(&r, 2))
                memcpy(disk.p + page, now.p + page,
                       disk.len - page < 4096 ? disk.len - page : 4096);
        reboot(disk.p);
        spit(at("cut.blm"), disk.p, disk.len);
        free(disk.p);
        free(now.p);
        o.flags = BLM_WRITE | (round & 2 ? BLM_SHARED : 0);
        assert_int_equal(blm_open(at("cut.blm"), &o, &f, NULL), BLM_OK);
        for (uint64_t k = last > 20000 ? last - 20000 : 0; k < 30000; k++)
            if (!has(f, k))
                fail_msg("round %u: %llu of %llu", round, (unsigned long long)k,
                         (unsigned long long)last);
        for (uint64_t k = 500000; k < 560000; k++, clock++) {
            blm_add(f, &k, 8);
            assert_true(has(f, k) && (k < 519000 || has(f, k - 19000)));
        }
        blm_free(f);
    }
}

static void copies_and_bytes_are_the_filter(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    blm_options o     = asked(3000, 0.01, 5000, &clock);
    blm_filter *f     = made(&o), *g, *h;
    for (uint64_t k = 0; k < 3000; k++) {
        clock += 2;
        blm_add(f, &k, 8);
    }
    assert_int_equal(blm_copy(f, &g, NULL), BLM_OK);
    struct bytes all = encoded(f);
    assert_int_equal(blm_decode(all.p, all.len, &o, &h, NULL), BLM_OK);
    assert_true(blm_equal(f, g) && blm_equal(f, h));
    for (int step = 0; step < 12; step++) {
        for (uint64_t k = 0; k < 4000; k++)
            assert_true(has(f, k) == has(g, k) && has(f, k) == has(h, k));
        clock += 700;
    }
    assert_int_equal(window_of(h).adds, 0);
    assert_int_equal(blm_clear(g), BLM_OK);
    uint64_t one = 1;
    blm_add(g, &one, 8);
    assert_true(has(g, 1) && !has(g, 2));
    free(all.p);
    blm_free(f);
    blm_free(g);
    blm_free(h);
}

/* What a window has forgotten meanwhile is in a delta too. */
static void deltas_lead_from_one_to_the_other(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    blm_options o     = asked(3000, 0.01, 5000, &clock);
    blm_filter *f     = made(&o), *before, *after;
    for (uint64_t k = 0; k < 8000; k++) {
        if (k == 4000)
            assert_int_equal(blm_copy(f, &before, NULL), BLM_OK);
        clock += 2;
        blm_add(f, &k, 8);
    }
    struct bytes delta = { 0 };
    assert_int_equal(blm_diff(before, f, bytes_add, &delta, NULL), BLM_OK);
    assert_int_equal(blm_patch(before, bytes_get, &delta, &after, NULL), BLM_OK);
    assert_true(blm_equal(f, after));
    for (uint64_t k = 0; k < 8000; k++)
        assert_int_equal(has(f, k), has(after, k));
    free(delta.p);
    blm_free(f);
    blm_free(before);
    blm_free(after);
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

/* ---- threads ---- */

struct worker {
    blm_filter *f;
    uint64_t    from, known;
    pthread_t   thread;
};

static void *work(void *ctx)
{
    struct worker *w = ctx;
    for (uint64_t k = w->from; k < w->from + 30000; k++)
        if (blm_add(w->f, &k, 8) != BLM_OK)
            w->known++;
    return NULL;
}

/* Three times 30 000 keys: after key i of a thread come at most 30 000 − i of its own and 60 000 of
 * the others', so that from 10 000 on none has left a window of 80 000. */
static void threads_turn_together(void **state)
{
    (void)state;
    for (int time = 0; time < 2; time++) {
        blm_options o = asked(80000, 0.01, time ? 40 : 0, NULL); /* the system's clock */
        o.flags |= BLM_SHARED;
        blm_filter   *f = made(&o);
        struct worker w[3];
        for (uint64_t i = 0; i < 3; i++) {
            w[i] = (struct worker){ .f = f, .from = i * 1000000 };
            assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
        }
        for (size_t i = 0; i < 3; i++) {
            pthread_join(w[i].thread, NULL);
            assert_true(time || w[i].known < 600); /* by time they are too many for the rate */
        }
        if (!time) {
            blm_window v = window_of(f);
            assert_true(v.adds >= v.length && v.adds <= v.length + v.slack);
            for (uint64_t i = 0; i < 3; i++)
                for (uint64_t k = 10000; k < 30000; k++)
                    assert_true(has(f, i * 1000000 + k));
        }
        blm_free(f);
    }
}

/* A thread that was stopped at the start of a turn goes on when others are turns ahead: it must not
 * take away what they have added. */
struct racer {
    pthread_t   thread;
    blm_filter *f;
    uint64_t    from, lost;
    uint64_t   *started; /* adds, of all threads */
};

static void *race(void *arg)
{
    struct racer *r = arg;
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t key = r->from + i, before = __atomic_add_fetch(r->started, 1, __ATOMIC_SEQ_CST);
        blm_add(r->f, &key, sizeof key);
        bool there = blm_check(r->f, &key, sizeof key);
        r->lost += !there && __atomic_load_n(r->started, __ATOMIC_SEQ_CST) - before < 60;
    }
    return NULL;
}

static void laggards_take_nothing(void **state)
{
    (void)state;
    blm_options o = asked(70, 0.01, 0, NULL);
    o.flags |= BLM_SHARED;
    blm_filter  *f       = made(&o);
    uint64_t     started = 0;
    struct racer r[6];
    for (uint64_t i = 0; i < 6; i++) {
        r[i] = (struct racer){ .f = f, .from = i * 1000000, .started = &started };
        assert_int_equal(pthread_create(&r[i].thread, NULL, race, &r[i]), 0);
    }
    for (size_t i = 0; i < 6; i++) {
        pthread_join(r[i].thread, NULL);
        assert_int_equal(r[i].lost, 0);
    }
    blm_free(f);
}

/* ---- kernels ---- */

/* Every kernel leaves the bits, and gives the answers, of the portable one. */
static void kernels_agree(void **state)
{
    (void)state;
    static const char *const names[] = { "avx2", "avx512", "neon" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        for (unsigned shape = 0; shape < 16; shape++) {
            const struct blm__kernel *v = blm__kernel_named(names[i]);
            if (!v)
                continue;
            blm_options o = asked(300, 0.01, 0, NULL);
            o.lines       = 1 + shape % 3;
            o.slack       = shape & 1 ? 0.1 : 0;
            o.flags |= shape & 8 ? BLM_SHARED : 0;
            blm_filter *f = made(&o), *g = made(&o);
            f->body.kernel = blm__kernel_named("portable");
            g->body.kernel = v;
            struct rng r   = { shape };
            for (int round = 0; round < 200; round++) {
                uint64_t keys[256];
                uint8_t  a[256], b[256];
                size_t   n = 1 + rng_below(&r, 256);
                for (size_t k = 0; k < n; k++)
                    keys[k] = rng_below(&r, 5000);
                assert_int_equal(blm_check_fixed(f, keys, 8, n, a),
                                 blm_check_fixed(g, keys, 8, n, b));
                assert_memory_equal(a, b, n);
                blm_add_fixed(f, keys, 8, n, a, NULL);
                blm_add_fixed(g, keys, 8, n, b, NULL);
                assert_memory_equal(a, b, n);
                assert_true(blm_equal(f, g));
            }
            blm_free(f);
            blm_free(g);
        }
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
        cmocka_unit_test(the_rate_of_small_ones),
        cmocka_unit_test(the_rate_of_a_large_one),
        cmocka_unit_test(too_many_in_the_time),
        cmocka_unit_test(time_may_go_back),
        cmocka_unit_test(a_file_from_the_future),
        cmocka_unit_test(a_file_forgets_while_it_is_closed),
        cmocka_unit_test(a_killed_writer_loses_nothing),
        cmocka_unit_test(a_power_cut_keeps_what_was_synced),
        cmocka_unit_test(copies_and_bytes_are_the_filter),
        cmocka_unit_test(deltas_lead_from_one_to_the_other),
        cmocka_unit_test(unions_remember_what_either_does),
        cmocka_unit_test(threads_turn_together),
        cmocka_unit_test(laggards_take_nothing),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
