/* SPDX-License-Identifier: MIT */
/*
 * Steps: bits of other systems' schemes whose position i is (a + i·b mod 2^wrap) mod m (Guava,
 * RedisBloom, old DCSO). Two words of a key take the place of a digest, and nothing is divided:
 * core/kernel/steps.h. Keys that come as digests are looked up by their positions.
 */
#include "core/kernel/hands.h"

#include "engine/bits.h"

/* A layer from a file that will be refused has no modulus yet. */
static void ready(struct blm__layer *l)
{
    const struct blm__scheme *s = l->shape.scheme;
    if (!s->fault || !s->fault(&l->shape))
        l->steps = blm__steps_of(s->modulus(&l->shape), s->wrap);
}

static size_t add(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  uint8_t *fresh)
{
    size_t count = 0;
    if (!k->steps)
        return blm__positions_add(b, l, k, fresh);
    if (k->n > 1 && l->shape.probes <= BLM__STEPS_MOST)
        count = b->kernel->stepper->add(l, k->hashes, k->steps, k->n, fresh, b->shared);
    else
        for (size_t i = 0; i < k->n; i++)
            count += fresh[i] =
                (uint8_t)blm__steps_add_one(l, k->hashes[i], k->steps[i], b->shared);
    blm__layer_count(l, (int64_t)count);
    return count;
}

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    if (!k->steps)
        return blm__positions_check(b, l, k, maybe);
    if (k->n > 1 && l->shape.probes <= BLM__STEPS_MOST)
        return b->kernel->stepper->check(l, k->hashes, k->steps, k->n, maybe);
    return blm__steps_check_alone(l, k->hashes, k->steps, k->n, maybe);
}

/* ---- many keys: hashed some hundred at a time, as the fetches run dry after each ---- */

#define PROBE 128u /* keys of the first run: they show whether most are there */

static bool takes(const struct blm__body *b, const struct blm__layer *l, const struct blm__keys *k)
{
    (void)b;
    return (k->list || k->fixed) && k->n > 1 && l->shape.probes <= BLM__STEPS_MOST;
}

static size_t add_raw(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                      uint8_t *fresh)
{
    uint64_t start[BLM__STEPS_RUN], step[BLM__STEPS_RUN];
    size_t   count = 0;
    for (size_t at = 0, n; at < k->n; at += n) {
        n                     = k->n - at < BLM__STEPS_RUN ? k->n - at : BLM__STEPS_RUN;
        struct blm__keys part = blm__keys_part(k, at, n);
        b->scheme->pairs(&b->hasher, b->kernel, &part, n, start, step);
        count += b->kernel->stepper->add(l, start, step, n, fresh + at, b->shared);
    }
    blm__layer_count(l, (int64_t)count);
    return count;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t check_run(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, size_t at, size_t n, uint8_t *maybe)
{
    uint64_t         start[BLM__STEPS_RUN], step[BLM__STEPS_RUN];
    struct blm__keys part = blm__keys_part(k, at, n);
    b->scheme->pairs(&b->hasher, b->kernel, &part, n, start, step);
    return b->kernel->stepper->check(l, start, step, n, maybe);
}

/* Many, by hands: core/kernel/hands.h. */
static size_t check_many(const struct blm__body *b, const struct blm__layer *l,
                         const struct blm__keys *k, size_t at, size_t n, uint8_t *maybe)
{
    struct blm__hands s;
    blm__hands_begin(&s, l, l->steps.m, maybe);
    for (size_t i = 0, run; i < n; i += run) {
        const size_t to       = blm__hands_next(&s);
        run                   = least(n - i, BLM__HANDS_RUN);
        struct blm__keys part = blm__keys_part(k, at + i, run);
        blm__hands_ahead(part.fixed, run * part.width, maybe + i);
        b->scheme->pairs(&b->hasher, b->kernel, &part, run, s.a + to, s.b + to);
        b->kernel->stepper->follow(&s, run);
    }
    b->kernel->stepper->follow(&s, 0);
    return blm__hands_count(&s);
}

static size_t check_raw(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, uint8_t *maybe)
{
    const struct blm__kernel *v = b->kernel;
    const size_t most           = v->stepper->hands_for(false) ? BLM__HANDS_KEYS : BLM__HANDS_TRIAL;
    size_t       hits = 0, run = PROBE;
    bool         absent = false; /* most of those before were */
    for (size_t at = 0, n; at < k->n; at += n, run = BLM__STEPS_RUN) {
        bool many = v->stepper->hands_for(absent) &&
                    blm__hands_fit(l, l->steps.m, BLM__STEPS_NARROW, k->n - at);
        n          = least(k->n - at, many ? most : run);
        size_t has = (many ? check_many : check_run)(b, l, k, at, n, maybe + at);
        absent     = has < n / 2;
        hits += has;
    }
    return hits;
}

/* ---- single calls ---- */

/* False: it is no key. */
static bool words_of(const struct blm__body *b, const void *key, size_t len, uint64_t *start,
                     uint64_t *step)
{
    struct blm__keys one = { .n = 1, .fixed = key ? key : "", .width = len };
    if (!key && len)
        return false;
    b->scheme->pairs(&b->hasher, b->kernel, &one, 1, start, step);
    return true;
}

static bool check_key(const struct blm__body *b, const void *key, size_t len)
{
    uint64_t start, step;
    if (!words_of(b, key, len, &start, &step))
        return true;
    return blm__steps_check_one(b->layers, start, step);
}

/* All layers, the newest first; one that we do not see yet may have it. */
static bool check_layers(const struct blm__body *b, const void *key, size_t len)
{
    uint64_t start, step;
    if (!words_of(b, key, len, &start, &step))
        return true;
    for (uint32_t i = b->layer_count; i-- > 0;)
        if (blm__steps_check_one(&b->layers[i], start, step))
            return true;
    return b->store->stale && b->store->stale(b);
}

static blm_status add_key(struct blm__body *b, const void *key, size_t len)
{
    uint64_t start, step;
    if (!words_of(b, key, len, &start, &step))
        return BLM_E_ARGUMENT;
    if (b->read_only)
        return BLM_E_READONLY;
    return blm__added_key(b->layers, blm__steps_add_one(b->layers, start, step, b->shared),
                          b->shared);
}

static void singles(struct blm__body *b, const struct blm__shape *s, bool only)
{
    (void)s;
    b->check_key = only ? check_key : check_layers;
    if (only)
        b->add_key = add_key;
}

const struct blm__engine blm__engine_steps = {
    .name      = "steps",
    .rule      = BLM__POSITIONS,
    .kinds     = 1u << BLM_CLASSIC,
    .steps     = true,
    .flows     = true,
    .ready     = ready,
    .add       = add,
    .check     = check,
    .takes     = takes,
    .add_raw   = add_raw,
    .check_raw = check_raw,
    .singles   = singles,
    .positions = blm__positions_list,
    .rate_now  = blm__fill_rate_now,
    .rate_at   = blm__scheme_rate_at,
    BLM__BITS_ENGINE,
};
