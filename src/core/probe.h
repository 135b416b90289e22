/* SPDX-License-Identifier: MIT */
/*
 * The native rule from a 64-bit hash to cells: what every kernel implements and what the file
 * format's scheme "native" names, in versions 1 and 2. Change nothing here without a new scheme version.
 *
 * Chain (classic): g_0 = h, g_(i+1) = g_i · C mod 2^64, position i = ⌊g_i · m / 2^64⌋.
 *   C is odd, so each step is a bijection: no step degenerates, and two keys share all positions
 *   only if their hashes nearly agree. Compared with a + i·b the probes of one key behave as
 *   independent ones (docs/maths.md has theory and measurement).
 * Lines (blocked): line = ⌊h · lines / 2^64⌋, x = h · C, and word j of the line gets bit
 *   (x >> (13 + 6j)) & 63. With k < 8 words in use, the pattern for k rotated by x >> 61 says
 *   which. Further lines: h' = x · D, h' ^= h' >> 32, and the same again.
 * Short lines (counting): the same with eight groups of 16 cells in place of eight words of 64, and
 *   cell (x >> (29 + 4j)) & 15 of group j.
 * Buckets (cuckoo): a key is a fingerprint of f bits, 1 + ⌊h·C mod 2^64 · (2^f − 1) / 2^64⌋, in a
 *   cell of its first bucket, ⌊h · buckets / 2^64⌋, or of the other one. The two add up to
 *   ⌊fingerprint · D · buckets / 2^64⌋, made odd, modulo the number of buckets. So either follows
 *   from the other without the key. That number is even: the two never are the same.
 *   A layer of several parts, each of so many buckets, has the key in part ⌊h·D mod 2^64 · parts /
 *   2^64⌋. Parts are a power of two: what two keys share in a layer they share in all smaller ones.
 * Fuse (static, cascade): the layer is equal parts, and a part is segments of s cells, s a power of
 *   two. A key has part ⌊h · parts / 2^64⌋, whose word is its factor F, odd; 0: there is no key in
 *   it. z = (h · parts) · F mod 2^64, x = z · C. Its first cell is ⌊z · (cells of the part − 2s) /
 *   2^64⌋, and in each of the next two segments it has the cell there with the low bits changed by
 *   x >> 46 and x >> 28. The three cells, exclusive-ored, are its fingerprint: the first f bits of
 *   (x ^ x >> 32) · D.
 */
#ifndef BLM_CORE_PROBE_H
#define BLM_CORE_PROBE_H

#include "core/bits.h"

#define BLM__C 0xA0761D6478BD642Fu
#define BLM__D 0xE7037ED1A0B428DBu

static inline uint64_t blm__chain_next(uint64_t g) { return g * BLM__C; }
static inline uint64_t blm__reduce(uint64_t g, uint64_t m) { return blm__mulhi(g, m); }

static inline uint64_t blm__line_x(uint64_t h) { return h * BLM__C; }
static inline uint64_t blm__line_next(uint64_t x)
{
    uint64_t h = x * BLM__D;
    return h ^ h >> 32;
}
static inline unsigned blm__line_bit(uint64_t x, unsigned word)
{
    return (unsigned)(x >> (13 + 6 * word)) & 63;
}

static inline unsigned blm__short_cell(uint64_t x, unsigned group)
{
    return (unsigned)(x >> (29 + 4 * group)) & 15;
}

/* Bit j: word j is used. The patterns cost at most 0.25% more false positives (k = 2: 0.54%) than
 * a free choice of words; evenly spaced ones cost up to 9%. */
static inline unsigned blm__line_words(uint64_t x, unsigned k)
{
    static const uint8_t pattern[9] = { 0x00, 0x01, 0x03, 0x0b, 0x17, 0x2f, 0x3f, 0x7f, 0xff };
    unsigned             r = (unsigned)(x >> 61), p = pattern[k];
    return (p << r | p >> (8 - r)) & 0xff;
}

static inline uint64_t blm__fingerprint_of(uint64_t h, uint32_t bits)
{
    return 1 + blm__mulhi(h * BLM__C, ((uint64_t)1 << bits) - 1);
}
static inline uint64_t blm__other_bucket(uint64_t bucket, uint64_t fingerprint, uint64_t buckets)
{
    uint64_t sum = blm__reduce(fingerprint * BLM__D, buckets) | 1;
    return sum >= bucket ? sum - bucket : sum + buckets - bucket;
}

#endif
