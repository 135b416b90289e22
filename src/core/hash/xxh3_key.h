/* SPDX-License-Identifier: MIT */
/*
 * XXH3-64 with a seed, written out for the lengths that keys have. It gives bit for bit what
 * XXH3_64bits_withSeed of the system's xxHash does (tests/unit/core/hash/test_xxh3_key.c compares
 * them), but the compiler can inline all of it. The algorithm has not changed since xxHash 0.8.0.
 *
 * Why not the library: single calls need the 8-byte form with a prepared seed and nothing around
 * it, kernels need it in vectors, and batches of strings need one loop for keys of 33 to 96 bytes
 * (core/hash/groups.h has the figures). Above 128 bytes the library's own loops are as good as any.
 */
#ifndef BLM_CORE_HASH_XXH3_KEY_H
#define BLM_CORE_HASH_XXH3_KEY_H

#include "bloomery.h"
#include "core/bits.h"

/* The library, for any length: core/hash/xxh3.c. */
uint64_t blm__xxh3_library(const void *key, size_t len, uint64_t seed);
/* Any length, out of line. */
uint64_t blm__xxh3_any(const void *key, size_t len, uint64_t seed);

/* Many keys; data may be NULL where len is 0. */
void blm__xxh3_many(const blm_key *keys, size_t n, uint64_t seed, uint64_t *out);

/* The words of XXH3's default secret that short inputs use; of some pairs only the xor is
 * needed. */
#define BLM__XXH3_PAIR_0    0x8726f9105dc21ddcu /* bytes 56 ^ 64: the empty key */
#define BLM__XXH3_PAIR_1    0x87275a9bu         /* bytes 0 ^ 4, 32 bits: 1 to 3 bytes */
#define BLM__XXH3_PAIR_4    0xc73ab174c5ecd5a2u /* bytes 8 ^ 16: 4 to 8 bytes */
#define BLM__XXH3_PAIR_9    0x6782737bea4239b9u /* bytes 24 ^ 32: 9 to 16 bytes … */
#define BLM__XXH3_PAIR_9B   0xaf56bc3b0996523au /* … and 40 ^ 48 */
#define BLM__XXH3_PRIME_1   0x9e3779b185ebca87u
#define BLM__XXH3_PRIME_2   0xc2b2ae3d27d4eb4fu
#define BLM__XXH3_PRIME_3   0x165667b19e3779f9u
#define BLM__XXH3_PRIME_MX1 0x165667919e3779f9u
#define BLM__XXH3_PRIME_MX2 0x9fb21c651e98df25u

BLM__INLINE uint64_t blm__xxh3_fold(uint64_t a, uint64_t b)
{
#if defined(__x86_64__) && defined(__GNUC__)
    /* By hand: gcc 12 takes the halves of a 128-bit product through memory. */
    __asm__("mulq %1\n\txorq %1,%0" : "+a"(a), "+d"(b) : : "cc");
    return a;
#elif defined(BLM__HAVE_INT128)
    __extension__ typedef unsigned __int128 u128;
    u128                                    p = (u128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
#else
    return (a * b) ^ blm__mulhi(a, b);
#endif
}

BLM__INLINE uint64_t blm__xxh3_avalanche(uint64_t h)
{
    h ^= h >> 37;
    h *= BLM__XXH3_PRIME_MX1;
    return h ^ h >> 32;
}

BLM__INLINE uint64_t blm__xxh3_avalanche_64(uint64_t h) /* XXH64's */
{
    h ^= h >> 33;
    h *= BLM__XXH3_PRIME_2;
    h ^= h >> 29;
    h *= BLM__XXH3_PRIME_3;
    return h ^ h >> 32;
}

/* ---- 4 to 8 bytes: one word, two multiplies ---- */

/* What every key of 4 to 8 bytes is xored with, for a seed. */
BLM__INLINE uint64_t blm__xxh3_flip(uint64_t seed)
{
    return BLM__XXH3_PAIR_4 - (seed ^ (uint64_t)blm__swap32((uint32_t)seed) << 32);
}

BLM__INLINE uint64_t blm__xxh3_turn(uint64_t v)
{
    return v ^ blm__rotl64(v, 49) ^ blm__rotl64(v, 24);
}

BLM__INLINE uint64_t blm__xxh3_turned(uint64_t v, size_t len)
{
    v *= BLM__XXH3_PRIME_MX2;
    v ^= (v >> 35) + len;
    v *= BLM__XXH3_PRIME_MX2;
    return v ^ v >> 28;
}

BLM__INLINE uint64_t blm__xxh3_word(uint64_t v, size_t len)
{
    return blm__xxh3_turned(blm__xxh3_turn(v), len);
}

BLM__INLINE uint64_t blm__xxh3_8(const void *key, uint64_t flip)
{
    return blm__xxh3_word(blm__rotl64(blm__get64le(key), 32) ^ flip, 8);
}

/* The same for single calls, with blm__xxh3_turn(flip) computed before: rotations and xor commute,
 * so the key's three rotations start at once, and the dependency chain is two steps shorter. */
BLM__INLINE uint64_t blm__xxh3_8_one(const void *key, uint64_t turned_flip)
{
    uint64_t k = blm__get64le(key);
    uint64_t v = (blm__rotl64(k, 32) ^ turned_flip) ^ (blm__rotl64(k, 17) ^ blm__rotl64(k, 56));
    return blm__xxh3_turned(v, 8);
}

BLM__INLINE uint64_t blm__xxh3_4(const void *key, uint64_t flip)
{
    uint64_t v = blm__get32le(key);
    return blm__xxh3_word((v + (v << 32)) ^ flip, 4);
}

BLM__INLINE uint64_t blm__xxh3_4to8(const void *key, size_t len, uint64_t flip)
{
    const uint8_t *p     = key;
    uint64_t       first = blm__get32le(p), last = blm__get32le(p + len - 4);
    return blm__xxh3_word((last + (first << 32)) ^ flip, len);
}

/* ---- 0 to 3, 9 to 16 ---- */

/* 1 to 3 bytes and their number in one word. */
BLM__INLINE uint64_t blm__xxh3_1to3(const void *key, size_t len)
{
    const uint8_t *p = key;
    return (uint32_t)p[0] << 16 | (uint32_t)p[len >> 1] << 24 | p[len - 1] | (uint32_t)len << 8;
}

BLM__INLINE uint64_t blm__xxh3_0to3(const void *key, size_t len, uint64_t seed)
{
    if (len == 0)
        return blm__xxh3_avalanche_64(seed ^ BLM__XXH3_PAIR_0);
    return blm__xxh3_avalanche_64(blm__xxh3_1to3(key, len) ^ (BLM__XXH3_PAIR_1 + seed));
}

BLM__INLINE uint64_t blm__xxh3_9to16(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *p  = key;
    uint64_t       lo = blm__get64le(p) ^ (BLM__XXH3_PAIR_9 + seed);
    uint64_t       hi = blm__get64le(p + len - 8) ^ (BLM__XXH3_PAIR_9B - seed);
    return blm__xxh3_avalanche(len + blm__swap64(lo) + hi + blm__xxh3_fold(lo, hi));
}

/* ---- 17 to 128: mixes of 16 bytes, from both ends ---- */

#define BLM__XXH3_MIX(at, secret_lo, secret_hi)                   \
    blm__xxh3_fold(blm__get64le(p + (at)) ^ ((secret_lo) + seed), \
                   blm__get64le(p + (at) + 8) ^ ((secret_hi)-seed))
#define BLM__XXH3_MIX_0(at) BLM__XXH3_MIX(at, 0xbe4ba423396cfeb8u, 0x1cad21f72c81017cu)
#define BLM__XXH3_MIX_1(at) BLM__XXH3_MIX(at, 0xdb979083e96dd4deu, 0x1f67b3b7a4a44072u)
#define BLM__XXH3_MIX_2(at) BLM__XXH3_MIX(at, 0x78e5c0cc4ee679cbu, 0x2172ffcc7dd05a82u)
#define BLM__XXH3_MIX_3(at) BLM__XXH3_MIX(at, 0x8e2443f7744608b8u, 0x4c263a81e69035e0u)
#define BLM__XXH3_MIX_4(at) BLM__XXH3_MIX(at, 0xcb00c391bb52283cu, 0xa32e531b8b65d088u)
#define BLM__XXH3_MIX_5(at) BLM__XXH3_MIX(at, 0x4ef90da297486471u, 0xd8acdea946ef1938u)
#define BLM__XXH3_MIX_6(at) BLM__XXH3_MIX(at, 0x3f349ce33f76faa8u, 0x1d4f0bc7c7bbdcf9u)
#define BLM__XXH3_MIX_7(at) BLM__XXH3_MIX(at, 0x3159b4cd4be0518au, 0x647378d9c97e9fc8u)

BLM__INLINE uint64_t blm__xxh3_17to32(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *p   = key;
    uint64_t       acc = len * BLM__XXH3_PRIME_1;
    acc += BLM__XXH3_MIX_0(0) + BLM__XXH3_MIX_1(len - 16);
    return blm__xxh3_avalanche(acc);
}

BLM__INLINE uint64_t blm__xxh3_33to64(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *p   = key;
    uint64_t       acc = len * BLM__XXH3_PRIME_1;
    acc += BLM__XXH3_MIX_0(0) + BLM__XXH3_MIX_1(len - 16);
    acc += BLM__XXH3_MIX_2(16) + BLM__XXH3_MIX_3(len - 32);
    return blm__xxh3_avalanche(acc);
}

/* Without a branch on the length. */
BLM__INLINE uint64_t blm__xxh3_33to96(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *p    = key;
    uint64_t       acc  = len * BLM__XXH3_PRIME_1;
    uint64_t       more = (uint64_t)0 - (len > 64); /* all ones: the middle counts too */
    acc += BLM__XXH3_MIX_0(0) + BLM__XXH3_MIX_1(len - 16);
    acc += BLM__XXH3_MIX_2(16) + BLM__XXH3_MIX_3(len - 32);
    size_t front = 32 & (size_t)more,
           back  = (len - 48) & (size_t)more; /* else some place inside the key */
    acc += (BLM__XXH3_MIX_4(front) + BLM__XXH3_MIX_5(back)) & more;
    return blm__xxh3_avalanche(acc);
}

/* With branches: for lengths that repeat, or differ by more than a class. */
BLM__INLINE uint64_t blm__xxh3_17to128(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *p   = key;
    uint64_t       acc = len * BLM__XXH3_PRIME_1;
    if (len > 32) {
        if (len > 64) {
            if (len > 96)
                acc += BLM__XXH3_MIX_6(48) + BLM__XXH3_MIX_7(len - 64);
            acc += BLM__XXH3_MIX_4(32) + BLM__XXH3_MIX_5(len - 48);
        }
        acc += BLM__XXH3_MIX_2(16) + BLM__XXH3_MIX_3(len - 32);
    }
    acc += BLM__XXH3_MIX_0(0) + BLM__XXH3_MIX_1(len - 16);
    return blm__xxh3_avalanche(acc);
}

/* Any length. */
BLM__INLINE uint64_t blm__xxh3(const void *key, size_t len, uint64_t seed)
{
    if (len > 16)
        return len <= 128 ? blm__xxh3_17to128(key, len, seed) : blm__xxh3_library(key, len, seed);
    if (len > 8)
        return blm__xxh3_9to16(key, len, seed);
    return len >= 4 ? blm__xxh3_4to8(key, len, blm__xxh3_flip(seed))
                    : blm__xxh3_0to3(key, len, seed);
}

#endif
