/* SPDX-License-Identifier: MIT */
/*
 * A window compared with a plain loop over the same layout, one key at a time: spans of eight words, two
 * of them a key, in each a tag and four cells; and with two blocked filters that take turns, by the
 * library's own batches. All remember the last N keys. One thread, its processor time, best of several
 * rounds. Only the ratios mean anything.
 *
 *   window [N]                 default 1e7; rate 1%, 8-byte keys
 */
#include <bloomery.h>
#include <bloomery/window.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 6
#define SAMPLE 1000000u
#define RATE   0.01

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

__extension__ typedef unsigned __int128 wide;

struct plain {
    uint64_t *words, spans, adds, turn_length;
};

struct place {
    uint64_t *span[2], mask[2];
};

/* Four cells of seven, in four of the eight groups. */
static uint64_t mask_of(uint64_t x)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < 4; i++)
        mask |= (uint64_t)1 << (((x >> 60) + 2 * i) % 8 * 7 + (x >> 14 * i & 16383) * 7 / 16384);
    return mask;
}

static struct place place_of(const struct plain *p, uint64_t key)
{
    uint64_t     h = mix(key), x = mix(h);
    struct place at;
    at.span[0] = p->words + (uint64_t)((wide)h * p->spans >> 64) * 8;
    at.span[1] = p->words + (uint64_t)((wide)x * p->spans >> 64) * 8;
    at.mask[0] = mask_of(h * 0xa0761d6478bd642fu);
    at.mask[1] = mask_of(x * 0xa0761d6478bd642fu);
    return at;
}

static uint64_t tag_of(uint64_t turn, unsigned j)
{
    uint64_t of = turn - (turn - j) % 8; /* the turn that word j is of */
    return of / 8 % 256 << 56;
}

static bool plain_check(const struct plain *p, uint64_t key)
{
    struct place at   = place_of(p, key);
    uint64_t     turn = p->adds / p->turn_length + 8;
    for (unsigned j = 0; j < 8; j++) {
        uint64_t want0 = at.mask[0] | tag_of(turn, j), want1 = at.mask[1] | tag_of(turn, j);
        uint64_t tags = (uint64_t)255 << 56;
        if ((at.span[0][j] & (at.mask[0] | tags)) == want0 &&
            (at.span[1][j] & (at.mask[1] | tags)) == want1)
            return true;
    }
    return false;
}

static void plain_add(struct plain *p, uint64_t key)
{
    struct place at   = place_of(p, key);
    uint64_t     turn = p->adds++ / p->turn_length + 8, tag = tag_of(turn, turn % 8);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t *w = &at.span[i][turn % 8];
        *w          = (*w >> 56 << 56 == tag ? *w : tag) | at.mask[i];
    }
}

/* ---- timing ---- */

enum { ADD, HIT, MISS, OPS };
static const char *const names[OPS] = { "add", "hit", "miss" };

struct times {
    double of[OPS];
};

static uint64_t *keys_of(uint64_t stream, size_t n)
{
    uint64_t *k = malloc(n * sizeof *k);
    if (!k)
        exit(2);
    for (size_t i = 0; i < n; i++)
        k[i] = mix(stream << 56 | i);
    return k;
}

static void keep(double *best, double since)
{
    double ns = (now() - since) / (double)SAMPLE;
    if (*best == 0 || ns < *best)
        *best = ns;
}

static volatile uint64_t sink;

static void time_plain(struct plain *p, uint64_t *const k[OPS], struct times *t)
{
    uint64_t sum = 0;
    double   at  = now();
    for (size_t i = 0; i < SAMPLE; i++)
        plain_add(p, k[ADD][i]);
    keep(&t->of[ADD], at);
    for (int op = HIT; op <= MISS; op++) {
        at = now();
        for (size_t i = 0; i < SAMPLE; i++)
            sum += plain_check(p, k[op][i]);
        keep(&t->of[op], at);
    }
    sink = sum;
}

/* f: one filter, or two that take turns, of which the first takes the adds. */
static void time_ours(blm_filter *const *f, unsigned count, bool single, uint64_t *const k[OPS],
                      struct times *t)
{
    uint64_t sum = 0;
    double   at  = now();
    if (!single)
        blm_add_fixed(f[0], k[ADD], 8, SAMPLE, NULL, NULL);
    for (size_t i = 0; single && i < SAMPLE; i++)
        blm_add(f[0], &k[ADD][i], 8);
    keep(&t->of[ADD], at);
    for (int op = HIT; op <= MISS; op++) {
        at = now();
        for (unsigned n = 0; n < count && !single; n++)
            sum += blm_check_fixed(f[n], k[op], 8, SAMPLE, NULL);
        for (size_t i = 0; single && i < SAMPLE; i++)
            sum += blm_check(f[0], &k[op][i], 8);
        keep(&t->of[op], at);
    }
    sink = sum;
}

static blm_filter *make(blm_kind kind, uint64_t items, double rate)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e;
    blm_filter *f;
    o.kind  = kind;
    o.items = items;
    o.rate  = rate;
    if (blm_create(&o, &f, &e) != BLM_OK) {
        fprintf(stderr, "window: %s\n", e.text);
        exit(2);
    }
    return f;
}

static void row(const char *name, double bits, const struct times *t, const struct times *to)
{
    printf("  %-34s %5.1f b/key", name, bits);
    for (int i = 0; i < OPS; i++)
        printf("   %s %6.1f", names[i], t->of[i]);
    for (int i = 0; to && i < OPS; i++)
        printf("   %.2fx", to->of[i] / t->of[i]);
    printf("\n");
}

static double bits_of(const blm_filter *f, uint64_t n)
{
    blm_params p = { .size = sizeof p };
    blm_get_params(f, &p);
    return (double)p.bytes * 8 / (double)n;
}

int main(int argc, char **argv)
{
    double   asked = argc > 1 ? strtod(argv[1], NULL) : 1e7;
    uint64_t n     = asked >= 2 * SAMPLE && asked <= 1e9 ? (uint64_t)asked : 0;
    if (n == 0) {
        fprintf(stderr, "usage: window [N]    N from %u to 1e9\n", 2 * SAMPLE);
        return 2;
    }
    uint64_t   *all    = keys_of(1, n);
    blm_filter *w      = make(BLM_WINDOW, n, RATE);
    blm_filter *two[2] = { make(BLM_BLOCKED, n, RATE / 2), make(BLM_BLOCKED, n, RATE / 2) };
    blm_params  p      = { .size = sizeof p };
    blm_get_params(w, &p);
    struct plain plain = { .spans = p.bytes / 64, .turn_length = (n + 6) / 7 };
    plain.words        = calloc(plain.spans, 64);
    if (!plain.words)
        return 2;
    blm_add_fixed(w, all, 8, n, NULL, NULL);
    blm_add_fixed(two[1], all, 8, n, NULL, NULL);
    for (uint64_t i = 0; i < n; i++)
        plain_add(&plain, all[i]);
    uint64_t    *k[OPS] = { keys_of(2, SAMPLE), all + n - SAMPLE, keys_of(3, SAMPLE) };
    struct times peer = { { 0 } }, many = { { 0 } }, one = { { 0 } }, turns = { { 0 } };
    for (int r = 0; r < ROUNDS; r++) { /* by turns, so that a slow moment affects all */
        time_plain(&plain, k, &peer);
        time_ours(&w, 1, false, k, &many);
        time_ours(&w, 1, true, k, &one);
        time_ours(two, 2, false, k, &turns);
    }
    printf("window, the last %g keys at %g; ns a key, and how many times as fast as plain\n",
           (double)n, RATE);
    row("plain, one key at a time", (double)plain.spans * 512 / (double)n, &peer, NULL);
    row("ours, batches", bits_of(w, n), &many, &peer);
    row("ours, single calls", bits_of(w, n), &one, &peer);
    row("two blocked by turns, batches", 2 * bits_of(two[0], n), &turns, &peer);
    return 0;
}
