/* SPDX-License-Identifier: MIT */
/*
 * The other kinds compared with something simple. Counting is compared with k four-bit counters
 * anywhere, one key at a time, as in a counting filter written in an afternoon. Scalable is
 * compared with one blocked filter of the size it has grown to, and with what the memory alone
 * takes for both. One process, one thread, the thread's processor time, best of several rounds.
 * Only the ratios mean anything.
 *
 *   kinds [N]                  default 1e7; rate 1%, 8-byte keys
 *   kinds memory               what a scalable filter that was told no size takes as it grows, in
 *                              bytes a key, and over −n·ln p/ln²2 bits
 */
#include <bloomery.h>
#include <bloomery/maths.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory.h"

#define SAMPLE 1000000u
#define ROUNDS 6
#define RATE   0.01

static uint64_t mix(uint64_t v)
{
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- the peer: k counters of four bits anywhere in m ---- */

__extension__ typedef unsigned __int128 wide;

struct plain {
    uint8_t *cells;
    uint64_t m;
    uint32_t k;
};

/* Kirsch and Mitzenmacher's a + i·b over two well-mixed 64-bit halves, reduced below m by a
 * multiplication. A slower way is not known to be needed. */
static uint64_t cell(const struct plain *p, uint64_t a, uint64_t b, uint32_t i)
{
    return (uint64_t)((wide)(a + i * b) * p->m >> 64);
}
static unsigned value(const struct plain *p, uint64_t c)
{
    return p->cells[c / 2] >> c % 2 * 4 & 15;
}

static bool plain_check(const struct plain *p, uint64_t key)
{
    uint64_t a = mix(key), b = mix(a) | 1;
    for (uint32_t i = 0; i < p->k; i++)
        if (value(p, cell(p, a, b, i)) == 0)
            return false;
    return true;
}
static void plain_add(struct plain *p, uint64_t key)
{
    uint64_t a = mix(key), b = mix(a) | 1;
    for (uint32_t i = 0; i < p->k; i++) {
        uint64_t c = cell(p, a, b, i);
        if (value(p, c) < 15)
            p->cells[c / 2] = (uint8_t)(p->cells[c / 2] + (1u << c % 2 * 4));
    }
}
static bool plain_remove(struct plain *p, uint64_t key)
{
    uint64_t a = mix(key), b = mix(a) | 1;
    if (!plain_check(p, key))
        return false;
    for (uint32_t i = 0; i < p->k; i++) {
        uint64_t c = cell(p, a, b, i);
        if (value(p, c) < 15)
            p->cells[c / 2] = (uint8_t)(p->cells[c / 2] - (1u << c % 2 * 4));
    }
    return true;
}

/* ---- timing ---- */

static uint64_t *keys_of(uint64_t stream, size_t n)
{
    uint64_t *k = malloc(n * sizeof *k);
    for (size_t i = 0; i < n; i++)
        k[i] = mix(stream << 56 | i);
    return k;
}

static void keep(double *best, double since, size_t n)
{
    double ns = (now() - since) / (double)n;
    if (*best == 0 || ns < *best)
        *best = ns;
}

static volatile uint64_t sink;

enum { ADD, HIT, MISS, REMOVE, OPS };
static const char *const names[OPS] = { "add", "hit", "miss", "remove" };

struct times {
    double of[OPS];
};

/* new: keys that are not in; in: keys that are; out: keys that never come. */
struct samples {
    uint64_t *fresh, *in, *out;
    size_t    n;
};

static struct times time_plain(struct plain *p, const struct samples *s)
{
    struct times t = { { 0 } };
    for (int r = 0; r < ROUNDS; r++) {
        double   at  = now();
        uint64_t sum = 0;
        for (size_t i = 0; i < s->n; i++)
            plain_add(p, s->fresh[i]);
        keep(&t.of[ADD], at, s->n);
        at = now();
        for (size_t i = 0; i < s->n; i++)
            sum += plain_remove(p, s->fresh[i]);
        keep(&t.of[REMOVE], at, s->n);
        at = now();
        for (size_t i = 0; i < s->n; i++)
            sum += plain_check(p, s->in[i]);
        keep(&t.of[HIT], at, s->n);
        at = now();
        for (size_t i = 0; i < s->n; i++)
            sum += plain_check(p, s->out[i]);
        keep(&t.of[MISS], at, s->n);
        sink = sum;
    }
    return t;
}

/* Round r of ROUNDS. */
static void time_ours(blm_filter *f, const struct samples *s, bool removes, int r, struct times *t)
{
    /* A filter that cannot remove keys gets new ones once. */
    size_t n  = removes ? s->n : s->n / ROUNDS;
    double at = now();
    blm_add_fixed(f, s->fresh + (removes ? 0 : (size_t)r * n), 8, n, NULL, NULL);
    keep(&t->of[ADD], at, n);
    if (removes) {
        at = now();
        blm_remove_fixed(f, s->fresh, 8, s->n, NULL, NULL);
        keep(&t->of[REMOVE], at, s->n);
    }
    at   = now();
    sink = blm_check_fixed(f, s->in, 8, s->n, NULL);
    keep(&t->of[HIT], at, s->n);
    at   = now();
    sink = blm_check_fixed(f, s->out, 8, s->n, NULL);
    keep(&t->of[MISS], at, s->n);
}

static struct times time_single(blm_filter *f, const struct samples *s)
{
    struct times t = { { 0 } };
    for (int r = 0; r < ROUNDS; r++) {
        double   at  = now();
        uint64_t sum = 0;
        for (size_t i = 0; i < s->n; i++)
            blm_add(f, &s->fresh[i], 8);
        keep(&t.of[ADD], at, s->n);
        at = now();
        for (size_t i = 0; i < s->n; i++)
            sum += blm_remove(f, &s->fresh[i], 8) == BLM_OK;
        keep(&t.of[REMOVE], at, s->n);
        at = now();
        for (size_t i = 0; i < s->n; i++)
            sum += blm_check(f, &s->in[i], 8);
        keep(&t.of[HIT], at, s->n);
        at = now();
        for (size_t i = 0; i < s->n; i++)
            sum += blm_check(f, &s->out[i], 8);
        keep(&t.of[MISS], at, s->n);
        sink = sum;
    }
    return t;
}

static blm_filter *make(blm_kind kind, uint64_t items)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e;
    blm_filter *f;
    o.kind  = kind;
    o.items = items;
    o.rate  = RATE;
    if (blm_create(&o, &f, &e) != BLM_OK) {
        fprintf(stderr, "kinds: %s\n", e.text);
        exit(2);
    }
    return f;
}

static double bits_each(const blm_filter *f, uint64_t n)
{
    blm_params p = { .size = sizeof p };
    blm_get_params(f, &p);
    return (double)p.bytes * 8 / (double)n;
}

static void row(const char *name, double bits, const struct times *t, const struct times *to,
                bool slower)
{
    printf("  %-22s %6.1f b/key", name, bits);
    for (int i = 0; i < OPS; i++)
        if (t->of[i] > 0)
            printf("   %s %6.1f", names[i], t->of[i]);
    for (int i = 0; to && i < OPS; i++)
        if (t->of[i] > 0)
            printf("   %.2fx", slower ? t->of[i] / to->of[i] : to->of[i] / t->of[i]);
    printf("\n");
}

/* ---- what the memory allows: per key a line of every layer, at the best distance ---- */

#define MOST_LAYERS 16u

static double memory_alone(const uint64_t *bytes, uint32_t layers)
{
    static size_t ring[MOST_LAYERS][LINE_RING];
    uint64_t     *words[MOST_LAYERS];
    double        best = 0;
    for (uint32_t t = 0; t < layers; t++) {
        words[t] = huge_alloc((size_t)bytes[t]);
        if (!words[t])
            exit(2);
    }
    for (unsigned ahead = 8; ahead <= 64; ahead *= 2)
        for (int r = 0; r < ROUNDS; r++) {
            double   at  = now();
            uint64_t sum = 0;
            for (size_t i = 0; i < SAMPLE + ahead; i++)
                for (uint32_t t = 0; t < layers; t++) {
                    if (i >= ahead)
                        sum += words[t][ring[t][(i - ahead) % LINE_RING]];
                    ring[t][i % LINE_RING] =
                        random_line((uint64_t)r * SAMPLE + i, (size_t)(bytes[t] / 64)) * 8;
                    __builtin_prefetch(words[t] + ring[t][i % LINE_RING], 0, 2);
                }
            sink = sum;
            keep(&best, at, SAMPLE);
        }
    for (uint32_t t = 0; t < layers; t++)
        free(words[t]);
    return best;
}

static void counting(const uint64_t *all, uint64_t n, const struct samples *s)
{
    blm_filter  *f = make(BLM_COUNTING, n);
    struct plain p = { NULL, 0, 0 };
    blm_textbook(n, RATE, &p.m, &p.k);
    p.cells = calloc(p.m / 2 + 1, 1);
    for (uint64_t i = 0; i < n; i++)
        plain_add(&p, all[i]);
    blm_add_fixed(f, all, 8, n, NULL, NULL);
    struct times peer = time_plain(&p, s), many = { { 0 } }, one = time_single(f, s);
    for (int r = 0; r < ROUNDS; r++)
        time_ours(f, s, true, r, &many);
    printf("counting, %g keys at %g; ns a key, and how many times as fast as plain\n", (double)n,
           RATE);
    row("plain, single calls", (double)p.m * 4 / (double)n, &peer, NULL, false);
    row("ours, batches", bits_each(f, n), &many, &peer, false);
    row("ours, single calls", bits_each(f, n), &one, &peer, false);
    free(p.cells);
    blm_free(f);
}

static void scalable(const uint64_t *all, uint64_t n, const struct samples *s)
{
    blm_filter *one = make(BLM_BLOCKED, n), *f = make(BLM_SCALABLE, 0);
    double      at   = now(), built_one, built;
    uint64_t    most = n - s->n; /* the rest is added when adds are timed */
    blm_add_fixed(one, all, 8, most, NULL, NULL);
    built_one = (now() - at) / (double)most;
    at        = now();
    blm_add_fixed(f, all, 8, most, NULL, NULL);
    built               = (now() - at) / (double)most;
    struct times of_one = { { 0 } }, many = { { 0 } };
    blm_params   p = { .size = sizeof p }, q = { .size = sizeof q };
    for (int r = 0; r < ROUNDS;
         r++) { /* by turns, so that a slow moment of the machine affects both */
        time_ours(one, s, false, r, &of_one);
        time_ours(f, s, false, r, &many);
    }
    blm_get_params(f, &p);
    blm_get_params(one, &q);
    printf("scalable, grown to %g keys in %u layers; ns a key, and how many times as much as one "
           "filter\n",
           (double)n, (unsigned)p.layers);
    row("one blocked filter", bits_each(one, n), &of_one, NULL, true);
    row("scalable", bits_each(f, n), &many, &of_one, true);
    printf("  built from nothing: %.1f and %.1f ns a key, %.2fx\n", built_one, built,
           built / built_one);
    uint64_t bytes[MOST_LAYERS];
    for (uint32_t i = 0; i < p.layers && i < MOST_LAYERS; i++) {
        blm_params l = { .size = sizeof l };
        blm_get_layer(f, i, &l);
        bytes[i] = l.bytes;
    }
    double all_lines = memory_alone(bytes, p.layers < MOST_LAYERS ? p.layers : MOST_LAYERS);
    double one_line  = memory_alone(&q.bytes, 1);
    printf("  memory alone: a random line of each read, nothing else done: "
           "%.1f and %.1f ns, %.2fx\n",
           one_line, all_lines, all_lines / one_line);
    blm_free(one);
    blm_free(f);
}

static void growing(double rate)
{
    static const uint64_t at[] = {
        1000,   14336,   14592,   114688,  114944,   300000,   917504,
        917760, 1500000, 3000000, 5000000, 10000000, 10485760, 10486016
    };
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    uint64_t    done = 0, keys[256];
    double      key  = -log(rate) / (log(2) * log(2)) / 8; /* bytes */
    o.kind           = BLM_SCALABLE;
    o.rate           = rate;
    if (blm_create(&o, &f, NULL) != BLM_OK)
        exit(2);
    printf("scalable, told no size, at %g\n", rate);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        blm_params p = { .size = sizeof p };
        while (done < at[i]) {
            size_t n = 0;
            while (n < 256 && done < at[i])
                keys[n++] = mix(done++);
            blm_add_fixed(f, keys, 8, n, NULL, NULL);
        }
        blm_get_params(f, &p);
        double all = (double)p.bytes + (double)p.kept;
        printf("  %9llu keys   layers %u   bits %11llu B   hashes %9llu B   %6.1f B/key   %5.1fx\n",
               (unsigned long long)done, (unsigned)p.layers, (unsigned long long)p.bytes,
               (unsigned long long)p.kept, all / (double)done, all / (double)done / key);
    }
    blm_free(f);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "memory") == 0) {
        growing(0.01);
        growing(1e-3);
        growing(1e-6);
        return 0;
    }
    double   asked = argc > 1 ? strtod(argv[1], NULL) : 1e7;
    uint64_t n     = asked >= 1 && asked <= 1e9 ? (uint64_t)asked : 0;
    if (n < 1000) {
        fprintf(stderr, "usage: kinds [N], N from 1e3 to 1e9\n");
        return 2;
    }
    uint64_t      *all = keys_of(1, n);
    size_t         m   = n / 10 < SAMPLE ? (size_t)(n / 10) : SAMPLE;
    struct samples s   = { keys_of(2, m), malloc(m * 8), keys_of(3, m), m };
    for (size_t i = 0; i < m; i++)
        s.in[i] = all[mix(i) % (n - m)];
    counting(all, n, &s);
    scalable(all, n, &s);
    free(all);
    free(s.fresh);
    free(s.in);
    free(s.out);
    return 0;
}
