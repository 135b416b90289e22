/* SPDX-License-Identifier: MIT */
/*
 * The guard from inside. bloomery/guard.h says what it promises, docs/guard.md why that holds.
 *
 *   epoch    who is inside a filter (readers), who is between filter and data set (writers)
 *   table    exact knowledge about single keys: confirmed absences, puts that failed
 *   trust    whether the file beside the data set can be trusted
 *   rebuild  a new generation from a scan
 *   ops      get, put, delete, update
 *   report   figures
 *
 * Which filters answer is one pointer to a state. A state that is shown never changes. To change
 * something, the idle one of two is filled and shown; the other is idle once every reader has left.
 */
#ifndef BLM_GUARD_GUARD_H
#define BLM_GUARD_GUARD_H

#include <pthread.h>
#include <stdatomic.h>

#include "bloomery.h"
#include "bloomery/guard.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/forks.h"
#include "guard/epoch.h"
#include "guard/step.h"
#include "guard/table.h"
#include "guard/trust.h"

struct blm__guard_state {
    blm_filter *cur;  /* NULL: nothing can be trusted, everything passes */
    blm_filter *next; /* being built; puts go into both. NULL: no rebuild */
    bool        hold; /* keys are being removed from cur, which is hidden meanwhile: puts wait */
};

/* Not more often than this, at first; twice as long each time, up to so many doublings. */
#define BLM__RATE_PAUSE_MS  60000u
#define BLM__RATE_DOUBLINGS 6u

/* Figures that are not counted by the epochs, striped like them. */
enum blm__count {
    BLM__N_ASKED_REFUSED, /* by blm_guard_maybe and _many, whose outcome we never learn */
    BLM__N_ASKED_PASSED,
    BLM__N_REMEMBERED,
    BLM__N_ASKED_REMEMBERED,
    BLM__N_FOUND,
    BLM__N_FALSE,
    BLM__N_ERRORS,
    BLM__N_PUTS,
    BLM__N_DELETES,
    BLM__N_UPDATES,
    BLM__COUNTS
};
struct blm__counts {
    _Alignas(64) _Atomic uint64_t n[BLM__COUNTS];
};

/* Keys confirmed deleted, which wait to be removed from the filter. They are removed several
 * at a time, because everything passes while that is done. */
#define BLM__REMOVALS 16u
struct blm__removals {
    pthread_mutex_t lock;
    uint32_t        count;
    struct {
        void  *key;
        size_t len;
    } at[BLM__REMOVALS];
};

struct blm_guard {
    _Atomic(const struct blm__guard_state *) state; /* one of states */
    struct blm__epoch                        readers;
    struct blm__epoch                        writers;
    struct blm__table                        table;
    struct blm__counts                       counts[BLM__EPOCH_STRIPES];

    void             *base; /* of the allocation */
    blm_dataset       data;
    blm_allocator     alloc;
    blm_options       filter; /* of every generation, except items */
    uint32_t          can;    /* BLM_CAN_…: what its kind can do */
    uint32_t          flags;
    uint64_t          items;
    double            stale_share, rate_factor;
    uint32_t          retry_ms, rate_pause_ms;
    blm_filter       *keyer; /* hashes keys for the table, with a random seed */
    struct blm__trust trust;

    struct blm__gate        gate; /* held by whoever shows a state */
    struct blm__guard_state states[2];
    struct blm__removals    removals;
    _Atomic uint64_t generation; /* of the filter that answers; changes with removals.lock held */
    _Atomic bool     trusted;    /* there is one */
    _Atomic uint64_t adrift;     /* trust.adrift, before its scan */
    _Atomic uint64_t distrusts;  /* calls of blm_guard_distrust */
    _Atomic uint64_t stale_next; /* as trust.live->stale, for next: deleted since it was shown */
    _Atomic bool     next_full;  /* next had no room for a key: it must not answer */
    _Atomic uint64_t uncounted;  /* keys that cur has and does not count: its writer was killed */
    _Atomic uint64_t base_refused, base_false; /* figures when this generation began */

    struct blm__fork_watch  forks;
    struct blm__guard_state parents; /* in a forked child: what its parent had */
    _Atomic bool            forked;
    uint64_t                process; /* that opened it */

    /* The rebuild. */
    pthread_mutex_t  lock;
    pthread_cond_t   ended;
    pthread_t        thread;
    bool             has_thread; /* to be joined */
    _Atomic bool     building;   /* in any thread */
    _Atomic bool     again;      /* another rebuild was asked for meanwhile */
    bool             background; /* … in ours */
    _Atomic bool     cancel;
    _Atomic uint64_t retry_at; /* no automatic rebuild before this; milliseconds, monotonic … */
    _Atomic uint64_t rate_at;  /* … and none because of the rate before this */
    uint32_t         rate_doublings;
    _Atomic uint64_t held; /* rebuilds because of the rate that had to wait, since the last one */
    blm_status       last; /* how the last one ended */
    blm_error        last_error;
    blm_guard_cause  cause;
    uint64_t         rebuilds, failures, rebuild_keys;
    double           rebuild_seconds;
};

static inline uint64_t blm__guard_count(blm_guard *g, enum blm__count what, uint64_t n)
{
    return atomic_fetch_add_explicit(&g->counts[blm__stripe_here()].n[what], n,
                                     memory_order_relaxed);
}
uint64_t blm__guard_counted(blm_guard *g, enum blm__count what);

/* In a forked child: fails, and says so. Else BLM_OK. */
blm_status blm__guard_mine(const blm_guard *g, blm_error *err);

/* The data set answered this: to be told of every answer. */
void blm__guard_heard(blm_guard *g, blm_status st);

/* Shows this state; when it returns, nobody uses the old one. The gate must be shut. */
void blm__guard_show(blm_guard *g, struct blm__guard_state next);

/* Removes the keys that wait in removals, if the filter may be touched now. */
void blm__guard_remove_waiting(blm_guard *g);
/* How things were before the data set was asked to delete a row. */
struct blm__before {
    uint64_t generation, spares;
};
/* The row of this key is confirmed gone. */
void blm__guard_removed(blm_guard *g, const void *key, size_t len, struct blm__before b);
void blm__guard_drop_removals(blm_guard *g);

/* Has this filter every add of the key that it must have, if blm_add gave `added`? Where each add
 * takes a cell, eight copies of a key are all there can be: they answer for more, and are never
 * removed. */
bool blm__guard_held(const blm_guard *g, const blm_filter *f, const void *key, size_t len,
                     blm_status added);
/* This filter had no room for a key: if it answers, it is hidden and everything passes; if it is
 * being built, it will be made again, larger. Not from inside a reader's section. Fails if the note
 * cannot be written: then nothing has changed, and the key must not be put. */
blm_status blm__guard_full(blm_guard *g, const blm_filter *f, blm_error *err);

/* Starts a rebuild in the background if the figures call for one. Cheap if they do not. */
void       blm__guard_consider(blm_guard *g, blm_guard_cause why);
blm_status blm__guard_start(blm_guard *g, blm_guard_cause why, blm_error *err);
/* Cancels a background rebuild and waits for its end. */
void blm__guard_stop(blm_guard *g);

#define BLM__FEW 64u /* fewer deletes or false positives tell nothing */

/* Figures of the generation that answers now. */
struct blm__figures {
    blm_params params; /* all zero if there is no filter */
    uint64_t   generation, items, asked, passed, stale;
    double     rate, low, high, stale_share;
    bool       polluted;
    char       hash[16];
};
void blm__guard_figures(blm_guard *g, struct blm__figures *out);

#endif
