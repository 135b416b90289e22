/* SPDX-License-Identifier: MIT */
/* The CRC-64 at the end of Redis' dumps: Jones' polynomial, reflected, from 0, nothing inverted. */
#ifndef BLM_CORE_HASH_CRC64_H
#define BLM_CORE_HASH_CRC64_H

#include <stddef.h>
#include <stdint.h>

struct blm__crc64 {
    uint64_t table[256];
};

static inline void blm__crc64_init(struct blm__crc64 *t)
{
    for (unsigned i = 0; i < 256; i++) {
        uint64_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0x95ac9329ac4bc9b5u : c >> 1;
        t->table[i] = c;
    }
}

static inline uint64_t blm__crc64(const struct blm__crc64 *t, uint64_t c, const void *data,
                                  size_t len)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < len; i++)
        c = t->table[(c ^ p[i]) & 0xff] ^ c >> 8;
    return c;
}

#endif
