/* SPDX-License-Identifier: MIT */
/*
 * Places where another thread may come in between. In the library a step does nothing and a pause
 * is a short sleep. The model (tests/model) compiles the guard again with BLM__MODEL. There both
 * switch to whichever thread the schedule says is next, and one of the classic mistakes can be
 * switched on, which the model must find.
 */
#ifndef BLM_GUARD_STEP_H
#define BLM_GUARD_STEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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
void blm__pause(unsigned tries); /* longer after more tries */
#endif

/* A lock that may be held while waiting for sections to end, and that the model can step
 * through. */
struct blm__gate {
    _Atomic bool shut;
};
static inline void blm__gate_shut(struct blm__gate *g)
{
    for (unsigned tries = 0; atomic_exchange(&g->shut, true); tries++)
        blm__pause(tries);
}
static inline void blm__gate_open(struct blm__gate *g) { atomic_store(&g->shut, false); }

enum blm__mistake {
    BLM__DATA_SET_FIRST = 1, /* put: the row before the filter */
    BLM__ONE_GENERATION,     /* put: not into the generation being built */
    BLM__EARLY_SCAN,    /* scan before the puts that do not know the new generation have ended */
    BLM__STALE_TABLE,   /* remember an absence although a put began meanwhile */
    BLM__KEPT_ABSENCE,  /* put: do not forget a remembered absence */
    BLM__REMOVE_UNSURE, /* counting: remove although the delete failed */
    BLM__REMOVE_ACROSS, /* counting: remove from a generation what was deleted before its scan */
    BLM__FORGET_DOUBT,  /* forget a put that failed and whose row may appear later */
    BLM__TRUST_ALWAYS,  /* trust the file whatever boot, writer and mark say */
    BLM__REMOVE_DOUBT,  /* counting: remove a key whose put failed and may take effect later */
    BLM__TRUST_COPIES,  /* trust a file that was changed after the guard's last stamp */
    BLM__NO_CLAIM,      /* put although the data set's mark is another guard's */
    BLM__SPARE_QUIETLY, /* cuckoo: a put spares its add and does not tell deletes */
    BLM__SPARE_BLINDLY, /* cuckoo: a put spares its add because the filter says "maybe" */
    BLM__FULL_UNHEARD,  /* cuckoo: a filter without room for a key goes on answering */
    BLM__KEPT_TICKETS,  /* remember an absence that was read before a rebuild */
    BLM__LATE_CLEAR,    /* show the new filter before the old one's absences are forgotten */
    BLM__CLAIM_ONCE,    /* put although the data set went back to another guard's mark */
    BLM__MISTAKES
};
#ifdef BLM__MODEL
extern int      blm__model_mistake;
extern uint64_t blm__model_ids; /* of guards, instead of random ones */
#define blm__mistaken(m) (blm__model_mistake == (m))
#else
#define blm__mistaken(m) false
#endif

#endif
