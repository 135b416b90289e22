/* SPDX-License-Identifier: MIT */
/* The choice is made once a process, so forcing one is tried in children of this one. */
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/counters.h"
#include "core/kernel/steps.h"
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

/* Tables are pointers and nothing else, so that a field that comes later is looked at too. */
static void full(const char *name, const char *what, const void *table, size_t size)
{
    static const void *const none;
    assert_int_equal(size % sizeof none, 0);
    for (size_t at = 0; at < size; at += sizeof none)
        if (memcmp((const uint8_t *)table + at, &none, sizeof none) == 0)
            fail_msg("%s: field %zu of %s is NULL", name, at / sizeof none, what);
}

/* Nobody asks whether a kernel has a loop. Those that this machine does not run are seen too. */
static void every_kernel_has_every_loop(void **state)
{
    (void)state;
    static const struct blm__kernel *const kernels[] = {
        &blm__kernel_portable,
#ifdef BLM__HAVE_AVX2
        &blm__kernel_avx2,
#endif
#ifdef BLM__HAVE_AVX512
        &blm__kernel_avx512,
#endif
#ifdef BLM__HAVE_NEON
        &blm__kernel_neon,
#endif
    };
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        const struct blm__kernel *k = kernels[i];
        full(k->name, "the kernel", k, sizeof *k);
        full(k->name, "its counters", k->counters, sizeof *k->counters);
        full(k->name, "its stepper", k->stepper, sizeof *k->stepper);
        assert_true(!blm__kernel_named(k->name) || blm__kernel_named(k->name) == k);
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
