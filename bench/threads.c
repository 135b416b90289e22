/* SPDX-License-Identifier: MIT */
/*
 * What threads and sorting gain, in one process on the same keys:
 *
 *     bench/threads [KEYS [THREADS [ROUNDS]]]         1e7, 2 and 5 when not given
 *
 * shared: the program's own THREADS threads on one BLM_SHARED filter, each with a part of the keys,
 * against one thread with all of them. batch: one call with blm_set_threads(f, THREADS) against the
 * same call with one thread. Then the large add as one call (sorted, if the filter does not fit in
 * the caches) against calls of 65 536 keys (not sorted), and libbloom if it is installed.
 *
 * Times are wall time, the smallest of ROUNDS: run it on an idle machine.
 */
#include <bloomery.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef BENCH_LIBBLOOM
#include <bloom.h>
#endif

#define MOST  64
#define CALLS ((size_t)1 << 16) /* keys of an ordinary batch */

static size_t    count   = 10000000;
static unsigned  threads = 2, rounds = 5;
static uint64_t *keys;
static uint8_t  *flags;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static blm_filter *make(blm_kind kind, uint32_t flag, unsigned with)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.kind    = kind;
    o.items   = count;
    o.rate    = 0.01;
    o.flags   = flag;
    o.threads = with;
    if (blm_create(&o, &f, &e) != BLM_OK) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    blm_clear(f); /* touches its memory, so that no page is first used while timing */
    return f;
}

enum work { ADD, CHECK };

struct part {
    blm_filter *f;
    size_t      from, to, call;
    enum work   work;
    uint8_t    *flags; /* NULL: not wanted */
};

static void *run_part(void *arg)
{
    const struct part *p = arg;
    for (size_t at = p->from; at < p->to; at += p->call) {
        size_t   n     = p->to - at < p->call ? p->to - at : p->call;
        uint8_t *which = p->flags ? p->flags + at : NULL;
        if (p->work == ADD)
            blm_add_fixed(p->f, keys + at, 8, n, which, NULL);
        else
            blm_check_fixed(p->f, keys + at, 8, n, which);
    }
    return NULL;
}

/* One way to do the work. */
struct way {
    unsigned own;     /* the program's own threads */
    unsigned threads; /* the filter's threads */
    size_t   call;
    double   best; /* ns per key so far */
};

static void once(blm_filter *f, enum work work, bool told, struct way *w)
{
    struct part p[MOST];
    pthread_t   t[MOST];
    blm_set_threads(f, w->threads);
    if (work == ADD)
        blm_clear(f);
    double start = now();
    for (unsigned i = 0; i < w->own; i++) {
        p[i] = (struct part){ f,    count * i / w->own, count * (i + 1) / w->own, w->call,
                              work, told ? flags : NULL };
        if (i && pthread_create(&t[i], NULL, run_part, &p[i]) != 0)
            exit(1);
    }
    run_part(&p[0]);
    for (unsigned i = 1; i < w->own; i++)
        pthread_join(t[i], NULL);
    double took = (now() - start) / (double)count * 1e9;
    if (w->best == 0 || took < w->best)
        w->best = took;
}

/* Runs the ways by turns, so that a slow moment of the machine does not hit only one. */
static void measure(blm_filter *f, enum work work, bool told, struct way *w, size_t ways)
{
    for (unsigned r = 0; r < rounds; r++)
        for (size_t i = 0; i < ways; i++)
            once(f, work, told, &w[i]);
}

static void row(const char *what, double one, double many)
{
    printf("%-44s %8.2f %8.2f %7.2f x\n", what, one, many, one / many);
    fflush(stdout);
}

static void shared(blm_kind kind, const char *name)
{
    blm_filter *f = make(kind, BLM_SHARED, 1);
    for (int work = ADD; work <= CHECK; work++) {
        char       text[64];
        struct way w[] = { { .own = 1, .threads = 1, .call = CALLS },
                           { .own = threads, .threads = 1, .call = CALLS } };
        measure(f, (enum work)work, true, w, 2);
        snprintf(text, sizeof text, "%s shared, %s", name, work == ADD ? "add" : "check");
        row(text, w[0].best, w[1].best);
    }
    blm_free(f);
}

static void batches(blm_kind kind, const char *name)
{
    static const char *const words[] = { "add", "add, told which are new" };
    char                     text[64];
    blm_filter              *f = make(kind, 0, 1);
    for (int told = 0; told < 2; told++) {
        struct way w[] = { { .own = 1, .threads = 1, .call = CALLS },
                           { .own = 1, .threads = 1, .call = count },
                           { .own = 1, .threads = threads, .call = count } };
        measure(f, ADD, told, w, 3);
        snprintf(text, sizeof text, "%s batch, %s", name, words[told]);
        row(text, w[1].best, w[2].best);
        snprintf(text, sizeof text, "%s one call after many calls, %s", name, words[told]);
        row(text, w[0].best, w[1].best);
    }
    struct way w[] = { { .own = 1, .threads = 1, .call = count },
                       { .own = 1, .threads = threads, .call = count } };
    measure(f, CHECK, true, w, 2);
    snprintf(text, sizeof text, "%s batch, check", name);
    row(text, w[0].best, w[1].best);
    blm_free(f);
}

static void libbloom(void)
{
#ifdef BENCH_LIBBLOOM
    struct bloom b;
    if (count > 200000000 || bloom_init(&b, (int)count, 0.01) != 0)
        return;
    double start = now();
    for (size_t i = 0; i < count; i++)
        bloom_add(&b, &keys[i], 8);
    double theirs = (now() - start) / (double)count * 1e9;
    bloom_free(&b);
    blm_filter *f   = make(BLM_BLOCKED, 0, 1);
    struct way  w[] = { { .own = 1, .threads = 1, .call = count },
                        { .own = 1, .threads = threads, .call = count } };
    measure(f, ADD, false, w, 2);
    row("libbloom add, ours in one call (blocked)", theirs, w[0].best);
    row("libbloom add, ours by all threads", theirs, w[1].best);
    blm_free(f);
#endif
}

int main(int argc, char **argv)
{
    if (argc > 1)
        count = (size_t)atof(argv[1]);
    if (argc > 2)
        threads = (unsigned)atoi(argv[2]);
    if (argc > 3)
        rounds = (unsigned)atoi(argv[3]);
    keys  = malloc(count * sizeof *keys);
    flags = malloc(count);
    if (!keys || !flags || threads < 1 || threads > MOST || rounds < 1)
        return 1;
    for (size_t i = 0; i < count; i++)
        keys[i] = i * 0x9E3779B97F4A7C15u;
    memset(flags, 0, count);
    printf("%zu 8-byte keys, 1%%, %u threads, least of %u\n\n", count, threads, rounds);
    printf("%-44s %8s %8s\n", "ns a key", "before", "after");
    shared(BLM_BLOCKED, "blocked");
    shared(BLM_CLASSIC, "classic");
    batches(BLM_BLOCKED, "blocked");
    batches(BLM_CLASSIC, "classic");
    libbloom();
    free(keys);
    free(flags);
    return 0;
}
