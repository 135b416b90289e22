/* SPDX-License-Identifier: MIT */
/* What the textbook schemes have in common: w[i] of a digest is hash i, position i is w[i] % m. */
#ifndef BLM_SCHEME_TEXTBOOK_H
#define BLM_SCHEME_TEXTBOOK_H

#include "scheme/fixed.h"

bool blm__textbook_raw(const struct blm__shape *s, const blm_digest *d, uint64_t *out);

/* Sizes a scheme of 1 to `most` probes: the textbook's m and k for items and rate, and more bits if
 * it has fewer probes than that. */
blm_status blm__textbook_plan(const blm_options *o, uint32_t most, struct blm__body *b,
                              struct blm__shape *s, blm_error *err);

#endif
