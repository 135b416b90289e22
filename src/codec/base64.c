/* SPDX-License-Identifier: MIT */
#include "codec/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int blm__base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '-' || c == '+')
        return 62;
    return c == '_' || c == '/' ? 63 : -1;
}

size_t blm__base64_decode(const char *text, size_t len, uint8_t *out, size_t *bad)
{
    size_t n = 0, chars = len;
    for (int pad = 0; pad < 2 && chars > 0 && text[chars - 1] == '='; pad++)
        chars--;
    uint32_t bits = 0;
    for (size_t i = 0; i < chars; i++) {
        int v = blm__base64_value(text[i]);
        if (v < 0) {
            *bad = i;
            return SIZE_MAX;
        }
        bits = bits << 6 | (uint32_t)v;
        if (i % 4 == 0)
            continue;
        out[n++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    /* Bits of the last character that belong to no byte must be 0. */
    uint32_t unused = chars % 4 == 2 ? bits & 15 : chars % 4 == 3 ? bits & 3 : 0;
    if (len % 4 != 0 || chars % 4 == 1 || unused) {
        *bad = unused ? chars - 1 : len;
        return SIZE_MAX;
    }
    return n;
}

static bool put_group(struct blm__base64 *b, const uint8_t *p, size_t n)
{
    uint32_t v = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);
    char     text[4];
    for (unsigned i = 0; i < 4; i++)
        text[i] = i <= n ? alphabet[v >> (18 - 6 * i) & 63] : '=';
    return blm__put(b->to, text, 4);
}

static bool take(void *ctx, const void *bytes, size_t len)
{
    struct blm__base64 *b = ctx;
    const uint8_t      *p = bytes;
    for (size_t i = 0; i < len; i++) {
        b->rest[b->rest_len++] = p[i];
        if (b->rest_len < 3)
            continue;
        b->rest_len = 0;
        if (!put_group(b, b->rest, 3))
            return false;
    }
    return true;
}

void blm__base64_begin(struct blm__base64 *b, struct blm__sink *to)
{
    memset(b, 0, sizeof *b);
    b->sink.write = take;
    b->sink.ctx   = b;
    b->to         = to;
}

bool blm__base64_end(struct blm__base64 *b)
{
    return b->rest_len == 0 || put_group(b, b->rest, b->rest_len);
}
