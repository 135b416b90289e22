/* SPDX-License-Identifier: MIT */
/* Fuse in plain C: the oracle for other kernels. */
#include "core/kernel/fuse.h"

#include "core/kernel/loops.h"

/* Where n keys are, n at most BLM__FUSE_AHEAD, and their cells asked for. */
static void place(const struct blm__fuse_layer *f, const uint64_t *h, size_t n, bool fetch,
                  struct blm__fuse_key *k, uint8_t *some)
{
    for (size_t i = 0; i < n; i++) {
        some[i] = blm__fuse_place(f, h[i], &k[i]);
        for (unsigned j = 0; fetch && j < BLM__FUSE_PROBES; j++)
            BLM__PREFETCH(f->cells + (k[i].cell[j] * f->bits >> 3));
    }
}

static size_t check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe)
{
    struct blm__fuse_layer f     = blm__fuse_of(l);
    bool                   fetch = n > 1 && !blm__layer_small(l);
    size_t                 hits  = 0;
    struct blm__fuse_key   k[BLM__FUSE_AHEAD];
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__FUSE_AHEAD ? n - at : BLM__FUSE_AHEAD;
        place(&f, h + at, some, fetch, k, maybe + at);
        for (size_t i = 0; i < some; i++)
            hits += maybe[at + i] &= blm__fuse_has(&f, &k[i]);
    }
    return hits;
}

const struct blm__fuse blm__fuse_portable = { .check = check };
