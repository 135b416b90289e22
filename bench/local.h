/* SPDX-License-Identifier: MIT */
/*
 * A peer: the cache-local Bloom filter that RocksDB has had since version 6.6 ("FastLocalBloom"),
 * written plainly from its published description: a line of 512 bits by the low half of a 64-bit
 * hash, and in it k bits, each from the top nine bits of the high half, which is multiplied by the
 * golden ratio after each. Six of them at 10 bits a key are its choice for 1%. With AVX2 it tests up
 * to eight at once, with their words picked from two vectors. Keys are hashed as split.h does, without a seed.
 */
#ifndef BENCH_LOCAL_H
#define BENCH_LOCAL_H

#include "split.h"

#define LOCAL_BITS_AT_1_PERCENT 10.0
#define LOCAL_PROBES            6

struct local {
    uint32_t *words;
    uint32_t  lines;
};

static inline bool local_open(struct local *l, uint64_t n, double bits_per_key)
{
    l->lines = (uint32_t)((double)n * bits_per_key / 512) + 1;
    l->words = huge_alloc((size_t)l->lines * 64);
    return l->words != NULL;
}

static inline void local_clear(struct local *l) { memset(l->words, 0, (size_t)l->lines * 64); }
static inline void local_close(struct local *l) { free(l->words); }

SPLIT_INLINE uint32_t *local_line(const struct local *l, uint64_t h)
{
    return l->words + ((uint64_t)(uint32_t)h * l->lines >> 32) * 16;
}

SPLIT_INLINE void local_set(uint32_t *line, uint64_t h)
{
    uint32_t v = (uint32_t)(h >> 32);
    for (int i = 0; i < LOCAL_PROBES; i++, v *= 0x9e3779b9u)
        line[v >> 28] |= (uint32_t)1 << (v >> 23 & 31);
}

#if defined(__x86_64__)
SPLIT_INLINE bool local_test(const uint32_t *line, uint64_t h)
{
    typedef int   ints __attribute__((vector_size(32)));
    typedef float floats __attribute__((vector_size(32)));
    /* Powers of the golden ratio; what is beyond the probes asks for no bit. */
    const split_block  by = { 1, 0x9e3779b9u, 0xe35e67b1u, 0x734297e9u, 0x35fbe861u, 0xdeb7c719u };
    const split_block  ones = { 1, 1, 1, 1, 1, 1 };
    split_block        v    = by * (uint32_t)(h >> 32);
    const split_block *half = (const void *)line;
    ints word = (ints)(v >> 28); /* of 16: three bits say which of a half, the sign which half */
    ints lo   = __builtin_ia32_permvarsi256((ints)half[0], word);
    ints hi   = __builtin_ia32_permvarsi256((ints)half[1], word);
    ints got  = (ints)__builtin_ia32_blendvps256((floats)lo, (floats)hi, (floats)v);
    return split_covers((split_block)got, ones << (v >> 23 & 31));
}
#else
SPLIT_INLINE bool local_test(const uint32_t *line, uint64_t h)
{
    uint32_t v = (uint32_t)(h >> 32), all = 1;
    for (int i = 0; i < LOCAL_PROBES; i++, v *= 0x9e3779b9u)
        all &= line[v >> 28] >> (v >> 23 & 31);
    return all & 1;
}
#endif

SPLIT_INLINE bool local_has(const struct local *l, uint64_t h)
{
    return local_test(local_line(l, h), h);
}

SPLIT_INLINE void local_put(struct local *l, uint64_t h) { local_set(local_line(l, h), h); }

SPLIT_TARGET static void local_add(struct local *l, const void *key, size_t len)
{
    local_put(l, split_hash(key, len));
}

SPLIT_TARGET static bool local_check(const struct local *l, const void *key, size_t len)
{
    return local_has(l, split_hash(key, len));
}

#endif
