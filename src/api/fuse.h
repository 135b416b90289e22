/* SPDX-License-Identifier: MIT */
/* A whole fuse layer from sorted hashes: part by part, by several threads. */
#ifndef BLM_API_FUSE_H
#define BLM_API_FUSE_H

#include "core/error.h"
#include "engine/peel.h"

/* What building took. */
struct blm__fuse_effort {
    uint64_t parts, tries; /* of all layers and sizes */
    uint32_t enlarged;     /* how often all parts were given more cells */
};

/* How far a build has come, for the caller's progress: keys done of a total. */
struct blm__fuse_progress {
    uint64_t done, total;
};

/* Appends a layer to the body, whose store is memory, and fills it. Of the shape, kind, scheme,
 * cell_bits, capacity and rate are given. The layer's items are the keys. */
blm_status blm__fuse_layer_build(struct blm__body *b, const struct blm__shape *s,
                                 const struct blm__fuse_keys *k, uint32_t threads,
                                 struct blm__fuse_progress *progress,
                                 struct blm__fuse_effort *effort, blm_error *err);

#endif
