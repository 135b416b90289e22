/* SPDX-License-Identifier: MIT */
/* The AVX-512 kernel's own source over SIMDe, which spells each intrinsic out in plain C: its logic
 * is judged on machines that cannot run it. Skipped where SIMDe is not installed. */
#if defined(__has_include) && defined(__x86_64__)
#if __has_include(<simde/x86/avx512.h>)
#define HAVE_SIMDE 1
#endif
#endif

#ifdef HAVE_SIMDE
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#define SIMDE_NO_NATIVE
#define SIMDE_NO_INLINE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#include "core/kernel/kernel.h"

/* SIMDe's numbers are signed, and overflow, which the instructions may and C may not. */
#define WRAPPING(name, op)                                          \
    static inline simde__m512i name(simde__m512i a, simde__m512i b) \
    {                                                               \
        uint64_t x[8], y[8];                                        \
        memcpy(x, &a, sizeof x);                                    \
        memcpy(y, &b, sizeof y);                                    \
        for (int i = 0; i < 8; i++)                                 \
            x[i] op y[i];                                           \
        memcpy(&a, x, sizeof x);                                    \
        return a;                                                   \
    }
WRAPPING(wrapping_mullo, *=)
WRAPPING(wrapping_add, +=)
WRAPPING(wrapping_sub, -=)
#undef _mm512_mullo_epi64
#undef _mm512_add_epi64
#undef _mm512_sub_epi64
#undef _mm512_mask_add_epi64
#undef _mm512_mask_sub_epi64
#define _mm512_mullo_epi64                  wrapping_mullo
#define _mm512_add_epi64                    wrapping_add
#define _mm512_sub_epi64                    wrapping_sub
#define _mm512_mask_add_epi64(old, m, a, b) simde_mm512_mask_mov_epi64(old, m, wrapping_add(a, b))
#define _mm512_mask_sub_epi64(old, m, a, b) simde_mm512_mask_mov_epi64(old, m, wrapping_sub(a, b))

/* What SIMDe has not. */
#ifndef __mmask8
typedef simde__mmask8  mask8;
typedef simde__mmask16 mask16;
typedef simde__mmask64 mask64;
#define __mmask8  mask8
#define __mmask16 mask16
#define __mmask64 mask64
#endif
static inline simde__mmask16 unpack8(simde__mmask8 high, simde__mmask8 low)
{
    return (simde__mmask16)(high << 8 | low);
}
static inline uint32_t unpack16(uint32_t high, uint32_t low) { return high << 16 | (low & 0xffff); }
static inline uint64_t unpack32(uint64_t high, uint64_t low)
{
    return high << 32 | (low & 0xffffffff);
}
static inline simde__m128i low_bytes(simde__m512i v)
{
    uint64_t x[8];
    uint8_t  b[16] = { 0 };
    memcpy(x, &v, sizeof x);
    for (int i = 0; i < 8; i++)
        b[i] = (uint8_t)x[i];
    simde__m128i out;
    memcpy(&out, b, sizeof out);
    return out;
}
#undef _mm512_kunpackb
#undef _mm512_kunpackw
#undef _mm512_kunpackd
#undef _mm512_cvtepi64_epi8
#define _mm512_kunpackb      unpack8
#define _mm512_kunpackw      unpack16
#define _mm512_kunpackd      unpack32
#define _mm512_cvtepi64_epi8 low_bytes
static inline simde__m512i gathered(simde__m512i at, const uint8_t *from)
{
    uint64_t x[8];
    memcpy(x, &at, sizeof x);
    for (int i = 0; i < 8; i++)
        memcpy(&x[i], from + x[i], 8);
    memcpy(&at, x, sizeof x);
    return at;
}
static inline simde__m512i turned(simde__m512i v, int by)
{
    uint32_t x[16], y[16];
    memcpy(x, &v, sizeof x);
    for (int i = 0; i < 16; i++)
        y[i] = x[(i + by) % 16];
    memcpy(&v, y, sizeof y);
    return v;
}
static inline long long joined(simde__m512i v)
{
    uint64_t x[8], sum = 0;
    memcpy(x, &v, sizeof x);
    for (int i = 0; i < 8; i++)
        sum |= x[i];
    return (long long)sum;
}
#undef _mm512_i64gather_epi64
#define _mm512_i64gather_epi64(at, from, scale) gathered(at, from)
#undef _mm512_alignr_epi32
#define _mm512_alignr_epi32(a, b, by) turned(a, by) /* of a and a */
#undef _mm512_reduce_or_epi64
#define _mm512_reduce_or_epi64 joined

#undef _mm512_madd_epi16
#define _mm512_madd_epi16(a, b)               simde_mm512_madd_epi16(a, b)
#define _mm512_mask_testn_epi64_mask(m, a, b) ((m)&simde_mm512_testn_epi64_mask(a, b))
#define _mm512_maskz_sllv_epi64(m, a, b) \
    simde_mm512_maskz_mov_epi64(m, simde_mm512_sllv_epi64(a, b))

#define BLM__AVX512_EMULATED
#define blm__kernel_avx512   emulated
#define blm__ages_avx512     emulated_ages
#define blm__buckets_avx512  emulated_buckets
#define blm__counters_avx512 emulated_counters
#define blm__fuse_avx512     emulated_fuse
struct blm__ages;
struct blm__buckets;
struct blm__counters;
struct blm__fuse;
extern const struct blm__kernel   emulated;
extern const struct blm__ages     emulated_ages;
extern const struct blm__buckets  emulated_buckets;
extern const struct blm__counters emulated_counters;
extern const struct blm__fuse     emulated_fuse;
#include "core/kernel/avx512.c"
#define mask_of emulated_mask_of
#define wide    emulated_wide
#include "core/kernel/avx512_ages.c"
#undef wide
#include "core/kernel/avx512_buckets.c"
#include "core/kernel/avx512_counters.c"
#include "core/kernel/avx512_fuse.c"
#pragma GCC diagnostic pop
#define JUDGED &emulated
#else
#define JUDGED NULL
#endif
#include "unit/core/kernel/judge.h"
