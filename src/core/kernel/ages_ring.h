/* SPDX-License-Identifier: MIT */
/*
 * Ages in batches, for instruction sets with vectors. Eight keys are taken a step: hashed where they are
 * 8-byte keys, the places of their spans found and their cells made, line after line. They wait in a
 * ring while their spans are fetched, and are then looked for, one after another (adds), or eight at once
 * (checks). One loop for all of it, as in core/kernel/stream.h, for the reasons given there.
 *
 *   take(place, stream, i, lines, ring, to)   keys i … i + 7 of the stream, to ring places to … to + 7
 *   has(place, ring, j, ages, lines)          is there an age that has the key of ring place j?
 *   look(place, ring, j, ages, lines)         the same of places j and j + 1: a byte each, not 0 …
 *   tell(eight, maybe)                        … of which eight become answers
 *
 * Keys behind the last whole step, layers of 2^32 spans and shared adds have the loops of
 * core/kernel/ages.h.
 */
#ifndef BLM_CORE_KERNEL_AGES_RING_H
#define BLM_CORE_KERNEL_AGES_RING_H

#include "core/kernel/ages.h"
#include "core/kernel/lines.h"

/* What of x a group's cell is made of (core/ages.h), and where that is, times seven, the cell. */
#define BLM__AGE_FIELD(group)  ((uint64_t)0x3fff << (5 + 6 * (group)))
#define BLM__AGE_NUMBER(group) ((uint64_t)7 << (19 + 6 * (group)))

/* By k and x >> 61: a byte for each group, 0x80 where a key does not use it. */
#define BLM__UNUSED_GROUP(p, j) ((uint64_t)((p) >> (j)&1 ? 0 : 0x80) << 8 * (j))
#define BLM__UNUSED_GROUPS(p)                                                      \
    (BLM__UNUSED_GROUP(p, 0) | BLM__UNUSED_GROUP(p, 1) | BLM__UNUSED_GROUP(p, 2) | \
     BLM__UNUSED_GROUP(p, 3) | BLM__UNUSED_GROUP(p, 4) | BLM__UNUSED_GROUP(p, 5) | \
     BLM__UNUSED_GROUP(p, 6) | BLM__UNUSED_GROUP(p, 7))
#if defined(BLM__HAVE_AVX2) || defined(BLM__HAVE_AVX512)
static const _Alignas(64) uint64_t blm__unused_groups[9][8] = BLM__LINE_TABLE(BLM__UNUSED_GROUPS);
#endif

#define BLM__AGES_RING 128u /* a power of two, and two steps more than … */
#define BLM__AGES_FAR  48u  /* … keys between asking for spans and using them, … */
#define BLM__AGES_NEAR 8u   /* … and in cache */

struct blm__ages_ring {
    _Alignas(64) uint64_t at[BLM__MAX_LINES][BLM__AGES_RING]; /* spans: bytes from the first */
    _Alignas(
        64) uint64_t mask[BLM__MAX_LINES][BLM__AGES_RING]; /* cells, and all of the tag's bits */
};

/* A layer and a turn, as its keys are looked for. */
struct blm__ages_place {
    uint64_t *words;
    uint64_t  spans;
    uint32_t  ages, k, lines;
    uint32_t  now;   /* the word that is added to: bytes into its span */
    uint64_t  young; /* its tag */
    /* The tags of the words of a span, and ones for their cells: exclusive-ored with the words that
     * leaves what is missing. */
    _Alignas(64) uint64_t other[BLM__AGES_MOST];
};

BLM__INLINE void blm__ages_place_of(const struct blm__layer *l, const struct blm__age_turn *t,
                                    uint32_t ages, struct blm__ages_place *p)
{
    p->words = l->words;
    p->spans = l->shape.line_count;
    p->ages  = ages;
    p->k     = l->shape.probes;
    p->lines = l->shape.lines;
    p->now   = t->at * 8;
    p->young = t->young;
    for (uint32_t j = 0; j < ages; j++)
        p->other[j] = blm__age_tag(t, j) | ~BLM__AGE_TAG;
}

typedef void (*blm__ages_take)(const struct blm__ages_place *p, const struct blm__stream *s,
                               size_t i, uint32_t lines, struct blm__ages_ring *r, size_t to);
typedef uint32_t (*blm__ages_look)(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                                   size_t j, uint32_t ages, uint32_t lines);
typedef void (*blm__ages_tell)(uint64_t ages, uint8_t *maybe);
typedef bool (*blm__ages_has)(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                              size_t j, uint32_t ages, uint32_t lines);

BLM__INLINE uint64_t *blm__ages_span(const struct blm__ages_place *p,
                                     const struct blm__ages_ring *r, uint32_t line, size_t j)
{
    return (uint64_t *)(void *)((uint8_t *)p->words + r->at[line][j]);
}

BLM__INLINE void blm__ages_ask(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                               size_t j, uint32_t ages, uint32_t lines, bool write)
{
    for (uint32_t i = 0; i < lines; i++) {
        const uint64_t *span = blm__ages_span(p, r, i, j);
        for (uint32_t c = 0; c < ages; c += 8)
            if (write)
                BLM__PREFETCH_W(span + c);
            else
                BLM__PREFETCH(span + c);
    }
}

/* blm__age_put of a layer that nobody watches, without branches: of the same turn the cells that are
 * there stay. */
BLM__INLINE void blm__ages_put(const struct blm__ages_place *p, const struct blm__ages_ring *r,
                               size_t j, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++) {
        uint64_t *w = (uint64_t *)(void *)((uint8_t *)p->words + r->at[i][j] + p->now), v = *w;
        uint64_t  put = (r->mask[i][j] & ~BLM__AGE_TAG) | p->young;
        *w            = put | ((v ^ p->young) & BLM__AGE_TAG ? 0 : v);
    }
}

BLM__INLINE void blm__ages_put_marked(struct blm__layer *l, const struct blm__ages_place *p,
                                      const struct blm__ages_ring *r, size_t j, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++)
        blm__age_put(l, (r->at[i][j] + p->now) / 8, p->young, r->mask[i][j] & ~BLM__AGE_TAG, false);
}

/* Takes the step that begins with key i, if there is one. */
BLM__INLINE void blm__ages_step(const struct blm__ages_place *p, const struct blm__stream *s,
                                size_t i, uint32_t lines, struct blm__ages_ring *r,
                                blm__ages_take take)
{
    if (i >= s->n)
        return;
    if (s->keys)
        BLM__PREFETCH_NEAR((const void *)((uintptr_t)s->from + 8 * i + BLM__KEYS_AHEAD));
    take(p, s, i, lines, r, i % BLM__AGES_RING);
}

/* The step that begins at `in` is asked for, and the one at `out` looked for, by turns: a processor that
 * is given many fetches in a row waits for them before it goes on. Both are places in the ring. */
BLM__INLINE void blm__ages_check_step(const struct blm__ages_place *p,
                                      const struct blm__ages_ring *r, size_t in, size_t out,
                                      bool ask, bool answer, uint32_t ages, uint32_t lines,
                                      uint8_t *maybe, blm__ages_look look, blm__ages_tell tell)
{
    uint64_t eight = 0;
    for (size_t q = 0; q < BLM__STEP; q += 2) {
        for (size_t i = q; ask && i < q + 2; i++)
            blm__ages_ask(p, r, in + i, ages, lines, false);
        if (answer)
            eight |= (uint64_t)look(p, r, out + q, ages, lines) << 8 * q;
    }
    if (answer)
        tell(eight, maybe);
}

BLM__INLINE size_t blm__ages_slot(size_t i) { return i % BLM__AGES_RING; }

/* Whole steps only. A step is taken one before it is asked for, so that the fetches do not wait for its
 * products. */
BLM__INLINE void blm__ages_check_ring(const struct blm__ages_place *p, struct blm__stream s,
                                      uint8_t *maybe, bool far, uint32_t ages, uint32_t lines,
                                      blm__ages_take take, blm__ages_look look, blm__ages_tell tell)
{
    const size_t          ahead = far ? BLM__AGES_FAR : BLM__AGES_NEAR;
    struct blm__ages_ring r;
    size_t                i = 0;
    blm__ages_step(p, &s, 0, lines, &r, take);
    for (; i < s.n && i < ahead; i += BLM__STEP) {
        blm__ages_step(p, &s, i + BLM__STEP, lines, &r, take);
        blm__ages_check_step(p, &r, blm__ages_slot(i), 0, far, false, ages, lines, maybe, look,
                             tell);
    }
    for (; i < s.n; i += BLM__STEP) {
        blm__ages_step(p, &s, i + BLM__STEP, lines, &r, take);
        blm__ages_check_step(p, &r, blm__ages_slot(i), blm__ages_slot(i - ahead), far, true, ages,
                             lines, maybe + i - ahead, look, tell);
    }
    for (i = blm__stream_left(s.n, ahead); i < s.n; i += BLM__STEP)
        blm__ages_check_step(p, &r, 0, blm__ages_slot(i), false, true, ages, lines, maybe + i, look,
                             tell);
}

/* Adds one key, and says whether no age had it. */
BLM__INLINE uint8_t blm__ages_add_key(struct blm__layer *l, const struct blm__ages_place *p,
                                      const struct blm__ages_ring *r, size_t j, bool marks,
                                      uint32_t ages, uint32_t lines, blm__ages_has has)
{
    bool fresh = !has(p, r, j, ages, lines);
    if (marks)
        blm__ages_put_marked(l, p, r, j, lines);
    else
        blm__ages_put(p, r, j, lines);
    return fresh;
}

BLM__INLINE void blm__ages_add_ring(struct blm__layer *l, const struct blm__ages_place *p,
                                    struct blm__stream s, uint8_t *fresh, bool far, bool marks,
                                    uint32_t ages, uint32_t lines, blm__ages_take take,
                                    blm__ages_has has)
{
    const size_t          ahead = far ? BLM__AGES_FAR : BLM__AGES_NEAR;
    struct blm__ages_ring r;
    size_t                i = 0;
    blm__ages_step(p, &s, 0, lines, &r, take);
    for (; i < s.n && i < ahead; i += BLM__STEP) {
        blm__ages_step(p, &s, i + BLM__STEP, lines, &r, take);
        for (size_t q = 0; far && q < BLM__STEP; q++)
            blm__ages_ask(p, &r, blm__ages_slot(i) + q, ages, lines, true);
    }
    for (; i < s.n; i += BLM__STEP) {
        blm__ages_step(p, &s, i + BLM__STEP, lines, &r, take);
        for (size_t q = 0; q < BLM__STEP; q++) {
            if (far)
                blm__ages_ask(p, &r, blm__ages_slot(i) + q, ages, lines, true);
            fresh[i - ahead + q] =
                blm__ages_add_key(l, p, &r, blm__ages_slot(i - ahead) + q, marks, ages, lines, has);
        }
    }
    for (i = blm__stream_left(s.n, ahead); i < s.n; i++)
        fresh[i] = blm__ages_add_key(l, p, &r, blm__ages_slot(i), marks, ages, lines, has);
}

/* ---- the loop that fits the layer: the commonest have constants ---- */

BLM__INLINE void blm__ages_check_steps(const struct blm__layer *l, const struct blm__age_turn *t,
                                       struct blm__stream s, uint8_t *maybe, blm__ages_take take,
                                       blm__ages_look look, blm__ages_tell tell)
{
    const uint32_t         ages = blm__ages_of(&l->shape), lines = l->shape.lines;
    const bool             far = !blm__layer_small(l);
    struct blm__ages_place p;
    blm__ages_place_of(l, t, ages, &p);
    if (ages == 8 && lines == 1)
        blm__ages_check_ring(&p, s, maybe, far, 8, 1, take, look, tell);
    else if (ages == 8 && lines == 2)
        blm__ages_check_ring(&p, s, maybe, far, 8, 2, take, look, tell);
    else
        blm__ages_check_ring(&p, s, maybe, far, ages, lines, take, look, tell);
}

BLM__INLINE void blm__ages_add_steps(struct blm__layer *l, const struct blm__age_turn *t,
                                     struct blm__stream s, uint8_t *fresh, blm__ages_take take,
                                     blm__ages_has has)
{
    const uint32_t         ages = blm__ages_of(&l->shape), lines = l->shape.lines;
    const bool             far = !blm__layer_small(l), marks = l->marks != NULL;
    struct blm__ages_place p;
    blm__ages_place_of(l, t, ages, &p);
    if (ages == 8 && lines == 1 && !marks)
        blm__ages_add_ring(l, &p, s, fresh, far, false, 8, 1, take, has);
    else if (ages == 8 && lines == 2 && !marks)
        blm__ages_add_ring(l, &p, s, fresh, far, false, 8, 2, take, has);
    else
        blm__ages_add_ring(l, &p, s, fresh, far, marks, ages, lines, take, has);
}

/* The hashes of the keys behind the last whole step, of all of them where steps cannot be. Their spans
 * are asked for before all others. */
struct blm__ages_odd {
    uint64_t h[BLM__STEP];
    size_t   n;
};

BLM__INLINE void blm__ages_odd_take(struct blm__ages_odd *o, const struct blm__layer *l,
                                    const struct blm__stream *s, bool write)
{
    o->n = s->n % BLM__STEP;
    for (size_t i = 0; i < o->n; i++) {
        o->h[i] = blm__stream_hash(s, s->n - o->n + i);
        if (!blm__layer_small(l))
            blm__span_fetch(l, o->h[i], blm__ages_of(&l->shape), write);
    }
}

/* isa: as in BLM__AGES_LOOPS, which stands before. */
#define BLM__AGES_STREAMS(isa, TARGET, INLINE, take, look, tell, has)                              \
    INLINE size_t blm__ages_check_stream_##isa(const struct blm__layer    *l,                      \
                                               const struct blm__age_turn *t,                      \
                                               struct blm__stream s, uint8_t *maybe)               \
    {                                                                                              \
        struct blm__ages_odd odd;                                                                  \
        blm__ages_odd_take(&odd, l, &s, false);                                                    \
        s.n -= odd.n;                                                                              \
        blm__ages_check_steps(l, t, s, maybe, take, look, tell);                                   \
        return blm__ones(maybe, s.n) + blm__ages_check_##isa(l, t, odd.h, odd.n, maybe + s.n);     \
    }                                                                                              \
    INLINE size_t blm__ages_add_stream_##isa(struct blm__layer *l, const struct blm__age_turn *t,  \
                                             struct blm__stream s, uint8_t *fresh)                 \
    {                                                                                              \
        struct blm__ages_odd odd;                                                                  \
        blm__ages_odd_take(&odd, l, &s, true);                                                     \
        s.n -= odd.n;                                                                              \
        blm__ages_add_steps(l, t, s, fresh, take, has);                                            \
        return blm__ones(fresh, s.n) + blm__ages_add_##isa(l, t, odd.h, odd.n, fresh + s.n);       \
    }                                                                                              \
    TARGET static size_t blm__ages_check_many_##isa(const struct blm__layer    *l,                 \
                                                    const struct blm__age_turn *t,                 \
                                                    const uint64_t *h, size_t n, uint8_t *maybe)   \
    {                                                                                              \
        if (n < BLM__STEP || l->shape.line_count >> 32)                                            \
            return blm__ages_check_##isa(l, t, h, n, maybe);                                       \
        return blm__ages_check_stream_##isa(l, t, blm__stream_hashes(h, n), maybe);                \
    }                                                                                              \
    TARGET static size_t blm__ages_add_many_##isa(struct blm__layer          *l,                   \
                                                  const struct blm__age_turn *t,                   \
                                                  const uint64_t *h, size_t n, uint8_t *fresh)     \
    {                                                                                              \
        if (n < BLM__STEP || l->shape.line_count >> 32)                                            \
            return blm__ages_add_##isa(l, t, h, n, fresh);                                         \
        return blm__ages_add_stream_##isa(l, t, blm__stream_hashes(h, n), fresh);                  \
    }                                                                                              \
    TARGET static size_t blm__ages_check8_##isa(const struct blm__layer    *l,                     \
                                                const struct blm__age_turn *t, uint64_t flip,      \
                                                const void *keys, size_t n, uint8_t *maybe)        \
    {                                                                                              \
        return blm__ages_check_stream_##isa(l, t, blm__stream_keys(keys, n, flip), maybe);         \
    }                                                                                              \
    TARGET static size_t blm__ages_add8_##isa(struct blm__layer *l, const struct blm__age_turn *t, \
                                              uint64_t flip, const void *keys, size_t n,           \
                                              uint8_t *fresh)                                      \
    {                                                                                              \
        return blm__ages_add_stream_##isa(l, t, blm__stream_keys(keys, n, flip), fresh);           \
    }

#define BLM__AGES_ROWS(isa)                                                     \
    .check = blm__ages_check_many_##isa, .add = blm__ages_add_many_##isa,       \
    .add_shared = blm__ages_add_shared_##isa, .check8 = blm__ages_check8_##isa, \
    .add8 = blm__ages_add8_##isa

#endif
