/* SPDX-License-Identifier: MIT */
/* What every foreign scheme owes its callers: exactly k positions, all inside the filter, the raw
 * ones reduced to them, and no word beyond. */
#include "unit/support.h"

#include "filter.h"
#include "foreign.h"

#define GUARD 0x5151515151515151u

static void check_shape(const struct blm_scheme *s, const blm_filter *f, const void *key,
                        size_t len)
{
    const struct blm_shape *shape = &f->body.layers[0].shape;
    uint64_t                pos[BLM__MAX_PROBES + 1], raw[BLM__MAX_PROBES + 1];
    uint32_t                k = shape->probes;
    blm_digest              d;
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
        const struct blm_scheme *s = blm__scheme_find(blm_scheme_at(i)->name);
        blm_options              o = BLM_OPTIONS_INIT;
        blm_filter              *f;
        if (s->native || s->missing || !s->row.creates)
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

/* Written into native files: a change of hashing must change it, and nothing else may. */
static void test_versions(void **state)
{
    (void)state;
    static const char *const names[] = { "guava64", "guava32", "go",    "spark1",
                                         "spark2",  "dcso",    "dcso01" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct blm_scheme *s = blm__scheme_find(names[i]);
        assert_int_equal(s->version, 1);
        assert_int_equal(s->kinds, 1u << BLM_CLASSIC);
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
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
