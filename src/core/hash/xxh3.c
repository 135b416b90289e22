/* SPDX-License-Identifier: MIT */
/* XXH3 that is not inlined: the library's, for long keys; ours, for callers that cannot inline it;
 * and for many keys at once. */
#include "core/hash/xxh3.h"

#include "core/hash/groups.h"
#include "core/hash/xxh3_key.h"

uint64_t blm__xxh3_library(const void *key, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(key, len, seed);
}

BLM__GROUPS(blm__xxh3, uint64_t, blm__xxh3, blm__xxh3_4to8(key, len, blm__xxh3_flip(with)))

uint64_t blm__xxh3_any(const void *key, size_t len, uint64_t seed)
{
    return blm__xxh3(key, len, seed);
}
