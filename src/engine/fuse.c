/* SPDX-License-Identifier: MIT */
/*
 * Fuse: a key is in the layer if its three cells, exclusive-ored, are its fingerprint. The cells are
 * worked out from all keys at once (engine/peel.c), so nothing can be added afterwards.
 */
#include "core/kernel/fuse.h"

#include "engine/runs.h"
#include "maths/sizing.h"

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    return b->kernel->fuse->check(l, k->hashes, k->n, maybe);
}

/* ---- many keys: hashed some thousand at a time, as the cells' fetches run dry after each ---- */

static size_t check_raw(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, uint8_t *maybe)
{
    const struct blm__fuse *v = b->kernel->fuse;
    if (blm__run_eights(b, k) && v->check8)
        return v->check8(l, blm__hasher_flip(&b->hasher), k->fixed, k->n, maybe);
    return blm__run_check(b, l, k, maybe, v->check);
}

static bool check_one(const struct blm__body *b, const struct blm__layer *l, uint64_t h)
{
    (void)b;
    struct blm__fuse_layer f = blm__fuse_of(l);
    struct blm__fuse_key   k;
    return blm__fuse_place(&f, h, &k) && blm__fuse_has(&f, &k);
}

/* ---- from afar: the parts' factors say where the cells are ---- */

static uint64_t guides(const struct blm__shape *s) { return s->line_count; }

static void deciding(const struct blm__layer *l, uint64_t h, uint64_t *cell)
{
    struct blm__fuse_layer f = blm__fuse_of(l);
    struct blm__fuse_key   k;
    blm__fuse_place(&f, h, &k);
    memcpy(cell, k.cell, sizeof k.cell);
}

static bool decides(const struct blm__layer *l, uint64_t h, const uint64_t *value)
{
    struct blm__fuse_layer f = blm__fuse_of(l);
    struct blm__fuse_key   k;
    bool                   some = blm__fuse_place(&f, h, &k);
    return some && (value[0] ^ value[1] ^ value[2]) == k.print >> (64 - f.bits);
}

/* Each key has determined one cell, and none of them can be told from the others. */
static uint64_t ones(const struct blm__layer *l, const struct blm__kernel *v)
{
    (void)v;
    return blm__layer_items(l);
}

static void estimate(const struct blm__layer *l, blm_estimate *out)
{
    double n = (double)blm__layer_items(l);
    *out     = (blm_estimate){ n, n, n, false };
}

static double rate_now(const struct blm__layer *l, uint64_t used)
{
    return used ? blm__rate_fuse(l->shape.cell_bits, used) : 0;
}

static double rate_at(const struct blm__shape *s, uint64_t n)
{
    return blm__rate_fuse(s->cell_bits, n);
}

const struct blm__engine blm__engine_fuse = {
    .name       = "fuse",
    .rule       = BLM__FUSE,
    .cell_least = 1,
    .cell_most  = BLM__FUSE_BITS_MOST,
    .kinds      = 1u << BLM_STATIC | 1u << BLM_CASCADE,
    .native     = true,
    .model      = BLM_MODEL_FUSE,
    .check      = check,
    .check_one  = check_one,
    .takes      = blm__run_takes,
    .check_raw  = check_raw,
    .deciders   = BLM__FUSE_PROBES,
    .guides     = guides,
    .deciding   = deciding,
    .decides    = decides,
    .ones       = ones,
    .estimate   = estimate,
    .rate_now   = rate_now,
    .rate_at    = rate_at,
};
