/* SPDX-License-Identifier: MIT */
/* What batch.c (the public batch calls), bulk.c (large adds) and split.c (adds by several threads)
 * share. Keys come as core/keys.h carries them. */
#ifndef BLM_API_BATCH_H
#define BLM_API_BATCH_H

#include "api/filter.h"
#include "scheme/keys.h"

/* Adds keys *at … end − 1, one batch after another, and moves *at past those added. Progress is
 * told of k->n in all. */
blm_status blm__plain_add(blm_filter *f, const struct blm__keys *k, size_t *at, size_t end,
                          uint8_t *fresh);
/* What a batch says of a key that is none for the filter. */
static inline blm_status blm__bad_key(const struct blm__keys *k)
{
    return k->digests ? BLM_E_MISMATCH : BLM_E_ARGUMENT;
}

/* From how many keys, into a filter of how many bytes, adds are sorted, and the most memory that
 * may take. Nothing changes these but a test that has not got all day. */
struct blm__bulk {
    size_t   keys;
    uint64_t bytes, room;
};
extern struct blm__bulk blm__bulk;

/* Add all keys sorted (bulk.c), or by the filter's threads (split.c). False: this filter, or this
 * number of keys, is better served another way, and nothing was done. True: *st and *done are as
 * blm_add_many gives them. */
bool blm__bulk_add(blm_filter *f, const struct blm__keys *k, uint8_t *fresh, size_t *done,
                   blm_status *st);
bool blm__split_add(blm_filter *f, const struct blm__keys *k, uint8_t *fresh, size_t *done,
                    blm_status *st);

#endif
