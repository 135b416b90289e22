/* SPDX-License-Identifier: MIT */
/* The string hashes of textbooks and old programs: BKDR (Kernighan and Ritchie's book), JS (Justin
 * Sobel's), RS (Robert Sedgewick's). They were written for unsigned 32 bits and C's char, and are
 * also found with signed chars and in languages whose long has 64 bits. */
#ifndef BLM_CORE_HASH_STRINGS_H
#define BLM_CORE_HASH_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One byte as C's char has it: 0 … 255, or −128 … 127 wrapped to 64 bits. */
static inline uint64_t blm__char(uint8_t c, bool is_signed)
{
    return is_signed && c >= 0x80 ? c - (uint64_t)256 : c;
}

/* h·S + c. 64 bits; the low 32 are the 32-bit hash. S is 31, 131, 1313, …; 131 is the usual one. */
static inline uint64_t blm__bkdr(const void *key, size_t len, uint64_t s, bool is_signed)
{
    const uint8_t *p = key;
    uint64_t       h = 0;
    for (size_t i = 0; i < len; i++)
        h = h * s + blm__char(p[i], is_signed);
    return h;
}

/* h·a + c, a·b. 64 bits; the low 32 are the 32-bit hash. */
static inline uint64_t blm__rs(const void *key, size_t len, bool is_signed)
{
    const uint8_t *p = key;
    uint64_t       h = 0, a = 63689;
    for (size_t i = 0; i < len; i++, a *= 378551)
        h = h * a + blm__char(p[i], is_signed);
    return h;
}

/* h ^ (h << 5) + c + (h >> 2): shifts to the right, so each width is a hash of its own. */
static inline uint64_t blm__js64(const void *key, size_t len, bool is_signed)
{
    const uint8_t *p = key;
    uint64_t       h = 1315423911;
    for (size_t i = 0; i < len; i++)
        h ^= (h << 5) + blm__char(p[i], is_signed) + (h >> 2);
    return h;
}
static inline uint32_t blm__js32(const void *key, size_t len, bool is_signed)
{
    const uint8_t *p = key;
    uint32_t       h = 1315423911;
    for (size_t i = 0; i < len; i++)
        h ^= (h << 5) + (uint32_t)blm__char(p[i], is_signed) + (h >> 2);
    return h;
}

#endif
