/* SPDX-License-Identifier: MIT */
/* What batch.c (the public batch calls) and bulk.c (large adds, many threads) share: the arrays in
 * which keys come. */
#ifndef BLM_API_BATCH_H
#define BLM_API_BATCH_H

#include "api/filter.h"

/* Where keys come from: one of the pointers is set. */
struct blm_keys {
    const blm_key    *list;
    const uint8_t    *fixed; /* width bytes each */
    size_t            width;
    const blm_digest *digests;
    const uint64_t   *hashes; /* native hashes, from blm_hash_many; … */
    const uint64_t   *steps;  /* … with these beside them: of blm__keys_pairs */
};

/* Index of the first of n keys from `at` on that is no key for this filter, or n. */
size_t blm__keys_bad(const blm_filter *f, const struct blm_keys *s, size_t at, size_t n);
/* Native schemes: the hashes of n keys, at most BLM__BATCH. */
void blm__keys_hash(const blm_filter *f, const struct blm_keys *s, size_t at, size_t n,
                    uint64_t *h);
/* Schemes that step (scheme.wrap), of keys that did not come as digests: scheme.pairs of n keys. */
void blm__keys_pairs(const blm_filter *f, const struct blm_keys *s, size_t at, size_t n,
                     uint64_t *start, uint64_t *step);
/* Other schemes: the digests of n keys; those that came as digests are not copied. */
const blm_digest *blm__keys_digest(const blm_filter *f, const struct blm_keys *s, size_t at,
                                   size_t n, blm_digest *d);

/* Adds keys *at … end − 1 of `count`, one batch after another, and moves *at past those added. */
blm_status blm__plain_add(blm_filter *f, const struct blm_keys *s, size_t *at, size_t end,
                          size_t count, uint8_t *fresh);
/* From how many keys, into a filter of how many bytes, adds are sorted, and the most memory that
 * may take. Nothing changes these but a test that has not got all day. */
struct blm_bulk {
    size_t   keys;
    uint64_t bytes, room;
};
extern struct blm_bulk blm__bulk;

/* Add `count` keys sorted (bulk.c), or by the filter's threads (split.c). False: this filter, or
 * this number of keys, is better served another way, and nothing was done. True: *st and *done are
 * as blm_add_many gives them. */
bool blm__bulk_add(blm_filter *f, const struct blm_keys *s, size_t count, uint8_t *fresh,
                   size_t *done, blm_status *st);
bool blm__split_add(blm_filter *f, const struct blm_keys *s, size_t count, uint8_t *fresh,
                    size_t *done, blm_status *st);

#endif
