/* SPDX-License-Identifier: MIT */
/* Making filters and asking them one key at a time: the laws every kind keeps, in every flavour,
 * and what bad input hears. */
#include <math.h>

#include "filter.h"
#include "unit/support.h"

/* ---- the law ---- */

/* Random keys of length 0 … 300, binary: every one added is answered maybe, at once and at the
 * end; OK and PRESENT tell the truth, which the bits decide. */
static void added_keys_are_never_denied(void **state)
{
    (void)state;
    struct key_set s = key_set_make(1, 2000);
    EACH_FLAVOUR (v) {
        blm_filter *f = make_flavour(v, s.count, 0.01, 42);
        uint64_t    fresh = 0;
        for (size_t i = 0; i < s.count; i++) {
            bool       before = blm_check(f, s.keys[i].data, s.keys[i].len);
            blm_status st     = blm_add(f, s.keys[i].data, s.keys[i].len);
            if (st != (before ? BLM_PRESENT : BLM_OK))
                fail_msg("%s: key %zu: check said %d, add %s", v->name, i, before,
                         blm_status_name(st));
            fresh += st == BLM_OK;
            assert_true(blm_check(f, s.keys[i].data, s.keys[i].len));
        }
        for (size_t i = 0; i < s.count; i++) {
            if (!blm_check(f, s.keys[i].data, s.keys[i].len))
                fail_msg("%s: key %zu of %zu is denied", v->name, i, s.count);
            assert_status(blm_add(f, s.keys[i].data, s.keys[i].len), BLM_PRESENT);
        }
        /* At 1% a key is taken for an old one once in some hundred; 2 000 keys, 60 is +9σ. */
        assert_in_range(fresh, s.count - 60, s.count);
        uint64_t items = params_of(f).items;
        assert_true(items == (v->kind == BLM_COUNTING ? 2 * s.count : fresh));
        blm_free(f);
    }
    key_set_free(&s);
}

static void an_empty_filter_denies_everything(void **state)
{
    (void)state;
    struct key_set s = key_set_make(2, 500);
    EACH_FLAVOUR (v) {
        blm_filter *f = make_flavour(v, 100, 0.3, 42);
        for (size_t i = 0; i < s.count; i++)
            assert_false(blm_check(f, s.keys[i].data, s.keys[i].len));
        blm_free(f);
    }
    key_set_free(&s);
}

/* The empty key is a key, with or without an address; one NUL byte is another, and "a" is not
 * "a\0". */
static void the_empty_key_is_a_key(void **state)
{
    (void)state;
    EACH_FLAVOUR (v) {
        blm_filter *f = make_flavour(v, 1000, 1e-6, 7);
        assert_false(blm_check(f, NULL, 0));
        assert_status(blm_add(f, NULL, 0), BLM_OK);
        assert_true(blm_check(f, NULL, 0));
        assert_true(blm_check(f, "", 0));
        assert_status(blm_add(f, "", 0), BLM_PRESENT);
        assert_false(blm_check(f, "", 1));
        assert_status(blm_add(f, "a", 1), BLM_OK);
        assert_false(blm_check(f, "a", 2));
        assert_status(blm_add(f, "\xff\xfe\x80", 3), BLM_OK);
        assert_true(blm_check(f, "\xff\xfe\x80", 3));
        assert_false(blm_check(f, "\x7f\x7e\x00", 3));
        blm_free(f);
    }
}

/* NULL with a length is no key: adding it fails, asking cannot know, nothing changes. */
static void null_with_a_length_is_no_key(void **state)
{
    (void)state;
    EACH_FLAVOUR (v) {
        blm_filter *f = make_flavour(v, 1000, 0.01, 7), *empty = make_flavour(v, 1000, 0.01, 7);
        blm_digest  d;
        size_t      n = 99;
        assert_status(blm_add(f, NULL, 5), BLM_E_ARGUMENT);
        assert_true(blm_check(f, NULL, 5));
        assert_status(blm_remove(f, NULL, 5), BLM_E_ARGUMENT);
        assert_status(blm_digest_of(f, NULL, 5, &d), BLM_E_ARGUMENT);
        assert_status(blm_positions(f, NULL, 5, NULL, 0, &n), BLM_E_ARGUMENT);
        assert_true(same_bits(f, empty));
        assert_true(params_of(f).items == 0);
        blm_free(f);
        blm_free(empty);
    }
}

/* ---- seeds ---- */

static void filters_of_one_seed_agree_bit_for_bit(void **state)
{
    (void)state;
    struct key_set s = key_set_make(3, 300);
    EACH_FLAVOUR (v) {
        blm_filter *a = make_flavour(v, 300, 0.01, 1), *b = make_flavour(v, 300, 0.01, 1);
        blm_filter *c = make_flavour(v, 300, 0.01, 2);
        for (size_t i = 0; i < s.count; i++) {
            blm_add(a, s.keys[i].data, s.keys[i].len);
            blm_add(b, s.keys[i].data, s.keys[i].len);
            blm_add(c, s.keys[i].data, s.keys[i].len);
        }
        assert_true(same_bits(a, b));
        assert_false(same_bits(a, c)); /* a seed that does nothing is no seed */
        blm_free(a);
        blm_free(b);
        blm_free(c);
    }
    key_set_free(&s);
}

static void unseeded_filters_get_secret_seeds_of_their_own(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.items = 1000;
    o.rate  = 0.001;
    o.seed[0] = 77; /* not meant without BLM_SEEDED */
    blm_filter *a = make(&o), *b = make(&o);
    blm_params  x = params_of(a), y = params_of(b);
    assert_int_equal(x.seed_policy, BLM_SEED_RANDOM);
    assert_true(x.seed[0] != y.seed[0]);
    assert_true(x.seed[1] != y.seed[1]);
    assert_true(x.seed[0] != 77 && y.seed[0] != 77);
    blm_add(a, "k", 1);
    blm_add(b, "k", 1);
    assert_false(same_bits(a, b));
    blm_free(a);
    blm_free(b);
    o.flags = BLM_SEEDED;
    a       = make(&o);
    x       = params_of(a);
    assert_int_equal(x.seed_policy, BLM_SEED_FIXED);
    assert_true(x.seed[0] == 77 && x.seed[1] == 0);
    blm_free(a);
}

/* ---- hashes ---- */

static uint64_t odd_hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    ++*(unsigned *)ctx;
    uint64_t h = seed[0] * 31 + seed[1] + len;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * 0x9fb21c651e98df25u;
    return blm__mix64(h);
}

static void custom_hashes_are_called(void **state)
{
    (void)state;
    unsigned    calls = 0;
    blm_options o     = BLM_OPTIONS_INIT;
    o.items           = 100;
    o.rate            = 0.001;
    o.flags           = BLM_SEEDED;
    o.seed[0]         = 5;
    o.seed[1]         = 6;
    o.hash            = BLM_HASH_CUSTOM;
    o.hash_fn         = odd_hash;
    o.hash_ctx        = &calls;
    o.hash_name       = "odd";
    blm_filter *f     = make(&o);
    blm_digest  d;
    assert_status(blm_add(f, "one", 3), BLM_OK);
    assert_true(blm_check(f, "one", 3));
    assert_int_equal(calls, 2);
    assert_status(blm_digest_of(f, "one", 3, &d), BLM_OK);
    assert_true(d.w[0] == odd_hash(&calls, "one", 3, o.seed));
    assert_true(blm_check_digest(f, &d));
    assert_string_equal(params_of(f).hash, "odd");
    /* The empty key reaches the caller's function with an address it may look at. */
    assert_status(blm_add(f, NULL, 0), BLM_OK);
    blm_free(f);
}

static void custom_hashes_must_be_named(void **state)
{
    (void)state;
    unsigned    calls = 0;
    blm_options o     = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.items    = 100;
    o.rate     = 0.01;
    o.hash     = BLM_HASH_CUSTOM;
    o.hash_ctx = &calls;
    o.hash_name = "odd";
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "hash_fn");
    o.hash_fn = odd_hash;
    static const char *const bad[] = { NULL, "", "sixteen bytes ab" };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        o.hash_name = bad[i];
        assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
        check_error(&e, BLM_E_ARGUMENT, "hash_name");
        assert_null(f);
    }
    o.hash_name = "fifteen bytes a";
    blm_free(make(&o));
    o.hash = (blm_hash)9;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "hash 9");
}

static void siphash_uses_both_seed_words(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.items   = 1000;
    o.rate    = 0.01;
    o.hash    = BLM_HASH_SIPHASH;
    o.flags   = BLM_SEEDED;
    o.seed[0] = 0x0706050403020100u;
    o.seed[1] = 0x0f0e0d0c0b0a0908u;
    blm_filter *f = make(&o);
    blm_digest  d;
    uint8_t     in[15];
    for (unsigned i = 0; i < 15; i++)
        in[i] = (uint8_t)i;
    blm_digest_of(f, in, 15, &d);
    assert_true(d.w[0] == 0xa129ca6149be45e5u); /* the published one */
    assert_string_equal(params_of(f).hash, "siphash");
    o.seed[1]++;
    blm_filter *g = make(&o);
    blm_digest  e;
    blm_digest_of(g, in, 15, &e);
    assert_true(d.w[0] != e.w[0]);
    blm_free(f);
    blm_free(g);
}

/* ---- digests ---- */

static void digests_answer_as_keys_do(void **state)
{
    (void)state;
    struct key_set s = key_set_make(4, 600);
    EACH_FLAVOUR (v) {
        blm_filter *a = make_flavour(v, 300, 0.05, 9), *b = make_flavour(v, 300, 0.05, 9);
        for (size_t i = 0; i < 300; i++) {
            blm_digest d;
            assert_status(blm_digest_of(a, s.keys[i].data, s.keys[i].len, &d), BLM_OK);
            assert_true(d.tag != 0);
            blm_status x = blm_add(a, s.keys[i].data, s.keys[i].len);
            assert_int_equal(blm_add_digest(b, &d), x); /* b's own: same scheme, hash and seed */
        }
        assert_true(same_bits(a, b));
        for (size_t i = 0; i < 600; i++) {
            blm_digest d;
            blm_digest_of(b, s.keys[i].data, s.keys[i].len, &d);
            assert_int_equal(blm_check_digest(a, &d),
                             blm_check(a, s.keys[i].data, s.keys[i].len));
        }
        blm_free(a);
        blm_free(b);
    }
    key_set_free(&s);
}

static void digests_of_another_seed_are_not_understood(void **state)
{
    (void)state;
    EACH_FLAVOUR (v) {
        blm_filter *a = make_flavour(v, 300, 0.01, 1), *b = make_flavour(v, 300, 0.01, 2);
        blm_options o = flavour_options(v, 300, 0.01, 1);
        o.hash        = BLM_HASH_SIPHASH;
        blm_filter *c = make(&o);
        blm_digest  d, none = { 0 };
        blm_digest_of(a, "k", 1, &d);
        assert_status(blm_add_digest(b, &d), BLM_E_MISMATCH);
        assert_true(blm_check_digest(b, &d));
        assert_status(blm_add_digest(c, &d), BLM_E_MISMATCH);
        assert_true(blm_check_digest(c, &d));
        assert_status(blm_add_digest(a, &none), BLM_E_MISMATCH);
        assert_true(blm_check_digest(a, &none));
        assert_false(blm_check_digest(a, &d));
        assert_true(params_of(b).items == 0);
        blm_free(a);
        blm_free(b);
        blm_free(c);
    }
}

/* ---- positions ---- */

/* Positions are what add sets: a new filter's ones are exactly the distinct positions of the
 * layer that took the key, in range, and k of them a layer. */
static void positions_are_the_cells_a_key_sets(void **state)
{
    (void)state;
    struct key_set s = key_set_make(5, 40);
    EACH_FLAVOUR (v) {
        for (size_t i = 0; i < s.count; i++) {
            blm_filter *f = make_flavour(v, 1000, 1e-4, 11);
            blm_params  p = params_of(f);
            uint64_t    pos[100];
            size_t      n = 0, cell = v->kind == BLM_COUNTING ? 4 : 1;
            assert_status(blm_positions(f, s.keys[i].data, s.keys[i].len, pos, 100, &n), BLM_OK);
            assert_int_equal(n, p.probes);
            blm_add(f, s.keys[i].data, s.keys[i].len);
            const uint8_t *bytes = blm_view(f, 0, NULL);
            uint64_t       distinct = 0;
            for (size_t j = 0; j < n; j++) {
                bool seen = false;
                assert_true(pos[j] < p.bits);
                for (size_t h = 0; h < j; h++)
                    seen |= pos[h] == pos[j];
                distinct += !seen;
                assert_true(bytes[pos[j] * cell / 8] >> pos[j] * cell % 8 & (cell == 4 ? 15 : 1));
            }
            assert_true(stats_of(f).ones == distinct);
            assert_true(blm_check_positions(f, pos, n));
            blm_free(f);
        }
    }
    key_set_free(&s);
}

/* A short buffer gets the first positions; the count is what there would be. */
static void positions_respect_the_buffer(void **state)
{
    (void)state;
    EACH_FLAVOUR (v) {
        blm_filter *f = make_flavour(v, 1000, 1e-4, 11);
        uint64_t    all[100], some[3] = { 1, 2, 0xfeed };
        size_t      n = 0, m = 0;
        assert_status(blm_positions(f, "key", 3, all, 100, &n), BLM_OK);
        assert_status(blm_positions(f, "key", 3, some, 2, &m), BLM_OK);
        assert_int_equal(n, m);
        assert_true(some[0] == all[0] && some[1] == all[1] && some[2] == 0xfeed);
        m = 0;
        assert_status(blm_positions(f, "key", 3, NULL, 0, &m), BLM_OK);
        assert_int_equal(n, m);
        blm_free(f);
    }
}

static bool is_lines(const struct flavour *v)
{
    return v->kind == BLM_BLOCKED || (v->kind == BLM_SCALABLE && !v->layer_classic);
}

/* check_positions answers as check does, for keys present and absent, over all layers. */
static void checking_positions_is_checking_the_key(void **state)
{
    (void)state;
    struct key_set s = key_set_make(6, 1200);
    EACH_FLAVOUR (v) {
        blm_filter *f = make_flavour(v, 600, 0.05, 13);
        size_t      hits = 0;
        for (size_t i = 0; i < 600; i++)
            blm_add(f, s.keys[i].data, s.keys[i].len);
        for (size_t i = 0; i < s.count; i++) {
            uint64_t pos[600], raw[600];
            size_t   n = 0, r = 0;
            bool     want = blm_check(f, s.keys[i].data, s.keys[i].len);
            blm_positions(f, s.keys[i].data, s.keys[i].len, pos, 600, &n);
            assert_true(n <= 600);
            assert_int_equal(blm_check_positions(f, pos, n), want);
            blm_status st = blm_positions_raw(f, s.keys[i].data, s.keys[i].len, raw, 600, &r);
            if (is_lines(v)) {
                assert_status(st, BLM_E_UNSUPPORTED);
                continue;
            }
            assert_status(st, BLM_OK);
            assert_int_equal(r, n);
            assert_int_equal(blm_check_positions_raw(f, raw, r), want);
            hits += want;
            if (v->kind != BLM_SCALABLE)
                for (size_t j = 0; j < n; j++)
                    assert_true(blm__mulhi(raw[j], params_of(f).bits) == pos[j]);
        }
        assert_true(is_lines(v) || (hits >= 600 && hits < 800));
        blm_free(f);
    }
    key_set_free(&s);
}

/* What is no position of this filter cannot be known. */
static void positions_out_of_range_are_maybe(void **state)
{
    (void)state;
    EACH_FLAVOUR (v) {
        blm_filter *f = make_flavour(v, 1000, 0.01, 13);
        uint64_t    m = params_of(f).bits, out[] = { m, UINT64_MAX }, in[] = { m - 1 };
        uint64_t    mixed[] = { 0, m };
        assert_true(blm_check_positions(f, out, 2));
        assert_false(blm_check_positions(f, in, 1));
        assert_false(blm_check_positions(f, mixed, 2)); /* 0 is clear: that is known */
        assert_true(blm_check_positions(f, NULL, 0));
        blm_free(f);
    }
}

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
        o.kind   = rows[i].kind;
        o.items  = rows[i].items;
        o.rate   = rows[i].rate;
        o.bits   = rows[i].bits;
        o.probes = rows[i].probes;
        o.memory = rows[i].memory;
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
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "wide");
    o.funnel = NULL;
    o.scheme = "native";
    blm_free(make(&o));
    blm_free(NULL);
    assert_status(blm_close(NULL, NULL), BLM_OK);
}

static void caps_are_kept(void **state)
{
    (void)state;
    EACH_FLAVOUR (v) {
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
    } n = { .o = BLM_OPTIONS_INIT };
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

static void only_counting_removes(void **state)
{
    (void)state;
    EACH_FLAVOUR (v) {
        blm_filter *f = make_flavour(v, 100, 0.01, 1);
        blm_add(f, "a", 1);
        assert_status(blm_remove(f, "a", 1),
                      v->kind == BLM_COUNTING ? BLM_OK : BLM_E_UNSUPPORTED);
        assert_int_equal(blm_check(f, "a", 1), v->kind != BLM_COUNTING);
        blm_free(f);
    }
}

/* ---- the two other ways to say how large ---- */

static void bits_and_probes_are_taken_as_given(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits   = 12345;
    o.probes = 5;
    for (int counting = 0; counting < 2; counting++) {
        o.kind        = counting ? BLM_COUNTING : BLM_CLASSIC;
        blm_filter *f = make(&o);
        blm_params  p = params_of(f);
        assert_true(p.bits == 12345 && p.probes == 5 && p.lines == 0);
        assert_true(p.bytes == (counting ? 6176u : 1544u)); /* whole words */
        blm_free(f);
    }
    o.kind   = BLM_BLOCKED;
    o.bits   = 512 * 9;
    o.probes = 12;
    o.lines  = 2;
    blm_filter *f = make(&o);
    blm_params  p = params_of(f);
    assert_true(p.bits == 512 * 9 && p.probes == 12 && p.lines == 2);
    blm_free(f);
}

static void memory_is_not_exceeded(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.kind   = kinds[i];
        o.items  = 10000;
        o.memory = 20000;
        blm_filter *f = make(&o);
        blm_params  p = params_of(f);
        assert_true(p.bytes <= 20000 && p.bytes > 19900);
        assert_true(p.rate > 0 && p.rate < 1);
        blm_free(f);
    }
}

/* ---- like another ---- */

static void like_copies_everything_but_the_keys(void **state)
{
    (void)state;
    struct key_set s = key_set_make(8, 400);
    EACH_FLAVOUR (v) {
        blm_filter *a = make_flavour(v, 300, 0.01, 21), *b = NULL;
        blm_options o = BLM_OPTIONS_INIT;
        for (size_t i = 0; i < s.count; i++)
            blm_add(a, s.keys[i].data, s.keys[i].len);
        o.like  = a;
        o.flags = v->flags;
        b       = make(&o);
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
    o.like  = a;
    o.items = 5;
    assert_status(blm_create(&o, &b, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "like");
    o.items = 0;
    o.rate  = NAN;
    assert_status(blm_create(&o, &b, &e), BLM_E_ARGUMENT);
    blm_free(a);
}

/* ---- over a caller's words ---- */

static void borrowed_words_are_the_filter(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        uint64_t    words[66] = { 0 };
        blm_options o         = BLM_OPTIONS_INIT;
        o.kind       = kinds[i];
        o.flags      = BLM_SEEDED;
        o.probes     = 4;
        o.words      = words + 1; /* aligned to 8, not to 64 */
        o.word_count = 64;
        words[65]    = 0x5e5e5e5e5e5e5e5eu;
        blm_filter *f = make(&o);
        blm_params  p = params_of(f);
        assert_true(p.bits == 4096);
        assert_int_equal(p.backing, BLM_IN_WORDS);
        assert_ptr_equal(blm_view(f, 0, NULL), words + 1);
        for (uint64_t k = 0; k < 300; k++)
            blm_add(f, &k, 8);
        blm_free(f); /* the words stay, and a filter over them again knows the keys */
        f = make(&o);
        for (uint64_t k = 0; k < 300; k++)
            assert_true(blm_check(f, &k, 8));
        assert_true(words[0] == 0 && words[65] == 0x5e5e5e5e5e5e5e5eu);
        blm_free(f);
    }
}

static void borrowed_words_may_be_more_than_needed(void **state)
{
    (void)state;
    uint64_t    words[64] = { 0 };
    blm_options o         = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.words      = words;
    o.word_count = 64;
    o.bits       = 1000; /* 16 words */
    o.probes     = 3;
    f = make(&o);
    for (uint64_t k = 0; k < 20000; k++)
        blm_add(f, &k, 8);
    assert_true(stats_of(f).ones == 1000); /* full */
    for (size_t i = 16; i < 64; i++)
        assert_true(words[i] == 0);
    blm_free(f);
    o.bits = 64 * 64 + 1;
    assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
    check_error(&e, BLM_E_LIMIT, "words");
}

/* Bits past m in the last word are nobody's: counts, equality and files would all trip on them. */
static void bits_past_the_end_of_borrowed_words_are_refused(void **state)
{
    (void)state;
    uint64_t    words[2] = { 0, UINT64_MAX << 36 };
    blm_options o        = BLM_OPTIONS_INIT;
    o.words      = words;
    o.word_count = 2;
    o.bits       = 100;
    o.probes     = 3;
    blm_filter *f;
    blm_error   e;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "past");
    words[1] = UINT64_MAX >> 28; /* the last 36 of the 100 */
    f        = make(&o);
    assert_true(stats_of(f).ones == 36);
    blm_free(f);
}

static void bad_words_are_refused(void **state)
{
    (void)state;
    uint64_t    words[64] = { 0 };
    blm_options o         = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.probes     = 4;
    o.words      = (uint64_t *)((uintptr_t)words + 4);
    o.word_count = 10;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "aligned");
    o.words      = words;
    o.word_count = 0;
    assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
    o.word_count = UINT64_MAX;
    assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
    o.word_count = 64;
    o.kind       = BLM_COUNTING;
    assert_status(blm_create(&o, &f, &e), BLM_E_UNSUPPORTED);
    o.kind = BLM_SCALABLE;
    assert_status(blm_create(&o, &f, &e), BLM_E_UNSUPPORTED);
    /* Nor by the back door. */
    blm_filter *c  = make_flavour(&flavours[7], 10, 0.1, 1);
    blm_options by = BLM_OPTIONS_INIT;
    assert_int_equal(params_of(c).kind, BLM_COUNTING);
    by.like       = c;
    by.words      = words;
    by.word_count = 64;
    assert_status(blm_create(&by, &f, &e), BLM_E_UNSUPPORTED);
    blm_free(c);
}

static void adopted_words_are_freed_with_the_filter(void **state)
{
    (void)state;
    struct meter  m = { .fail_at = UINT64_MAX };
    blm_allocator a = meter_allocator(&m);
    blm_options   o = BLM_OPTIONS_INIT;
    blm_filter   *f;
    blm_error     e;
    o.allocator  = &a;
    o.words      = meter_alloc(&m, 64 * 8);
    o.word_count = 64;
    o.flags      = BLM_ADOPT;
    o.probes     = 4;
    memset(o.words, 0, 64 * 8);
    o.bits = 1000; /* would leave some of them unused */
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "whole");
    assert_int_equal(m.live, 1); /* a refused adoption takes nothing */
    o.bits = 0;
    f      = make(&o);
    assert_int_equal(params_of(f).backing, BLM_IN_MEMORY);
    assert_status(blm_add(f, "k", 1), BLM_OK);
    blm_free(f);
    assert_int_equal(m.live, 0);
}

/* ---- the allocator ---- */

static void all_memory_comes_from_the_caller_s_allocator(void **state)
{
    (void)state;
    struct key_set s = key_set_make(9, 500);
    EACH_FLAVOUR (v) {
        struct meter  m = { .fail_at = UINT64_MAX };
        blm_allocator a = meter_allocator(&m);
        blm_options   o = flavour_options(v, 300, 0.01, 21);
        o.allocator     = &a;
        blm_filter *f   = make(&o);
        memset(&a, 0, sizeof a); /* the struct was copied: only what it points to must live on */
        for (size_t i = 0; i < s.count; i++)
            blm_add(f, s.keys[i].data, s.keys[i].len);
        assert_true(m.live > 1);
        assert_true((uint64_t)m.live_bytes >= params_of(f).bytes);
        blm_free(f);
        assert_int_equal(m.live, 0);
        assert_int_equal(m.live_bytes, 0);
    }
    key_set_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_keys_are_never_denied),
        cmocka_unit_test(an_empty_filter_denies_everything),
        cmocka_unit_test(the_empty_key_is_a_key),
        cmocka_unit_test(null_with_a_length_is_no_key),
        cmocka_unit_test(filters_of_one_seed_agree_bit_for_bit),
        cmocka_unit_test(unseeded_filters_get_secret_seeds_of_their_own),
        cmocka_unit_test(custom_hashes_are_called),
        cmocka_unit_test(custom_hashes_must_be_named),
        cmocka_unit_test(siphash_uses_both_seed_words),
        cmocka_unit_test(digests_answer_as_keys_do),
        cmocka_unit_test(digests_of_another_seed_are_not_understood),
        cmocka_unit_test(positions_are_the_cells_a_key_sets),
        cmocka_unit_test(positions_respect_the_buffer),
        cmocka_unit_test(checking_positions_is_checking_the_key),
        cmocka_unit_test(positions_out_of_range_are_maybe),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(missing_arguments_are_named),
        cmocka_unit_test(caps_are_kept),
        cmocka_unit_test(options_may_be_older_or_newer),
        cmocka_unit_test(shared_is_refused_where_it_cannot_be),
        cmocka_unit_test(only_counting_removes),
        cmocka_unit_test(bits_and_probes_are_taken_as_given),
        cmocka_unit_test(memory_is_not_exceeded),
        cmocka_unit_test(like_copies_everything_but_the_keys),
        cmocka_unit_test(like_and_a_size_is_a_contradiction),
        cmocka_unit_test(borrowed_words_are_the_filter),
        cmocka_unit_test(borrowed_words_may_be_more_than_needed),
        cmocka_unit_test(bits_past_the_end_of_borrowed_words_are_refused),
        cmocka_unit_test(bad_words_are_refused),
        cmocka_unit_test(adopted_words_are_freed_with_the_filter),
        cmocka_unit_test(all_memory_comes_from_the_caller_s_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
