/* SPDX-License-Identifier: MIT */
/* XXH3 that is not inlined: the library's, for long keys; ours, for callers that cannot inline it;
 * and for many keys at once. */
#include "core/hash/xxh3.h"

#include "core/hash/xxh3_key.h"

uint64_t blm__xxh3_library(const void *key, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(key, len, seed);
}

uint64_t blm__xxh3_any(const void *key, size_t len, uint64_t seed)
{
    return blm__xxh3(key, len, seed);
}

/* Keys are taken in groups. If all lengths of a group allow it, one loop hashes them without a
 * branch on the length, which the next key would mispredict. Zen 3, ns per key, random lengths, in
 * cache: 40 to 89 bytes 10.5 with a branch per key, 8.1 in groups; 60 bytes 5.6 and 5.5, but 7.6 if
 * all six mixes were always done. Lengths from 17 to 128 gain nothing (10 to 12, mispredicted
 * either way). */
#define GROUP 16u
/* Keys may be anywhere in memory: prefetch them this far ahead (keys in random order: 16.2 → 11.9;
 * side by side, where the processor prefetches by itself, it costs 0.5). */
#define AHEAD 16u

static void shortest_longest(const blm_key *k, size_t *lo, size_t *hi)
{
    size_t least = k[0].len, most = k[0].len;
    for (size_t i = 1; i < GROUP; i++) {
        least = k[i].len < least ? k[i].len : least;
        most  = k[i].len > most ? k[i].len : most;
    }
    *lo = least;
    *hi = most;
}

#define EACH(hash)                       \
    for (size_t i = 0; i < GROUP; i++) { \
        const void *key = k[i].data;     \
        size_t      len = k[i].len;      \
        out[i]          = hash;          \
    }                                    \
    return

static void group(const blm_key *k, uint64_t seed, uint64_t *out)
{
    size_t   lo, hi;
    uint64_t flip = blm__xxh3_flip(seed);
    shortest_longest(k, &lo, &hi);
    if (lo > 32 && hi <= 64) {
        EACH(blm__xxh3_33to64(key, len, seed));
    } else if (lo > 32 && hi <= 96) {
        EACH(blm__xxh3_33to96(key, len, seed));
    } else if (lo > 16 && hi <= 32) {
        EACH(blm__xxh3_17to32(key, len, seed));
    } else if (lo > 8 && hi <= 16) {
        EACH(blm__xxh3_9to16(key, len, seed));
    } else if (lo > 3 && hi <= 8) {
        EACH(blm__xxh3_4to8(key, len, flip));
    }
    EACH(blm__xxh3(len ? key : "", len, seed)); /* the empty key may be NULL */
}

void blm__xxh3_many(const blm_key *keys, size_t n, uint64_t seed, uint64_t *out)
{
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        if (i + AHEAD + GROUP <= n)
            for (size_t j = i + AHEAD; j < i + AHEAD + GROUP; j++)
                BLM__PREFETCH(keys[j].data);
        group(keys + i, seed, out + i);
    }
    for (; i < n; i++)
        out[i] = blm__xxh3(keys[i].len ? keys[i].data : "", keys[i].len, seed);
}
