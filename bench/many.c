/* SPDX-License-Identifier: MIT */
/*
 * Batches of every kind beside the bare read (add: change) of the lines that a key must touch, in as many
 * bytes. One process, one thread, the thread's processor time, best of several rounds, each after a pass
 * over other keys that is not timed. Only the ratios count.
 *
 *   many [N]                   default 1e7; rate 1%, 8-byte keys
 *
 * Lines a key: one where all of it is in one line (blocked, counting, scalable of one layer); a window's
 * two; a cuckoo filter's two buckets (an add looks into both, and so must a check: nobody knows in which a
 * key is, and to ask for the second only after the first is no faster); a static filter's three cells. Of
 * a cascade three in its first level, and a key that is there must also be looked for in the second, three
 * cells more: their lines are those of as many bytes as the second level has, with no first level beside it.
 */
#include <bloomery.h>
#include <bloomery/fixed.h>

#include "keys.h"
#include "memory.h"

#define SAMPLE 1000000u
#define ROUNDS 6

enum { ADD, HIT, MISS, OPS };
static const char *const op_name[OPS] = { "add", "hit", "miss" };

struct row {
    const char *name;
    blm_kind    kind;
    bool        built; /* once, and never added to */
    unsigned    lines[OPS];
};

static const struct row rows[] = {
    { "blocked", BLM_BLOCKED, false, { 1, 1, 1 } },
    { "counting", BLM_COUNTING, false, { 1, 1, 1 } },
    { "scalable", BLM_SCALABLE, false, { 1, 1, 1 } },
    { "window", BLM_WINDOW, false, { 2, 2, 2 } },
    { "cuckoo", BLM_CUCKOO, false, { 2, 2, 2 } },
    { "static", BLM_STATIC, true, { 0, 3, 3 } },
    { "cascade", BLM_CASCADE, true, { 0, 6, 3 } },
};

static uint64_t *keys_of(unsigned stream, size_t n)
{
    uint64_t *k = need(malloc(n * sizeof *k));
    for (size_t i = 0; i < n; i++)
        k[i] = number(stream, i);
    return k;
}

static blm_filter *fill(const struct row *r, const uint64_t *in, const uint64_t *out, size_t n)
{
    blm_options  o = BLM_OPTIONS_INIT;
    blm_filter  *f = NULL;
    blm_builder *b = NULL;
    blm_error    e = { .text = "" };
    o.kind         = r->kind;
    o.items        = n;
    o.rate         = 0.01;
    if (!r->built) {
        if (blm_create(&o, &f, &e) == BLM_OK)
            blm_add_fixed(f, in, 8, n - n / 10, NULL, NULL);
    } else if (blm_builder_new(&o, &b, &e) == BLM_OK) {
        blm_builder_add_fixed(b, in, 8, n);
        if (r->kind == BLM_CASCADE)
            blm_builder_exclude_fixed(b, out, 8, n);
        blm_builder_build(b, &f, &e);
        blm_builder_free(b);
    }
    if (!f)
        fprintf(stderr, "many: %s: %s\n", r->name, e.text);
    return f;
}

/* How long the lines of an operation take, one by one. */
struct limits {
    struct limit read, change;
    struct limit second; /* of a cascade: its second level alone */
};

static void limits_open(struct limits *l, const blm_filter *f)
{
    blm_params p = { .size = sizeof p }, second = { .size = sizeof second };
    blm_get_params(f, &p);
    limit_open(&l->read, p.bytes);
    limit_open(&l->change, p.bytes);
    l->second = (struct limit){ 0 };
    if (p.kind == BLM_CASCADE && blm_get_layer(f, 1, &second) == BLM_OK)
        limit_open(&l->second, second.bytes);
}

static void limits_round(struct limits *l, uint64_t from, size_t count)
{
    limit_round(&l->read, false, from, count);
    limit_round(&l->change, true, from, count);
    limit_round(&l->second, false, from, count);
}

static void limits_close(struct limits *l)
{
    limit_close(&l->read);
    limit_close(&l->change);
    limit_close(&l->second);
}

/* The mean; a key that a cascade has is looked for in both levels. */
static double a_line(const struct limits *l, int op)
{
    if (op == HIT && l->second.words)
        return (l->read.best + l->second.best) / 2;
    return op == ADD ? l->change.best : l->read.best;
}

static void print(const struct row *r, const double *best, const struct limits *l, size_t n)
{
    printf("%-9s %5.2f bits a key ", r->name, (double)l->read.lines * 512 / (double)n);
    for (int op = 0; op < OPS; op++)
        if (r->lines[op])
            printf("  %s %.1f ns, lines %u of %.1f: %.2fx", op_name[op], best[op], r->lines[op],
                   a_line(l, op), best[op] / (a_line(l, op) * r->lines[op]));
    printf("\n");
}

static bool run(const struct row *r, const uint64_t *in, const uint64_t *out, size_t n)
{
    size_t        m = n / 10 < SAMPLE ? n / 10 : SAMPLE, part = m / ROUNDS;
    uint8_t      *got       = need(malloc(m));
    blm_filter   *f         = fill(r, in, out, n);
    double        best[OPS] = { 0 };
    struct limits limits;
    if (!f)
        return false;
    limits_open(&limits, f);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (int op = r->built ? HIT : ADD; op < OPS; op++) {
            const uint64_t *keys = op == MISS ? out : in + (op == ADD ? n - n / 10 : 0);
            struct watch    w    = { 0, 0 };
            blm_check_fixed(f, in + m, 8, m, got);
            watch_go(&w);
            if (op == ADD)
                blm_add_fixed(f, keys + round * part, 8, part, NULL, NULL);
            else
                blm_check_fixed(f, keys, 8, m, got);
            watch_halt(&w);
            least(&best[op], w.spent / (double)(op == ADD ? part : m));
        }
        limits_round(&limits, round * m * 8, m);
    }
    print(r, best, &limits, n);
    limits_close(&limits);
    blm_free(f);
    free(got);
    return true;
}

int main(int argc, char **argv)
{
    double   asked = argc > 1 ? strtod(argv[1], NULL) : 1e7;
    uint64_t n     = asked >= 1e4 && asked <= 1e9 ? (uint64_t)asked : 0;
    bool     good  = n != 0;
    if (!n) {
        fprintf(stderr, "usage: many [N], N from 1e4 to 1e9\n");
        return 2;
    }
    uint64_t *in = keys_of(1, n), *out = keys_of(2, n);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        good = run(&rows[i], in, out, n) && good;
    free(in);
    free(out);
    return !good;
}
