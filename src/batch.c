/* SPDX-License-Identifier: MIT */
/* The public batch calls: keys from three kinds of array, hashed a piece at a time into a small
 * buffer that stays in cache, then handed to the kind. */
#include <string.h>

#include "filter.h"

/* Progress is told about this often, in keys. */
#define TELL ((size_t)1 << 16)

/* Where keys come from. */
struct keys {
    const blm_key    *list;
    const uint8_t    *fixed; /* width bytes each */
    size_t            width;
    const blm_digest *digests;
};

struct piece {
    uint64_t         h[BLM__BATCH];
    blm_digest       d[BLM__BATCH_DIGESTS];
    struct blm_batch batch;
    size_t           bad; /* index of the first that is no key for this filter, or n */
};

static size_t first_bad(const blm_filter *f, const struct keys *k, size_t at, size_t n)
{
    if (k->list)
        for (size_t i = 0; i < n; i++)
            if (!k->list[at + i].data && k->list[at + i].len)
                return i;
    if (k->digests)
        for (size_t i = 0; i < n; i++) {
            const blm_digest *d = &k->digests[at + i];
            if (d->tag != f->body.hasher.tag ||
                (f->scheme->per_probe && d->w[26] < f->body.layers[0].shape.probes))
                return i;
        }
    return n;
}

static void hash_native(const blm_filter *f, const struct keys *k, size_t at, size_t n,
                        struct piece *p)
{
    if (k->list)
        blm__native_hash_many(&f->body.hasher, k->list + at, n, p->h);
    else if (k->fixed)
        blm__native_hash_fixed(&f->body.hasher, f->body.kernel, k->fixed + at * k->width, k->width,
                               n, p->h);
    else
        for (size_t i = 0; i < n; i++)
            p->h[i] = k->digests[at + i].w[0];
    p->batch.h = p->h;
    p->batch.d = NULL;
}

static void hash_other(const blm_filter *f, const struct keys *k, size_t at, size_t n,
                       struct piece *p)
{
    uint32_t probes = f->body.layers[0].shape.probes;
    p->batch.h = NULL;
    p->batch.d = k->digests ? k->digests + at : p->d;
    if (k->digests)
        return;
    for (size_t i = 0; i < n; i++) {
        const void *key = k->list ? k->list[at + i].data : k->fixed + (at + i) * k->width;
        size_t      len = k->list ? k->list[at + i].len : k->width;
        f->scheme->digest(&f->body.hasher, probes, key ? key : "", len, &p->d[i]);
    }
}

/* Hashes the next keys, up to the first bad one; p->batch.n of them. */
static void next_piece(const blm_filter *f, const struct keys *k, size_t at, size_t left,
                       struct piece *p)
{
    size_t most = f->scheme->native ? BLM__BATCH : BLM__BATCH_DIGESTS;
    size_t n    = left < most ? left : most;
    p->bad      = first_bad(f, k, at, n);
    p->batch.n  = p->bad;
    if (f->scheme->native)
        hash_native(f, k, at, p->bad, p);
    else
        hash_other(f, k, at, p->bad, p);
}

static blm_status add_keys(blm_filter *f, const struct keys *k, size_t count, uint8_t *fresh,
                           size_t *done)
{
    struct piece p;
    uint8_t      scratch[BLM__BATCH];
    size_t       at = 0, told = 0;
    blm_status   st = f->body.read_only ? BLM_E_READONLY : BLM_OK;
    while (st == BLM_OK && at < count) {
        size_t added = 0;
        next_piece(f, k, at, count - at, &p);
        if (p.batch.n)
            st = f->kind->add(&f->body, &p.batch, fresh ? fresh + at : scratch, &added);
        else
            st = k->digests ? BLM_E_MISMATCH : BLM_E_ARGUMENT;
        at += added;
        if (at - told >= TELL) {
            told = at;
            if (!blm__go_on(&f->body, at, count))
                st = BLM_E_CANCELLED;
        }
    }
    if (done)
        *done = at;
    return st;
}

static size_t check_keys(const blm_filter *f, const struct keys *k, size_t count, uint8_t *maybe)
{
    struct piece p;
    uint8_t      scratch[BLM__BATCH];
    size_t       hits = 0;
    for (size_t at = 0; at < count;) {
        uint8_t *out = maybe ? maybe + at : scratch;
        next_piece(f, k, at, count - at, &p);
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

blm_status blm_add_many(blm_filter *f, const blm_key *keys, size_t count, uint8_t *fresh,
                        size_t *done)
{
    struct keys k = { .list = keys };
    if (done)
        *done = 0;
    if (!keys && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &k, count, fresh, done);
}

size_t blm_check_many(const blm_filter *f, const blm_key *keys, size_t count, uint8_t *maybe)
{
    struct keys k = { .list = keys };
    if (!keys) {
        if (maybe && count)
            memset(maybe, 1, count);
        return count;
    }
    return check_keys(f, &k, count, maybe);
}

blm_status blm_add_fixed(blm_filter *f, const void *keys, size_t width, size_t count,
                         uint8_t *fresh, size_t *done)
{
    struct keys k = { .fixed = keys ? keys : "", .width = width };
    if (done)
        *done = 0;
    if (!keys && width && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &k, count, fresh, done);
}

size_t blm_check_fixed(const blm_filter *f, const void *keys, size_t width, size_t count,
                       uint8_t *maybe)
{
    struct keys k = { .fixed = keys ? keys : "", .width = width };
    if (!keys && width) {
        if (maybe && count)
            memset(maybe, 1, count);
        return count;
    }
    return check_keys(f, &k, count, maybe);
}

blm_status blm_add_digests(blm_filter *f, const blm_digest *d, size_t count, uint8_t *fresh,
                           size_t *done)
{
    struct keys k = { .digests = d };
    if (done)
        *done = 0;
    if (!d && count)
        return BLM_E_ARGUMENT;
    return add_keys(f, &k, count, fresh, done);
}

size_t blm_check_digests(const blm_filter *f, const blm_digest *d, size_t count, uint8_t *maybe)
{
    struct keys k = { .digests = d };
    if (!d) {
        if (maybe && count)
            memset(maybe, 1, count);
        return count;
    }
    return check_keys(f, &k, count, maybe);
}
