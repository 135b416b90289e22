/* SPDX-License-Identifier: MIT */
/*
 * Other systems' layouts beside the loop that their own code is: one key at a time, hash, then probe
 * after probe with a division each, stopping at the first clear bit; no look ahead. The hashes are
 * written from their published definitions, and both sides must answer alike, key by key. One
 * process, one thread, the thread's processor time, best of several rounds; only ratios count.
 *
 *   foreign [N]                default 1e7; rate 1%, 8-byte keys
 */
#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLE 1000000u
#define ROUNDS 5

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

/* ---- the originals' loops ---- */

struct naive {
    uint64_t *words;
    uint64_t  m;
    uint32_t  k;
    uint64_t  mask; /* of a sum before it is divided: Guava drops the sign */
    void (*hash)(uint64_t key, uint64_t out[2]);
};

static uint64_t rotl(uint64_t v, int r) { return v << r | v >> (64 - r); }
static uint64_t fmix(uint64_t v)
{
    v = (v ^ v >> 33) * 0xff51afd7ed558ccdu;
    v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53u;
    return v ^ v >> 33;
}

/* MurmurHash3 x64 128, seed 0, of 8 bytes: a tail only. */
static void murmur3(uint64_t key, uint64_t out[2])
{
    uint64_t a = rotl(key * 0x87c37b91114253d5u, 31) * 0x4cf5ad432745937fu, b = 8;
    a ^= 8;
    a += b;
    b += a;
    a      = fmix(a);
    b      = fmix(b);
    out[0] = a + b;
    out[1] = a + 2 * b;
}

static uint64_t murmur64a(uint64_t key, uint64_t seed)
{
    const uint64_t m = 0xc6a4a7935bd1e995u;
    uint64_t       k = key * m, h = seed ^ 8 * m;
    h                = (h ^ (k ^ k >> 47) * m) * m;
    h                = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}
static void redisbloom(uint64_t key, uint64_t out[2])
{
    out[0] = murmur64a(key, 0xc6a4a7935bd1e995u);
    out[1] = murmur64a(key, out[0]);
}

static bool naive_check(const struct naive *f, uint64_t key)
{
    uint64_t h[2];
    f->hash(key, h);
    for (uint32_t i = 0; i < f->k; i++, h[0] += h[1]) {
        uint64_t at = (h[0] & f->mask) % f->m;
        if (!(f->words[at >> 6] >> (at & 63) & 1))
            return false;
    }
    return true;
}
static bool naive_add(struct naive *f, uint64_t key)
{
    uint64_t h[2], fresh = 0;
    f->hash(key, h);
    for (uint32_t i = 0; i < f->k; i++, h[0] += h[1]) {
        uint64_t at = (h[0] & f->mask) % f->m, bit = (uint64_t)1 << (at & 63);
        fresh |= ~f->words[at >> 6] & bit;
        f->words[at >> 6] |= bit;
    }
    return fresh != 0;
}

/* ---- side by side ---- */

static void keep(double *best, double since, size_t n)
{
    double ns = (now() - since) / (double)n;
    if (*best == 0 || ns < *best)
        *best = ns;
}

static uint64_t *keys_of(uint64_t stream, size_t n)
{
    uint64_t *k = malloc(n * sizeof *k);
    for (size_t i = 0; i < n; i++)
        k[i] = mix(stream << 56 | i);
    return k;
}

static volatile uint64_t sink;

static int compare(const char *scheme, uint64_t n, struct naive naive)
{
    enum { ADD, HIT, MISS, OPS };
    static const char *const name[OPS] = { "add", "hit", "miss" };
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e;
    blm_filter *f;
    blm_params  p = { .size = sizeof p };
    size_t      m = n / 10 < SAMPLE ? (size_t)(n / 10) : SAMPLE;
    uint64_t   *all = keys_of(1, n), *fresh = keys_of(2, m), *out = keys_of(3, m);
    uint64_t   *in = malloc(m * sizeof *in), bytes = 0;
    uint8_t    *got = malloc(m);
    double      ours[OPS] = { 0 }, theirs[OPS] = { 0 };
    o.scheme = scheme;
    o.items  = n;
    o.rate   = 0.01;
    if (strcmp(scheme, "redisbloom") == 0)
        o.kind = BLM_SCALABLE;
    if (blm_create(&o, &f, &e) != BLM_OK) {
        fprintf(stderr, "foreign: %s: %s\n", scheme, e.text);
        return 2;
    }
    blm_get_params(f, &p);
    blm_view(f, 0, &bytes);
    naive.words = calloc(bytes / 8 + 1, 8);
    naive.m     = p.bits;
    naive.k     = p.probes;
    for (size_t i = 0; i < m; i++)
        in[i] = all[mix(i) % n];
    blm_add_fixed(f, all, 8, n - m, NULL, NULL);
    for (uint64_t i = 0; i < n - m; i++)
        naive_add(&naive, all[i]);
    if (memcmp(naive.words, blm_view(f, 0, NULL), bytes) != 0) {
        fprintf(stderr, "foreign: %s: the loop sets other bits\n", scheme);
        return 1;
    }
    for (int r = 0; r < ROUNDS; r++) {
        size_t   part = m / ROUNDS, wrong = 0;
        uint64_t sum = 0;
        double   at  = now();
        blm_add_fixed(f, fresh + (size_t)r * part, 8, part, NULL, NULL);
        keep(&ours[ADD], at, part);
        at = now();
        for (size_t i = 0; i < part; i++)
            sum += naive_add(&naive, fresh[(size_t)r * part + i]);
        keep(&theirs[ADD], at, part);
        for (int miss = 0; miss < 2; miss++) {
            const uint64_t *k = miss ? out : in;
            at                = now();
            blm_check_fixed(f, k, 8, m, got);
            keep(&ours[miss ? MISS : HIT], at, m);
            at = now();
            for (size_t i = 0; i < m; i++)
                sum += naive_check(&naive, k[i]);
            keep(&theirs[miss ? MISS : HIT], at, m);
            for (size_t i = 0; i < m; i++)
                wrong += got[i] != naive_check(&naive, k[i]);
        }
        sink = sum;
        if (wrong) {
            fprintf(stderr, "foreign: %s: %zu answers differ\n", scheme, wrong);
            return 1;
        }
    }
    printf("%-11s %g keys, %.2f bits a key, k = %u\n", scheme, (double)n,
           (double)bytes * 8 / (double)n, (unsigned)p.probes);
    for (int i = 0; i < OPS; i++)
        printf("  %-5s loop %6.1f ns   ours %6.1f ns   %.2fx\n", name[i], theirs[i], ours[i],
               theirs[i] / ours[i]);
    blm_free(f);
    free(naive.words);
    free(all);
    free(fresh);
    free(in);
    free(out);
    free(got);
    return 0;
}

int main(int argc, char **argv)
{
    double   asked = argc > 1 ? strtod(argv[1], NULL) : 1e7;
    uint64_t n     = asked >= 1000 && asked <= 1e9 ? (uint64_t)asked : 0;
    if (n == 0) {
        fprintf(stderr, "usage: foreign [N], N from 1e3 to 1e9\n");
        return 2;
    }
    struct naive guava = { .mask = INT64_MAX, .hash = murmur3 };
    struct naive redis = { .mask = UINT64_MAX, .hash = redisbloom };
    int          worst = compare("guava", n, guava);
    int          other = compare("redisbloom", n, redis);
    return worst > other ? worst : other;
}
