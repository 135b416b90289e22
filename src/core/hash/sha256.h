/* SPDX-License-Identifier: MIT */
/* Bitcoin's hash: SHA-256 of SHA-256, of bytes in several parts. From libmd; in a build without it
 * BLM__SHA256 is 0, and the calls that need it say so. */
#ifndef BLM_CORE_HASH_SHA256_H
#define BLM_CORE_HASH_SHA256_H

#include "bloomery.h"

#ifdef BLOOMERY_WITH_MD
#include <sha2.h>
#define BLM__SHA256 1

static inline void blm__sha256d(const blm_key *part, size_t count, uint8_t out[32])
{
    SHA2_CTX c;
    SHA256Init(&c);
    for (size_t i = 0; i < count; i++)
        SHA256Update(&c, part[i].data, part[i].len);
    SHA256Final(out, &c);
    SHA256Init(&c);
    SHA256Update(&c, out, 32);
    SHA256Final(out, &c);
}

#else
#define BLM__SHA256 0
#include <string.h>

static inline void blm__sha256d(const blm_key *part, size_t count, uint8_t out[32])
{
    (void)part;
    (void)count;
    memset(out, 0, 32); /* never called: the public calls have refused before */
}
#endif

#endif
