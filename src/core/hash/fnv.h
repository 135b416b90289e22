/* SPDX-License-Identifier: MIT */
/* FNV-1 (multiply, then xor) and FNV-1a (xor, then multiply), 32 and 64 bits. Pass a basis as `h`
 * to start, or the result so far to continue. */
#ifndef BLM_CORE_HASH_FNV_H
#define BLM_CORE_HASH_FNV_H

#include <stddef.h>
#include <stdint.h>

#define BLM__FNV32_BASIS 2166136261u
#define BLM__FNV64_BASIS 14695981039346656037u
#define BLM__FNV32_PRIME 16777619u
#define BLM__FNV64_PRIME 1099511628211u

static inline uint32_t blm__fnv1_32(uint32_t h, const void *data, size_t len)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++)
        h = h * BLM__FNV32_PRIME ^ p[i];
    return h;
}
static inline uint32_t blm__fnv1a_32(uint32_t h, const void *data, size_t len)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * BLM__FNV32_PRIME;
    return h;
}
static inline uint64_t blm__fnv1_64(uint64_t h, const void *data, size_t len)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++)
        h = h * BLM__FNV64_PRIME ^ p[i];
    return h;
}
static inline uint64_t blm__fnv1a_64(uint64_t h, const void *data, size_t len)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * BLM__FNV64_PRIME;
    return h;
}

#endif
