/* SPDX-License-Identifier: MIT */
/* Decoders for -e. Integers become 4 or 8 little-endian bytes of two's complement: what Guava's
 * int and long funnels, Spark's long items and Parquet's plain encoding hash. */
#include "decode.h"

#include <stdint.h>
#include <string.h>

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
    for (unsigned b = 0; b < bytes; b++)
        out[b] = (char)(v >> (8 * b) & 0xFF);
    *out_len = bytes;
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

static const struct encoding encodings[] = {
    { "text", "text", NULL }, /* the bytes of the line: nothing to decode */
    { "hex", "hexadecimal digits, two per byte", decode_hex },
    { "int32", "a whole number from -2147483648 to 2147483647", decode_int32 },
    { "int64", "a whole number from -9223372036854775808 to 9223372036854775807", decode_int64 },
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
