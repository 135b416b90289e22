/* SPDX-License-Identifier: MIT */
/* One key at a time: add, check, remove; and digests. */
#include <string.h>

#include "api/filter.h"
#include "scheme/keys.h"

blm_status blm_add(blm_filter *f, const void *key, size_t len)
{
    return f->body.add_key(&f->body, key, len);
}

bool blm_check(const blm_filter *f, const void *key, size_t len)
{
    return f->body.check_key(&f->body, key, len);
}

blm_status blm_remove(blm_filter *f, const void *key, size_t len)
{
    struct blm__body *b = &f->body;
    struct blm__one   k;
    uint8_t           gone;
    if (!key && len)
        return BLM_E_ARGUMENT;
    if (!b->ops->remove)
        return BLM_E_UNSUPPORTED;
    if (b->read_only)
        return BLM_E_READONLY;
    blm__hash_one(b, key, len, &k);
    if (b->ops->remove(b, &k.keys, &gone))
        return BLM_OK;
    return blm__save_failed(b) ? BLM_E_IO : BLM_E_ABSENT;
}

uint64_t blm_count(const blm_filter *f, const void *key, size_t len)
{
    const struct blm__body *b = &f->body;
    struct blm__one         k;
    uint64_t                sum = 0;
    if ((!key && len) || !b->layers[0].engine->copies || blm__filter_stale(f))
        return blm_check(f, key, len);
    blm__hash_one(b, key, len, &k);
    for (uint32_t i = 0; i < b->layer_count; i++)
        sum += b->layers[i].engine->copies(b, &b->layers[i], &k.keys, 0);
    return sum;
}

/* ---- digests ---- */

/* The digest as the engines take it. False: it is not for this filter. */
static bool digest_keys(const struct blm__body *b, const blm_digest *d, struct blm__keys *out)
{
    struct blm__keys one = { .n = 1, .digests = d };
    if (blm__keys_good(b, &one) == 0)
        return false;
    *out = one;
    if (b->scheme->native)
        *out = (struct blm__keys){ .n = 1, .hashes = d->w };
    return true;
}

blm_status blm_digest_of(const blm_filter *f, const void *key, size_t len, blm_digest *out)
{
    if (!key && len)
        return BLM_E_ARGUMENT;
    memset(out, 0, sizeof *out);
    const struct blm__body *b      = &f->body;
    uint32_t                probes = b->layers[0].shape.probes;
    b->scheme->digest(&b->hasher, probes, key ? key : "", len, out);
    out->tag = b->hasher.tag;
    if (b->scheme->per_probe)
        out->w[26] = probes;
    return BLM_OK;
}

blm_status blm_add_digest(blm_filter *f, const blm_digest *d)
{
    struct blm__keys k;
    if (!f->body.ops->add)
        return BLM_E_UNSUPPORTED;
    if (f->body.read_only)
        return BLM_E_READONLY;
    return digest_keys(&f->body, d, &k) ? blm__add_one(&f->body, &k) : BLM_E_MISMATCH;
}

bool blm_check_digest(const blm_filter *f, const blm_digest *d)
{
    const struct blm__body *b = &f->body;
    struct blm__keys        k;
    uint8_t                 maybe;
    if (!digest_keys(b, d, &k))
        return true;
    return k.hashes ? b->ops->check_one(b, k.hashes[0]) : b->ops->check(b, &k, &maybe) != 0;
}
