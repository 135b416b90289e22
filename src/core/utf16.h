/* SPDX-License-Identifier: MIT */
/* Text for schemes that come from Java and JavaScript, where a string is UTF-16: gives the units of
 * a key in UTF-8, one after the other, without a buffer.
 *
 * Bytes that are not UTF-8 become U+FFFD, one for each longest sequence that could have begun a
 * character (a surrogate written as three bytes counts as one), as new String(bytes, UTF_8) does in
 * Java: so a Java program that read the same bytes hashes the same. */
#ifndef BLM_CORE_UTF16_H
#define BLM_CORE_UTF16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blm__utf16 {
    const uint8_t *at, *end;
    uint16_t       low; /* second half of a surrogate pair, still to come; else 0 */
};

static inline struct blm__utf16 blm__utf16(const void *text, size_t len)
{
    struct blm__utf16 u = { text, (const uint8_t *)text + len, 0 };
    return u;
}

/* The next character, from at least one byte; U+FFFD if the bytes are not one. */
static inline uint32_t blm__utf8_take(struct blm__utf16 *u)
{
    uint32_t c = *u->at++;
    if (c < 0x80)
        return c;
    unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    /* The second byte's range is narrower where the first is at an edge: no overlong forms,
     * nothing past U+10FFFF. */
    uint8_t low  = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    uint8_t high = c == 0xf4 ? 0x8f : 0xbf;
    if (c < 0xc2 || c > 0xf4)
        return 0xfffd;
    c &= 0x3fu >> more;
    for (; more > 0; more--) {
        if (u->at == u->end || *u->at < low || *u->at > high)
            return 0xfffd;
        c    = c << 6 | (*u->at++ & 0x3f);
        low  = 0x80;
        high = 0xbf;
    }
    return c >> 11 == 0xd800 >> 11 ? 0xfffd : c;
}

/* The next unit; false at the end. */
static inline bool blm__utf16_next(struct blm__utf16 *u, uint16_t *unit)
{
    if (u->low) {
        *unit  = u->low;
        u->low = 0;
        return true;
    }
    if (u->at == u->end)
        return false;
    uint32_t c = blm__utf8_take(u);
    if (c >= 0x10000) {
        c -= 0x10000;
        u->low = (uint16_t)(0xdc00 | (c & 0x3ff));
        c      = 0xd800 | c >> 10;
    }
    *unit = (uint16_t)c;
    return true;
}

#endif
