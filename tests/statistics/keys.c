/* SPDX-License-Identifier: MIT */
/* Keys as people have them: numbers that count up, URLs of one site, UUIDs, every word over two
 * letters, and keys that differ from members in one bit. All but INTEGERS are ASCII, which every
 * funnel takes. */
#include <string.h>

#include "statistics.h"

const char *const pattern_name[PATTERNS] = { "integers", "decimals", "urls",
                                             "uuids",    "dense",    "look-alikes" };

uint64_t mix(uint64_t v)
{
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static size_t decimal(uint64_t i, char *out)
{
    char   back[20];
    size_t n = 0;
    do
        back[n++] = (char)('0' + i % 10);
    while ((i /= 10) != 0);
    for (size_t j = 0; j < n; j++)
        out[j] = back[n - 1 - j];
    return n;
}

static size_t text(const char *t, char *out)
{
    size_t n = strlen(t);
    memcpy(out, t, n);
    return n;
}

/* A page of a shop: the number and what follows from it. */
static size_t url(uint64_t i, char *out)
{
    size_t n = text("https://www.example.org/shop/", out);
    n += decimal(i % 100, out + n);
    n += text("/item-", out + n);
    n += decimal(i, out + n);
    n += text(".html?page=", out + n);
    return n + decimal(i % 10, out + n);
}

/* Version 4: 122 random bits. */
static size_t uuid(uint64_t i, char *out)
{
    static const char digit[] = "0123456789abcdef";
    uint64_t          half[2] = { mix(2 * i), mix(2 * i + 1) };
    size_t            n       = 0;
    half[0]                   = (half[0] & ~(uint64_t)0xf000) | 0x4000;
    half[1]                   = half[1] >> 2 | (uint64_t)1 << 63;
    for (int b = 0; b < 32; b++) {
        if (b == 8 || b == 12 || b == 16 || b == 20)
            out[n++] = '-';
        out[n++] = digit[half[b / 16] >> (60 - 4 * (b % 16)) & 15];
    }
    return n;
}

/* 32 letters, of which there are two. */
static size_t dense(uint64_t i, char *out)
{
    for (int b = 0; b < 32; b++)
        out[b] = (char)('a' + (i >> (31 - b) & 1));
    return 32;
}

#define LETTERS 16u

/* 80 bits in the low five of each letter, so that a flipped bit gives a letter again. */
static size_t word(uint64_t i, char *out)
{
    uint64_t a = mix(2 * i), b = mix(2 * i + 1);
    for (unsigned j = 0; j < LETTERS; j++)
        out[j] = (char)('0' + ((j < 8 ? a : b) >> (5 * (j % 8)) & 31));
    return LETTERS;
}

size_t write_key(enum pattern p, uint64_t i, char *out)
{
    switch (p) {
    case INTEGERS:
        for (unsigned b = 0; b < 8; b++)
            out[b] = (char)(i >> 8 * b);
        return 8;
    case DECIMALS:
        return decimal(i, out);
    case URLS:
        return url(i, out);
    case UUIDS:
        return uuid(i, out);
    case DENSE:
        return dense(i, out);
    default:
        return word(i, out);
    }
}

size_t write_question(enum pattern p, uint64_t first, uint64_t n, uint64_t j, char *out)
{
    if (p != LOOKALIKES)
        return write_key(p, first + n + j, out);
    uint64_t of = j % n, round = j / n;
    size_t   len = word(first + of, out);
    unsigned at  = (unsigned)((round + mix(of)) % LETTERS);
    out[at]      = (char)('0' + ((out[at] - '0') ^ 1 << round / LETTERS % 5));
    return len;
}
