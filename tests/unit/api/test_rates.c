/* SPDX-License-Identifier: MIT */
/* The measured rate is the modelled one: for few keys as the mean over 10 000 seeds, for a million
 * in one filter, and for keys that follow a pattern as well as for random ones.
 * tests/mutations/rates.txt lists mutations that these tests catch. BLM_SHOW=1 prints every case. */
#include "api/filter.h"
#include "bloomery/maths.h"
#include "unit/rates.h"

#include "sanitized.h"

/* Sanitizers look for other things, a tenth as fast: the same tests, less sharp. */
static uint32_t seeds(void)
{
#if SANITIZED
    return 1000;
#else
    return quick_tests() ? 100 : 10000;
#endif
}

/* ---- few keys ---- */

/* Keys 0 … n−1 are added, the rest are asked; the seed makes each filter another experiment. */
static void fill_keys(uint64_t *keys, size_t count)
{
    struct rng r = { 2024 };
    for (size_t i = 0; i < count; i++)
        keys[i] = rng_next(&r);
}

/* Enough questions for about 20 000 hits and more over all seeds. */
static size_t questions_for(double p) { return p < 0.005 ? 2000 : p < 0.05 ? 500 : 200; }

/* Blocked filters come in whole lines, and a few keys leave them so empty that no number of
 * questions would meet a hit: such a case is measured with more keys than it was asked for. */
static uint64_t enough_keys(const blm_plan *p, double rate)
{
    blm_params q = { .kind = p->kind, .bits = p->bits, .probes = p->probes, .lines = p->lines };
    uint64_t   n = p->items;
    while (modelled(&q, n) < rate / 4)
        n += n / 4 + 1;
    return n;
}

static void small_case(const blm_options *wanted, const char *what)
{
    static uint64_t keys[1000 + 2000];
    blm_plan        plan = { .size = sizeof plan };
    size_t          q    = questions_for(wanted->rate);
    struct tally    t    = { 0 };
    struct rng      r    = { wanted->items * 7 + (uint64_t)wanted->kind };
    fill_keys(keys, COUNT_OF(keys));
    assert_status(blm_plan_for(wanted, &plan, NULL), BLM_OK);
    assert_true(plan.rate <= wanted->rate); /* the promise, on paper */
    blm_options o    = BLM_OPTIONS_INIT;    /* the plan's size, without planning it 10 000 times */
    o.kind           = wanted->kind;
    o.flags          = BLM_SEEDED;
    o.bits           = plan.bits;
    o.probes         = plan.probes;
    o.lines          = plan.lines;
    size_t     n     = (size_t)enough_keys(&plan, wanted->rate);
    blm_params shape = {
        .kind = plan.kind, .bits = plan.bits, .probes = plan.probes, .lines = plan.lines
    };
    double   model = modelled(&shape, n);
    uint32_t count = seeds();
    assert_true(n <= 1000);
    assert_true(modelled(&shape, wanted->items) <= wanted->rate); /* whoever planned it */
    for (uint32_t s = 0; s < count; s++) {
        o.seed[0]     = rng_next(&r);
        blm_filter *f = make(&o);
        blm_add_fixed(f, keys, 8, n, NULL, NULL);
        size_t hits = blm_check_fixed(f, keys + n, 8, q, NULL);
        tally_add(&t, (double)hits / (double)q, model);
        if (s % 1000 == 0)
            assert_int_equal(blm_check_fixed(f, keys, 8, n, NULL), n);
        blm_free(f);
    }
    judge(what, tally_mean(&t), model, tally_error(&t), 0);
}

static void small_cases(const char *name, blm_kind kind, uint32_t lines, uint64_t least)
{
    static const uint64_t ns[] = { 10, 100, 1000 };
    static const double   ps[] = { 0.1, 0.01, 0.001 };
    for (size_t i = 0; i < COUNT_OF(ns); i++)
        for (size_t j = 0; j < COUNT_OF(ps) && ns[i] >= least; j++) {
            blm_options o = BLM_OPTIONS_INIT;
            char        what[64];
            o.kind  = kind;
            o.items = ns[i];
            o.rate  = ps[j];
            o.lines = lines;
            snprintf(what, sizeof what, "%s, n = %d, p = %g", name, (int)ns[i], ps[j]);
            small_case(&o, what);
        }
}

static void classic_with_few_keys(void **state)
{
    (void)state;
    small_cases("classic", BLM_CLASSIC, 0, 10);
}
static void blocked_with_few_keys(void **state)
{
    (void)state;
    small_cases("blocked", BLM_BLOCKED, 1, 10);
}
static void blocked_with_two_lines_and_few_keys(void **state)
{
    (void)state;
    small_cases("blocked, 2 lines", BLM_BLOCKED, 2, 100);
}
static void blocked_with_three_lines_and_few_keys(void **state)
{
    (void)state;
    small_cases("blocked, 3 lines", BLM_BLOCKED, 3, 1000);
}
static void counting_with_few_keys(void **state)
{
    (void)state;
    small_cases("counting", BLM_COUNTING, 0, 10);
    small_cases("counting, 2 lines", BLM_COUNTING, 2, 100);
    small_cases("counting, 5 lines", BLM_COUNTING, 5, 1000);
}

/* ---- scalable ---- */

/* Layers fill with the keys that no other layer claims; those that the layer itself takes for old
 * ones change no bit but are part of what it was offered, which is the n of its model. */
struct offers {
    uint64_t to[BLM__MAX_LAYERS];
};

static void offer(blm_filter *f, uint64_t key, struct offers *o)
{
    uint64_t h       = blm__native_hash(&f->body.hasher, &key, 8);
    bool     claimed = false;
    for (uint32_t i = 0; i + 1 < f->body.layer_count; i++)
        claimed |= f->body.layers[i].engine->check_one(&f->body, &f->body.layers[i], h);
    assert_true(blm_add(f, &key, 8) >= 0);
    if (!claimed)
        o->to[f->body.layer_count - 1]++;
}

/* The same shapes come again and again: each (layer, n) is modelled once. */
static double layer_model(const blm_filter *f, uint32_t i, uint64_t n)
{
    static struct {
        uint64_t bits, n;
        uint32_t probes, lines;
        double   rate;
    } known[4096];
    blm_params p = { .size = sizeof p };
    blm_get_layer(f, i, &p);
    size_t at = (size_t)(blm__mix64(p.bits * 31 + p.probes * 7 + n * 1009 + p.lines) % 4096);
    if (known[at].bits != p.bits || known[at].n != n || known[at].probes != p.probes ||
        known[at].lines != p.lines) {
        known[at].bits   = p.bits;
        known[at].n      = n;
        known[at].probes = p.probes;
        known[at].lines  = p.lines;
        known[at].rate   = modelled(&p, n);
    }
    return known[at].rate;
}

static void scalable_case(const blm_options *wanted, uint64_t n, uint32_t count)
{
    static uint64_t keys[1000 + 2000];
    double          p      = wanted->rate;
    size_t          q      = questions_for(p);
    struct tally    t      = { 0 };
    struct rng      r      = { n + wanted->items };
    uint32_t        layers = 0;
    fill_keys(keys, COUNT_OF(keys));
    for (uint32_t s = 0; s < count; s++) {
        blm_options   o      = *wanted;
        struct offers w      = { { 0 } };
        double        absent = 1;
        o.kind               = BLM_SCALABLE;
        o.flags              = BLM_SEEDED;
        o.seed[0]            = rng_next(&r);
        blm_filter *f        = make(&o);
        for (size_t i = 0; i < n; i++)
            offer(f, keys[i], &w);
        for (uint32_t i = 0; i < f->body.layer_count; i++)
            absent *= 1 - layer_model(f, i, w.to[i]);
        size_t hits = blm_check_fixed(f, keys + n, 8, q, NULL);
        tally_add(&t, (double)hits / (double)q, 1 - absent);
        layers = f->body.layer_count;
        blm_free(f);
    }
    char what[80];
    snprintf(what, sizeof what, "scalable%s, %d → %d, p = %g, %u layers",
             wanted->layer_classic ? " (classic)" : "", (int)wanted->items, (int)n, p,
             (unsigned)layers);
    assert_true(layers >= 3);
    judge(what, tally_mean(&t), t.model / t.n, tally_error(&t), 0);
    /* The promise after growth: the compound rate is below p, and not by luck. */
    if (!quick_tests())
        assert_true(tally_mean(&t) + Z_MOST * tally_error(&t) < p);
}

static void scalable_after_growth(void **state)
{
    (void)state;
    blm_options o   = BLM_OPTIONS_INIT;
    o.items         = 20;
    o.rate          = 0.1;
    o.layer_classic = true;
    scalable_case(&o, 300, seeds());
    o.items         = 100;
    o.rate          = 0.01;
    o.tightening    = 0.5;
    o.layer_classic = false;
    scalable_case(&o, 1000, seeds());
    o.items         = 4; /* many layers: most of the promise is used up */
    o.rate          = 0.1;
    o.tightening    = 0;
    o.growth        = 1.2;
    o.layer_classic = true;
    scalable_case(&o, 1000, seeds() / 10);
}

/* ---- a million ---- */

/* The interval of the tries holds the model: both the one for n keys and the one for these very
 * bits; and the bits set are as many as the model of the fill allows. */
static void a_million(void **state)
{
    (void)state;
    enum { N = 1000000 };
    if (quick_tests())
        skip();
    uint64_t *keys = malloc(N * sizeof *keys);
    assert_non_null(keys);
    for (uint64_t i = 0; i < N; i++)
        keys[i] = i;
    EACH_BITS(v)
    {
        if (v->flags & BLM_SHARED)
            continue; /* same bits */
        blm_filter *f = make_flavour(v, N, 0.01, 4711);
        blm_trial   t = { .size = sizeof t };
        assert_status(blm_add_fixed(f, keys, 8, N, NULL, NULL), BLM_OK);
        assert_int_equal(blm_check_fixed(f, keys, 8, N, NULL), N);
        assert_status(blm_try_rate(f, NULL, 2000000, 99, &t, NULL), BLM_OK);
        double error = sqrt(t.modelled / 2e6);
        char   what[80];
        snprintf(what, sizeof what, "%s, a million, by its bits", v->name);
        judge(what, t.rate, t.modelled, error, 0);
        assert_true(t.holds && t.promised == 0.01);
        blm_stats s = stats_of(f);
        if (v->kind != BLM_SCALABLE) {
            double low, high, model = modelled(&s.params, N);
            snprintf(what, sizeof what, "%s, a million, by its size", v->name);
            judge(what, t.rate, model, error, 0.003);
            blm_binomial_interval(t.hits, t.trials, 0.99999, &low, &high);
            assert_true(low <= model && model <= high && model <= 0.01);
        } else {
            assert_true(t.high < 0.01); /* few of its many layers are full */
        }
        if (v->kind == BLM_CLASSIC || v->kind == BLM_COUNTING) {
            blm_estimate fill;
            blm_fill_interval(s.params.bits, s.params.probes, N, false, 0.99999, &fill);
            assert_true(fill.low <= s.fill && s.fill <= fill.high);
        }
        blm_free(f);
    }
    free(keys);
}

/* ---- keys with a pattern ---- */

#define WIDE 64u

static size_t pattern_key(int pattern, uint64_t i, uint8_t *out)
{
    switch (pattern) {
    case 0:
        memcpy(out, &i, 8);
        return 8; /* counters */
    case 1:       /* big-endian counters */
        for (unsigned b = 0; b < 8; b++)
            out[b] = (uint8_t)(i >> (56 - 8 * b));
        return 8;
    case 2:
        i <<= 32;
        memcpy(out, &i, 8);
        return 8; /* high halves only */
    case 3:
        return (size_t)snprintf((char *)out, WIDE, "%llu", (unsigned long long)i);
    case 4:
        return (size_t)snprintf((char *)out, WIDE, "https://example.org/item/%llu?ref=home",
                                (unsigned long long)i);
    case 5: /* bytes above 0x7f, and no others: a signed char would see another key */
        for (unsigned b = 0; b < 6; b++)
            out[b] = (uint8_t)(0x80 | (i >> (7 * b) & 0x7f));
        return 6;
    case 6: /* few bits set: a one and a counter in its place value */
        memset(out, 0, 20);
        out[i % 20] = (uint8_t)(1 + i / 20);
        out[(i / 20) % 19] ^= (uint8_t)(i >> 12);
        memcpy(out + 8, &i, 4);
        return 20;
    default:
        memset(out, 'x', 40);
        memcpy(out + 33, &i, 4);
        return 40; /* one long prefix */
    }
}

static void patterns_do_no_harm(void **state)
{
    (void)state;
    enum { IN = 50000, OUT = 200000 };
    if (quick_tests())
        skip();
    uint8_t *bytes = malloc((size_t)(IN + OUT) * WIDE);
    blm_key *keys  = malloc((size_t)(IN + OUT) * sizeof *keys);
    for (int pattern = 0; pattern < 8; pattern++) {
        for (uint64_t i = 0; i < IN + OUT; i++) {
            uint8_t *at = bytes + i * WIDE;
            keys[i]     = (blm_key){ at, pattern_key(pattern, i, at) };
        }
        EACH_BITS(v)
        {
            if (v->flags & BLM_SHARED)
                continue;
            blm_filter *f = make_flavour(v, IN, 0.01, 31);
            char        what[80];
            assert_status(blm_add_many(f, keys, IN, NULL, NULL), BLM_OK);
            assert_int_equal(blm_check_many(f, keys, IN, NULL), IN);
            size_t    hits = blm_check_many(f, keys + IN, OUT, NULL);
            blm_stats s    = stats_of(f);
            double    rate = (double)hits / OUT;
            snprintf(what, sizeof what, "%s, pattern %d, by its bits", v->name, pattern);
            judge(what, rate, s.rate_now, sqrt(s.rate_now / OUT), 0);
            if (v->kind != BLM_SCALABLE) { /* the bits themselves are spread as chance would */
                double model = modelled(&s.params, IN);
                snprintf(what, sizeof what, "%s, pattern %d, by its size", v->name, pattern);
                judge(what, rate, model, sqrt(model / OUT), 0.01);
            }
            blm_free(f);
        }
    }
    free(bytes);
    free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classic_with_few_keys),
        cmocka_unit_test(blocked_with_few_keys),
        cmocka_unit_test(blocked_with_two_lines_and_few_keys),
        cmocka_unit_test(blocked_with_three_lines_and_few_keys),
        cmocka_unit_test(counting_with_few_keys),
        cmocka_unit_test(scalable_after_growth),
        cmocka_unit_test(a_million),
        cmocka_unit_test(patterns_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
