/* SPDX-License-Identifier: MIT */
/* One key, the long way: hashed by the scheme, then given to the kind as a batch of one. For
 * filters whose engine has nothing shorter. */
#include "core/hasher.h"
#include "kind/kind.h"
#include "scheme/keys.h"

void blm__hash_one(const struct blm__body *b, const void *key, size_t len, struct blm__one *out)
{
    if (b->scheme->native) { /* a third of the instructions of the way below */
        out->h    = blm__native_hash(&b->hasher, key, len);
        out->keys = (struct blm__keys){ .n = 1, .hashes = &out->h };
        return;
    }
    struct blm__keys      raw  = { .n = 1, .fixed = key ? key : "", .width = len };
    struct blm__hash_room room = { &out->h, &out->step, &out->d, 1, 1 };
    blm__keys_hash(b, &raw, 0, 1, &room, &out->keys);
}

blm_status blm__add_one(struct blm__body *b, const struct blm__keys *one)
{
    uint8_t    fresh;
    size_t     done;
    blm_status st = b->ops->add(b, one, &fresh, &done);
    return st != BLM_OK ? st : fresh ? BLM_OK : BLM_PRESENT;
}

static blm_status add_any(struct blm__body *b, const void *key, size_t len)
{
    struct blm__one k;
    if (!key && len)
        return BLM_E_ARGUMENT;
    if (!b->ops->add)
        return BLM_E_UNSUPPORTED;
    if (b->read_only)
        return BLM_E_READONLY;
    blm__hash_one(b, key, len, &k);
    return blm__add_one(b, &k.keys);
}

static bool check_any(const struct blm__body *b, const void *key, size_t len)
{
    struct blm__one k;
    uint8_t         maybe;
    if (!key && len)
        return true; /* not a key: we cannot know */
    blm__hash_one(b, key, len, &k);
    return b->ops->check(b, &k.keys, &maybe) != 0;
}

static bool check_native(const struct blm__body *b, const void *key, size_t len)
{
    if (!key && len)
        return true;
    return b->ops->check_one(b, blm__native_hash(&b->hasher, key, len));
}

void blm__body_singles(struct blm__body *b, const struct blm__shape *first)
{
    const struct blm__engine *e = blm__engine_of(first);
    b->flip                     = blm__xxh3_turn(blm__hasher_flip(&b->hasher));
    blm__body_ready(b);
    b->check_key = b->scheme->native ? check_native : check_any;
    b->add_key   = add_any;
    if (e->singles)
        e->singles(b, first, !blm__grows(b));
}
