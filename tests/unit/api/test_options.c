/* SPDX-License-Identifier: MIT */
/* What options may say, what bad ones hear, and the other ways to say how large a filter is. */
#include <math.h>

#include "api/filter.h"
#include "unit/support.h"

/* ---- options ---- */

static void bad_options_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        blm_kind    kind;
        uint64_t    items;
        double      rate;
        uint64_t    bits;
        uint32_t    probes;
        uint64_t    memory;
        blm_status  want;
    } rows[] = {
        { "nothing said", BLM_CLASSIC, 0, 0, 0, 0, 0, BLM_E_ARGUMENT },
        { "n = 0", BLM_CLASSIC, 0, 0.01, 0, 0, 0, BLM_E_ARGUMENT },
        { "n = 0, blocked", BLM_BLOCKED, 0, 0.01, 0, 0, 0, BLM_E_ARGUMENT },
        { "n = 0, counting", BLM_COUNTING, 0, 0.01, 0, 0, 0, BLM_E_ARGUMENT },
        { "p = 0", BLM_CLASSIC, 100, 0, 0, 0, 0, BLM_E_ARGUMENT },
        { "p < 0", BLM_CLASSIC, 100, -0.1, 0, 0, 0, BLM_E_ARGUMENT },
        { "p = 1", BLM_CLASSIC, 100, 1, 0, 0, 0, BLM_E_ARGUMENT },
        { "p > 1", BLM_BLOCKED, 100, 1.5, 0, 0, 0, BLM_E_ARGUMENT },
        { "p NaN", BLM_CLASSIC, 100, NAN, 0, 0, 0, BLM_E_ARGUMENT },
        { "p NaN, blocked", BLM_BLOCKED, 100, NAN, 0, 0, 0, BLM_E_ARGUMENT },
        { "p NaN, counting", BLM_COUNTING, 100, NAN, 0, 0, 0, BLM_E_ARGUMENT },
        { "p NaN, scalable", BLM_SCALABLE, 100, NAN, 0, 0, 0, BLM_E_ARGUMENT },
        { "p infinite", BLM_CLASSIC, 100, INFINITY, 0, 0, 0, BLM_E_ARGUMENT },
        { "p = 0, scalable", BLM_SCALABLE, 100, 0, 0, 0, 0, BLM_E_ARGUMENT },
        { "p = 1, scalable", BLM_SCALABLE, 100, 1, 0, 0, 0, BLM_E_ARGUMENT },
        { "k past the most", BLM_CLASSIC, 0, 0, 1000, 5000, 0, BLM_E_ARGUMENT },
        { "k past three lines'", BLM_BLOCKED, 0, 0, 51200, 25, 0, BLM_E_ARGUMENT },
        { "k no lines share", BLM_BLOCKED, 0, 0, 51200, 11, 0, BLM_E_ARGUMENT },
        { "m past 2^48", BLM_CLASSIC, 0, 0, ((uint64_t)1 << 48) + 1, 5, 0, BLM_E_LIMIT },
        { "m = 2^64 - 1", BLM_CLASSIC, 0, 0, UINT64_MAX, 5, 0, BLM_E_LIMIT },
        { "m = 2^64 - 1, blocked", BLM_BLOCKED, 0, 0, UINT64_MAX, 5, 0, BLM_E_LIMIT },
        { "m = 2^63, counting", BLM_COUNTING, 0, 0, (uint64_t)1 << 63, 5, 0, BLM_E_LIMIT },
        { "n = 2^64 - 1", BLM_CLASSIC, UINT64_MAX, 0.01, 0, 0, 0, BLM_E_LIMIT },
        { "n = 2^64 - 1, blocked", BLM_BLOCKED, UINT64_MAX, 0.01, 0, 0, 0, BLM_E_LIMIT },
        { "n = 2^64 - 1, scalable", BLM_SCALABLE, UINT64_MAX, 0.01, 0, 0, 0, BLM_E_LIMIT },
        { "does not fit", BLM_CLASSIC, 1000000, 1e-6, 0, 0, 1000, BLM_E_LIMIT },
        { "does not fit, blocked", BLM_BLOCKED, 1000000, 1e-6, 0, 0, 1000, BLM_E_LIMIT },
        { "scalable with bits", BLM_SCALABLE, 100, 0.01, 1000, 0, 0, BLM_E_ARGUMENT },
        { "scalable with memory", BLM_SCALABLE, 100, 0.01, 0, 0, 1000, BLM_E_ARGUMENT },
        { "no such kind", (blm_kind)17, 100, 0.01, 0, 0, 0, BLM_E_ARGUMENT },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f = (blm_filter *)&o;
        blm_error   e = { .status = BLM_OK };
        o.kind        = rows[i].kind;
        o.items       = rows[i].items;
        o.rate        = rows[i].rate;
        o.bits        = rows[i].bits;
        o.probes      = rows[i].probes;
        o.memory      = rows[i].memory;
        blm_status st = blm_create(&o, &f, &e);
        if (st != rows[i].want || e.status != st || strlen(e.text) < 10)
            fail_msg("%s: %s (in err %s: \"%s\")", rows[i].what, blm_status_name(st),
                     blm_status_name(e.status), e.text);
        assert_null(f); /* a failed create leaves no handle behind */
        assert_status(blm_create(&o, &f, NULL), rows[i].want); /* err may be NULL */
    }
}

static void missing_arguments_are_named(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.items = 100;
    o.rate  = 0.01;
    assert_status(blm_create(NULL, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "NULL");
    assert_status(blm_create(&o, NULL, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "out");
    o.size = 0;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "BLM_OPTIONS_INIT");
    o.size  = sizeof o;
    o.flags = 0x80000000u;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "flags");
    o.flags  = 0;
    o.scheme = "no such scheme";
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "no such scheme");
    o.scheme = NULL;
    o.funnel = "wide";
    assert_status(blm_create(&o, &f, &e), BLM_E_FUNNEL);
    check_error(&e, BLM_E_FUNNEL, "wide");
    o.funnel = NULL;
    o.scheme = "native";
    blm_free(make(&o));
    blm_free(NULL);
    assert_status(blm_close(NULL, NULL), BLM_OK);
}

static void caps_are_kept(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_options o = flavour_options(v, 1000, 0.01, 1);
        blm_filter *f = make(&o);
        blm_error   e;
        o.max_bytes = params_of(f).bytes;
        blm_free(f);
        f = make(&o); /* just fits */
        blm_free(f);
        o.max_bytes--;
        assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
        check_error(&e, BLM_E_LIMIT, "bytes");
    }
}

/* A program compiled against an older header passes a shorter struct: the rest is default. One
 * compiled against a newer one may pass more, as long as it does not use it. */
static void options_may_be_older_or_newer(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.items     = 1000;
    o.rate      = 0.01;
    o.flags     = BLM_SEEDED;
    o.hash      = (blm_hash)55; /* beyond the size given: must not be read */
    o.max_bytes = 1;
    o.size      = offsetof(blm_options, like);
    assert_status(blm_create(&o, &f, &e), BLM_OK);
    assert_string_equal(params_of(f).hash, "xxh3");
    blm_free(f);

    struct {
        blm_options o;
        uint64_t    later[4];
    } n       = { .o = BLM_OPTIONS_INIT };
    n.o.items = 1000;
    n.o.rate  = 0.01;
    n.o.size  = sizeof n;
    assert_status(blm_create(&n.o, &f, &e), BLM_OK);
    blm_free(f);
    n.later[3] = 1;
    assert_status(blm_create(&n.o, &f, &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, BLM_VERSION);
}

static void shared_is_refused_where_it_cannot_be(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.kind  = BLM_SCALABLE;
    o.rate  = 0.01;
    o.flags = BLM_SHARED;
    assert_status(blm_create(&o, &f, &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "scalable");
}

static void only_some_kinds_remove(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f   = make_flavour(v, 100, 0.01, 1);
        bool        can = v->kind == BLM_COUNTING || v->kind == BLM_CUCKOO;
        blm_add(f, "a", 1);
        assert_status(blm_remove(f, "a", 1), can ? BLM_OK : BLM_E_UNSUPPORTED);
        assert_int_equal(blm_check(f, "a", 1), !can);
        blm_free(f);
    }
}

/* ---- the two other ways to say how large ---- */

static void bits_and_probes_are_taken_as_given(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 12345;
    o.probes      = 5;
    for (int counting = 0; counting < 2; counting++) {
        o.kind        = counting ? BLM_COUNTING : BLM_CLASSIC;
        blm_filter *f = make(&o);
        blm_params  p = params_of(f);
        assert_true(p.bits == (counting ? 12416u : 12345u) && p.probes == 5);
        assert_true(p.lines == (counting ? 1u : 0u));       /* counters come in lines of 128 */
        assert_true(p.bytes == (counting ? 6208u : 1544u)); /* whole words */
        blm_free(f);
    }
    o.kind        = BLM_BLOCKED;
    o.bits        = 512 * 9;
    o.probes      = 12;
    o.lines       = 2;
    blm_filter *f = make(&o);
    blm_params  p = params_of(f);
    assert_true(p.bits == 512 * 9 && p.probes == 12 && p.lines == 2);
    blm_free(f);
}

/* The kind of a filter that was told none: the fast one; but classic, which has them exactly, where
 * bits and probes are both given. */
static void a_kind_is_chosen_for_those_who_name_none(void **state)
{
    (void)state;
    static const struct {
        uint64_t items, bits, memory;
        uint32_t probes, lines;
        double   rate;
        blm_kind want;
    } rows[] = {
        { 1000, 0, 0, 0, 0, 0.01, BLM_BLOCKED },  { 1000, 0, 0, 0, 0, 1e-6, BLM_BLOCKED },
        { 1000, 0, 4000, 0, 0, 0, BLM_BLOCKED },  { 1000, 0, 0, 0, 2, 0.01, BLM_BLOCKED },
        { 1000, 12345, 0, 0, 0, 0, BLM_BLOCKED }, { 0, 12345, 0, 5, 0, 0, BLM_CLASSIC },
        { 0, 512 * 9, 0, 12, 2, 0, BLM_BLOCKED },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.items       = rows[i].items;
        o.bits        = rows[i].bits;
        o.memory      = rows[i].memory;
        o.probes      = rows[i].probes;
        o.lines       = rows[i].lines;
        o.rate        = rows[i].rate;
        blm_filter *f = make(&o);
        if (params_of(f).kind != rows[i].want)
            fail_msg("row %zu: %s, not %s", i, blm_kind_name(params_of(f).kind),
                     blm_kind_name(rows[i].want));
        if (rows[i].want == BLM_CLASSIC)
            assert_true(params_of(f).bits == rows[i].bits && params_of(f).probes == rows[i].probes);
        blm_free(f);
    }
}

static void memory_is_not_exceeded(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = kinds[i];
        o.items       = 10000;
        o.memory      = 20000;
        blm_filter *f = make(&o);
        blm_params  p = params_of(f);
        assert_true(p.bytes <= 20000 && p.bytes > 19900);
        assert_true(p.rate > 0 && p.rate < 1);
        blm_free(f);
    }
}

/* Of any number of bytes, or that is refused. */
static void no_byte_more_than_memory(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING, BLM_WINDOW,
                                      BLM_CUCKOO };
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (uint64_t bytes = 1; bytes < 400; bytes++)
            for (uint64_t items = 0; items < 20; items += 10) {
                blm_options o = BLM_OPTIONS_INIT;
                blm_plan    p = { .size = sizeof p };
                blm_filter *f = NULL;
                o.kind        = kinds[i];
                o.items       = items;
                o.rate        = items ? 0 : 0.01;
                o.memory      = bytes;
                blm_status st = blm_create(&o, &f, NULL);
                if (st == BLM_OK)
                    assert_true(params_of(f).bytes <= bytes);
                else
                    assert_status(st, BLM_E_LIMIT);
                assert_true(kinds[i] != BLM_CLASSIC || (st == BLM_OK) == (bytes >= 8));
                if (blm_plan_for(&o, &p, NULL) == BLM_OK)
                    assert_true(p.bytes <= bytes || !p.fits);
                blm_free(f);
            }
}

/* Both together: the bits must fit. */
static void bits_do_not_pass_memory(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING, BLM_WINDOW,
                                      BLM_CUCKOO };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_error   e = { .status = BLM_OK };
        blm_filter *f;
        o.kind   = kinds[i];
        o.rate   = 0.01;
        o.bits   = 80000;
        o.memory = 1000;
        assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
        o.memory = 1000000;
        blm_free(make(&o));
    }
}

/* However small: never one that was not asked for. */
static void a_tiny_rate_is_no_other_rate(void **state)
{
    (void)state;
    static const double rates[] = { 5e-324, 1e-310, 3e-308, 1e-300 };
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (int way = 0; way < 3; way++) {
            blm_options o = BLM_OPTIONS_INIT;
            blm_error   e = { .status = BLM_OK };
            blm_filter *f;
            o.kind   = BLM_WINDOW;
            o.rate   = rates[i];
            o.items  = way != 1 ? 1000 : 0;
            o.memory = way > 0 ? 1000000 : 0;
            assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
        }
}

static uint64_t some_hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    (void)ctx, (void)key;
    return len * seed[0];
}

/* ---- like another ---- */

static void like_copies_everything_but_the_keys(void **state)
{
    (void)state;
    struct key_set s = key_set_make(8, 400);
    EACH_FLAVOUR(v)
    {
        blm_filter *a = make_flavour(v, 300, 0.01, 21), *b = NULL;
        blm_options o = BLM_OPTIONS_INIT;
        for (size_t i = 0; i < s.count; i++)
            blm_add(a, s.keys[i].data, s.keys[i].len);
        o.like       = a;
        o.flags      = v->flags;
        b            = make(&o);
        blm_params x = params_of(a), y = params_of(b);
        assert_true(y.items == 0 && stats_of(b).ones == 0);
        assert_true(x.kind == y.kind && x.lines == y.lines && x.seed[0] == y.seed[0]);
        assert_int_equal(x.seed_policy, y.seed_policy);
        assert_true(x.growth == y.growth && x.tightening == y.tightening);
        assert_true(fabs(x.rate - y.rate) < 1e-15 && x.rate_cap == y.rate_cap);
        assert_true(y.shared == ((v->flags & BLM_SHARED) != 0));
        for (size_t i = 0; i < s.count; i++)
            blm_add(b, s.keys[i].data, s.keys[i].len);
        assert_true(same_bits(a, b));
        assert_true(blm_equal(a, b));
        blm_free(a);
        blm_free(b);
    }
    key_set_free(&s);
}

static void like_and_a_size_is_a_contradiction(void **state)
{
    (void)state;
    blm_filter *a = make_flavour(&flavours[0], 300, 0.01, 21), *b;
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e;
    for (int which = 0; which < 6; which++) {
        blm_options p = o;
        p.like        = a;
        p.items       = which == 0 ? 5 : 0;
        p.rate        = which == 1 ? 0.01 : which == 2 ? NAN : 0;
        p.bits        = which == 3 ? 1000 : 0;
        p.probes      = which == 4 ? 3 : 0;
        p.memory      = which == 5 ? 1000 : 0;
        assert_status(blm_create(&p, &b, &e), BLM_E_ARGUMENT);
        check_error(&e, BLM_E_ARGUMENT, "like");
    }
    blm_free(a);
}

/* Each choice by itself: another one than the filter's is refused by name, the same one is not. */
static void like_and_another_choice_is_a_contradiction(void **state)
{
    (void)state;
    blm_options of = BLM_OPTIONS_INIT;
    of.items       = 1000;
    of.rate        = 0.01;
    of.flags       = BLM_SEEDED;
    of.seed[0]     = 5;
    of.seed[1]     = 6;
    of.lines       = 1;
    blm_filter *a  = make(&of), *b;
    struct choice {
        const char *word;
        blm_options same, other;
    } said[] = {
        { "kind", { .kind = BLM_BLOCKED }, { .kind = BLM_CUCKOO } },
        { "scheme", { .scheme = "native" }, { .scheme = "go" } },
        { "scheme", { .scheme = "native" }, { .scheme = "no such" } },
        { "version", { .version = 2 }, { .version = 1 } },
        { "hash", { .hash = BLM_HASH_XXH3 }, { .hash = BLM_HASH_SIPHASH } },
        { "hash's name", { .hash_name = "xxh3" }, { .hash_name = "mine" } },
        { "seed",
          { .flags = BLM_SEEDED, .seed = { 5, 6 } },
          { .flags = BLM_SEEDED, .seed = { 5, 7 } } },
        { "seed", { .seed = { 9 } }, { .flags = BLM_SEEDED, .seed = { 4, 6 } } },
        { "variant", { .variant = 0 }, { .variant = 3 } },
        { "funnel", { .funnel = NULL }, { .funnel = "string" } },
        { "lines", { .lines = 1 }, { .lines = 2 } },
        { "growth", { .growth = 0 }, { .growth = 2 } },
        { "tightening", { .tightening = 0 }, { .tightening = NAN } },
        { "rate cap", { .rate_cap = 0 }, { .rate_cap = 0.5 } },
        { "layers", { .layer_classic = false }, { .layer_classic = true } },
        { "window", { .window_ms = 0 }, { .window_ms = 1000 } },
        { "slack", { .slack = 0 }, { .slack = 0.5 } },
    };
    for (size_t i = 0; i < COUNT_OF(said); i++) {
        blm_error e       = { .status = BLM_OK };
        blm_plan  p       = { .size = sizeof p };
        said[i].same.size = said[i].other.size = sizeof(blm_options);
        said[i].same.like = said[i].other.like = a;
        assert_status(blm_create(&said[i].other, &b, &e), BLM_E_ARGUMENT);
        check_error(&e, BLM_E_ARGUMENT, said[i].word);
        assert_non_null(strstr(e.text, "options.like"));
        assert_true(blm_plan_for(&said[i].other, &p, NULL) < 0);
        b = make(&said[i].same);
        assert_true(blm_equal(a, b));
        blm_free(b);
    }
    blm_free(a);
}

static void like_a_window(void **state)
{
    (void)state;
    static const struct {
        uint64_t ms;
        double   slack;
        bool     agrees;
    } rows[]      = { { 7000, 0, true },  { 0, 0.15, true },    { 7000, 0.5, true },
                      { 7001, 0, false }, { 7000, 0.1, false }, { 0, NAN, false } };
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_WINDOW;
    o.items       = 100;
    o.rate        = 0.01;
    o.window_ms   = 7000;
    blm_filter *a = make(&o), *b;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options like = BLM_OPTIONS_INIT;
        blm_error   e    = { .status = BLM_OK };
        like.like        = a;
        like.window_ms   = rows[i].ms;
        like.slack       = rows[i].slack;
        if (rows[i].agrees) {
            b = make(&like);
            assert_true(blm_equal(a, b));
            blm_free(b);
        } else {
            assert_status(blm_create(&like, &b, &e), BLM_E_ARGUMENT);
            check_error(&e, BLM_E_ARGUMENT, rows[i].ms == 7001 ? "window" : "slack");
        }
    }
    blm_free(a);
}

static void like_takes_what_params_tell(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *a = make_flavour(v, 300, 0.01, 21), *b;
        blm_params  p = params_of(a);
        blm_options o = BLM_OPTIONS_INIT;
        o.like        = a;
        o.kind        = p.kind;
        o.scheme      = p.scheme;
        o.version     = p.scheme_version;
        o.hash_name   = p.hash;
        o.lines       = p.lines;
        o.growth      = p.growth;
        o.tightening  = p.tightening;
        o.rate_cap    = p.rate_cap;
        o.flags       = BLM_SEEDED;
        memcpy(o.seed, p.seed, sizeof o.seed);
        b = make(&o);
        assert_true(blm_equal(a, b));
        blm_free(a);
        blm_free(b);
    }
}

/* Digests tell filters apart by the hash's name. */
static void a_custom_hash_has_a_name_of_its_own(void **state)
{
    (void)state;
    static const char *const taken[] = { "xxh3", "siphash" };
    blm_options              o       = BLM_OPTIONS_INIT;
    blm_filter              *f;
    o.items   = 100;
    o.rate    = 0.01;
    o.hash    = BLM_HASH_CUSTOM;
    o.hash_fn = some_hash;
    for (size_t i = 0; i < COUNT_OF(taken); i++) {
        blm_error e = { .status = BLM_OK };
        o.hash_name = taken[i];
        assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
        check_error(&e, BLM_E_ARGUMENT, taken[i]);
    }
    o.hash_name = "xxh3b";
    blm_free(make(&o));
}

static void a_plan_refuses_what_create_refuses(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_plan    p = { .size = sizeof p };
    blm_filter *f;
    blm_error   e;
    o.items   = 1000;
    o.rate    = 0.01;
    o.variant = 3;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    assert_status(blm_plan_for(&o, &p, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "no variants");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(missing_arguments_are_named),
        cmocka_unit_test(caps_are_kept),
        cmocka_unit_test(options_may_be_older_or_newer),
        cmocka_unit_test(shared_is_refused_where_it_cannot_be),
        cmocka_unit_test(only_some_kinds_remove),
        cmocka_unit_test(bits_and_probes_are_taken_as_given),
        cmocka_unit_test(a_kind_is_chosen_for_those_who_name_none),
        cmocka_unit_test(memory_is_not_exceeded),
        cmocka_unit_test(no_byte_more_than_memory),
        cmocka_unit_test(bits_do_not_pass_memory),
        cmocka_unit_test(a_tiny_rate_is_no_other_rate),
        cmocka_unit_test(like_copies_everything_but_the_keys),
        cmocka_unit_test(like_and_a_size_is_a_contradiction),
        cmocka_unit_test(like_and_another_choice_is_a_contradiction),
        cmocka_unit_test(like_a_window),
        cmocka_unit_test(like_takes_what_params_tell),
        cmocka_unit_test(a_custom_hash_has_a_name_of_its_own),
        cmocka_unit_test(a_plan_refuses_what_create_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
