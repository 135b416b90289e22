/* SPDX-License-Identifier: MIT */
/* Which kernel this machine runs: looked up once, then a pointer. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/kernel.h"

static bool runs_avx2(void)
{
#ifdef BLM__HAVE_AVX2
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}

const struct blm_kernel *blm__kernel_named(const char *name)
{
    if (strcmp(name, "portable") == 0)
        return &blm__kernel_portable;
#ifdef BLM__HAVE_AVX2
    if (strcmp(name, "avx2") == 0 && runs_avx2())
        return &blm__kernel_avx2;
#endif
    return NULL;
}

const struct blm_kernel *blm__kernel_best(void)
{
    static _Atomic(const struct blm_kernel *) chosen;
    const struct blm_kernel *k = atomic_load_explicit(&chosen, memory_order_acquire);
    if (k)
        return k;
    const char *forced = getenv("BLOOMERY_CPU");
    if (forced)
        k = blm__kernel_named(forced);
#ifdef BLM__HAVE_AVX2
    if (!k && runs_avx2())
        k = &blm__kernel_avx2;
#else
    (void)runs_avx2;
#endif
    if (!k)
        k = &blm__kernel_portable;
    atomic_store_explicit(&chosen, k, memory_order_release); /* any thread finds the same one */
    return k;
}
