/* SPDX-License-Identifier: MIT */
/* As much of cmocka as the kernels' tests use, for machines that no cmocka is installed for: the
 * first failure ends the program. Stands in for the library in tests/kernel/test_neon.py and
 * tests/amalgamation/test_cross.py, nowhere else. */
#ifndef BLM_SHIM_CMOCKA_H
#define BLM_SHIM_CMOCKA_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};
#define cmocka_unit_test(f) \
    {                       \
#f, f               \
    }

static jmp_buf shim_skipped;

#define assert_true(c)                                                        \
    do {                                                                      \
        if (!(c)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #c); \
            exit(1);                                                          \
        }                                                                     \
    } while (0)
#define assert_false(c)              assert_true(!(c))
#define assert_non_null(p)           assert_true((p) != NULL)
#define assert_null(p)               assert_true((p) == NULL)
#define assert_ptr_equal(a, b)       assert_true((a) == (b))
#define assert_int_equal(a, b)       assert_true((long long)(a) == (long long)(b))
#define assert_int_not_equal(a, b)   assert_true((long long)(a) != (long long)(b))
#define assert_memory_equal(a, b, n) assert_true(memcmp((a), (b), (n)) == 0)
#define assert_string_equal(a, b)    assert_true(strcmp((a), (b)) == 0)
#define assert_in_range(v, lo, hi)   assert_true((v) >= (lo) && (v) <= (hi))
#define fail_msg(...)                (fprintf(stderr, __VA_ARGS__), exit(1))
#define fail()                       exit(1)
#define skip()                       longjmp(shim_skipped, 1)

#define cmocka_run_group_tests(tests, setup, teardown) \
    shim_run(tests, sizeof(tests) / sizeof *(tests), setup, teardown)

static inline int shim_run(const struct CMUnitTest *t, size_t n, int (*setup)(void **),
                           int (*teardown)(void **))
{
    if (setup)
        setup(NULL);
    for (size_t i = 0; i < n; i++) {
        if (setjmp(shim_skipped)) {
            printf("skipped %s\n", t[i].name);
            continue;
        }
        t[i].run(NULL);
        printf("passed %s\n", t[i].name);
    }
    return teardown ? teardown(NULL) : 0;
}

#endif
