/* SPDX-License-Identifier: MIT */
/*
 * Keys on their way through the library: one carrier, from the public call to the kernel.
 *
 * Keys come raw (a list, or side by side in one buffer) and are hashed once, by the scheme, into
 * the form that engines take: 64-bit hashes for the native scheme, two words a key where positions
 * are steps, digests for the rest. Callers may also bring them hashed.
 */
#ifndef BLM_CORE_KEYS_H
#define BLM_CORE_KEYS_H

#include "core/body.h"

#define BLM__BATCH         256u /* keys hashed at once: their hashes stay in the L1 cache */
#define BLM__BATCH_DIGESTS 128u /* digests are large: as many as a thread's stack bears */

/* `n` keys in one form: the others' pointers are NULL. */
struct blm__keys {
    size_t n;
    /* Raw. */
    const blm_key *list;
    const uint8_t *fixed; /* `width` bytes each, side by side */
    size_t         width;
    /* Hashed. */
    const uint64_t   *hashes; /* native hashes, or the words that steps start from, … */
    const uint64_t   *steps;  /* … and then by what they go on */
    const blm_digest *digests;
    const uint16_t   *pick; /* key i is digests[pick[i]]; NULL: digests[i] */
};

/* Keys at … at + n − 1. */
static inline struct blm__keys blm__keys_part(const struct blm__keys *k, size_t at, size_t n)
{
    struct blm__keys p = { .n = n, .width = k->width };
    if (k->list)
        p.list = k->list + at;
    if (k->fixed)
        p.fixed = k->fixed + at * k->width;
    if (k->hashes)
        p.hashes = k->hashes + at;
    if (k->steps)
        p.steps = k->steps + at;
    if (k->digests && k->pick) {
        p.digests = k->digests;
        p.pick    = k->pick + at;
    } else if (k->digests) {
        p.digests = k->digests + at;
    }
    return p;
}

/* A raw key. */
static inline blm_key blm__key_at(const struct blm__keys *k, size_t i)
{
    if (k->list)
        return k->list[i];
    blm_key key = { k->fixed + i * k->width, k->width };
    return key;
}

static inline const blm_digest *blm__digest_at(const struct blm__keys *k, size_t i)
{
    return &k->digests[k->pick ? k->pick[i] : i];
}

/* Room for hashed keys, whoever owns it. */
struct blm__hash_room {
    uint64_t   *hashes, *steps; /* `words` each */
    blm_digest *digests;
    size_t      words, digest_count;
};

#endif
