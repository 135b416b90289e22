/* SPDX-License-Identifier: MIT */
/* What `bloomery bench` measures with: the clock, the memory's own limit, and libbloom where it is
 * installed. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processor time of this thread, in seconds, so that other work on the machine does not count. */
double bench_clock(void);

/* Nanoseconds to read or change one random 64-byte line in this much memory, with nothing else done
 * and without waiting for the line before. The best of several prefetch distances, measured in
 * `seconds` of wall time. 0: no memory for it. */
struct bench_limit {
    double read, change;
};
struct bench_limit bench_limit(uint64_t bytes, double seconds);

/* libbloom, if it is found at run time. Nothing depends on it. */
struct bench_peer;
struct bench_peer *bench_peer_open(uint64_t items,
                                   double   rate); /* NULL: not installed, or too big */
void               bench_peer_clear(struct bench_peer *p);
/* Both return how many keys were found in the filter. */
uint64_t bench_peer_add(struct bench_peer *p, const uint64_t *keys, size_t count);
uint64_t bench_peer_check(struct bench_peer *p, const uint64_t *keys, size_t count);
uint64_t bench_peer_bytes(uint64_t items, double rate);
void     bench_peer_free(struct bench_peer *p);

#endif
