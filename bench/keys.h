/* SPDX-License-Identifier: MIT */
/*
 * Keys for the benches: 8-byte integers, 20 bytes (as long as a SHA-1), URL-like strings of about
 * 60 bytes. Key i of stream s is always the same. Streams share no keys.
 */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum sort { INTS, TWENTY, URLS, SORTS };
static const char *const sort_name[SORTS]  = { "ints", "bytes20", "urls" };
static const size_t      sort_width[SORTS] = { 8, 20, 0 };

struct keys {
    enum sort sort;
    size_t    n, width; /* width 0: of any length, see list */
    char     *bytes;
    blm_key  *list;
};

static inline uint64_t mix(uint64_t v)
{
    v += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static inline uint64_t number(unsigned stream, uint64_t i)
{
    return mix((uint64_t)stream << 56 | i);
}

static inline void *need(void *memory)
{
    if (!memory) {
        fputs("bench: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* Writes one key, returns its length. At most 80 bytes. */
static inline size_t write_key(enum sort sort, unsigned stream, uint64_t i, char *out)
{
    uint64_t v[3] = { number(stream, i), mix(i), stream };
    if (sort != URLS) {
        memcpy(out, v, sort_width[sort]);
        return sort_width[sort];
    }
    return (size_t)sprintf(out, "https://www.example-%u.com/%s/%llx/item.html?id=%u",
                           (unsigned)(v[0] % 997), i % 3 ? "archive" : "shop",
                           (unsigned long long)v[0], (unsigned)(i % 100000));
}

/* n keys of a stream, drawn from its first `of` at random when there are fewer than n. */
static inline struct keys make_keys(enum sort sort, unsigned stream, size_t n, uint64_t of)
{
    struct keys k = { sort, n, sort_width[sort], NULL, NULL };
    k.bytes       = need(malloc(n * (k.width ? k.width + 4 : 80)));
    k.list        = need(malloc(n * sizeof *k.list));
    char *p       = k.bytes;
    for (size_t i = 0; i < n; i++) {
        size_t len = write_key(sort, stream, of < n ? mix(i) % of : i, p);
        k.list[i]  = (blm_key){ p, len };
        p += len;
    }
    return k;
}

static inline void free_keys(struct keys *k)
{
    free(k->bytes);
    free(k->list);
}

/* A part of them, sharing their memory. */
static inline struct keys some_keys(const struct keys *k, size_t from, size_t n)
{
    struct keys part = *k;
    part.n           = n;
    part.list        = k->list + from;
    part.bytes       = k->width ? k->bytes + from * k->width : k->bytes;
    return part;
}

#endif
