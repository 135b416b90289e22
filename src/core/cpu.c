/* SPDX-License-Identifier: MIT */
/* Which kernel this machine runs: looked up once, then a pointer. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/kernel.h"

_Atomic uint64_t blm__in_cache_bytes = BLM__IN_CACHE_BYTES;

/* The cache a core has for itself. A virtual machine or another C library may not tell: 0 or -1. */
static void find_cache(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (bytes >= 128 << 10 && bytes <= 16 << 20)
        atomic_store_explicit(&blm__in_cache_bytes, (uint64_t)bytes, memory_order_relaxed);
#endif
}

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
    find_cache();
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
