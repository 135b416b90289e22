/* SPDX-License-Identifier: MIT */
/* Small filters that sleep, while the background thread frees some of them: commands of the module in
 * one thread, as in Redis, and the type's free in another. ThreadSanitizer is the judge. */
#include <pthread.h>
#include <sched.h>

#include "unit/redis/module.h"

#define KEPT   40 /* more than stay awake */
#define ROUNDS 300

/* ---- what UNLINK hands over ---- */

#define AT_ONCE 12 /* fewer than stay awake, so that they are, when they are handed over */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    struct slot     slot[AT_ONCE];
    int             n;
    bool            ended;
} bin = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Steps back before each, so that commands need its place meanwhile. */
static void *empty_bin(void *unused)
{
    (void)unused;
    for (bool ended = false; !ended;) {
        struct slot slot[AT_ONCE];
        pthread_mutex_lock(&bin.lock);
        while (bin.n == 0 && !bin.ended)
            pthread_cond_wait(&bin.changed, &bin.lock);
        int n = bin.n;
        memcpy(slot, bin.slot, sizeof slot);
        bin.n = 0;
        ended = bin.ended;
        pthread_cond_signal(&bin.changed);
        pthread_mutex_unlock(&bin.lock);
        for (int i = 0; i < n; i++) {
            sched_yield();
            slot[i].type->m.free(slot[i].value);
        }
    }
    return NULL;
}

static void throw_away(const struct slot *slot)
{
    pthread_mutex_lock(&bin.lock);
    while (bin.n)
        pthread_cond_wait(&bin.changed, &bin.lock);
    memcpy(bin.slot, slot, sizeof bin.slot);
    bin.n = AT_ONCE;
    pthread_cond_signal(&bin.changed);
    pthread_mutex_unlock(&bin.lock);
}

/* Filters come, are filled beyond one layer or not, and go, while their places are taken by others. */
static void values_are_freed_in_the_background(void **state)
{
    (void)state;
    static struct slot kept[KEPT];
    pthread_t          other;
    char               text[32];
    server_start();
    assert_int_equal(pthread_create(&other, NULL, empty_bin, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct slot some[AT_ONCE] = { { NULL, NULL } };
        for (int j = 0; j < AT_ONCE; j++)
            for (int k = 0; k < ((i + j) % 16 ? 2 : 150); k++) {
                snprintf(text, sizeof text, "bf.add %d", k);
                run(&some[j], text);
            }
        throw_away(some);
        for (int j = 0; j < KEPT; j++) {
            snprintf(text, sizeof text, "%s %d", j % 3 ? "bf.exists" : "bf.add", i);
            run(&kept[j], text);
        }
    }
    pthread_mutex_lock(&bin.lock);
    bin.ended = true;
    pthread_cond_signal(&bin.changed);
    pthread_mutex_unlock(&bin.lock);
    pthread_join(other, NULL);
    for (int i = 0; i < KEPT; i++)
        forget(&kept[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_freed_in_the_background),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
