/* SPDX-License-Identifier: MIT */
/* MurmurHash2, which RedisBloom (64A and 32-bit) and course material still use. */
#ifndef BLM_CORE_HASH_MURMUR2_H
#define BLM_CORE_HASH_MURMUR2_H

#include <stddef.h>
#include <stdint.h>

/* MurmurHash2, 32 bits. */
uint32_t blm__murmur2_32(const void *data, size_t len, uint32_t seed);
/* MurmurHash64A: 64 bits, for 64-bit machines. */
uint64_t blm__murmur64a(const void *data, size_t len, uint64_t seed);

#endif
