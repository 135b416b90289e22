/* SPDX-License-Identifier: MIT */
/*
 * A peer: the 256-bit split block filter, as published (Putze, Sanders and Singler's blocks, cut
 * into eight 32-bit words with one bit each; the salts are Parquet's). It has the fastest single
 * call we know: half a line per key, one multiplication per word, one vector test. It is plain and
 * inlined, with nothing around it: no kinds, no files, no counts. It costs 10.53 bits per key at
 * 1%.
 *
 * Integers are hashed by two multiplications, as its benchmarks do; longer keys by XXH3. Both
 * without a seed.
 */
#ifndef BENCH_SPLIT_H
#define BENCH_SPLIT_H

#include <stdbool.h>
#include <string.h>

#include "memory.h"

#ifndef SPLIT_INTEGERS /* defined: keys of 8 bytes only */
#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <xxhash.h>
#pragma GCC diagnostic pop
#endif

#define SPLIT_BITS_AT_1_PERCENT 10.53

typedef uint32_t split_block __attribute__((vector_size(32)));

struct split {
    split_block *block;
    uint64_t     blocks;
};

#if defined(__x86_64__)
/* What every processor with AVX2 has, as with -march=native. */
#define SPLIT_SET    "avx2,bmi,bmi2"
#define SPLIT_TARGET __attribute__((target(SPLIT_SET), noinline, unused))
#define SPLIT_INLINE __attribute__((target(SPLIT_SET), always_inline)) static inline
#else
/* Blocks are never passed by a real call, so it does not matter how this machine would do it. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define SPLIT_TARGET __attribute__((noinline, unused))
#define SPLIT_INLINE __attribute__((always_inline)) static inline
#endif

static inline bool split_open(struct split *s, uint64_t n, double bits_per_key)
{
    s->blocks = (uint64_t)((double)n * bits_per_key / 256) + 1;
    s->block  = huge_alloc((size_t)s->blocks * 32);
    return s->block != NULL;
}

static inline void split_clear(struct split *s) { memset(s->block, 0, (size_t)s->blocks * 32); }
static inline void split_close(struct split *s) { free(s->block); }

static inline uint64_t split_hash(const void *key, size_t len)
{
    uint64_t v;
#ifndef SPLIT_INTEGERS
    if (len != 8)
        return XXH3_64bits(key, len);
#else
    (void)len;
#endif
    memcpy(&v, key, 8);
    v = (v ^ v >> 33) * 0xff51afd7ed558ccdu;
    v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53u;
    return v ^ v >> 33;
}

SPLIT_INLINE size_t split_at(const struct split *s, uint64_t h)
{
    return (size_t)((h >> 32) * s->blocks >> 32);
}

SPLIT_INLINE split_block split_mask(uint64_t h)
{
    const split_block salt = { 0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                               0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u };
    const split_block one  = { 1, 1, 1, 1, 1, 1, 1, 1 };
    return one << (salt * (uint32_t)h >> 27);
}

SPLIT_INLINE bool split_covers(split_block bits, split_block mask)
{
#if defined(__x86_64__)
    typedef long long quads __attribute__((vector_size(32)));
    return __builtin_ia32_ptestc256((quads)bits, (quads)mask);
#else
    split_block missing = mask & ~bits;
    uint32_t    any     = 0;
    for (int i = 0; i < 8; i++)
        any |= missing[i];
    return any == 0;
#endif
}

SPLIT_INLINE const split_block *split_block_of(const struct split *s, uint64_t h)
{
    return &s->block[split_at(s, h)];
}

SPLIT_INLINE bool split_has(const struct split *s, uint64_t h)
{
    return split_covers(s->block[split_at(s, h)], split_mask(h));
}

SPLIT_INLINE void split_set(struct split *s, uint64_t h)
{
    s->block[split_at(s, h)] |= split_mask(h);
}

SPLIT_TARGET static void split_add(struct split *s, const void *key, size_t len)
{
    split_set(s, split_hash(key, len));
}

SPLIT_TARGET static bool split_check(const struct split *s, const void *key, size_t len)
{
    return split_has(s, split_hash(key, len));
}

/* The same for many keys: each block is prefetched a few keys before it is needed. */
#define SPLIT_AHEAD 64u

SPLIT_TARGET static size_t split_check_many(const struct split *s, const char *keys, size_t width,
                                            size_t n, uint8_t *maybe)
{
    uint64_t h[2 * SPLIT_AHEAD];
    size_t   found = 0;
    for (size_t i = 0; i < n + SPLIT_AHEAD; i++) {
        if (i >= SPLIT_AHEAD) {
            uint64_t was = h[(i - SPLIT_AHEAD) % (2 * SPLIT_AHEAD)];
            bool     in  = split_covers(s->block[split_at(s, was)], split_mask(was));
            found += maybe[i - SPLIT_AHEAD] = in;
        }
        if (i < n) {
            uint64_t now             = split_hash(keys + i * width, width);
            h[i % (2 * SPLIT_AHEAD)] = now;
            __builtin_prefetch(&s->block[split_at(s, now)], 0, 2);
        }
    }
    return found;
}

SPLIT_TARGET static void split_add_many(struct split *s, const char *keys, size_t width, size_t n)
{
    uint64_t h[2 * SPLIT_AHEAD];
    for (size_t i = 0; i < n + SPLIT_AHEAD; i++) {
        if (i >= SPLIT_AHEAD) {
            uint64_t was = h[(i - SPLIT_AHEAD) % (2 * SPLIT_AHEAD)];
            s->block[split_at(s, was)] |= split_mask(was);
        }
        if (i < n) {
            uint64_t now             = split_hash(keys + i * width, width);
            h[i % (2 * SPLIT_AHEAD)] = now;
            __builtin_prefetch(&s->block[split_at(s, now)], 1, 2);
        }
    }
}

#endif
