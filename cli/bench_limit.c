/* SPDX-License-Identifier: MIT */
/*
 * What the memory allows: a filter that touches one line per key cannot be faster than touching a
 * line. From 2 MiB on the memory is on huge pages, like the library's own, so that the limit has no
 * more TLB misses than a filter.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bench.h"
#include "progress.h"

#define HUGE  ((size_t)2 << 20)
#define LINES 200000u /* per round */
#define RING  128u    /* more than the longest distance */

double bench_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t *line_memory(size_t bytes)
{
    size_t unit = bytes < HUGE ? 64 : HUGE, room = (bytes + unit - 1) / unit * unit;
    void  *p = aligned_alloc(unit, room);
    if (!p)
        return NULL;
    if (bytes >= HUGE)
        madvise(p, room, MADV_HUGEPAGE);
    memset(p, 1, room);
    return p;
}

static size_t random_line(uint64_t i, size_t lines)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t                                v = i * 0x9e3779b97f4a7c15u;
    v                                         = (v ^ v >> 32) * 0xd6e8feb86659fd93u;
    return (size_t)((wide)v * lines >> 64) * 8;
}

/* Distance 0 leaves it to the processor to overlap reads. */
static uint64_t read_lines(const uint64_t *words, size_t lines, uint64_t from, unsigned ahead)
{
    size_t   ring[RING];
    uint64_t sum = 0;
    for (size_t i = 0; ahead == 0 && i < LINES; i++)
        sum += words[random_line(from + i, lines)];
    for (size_t i = 0; ahead > 0 && i < LINES + ahead; i++) {
        if (i >= ahead)
            sum += words[ring[(i - ahead) % RING]];
        ring[i % RING] = random_line(from + i, lines);
        __builtin_prefetch(words + ring[i % RING], 0, 2);
    }
    return sum;
}

static void change_lines(uint64_t *words, size_t lines, uint64_t from, unsigned ahead)
{
    size_t ring[RING];
    for (size_t i = 0; ahead == 0 && i < LINES; i++)
        words[random_line(from + i, lines)] |= i;
    for (size_t i = 0; ahead > 0 && i < LINES + ahead; i++) {
        if (i >= ahead)
            words[ring[(i - ahead) % RING]] |= i;
        ring[i % RING] = random_line(from + i, lines);
        __builtin_prefetch(words + ring[i % RING], 1, 2);
    }
}

static volatile uint64_t sink; /* keeps the compiler from dropping the work */

struct bench_limit bench_limit(uint64_t bytes, double seconds)
{
    static const unsigned aheads[] = { 0, 16, 32, 64 };
    struct bench_limit    best     = { 0, 0 };
    size_t                lines    = (size_t)(bytes / 64 ? bytes / 64 : 1);
    uint64_t             *words = line_memory(lines * 64), from = 0;
    double                until = now() + seconds;
    for (int r = 0; words && (r < 2 || now() < until); r++)
        for (size_t a = 0; a < sizeof aheads / sizeof *aheads; a++, from += 2 * LINES) {
            double start = bench_clock();
            sink += read_lines(words, lines, from, aheads[a]);
            double between = bench_clock();
            change_lines(words, lines, from + LINES, aheads[a]);
            double read   = (between - start) / LINES * 1e9;
            double change = (bench_clock() - between) / LINES * 1e9;
            best.read     = best.read == 0 || read < best.read ? read : best.read;
            best.change   = best.change == 0 || change < best.change ? change : best.change;
        }
    free(words);
    return best;
}
