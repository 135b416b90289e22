/* SPDX-License-Identifier: MIT */
/*
 * The guard from inside. bloomery.h says what it promises, docs/guard.md argues why it keeps it.
 *
 *   epoch    who is inside a filter (readers), who is between filter and data set (writers)
 *   table    exact knowledge about single keys: confirmed absences, puts that failed
 *   trust    whether the file beside the data set may be believed
 *   rebuild  a new generation from a scan
 *   ops      get, put, delete, update
 *   report   figures
 *
 * Which filters answer is one pointer to a view. A view never changes: to change something, the
 * idle one of two is filled, shown, and the other is idle when every reader has left it.
 */
#ifndef BLM_GUARD_GUARD_H
#define BLM_GUARD_GUARD_H

#include <pthread.h>
#include <stdatomic.h>

#include "bloomery.h"
#include "bloomery/guard.h"
#include "guard/epoch.h"
#include "guard/memory.h"
#include "guard/step.h"
#include "guard/table.h"
#include "guard/trust.h"

struct blm_view {
    blm_filter *cur;  /* NULL: nothing can be trusted, everything passes */
    blm_filter *next; /* being built; puts go into both. NULL: no rebuild */
    bool        hold; /* cur is out for a moment, keys are being removed from it: puts wait */
};

/* Figures that are not counted by the epochs, striped like them. */
enum blm_count {
    BLM__N_ASKED_REFUSED, /* by blm_guard_maybe and _many, whose outcome we never hear */
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
struct blm_counts {
    _Alignas(64) _Atomic uint64_t n[BLM__COUNTS];
};

/* Keys confirmed deleted, to be removed from a counting filter a few at a time: each time costs
 * the readers a moment in which everything passes. */
#define BLM__REMOVALS 16u
struct blm_removals {
    pthread_mutex_t lock;
    uint32_t        count;
    struct {
        void  *key;
        size_t len;
    } at[BLM__REMOVALS];
};

struct blm_guard {
    _Atomic(const struct blm_view *) view;
    struct blm_epoch                 readers;
    struct blm_epoch                 writers;
    struct blm_table                 table;
    struct blm_counts                counts[BLM__EPOCH_STRIPES];

    void            *base; /* what was allocated */
    blm_dataset      data;
    blm_allocator    alloc;
    blm_options      filter; /* of every generation, but for items */
    uint32_t         flags;
    uint64_t         items;
    double           stale_share, rate_factor;
    uint32_t         retry_ms;
    blm_filter      *keyer; /* one bit: gives the table its hash, seeded by the system */
    struct blm_trust trust;

    struct blm_gate     gate; /* who shows views */
    struct blm_view     views[2];
    struct blm_removals removals;
    bool                removes; /* this generation may have keys removed; by the gate */
    _Atomic uint64_t generation; /* of the filter that answers; changes with removals.lock held */
    _Atomic bool     trusted;    /* there is one */
    _Atomic uint64_t stale;      /* deleted keys that cur still has */
    _Atomic uint64_t stale_next; /* deleted since next was shown: it may have them */
    _Atomic uint64_t base_refused, base_false; /* figures when this generation began */

    /* The rebuild. */
    pthread_mutex_t  lock;
    pthread_cond_t   ended;
    pthread_t        thread;
    bool             has_thread; /* to be joined */
    _Atomic bool     building;   /* by whichever thread */
    bool             background; /* … a thread of ours */
    _Atomic bool     cancel;
    _Atomic uint64_t retry_at; /* no automatic rebuild before: milliseconds, monotonic */
    blm_status       last;     /* how the last one ended */
    blm_error        last_error;
    blm_guard_cause  cause;
    uint64_t         rebuilds, failures, rebuild_keys;
    double           rebuild_seconds;
};

static inline void blm__guard_count(blm_guard *g, enum blm_count what, uint64_t n)
{
    atomic_fetch_add_explicit(&g->counts[blm__stripe_here()].n[what], n, memory_order_relaxed);
}
uint64_t blm__guard_counted(blm_guard *g, enum blm_count what);

/* Shows these filters instead; when it returns nobody uses the old view. The gate is shut. */
void blm__guard_show(blm_guard *g, struct blm_view v);

/* Applies what waits in removals, if the filter may be touched now. */
void blm__guard_remove_waiting(blm_guard *g);
/* A row of this key is gone, confirmed; `generation` was current before the data set was asked. */
void blm__guard_removed(blm_guard *g, const void *key, size_t len, uint64_t generation);
void blm__guard_drop_removals(blm_guard *g);

/* Starts a rebuild in the background where the figures call for one. Cheap when they do not. */
void       blm__guard_consider(blm_guard *g, blm_guard_cause why);
blm_status blm__guard_start(blm_guard *g, blm_guard_cause why, blm_error *err);
/* Cancels and waits. */
void blm__guard_stop(blm_guard *g);

/* Figures of the generation that answers now. */
struct blm_figures {
    blm_params params; /* all zero without a filter */
    uint64_t   generation, asked, passed, stale;
    double     rate, low, high, stale_share;
};
void blm__guard_figures(blm_guard *g, struct blm_figures *out);

#endif
