/* SPDX-License-Identifier: MIT */
/* Opening and closing a guard: read the options, join the parts. */
#include "guard/guard.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "bloomery/maths.h"
#include "core/random.h"

#define FLAGS            (BLM_GUARD_COUNTING | BLM_GUARD_ADVISORY | BLM_GUARD_MANUAL)
#define DEFAULT_RATE     0.01
#define DEFAULT_REMEMBER 4096u
#define DEFAULT_STALE    0.25
#define DEFAULT_FACTOR   2
#define DEFAULT_RETRY_MS 10000u

/* ---- options ----------------------------------------------------------------------------- */

static blm_status read_options(const blm_guard_options *given, blm_guard_options *o, blm_error *err)
{
    blm_guard_options none = BLM_GUARD_OPTIONS_INIT;
    *o                     = none;
    if (!given || given->size < sizeof(size_t))
        return blm__fail(err, BLM_E_ARGUMENT, "start options from BLM_GUARD_OPTIONS_INIT");
    for (size_t i = sizeof *o; i < given->size; i++)
        if (((const uint8_t *)given)[i])
            return blm__fail(err, BLM_E_UNSUPPORTED,
                             "options use a field that this library (%s) does not know",
                             BLM_VERSION);
    memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
    if (o->flags & ~FLAGS)
        return blm__fail(err, BLM_E_ARGUMENT, "unknown flags 0x%x", o->flags & ~FLAGS);
    if (o->rate < 0 || o->rate >= 1 || o->rate != o->rate)
        return blm__fail(err, BLM_E_ARGUMENT, "rate must be between 0 and 1, not %g", o->rate);
    if (!(o->stale_share >= 0) || !(o->rate_factor >= 0) ||
        (o->rate_factor > 0 && o->rate_factor < 1))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "stale_share must not be negative, and rate_factor not below 1");
    if (o->path && o->path[0] == 0)
        return blm__fail(err, BLM_E_ARGUMENT, "the path is empty");
    return BLM_OK;
}

/* Which kind the filter will be, if no kind is named, and what that kind can do. */
static blm_status settle_kind(blm_guard *g, blm_error *err)
{
    blm_options o  = g->filter;
    blm_plan    p  = { .size = sizeof p };
    blm_status  st = BLM_OK;
    o.items        = 1; /* sizes come with the rebuilds */
    o.max_bytes    = 0;
    if (g->filter.kind == BLM_ANY_KIND && (st = blm_plan_for(&o, &p, err)) == BLM_OK)
        g->filter.kind = p.kind;
    if (st != BLM_OK)
        return st;
    const blm_kind_row *row = blm_kind_find(g->filter.kind);
    if (!row)
        return blm__fail(err, BLM_E_ARGUMENT, "unknown kind %d", (int)g->filter.kind);
    if (!(row->can & BLM_CAN_ADD))
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "a guard's filter cannot be %s, because rows are added to it: take "
                         "classic, blocked or counting",
                         row->name);
    if (row->can & BLM_CAN_GROW || !(row->can & BLM_CAN_SHARE))
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "a guard's filter cannot be %s, because threads share it and it is "
                         "rebuilt to grow: take classic, blocked, counting or cuckoo",
                         row->name);
    if (row->can & BLM_CAN_FORGET)
        return blm__fail(
            err, BLM_E_UNSUPPORTED,
            "a guard's filter cannot be a %s, because it forgets rows that are there: take "
            "classic, blocked, counting or cuckoo",
            row->name);
    if (row->can & BLM_CAN_FILL_UP && g->filter.growth != 0)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "a guard's filter is rebuilt to grow: leave growth at 0");
    g->can = row->can;
    return BLM_OK;
}

static blm_status read_filter(blm_guard *g, const blm_guard_options *o, blm_error *err)
{
    blm_options none = BLM_OPTIONS_INIT;
    g->filter        = none;
    if (o->filter)
        memcpy(&g->filter, o->filter,
               o->filter->size < sizeof none ? o->filter->size : sizeof none);
    g->filter.size = sizeof none;
    if (o->flags & BLM_GUARD_COUNTING)
        g->filter.kind = BLM_COUNTING;
    if (g->filter.bits || g->filter.probes || g->filter.memory || g->filter.like || g->filter.words)
        return blm__fail(
            err, BLM_E_ARGUMENT,
            "a guard's filter is sized by items and rate alone, again with every rebuild");
    g->items = o->items ? o->items : g->filter.items;
    if (o->rate > 0)
        g->filter.rate = o->rate;
    if (g->filter.rate == 0)
        g->filter.rate = DEFAULT_RATE;
    g->filter.items = g->items;
    g->filter.flags &= BLM_SEEDED | BLM_PUBLIC;
    g->alloc            = g->filter.allocator ? *g->filter.allocator : blm__default_allocator;
    g->filter.allocator = g->filter.allocator ? &g->alloc : NULL;
    return settle_kind(g, err);
}

static blm_status read_dataset(blm_guard *g, const blm_dataset *d, blm_error *err)
{
    if (!d || d->size < sizeof(size_t))
        return blm__fail(err, BLM_E_ARGUMENT, "start a data set from { .size = sizeof d }");
    memcpy(&g->data, d, d->size < sizeof *d ? d->size : sizeof *d);
    if (!g->data.get || !g->data.scan)
        return blm__fail(err, BLM_E_ARGUMENT, "a data set needs at least get and scan");
    if (!g->data.mark_read != !g->data.mark_write)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "a data set has both of mark_read and mark_write, or neither");
    return BLM_OK;
}

/* ---- opening ----------------------------------------------------------------------------- */

static blm_status make_keyer(blm_guard *g, blm_error *err)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 64;
    o.probes      = 1;
    o.allocator   = g->filter.allocator;
#ifdef BLM__MODEL
    o.flags = BLM_SEEDED; /* so that a schedule can be run again */
#endif
    return blm_create(&o, &g->keyer, err);
}

static bool make_id(uint64_t *id)
{
#ifdef BLM__MODEL
    *id = ++blm__model_ids;
    return true;
#else
    return blm__random(id, sizeof *id);
#endif
}

/* Threads share the filter, so its count of items is as old as its last sync. */
static uint64_t not_counted(const blm_filter *f)
{
    blm_stats s = { .size = sizeof s };
    if (blm_get_stats(f, &s) != BLM_OK || s.estimated.saturated)
        return 0;
    uint64_t items = (uint64_t)(s.estimated.value + 0.5);
    return items > s.params.items ? items - s.params.items : 0;
}

/* The file's filter if it can be trusted, else none. */
static blm_status first_state(blm_guard *g, blm_error *err)
{
    blm_filter *f = NULL;
    bool        died;
    blm_status  st = blm__trust_filter(&g->trust, &g->data, &g->filter, &f, &died, err);
    if (st != BLM_OK)
        return st;
    g->states[0].cur = f;
    atomic_store(&g->state, &g->states[0]);
    atomic_store(&g->trusted, f != NULL);
    atomic_store(&g->generation, g->trust.generation);
    if (!f)
        return BLM_OK;
    blm_params p = { .size = sizeof p };
    blm_get_params(f, &p);
    atomic_store(&g->uncounted, died || p.unclosed ? not_counted(f) : 0);
    /* A note or mark that could not be written costs a rebuild at the next open. */
    blm__trust_say(&g->trust, &g->data, BLM__SESSION_OPEN, NULL, NULL);
    return BLM_OK;
}

/* Whether the trusted filter is of another hash, seed or rate than the options ask for. It answers
 * rightly even so, until it is rebuilt. */
static bool asked_otherwise(blm_guard *g)
{
    blm_options o    = g->filter;
    blm_params  want = { .size = sizeof want }, have = { .size = sizeof have };
    blm_filter *probe = NULL;
    blm_filter *cur   = atomic_load(&g->state)->cur;
    o.items           = 1;
    if (!cur || blm_create(&o, &probe, NULL) != BLM_OK)
        return false;
    blm_get_params(probe, &want);
    blm_get_params(cur, &have);
    bool other = strcmp(want.hash, have.hash) != 0 || want.scheme_version != have.scheme_version ||
                 want.rate < have.rate || want.rate > have.rate ||
                 (o.flags & BLM_SEEDED && memcmp(want.seed, have.seed, sizeof want.seed) != 0);
    blm_free(probe);
    return other;
}

static blm_status assemble(blm_guard *g, const blm_guard_options *o, blm_error *err)
{
    uint64_t   id = 0;
    blm_status st = make_keyer(g, err);
    if (st != BLM_OK)
        return st;
    if (!make_id(&id))
        return blm__fail(err, BLM_E_IO, "the system has no random bytes");
    uint32_t remember = o->remember == 0 ? DEFAULT_REMEMBER : o->remember;
    st = blm__table_open(&g->table, remember == BLM_GUARD_NONE ? 0 : remember, &g->alloc);
    if (st != BLM_OK)
        return blm__fail(err, st, "no memory for a table of %u keys", remember);
    g->trust.advisory = g->flags & BLM_GUARD_ADVISORY;
    g->trust.removes  = !g->trust.advisory && g->can & BLM_CAN_REMOVE;
    st                = blm__trust_open(&g->trust, o->path, id, &g->alloc, err);
    return st == BLM_OK ? first_state(g, err) : st;
}

/* In a forked child the data set is its parent's, and locks may be held for ever. */
static void abandon(blm_guard *g)
{
    blm_allocator a = g->alloc;
    blm__fork_unwatch(&g->forks);
    blm_free(g->parents.cur);
    blm_free(g->parents.next);
    blm_free(g->keyer);
    blm__trust_close(&g->trust, true, &a);
    blm__free(&a, g->base, sizeof *g + 64);
}

static void release(blm_guard *g)
{
    blm_allocator a = g->alloc;
    blm__fork_unwatch(&g->forks);
    blm_free(g->keyer);
    if (g->table.alloc.alloc)
        blm__table_close(&g->table);
    blm__trust_close(&g->trust, false, &a);
    blm__guard_drop_removals(g);
    pthread_mutex_destroy(&g->removals.lock);
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->ended);
    if (g->data.close)
        g->data.close(g->data.ctx);
    blm__free(&a, g->base, sizeof *g + 64);
}

static void in_child(void *guard)
{
    blm_guard *g      = guard;
    g->parents        = *atomic_load(&g->state);
    g->states[0].cur  = NULL; /* nothing can be trusted … */
    g->states[0].next = NULL;
    atomic_store(&g->state, &g->states[0]);
    atomic_store(&g->forked, true); /* … and nobody is to be asked */
}

blm_status blm__guard_mine(const blm_guard *g, blm_error *err)
{
    if (!atomic_load_explicit(&g->forked, memory_order_relaxed))
        return BLM_OK;
    return blm__fail(err, BLM_E_BUSY,
                     "this guard is process %llu's, which forked: open another in this process",
                     (unsigned long long)g->process);
}

/* Aligned to a cache line, whatever the allocator's alignment. */
static blm_guard *blank(const blm_allocator *a)
{
    uint8_t *base = blm__zalloc(a, sizeof(blm_guard) + 64);
    if (!base)
        return NULL;
    blm_guard *g = (blm_guard *)(void *)(base + (64 - (uintptr_t)base % 64));
    g->base      = base;
    g->alloc     = *a;
    g->trust.fd  = -1;
    blm__epoch_init(&g->readers);
    pthread_mutex_init(&g->removals.lock, NULL);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->ended, NULL);
    return g;
}

/* When there is no guard to release yet: the data set is closed even so. */
static blm_status refuse(const blm_dataset *d, blm_status st)
{
    if (d && d->size >= offsetof(blm_dataset, close) + sizeof d->close && d->close)
        d->close(d->ctx);
    return st;
}

blm_status blm_guard_open(const blm_guard_options *options, const blm_dataset *d, blm_guard **out,
                          blm_error *err)
{
    blm_guard_options o;
    if (!out)
        return refuse(d, blm__fail(err, BLM_E_ARGUMENT, "nowhere to put the guard: out is NULL"));
    *out          = NULL;
    blm_status st = read_options(options, &o, err);
    if (st != BLM_OK)
        return refuse(d, st);
    blm_guard *g =
        blank(o.filter && o.filter->allocator ? o.filter->allocator : &blm__default_allocator);
    if (!g)
        return refuse(d, blm__fail(err, BLM_E_MEMORY, "no memory for a guard"));
    st               = read_dataset(g, d, err);
    g->flags         = o.flags;
    g->stale_share   = o.stale_share > 0 ? o.stale_share : DEFAULT_STALE;
    g->rate_factor   = o.rate_factor > 0 ? o.rate_factor : DEFAULT_FACTOR;
    g->retry_ms      = o.retry_ms ? o.retry_ms : DEFAULT_RETRY_MS;
    g->rate_pause_ms = o.rate_pause_ms ? o.rate_pause_ms : BLM__RATE_PAUSE_MS;
    if (st == BLM_OK)
        st = read_filter(g, &o, err);
    if (st == BLM_OK)
        st = assemble(g, &o, err);
    if (st != BLM_OK) {
        release(g);
        return st;
    }
    g->process = (uint64_t)getpid();
    blm__fork_watch(&g->forks, in_child, g);
    blm__guard_consider(g, asked_otherwise(g) ? BLM_CAUSE_OPTIONS : BLM_CAUSE_FIRST);
    *out = g;
    return BLM_OK;
}

/* ---- closing ----------------------------------------------------------------------------- */

blm_status blm_guard_sync(blm_guard *g, blm_error *err)
{
    blm_status st = blm__guard_mine(g, err);
    if (st != BLM_OK)
        return st;
    blm__guard_remove_waiting(g);
    blm__gate_shut(&g->gate); /* the filter stays where it is */
    blm_filter *cur = atomic_load(&g->state)->cur;
    if (cur && g->trust.path)
        st = blm_sync(cur, err);
    blm__trust_stamp(&g->trust);
    blm__gate_open(&g->gate);
    return st;
}

blm_status blm_guard_close(blm_guard *g, blm_error *err)
{
    if (!g)
        return BLM_OK;
    if (atomic_load(&g->forked)) {
        abandon(g);
        return BLM_OK;
    }
    blm__guard_stop(g);
    blm__guard_remove_waiting(g);
    blm_filter *cur = atomic_load(&g->state)->cur;
    blm_status  st  = blm_close(cur, err);
    if (cur && st == BLM_OK)
        st = blm__trust_end(&g->trust, &g->data, err);
    release(g);
    return st;
}
