/* SPDX-License-Identifier: MIT */
/*
 * What the memory allows: one random 64-byte line, read or changed, with nothing else done. A
 * filter that touches one line per key cannot be faster. Ours are measured against it, in as many
 * bytes, on the same kind of pages, in the same process.
 *
 * Lines are chosen from a counter by one or two multiplications, without waiting for an earlier
 * line. The best of several prefetch distances counts (0: none, which leaves it to the processor). The
 * hint is the second-level cache's, for changes too: the first level's costs twice as much in 128 MB
 * (Zen 4: 9.4 against 3.9 ns a line), and PREFETCHW as much as that.
 */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"

#define HUGE_PAGE ((size_t)2 << 20)

/* Zeroed memory, on huge pages from 2 MiB on, like the library's own. NULL: no memory. free()
 * it. */
static inline void *huge_alloc(size_t bytes)
{
    size_t unit = bytes < HUGE_PAGE ? 64 : HUGE_PAGE, room = (bytes + unit - 1) / unit * unit;
    void  *p = aligned_alloc(unit, room);
    if (!p)
        return NULL;
    if (bytes >= HUGE_PAGE)
        madvise(p, room, MADV_HUGEPAGE);
    memset(p, 0, room);
    return p;
}

/* Asks for huge pages for memory that another library allocated and has not touched. */
static inline void huge_ask(void *p, size_t bytes)
{
    uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t to   = ((uintptr_t)p + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (to > from)
        madvise((char *)p + (from - (uintptr_t)p), to - from, MADV_HUGEPAGE);
}

#define LINE_RING 128u /* more than the longest distance */

static inline size_t random_line(uint64_t i, size_t lines)
{
    uint64_t v = i * 0x9e3779b97f4a7c15u;
    v          = (v ^ v >> 32) * 0xd6e8feb86659fd93u;
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    return (size_t)((wide)v * lines >> 64);
#else
    return (size_t)((v >> 32) * lines >> 32); /* 32 bits: there are fewer than 2^32 lines */
#endif
}

static inline uint64_t lines_read(const uint64_t *words, size_t lines, uint64_t from, size_t count,
                                  unsigned ahead)
{
    size_t   ring[LINE_RING];
    uint64_t sum = 0;
    if (ahead == 0) {
        for (size_t i = 0; i < count; i++)
            sum += words[random_line(from + i, lines) * 8];
        return sum;
    }
    for (size_t i = 0; i < count + ahead; i++) {
        if (i >= ahead)
            sum += words[ring[(i - ahead) % LINE_RING]];
        ring[i % LINE_RING] = random_line(from + i, lines) * 8;
        __builtin_prefetch(words + ring[i % LINE_RING], 0, 2);
    }
    return sum;
}

static inline void lines_change(uint64_t *words, size_t lines, uint64_t from, size_t count,
                                unsigned ahead)
{
    size_t ring[LINE_RING];
    if (ahead == 0) {
        for (size_t i = 0; i < count; i++)
            words[random_line(from + i, lines) * 8] |= i;
        return;
    }
    for (size_t i = 0; i < count + ahead; i++) {
        if (i >= ahead)
            words[ring[(i - ahead) % LINE_RING]] |= i;
        ring[i % LINE_RING] = random_line(from + i, lines) * 8;
        __builtin_prefetch(words + ring[i % LINE_RING], 0, 2);
    }
}

struct limit {
    uint64_t *words;
    size_t    lines;
    double    best; /* ns a line, so far */
};

static inline void limit_open(struct limit *l, uint64_t bytes)
{
    l->lines = bytes / 64 ? (size_t)(bytes / 64) : 1;
    l->words = huge_alloc(l->lines * 64);
    l->best  = 0;
}

static volatile uint64_t line_sink; /* keeps the compiler from dropping the work */

/* One more round of reads or changes: `count` lines for every distance. Each distance gets other
 * lines, because lines that were just used may still be in the cache. */
static inline void limit_round(struct limit *l, bool change, uint64_t from, size_t count)
{
    static const unsigned aheads[] = { 0, 16, 32, 64, 96 };
    for (size_t a = 0; l->words && a < sizeof aheads / sizeof *aheads; a++, from += count) {
        struct watch w = { 0, 0 };
        watch_go(&w);
        if (change)
            lines_change(l->words, l->lines, from, count, aheads[a]);
        else
            line_sink += lines_read(l->words, l->lines, from, count, aheads[a]);
        watch_halt(&w);
        least(&l->best, w.spent / (double)count);
    }
}

static inline void limit_close(struct limit *l)
{
    free(l->words);
    l->words = NULL;
}

#endif
