/* SPDX-License-Identifier: MIT */
/* Hash xxh3 as a filter has it: keyed if there is a secret, XXH3 with the seed if there is none. */
#ifndef BLM_CORE_HASHER_H
#define BLM_CORE_HASHER_H

#include "core/body.h"
#include "core/hash/keyed.h"

/* What keys of 8 bytes are xored with. */
BLM__INLINE uint64_t blm__hasher_flip(const struct blm__hasher *h)
{
    return h->secret ? h->secret->flip[4] : blm__xxh3_flip(h->seed[0]);
}

BLM__INLINE uint64_t blm__hasher_key(const struct blm__hasher *h, const void *key, size_t len)
{
    return BLM__LIKELY(h->secret) ? blm__keyed_any(key, len, h->secret)
                                  : blm__xxh3_any(key, len, h->seed[0]);
}

BLM__INLINE void blm__hasher_many(const struct blm__hasher *h, const blm_key *keys, size_t n,
                                  uint64_t *out)
{
    if (h->secret)
        blm__keyed_many(keys, n, h->secret, out);
    else
        blm__xxh3_many(keys, n, h->seed[0], out);
}

#endif
