/* SPDX-License-Identifier: MIT */
/*
 * Four-bit counters, wherever they stand. A counter that reaches 15 stays there for ever: it may
 * stand for more keys than it can say, and lowering it could lose one. At the best k and full load
 * a counter passes 15 with chance about 1.4e-15.
 */
#include "core/kernel/loops.h"
#include "engine/bits.h"

#define LOW  0x1111111111111111u /* lowest bit of each counter */
#define EVEN 0x0f0f0f0f0f0f0f0fu /* every other counter, with room to add */

/* A word of sixteen; others may be adding to it. */
static uint64_t sixteen(const struct blm__layer *l, uint64_t word)
{
    return blm__le64(blm__load(&l->words[word]));
}

unsigned blm__counter_get(const struct blm__layer *l, uint64_t cell)
{
    return (unsigned)(sixteen(l, cell >> 4) >> ((cell & 15) * 4)) & 15;
}

unsigned blm__counter_raise(struct blm__layer *l, uint64_t cell, bool shared)
{
    uint64_t *w     = &l->words[cell >> 4];
    unsigned  shift = (unsigned)(cell & 15) * 4;
    uint64_t  seen  = blm__load(w);
    for (;;) {
        uint64_t v   = blm__le64(seen);
        unsigned old = (unsigned)(v >> shift) & 15;
        if (old == BLM__COUNTER_MAX)
            return old;
        if (l->marks)
            blm__mark(l, cell >> 4);
        uint64_t next = blm__le64(v + ((uint64_t)1 << shift));
        if (!shared) {
            *w = next;
            return old;
        }
        if (__atomic_compare_exchange_n(w, &seen, next, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
            if (l->marks)
                blm__mark(l, cell >> 4); /* again, for a sync that ran meanwhile */
            return old;
        }
    }
}

void blm__counter_lower(struct blm__layer *l, uint64_t cell)
{
    uint64_t *w     = &l->words[cell >> 4];
    unsigned  shift = (unsigned)(cell & 15) * 4;
    uint64_t  v     = blm__le64(*w);
    if ((v >> shift & 15) == BLM__COUNTER_MAX)
        return;
    if (l->marks)
        blm__mark(l, cell >> 4);
    *w = blm__le64(v - ((uint64_t)1 << shift));
}

unsigned blm__counters_use(const struct blm__body *b, struct blm__layer *l, uint64_t cell)
{
    return blm__counter_raise(l, cell, b->shared) == 0;
}

/* The lowest of the key's counters says how often the key may have been added; one that it names
 * twice counts twice as fast. A stuck one says nothing less than 15. */
uint32_t blm__counters_copies(const struct blm__body *b, const struct blm__layer *l,
                              const struct blm__keys *k, size_t i)
{
    (void)b;
    uint64_t   cell[BLM__MAX_PROBES];
    blm_digest d      = { .w = { k->hashes ? k->hashes[i] : 0 } };
    uint32_t   probes = blm__shape_probes(&l->shape), least = BLM__COUNTER_MAX;
    l->engine->positions(&l->shape, k->hashes ? &d : blm__digest_at(k, i), false, cell);
    for (uint32_t j = 0; j < probes; j++) {
        uint32_t named = 0, count = blm__counter_get(l, cell[j]);
        for (uint32_t t = 0; t < probes; t++)
            named += cell[t] == cell[j];
        if (count < BLM__COUNTER_MAX && count / named < least)
            least = count / named;
    }
    return least;
}

/* ---- two layers: counters side by side, eight at a time ---- */

static uint64_t add_half(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b, over = sum >> 4 & 0x0101010101010101u;
    return (sum | over * 15) & EVEN;
}
static uint64_t add_sixteen(uint64_t a, uint64_t b)
{
    return add_half(a & EVEN, b & EVEN) | add_half(a >> 4 & EVEN, b >> 4 & EVEN) << 4;
}
static uint64_t min_half(uint64_t a, uint64_t b)
{
    uint64_t a_not_less = ((a + 0x1010101010101010u - b) >> 4 & 0x0101010101010101u) * 15;
    return (b & a_not_less) | (a & ~a_not_less);
}
static uint64_t min_sixteen(uint64_t a, uint64_t b)
{
    return min_half(a & EVEN, b & EVEN) | min_half(a >> 4 & EVEN, b >> 4 & EVEN) << 4;
}

void blm__counters_unite(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src,
                         uint64_t n)
{
    (void)v;
    for (uint64_t i = 0; i < n; i++)
        dst[i] = blm__le64(add_sixteen(blm__le64(dst[i]), blm__le64(blm__load(&src[i]))));
}

void blm__counters_intersect(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src,
                             uint64_t n)
{
    (void)v;
    for (uint64_t i = 0; i < n; i++)
        dst[i] = blm__le64(min_sixteen(blm__le64(dst[i]), blm__le64(blm__load(&src[i]))));
}

/* ---- numbers ---- */

static uint64_t non_zero(uint64_t w) { return (w | w >> 1 | w >> 2 | w >> 3) & LOW; }
static uint64_t all_set(uint64_t w) { return w & w >> 1 & w >> 2 & w >> 3 & LOW; }

uint64_t blm__counters_ones(const struct blm__layer *l, const struct blm__kernel *v)
{
    uint64_t sum = 0;
    (void)v;
    for (uint64_t i = 0; i < l->word_count; i++)
        sum += BLM__POPCOUNT64(non_zero(sixteen(l, i)));
    return sum;
}

uint64_t blm__counters_ones_or(const struct blm__layer *a, const struct blm__layer *b,
                               const struct blm__kernel *v)
{
    uint64_t sum = 0;
    (void)v;
    for (uint64_t i = 0; i < a->word_count; i++)
        sum += BLM__POPCOUNT64(non_zero(sixteen(a, i) | sixteen(b, i)));
    return sum;
}

uint64_t blm__counters_stuck(const struct blm__layer *l)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < l->word_count; i++)
        sum += BLM__POPCOUNT64(all_set(sixteen(l, i)));
    return sum;
}

void blm__counters_reduce(const struct blm__layer *from, struct blm__layer *to)
{
    for (uint64_t i = 0; i < from->word_count; i++) {
        uint64_t set = non_zero(sixteen(from, i)), bits = 0;
        for (unsigned c = 0; c < 16; c++)
            bits |= (set >> (4 * c) & 1) << c;
        to->words[i / 4] |= blm__le64(bits << (16 * (i % 4)));
    }
}
