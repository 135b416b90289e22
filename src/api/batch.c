/* SPDX-License-Identifier: MIT */
/* The public batch calls: keys from three kinds of array, hashed a piece at a time into a small
 * buffer that stays in cache, then handed to the kind. */
#include <string.h>

#include "api/batch.h"
#include "bloomery/embed.h"
#include "core/threads.h"

/* Progress is told about this often, in keys. */
#define TELL  ((size_t)1 << 16)
/* Keys a thread takes at a time, and the least that several threads are asked for: a thousandth of
 * a second's work where the cheapest keys cost 3 ns. */
#define SHARE ((size_t)1 << 12)
#define LEAST ((size_t)1 << 15)

/* Keys hashed at once: small enough to stay in the L1 cache. */
struct piece {
    uint64_t         h[BLM__BATCH], step[BLM__BATCH];
    blm_digest       d[BLM__BATCH_DIGESTS];
    struct blm_batch batch;
    size_t           bad; /* index of the first that is no key for this filter, or n */
};

/* ---- keys ---- */

size_t blm__keys_bad(const blm_filter *f, const struct blm_keys *s, size_t at, size_t n)
{
    if (s->list)
        for (size_t i = 0; i < n; i++)
            if (!s->list[at + i].data && s->list[at + i].len)
                return i;
    if (s->digests)
        for (size_t i = 0; i < n; i++) {
            const blm_digest *d = &s->digests[at + i];
            if (d->tag != f->body.hasher.tag ||
                (f->scheme->per_probe && d->w[26] < f->body.layers[0].shape.probes))
                return i;
        }
    return n;
}

void blm__keys_hash(const blm_filter *f, const struct blm_keys *s, size_t at, size_t n, uint64_t *h)
{
    if (s->list)
        blm__native_hash_many(&f->body.hasher, f->body.kernel, s->list + at, n, h);
    else if (s->fixed)
        blm__native_hash_fixed(&f->body.hasher, f->body.kernel, s->fixed + at * s->width, s->width,
                               n, h);
    else if (s->hashes)
        memcpy(h, s->hashes + at, n * sizeof *h);
    else
        for (size_t i = 0; i < n; i++)
            h[i] = s->digests[at + i].w[0];
}

void blm__keys_pairs(const blm_filter *f, const struct blm_keys *s, size_t at, size_t n,
                     uint64_t *start, uint64_t *step)
{
    struct blm_key_array keys = { .width = s->width };
    if (s->list)
        keys.list = s->list + at;
    else
        keys.fixed = s->fixed + at * s->width;
    f->scheme->pairs(&f->body.hasher, f->body.kernel, &keys, n, start, step);
}

const blm_digest *blm__keys_digest(const blm_filter *f, const struct blm_keys *s, size_t at,
                                   size_t n, blm_digest *d)
{
    uint32_t probes = f->body.layers[0].shape.probes;
    if (s->digests)
        return s->digests + at;
    for (size_t i = 0; i < n; i++) {
        const void *key = s->list ? s->list[at + i].data : s->fixed + (at + i) * s->width;
        size_t      len = s->list ? s->list[at + i].len : s->width;
        f->scheme->digest(&f->body.hasher, probes, key ? key : "", len, &d[i]);
    }
    return d;
}

/* The hashes of native digests up to the first that is not this filter's; how many. One pass, and
 * asked for ahead, as a digest is 224 bytes and what counts is the first 16: a batch check in cache
 * takes 2.6 ns a digest where two passes that wait for each took 5.9 (Zen 3). */
#define DIGESTS_AHEAD 8u
static size_t digest_hashes(const blm_filter *f, const blm_digest *d, size_t n, uint64_t *h)
{
    const uint64_t tag = f->body.hasher.tag;
    for (size_t i = 0; i < n; i++) {
        if (i + DIGESTS_AHEAD < n)
            BLM__PREFETCH(&d[i + DIGESTS_AHEAD]);
        if (d[i].tag != tag)
            return i;
        h[i] = d[i].w[0];
    }
    return n;
}

/* Hashes the next keys, up to the first bad one; p->batch.n of them. */
static void next_piece(const blm_filter *f, const struct blm_keys *s, size_t at, size_t left,
                       struct piece *p)
{
    bool   steps = f->scheme->wrap && !s->digests;
    size_t most  = f->scheme->native || steps ? BLM__BATCH : BLM__BATCH_DIGESTS;
    size_t n     = left < most ? left : most;
    if (f->scheme->native && s->digests) {
        p->bad   = digest_hashes(f, s->digests + at, n, p->h);
        p->batch = (struct blm_batch){ .n = p->bad, .h = p->h };
        return;
    }
    p->bad   = blm__keys_bad(f, s, at, n);
    p->batch = (struct blm_batch){ .n = p->bad };
    if (s->steps) {
        p->batch.h    = s->hashes + at;
        p->batch.step = s->steps + at;
    } else if (steps) {
        blm__keys_pairs(f, s, at, p->bad, p->h, p->step);
        p->batch.h    = p->h;
        p->batch.step = p->step;
    } else if (!f->scheme->native) {
        p->batch.d = blm__keys_digest(f, s, at, p->bad, p->d);
    } else if (s->hashes) {
        p->batch.h = s->hashes + at;
    } else {
        blm__keys_hash(f, s, at, p->bad, p->h);
        p->batch.h = p->h;
    }
}

/* ---- 8-byte keys of the commonest filter: from keys to answers in one loop ---- */

/* Answers that nobody asked for. More than a kernel's ring, few enough for the L1 cache. */
#define UNASKED 2048u

/* Is the first layer all there is? (A reader of a file learns of others only by asking.) */
static bool one_layer(const blm_filter *f)
{
    const struct blm_body *b = &f->body;
    return f->kind->check == blm__single_check ||
           (b->kind == BLM_SCALABLE && b->layer_count == 1 && !b->store->stale);
}

/* The kernels do one line a key, hashed by XXH3. */
static bool streams(const blm_filter *f, const struct blm_keys *s)
{
    const struct blm_shape *shape = &f->body.layers[0].shape;
    return s->fixed && s->width == 8 && one_layer(f) && f->scheme->native &&
           f->body.hasher.id == BLM_HASH_XXH3 && shape->engine == BLM__LINES && shape->lines == 1 &&
           f->body.kernel->line_check8;
}

static size_t stream_check(const blm_filter *f, const struct blm_keys *s, size_t at, size_t end,
                           uint8_t *maybe)
{
    const struct blm_body *b = &f->body;
    uint8_t                unasked[UNASKED];
    size_t                 hits = 0, most = maybe ? end - at : UNASKED;
    for (size_t n; at < end; at += n) {
        n = end - at < most ? end - at : most;
        hits += b->kernel->line_check8(b->layers, b->hasher.seed[0], s->fixed + at * 8, n,
                                       maybe ? maybe + at : unasked);
    }
    return hits;
}

/* Keys that may be added without asking the kind. */
static uint64_t stream_room(const blm_filter *f)
{
    const struct blm_layer *l = f->body.layers;
    if (f->body.kind != BLM_SCALABLE)
        return UINT64_MAX;
    uint64_t items = blm__layer_items(l);
    return f->body.young.on || items > l->shape.capacity ? 0 : l->shape.capacity - items;
}

/* At most TELL keys; how many. */
static size_t stream_add(blm_filter *f, const struct blm_keys *s, size_t at, size_t end,
                         uint8_t *fresh)
{
    struct blm_body *b = &f->body;
    uint8_t          unasked[UNASKED];
    size_t           most = fresh ? TELL : UNASKED, n = end - at < most ? end - at : most;
    blm__layer_count(b->layers,
                     (int64_t)b->kernel->line_add8(b->layers, b->hasher.seed[0], s->fixed + at * 8,
                                                   n, fresh ? fresh + at : unasked));
    return n;
}

/* ---- add ---- */

blm_status blm__plain_add(blm_filter *f, const struct blm_keys *s, size_t *at, size_t end,
                          size_t count, uint8_t *fresh)
{
    struct piece p;
    uint8_t      scratch[BLM__BATCH];
    size_t       told = *at;
    blm_status   st   = BLM_OK;
    while (st == BLM_OK && *at < end) {
        size_t added = 0;
        if (!f->body.shared && streams(f, s) && stream_room(f) >= TELL) {
            added = stream_add(f, s, *at, end, fresh);
        } else {
            next_piece(f, s, *at, end - *at, &p);
            if (p.batch.n)
                st = f->kind->add(&f->body, &p.batch, fresh ? fresh + *at : scratch, &added);
            else
                st = s->digests ? BLM_E_MISMATCH : BLM_E_ARGUMENT;
        }
        *at += added;
        if (*at - told >= TELL) {
            told = *at;
            if (!blm__go_on(&f->body, *at, count))
                st = BLM_E_CANCELLED;
        }
    }
    return st;
}

static blm_status add_keys(blm_filter *f, const struct blm_keys *s, size_t count, uint8_t *fresh,
                           size_t *done)
{
    size_t     at = 0;
    blm_status st = f->body.read_only ? BLM_E_READONLY : BLM_OK;
    if (st == BLM_OK && !blm__bulk_add(f, s, count, fresh, &at, &st) &&
        !blm__split_add(f, s, count, fresh, &at, &st))
        st = blm__plain_add(f, s, &at, count, count, fresh);
    if (done)
        *done = at;
    return st;
}

/* ---- check ---- */

static size_t check_range(const blm_filter *f, const struct blm_keys *s, size_t at, size_t end,
                          uint8_t *maybe)
{
    struct piece p;
    uint8_t      scratch[BLM__BATCH];
    size_t       hits = 0;
    if (streams(f, s))
        return stream_check(f, s, at, end, maybe);
    while (at < end) {
        uint8_t *out = maybe ? maybe + at : scratch;
        next_piece(f, s, at, end - at, &p);
        if (p.batch.n) {
            hits += f->kind->check(&f->body, &p.batch, out);
            at += p.batch.n;
        } else { /* no key of this filter's: we cannot know */
            out[0] = 1;
            hits++;
            at++;
        }
    }
    return hits;
}

struct check {
    const blm_filter      *f;
    const struct blm_keys *s;
    size_t                 count;
    uint8_t               *maybe;
    _Atomic size_t         next, hits;
};

static void check_shares(void *ctx)
{
    struct check *c    = ctx;
    size_t        hits = 0, i;
    while ((i = blm__next_piece(&c->next)) < (c->count + SHARE - 1) / SHARE) {
        size_t at = i * SHARE, end = c->count - at < SHARE ? c->count : at + SHARE;
        hits += check_range(c->f, c->s, at, end, c->maybe);
    }
    atomic_fetch_add_explicit(&c->hits, hits, memory_order_relaxed);
}

static size_t check_keys(const blm_filter *f, const struct blm_keys *s, size_t count,
                         uint8_t *maybe)
{
    struct check c = { .f = f, .s = s, .count = count, .maybe = maybe };
    if (f->threads < 2 || count < LEAST)
        return check_range(f, s, 0, count, maybe);
    blm__threads_run(f->threads, check_shares, &c);
    return c.hits;
}

/* ---- remove ---- */

static blm_status remove_keys(blm_filter *f, const struct blm_keys *s, size_t count, uint8_t *gone,
                              size_t *removed)
{
    struct piece p;
    uint8_t      scratch[BLM__BATCH];
    size_t       sum = 0, at = 0, told = 0;
    blm_status   st = !f->kind->remove    ? BLM_E_UNSUPPORTED
                      : f->body.read_only ? BLM_E_READONLY
                                          : BLM_OK;
    while (st == BLM_OK && at < count) {
        next_piece(f, s, at, count - at, &p);
        if (p.batch.n)
            sum += f->kind->remove(&f->body, &p.batch, gone ? gone + at : scratch);
        else
            st = BLM_E_ARGUMENT;
        at += p.batch.n;
        if (at - told >= TELL) {
            told = at;
            if (!blm__go_on(&f->body, at, count))
                st = BLM_E_CANCELLED;
        }
    }
    if (removed)
        *removed = sum;
    return st;
}

/* ---- the public calls ---- */

blm_status blm_add_many(blm_filter *f, const blm_key *keys, size_t count, uint8_t *fresh,
                        size_t *done)
{
    struct blm_keys s = { .list = keys };
    if (done)
        *done = 0;
    if (!keys && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &s, count, fresh, done);
}

size_t blm_check_many(const blm_filter *f, const blm_key *keys, size_t count, uint8_t *maybe)
{
    struct blm_keys s = { .list = keys };
    if (!keys) {
        if (maybe && count)
            memset(maybe, 1, count);
        return count;
    }
    return check_keys(f, &s, count, maybe);
}

blm_status blm_add_fixed(blm_filter *f, const void *keys, size_t width, size_t count,
                         uint8_t *fresh, size_t *done)
{
    struct blm_keys s = { .fixed = keys ? keys : "", .width = width };
    if (done)
        *done = 0;
    if (!keys && width && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &s, count, fresh, done);
}

size_t blm_check_fixed(const blm_filter *f, const void *keys, size_t width, size_t count,
                       uint8_t *maybe)
{
    struct blm_keys s = { .fixed = keys ? keys : "", .width = width };
    if (!keys && width) {
        if (maybe && count)
            memset(maybe, 1, count);
        return count;
    }
    return check_keys(f, &s, count, maybe);
}

blm_status blm_remove_many(blm_filter *f, const blm_key *keys, size_t count, uint8_t *gone,
                           size_t *removed)
{
    struct blm_keys s = { .list = keys };
    if (removed)
        *removed = 0;
    if (!keys && count)
        return BLM_E_ARGUMENT;
    return remove_keys(f, &s, count, gone, removed);
}

blm_status blm_remove_fixed(blm_filter *f, const void *keys, size_t width, size_t count,
                            uint8_t *gone, size_t *removed)
{
    struct blm_keys s = { .fixed = keys ? keys : "", .width = width };
    if (removed)
        *removed = 0;
    if (!keys && width && count)
        return BLM_E_ARGUMENT;
    return remove_keys(f, &s, count, gone, removed);
}

blm_status blm_add_digests(blm_filter *f, const blm_digest *d, size_t count, uint8_t *fresh,
                           size_t *done)
{
    struct blm_keys s = { .digests = d };
    if (done)
        *done = 0;
    if (!d && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &s, count, fresh, done);
}

size_t blm_check_digests(const blm_filter *f, const blm_digest *d, size_t count, uint8_t *maybe)
{
    struct blm_keys s = { .digests = d };
    if (!d) {
        if (maybe && count)
            memset(maybe, 1, count);
        return count;
    }
    return check_keys(f, &s, count, maybe);
}

blm_status blm_hash_many(const blm_filter *f, const blm_key *keys, size_t count, uint64_t *out)
{
    struct blm_keys s = { .list = keys };
    if (!f->scheme->native)
        return BLM_E_UNSUPPORTED;
    if ((!keys || !out) && count)
        return BLM_E_ARGUMENT;
    if (blm__keys_bad(f, &s, 0, count) < count)
        return BLM_E_ARGUMENT;
    for (size_t at = 0; at < count; at += BLM__BATCH)
        blm__keys_hash(f, &s, at, count - at < BLM__BATCH ? count - at : BLM__BATCH, out + at);
    return BLM_OK;
}

blm_status blm_add_hashes(blm_filter *f, const uint64_t *hashes, size_t count, uint8_t *fresh,
                          size_t *done)
{
    struct blm_keys s = { .hashes = hashes };
    if (done)
        *done = 0;
    if (!f->scheme->native)
        return BLM_E_UNSUPPORTED;
    if (!hashes && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &s, count, fresh, done);
}

size_t blm_check_hashes(const blm_filter *f, const uint64_t *hashes, size_t count, uint8_t *maybe)
{
    struct blm_keys s = { .hashes = hashes };
    if (!hashes || !f->scheme->native) {
        if (maybe && count)
            memset(maybe, 1, count);
        return count;
    }
    return check_keys(f, &s, count, maybe);
}
