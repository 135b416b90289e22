/* SPDX-License-Identifier: MIT */
/*
 * Who is inside, without a lock: threads count themselves in and out on stripes, a cache line each,
 * and blm__epoch_wait returns when everybody who was inside when it was called has left.
 *
 * A section belongs to the phase that was current when it began. The waiter turns the phase over,
 * waits until those of the old one have left, and does so twice: somebody may have read the phase
 * before a turn and counted himself in after it, so both phases must have been seen empty once.
 * Newcomers never hold the waiter up, since they count in the phase it is not waiting for.
 *
 * Everything is sequentially consistent. Whoever counts himself in after the waiter looked, does so
 * after what the waiter published before: he sees the new state and need not be waited for.
 *
 * A section that was a lookup counts itself out by what came of it, so that the figures of the most
 * frequent call cost nothing: the two counts below are all that a refused get pays.
 */
#ifndef BLM_GUARD_EPOCH_H
#define BLM_GUARD_EPOCH_H

#include <stdatomic.h>
#include <stdint.h>

#define BLM__EPOCH_STRIPES 32u

enum blm_left { BLM__LEFT_REFUSED, BLM__LEFT_PASSED, BLM__LEFT_OTHER, BLM__LEFT_WAYS };

struct blm_epoch_stripe {
    _Alignas(64) _Atomic uint64_t in[2];
    _Atomic uint64_t out[BLM__LEFT_WAYS][2];
};

struct blm_epoch {
    _Atomic uint64_t        phase;
    struct blm_epoch_stripe stripe[BLM__EPOCH_STRIPES];
};

/* A section: on the stack of its thread, from enter to leave. */
struct blm_section {
    struct blm_epoch_stripe *stripe;
    unsigned                 phase;
};

/* By the stack's address: threads have stacks of their own, and no thread-local storage is touched. */
static inline unsigned blm__stripe_here(void)
{
    char     here;
    uint64_t page = (uint64_t)(uintptr_t)&here >> 16;
    return (unsigned)(page * 0x9e3779b97f4a7c15u >> 59);
}

static inline struct blm_section blm__epoch_enter(struct blm_epoch *e)
{
    struct blm_section s = { &e->stripe[blm__stripe_here()], 0 };
    s.phase              = (unsigned)(atomic_load(&e->phase) & 1);
    atomic_fetch_add(&s.stripe->in[s.phase], 1);
    return s;
}

static inline void blm__epoch_leave(const struct blm_section *s, enum blm_left how)
{
    atomic_fetch_add(&s->stripe->out[how][s->phase], 1);
}

/* Only one waiter at a time. */
void blm__epoch_wait(struct blm_epoch *e);
/* Sections that ended this way, ever. */
uint64_t blm__epoch_count(struct blm_epoch *e, enum blm_left how);

#endif
