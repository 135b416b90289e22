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
        some = blm__hash_some(v, flip, keys, at, n, BLM__BUCKETS_AHEAD, h);
        hits += check(l, h, some, maybe + at);
    }
    return hits;
}

static unsigned around(const struct blm__layer *l, uint64_t part, const uint64_t two[2],
                       uint64_t other[2 * BLM__BUCKET])
{
    struct blm__cells c = blm__cells_of(l);
    unsigned          i = 0;
    for (; i < 2 * BLM__BUCKET; i++) {
        other[i] = blm__cell_other(l, part, two[i / BLM__BUCKET], i % BLM__BUCKET);
        if (blm__bucket_has(l, c, other[i], 0))
            break;
    }
    return i;
}

static void ask_around(const struct blm__layer *l, uint64_t part, const uint64_t two[2])
{
    for (unsigned i = 0; i < 2 * BLM__BUCKET; i++) {
        uint64_t other = blm__cell_other(l, part, two[i / BLM__BUCKET], i % BLM__BUCKET);
        BLM__PREFETCH_NEAR(blm__bucket_at(l, other));
    }
}

const struct blm__buckets blm__buckets_portable = {
    .check = check, .check8 = check8, .around = around, .ask_around = ask_around
};
