/* SPDX-License-Identifier: MIT */
/* MurmurHash2 and 64A (Austin Appleby, public domain), written from their definitions. The length
 * goes in at the start. The original takes it as an int, so from 2^31 bytes on implementations
 * differ; ours follows the definition literally. */
#include "core/hash/murmur2.h"

#include "core/bytes.h"

uint32_t blm__murmur2_32(const void *data, size_t len, uint32_t seed)
{
    const uint32_t m    = 0x5bd1e995u;
    const uint8_t *p    = data;
    uint32_t       h    = seed ^ (uint32_t)len;
    size_t         left = len;
    for (; left >= 4; left -= 4, p += 4) {
        uint32_t k = blm__get32le(p) * m;
        h          = h * m ^ (k ^ k >> 24) * m;
    }
    if (left) {
        for (size_t i = 0; i < left; i++)
            h ^= (uint32_t)p[i] << (8 * i);
        h *= m;
    }
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

uint64_t blm__murmur64a(const void *data, size_t len, uint64_t seed)
{
    const uint8_t *p = data, *end = p + len;
    size_t         left = len & 7;
    uint64_t       h    = seed ^ (uint64_t)len * BLM__MURMUR64A;
    for (; p + left < end; p += 8)
        h = blm__murmur64a_word(h, blm__get64le(p));
    if (left)
        h = (h ^ blm__last64(end, left, len)) * BLM__MURMUR64A;
    return blm__murmur64a_finish(h);
}
