/* SPDX-License-Identifier: MIT */
/* Decoders for -e. Integers become 4 or 8 little-endian bytes of two's complement: what Guava's
 * int and long funnels, Spark's long items and Parquet's plain encoding hash. Other numbers become
 * 4 or 8 little-endian bytes of IEEE 754, as Parquet has them. */
#include "decode.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode_hex(const char *text, size_t len, char *out, size_t *out_len)
{
    if (len % 2)
        return false;
    for (size_t i = 0; i < len; i += 2) {
        int hi = hex_digit(text[i]), lo = hex_digit(text[i + 1]);
        if (hi < 0 || lo < 0)
            return false;
        out[i / 2] = (char)(hi << 4 | lo);
    }
    *out_len = len / 2;
    return true;
}

/* Standard and URL-safe alphabets, with or without padding. */
static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static bool decode_base64(const char *text, size_t len, char *out, size_t *out_len)
{
    if (len % 4 == 0 && len > 0)
        len -= text[len - 1] != '=' ? 0 : text[len - 2] != '=' ? 1 : 2;
    if (len % 4 == 1)
        return false;
    uint32_t bits = 0;
    unsigned have = 0;
    size_t   to   = 0;
    for (size_t i = 0; i < len; i++) {
        int v = base64_digit(text[i]);
        if (v < 0)
            return false;
        bits = bits << 6 | (uint32_t)v;
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[to++] = (char)(bits >> have & 0xFF);
        }
    }
    *out_len = to;
    return (bits & ((1u << have) - 1)) == 0; /* left-over bits must be zero */
}

static void put_bytes(uint64_t v, unsigned bytes, char *out, size_t *out_len)
{
    for (unsigned b = 0; b < bytes; b++)
        out[b] = (char)(v >> (8 * b) & 0xFF);
    *out_len = bytes;
}

/* Decimal from least to most (as two's complement, `bytes` wide). */
static bool decode_integer(const char *text, size_t len, unsigned bytes, char *out, size_t *out_len)
{
    bool     minus = len > 0 && text[0] == '-';
    uint64_t limit = ((uint64_t)1 << (8 * bytes - 1)) - !minus;
    uint64_t v     = 0;
    size_t   i     = minus || (len > 0 && text[0] == '+');
    if (i == len)
        return false;
    for (; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        uint64_t d = (uint64_t)(text[i] - '0');
        if (v > (limit - d) / 10)
            return false;
        v = v * 10 + d;
    }
    if (minus)
        v = 0 - v;
    put_bytes(v, bytes, out, out_len);
    return true;
}

static bool decode_int32(const char *text, size_t len, char *out, size_t *out_len)
{
    return decode_integer(text, len, 4, out, out_len);
}

static bool decode_int64(const char *text, size_t len, char *out, size_t *out_len)
{
    return decode_integer(text, len, 8, out, out_len);
}

/* As strtod reads it, and nothing before or after: 1.5, -2e9, inf, nan. */
static bool real_text(const char *text, size_t len, char *copy, size_t room)
{
    if (len == 0 || len >= room || memchr(text, 0, len) || strchr(" \t\n\v\f\r", text[0]))
        return false;
    memcpy(copy, text, len);
    copy[len] = 0;
    return true;
}

static bool decode_float(const char *text, size_t len, char *out, size_t *out_len)
{
    char     copy[512], *end;
    uint32_t bits;
    if (!real_text(text, len, copy, sizeof copy))
        return false;
    float v = strtof(copy, &end);
    memcpy(&bits, &v, sizeof bits);
    put_bytes(bits, 4, out, out_len);
    return *end == 0;
}

static bool decode_double(const char *text, size_t len, char *out, size_t *out_len)
{
    char     copy[512], *end;
    uint64_t bits;
    if (!real_text(text, len, copy, sizeof copy))
        return false;
    double v = strtod(copy, &end);
    memcpy(&bits, &v, sizeof bits);
    put_bytes(bits, 8, out, out_len);
    return *end == 0;
}

static const struct encoding encodings[] = {
    { "text", "text", NULL }, /* the bytes of the line: nothing to decode */
    { "hex", "hexadecimal digits, two per byte", decode_hex },
    { "int32", "a whole number from -2147483648 to 2147483647", decode_int32 },
    { "int64", "a whole number from -9223372036854775808 to 9223372036854775807", decode_int64 },
    { "float", "a number", decode_float },
    { "double", "a number", decode_double },
    { "base64", "base64", decode_base64 },
};

const char *encoding_names(size_t i)
{
    return i < sizeof encodings / sizeof *encodings ? encodings[i].name : NULL;
}

const struct encoding *encoding_find(const char *name)
{
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        if (strcmp(encodings[i].name, name) == 0)
            return &encodings[i];
    return NULL;
}

const char *encoding_funnel(const char *encoding, const char *scheme)
{
    static const char *const wishes[][5] = {
        { "int32", "int", "int32", "long", NULL }, /* Spark widens an int */
        { "int64", "long", "int64", NULL },        { "hex", "bytes", "binary", NULL },
        { "base64", "bytes", "binary", NULL },     { "float", "bytes", "binary", NULL },
        { "double", "bytes", "binary", NULL },     { "text", "string", "bytes", NULL },
    };
    const blm_scheme_row *row = blm_scheme_find(scheme);
    if (!row || !row->funnels)
        return NULL;
    const char *const *all = row->funnels;
    for (size_t w = 0; w < sizeof wishes / sizeof *wishes; w++)
        for (size_t i = 1; strcmp(wishes[w][0], encoding) == 0 && wishes[w][i]; i++)
            for (size_t f = 0; all[f]; f++)
                if (strcmp(all[f], wishes[w][i]) == 0)
                    return f ? all[f] : NULL;
    return NULL;
}

bool funnel_said(const blm_params *p)
{
    const blm_scheme_row *row  = blm_scheme_find(p->scheme);
    const char           *text = encoding_funnel("text", p->scheme);
    return strcmp(p->format, "native") == 0 && row && row->funnels && p->funnel &&
           strcmp(p->funnel, row->funnels[0]) != 0 && !(text && strcmp(p->funnel, text) == 0);
}
