/* SPDX-License-Identifier: MIT */
/*
 * Cuckoo compared with a plain loop over RedisBloom's layout: bytes in buckets of two, MurmurHash64A,
 * one key at a time, kick-outs in a fixed order. Its table has a byte a slot and as many slots as
 * ours has cells, rounded up to a power of two. One thread, its processor time, best of several
 * rounds. Only the ratios mean anything.
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

/* ---- both ---- */

static double best(double a, double b) { return a == 0 || b < a ? b : a; }

int main(int argc, char **argv)
{
    uint64_t    n = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 10000000;
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_CUCKOO;
    o.items       = n;
    o.rate        = 0.01;
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

    uint64_t lost = 0, hits[4] = { 0 };
    double   at = now();
    for (uint64_t i = 0; i < n; i++)
        lost += !plain_add(&p, keys[i]);
    double plain_adds = now() - at;
    at                = now();
    if (blm_add_fixed(f, keys, 8, n, NULL, NULL) < 0)
        return 1;
    double adds = now() - at, check[4] = { 0 };
    for (unsigned r = 0; r < ROUNDS; r++)
        for (unsigned t = 0; t < 4; t++) {
            const uint64_t *from = keys + (t % 2 ? n : 0); /* members, then absent keys */
            hits[t]              = 0;
            at                   = now();
            for (uint64_t i = 0; i < n; i += BATCH) {
                size_t some = n - i < BATCH ? (size_t)(n - i) : BATCH;
                if (t >= 2)
                    hits[t] += blm_check_fixed(f, from + i, 8, some, said);
                else
                    for (size_t j = 0; j < some; j++)
                        hits[t] += said[j] = plain_has(&p, from[i + j]);
            }
            check[t] = best(check[t], now() - at);
        }
    double     all = (double)n;
    blm_params q   = { .size = sizeof q };
    blm_get_params(f, &q);
    printf("%llu keys            plain loop     bloomery    times\n", (unsigned long long)n);
    printf("add, ns            %10.1f   %10.1f   %6.2f\n", plain_adds / all, adds / all,
           plain_adds / adds);
    printf("check members, ns  %10.1f   %10.1f   %6.2f\n", check[0] / all, check[2] / all,
           check[0] / check[2]);
    printf("check absent, ns   %10.1f   %10.1f   %6.2f\n", check[1] / all, check[3] / all,
           check[1] / check[3]);
    printf("bits a key         %10.2f   %10.2f\n", (double)(p.mask + 1) * 16 / all,
           (double)q.bytes * 8 / all);
    printf("rate, %%            %10.3f   %10.3f\n", 100 * (double)hits[1] / all,
           100 * (double)hits[3] / all);
    printf("found              %10.4f   %10.4f   (%llu not stored)\n", (double)hits[0] / all,
           (double)hits[2] / all, (unsigned long long)lost);
    free(keys);
    free(said);
    free(p.slot);
    blm_free(f);
    return 0;
}
