/* SPDX-License-Identifier: MIT */
/* The native scheme: one 64-bit hash per key, from which the engines derive every probe by
 * core/probe.h. */
#include "bloomery/maths.h"
#include "core/hash/siphash.h"
#include "core/hasher.h"
#include "core/kernel/kernel.h"
#include "core/probe.h"
#include "scheme/scheme.h"

/* ---- the hash ---- */

bool blm__hasher_ready(struct blm__body *b, const struct blm__shape *first)
{
    struct blm__hasher *h = &b->hasher;
    blm__free(b->alloc, h->secret, sizeof *h->secret);
    h->secret = NULL;
    if (!b->scheme->native)
        h->version = b->scheme->version;
    if (b->scheme->native && h->id == BLM_HASH_XXH3 && h->version >= BLM__NATIVE_KEYED) {
        h->secret = blm__alloc(b->alloc, sizeof *h->secret);
        if (!h->secret)
            return false;
        blm__secret_make(h->secret, h->seed);
    }
    blm__hasher_tag(h, first);
    return true;
}

uint64_t blm__native_hash(const struct blm__hasher *h, const void *key, size_t len)
{
    static const char none[1] = { 0 };
    if (!key)
        key = none; /* the empty key may come as NULL */
    switch (h->id) {
    case BLM_HASH_XXH3:
        return blm__hasher_key(h, key, len);
    case BLM_HASH_SIPHASH:
        return blm__siphash24(h->seed, key, len);
    case BLM_HASH_CUSTOM:
        break;
    }
    return h->fn(h->ctx, key, len, h->seed);
}

void blm__native_hash_many(const struct blm__hasher *h, const struct blm__kernel *v,
                           const blm_key *keys, size_t n, uint64_t *out)
{
    if (h->id == BLM_HASH_XXH3) {
        v->hash_many(h, keys, n, out);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = blm__native_hash(h, keys[i].data, keys[i].len);
}

/* One loop for each common width: if the length is a constant, the hash is a few instructions. */
#define FIXED(w, hash, with)                   \
    case w:                                    \
        for (size_t i = 0; i < n; i++)         \
            out[i] = hash(p + i * w, w, with); \
        return;

void blm__native_hash_fixed(const struct blm__hasher *h, const struct blm__kernel *v,
                            const void *keys, size_t width, size_t n, uint64_t *out)
{
    const uint8_t *p = keys;
    if (h->id == BLM_HASH_XXH3 && width == 8) {
        v->hash8(blm__hasher_flip(h), p, n, out);
        return;
    }
    if (h->id == BLM_HASH_XXH3 && h->secret)
        switch (width) {
            FIXED(4, blm__keyed, h->secret)
            FIXED(16, blm__keyed, h->secret)
            FIXED(20, blm__keyed, h->secret)
        default:
            break;
        }
    for (size_t i = 0; i < n; i++)
        out[i] = blm__native_hash(h, p + i * width, width);
}

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    (void)k;
    d->w[0] = blm__native_hash(h, key, len);
}

static uint64_t reduce(const struct blm__shape *s, uint64_t raw)
{
    return blm__reduce(raw, s->bits);
}

#define KIND_BIT(NAME, value, name) | 1u << value
#define EVERY_KIND                  (0u BLM_KIND_MAP(KIND_BIT))

const struct blm__scheme blm__scheme_native = {
    .row       = { sizeof(blm_scheme_row), "native",
                   "bloomery's own: one seeded 64-bit hash, probes derived, multiply-shift", NULL, NULL,
                   true, .seeded = true, .kinds = EVERY_KIND, .format = "native" },
    .version   = BLM__NATIVE_KEYED,
    .native    = true,
    .model     = BLM_MODEL_INDEPENDENT,
    .fold      = BLM__FOLD_ADJACENT,
    .fold_unit = 1, /* with lines: a line, see blm__fold_unit */
    .digest    = digest,
    .reduce    = reduce,
};
