/* SPDX-License-Identifier: MIT */
/*
 * get, put, delete, update. What matters is the order of their steps:
 *
 *   get      ask the filter │ ask the table │ read the row │ remember if it is absent
 *   put      forget the absence │ add to the filter, and to the one being built │ write the row
 *            (a cuckoo filter gets no second copy of a row that is there: "sparing an add", below)
 *   delete   delete the row │ only if that is confirmed, count (or queue) the key
 *
 * A put is a writer's section, from before it looks which filters there are until its row is
 * written. A rebuild shows its new generation and then waits for the writers inside: their rows are
 * there to be scanned, and every later put adds to the new generation too.
 * Filters are only touched in a reader's section.
 */
#include "guard/guard.h"

#include <string.h>

#include "core/bits.h"
#include "core/body.h"
#include "guard/dataset.h"

#define COPIES (2 * BLM__BUCKET) /* of one key, in a cuckoo filter of one layer */

static uint64_t hash_of(const blm_guard *g, const void *key, size_t len)
{
    blm_digest d;
    return blm_digest_of(g->keyer, key, len, &d) == BLM_OK ? d.w[0] : 0;
}

static blm_status check_key(const void *key, size_t len, blm_error *err)
{
    return key || len == 0 ? BLM_OK
                           : blm__fail(err, BLM_E_ARGUMENT, "a key has a length but no data");
}

static bool is_error(blm_status st) { return st != BLM_OK && st != BLM_E_ABSENT; }

/* ---- the data set as a whole -------------------------------------------------------------- */

static void estranged(blm_guard *g)
{
    if (g->flags & BLM_GUARD_ADVISORY) /* others write: it says so, and removes nothing */
        return;
    blm_guard_distrust(g);
    blm__guard_consider(g, BLM_CAUSE_FIRST);
}

void blm__guard_heard(blm_guard *g, blm_status st)
{
    if (is_error(st) && st != BLM_E_CANCELLED && st != BLM_E_ARGUMENT)
        blm__trust_trouble(&g->trust);
    if (st == BLM_E_MISMATCH)
        estranged(g);
}

/* A row may be put: the data set's mark is ours. */
static blm_status claim(blm_guard *g, blm_error *err)
{
    blm_status st;
    while ((st = blm__trust_claim(&g->trust, &g->data, err)) == BLM_PRESENT)
        estranged(g);
    blm__guard_heard(g, st);
    return st;
}

/* Whether it is as it was for this filter's scan. If not, the data set may be an older copy: rows are
 * there again that were deleted, and their keys removed. */
static bool as_we_know_it(blm_guard *g)
{
    blm_status st = blm__trust_look(&g->trust, &g->data, NULL);
    if (!g->data.mark_read) /* nobody knows */
        return true;
    if (st == BLM_PRESENT)
        estranged(g);
    else
        blm__guard_heard(g, st);
    return st == BLM_OK && atomic_load(&g->trust.adrift) == atomic_load(&g->adrift);
}

/* ---- reading ----------------------------------------------------------------------------- */

struct request { /* a get's arguments, in memory, so that they need no registers during the check */
    blm_guard   *g;
    const void  *key;
    size_t       len;
    blm_write_fn value;
    void        *value_ctx;
    blm_error   *err;
};

/* The filter lets the key pass, or (asked is false) there is no filter. */
BLM__NOINLINE static blm_status read_through(const struct request *r, bool asked)
{
    blm_guard *g  = r->g;
    blm_status st = blm__guard_mine(g, r->err);
    if (st == BLM_OK)
        st = check_key(r->key, r->len, r->err); /* a filter lets a key pass that is none */
    if (st != BLM_OK)
        return st;
    uint64_t hash = hash_of(g, r->key, r->len), ticket = blm__table_ticket(&g->table, hash);
    blm__step();
    if (asked && blm__table_knows(&g->table, hash, r->key, r->len)) {
        blm__guard_count(g, BLM__N_REMEMBERED, 1);
        return blm__data_absent(r->err);
    }
    st = blm__data_get(&g->data, r->key, r->len, r->value, r->value_ctx, r->err);
    blm__guard_heard(g, st);
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

/* A get by a thread that has no slot of its own, or none yet. */
BLM__NOINLINE static blm_status get_anywhere(const struct request *r)
{
    struct blm__section            s     = blm__epoch_look(&r->g->readers);
    const struct blm__guard_state *now   = atomic_load(&r->g->state);
    bool                           asked = now->cur != NULL;
    blm__step();
    bool maybe = !asked || blm_check(now->cur, r->key, r->len);
    blm__epoch_leave(&s, maybe ? BLM__LEFT_PASSED : BLM__LEFT_REFUSED);
    return maybe ? read_through(r, asked) : blm__data_absent(r->err);
}

/* A refused get is what the guard is for, so it does nothing but the check and two counts. With
 * fewer instructions the processor overlaps more of one check's misses with the next one's. */
blm_status blm_guard_get(blm_guard *g, const void *key, size_t len, blm_write_fn value,
                         void *value_ctx, blm_error *err)
{
    struct request    r      = { g, key, len, value, value_ctx, err };
    _Atomic uint64_t *counts = blm__epoch_own(&g->readers);
    if (!counts)
        return get_anywhere(&r);
    const struct blm__guard_state *now   = atomic_load(&g->state);
    bool                           asked = now->cur != NULL;
    blm__step();
    if (asked && !blm_check(now->cur, key, len)) {
        blm__epoch_disown(counts, BLM__LEFT_REFUSED);
        return err ? blm__data_absent(err) : BLM_E_ABSENT;
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

/* Of the keys that the filter lets pass, those the table knows to be absent. */
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
    struct blm__section            s     = blm__epoch_look(&g->readers);
    const struct blm__guard_state *now   = atomic_load(&g->state);
    bool                           asked = now->cur != NULL;
    size_t                         hits  = count;
    if (asked)
        hits = blm_check_many(now->cur, keys, count, maybe);
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

/* Sparing an add. In a cuckoo filter each add takes a cell, so a row that is replaced must not be
 * added again: then the filter would be full of copies. That the filter says "maybe" is not enough,
 * since that may be due to another key, and end when that one is removed. If the data set has the row
 * too, then the filter has an add of its own for it. That add stays, also if the row is deleted
 * before the put has written it: the put announces itself before it looks, and a delete that runs
 * beside such a put removes nothing (blm__table_spared). A put that fails is added after all, because
 * its row may appear after a delete. */

static const blm_filter *filter_with(blm_guard *g, const void *key, size_t len)
{
    for (unsigned tries = 0;; tries++) {
        struct blm__section            s   = blm__epoch_look(&g->readers);
        const struct blm__guard_state *now = atomic_load(&g->state);
        const blm_filter              *cur = now->cur;
        bool                           in  = !now->hold;
        blm__step();
        if (cur && !blm_check(cur, key, len))
            cur = NULL;
        blm__epoch_leave(&s, BLM__LEFT_OTHER);
        if (in)
            return cur;
        blm__pause(tries);
    }
}

/* The filter that need not get this key; NULL: none. */
static const blm_filter *find_spare(blm_guard *g, uint64_t hash, const void *key, size_t len)
{
    if (!(g->can & BLM_CAN_FILL_UP))
        return NULL;
    if (g->flags & BLM_GUARD_ADVISORY) /* nothing is ever removed */
        return filter_with(g, key, len);
    blm__table_spare_begin(&g->table, hash);
    const blm_filter *has = filter_with(g, key, len);
    if (has && !blm__mistaken(BLM__SPARE_BLINDLY)) {
        blm_status st = blm__data_get(&g->data, key, len, NULL, NULL, NULL);
        blm__guard_heard(g, st);
        if (st != BLM_OK)
            has = NULL;
    }
    if (!has)
        blm__table_spare_end(&g->table, hash, false);
    return has;
}

static void end_spare(blm_guard *g, uint64_t hash, const blm_filter *spare)
{
    if (spare && !(g->flags & BLM_GUARD_ADVISORY))
        blm__table_spare_end(&g->table, hash, true);
}

bool blm__guard_held(const blm_guard *g, const blm_filter *f, const void *key, size_t len,
                     blm_status added)
{
    return added >= 0 ||
           (added == BLM_E_FULL && g->can & BLM_CAN_FILL_UP && blm_count(f, key, len) >= COPIES);
}

static blm_status add_to(const blm_guard *g, blm_filter *f, const void *key, size_t len)
{
    blm_status st = f ? blm_add(f, key, len) : BLM_OK;
    return st < 0 && blm__guard_held(g, f, key, len, st) ? BLM_OK : st;
}

/* Adds the key to every filter that will be asked for it, except `spare`, and stamps the note. While
 * keys are being removed from one, the put waits outside, since removing is exclusive. */
static blm_status add_to_filters(blm_guard *g, const void *key, size_t len, const blm_filter *spare)
{
    for (unsigned tries = 0;; tries++) {
        struct blm__section            s   = blm__epoch_look(&g->readers);
        const struct blm__guard_state *now = atomic_load(&g->state);
        blm_filter                    *cur = now->cur, *next = now->next;
        bool                           in    = !now->hold;
        blm_status                     st[2] = { BLM_OK, BLM_OK };
        blm__step();
        if (in && (cur != spare || !cur))
            st[0] = add_to(g, cur, key, len);
        if (in && !blm__mistaken(BLM__ONE_GENERATION))
            st[1] = add_to(g, next, key, len);
        blm__epoch_leave(&s, BLM__LEFT_OTHER);
        if (in) {
            blm__trust_stamp(&g->trust);
            for (int i = 0; i < 2; i++)
                if (st[i] == BLM_E_FULL)
                    st[i] = blm__guard_full(g, i == 0 ? cur : next, NULL);
            return st[0] < 0 ? st[0] : st[1] < 0 ? st[1] : BLM_OK;
        }
        blm__pause(tries);
    }
}

static blm_status put(blm_guard *g, const void *key, size_t len, const void *value,
                      size_t value_len, blm_error *err)
{
    if (!g->data.put)
        return blm__fail(err, BLM_E_UNSUPPORTED, "this data set cannot be written");
    blm_status st = blm__guard_mine(g, err);
    if (st == BLM_OK)
        st = check_key(key, len, err);
    if (st == BLM_OK)
        st = claim(g, err);
    if (st != BLM_OK)
        return st;
    uint64_t hash = hash_of(g, key, len);
    blm__table_put_begin(&g->table, hash, key, len);
    struct blm__section w = blm__epoch_enter(&g->writers);
    blm__step();
    const blm_filter *spare = find_spare(g, hash, key, len);
    st = blm__mistaken(BLM__DATA_SET_FIRST) ? BLM_OK : add_to_filters(g, key, len, spare);
    blm__step();
    if (st == BLM_OK) {
        st = blm__data_put(&g->data, key, len, value, value_len, err);
        blm__guard_heard(g, st);
        bool refused = st == BLM_E_ARGUMENT;
        if (st == BLM_OK)
            st = claim(g, err); /* another thread may have met with an error meanwhile */
        if (st != BLM_OK) {
            blm__guard_count(g, BLM__N_ERRORS, 1);
            if (!refused)
                blm__table_doubt(&g->table, hash, key, len);
            if (spare)
                add_to_filters(g, key, len, NULL);
        }
    } else {
        blm__fail(err, st, "the filter cannot take the key: %s", blm_status_text(st));
    }
    blm__step();
    if (blm__mistaken(BLM__DATA_SET_FIRST))
        add_to_filters(g, key, len, NULL);
    end_spare(g, hash, spare);
    blm__epoch_leave(&w, BLM__LEFT_OTHER);
    blm__table_put_end(&g->table, hash);
    return st;
}

blm_status blm_guard_put(blm_guard *g, const void *key, size_t len, const void *value,
                         size_t value_len, blm_error *err)
{
    blm_status st = put(g, key, len, value, value_len, err);
    if (st == BLM_OK && blm__guard_count(g, BLM__N_PUTS, 1) % 64 == 0)
        blm__guard_consider(g, BLM_CAUSE_FULL);
    return st;
}

void blm_guard_note_put(blm_guard *g, const void *key, size_t len)
{
    uint64_t hash = hash_of(g, key, len);
    if (blm__guard_mine(g, NULL) != BLM_OK)
        return;
    blm__table_put_begin(&g->table, hash, key, len);
    struct blm__section w = blm__epoch_enter(&g->writers);
    /* Somebody else's row may be there and not in the filter: only what is never removed is spared. */
    const blm_filter *spare = g->flags & BLM_GUARD_ADVISORY ? find_spare(g, hash, key, len) : NULL;
    if (add_to_filters(g, key, len, spare) != BLM_OK)
        blm_guard_distrust(g);
    blm__epoch_leave(&w, BLM__LEFT_OTHER);
    blm__table_put_end(&g->table, hash);
}

/* ---- deleting ---------------------------------------------------------------------------- */

static blm_status del(blm_guard *g, const void *key, size_t len, blm_error *err)
{
    if (!g->data.del)
        return blm__fail(err, BLM_E_UNSUPPORTED, "this data set cannot delete");
    blm_status st = blm__guard_mine(g, err);
    if (st == BLM_OK)
        st = check_key(key, len, err);
    if (st != BLM_OK)
        return st;
    struct blm__before before = { atomic_load(&g->generation),
                                  blm__table_spares(&g->table, hash_of(g, key, len)) };
    blm__step();
    st = blm__data_del(&g->data, key, len, err);
    blm__guard_heard(g, st);
    blm__step();
    if (is_error(st))
        blm__guard_count(g, BLM__N_ERRORS, 1);
    if (st == BLM_OK || (is_error(st) && blm__mistaken(BLM__REMOVE_UNSURE)))
        blm__guard_removed(g, key, len, before);
    return st;
}

blm_status blm_guard_delete(blm_guard *g, const void *key, size_t len, blm_error *err)
{
    blm_status st = del(g, key, len, err);
    if (st == BLM_OK)
        blm__guard_count(g, BLM__N_DELETES, 1);
    return st;
}

static void count_stale(blm_guard *g)
{
    atomic_fetch_add(&g->trust.live->stale, 1);
    atomic_fetch_add(&g->stale_next, 1);
}

void blm_guard_note_delete(blm_guard *g, const void *key, size_t len)
{
    (void)key; /* that somebody else says so is not enough to remove a key */
    (void)len;
    if (blm__guard_mine(g, NULL) != BLM_OK)
        return;
    count_stale(g);
    blm__guard_consider(g, BLM_CAUSE_STALE);
}

blm_status blm_guard_update(blm_guard *g, const void *old_key, size_t old_len, const void *new_key,
                            size_t new_len, const void *value, size_t value_len, blm_error *err)
{
    blm_status st = check_key(old_key, old_len, err);
    if (st == BLM_OK)
        st = put(g, new_key, new_len, value, value_len, err);
    bool same = st == BLM_OK && old_len == new_len &&
                (old_len == 0 || memcmp(old_key, new_key, old_len) == 0);
    if (st == BLM_OK && !same) {
        st = del(g, old_key, old_len, err);
        if (st == BLM_E_ABSENT)
            st = BLM_OK;
    }
    if (st == BLM_OK)
        blm__guard_count(g, BLM__N_UPDATES, 1);
    return st;
}

/* ---- removing from the filter -------------------------------------------------------------
 *
 * For every row that is confirmed deleted, its key was added to this generation once, by a put or
 * by the scan: a put adds before its row can be deleted, and there is a put between two confirmed
 * deletes of a key. So there are never more removals than adds, and a row that is there keeps its
 * count. A key must not be removed from a generation whose scan may have come after the delete.
 * Therefore the generation that was current *before* the data set was asked must still be
 * current. */

void blm__guard_removed(blm_guard *g, const void *key, size_t len, struct blm__before b)
{
    struct blm__removals *r    = &g->removals;
    bool                  full = false;
    count_stale(g);
    if (g->can & BLM_CAN_REMOVE && !(g->flags & BLM_GUARD_ADVISORY) && as_we_know_it(g) &&
        !blm__table_spared(&g->table, hash_of(g, key, len), b.spares)) {
        void *copy = blm__alloc(&g->alloc, len + 1);
        if (copy && len)
            memcpy(copy, key, len);
        pthread_mutex_lock(&r->lock);
        bool same =
            atomic_load(&g->generation) == b.generation || blm__mistaken(BLM__REMOVE_ACROSS);
        if (copy && same && r->count < BLM__REMOVALS) {
            r->at[r->count].key   = copy;
            r->at[r->count++].len = len;
            copy                  = NULL;
        }
        full = r->count == BLM__REMOVALS;
        pthread_mutex_unlock(&r->lock);
        blm__free(&g->alloc, copy, len + 1);
    }
    if (full)
        blm__guard_remove_waiting(g);
    blm__guard_consider(g, BLM_CAUSE_STALE);
}

/* The gate must be shut. */
void blm__guard_drop_removals(blm_guard *g)
{
    struct blm__removals *r = &g->removals;
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->count; i++)
        blm__free(&g->alloc, r->at[i].key, r->at[i].len + 1);
    r->count = 0;
    pthread_mutex_unlock(&r->lock);
}

/* A put of this key failed, and may take effect once more than the filter has counted; or the filter
 * has as many copies as it can, and perhaps should have more. */
static bool in_doubt(blm_guard *g, const blm_filter *f, const void *key, size_t len)
{
    if (g->can & BLM_CAN_FILL_UP && blm_count(f, key, len) >= COPIES)
        return true;
    return blm__table_doubted(&g->table, hash_of(g, key, len), key, len) &&
           !blm__mistaken(BLM__REMOVE_DOUBT);
}

void blm__guard_remove_waiting(blm_guard *g)
{
    struct blm__removals *r = &g->removals;
    blm__gate_shut(&g->gate);
    struct blm__guard_state now = *atomic_load(&g->state), hold = { .hold = true };
    pthread_mutex_lock(&r->lock);
    bool any = r->count > 0;
    pthread_mutex_unlock(&r->lock);
    if (any && now.cur && !now.next) {
        blm__guard_show(g, hold); /* nobody is inside the filter now */
        blm__step();
        pthread_mutex_lock(&r->lock);
        for (uint32_t i = 0; i < r->count; i++)
            if (!in_doubt(g, now.cur, r->at[i].key, r->at[i].len) &&
                blm_remove(now.cur, r->at[i].key, r->at[i].len) == BLM_OK)
                atomic_fetch_sub(&g->trust.live->stale, 1);
        pthread_mutex_unlock(&r->lock);
        blm__trust_stamp(&g->trust);
        blm__guard_show(g, now);
    }
    if (!now.next)
        blm__guard_drop_removals(g);
    blm__gate_open(&g->gate);
}
