/* SPDX-License-Identifier: MIT */
#include "kind/kind.h"
#include "unit/support.h"

static const struct {
    const char *name;
    blm_kind    kind;
    uint32_t    number; /* in files: never another */
} rows[] = { { "classic", BLM_CLASSIC, 0 },   { "blocked", BLM_BLOCKED, 1 },
             { "counting", BLM_COUNTING, 2 }, { "scalable", BLM_SCALABLE, 3 },
             { "window", BLM_WINDOW, 4 },     { "cuckoo", BLM_CUCKOO, 5 },
             { "static", BLM_STATIC, 6 },     { "cascade", BLM_CASCADE, 7 } };

static void kinds_have_names_and_names_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_kind k = (blm_kind)99;
        assert_string_equal(blm_kind_name(rows[i].kind), rows[i].name);
        assert_true(blm_kind_from_name(rows[i].name, &k));
        assert_int_equal(k, rows[i].kind);
        assert_int_equal(blm__kind_of(k)->row.kind, k); /* rows stand where their value says */
        assert_int_equal(blm__kind_number(k), rows[i].number);
        assert_ptr_equal(blm__kind_numbered(rows[i].number), blm__kind_of(k));
        assert_string_equal(blm_kind_find(k)->name, rows[i].name);
    }
}

static void what_is_no_kind_has_no_name(void **state)
{
    (void)state;
    blm_kind k = BLM_COUNTING;
    assert_null(blm_kind_name(BLM_ANY_KIND));
    assert_null(blm_kind_name((blm_kind)31));
    assert_null(blm_kind_name((blm_kind)-1));
    assert_null(blm__kind_of((blm_kind)1000000));
    assert_null(blm__kind_numbered(30));
    assert_null(blm__kind_numbered(UINT32_MAX));
    assert_false(blm_kind_from_name("Classic", &k));
    assert_false(blm_kind_from_name("", &k));
    assert_false(blm_kind_from_name("classic ", &k));
    assert_int_equal(k, BLM_COUNTING); /* left alone */
}

/* What the public calls reach through without asking. */
static void every_kind_can_do_the_common_things(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct blm__kind *k = blm__kind_of(rows[i].kind);
        assert_true(k->plan && k->check && k->check_one && k->fault && k->rate_at);
        if (k->add)
            assert_true(k->shape && k->room);
        /* What the row says it can do is there, and nothing else. */
        assert_int_equal(k->add != NULL, (k->row.can & BLM_CAN_ADD) != 0);
        assert_int_equal(k->remove != NULL, (k->row.can & BLM_CAN_REMOVE) != 0);
        assert_int_equal(k->unite != NULL, (k->row.can & BLM_CAN_UNION) != 0);
        assert_int_equal(k->intersect != NULL, (k->row.can & BLM_CAN_INTERSECT) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_names_and_names_kinds),
        cmocka_unit_test(what_is_no_kind_has_no_name),
        cmocka_unit_test(every_kind_can_do_the_common_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
