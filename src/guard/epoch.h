/* SPDX-License-Identifier: MIT */
/*
 * Knows who is inside, without a lock: threads count themselves in and out, and blm__epoch_wait
 * returns when every thread that was inside when it was called has left.
 *
 * A section belongs to the phase that was current when it began. The waiter switches the phase,
 * waits until all sections of the old one have ended, and does so twice: a thread may read the
 * phase before a switch and count itself in after it, so both phases must have been seen empty
 * once. Newcomers never hold the waiter up, since they count in the phase that it is not waiting
 * for.
 *
 * Why this is right: a thread that counts itself in too late for the waiter to see must see what
 * the waiter published before it looked. For that both sides need a full barrier: the thread
 * between counting in and reading the state, the waiter between publishing and reading the counts.
 * A section that calls out (a put) can afford one: it counts by atomic addition, on a stripe that
 * it may share with others.
 *
 * A lookup cannot: with a barrier every get waits for its own cache misses, while without one the
 * processor overlaps them with the next get's (filter of 18 MB: check 48 ns, with barriers 91 ns,
 * without 55 ns). So a reader has a slot of its own, chosen once per thread, in which it counts
 * with plain stores, and the waiter makes every thread of the process pass a barrier at that moment
 * (membarrier). Where the system has no such call, or there are more threads than slots, readers
 * use barriers.
 *
 * A lookup counts itself out under its outcome. So the figures of the most frequent call cost
 * nothing more.
 */
#ifndef BLM_GUARD_EPOCH_H
#define BLM_GUARD_EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLM__EPOCH_OWNED   64u /* slots of single threads; the rest are shared */
#define BLM__EPOCH_STRIPES 32u
#define BLM__EPOCH_SLOTS   (BLM__EPOCH_OWNED + BLM__EPOCH_STRIPES)

enum blm__left { BLM__LEFT_REFUSED, BLM__LEFT_PASSED, BLM__LEFT_OTHER, BLM__LEFT_WAYS };

struct blm__epoch_slot { /* [phase][0] in, [phase][1 + how] out */
    _Alignas(64) _Atomic uint64_t n[2][1 + BLM__LEFT_WAYS];
};

struct blm__epoch {
    _Alignas(64) _Atomic uint64_t phase;
    uint32_t owned; /* slots for single threads: none where membarrier does not work */
    struct blm__epoch_slot slot[BLM__EPOCH_SLOTS];
};

/* A section, on the stack of its thread from enter to leave: where it counted itself in. */
struct blm__section {
    _Atomic uint64_t *counts;
    bool              owned;
};

/* This thread's number, from 1; 0: it has none yet. Another thread gets it when this one ends.
 * Initial-exec: one load, in the shared library too. */
#if defined(__GNUC__) && !defined(__APPLE__)
extern _Thread_local uint32_t blm__thread_number __attribute__((tls_model("initial-exec")));
#else
extern _Thread_local uint32_t blm__thread_number;
#endif
void blm__thread_enlist(void); /* gives this thread its number */

/* Chosen by the address of the stack, since every thread has its own. */
static inline unsigned blm__stripe_here(void)
{
    char     here;
    uint64_t page = (uint64_t)(uintptr_t)&here >> 16;
    return (unsigned)(page * 0x9e3779b97f4a7c15u >> 59);
}

/* For a section that may call out, and may be left from another thread. */
static inline struct blm__section blm__epoch_enter(struct blm__epoch *e)
{
    struct blm__epoch_slot *slot = &e->slot[BLM__EPOCH_OWNED + blm__stripe_here()];
    struct blm__section     s    = { slot->n[atomic_load(&e->phase) & 1], false };
    atomic_fetch_add(&s.counts[0], 1);
    return s;
}

static inline void blm__count_own(_Atomic uint64_t *n)
{
    uint64_t before = atomic_load_explicit(n, memory_order_relaxed);
    atomic_store_explicit(n, before + 1, memory_order_release);
}

/* Counts in where only this thread counts, with plain stores. NULL: it has no slot of its own. */
static inline _Atomic uint64_t *blm__epoch_own(struct blm__epoch *e)
{
    uint32_t slot = blm__thread_number - 1;
    if (slot >= e->owned)
        return NULL;
    uint64_t phase = atomic_load_explicit(&e->phase, memory_order_acquire) & 1;
    blm__count_own(&e->slot[slot].n[phase][0]);
    atomic_signal_fence(memory_order_seq_cst); /* the waiter's membarrier does the rest */
    return e->slot[slot].n[phase];
}
static inline void blm__epoch_disown(_Atomic uint64_t *counts, enum blm__left how)
{
    blm__count_own(&counts[1 + how]);
}

/* For a short section, which looks at a filter and leaves. */
static inline struct blm__section blm__epoch_look(struct blm__epoch *e)
{
    if (blm__thread_number == 0)
        blm__thread_enlist();
    struct blm__section s = { blm__epoch_own(e), true };
    return s.counts ? s : blm__epoch_enter(e);
}

static inline void blm__epoch_leave(const struct blm__section *s, enum blm__left how)
{
    if (s->owned)
        blm__count_own(&s->counts[1 + how]);
    else
        atomic_fetch_add(&s->counts[1 + how], 1);
}

/* To be called first. */
void blm__epoch_init(struct blm__epoch *e);
/* One waiter at a time. */
void blm__epoch_wait(struct blm__epoch *e);
/* How many sections have ended this way so far. */
uint64_t blm__epoch_count(struct blm__epoch *e, enum blm__left how);

#endif
