/* SPDX-License-Identifier: MIT */
/* Windows that threads share. */
#include "windows.h"

#include <pthread.h>

#include "sanitized.h"

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
#if SANITIZED
#define RACE 20000u /* a tenth of the speed, and turns still change every ten adds */
#else
#define RACE 300000u
#endif

struct racer {
    pthread_t   thread;
    blm_filter *f;
    uint64_t    from, lost;
    uint64_t   *started; /* adds, of all threads */
};

static void *race(void *arg)
{
    struct racer *r = arg;
    for (uint64_t i = 0; i < RACE; i++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_turn_together),
        cmocka_unit_test(laggards_take_nothing),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
