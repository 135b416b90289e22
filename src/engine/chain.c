/* SPDX-License-Identifier: MIT */
/* Chain: k bits anywhere in the layer, each position derived from the one before (core/probe.h).
 * What the classic kind is made of. */
#include "core/hash/xxh3_key.h"
#include "core/probe.h"
#include "engine/bits.h"
#include "maths/sizing.h"

static size_t add(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  uint8_t *fresh)
{
    const struct blm__kernel *v = b->kernel;
    size_t count = (b->shared ? v->chain_add_shared : v->chain_add)(l, k->hashes, k->n, fresh);
    blm__layer_count(l, (int64_t)count);
    return count;
}

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    return b->kernel->chain_check(l, k->hashes, k->n, maybe);
}

static bool check_one(const struct blm__body *b, const struct blm__layer *l, uint64_t h)
{
    return b->kernel->chain_check_one(l, h);
}

static void singles(struct blm__body *b, const struct blm__shape *s, bool only)
{
    const struct blm__kernel *v = b->kernel;
    (void)s;
    if (!only || b->hasher.id != BLM_HASH_XXH3)
        return;
    b->check_key = v->chain_check_key;
    b->add_key   = b->shared ? v->chain_add_key_shared : v->chain_add_key;
}

static bool positions(const struct blm__shape *s, const blm_digest *d, bool raw, uint64_t *out)
{
    uint64_t g = d->w[0];
    for (uint32_t i = 0; i < s->probes; i++, g = blm__chain_next(g))
        out[i] = raw ? g : blm__reduce(g, s->bits);
    return true;
}

static double rate_at(const struct blm__shape *s, uint64_t n)
{
    return blm__rate_classic(s->bits, s->probes, n);
}

const struct blm__engine blm__engine_chain = {
    .name      = "chain",
    .rule      = BLM__CHAIN,
    .kinds     = 1u << BLM_CLASSIC,
    .native    = true,
    .model     = BLM_MODEL_INDEPENDENT,
    .sorting   = BLM__SORTS_BITS,
    .add       = add,
    .check     = check,
    .check_one = check_one,
    .singles   = singles,
    .positions = positions,
    .rate_now  = blm__fill_rate_now,
    .rate_at   = rate_at,
    BLM__BITS_ENGINE,
};
