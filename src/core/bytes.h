/* SPDX-License-Identifier: MIT */
/* Loads and stores with a given byte order, and the bounded cursor that every decoder reads
 * through: it never runs past the end, and remembers where it failed. */
#ifndef BLM_CORE_BYTES_H
#define BLM_CORE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BLM__BIG_ENDIAN 1
#else
#define BLM__BIG_ENDIAN 0
#endif

static inline uint64_t blm__swap64(uint64_t v)
{
    v = (v & 0x00ff00ff00ff00ffu) << 8 | (v >> 8 & 0x00ff00ff00ff00ffu);
    v = (v & 0x0000ffff0000ffffu) << 16 | (v >> 16 & 0x0000ffff0000ffffu);
    return v << 32 | v >> 32;
}
static inline uint32_t blm__swap32(uint32_t v)
{
    v = (v & 0x00ff00ffu) << 8 | (v >> 8 & 0x00ff00ffu);
    return v << 16 | v >> 16;
}

/* Host value ↔ the value whose bytes in memory are little-endian. Its own inverse; bitwise
 * operations commute with it, so words in memory stay little-endian
 * and only masks are converted. */
static inline uint64_t blm__le64(uint64_t v) { return BLM__BIG_ENDIAN ? blm__swap64(v) : v; }

static inline uint16_t blm__get16le(const void *p)
{
    const uint8_t *b = p;
    return (uint16_t)(b[0] | b[1] << 8);
}
static inline uint32_t blm__get32le(const void *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return BLM__BIG_ENDIAN ? blm__swap32(v) : v;
}
static inline uint64_t blm__get64le(const void *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return BLM__BIG_ENDIAN ? blm__swap64(v) : v;
}

/* The last n < 8 bytes before `end`, as a little-endian number, of a key of len ≥ n bytes. Without
 * a loop: some bytes are read twice. */
static inline uint64_t blm__last64(const uint8_t *end, size_t n, size_t len)
{
    const uint8_t *p = end - n;
    if (n == 0)
        return 0;
    if (len >= 8)
        return blm__get64le(end - 8) >> (64 - 8 * n);
    if (n >= 4)
        return blm__get32le(p) | (uint64_t)blm__get32le(end - 4) << (8 * (n - 4));
    return p[0] | (uint64_t)p[n / 2] << (8 * (n / 2)) | (uint64_t)p[n - 1] << (8 * (n - 1));
}
static inline uint32_t blm__get32be(const void *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return BLM__BIG_ENDIAN ? v : blm__swap32(v);
}
static inline uint64_t blm__get64be(const void *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return BLM__BIG_ENDIAN ? v : blm__swap64(v);
}
static inline void blm__put16le(void *p, uint16_t v)
{
    uint8_t *b = p;
    b[0]       = (uint8_t)v;
    b[1]       = (uint8_t)(v >> 8);
}
static inline void blm__put32le(void *p, uint32_t v)
{
    v = BLM__BIG_ENDIAN ? blm__swap32(v) : v;
    memcpy(p, &v, 4);
}
static inline void blm__put64le(void *p, uint64_t v)
{
    v = BLM__BIG_ENDIAN ? blm__swap64(v) : v;
    memcpy(p, &v, 8);
}
static inline void blm__put32be(void *p, uint32_t v)
{
    v = BLM__BIG_ENDIAN ? v : blm__swap32(v);
    memcpy(p, &v, 4);
}
static inline void blm__put64be(void *p, uint64_t v)
{
    v = BLM__BIG_ENDIAN ? v : blm__swap64(v);
    memcpy(p, &v, 8);
}
static inline double blm__f64_from_bits(uint64_t v)
{
    double d;
    memcpy(&d, &v, 8);
    return d;
}
static inline uint64_t blm__f64_bits(double d)
{
    uint64_t v;
    memcpy(&v, &d, 8);
    return v;
}

/* A bounded cursor. After the first read past the end, every read gives 0, and `short_at` keeps the
 * offset of that read. So check `bad` once, after a group of fields. */
struct blm__cursor {
    const uint8_t *data;
    size_t         len, at;
    bool           bad;
    size_t         short_at;
};

static inline struct blm__cursor blm__cursor(const void *data, size_t len)
{
    struct blm__cursor c = { data, len, 0, false, 0 };
    return c;
}
static inline size_t blm__left(const struct blm__cursor *c) { return c->len - c->at; }
/* The next n bytes, or NULL. */
static inline const uint8_t *blm__take(struct blm__cursor *c, size_t n)
{
    if (c->bad || n > c->len - c->at) {
        if (!c->bad)
            c->short_at = c->at;
        c->bad = true;
        return NULL;
    }
    const uint8_t *p = c->data + c->at;
    c->at += n;
    return p;
}
static inline uint8_t blm__take8(struct blm__cursor *c)
{
    const uint8_t *p = blm__take(c, 1);
    return p ? *p : 0;
}
static inline uint16_t blm__take16le(struct blm__cursor *c)
{
    const uint8_t *p = blm__take(c, 2);
    return p ? blm__get16le(p) : 0;
}
static inline uint32_t blm__take32le(struct blm__cursor *c)
{
    const uint8_t *p = blm__take(c, 4);
    return p ? blm__get32le(p) : 0;
}
static inline uint64_t blm__take64le(struct blm__cursor *c)
{
    const uint8_t *p = blm__take(c, 8);
    return p ? blm__get64le(p) : 0;
}
static inline uint32_t blm__take32be(struct blm__cursor *c)
{
    const uint8_t *p = blm__take(c, 4);
    return p ? blm__get32be(p) : 0;
}
static inline uint64_t blm__take64be(struct blm__cursor *c)
{
    const uint8_t *p = blm__take(c, 8);
    return p ? blm__get64be(p) : 0;
}
static inline double blm__takef64le(struct blm__cursor *c)
{
    return blm__f64_from_bits(blm__take64le(c));
}

#endif
