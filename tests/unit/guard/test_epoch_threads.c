/* SPDX-License-Identifier: MIT */
/* Waiting for those inside: with a slot of their own, without, and more threads than slots. */
#include "guard/epoch.h"

#include <pthread.h>
#include <sched.h>

#include "../support.h"

static struct blm__epoch   epoch;
static _Atomic(uint64_t *) shown;
static _Atomic bool        over;
static _Atomic uint32_t    broken;

/* A value is good while somebody who saw it is inside; the writer spoils it afterwards. */
static void *look(void *arg)
{
    bool enter = arg != NULL;
    while (!over) {
        struct blm__section s = enter ? blm__epoch_enter(&epoch) : blm__epoch_look(&epoch);
        uint64_t           *p = atomic_load(&shown);
        for (int i = 0; i < 20; i++)
            if (*(volatile uint64_t *)p != 1)
                broken++;
        blm__epoch_leave(&s, BLM__LEFT_OTHER);
        sched_yield(); /* outside, so that a turn of the processor rarely ends inside */
    }
    return NULL;
}

static void run(unsigned threads, unsigned rounds)
{
    static uint64_t value[2];
    pthread_t       t[100];
    value[0] = value[1] = 1;
    shown               = &value[0];
    over                = false;
    for (unsigned i = 0; i < threads; i++)
        assert_int_equal(pthread_create(&t[i], NULL, look, i % 4 == 3 ? &epoch : NULL), 0);
    for (unsigned i = 0; i < rounds; i++) {
        uint64_t *old = shown == &value[0] ? &value[0] : &value[1];
        uint64_t *new = old == &value[0] ? &value[1] : &value[0];
        *new          = 1;
        atomic_store(&shown, new);
        blm__epoch_wait(&epoch);
        *old = 0; /* nobody looks at it any more */
    }
    over = true;
    for (unsigned i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(broken, 0);
}

static void test_nobody_is_left_behind(void **state)
{
    (void)state;
    blm__epoch_init(&epoch);
    run(4, quick_tests() ? 20 : 1000);
}

static void test_without_membarrier(void **state)
{
    (void)state;
    epoch.owned = 0;
    run(4, quick_tests() ? 20 : 1000);
    blm__epoch_init(&epoch);
}

static void test_more_threads_than_slots(void **state)
{
    (void)state;
    run(80, 3);
}

/* Numbers come back when threads end: two hundred, one after the other, all have a slot. */
static void *number(void *arg)
{
    struct blm__section s = blm__epoch_look(&epoch);
    blm__epoch_leave(&s, BLM__LEFT_REFUSED);
    *(uint32_t *)arg = blm__thread_number;
    return NULL;
}

static void test_numbers_come_back(void **state)
{
    (void)state;
    uint64_t before = blm__epoch_count(&epoch, BLM__LEFT_REFUSED);
    for (int i = 0; i < 200; i++) {
        pthread_t t;
        uint32_t  mine = 0;
        assert_int_equal(pthread_create(&t, NULL, number, &mine), 0);
        assert_int_equal(pthread_join(t, NULL), 0);
        assert_in_range(mine, 1, BLM__EPOCH_OWNED);
    }
    assert_int_equal(blm__epoch_count(&epoch, BLM__LEFT_REFUSED) - before, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_is_left_behind),
        cmocka_unit_test(test_without_membarrier),
        cmocka_unit_test(test_more_threads_than_slots),
        cmocka_unit_test(test_numbers_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
