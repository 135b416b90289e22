/* SPDX-License-Identifier: MIT */
/*
 * Cuckoo compared with two plain loops over RedisBloom's layout: bytes in buckets of two,
 * MurmurHash64A, one key at a time, kick-outs in a fixed order. The table has a byte a slot and as many
 * slots as ours has cells, rounded up to a power of two, so it is 60% full at 1e7 where ours is 95%.
 * "its own" does what RedisBloom does: keys of any length, a number of layers, the size of buckets
 * read from each, a remainder for the bucket. "tuned" knows that keys have 8 bytes and buckets two
 * slots, and that there is one layer, and masks: better than RedisBloom's own. One thread, its processor
 * time, best of several rounds. Only the ratios mean anything.
 *
 *   cuckoo [N]                 default 1e7; rate 1%, 8-byte keys
 */
#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 5
#define BATCH  65536u

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t mix(uint64_t v)
{
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

/* ---- the peer ---- */

struct plain {
    uint8_t *slot;
    uint64_t mask; /* buckets − 1 */
};

static uint64_t murmur64a(uint64_t k)
{
    const uint64_t m = 0xc6a4a7935bd1e995u;
    uint64_t       h = 8 * m;
    k *= m;
    h = (h ^ (k ^ k >> 47) * m) * m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

static uint64_t other(uint64_t x, uint8_t print) { return x ^ print * (uint64_t)0x5bd1e995; }

static bool plain_has(const struct plain *p, uint64_t key)
{
    uint64_t       h = murmur64a(key);
    uint8_t        f = (uint8_t)(h % 255 + 1);
    const uint8_t *a = p->slot + (h & p->mask) * 2, *b = p->slot + (other(h, f) & p->mask) * 2;
    return a[0] == f || a[1] == f || b[0] == f || b[1] == f;
}

static bool plain_add(struct plain *p, uint64_t key)
{
    uint64_t h = murmur64a(key), x = h & p->mask;
    uint8_t  f = (uint8_t)(h % 255 + 1);
    for (unsigned i = 0; i < 500; i++) {
        for (unsigned t = 0; t < 2; t++) {
            uint8_t *b = p->slot + (t ? other(x, f) & p->mask : x) * 2;
            for (unsigned j = 0; j < 2; j++)
                if (!b[j]) {
                    b[j] = f;
                    return true;
                }
        }
        uint8_t *v = p->slot + x * 2 + i % 2, old = *v;
        *v = f;
        f  = old;
        x  = other(x, f) & p->mask;
    }
    return false;
}

/* ---- the peer, as it is ---- */

struct layer {
    uint8_t *slot;
    uint64_t buckets;
    uint32_t size; /* of a bucket */
};

struct own {
    struct layer *layer;
    uint32_t      layers;
    uint32_t      iterations;
};

/* Of bytes; noinline: it is in a file of its own. */
__attribute__((noinline)) static uint64_t murmur_bytes(const uint8_t *p, size_t len)
{
    const uint64_t m = 0xc6a4a7935bd1e995u;
    uint64_t       h = len * m, k;
    for (; len >= 8; p += 8, len -= 8) {
        memcpy(&k, p, 8);
        k *= m;
        h = (h ^ (k ^ k >> 47) * m) * m;
    }
    for (k = 0; len > 0; len--)
        k = k << 8 | p[len - 1];
    if (k)
        h = (h ^ k) * m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

static uint8_t *slot_with(const struct layer *l, uint64_t h, uint8_t value)
{
    uint8_t *b = l->slot + h % l->buckets * l->size;
    for (uint32_t i = 0; i < l->size; i++)
        if (b[i] == value)
            return b + i;
    return NULL;
}

__attribute__((noinline)) static bool own_has(const struct own *o, uint64_t h)
{
    uint8_t  f = (uint8_t)(h % 255 + 1);
    uint64_t g = other(h, f);
    for (uint32_t i = 0; i < o->layers; i++)
        if (slot_with(&o->layer[i], h, f) || slot_with(&o->layer[i], g, f))
            return true;
    return false;
}

__attribute__((noinline)) static bool own_add(struct own *o, uint64_t h)
{
    uint8_t       f = (uint8_t)(h % 255 + 1), *at = NULL;
    struct layer *l = &o->layer[o->layers - 1];
    for (uint32_t i = o->layers; i > 0 && !at; i--)
        if (!(at = slot_with(&o->layer[i - 1], h, 0)))
            at = slot_with(&o->layer[i - 1], other(h, f), 0);
    uint64_t x = h % l->buckets;
    for (uint32_t i = 0; i < o->iterations && !at; i++) {
        uint8_t *v = l->slot + x * l->size + i % l->size, old = *v;
        *v = f;
        f  = old;
        x  = other(x, f) % l->buckets;
        at = slot_with(l, x, 0);
    }
    if (at)
        *at = f;
    return at != NULL;
}

/* ---- all ---- */

static double best(double a, double b) { return a == 0 || b < a ? b : a; }

static void row(const char *name, double tuned, double own, double ours)
{
    printf("%-18s %13.1f %17.1f %10.1f %7.2f %10.2f\n", name, tuned, own, ours, own / ours,
           tuned / ours);
}

int main(int argc, char **argv)
{
    volatile size_t eight = 8; /* no loop knows the length of a key */
    size_t          width = eight;
    uint64_t        n     = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 10000000;
    blm_options     o     = BLM_OPTIONS_INIT;
    o.kind                = BLM_CUCKOO;
    o.items               = n;
    o.rate                = 0.01;
    blm_filter  *f;
    uint64_t    *keys = malloc(2 * n * sizeof *keys);
    uint8_t     *said = malloc(BATCH);
    struct plain p    = { NULL, 1 };
    while ((p.mask + 1) * 2 < n + n / 19)
        p.mask = p.mask * 2 + 1;
    p.slot = calloc(p.mask + 1, 2);
    if (!keys || !said || !p.slot || blm_create(&o, &f, NULL) != BLM_OK)
        return 1;
    for (uint64_t i = 0; i < 2 * n; i++)
        keys[i] = mix(i);

    struct layer one = { calloc(p.mask + 1, 2), p.mask + 1, 2 };
    struct own   own = { &one, 1, 20 };
    if (!one.slot)
        return 1;
    uint64_t lost = 0, own_lost = 0, hits[6] = { 0 };
    double   at = now();
    for (uint64_t i = 0; i < n; i++)
        own_lost += !own_add(&own, murmur_bytes((const uint8_t *)&keys[i], width));
    double own_adds = now() - at;
    at              = now();
    for (uint64_t i = 0; i < n; i++)
        lost += !plain_add(&p, keys[i]);
    double plain_adds = now() - at;
    at                = now();
    if (blm_add_fixed(f, keys, width, n, NULL, NULL) < 0)
        return 1;
    double adds = now() - at, check[6] = { 0 };
    for (unsigned r = 0; r < ROUNDS; r++)
        for (unsigned t = 0; t < 6; t++) {
            const uint64_t *from = keys + (t % 2 ? n : 0); /* members, then absent keys */
            hits[t]              = 0;
            at                   = now();
            for (uint64_t i = 0; i < n; i += BATCH) {
                size_t some = n - i < BATCH ? (size_t)(n - i) : BATCH;
                if (t >= 4)
                    hits[t] += blm_check_fixed(f, from + i, width, some, said);
                else if (t >= 2)
                    for (size_t j = 0; j < some; j++)
                        hits[t] += said[j] = plain_has(&p, from[i + j]);
                else
                    for (size_t j = 0; j < some; j++)
                        hits[t] += said[j] =
                            own_has(&own, murmur_bytes((const uint8_t *)&from[i + j], width));
            }
            check[t] = best(check[t], now() - at);
        }
    double     all = (double)n;
    blm_params q   = { .size = sizeof q };
    blm_get_params(f, &q);
    printf("%-18llu    tuned loop  RedisBloom's own   bloomery   times   of tuned\n",
           (unsigned long long)n);
    row("add, ns", plain_adds / all, own_adds / all, adds / all);
    row("check members, ns", check[2] / all, check[0] / all, check[4] / all);
    row("check absent, ns", check[3] / all, check[1] / all, check[5] / all);
    printf("bits a key         %13.2f %17.2f %10.2f\n", (double)(p.mask + 1) * 16 / all,
           (double)(p.mask + 1) * 16 / all, (double)q.bytes * 8 / all);
    printf("rate, %%            %13.3f %17.3f %10.3f\n", 100 * (double)hits[3] / all,
           100 * (double)hits[1] / all, 100 * (double)hits[5] / all);
    printf("found              %13.4f %17.4f %10.4f   (%llu, %llu not stored)\n",
           (double)hits[2] / all, (double)hits[0] / all, (double)hits[4] / all,
           (unsigned long long)lost, (unsigned long long)own_lost);
    free(one.slot);
    free(keys);
    free(said);
    free(p.slot);
    blm_free(f);
    return 0;
}
