/* SPDX-License-Identifier: MIT */
/* Chain: k bits anywhere in the layer, each position derived from the one before (core/probe.h).
 * What the classic kind is made of. */
#include <string.h>

#include "core/hash/xxh3_key.h"
#include "core/kernel/hands.h"
#include "core/probe.h"
#include "engine/bits.h"
#include "engine/runs.h"
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

/* ---- many keys: hashed some hundred at a time ---- */

#define RUN   1024u
#define PROBE 128u /* … and so many at first, to see whether most are there */

static size_t add_raw(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                      uint8_t *fresh)
{
    uint64_t h[RUN];
    size_t   count = 0;
    if (k->hashes)
        return add(b, l, k, fresh);
    for (size_t at = 0, n; at < k->n; at += n) {
        n = k->n - at < RUN ? k->n - at : RUN;
        blm__run_hash(b, k, at, n, h);
        count += b->kernel->chain_add(l, h, n, fresh + at);
    }
    blm__layer_count(l, (int64_t)count);
    return count;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t check_run(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, size_t at, size_t n, uint8_t *maybe)
{
    uint64_t h[RUN];
    if (k->hashes)
        return b->kernel->chain_check(l, k->hashes + at, n, maybe);
    blm__run_hash(b, k, at, n, h);
    return b->kernel->chain_check(l, h, n, maybe);
}

/* Many, by hands: core/kernel/hands.h. */
static size_t check_many(const struct blm__body *b, const struct blm__layer *l,
                         const struct blm__keys *k, size_t at, size_t n, uint8_t *maybe)
{
    struct blm__hands s;
    blm__hands_begin(&s, l, l->shape.bits, maybe);
    for (size_t i = 0, part; i < n; i += part) {
        uint64_t *h = s.a + blm__hands_next(&s);
        part        = least(n - i, BLM__HANDS_RUN);
        blm__hands_ahead(k->fixed ? k->fixed + (at + i) * k->width : NULL, part * k->width,
                         maybe + i);
        if (k->hashes)
            memcpy(h, k->hashes + at + i, part * sizeof *h);
        else
            blm__run_hash(b, k, at + i, part, h);
        b->kernel->chain_follow(&s, part);
    }
    b->kernel->chain_follow(&s, 0);
    return blm__hands_count(&s);
}

static size_t check_raw(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, uint8_t *maybe)
{
    const struct blm__kernel *v    = b->kernel;
    const size_t              most = v->hands_for(false) ? BLM__HANDS_KEYS : BLM__HANDS_TRIAL;
    size_t                    hits = 0, run = PROBE;
    bool                      absent = false; /* most of those before were */
    for (size_t at = 0, n; at < k->n; at += n, run = RUN) {
        bool many = v->hands_for(absent) && v->chain_follow &&
                    blm__hands_fit(l, l->shape.bits, UINT32_MAX, k->n - at);
        n          = least(k->n - at, many ? most : run);
        size_t has = (many ? check_many : check_run)(b, l, k, at, n, maybe + at);
        absent     = has < n / 2;
        hits += has;
    }
    return hits;
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
    .takes     = blm__run_takes,
    .add_raw   = add_raw,
    .check_raw = check_raw,
    .singles   = singles,
    .positions = positions,
    .rate_now  = blm__fill_rate_now,
    .rate_at   = rate_at,
    BLM__BITS_ENGINE,
};
