/* SPDX-License-Identifier: MIT */
/* Keys of every form become what the scheme's engines take; up to the first that is no key, and
 * within the room that there is. */
#include "scheme/keys.h"

#include "api/filter.h"
#include "unit/support.h"

enum { N = 40, WIDTH = 11 };
#define FENCE 0x5e5e5e5e5e5e5e5eu

/* Schemes of each form: native hashes, two words, digests, digests with a word a probe. */
static const char *const schemes[] = { NULL, "guava64", "spark2", "bkdr" };

struct keys {
    uint8_t    bytes[N][WIDTH];
    blm_key    list[N];
    blm_digest digest[N];
};

struct hashed {
    uint64_t              h[N + 1], step[N + 1];
    blm_digest            d[N + 1];
    struct blm__hash_room room;
    struct blm__keys      keys;
};

static blm_filter *filter_of(const char *scheme, uint64_t seed)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = scheme;
    o.kind        = scheme ? BLM_ANY_KIND : BLM_BLOCKED;
    o.items       = 1000;
    o.rate        = 0.01;
    if (blm_scheme_find(scheme ? scheme : "native")->seeded) {
        o.flags   = BLM_SEEDED;
        o.seed[0] = seed;
    }
    return make(&o);
}

static void some_keys(struct keys *k, const blm_filter *f)
{
    struct rng r = { 1 };
    rng_bytes(&r, k->bytes, sizeof k->bytes);
    for (size_t i = 0; i < N; i++) {
        k->list[i] = (blm_key){ k->bytes[i], WIDTH };
        assert_status(blm_digest_of(f, k->bytes[i], WIDTH, &k->digest[i]), BLM_OK);
    }
}

/* Room for `most`, and a fence behind it. */
static size_t hash(const blm_filter *f, const struct blm__keys *k, size_t most, struct hashed *out)
{
    out->h[most] = out->step[most] = out->d[most].w[0] = FENCE;
    out->room = (struct blm__hash_room){ out->h, out->step, out->d, most, most };
    size_t n  = blm__keys_hash(&f->body, k, 0, k->n, &out->room, &out->keys);
    assert_true(out->h[most] == FENCE && out->step[most] == FENCE && out->d[most].w[0] == FENCE);
    assert_int_equal(n, out->keys.n);
    return n;
}

/* In the one form that the scheme's engines take. */
static void same_hashed(const blm_filter *f, const struct blm__keys *a, const struct blm__keys *b,
                        size_t n)
{
    const struct blm__scheme *s = f->body.scheme;
    for (size_t i = 0; i < n; i++)
        if (s->native || s->wrap) {
            assert_true(a->hashes[i] == b->hashes[i]);
            assert_true(s->native ? !a->steps : a->steps[i] == b->steps[i]);
            assert_null(a->digests);
        } else {
            uint32_t k = f->body.layers[0].shape.probes;
            uint64_t x[BLM__MAX_PROBES], y[BLM__MAX_PROBES];
            assert_true(a->digests[i].tag == f->body.hasher.tag);
            s->positions(&f->body.layers[0].shape, &a->digests[i], x);
            s->positions(&f->body.layers[0].shape, &b->digests[i], y);
            assert_memory_equal(x, y, k * sizeof *x);
        }
}

static void forms_agree(void **state)
{
    (void)state;
    static struct keys   k;
    static struct hashed x, y;
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        blm_filter      *f    = filter_of(schemes[i], 7);
        struct blm__keys list = { .n = N, .list = k.list };
        struct blm__keys side = { .n = N, .fixed = k.bytes[0], .width = WIDTH };
        struct blm__keys dig  = { .n = N, .digests = k.digest };
        some_keys(&k, f);
        assert_int_equal(hash(f, &list, N, &x), N);
        assert_int_equal(hash(f, &side, N, &y), N);
        same_hashed(f, &x.keys, &y.keys, N);
        if (f->body.scheme->native) {
            for (size_t j = 0; j < N; j++)
                assert_true(x.keys.hashes[j] == k.digest[j].w[0]);
            assert_int_equal(hash(f, &dig, N, &y), N);
            same_hashed(f, &x.keys, &y.keys, N);
        } else if (!f->body.scheme->wrap) {
            assert_int_equal(hash(f, &dig, N, &y), N);
            same_hashed(f, &x.keys, &y.keys, N);
        }
        blm_free(f);
    }
}

/* What came hashed stays where it is: only native digests have their hashes taken out. */
static void what_is_hashed_is_not_copied(void **state)
{
    (void)state;
    static struct keys   k;
    static struct hashed x, y;
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        blm_filter      *f    = filter_of(schemes[i], 7);
        struct blm__keys list = { .n = N, .list = k.list }, dig = { .n = N, .digests = k.digest };
        some_keys(&k, f);
        hash(f, &list, N, &x);
        struct blm__keys again = x.keys;
        assert_int_equal(hash(f, &again, N, &y), N);
        assert_ptr_equal(y.keys.hashes, x.keys.hashes);
        assert_ptr_equal(y.keys.steps, x.keys.steps);
        assert_ptr_equal(y.keys.digests, x.keys.digests);
        assert_int_equal(hash(f, &dig, N, &y), N);
        assert_ptr_equal(y.keys.digests, f->body.scheme->native ? NULL : k.digest);
        blm_free(f);
    }
}

static void no_more_than_there_is_room_for(void **state)
{
    (void)state;
    static struct keys   k;
    static struct hashed x, y;
    for (size_t i = 0; i < COUNT_OF(schemes); i++)
        for (size_t most = 0; most < N; most += 13) {
            blm_filter      *f       = filter_of(schemes[i], 7);
            struct blm__keys forms[] = { { .n = N, .list = k.list },
                                         { .n = N, .fixed = k.bytes[0], .width = WIDTH },
                                         { .n = N, .digests = k.digest } };
            some_keys(&k, f);
            hash(f, &forms[0], N, &x);
            for (size_t j = 0; j < COUNT_OF(forms); j++) {
                assert_int_equal(hash(f, &forms[j], most, &y), most);
                if (j < 2)
                    same_hashed(f, &y.keys, &x.keys, most);
            }
            blm_free(f);
        }
}

/* NULL is a key only when it is empty. */
static void a_bad_key_ends_it(void **state)
{
    (void)state;
    static struct keys   k;
    static struct hashed x, y;
    for (size_t i = 0; i < COUNT_OF(schemes); i++)
        for (size_t bad = 0; bad < N; bad += 9) {
            blm_filter      *f    = filter_of(schemes[i], 7);
            struct blm__keys list = { .n = N, .list = k.list };
            some_keys(&k, f);
            k.list[N / 2] = (blm_key){ NULL, 0 };
            assert_int_equal(blm__keys_good(&f->body, &list), N);
            assert_int_equal(hash(f, &list, N, &x), N);
            k.list[bad]     = (blm_key){ NULL, 1 };
            k.list[N - 1]   = (blm_key){ NULL, 1 }; /* the first one counts */
            y.h[bad]        = FENCE;
            y.step[bad]     = FENCE;
            y.d[bad].tag    = FENCE;
            size_t expected = bad;
            assert_int_equal(blm__keys_good(&f->body, &list), expected);
            assert_int_equal(hash(f, &list, N, &y), expected);
            same_hashed(f, &y.keys, &x.keys, expected);
            assert_true(y.h[bad] == FENCE && y.step[bad] == FENCE && y.d[bad].tag == FENCE);
            blm_free(f);
        }
}

/* A digest of another seed or another scheme is not this filter's. */
static void a_foreign_digest_ends_it(void **state)
{
    (void)state;
    static struct keys   k;
    static struct hashed x;
    for (size_t i = 0; i < COUNT_OF(schemes); i++)
        for (size_t bad = 0; bad < N; bad += 9) {
            blm_filter *f = filter_of(schemes[i], 7);
            blm_filter *g =
                f->body.scheme->row.seeded ? filter_of(schemes[i], 8) : filter_of("dcso", 0);
            struct blm__keys dig = { .n = N, .digests = k.digest };
            some_keys(&k, f);
            assert_int_equal(blm__keys_good(&f->body, &dig), N);
            assert_status(blm_digest_of(g, k.bytes[bad], WIDTH, &k.digest[bad]), BLM_OK);
            assert_int_equal(blm__keys_good(&f->body, &dig), bad);
            assert_int_equal(hash(f, &dig, N, &x), bad);
            blm_free(f);
            blm_free(g);
        }
}

/* A range is the same as keys that begin and end there, in every form. */
static void ranges_are_parts(void **state)
{
    (void)state;
    static struct keys   k;
    static struct hashed x, y;
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        blm_filter *f = filter_of(schemes[i], 7);
        some_keys(&k, f);
        struct blm__keys raw = { .n = N, .list = k.list };
        assert_int_equal(hash(f, &raw, N, &x), N);
        struct blm__keys forms[] = { raw,
                                     { .n = N, .fixed = k.bytes[0], .width = WIDTH },
                                     { .n = N, .digests = k.digest },
                                     x.keys };
        for (size_t form = 0; form < COUNT_OF(forms); form++)
            for (size_t at = 0; at < N; at += 7) {
                struct blm__keys whole = blm__keys_part(&x.keys, at, N - at);
                y.room                 = (struct blm__hash_room){ y.h, y.step, y.d, N, N };
                assert_int_equal(blm__keys_hash(&f->body, &forms[form], at, N, &y.room, &y.keys),
                                 N - at);
                if (!f->body.scheme->wrap || !forms[form].digests) /* those stay digests */
                    same_hashed(f, &y.keys, &whole, N - at);
            }
        blm_free(f);
    }
}

static uint64_t nth(void *ctx, uint32_t i, const void *key, size_t len)
{
    uint64_t x = 0;
    (void)ctx;
    memcpy(&x, key, len < 8 ? len : 8);
    return x * (2 * i + 1);
}

/* Where a digest has a word a probe, one of fewer probes does not do, one of more does. */
static void a_digest_must_have_enough_probes(void **state)
{
    (void)state;
    static struct keys   k;
    static struct hashed x;
    blm_options          o = BLM_OPTIONS_INIT;
    o.scheme               = "functions";
    o.hash_name            = "nth";
    o.probe_fn             = nth;
    o.bits                 = 1000;
    o.probes               = 4;
    blm_filter *four       = make(&o);
    o.probes               = 5;
    blm_filter      *five  = make(&o);
    struct blm__keys dig   = { .n = N, .digests = k.digest };
    some_keys(&k, five);
    assert_int_equal(blm__keys_good(&four->body, &dig), N);
    assert_int_equal(hash(four, &dig, N, &x), N);
    assert_status(blm_digest_of(four, k.bytes[3], WIDTH, &k.digest[3]), BLM_OK);
    assert_int_equal(blm__keys_good(&five->body, &dig), 3);
    assert_int_equal(hash(five, &dig, N, &x), 3);
    blm_free(four);
    blm_free(five);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_agree),
        cmocka_unit_test(what_is_hashed_is_not_copied),
        cmocka_unit_test(no_more_than_there_is_room_for),
        cmocka_unit_test(ranges_are_parts),
        cmocka_unit_test(a_bad_key_ends_it),
        cmocka_unit_test(a_foreign_digest_ends_it),
        cmocka_unit_test(a_digest_must_have_enough_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
