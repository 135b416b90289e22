/* SPDX-License-Identifier: MIT */
/*
 * get, put, delete, update: the order of things, which is all the guard is about.
 *
 *   get      ask the filter │ ask the table │ read the row │ learn from its absence
 *   put      forget the absence │ add to the filter, and to the one being built │ write the row
 *   delete   delete the row │ only if that is confirmed, count (or queue) the key
 *
 * A put is a writer's section from before it looks which filters there are until its row is
 * written: a rebuild that shows a new generation and then waits for the writers inside knows that
 * the rows of all others are, or will be, added to it too.
 * Filters are only touched in a reader's section.
 */
#include "bloomery/guard.h"
#include "guard/guard.h"

#include <string.h>

#if defined(__GNUC__)
#define NOT_INLINED __attribute__((noinline))
#else
#define NOT_INLINED
#endif

static uint64_t hash_of(const blm_guard *g, const void *key, size_t len)
{
    blm_digest d;
    return blm_digest_of(g->keyer, key, len, &d) == BLM_OK ? d.w[0] : 0;
}

static bool is_error(blm_status st) { return st != BLM_OK && st != BLM_E_ABSENT; }

/* ---- reading ----------------------------------------------------------------------------- */

struct request { /* a get's arguments, in memory, so that the check need not keep them */
    blm_guard   *g;
    const void  *key;
    size_t       len;
    blm_write_fn value;
    void        *value_ctx;
    blm_error   *err;
};

/* The filter lets it pass, or (asked is false) there was none to ask. */
NOT_INLINED static blm_status read_through(const struct request *r, bool asked)
{
    blm_guard *g    = r->g;
    uint64_t   hash = hash_of(g, r->key, r->len), ticket = blm__table_ticket(&g->table, hash);
    blm__step();
    if (asked && blm__table_knows(&g->table, hash, r->key, r->len)) {
        blm__guard_count(g, BLM__N_REMEMBERED, 1);
        return BLM_E_ABSENT;
    }
    blm_error  unwanted;
    blm_status st = g->data.get(g->data.ctx, r->key, r->len, r->value, r->value_ctx,
                                r->err ? r->err : &unwanted);
    blm__step();
    if (st == BLM_OK) {
        blm__guard_count(g, BLM__N_FOUND, 1);
    } else if (st != BLM_E_ABSENT) {
        blm__guard_count(g, BLM__N_ERRORS, 1);
    } else if (asked) {
        if (!(g->flags & BLM_GUARD_ADVISORY))
            blm__table_learn(&g->table, hash, r->key, r->len, ticket);
        blm__guard_count(g, BLM__N_FALSE, 1);
        blm__guard_consider(g, BLM_CAUSE_RATE);
    } else {
        blm__guard_consider(g, BLM_CAUSE_FIRST);
    }
    return st;
}

/* A get by a thread that has no slot of its own, or not yet. */
NOT_INLINED static blm_status get_anywhere(const struct request *r)
{
    struct blm_section     s     = blm__epoch_look(&r->g->readers);
    const struct blm_view *v     = atomic_load(&r->g->view);
    bool                   asked = v->cur != NULL;
    blm__step();
    bool maybe = !asked || blm_check(v->cur, r->key, r->len);
    blm__epoch_leave(&s, maybe ? BLM__LEFT_PASSED : BLM__LEFT_REFUSED);
    return maybe ? read_through(r, asked) : BLM_E_ABSENT;
}

/* A refused get is what the guard is for: nothing here but the check and two counts. Every
 * instruction less lets the processor overlap more of one check's misses with the next one's. */
blm_status blm_guard_get(blm_guard *g, const void *key, size_t len, blm_write_fn value,
                         void *value_ctx, blm_error *err)
{
    struct request    r      = { g, key, len, value, value_ctx, err };
    _Atomic uint64_t *counts = blm__epoch_own(&g->readers);
    if (!counts)
        return get_anywhere(&r);
    const struct blm_view *v     = atomic_load(&g->view);
    bool                   asked = v->cur != NULL;
    blm__step();
    if (asked && !blm_check(v->cur, key, len)) {
        blm__epoch_disown(counts, BLM__LEFT_REFUSED);
        return BLM_E_ABSENT;
    }
    blm__epoch_disown(counts, BLM__LEFT_PASSED);
    return read_through(&r, asked);
}

bool blm_guard_maybe(blm_guard *g, const void *key, size_t len)
{
    uint8_t maybe;
    blm_key k = { key, len };
    return blm_guard_maybe_many(g, &k, 1, &maybe) == 1;
}

/* What the filters let pass may be in the table. */
static size_t known_absences(blm_guard *g, const blm_key *keys, size_t count, uint8_t *maybe)
{
    size_t known = 0;
    if (atomic_load_explicit(&g->table.count, memory_order_relaxed) == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (maybe[i] && blm__table_knows(&g->table, hash_of(g, keys[i].data, keys[i].len),
                                         keys[i].data, keys[i].len)) {
            maybe[i] = 0;
            known++;
        }
    return known;
}

size_t blm_guard_maybe_many(blm_guard *g, const blm_key *keys, size_t count, uint8_t *maybe)
{
    struct blm_section     s     = blm__epoch_look(&g->readers);
    const struct blm_view *v     = atomic_load(&g->view);
    bool                   asked = v->cur != NULL;
    size_t                 hits  = count;
    if (asked)
        hits = blm_check_many(v->cur, keys, count, maybe);
    else if (count)
        memset(maybe, 1, count);
    blm__epoch_leave(&s, BLM__LEFT_OTHER);
    size_t known = asked ? known_absences(g, keys, count, maybe) : 0;
    blm__guard_count(g, BLM__N_ASKED_REFUSED, count - hits);
    blm__guard_count(g, BLM__N_ASKED_REMEMBERED, known);
    blm__guard_count(g, BLM__N_ASKED_PASSED, hits - known);
    return hits - known;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* Into every filter that will be asked for it. While keys are being removed from one, the put waits
 * outside: removal is exclusive. */
static blm_status add_to_filters(blm_guard *g, const void *key, size_t len)
{
    for (unsigned tries = 0;; tries++) {
        struct blm_section     s  = blm__epoch_look(&g->readers);
        const struct blm_view *v  = atomic_load(&g->view);
        bool                   in = !v->hold;
        blm_status             st = BLM_OK;
        blm__step();
        if (in && v->cur)
            st = blm_add(v->cur, key, len);
        if (in && v->next && st >= 0 && !blm__mistaken(BLM__ONE_GENERATION))
            st = blm_add(v->next, key, len);
        blm__epoch_leave(&s, BLM__LEFT_OTHER);
        if (in)
            return st < 0 ? st : BLM_OK;
        blm__pause(tries);
    }
}

static blm_status put(blm_guard *g, const void *key, size_t len, const void *value,
                      size_t value_len, blm_error *err)
{
    uint64_t  hash = hash_of(g, key, len);
    blm_error unwanted;
    if (!g->data.put)
        return blm__guard_fail(err, BLM_E_UNSUPPORTED, "this data set cannot be written");
    blm__table_put_begin(&g->table, hash, key, len);
    struct blm_section w = blm__epoch_enter(&g->writers);
    blm__step();
    blm_status st = blm__mistaken(BLM__DATA_SET_FIRST) ? BLM_OK : add_to_filters(g, key, len);
    blm__step();
    if (st == BLM_OK) {
        st = g->data.put(g->data.ctx, key, len, value, value_len, err ? err : &unwanted);
        if (st != BLM_OK) {
            blm__guard_count(g, BLM__N_ERRORS, 1);
            blm__table_doubt(&g->table, hash, key, len);
        }
    } else {
        blm__guard_fail(err, st, "the filter takes no more keys: %s", blm_status_text(st));
    }
    blm__step();
    if (blm__mistaken(BLM__DATA_SET_FIRST))
        add_to_filters(g, key, len);
    blm__epoch_leave(&w, BLM__LEFT_OTHER);
    blm__table_put_end(&g->table, hash);
    return st;
}

blm_status blm_guard_put(blm_guard *g, const void *key, size_t len, const void *value,
                         size_t value_len, blm_error *err)
{
    blm_status st = put(g, key, len, value, value_len, err);
    if (st == BLM_OK)
        blm__guard_count(g, BLM__N_PUTS, 1);
    return st;
}

void blm_guard_note_put(blm_guard *g, const void *key, size_t len)
{
    uint64_t hash = hash_of(g, key, len);
    blm__table_put_begin(&g->table, hash, key, len);
    struct blm_section w = blm__epoch_enter(&g->writers);
    add_to_filters(g, key, len);
    blm__epoch_leave(&w, BLM__LEFT_OTHER);
    blm__table_put_end(&g->table, hash);
}

/* ---- deleting ---------------------------------------------------------------------------- */

static blm_status del(blm_guard *g, const void *key, size_t len, blm_error *err)
{
    blm_error unwanted;
    if (!g->data.del)
        return blm__guard_fail(err, BLM_E_UNSUPPORTED, "this data set cannot delete");
    uint64_t generation = atomic_load(&g->generation);
    blm__step();
    blm_status st = g->data.del(g->data.ctx, key, len, err ? err : &unwanted);
    blm__step();
    if (is_error(st))
        blm__guard_count(g, BLM__N_ERRORS, 1);
    if (st == BLM_OK || (is_error(st) && blm__mistaken(BLM__REMOVE_UNSURE)))
        blm__guard_removed(g, key, len, generation);
    return st;
}

blm_status blm_guard_delete(blm_guard *g, const void *key, size_t len, blm_error *err)
{
    blm_status st = del(g, key, len, err);
    if (st == BLM_OK)
        blm__guard_count(g, BLM__N_DELETES, 1);
    return st;
}

void blm_guard_note_delete(blm_guard *g, const void *key, size_t len)
{
    (void)key; /* somebody else's word is not enough to remove a key */
    (void)len;
    atomic_fetch_add(&g->stale, 1);
    atomic_fetch_add(&g->stale_next, 1);
    blm__guard_consider(g, BLM_CAUSE_STALE);
}

blm_status blm_guard_update(blm_guard *g, const void *old_key, size_t old_len, const void *new_key,
                            size_t new_len, const void *value, size_t value_len, blm_error *err)
{
    bool same     = old_len == new_len && (old_len == 0 || memcmp(old_key, new_key, old_len) == 0);
    blm_status st = put(g, new_key, new_len, value, value_len, err);
    if (st == BLM_OK && !same)
        st = del(g, old_key, old_len, err);
    if (st == BLM_E_ABSENT)
        st = BLM_OK;
    if (st == BLM_OK)
        blm__guard_count(g, BLM__N_UPDATES, 1);
    return st;
}

/* ---- removing from a counting filter ------------------------------------------------------
 *
 * Every row that is confirmed deleted was put (or scanned) into this generation once for that
 * deletion alone: a put adds before its row can be deleted, and between two confirmed deletes of a
 * key lies a put. So removals never outrun adds, and a row that is there keeps its count. What must
 * not happen is a removal from a generation whose scan may have come after the delete: hence the
 * generation that was current *before* the data set was asked must still be current. */

void blm__guard_removed(blm_guard *g, const void *key, size_t len, uint64_t generation)
{
    struct blm_removals *r    = &g->removals;
    bool                 full = false;
    atomic_fetch_add(&g->stale, 1);
    atomic_fetch_add(&g->stale_next, 1);
    if (g->filter.kind == BLM_COUNTING && !(g->flags & BLM_GUARD_ADVISORY)) {
        void *copy = blm__guard_alloc(&g->alloc, len + 1);
        if (copy && len)
            memcpy(copy, key, len);
        pthread_mutex_lock(&r->lock);
        bool same = atomic_load(&g->generation) == generation || blm__mistaken(BLM__REMOVE_ACROSS);
        if (copy && same && r->count < BLM__REMOVALS) {
            r->at[r->count].key   = copy;
            r->at[r->count++].len = len;
            copy                  = NULL;
        }
        full = r->count == BLM__REMOVALS;
        pthread_mutex_unlock(&r->lock);
        blm__guard_free(&g->alloc, copy, len + 1);
    }
    if (full)
        blm__guard_remove_waiting(g);
    blm__guard_consider(g, BLM_CAUSE_STALE);
}

/* The gate is shut. */
void blm__guard_drop_removals(blm_guard *g)
{
    struct blm_removals *r = &g->removals;
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->count; i++)
        blm__guard_free(&g->alloc, r->at[i].key, r->at[i].len + 1);
    r->count = 0;
    pthread_mutex_unlock(&r->lock);
}

void blm__guard_remove_waiting(blm_guard *g)
{
    struct blm_removals *r = &g->removals;
    blm__gate_shut(&g->gate);
    struct blm_view now = *atomic_load(&g->view), hold = { .hold = true };
    pthread_mutex_lock(&r->lock);
    bool any = r->count > 0;
    pthread_mutex_unlock(&r->lock);
    if (any && now.cur && !now.next && g->removes) {
        blm__guard_show(g, hold); /* nobody is inside the filter now */
        blm__step();
        pthread_mutex_lock(&r->lock);
        for (uint32_t i = 0; i < r->count; i++)
            if (blm_remove(now.cur, r->at[i].key, r->at[i].len) == BLM_OK)
                atomic_fetch_sub(&g->stale, 1);
        pthread_mutex_unlock(&r->lock);
        blm__guard_show(g, now);
    }
    if (!now.next)
        blm__guard_drop_removals(g);
    blm__gate_open(&g->gate);
}
