/* SPDX-License-Identifier: MIT */
/* The few integer tricks that filters use. */
#ifndef BLM_CORE_BITS_H
#define BLM_CORE_BITS_H

#include "core/bytes.h"

#if defined(__GNUC__)
#define BLM__LIKELY(x)        __builtin_expect(!!(x), 1)
#define BLM__UNLIKELY(x)      __builtin_expect(!!(x), 0)
#define BLM__INLINE           static inline __attribute__((always_inline))
#define BLM__NOINLINE         __attribute__((noinline))
#define BLM__PREFETCH(p)      __builtin_prefetch((p), 0, 2)
#define BLM__PREFETCH_NEAR(p) __builtin_prefetch((p), 0, 3) /* into the first cache */
#define BLM__PREFETCH_W(p)    __builtin_prefetch((p), 1, 2)
#define BLM__PREFETCH_NEW(p)  __builtin_prefetch((p), 1, 3) /* the same, to be written */
#define BLM__POPCOUNT64(v)    ((unsigned)__builtin_popcountll(v))
#define BLM__LOWEST64(v)      ((unsigned)__builtin_ctzll(v)) /* which bit; v is not 0 */
#else
#define BLM__LIKELY(x)   (x)
#define BLM__UNLIKELY(x) (x)
#define BLM__INLINE      static inline
#define BLM__NOINLINE
#define BLM__PREFETCH(p)      ((void)(p))
#define BLM__PREFETCH_NEAR(p) ((void)(p))
#define BLM__PREFETCH_W(p)    ((void)(p))
#define BLM__PREFETCH_NEW(p)  ((void)(p))
static inline unsigned blm__popcount64(uint64_t v)
{
    v = v - (v >> 1 & 0x5555555555555555u);
    v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (unsigned)((v * 0x0101010101010101u) >> 56);
}
#define BLM__POPCOUNT64(v)    blm__popcount64(v)
#define BLM__LOWEST64(v)      blm__popcount64(~(v) & ((v)-1))
#endif

/* The high 64 bits of a·b. WebAssembly has no such product: there it is a call of the compiler's
 * library, and four products in place are faster. */
#if defined(__SIZEOF_INT128__) && (!defined(__wasm__) || defined(__OPTIMIZE_SIZE__))
#define BLM__HAVE_INT128 1
#endif
static inline uint64_t blm__mulhi(uint64_t a, uint64_t b)
{
#ifdef BLM__HAVE_INT128
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)((u128)a * b >> 64);
#else
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t ll = al * bl, lh = al * bh, hl = ah * bl, hh = ah * bh;
    uint64_t mid = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;
    return hh + (lh >> 32) + (hl >> 32) + (mid >> 32);
#endif
}

static inline uint64_t blm__rotl64(uint64_t v, unsigned r)
{
    return v << (r & 63) | v >> (-r & 63);
}
static inline uint32_t blm__rotl32(uint32_t v, unsigned r)
{
    return v << (r & 31) | v >> (-r & 31);
}

/* A full-avalanche mix (splitmix64's finaliser): for tags and test keys, never for probes. */
static inline uint64_t blm__mix64(uint64_t v)
{
    v ^= v >> 30;
    v *= 0xbf58476d1ce4e5b9u;
    v ^= v >> 27;
    v *= 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

#endif
