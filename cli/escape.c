/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "memory.h"

#define LONGEST 4 /* bytes that one byte becomes: \x1b */

/* The bytes of the character at p, if it is UTF-8 that can be shown; 0: it is not. A character
 * whose bytes are cut by the NUL does not match: NUL continues nothing. */
static size_t plain(const unsigned char *p)
{
    size_t   len     = p[0] < 0x80 ? 1 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    uint32_t least[] = { 0x20, 0xA0, 0x800, 0x10000 }; /* shorter, or control characters */
    uint32_t code    = len == 1 ? p[0] : p[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3F);
    }
    bool good = code >= least[len - 1] && code != 0x7F && code <= 0x10FFFF &&
                !(code >= 0xD800 && code < 0xE000);
    return good && p[0] < 0xF8 && !(p[0] >= 0x80 && p[0] < 0xC0) ? len : 0;
}

static size_t code_of(unsigned char c, char out[LONGEST])
{
    static const char digits[] = "0123456789abcdef";
    const char       *named    = c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : NULL;
    if (named) {
        memcpy(out, named, 2);
        return 2;
    }
    memcpy(out, "\\x", 2);
    out[2] = digits[c >> 4];
    out[3] = digits[c & 15];
    return LONGEST;
}

size_t escape(const char *text, char *out, size_t room)
{
    size_t at = 0;
    while (*text) {
        char        code[LONGEST];
        size_t      take = plain((const unsigned char *)text), len = take;
        const char *from = text;
        if (!take) {
            len  = code_of((unsigned char)*text, code);
            take = 1;
            from = code;
        }
        if (at + len >= room)
            break;
        memcpy(out + at, from, len);
        at += len;
        text += take;
    }
    out[at] = 0;
    return at;
}

static struct kept {
    struct kept *next;
    char         text[];
} * all_kept; /* reachable to the end, for leak checkers */

const char *shown(const char *text)
{
    const char *p = text;
    for (size_t n; *p && (n = plain((const unsigned char *)p)) != 0; p += n)
        ;
    if (*p == 0)
        return text;
    size_t       room = strlen(text) * LONGEST + 1;
    struct kept *k    = memory_need(sizeof *k + room);
    k->next           = all_kept;
    all_kept          = k;
    escape(text, k->text, room);
    return k->text;
}
