/* SPDX-License-Identifier: MIT */
/*
 * Counters: a native counting filter's, in lines of 64 bytes, and a key's in one of them (strict
 * rates: several), which costs one memory access instead of k (core/kernel/counters.h). A key may
 * name a counter twice; add and remove go through the same list, so they agree.
 */
#include "core/kernel/counters.h"

#include "engine/bits.h"
#include "engine/runs.h"

static size_t add(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  uint8_t *fresh)
{
    const struct blm__counters *c = b->kernel->counters;
    size_t count                  = (b->shared ? c->add_shared : c->add)(l, k->hashes, k->n, fresh);
    blm__layer_count(l, (int64_t)k->n); /* every add counts, because every one can be taken back */
    return count;
}

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    return b->kernel->counters->check(l, k->hashes, k->n, maybe);
}

/* ---- many keys: hashed by the kernel itself, or some thousand at a time ---- */

/* From bytes to answers in one loop? */
static bool eights(const struct blm__body *b, const struct blm__layer *l, const struct blm__keys *k)
{
    return blm__run_eights(b, k) && l->shape.lines == 1;
}

static size_t add_raw(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                      uint8_t *fresh)
{
    const struct blm__counters *c = b->kernel->counters;
    uint64_t                    h[BLM__RUN];
    size_t                      count = 0;
    if (k->hashes)
        return add(b, l, k, fresh);
    if (eights(b, l, k))
        count = c->add8(l, b->kernel, blm__hasher_flip(&b->hasher), k->fixed, k->n, fresh);
    else
        for (size_t at = 0, n; at < k->n; at += n) {
            n = blm__run_length(k, at);
            blm__run_hash(b, k, at, n, h);
            count += c->add(l, h, n, fresh + at);
        }
    blm__layer_count(l, (int64_t)k->n);
    return count;
}

static size_t check_raw(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, uint8_t *maybe)
{
    const struct blm__counters *c = b->kernel->counters;
    if (eights(b, l, k))
        return c->check8(l, b->kernel, blm__hasher_flip(&b->hasher), k->fixed, k->n, maybe);
    return blm__run_check(b, l, k, maybe, c->check);
}

static bool check_one(const struct blm__body *b, const struct blm__layer *l, uint64_t h)
{
    uint8_t maybe;
    return b->kernel->counters->check(l, &h, 1, &maybe) != 0;
}

static size_t remove_keys(const struct blm__body *b, struct blm__layer *l,
                          const struct blm__keys *k, uint8_t *gone)
{
    size_t count = b->kernel->counters->remove(l, k->hashes, k->n, gone);
    blm__layer_uncount(l, count);
    return count;
}

static void singles(struct blm__body *b, const struct blm__shape *s, bool only)
{
    const struct blm__counters *c = b->kernel->counters;
    (void)s;
    if (!only || b->hasher.id != BLM_HASH_XXH3)
        return;
    b->check_key = c->check_key;
    if (!b->shared)
        b->add_key = c->add_key;
}

/* Neighbouring lines meet, counter by counter. */
static void fold(const struct blm__layer *from, uint64_t factor, struct blm__layer *to)
{
    for (uint64_t i = 0; i < from->shape.line_count; i++)
        blm__counters_unite(NULL, to->words + i / factor * BLM__LINE_WORDS,
                            from->words + i * BLM__LINE_WORDS, BLM__LINE_WORDS);
}

static void reduced(struct blm__shape *s)
{
    s->kind      = BLM_BLOCKED;
    s->cell_bits = 1;
}

const struct blm__engine blm__engine_counters = {
    .name      = "counters",
    .rule      = BLM__SHORT,
    .kinds     = 1u << BLM_COUNTING,
    .native    = true,
    .model     = BLM_MODEL_COUNTERS,
    .add       = add,
    .check     = check,
    .check_one = check_one,
    .remove    = remove_keys,
    .takes     = blm__run_takes,
    .add_raw   = add_raw,
    .check_raw = check_raw,
    .singles   = singles,
    .positions = blm__lines_positions,
    .rate_now  = blm__lines_rate_now,
    .rate_at   = blm__lines_rate_at,
    .fold      = fold,
    .reduced   = reduced,
    BLM__COUNTERS_ENGINE,
};
