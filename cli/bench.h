/* SPDX-License-Identifier: MIT */
/* What `bloomery bench` measures with: the clock, the memory's own limit, and the peers. */
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

/* Somebody else's filter of a rate of 1%. */
typedef uint64_t (*bench_peer_fn)(void *state, const uint64_t *keys, size_t count);
struct bench_peer {
    void    *state;
    uint64_t bytes;
    void (*clear)(void *state);
    void (*free)(void *state);
    /* How many keys were there, as far as it says. Many keys at once: two ways, or NULL. */
    bench_peer_fn add_one, check_one, add_many[2], check_many[2];
};
/* False: it cannot be run here. libbloom is looked up at run time: nothing depends on it. */
bool bench_libbloom(struct bench_peer *p, uint64_t items);
bool bench_split(struct bench_peer *p, uint64_t items);
bool bench_split_inlined(struct bench_peer *p, uint64_t items);
bool bench_local(struct bench_peer *p, uint64_t items);

#endif
