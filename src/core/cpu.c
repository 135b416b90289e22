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

/* ---- the kernels, best first ---- */

static bool always(void) { return true; }

#ifdef BLM__HAVE_AVX2
static bool runs_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
/* The first processors with AVX-512 (Skylake-X) slow down their clock for it, but less than a line
 * in one register gains over two: taken wherever the four sets that avx512.c uses are there. */
static bool runs_avx512(void)
{
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

static const struct {
    const struct blm__kernel *kernel;
    bool (*runs)(void);
} rows[] = {
#ifdef BLM__HAVE_AVX512
    { &blm__kernel_avx512, runs_avx512 },
#endif
#ifdef BLM__HAVE_AVX2
    { &blm__kernel_avx2, runs_avx2 },
#endif
#ifdef BLM__HAVE_NEON
    { &blm__kernel_neon, always },
#endif
#ifdef BLM__HAVE_SIMD128
    { &blm__kernel_simd128, always },
#endif
    { &blm__kernel_portable, always },
};
#define ROWS (sizeof rows / sizeof *rows)

const struct blm__kernel *blm__kernel_named(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(name, rows[i].kernel->name) == 0 && rows[i].runs())
            return rows[i].kernel;
    return NULL;
}

const struct blm__kernel *blm__kernel_best(void)
{
    static _Atomic(const struct blm__kernel *) chosen;
    const struct blm__kernel *k = atomic_load_explicit(&chosen, memory_order_acquire);
    if (k)
        return k;
    find_cache();
    const char *forced = getenv("BLOOMERY_CPU");
    if (forced)
        k = blm__kernel_named(forced);
    for (size_t i = 0; !k; i++) /* the last row always runs */
        if (rows[i].runs())
            k = rows[i].kernel;
    atomic_store_explicit(&chosen, k, memory_order_release); /* any thread finds the same one */
    return k;
}
