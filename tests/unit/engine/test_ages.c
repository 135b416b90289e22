/* SPDX-License-Identifier: MIT */
/* The kernels of ages, judged by the portable one. */
#include "unit/kind/windows.h"

#include "core/kernel/kernel.h"

/* ---- kernels ---- */

/* Every kernel leaves the bits, and gives the answers, of the portable one. */
static void kernels_agree(void **state)
{
    (void)state;
    static const char *const names[] = { "avx2", "avx512", "neon" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        for (unsigned shape = 0; shape < 16; shape++) {
            const struct blm__kernel *v = blm__kernel_named(names[i]);
            if (!v)
                continue;
            blm_options o = asked(300, 0.01, 0, NULL);
            o.lines       = 1 + shape % 3;
            o.slack       = shape & 1 ? 0.1 : 0;
            o.flags |= shape & 8 ? BLM_SHARED : 0;
            blm_filter *f = made(&o), *g = made(&o);
            f->body.kernel = blm__kernel_named("portable");
            g->body.kernel = v;
            struct rng r   = { shape };
            for (int round = 0; round < 200; round++) {
                uint64_t keys[256];
                uint8_t  a[256], b[256];
                size_t   n = 1 + rng_size(&r, 256);
                for (size_t k = 0; k < n; k++)
                    keys[k] = rng_below(&r, 5000);
                assert_int_equal(blm_check_fixed(f, keys, 8, n, a),
                                 blm_check_fixed(g, keys, 8, n, b));
                assert_memory_equal(a, b, n);
                blm_add_fixed(f, keys, 8, n, a, NULL);
                blm_add_fixed(g, keys, 8, n, b, NULL);
                assert_memory_equal(a, b, n);
                assert_true(blm_equal(f, g));
            }
            blm_free(f);
            blm_free(g);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
