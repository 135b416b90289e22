/* SPDX-License-Identifier: MIT */
/* Shared filters from many threads at once. Setting bits and raising counters commute, so whatever
 * the order, the bits must come out exactly as one thread alone would have left them: one lost
 * update is seen. Run under ThreadSanitizer too (make test), on the portable kernel. */
#include <bloomery/maths.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "bloomery/embed.h"
#include "unit/support.h"

#define THREADS 4u

static bool shareable(const struct flavour *v) { return (v->flags & BLM_SHARED) != 0; }

struct crew {
    blm_filter          *f;
    pthread_barrier_t    start;
    uint32_t             keys;  /* each */
    uint32_t             batch; /* 0: one by one */
    bool                 mixed; /* every other thread one by one all the same … */
    bool                 bits;  /* … and the last by its keys' positions */
    bool                 same;  /* all add the same keys */
    atomic_uint_fast64_t fresh, denied;
};

struct worker {
    struct crew *c;
    uint32_t     number;
    pthread_t    thread;
};

static uint32_t key_of(const struct worker *w, uint32_t i)
{
    return w->c->same ? i : w->number * w->c->keys + i;
}

static uint64_t add_one(const struct worker *w, const uint32_t *key)
{
    uint64_t pos[64];
    size_t   n;
    if (!w->c->bits || w->number != THREADS - 1)
        return blm_add(w->c->f, key, 4) == BLM_OK;
    return blm_positions(w->c->f, key, 4, pos, 64, &n) == BLM_OK &&
           blm_add_positions(w->c->f, pos, n) == BLM_OK;
}

/* Adds its keys and asks for each at once: a key that was just added is never denied, whatever the
 * others do. */
static void *add_and_check(void *arg)
{
    struct worker *w     = arg;
    struct crew   *c     = w->c;
    uint64_t       fresh = 0, denied = 0;
    uint32_t       batch = c->mixed && w->number % 2 ? 0 : c->batch;
    pthread_barrier_wait(&c->start);
    for (uint32_t i = 0; i < c->keys;) {
        uint32_t keys[64], n = batch ? batch : 1;
        uint8_t  is_new[64], maybe[64];
        n = c->keys - i < n ? c->keys - i : n;
        for (uint32_t j = 0; j < n; j++)
            keys[j] = key_of(w, i + j);
        if (batch) {
            blm_add_fixed(c->f, keys, 4, n, is_new, NULL);
            for (uint32_t j = 0; j < n; j++)
                fresh += is_new[j];
            denied += n - blm_check_fixed(c->f, keys, 4, n, maybe);
        } else {
            fresh += add_one(w, keys);
            denied += !blm_check(c->f, keys, 4);
        }
        i += n;
    }
    atomic_fetch_add(&c->fresh, fresh);
    atomic_fetch_add(&c->denied, denied);
    return NULL;
}

static void crew_start(struct crew *c, struct worker *w)
{
    assert_int_equal(pthread_barrier_init(&c->start, NULL, THREADS + 1), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        w[i] = (struct worker){ .c = c, .number = i };
        assert_int_equal(pthread_create(&w[i].thread, NULL, add_and_check, &w[i]), 0);
    }
    pthread_barrier_wait(&c->start);
}

static void crew_join(struct crew *c, struct worker *w)
{
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
    pthread_barrier_destroy(&c->start);
}

/* One thread's filter of the same keys, each as often. */
static blm_filter *alone(const blm_options *o, const struct crew *c)
{
    blm_filter *f = make(o);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < c->keys; i++) {
            struct worker w = { .c = (struct crew *)(uintptr_t)c, .number = t };
            uint32_t      k = key_of(&w, i);
            blm_add(f, &k, 4);
        }
    return f;
}

static void check_crew(const struct flavour *v, const struct crew *c, const blm_options *o)
{
    blm_filter *want = alone(o, c);
    if (is_bits(v) && !same_bits(c->f, want)) /* there it depends on who came first */
        fail_msg("%s: an update was lost", v->name);
    assert_int_equal(c->denied, 0);
    uint64_t items = params_of(c->f).items;
    if (v->kind == BLM_COUNTING || !is_bits(v))
        assert_true(items == (uint64_t)THREADS * c->keys);
    else
        assert_true(items == c->fresh); /* every "new" was counted, and nothing else */
    if (v->kind != BLM_COUNTING && is_bits(v) &&
        c->same) /* who came second may hear "new" too, not fewer */
        assert_true(items >= params_of(want).items);
    blm_free(want);
}

/* ---- no update is lost ---- */

/* Small filters, many rounds: all threads meet in the same few words. */
static void crowded_words_lose_nothing(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        if (!shareable(v))
            continue;
        for (uint32_t round = 0; round < 400; round++) {
            blm_options o   = BLM_OPTIONS_INIT;
            o.kind          = v->kind;
            o.flags         = BLM_SHARED | BLM_SEEDED;
            o.seed[0]       = round;
            o.bits          = 4096;
            o.probes        = 6;
            o.lines         = v->lines;
            struct crew   c = { .keys  = 100,
                                .batch = round % 3 ? 0 : 16,
                                .mixed = round % 2,
                                .bits  = v->kind == BLM_BLOCKED,
                                .same  = round % 5 == 0 };
            struct worker w[THREADS];
            c.f = make(&o);
            crew_start(&c, w);
            crew_join(&c, w);
            check_crew(v, &c, &o);
            blm_free(c.f);
        }
    }
}

static bool swallow(void *ctx, const void *bytes, size_t len)
{
    (void)bytes;
    *(size_t *)ctx += len;
    return true;
}

/* Everything that reads may run meanwhile, and sees a filter that holds at least what was added
 * before it began: bits only come. Gives the first thing that went wrong, to be reported when the
 * other threads are done. */
#define NEED(x)        \
    do {               \
        if (!(x))      \
            return #x; \
    } while (0)

static const char *read_numbers(const blm_filter *f, uint32_t sure)
{
    blm_stats s = { .size = sizeof s };
    blm_trial t = { .size = sizeof t };
    double    map[10];
    uint8_t   print[16];
    uint64_t  pos[32];
    size_t    n, len = 0;
    NEED(blm_get_stats(f, &s) == BLM_OK);
    NEED(s.fill <= 1 && s.ones <= s.params.bits);
    NEED(blm_fill_map(f, map, 10) == BLM_OK);
    NEED(blm_try_rate(f, NULL, 100, 1, &t, NULL) == BLM_OK);
    NEED(blm_positions(f, &sure, 4, pos, 32, &n) == BLM_OK);
    NEED(blm_check_positions(f, pos, n));
    NEED(blm_fingerprint(f, print) == BLM_OK);
    NEED(blm_encode(f, NULL, swallow, &len, NULL) == BLM_OK);
    NEED(len > 0);
    return NULL;
}

static const char *read_whole(const blm_filter *f, const struct flavour *v, uint32_t sure,
                              blm_filter **g)
{
    blm_overlap ov = { .size = sizeof ov };
    NEED(blm_copy(f, g, NULL) == BLM_OK);
    NEED(blm_check(*g, &sure, 4));
    (void)blm_equal(*g, f);
    NEED(blm_compare(*g, f, &ov, NULL) == BLM_OK);
    NEED(ov.jaccard.value >= 0 && ov.jaccard.value <= 1);
    NEED(blm_union(*g, f, NULL) == BLM_OK);
    NEED(blm_intersect(*g, f, NULL) == BLM_OK);
    NEED(blm_check(*g, &sure, 4));
    blm_free(*g);
    NEED(blm_fold(f, 1, g, NULL) == BLM_OK);
    NEED(blm_check(*g, &sure, 4));
    if (v->kind == BLM_COUNTING) {
        blm_free(*g);
        NEED(blm_reduce(f, g, NULL) == BLM_OK);
        NEED(blm_check(*g, &sure, 4));
    }
    return NULL;
}

static void readers_run_beside_writers(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        if (!shareable(v))
            continue;
        for (int batch = 0; batch < 2; batch++) {
            blm_options   o = flavour_options(v, 4 * 5000, 0.01, 7);
            struct crew   c = { .keys = 5000, .batch = batch ? 64 : 0 };
            struct worker w[THREADS];
            uint32_t      sure  = 0x80000000u;
            uint64_t      last  = 0;
            const char   *wrong = NULL;
            c.f                 = make(&o);
            blm_add(c.f, &sure, 4);
            crew_start(&c, w);
            for (int i = 0; i < 20 && !wrong; i++) {
                blm_stats   s = { .size = sizeof s };
                blm_filter *g = NULL;
                blm_get_stats(c.f, &s);
                wrong = s.ones < last ? "ones never fall" : read_numbers(c.f, sure);
                if (!wrong)
                    wrong = read_whole(c.f, v, sure, &g);
                last = s.ones;
                blm_free(g);
            }
            crew_join(&c, w);
            if (wrong)
                fail_msg("%s: beside adds: %s", v->name, wrong);
            blm_filter *want = alone(&o, &c);
            blm_add(want, &sure, 4);
            assert_true(same_bits(c.f, want));
            assert_int_equal(c.denied, 0);
            blm_free(want);
            blm_free(c.f);
        }
    }
}

/* ---- files ---- */

/* Adds go on while another thread syncs: nothing is lost, every checksum holds after the close. */
static void syncs_run_beside_writers(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "threads.%ld.blm", (long)getpid());
    EACH_FLAVOUR(v)
    {
        if (!shareable(v))
            continue;
        blm_options   o = flavour_options(v, 4 * 3000, 0.01, 7);
        struct crew   c = { .keys = 3000, .batch = 16 };
        struct worker w[THREADS];
        blm_verdict   verdict = { .size = sizeof verdict };
        blm_error     e;
        o.flags |= BLM_REPLACE;
        assert_status(blm_create_file(path, &o, &c.f, &e), BLM_OK);
        crew_start(&c, w);
        blm_status st = BLM_OK;
        for (int i = 0; i < 5 && st == BLM_OK; i++)
            st = blm_sync(c.f, &e);
        crew_join(&c, w);
        assert_status(st, BLM_OK);
        assert_int_equal(c.denied, 0);
        assert_status(blm_close(c.f, &e), BLM_OK);
        blm_options r = BLM_OPTIONS_INIT;
        r.flags       = BLM_VERIFY;
        assert_status(blm_open(path, &r, &c.f, &e), BLM_OK);
        assert_status(blm_verify(c.f, &verdict, &e), BLM_OK);
        assert_true(verdict.damaged == 0 && verdict.unverified == 0);
        check_crew(v, &c, &o);
        blm_free(c.f);
        unlink(path);
    }
}

/* ---- and what needs no BLM_SHARED ---- */

static void *ask(void *arg)
{
    struct worker *w      = arg;
    uint64_t       denied = 0;
    pthread_barrier_wait(&w->c->start);
    for (uint32_t i = 0; i < w->c->keys; i++)
        denied += !blm_check(w->c->f, &i, 4);
    (void)stats_of(w->c->f);
    atomic_fetch_add(&w->c->denied, denied);
    return NULL;
}

/* Any number may read a filter that nobody is changing, of every kind. */
static void quiet_filters_may_be_read_by_all(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        struct crew   c = { .keys = 2000 };
        struct worker w[THREADS];
        c.f = make_flavour(v, 2000, 0.01, 1);
        for (uint32_t i = 0; i < c.keys; i++)
            blm_add(c.f, &i, 4);
        pthread_barrier_init(&c.start, NULL, THREADS);
        for (uint32_t i = 0; i < THREADS; i++) {
            w[i] = (struct worker){ .c = &c, .number = i };
            assert_int_equal(pthread_create(&w[i].thread, NULL, ask, &w[i]), 0);
        }
        for (uint32_t i = 0; i < THREADS; i++)
            pthread_join(w[i].thread, NULL);
        pthread_barrier_destroy(&c.start);
        assert_int_equal(c.denied, 0);
        blm_free(c.f);
    }
}

static void *live_alone(void *arg)
{
    struct worker *w      = arg;
    uint64_t       denied = 0;
    pthread_barrier_wait(&w->c->start);
    EACH_FLAVOUR(v)
    {
        blm_options o = flavour_options(v, 500, 0.01, w->number);
        blm_filter *f = NULL;
        if (blm_create(&o, &f, NULL) != BLM_OK)
            return NULL;
        for (uint32_t i = 0; i < 500; i++)
            blm_add(f, &i, 4);
        for (uint32_t i = 0; i < 500; i++)
            denied += !blm_check(f, &i, 4);
        blm_free(f);
    }
    atomic_fetch_add(&w->c->denied, denied);
    atomic_fetch_add(&w->c->fresh, 1);
    return NULL;
}

/* Different filters share no state, the choice of a kernel included (made in this run's first
 * create, which is why this test comes first). */
static void different_filters_never_meet(void **state)
{
    (void)state;
    struct crew   c = { .keys = 0 };
    struct worker w[THREADS];
    pthread_barrier_init(&c.start, NULL, THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        w[i] = (struct worker){ .c = &c, .number = i };
        assert_int_equal(pthread_create(&w[i].thread, NULL, live_alone, &w[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(w[i].thread, NULL);
    pthread_barrier_destroy(&c.start);
    assert_int_equal(c.denied, 0);
    assert_int_equal(c.fresh, THREADS);
}

static void scalable_filters_are_not_shared(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.kind  = BLM_SCALABLE;
    o.rate  = 0.01;
    o.flags = BLM_SHARED;
    assert_status(blm_create(&o, &f, NULL), BLM_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(different_filters_never_meet),
        cmocka_unit_test(crowded_words_lose_nothing),
        cmocka_unit_test(readers_run_beside_writers),
        cmocka_unit_test(syncs_run_beside_writers),
        cmocka_unit_test(quiet_filters_may_be_read_by_all),
        cmocka_unit_test(scalable_filters_are_not_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
