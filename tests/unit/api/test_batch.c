/* SPDX-License-Identifier: MIT */
/* Batches are single calls, only faster: same bits, same answers, in the same order. */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "core/kernel/hands.h"
#include "unit/support.h"

#define MANY 1500u /* several pieces of BLM__BATCH and a rest */

/* Keys with repeats, near and far: a batch that holds a key twice adds it once. */
static struct key_set keys_with_repeats(uint64_t seed, size_t count)
{
    struct key_set s = key_set_make(seed, count);
    struct rng     r = { seed + 1 };
    for (size_t i = 20; i < count; i++)
        switch (rng_below(&r, 8)) {
        case 0:
            s.keys[i] = s.keys[i - 1];
            break;
        case 1:
            s.keys[i] = s.keys[rng_below(&r, i)];
            break;
        default:
            break;
        }
    return s;
}

static void many_is_one_at_a_time(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, 255, 256, 257, 1000, MANY };
    struct key_set      s       = keys_with_repeats(1, MANY);
    EACH_FLAVOUR(v)
    for (size_t z = 0; z < COUNT_OF(sizes); z++) {
        size_t n = sizes[z], done = 77, hits = 0;
        if (v->kind == BLM_WINDOW && n > 400)
            continue; /* it forgets */
        blm_filter *a = make_flavour(v, 400, 0.1, 5), *b = make_flavour(v, 400, 0.1, 5);
        uint8_t     fresh[MANY + 1], maybe[MANY + 1];
        memset(fresh, 0xee, sizeof fresh);
        memset(maybe, 0xee, sizeof maybe);
        assert_status(blm_add_many(a, s.keys, n, fresh, &done), BLM_OK);
        assert_int_equal(done, n);
        for (size_t i = 0; i < n; i++) {
            blm_status st = blm_add(b, s.keys[i].data, s.keys[i].len);
            if (fresh[i] != (st == BLM_OK))
                fail_msg("%s: key %zu of %zu is %sfresh in the batch", v->name, i, n,
                         fresh[i] ? "" : "not ");
        }
        assert_int_equal(fresh[n], 0xee);
        assert_true(same_bits(a, b));
        assert_true(params_of(a).items == params_of(b).items);
        size_t said = blm_check_many(a, s.keys, n, maybe);
        for (size_t i = 0; i < n; i++)
            hits += maybe[i];
        assert_int_equal(said, n);
        assert_int_equal(hits, n);
        assert_int_equal(maybe[n], 0xee);
        blm_free(a);
        blm_free(b);
    }
    key_set_free(&s);
}

static void checks_agree_on_absent_keys_too(void **state)
{
    (void)state;
    struct key_set in = key_set_make(2, 700), out = key_set_make(3, MANY);
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 700, 0.1, 5);
        uint8_t     maybe[MANY];
        size_t      said, hits = 0;
        blm_add_many(f, in.keys, in.count, NULL, NULL);
        said = blm_check_many(f, out.keys, MANY, maybe);
        for (size_t i = 0; i < MANY; i++) {
            assert_int_equal(maybe[i], blm_check(f, out.keys[i].data, out.keys[i].len));
            hits += maybe[i];
        }
        assert_int_equal(said, hits);
        assert_int_equal(blm_check_many(f, out.keys, MANY, NULL), hits);
        assert_true(hits > 10 && hits < 400); /* both answers occur */
        blm_free(f);
    }
    key_set_free(&in);
    key_set_free(&out);
}

/* The widths with loops of their own (4, 8, 16, 20) and others; many, fixed and digests agree. */
static void fixed_many_and_digests_are_one(void **state)
{
    (void)state;
    static const size_t widths[] = { 1, 3, 4, 7, 8, 9, 16, 20, 32, 100 };
    enum { N = 600 };
    static uint8_t    bytes[N * 100 + 1];
    static blm_key    keys[N];
    static blm_digest digests[N];
    struct rng        r = { 4 };
    EACH_FLAVOUR(v)
    for (size_t w = 0; w < COUNT_OF(widths); w++)
        for (int hash = BLM_HASH_XXH3; hash <= BLM_HASH_SIPHASH; hash++) {
            size_t      width = widths[w];
            uint8_t    *from  = bytes + 1; /* no alignment is promised */
            uint8_t     fa[N], fb[N], fc[N];
            blm_options o = flavour_options(v, 400, 0.1, 5);
            o.hash        = (blm_hash)hash;
            blm_filter *a = make(&o), *b = make(&o), *c = make(&o);
            rng_bytes(&r, from, width * N);
            memcpy(from + width * 300, from, width * 50); /* repeats */
            for (size_t i = 0; i < N; i++) {
                keys[i] = (blm_key){ from + i * width, width };
                blm_digest_of(a, keys[i].data, width, &digests[i]);
            }
            assert_status(blm_add_fixed(a, from, width, 400, fa, NULL), BLM_OK);
            assert_status(blm_add_many(b, keys, 400, fb, NULL), BLM_OK);
            assert_status(blm_add_digests(c, digests, 400, fc, NULL), BLM_OK);
            assert_memory_equal(fa, fb, 400);
            assert_memory_equal(fa, fc, 400);
            assert_true(same_bits(a, b) && same_bits(a, c));
            size_t n = blm_check_fixed(a, from, width, N, fa);
            assert_int_equal(blm_check_many(a, keys, N, fb), n);
            assert_int_equal(blm_check_digests(a, digests, N, fc), n);
            assert_memory_equal(fa, fb, N);
            assert_memory_equal(fa, fc, N);
            assert_int_equal(blm_check_fixed(a, from, width, N, NULL), n);
            assert_int_equal(blm_check_digests(a, digests, N, NULL), n);
            assert_true(n >= 400);
            blm_free(a);
            blm_free(b);
            blm_free(c);
        }
}

/* Long batches of filters that are taken to be past the cache: absent keys, present ones, stretches of
 * either and both at random, so that an engine changes its way between them. */
static void judge_long(const blm_filter *f, const uint64_t *in, size_t n, unsigned way)
{
    enum { LONG = 3 * BLM__HANDS_TRIAL };
    struct rng r    = { way };
    uint64_t  *keys = malloc(LONG * sizeof *keys);
    blm_key   *list = malloc(LONG * sizeof *list);
    uint8_t   *is = malloc(LONG + 1), *got = malloc(LONG + 1);
    assert_true(keys && list && is && got);
    for (size_t i = 0; i < LONG; i++) {
        const bool there[] = { false, true, i / 5000 % 2, rng_below(&r, 2) };
        keys[i]            = there[way] ? in[rng_below(&r, n)] : rng_next(&r);
        list[i]            = (blm_key){ &keys[i], 8 };
        is[i]              = blm_check(f, &keys[i], 8);
    }
    for (size_t m = BLM__HANDS_LEAST - 1; m <= LONG; m = m < 600 ? m + 11 : 3 * m) {
        size_t hits = 0;
        for (size_t i = 0; i < m; i++)
            hits += is[i];
        got[m] = 77;
        assert_int_equal(blm_check_fixed(f, keys, 8, m, got), hits);
        assert_memory_equal(got, is, m);
        memset(got, 9, m);
        assert_int_equal(blm_check_many(f, list, m, got), hits);
        assert_memory_equal(got, is, m);
        assert_int_equal(got[m], 77);
    }
    free(keys);
    free(list);
    free(is);
    free(got);
}

static void long_batches_past_the_cache_are_single_calls(void **state)
{
    (void)state;
    static const char *const schemes[] = { NULL, "guava", "redisbloom" };
    enum { N = 20000 };
    uint64_t   in[N], before = atomic_exchange(&blm__in_cache_bytes, 0);
    struct rng r = { 5 };
    for (size_t i = 0; i < N; i++)
        in[i] = rng_next(&r);
    for (size_t s = 0; s < COUNT_OF(schemes); s++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f = NULL;
        o.kind        = s == 2 ? BLM_SCALABLE : BLM_CLASSIC;
        o.items       = N;
        o.rate        = 0.01;
        o.scheme      = schemes[s];
        assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
        blm_add_fixed(f, in, 8, N, NULL, NULL);
        for (unsigned way = 0; way < 4; way++)
            judge_long(f, in, N, way);
        blm_free(f);
    }
    atomic_store(&blm__in_cache_bytes, before);
}

static void width_zero_is_the_empty_key(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 100, 0.01, 5);
        uint8_t     fresh[3];
        size_t      done;
        assert_status(blm_add_fixed(f, NULL, 0, 3, fresh, &done), BLM_OK);
        assert_int_equal(done, 3);
        assert_true(fresh[0] == 1 && fresh[1] == 0 && fresh[2] == 0);
        assert_true(blm_check(f, "", 0));
        assert_int_equal(blm_check_fixed(f, NULL, 0, 5, NULL), 5);
        blm_free(f);
    }
}

static void nothing_is_added_from_nowhere(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f        = make_flavour(v, 100, 0.01, 5);
        uint8_t     maybe[3] = { 0 };
        size_t      done     = 9;
        assert_status(blm_add_many(f, NULL, 3, NULL, &done), BLM_E_ARGUMENT);
        assert_int_equal(done, 0);
        done = 9;
        assert_status(blm_add_fixed(f, NULL, 8, 3, NULL, &done), BLM_E_ARGUMENT);
        assert_int_equal(done, 0);
        done = 9;
        assert_status(blm_add_digests(f, NULL, 3, NULL, &done), BLM_E_ARGUMENT);
        assert_int_equal(done, 0);
        assert_int_equal(blm_check_many(f, NULL, 3, maybe), 3);
        assert_memory_equal(maybe, "\1\1\1", 3);
        assert_int_equal(blm_check_fixed(f, NULL, 8, 3, NULL), 3);
        memset(maybe, 0, 3);
        assert_int_equal(blm_check_fixed(f, NULL, 8, 3, maybe), 3);
        assert_memory_equal(maybe, "\1\1\1", 3);
        assert_int_equal(blm_check_digests(f, NULL, 3, NULL), 3);
        memset(maybe, 0, 3);
        assert_int_equal(blm_check_digests(f, NULL, 3, maybe), 3);
        assert_memory_equal(maybe, "\1\1\1", 3);
        assert_status(blm_add_many(f, NULL, 0, NULL, &done), BLM_OK);
        assert_status(blm_add_fixed(f, NULL, 8, 0, NULL, NULL), BLM_OK);
        assert_status(blm_add_digests(f, NULL, 0, NULL, NULL), BLM_OK);
        assert_int_equal(blm_check_many(f, NULL, 0, NULL), 0);
        assert_true(stats_of(f).ones == 0);
        blm_free(f);
    }
}

/* A bad key stops the batch where it stands: those before it are in, it and the rest are not. */
static void a_bad_key_stops_the_batch_there(void **state)
{
    (void)state;
    static const size_t at[] = { 0, 1, 255, 256, 300 };
    struct key_set      s    = key_set_make(6, 400);
    EACH_FLAVOUR(v)
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        blm_filter *a = make_flavour(v, 1000, 1e-5, 5), *b = make_flavour(v, 1000, 1e-5, 5);
        blm_key     good = s.keys[at[i]];
        uint8_t     maybe[400];
        size_t      done = 999, want = 0;
        blm_add_many(b, s.keys, at[i], NULL, NULL);
        s.keys[at[i]] = (blm_key){ NULL, 3 };
        assert_status(blm_add_many(a, s.keys, 400, NULL, &done), BLM_E_ARGUMENT);
        assert_int_equal(done, at[i]);
        assert_true(same_bits(a, b));
        assert_true(params_of(a).items == params_of(b).items);
        /* Asked, it is the one that cannot be known, and no reason to stop. */
        size_t said = blm_check_many(a, s.keys, 400, maybe);
        for (size_t j = 0; j < 400; j++) {
            bool expect = j == at[i] || blm_check(b, s.keys[j].data, s.keys[j].len);
            assert_int_equal(maybe[j], expect);
            want += expect;
        }
        assert_int_equal(said, want);
        s.keys[at[i]] = good;
        blm_free(a);
        blm_free(b);
    }
    key_set_free(&s);
}

static void a_foreign_digest_stops_the_batch_there(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter       *f = make_flavour(v, 1000, 1e-5, 5), *g = make_flavour(v, 1000, 1e-5, 6);
        static blm_digest d[100];
        uint8_t           maybe[100];
        size_t            done;
        for (uint32_t i = 0; i < 100; i++)
            blm_digest_of(i == 70 ? g : f, &i, 4, &d[i]);
        assert_status(blm_add_digests(f, d, 100, NULL, &done), BLM_E_MISMATCH);
        assert_int_equal(done, 70);
        assert_int_equal(blm_check_digests(f, d, 100, maybe), 71);
        assert_int_equal(maybe[70], 1);
        assert_int_equal(maybe[71], 0);
        blm_free(f);
        blm_free(g);
    }
}

/* ---- progress ---- */

struct watch {
    uint64_t calls, last, total, stop_after;
};

static bool watch_it(void *ctx, uint64_t done, uint64_t total)
{
    struct watch *w = ctx;
    assert_true(done > w->last && done <= total);
    w->last  = done;
    w->total = total;
    return ++w->calls < w->stop_after;
}

static void long_batches_tell_and_can_be_stopped(void **state)
{
    (void)state;
    enum { N = 300000 };
    uint64_t *keys = malloc(N * sizeof *keys);
    assert_non_null(keys);
    for (uint64_t i = 0; i < N; i++)
        keys[i] = i;
    EACH_FLAVOUR(v)
    {
        blm_filter  *f = make_flavour(v, N, 0.01, 5);
        struct watch w = { .stop_after = UINT64_MAX };
        size_t       done;
        blm_set_progress(f, watch_it, &w);
        assert_status(blm_add_fixed(f, keys, 8, N, NULL, &done), BLM_OK);
        assert_int_equal(done, N);
        assert_true(w.calls >= 4 && w.total == N);
        blm_clear(f);
        w = (struct watch){ .stop_after = 2 };
        assert_status(blm_add_fixed(f, keys, 8, N, NULL, &done), BLM_E_CANCELLED);
        assert_int_equal(w.calls, 2);
        assert_true(done == w.last && done < N); /* what it says is in is in */
        assert_int_equal(blm_check_fixed(f, keys, 8, done, NULL), done);
        blm_set_progress(f, NULL, NULL);
        assert_status(blm_add_fixed(f, keys, 8, N, NULL, &done), BLM_OK);
        blm_free(f);
    }
    free(keys);
}

static bool until_all(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    return done < total;
}

/* Who says stop when everything is done has stopped nothing. */
static void a_batch_that_is_done_is_not_cancelled(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    uint64_t *keys = malloc(N * sizeof *keys);
    assert_non_null(keys);
    for (uint64_t i = 0; i < N; i++)
        keys[i] = i;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, N, 0.01, 5);
        size_t      done;
        blm_set_progress(f, until_all, NULL);
        for (uint32_t threads = 1; threads < 4; threads++) {
            blm_set_threads(f, threads);
            assert_status(blm_clear(f), BLM_OK);
            assert_status(blm_add_fixed(f, keys, 8, N, NULL, &done), BLM_OK);
            assert_int_equal(done, N);
        }
        blm_status st = blm_remove_fixed(f, keys, 8, N, NULL, &done);
        assert_true(st == BLM_OK || st == BLM_E_UNSUPPORTED);
        blm_free(f);
    }
    free(keys);
}

/* Hashes that the caller brings are not cut into batches: long runs of them are keys all the same. */
static void hashes_are_their_keys(void **state)
{
    (void)state;
    static const double rates[] = { 0.01, 1e-6, 1e-9 }; /* one, two, three lines a key */
    struct key_set      s       = keys_with_repeats(9, MANY);
    for (size_t r = 0; r < COUNT_OF(rates); r++)
        for (size_t items = 1000; items <= 1000000; items *= 1000) { /* in cache, and not */
            blm_filter *a = NULL, *b = NULL;
            blm_options o = BLM_OPTIONS_INIT;
            uint64_t    h[MANY];
            uint8_t     one[MANY], many[MANY];
            size_t      done = 0;
            o.flags          = BLM_SEEDED;
            o.seed[0]        = 5;
            o.kind           = BLM_BLOCKED;
            o.items          = items;
            o.rate           = rates[r];
            assert_status(blm_create(&o, &a, NULL), BLM_OK);
            assert_status(blm_create(&o, &b, NULL), BLM_OK);
            assert_status(blm_hash_many(a, s.keys, MANY, h), BLM_OK);
            assert_status(blm_add_hashes(a, h, MANY, many, &done), BLM_OK);
            assert_int_equal(done, MANY);
            for (size_t i = 0; i < MANY; i++)
                one[i] = blm_add(b, s.keys[i].data, s.keys[i].len) == BLM_OK;
            assert_memory_equal(one, many, MANY);
            assert_true(same_bits(a, b));
            assert_int_equal(blm_check_hashes(a, h, MANY, many), MANY);
            blm_free(a);
            blm_free(b);
        }
    key_set_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_is_one_at_a_time),
        cmocka_unit_test(checks_agree_on_absent_keys_too),
        cmocka_unit_test(fixed_many_and_digests_are_one),
        cmocka_unit_test(long_batches_past_the_cache_are_single_calls),
        cmocka_unit_test(width_zero_is_the_empty_key),
        cmocka_unit_test(nothing_is_added_from_nowhere),
        cmocka_unit_test(a_bad_key_stops_the_batch_there),
        cmocka_unit_test(a_foreign_digest_stops_the_batch_there),
        cmocka_unit_test(hashes_are_their_keys),
        cmocka_unit_test(long_batches_tell_and_can_be_stopped),
        cmocka_unit_test(a_batch_that_is_done_is_not_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
