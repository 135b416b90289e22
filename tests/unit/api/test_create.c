/* SPDX-License-Identifier: MIT */
/*
 * What can be created can be kept. Options of every scheme and kind, with odd numbers in them: either
 * they are refused by name, or the filter takes no more memory than was given, can be encoded and
 * decoded, closed and opened, and answers the same.
 */
#include <math.h>

#include "bloomery/maths.h"
#include "unit/files.h"
#include "unit/support.h"

#define MOST_BYTES 16384u /* of a filter, so that thousands take no time */
#define ADDED      40u
#define ASKED      80u

static uint64_t noon(void *ctx)
{
    (void)ctx;
    return 1700000000000;
}

static uint64_t probe(void *ctx, uint32_t i, const void *key, size_t len)
{
    uint64_t       h = (i + 1) * 0x9e3779b97f4a7c15u + len;
    const uint8_t *p = key;
    (void)ctx;
    for (size_t j = 0; j < len; j++)
        h = (h ^ p[j]) * 0x100000001b3u;
    return h ^ h >> 29;
}

static uint64_t hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    return probe(ctx, (uint32_t)seed[0], key, len);
}

/* ---- odd options ---- */

static const uint64_t counts[] = { 0,
                                   1,
                                   2,
                                   3,
                                   5,
                                   7,
                                   8,
                                   9,
                                   15,
                                   40,
                                   63,
                                   64,
                                   65,
                                   100,
                                   255,
                                   256,
                                   512,
                                   777,
                                   1000,
                                   2048,
                                   4096,
                                   16383,
                                   65535,
                                   100000,
                                   100000000,
                                   ((uint64_t)1 << 31) - 1,
                                   UINT32_MAX,
                                   (uint64_t)1 << 32,
                                   (uint64_t)1 << 40,
                                   (uint64_t)1 << 48,
                                   1000000000000000000,
                                   (uint64_t)1 << 63,
                                   UINT64_MAX };
static const double   shares[] = { 0,
                                   -0.0,
                                   5e-324,
                                   1e-300,
                                   1e-19,
                                   1e-12,
                                   1e-6,
                                   1e-3,
                                   0.01,
                                   0.02,
                                   0.1,
                                   0.25,
                                   0.3,
                                   0.5,
                                   0.85,
                                   0.9999999,
                                   0x1.fffffffffffffp-1,
                                   1,
                                   1.5,
                                   2,
                                   4,
                                   15.9,
                                   1024,
                                   32768,
                                   1e18,
                                   1e308,
                                   -1,
                                   (double)INFINITY,
                                   (double)NAN };

static uint64_t count(struct rng *r) { return counts[rng_below(r, COUNT_OF(counts))]; }
static double   share(struct rng *r) { return shares[rng_below(r, COUNT_OF(shares))]; }
static uint64_t below(struct rng *r, uint64_t most) /* small ones are worth most tries */
{
    return rng_below(r, 4) ? rng_below(r, most) + 1 : count(r);
}
static bool now_and_then(struct rng *r) { return rng_below(r, 8) == 0; }

static void choose_size(struct rng *r, blm_options *o)
{
    unsigned which = (unsigned)rng_below(r, 6);
    if (which == 0 || which == 1 || which == 2 || which == 5)
        o->items = below(r, 300);
    if (which == 0 || which == 3)
        o->rate = rng_below(r, 3) ? 0.5 / (double)(1 + rng_below(r, 1000)) : share(r);
    if (which == 1 || which == 3)
        o->memory = below(r, 200);
    if (which == 2 || which == 4)
        o->bits = below(r, 5000);
    if (which == 4 || now_and_then(r))
        o->probes = (uint32_t)below(r, 12);
    if (which == 5) { /* any of them */
        o->rate   = share(r);
        o->memory = count(r);
        o->bits   = rng_below(r, 2) ? count(r) : 0;
    }
}

static blm_options choose(struct rng *r, const blm_scheme_row *s)
{
    blm_options o       = BLM_OPTIONS_INIT;
    size_t      funnels = 0;
    choose_size(r, &o);
    o.scheme    = s->name;
    o.kind      = (blm_kind)rng_below(r, 9);
    o.max_bytes = MOST_BYTES;
    o.clock     = noon;
    if (!(s->kinds >> o.kind & 1) && !now_and_then(r))
        o.kind = BLM_ANY_KIND;
    if (s->by_caller || now_and_then(r)) {
        o.probe_fn  = probe;
        o.hash_name = "ours";
    }
    if (now_and_then(r)) {
        o.hash      = (blm_hash)rng_below(r, 3);
        o.hash_fn   = hash;
        o.hash_name = "ours";
    }
    if (now_and_then(r)) {
        o.flags |= BLM_SEEDED;
        o.seed[0] = count(r);
        o.seed[1] = now_and_then(r) ? count(r) : 0;
    }
    if (now_and_then(r))
        o.flags |= BLM_SHARED;
    if (now_and_then(r))
        o.lines = (uint32_t)rng_below(r, 7);
    if (rng_below(r, 4) == 0)
        o.growth = share(r);
    if (now_and_then(r))
        o.tightening = share(r);
    if (now_and_then(r))
        o.rate_cap = share(r);
    if (now_and_then(r))
        o.layer_classic = true;
    if (now_and_then(r))
        o.variant = count(r);
    if (now_and_then(r))
        o.version = (uint32_t)rng_below(r, 4);
    if (rng_below(r, 2))
        o.window_ms = count(r);
    if (now_and_then(r))
        o.slack = share(r);
    while (s->funnels && s->funnels[funnels])
        funnels++;
    if (funnels && rng_below(r, 2))
        o.funnel = s->funnels[rng_below(r, funnels)];
    return o;
}

/* ---- what is made of them ---- */

static void say(const blm_options *o, const char *what, const char *text)
{
    fail_msg("%s: %s: scheme %s kind %d items %llu rate %.17g memory %llu bits %llu probes %u "
             "lines %u growth %g tightening %g rate_cap %g variant %llu window_ms %llu slack %g "
             "version %u hash %d flags %x",
             what, text, o->scheme, (int)o->kind, (unsigned long long)o->items, o->rate,
             (unsigned long long)o->memory, (unsigned long long)o->bits, (unsigned)o->probes,
             (unsigned)o->lines, o->growth, o->tightening, o->rate_cap,
             (unsigned long long)o->variant, (unsigned long long)o->window_ms, o->slack,
             (unsigned)o->version, (int)o->hash, o->flags);
}

static bool refused_by_name(const blm_options *o, blm_status st, const blm_error *e)
{
    bool named = st == BLM_E_ARGUMENT || st == BLM_E_LIMIT || st == BLM_E_UNSUPPORTED ||
                 st == BLM_E_FULL; /* RedisBloom's first layer has half the rate: it may be 0 */
    if (st == BLM_OK)
        return false;
    if (!named || e->status != st || !e->text[0])
        say(o, blm_status_name(st), e->text);
    return true;
}

static blm_options to_read(const blm_options *o, const char *format)
{
    blm_options r = BLM_OPTIONS_INIT;
    r.format      = format;
    r.probe_fn    = o->probe_fn;
    r.hash_fn     = o->hash_fn;
    r.hash_name   = o->hash_name;
    r.funnel      = o->funnel;
    r.clock       = o->clock;
    r.flags       = BLM_VERIFY;
    return r;
}

static void fill(const blm_options *o, blm_filter *f, uint8_t *had)
{
    for (uint64_t key = 0; key < ADDED; key++) {
        blm_status st = blm_add(f, &key, 8);
        if (st < 0 && st != BLM_E_FULL && st != BLM_E_LIMIT)
            say(o, "add", blm_status_name(st));
    }
    for (uint64_t key = 0; key < ASKED; key++)
        had[key] = blm_check(f, &key, 8);
}

static void answers(const blm_options *o, const char *how, const blm_filter *f, const uint8_t *had)
{
    for (uint64_t key = 0; key < ASKED; key++)
        if (blm_check(f, &key, 8) != had[key])
            say(o, how, "answers otherwise");
}

static void through_bytes(const blm_options *o, const blm_filter *f, const char *format,
                          const uint8_t *had)
{
    struct bytes b    = { 0 };
    blm_error    e    = { .status = BLM_OK };
    blm_options  read = to_read(o, format);
    blm_filter  *back = NULL;
    blm_status   st   = blm_encode(f, format, bytes_add, &b, &e);
    bool         same = strcmp(format, "native") == 0;
    if (st != BLM_OK && (same || (st != BLM_E_UNSUPPORTED && st != BLM_E_LIMIT)))
        say(o, "encode", e.text);
    if (st == BLM_OK) {
        if (blm_decode(b.p, b.len, &read, &back, &e) != BLM_OK)
            say(o, "decode", e.text);
        answers(o, format, back, had);
        if (same && !blm_equal(f, back))
            say(o, format, "is not equal");
        blm_free(back);
    }
    free(b.p);
}

static void through_a_file(const blm_options *o)
{
    blm_error   e    = { .status = BLM_OK };
    blm_options file = *o, read = to_read(o, NULL);
    blm_filter *f = NULL;
    uint8_t     had[ASKED];
    file.flags |= BLM_REPLACE;
    if (refused_by_name(o, blm_create_file(at("a.blm"), &file, &f, &e), &e))
        return; /* one that grows has a larger first layer there */
    fill(o, f, had);
    if (blm_close(f, &e) != BLM_OK)
        say(o, "close", e.text);
    if (blm_open(at("a.blm"), &read, &f, &e) != BLM_OK)
        say(o, "open", e.text);
    answers(o, "file", f, had);
    blm_free(f);
}

/* A filter was made of these. */
static bool try_one(const blm_options *o, bool file)
{
    blm_error   e = { .status = BLM_OK };
    blm_filter *f = NULL;
    uint8_t     had[ASKED];
    if (refused_by_name(o, blm_create(o, &f, &e), &e))
        return false;
    blm_params p = params_of(f);
    if ((o->max_bytes && p.bytes > o->max_bytes) || (o->memory && p.bytes > o->memory))
        say(o, "create", "takes more than the memory given");
    if (!(p.rate >= 0 && p.rate < 1))
        say(o, "create", "promises no rate between 0 and 1");
    fill(o, f, had);
    through_bytes(o, f, "native", had);
    const blm_format_row *own = blm_format_find(p.format);
    if (own->reads && own->writes && own->sniffs && !own->maps)
        through_bytes(o, f, own->name, had);
    blm_free(f);
    if (file)
        through_a_file(o);
    return true;
}

static void what_can_be_created_can_be_kept(void **state)
{
    (void)state;
    struct rng r    = { 20261118 };
    unsigned   many = slow_tests() ? 5000 : 1000;
    for (size_t i = 0; blm_scheme_at(i); i++) {
        const blm_scheme_row *s     = blm_scheme_at(i);
        unsigned              tries = strcmp(s->name, "native") == 0 ? 8 * many : many, made = 0;
        if (!s->creates || s->means)
            continue;
        for (unsigned n = 0; n < tries; n++) {
            blm_options o = choose(&r, s);
            made += try_one(&o, n % 4 == 0);
        }
        if (made < tries / 50)
            fail_msg("of %u options of scheme %s only %u made a filter", tries, s->name, made);
    }
}

/* ---- by name ---- */

static const struct {
    blm_kind    kind;
    const char *scheme;
    uint64_t    items, bits, memory;
    uint32_t    probes;
} useless[] = {
    { BLM_CLASSIC, NULL, 100000000, 0, 4096, 0 },
    { BLM_BLOCKED, NULL, 100000000, 0, 4096, 0 },
    { BLM_COUNTING, NULL, 100000000, 0, 4096, 0 },
    { BLM_WINDOW, NULL, 100000000, 0, 4096, 0 },
    { BLM_ANY_KIND, NULL, 2147483647, 0, 64, 0 },
    { BLM_CLASSIC, NULL, 10, 64, 0, 2048 },
    { BLM_ANY_KIND, "guava64", 1000000000, 0, 64, 3 },
    { BLM_ANY_KIND, "dcso", 9223372036854775807, 64, 0, 65 },
    { BLM_ANY_KIND, "bip37", 1000000000, 0, 64, 3 },
    { BLM_ANY_KIND, "parquet", 1000000000, 0, 64, 0 },
};

/* A plan says what would be; nothing is made that answers maybe to all keys that it is for. */
static void what_says_nothing_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(useless); i++) {
        blm_options o    = BLM_OPTIONS_INIT;
        blm_plan    plan = { .size = sizeof plan };
        blm_filter *f;
        blm_error   e;
        o.kind   = useless[i].kind;
        o.scheme = useless[i].scheme;
        o.items  = useless[i].items;
        o.bits   = useless[i].bits;
        o.memory = useless[i].memory;
        o.probes = useless[i].probes;
        assert_status(blm_plan_for(&o, &plan, NULL), BLM_OK);
        assert_true(plan.rate > 0.999999 && plan.items == o.items);
        assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
        check_error(&e, BLM_E_LIMIT, "answers maybe to everything; give it more memory");
        assert_status(blm_create_file(at("u.blm"), &o, &f, &e), BLM_E_LIMIT);
        assert_int_equal(scratch_count(), 0);
    }
}

/* Who gives only a shape gets it. Of one bit nothing can be promised. */
static void a_shape_of_one_bit_promises_nothing(void **state)
{
    (void)state;
    static const char *const schemes[] = { "native", "go", "dcso" };
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.scheme      = schemes[i];
        o.bits        = i ? 8 : 1;
        o.probes      = i ? 1000 : 5;
        o.flags       = BLM_REPLACE;
        o.clock       = noon;
        blm_filter *f = make(&o);
        blm_params  p = params_of(f);
        assert_true(p.rate == 0 && p.capacity == 1 && p.bits == o.bits && p.probes == o.probes);
        assert_false(blm_check(f, "a", 1));
        blm_free(f);
        assert_true(try_one(&o, true));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(what_can_be_created_can_be_kept),
        file_test(what_says_nothing_is_refused),
        file_test(a_shape_of_one_bit_promises_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
