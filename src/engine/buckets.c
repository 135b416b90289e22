/* SPDX-License-Identifier: MIT */
/*
 * Buckets: each key is a fingerprint in one of two buckets of four cells (core/probe.h). A key whose
 * buckets are both full has others moved to theirs: the shortest way to a free cell is looked for,
 * breadth first, and walked from its end, so that every fingerprint is in its new place before its
 * old one is overwritten. A killed process loses none, and leaves at worst one twice.
 *
 * At 95% full a bucket has a free cell one time in five: of 1024 buckets looked at one nearly always
 * has. Tables planned by maths/plan_buckets.c take their keys; docs/maths.md, "Cuckoo", has figures.
 */
#include "core/kernel/buckets.h"

#include "core/kernel/loops.h"
#include "engine/engine.h"
#include "maths/sizing.h"

#define LOOKED_AT 1024u /* buckets, at most, for a free cell */
#define LOOKS     8u    /* again, while others move fingerprints; then nobody knows */

/* ---- cells ---- */

static uint64_t cell_mask(const struct blm__layer *l)
{
    return ((uint64_t)1 << l->shape.cell_bits) - 1;
}

static uint64_t cell_get(const struct blm__layer *l, uint64_t cell)
{
    return blm__bits_from(l->words, cell * l->shape.cell_bits) & cell_mask(l);
}

static void word_put(struct blm__layer *l, uint64_t w, uint64_t mask, uint64_t value, bool shared)
{
    if (mask == 0)
        return;
    if (l->marks)
        blm__mark(l, w);
    uint64_t old = blm__le64(blm__load(&l->words[w]));
    __atomic_store_n(&l->words[w], blm__le64((old & ~mask) | value), __ATOMIC_RELEASE);
    if (l->marks && shared)
        blm__mark(l, w); /* again, for a sync that ran meanwhile */
}

static void cell_put(struct blm__layer *l, uint64_t cell, uint64_t value, bool shared)
{
    uint64_t bit = cell * l->shape.cell_bits, w = bit >> 6, mask = cell_mask(l);
    unsigned shift = (unsigned)bit & 63;
    word_put(l, w, mask << shift, value << shift, shared);
    word_put(l, w + 1, mask >> 1 >> (63 - shift), value >> 1 >> (63 - shift), shared);
}

/* The first cell of a bucket with this value; UINT64_MAX: none has. */
static uint64_t cell_find(const struct blm__layer *l, struct blm__cells c, uint64_t bucket,
                          uint64_t value)
{
    if (!blm__bucket_has(l, c, bucket, value))
        return UINT64_MAX;
    uint64_t cell = bucket * BLM__BUCKET;
    while (cell_get(l, cell) != value)
        cell++;
    return cell;
}

/* ---- moves, and who reads meanwhile ---- */

static uint64_t *moves_of(const struct blm__layer *l)
{
    if (l->moves)
        return l->moves;
    return l->stripes ? (uint64_t *)(void *)&l->stripes[BLM__MOVES].count : NULL;
}

/* Only one thread adds. */
static void count_move(struct blm__layer *l)
{
    uint64_t *m = moves_of(l);
    if (m)
        __atomic_store_n(m, __atomic_load_n(m, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

static uint64_t moves_now(const uint64_t *m) { return __atomic_load_n(m, __ATOMIC_ACQUIRE); }

static bool has(const struct blm__layer *l, uint64_t h)
{
    const uint64_t   *m = moves_of(l);
    struct blm__cells c = blm__cells_of(l);
    struct blm__pair  p = blm__pair_of(l, h);
    if (!m)
        return blm__pair_has(l, c, p);
    for (unsigned i = 0; i < LOOKS; i++) {
        uint64_t before = moves_now(m);
        if (blm__pair_has(l, c, p))
            return true;
        if (moves_now(m) == before)
            return false;
    }
    return true;
}

/* ---- keys ---- */

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    const uint64_t *m      = moves_of(l);
    uint64_t        before = m ? moves_now(m) : 0;
    size_t          hits   = b->kernel->buckets->check(l, k->hashes, k->n, maybe);
    if (!m || hits == k->n || moves_now(m) == before)
        return hits;
    for (size_t i = 0; i < k->n; i++)
        if (!maybe[i])
            hits += maybe[i] = has(l, k->hashes[i]);
    return hits;
}

static void deciding(const struct blm__layer *l, uint64_t h, uint64_t *cell)
{
    struct blm__pair p = blm__pair_of(l, h);
    for (uint32_t i = 0; i < 2 * BLM__BUCKET; i++)
        cell[i] = p.bucket[i / BLM__BUCKET] * BLM__BUCKET + i % BLM__BUCKET;
}

static bool decides(const struct blm__layer *l, uint64_t h, const uint64_t *value)
{
    uint64_t print = blm__fingerprint_of(h, l->shape.cell_bits);
    for (uint32_t i = 0; i < 2 * BLM__BUCKET; i++)
        if (value[i] == print)
            return true;
    return false;
}

static bool check_one(const struct blm__body *b, const struct blm__layer *l, uint64_t h)
{
    (void)b;
    return has(l, h);
}

static uint32_t copies(const struct blm__body *b, const struct blm__layer *l,
                       const struct blm__keys *k, size_t i)
{
    (void)b;
    struct blm__cells c   = blm__cells_of(l);
    struct blm__pair  p   = blm__pair_of(l, k->hashes[i]);
    uint32_t          sum = 0;
    for (unsigned t = 0; t < 2; t++)
        for (unsigned half = 0; half < 1u + c.wide; half++)
            sum += BLM__POPCOUNT64(blm__bucket_holds(l, c, p.bucket[t], p.print, half));
    return sum;
}

static void fetch(const struct blm__layer *l, const struct blm__keys *k)
{
    if (k->n == 1 || blm__layer_small(l))
        return;
    for (size_t i = 0; i < k->n; i++) {
        struct blm__pair p = blm__pair_of(l, k->hashes[i]);
        BLM__PREFETCH_W(blm__bucket_at(l, p.bucket[0]));
        BLM__PREFETCH_W(blm__bucket_at(l, p.bucket[1]));
    }
}

/* A bucket on the way from a key's own, which have no parent. */
struct step {
    uint64_t bucket;
    int32_t  parent;
    uint32_t cell; /* of the parent: its fingerprint may go here */
};

static bool on_the_way(const struct step *s, int32_t at, uint64_t bucket)
{
    while (at >= 0 && s[at].bucket != bucket)
        at = s[at].parent;
    return at >= 0;
}

/* Moves the fingerprints along the way that ends in this free cell; the cell that becomes free. */
static uint64_t walk_back(struct blm__layer *l, const struct step *s, int32_t at, uint32_t cell,
                          uint64_t free_cell, bool shared)
{
    while (at >= 0) {
        uint64_t from = s[at].bucket * BLM__BUCKET + cell;
        cell_put(l, free_cell, cell_get(l, from), shared);
        count_move(l);
        free_cell = from;
        cell      = s[at].cell;
        at        = s[at].parent;
    }
    return free_cell;
}

static uint64_t make_room(struct blm__layer *l, struct blm__cells c, struct blm__pair p,
                          bool shared)
{
    struct step s[LOOKED_AT];
    uint64_t    n     = l->shape.line_count;
    uint32_t    steps = 2;
    s[0]              = (struct step){ p.bucket[0], -1, 0 };
    s[1]              = (struct step){ p.bucket[1], -1, 0 };
    for (uint32_t at = 0; at < steps; at++) {
        uint64_t other[BLM__BUCKET];
        for (uint32_t cell = 0; cell < BLM__BUCKET; cell++) {
            uint64_t print = cell_get(l, s[at].bucket * BLM__BUCKET + cell);
            other[cell]    = p.part + blm__other_bucket(s[at].bucket - p.part, print, n);
            BLM__PREFETCH_W(blm__bucket_at(l, other[cell]));
        }
        for (uint32_t cell = 0; cell < BLM__BUCKET; cell++) {
            if (on_the_way(s, (int32_t)at, other[cell]))
                continue;
            uint64_t free_cell = cell_find(l, c, other[cell], 0);
            if (free_cell != UINT64_MAX)
                return walk_back(l, s, (int32_t)at, cell, free_cell, shared);
            if (steps < LOOKED_AT)
                s[steps++] = (struct step){ other[cell], (int32_t)at, cell };
        }
    }
    return UINT64_MAX;
}

static bool place(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  size_t i, bool move)
{
    struct blm__cells c    = blm__cells_of(l);
    struct blm__pair  p    = blm__pair_of(l, k->hashes[i]);
    uint64_t          cell = cell_find(l, c, p.bucket[0], 0);
    if (cell == UINT64_MAX)
        cell = cell_find(l, c, p.bucket[1], 0);
    if (cell == UINT64_MAX && move)
        cell = make_room(l, c, p, b->shared);
    if (cell == UINT64_MAX)
        return false;
    cell_put(l, cell, p.print, b->shared);
    return true;
}

static bool take(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                 size_t i)
{
    struct blm__cells c    = blm__cells_of(l);
    struct blm__pair  p    = blm__pair_of(l, k->hashes[i]);
    uint64_t          cell = cell_find(l, c, p.bucket[0], p.print);
    if (cell == UINT64_MAX)
        cell = cell_find(l, c, p.bucket[1], p.print);
    if (cell != UINT64_MAX)
        cell_put(l, cell, 0, b->shared);
    return cell != UINT64_MAX;
}

/* ---- numbers ---- */

static uint64_t ones(const struct blm__layer *l, const struct blm__kernel *v)
{
    (void)v;
    struct blm__cells c    = blm__cells_of(l);
    uint64_t          free = 0;
    for (uint64_t i = 0; i < blm__bucket_count(l); i++)
        for (unsigned half = 0; half < 1u + c.wide; half++)
            free += BLM__POPCOUNT64(blm__bucket_holds(l, c, i, 0, half));
    return l->shape.bits - free;
}

static double rate_now(const struct blm__layer *l, uint64_t used)
{
    return blm__rate_buckets(l->shape.bits, l->shape.cell_bits, used);
}

static double rate_at(const struct blm__shape *s, uint64_t n)
{
    return blm__rate_buckets(s->bits, s->cell_bits, n);
}

const struct blm__engine blm__engine_buckets = {
    .name        = "buckets",
    .rule        = BLM__BUCKETS,
    .cell_least  = BLM__FINGERPRINT_MIN,
    .cell_most   = BLM__FINGERPRINT_MAX,
    .kinds       = 1u << BLM_CUCKOO,
    .native      = true,
    .model       = BLM_MODEL_BUCKETS,
    .check       = check,
    .check_one   = check_one,
    .deciding    = deciding,
    .deciders    = 2 * BLM__BUCKET,
    .decides     = decides,
    .place       = place,
    .take        = take,
    .copies      = copies,
    .fetch       = fetch,
    .moves       = true,
    .most_copies = 2 * BLM__BUCKET,
    .exact       = true,
    .ones        = ones,
    .rate_now    = rate_now,
    .rate_at     = rate_at,
};
