/* SPDX-License-Identifier: MIT */
/* Lists of 64-bit hashes, gathered and then sorted: what fixed filters are built from. */
#ifndef BLM_API_HASHES_H
#define BLM_API_HASHES_H

#include "core/alloc.h"

struct blm__hashes {
    uint64_t *of;
    size_t    n, room;
};

/* Room for n more at the end, which the caller then fills and counts. NULL: no memory. */
uint64_t *blm__hashes_room(struct blm__hashes *h, const blm_allocator *a, size_t n);
void      blm__hashes_free(struct blm__hashes *h, const blm_allocator *a);

/* Sorts them in place, with so many threads, and drops those that come twice. */
void blm__hashes_sort(struct blm__hashes *h, uint32_t threads);

/* Both sorted: the first hash that is in both. */
bool blm__hashes_meet(const struct blm__hashes *a, const struct blm__hashes *b, uint64_t *hash);

#endif
