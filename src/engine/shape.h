/* SPDX-License-Identifier: MIT */
/* What a decoder must know of a shape before it allocates anything for it. */
#ifndef BLM_ENGINE_SHAPE_H
#define BLM_ENGINE_SHAPE_H

#include "core/body.h"
#include "core/error.h"

/* BLM_OK when every field is in range and they go together; else E_FORMAT (E_LIMIT for sizes this
 * library does not go to) with a sentence, and `offset` as the place: where the input keeps the
 * shape. native: the scheme is one of chains and lines. After BLM_OK blm__shape_words cannot
 * overflow, and no kernel or positions() leaves the words. */
blm_status blm__shape_valid(const struct blm__shape *s, bool native, uint64_t offset,
                            blm_error *err);

/* 0 ≤ p < 1 and a number: a promised rate, or none. */
bool blm__rate_valid(double p);

/* Are the unused bits behind the last cell clear? They must be:
 * popcounts and comparisons go by words. */
bool blm__slack_clear(const struct blm__shape *s, const uint64_t *words);

/* Do they forget alike? True for cells that never do. */
bool blm__same_window(const struct blm__shape *a, const struct blm__shape *b);

/* shape.line_count, where it is not said: it follows from the rest. */
uint64_t blm__line_count(const struct blm__shape *s);

#endif
