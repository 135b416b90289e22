/* SPDX-License-Identifier: MIT */
/*
 * A hash of many keys, for the two hashes that have forms for classes of lengths.
 *
 * Keys are taken in groups. If all lengths of a group allow it, one loop hashes them without a
 * branch on the length, which the next key would mispredict. Zen 3, ns per key, random lengths, in
 * cache: 40 to 89 bytes 10.5 with a branch per key, 8.1 in groups; 60 bytes 5.6 and 5.5, but 7.6 if
 * all six mixes were always done. Lengths from 17 to 128 gain nothing (10 to 12, mispredicted
 * either way).
 */
#ifndef BLM_CORE_HASH_GROUPS_H
#define BLM_CORE_HASH_GROUPS_H

#include "bloomery.h"
#include "core/bits.h"

#define BLM__HASH_GROUP 16u
/* Keys may be anywhere in memory: prefetch them this far ahead (keys in random order: 16.2 → 11.9;
 * side by side, where the processor prefetches by itself, it costs 0.5). */
#define BLM__HASH_AHEAD 16u

struct blm__group_span {
    size_t lo, hi;
};

BLM__INLINE struct blm__group_span blm__group_lengths(const blm_key *k)
{
    struct blm__group_span s = { k[0].len, k[0].len };
    for (size_t i = 1; i < BLM__HASH_GROUP; i++) {
        s.lo = k[i].len < s.lo ? k[i].len : s.lo;
        s.hi = k[i].len > s.hi ? k[i].len : s.hi;
    }
    return s;
}

#define BLM__GROUP_EACH(hash)                      \
    for (size_t i = 0; i < BLM__HASH_GROUP; i++) { \
        const void *key = k[i].data;               \
        size_t      len = k[i].len;                \
        out[i]          = hash;                    \
    }                                              \
    return

/* name_many of hash(key, len, with) and its forms hash_33to64, …; `four` is the form for 4 to 8. */
#define BLM__GROUPS(name, type, hash, four)                                                     \
    static void name##_group(const blm_key *k, type with, uint64_t *out)                        \
    {                                                                                           \
        struct blm__group_span l = blm__group_lengths(k);                                       \
        if (l.lo > 32 && l.hi <= 64) {                                                          \
            BLM__GROUP_EACH(hash##_33to64(key, len, with));                                     \
        } else if (l.lo > 32 && l.hi <= 96) {                                                   \
            BLM__GROUP_EACH(hash##_33to96(key, len, with));                                     \
        } else if (l.lo > 16 && l.hi <= 32) {                                                   \
            BLM__GROUP_EACH(hash##_17to32(key, len, with));                                     \
        } else if (l.lo > 8 && l.hi <= 16) {                                                    \
            BLM__GROUP_EACH(hash##_9to16(key, len, with));                                      \
        } else if (l.lo > 3 && l.hi <= 8) {                                                     \
            BLM__GROUP_EACH(four);                                                              \
        }                                                                                       \
        BLM__GROUP_EACH(hash(len ? key : "", len, with)); /* the empty key may be NULL */       \
    }                                                                                           \
    void name##_many(const blm_key *keys, size_t n, type with, uint64_t *out)                   \
    {                                                                                           \
        size_t i = 0;                                                                           \
        for (; i + BLM__HASH_GROUP <= n; i += BLM__HASH_GROUP) {                                \
            if (i + BLM__HASH_AHEAD + BLM__HASH_GROUP <= n)                                     \
                for (size_t j = i + BLM__HASH_AHEAD; j < i + BLM__HASH_AHEAD + BLM__HASH_GROUP; \
                     j++)                                                                       \
                    BLM__PREFETCH(keys[j].data);                                                \
            name##_group(keys + i, with, out + i);                                              \
        }                                                                                       \
        for (; i < n; i++)                                                                      \
            out[i] = hash(keys[i].len ? keys[i].data : "", keys[i].len, with);                  \
    }

#endif
