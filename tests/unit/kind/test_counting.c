/* SPDX-License-Identifier: MIT */
/* Counters against an array of plain integers that does the same sums. */
#include "filter.h"
#include "unit/support.h"

static blm_filter *counters(uint64_t m, uint32_t k, uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind   = BLM_COUNTING;
    o.flags  = flags | BLM_SEEDED;
    o.bits   = m;
    o.probes = k;
    return make(&o);
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
    for (int shared = 0; shared < 2; shared++) {
        enum { M = 70, K = 3, KEYS = 60 };
        blm_filter *f         = counters(M, K, shared ? BLM_SHARED : 0);
        unsigned    model[M]  = { 0 }, added[KEYS] = { 0 };
        uint64_t    items     = 0;
        bool        saturated = false;
        struct rng  r         = { 1 };
        for (int step = 0; step < 3000; step++) {
            uint32_t key = (uint32_t)rng_below(&r, KEYS);
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
            for (uint64_t c = 0; c < M; c++) {
                assert_int_equal(counter(f, c), model[c]);
                stuck += model[c] == 15;
            }
            saturated |= stuck > 0;
            assert_true(stats_of(f).stuck == stuck);
            assert_true(params_of(f).items == items);
            for (uint32_t a = 0; a < KEYS; a++)
                assert_true(!added[a] || blm_check(f, &a, 4));
        }
        assert_true(saturated);
        blm_free(f);
    }
}

static void what_was_never_added_cannot_be_removed(void **state)
{
    (void)state;
    EACH_FLAVOUR (v) {
        if (v->kind != BLM_COUNTING)
            continue;
        blm_filter *f = make_flavour(v, 1000, 0.001, 1), *was;
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
    EACH_FLAVOUR (v) {
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

/* Two keys that share a counter: removing one leaves the other. In a filter of 40 counters, find
 * such a pair; and one key that names a counter twice, which add and remove both count twice. */
static void shared_counters_survive_a_removal(void **state)
{
    (void)state;
    blm_filter *f = counters(40, 3, 0);
    unsigned    pairs = 0, doubles = 0;
    for (uint32_t a = 0; a < 60; a++)
        for (uint32_t b = a + 1; b < 60; b++) {
            uint64_t x[3], y[3];
            size_t   n;
            bool     share = false, twice = false;
            blm_positions(f, &a, 4, x, 3, &n);
            blm_positions(f, &b, 4, y, 3, &n);
            for (int i = 0; i < 9; i++)
                share |= x[i / 3] == y[i % 3];
            twice = x[0] == x[1] || x[0] == x[2] || x[1] == x[2];
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
    blm_filter *f = counters(40, 3, 0);
    for (uint32_t a = 0;; a++) {
        uint64_t x[3];
        size_t   n;
        blm_positions(f, &a, 4, x, 3, &n);
        if (x[0] != x[1] || x[1] == x[2])
            continue;
        uint8_t *p = (uint8_t *)(uintptr_t)blm_view(f, 0, NULL);
        p[x[0] / 2] |= (uint8_t)(1u << x[0] % 2 * 4);
        p[x[2] / 2] |= (uint8_t)(1u << x[2] % 2 * 4);
        assert_true(blm_check(f, &a, 4)); /* every counter it asks is in use: maybe */
        assert_status(blm_remove(f, &a, 4), BLM_E_ABSENT);
        assert_int_equal(counter(f, x[0]), 1);
        assert_int_equal(counter(f, x[2]), 1);
        break;
    }
    blm_free(f);
}

static void saturation_is_for_ever(void **state)
{
    (void)state;
    blm_filter *f = counters(1000, 4, 0);
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
    blm_filter *a = counters(512, 2, 0), *b = counters(512, 2, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_do_the_sums),
        cmocka_unit_test(what_was_never_added_cannot_be_removed),
        cmocka_unit_test(removing_everything_leaves_nothing),
        cmocka_unit_test(shared_counters_survive_a_removal),
        cmocka_unit_test(a_doubled_counter_is_needed_twice),
        cmocka_unit_test(saturation_is_for_ever),
        cmocka_unit_test(unions_add_and_intersections_take_the_lesser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
