/* SPDX-License-Identifier: MIT */
/* XXH3 out of line: the library's, for long keys, and ours, for callers that cannot inline it. */
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
