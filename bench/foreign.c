/* SPDX-License-Identifier: MIT */
/*
 * Other systems' layouts in our library, compared with a loop like their own code: one key at a
 * time, hash, then probe after probe with a division each, stopping at the first clear bit, without
 * prefetching. The hashes are written from their published definitions, and both sides must give
 * the same answer for every key. One process, one thread, the thread's processor time, best of
 * several rounds, each after a pass over other keys that is not timed: six tables of this size do not
 * fit into a cache together. Only the ratios count.
 *
 *   foreign [N]                default 1e7; rate 1%, 8-byte keys
 *
 * The loop is measured twice over the same bits: on pages of the usual size, which the original
 * code gets from malloc or calloc unless it asks for others (or the system gives huge pages to
 * all), and on huge pages, which our filter asks for. The first ratio is what a user of that code
 * gains, the second what is left of it on equal pages. Next to it are the bounds for any filter of
 * k bits per key: our native classic filter, with as many bits and probes and its own hash, and the
 * random lines that a key must touch, k of them (an absent key: as many as it has bits up to the first
 * that is clear, counted over the keys that are asked for) read (add: changed) with nothing else done. Only an idle machine gives the smallest
 * ratios: while others use the memory, the loop waits longer for each line, and we wait for many
 * lines at once.
 */
#include <bloomery.h>

#include "keys.h"
#include "memory.h"

#define SAMPLE 1000000u
#define ROUNDS 10

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
    h = (h ^ (k ^ k >> 47) * m) * m;
    h = (h ^ h >> 47) * m;
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

/* How many bits of these keys are looked at. */
static size_t naive_touched(const struct naive *f, const uint64_t *keys, size_t n)
{
    size_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t h[2], set = 1;
        f->hash(keys[i], h);
        for (uint32_t j = 0; j < f->k && set; j++, h[0] += h[1], bits++) {
            uint64_t at = (h[0] & f->mask) % f->m;
            set         = f->words[at >> 6] >> (at & 63) & 1;
        }
    }
    return bits;
}

static size_t naive_checks(const struct naive *f, const uint64_t *keys, size_t n)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++)
        hits += naive_check(f, keys[i]);
    return hits;
}
static size_t naive_adds(struct naive *f, const uint64_t *keys, size_t n)
{
    size_t fresh = 0;
    for (size_t i = 0; i < n; i++)
        fresh += naive_add(f, keys[i]);
    return fresh;
}

/* ---- side by side ---- */

enum { ADD, HIT, MISS, OPS };
static const char *const op_name[OPS] = { "add", "hit", "miss" };

enum { OURS, LOOP, SMALL_PAGES, NATIVE, LINES, SIDES };

struct bench {
    const char  *scheme;
    size_t       n, m; /* keys in it at the end; keys of each kind that are checked */
    size_t       part; /* added in each round */
    uint64_t    *all, *fresh, *in, *out;
    uint8_t     *got;
    blm_filter  *ours, *native;
    struct naive huge, small; /* the same loop on either kind of page */
    struct limit read, change;
    double       best[SIDES][OPS];
    double       touched; /* lines an absent key must touch */
};

static uint64_t *keys_of(unsigned stream, size_t n)
{
    uint64_t *k = need(malloc(n * sizeof *k));
    for (size_t i = 0; i < n; i++)
        k[i] = number(stream, i);
    return k;
}

/* Zeroed, on pages of the usual size whatever the system's default. */
static uint64_t *small_alloc(size_t bytes)
{
    size_t room = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void  *p    = need(aligned_alloc(HUGE_PAGE, room));
    madvise(p, room, MADV_NOHUGEPAGE);
    memset(p, 0, room);
    return p;
}

static blm_filter *filter_of(const blm_options *o, const char *name)
{
    blm_filter *f;
    blm_error   e;
    if (blm_create(o, &f, &e) == BLM_OK)
        return f;
    fprintf(stderr, "foreign: %s: %s\n", name, e.text);
    exit(2);
}

static void open_bench(struct bench *b)
{
    blm_options o = BLM_OPTIONS_INIT, classic = BLM_OPTIONS_INIT;
    blm_params  p     = { .size = sizeof p };
    uint64_t    bytes = 0;
    b->m              = b->n / 10 < SAMPLE ? b->n / 10 : SAMPLE;
    b->part           = b->m / 5;
    b->all            = keys_of(1, b->n);
    b->fresh          = keys_of(2, ROUNDS * b->part);
    b->out            = keys_of(3, b->m);
    b->in             = need(malloc(b->m * sizeof *b->in));
    b->got            = need(malloc(b->m));
    for (size_t i = 0; i < b->m; i++)
        b->in[i] = b->all[mix(i) % (b->n - ROUNDS * b->part)];
    o.scheme = b->scheme;
    o.items  = b->n;
    o.rate   = 0.01;
    if (strcmp(b->scheme, "redisbloom") == 0)
        o.kind = BLM_SCALABLE;
    b->ours = filter_of(&o, b->scheme);
    blm_get_params(b->ours, &p);
    blm_view(b->ours, 0, &bytes);
    classic.bits   = p.bits;
    classic.probes = p.probes;
    b->native      = filter_of(&classic, "classic");
    b->huge.m = b->small.m = p.bits;
    b->huge.k = b->small.k = p.probes;
    b->huge.words          = need(huge_alloc(bytes));
    b->small.words         = small_alloc(bytes);
    limit_open(&b->read, bytes);
    limit_open(&b->change, bytes);
}

static void close_bench(struct bench *b)
{
    blm_free(b->ours);
    blm_free(b->native);
    free(b->huge.words);
    free(b->small.words);
    limit_close(&b->read);
    limit_close(&b->change);
    free(b->all);
    free(b->fresh);
    free(b->in);
    free(b->out);
    free(b->got);
}

/* Adds the same keys on all sides. False: the loop sets other bits than we do. */
static bool fill(struct bench *b)
{
    size_t   n     = b->n - ROUNDS * b->part;
    uint64_t bytes = 0;
    blm_add_fixed(b->ours, b->all, 8, n, NULL, NULL);
    blm_add_fixed(b->native, b->all, 8, n, NULL, NULL);
    naive_adds(&b->huge, b->all, n);
    const void *bits = blm_view(b->ours, 0, &bytes);
    memcpy(b->small.words, b->huge.words, bytes);
    return memcmp(b->huge.words, bits, bytes) == 0;
}

static volatile size_t sink;

#define TIMED(side, op, count, work)                          \
    do {                                                      \
        struct watch w = { 0, 0 };                            \
        watch_go(&w);                                         \
        work;                                                 \
        watch_halt(&w);                                       \
        least(&b->best[side][op], w.spent / (double)(count)); \
    } while (0)

static void round_of_adds(struct bench *b, size_t round)
{
    size_t          part = b->part;
    const uint64_t *keys = b->fresh + round * part;
    blm_check_fixed(b->ours, b->in, 8, b->m, b->got);
    TIMED(OURS, ADD, part, blm_add_fixed(b->ours, keys, 8, part, NULL, NULL));
    sink = naive_checks(&b->huge, b->in, b->m);
    TIMED(LOOP, ADD, part, sink = naive_adds(&b->huge, keys, part));
    sink = naive_checks(&b->small, b->in, b->m);
    TIMED(SMALL_PAGES, ADD, part, sink = naive_adds(&b->small, keys, part));
    blm_check_fixed(b->native, b->in, 8, b->m, b->got);
    TIMED(NATIVE, ADD, part, blm_add_fixed(b->native, keys, 8, part, NULL, NULL));
    limit_round(&b->change, true, round * b->m * 8, part);
}

/* How many answers differ. */
static size_t round_of_checks(struct bench *b, int op, size_t round)
{
    const uint64_t *keys = op == HIT ? b->in : b->out, *others = b->all;
    size_t          wrong = 0;
    blm_check_fixed(b->native, others, 8, b->m, b->got);
    TIMED(NATIVE, op, b->m, blm_check_fixed(b->native, keys, 8, b->m, b->got));
    blm_check_fixed(b->ours, others, 8, b->m, b->got);
    TIMED(OURS, op, b->m, blm_check_fixed(b->ours, keys, 8, b->m, b->got));
    sink = naive_checks(&b->huge, others, b->m);
    TIMED(LOOP, op, b->m, sink = naive_checks(&b->huge, keys, b->m));
    sink = naive_checks(&b->small, others, b->m);
    TIMED(SMALL_PAGES, op, b->m, sink = naive_checks(&b->small, keys, b->m));
    limit_round(&b->read, false, round * b->m * 8, b->m);
    for (size_t i = 0; i < b->m; i++)
        wrong += b->got[i] != naive_check(&b->huge, keys[i]);
    return wrong;
}

static void print(const struct bench *b)
{
    uint64_t bytes = 0;
    blm_view(b->ours, 0, &bytes);
    printf("%-11s %g keys, %.2f bits a key, k = %u, %.2f lines a miss; ns a key\n", b->scheme,
           (double)b->n, (double)bytes * 8 / (double)b->n, (unsigned)b->huge.k, b->touched);
    printf("        loop on small pages, huge;   ours  native    lines\n");
    for (int i = 0; i < OPS; i++) {
        double line = i == ADD ? b->change.best : b->read.best;
        printf("  %-5s %13.1f %12.1f %8.1f %7.1f ", op_name[i], b->best[SMALL_PAGES][i],
               b->best[LOOP][i], b->best[OURS][i], b->best[NATIVE][i]);
        double lines = line * (i == MISS ? b->touched : b->huge.k);
        printf("%8.1f", lines);
        printf("   over small pages %5.2fx, over huge %5.2fx; of the lines: ours %.2fx, native "
               "%.2fx\n",
               b->best[SMALL_PAGES][i] / b->best[OURS][i], b->best[LOOP][i] / b->best[OURS][i],
               b->best[OURS][i] / lines, b->best[NATIVE][i] / lines);
    }
}

static int compare(const char *scheme, size_t n, struct naive naive)
{
    struct bench b     = { .scheme = scheme, .n = n, .huge = naive, .small = naive };
    size_t       wrong = 0;
    open_bench(&b);
    if (!fill(&b)) {
        fprintf(stderr, "foreign: %s: the loop sets other bits\n", scheme);
        return 1;
    }
    for (size_t r = 0; r < ROUNDS; r++) /* until they are full */
        round_of_adds(&b, r);
    b.touched = (double)naive_touched(&b.huge, b.out, b.m) / (double)b.m;
    for (size_t r = 0; r < ROUNDS && !wrong; r++) {
        wrong += round_of_checks(&b, HIT, r);
        wrong += round_of_checks(&b, MISS, r);
    }
    if (wrong)
        fprintf(stderr, "foreign: %s: %zu answers differ\n", scheme, wrong);
    else
        print(&b);
    close_bench(&b);
    return wrong != 0;
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
    int          worst = compare("guava", (size_t)n, guava);
    int          other = compare("redisbloom", (size_t)n, redis);
    return worst > other ? worst : other;
}
