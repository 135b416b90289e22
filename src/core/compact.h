/* SPDX-License-Identifier: MIT */
/* Bitcoin's CompactSize: a number in one byte below 0xfd, else fd + 2, fe + 4 or ff + 8 bytes,
 * little-endian, and always in the shortest of these. */
#ifndef BLM_CORE_COMPACT_H
#define BLM_CORE_COMPACT_H

#include "core/bytes.h"

/* How many bytes a number with this first byte takes. */
static inline size_t blm__compact_size(uint8_t first)
{
    return first < 0xfd ? 1 : first == 0xfd ? 3 : first == 0xfe ? 5 : 9;
}

/* False: the input ends (then c->bad), or the number is not in its shortest form (*out has it even
 * so). */
static inline bool blm__take_compact(struct blm__cursor *c, uint64_t *out)
{
    uint8_t first = blm__take8(c);
    switch (first) {
    case 0xfd:
        *out = blm__take16le(c);
        return !c->bad && *out >= 0xfd;
    case 0xfe:
        *out = blm__take32le(c);
        return !c->bad && *out > UINT16_MAX;
    case 0xff:
        *out = blm__take64le(c);
        return !c->bad && *out > UINT32_MAX;
    default:
        *out = first;
        return !c->bad;
    }
}

/* Writes at most 9 bytes; returns how many. */
static inline size_t blm__put_compact(uint8_t *p, uint64_t v)
{
    if (v < 0xfd) {
        p[0] = (uint8_t)v;
        return 1;
    }
    if (v <= UINT16_MAX) {
        p[0] = 0xfd;
        blm__put16le(p + 1, (uint16_t)v);
        return 3;
    }
    if (v <= UINT32_MAX) {
        p[0] = 0xfe;
        blm__put32le(p + 1, (uint32_t)v);
        return 5;
    }
    p[0] = 0xff;
    blm__put64le(p + 1, v);
    return 9;
}

#endif
