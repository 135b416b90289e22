/* SPDX-License-Identifier: MIT */
#ifndef BLM_ENGINE_SLOTS_H
#define BLM_ENGINE_SLOTS_H

#include "core/body.h"

/* Moves fingerprints from newer layers to free slots of older ones, newest layer first, and drops
 * layers that are then empty. whole: all layers, as CF.COMPACT; else up to the first that keeps
 * something. */
void blm__slots_compact(struct blm__body *b, bool whole);

#endif
