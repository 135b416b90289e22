/* SPDX-License-Identifier: MIT */
/* Asking filters one key at a time: the laws every kind keeps, in every flavour; seeds, hashes and
 * digests. What options may say is in test_options.c, positions are in test_positions.c. */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "unit/support.h"

/* ---- the law ---- */

/* Random keys of length 0 … 300, binary: every one added is answered maybe, at once and at the
 * end; OK and PRESENT tell the truth, which the bits decide. */
static void added_keys_are_never_denied(void **state)
{
    (void)state;
    struct key_set s = key_set_make(1, 2000);
    EACH_FLAVOUR(v)
    {
        blm_filter *f     = make_flavour(v, s.count, 0.01, 42);
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
        bool     each  = v->kind == BLM_COUNTING || v->kind == BLM_CUCKOO;
        if (v->kind != BLM_WINDOW) /* which forgets */
            assert_true(items == (each ? 2 * s.count : fresh));
        blm_free(f);
    }
    key_set_free(&s);
}

static void an_empty_filter_denies_everything(void **state)
{
    (void)state;
    struct key_set s = key_set_make(2, 500);
    EACH_FLAVOUR(v)
    {
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
    EACH_FLAVOUR(v)
    {
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
    EACH_FLAVOUR(v)
    {
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
    EACH_FLAVOUR(v)
    {
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
    o.items       = 1000;
    o.rate        = 0.001;
    o.seed[0]     = 77; /* not meant without BLM_SEEDED */
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

struct bytes {
    uint8_t data[4096];
    size_t  len;
};
static bool collect(void *ctx, const void *bytes, size_t len)
{
    struct bytes *b = ctx;
    assert_true(b->len + len <= sizeof b->data);
    memcpy(b->data + b->len, bytes, len);
    b->len += len;
    return true;
}

/* Bytes know the hash by its name: without it, or with one of another name, they are refused. */
static void custom_hashes_must_be_given_again(void **state)
{
    (void)state;
    unsigned     calls = 0;
    struct bytes b     = { .len = 0 };
    blm_options  o = BLM_OPTIONS_INIT, again = BLM_OPTIONS_INIT;
    blm_filter  *g = NULL;
    blm_error    e;
    o.items       = 100;
    o.rate        = 0.001;
    o.hash        = BLM_HASH_CUSTOM;
    o.hash_fn     = odd_hash;
    o.hash_ctx    = &calls;
    o.hash_name   = "odd";
    blm_filter *f = make(&o);
    blm_add(f, "one", 3);
    assert_status(blm_encode(f, NULL, collect, &b, NULL), BLM_OK);
    assert_status(blm_decode(b.data, b.len, NULL, &g, &e), BLM_E_HASH);
    check_error(&e, BLM_E_HASH, "odd");
    again.hash_fn  = odd_hash;
    again.hash_ctx = &calls;
    assert_status(blm_decode(b.data, b.len, &again, &g, &e), BLM_E_HASH);
    again.hash_name = "even";
    assert_status(blm_decode(b.data, b.len, &again, &g, &e), BLM_E_HASH);
    assert_null(g);
    again.hash_name = "odd";
    assert_status(blm_decode(b.data, b.len, &again, &g, &e), BLM_OK);
    calls = 0;
    assert_true(blm_check(g, "one", 3));
    assert_int_equal(calls, 1);
    assert_true(blm_equal(f, g));
    blm_free(f);
    blm_free(g);
}

static bool swallow(void *ctx, const void *bytes, size_t len)
{
    (void)ctx, (void)bytes, (void)len;
    return true;
}

static void custom_hashes_must_be_named(void **state)
{
    (void)state;
    unsigned    calls = 0;
    blm_options o     = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.items     = 100;
    o.rate      = 0.01;
    o.hash      = BLM_HASH_CUSTOM;
    o.hash_ctx  = &calls;
    o.hash_name = "odd";
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "hash_fn");
    o.hash_fn                      = odd_hash;
    static const char *const bad[] = { NULL, "",      "sixteen-bytes-ab", "city hash",
                                       " ",  "tab\t", "caf\xc3\xa9",      "\x7f" };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        o.hash_name = bad[i];
        assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
        check_error(&e, BLM_E_ARGUMENT, "hash_name");
        assert_null(f);
    }
    o.hash_name = "fifteen-bytes~!";
    f           = make(&o);
    assert_status(blm_encode(f, NULL, swallow, NULL, &e), BLM_OK); /* a file can say it */
    blm_free(f);
    o.hash = (blm_hash)9;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "hash 9");
}

static void siphash_uses_both_seed_words(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.items       = 1000;
    o.rate        = 0.01;
    o.hash        = BLM_HASH_SIPHASH;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 0x0706050403020100u;
    o.seed[1]     = 0x0f0e0d0c0b0a0908u;
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
    EACH_FLAVOUR(v)
    {
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
            assert_int_equal(blm_check_digest(a, &d), blm_check(a, s.keys[i].data, s.keys[i].len));
        }
        blm_free(a);
        blm_free(b);
    }
    key_set_free(&s);
}

static void digests_of_another_seed_are_not_understood(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
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
        cmocka_unit_test(custom_hashes_must_be_given_again),
        cmocka_unit_test(custom_hashes_must_be_named),
        cmocka_unit_test(siphash_uses_both_seed_words),
        cmocka_unit_test(digests_answer_as_keys_do),
        cmocka_unit_test(digests_of_another_seed_are_not_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
