/* SPDX-License-Identifier: MIT */
/* In the place of the library's blm__random, in every fuzz target and in what writes their seeds: ids and
 * seeds that are the same in every run, so that the same inputs go the same way. */
#include <stdatomic.h>
#include <stdint.h>

#include "core/random.h"

static _Atomic uint64_t drawn;

/* splitmix64 */
static uint64_t next(void)
{
    uint64_t x = atomic_fetch_add(&drawn, 0x9e3779b97f4a7c15u) + 0x9e3779b97f4a7c15u;
    x          = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x          = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

bool blm__random(void *out, size_t len)
{
    unsigned char *p    = out;
    uint64_t       bits = 0;
    for (size_t i = 0; i < len; i++, bits >>= 8) {
        if (i % 8 == 0)
            bits = next();
        p[i] = (unsigned char)bits;
    }
    return true;
}
