/* SPDX-License-Identifier: MIT */
/* The system's xxHash, inlined, so that a fixed length folds to a few instructions and no shared
 * library is needed. The only place that includes xxhash.h. */
#ifndef BLM_CORE_HASH_XXH3_H
#define BLM_CORE_HASH_XXH3_H

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <xxhash.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif
