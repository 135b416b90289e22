/* SPDX-License-Identifier: MIT */
/* MurmurHash2, which RedisBloom (64A and 32 bits) and course material still use. */
#ifndef BLM_CORE_HASH_MURMUR2_H
#define BLM_CORE_HASH_MURMUR2_H

#include <stddef.h>
#include <stdint.h>

/* MurmurHash2, 32 bits. */
uint32_t blm__murmur2_32(const void *data, size_t len, uint32_t seed);
/* MurmurHash64A: 64 bits, for 64-bit machines. */
uint64_t blm__murmur64a(const void *data, size_t len, uint64_t seed);

/* Its parts, open to the compiler: h starts as seed ^ len · the constant. */
#define BLM__MURMUR64A 0xc6a4a7935bd1e995u
static inline uint64_t blm__murmur64a_word(uint64_t h, uint64_t k)
{
    k *= BLM__MURMUR64A;
    return (h ^ (k ^ k >> 47) * BLM__MURMUR64A) * BLM__MURMUR64A;
}
static inline uint64_t blm__murmur64a_finish(uint64_t h)
{
    h = (h ^ h >> 47) * BLM__MURMUR64A;
    return h ^ h >> 47;
}

#endif
