/* SPDX-License-Identifier: MIT */
/*
 * Works out the cells of one part of a fuse layer from all of its keys. Each key wants its three
 * cells to add up to its fingerprint: so many equations, with somewhat more unknowns. A cell that
 * only one key has can be set last, to whatever that key needs. So such a key is taken away, with
 * its cell, which leaves others alone in theirs; and when no key is left, the cells are set in the
 * opposite order. If some keys are left, another factor places all of them elsewhere.
 */
#ifndef BLM_ENGINE_PEEL_H
#define BLM_ENGINE_PEEL_H

#include "core/alloc.h"
#include "core/body.h"
#include "maths/fuse.h"

/* Hashes, sorted, none twice. Those of the second list get the opposite of their fingerprint: they
 * are told apart from the first by a layer with one bit a cell. */
struct blm__fuse_keys {
    const uint64_t *of[2];
    size_t          n[2];
};

/* The keys that fall into one part of several. */
struct blm__fuse_keys blm__fuse_keys_in(const struct blm__fuse_keys *all, uint64_t part,
                                        uint64_t parts);

/* How many keys fall into parts before this one. */
uint64_t blm__fuse_keys_before(const struct blm__fuse_keys *all, uint64_t part, uint64_t parts);

/* Memory for one part at a time. */
struct blm__peel {
    uint64_t         *keys;  /* by cell: the keys that have it, exclusive-ored */
    uint32_t         *count; /* … how many, times two, and whether they are of the second list */
    uint32_t         *order; /* cells, as their keys were taken away */
    struct blm__block block;
};

uint64_t blm__peel_bytes(uint64_t cells);
/* False: no memory. Parts have fewer than 2^32 cells. */
bool blm__peel_make(const blm_allocator *a, uint64_t cells, struct blm__peel *out);
void blm__peel_free(const blm_allocator *a, struct blm__peel *p);

/* The factor of try number i. The first is 1, under which sorted keys find their cells in order. A
 * second level begins with −1, the opposite order: with the first one's factor and nearly the same keys
 * it would be the top bit of the first one's cells, and let pass whatever has passed that. */
uint64_t blm__fuse_factor(uint32_t level, uint32_t i);

/* Takes all keys away. False: with this factor some are left. */
bool blm__peel_keys(struct blm__peel *p, const struct blm__fuse_keys *k, struct blm__fuse_size size,
                    uint64_t parts, uint64_t factor);
/* After that: sets the part's factor and cells in a layer whose words are 0. Other threads may set
 * other parts' meanwhile. */
void blm__peel_set(struct blm__peel *p, size_t keys, struct blm__layer *l, uint64_t part,
                   uint64_t factor);
/* Sets them to values that were worked out in another way, by cell. */
void blm__peel_put(const uint32_t *values, struct blm__layer *l, uint64_t part, uint64_t factor);

#endif
