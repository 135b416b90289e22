/* SPDX-License-Identifier: MIT */
/* Buckets in plain C: the oracle for other kernels. */
#include "core/kernel/buckets.h"

#include "core/kernel/loops.h"

static size_t look(const struct blm__layer *l, struct blm__cells c, const struct blm__pair *p,
                   size_t n, uint8_t *maybe)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++)
        hits += maybe[i] = blm__pair_has(l, c, p[i]);
    return hits;
}

static size_t check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe)
{
    struct blm__cells c     = blm__cells_of(l);
    bool              fetch = n > 1 && !blm__layer_small(l);
    size_t            hits  = 0;
    struct blm__pair  p[BLM__BUCKETS_AHEAD];
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BUCKETS_AHEAD ? n - at : BLM__BUCKETS_AHEAD;
        blm__pairs_of(l, h + at, some, fetch, p);
        hits += look(l, c, p, some, maybe + at);
    }
    return hits;
}

static size_t check8(const struct blm__layer *l, const struct blm__kernel *v, uint64_t flip,
                     const void *keys, size_t n, uint8_t *maybe)
{
    uint64_t h[BLM__BUCKETS_AHEAD];
    size_t   hits = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BUCKETS_AHEAD ? n - at : BLM__BUCKETS_AHEAD;
        v->hash8(flip, (const uint8_t *)keys + at * 8, some, h);
        hits += check(l, h, some, maybe + at);
    }
    return hits;
}

const struct blm__buckets blm__buckets_portable = { .check = check, .check8 = check8 };
