/* SPDX-License-Identifier: MIT */
/*
 * Ours beside libbloom: the same keys, the same promised rate (1%), one process, one thread, the
 * thread's CPU time, the best of several rounds. Only the ratios mean anything.
 *
 *   compare [--json] [--rounds R] [N …]     default: 1e5 1e7 1e8
 *
 * Keys are 8-byte integers and URL-like strings of about 60 bytes. Both filters are filled to N
 * with integers; then a sample of the keyed operations is timed: adds into a copy-free fresh part
 * (new keys), checks of keys that are in and of keys that are not. The sample is at most 2e6 keys,
 * so that at 1e8 the filter is large and the keys are not.
 */
#include <bloomery.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef BENCH_LIBBLOOM
#include <bloom.h>
#endif

#define SAMPLE 2000000u
#define CHUNK  65536u

enum { ADD, HIT, MISS, OPS };
static const char *const op_name[OPS] = { "add", "hit", "miss" };

/* ---- keys ---- */

static uint64_t mix(uint64_t v)
{
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

/* A sample of keys, as integers side by side or as strings. */
struct keys {
    const char *name;
    size_t      n;
    uint64_t   *ints;    /* integers; else NULL */
    char       *text;    /* strings */
    blm_key    *list;
};

/* Key number i of stream s; the streams are disjoint. */
static uint64_t number(unsigned s, uint64_t i) { return mix((uint64_t)s << 56 | i); }

static struct keys make_keys(bool urls, unsigned stream, size_t n)
{
    struct keys k = { urls ? "urls" : "ints", n, NULL, NULL, malloc(n * sizeof(blm_key)) };
    if (!urls) {
        k.ints = malloc(n * 8);
        for (size_t i = 0; i < n; i++) {
            k.ints[i] = number(stream, i);
            k.list[i] = (blm_key){ &k.ints[i], 8 };
        }
        return k;
    }
    k.text = malloc(n * 80);
    char *p = k.text;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = number(stream, i);
        int len = sprintf(p, "https://www.example-%u.com/%s/%llx/item.html?id=%u",
                          (unsigned)(v % 997), i % 3 ? "articles/archive" : "shop",
                          (unsigned long long)v, (unsigned)(i % 100000));
        k.list[i] = (blm_key){ p, (size_t)len };
        p += len;
    }
    return k;
}

static void free_keys(struct keys *k)
{
    free(k->ints);
    free(k->text);
    free(k->list);
}

/* ---- time ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void least(double *best, double ns)
{
    if (*best == 0 || ns < *best)
        *best = ns;
}

static uint8_t answers[SAMPLE];
static volatile uint64_t sum; /* keeps the work */

/* ---- ours ---- */

static blm_filter *make(blm_kind kind, uint64_t n)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e;
    blm_filter *f;
    o.kind  = kind;
    o.items = n;
    o.rate  = 0.01;
    if (blm_create(&o, &f, &e) != BLM_OK) {
        fprintf(stderr, "compare: %s\n", e.text);
        exit(2);
    }
    return f;
}

static void fill_ours(blm_filter *f, uint64_t n)
{
    uint64_t *k = malloc(CHUNK * 8);
    for (uint64_t at = 0; at < n; at += CHUNK) {
        size_t some = n - at < CHUNK ? (size_t)(n - at) : CHUNK;
        for (size_t i = 0; i < some; i++)
            k[i] = number(0, at + i);
        blm_add_fixed(f, k, 8, some, NULL, NULL);
    }
    free(k);
}

static void time_single(blm_filter *f, const struct keys *k, int op, double *best)
{
    double   t = now();
    uint64_t got = 0;
    if (op == ADD)
        for (size_t i = 0; i < k->n; i++)
            got += blm_add(f, k->list[i].data, k->list[i].len) == BLM_OK;
    else
        for (size_t i = 0; i < k->n; i++)
            got += blm_check(f, k->list[i].data, k->list[i].len);
    least(best, (now() - t) / (double)k->n);
    sum += got;
}

static void time_batch(blm_filter *f, const struct keys *k, int op, double *best)
{
    double t = now();
    if (op == ADD && k->ints)
        blm_add_fixed(f, k->ints, 8, k->n, answers, NULL);
    else if (op == ADD)
        blm_add_many(f, k->list, k->n, answers, NULL);
    else if (k->ints)
        sum += blm_check_fixed(f, k->ints, 8, k->n, answers);
    else
        sum += blm_check_many(f, k->list, k->n, answers);
    least(best, (now() - t) / (double)k->n);
}

/* ---- libbloom ---- */

#ifdef BENCH_LIBBLOOM
static void fill_theirs(struct bloom *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t v = number(0, i);
        bloom_add(b, &v, 8);
    }
}

static void time_theirs(struct bloom *b, const struct keys *k, int op, double *best)
{
    double   t = now();
    uint64_t got = 0;
    if (op == ADD)
        for (size_t i = 0; i < k->n; i++)
            got += (uint64_t)bloom_add(b, k->list[i].data, (int)k->list[i].len);
    else
        for (size_t i = 0; i < k->n; i++)
            got += (uint64_t)bloom_check(b, k->list[i].data, (int)k->list[i].len);
    least(best, (now() - t) / (double)k->n);
    sum += got;
}
#endif

/* ---- the table ---- */

struct row {
    double theirs, single[2], batch[2]; /* [0] classic, [1] blocked */
};

static bool json;
static bool first_row = true;

static void print_row(const char *keys, uint64_t n, int op, const struct row *r)
{
    if (json) {
        printf("%s\n  {\"keys\":\"%s\",\"n\":%llu,\"op\":\"%s\",\"libbloom_ns\":%.2f,"
               "\"classic_single_ns\":%.2f,\"classic_batch_ns\":%.2f,"
               "\"blocked_single_ns\":%.2f,\"blocked_batch_ns\":%.2f}",
               first_row ? "" : ",", keys, (unsigned long long)n, op_name[op], r->theirs,
               r->single[0], r->batch[0], r->single[1], r->batch[1]);
        first_row = false;
        return;
    }
    printf("%-5s %-6.0e %-5s %8.1f", keys, (double)n, op_name[op], r->theirs);
    for (int k = 0; k < 2; k++)
        printf("   %6.1f %5.1fx  %6.1f %5.1fx", r->single[k], r->theirs / r->single[k],
               r->batch[k], r->theirs / r->batch[k]);
    putchar('\n');
}

/* Adds into a filter that is filled several times over would cost a repeat's price, not a new
 * key's: small filters are emptied before each round, large ones hardly notice the sample. */
static void start_again(blm_filter *f[2])
{
    blm_clear(f[0]);
    blm_clear(f[1]);
}

static void compare(uint64_t n, int rounds)
{
    size_t      q = n < SAMPLE ? (size_t)n : SAMPLE;
    blm_filter *f[2] = { make(BLM_CLASSIC, n), make(BLM_BLOCKED, n) };
#ifdef BENCH_LIBBLOOM
    struct bloom theirs;
    bloom_init(&theirs, (int)n, 0.01);
    fill_theirs(&theirs, n);
#endif
    for (int k = 0; k < 2; k++)
        fill_ours(f[k], n);
    for (int urls = 0; urls < 2; urls++) {
        struct keys in = make_keys(urls, 0, q), out = make_keys(urls, 1, q);
        for (int op = MISS; op >= ADD; op--) { /* misses first: adds make them hits */
            const struct keys *k = op == MISS ? &out : &in;
            struct row r = { 0 };
            if (op == HIT && urls) { /* integers are in already */
                for (int i = 0; i < 2; i++)
                    blm_add_many(f[i], in.list, in.n, NULL, NULL);
#ifdef BENCH_LIBBLOOM
                for (size_t i = 0; i < in.n; i++)
                    bloom_add(&theirs, in.list[i].data, (int)in.list[i].len);
#endif
            }
            for (int round = 0; round < rounds; round++) {
                struct keys fresh = { 0 };
                if (op == ADD) { /* keys that nobody has seen, every round */
                    fresh = make_keys(urls, 2 + (unsigned)round, q);
                    k     = &fresh;
                    if (n <= SAMPLE)
                        start_again(f);
                }
                for (int i = 0; i < 2; i++) {
                    /* Half of the adds go to single calls, half to batches: none is a repeat. */
                    struct keys a = *k, b = *k;
                    if (op == ADD) {
                        a.n = b.n = q / 2;
                        b.list += q / 2;
                        b.ints = b.ints ? b.ints + q / 2 : NULL;
                    }
                    time_single(f[i], &a, op, &r.single[i]);
                    time_batch(f[i], &b, op, &r.batch[i]);
                }
#ifdef BENCH_LIBBLOOM
                if (op == ADD && n <= SAMPLE)
                    bloom_reset(&theirs);
                time_theirs(&theirs, k, op, &r.theirs);
#endif
                if (op == ADD)
                    free_keys(&fresh);
            }
            print_row(in.name, n, op, &r);
            fflush(stdout);
        }
        free_keys(&in);
        free_keys(&out);
    }
    blm_free(f[0]);
    blm_free(f[1]);
#ifdef BENCH_LIBBLOOM
    bloom_free(&theirs);
#endif
}

int main(int argc, char **argv)
{
    double sizes[16] = { 1e5, 1e7, 1e8 };
    int    count = 0, rounds = 5;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = atoi(argv[++i]);
        else if (count < 16)
            sizes[count++] = strtod(argv[i], NULL);
    }
    if (count == 0)
        count = 3;
    if (json)
        printf("[");
    else
        printf("ns per key, best of %d; ratios over libbloom; 1%% promised\n"
               "keys  n      op    libbloom   classic: single         batch   blocked: single   "
               "      batch\n",
               rounds);
    for (int i = 0; i < count; i++)
        compare((uint64_t)sizes[i], rounds);
    if (json)
        printf("\n]\n");
    return 0;
}
