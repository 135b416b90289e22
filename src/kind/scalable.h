/* SPDX-License-Identifier: MIT */
/* Between kind/scalable.c and kind/scalable_plan.c. */
#ifndef BLM_KIND_SCALABLE_H
#define BLM_KIND_SCALABLE_H

#include "kind/kind.h"

/* The shape of the layer after the newest; of a young filter, of the one that replaces its only
 * layer. */
blm_status blm__scalable_next(const struct blm__body *b, struct blm__shape *out, blm_error *err);
/* The same within the filter's limits. E_FULL, E_LIMIT: it may not grow. */
blm_status blm__scalable_next_layer(const struct blm__body *b, struct blm__shape *out,
                                    blm_error *err);
/* The promise of a filter with this first layer, and no other filter's. */
double blm__scalable_rate(const struct blm__body *b, const struct blm__shape *first);

/* Hooks of the kind. */
blm_status blm__scalable_plan(const blm_options *o, blm_plan *out, blm_error *err);
void       blm__scalable_shape(const blm_options *o, const blm_plan *p, struct blm__body *b,
                               struct blm__shape *out);
void       blm__scalable_in_file(blm_options *o);
void       blm__scalable_like(struct blm__body *b, const struct blm__body *other,
                              const struct blm__shape *first);
double     blm__scalable_growth(const struct blm__body *b);
blm_status blm__scalable_rate_at(const struct blm__body *b, uint64_t n, double *rate);

#endif
