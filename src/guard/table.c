/* SPDX-License-Identifier: MIT */
/* Exact knowledge about single keys: table.h says what and why. */
#include "guard/table.h"

#include <string.h>

#include "bloomery/guard.h"
#include "core/alloc.h"
#include "guard/step.h"

#define BEGUN     (((uint64_t)1 << 16) + 1) /* one more that began, one more under way */
#define UNDER_WAY 0xffffu

static bool is_key(const struct blm__kept *k, uint64_t hash, const void *key, size_t len)
{
    return k->key && k->hash == hash && k->len == len &&
           (len == 0 || memcmp(k->key, key, len) == 0);
}

/* The empty key is kept too: one byte, so that it has an address. */
static bool keep(struct blm__table *t, struct blm__kept *k, uint64_t hash, const void *key,
                 size_t len)
{
    uint8_t *copy = blm__alloc(&t->alloc, len + 1);
    if (!copy)
        return false;
    if (len)
        memcpy(copy, key, len);
    *k = (struct blm__kept){ .hash = hash, .key = copy, .len = len };
    return true;
}

static void drop(struct blm__table *t, struct blm__kept *k)
{
    blm__free(&t->alloc, k->key, k->len + 1);
    *k = (struct blm__kept){ 0 };
}

/* ---- opening and closing ----------------------------------------------------------------- */

blm_status blm__table_open(struct blm__table *t, uint32_t remember, const blm_allocator *a)
{
    uint32_t per_set = BLM__TABLE_SHARDS * BLM__TABLE_WAYS;
    t->alloc         = *a;
    t->sets          = remember / per_set + (remember % per_set != 0);
    uint64_t bytes   = (uint64_t)t->sets * BLM__TABLE_WAYS * sizeof(struct blm__kept);
    pthread_mutex_init(&t->doubt_lock, NULL);
    for (unsigned i = 0; i < BLM__TABLE_SHARDS; i++)
        pthread_mutex_init(&t->shard[i].lock, NULL);
    for (unsigned i = 0; i < BLM__TABLE_SHARDS && t->sets; i++) {
        t->shard[i].kept = bytes <= SIZE_MAX / 2 ? blm__zalloc(&t->alloc, (size_t)bytes) : NULL;
        if (!t->shard[i].kept)
            return BLM_E_MEMORY;
    }
    return BLM_OK;
}

void blm__table_close(struct blm__table *t)
{
    blm__table_clear(t);
    for (unsigned i = 0; i < BLM__TABLE_SHARDS; i++) {
        blm__free(&t->alloc, t->shard[i].kept,
                  (size_t)t->sets * BLM__TABLE_WAYS * sizeof(struct blm__kept));
        pthread_mutex_destroy(&t->shard[i].lock);
    }
    for (uint32_t i = 0; i < t->doubt_room; i++)
        if (t->doubt[i].key)
            drop(t, &t->doubt[i]);
    blm__free(&t->alloc, t->doubt, t->doubt_room * sizeof *t->doubt);
    pthread_mutex_destroy(&t->doubt_lock);
}

/* ---- absences ---------------------------------------------------------------------------- */

static struct blm__shard *shard_of(struct blm__table *t, uint64_t hash)
{
    return &t->shard[hash >> 32 & (BLM__TABLE_SHARDS - 1)];
}

/* The eight places where this key may be. */
static struct blm__kept *set_of(struct blm__table *t, struct blm__shard *s, uint64_t hash)
{
    return s->kept + (size_t)((hash >> 36) % t->sets) * BLM__TABLE_WAYS;
}

static struct blm__kept *find(struct blm__kept *set, uint64_t hash, const void *key, size_t len)
{
    for (unsigned i = 0; i < BLM__TABLE_WAYS; i++)
        if (is_key(&set[i], hash, key, len))
            return &set[i];
    return NULL;
}

static void forget(struct blm__table *t, uint64_t hash, const void *key, size_t len)
{
    struct blm__shard *s = shard_of(t, hash);
    if (!t->sets)
        return;
    pthread_mutex_lock(&s->lock);
    struct blm__kept *k = find(set_of(t, s, hash), hash, key, len);
    if (k) {
        drop(t, k);
        atomic_fetch_sub(&t->count, 1);
    }
    pthread_mutex_unlock(&s->lock);
}

void blm__table_put_begin(struct blm__table *t, uint64_t hash, const void *key, size_t len)
{
    atomic_fetch_add(&t->slot[hash % BLM__TABLE_SLOTS], BEGUN);
    blm__step();
    if (!blm__mistaken(BLM__KEPT_ABSENCE))
        forget(t, hash, key, len);
}

void blm__table_put_end(struct blm__table *t, uint64_t hash)
{
    atomic_fetch_sub(&t->slot[hash % BLM__TABLE_SLOTS], 1);
}

void blm__table_spare_begin(struct blm__table *t, uint64_t hash)
{
    if (!blm__mistaken(BLM__SPARE_QUIETLY))
        atomic_fetch_add(&t->spare[hash % BLM__TABLE_SLOTS], 1);
    blm__step();
}

void blm__table_spare_end(struct blm__table *t, uint64_t hash, bool spared)
{
    if (!blm__mistaken(BLM__SPARE_QUIETLY))
        atomic_fetch_add(&t->spare[hash % BLM__TABLE_SLOTS], (spared ? BEGUN - 1 : 0) - 1);
}

bool blm__table_spared(struct blm__table *t, uint64_t hash, uint64_t spares)
{
    return (spares & UNDER_WAY) != 0 || blm__table_spares(t, hash) != spares;
}

bool blm__table_knows(struct blm__table *t, uint64_t hash, const void *key, size_t len)
{
    if (atomic_load_explicit(&t->count, memory_order_relaxed) == 0)
        return false;
    struct blm__shard *s = shard_of(t, hash);
    pthread_mutex_lock(&s->lock);
    struct blm__kept *k = find(set_of(t, s, hash), hash, key, len);
    if (k)
        k->used = ++s->clock;
    pthread_mutex_unlock(&s->lock);
    return k != NULL;
}

static void learn_locked(struct blm__table *t, struct blm__shard *s, uint64_t hash, const void *key,
                         size_t len)
{
    struct blm__kept *set = set_of(t, s, hash), *oldest = set;
    if (find(set, hash, key, len))
        return;
    for (unsigned i = 0; i < BLM__TABLE_WAYS; i++)
        if (set[i].used < oldest->used || (!set[i].key && oldest->key))
            oldest = &set[i];
    if (oldest->key) {
        drop(t, oldest);
        atomic_fetch_sub(&t->count, 1);
    }
    if (keep(t, oldest, hash, key, len)) {
        oldest->used = ++s->clock;
        atomic_fetch_add(&t->count, 1);
    }
}

void blm__table_learn(struct blm__table *t, uint64_t hash, const void *key, size_t len,
                      uint64_t ticket)
{
    struct blm__shard *s = shard_of(t, hash);
    if (!t->sets || len > BLM__TABLE_KEY || atomic_load(&t->overflow))
        return;
    if ((ticket & UNDER_WAY) && !blm__mistaken(BLM__STALE_TABLE))
        return;
    pthread_mutex_lock(&s->lock);
    if (blm__table_ticket(t, hash) == ticket || blm__mistaken(BLM__STALE_TABLE))
        if (!blm__table_doubted(t, hash, key, len))
            learn_locked(t, s, hash, key, len);
    pthread_mutex_unlock(&s->lock);
}

void blm__table_clear(struct blm__table *t)
{
    if (!blm__mistaken(BLM__KEPT_TICKETS))
        for (unsigned i = 0; i < BLM__TABLE_SLOTS; i++)
            atomic_fetch_add(&t->slot[i], BEGUN - 1);
    for (unsigned i = 0; i < BLM__TABLE_SHARDS; i++) {
        struct blm__shard *s = &t->shard[i];
        if (!s->kept)
            continue;
        pthread_mutex_lock(&s->lock);
        for (size_t j = 0; j < (size_t)t->sets * BLM__TABLE_WAYS; j++)
            if (s->kept[j].key) {
                drop(t, &s->kept[j]);
                atomic_fetch_sub(&t->count, 1);
            }
        pthread_mutex_unlock(&s->lock);
    }
}

/* ---- doubts ------------------------------------------------------------------------------ */

/* The place of the key, or the empty place where it would go. There is always an empty one. */
static struct blm__kept *doubt_place(struct blm__kept *d, uint32_t room, uint64_t hash,
                                     const void *key, size_t len)
{
    uint32_t i = (uint32_t)hash & (room - 1);
    while (d[i].key && !is_key(&d[i], hash, key, len))
        i = (i + 1) & (room - 1);
    return &d[i];
}

/* Keeps the table at most half full. */
static bool doubt_grow(struct blm__table *t)
{
    uint32_t          room = t->doubt_room ? t->doubt_room * 2 : 64;
    struct blm__kept *more;
    if (atomic_load(&t->doubts) < t->doubt_room / 2)
        return true;
    if (room > BLM__DOUBTS * 2 || !(more = blm__zalloc(&t->alloc, room * sizeof *more)))
        return false;
    for (uint32_t i = 0; i < t->doubt_room; i++) {
        struct blm__kept *k = &t->doubt[i];
        if (k->key)
            *doubt_place(more, room, k->hash, k->key, k->len) = *k;
    }
    blm__free(&t->alloc, t->doubt, t->doubt_room * sizeof *t->doubt);
    t->doubt      = more;
    t->doubt_room = room;
    return true;
}

void blm__table_doubt(struct blm__table *t, uint64_t hash, const void *key, size_t len)
{
    if (blm__mistaken(BLM__FORGET_DOUBT))
        return;
    pthread_mutex_lock(&t->doubt_lock);
    bool kept = doubt_grow(t);
    if (kept) {
        struct blm__kept *k = doubt_place(t->doubt, t->doubt_room, hash, key, len);
        if (!k->key && (kept = keep(t, k, hash, key, len)))
            atomic_fetch_add(&t->doubts, 1);
    }
    if (!kept)
        atomic_store(&t->overflow, true);
    pthread_mutex_unlock(&t->doubt_lock);
}

bool blm__table_doubted(struct blm__table *t, uint64_t hash, const void *key, size_t len)
{
    if (atomic_load(&t->overflow))
        return true;
    if (atomic_load(&t->doubts) == 0)
        return false;
    pthread_mutex_lock(&t->doubt_lock);
    bool yes = doubt_place(t->doubt, t->doubt_room, hash, key, len)->key != NULL;
    pthread_mutex_unlock(&t->doubt_lock);
    return yes;
}

void blm__table_doubts(struct blm__table *t, blm_key_fn each, void *ctx)
{
    pthread_mutex_lock(&t->doubt_lock);
    for (uint32_t i = 0; i < t->doubt_room; i++)
        if (t->doubt[i].key)
            each(ctx, t->doubt[i].key, t->doubt[i].len);
    pthread_mutex_unlock(&t->doubt_lock);
}
