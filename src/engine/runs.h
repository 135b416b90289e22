/* SPDX-License-Identifier: MIT */
/* Raw keys hashed in runs, for engines whose loops take any number of hashes: the fetches run dry after
 * each call, so a run is longer than a batch; its hashes stay in the L1 cache. */
#ifndef BLM_ENGINE_RUNS_H
#define BLM_ENGINE_RUNS_H

#include "core/hasher.h"
#include "engine/engine.h"

#define BLM__RUN 2048u

/* Of keys at … at + n − 1 of k. */
static inline void blm__run_hash(const struct blm__body *b, const struct blm__keys *k, size_t at,
                                 size_t n, uint64_t *h)
{
    if (k->list)
        blm__native_hash_many(&b->hasher, b->kernel, k->list + at, n, h);
    else
        blm__native_hash_fixed(&b->hasher, b->kernel, k->fixed + at * k->width, k->width, n, h);
}

/* An engine's `takes` that loops over hashes. */
static inline bool blm__run_takes(const struct blm__body *b, const struct blm__layer *l,
                                  const struct blm__keys *k)
{
    (void)b, (void)l;
    return k->list || k->fixed || k->hashes;
}

/* Keys of a run that begins at `at`. */
static inline size_t blm__run_length(const struct blm__keys *k, size_t at)
{
    return k->n - at < BLM__RUN ? k->n - at : BLM__RUN;
}

/* Keys of 8 bytes side by side, hashed by XXH3: what kernels hash by themselves. */
static inline bool blm__run_eights(const struct blm__body *b, const struct blm__keys *k)
{
    return k->fixed && k->width == 8 && b->hasher.id == BLM_HASH_XXH3;
}

/* A run of k, from `at` on: hashes, or (eights) keys that the kernel hashes by itself. h: room for
 * BLM__RUN. */
static inline struct blm__keys blm__run_of(const struct blm__body *b, const struct blm__keys *k,
                                           size_t at, bool eights, uint64_t *h)
{
    struct blm__keys run = { .n = blm__run_length(k, at) };
    if (k->hashes) {
        run.hashes = k->hashes + at;
    } else if (eights) {
        run.fixed = k->fixed + 8 * at;
        run.width = 8;
    } else {
        blm__run_hash(b, k, at, run.n, h);
        run.hashes = h;
    }
    return run;
}

/* An engine's check_raw, by a kernel's check of hashes. */
static inline size_t blm__run_check(const struct blm__body *b, const struct blm__layer *l,
                                    const struct blm__keys *k, uint8_t *maybe,
                                    size_t (*check)(const struct blm__layer *l, const uint64_t *h,
                                                    size_t n, uint8_t *maybe))
{
    uint64_t h[BLM__RUN];
    size_t   hits = 0;
    if (k->hashes)
        return check(l, k->hashes, k->n, maybe);
    for (size_t at = 0; at < k->n;) {
        struct blm__keys run = blm__run_of(b, k, at, false, h);
        hits += check(l, run.hashes, run.n, maybe + at);
        at += run.n;
    }
    return hits;
}

#endif
