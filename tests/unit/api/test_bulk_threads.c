/* SPDX-License-Identifier: MIT */
/* Large adds (api/bulk.c) and adds and checks by several threads (api/split.c, api/batch.c): each
 * must leave the bits, the counts and the answers that one key after another leaves. */
#include "api/batch.h"
#include "core/threads.h"
#include "unit/support.h"

#include "bloomery/embed.h"
#include "unit/files.h"

#define LARGE_BITS ((uint64_t)5 << 21) /* 1.25 MiB: five parts of bulk.c's */

/* TSan looks at several threads, and takes half a minute for each number of them and 70 000 keys. */
#ifdef __SANITIZE_THREAD__
#define SOME_THREADS 3
#define MANY         30000u
#else
#define SOME_THREADS 1, 2, 3
#define MANY         70000u
#endif

/* What a large filter and many keys are, for these tests: several rounds in a second. */
static int small_is_large(void **state)
{
    (void)state;
    blm__bulk = (struct blm__bulk){ .keys = MANY / 2, .bytes = 1 << 20, .room = 200000 };
    return 0;
}

static uint64_t *integers(size_t n, uint64_t seed)
{
    struct rng r    = { seed };
    uint64_t  *keys = malloc(n * sizeof *keys);
    assert_non_null(keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = rng_next(&r);
    return keys;
}

static blm_options large(blm_kind kind, uint32_t probes)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = kind;
    o.bits        = LARGE_BITS;
    o.probes      = probes;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 77;
    return o;
}

/* One at a time, by the calls for single keys. */
static void add_slowly(blm_filter *f, const uint64_t *keys, size_t n, uint8_t *fresh)
{
    for (size_t i = 0; i < n; i++) {
        blm_status st = blm_add(f, &keys[i], 8);
        assert_true(st == BLM_OK || st == BLM_PRESENT);
        if (fresh)
            fresh[i] = st == BLM_OK;
    }
}

static void assert_same(const blm_filter *a, const blm_filter *b)
{
    assert_true(blm_equal(a, b));
    assert_int_equal(params_of(a).items, params_of(b).items);
}

/* The same keys, slowly and at once by one thread and several, told which are fresh and not. */
static void compare_adds(const blm_options *o, const uint64_t *keys, size_t n)
{
    static const uint32_t threads[] = { SOME_THREADS, 8 };
    uint8_t              *want = malloc(n), *got = malloc(n);
    blm_filter           *slow = make(o);
    assert_true(want && got);
    add_slowly(slow, keys, n, want);
    for (size_t t = 0; t < COUNT_OF(threads); t++)
        for (int told = 0; told < 2; told++) {
            blm_filter *f    = make(o);
            size_t      done = 0;
            blm_set_threads(f, threads[t]);
            assert_int_equal(params_of(f).threads, threads[t]);
            memset(got, 7, n);
            assert_status(blm_add_fixed(f, keys, 8, n, told ? got : NULL, &done), BLM_OK);
            assert_int_equal(done, n);
            assert_same(f, slow);
            if (told)
                assert_memory_equal(got, want, n);
            assert_int_equal(blm_check_fixed(f, keys, 8, n, got), n);
            assert_null(memchr(got, 0, n));
            blm_free(f);
        }
    blm_free(slow);
    free(want);
    free(got);
}

static void large_adds_are_adds(void **state)
{
    (void)state;
    static const struct {
        blm_kind kind;
        uint32_t probes, flags;
    } rows[] = {
        { BLM_BLOCKED, 6, 0 }, { BLM_BLOCKED, 8, BLM_SHARED }, { BLM_BLOCKED, 16, 0 },
        { BLM_CLASSIC, 5, 0 }, { BLM_CLASSIC, 3, BLM_SHARED },
    };
    uint64_t *keys = integers(MANY, 1);
    for (size_t i = 0; i < MANY; i += 5)
        keys[i] = keys[i / 2]; /* some come again, near and far */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o = large(rows[i].kind, rows[i].probes);
        o.flags |= rows[i].flags;
        if (rows[i].probes > 8)
            o.lines = 2;
        compare_adds(&o, keys, MANY);
    }
    free(keys);
}

/* Other systems' schemes: those that step and those that list, links that grow in the middle of a
 * batch, far from the caches and near. */
static const struct other {
    const char *scheme;
    blm_kind    kind;
    uint32_t    flags;
    uint64_t    items;
    double      rate;
} other_rows[] = {
    { "guava", BLM_CLASSIC, 0, MANY, 0.01 },
    { "guava", BLM_CLASSIC, BLM_SHARED, MANY, 0.001 },
    { "redisbloom", BLM_SCALABLE, 0, MANY, 0.01 },  /* one link */
    { "redisbloom", BLM_SCALABLE, 0, 3000, 0.001 }, /* several, the first full at once */
    { "dcso01", BLM_CLASSIC, 0, MANY, 0.05 },
    { "guava", BLM_CLASSIC, 0, 500, 0.3 }, /* fuller and fuller: few are fresh */
    { "spark2", BLM_CLASSIC, 0, MANY, 0.01 },
    { "go", BLM_CLASSIC, BLM_SHARED, MANY, 0.01 },
};

static blm_options other_options(const struct other *v)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = v->scheme;
    o.kind        = v->kind;
    o.flags       = v->flags;
    o.items       = v->items;
    o.rate        = v->rate;
    return o;
}

static void other_systems_adds_are_adds(void **state)
{
    (void)state;
    uint64_t *keys = integers(MANY, 11), before = atomic_load(&blm__in_cache_bytes);
    for (size_t i = 0; i < MANY; i += 3)
        keys[i] = keys[i % 2 ? i / 2 : i - i % 7]; /* some come again, far and near */
    for (int far = 0; far < 2; far++) {
        atomic_store(&blm__in_cache_bytes, far ? 0 : before);
        for (size_t i = 0; i < COUNT_OF(other_rows); i++) {
            blm_options o = other_options(&other_rows[i]);
            compare_adds(&o, keys, MANY);
        }
    }
    atomic_store(&blm__in_cache_bytes, before);
    free(keys);
}

/* One key over and over: a bucket runs over, several times in one call. */
static void one_key_a_million_times(void **state)
{
    (void)state;
    enum { N = 3 * MANY / 2 };
    uint64_t *keys = integers(N, 2);
    for (size_t i = 0; i < N; i++)
        if (i % 8 && (i / 20000) % 2 == 0)
            keys[i] = 42;
    blm_options blocked = large(BLM_BLOCKED, 6), classic = large(BLM_CLASSIC, 4);
    compare_adds(&blocked, keys, N);
    compare_adds(&classic, keys, N);
    free(keys);
}

/* Every kind and scheme, keys of all lengths, small filters. */
static void threads_change_nothing(void **state)
{
    (void)state;
    enum { N = 70000 };
    struct key_set keys = key_set_make(3, N);
    uint8_t       *want = malloc(N), *got = malloc(N);
    assert_true(want && got);
    EACH_FLAVOUR(v)
    {
        blm_filter *one = make_flavour(v, N, 0.01, 5), *many = make_flavour(v, N, 0.01, 5);
        size_t      done;
        blm_set_threads(many, 3);
        for (size_t i = 0; i < N; i += 500)
            assert_status(
                blm_add_many(one, keys.keys + i, N - i < 500 ? N - i : 500, want + i, NULL),
                BLM_OK);
        assert_status(blm_add_many(many, keys.keys, N, got, &done), BLM_OK);
        assert_int_equal(done, N);
        assert_memory_equal(got, want, N);
        assert_same(one, many);
        /* others: what one thread answers to keys that were never added */
        struct key_set others = key_set_make(4, N);
        size_t         hits   = 0;
        for (size_t i = 0; i < N; i++)
            hits += want[i] = blm_check(one, others.keys[i].data, others.keys[i].len);
        assert_int_equal(blm_check_many(many, others.keys, N, got), hits);
        assert_memory_equal(got, want, N);
        key_set_free(&others);
        blm_free(one);
        blm_free(many);
    }
    key_set_free(&keys);
    free(want);
    free(got);
}

static void digests_by_threads(void **state)
{
    (void)state;
    enum { N = 40000 };
    struct key_set keys = key_set_make(5, N);
    blm_digest    *d    = malloc(N * sizeof *d);
    assert_non_null(d);
    EACH_FLAVOUR(v)
    {
        blm_filter *one = make_flavour(v, N, 0.01, 5), *many = make_flavour(v, N, 0.01, 5);
        blm_set_threads(many, 2);
        for (size_t i = 0; i < N; i++)
            assert_status(blm_digest_of(one, keys.keys[i].data, keys.keys[i].len, &d[i]), BLM_OK);
        assert_status(blm_add_many(one, keys.keys, N, NULL, NULL), BLM_OK);
        assert_status(blm_add_digests(many, d, N, NULL, NULL), BLM_OK);
        assert_same(one, many);
        assert_int_equal(blm_check_digests(many, d, N, NULL), N);
        d[N / 2].tag ^= 1; /* not this filter's: the keys before it are in, and no other */
        size_t done;
        blm_clear(many);
        blm_clear(one);
        assert_status(blm_add_digests(many, d, N, NULL, &done), BLM_E_MISMATCH);
        assert_int_equal(done, N / 2);
        assert_status(blm_add_many(one, keys.keys, N / 2, NULL, NULL), BLM_OK);
        assert_same(one, many);
        d[N / 2].tag ^= 1;
        blm_free(one);
        blm_free(many);
    }
    key_set_free(&keys);
    free(d);
}

static void hashes_are_keys(void **state)
{
    (void)state;
    enum { N = 50000 };
    struct key_set keys = key_set_make(6, N);
    uint64_t      *h    = malloc(N * sizeof *h);
    uint8_t       *want = malloc(N), *got = malloc(N);
    assert_true(h && want && got);
    EACH_FLAVOUR(v)
    {
        blm_filter *one = make_flavour(v, N, 0.01, 5), *other = make_flavour(v, N, 0.01, 5);
        blm_status  st = blm_hash_many(one, keys.keys, N, h);
        if (st == BLM_E_UNSUPPORTED) {
            size_t done = 9;
            assert_false(one->body.scheme->native);
            assert_status(blm_add_hashes(other, h, N, NULL, &done), BLM_E_UNSUPPORTED);
            assert_int_equal(done, 0);
            assert_int_equal(blm_check_hashes(other, h, 3, got), 3); /* we cannot know */
            assert_memory_equal(got, "\1\1\1", 3);
        } else {
            assert_status(st, BLM_OK);
            assert_status(blm_add_many(one, keys.keys, N / 2, want, NULL), BLM_OK);
            assert_status(blm_add_hashes(other, h, N / 2, got, NULL), BLM_OK);
            assert_memory_equal(got, want, N / 2);
            assert_same(one, other);
            assert_int_equal(blm_check_hashes(other, h, N, got),
                             blm_check_many(one, keys.keys, N, want));
            assert_memory_equal(got, want, N);
            assert_status(blm_hash_many(one, NULL, 1, h), BLM_E_ARGUMENT);
            assert_status(blm_add_hashes(one, NULL, 1, NULL, NULL), BLM_E_ARGUMENT);
            assert_int_equal(blm_check_hashes(one, NULL, 1, NULL), 1);
        }
        blm_free(one);
        blm_free(other);
    }
    key_set_free(&keys);
    free(h);
    free(want);
    free(got);
}

/* ---- what may go wrong ---- */

static void a_bad_key_ends_it(void **state)
{
    (void)state;
    blm_key  *keys = malloc(MANY * sizeof *keys);
    uint64_t *n    = integers(MANY, 7);
    assert_non_null(keys);
    for (size_t i = 0; i < MANY; i++)
        keys[i] = (blm_key){ &n[i], 8 };
    keys[MANY - 5].data = NULL;
    for (uint32_t threads = 1; threads <= 2; threads++)
        for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++) {
            blm_options o = large((blm_kind)kind, 4);
            blm_filter *f = make(&o), *g = make(&o);
            size_t      done;
            blm_set_threads(f, threads);
            assert_status(blm_add_many(f, keys, MANY, NULL, &done), BLM_E_ARGUMENT);
            assert_int_equal(done, MANY - 5);
            add_slowly(g, n, MANY - 5, NULL);
            assert_same(f, g);
            blm_free(f);
            blm_free(g);
        }
    free(keys);
    free(n);
}

static bool stop(void *ctx, uint64_t done, uint64_t total)
{
    *(uint64_t *)ctx = done;
    return done * 3 < total;
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    enum { N = 5 * MANY };
    uint64_t *keys = integers(N, 8), told = 0;
    for (uint32_t threads = 1; threads <= 2; threads++)
        for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++) {
            blm_options o = large((blm_kind)kind, 4);
            blm_filter *f = make(&o), *g = make(&o);
            size_t      done;
            blm_set_threads(f, threads);
            blm_set_progress(f, stop, &told);
            assert_status(blm_add_fixed(f, keys, 8, N, NULL, &done), BLM_E_CANCELLED);
            assert_true(done == told && done >= N / 3);
            add_slowly(g, keys, done, NULL);
            assert_same(f, g);
            blm_free(f);
            blm_free(g);
        }
    free(keys);
}

/* An allocator that has memory for the filter and none for anything after it. */
static bool  spent;
static void *thrifty_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return spent ? NULL : malloc(size);
}
static void thrifty_free(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)size;
    free(p);
}

static void without_memory_keys_are_added_all_the_same(void **state)
{
    (void)state;
    blm_allocator thrifty = { .alloc = thrifty_alloc, .free = thrifty_free };
    uint64_t     *keys    = integers(MANY, 9);
    for (uint32_t threads = 1; threads <= 2; threads++)
        for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++) {
            blm_options o = large((blm_kind)kind, 4);
            o.allocator   = &thrifty;
            o.threads     = threads;
            spent         = false;
            blm_filter *f = make(&o), *g = make(&o);
            spent = true;
            assert_status(blm_add_fixed(f, keys, 8, MANY, NULL, NULL), BLM_OK);
            add_slowly(g, keys, MANY, NULL);
            assert_same(f, g);
            blm_free(f);
            blm_free(g);
        }
    free(keys);
}

/* Buckets that hold nothing: a round has some keys all the same, or it would never end. */
static void without_room_too(void **state)
{
    (void)state;
    struct blm__bulk usual = blm__bulk;
    uint64_t        *keys  = integers(MANY, 11);
    blm__bulk.room         = 1000;
    for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++) {
        blm_options o   = large((blm_kind)kind, 6);
        o.bits          = 1 << 17;
        o.threads       = 8;
        blm__bulk.bytes = 1;
        blm_filter *f = make(&o), *g = make(&o);
        assert_status(blm_add_fixed(f, keys, 8, MANY, NULL, NULL), BLM_OK);
        add_slowly(g, keys, MANY, NULL);
        assert_same(f, g);
        blm_free(f);
        blm_free(g);
    }
    blm__bulk = usual;
    free(keys);
}

/* In a file, the regions that changed are known: after a sync and a verify all is good. */
static void a_file_knows_what_changed(void **state)
{
    (void)state;
    uint64_t *keys = integers(MANY, 10);
    for (uint32_t threads = 1; threads <= 2; threads++)
        for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++) {
            blm_options o    = large((blm_kind)kind, 4);
            blm_verdict v    = { .size = sizeof v };
            const char *path = at("bulk.blm");
            o.flags |= BLM_REPLACE;
            blm_filter *f = create_at(path, &o), *g = make(&o);
            assert_status(blm_sync(f, NULL), BLM_OK);
            blm_set_threads(f, threads);
            assert_status(blm_add_fixed(f, keys, 8, MANY, NULL, NULL), BLM_OK);
            assert_status(blm_close(f, NULL), BLM_OK);
            f = open_at(path, 0);
            assert_status(blm_verify(f, &v, NULL), BLM_OK);
            assert_int_equal(v.good, v.regions);
            add_slowly(g, keys, MANY, NULL);
            assert_same(f, g);
            blm_free(f);
            blm_free(g);
        }
    free(keys);
}

static void a_file_of_another_system_knows_too(void **state)
{
    (void)state;
    uint64_t *keys = integers(MANY, 12), before = atomic_load(&blm__in_cache_bytes);
    atomic_store(&blm__in_cache_bytes, 0);
    for (size_t i = 0; i < COUNT_OF(other_rows); i++) {
        blm_options o    = other_options(&other_rows[i]);
        blm_verdict v    = { .size = sizeof v };
        const char *path = at("other.blm");
        o.flags |= BLM_REPLACE;
        blm_filter *f = create_at(path, &o), *g = make(&o);
        assert_status(blm_sync(f, NULL), BLM_OK);
        assert_status(blm_add_fixed(f, keys, 8, MANY, NULL, NULL), BLM_OK);
        assert_status(blm_close(f, NULL), BLM_OK);
        f = open_at(path, 0);
        assert_status(blm_verify(f, &v, NULL), BLM_OK);
        assert_int_equal(v.good, v.regions);
        add_slowly(g, keys, MANY, NULL);
        assert_same(f, g);
        blm_free(f);
        blm_free(g);
    }
    atomic_store(&blm__in_cache_bytes, before);
    free(keys);
}

/* ---- the threads themselves ---- */

struct tally {
    _Atomic size_t next, calls;
    uint8_t        done[1000];
};

static void count_pieces(void *ctx)
{
    struct tally *t = ctx;
    size_t        i;
    atomic_fetch_add(&t->calls, 1);
    while ((i = blm__next_share(&t->next)) < COUNT_OF(t->done))
        t->done[i]++;
}

static void pieces_are_done_once(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 0, 1, 2, 7, 1000 };
    for (size_t n = 0; n < COUNT_OF(threads); n++) {
        struct tally t = { .next = 0 };
        blm__threads_run(threads[n], count_pieces, &t);
        for (size_t i = 0; i < COUNT_OF(t.done); i++)
            assert_int_equal(t.done[i], 1);
        assert_true(t.calls >= 1 && t.calls <= BLM__MAX_THREADS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_adds_are_adds),
        cmocka_unit_test(other_systems_adds_are_adds),
        cmocka_unit_test(one_key_a_million_times),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(digests_by_threads),
        cmocka_unit_test(hashes_are_keys),
        cmocka_unit_test(a_bad_key_ends_it),
        cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(without_memory_keys_are_added_all_the_same),
        cmocka_unit_test(without_room_too),
        cmocka_unit_test(pieces_are_done_once),
        cmocka_unit_test_setup_teardown(a_file_knows_what_changed, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(a_file_of_another_system_knows_too, scratch_make,
                                        scratch_remove),
    };
    return cmocka_run_group_tests(tests, small_is_large, NULL);
}
