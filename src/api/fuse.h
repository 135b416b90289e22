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

/* A build in steps, which can be stopped between any two and go on later, with the same keys. */
struct blm__fuse_steps {
    uint64_t enlarged, filled; /* where it goes on: how often enlarged, and parts that are there */
    uint64_t memory;           /* for working parts out: one of them is always built */
    /* Parts are there, up to this one. */
    blm_status (*done)(void *ctx, uint64_t filled, blm_error *err);
    /* One could not be built: all get more cells, and none is there any more. */
    blm_status (*enlarge)(void *ctx, uint64_t enlarged, blm_error *err);
    void (*release)(void *ctx); /* called between parts: memory that is mapped may go */
    void *ctx;
};

/* Appends a layer to the body, whose store makes it, and fills it. Of the shape, kind, scheme,
 * cell_bits, capacity and rate are given. The layer's items are the keys. tight: as few cells as can be
 * found. steps may be NULL. */
blm_status blm__fuse_layer_build(struct blm__body *b, const struct blm__shape *s,
                                 const struct blm__fuse_keys *k, bool tight, uint32_t threads,
                                 const struct blm__fuse_steps *steps,
                                 struct blm__fuse_progress    *progress,
                                 struct blm__fuse_effort *effort, blm_error *err);

#endif
