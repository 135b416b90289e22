/* SPDX-License-Identifier: MIT */
/*
 * Static filters compared with what the memory allows, and with a binary fuse filter as it is
 * usually written. All three take as many bytes, on the same kind of pages, in one process.
 *
 *   lines    three bytes of a key read at three places as far apart as a key's cells are, and
 *            nothing else done: fetched ahead by the best of several distances, into the first cache
 *            or the second
 *   listed   the same places from a list of keys, which is read too: a pointer, a length, 8 bytes
 *   single   one key at a time: a 64-bit mix, three bytes, exclusive-ored, one comparison. Its table
 *            is filled with noise: what it reads, and when, does not depend on what is there
 *   ours     blm_check_fixed, 8-byte keys; blm_check_many, the same keys in a list
 *
 * One thread, its processor time, best of several rounds; what is compared takes turns, each after a
 * pass over other keys that is not timed, so that nobody finds its table thrown out of the cache by
 * the one before. Only the ratios mean anything.
 *
 *   fixed [N…]                 default 1e7; rate 0.4%: fingerprints of 8 bits
 */
#include <bloomery.h>
#include <bloomery/fixed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define SAMPLE 1000000u
#define ROUNDS 21
#define RATE   0.004

__extension__ typedef unsigned __int128 wide;

static uint64_t mix(uint64_t v)
{
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static volatile uint64_t sink;

/* ---- binary fuse, one key at a time ---- */

struct plain {
    uint8_t *cells;
    uint64_t span, segment; /* where a key's first cell may be; cells of a segment */
};

struct three {
    uint64_t at[3];
};

static inline struct three places(const struct plain *p, uint64_t h)
{
    uint64_t first = (uint64_t)((wide)h * p->span >> 64), low = p->segment - 1;
    return (struct three){ { first, (first + p->segment) ^ (h >> 18 & low),
                             (first + 2 * p->segment) ^ (h & low) } };
}

static bool plain_has(const struct plain *p, uint64_t key)
{
    uint64_t     h = mix(key);
    struct three t = places(p, h);
    uint8_t      f = (uint8_t)(h ^ h >> 32);
    return f == (p->cells[t.at[0]] ^ p->cells[t.at[1]] ^ p->cells[t.at[2]]);
}

static uint64_t plain_all(const struct plain *p, const uint64_t *k, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += plain_has(p, k[i]);
    return sum;
}

/* ---- its three lines, and nothing else ---- */

#define RING 256u

static inline __attribute__((always_inline)) uint64_t lines_by(const struct plain *p, uint64_t from,
                                                               const blm_key *list, size_t n,
                                                               size_t ahead, bool near)
{
    struct three       ring[RING];
    const struct plain in  = *p;
    uint64_t           sum = 0;
    for (size_t i = 0; i < n + ahead; i++) {
        uint64_t v = from + i;
        if (list) {
            const blm_key *k = &list[i < n ? i : n - 1];
            memcpy(&v, k->data, sizeof v);
            v += k->len;
        }
        v *= 0x9e3779b97f4a7c15u;
        struct three t = places(&in, (v ^ v >> 32) * 0xd6e8feb86659fd93u);
        if (ahead) {
            struct three now = t;
            for (unsigned j = 0; j < 3; j++)
                if (near)
                    __builtin_prefetch(in.cells + t.at[j], 0, 3);
                else
                    __builtin_prefetch(in.cells + t.at[j], 0, 2);
            t              = ring[(i - ahead) % RING];
            ring[i % RING] = now;
            if (i < ahead)
                continue;
        }
        sum += in.cells[t.at[0]] ^ in.cells[t.at[1]] ^ in.cells[t.at[2]];
    }
    return sum;
}

static uint64_t lines_all(const struct plain *p, uint64_t from, size_t n, size_t ahead, bool near)
{
    return near ? lines_by(p, from, NULL, n, ahead, true)
                : lines_by(p, from, NULL, n, ahead, false);
}

static uint64_t lines_listed(const struct plain *p, const blm_key *list, size_t n, size_t ahead,
                             bool near)
{
    return near ? lines_by(p, 0, list, n, ahead, true) : lines_by(p, 0, list, n, ahead, false);
}

/* ---- */

static void keep(double *best, double since, size_t n)
{
    double ns = (thread_ns() - since) / (double)n;
    if (*best == 0 || ns < *best)
        *best = ns;
}

static blm_filter *build(size_t n)
{
    blm_options  o = BLM_OPTIONS_INIT;
    blm_builder *b = NULL;
    blm_filter  *f = NULL;
    uint64_t     k[4096];
    o.kind  = BLM_STATIC;
    o.rate  = RATE;
    o.items = n;
    if (blm_builder_new(&o, &b, NULL) != BLM_OK)
        return NULL;
    for (size_t at = 0, m; at < n; at += m) {
        m = n - at < 4096 ? n - at : 4096;
        for (size_t i = 0; i < m; i++)
            k[i] = mix(at + i);
        blm_builder_add_fixed(b, k, 8, m);
    }
    blm_builder_build(b, &f, NULL);
    blm_builder_free(b);
    return f;
}

struct best {
    double raw, listed, single, hit, miss, many;
    size_t ahead, hits, misses;
    bool   near;
};

static void measure(const blm_filter *f, const struct plain *p, const uint64_t *in,
                    const uint64_t *out, const blm_key *list, uint8_t *maybe, struct best *b)
{
    static const size_t distance[] = { 0, 8, 16, 32, 64, 96, 128, 192 };
    for (size_t r = 0; r < ROUNDS; r++) {
        double at;
        sink = plain_all(p, in, SAMPLE);
        for (size_t d = 0; d < 2 * (sizeof distance / sizeof *distance); d++) {
            double was = b->raw;
            at         = thread_ns();
            sink       = lines_all(p, r * SAMPLE, SAMPLE, distance[d / 2], d % 2);
            keep(&b->raw, at, SAMPLE);
            if (b->raw != was) {
                b->ahead = distance[d / 2];
                b->near  = d % 2;
            }
            at   = thread_ns();
            sink = lines_listed(p, list, SAMPLE, distance[d / 2], d % 2);
            keep(&b->listed, at, SAMPLE);
        }
        at   = thread_ns();
        sink = plain_all(p, out, SAMPLE);
        keep(&b->single, at, SAMPLE);
        blm_check_fixed(f, out, 8, SAMPLE, maybe);
        at      = thread_ns();
        b->hits = blm_check_fixed(f, in, 8, SAMPLE, maybe);
        keep(&b->hit, at, SAMPLE);
        at        = thread_ns();
        b->misses = blm_check_fixed(f, out, 8, SAMPLE, maybe);
        keep(&b->miss, at, SAMPLE);
        at = thread_ns();
        blm_check_many(f, list, SAMPLE, maybe);
        keep(&b->many, at, SAMPLE);
    }
}

static bool compare(size_t n)
{
    struct best b = { 0 };
    blm_filter *f = build(n);
    blm_params  p = { .size = sizeof p };
    if (!f)
        return false;
    blm_get_params(f, &p);
    struct plain plain = { huge_alloc((size_t)p.bytes), 0, (uint64_t)1 << 18 };
    while (plain.segment * 8 > p.bytes)
        plain.segment /= 2;
    plain.span   = p.bytes - 3 * plain.segment;
    uint64_t *in = malloc(SAMPLE * sizeof *in), *out = malloc(SAMPLE * sizeof *out);
    uint8_t  *maybe = malloc(SAMPLE);
    blm_key  *list  = malloc(SAMPLE * sizeof *list);
    bool      good  = plain.cells && in && out && maybe && list;
    for (size_t i = 0; good && i < p.bytes; i++)
        plain.cells[i] = (uint8_t)(i * 0x9e3779b97f4a7c15u >> 56);
    for (size_t i = 0; good && i < SAMPLE; i++) {
        in[i]   = mix(mix(i) % n);
        out[i]  = mix((uint64_t)1 << 40 | i);
        list[i] = (blm_key){ &in[i], 8 };
    }
    if (good)
        measure(f, &plain, in, out, list, maybe, &b);
    good = good && b.hits == SAMPLE; /* each of them is there */
    printf("static, %.0e keys, measured rate %.3f%%; ns a key\n", (double)n,
           100.0 * (double)b.misses / SAMPLE);
    printf("  single, one at a time    miss %6.2f\n", b.single);
    printf("  its three lines alone         %6.2f   %zu ahead, %s cache; from a list %6.2f\n",
           b.raw, b.ahead, b.near ? "first" : "second", b.listed);
    printf("  ours, batches            hit  %6.2f   miss %6.2f   a list %6.2f\n", b.hit, b.miss,
           b.many);
    printf("  single over ours              %6.2fx      %6.2fx\n", b.single / b.hit,
           b.single / b.miss);
    printf("  ours over the lines           %6.2fx      %6.2fx       %6.2fx\n", b.hit / b.raw,
           b.miss / b.raw, b.many / b.listed);
    printf("  space                         %6.2fx a bit a key\n", 8 * (double)p.bytes / (double)n);
    fflush(stdout);
    blm_free(f);
    free(plain.cells);
    free(in);
    free(out);
    free(maybe);
    free(list);
    return good;
}

int main(int argc, char **argv)
{
    bool good = argc > 1 || compare(10000000);
    for (int i = 1; i < argc; i++)
        good = compare((size_t)atof(argv[i])) && good;
    return good ? 0 : 1;
}
