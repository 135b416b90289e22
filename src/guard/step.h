/* SPDX-License-Identifier: MIT */
/*
 * Places where another thread may come in between. In the library a step is nothing and a pause is
 * a short sleep. The model (tests/model) compiles the guard once more with BLM__MODEL, and there
 * both hand over to whatever the schedule says comes next, and one of the classic mistakes can be
 * switched on, which the model must find.
 */
#ifndef BLM_GUARD_STEP_H
#define BLM_GUARD_STEP_H

#include <stdatomic.h>
#include <stdbool.h>

#ifdef BLM__MODEL
void blm__model_step(void);
#define blm__step() blm__model_step()
static inline void blm__pause(unsigned tries)
{
    (void)tries;
    blm__model_step();
}
#else
#define blm__step() ((void)0)
void blm__pause(unsigned tries); /* longer the more often it was tried */
#endif

/* A lock that may be held while waiting for sections to end, which a model's schedule can see. */
struct blm_gate {
    _Atomic bool shut;
};
static inline void blm__gate_shut(struct blm_gate *g)
{
    for (unsigned tries = 0; atomic_exchange(&g->shut, true); tries++)
        blm__pause(tries);
}
static inline void blm__gate_open(struct blm_gate *g) { atomic_store(&g->shut, false); }

enum blm_mistake {
    BLM__DATA_SET_FIRST = 1, /* put: the row before the filter */
    BLM__ONE_GENERATION,     /* put: not into the generation being built */
    BLM__EARLY_SCAN,         /* scan before the puts that know no new generation have ended */
    BLM__STALE_TABLE,        /* remember an absence although a put began meanwhile */
    BLM__KEPT_ABSENCE,       /* put: a remembered absence is not forgotten */
    BLM__REMOVE_UNSURE,      /* counting: remove although the delete failed */
    BLM__REMOVE_ACROSS, /* counting: remove from a generation what was deleted before its scan */
    BLM__FORGET_DOUBT,  /* forget a put that failed and may come about later */
    BLM__TRUST_ALWAYS,  /* believe the file whatever boot, writer and mark say */
    BLM__MISTAKES
};
#ifdef BLM__MODEL
extern int blm__model_mistake;
#define blm__mistaken(m) (blm__model_mistake == (m))
#else
#define blm__mistaken(m) false
#endif

#endif
