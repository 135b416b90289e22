/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash whose outputs tell an adversary nothing
 * about the key. Used where people who choose the keys can also watch the answers. */
#include "core/hash/siphash.h"

#include "core/bits.h"

#define ROUND                          \
    do {                               \
        v0 += v1;                      \
        v1 = blm__rotl64(v1, 13) ^ v0; \
        v0 = blm__rotl64(v0, 32);      \
        v2 += v3;                      \
        v3 = blm__rotl64(v3, 16) ^ v2; \
        v0 += v3;                      \
        v3 = blm__rotl64(v3, 21) ^ v0; \
        v2 += v1;                      \
        v1 = blm__rotl64(v1, 17) ^ v2; \
        v2 = blm__rotl64(v2, 32);      \
    } while (0)

uint64_t blm__siphash24(const uint64_t key[2], const void *data, size_t len)
{
    const uint8_t *p  = data;
    uint64_t       v0 = key[0] ^ 0x736f6d6570736575u, v1 = key[1] ^ 0x646f72616e646f6du;
    uint64_t       v2 = key[0] ^ 0x6c7967656e657261u, v3 = key[1] ^ 0x7465646279746573u;
    size_t         left = len;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t m = blm__get64le(p);
        v3 ^= m;
        ROUND;
        ROUND;
        v0 ^= m;
    }
    uint64_t last = (uint64_t)(len & 0xff) << 56;
    for (size_t i = 0; i < left; i++)
        last |= (uint64_t)p[i] << (8 * i);
    v3 ^= last;
    ROUND;
    ROUND;
    v0 ^= last;
    v2 ^= 0xff;
    ROUND;
    ROUND;
    ROUND;
    ROUND;
    return v0 ^ v1 ^ v2 ^ v3;
}
