/* SPDX-License-Identifier: MIT */
#include "kind/kind.h"
#include "unit/support.h"

static void kinds_have_names_and_names_kinds(void **state)
{
    (void)state;
    static const char *const names[] = { "classic", "blocked", "counting", "scalable" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        blm_kind k = (blm_kind)99;
        assert_string_equal(blm_kind_name((blm_kind)i), names[i]);
        assert_true(blm_kind_from_name(names[i], &k));
        assert_int_equal(k, i);
        assert_int_equal(blm__kind_ops((blm_kind)i)->id, i); /* rows stand where their value says */
        assert_int_equal(blm__kind_ops((blm_kind)i)->row.kind, i);
        assert_string_equal(blm__kind_ops((blm_kind)i)->row.name, names[i]);
    }
}

static void what_is_no_kind_has_no_name(void **state)
{
    (void)state;
    blm_kind k = BLM_COUNTING;
    assert_null(blm_kind_name((blm_kind)4));
    assert_null(blm_kind_name((blm_kind)-1));
    assert_null(blm__kind_ops((blm_kind)1000000));
    assert_false(blm_kind_from_name("Classic", &k));
    assert_false(blm_kind_from_name("", &k));
    assert_false(blm_kind_from_name("classic ", &k));
    assert_int_equal(k, BLM_COUNTING); /* left alone */
}

/* What the public calls reach through without asking. */
static void every_kind_can_do_the_common_things(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct blm_kind_ops *k = blm__kind_ops((blm_kind)i);
        assert_true(k->plan && k->shape && k->add && k->check && k->check_one && k->unite);
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
