/* SPDX-License-Identifier: MIT */
/* Real threads at a guard, freely running: each writes keys of its own and so knows what must be
 * there, while others read everything and the filter is rebuilt again and again. The data set fails
 * now and then. Every interleaving that can be drawn is the model's (tests/model); this is for what
 * only a machine does, and for ThreadSanitizer. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "rows.h"

#define WRITERS 3
#define OWN     24u
#define ROUNDS  (quick_tests() ? 200u : 15000u)

static struct rows      rows;
static blm_guard       *guard;
static _Atomic bool     over;
static _Atomic uint32_t broken; /* laws; cmocka's asserts belong to the main thread */

static size_t name(char out[32], unsigned writer, uint64_t i)
{
    return (size_t)snprintf(out, 32, "w%u-%llu", writer, (unsigned long long)i);
}

struct writer {
    unsigned number;
    bool     there[OWN], sure[OWN]; /* what we know of our keys; a failure leaves us unsure */
};

static void write_one(struct writer *w, struct rng *r)
{
    char     key[32];
    unsigned i   = (unsigned)rng_below(r, OWN);
    size_t   len = name(key, w->number, i);
    switch (rng_below(r, 4)) {
    case 0: {
        blm_status st = blm_guard_put(guard, key, len, NULL, 0, NULL);
        w->there[i]   = st == BLM_OK || w->there[i];
        w->sure[i]    = st == BLM_OK;
        break;
    }
    case 1: {
        blm_status st = blm_guard_delete(guard, key, len, NULL);
        if (st == BLM_OK && w->sure[i] && !w->there[i])
            broken++;
        w->there[i] = w->there[i] && st != BLM_OK && st != BLM_E_ABSENT;
        w->sure[i]  = st == BLM_OK || st == BLM_E_ABSENT;
        break;
    }
    default: {
        blm_status st = blm_guard_get(guard, key, len, NULL, NULL, NULL);
        if (w->sure[i] && st != (w->there[i] ? BLM_OK : BLM_E_ABSENT) && st != BLM_E_IO)
            broken++;
    }
    }
}

static bool rebuilt(void)
{
    blm_guard_stats s = { .size = sizeof s };
    blm_guard_get_stats(guard, &s);
    return s.rebuilds > 0;
}

/* Until a rebuild has ended beside the writers, however slowly it gets its turn. */
static void *write_own(void *arg)
{
    struct writer *w = arg;
    struct rng     r = { 99 + w->number };
    for (unsigned i = 0; i < ROUNDS || !rebuilt(); i++)
        write_one(w, &r);
    return NULL;
}

static void *read_all(void *arg)
{
    struct rng r = { (uint64_t)(uintptr_t)arg };
    char       key[32];
    while (!over) {
        size_t len = name(key, (unsigned)rng_below(&r, WRITERS + 1), rng_below(&r, OWN * 2));
        blm_guard_get(guard, key, len, NULL, NULL, NULL);
        blm_guard_maybe(guard, key, len);
        blm_guard_stats s = { .size = sizeof s };
        if (rng_below(&r, 64) == 0)
            blm_guard_get_stats(guard, &s);
    }
    return NULL;
}

static void *trouble(void *arg)
{
    struct rng r = { 5 };
    (void)arg;
    while (!over) {
        uint64_t what = rng_below(&r, 16);
        pthread_mutex_lock(&rows.lock);
        rows.fail_get  = what == 0;
        rows.fail_put  = what == 1 || what == 2;
        rows.late_put  = what == 2;
        rows.fail_del  = what == 3 || what == 4;
        rows.late_del  = what == 4;
        rows.fail_scan = what == 5;
        pthread_mutex_unlock(&rows.lock);
        blm_guard_rebuild(guard, NULL);
        if (what == 7)
            blm_guard_sync(guard, NULL);
        blm_guard_wait(guard, NULL);
    }
    return NULL;
}

static void run(blm_kind kind, const char *path)
{
    blm_options       f = BLM_OPTIONS_INIT;
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_error         err;
    struct writer     w[WRITERS];
    pthread_t         t[WRITERS + 2];
    rows_init(&rows, 1024);
    blm_dataset d = rows_dataset(&rows);
    f.kind        = kind;
    f.items       = 64;
    f.rate        = 0.2;
    o.filter      = &f;
    o.path        = path;
    o.remember    = 128;
    over          = false;
    broken        = 0;
    memset(w, 0, sizeof w);
    assert_int_equal(blm_guard_open(&o, &d, &guard, &err), BLM_OK);
    for (unsigned i = 0; i < WRITERS; i++) {
        w[i].number = i;
        assert_int_equal(pthread_create(&t[i], NULL, write_own, &w[i]), 0);
    }
    assert_int_equal(pthread_create(&t[WRITERS], NULL, read_all, &w), 0);
    assert_int_equal(pthread_create(&t[WRITERS + 1], NULL, trouble, NULL), 0);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(t[i], NULL);
    over = true;
    pthread_join(t[WRITERS], NULL);
    pthread_join(t[WRITERS + 1], NULL);
    assert_int_equal(broken, 0);
    rows.fail_get = false;
    blm_guard_sync(guard, &err);
    for (size_t i = 0; i < rows.room; i++) /* at rest every row is found */
        if (rows.row[i].there)
            assert_int_equal(
                blm_guard_get(guard, rows.row[i].key, rows.row[i].len, NULL, NULL, NULL), BLM_OK);
    blm_guard_stats s = { .size = sizeof s };
    blm_guard_get_stats(guard, &s);
    assert_true(s.rebuilds > 0 && s.lookups == s.refused + s.remembered + s.passed);
    assert_int_equal(blm_guard_close(guard, &err), BLM_OK);
    rows_free(&rows);
}

static void test_blocked(void **state)
{
    (void)state;
    run(BLM_BLOCKED, NULL);
}

static void test_counting(void **state)
{
    (void)state;
    run(BLM_COUNTING, NULL);
}

static void test_cuckoo(void **state)
{
    (void)state;
    run(BLM_CUCKOO, NULL);
}

static void test_in_a_file(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        run(i ? BLM_CUCKOO : BLM_BLOCKED, at("threads.blm"));
        unlink(at("threads.blm"));
        unlink(at("threads.blm.guard"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_cuckoo),
        cmocka_unit_test(test_in_a_file),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
