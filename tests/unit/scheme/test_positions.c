/* SPDX-License-Identifier: MIT */
/* What every foreign scheme owes its callers: exactly k positions, all inside the filter, the raw
 * ones reduced to them, and no word beyond. */
#include <pthread.h>

#include "unit/support.h"

#include "api/filter.h"
#include "foreign.h"

#define GUARD 0x5151515151515151u

static void check_shape(const struct blm__scheme *s, const blm_filter *f, const void *key,
                        size_t len)
{
    const struct blm__shape *shape = &f->body.layers[0].shape;
    uint64_t                 pos[BLM__MAX_PROBES + 1], raw[BLM__MAX_PROBES + 1];
    uint32_t                 k = shape->probes;
    blm_digest               d;
    assert_int_equal(blm_digest_of(f, key, len, &d), BLM_OK);
    pos[k] = raw[k] = GUARD;
    s->positions(shape, &d, pos);
    assert_int_equal(pos[k], GUARD);
    for (uint32_t i = 0; i < k; i++)
        assert_true(pos[i] < shape->bits);
    if (!s->positions_raw || !s->positions_raw(shape, &d, raw))
        return;
    assert_int_equal(raw[k], GUARD);
    for (uint32_t i = 0; i < k; i++)
        assert_int_equal(s->reduce(shape, raw[i]), pos[i]);
}

static void test_every_scheme(void **state)
{
    (void)state;
    struct key_set keys  = key_set_make(7, 40);
    size_t         tried = 0;
    for (size_t i = 0; blm_scheme_at(i); i++) {
        const struct blm__scheme *s = blm__scheme_find(blm_scheme_at(i)->name);
        blm_options               o = BLM_OPTIONS_INIT;
        blm_filter               *f;
        if (s->native || s->missing || !s->row.creates || s->row.by_caller)
            continue;
        o.scheme = s->row.name;
        o.items  = 1000;
        o.rate   = 0.01;
        if (blm_create(&o, &f, NULL) != BLM_OK)
            continue; /* one that wants other numbers */
        for (size_t j = 0; j < keys.count; j++)
            check_shape(s, f, keys.keys[j].data, keys.keys[j].len);
        blm_free(f);
        tried++;
    }
    assert_true(tried >= 9);
    key_set_free(&keys);
}

/* ---- schemes that step ---- */

static uint64_t low_bits(uint64_t v, unsigned n)
{
    return n == 64 ? v : v & (((uint64_t)1 << n) - 1);
}

/* Their two words give what a digest gives, however keys come. */
static void check_pairs(const struct blm__scheme *s, const blm_filter *f,
                        const struct key_set *keys)
{
    const struct blm__shape *shape = &f->body.layers[0].shape;
    for (size_t i = 0; i < keys->count; i++) {
        const blm_key   *k     = &keys->keys[i];
        struct blm__keys all   = { .list = keys->keys },
                         alone = { .fixed = k->data, .width = k->len };
        uint64_t   start[64], step[64], one[2], raw[BLM__MAX_PROBES];
        blm_digest d;
        assert_true(keys->count <= 64);
        s->pairs(&f->body.hasher, f->body.kernel, &all, keys->count, start, step);
        s->pairs(&f->body.hasher, f->body.kernel, &alone, 1, &one[0], &one[1]);
        assert_int_equal(start[i], one[0]);
        assert_int_equal(step[i], one[1]);
        assert_int_equal(blm_digest_of(f, k->data, k->len, &d), BLM_OK);
        assert_true(s->positions_raw(shape, &d, raw));
        for (uint32_t j = 0; j < shape->probes; j++)
            assert_int_equal(low_bits(one[0] + j * one[1], s->wrap), raw[j]);
    }
}

static const struct {
    const char *scheme, *funnel;
    uint64_t    variant;
} stepping[] = {
    { "guava64", "bytes", 0 }, { "guava64", "chars", 0 }, { "redisbloom", NULL, 0 },
    { "redisbloom", NULL, 1 }, { "redisbloom", NULL, 4 }, { "redisbloom", NULL, 12 },
    { "dcso01", NULL, 0 },
};

static blm_filter *stepping_filter(size_t i, uint64_t items, double rate)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = stepping[i].scheme;
    o.funnel      = stepping[i].funnel;
    o.variant     = stepping[i].variant;
    o.items       = items;
    o.rate        = rate;
    return create_or_fail(&o);
}

static void test_pairs(void **state)
{
    (void)state;
    struct key_set keys = key_set_make(11, 60);
    for (size_t i = 0; i < COUNT_OF(stepping); i++) {
        blm_filter *f = stepping_filter(i, 1000, 0.001);
        assert_true(f->body.scheme->wrap > 0);
        check_pairs(f->body.scheme, f, &keys);
        blm_free(f);
    }
    key_set_free(&keys);
}

/* A batch of keys does what a batch of their digests does, which goes the long way: bits, answers,
 * counts, through the growth of a chain too; and so do keys one by one. */
static void check_batches(size_t which, uint64_t items, double rate)
{
    enum { N = 3000 };
    struct key_set keys  = key_set_make(13 + which, N);
    blm_filter    *f     = stepping_filter(which, items, rate),
               *long_way = stepping_filter(which, items, rate),
               *singly   = stepping_filter(which, items, rate);
    static uint8_t    got[N], want[N];
    static blm_digest d[N];
    for (size_t i = 0; i < N; i++)
        assert_int_equal(blm_digest_of(f, keys.keys[i].data, keys.keys[i].len, &d[i]), BLM_OK);
    for (size_t at = 0, n; at < N; at += n) {
        n = 1 + (at * 7 + which) % 700;
        n = N - at < n ? N - at : n;
        size_t     done[2];
        blm_status st[] = { blm_add_many(f, keys.keys + at, n, got, &done[0]),
                            blm_add_digests(long_way, d + at, n, want, &done[1]) };
        assert_int_equal(st[0], st[1]);
        assert_int_equal(done[0], done[1]);
        assert_memory_equal(got, want, done[0]);
        for (size_t i = 0; i < done[0]; i++)
            assert_int_equal(blm_add(singly, keys.keys[at + i].data, keys.keys[at + i].len),
                             want[i] ? BLM_OK : BLM_PRESENT);
        assert_int_equal(blm_check_many(f, keys.keys, N, got), blm_check_digests(f, d, N, want));
        assert_memory_equal(got, want, N);
        if (st[0] != BLM_OK)
            break;
    }
    assert_true(blm_equal(f, long_way) && blm_equal(f, singly));
    for (size_t i = 0; i < N; i++)
        assert_int_equal(blm_check(f, keys.keys[i].data, keys.keys[i].len), got[i]);
    assert_true(f->body.kind != BLM_SCALABLE || items > 100 || f->body.layer_count > 2 ||
                stepping[which].variant == 12);
    blm_free(f);
    blm_free(long_way);
    blm_free(singly);
    key_set_free(&keys);
}

static void test_batches_of_steps(void **state)
{
    (void)state;
    uint64_t before = atomic_load(&blm__in_cache_bytes);
    for (size_t i = 0; i < COUNT_OF(stepping); i++) {
        check_batches(i, 2500, 0.01);
        check_batches(i, 60, 0.3);
        check_batches(i, 100, 1e-9);
        atomic_store(&blm__in_cache_bytes, 0);
        check_batches(i, 2000, 0.02);
        check_batches(i, 100, 0.01);
        atomic_store(&blm__in_cache_bytes, before);
    }
    check_batches(2, 100, 1e-200); /* 665 probes: more than a batch has room for */
}

/* Several threads hash, round after round, and leave what one leaves. */
static void test_threads(void **state)
{
    (void)state;
    static const char *const names[] = { "guava64", "redisbloom", "dcso01", "guava32", "bip37" };
    enum { N = 270000, WIDTH = 9 };
    uint8_t   *keys = malloc(N * WIDTH), *got[2] = { malloc(N), malloc(N) };
    struct rng r = { 17 };
    rng_bytes(&r, keys, N * WIDTH);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f[2];
        o.scheme = names[i];
        o.items  = 50000;
        o.rate   = 0.01;
        for (uint32_t t = 0; t < 2; t++) {
            o.threads = t + 1;
            f[t]      = create_or_fail(&o);
            size_t done;
            assert_int_equal(blm_add_fixed(f[t], keys, WIDTH, N, got[t], &done), BLM_OK);
            assert_int_equal(done, N);
        }
        assert_memory_equal(got[0], got[1], N);
        assert_true(blm_equal(f[0], f[1]));
        blm_free(f[0]);
        blm_free(f[1]);
    }
    free(keys);
    free(got[0]);
    free(got[1]);
}

/* ---- shared ---- */

enum { SHARED_KEYS = 20000 };

static void *add_and_ask(void *arg)
{
    blm_filter *f = arg;
    uint64_t    keys[SHARED_KEYS / 10];
    for (uint64_t at = 0; at < SHARED_KEYS; at += COUNT_OF(keys)) {
        for (size_t i = 0; i < COUNT_OF(keys); i++)
            keys[i] = at + i;
        blm_add_fixed(f, keys, 8, COUNT_OF(keys), NULL, NULL);
        if (blm_check_fixed(f, keys, 8, COUNT_OF(keys), NULL) != COUNT_OF(keys))
            return f;
        blm_add(f, &at, 8);
    }
    return NULL;
}

/* Two threads add the same keys at once, and ask; no bit is lost. */
static void test_shared(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    pthread_t   thread[2];
    void       *lost;
    o.scheme          = "guava64";
    o.items           = SHARED_KEYS;
    o.rate            = 0.01;
    blm_filter *alone = create_or_fail(&o);
    o.flags           = BLM_SHARED;
    blm_filter *f     = create_or_fail(&o);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, add_and_ask, f), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(thread[i], &lost), 0);
        assert_null(lost);
    }
    assert_null(add_and_ask(alone));
    uint64_t bytes = 0;
    blm_view(f, 0, &bytes);
    assert_memory_equal(blm_view(f, 0, NULL), blm_view(alone, 0, NULL), (size_t)bytes);
    blm_free(f);
    blm_free(alone);
}

/* Written into native files: a change of hashing must change it, and nothing else may. */
static void test_versions(void **state)
{
    (void)state;
    static const char *const names[] = { "guava64", "guava32", "go",    "spark1",
                                         "spark2",  "dcso",    "dcso01" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct blm__scheme *s = blm__scheme_find(names[i]);
        assert_int_equal(s->version, 1);
        assert_int_equal(s->row.kinds, 1u << BLM_CLASSIC);
    }
}

/* By the smallest odd factor, each scheme that folds folds to what a small filter would be. */
static void test_fold(void **state)
{
    (void)state;
    static const char *const names[] = { "go", "dcso", "dcso01", "guava64", "spark1", "spark2" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *folded;
        uint64_t    unit  = blm__scheme_find(names[i])->fold_unit;
        o.scheme          = names[i];
        o.probes          = 3;
        o.bits            = 7 * 11 * unit;
        blm_filter *f     = create_or_fail(&o);
        o.bits            = 11 * unit;
        blm_filter *small = create_or_fail(&o);
        for (uint32_t j = 0; j < 9; j++) {
            blm_add(f, &j, sizeof j);
            blm_add(small, &j, sizeof j);
        }
        assert_int_equal(blm_fold(f, 7, &folded, NULL), BLM_OK);
        assert_true(blm_equal(folded, small));
        blm_free(folded);
        blm_free(f);
        blm_free(small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_scheme),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_batches_of_steps),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
