/* SPDX-License-Identifier: MIT */
/* Raw keys to the form in which engines take them: core/keys.h. */
#ifndef BLM_SCHEME_KEYS_H
#define BLM_SCHEME_KEYS_H

#include "scheme/scheme.h"

/* How many of the first keys are keys for this filter: NULL with a length is none, nor is a digest
 * of another scheme or seed. */
size_t blm__keys_good(const struct blm__body *b, const struct blm__keys *k);

/* Hashes keys at … end − 1: as many as there is room for, up to the first that is no key for this
 * filter. Keys that came hashed are not copied, but for native digests. Returns out->n, how many. */
size_t blm__keys_hash(const struct blm__body *b, const struct blm__keys *k, size_t at, size_t end,
                      const struct blm__hash_room *room, struct blm__keys *out);

#endif
