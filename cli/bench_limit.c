/* SPDX-License-Identifier: MIT */
/*
 * What the memory allows: a filter that touches one line per key cannot be faster than touching a
 * line, at its best hint and distance (bench/memory.h).
 */
#include <time.h>

#include "../bench/memory.h"
#include "bench.h"
#include "progress.h"

#define LINES 200000u /* per round and distance */

double bench_clock(void) { return thread_ns() * 1e-9; }

struct bench_limit bench_limit(uint64_t bytes, double seconds)
{
    struct limit read, change;
    double       until = now() + seconds;
    uint64_t     from  = 0;
    limit_open(&read, bytes);
    limit_open(&change, bytes);
    for (int r = 0; r < 2 || now() < until; r++, from += 16 * LINES) {
        limit_round(&read, false, from, LINES);
        limit_round(&change, true, from, LINES);
    }
    struct bench_limit best = { read.best, change.best };
    limit_close(&read);
    limit_close(&change);
    return best;
}
