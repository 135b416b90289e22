/* SPDX-License-Identifier: MIT */
/*
 * Several threads, for as long as one call.
 *
 * Threads are started by a call and end before it returns: there is nothing to keep, nothing that a
 * fork could leave half alive, no hidden state. Starting one took 12 to 30 microseconds where it
 * was measured, so it pays from a millisecond of work on. The threads block all signals: a
 * program's handlers run where they ran before.
 */
#ifndef BLM_CORE_THREADS_H
#define BLM_CORE_THREADS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define BLM__MAX_THREADS 64u

typedef void (*blm__task_fn)(void *ctx);

/* Runs task(ctx) on up to `threads` threads at once, counting the caller's; returns when all have
 * ended. If the system refuses a thread there are fewer, down to the caller's alone. So a task
 * takes one share of the work after the other (blm__next_share) until there is none left. */
void blm__threads_run(uint32_t threads, blm__task_fn task, void *ctx);

/* The number of the next share of the work. */
static inline size_t blm__next_share(_Atomic size_t *next)
{
    return atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
}

#endif
