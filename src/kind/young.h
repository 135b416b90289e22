/* SPDX-License-Identifier: MIT */
/* A young scalable filter's hashes: the private state of kind/scalable.c. body.state is NULL when
 * the filter is not young, or no longer. */
#ifndef BLM_KIND_YOUNG_H
#define BLM_KIND_YOUNG_H

#include "kind/kind.h"

#define BLM__HALF 1u /* shape.aux[0] of a layer that is, or was, young: it has half of the rate */

static inline bool blm__young(const struct blm__body *b) { return b->state != NULL; }

uint64_t blm__young_first(void);                /* keys of the first layer */
uint64_t blm__young_next(uint64_t capacity);    /* of the one after it; 0: none */
void     blm__young_begin(struct blm__body *b); /* where the store can; no layers yet */
void     blm__young_keep(struct blm__body *b, const uint64_t *h, size_t n);
uint64_t blm__young_count(const struct blm__body *b); /* different hashes kept */
/* How many of h[0], h[1], … are kept, up to the first that is not. */
size_t blm__young_known(const struct blm__body *b, const uint64_t *h, size_t n);
/* False: it cannot, and nothing has changed. */
bool blm__young_grow(struct blm__body *b, const struct blm__shape *larger);

/* Is there room for so many bytes more under max_bytes, which is for bits and hashes together, and
 * for the old and the new layer while both are there? */
bool blm__young_may_take(const struct blm__body *b, uint64_t bytes);

/* Hooks of the kind. */
void     blm__young_clear(struct blm__body *b);
void     blm__young_copy(struct blm__body *to, const struct blm__body *from);
void     blm__young_move(struct blm__body *b, const struct blm__mover *m);
uint64_t blm__young_kept(const struct blm__body *b);
uint64_t blm__young_memory(const struct blm__body *b);
bool     blm__young_replaced(const struct blm__shape *earlier, const struct blm__shape *later);
void     blm__young_end(struct blm__body *b); /* also when it is not young */

#endif
