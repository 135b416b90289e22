/* SPDX-License-Identifier: MIT */
/* The choice is made once a process, so forcing one is tried in children of this one. */
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "unit/support.h"

static void kernels_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(blm__kernel_named("portable"), &blm__kernel_portable);
    assert_null(blm__kernel_named("abacus"));
    assert_null(blm__kernel_named(""));
    const struct blm__kernel *best = blm__kernel_best();
    assert_non_null(best);
    assert_ptr_equal(blm__kernel_named(best->name), best);
    assert_ptr_equal(blm__kernel_best(), best);
}

static void every_kernel_has_every_loop(void **state)
{
    (void)state;
    static const char *const names[] = { "portable", "avx2", "avx512", "neon" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct blm__kernel *k = blm__kernel_named(names[i]);
        if (!k)
            continue;
        assert_string_equal(k->name, names[i]);
        assert_true(k->hash8 && k->lines_add && k->lines_add_shared && k->lines_check &&
                    k->lines_check_one && k->chain_add && k->chain_add_shared && k->chain_check &&
                    k->chain_check_one && k->line_check_key && k->line_add_key &&
                    k->lines_check_key && k->lines_add_key && k->lines_add_key_shared &&
                    k->chain_check_key && k->chain_add_key && k->chain_add_key_shared &&
                    k->popcount && k->popcount_or && k->or_into && k->and_into);
    }
}

/* In a child that has not chosen yet: 0 when the best kernel is the one named. */
static int best_under(const char *forced, const char *want)
{
    char    self[4096], cmd[4400];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = 0;
    snprintf(cmd, sizeof cmd, "%s%s '%s' %s", forced ? "BLOOMERY_CPU=" : "env -u BLOOMERY_CPU",
             forced ? forced : "", self, want);
    int rc = system(cmd);
    assert_true(WIFEXITED(rc));
    return WEXITSTATUS(rc);
}

static void the_environment_forces_what_the_machine_runs(void **state)
{
    (void)state;
    const char *unforced = blm__kernel_named("avx512") ? "avx512"
                           : blm__kernel_named("avx2") ? "avx2"
                           : blm__kernel_named("neon") ? "neon"
                                                       : "portable";
    assert_int_equal(best_under("portable", "portable"), 0);
    assert_int_equal(best_under("portable", "abacus"), 1); /* the child does tell them apart */
    assert_int_equal(best_under("abacus", unforced), 0);
    assert_int_equal(best_under(NULL, unforced), 0);
    if (blm__kernel_named("avx2"))
        assert_int_equal(best_under("avx2", "avx2"), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return strcmp(blm__kernel_best()->name, argv[1]) != 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_found_by_name),
        cmocka_unit_test(every_kernel_has_every_loop),
        cmocka_unit_test(the_environment_forces_what_the_machine_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
