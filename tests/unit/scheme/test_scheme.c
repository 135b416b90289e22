/* SPDX-License-Identifier: MIT */
#include "scheme/scheme.h"
#include "unit/support.h"

/* Every row, whatever schemes this build has: complete, and findable under its own name. A second
 * name of a scheme has a row too, with the same funnels. */
static void rows_are_complete(void **state)
{
    (void)state;
    size_t n = 0;
    for (const blm_scheme_row *row; (row = blm_scheme_at(n)); n++) {
        const struct blm__scheme *s = blm__scheme_find(row->name);
        assert_non_null(s);
        if (strcmp(s->row.name, row->name) == 0)
            assert_ptr_equal(&s->row, row);
        assert_ptr_equal(s->row.funnels, row->funnels);
        assert_int_equal(s->row.creates, row->creates);
        assert_true(row->size == sizeof *row);
        assert_true(strlen(row->name) > 0 && strlen(row->summary) > 0);
        assert_true(s->digest &&
                    (s->native || s->positions || s->exchanges)); /* native: the engines' */
        assert_int_equal(s->row.kinds, row->kinds);
        assert_int_equal(s->row.seeded, row->seeded);
        assert_true(row->faults ? strcmp(row->faults, s->row.faults) == 0 : !s->row.faults);
        assert_true(row->kinds != 0);
        assert_non_null(blm_format_find(row->format));
        assert_ptr_equal(blm_scheme_find(row->name), row);
        assert_true(row->means ? blm_scheme_find(row->means) == &s->row : row == &s->row);
        assert_int_equal(s->native || s->positions_raw, s->reduce != NULL);
        assert_true(s->fold == BLM__FOLD_NONE || s->fold_unit > 0);
        assert_true(s->native || !row->creates || s->plan); /* who creates can size */
        for (size_t i = 0; i < n; i++)
            assert_string_not_equal(blm_scheme_at(i)->name, row->name);
    }
    assert_true(n >= 1);
    assert_null(blm_scheme_at(n));
    assert_null(blm_scheme_at(SIZE_MAX));
}

static void native_is_the_default_and_others_must_be_named_right(void **state)
{
    (void)state;
    assert_ptr_equal(blm__scheme_find(NULL), &blm__scheme_native);
    assert_ptr_equal(blm__scheme_find("native"), &blm__scheme_native);
    assert_string_equal(blm_scheme_at(0)->name, "native");
    assert_null(blm__scheme_find(""));
    assert_null(blm__scheme_find("Native"));
    assert_null(blm__scheme_find("native "));
}

/* A tag names scheme, version, hash, funnel, seed and variant: each alone changes it. */
static void tags_tell_hashers_apart(void **state)
{
    (void)state;
    struct blm__scheme other = blm__scheme_native;
    other.row.name           = "nativf";
    struct blm__shape  plain = { .scheme = &blm__scheme_native }, a = { .scheme = &other };
    struct blm__hasher h[9];
    memset(h, 0, sizeof h);
    for (size_t i = 0; i < 9; i++)
        strcpy(h[i].name, "xxh3");
    strcpy(h[1].name, "xxh4");
    h[2].seed[0] = 1;
    h[3].seed[1] = 1;
    h[4].funnel  = "f";
    h[5].seed[0] = h[5].seed[1] = 1;
    strcpy(h[6].name, "xxh");
    for (size_t i = 0; i < 7; i++)
        blm__hasher_tag(&h[i], &plain);
    blm__hasher_tag(&h[7], &a);
    h[8].version++;
    blm__hasher_tag(&h[8], &plain);
    for (size_t i = 0; i < 9; i++) {
        assert_true(h[i].tag != 0);
        for (size_t j = 0; j < i; j++)
            assert_true(h[i].tag != h[j].tag);
    }
    uint64_t was = h[0].tag;
    blm__hasher_tag(&h[0], &plain);
    assert_true(h[0].tag == was);
    /* Only the bits of a variant that a digest depends on. */
    other.digest_variant = 2;
    a.variant            = 1;
    was                  = h[7].tag;
    blm__hasher_tag(&h[7], &a);
    assert_true(h[7].tag == was);
    a.variant = 3;
    blm__hasher_tag(&h[7], &a);
    assert_true(h[7].tag != was && h[7].variant == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(native_is_the_default_and_others_must_be_named_right),
        cmocka_unit_test(tags_tell_hashers_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
