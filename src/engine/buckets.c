/* SPDX-License-Identifier: MIT */
/*
 * Buckets: each key is a fingerprint in one of two buckets of four cells (core/probe.h). A key whose
 * buckets are both full has others moved to theirs: the shortest way to a free cell is looked for,
 * breadth first, and walked from its end, so that every fingerprint is in its new place before its
 * old one is overwritten. A killed process loses none, and leaves at worst one twice. In a file every
 * cell that is going to be overwritten is saved first, for a power cut (store/file_undo.c).
 *
 * At 95% full a bucket has a free cell one time in five: of 1024 buckets looked at one nearly always
 * has. Tables planned by maths/plan_buckets.c take their keys; docs/maths.md, "Cuckoo", has figures.
 */
#include <math.h>

#include "core/kernel/buckets.h"

#include "core/kernel/loops.h"
#include "engine/runs.h"
#include "maths/sizing.h"

#define LOOKED_AT 1024u  /* buckets, at most, for a free cell */
#define ASKED     6u     /* buckets of such a search from which the next are asked for */
#define AHEAD     32u    /* adds whose buckets are asked for */
#define SAMPLE    65536u /* buckets that are looked at for the rate */
#define LOOKS     8u     /* again, while others move fingerprints; then nobody knows */

/* ---- cells ---- */

static uint64_t cell_mask(const struct blm__layer *l)
{
    return ((uint64_t)1 << l->shape.cell_bits) - 1;
}

static uint64_t cell_get(const struct blm__layer *l, uint64_t cell)
{
    uint32_t f = l->shape.cell_bits;
    return blm__bits_from(l->words, cell * f, f) & cell_mask(l);
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

/* A cell by its first bit. */
static void bits_put(struct blm__layer *l, uint64_t bit, uint64_t value, bool shared)
{
    uint64_t w = bit >> 6, mask = cell_mask(l);
    unsigned shift = (unsigned)bit & 63;
    word_put(l, w, mask << shift, value << shift, shared);
    word_put(l, w + 1, mask >> 1 >> (63 - shift), value >> 1 >> (63 - shift), shared);
}

#define NONE UINT64_MAX

/* A bucket as it was read: four cells in one word, wide ones in two. */
struct bucket {
    uint64_t bit, v[2];
};

/* The first cell of a bucket with some value, by its first bit, and how many there are. */
struct found {
    uint64_t bit; /* if count is not 0 */
    unsigned count;
};

BLM__INLINE struct bucket bucket_get(const struct blm__layer *l, struct blm__cells c, uint64_t at)
{
    struct bucket b = { .bit = at * BLM__BUCKET * c.bits };
    b.v[0]          = blm__bits_from(l->words, b.bit, c.span);
    if (c.wide)
        b.v[1] = blm__bits_from(l->words, b.bit + 2 * c.bits, c.span);
    return b;
}

BLM__INLINE unsigned cells_in(uint64_t highs, struct blm__cells c)
{
    return (unsigned)((highs >> (c.bits - 1)) * c.low >> (c.wide ? 1 : 3) * c.bits) & 7;
}

/* No branch but for wide cells: half of those that a search takes could not be foretold. */
BLM__INLINE struct found find(struct bucket b, struct blm__cells c, uint64_t value)
{
    uint64_t highs = blm__zeroes(b.v[0] ^ value * c.low, c), last = (uint64_t)1 << 63;
    unsigned count = cells_in(highs, c);
    if (c.wide) {
        uint64_t more = blm__zeroes(b.v[1] ^ value * c.low, c);
        count += cells_in(more, c);
        if (!highs) {
            highs = more;
            b.bit += 2 * c.bits;
        }
    }
    return (struct found){ b.bit + BLM__LOWEST64(highs | last) - (c.bits - 1), count };
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

/* Again, after buckets that were read by plain loads: not before them. (Nothing on x86-64.) */
static uint64_t moves_after(const uint64_t *m)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return moves_now(m);
}

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
        if (moves_after(m) == before)
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
    if (!m || hits == k->n || moves_after(m) == before)
        return hits;
    for (size_t i = 0; i < k->n; i++)
        if (!maybe[i])
            hits += maybe[i] = has(l, k->hashes[i]);
    return hits;
}

static bool takes(const struct blm__body *b, const struct blm__layer *l, const struct blm__keys *k)
{
    (void)l;
    return blm__run_eights(b, k);
}

static size_t check_raw(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, uint8_t *maybe)
{
    const struct blm__kernel *v      = b->kernel;
    const uint8_t            *key    = k->fixed;
    uint64_t                  flip   = blm__hasher_flip(&b->hasher), h;
    const uint64_t           *m      = moves_of(l);
    uint64_t                  before = m ? moves_now(m) : 0;
    size_t                    hits   = v->buckets->check8(l, v, flip, key, k->n, maybe);
    if (!m || hits == k->n || moves_after(m) == before)
        return hits;
    for (size_t i = 0; i < k->n; i++)
        if (!maybe[i]) {
            v->hash8(flip, key + 8 * i, 1, &h);
            hits += maybe[i] = has(l, h);
        }
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
        BLM__PREFETCH_NEAR(blm__bucket_at(l, p.bucket[0]));
        BLM__PREFETCH_NEAR(blm__bucket_at(l, p.bucket[1]));
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

/* Saves the cells along the way, all before the first is overwritten. */
static bool save_way(const struct blm__body *b, const struct blm__layer *l, const struct step *s,
                     int32_t at, uint32_t cell)
{
    uint32_t f = l->shape.cell_bits;
    for (; at >= 0; cell = s[at].cell, at = s[at].parent)
        if (!blm__save(b, l, (s[at].bucket * BLM__BUCKET + cell) * f, f))
            return false;
    return true;
}

/* Moves the fingerprints along the way that ends in this free cell; the cell that becomes free. */
static uint64_t walk_back(const struct blm__body *b, struct blm__layer *l, const struct step *s,
                          int32_t at, uint32_t cell, uint64_t free_bit)
{
    if (!save_way(b, l, s, at, cell))
        return NONE;
    while (at >= 0) {
        uint64_t from = s[at].bucket * BLM__BUCKET + cell;
        bits_put(l, free_bit, cell_get(l, from), b->shared);
        count_move(l);
        free_bit = from * l->shape.cell_bits;
        cell     = s[at].cell;
        at       = s[at].parent;
    }
    return free_bit;
}

/* Two buckets to go on from, the second again the first where there is no other. */
struct two {
    uint64_t bucket[2];
};

static struct two two_at(const struct step *s, uint32_t at, uint32_t steps)
{
    return (struct two){ { s[at].bucket, s[at + (at + 1 < steps)].bucket } };
}

/* Who looks around: vectors read by plain loads, and others may remove from a shared filter. */
static const struct blm__buckets *searches(const struct blm__body *b, const struct blm__layer *l)
{
    const struct blm__buckets *v = b->kernel->buckets;
    return v->around && blm__buckets_vectors(l) && !b->shared ? v : &blm__buckets_portable;
}

/* A free cell, by its first bit, in one of these two full buckets; NONE: there is no way to one, or
 * what lies on it cannot be saved.
 * Nearer buckets are looked at first, so that the way found is a shortest one and has no bucket twice:
 * from a bucket's second place in the list nothing is reached that was not seen from its first. To leave
 * such places out is for the list's sake, which is short. */
static uint64_t make_room(const struct blm__body *b, struct blm__layer *l, struct blm__cells c,
                          struct blm__pair p)
{
    const struct blm__buckets *v = searches(b, l);
    struct step                s[LOOKED_AT];
    uint32_t                   steps = 2, asked = 0;
    unsigned                   looked;
    uint64_t                   other[2 * BLM__BUCKET];
    s[0] = (struct step){ p.bucket[0], -1, 0 };
    s[1] = (struct step){ p.bucket[1], -1, 0 };
    for (uint32_t at = 0; at < steps; at += looked / BLM__BUCKET) {
        for (; asked < steps && asked < at + ASKED; asked += 2)
            v->ask_around(l, p.part, two_at(s, asked, steps).bucket);
        looked     = at + 1 < steps ? 2 * BLM__BUCKET : BLM__BUCKET;
        unsigned i = v->around(l, p.part, two_at(s, at, steps).bucket, other);
        if (i < looked) {
            struct found f = find(bucket_get(l, c, other[i]), c, 0);
            return walk_back(b, l, s, (int32_t)(at + i / BLM__BUCKET), i % BLM__BUCKET, f.bit);
        }
        for (i = 0; i < looked && steps < LOOKED_AT; i++) {
            struct step next = { other[i], (int32_t)(at + i / BLM__BUCKET), i % BLM__BUCKET };
            if (!on_the_way(s, next.parent, next.bucket))
                s[steps++] = next;
        }
    }
    return NONE;
}

/* Of two buckets, the one with more free cells: so they fill evenly, and it is late that both of a
 * key are full. 7.7% of the adds up to 95% must move others; 12.2% where the first bucket is taken if
 * it has a free cell. NONE: both are full. */
BLM__INLINE uint64_t free_bit(struct bucket x, struct bucket y, struct blm__cells c)
{
    struct found a = find(x, c, 0), b = find(y, c, 0);
    uint64_t     second = -(uint64_t)(b.count > a.count);
    return BLM__UNLIKELY(a.count + b.count == 0) ? NONE : (a.bit & ~second) | (b.bit & second);
}

static bool place(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  size_t i, bool move)
{
    struct blm__cells c = blm__cells_of(l);
    struct blm__pair  p = blm__pair_of(l, k->hashes[i]);
    uint64_t bit        = free_bit(bucket_get(l, c, p.bucket[0]), bucket_get(l, c, p.bucket[1]), c);
    if (bit == NONE && move)
        bit = make_room(b, l, c, p);
    if (bit == NONE)
        return false;
    bits_put(l, bit, p.print, b->shared);
    return true;
}

static bool take(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                 size_t i)
{
    struct blm__cells c = blm__cells_of(l);
    struct blm__pair  p = blm__pair_of(l, k->hashes[i]);
    struct found      f = find(bucket_get(l, c, p.bucket[0]), c, p.print);
    if (!f.count)
        f = find(bucket_get(l, c, p.bucket[1]), c, p.print);
    if (!f.count || !blm__save(b, l, f.bit, c.bits))
        return false;
    bits_put(l, f.bit, 0, b->shared);
    return true;
}

/* ---- batches of adds ---- */

BLM__INLINE bool put(const struct blm__body *b, struct blm__layer *l, struct blm__cells c,
                     struct blm__pair p, uint8_t *fresh)
{
    struct bucket x = bucket_get(l, c, p.bucket[0]), y = bucket_get(l, c, p.bucket[1]);
    unsigned      had = find(x, c, p.print).count + find(y, c, p.print).count;
    uint64_t      bit = free_bit(x, y, c);
    if (BLM__UNLIKELY(bit == NONE) && had < 2 * BLM__BUCKET)
        bit = make_room(b, l, c, p);
    if (BLM__UNLIKELY(bit == NONE))
        return false;
    bits_put(l, bit, p.print, b->shared);
    *fresh = had == 0;
    return true;
}

/* One bucket in sixteen lies in two lines. */
BLM__INLINE void ask_for(const struct blm__layer *l, struct blm__pair p)
{
    for (unsigned t = 0; t < 2; t++) {
        const uint8_t *at = blm__bucket_at(l, p.bucket[t]);
        BLM__PREFETCH_NEAR(at);
        BLM__PREFETCH_NEAR(at + l->shape.cell_bits / 2);
    }
}

/* The buckets of a key are asked for AHEAD keys before its turn. Those where room will have to be made
 * could be asked for too, but to look for that costs more than it gives (51 ns an add, without 43). */
BLM__INLINE size_t put_all(const struct blm__body *b, struct blm__layer *l,
                           const struct blm__keys *k, struct blm__cells c, uint8_t *fresh)
{
    bool             fetch = k->n > 1 && !blm__layer_small(l);
    struct blm__pair ring[AHEAD];
    for (size_t i = 0; i < k->n + AHEAD; i++) {
        struct blm__pair *p = &ring[i % AHEAD];
        if (i >= AHEAD && !put(b, l, c, *p, &fresh[i - AHEAD]))
            return i - AHEAD;
        if (i < k->n)
            *p = blm__pair_of(l, k->hashes[i]);
        if (fetch && i < k->n)
            ask_for(l, *p);
    }
    return k->n;
}

static bool put_hard(const struct blm__body *b, struct blm__layer *l, struct blm__pair p,
                     uint8_t *fresh)
{
    struct blm__cells c = blm__cells_of(l);
    c.wide              = false; /* a constant, as below */
    return put(b, l, c, p, fresh);
}

/* Does a kernel's loop add to this layer? It writes by plain stores of any eight bytes: nobody may
 * read meanwhile. */
static bool plain(const struct blm__body *b, const struct blm__layer *l)
{
    return b->kernel->buckets->add && blm__buckets_vectors(l) && !b->shared && !l->marks &&
           !moves_of(l);
}

/* Three quarters full, one add in ten must move others, and soon one in two. */
static struct blm__adds adds_of(const struct blm__body *b, const struct blm__layer *l)
{
    return (struct blm__adds){ b, put_hard, l->items > l->shape.bits / 4 * 3 };
}

static size_t place_many(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                         uint8_t *fresh)
{
    struct blm__cells c = blm__cells_of(l);
    if (plain(b, l)) {
        struct blm__adds a = adds_of(b, l);
        return b->kernel->buckets->add(l, &a, k->hashes, false, 0, k->n, fresh);
    }
    if (c.wide)
        return put_all(b, l, k, c, fresh);
    c.wide = false; /* a constant, so that the loop has no code for wide cells */
    return put_all(b, l, k, c, fresh);
}

static size_t place_raw(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                        uint8_t *fresh)
{
    if (!plain(b, l))
        return 0;
    struct blm__adds a = adds_of(b, l);
    size_t           n =
        b->kernel->buckets->add(l, &a, k->fixed, true, blm__hasher_flip(&b->hasher), k->n, fresh);
    blm__layer_count(l, (int64_t)n);
    return n;
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

/* A fingerprint that is there again, in either of its buckets, counts once; each has its share. A key is passed for
 * one if it may begin in a bucket that it may be in. */
static void look(const struct blm__layer *l, struct blm__cells c, uint64_t at,
                 struct blm__prints *p)
{
    struct bucket b = bucket_get(l, c, at);
    for (uint32_t i = 0; i < BLM__BUCKET; i++) {
        uint64_t print = cell_get(l, at * BLM__BUCKET + i);
        if (print == 0)
            continue;
        uint64_t other = blm__cell_other(l, at - at % l->shape.line_count, at, i);
        unsigned alike = find(b, c, print).count;
        if (other != at)
            alike += find(bucket_get(l, c, other), c, print).count;
        double share = alike ? 1.0 / alike : 1; /* none: others are changing it */
        p->all += 1;
        p->differ += share;
        p->begin += other == at ? share : 2 * share;
    }
}

/* Of a large filter some buckets are looked at, evenly spread. */
static void prints(const struct blm__layer *l, struct blm__prints *p)
{
    struct blm__cells c     = blm__cells_of(l);
    uint64_t          count = blm__bucket_count(l), step = (count - 1) / SAMPLE + 1;
    for (uint64_t i = 0; i < count; i += step)
        look(l, c, i, p);
}

static double rate_now(const struct blm__layer *l, uint64_t used)
{
    struct blm__prints p = { 0 };
    prints(l, &p);
    double begin = p.all > 0 ? p.begin / p.all * (double)used / (double)blm__bucket_count(l) : 0;
    return blm__with_collisions(fmin(begin / (double)cell_mask(l), 1), used);
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
    .takes       = takes,
    .check_raw   = check_raw,
    .place_raw   = place_raw,
    .deciding    = deciding,
    .deciders    = 2 * BLM__BUCKET,
    .decides     = decides,
    .place       = place,
    .take        = take,
    .copies      = copies,
    .fetch       = fetch,
    .place_many  = place_many,
    .moves       = true,
    .most_copies = 2 * BLM__BUCKET,
    .prints      = prints,
    .ones        = ones,
    .rate_now    = rate_now,
    .rate_at     = rate_at,
};
