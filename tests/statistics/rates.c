/* SPDX-License-Identifier: MIT */
/*
 * The rate of every kind, scheme and size on patterned keys.
 *
 * A cell is one of each. Its questions go to several filters (another seed, or where a scheme has
 * none, other keys), so many that how full one filter came out by chance no longer matters: the
 * variance that it adds is below 2% of the binomial one. Three hypotheses are then tested by exact
 * binomial tests: the rate is the one that the bits give (two-sided), the one that the model gives
 * for n keys (two-sided), and not above the promised one (one-sided). That a member is missed is no
 * matter of chance: one is one too many.
 *
 * Native cells are judged. Other systems' schemes are what their originals are: what they do is told.
 */
#include <bloomery/fixed.h>
#include <bloomery/window.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "statistics.h"

#define BATCH 2048u

struct cell {
    const char  *scheme;
    blm_kind     kind;
    uint64_t     n;
    double       p;
    enum pattern pattern;
};

struct outcome {
    uint64_t filters, questions, hits, missed;
    double   now, model, promised; /* means over the filters */
};

static char    bytes[BATCH][WIDE];
static blm_key keys[BATCH];

void must(blm_status s, const char *what)
{
    if (s < 0) {
        fprintf(stderr, "statistics: %s: %s\n", what, blm_status_text(s));
        exit(2);
    }
}

/* ---- filling ---- */

static size_t load(enum pattern p, uint64_t first, uint64_t left)
{
    size_t some = left < BATCH ? (size_t)left : BATCH;
    for (size_t i = 0; i < some; i++)
        keys[i] = (blm_key){ bytes[i], write_key(p, first + i, bytes[i]) };
    return some;
}

static void add(blm_filter *f, enum pattern p, uint64_t first, uint64_t n)
{
    for (uint64_t i = 0; i < n;) {
        size_t some = load(p, first + i, n - i);
        must(blm_add_many(f, keys, some, NULL, NULL), "add");
        i += some;
    }
}

static bool built_at_once(blm_kind k) { return k == BLM_STATIC || k == BLM_CASCADE; }

/* As many excluded keys as included ones, from a corner that no question comes from. */
#define EXCLUDED ((uint64_t)1 << 30)

static blm_filter *build(const struct cell *c, const blm_options *o, uint64_t first)
{
    blm_builder *b;
    blm_filter  *f;
    must(blm_builder_new(o, &b, NULL), "builder");
    for (uint64_t i = 0; i < c->n;) {
        size_t some = load(c->pattern, first + i, c->n - i);
        must(blm_builder_add(b, keys, some), "include");
        if (c->kind == BLM_CASCADE) {
            load(c->pattern, first + i + EXCLUDED, c->n - i);
            must(blm_builder_exclude(b, keys, some), "exclude");
        }
        i += some;
    }
    must(blm_builder_build(b, &f, NULL), "build");
    blm_builder_free(b);
    return f;
}

/* One that holds the keys first … first + n − 1; a window has forgotten many before, and all its
 * ages but one add are full. NULL: the scheme cannot be made that large. */
static blm_filter *make(const struct cell *c, uint64_t number, uint64_t *first)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.kind    = c->kind;
    o.scheme  = c->scheme;
    o.items   = c->n;
    o.rate    = c->p;
    o.flags   = strcmp(c->scheme, "native") == 0 ? BLM_SEEDED : 0;
    o.seed[0] = mix(number + c->n);
    o.seed[1] = mix(number ^ (uint64_t)c->kind << 32);
    if (built_at_once(c->kind))
        return build(c, &o, *first);
    if (blm_create(&o, &f, NULL) != BLM_OK)
        return NULL;
    if (c->kind == BLM_WINDOW) {
        blm_window w = { .size = sizeof w };
        must(blm_get_window(f, &w), "window");
        uint64_t before = 3 * w.ages * w.turn_length - 1 - c->n;
        add(f, c->pattern, *first, before);
        *first += before;
    }
    add(f, c->pattern, *first, c->n);
    return f;
}

/* ---- asking ---- */

/* Of the first million members. */
static uint64_t missed(const blm_filter *f, const struct cell *c, uint64_t first)
{
    uint64_t none = 0, n = c->n < 1000000 ? c->n : 1000000;
    for (uint64_t i = 0; i < n;) {
        size_t some = load(c->pattern, first + i, n - i);
        none += some - blm_check_many(f, keys, some, NULL);
        i += some;
    }
    return none;
}

static uint64_t ask(const blm_filter *f, const struct cell *c, uint64_t first, uint64_t questions)
{
    uint64_t hits = 0;
    for (uint64_t j = 0; j < questions;) {
        size_t some = questions - j < BATCH ? (size_t)(questions - j) : BATCH;
        for (size_t i = 0; i < some; i++)
            keys[i] =
                (blm_key){ bytes[i], write_question(c->pattern, first, c->n, j + i, bytes[i]) };
        hits += blm_check_many(f, keys, some, NULL);
        j += some;
    }
    return hits;
}

/* Questions to one filter: its rate differs from the mean by about 13/√n of it at 1%, so that
 * questions · p · 170/n is what it adds to the variance. */
static uint64_t questions_each(const struct cell *c, uint64_t all)
{
    uint64_t each = (uint64_t)((double)c->n * 0.02 / 170 / c->p);
    uint64_t most = c->n < 5000 ? 500 : c->n;
    if (each < most / 2)
        each = most / 2; /* filters are not made for nothing */
    return each < all ? each : all;
}

static bool measure(const struct cell *c, uint64_t all, struct outcome *out)
{
    struct outcome o    = { 0 };
    uint64_t       each = questions_each(c, all);
    while (o.questions < all) {
        uint64_t    first = o.filters * (4 * c->n + each);
        blm_filter *f     = make(c, o.filters, &first);
        blm_stats   s     = { .size = sizeof s };
        double      model = 0;
        if (!f)
            return false;
        must(blm_get_stats(f, &s), "stats");
        must(blm_rate_at(f, c->n, &model), "rate");
        o.hits += ask(f, c, first, each);
        if (o.filters < 50)
            o.missed += missed(f, c, first);
        o.now += s.rate_now;
        o.model += model;
        o.promised += s.params.rate;
        o.filters++;
        o.questions += each;
        blm_free(f);
    }
    o.now /= (double)o.filters;
    o.model /= (double)o.filters;
    o.promised /= (double)o.filters;
    *out = o;
    return true;
}

/* ---- judging ---- */

struct verdict {
    size_t now, model, promise;
    bool   missed;
};
static struct verdict *verdicts;
static size_t          verdict_count;
static double          control = 1; /* the smallest p-value of cells that must look bad */
static bool            foreign_missed, comma;

static void keep(struct verdict v)
{
    verdicts = realloc(verdicts, (verdict_count + 1) * sizeof *verdicts);
    if (!verdicts)
        exit(2);
    verdicts[verdict_count++] = v;
}

static void run(const struct cell *c, uint64_t questions)
{
    struct outcome o;
    bool           native = strcmp(c->scheme, "native") == 0;
    if (!measure(c, questions, &o))
        return;
    double now     = chance_beyond(o.hits, o.questions, o.now);
    double model   = chance_beyond(o.hits, o.questions, o.model);
    double promise = chance_above(o.hits, o.questions, o.promised);
    double low, high;
    if (native)
        keep((struct verdict){ judge(now), judge(model), judge(promise), o.missed != 0 });
    else
        foreign_missed |= o.missed != 0;
    if (strcmp(c->scheme, "polynomial") == 0 && model < control)
        control = model;
    must(blm_binomial_interval(o.hits, o.questions, 0.95, &low, &high), "interval");
    printf("%s\n  {\"scheme\": \"%s\", \"kind\": \"%s\", \"n\": %" PRIu64
           ", \"p\": %g, \"keys\": \"%s\", \"filters\": %" PRIu64 ", \"questions\": %" PRIu64
           ", \"hits\": %" PRIu64 ", \"missed\": %" PRIu64
           ", \"measured\": %.6g, \"low\": %.6g, \"high\": %.6g, \"promised\": %.6g, "
           "\"modelled\": %.6g, \"by_bits\": %.6g, \"p_bits\": %.4g, \"p_model\": %.4g, "
           "\"p_promise\": %.4g}",
           comma ? "," : "", c->scheme, blm_kind_name(c->kind), c->n, c->p,
           pattern_name[c->pattern], o.filters, o.questions, o.hits, o.missed,
           (double)o.hits / (double)o.questions, low, high, o.promised, o.model, o.now, now, model,
           promise);
    fflush(stdout);
    comma = true;
}

/* Keys of 8 raw bytes are no text: schemes of UTF-16 units would take most of them for the same. */
static bool takes(const char *scheme, enum pattern p)
{
    return p != INTEGERS || (strcmp(scheme, "byteslot") != 0 && strcmp(scheme, "polynomial") != 0);
}

struct size {
    uint64_t n;
    double   p;
};

static void run_all(const char *scheme, uint32_t kinds, const struct size *sizes, size_t count,
                    uint64_t questions)
{
    for (int kind = BLM_CLASSIC; kind <= BLM_CASCADE; kind++)
        for (size_t s = 0; s < count && kinds >> kind & 1; s++)
            for (int p = 0; p < PATTERNS; p++) {
                struct cell c = { scheme, (blm_kind)kind, sizes[s].n, sizes[s].p, (enum pattern)p };
                if (takes(scheme, c.pattern))
                    run(&c, questions);
            }
}

static void start(void)
{
    verdict_count = 0;
    comma         = false;
}

static const uint32_t every_kind = ((1u << (BLM_CASCADE + 1)) - 1) & ~((1u << BLM_CLASSIC) - 1);

void rates_native(const struct effort *e)
{
    static const struct size sizes[] = { { 1000, 0.01 }, { 100000, 0.01 }, { 1000000, 1e-4 } };
    start();
    run_all("native", every_kind, sizes, e->quick ? 2 : 3, e->native);
}

void rates_large(const struct effort *e)
{
    static const struct size size = { 10000000, 0.01 };
    start();
    if (!e->quick)
        run_all("native", every_kind, &size, 1, e->native);
}

void rates_foreign(const struct effort *e)
{
    static const struct size sizes[] = { { 1000, 0.01 }, { 100000, 0.01 } };
    static const struct size small[] = { { 1000, 0.01 },
                                         { 20000, 0.01 } }; /* 36 000 bytes at most */
    const blm_scheme_row    *row;
    start();
    for (size_t i = 0; (row = blm_scheme_at(i)) != NULL; i++) {
        bool capped = strcmp(row->name, "bip37") == 0;
        if (strcmp(row->name, "native") == 0 || !row->creates || row->by_caller || row->means)
            continue;
        if (e->quick && strcmp(row->name, "polynomial") != 0)
            continue;
        run_all(row->name, row->kinds, capped ? small : sizes, e->quick ? 1 : 2, e->foreign);
    }
}

bool rates_verdict(void)
{
    bool fine = true;
    for (size_t i = 0; i < verdict_count; i++) {
        struct verdict v = verdicts[i];
        printf("%s[%d, %d, %d, %d]", i ? ", " : "", rejected(v.now), rejected(v.model),
               rejected(v.promise), v.missed);
        if (!rejected(v.now) && !rejected(v.model) && !rejected(v.promise) && !v.missed)
            continue;
        fprintf(
            stderr,
            "statistics: row %zu is refused: by its bits %d, by its model %d, above the promise "
            "%d, members missed %d\n",
            i + 1, rejected(v.now), rejected(v.model), rejected(v.promise), v.missed);
        fine = false;
    }
    return fine;
}

bool foreign_verdict(void)
{
    if (control >= 1e-9)
        fprintf(stderr, "statistics: polynomial hashes passed: the tests are blunt\n");
    if (foreign_missed)
        fprintf(stderr, "statistics: a scheme of another system missed a member\n");
    return control < 1e-9 && !foreign_missed;
}
