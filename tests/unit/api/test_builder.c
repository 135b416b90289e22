/* SPDX-License-Identifier: MIT */
#include "bloomery/embed.h"
#include "unit/fixed.h"

static void options_are_checked(void **state)
{
    (void)state;
    blm_options  o   = fixed_options(BLM_STATIC, 0, 1);
    blm_builder *b   = NULL;
    blm_error    err = { .status = BLM_OK };
    assert_status(blm_builder_new(&o, &b, &err), BLM_E_ARGUMENT);
    check_error(&err, BLM_E_ARGUMENT, "rate");
    assert_null(b);
    o.rate = 1.5;
    assert_status(blm_builder_new(&o, &b, NULL), BLM_E_ARGUMENT);
    o.rate = 0.01;
    o.bits = 1000;
    assert_status(blm_builder_new(&o, &b, NULL), BLM_E_ARGUMENT);
    o.bits   = 0;
    o.scheme = "guava";
    assert_status(blm_builder_new(&o, &b, NULL), BLM_E_UNSUPPORTED);
    o.scheme = NULL;
    o.kind   = (blm_kind)77;
    assert_status(blm_builder_new(&o, &b, NULL), BLM_E_ARGUMENT);
    assert_status(blm_builder_new(NULL, &b, NULL), BLM_E_ARGUMENT);
    o = fixed_options(BLM_STATIC, 1e-12, 1);
    b = builder_of(&o);
    blm_filter *f;
    assert_status(blm_builder_build(b, &f, &err), BLM_E_LIMIT);
    assert_null(f);
    blm_builder_free(b);
    blm_builder_free(NULL);
}

static void a_builder_builds_once(void **state)
{
    (void)state;
    blm_options  o = fixed_options(BLM_STATIC, 0.01, 1);
    blm_builder *b = builder_of(&o);
    blm_filter  *f, *again;
    uint64_t     k = 5;
    assert_status(blm_builder_exclude_fixed(b, &k, 8, 1), BLM_E_UNSUPPORTED);
    assert_status(blm_builder_add_fixed(b, NULL, 8, 1), BLM_E_ARGUMENT);
    blm_key bad = { NULL, 3 }, none = { NULL, 0 };
    assert_status(blm_builder_add(b, &bad, 1), BLM_E_ARGUMENT);
    assert_status(blm_builder_add(b, &none, 1), BLM_OK);
    assert_status(blm_builder_build(b, &f, NULL), BLM_OK);
    assert_status(blm_builder_build(b, &again, NULL), BLM_E_ARGUMENT);
    assert_status(blm_builder_add_fixed(b, &k, 8, 1), BLM_E_ARGUMENT);
    blm_builder_free(b);
    assert_true(blm_check(f, "", 0));
    assert_int_equal(params_of(f).items, 1);
    blm_free(f);
}

/* Bytes, numbers and hashes, at once and in pieces, with any number of threads. */
static void all_ways_in_lead_to_one_filter(void **state)
{
    (void)state;
    struct key_set s    = key_set_make(3, 70000);
    blm_options    o    = fixed_options(BLM_STATIC, 0.01, 1);
    blm_builder   *b[3] = { builder_of(&o), NULL, NULL };
    uint64_t      *h    = malloc(s.count * sizeof *h);
    o.threads           = 2;
    b[1]                = builder_of(&o);
    b[2]                = builder_of(&o);
    assert_status(blm_builder_add(b[0], s.keys, s.count), BLM_OK);
    assert_status(blm_builder_add(b[1], s.keys + 10, s.count - 10), BLM_OK);
    assert_status(blm_builder_add(b[1], s.keys, 10), BLM_OK);
    assert_status(blm_builder_hash(b[2], s.keys, s.count, h), BLM_OK);
    assert_status(blm_builder_add_hashes(b[2], h, s.count), BLM_OK);
    blm_filter *f = build_and_free(b[0]);
    assert_int_equal(blm_check_many(f, s.keys, s.count, NULL), s.count);
    for (size_t i = 1; i < 3; i++) {
        blm_filter *g = build_and_free(b[i]);
        assert_true(same_bits(f, g));
        blm_free(g);
    }
    blm_free(f);
    free(h);
    key_set_free(&s);
}

static void a_key_in_both_lists_is_named(void **state)
{
    (void)state;
    blm_options  o = fixed_options(BLM_CASCADE, 0, 1);
    blm_builder *b = builder_of(&o);
    uint64_t    *k = numbers(0, 1000), hash = 0, same;
    blm_filter  *f;
    blm_error    err = { .status = BLM_OK };
    blm_key      key = { k + 500, 8 };
    assert_status(blm_builder_add_fixed(b, k, 8, 501), BLM_OK);
    assert_status(blm_builder_exclude_fixed(b, k + 500, 8, 500), BLM_OK);
    assert_false(blm_builder_conflict(b, &hash));
    assert_status(blm_builder_build(b, &f, &err), BLM_E_CONFLICT);
    assert_null(f);
    assert_true(blm_builder_conflict(b, &hash));
    assert_status(blm_builder_hash(b, &key, 1, &same), BLM_OK);
    assert_true(hash == same);
    blm_builder_free(b);
    free(k);
}

static void the_smallest_kind_is_chosen(void **state)
{
    (void)state;
    blm_options o = fixed_options(BLM_ANY_KIND, 0.01, 1);
    blm_filter *f = fixed_of(&o, 3, 0);
    assert_int_equal(params_of(f).kind, BLM_CLASSIC);
    assert_int_equal(maybes(f, 0, 3), 3);
    blm_free(f);
    f = fixed_of(&o, 10000, 0);
    assert_int_equal(params_of(f).kind, BLM_STATIC);
    blm_free(f);
    f = fixed_of(&o, 100, 1000);
    assert_int_equal(params_of(f).kind, BLM_CASCADE);
    blm_free(f);
    f = fixed_of(&o, 0, 0); /* without a key any size has any rate */
    assert_int_equal(params_of(f).kind, BLM_STATIC);
    blm_free(f);
    o.rate = 1e-10; /* no fingerprint has that */
    f      = fixed_of(&o, 0, 0);
    assert_int_equal(maybes(f, 0, 1000), 0);
    blm_free(f);
    o.rate = 0.01;
    o.kind = BLM_BLOCKED;
    f      = fixed_of(&o, 1000, 0);
    assert_int_equal(params_of(f).kind, BLM_BLOCKED);
    assert_int_equal(maybes(f, 0, 1000), 1000);
    assert_int_equal(params_of(f).capacity, 1000);
    blm_free(f);
    o.rate         = 0;
    o.kind         = BLM_ANY_KIND;
    blm_builder *b = builder_of(&o);
    assert_status(blm_builder_build(b, &f, NULL), BLM_E_ARGUMENT);
    blm_builder_free(b);
}

static bool stop_at(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *left = ctx;
    assert_true(done <= total);
    return (*left)-- > 1;
}

static void it_can_be_cancelled_at_any_time(void **state)
{
    (void)state;
    uint64_t    left;
    blm_options o    = fixed_options(BLM_CASCADE, 0, 1);
    blm_filter *want = fixed_of(&o, 100000, 200000), *f = NULL;
    blm_status  st = BLM_E_CANCELLED;
    o.kind         = BLM_ANY_KIND;
    o.progress     = stop_at;
    o.progress_ctx = &left;
    blm_builder *b = builder_of(&o);
    uint64_t    *k = numbers(0, 300000);
    blm_builder_add_fixed(b, k, 8, 100000);
    blm_builder_exclude_fixed(b, k + 100000, 8, 200000);
    for (uint64_t at = 1; at < 20 && st == BLM_E_CANCELLED; at++) {
        left = at;
        st   = blm_builder_build(b, &f, NULL);
        assert_true(st == BLM_OK ? left > 0 : f == NULL);
    }
    assert_status(st, BLM_OK);
    assert_true(same_bits(f, want));
    blm_free(f);
    blm_free(want);
    blm_builder_free(b);
    free(k);
}

/* Also one that chose a kind that can be added to, which keys that come later may change. */
static void a_builder_that_was_cancelled_chooses_again(void **state)
{
    (void)state;
    uint64_t    left = 0;
    blm_options o    = fixed_options(BLM_ANY_KIND, 0.01, 1);
    blm_filter *f;
    o.progress     = stop_at;
    o.progress_ctx = &left;
    blm_builder *b = builder_of(&o);
    uint64_t    *k = numbers(0, 10000);
    assert_status(blm_builder_add_fixed(b, k, 8, 3), BLM_OK);
    assert_status(blm_builder_build(b, &f, NULL), BLM_E_CANCELLED);
    assert_status(blm_builder_exclude_fixed(b, k + 3, 8, 1), BLM_OK);
    left = UINT64_MAX;
    f    = build_and_free(b);
    assert_int_equal(params_of(f).kind, BLM_CASCADE);
    assert_int_equal(maybes(f, 0, 4), 3);
    blm_free(f);
    free(k);
}

static blm_builder_state state_of(const blm_builder *b)
{
    blm_builder_state is = { .size = sizeof is };
    if (b)
        assert_status(blm_builder_get_state(b, &is), BLM_OK);
    return is;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    for (uint64_t at = 0;; at++) {
        struct meter  m = { .fail_at = at };
        blm_allocator a = meter_allocator(&m);
        blm_options   o = fixed_options(BLM_CASCADE, 0, 1);
        blm_builder  *b = NULL;
        blm_filter   *f = NULL;
        uint64_t     *k = numbers(0, 9000);
        o.allocator     = &a;
        blm_status st   = blm_builder_new(&o, &b, NULL);
        if (st == BLM_OK)
            st = blm_builder_add_fixed(b, k, 8, 1000);
        if (st == BLM_OK)
            st = blm_builder_exclude_fixed(b, k + 1000, 8, 8000);
        if (st == BLM_OK)
            st = blm_builder_build(b, &f, NULL);
        assert_true(st == BLM_OK || st == BLM_E_MEMORY);
        if (st == BLM_E_MEMORY && state_of(b).excluded == 8000) { /* nothing was lost */
            m.fail_at = UINT64_MAX;
            assert_status(blm_builder_build(b, &f, NULL), BLM_OK);
            assert_int_equal(maybes(f, 0, 9000), 1000);
        }
        blm_builder_free(b);
        blm_free(f);
        free(k);
        assert_int_equal(m.live, 0);
        if (st == BLM_OK) {
            assert_true(at > 5);
            return;
        }
    }
}

static void only_fixed_filters_have_such_facts(void **state)
{
    (void)state;
    blm_filter *f = make_flavour(&flavours[0], 10, 0.01, 1);
    blm_fixed   x = { .size = sizeof x };
    assert_status(blm_get_fixed(f, &x), BLM_E_UNSUPPORTED);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(a_builder_builds_once),
        cmocka_unit_test(all_ways_in_lead_to_one_filter),
        cmocka_unit_test(a_key_in_both_lists_is_named),
        cmocka_unit_test(the_smallest_kind_is_chosen),
        cmocka_unit_test(it_can_be_cancelled_at_any_time),
        cmocka_unit_test(a_builder_that_was_cancelled_chooses_again),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(only_fixed_filters_have_such_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
