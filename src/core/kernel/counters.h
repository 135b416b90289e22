/* SPDX-License-Identifier: MIT */
/*
 * Short lines (core/probe.h): 128 cells in eight groups of sixteen. Of counters a line is 64 bytes
 * and a group is one word; of plain bits, as blm_reduce makes them, a line is 16 bytes and four
 * groups share a word.
 *
 * A key's lines may fall together, and then it may name a counter twice: an add raises it twice, a
 * remove lowers it twice, and a counter below that says that the key was never added.
 *
 * h: 64-bit native hashes. Out of cache the lines of a key are asked for BLM__COUNTERS_AHEAD keys
 * before they are used; vectors have the rings of core/kernel/stream.h.
 */
#ifndef BLM_CORE_KERNEL_COUNTERS_H
#define BLM_CORE_KERNEL_COUNTERS_H

#include "core/kernel/loops.h"

#define BLM__COUNTERS_AHEAD 32u

struct blm__counters {
    /* Exclusive. fresh[i]: a counter of key i was 0. Returns how many were fresh. */
    size_t (*add)(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh);
    size_t (*check)(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe);
    /* From n keys of 8 bytes, side by side, where a key has one line: hash8, of v, and the two above. */
    size_t (*add8)(struct blm__layer *l, const struct blm__kernel *v, uint64_t flip,
                   const void *keys, size_t n, uint8_t *fresh);
    size_t (*check8)(const struct blm__layer *l, const struct blm__kernel *v, uint64_t flip,
                     const void *keys, size_t n, uint8_t *maybe);
    /* Exclusive. gone[i]: key i may have been there and was taken out. Returns how many were. */
    size_t (*remove)(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *gone);
    /* From any number of threads. */
    size_t (*add_shared)(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh);
    /* Single calls, as a kernel's (core/kernel/kernel.h); the add is exclusive. */
    blm__check_key check_key;
    blm__add_key   add_key;
};

extern const struct blm__counters blm__counters_portable;
#ifdef BLM__HAVE_AVX2
extern const struct blm__counters blm__counters_avx2;
#endif
#ifdef BLM__HAVE_AVX512
extern const struct blm__counters blm__counters_avx512;
#endif

/* From any number of threads: every kernel's. */
size_t blm__counters_add_shared(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh);

/* Plain bits in short lines. */
size_t blm__short_add(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh,
                      bool shared);
size_t blm__short_check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe);

/* The first word of a key's line of counters. */
BLM__INLINE uint64_t blm__counters_line(const struct blm__layer *l, uint64_t h)
{
    return blm__reduce(h, l->shape.line_count) * BLM__LINE_WORDS;
}

/* `words_log2`: of a line. */
BLM__INLINE void blm__short_fetch(const struct blm__layer *l, uint64_t h, unsigned words_log2,
                                  bool write)
{
    for (uint32_t i = 0; i < l->shape.lines; i++) {
        const uint64_t *line = l->words + (blm__reduce(h, l->shape.line_count) << words_log2);
        if (write)
            BLM__PREFETCH_W(line);
        else
            BLM__PREFETCH(line);
        h = blm__line_next(blm__line_x(h));
    }
}

/* In a loop over n keys: the first are asked for before it, and in it the one that is `ahead` of key i.
 * ahead: 0 where nothing need be. */
BLM__INLINE size_t blm__short_begin(const struct blm__layer *l, const uint64_t *h, size_t n,
                                    unsigned words_log2, bool write)
{
    size_t ahead = blm__layer_small(l) || n == 1 ? 0 : BLM__COUNTERS_AHEAD;
    for (size_t i = 0; i < ahead && i < n; i++)
        blm__short_fetch(l, h[i], words_log2, write);
    return ahead;
}

BLM__INLINE void blm__short_next(const struct blm__layer *l, const uint64_t *h, size_t n, size_t i,
                                 size_t ahead, unsigned words_log2, bool write)
{
    if (ahead && i + ahead < n)
        blm__short_fetch(l, h[i + ahead], words_log2, write);
}

/* Do any two of the key's lines fall together? */
BLM__INLINE bool blm__lines_meet(const struct blm__layer *l, uint64_t h)
{
    uint64_t at[BLM__MAX_SHORT];
    for (uint32_t i = 0; i < l->shape.lines; i++, h = blm__line_next(blm__line_x(h))) {
        at[i] = blm__reduce(h, l->shape.line_count);
        for (uint32_t j = 0; j < i; j++)
            if (at[j] == at[i])
                return true;
    }
    return false;
}

/* Would the key's counters, each raised once by every time the key names it, be as they are or
 * lower? The slow and general way; with one line, or lines apart, it is that none is 0. */
bool blm__counters_bear(const struct blm__layer *l, uint64_t h);

#endif
