/* SPDX-License-Identifier: MIT */
/*
 * What the guard knows exactly about single keys, in bounded memory:
 *
 *   absences   confirmed false positives: the filter lets them pass, the data set has no such row.
 *              Whole keys are kept, so that a match is certain. When a set of eight is full, the
 *              least recently used key goes.
 *   doubts     puts that failed. The row may be there, or appear later, so the key stays in the
 *              filter through every rebuild, and its absence is never remembered.
 *
 * An absence is remembered only if no put of that key has begun since before the read, and it is
 * forgotten before the data set is written. Puts announce themselves in slots. Many keys share a
 * slot, which only errs on the safe side: 16 bits count the puts under way, 48 those that ever
 * began.
 *
 *   put    slot +1 begun +1 under way │ forget (shard lock) │ write the row │ slot −1 under way
 *   get    read slot │ read the row: absent │ shard lock: slot as before and nobody under way? keep
 *
 * If the put's first step comes before the get's last look at the slot, the get sees it. If it
 * comes after, the put forgets, under the same lock, after the get has remembered. Clearing the table
 * is the same for every key: a read that began before it is not remembered after it.
 */
#ifndef BLM_GUARD_TABLE_H
#define BLM_GUARD_TABLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "bloomery.h"
#include "bloomery/guard.h"

#define BLM__TABLE_SLOTS  1024u
#define BLM__TABLE_SHARDS 16u
#define BLM__TABLE_WAYS   8u
#define BLM__TABLE_KEY    1024u  /* longer keys are not remembered */
#define BLM__DOUBTS       65536u /* at most; beyond that: overflow */

struct blm__kept { /* a key, copied */
    uint64_t hash;
    uint64_t used; /* the shard's clock when it was last asked for */
    uint8_t *key;  /* NULL: an empty place */
    size_t   len;
};

struct blm__shard {
    _Alignas(64) pthread_mutex_t lock;
    uint64_t          clock;
    struct blm__kept *kept; /* sets × BLM__TABLE_WAYS */
};

struct blm__table {
    blm_allocator     alloc;
    uint32_t          sets;  /* in each shard; 0: nothing is remembered */
    _Atomic uint64_t  count; /* absences held */
    struct blm__shard shard[BLM__TABLE_SHARDS];
    _Atomic uint64_t  slot[BLM__TABLE_SLOTS];
    _Atomic uint64_t spare[BLM__TABLE_SLOTS]; /* 16 bits: puts that may spare, or spared, an add and
                                                  are under way; 48: those that spared one, ever */

    pthread_mutex_t   doubt_lock;
    struct blm__kept *doubt; /* open addressing, a power of two */
    uint32_t          doubt_room;
    _Atomic uint32_t  doubts;
    _Atomic bool      overflow; /* a doubt could not be kept: the filter that answers has its key,
                                  another would not. From now on there is no rebuild, no absence is
                                  remembered and no key removed */
};

blm_status blm__table_open(struct blm__table *t, uint32_t remember, const blm_allocator *a);
void       blm__table_close(struct blm__table *t);

/* A put of this key begins: when this returns, its absence has been forgotten. And: it ends. */
void blm__table_put_begin(struct blm__table *t, uint64_t hash, const void *key, size_t len);
void blm__table_put_end(struct blm__table *t, uint64_t hash);

/* A put that may spare its add, since the row is there (ops.c), begins to look; and has decided not
 * to, or has ended. spares: before a delete, what blm__table_spared needs to know after it, which says
 * whether some put beside it may rely on the row that was deleted. Keys share slots, so it may say so
 * without cause. */
void                   blm__table_spare_begin(struct blm__table *t, uint64_t hash);
void                   blm__table_spare_end(struct blm__table *t, uint64_t hash, bool spared);
static inline uint64_t blm__table_spares(struct blm__table *t, uint64_t hash)
{
    return atomic_load(&t->spare[hash % BLM__TABLE_SLOTS]);
}
bool blm__table_spared(struct blm__table *t, uint64_t hash, uint64_t spares);

/* Before a read: what blm__table_learn needs to know. */
static inline uint64_t blm__table_ticket(struct blm__table *t, uint64_t hash)
{
    return atomic_load(&t->slot[hash % BLM__TABLE_SLOTS]);
}
/* The read that began with this ticket found no row. */
void blm__table_learn(struct blm__table *t, uint64_t hash, const void *key, size_t len,
                      uint64_t ticket);
bool blm__table_knows(struct blm__table *t, uint64_t hash, const void *key, size_t len);
/* Forgets every absence, also those whose read is under way: for each slot it is a put that began and
 * ended. */
void blm__table_clear(struct blm__table *t);

/* A put of this key failed: before blm__table_put_end. */
void blm__table_doubt(struct blm__table *t, uint64_t hash, const void *key, size_t len);
bool blm__table_doubted(struct blm__table *t, uint64_t hash, const void *key, size_t len);
/* Calls `each` for every doubted key; none is added meanwhile. */
void blm__table_doubts(struct blm__table *t, blm_key_fn each, void *ctx);

#endif
