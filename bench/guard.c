/* SPDX-License-Identifier: MIT */
/*
 * What the guard costs.
 *
 *   guard [ROWS]          default 1e7
 *
 * refused get   compared with a check of the same filter and keys, by turns: the difference is the
 *               guard's cost. Target: at most 20 ns.
 * rebuild       lookups of one reader, alone and during a background rebuild of all rows. Target:
 *               at least 75% of the throughput, by the reader's own processor time, because the
 *               machine has other work too. By the wall clock it depends on idle processors.
 */
#include <bloomery.h>
#include <bloomery/guard.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

#define ASKED  65536u
#define ROUNDS 100 /* short ones: the smallest is the one that was least disturbed */

/* Rows are the numbers below `rows`, spread over 64 bits; nothing is stored. */
static uint64_t rows = 10000000;

static uint64_t key_of(uint64_t i) { return i * 0x9e3779b97f4a7c15u; }
static uint64_t row_of(uint64_t key) { return key * 0xf1de83e19937733du; } /* the inverse */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(blm_status s, const char *what)
{
    if (s < 0) {
        fprintf(stderr, "guard: %s: %s\n", what, blm_status_text(s));
        exit(2);
    }
}

/* ---- a data set that costs nothing ---- */

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    (void)ctx, (void)len, (void)value, (void)value_ctx, (void)err;
    return row_of(*(const uint64_t *)key) < rows ? BLM_OK : BLM_E_ABSENT;
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    (void)ctx, (void)err;
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t key = key_of(i);
        if (!each(each_ctx, &key, sizeof key))
            return BLM_E_CANCELLED;
    }
    return BLM_OK;
}

static blm_status count(void *ctx, uint64_t *out, blm_error *err)
{
    (void)ctx, (void)err;
    *out = rows;
    return BLM_OK;
}

static blm_guard *open_guard(void)
{
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_options       f = BLM_OPTIONS_INIT;
    blm_dataset       d = { .size = sizeof d, .get = get, .scan = scan, .count = count };
    blm_guard        *g;
    f.kind    = BLM_BLOCKED;
    f.flags   = BLM_SEEDED;
    f.seed[0] = 1;
    o.filter  = &f;
    o.rate    = 0.01;
    o.flags   = BLM_GUARD_MANUAL;
    must(blm_guard_open(&o, &d, &g, NULL), "open");
    must(blm_guard_build(g, NULL), "build");
    return g;
}

/* The guard's filter without the guard. */
static blm_filter *same_filter(blm_guard *g)
{
    blm_guard_stats s = { .size = sizeof s };
    blm_options     o = BLM_OPTIONS_INIT;
    blm_filter     *f;
    must(blm_guard_get_stats(g, &s), "stats");
    o.kind    = BLM_BLOCKED;
    o.items   = s.capacity;
    o.rate    = 0.01;
    o.flags   = BLM_SEEDED | BLM_SHARED;
    o.seed[0] = 1;
    must(blm_create(&o, &f, NULL), "create");
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t key = key_of(i);
        must(blm_add(f, &key, sizeof key), "add");
    }
    return f;
}

/* ---- a refused get ---- */

static void refused_get(void)
{
    static uint64_t keys[ASKED];
    blm_guard      *g          = open_guard();
    blm_filter     *f          = same_filter(g);
    double          best_check = 0, best_get = 0;
    uint64_t        wrong = 0;
    for (uint64_t i = 0, at = rows; i < ASKED; at += 7) {
        keys[i] = key_of(at);
        i += !blm_check(f, &keys[i], 8);
    }
    for (int round = 0; round < ROUNDS; round++) {
        double a = thread_ns();
        for (size_t i = 0; i < ASKED; i++)
            wrong += blm_check(f, &keys[i], 8);
        double b = thread_ns();
        for (size_t i = 0; i < ASKED; i++)
            wrong += blm_guard_get(g, &keys[i], 8, NULL, NULL, NULL) != BLM_E_ABSENT;
        double c = thread_ns();
        least(&best_check, (b - a) / ASKED);
        least(&best_get, (c - b) / ASKED);
    }
    printf("%9" PRIu64 " rows   check %5.1f ns   refused get %5.1f ns   more %5.1f ns%s\n", rows,
           best_check, best_get, best_get - best_check, wrong ? "   WRONG ANSWERS" : "");
    blm_free(f);
    blm_guard_close(g, NULL);
}

/* ---- during a rebuild ---- */

#define WINDOW  20000
#define WINDOWS 4000

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct pace {
    double wall; /* million lookups a second, by the clock */
    double cpu;  /* processor time of one in ns, of the median window */
    double took;
};

/* One in ten keys is present. Runs for `most` seconds, or (0) until the rebuild ends. */
static struct pace reading(blm_guard *g, double most)
{
    static double   window[WINDOWS];
    blm_guard_stats s = { .size = sizeof s };
    uint64_t        i = 1, lost = 0, n = 0;
    double          begun = seconds(), gone;
    do {
        double a = thread_ns();
        for (int k = 0; k < WINDOW; k++) {
            i            = i * 6364136223846793005u + 1442695040888963407u;
            uint64_t row = (i >> 20) % 10 == 0 ? (i >> 24) % rows : rows + (i >> 24);
            uint64_t key = key_of(row);
            bool     ok  = blm_guard_get(g, &key, 8, NULL, NULL, NULL) == BLM_OK;
            lost += ok != (row < rows);
        }
        window[n++ % WINDOWS] = (thread_ns() - a) / WINDOW;
        gone                  = seconds() - begun;
        blm_guard_get_stats(g, &s);
    } while (most > 0 ? gone < most : s.rebuilding);
    if (lost)
        printf("WRONG ANSWERS\n");
    uint64_t kept = n < WINDOWS ? n : WINDOWS;
    qsort(window, kept, sizeof *window, by_size);
    return (struct pace){ (double)(n * WINDOW) / gone / 1e6, window[kept / 2], gone };
}

static void beside_rebuild(void)
{
    blm_guard *g = open_guard();
    for (int round = 0; round < 3; round++) {
        struct pace alone = reading(g, 1);
        must(blm_guard_rebuild(g, NULL), "rebuild");
        struct pace beside = reading(g, 0);
        must(blm_guard_wait(g, NULL), "wait");
        printf("%9" PRIu64
               " rows   alone %5.1f ns   beside a rebuild of %.1f s %5.1f ns: %3.0f%% of the"
               " throughput   (by the clock %.1f and %.1f M/s)\n",
               rows, alone.cpu, beside.took, beside.cpu, 100 * alone.cpu / beside.cpu, alone.wall,
               beside.wall);
    }
    blm_guard_close(g, NULL);
}

int main(int argc, char **argv)
{
    uint64_t many = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : rows;
    printf("refused get: processor time, best of %d rounds\n", ROUNDS);
    rows = 10000;
    refused_get();
    rows = many;
    refused_get();
    printf("one reader, a tenth of its keys there: processor time of a lookup\n");
    beside_rebuild();
    return 0;
}
