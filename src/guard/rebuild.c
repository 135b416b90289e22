/* SPDX-License-Identifier: MIT */
/*
 * A new generation from a scan, while gets and puts go on:
 *
 *   make an empty filter, sized from the rows there are
 *   show it as `next`: from here on a put adds to both
 *   wait for the writers inside: they may not have seen it, but their rows will be there to scan
 *   add the keys of puts that failed, whose rows may still appear; scan
 *   sync it, rename it over the old file, show it as `cur`
 *
 * Until the last step the old filter answers, and if anything fails before that, it stays in place.
 * At the rename both files are right, since puts go into both until after it.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/os.h"
#include "guard/dataset.h"
#include "guard/guard.h"

#define LEAST_ITEMS  1024u
#define GATHER       256u         /* keys added in one batch */
#define GATHER_BYTES (64u * 1024) /* … and their bytes */

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

#ifndef BLM__MODEL
void blm__pause(unsigned tries)
{
    /* A reader takes a few instructions; a put may take as long as the data set's timeout. */
    if (tries < 20) {
        sched_yield();
    } else {
        struct timespec t = { 0, tries < 100 ? 20000 : 500000 };
        nanosleep(&t, NULL);
    }
}
#endif

void blm__guard_show(blm_guard *g, struct blm__guard_state next)
{
    struct blm__guard_state *idle =
        atomic_load(&g->state) == &g->states[0] ? &g->states[1] : &g->states[0];
    *idle = next;
    atomic_store(&g->state, idle);
    blm__epoch_wait(&g->readers);
}

/* ---- gathering a scan's keys -------------------------------------------------------------- */

struct gather {
    blm_guard  *g;
    blm_filter *into;
    uint64_t    named;
    blm_status  st;
    size_t      count, used;
    blm_key     keys[GATHER];
    uint8_t     bytes[GATHER_BYTES];
};

/* Without room for a key the filter will be made again; the scan goes on, to count the rows. */
static bool pour(struct gather *a)
{
    size_t     at = 0, done = 0;
    blm_status st = BLM_OK;
    for (; at < a->count && !atomic_load(&a->g->next_full); at += done + 1) {
        done = 0;
        st   = blm_add_many(a->into, a->keys + at, a->count - at, NULL, &done);
        if (st >= 0)
            break;
        const blm_key *k = &a->keys[at + done];
        if (!blm__guard_held(a->g, a->into, k->data, k->len, st)) {
            if (st != BLM_E_FULL)
                break;
            atomic_store(&a->g->next_full, !blm__mistaken(BLM__FULL_UNHEARD));
        }
        st = BLM_OK;
    }
    a->count = a->used = 0;
    if (st < 0)
        a->st = st;
    return st >= 0;
}

static bool gather(struct gather *a, const void *key, size_t len)
{
    if (atomic_load_explicit(&a->g->cancel, memory_order_relaxed)) {
        a->st = BLM_E_CANCELLED;
        return false;
    }
    if ((a->count == GATHER || len > GATHER_BYTES - a->used) && !pour(a))
        return false;
    a->keys[a->count++] = (blm_key){ a->bytes + a->used, len };
    if (len > GATHER_BYTES) {
        a->keys[a->count - 1].data = key;
        return pour(a);
    }
    if (len)
        memcpy(a->bytes + a->used, key, len);
    a->used += len;
    return true;
}

static bool gather_row(void *ctx, const void *key, size_t len)
{
    struct gather *a = ctx;
    blm__step();
    a->named++;
    return gather(a, key, len);
}

static bool gather_doubt(void *ctx, const void *key, size_t len) { return gather(ctx, key, len); }

/* ---- one attempt ------------------------------------------------------------------------- */

static blm_status make_next(blm_guard *g, uint64_t items, blm_filter **out, blm_error *err)
{
    blm_options o     = g->filter;
    uint64_t    roomy = items + items / 2;
    o.items           = roomy > g->items ? roomy : g->items;
    if (o.items < LEAST_ITEMS && !g->items)
        o.items = LEAST_ITEMS;
    o.flags |= BLM_SHARED | BLM_REPLACE;
    if (g->trust.path)
        return blm_create_file(g->trust.next, &o, out, err);
    return blm_create(&o, out, err);
}

static void show_next(blm_guard *g, blm_filter *next)
{
    blm__gate_shut(&g->gate);
    struct blm__guard_state now = *atomic_load(&g->state);
    now.next                    = next;
    atomic_store(&g->stale_next, 0);
    atomic_store(&g->next_full, false);
    blm__guard_show(g, now);
    blm__gate_open(&g->gate);
}

static void drop_next(blm_guard *g, blm_filter *next)
{
    show_next(g, NULL);
    blm_free(next);
    if (g->trust.path)
        unlink(g->trust.next);
}

static blm_status scan_into(blm_guard *g, blm_filter *next, uint64_t *named, blm_error *err)
{
    struct gather *a = blm__alloc(&g->alloc, sizeof *a);
    if (!a)
        return blm__fail(err, BLM_E_MEMORY, "no memory for a scan's keys");
    a->g     = g;
    a->into  = next;
    a->named = a->count = a->used = 0;
    a->st                         = BLM_OK;
    blm__table_doubts(&g->table, gather_doubt, a);
    blm__step();
    blm_status st = a->st < 0 ? a->st : blm__data_scan(&g->data, gather_row, a, err);
    if (a->st == BLM_OK)
        blm__guard_heard(g, st);
    if (st == BLM_OK && a->st == BLM_OK)
        pour(a);
    if (a->st != BLM_OK) /* why we stopped it, whatever the scan returned */
        st = blm__fail(err, a->st, "the rebuild was stopped: %s", blm_status_text(a->st));
    *named = a->named;
    blm__free(&g->alloc, a, sizeof *a);
    return st;
}

static uint64_t rows_now(blm_guard *g)
{
    uint64_t            rows = 0;
    struct blm__figures now;
    if (g->data.count) {
        blm_status st = blm__data_count(&g->data, &rows, NULL);
        blm__guard_heard(g, st);
        if (st == BLM_OK)
            return rows;
    }
    blm__guard_figures(g, &now);
    if (g->can & BLM_CAN_REMOVE) /* its items leave removed keys out already */
        return now.items;
    return now.items > now.stale ? now.items - now.stale : 0;
}

static blm_status overflowed(blm_guard *g, blm_error *err)
{
    if (!atomic_load(&g->table.overflow))
        return BLM_OK;
    return blm__fail(
        err, BLM_E_LIMIT,
        "too many puts failed (%u) to remember which: only the filter that answers now "
        "has their keys. Open the guard again when none of them can take effect any more",
        BLM__DOUBTS);
}

/* Fills a filter from a scan. If there are more rows than it was planned for, it does so once more
 * with the right size: the number of rows is known then, and half more is planned. One that had no
 * room for a key is never the last. */
static blm_status fill_next(blm_guard *g, uint64_t rows, blm_filter **out, uint64_t *named,
                            blm_error *err)
{
    blm_status st;
    for (int attempt = 0;; attempt++) {
        blm_params  p    = { .size = sizeof p };
        blm_filter *next = NULL;
        st               = make_next(g, rows, &next, err);
        if (st != BLM_OK)
            return st;
        show_next(g, next);
        blm__step();
        if (!blm__mistaken(BLM__EARLY_SCAN))
            blm__epoch_wait(&g->writers);
        st = overflowed(g, err);
        if (st == BLM_OK) {
            st = scan_into(g, next, named, err);
        }
        blm_get_params(next, &p);
        bool full = atomic_load(&g->next_full);
        if (st == BLM_OK && !full && (attempt > 0 || *named <= p.capacity)) {
            *out = next;
            return BLM_OK;
        }
        drop_next(g, next);
        if (st != BLM_OK)
            return st;
        rows = full && *named < p.capacity ? p.capacity : *named;
    }
}

/* What was counted before a scan. */
struct counted {
    uint64_t distrusts, adrift;
};

/* False: the guard was distrusted since, and next is as old; or next had no room for a key since its
 * scan. */
static bool swap(blm_guard *g, blm_filter *next, struct counted before)
{
    blm__gate_shut(&g->gate);
    if (atomic_load(&g->distrusts) != before.distrusts || atomic_load(&g->next_full)) {
        blm__gate_open(&g->gate);
        return false;
    }
    struct blm__guard_state old = *atomic_load(&g->state), v = { .cur = next };
    /* What was found absent before the scan may be there since: by distrust, somebody's row. */
    if (!blm__mistaken(BLM__LATE_CLEAR))
        blm__table_clear(&g->table);
    blm__guard_show(g, v);
    pthread_mutex_lock(&g->removals.lock);
    atomic_fetch_add(&g->generation, 1);
    atomic_store(&g->adrift, before.adrift);
    pthread_mutex_unlock(&g->removals.lock);
    if (!blm__mistaken(BLM__REMOVE_ACROSS))
        blm__guard_drop_removals(g);
    atomic_store(&g->trust.live->stale, atomic_load(&g->stale_next));
    atomic_store(&g->uncounted, 0);
    atomic_store(&g->base_refused, blm__epoch_count(&g->readers, BLM__LEFT_REFUSED));
    atomic_store(&g->base_false, blm__guard_counted(g, BLM__N_FALSE));
    atomic_store(&g->trusted, true);
    blm__gate_open(&g->gate);
    if (blm__mistaken(BLM__LATE_CLEAR)) {
        for (int turns = 0; turns < 20; turns++) /* a thread may be away for any time */
            blm__step();
        blm__table_clear(&g->table);
    }
    blm_free(old.cur);
    return true;
}

static void tell(blm_guard *g, bool first, const uint8_t file[16], uint64_t distrusts)
{
    blm__trust_built(&g->trust, &g->data, first, atomic_load(&g->generation), file);
    if (atomic_load(&g->distrusts) != distrusts) /* it said VOID, perhaps before we spoke */
        blm__trust_say(&g->trust, &g->data, BLM__SESSION_VOID, NULL, NULL);
}

/* BLM_PRESENT: the guard was distrusted meanwhile, or next became full: it must be done again. */
static blm_status build(blm_guard *g, uint64_t *named, blm_error *err)
{
    blm_filter    *next   = NULL;
    uint64_t       rows   = rows_now(g); /* may distrust the guard: the scan comes after it */
    struct counted before = { atomic_load(&g->distrusts), atomic_load(&g->trust.adrift) };
    blm_status     st     = fill_next(g, rows, &next, named, err);
    if (st != BLM_OK)
        return st;
    if (g->trust.path) {
        st = blm_sync(next, err);
        if (st == BLM_OK)
            st = blm__trust_rename(&g->trust, err);
        if (st != BLM_OK) {
            drop_next(g, next);
            return st;
        }
    }
    bool       first = !atomic_load(&g->trusted);
    blm_params p     = { .size = sizeof p };
    blm_get_params(next, &p);
    blm__step();
    if (!swap(g, next, before)) {
        show_next(g, NULL);
        blm_free(next);
        return BLM_PRESENT;
    }
    blm__step();
    tell(g, first, p.identity, before.distrusts);
    return BLM_OK;
}

/* Nothing the filter says counts any more, nor does what a rebuild under way has scanned. The note
 * says so first: as soon as the filter is hidden, puts leave it out. */
void blm_guard_distrust(blm_guard *g)
{
    if (blm__guard_mine(g, NULL) != BLM_OK)
        return;
    atomic_fetch_add(&g->distrusts, 1);
    blm__trust_say(&g->trust, &g->data, BLM__SESSION_VOID, NULL, NULL);
    blm__step();
    blm__gate_shut(&g->gate);
    struct blm__guard_state now = *atomic_load(&g->state);
    blm_filter             *old = now.cur;
    if (old) {
        now.cur = NULL;
        atomic_store(&g->trusted, false);
        blm__guard_show(g, now);
    }
    blm__gate_open(&g->gate);
    blm_free(old);
}

blm_status blm__guard_full(blm_guard *g, const blm_filter *f, blm_error *err)
{
    blm_status st = BLM_OK;
    if (blm__mistaken(BLM__FULL_UNHEARD))
        return st;
    blm__gate_shut(&g->gate);
    struct blm__guard_state now = *atomic_load(&g->state);
    blm_filter             *old = now.cur == f ? now.cur : NULL;
    if (now.next == f)
        atomic_store(&g->next_full, true);
    if (old) {
        atomic_fetch_add(&g->distrusts, 1); /* a build that has just shown it must not say OPEN */
        st = blm__trust_say(&g->trust, &g->data, BLM__SESSION_VOID, NULL, err);
        if (st != BLM_OK)
            old = NULL;
    }
    blm__step();
    if (old) {
        now.cur = NULL;
        atomic_store(&g->trusted, false);
        blm__guard_show(g, now);
    }
    blm__gate_open(&g->gate);
    blm_free(old);
    if (old)
        blm__guard_consider(g, BLM_CAUSE_FULL);
    return st;
}

/* ---- running it -------------------------------------------------------------------------- */

/* After a rebuild because of the rate the next one waits, and twice as long if the last did not
 * help: keys that are chosen to pass could else keep the data set busy with scans. If it has been
 * quiet for as long as the wait again, the waits begin anew. The lock is held. */
static void wait_for_rate(blm_guard *g, uint64_t now)
{
    uint64_t wait = (uint64_t)g->rate_pause_ms << g->rate_doublings;
    if (atomic_load(&g->rate_at) + wait < now)
        g->rate_doublings = 0;
    else if (g->rate_doublings < BLM__RATE_DOUBLINGS)
        g->rate_doublings++;
    atomic_store(&g->rate_at, now + ((uint64_t)g->rate_pause_ms << g->rate_doublings));
    atomic_store(&g->held, 0);
}

/* The lock is held. */
static void keep_result(blm_guard *g, blm_guard_cause why, uint64_t begun, uint64_t named,
                        blm_status st, const blm_error *said)
{
    g->cause      = why;
    g->last       = st;
    g->last_error = *said;
    if (why == BLM_CAUSE_RATE)
        wait_for_rate(g, now_ms());
    if (st == BLM_OK) {
        g->rebuilds++;
        g->rebuild_keys    = named;
        g->rebuild_seconds = (double)(now_ms() - begun) / 1000;
    } else {
        g->failures++;
        atomic_store(&g->retry_at, now_ms() + g->retry_ms);
    }
}

/* The caller has claimed `building`. One that was asked for meanwhile is done too. */
static blm_status run(blm_guard *g, blm_guard_cause why, blm_error *err)
{
    blm_error  local;
    blm_status st;
    for (bool more = true; more;) {
        uint64_t begun = now_ms(), named = 0;
        local = (blm_error){ .status = BLM_OK };
        do
            st = build(g, &named, &local);
        while (st == BLM_PRESENT);
        pthread_mutex_lock(&g->lock);
        keep_result(g, why, begun, named, st, &local);
        more = atomic_exchange(&g->again, false) && !atomic_load(&g->cancel);
        why  = BLM_CAUSE_ASKED;
        if (!more) {
            atomic_store(&g->building, false);
            g->background = false;
            pthread_cond_broadcast(&g->ended);
        }
        pthread_mutex_unlock(&g->lock);
    }
    if (err && st != BLM_OK)
        *err = local;
    return st;
}

blm_status blm_guard_build(blm_guard *g, blm_error *err)
{
    blm_status st = blm__guard_mine(g, err);
    if (st != BLM_OK)
        return st;
    if (atomic_exchange(&g->building, true))
        return blm__fail(err, BLM_E_BUSY, "a rebuild is already running");
    return run(g, BLM_CAUSE_ASKED, err);
}

struct errand {
    blm_guard      *g;
    blm_guard_cause why;
};

static void *in_background(void *arg)
{
    struct errand e = *(struct errand *)arg;
    blm__free(&e.g->alloc, arg, sizeof e);
    run(e.g, e.why, NULL);
    return NULL;
}

/* Claims and starts with the lock held: who finds it claimed and asks for another afterwards finds a
 * thread that will see that. */
static blm_status start_locked(blm_guard *g, struct errand *e, blm_error *err)
{
    if (atomic_exchange(&g->building, true))
        return BLM_PRESENT;
    if (g->has_thread) { /* it has ended, else building would be claimed */
        pthread_join(g->thread, NULL);
        g->has_thread = false;
    }
    g->background = true;
    int bad       = e ? pthread_create(&g->thread, NULL, in_background, e) : ENOMEM;
    g->has_thread = bad == 0;
    if (!bad)
        return BLM_OK;
    g->background = false;
    atomic_store(&g->building, false);
    return blm__fail(err, BLM_E_MEMORY, "cannot start a thread for the rebuild: %s",
                     blm__os_text(bad));
}

blm_status blm__guard_start(blm_guard *g, blm_guard_cause why, blm_error *err)
{
    struct errand *e = blm__alloc(&g->alloc, sizeof *e);
    if (e)
        *e = (struct errand){ g, why };
    pthread_mutex_lock(&g->lock);
    blm_status st = start_locked(g, e, err);
    pthread_mutex_unlock(&g->lock);
    if (st != BLM_OK)
        blm__free(&g->alloc, e, sizeof *e);
    return st;
}

/* Asks the rebuild that runs for another. False: none runs any more. */
static bool ask_again(blm_guard *g)
{
    pthread_mutex_lock(&g->lock);
    bool runs = atomic_load(&g->building);
    if (runs)
        atomic_store(&g->again, true);
    pthread_mutex_unlock(&g->lock);
    return runs;
}

blm_status blm_guard_rebuild(blm_guard *g, blm_error *err)
{
    blm_status st = blm__guard_mine(g, err);
    if (st != BLM_OK)
        return st;
    do
        st = blm__guard_start(g, BLM_CAUSE_ASKED, err);
    while (st == BLM_PRESENT && !ask_again(g));
    return st;
}

blm_status blm_guard_wait(blm_guard *g, blm_error *err)
{
    blm_status st = blm__guard_mine(g, err);
    if (st != BLM_OK)
        return st;
    pthread_mutex_lock(&g->lock);
    while (g->background)
        pthread_cond_wait(&g->ended, &g->lock);
    st = g->last;
    if (err && st != BLM_OK)
        *err = g->last_error;
    pthread_mutex_unlock(&g->lock);
    return st;
}

void blm__guard_stop(blm_guard *g)
{
    atomic_store(&g->cancel, true);
    pthread_mutex_lock(&g->lock);
    while (g->background)
        pthread_cond_wait(&g->ended, &g->lock);
    pthread_mutex_unlock(&g->lock);
    if (g->has_thread)
        pthread_join(g->thread, NULL);
}

/* ---- when -------------------------------------------------------------------------------- */

static bool too_stale(blm_guard *g)
{
    uint64_t            stale = atomic_load(&g->trust.live->stale);
    struct blm__figures now;
    if (stale < BLM__FEW || stale % 16)
        return false;
    blm__guard_figures(g, &now);
    return now.stale_share >= g->stale_share;
}

/* The rate is rate_factor times the promised one, and not by chance: even the interval's low end is
 * above the promise. */
static bool too_wrong(blm_guard *g)
{
    uint64_t            wrong = blm__guard_counted(g, BLM__N_FALSE) - atomic_load(&g->base_false);
    struct blm__figures now;
    if (wrong < BLM__FEW || wrong % 16)
        return false;
    blm__guard_figures(g, &now);
    return now.rate >= g->rate_factor * g->filter.rate && now.low > g->filter.rate;
}

/* It has more keys than it was planned for, and where adds can fail, one soon will. */
static bool too_full(blm_guard *g)
{
    struct blm__figures now;
    if (!(g->can & BLM_CAN_FILL_UP))
        return false;
    blm__guard_figures(g, &now);
    return now.items > now.params.capacity;
}

void blm__guard_consider(blm_guard *g, blm_guard_cause why)
{
    if ((g->flags & BLM_GUARD_MANUAL) || atomic_load(&g->building))
        return;
    bool wanted = false;
    if (!atomic_load(&g->trusted)) {
        why    = why == BLM_CAUSE_FULL ? why : BLM_CAUSE_FIRST;
        wanted = true;
    } else if (why == BLM_CAUSE_FULL) {
        wanted = too_full(g);
    } else if (why == BLM_CAUSE_STALE) {
        wanted = too_stale(g);
    } else if (why == BLM_CAUSE_RATE) {
        wanted = too_wrong(g);
    } else if (why == BLM_CAUSE_OPTIONS) {
        wanted = true;
    }
    if (!wanted || now_ms() < atomic_load(&g->retry_at))
        return;
    if (why == BLM_CAUSE_RATE && now_ms() < atomic_load(&g->rate_at))
        atomic_fetch_add(&g->held, 1);
    else
        blm__guard_start(g, why, NULL);
}
