/* SPDX-License-Identifier: MIT */
/*
 * Bare bits: the native chain over bytes that belong to somebody else's structure. A store such as
 * LevelDB keeps a filter of some dozen keys beside each block, and asks one of them once: a handle
 * would cost more than the answer. Works byte by byte, since such filters stand at any address.
 */
#include "bloomery.h"
#include "core/hash/xxh3.h"
#include "core/probe.h"

static uint64_t hash_of(const void *key, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(key ? key : "", len, seed);
}

void blm_bare_add(void *bytes, uint64_t m, uint32_t k, uint64_t seed, const void *key, size_t len)
{
    uint8_t *bit = bytes;
    if (!m)
        return;
    uint64_t g = hash_of(key, len, seed);
    for (uint32_t i = 0; i < k; i++, g = blm__chain_next(g)) {
        uint64_t at  = blm__reduce(g, m);
        bit[at >> 3] = (uint8_t)(bit[at >> 3] | 1u << (at & 7));
    }
}

bool blm_bare_check(const void *bytes, uint64_t m, uint32_t k, uint64_t seed, const void *key,
                    size_t len)
{
    const uint8_t *bit = bytes;
    if (!m)
        return true;
    uint64_t g = hash_of(key, len, seed);
    for (uint32_t i = 0; i < k; i++, g = blm__chain_next(g)) {
        uint64_t at = blm__reduce(g, m);
        if (!(bit[at >> 3] >> (at & 7) & 1))
            return false;
    }
    return true;
}
