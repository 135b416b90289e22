/* SPDX-License-Identifier: MIT */
/* Counters against an array of plain integers that does the same sums. */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "unit/support.h"

static blm_filter *counters(uint64_t m, uint32_t k, uint32_t lines, uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_COUNTING;
    o.flags       = flags | BLM_SEEDED;
    o.bits        = m;
    o.probes      = k;
    o.lines       = lines;
    blm_filter *f = make(&o);
    assert_true(params_of(f).bits == m && params_of(f).lines == lines);
    return f;
}

static unsigned counter(const blm_filter *f, uint64_t cell)
{
    const uint8_t *p = blm_view(f, 0, NULL);
    return p[cell / 2] >> cell % 2 * 4 & 15;
}

/* Adds and removes at random, crowded enough that counters saturate: after each step every
 * counter is what the model says, where 15 is for ever. */
static void counters_do_the_sums(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++) {
        /* One line; two lines of four, which often meet; five of ten. */
        static const struct {
            uint32_t m, k, lines, keys;
        } row[] = { { 128, 7, 1, 60 }, { 512, 12, 2, 12 }, { 1280, 40, 5, 12 } };
        enum { M = 1280, K = 40, KEYS = 60 };
        const uint32_t m = row[round / 2].m, keys = row[round / 2].keys;
        bool           shared = round % 2;
        blm_filter    *f =
            counters(m, row[round / 2].k, row[round / 2].lines, shared ? BLM_SHARED : 0);
        unsigned   model[M] = { 0 }, added[KEYS] = { 0 };
        uint64_t   items     = 0;
        bool       saturated = false;
        struct rng r         = { 1 };
        for (int step = 0; step < 3000; step++) {
            uint32_t key = (uint32_t)rng_below(&r, keys);
            uint64_t pos[K];
            size_t   n = 0;
            blm_positions(f, &key, 4, pos, K, &n);
            if (rng_below(&r, 100) < 52) {
                bool is_new = false;
                for (size_t j = 0; j < n; j++) {
                    is_new |= model[pos[j]] == 0;
                    model[pos[j]] += model[pos[j]] < 15;
                }
                assert_status(blm_add(f, &key, 4), is_new ? BLM_OK : BLM_PRESENT);
                added[key]++;
                items++;
            } else if (added[key]) { /* only what is there is taken back */
                for (size_t j = 0; j < n; j++)
                    model[pos[j]] -= model[pos[j]] < 15;
                assert_status(blm_remove(f, &key, 4), BLM_OK);
                added[key]--;
                items--;
            }
            uint64_t stuck = 0;
            for (uint64_t c = 0; c < m; c++) {
                assert_int_equal(counter(f, c), model[c]);
                stuck += model[c] == 15;
            }
            saturated |= stuck > 0;
            assert_true(stats_of(f).stuck == stuck);
            assert_true(params_of(f).items == items);
            for (uint32_t a = 0; a < keys; a++)
                assert_true(!added[a] || blm_check(f, &a, 4));
        }
        assert_true(saturated);
        blm_free(f);
    }
}

static void what_was_never_added_cannot_be_removed(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        if (v->kind != BLM_COUNTING)
            continue;
        blm_filter *f       = make_flavour(v, 1000, 0.001, 1), *was;
        uint64_t    refused = 0;
        for (uint32_t i = 0; i < 1000; i++)
            blm_add(f, &i, 4);
        assert_status(blm_copy(f, &was, NULL), BLM_OK);
        for (uint32_t i = 5000; i < 6000; i++)
            if (!blm_check(f, &i, 4)) {
                assert_status(blm_remove(f, &i, 4), BLM_E_ABSENT);
                refused++;
            }
        assert_true(refused > 980);
        assert_true(same_bits(f, was) && params_of(f).items == 1000);
        blm_free(f);
        blm_free(was);
    }
}

static void removing_everything_leaves_nothing(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        if (v->kind != BLM_COUNTING)
            continue;
        struct key_set s = key_set_make(3, 1000);
        blm_filter    *f = make_flavour(v, 1000, 0.01, 1);
        blm_add_many(f, s.keys, 1000, NULL, NULL);
        blm_add_many(f, s.keys, 500, NULL, NULL); /* half of them twice */
        for (size_t i = 0; i < 1000; i++) {
            assert_status(blm_remove(f, s.keys[i].data, s.keys[i].len), BLM_OK);
            assert_true(i >= 500 || blm_check(f, s.keys[i].data, s.keys[i].len));
        }
        for (size_t i = 0; i < 500; i++) {
            assert_true(blm_check(f, s.keys[i].data, s.keys[i].len));
            assert_status(blm_remove(f, s.keys[i].data, s.keys[i].len), BLM_OK);
        }
        assert_true(stats_of(f).ones == 0 && params_of(f).items == 0);
        assert_status(blm_remove(f, s.keys[0].data, s.keys[0].len), BLM_E_ABSENT);
        assert_true(params_of(f).items == 0);
        blm_free(f);
        key_set_free(&s);
    }
}

/* Do the k positions of a key name a counter twice? */
static bool names_twice(const uint64_t *pos, size_t k)
{
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < i; j++)
            if (pos[i] == pos[j])
                return true;
    return false;
}

/* Two keys that share a counter: removing one leaves the other. In a filter of four lines, find
 * such a pair; and one key that names a counter twice, which add and remove both count twice. */
static void shared_counters_survive_a_removal(void **state)
{
    (void)state;
    enum { K = 16 };
    blm_filter *f     = counters(512, K, 2, 0);
    unsigned    pairs = 0, doubles = 0;
    for (uint32_t a = 0; a < 60; a++)
        for (uint32_t b = a + 1; b < 60; b++) {
            uint64_t x[K], y[K];
            size_t   n;
            bool     share = false;
            blm_positions(f, &a, 4, x, K, &n);
            blm_positions(f, &b, 4, y, K, &n);
            for (int i = 0; i < K * K; i++)
                share |= x[i / K] == y[i % K];
            bool twice = names_twice(x, K);
            if (!share && !twice)
                continue;
            blm_clear(f);
            blm_add(f, &a, 4);
            blm_add(f, &b, 4);
            assert_status(blm_remove(f, &a, 4), BLM_OK);
            assert_true(blm_check(f, &b, 4));
            assert_status(blm_remove(f, &b, 4), BLM_OK);
            assert_true(stats_of(f).ones == 0);
            pairs += share;
            doubles += twice;
        }
    assert_true(pairs > 100 && doubles > 10);
    blm_free(f);
}

/* A key that names one counter twice needs two counts there: with one it was never added. */
static void a_doubled_counter_is_needed_twice(void **state)
{
    (void)state;
    enum { K = 6 };
    static const char *const kernels[] = { "portable", "avx2", "avx512" };
    for (size_t v = 0; v < COUNT_OF(kernels); v++) {
        blm_filter *f = counters(512, K, 2, 0);
        uint8_t    *p = (uint8_t *)(uintptr_t)blm_view(f, 0, NULL);
        uint64_t    x[K];
        uint32_t    a = 0;
        size_t      n;
        if (!blm__kernel_named(kernels[v])) {
            blm_free(f);
            continue;
        }
        f->body.kernel = blm__kernel_named(kernels[v]);
        do {
            assert_true(++a < 10000);
            blm_positions(f, &a, 4, x, K, &n);
        } while (!names_twice(x, K));
        for (int i = 0; i < K; i++)
            p[x[i] / 2] = (uint8_t)((p[x[i] / 2] & ~(15u << x[i] % 2 * 4)) | 1u << x[i] % 2 * 4);
        assert_true(blm_check(f, &a, 4)); /* every counter it asks is in use: maybe */
        assert_status(blm_remove(f, &a, 4), BLM_E_ABSENT);
        for (int i = 0; i < K; i++)
            assert_int_equal(counter(f, x[i]), 1);
        assert_status(blm_add(f, &a, 4), BLM_PRESENT);
        assert_status(blm_remove(f, &a, 4), BLM_OK);
        for (int i = 0; i < K; i++)
            assert_int_equal(counter(f, x[i]), 1);
        blm_free(f);
    }
}

static void saturation_is_for_ever(void **state)
{
    (void)state;
    blm_filter *f = counters(1024, 4, 1, 0);
    for (int i = 0; i < 15; i++)
        blm_add(f, "k", 1);
    assert_int_equal(stats_of(f).stuck, stats_of(f).ones);
    for (int i = 0; i < 100; i++) {
        assert_status(blm_add(f, "k", 1), BLM_PRESENT);
        assert_status(blm_remove(f, "k", 1), BLM_OK);
        assert_status(blm_remove(f, "k", 1), BLM_OK);
        assert_true(blm_check(f, "k", 1));
    }
    assert_int_equal(stats_of(f).stuck, stats_of(f).ones);
    blm_free(f);
}

/* All 256 pairs of counter values, in both halves of a byte: sums stop at 15, the lesser stays. */
static void unions_add_and_intersections_take_the_lesser(void **state)
{
    (void)state;
    blm_filter *a = counters(512, 2, 1, 0), *b = counters(512, 2, 1, 0);
    uint8_t    *x = (uint8_t *)(uintptr_t)blm_view(a, 0, NULL);
    uint8_t    *y = (uint8_t *)(uintptr_t)blm_view(b, 0, NULL);
    for (int op = 0; op < 2; op++) {
        for (unsigned i = 0; i < 256; i++) { /* cell 2i has (i/16, i%16), cell 2i+1 the reverse */
            x[i] = (uint8_t)(i / 16 | (i % 16) << 4);
            y[i] = (uint8_t)(i % 16 | (i / 16) << 4);
        }
        assert_status((op ? blm_intersect : blm_union)(a, b, NULL), BLM_OK);
        for (unsigned i = 0; i < 256; i++) {
            unsigned p = i / 16, q = i % 16, sum = p + q < 15 ? p + q : 15, min = p < q ? p : q;
            assert_int_equal(counter(a, 2 * i), op ? min : sum);
            assert_int_equal(counter(a, 2 * i + 1), op ? min : sum);
        }
    }
    blm_free(a);
    blm_free(b);
}

/* Every kernel's counters against the portable ones: the same answers, the same bytes; in cache and
 * past it, all k, all L, crowded. */
static void kernels_agree(void **state)
{
    (void)state;
    for (uint32_t lines = 1; lines <= 5; lines++)
        for (uint32_t words = 1; words <= 8; words++) {
            blm_filter *a = counters(128 * 40, words * lines, lines, 0), *b;
            uint64_t    keys[BLM__BATCH];
            uint8_t     x[BLM__BATCH], y[BLM__BATCH];
            struct rng  r = { lines * 8 + words };
            assert_status(blm_copy(a, &b, NULL), BLM_OK);
            b->body.kernel = &blm__kernel_portable;
            for (int step = 0; step < 60; step++) {
                size_t n = (size_t)rng_below(&r, BLM__BATCH + 1), m = 0, k = 0;
                for (size_t i = 0; i < n; i++)
                    keys[i] = rng_below(&r, 400);
                switch (rng_below(&r, 3)) {
                case 0:
                    blm_add_fixed(a, keys, 8, n, x, NULL);
                    blm_add_fixed(b, keys, 8, n, y, NULL);
                    break;
                case 1:
                    m = blm_check_fixed(a, keys, 8, n, x);
                    k = blm_check_fixed(b, keys, 8, n, y);
                    break;
                default:
                    assert_status(blm_remove_fixed(a, keys, 8, n, x, &m), BLM_OK);
                    assert_status(blm_remove_fixed(b, keys, 8, n, y, &k), BLM_OK);
                }
                assert_true(m == k && memcmp(x, y, n) == 0 && same_bits(a, b));
            }
            blm_free(a);
            blm_free(b);
        }
}

/* A filter too large for the cache fetches ahead; its batches must do what single calls do. */
static void batches_are_single_calls(void **state)
{
    (void)state;
    enum { N = 3000 };
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_COUNTING;
    o.flags       = BLM_SEEDED;
    o.items       = 200000;
    o.rate        = 1e-3;
    blm_filter *a = make(&o), *b = make(&o);
    uint8_t    *got  = malloc(N);
    uint64_t   *keys = malloc(N * sizeof *keys);
    struct rng  r    = { 5 };
    size_t      removed, sum = 0;
    assert_true(params_of(a).bytes > BLM__IN_CACHE_BYTES);
    for (size_t i = 0; i < N; i++)
        keys[i] = rng_below(&r, N / 2);
    blm_add_fixed(a, keys, 8, N, got, NULL);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(blm_add(b, &keys[i], 8) == BLM_OK, got[i]);
    assert_true(blm_check_fixed(a, keys, 8, N, got) == N);
    for (size_t i = 0; i < N; i++)
        keys[i] = rng_below(&r, N); /* half of them never added */
    assert_status(blm_remove_fixed(a, keys, 8, N, got, &removed), BLM_OK);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(blm_remove(b, &keys[i], 8) == BLM_OK, got[i]);
        sum += got[i];
    }
    assert_true(removed == sum && sum > N / 4 && sum < N);
    assert_true(same_bits(a, b) && params_of(a).items == N - sum && params_of(b).items == N - sum);
    blm_free(a);
    blm_free(b);
    free(got);
    free(keys);
}

static void removing_many_says_what_it_did(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        struct key_set s = key_set_make(9, 300);
        blm_filter    *f = make_flavour(v, 1000, 0.001, 1);
        uint8_t        gone[300];
        size_t         removed = 7;
        blm_add_many(f, s.keys, 200, NULL, NULL);
        if (!(params_of(f).can & BLM_CAN_REMOVE)) {
            assert_status(blm_remove_many(f, s.keys, 300, gone, &removed), BLM_E_UNSUPPORTED);
            assert_true(removed == 0);
        } else {
            assert_status(blm_remove_many(f, s.keys, 300, gone, &removed), BLM_OK);
            assert_true(removed >= 200 && removed <= 202);
            for (size_t i = 0; i < 200; i++)
                assert_int_equal(gone[i], 1);
            assert_status(blm_remove_many(f, NULL, 1, NULL, NULL), BLM_E_ARGUMENT);
            assert_status(blm_remove_many(f, NULL, 0, NULL, NULL), BLM_OK);
            blm_key bad[2] = { s.keys[0], { NULL, 3 } };
            blm_add(f, s.keys[0].data, s.keys[0].len);
            assert_status(blm_remove_many(f, bad, 2, gone, &removed), BLM_E_ARGUMENT);
            assert_true(removed == 1);
        }
        blm_free(f);
        key_set_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_do_the_sums),
        cmocka_unit_test(what_was_never_added_cannot_be_removed),
        cmocka_unit_test(removing_everything_leaves_nothing),
        cmocka_unit_test(shared_counters_survive_a_removal),
        cmocka_unit_test(a_doubled_counter_is_needed_twice),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(removing_many_says_what_it_did),
        cmocka_unit_test(saturation_is_for_ever),
        cmocka_unit_test(unions_add_and_intersections_take_the_lesser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
