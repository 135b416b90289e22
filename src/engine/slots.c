/* SPDX-License-Identifier: MIT */
/*
 * Slots: RedisBloom's cuckoo filters, bit for bit (scheme/redisbloom_cf.c has the rule). A key whose
 * buckets are full exchanges fingerprints until one finds a free slot, in a fixed order, at most
 * `iterations` times; if none does, all is taken back. Nothing is random.
 *
 * After a remove, when those since the last time are more than a tenth of the keys, fingerprints
 * move from the newest layers to free slots of older ones, and emptied layers go.
 */
#include "engine/slots.h"

#include <math.h>

#include "core/kernel/loops.h"
#include "engine/engine.h"
#include "scheme/redisbloom_cf.h"

#define COMPARED ((uint64_t)1 << 21) /* fingerprints with one bucket's, for the rate */

struct table {
    uint8_t *slot;
    uint64_t mask; /* buckets − 1 */
    uint32_t size; /* of a bucket */
};

static struct table table_of(const struct blm__layer *l)
{
    uint32_t size = blm__cf_bucket(&l->shape);
    return (struct table){ (uint8_t *)l->words, l->shape.bits / size - 1, size };
}

static uint8_t *bucket_at(struct table t, uint64_t h) { return t.slot + (h & t.mask) * t.size; }

/* The first slot of a bucket with this value; NULL: none has. */
static uint8_t *find(struct table t, uint64_t h, uint8_t value)
{
    return memchr(bucket_at(t, h), value, t.size);
}

static uint8_t *find_in_two(struct table t, uint64_t h, uint8_t print, uint8_t value)
{
    uint8_t *at = find(t, h, value);
    return at ? at : find(t, h ^ blm__cf_turn(print), value);
}

static uint64_t hash_at(const struct blm__keys *k, size_t i) { return blm__digest_at(k, i)->w[0]; }

/* ---- keys ---- */

static void swap(uint8_t *a, uint8_t *b)
{
    uint8_t t = *a;
    *a        = *b;
    *b        = t;
}

static bool exchange(struct blm__layer *l, struct table t, uint64_t h, uint8_t print)
{
    uint64_t x    = h & t.mask;
    uint32_t most = blm__cf_iterations(&l->shape), v = 0, n = 0;
    for (; n < most; n++) {
        swap(bucket_at(t, x) + v, &print);
        x             = (x ^ blm__cf_turn(print)) & t.mask;
        uint8_t *free = find(t, x, 0);
        if (free) {
            *free = print;
            return true;
        }
        v = (v + 1) % t.size;
    }
    while (n-- > 0) {
        v = (v + t.size - 1) % t.size;
        x = (x ^ blm__cf_turn(print)) & t.mask;
        swap(bucket_at(t, x) + v, &print);
    }
    return false;
}

static bool place(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  size_t i, bool move)
{
    (void)b;
    if (blm__layer_items(l) >= l->shape.bits) /* full: no need to look, nor to exchange */
        return false;
    struct table t     = table_of(l);
    uint64_t     h     = hash_at(k, i);
    uint8_t      print = blm__cf_print(h), *free = find_in_two(t, h, print, 0);
    if (!free)
        return move && exchange(l, t, h, print);
    *free = print;
    return true;
}

static bool take(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                 size_t i)
{
    (void)b;
    uint64_t h     = hash_at(k, i);
    uint8_t  print = blm__cf_print(h), *at = find_in_two(table_of(l), h, print, print);
    if (at)
        *at = 0;
    return at != NULL;
}

static uint32_t alike_in(const uint8_t *bucket, uint32_t size, uint8_t print)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < size; i++)
        sum += bucket[i] == print;
    return sum;
}

/* Where both buckets are the same, its slots count twice, as in the original. */
static uint32_t copies(const struct blm__body *b, const struct blm__layer *l,
                       const struct blm__keys *k, size_t i)
{
    (void)b;
    struct table t     = table_of(l);
    uint64_t     h     = hash_at(k, i);
    uint8_t      print = blm__cf_print(h);
    return alike_in(bucket_at(t, h), t.size, print) +
           alike_in(bucket_at(t, h ^ blm__cf_turn(print)), t.size, print);
}

static void fetch_key(struct table t, uint64_t h)
{
    BLM__PREFETCH(bucket_at(t, h));
    BLM__PREFETCH(bucket_at(t, h ^ blm__cf_turn(blm__cf_print(h))));
}

static void fetch(const struct blm__layer *l, const struct blm__keys *k)
{
    for (size_t i = 0; k->n > 1 && !blm__layer_small(l) && i < k->n; i++)
        fetch_key(table_of(l), hash_at(k, i));
}

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    (void)b;
    struct table t    = table_of(l);
    size_t       hits = 0;
    fetch(l, k);
    for (size_t i = 0; i < k->n; i++) {
        uint64_t h       = hash_at(k, i);
        uint8_t  print   = blm__cf_print(h);
        hits += maybe[i] = find_in_two(t, h, print, print) != NULL;
    }
    return hits;
}

/* ---- compaction ---- */

#define MANY 64u /* layers, of which it pays to know where the free slots are */

/* While layers are emptied, newest first, those before them only get fuller. So where all layers have
 * the same buckets, a bucket's first layer with a free slot is found once and for all: `open` has a
 * lower bound for each. Otherwise, with tens of thousands of layers, each slot would be looked for in
 * all of them. */
struct sinking {
    struct blm__body *b;
    uint32_t         *open; /* of buckets; NULL: not known */
    size_t            size; /* of `open` in bytes */
};

static struct sinking sink_begin(struct blm__body *b)
{
    struct sinking           s     = { .b = b };
    const struct blm__shape *shape = &b->layers[0].shape;
    if (b->layer_count < MANY || blm__cf_expansion(shape) != 1)
        return s;
    s.size = (size_t)(shape->bits / blm__cf_bucket(shape)) * sizeof *s.open;
    s.open = blm__zalloc(b->alloc, s.size); /* a sixteenth of the slots at most, or none */
    return s;
}

static void sink_end(struct sinking *s)
{
    if (s->open)
        blm__free(s->b->alloc, s->open, s->size);
}

/* The first layer before `from` with a free slot in this bucket; `from`: none has. */
static uint32_t open_layer(const struct sinking *s, uint32_t from, uint64_t bucket)
{
    uint32_t i = s->open[bucket];
    while (i < from && !find(table_of(&s->b->layers[i]), bucket, 0))
        i++;
    s->open[bucket] = i;
    return i < from ? i : from;
}

/* The first layer before `from` with a free slot for it; `from`: none has. */
static uint32_t layer_for(const struct sinking *s, uint32_t from, uint64_t bucket, uint8_t print)
{
    if (s->open) {
        uint64_t mask = table_of(&s->b->layers[0]).mask;
        uint32_t one  = open_layer(s, from, bucket & mask);
        uint32_t two  = open_layer(s, from, (bucket ^ blm__cf_turn(print)) & mask);
        return one < two ? one : two;
    }
    uint32_t i = 0;
    while (i < from && !find_in_two(table_of(&s->b->layers[i]), bucket, print, 0))
        i++;
    return i;
}

/* To a free slot of a layer before this one. */
static bool sink(const struct sinking *s, uint32_t from, uint64_t bucket, uint8_t print)
{
    uint32_t i = layer_for(s, from, bucket, print);
    if (i == from)
        return false;
    *find_in_two(table_of(&s->b->layers[i]), bucket, print, 0) = print;
    blm__layer_count(&s->b->layers[i], 1);
    return true;
}

/* True: nothing is left in it. */
static bool empty_layer(const struct sinking *s, uint32_t from)
{
    struct blm__layer *l    = &s->b->layers[from];
    struct table       t    = table_of(l);
    bool               left = false;
    for (uint64_t i = 0; i < l->shape.bits; i++) {
        if (!t.slot[i])
            continue;
        if (!sink(s, from, i / t.size, t.slot[i])) {
            left = true;
            continue;
        }
        t.slot[i] = 0;
        blm__layer_uncount(l, 1);
    }
    return !left;
}

void blm__slots_compact(struct blm__body *b, bool whole)
{
    struct sinking s = sink_begin(b);
    for (uint32_t i = b->layer_count; i-- > 1;) {
        bool emptied = empty_layer(&s, i);
        if (emptied && i + 1 == b->layer_count) {
            b->store->drop_layers(b, i, NULL);
            b->active = i - 1;
        }
        if (!emptied && !whole)
            break;
    }
    sink_end(&s);
    b->layers[0].shape.aux[0] = 0;
}

static void removed(struct blm__body *b)
{
    uint64_t items = 0, gone = ++b->layers[0].shape.aux[0];
    if (b->layer_count == 1)
        return;
    for (uint32_t i = 0; i < b->layer_count; i++)
        items += blm__layer_items(&b->layers[i]);
    if (gone > items / 10 && (gone > UINT64_MAX / 10 || gone * 10 > items))
        blm__slots_compact(b, false);
}

/* ---- numbers ---- */

static uint64_t ones(const struct blm__layer *l, const struct blm__kernel *v)
{
    (void)v;
    return blm__cells_used(l, 0, l->shape.bits);
}

/* A fingerprint that is there again, in either of its buckets, counts once; each has its share. A key is passed for
 * one if it may begin in a bucket that it may be in. */
static void look(struct table t, uint64_t at, struct blm__prints *p)
{
    const uint8_t *b = bucket_at(t, at);
    for (uint32_t i = 0; i < t.size; i++) {
        uint64_t other = (at ^ blm__cf_turn(b[i])) & t.mask;
        if (b[i] == 0)
            continue;
        uint32_t alike = alike_in(b, t.size, b[i]);
        if (other != at)
            alike += alike_in(bucket_at(t, other), t.size, b[i]);
        p->all += 1;
        p->differ += 1.0 / alike;
        p->begin += (other == at ? 1.0 : 2.0) / alike;
    }
}

/* Of a large filter some buckets are looked at, evenly spread: fewer of large ones, where each fingerprint is
 * compared with many. */
static void prints(const struct blm__layer *l, struct blm__prints *p)
{
    struct table t    = table_of(l);
    uint64_t     most = COMPARED / ((uint64_t)t.size * t.size) + 1, step = t.mask / most + 1;
    for (uint64_t at = 0; at <= t.mask; at += step)
        look(t, at, p);
}

static double rate_now(const struct blm__layer *l, uint64_t used)
{
    struct table       t = table_of(l);
    struct blm__prints p = { 0 };
    prints(l, &p);
    return p.all > 0 ? fmin(p.begin / p.all * (double)used / (double)(t.mask + 1) / 255, 1) : 0;
}

static double rate_at(const struct blm__shape *s, uint64_t n) { return s->scheme->rate_at(s, n); }

const struct blm__engine blm__engine_slots = {
    .name      = "slots",
    .rule      = BLM__POSITIONS,
    .cell_bits = 8,
    .kinds     = 1u << BLM_CUCKOO,
    .check     = check,
    .place     = place,
    .take      = take,
    .copies    = copies,
    .fetch     = fetch,
    .removed   = removed,
    .prints    = prints,
    .ones      = ones,
    .rate_now  = rate_now,
    .rate_at   = rate_at,
};
