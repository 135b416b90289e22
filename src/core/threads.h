/* SPDX-License-Identifier: MIT */
/*
 * Several threads for the length of one call.
 *
 * Threads are started per call and gone when it returns: nothing to keep, nothing that a fork could
 * leave half alive, no state behind the caller's back. Starting one took 12 to 30 microseconds
 * where it was measured, so callers use them from a millisecond of work on. They block every
 * signal: a program's handlers go on running where it put them.
 */
#ifndef BLM_CORE_THREADS_H
#define BLM_CORE_THREADS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define BLM__MAX_THREADS 64u

typedef void (*blm__task_fn)(void *ctx);

/* Runs task(ctx) on up to `threads` threads at once, the caller's among them; returns when all have
 * ended. There may be fewer when the system refuses one, down to the caller's alone, so a task
 * takes its work piece by piece (blm__next_share) until there is none. */
void blm__threads_run(uint32_t threads, blm__task_fn task, void *ctx);

/* The next piece of work for whoever asks. */
static inline size_t blm__next_share(_Atomic size_t *next)
{
    return atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
}

#endif
