/* SPDX-License-Identifier: MIT */
/* Single calls: the long way and the short ones do the same, and refuse the same. */
#include "api/filter.h"
#include "unit/support.h"

/* Filters that go the long way, and some that do not, for what both owe. */
static const struct {
    const char *scheme;
    blm_kind    kind;
    blm_hash    hash;
    bool        quick; /* a kernel's or an engine's own calls */
} rows[] = {
    { NULL, BLM_BLOCKED, BLM_HASH_SIPHASH, false },
    { NULL, BLM_CLASSIC, BLM_HASH_SIPHASH, false },
    { NULL, BLM_COUNTING, BLM_HASH_SIPHASH, false },
    { NULL, BLM_SCALABLE, BLM_HASH_XXH3, false },
    { "bip37", BLM_CLASSIC, BLM_HASH_XXH3, false },
    { "parquet", BLM_BLOCKED, BLM_HASH_XXH3, false },
    { "rs", BLM_COUNTING, BLM_HASH_XXH3, false },
    { NULL, BLM_BLOCKED, BLM_HASH_XXH3, true },
    { NULL, BLM_CLASSIC, BLM_HASH_XXH3, true },
    { NULL, BLM_COUNTING, BLM_HASH_XXH3, true },
    { "guava64", BLM_CLASSIC, BLM_HASH_XXH3, true },
};

static blm_filter *filter_of(size_t i)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = rows[i].scheme;
    o.kind        = rows[i].kind;
    o.hash        = rows[i].hash;
    o.items       = 300;
    o.rate        = 1e-4;
    if (!o.scheme)
        o.flags = BLM_SEEDED;
    return make(&o);
}

static void some_go_the_long_way(void **state)
{
    (void)state;
    blm_filter *f[COUNT_OF(rows)];
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        f[i] = filter_of(i);
    for (size_t i = 0; i < COUNT_OF(rows); i++) /* the first row's add is the long one */
        assert_int_equal(f[i]->body.add_key != f[0]->body.add_key, rows[i].quick);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        blm_free(f[i]);
}

static void what_is_no_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_filter *f = filter_of(i);
        assert_true(blm_check(f, NULL, 8) && blm_check(f, NULL, 1)); /* we cannot know */
        assert_status(blm_add(f, NULL, 8), BLM_E_ARGUMENT);
        assert_true(stats_of(f).ones == 0 && params_of(f).items == 0);
        assert_false(blm_check(f, NULL, 0)); /* the empty key, and absent */
        assert_status(blm_add(f, NULL, 0), BLM_OK);
        assert_true(blm_check(f, "", 0) && params_of(f).items == 1);
        blm_free(f);
    }
}

static void what_is_only_read_is_not_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_filter *f     = filter_of(i);
        uint64_t    key   = 5;
        f->body.read_only = true;
        blm__body_ready(&f->body);
        assert_status(blm_add(f, &key, 8), BLM_E_READONLY);
        assert_status(blm_add(f, &key, 5), BLM_E_READONLY);
        assert_true(stats_of(f).ones == 0 && !blm_check(f, &key, 8));
        f->body.read_only = false;
        blm__body_ready(&f->body);
        assert_status(blm_add(f, &key, 8), BLM_OK);
        assert_true(blm_check(f, &key, 8));
        blm_free(f);
    }
}

/* One key, hashed as the engines take it, is what its digest is. */
static void a_hashed_key_is_its_digest(void **state)
{
    (void)state;
    struct key_set s = key_set_make(3, 30);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_filter             *f = filter_of(i), *g = filter_of(i);
        const struct blm__body *b = &f->body;
        for (size_t j = 0; j < s.count; j++) {
            struct blm__one one;
            blm_digest      d;
            blm__hash_one(b, s.keys[j].data, s.keys[j].len, &one);
            assert_status(blm_digest_of(f, s.keys[j].data, s.keys[j].len, &d), BLM_OK);
            assert_int_equal(one.keys.n, 1);
            if (b->scheme->native)
                assert_true(one.keys.hashes[0] == d.w[0]);
            assert_int_equal(blm__add_one(&f->body, &one.keys), blm_add_digest(g, &d));
            assert_true(blm_check(f, s.keys[j].data, s.keys[j].len));
            assert_true(blm_check_digest(f, &d) && b->ops->check(b, &one.keys, &(uint8_t){ 0 }));
        }
        assert_true(same_bits(f, g));
        blm_free(f);
        blm_free(g);
    }
    key_set_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_go_the_long_way),
        cmocka_unit_test(what_is_no_key),
        cmocka_unit_test(what_is_only_read_is_not_written),
        cmocka_unit_test(a_hashed_key_is_its_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
