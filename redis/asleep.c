/* SPDX-License-Identifier: MIT */
/*
 * Small filters at rest. A server may have millions of filters of a few items each, and a
 * blm_filter, which is made to be fast, takes about 1 KB beside its bits. RedisBloom takes 96 bytes
 * for the first layer and 64 for each more. So a small chain is kept as 32 bytes per layer and the
 * arrays themselves: it sleeps. A command that finds it wakes it, which takes less than a
 * microsecond per layer and copies no bits. The last few that were used stay awake, in places of
 * our own, which Redis does not count as the keys' memory.
 *
 * Only commands wake, and they run one at a time. But values are freed in the background too, so
 * the places have a lock. What saves a value, perhaps in a forked child, does not take it: it opens
 * the value in a place that no command uses, and closes it again (bf_value_peek).
 */
#include <pthread.h>
#include <string.h>

#include "bf.h"

#define SMALL  ((uint64_t)64 << 10) /* bytes of the arrays of a filter that may sleep … */
#define LAYERS 16u                  /* … and its layers */
#define PLACES 16u                  /* filters that stay awake */
#define ROOM   6144u                /* of a place: a filter of 16 layers */
#define CHAIN  (BLM_CHAIN_NOROUND | BLM_CHAIN_FORCE64)

/* A layer of a sleeping chain. The rest follows from these numbers (blm_chain_plan). */
struct bf_asleep {
    void    *words;
    uint64_t items, entries;
    double   error;
};

/* ---- places ---- */

struct place {
    struct value *value; /* NULL: free */
    size_t        used;
    bool          opening; /* what is allocated now belongs to the filter's handle */
    _Alignas(16) uint8_t room[ROOM];
};

static struct place    places[PLACES];
static struct place    peeked;                     /* of bf_value_peek */
static struct place    outside = { .used = ROOM }; /* for handles in Redis' memory */
static unsigned        oldest;                     /* the next to be cleared when all are taken */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A handle is small, and its arrays are already there. So while it is opened, no memory is what it
 * is for any other command of Redis: the end. */
static void *place_alloc(void *ctx, size_t size)
{
    struct place *p    = ctx;
    size_t        need = (size + 15) & ~(size_t)15;
    if (!p->opening)
        return bf_allocator.alloc(NULL, size);
    if (need > ROOM - p->used)
        return api.Alloc(size);
    p->used += need;
    return p->room + p->used - need;
}

static void *place_zalloc(void *ctx, size_t size)
{
    const struct place *p = ctx;
    if (!p->opening)
        return bf_allocator.zalloc(NULL, size);
    void *block = place_alloc(ctx, size);
    if (block)
        memset(block, 0, size);
    return block;
}

static void place_free(void *ctx, void *block, size_t size)
{
    const struct place *p    = ctx;
    uintptr_t           from = (uintptr_t)p->room, at = (uintptr_t)block;
    if (at < from || at >= from + ROOM)
        bf_allocator.free(NULL, block, size);
}

/* ---- to sleep ---- */

static uint32_t options_of(const struct value *v)
{
    return v->fixed ? CHAIN | BLM_CHAIN_NO_SCALING : CHAIN;
}

/* Is this what blm_chain_plan would say? */
static bool follows(const blm_chain_layer *l, uint32_t options)
{
    blm_chain_layer p;
    return blm_chain_plan(l->entries, l->error, options, &p, NULL) == BLM_OK &&
           p.bytes == l->bytes && p.bits == l->bits && p.bpe == l->bpe && p.hashes == l->hashes &&
           p.n2 == l->n2 && p.entries == l->entries;
}

static bool may_sleep(const struct value *v, const blm_params *p)
{
    if (v->native || p->bytes > SMALL || p->layers > LAYERS || p->variant != options_of(v))
        return false;
    for (uint32_t i = 0; i < p->layers; i++) {
        blm_chain_layer l;
        blm_chain_get_layer(v->filter, i, &l);
        if (!follows(&l, options_of(v)))
            return false;
    }
    return true;
}

/* Takes a filter apart. False: no memory, and it stays awake. */
static bool lay_down(struct value *v)
{
    blm_chain_layer   l[LAYERS];
    blm_params        p    = bf_params(v);
    struct bf_asleep *kept = v->asleep;
    if (p.layers != v->layers)
        kept = bf_try_alloc(p.layers * sizeof *kept);
    if (!kept)
        return false;
    if (blm_chain_dissolve(v->filter, l, LAYERS, NULL) != BLM_OK) {
        if (kept != v->asleep)
            api.Free(kept);
        return false;
    }
    for (uint32_t i = 0; i < p.layers; i++)
        kept[i] = (struct bf_asleep){ l[i].words, l[i].items, l[i].entries, l[i].error };
    if (kept != v->asleep && v->asleep)
        api.Free(v->asleep);
    v->filter = NULL;
    v->asleep = kept;
    v->layers = (uint16_t)p.layers;
    v->growth = (uint32_t)p.growth;
    return true;
}

/* ---- awake ---- */

/* Makes a filter of layers, with its handle in a place. */
static void open_at(struct value *v, const blm_chain_layer *l, uint32_t n, struct place *where)
{
    const blm_allocator a = { where, place_alloc, place_zalloc, place_free };
    blm_options         o = bf_options(0);
    o.allocator           = &a;
    where->used           = where == &outside ? ROOM : 0;
    where->opening        = true;
    blm_chain_create(l, n, options_of(v), v->growth, &o, &v->filter, NULL);
    where->opening = false;
}

static void get_up(struct value *v, struct place *where)
{
    blm_chain_layer l[LAYERS];
    for (uint32_t i = 0; i < v->layers; i++) {
        const struct bf_asleep *s = &v->asleep[i];
        blm_chain_plan(s->entries, s->error, options_of(v), &l[i], NULL);
        l[i].words = s->words;
        l[i].items = s->items;
    }
    open_at(v, l, v->layers, where);
}

/* It has become too large to sleep: its handle leaves the place. */
static void outgrow(struct value *v)
{
    uint32_t         n = bf_params(v).layers;
    blm_chain_layer *l = bf_try_alloc(n * sizeof *l);
    if (l && blm_chain_dissolve(v->filter, l, n, NULL) == BLM_OK) {
        open_at(v, l, n, &outside);
        api.Free(v->asleep);
        v->asleep = NULL;
        v->layers = 0;
    }
    if (l)
        api.Free(l);
}

/* Clears a place. False: it could not be. */
static bool clear_place(struct place *p)
{
    struct value *v = p->value;
    if (!v)
        return true;
    blm_params now = bf_params(v);
    if (now.bytes <= SMALL && now.layers <= LAYERS)
        lay_down(v);
    else
        outgrow(v);
    bool cleared = !v->filter || !v->asleep;
    if (cleared) {
        v->place = 0;
        p->value = NULL;
    }
    return cleared;
}

static struct place *find_place(bool clearing)
{
    for (unsigned i = 0; i < PLACES; i++)
        if (!places[i].value)
            return &places[i];
    oldest = (oldest + 1) % PLACES;
    return clearing && clear_place(&places[oldest]) ? &places[oldest] : NULL;
}

void bf_value_wake(struct value *v, bool alone)
{
    if (!v->asleep || v->place)
        return;
    pthread_mutex_lock(&lock);
    if (!v->filter || lay_down(v)) { /* it may be awake without a place */
        struct place *p = find_place(alone);
        get_up(v, p ? p : &outside);
        if (p) {
            p->value = v;
            v->place = (uint8_t)(p - places + 1);
        }
    }
    pthread_mutex_unlock(&lock);
}

void bf_value_grown(struct value *v)
{
    if (!v->place)
        return;
    pthread_mutex_lock(&lock);
    clear_place(&places[v->place - 1]);
    pthread_mutex_unlock(&lock);
    bf_value_wake(v, true);
}

void bf_value_rest(struct value *v)
{
    blm_params p;
    if (v->asleep || !v->filter || v->native)
        return;
    p = bf_params(v);
    if (may_sleep(v, &p))
        lay_down(v);
}

bool bf_value_peek(struct value *v)
{
    if (!v->asleep || v->filter)
        return false;
    get_up(v, &peeked);
    return true;
}

void bf_value_unpeek(struct value *v) { lay_down(v); }

/* ---- its memory ---- */

size_t bf_asleep_memory(const struct value *v)
{
    size_t sum = api.MallocSize(v->asleep);
    if (v->filter)
        return sum + (size_t)bf_params(v).bytes;
    for (uint32_t i = 0; i < v->layers; i++)
        sum += api.MallocSize(v->asleep[i].words);
    return sum;
}

/* Of a value that a command may still see in a place, all is read and freed inside the lock: the
 * command that needs the place would change it meanwhile. One that is in none, no command can reach
 * any more. */
static bool leave_place(struct value *v)
{
    pthread_mutex_lock(&lock);
    const bool had = v->place;
    if (had) {
        blm_free(v->filter);
        places[v->place - 1].value = NULL;
    }
    pthread_mutex_unlock(&lock);
    return had;
}

void bf_asleep_free(struct value *v)
{
    if (!leave_place(v)) {
        blm_free(v->filter);
        for (uint32_t i = 0; !v->filter && i < v->layers; i++)
            api.Free(v->asleep[i].words);
    }
    if (v->asleep)
        api.Free(v->asleep);
}

static void *moved(DefragCtx *ctx, void *p)
{
    void *to = api.DefragAlloc(ctx, p);
    return to ? to : p;
}

bool bf_asleep_defrag(DefragCtx *ctx, struct value *v)
{
    pthread_mutex_lock(&lock);
    if (v->place)
        clear_place(&places[v->place - 1]);
    else if (v->filter)
        lay_down(v);
    pthread_mutex_unlock(&lock);
    if (!v->asleep)
        return false;
    if (v->filter)
        return true;
    v->asleep = moved(ctx, v->asleep);
    for (uint32_t i = 0; i < v->layers; i++)
        v->asleep[i].words = moved(ctx, v->asleep[i].words);
    return true;
}
