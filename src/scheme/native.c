/* SPDX-License-Identifier: MIT */
/* The native scheme: one 64-bit hash per key, from which core/probe.h derives every probe. */
#include "bloomery/maths.h"
#include "core/hash/siphash.h"
#include "core/hash/xxh3_key.h"
#include "core/kernel/kernel.h"
#include "core/probe.h"
#include "scheme/scheme.h"

uint64_t blm__native_hash(const struct blm_hasher *h, const void *key, size_t len)
{
    static const char none[1] = { 0 };
    if (!key)
        key = none; /* the empty key may come as NULL */
    switch (h->id) {
    case BLM_HASH_XXH3:
        return blm__xxh3_any(key, len, h->seed[0]);
    case BLM_HASH_SIPHASH:
        return blm__siphash24(h->seed, key, len);
    case BLM_HASH_CUSTOM:
        break;
    }
    return h->fn(h->ctx, key, len, h->seed);
}

void blm__native_hash_many(const struct blm_hasher *h, const struct blm_kernel *v,
                           const blm_key *keys, size_t n, uint64_t *out)
{
    if (h->id == BLM_HASH_XXH3) {
        if (v->hash_many)
            v->hash_many(h->seed[0], keys, n, out);
        else
            blm__xxh3_many(keys, n, h->seed[0], out);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = blm__native_hash(h, keys[i].data, keys[i].len);
}

/* One loop for each common width: if the length is a constant, XXH3 is a few instructions. */
#define FIXED(w)                                    \
    case w:                                         \
        for (size_t i = 0; i < n; i++)              \
            out[i] = blm__xxh3(p + i * w, w, seed); \
        return;

void blm__native_hash_fixed(const struct blm_hasher *h, const struct blm_kernel *v,
                            const void *keys, size_t width, size_t n, uint64_t *out)
{
    const uint8_t *p    = keys;
    uint64_t       seed = h->seed[0];
    if (h->id == BLM_HASH_XXH3)
        switch (width) {
        case 8:
            v->hash8(seed, p, n, out);
            return;
            FIXED(4)
            FIXED(16)
            FIXED(20)
        default:
            break;
        }
    for (size_t i = 0; i < n; i++)
        out[i] = blm__native_hash(h, p + i * width, width);
}

static void digest(const struct blm_hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    (void)k;
    d->w[0] = blm__native_hash(h, key, len);
}

static void line_positions(const struct blm_shape *s, uint64_t h, uint64_t *out)
{
    for (uint32_t l = 0; l < s->lines; l++) {
        uint64_t line = blm__reduce(h, s->line_count), x = blm__line_x(h);
        unsigned words = blm__line_words(x, s->probes);
        for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
            if (words >> j & 1)
                *out++ = s->engine == BLM__LINES
                             ? line * BLM__LINE_BITS + j * 64 + blm__line_bit(x, j)
                             : line * BLM__SHORT_CELLS + j * 16 + blm__short_cell(x, j);
        h = blm__line_next(x);
    }
}

static void positions(const struct blm_shape *s, const blm_digest *d, uint64_t *out)
{
    uint64_t g = d->w[0];
    if (s->lines) {
        line_positions(s, g, out);
        return;
    }
    for (uint32_t i = 0; i < s->probes; i++, g = blm__chain_next(g))
        out[i] = blm__reduce(g, s->bits);
}

static bool positions_raw(const struct blm_shape *s, const blm_digest *d, uint64_t *out)
{
    if (s->lines)
        return false;
    uint64_t g = d->w[0];
    for (uint32_t i = 0; i < s->probes; i++, g = blm__chain_next(g))
        out[i] = g;
    return true;
}

static uint64_t reduce(const struct blm_shape *s, uint64_t raw)
{
    return blm__reduce(raw, s->bits);
}

const struct blm_scheme blm__scheme_native = {
    .row       = { sizeof(blm_scheme_row), "native",
                   "bloomery's own: one seeded 64-bit hash, probes derived, multiply-shift", NULL, NULL,
                   true },
    .version   = 1,
    .native    = true,
    .seeded    = true,
    .model     = BLM_MODEL_INDEPENDENT,
    .fold      = BLM__FOLD_ADJACENT,
    .fold_unit = 1, /* with lines: a line, see blm__fold_unit */
    .kinds     = 1u << BLM_CLASSIC | 1u << BLM_BLOCKED | 1u << BLM_COUNTING | 1u << BLM_SCALABLE,
    .digest    = digest,
    .positions = positions,
    .positions_raw = positions_raw,
    .reduce        = reduce,
};
