/* SPDX-License-Identifier: MIT */
/* A scheme whose positions can be worked out by eye, and layers of it: position j of a key is
 * (w0 + j·w1 mod 2^wrap) mod m. */
#ifndef BLM_UNIT_ENGINE_TOY_H
#define BLM_UNIT_ENGINE_TOY_H

#include "core/bytes.h"
#include "engine/engine.h"
#include "unit/support.h"

extern struct blm__scheme toy; /* below; a test may change it */

static inline uint64_t toy_value(const blm_digest *d, uint32_t j)
{
    uint64_t v = d->w[0] + j * d->w[1];
    return toy.wrap && toy.wrap < 64 ? v & (((uint64_t)1 << toy.wrap) - 1) : v;
}

static inline void toy_positions(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    for (uint32_t j = 0; j < s->probes; j++)
        out[j] = toy_value(d, j) % s->bits;
}

static inline bool toy_raw(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    for (uint32_t j = 0; j < s->probes; j++)
        out[j] = toy_value(d, j);
    return true;
}

/* A key of sixteen bytes is its own two words. */
static inline void toy_pairs(const struct blm__hasher *h, const struct blm__kernel *v,
                             const struct blm__keys *keys, size_t n, uint64_t *start,
                             uint64_t *step)
{
    (void)h;
    (void)v;
    for (size_t i = 0; i < n; i++) {
        blm_key k = blm__key_at(keys, i);
        assert_int_equal(k.len, 16);
        start[i] = blm__get64le(k.data);
        step[i]  = blm__get64le((const uint8_t *)k.data + 8);
    }
}

struct blm__scheme toy = {
    .row  = { sizeof(blm_scheme_row), "toy", "for these tests", NULL, NULL, false, .kinds = 0 },
    .fold = BLM__FOLD_STRIDED,
    .fold_unit = 1,
    .positions = toy_positions,
};

struct toy_filter {
    struct blm__body  body;
    struct blm__layer layer;
    uint64_t          words[160];
};

static inline void toy_init(struct toy_filter *f, uint64_t m, uint32_t k, uint32_t cell_bits)
{
    memset(f, 0, sizeof *f);
    f->layer.shape      = (struct blm__shape){ .kind      = cell_bits == 4 ? BLM_COUNTING : BLM_CLASSIC,
                                               .rule      = BLM__POSITIONS,
                                               .scheme    = &toy,
                                               .bits      = m,
                                               .probes    = k,
                                               .cell_bits = cell_bits };
    f->layer.word_count = blm__shape_words(&f->layer.shape);
    f->layer.words      = f->words;
    blm__layer_ready(&f->layer);
    f->body.kernel      = blm__kernel_best();
    f->body.scheme      = &toy;
    f->body.layers      = &f->layer;
    f->body.layer_count = 1;
    assert_true(f->layer.word_count <= COUNT_OF(f->words));
}

static inline blm_digest toy_digest(struct rng *r)
{
    blm_digest d = { .tag = 1 };
    d.w[0]       = rng_next(r);
    d.w[1]       = rng_next(r);
    return d;
}

/* Bit by bit, whatever the machine's bytes. */
static inline unsigned toy_get(const uint64_t *words, uint64_t at)
{
    return (unsigned)((const uint8_t *)words)[at / 8] >> at % 8 & 1;
}

static inline void toy_set(uint64_t *words, uint64_t at)
{
    ((uint8_t *)words)[at / 8] |= (uint8_t)(1u << at % 8);
}

#endif
