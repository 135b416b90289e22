/* SPDX-License-Identifier: MIT */
/*
 * Near copies against their promise: writers add keys and note when each was acknowledged; copies are
 * opened, asked and closed. Every key that was acknowledged longer ago than a copy may be old must be
 * "maybe". tests/redis/test_near.py starts the servers, and delays and kills them meanwhile.
 *
 *     redis.near_model WRITERS-URL COPIES-URL SECONDS WAIT SEED
 *
 * Ends after that time, or SIGTERM, but not before something was written and asked. Prints what was
 * done; exit 1: a wrong "no".
 */
#include <bloomery_near.h>
#include <bloomery_remote.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WRITERS  3
#define COPIES   2
#define KEYS     200000u /* of a writer */
#define BATCH    40u
#define STALE_MS 300u
#define WRITTEN  500u /* at least */
#define ASKED    1000u

static struct {
    const char      *writers, *copies;
    double           until;
    uint32_t         wait;
    unsigned         seed;
    _Atomic uint64_t acknowledged[WRITERS][KEYS]; /* microseconds; 0: not yet */
    _Atomic uint32_t written[WRITERS];
    _Atomic uint64_t asked, no, wrong, old, opened, loads, changes;
} model;

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static volatile sig_atomic_t told;

static void stop(int number)
{
    (void)number;
    told = 1;
}

static bool over(void)
{
    uint32_t written = 0;
    for (size_t i = 0; i < WRITERS; i++)
        written += model.written[i];
    return (told || (double)now_us() * 1e-6 > model.until) && written > WRITTEN &&
           model.asked > ASKED;
}

static void rest(unsigned us) { nanosleep(&(struct timespec){ 0, (long)us * 1000 }, NULL); }

static size_t name(char out[32], unsigned writer, uint32_t key)
{
    return (size_t)snprintf(out, 32, "w%u-%u", writer, (unsigned)key);
}

static void *write_keys(void *ctx)
{
    unsigned           me = (unsigned)(uintptr_t)ctx, seed = model.seed + me;
    blm_remote_options o = BLM_REMOTE_OPTIONS_INIT;
    blm_remote        *r = NULL;
    blm_error          err;
    char               text[BATCH][32];
    blm_key            keys[BATCH];
    o.wait = model.wait;
    if (blm_remote_open(model.writers, &o, &r, &err) != BLM_OK) {
        fprintf(stderr, "a writer cannot open the filter: %s\n", err.text);
        exit(2);
    }
    for (uint32_t at = 0; at < KEYS && !over();) {
        uint32_t n = 1 + (uint32_t)rand_r(&seed) % BATCH;
        n          = KEYS - at < n ? KEYS - at : n;
        for (uint32_t i = 0; i < n; i++)
            keys[i] = (blm_key){ text[i], name(text[i], me, at + i) };
        if (blm_remote_add_many(r, keys, n, NULL, NULL, &err) != BLM_OK)
            continue; /* not acknowledged; the same keys again */
        uint64_t then = now_us();
        for (uint32_t i = 0; i < n; i++)
            model.acknowledged[me][at + i] = then;
        at += n;
        model.written[me] = at;
        rest((unsigned)rand_r(&seed) % 3000);
    }
    blm_remote_close(r);
    return NULL;
}

static void ask_once(blm_near *n, unsigned *seed)
{
    char     text[32];
    unsigned writer = (unsigned)rand_r(seed) % WRITERS;
    uint32_t most   = model.written[writer];
    if (!most)
        return;
    /* Late keys are where a copy could be behind. */
    uint32_t back  = (uint32_t)rand_r(seed) % (rand_r(seed) % 4 ? 2000 : most);
    uint32_t key   = back < most ? most - 1 - back : 0;
    uint64_t asked = now_us();
    bool     maybe = blm_near_check(n, text, name(text, writer, key));
    model.asked++;
    if (maybe)
        return;
    model.no++;
    uint64_t then = model.acknowledged[writer][key];
    if (then && then + STALE_MS * 1000u < asked) {
        model.wrong++;
        fprintf(stderr, "%s was acknowledged %.1f ms before it was answered no\n", text,
                (double)(asked - then) / 1000);
    }
}

static void *copy_and_ask(void *ctx)
{
    unsigned         seed = model.seed + 100 + (unsigned)(uintptr_t)ctx;
    blm_near_options o    = BLM_NEAR_OPTIONS_INIT;
    o.every_ms            = 20;
    o.stale_ms            = STALE_MS;
    while (!over()) {
        blm_near *n = NULL;
        blm_error err;
        if (blm_near_open(model.copies, &o, &n, &err) != BLM_OK) {
            rest(20000);
            continue;
        }
        model.opened++;
        double end = (double)now_us() * 1e-6 + 0.5 + (double)(rand_r(&seed) % 2000) / 1000;
        while (!over() && (double)now_us() * 1e-6 < end) {
            blm_near_stats s = { .size = sizeof s };
            for (int i = 0; i < 200; i++)
                ask_once(n, &seed);
            blm_near_get_stats(n, &s);
            model.old += !s.current;
            rest(200);
        }
        blm_near_stats s = { .size = sizeof s };
        blm_near_get_stats(n, &s);
        model.loads += s.loads;
        model.changes += s.changes;
        blm_near_close(n);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[WRITERS + COPIES];
    if (argc != 6)
        return 2;
    model.writers = argv[1];
    model.copies  = argv[2];
    model.until   = (double)now_us() * 1e-6 + atof(argv[3]);
    model.wait    = (uint32_t)atoi(argv[4]);
    model.seed    = (unsigned)atoi(argv[5]);
    signal(SIGTERM, stop);
    for (uintptr_t i = 0; i < WRITERS + COPIES; i++)
        if (pthread_create(&threads[i], NULL, i < WRITERS ? write_keys : copy_and_ask,
                           (void *)(i < WRITERS ? i : i - WRITERS)) != 0)
            return 2;
    for (size_t i = 0; i < WRITERS + COPIES; i++)
        pthread_join(threads[i], NULL);
    uint64_t written = 0;
    for (size_t i = 0; i < WRITERS; i++)
        written += model.written[i];
    printf("%llu keys, %llu questions, %llu no, %llu times too old, %llu copies, %llu loads, %llu "
           "changes, %llu wrong\n",
           (unsigned long long)written, (unsigned long long)model.asked,
           (unsigned long long)model.no, (unsigned long long)model.old,
           (unsigned long long)model.opened, (unsigned long long)model.loads,
           (unsigned long long)model.changes, (unsigned long long)model.wrong);
    return model.wrong ? 1 : 0;
}
