/* SPDX-License-Identifier: MIT */
/* MurmurHash3 (Austin Appleby, public domain), written from its definition. Blocks are read
 * little-endian on every host; lengths are 64-bit throughout, where the reference takes an int. */
#include "core/hash/murmur3.h"

#include "core/bits.h"

/* ---- 32 bits ---- */

static uint32_t scramble32(uint32_t k) { return blm__rotl32(k * 0xcc9e2d51u, 15) * 0x1b873593u; }

static uint32_t block32(uint32_t h, uint32_t k)
{
    return blm__rotl32(h ^ scramble32(k), 13) * 5 + 0xe6546b64u;
}

/* The length and the final avalanche. The reference mixes in an int: past 2^32 bytes, the low
 * half. */
static uint32_t finish32(uint32_t h, size_t len)
{
    h ^= (uint32_t)len;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

static uint32_t blocks32(const uint8_t *p, size_t len, uint32_t h)
{
    for (; len >= 4; len -= 4, p += 4)
        h = block32(h, blm__get32le(p));
    return h;
}

uint32_t blm__murmur3_32(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data, *tail = p + (len & ~(size_t)3);
    uint32_t       h = blocks32(p, len, seed), k = 0;
    for (size_t i = len & 3; i > 0; i--)
        k = k << 8 | tail[i - 1];
    if (len & 3)
        h ^= scramble32(k);
    return finish32(h, len);
}

uint32_t blm__murmur3_32_spark(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint32_t       h = blocks32(p, len, seed);
    for (size_t i = len & ~(size_t)3; i < len; i++)
        h = block32(h, (p[i] ^ 0x80u) - 0x80u); /* the byte, sign-extended */
    return finish32(h, len);
}

/* ---- 128 bits ---- */

static void block128(uint64_t h[2], uint64_t low, uint64_t high)
{
    h[0] = (blm__rotl64(h[0] ^ blm__murmur3_low(low), 27) + h[1]) * 5 + 0x52dce729u;
    h[1] = (blm__rotl64(h[1] ^ blm__murmur3_high(high), 31) + h[0]) * 5 + 0x38495ab5u;
}

void blm__murmur3_128_start(struct blm__murmur3_128 *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->h[0] = s->h[1] = seed;
}

void blm__murmur3_128_put(struct blm__murmur3_128 *s, const void *data, size_t len)
{
    const uint8_t *p    = data;
    size_t         have = (size_t)(s->len & 15);
    s->len += len;
    if (have > 0 && len >= 16 - have) { /* fills the block that was begun */
        memcpy(s->tail + have, p, 16 - have);
        block128(s->h, blm__get64le(s->tail), blm__get64le(s->tail + 8));
        memset(s->tail, 0, sizeof s->tail);
        p += 16 - have;
        len -= 16 - have;
        have = 0;
    }
    if (have == 0)
        for (; len >= 16; len -= 16, p += 16)
            block128(s->h, blm__get64le(p), blm__get64le(p + 8));
    if (len > 0)
        memcpy(s->tail + have, p, len);
}

void blm__murmur3_128_end(struct blm__murmur3_128 *s, uint64_t out[2])
{
    blm__murmur3_finish(s->h, blm__get64le(s->tail), blm__get64le(s->tail + 8), s->len);
    out[0] = s->h[0];
    out[1] = s->h[1];
}

/* The same in one go, without the copies that a stream needs. */
void blm__murmur3_128(const void *data, size_t len, uint64_t seed, uint64_t out[2])
{
    const uint8_t *p = data, *end = p + len;
    size_t         left = len & 15;
    out[0] = out[1] = seed;
    for (; p + left < end; p += 16)
        block128(out, blm__get64le(p), blm__get64le(p + 8));
    if (left < 8)
        blm__murmur3_finish(out, blm__last64(end, left, len), 0, len);
    else
        blm__murmur3_finish(out, blm__get64le(p), blm__last64(end, left - 8, len), len);
}
