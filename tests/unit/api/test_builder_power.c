/* SPDX-License-Identifier: MIT */
/* Power cuts of builds and replaced sets, see unit/builder_power.h: levels of one part. */
#include "unit/builder_power.h"

static void a_build_goes_on_after_a_power_cut_and_another(void **state)
{
    (void)state;
    builds_go_on(COUNT_OF(forms), long_tests() ? 7 : 60);
}

static int no_nameless(const char *dir, unsigned mode, int *fd)
{
    (void)dir, (void)mode, (void)fd;
    return EOPNOTSUPP;
}

/* i odd: on a file system whose new files have a name from the first byte on. */
static void a_replaced_set_is_the_old_or_the_new_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(forms); i++) {
        const char  *root = begin_story(&forms[i / 2], check_replaced, slow_tests() ? 100 : 20);
        blm_options  o    = options();
        blm_builder *b    = builder_of(&o);
        blm_error    err  = { .offset = BLM_NO_OFFSET };
        char         path[400];
        if (i % 2)
            blm__os.open_nameless = no_nameless;
        assert_status(give(b), BLM_OK);
        snprintf(path, sizeof path, "%s/set", root);
        if (blm_builder_save(b, path, BLM_REPLACE, &err) != BLM_OK)
            fail_msg("%s", err.text);
        blm_builder_free(b);
        end_story(root);
        assert_true(tree.cuts > (i % 2 ? 20 : 4));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(a_build_goes_on_after_a_power_cut_and_another),
        file_test(a_replaced_set_is_the_old_or_the_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
