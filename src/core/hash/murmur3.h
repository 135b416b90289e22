/* SPDX-License-Identifier: MIT */
/* MurmurHash3 as the foreign schemes use it: Guava, Go and BIP37 have the standard forms, Spark
 * treats the last bytes in its own way. */
#ifndef BLM_CORE_HASH_MURMUR3_H
#define BLM_CORE_HASH_MURMUR3_H

#include "core/bits.h"

/* x86, 32 bits. */
uint32_t blm__murmur3_32(const void *data, size_t len, uint32_t seed);

/* x64, 128 bits: out[0] is h1, out[1] is h2. The seed starts both lanes, so a signed 32-bit seed
 * (Guava) comes sign-extended, an unsigned one (the reference code) zero-extended. */
void blm__murmur3_128(const void *data, size_t len, uint64_t seed, uint64_t out[2]);

/* The same for bytes that come one after the other: start, any number of puts, end. A copy of the
 * state can be ended by itself, so two hashes with a common beginning take one pass over it. */
struct blm__murmur3_128 {
    uint64_t h[2];
    uint64_t len;
    uint8_t  tail[16]; /* len % 16 bytes not yet mixed in, zeroes behind them */
};
void blm__murmur3_128_start(struct blm__murmur3_128 *s, uint64_t seed);
void blm__murmur3_128_put(struct blm__murmur3_128 *s, const void *data, size_t len);
void blm__murmur3_128_end(struct blm__murmur3_128 *s, uint64_t out[2]);

/* Its parts, for the compiler to inline: keys of 8 bytes are hashed by the thousand. */
static inline uint64_t blm__murmur3_low(uint64_t k)
{
    return blm__rotl64(k * 0x87c37b91114253d5u, 31) * 0x4cf5ad432745937fu;
}
static inline uint64_t blm__murmur3_high(uint64_t k)
{
    return blm__rotl64(k * 0x4cf5ad432745937fu, 33) * 0x87c37b91114253d5u;
}
static inline uint64_t blm__murmur3_avalanche(uint64_t h)
{
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}
/* The last 0 to 15 bytes, zero-padded to 16, of `len` bytes in all. */
static inline void blm__murmur3_finish(uint64_t h[2], uint64_t low, uint64_t high, uint64_t len)
{
    h[0] ^= blm__murmur3_low(low); /* a zero half scrambles to zero: no branch needed */
    h[1] ^= blm__murmur3_high(high);
    h[0] ^= len;
    h[1] ^= len;
    h[0] += h[1];
    h[1] += h[0];
    h[0] = blm__murmur3_avalanche(h[0]);
    h[1] = blm__murmur3_avalanche(h[1]);
    h[0] += h[1];
    h[1] += h[0];
}

/* Spark's: as x86 32, but each of the last 0 to 3 bytes is widened with its sign and mixed in as a
 * whole block. Equal to the standard one where len is a multiple of 4. */
uint32_t blm__murmur3_32_spark(const void *data, size_t len, uint32_t seed);

#endif
