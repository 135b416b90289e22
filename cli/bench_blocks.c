/* SPDX-License-Identifier: MIT */
/*
 * The peers that are fastest as far as we know, to compare with: a 256-bit split block and RocksDB's
 * cache-local filter, written plainly from their descriptions (bench/split.h, bench/local.h). One key
 * at a time they are measured behind a call; the split block inlined too, for it is smallest. Many
 * keys go through a rolling pipeline: hash a key, ask for its block, look up the key that was hashed
 * 32 or 96 keys before.
 */
#define SPLIT_INTEGERS /* no other keys here, and so no XXH3 */
#include "../bench/local.h"
#include "bench.h"
#include "memory.h"

#define RING 128u

static bool can_run(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
    return true;
#endif
}

SPLIT_INLINE uint64_t hash_of(const uint64_t *key) { return split_hash(key, 8); }

/* The ways of a filter of `type`: behind calls and rolling, from what is inlined. */
#define WAYS(name, type, where, has, set)                                                 \
    static void name##_peer_clear(void *f) { name##_clear(f); }                           \
    static void name##_peer_free(void *f)                                                 \
    {                                                                                     \
        name##_close(f);                                                                  \
        free(f);                                                                          \
    }                                                                                     \
    static uint64_t name##_add_one(void *f, const uint64_t *keys, size_t n)               \
    {                                                                                     \
        for (size_t i = 0; i < n; i++)                                                    \
            name##_add(f, keys + i, 8);                                                   \
        return 0;                                                                         \
    }                                                                                     \
    static uint64_t name##_check_one(void *f, const uint64_t *keys, size_t n)             \
    {                                                                                     \
        uint64_t there = 0;                                                               \
        for (size_t i = 0; i < n; i++)                                                    \
            there += name##_check(f, keys + i, 8);                                        \
        return there;                                                                     \
    }                                                                                     \
    SPLIT_INLINE uint64_t name##_roll(type *f, const uint64_t *keys, size_t n, bool adds, \
                                      size_t ahead)                                       \
    {                                                                                     \
        uint64_t h[RING], there = 0;                                                      \
        for (size_t i = 0; i < n + ahead; i++) {                                          \
            if (i >= ahead && adds)                                                       \
                set(f, h[(i - ahead) % RING]);                                            \
            else if (i >= ahead)                                                          \
                there += has(f, h[(i - ahead) % RING]);                                   \
            if (i < n) {                                                                  \
                h[i % RING] = hash_of(keys + i);                                          \
                __builtin_prefetch(where(f, h[i % RING]), 0, 2);                          \
            }                                                                             \
        }                                                                                 \
        return there;                                                                     \
    }                                                                                     \
    SPLIT_TARGET static uint64_t name##_add_32(void *f, const uint64_t *keys, size_t n)   \
    {                                                                                     \
        return name##_roll(f, keys, n, true, 32);                                         \
    }                                                                                     \
    SPLIT_TARGET static uint64_t name##_add_96(void *f, const uint64_t *keys, size_t n)   \
    {                                                                                     \
        return name##_roll(f, keys, n, true, 96);                                         \
    }                                                                                     \
    SPLIT_TARGET static uint64_t name##_check_32(void *f, const uint64_t *keys, size_t n) \
    {                                                                                     \
        return name##_roll(f, keys, n, false, 32);                                        \
    }                                                                                     \
    SPLIT_TARGET static uint64_t name##_check_96(void *f, const uint64_t *keys, size_t n) \
    {                                                                                     \
        return name##_roll(f, keys, n, false, 96);                                        \
    }                                                                                     \
    static const struct bench_peer name##_ways = {                                        \
        .clear      = name##_peer_clear,                                                  \
        .free       = name##_peer_free,                                                   \
        .add_one    = name##_add_one,                                                     \
        .check_one  = name##_check_one,                                                   \
        .add_many   = { name##_add_32, name##_add_96 },                                   \
        .check_many = { name##_check_32, name##_check_96 },                               \
    }

WAYS(split, struct split, split_block_of, split_has, split_set);
WAYS(local, struct local, local_line, local_has, local_put);

SPLIT_TARGET static uint64_t split_add_inlined(void *f, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        split_set(f, hash_of(keys + i));
    return 0;
}

SPLIT_TARGET static uint64_t split_check_inlined(void *f, const uint64_t *keys, size_t n)
{
    uint64_t there = 0;
    for (size_t i = 0; i < n; i++)
        there += split_has(f, hash_of(keys + i));
    return there;
}

bool bench_split(struct bench_peer *p, uint64_t items)
{
    struct split *s = memory_need(sizeof *s);
    if (!can_run() || !split_open(s, items, SPLIT_BITS_AT_1_PERCENT))
        return free(s), false;
    *p       = split_ways;
    p->state = s;
    p->bytes = s->blocks * 32;
    return true;
}

bool bench_split_inlined(struct bench_peer *p, uint64_t items)
{
    if (!bench_split(p, items))
        return false;
    p->add_one   = split_add_inlined;
    p->check_one = split_check_inlined;
    for (size_t i = 0; i < 2; i++)
        p->add_many[i] = p->check_many[i] = NULL;
    return true;
}

bool bench_local(struct bench_peer *p, uint64_t items)
{
    struct local *l = memory_need(sizeof *l);
    if (!can_run() || !local_open(l, items, LOCAL_BITS_AT_1_PERCENT))
        return free(l), false;
    *p       = local_ways;
    p->state = l;
    p->bytes = (uint64_t)l->lines * 64;
    return true;
}
