/* SPDX-License-Identifier: MIT */
/* A process whose threads add to a shared filter forks: the child has a copy of the filter, and no
 * thread that would ever give back what it had locked. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/support.h"

#define KEYS     64u
#define CHILDREN 40u
#define ROUNDS   100u /* of both threads, for each child: all fit, however long the children take */

struct crew {
    blm_filter *f;
    atomic_bool stop;
    atomic_uint rounds, allowed; /* allowed: to each */
};

static void *add_batches(void *arg)
{
    struct crew *c = arg;
    uint64_t     keys[KEYS];
    for (uint64_t n = 0; !atomic_load(&c->stop); n++) {
        while (n >= atomic_load(&c->allowed) && !atomic_load(&c->stop))
            sched_yield();
        for (unsigned i = 0; i < KEYS; i++)
            keys[i] = n * KEYS + i;
        blm_add_fixed(c->f, keys, 8, KEYS, NULL, NULL);
        atomic_fetch_add(&c->rounds, 1);
    }
    return NULL;
}

/* Whether all that the child adds can be added, and is there. */
static bool child_adds(blm_filter *f)
{
    uint64_t keys[16 * KEYS];
    uint8_t  maybe[16 * KEYS];
    bool     good = true;
    for (unsigned i = 0; i < 16 * KEYS; i++) {
        keys[i] = (uint64_t)1 << 40 | i;
        if (i % 2)
            good &= blm_add(f, &keys[i], 8) >= 0;
    }
    blm_add_fixed(f, keys, 8, 16 * KEYS, NULL, NULL);
    return good && blm_check_fixed(f, keys, 8, 16 * KEYS, maybe) == 16 * KEYS;
}

static void a_child_is_not_locked_out(void **state)
{
    (void)state;
    alarm(300); /* a child that waits for ever is killed, and so are we */
    EACH_FLAVOUR(v)
    {
        if (!(v->flags & BLM_SHARED))
            continue;
        struct crew c = { .f = make_flavour(v, 1000000, 0.01, 1) };
        pthread_t   thread[2];
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, add_batches, &c), 0);
        for (unsigned i = 0; i < CHILDREN; i++) {
            int      status = 1;
            unsigned before = atomic_load(&c.rounds);
            atomic_fetch_add(&c.allowed, ROUNDS);
            while (atomic_load(&c.rounds) == before) /* in the middle of them */
                sched_yield();
            pid_t pid = fork();
            assert_true(pid >= 0);
            if (pid == 0) {
                alarm(100);
                _exit(child_adds(c.f) ? 0 : 1);
            }
            assert_int_equal(waitpid(pid, &status, 0), pid);
            if (status != 0)
                fail_msg("child %u of a filter of kind %s: status %d", i,
                         blm_kind_find(v->kind)->name, status);
        }
        atomic_store(&c.stop, true);
        for (int i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
        blm_free(c.f);
    }
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_child_is_not_locked_out) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
