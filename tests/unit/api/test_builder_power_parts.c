/* SPDX-License-Identifier: MIT */
/* Power cuts of builds, see unit/builder_power.h, whose levels have several parts. A part has 2^20 keys and
 * more, too many to cut at each call: here the two files that know how many are compiled with another
 * number, and stand in for the library's. */
#define BLM__FUSE_PART ((uint64_t)1 << 10)
#include "api/filter.h"
#include "api/fuse.c"
#include "maths/plan_fuse.c"
#undef STEPS
#include "unit/builder_power.h"

static void levels_have_several_parts(void **state)
{
    (void)state;
    assert_int_equal(blm__fuse_parts(IN), 4);
    blm_options o   = fixed_options(BLM_STATIC, 0.004, 9);
    blm_filter *few = fixed_of(&o, 2047, 0), *many = fixed_of(&o, IN, 0);
    assert_int_equal(few->body.layers[0].shape.line_count, 1);
    assert_int_equal(many->body.layers[0].shape.line_count, 4);
    blm_free(few);
    blm_free(many);
}

/* The last form has no such levels. */
static void a_build_of_parts_goes_on_after_a_power_cut_and_another(void **state)
{
    (void)state;
    builds_go_on(COUNT_OF(forms) - 1, long_tests() ? 7 : 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_several_parts),
        file_test(a_build_of_parts_goes_on_after_a_power_cut_and_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
