/* SPDX-License-Identifier: MIT */
/*
 * The public batches: keys are hashed some at a time, so that their hashes stay in the L1 cache, and
 * given to the kind, whose engine and kernel prefetch and probe in a pipeline. Where one layer alone
 * is asked, and its engine has a loop from raw keys to answers, they go there at once.
 */
#include "api/batch.h"

#include <string.h>

#include "bloomery/embed.h"
#include "core/hasher.h"
#include "core/threads.h"

/* Progress is told about this often, in keys. */
#define TELL    ((size_t)1 << 16)
/* Keys a thread takes at a time, and the least that several threads are asked for: a thousandth of
 * a second's work where the cheapest keys cost 3 ns. */
#define SHARE   ((size_t)1 << 12)
#define LEAST   ((size_t)1 << 15)
/* Keys of a list that are looked at, whether they are keys, before they are hashed. */
#define LISTED  8192u
/* Answers that nobody asked for. More than a kernel's ring, few enough for the L1 cache. */
#define UNASKED 2048u

/* Keys hashed at once. */
struct run {
    uint64_t         h[BLM__BATCH], step[BLM__BATCH];
    blm_digest       d[BLM__BATCH_DIGESTS];
    struct blm__keys keys;
};

#define ROOM_OF(r)                                             \
    {                                                          \
        (r).h, (r).step, (r).d, BLM__BATCH, BLM__BATCH_DIGESTS \
    }

/* The layer that takes these keys raw; NULL: there is none. */
static struct blm__layer *raw_layer(const struct blm__body *b, const struct blm__keys *k)
{
    struct blm__layer *l = blm__only_layer(b);
    return l && l->engine->takes && l->engine->takes(b, l, k) ? l : NULL;
}

/* ---- add ---- */

/* The raw keys from `at` on that one call takes: up to the first that is none, and no more than
 * there is room for answers. */
static struct blm__keys raw_part(const struct blm__body *b, const struct blm__keys *k, size_t at,
                                 size_t end, size_t most)
{
    if (k->list && most > LISTED)
        most = LISTED;
    struct blm__keys part = blm__keys_part(k, at, end - at < most ? end - at : most);
    part.n                = blm__keys_good(b, &part);
    return part;
}

/* At most TELL keys; how many. 0: the kind must see to the first. */
static size_t add_raw(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                      size_t at, size_t end, uint8_t *fresh)
{
    uint8_t          unasked[UNASKED];
    struct blm__keys part = raw_part(b, k, at, end, fresh ? TELL : UNASKED);
    uint8_t         *out  = fresh ? fresh + at : unasked;
    if (l->engine->place_raw)
        return l->engine->place_raw(b, l, &part, out);
    if (part.n)
        l->engine->add_raw(b, l, &part, out);
    return part.n;
}

static blm_status add_run(struct blm__body *b, const struct blm__keys *k, size_t at, size_t end,
                          uint8_t *fresh, size_t *added)
{
    struct run            r;
    struct blm__hash_room room = ROOM_OF(r);
    uint8_t               scratch[BLM__BATCH];
    if (blm__keys_hash(b, k, at, end, &room, &r.keys) == 0)
        return blm__bad_key(k);
    return b->ops->add(b, &r.keys, fresh ? fresh + at : scratch, added);
}

blm_status blm__plain_add(blm_filter *f, const struct blm__keys *k, size_t *at, size_t end,
                          uint8_t *fresh)
{
    struct blm__body *b    = &f->body;
    size_t            told = *at;
    blm_status        st   = BLM_OK;
    while (st == BLM_OK && *at < end) {
        size_t             added = 0;
        struct blm__layer *raw   = b->shared ? NULL : raw_layer(b, k);
        if (raw && (raw->engine->place_raw || b->ops->room(b) >= TELL))
            added = add_raw(b, raw, k, *at, end, fresh);
        if (added == 0)
            st = add_run(b, k, *at, end, fresh, &added);
        *at += added;
        if (*at - told >= TELL) {
            told = *at;
            if (!blm__go_on(b, *at, k->n) && *at < k->n) /* else there is nothing to cancel */
                st = BLM_E_CANCELLED;
        }
    }
    return st;
}

static blm_status add_keys(blm_filter *f, const struct blm__keys *k, uint8_t *fresh, size_t *done)
{
    size_t     at = 0;
    blm_status st = !f->body.ops->add   ? BLM_E_UNSUPPORTED
                    : f->body.read_only ? BLM_E_READONLY
                                        : BLM_OK;
    if (st == BLM_OK && !blm__bulk_add(f, k, fresh, &at, &st) &&
        !blm__split_add(f, k, fresh, &at, &st))
        st = blm__plain_add(f, k, &at, k->n, fresh);
    if (fresh && at < k->n) /* loops for several keys at once have written ahead */
        memset(fresh + at, 0, k->n - at);
    if (done)
        *done = at;
    return st;
}

/* ---- check ---- */

/* l: the layer that takes them; NULL: the kind does. */
static size_t check_raw(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, size_t at, size_t end, uint8_t *maybe)
{
    uint8_t unasked[UNASKED];
    size_t  hits = 0;
    while (at < end) {
        struct blm__keys part = raw_part(b, k, at, end, maybe ? SIZE_MAX : UNASKED);
        uint8_t         *out  = maybe ? maybe + at : unasked;
        if (part.n) {
            hits += l ? l->engine->check_raw(b, l, &part, out) : b->ops->check_raw(b, &part, out);
            at += part.n;
        } else { /* no key: we cannot know */
            out[0] = 1;
            hits++;
            at++;
        }
    }
    return hits;
}

static size_t check_range(const struct blm__body *b, const struct blm__keys *k, size_t at,
                          size_t end, uint8_t *maybe)
{
    struct run               r;
    struct blm__hash_room    room = ROOM_OF(r);
    uint8_t                  scratch[BLM__BATCH];
    size_t                   hits = 0;
    const struct blm__layer *raw  = raw_layer(b, k);
    if (raw || (b->ops->check_raw && !k->digests))
        return check_raw(b, raw, k, at, end, maybe);
    while (at < end) {
        uint8_t *out = maybe ? maybe + at : scratch;
        if (blm__keys_hash(b, k, at, end, &room, &r.keys)) {
            hits += b->ops->check(b, &r.keys, out);
            at += r.keys.n;
        } else { /* no key of this filter's: we cannot know */
            out[0] = 1;
            hits++;
            at++;
        }
    }
    return hits;
}

/* The layer of a filter whose keys have one line and nothing else to them (its single calls say so):
 * what the kernel answers for raw keys is the answer. A batch of 32 gains by that, for which the way
 * through keys, engine and runs took 30 to 45 ns of 180 (Emerald Rapids, 1e7 keys). */
static const struct blm__layer *one_line(const blm_filter *f, size_t n, const uint8_t *maybe)
{
    const struct blm__body *b = &f->body;
    if (b->check_key != b->kernel->line_check_key || !maybe || n > LISTED)
        return NULL;
    return b->layers->shape.lines == 1 ? b->layers : NULL;
}

struct check {
    const struct blm__body *b;
    const struct blm__keys *k;
    uint8_t                *maybe;
    _Atomic size_t          next, hits;
};

static void check_shares(void *ctx)
{
    struct check *c     = ctx;
    size_t        count = c->k->n, hits = 0, i;
    while ((i = blm__next_share(&c->next)) < (count + SHARE - 1) / SHARE) {
        size_t at = i * SHARE, end = count - at < SHARE ? count : at + SHARE;
        hits += check_range(c->b, c->k, at, end, c->maybe);
    }
    atomic_fetch_add_explicit(&c->hits, hits, memory_order_relaxed);
}

static size_t check_keys(const blm_filter *f, const struct blm__keys *k, uint8_t *maybe)
{
    struct check c = { .b = &f->body, .k = k, .maybe = maybe };
    if (f->threads < 2 || k->n < LEAST)
        return check_range(&f->body, k, 0, k->n, maybe);
    blm__threads_run(f->threads, check_shares, &c);
    return c.hits;
}

/* Nobody can know. */
static size_t all_maybe(size_t count, uint8_t *maybe)
{
    if (maybe && count)
        memset(maybe, 1, count);
    return count;
}

/* ---- remove ---- */

static blm_status remove_keys(blm_filter *f, const struct blm__keys *k, uint8_t *gone,
                              size_t *removed)
{
    struct blm__body     *b = &f->body;
    struct run            r;
    struct blm__hash_room room = ROOM_OF(r);
    uint8_t               scratch[BLM__BATCH];
    size_t                sum = 0, at = 0, told = 0;
    blm_status st = !b->ops->remove ? BLM_E_UNSUPPORTED : b->read_only ? BLM_E_READONLY : BLM_OK;
    while (st == BLM_OK && at < k->n) {
        if (blm__keys_hash(b, k, at, k->n, &room, &r.keys))
            sum += b->ops->remove(b, &r.keys, gone ? gone + at : scratch);
        else
            st = BLM_E_ARGUMENT;
        if (st == BLM_OK && blm__save_failed(b))
            st = BLM_E_IO;
        at += r.keys.n;
        if (at - told >= TELL) {
            told = at;
            if (!blm__go_on(b, at, k->n) && at < k->n)
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
    struct blm__keys k = { .n = count, .list = keys };
    if (done)
        *done = 0;
    if (!keys && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &k, fresh, done);
}

size_t blm_check_many(const blm_filter *f, const blm_key *keys, size_t count, uint8_t *maybe)
{
    struct blm__keys k = { .n = count, .list = keys };
    if (!keys)
        return all_maybe(count, maybe);
    const struct blm__layer *l = one_line(f, count, maybe);
    if (l && blm__keys_good(&f->body, &k) == count)
        return f->body.kernel->line_check_keys(l, &f->body.hasher, keys, count, maybe);
    return check_keys(f, &k, maybe);
}

blm_status blm_add_fixed(blm_filter *f, const void *keys, size_t width, size_t count,
                         uint8_t *fresh, size_t *done)
{
    struct blm__keys k = { .n = count, .fixed = keys ? keys : "", .width = width };
    if (done)
        *done = 0;
    if (!keys && width && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &k, fresh, done);
}

size_t blm_check_fixed(const blm_filter *f, const void *keys, size_t width, size_t count,
                       uint8_t *maybe)
{
    struct blm__keys k = { .n = count, .fixed = keys ? keys : "", .width = width };
    if (!keys && width)
        return all_maybe(count, maybe);
    const struct blm__layer *l = width == 8 ? one_line(f, count, maybe) : NULL;
    if (l)
        return f->body.kernel->line_check8(l, blm__hasher_flip(&f->body.hasher), keys, count,
                                           maybe);
    return check_keys(f, &k, maybe);
}

blm_status blm_remove_many(blm_filter *f, const blm_key *keys, size_t count, uint8_t *gone,
                           size_t *removed)
{
    struct blm__keys k = { .n = count, .list = keys };
    if (removed)
        *removed = 0;
    if (!keys && count)
        return BLM_E_ARGUMENT;
    return remove_keys(f, &k, gone, removed);
}

blm_status blm_remove_fixed(blm_filter *f, const void *keys, size_t width, size_t count,
                            uint8_t *gone, size_t *removed)
{
    struct blm__keys k = { .n = count, .fixed = keys ? keys : "", .width = width };
    if (removed)
        *removed = 0;
    if (!keys && width && count)
        return BLM_E_ARGUMENT;
    return remove_keys(f, &k, gone, removed);
}

blm_status blm_add_digests(blm_filter *f, const blm_digest *d, size_t count, uint8_t *fresh,
                           size_t *done)
{
    struct blm__keys k = { .n = count, .digests = d };
    if (done)
        *done = 0;
    if (!d && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &k, fresh, done);
}

size_t blm_check_digests(const blm_filter *f, const blm_digest *d, size_t count, uint8_t *maybe)
{
    struct blm__keys k = { .n = count, .digests = d };
    if (!d)
        return all_maybe(count, maybe);
    return check_keys(f, &k, maybe);
}

blm_status blm_hash_many(const blm_filter *f, const blm_key *keys, size_t count, uint64_t *out)
{
    struct blm__keys k = { .n = count, .list = keys };
    if (!f->body.scheme->native)
        return BLM_E_UNSUPPORTED;
    if ((!keys || !out) && count)
        return BLM_E_ARGUMENT;
    if (blm__keys_good(&f->body, &k) < count)
        return BLM_E_ARGUMENT;
    for (size_t at = 0, n; at < count; at += n) {
        n                          = count - at < BLM__BATCH ? count - at : BLM__BATCH;
        struct blm__hash_room room = { .hashes = out + at, .words = n };
        struct blm__keys      hashed;
        blm__keys_hash(&f->body, &k, at, at + n, &room, &hashed);
    }
    return BLM_OK;
}

blm_status blm_add_hashes(blm_filter *f, const uint64_t *hashes, size_t count, uint8_t *fresh,
                          size_t *done)
{
    struct blm__keys k = { .n = count, .hashes = hashes };
    if (done)
        *done = 0;
    if (!f->body.scheme->native)
        return BLM_E_UNSUPPORTED;
    if (!hashes && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &k, fresh, done);
}

size_t blm_check_hashes(const blm_filter *f, const uint64_t *hashes, size_t count, uint8_t *maybe)
{
    struct blm__keys k = { .n = count, .hashes = hashes };
    if (!hashes || !f->body.scheme->native)
        return all_maybe(count, maybe);
    return check_keys(f, &k, maybe);
}
