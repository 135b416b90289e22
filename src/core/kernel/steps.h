/* SPDX-License-Identifier: MIT */
/*
 * Other systems' double hashing: position i of a key is (a + i·b mod 2^wrap) mod m, i = 0 … k−1.
 *
 * Nothing is divided by m. Beside c = a + i·b we follow c/m without its whole part, a *turn* of 64
 * bits: each step adds b/m, and takes 2^wrap/m off where c wraps; a position is turn · m, one
 * multiplication. That is exact: turn · m would be a whole number, so rounding to the nearest gives
 * it as long as the error is below one half. A product with the 128-bit ⌊2^128/m⌋ is less than 5
 * units of 2^-64 short, here and in the vectors, a step adds no more than that, and k · 6 · m <
 * 2^62 for the largest k and m that there are. (The half is added to the first turn: to round is
 * then to cut.)
 *
 * A batch is taken in blocks of four keys, one a lane: the positions of a block are listed, its
 * first bits asked for; AHEAD blocks later they are looked at, and the rest asked for by keys that
 * passed (half the bits of a full filter are clear, so that absent keys seldom do); after as many
 * again the rest is looked at. Positions wait in a ring of 16 KiB at most: what all of it displaces
 * from the first cache is what was fetched into it.
 */
#ifndef BLM_CORE_KERNEL_STEPS_H
#define BLM_CORE_KERNEL_STEPS_H

#include "core/kernel/loops.h"

#define BLM__STEPS_ROOM   2048u                 /* positions in the ring */
#define BLM__STEPS_MOST   (BLM__STEPS_ROOM / 4) /* probes; beyond, keys are taken one by one */
#define BLM__STEPS_AHEAD  4u /* blocks of four keys between asking for bits and using them */
#define BLM__STEPS_FIRST  3u
#define BLM__STEPS_RUN    512u /* keys hashed, and then looked for or added, in one go */
/* Probes in cache; beyond, a key that is not there costs less alone, because it stops at its first
 * clear bits and lists none of the others. In 16 KB, ns a key: 17 probes 9.4 in a batch and 7.6
 * alone, 37: 15.6 and 7.5, 272: 94 and 7.6; for keys that are there 17.4 and 19.3, 35.3 and 37.3,
 * 297 and 265. Long chains are many such links. */
#define BLM__STEPS_NEAR   24u
/* The largest m of vectors of 32-bit remainders: below 2^32 / 3 (core/kernel/avx2_modulus.h). */
#define BLM__STEPS_NARROW ((uint64_t)5 << 28)

#if defined(__GNUC__)
#define BLM__UNROLL_8 _Pragma("GCC unroll 8")
#else
#define BLM__UNROLL_8
#endif

struct blm__steps_flow; /* core/kernel/flow.h */

/* Batches of at least one key, chains of at most BLM__BATCH, and k ≤ BLM__STEPS_MOST probes. Answers as
 * kernel.h's. */
struct blm__stepper {
    size_t (*add)(struct blm__layer *l, const uint64_t *a, const uint64_t *b, size_t n,
                  uint8_t *fresh, bool shared);
    size_t (*check)(const struct blm__layer *l, const uint64_t *a, const uint64_t *b, size_t n,
                    uint8_t *maybe);
    /* Runs of many keys, by hands (hands.h), for m up to BLM__STEPS_NARROW; and are they worth it?
     * absent: most keys before were not there. */
    void (*follow)(struct blm__hands *s, size_t n);
    bool (*hands_for)(bool absent);
    /* All layers of a chain: maybe[i]: one of them but `without` has key i. */
    size_t (*check_chain)(const struct blm__layer *layers, uint32_t count, uint32_t without,
                          const uint64_t *a, const uint64_t *b, size_t n, uint8_t *maybe);
    /* … and what no layer has goes to layers[to], which has room, no marks and one user. */
    size_t (*add_chain)(struct blm__layer *layers, uint32_t count, uint32_t to, const uint64_t *a,
                        const uint64_t *b, size_t n, uint8_t *fresh);
    /* Any number of keys: flow.h. */
    void (*check_flow)(struct blm__steps_flow *w);
    size_t (*add_flow)(struct blm__steps_flow *w);
    /* MurmurHash64A of four keys by `seed`, and of each again by what came of it. False: they are
     * not for it, and nothing is written. */
    bool (*murmur4)(const blm_key *keys, uint64_t seed, uint64_t *start, uint64_t *step);
    /* The same of n keys of 8 bytes, side by side; and MurmurHash3 x64 128, seed 0, of such keys. */
    void (*murmur_8)(const uint8_t *keys, size_t n, uint64_t seed, uint64_t *start, uint64_t *step);
    void (*murmur3_8)(const uint8_t *keys, size_t n, uint64_t *start, uint64_t *step);
};
extern const struct blm__stepper blm__stepper_portable;
#ifdef BLM__HAVE_AVX2
extern const struct blm__stepper blm__stepper_avx2;
extern const struct blm__stepper blm__stepper_avx512; /* adds, flows and strings are AVX2's */
void                             blm__steps_follow_avx2(struct blm__hands *s, size_t n);
void                             blm__steps_follow_avx512(struct blm__hands *s, size_t n);
bool   blm__murmur4_avx2(const blm_key *k, uint64_t seed, uint64_t *start, uint64_t *step);
void   blm__murmur_8_avx2(const uint8_t *keys, size_t n, uint64_t seed, uint64_t *start,
                          uint64_t *step);
void   blm__murmur3_8_avx2(const uint8_t *keys, size_t n, uint64_t *start, uint64_t *step);
void   blm__murmur_8_avx512(const uint8_t *keys, size_t n, uint64_t seed, uint64_t *start,
                            uint64_t *step);
void   blm__murmur3_8_avx512(const uint8_t *keys, size_t n, uint64_t *start, uint64_t *step);
size_t blm__steps_check_chain_avx2(const struct blm__layer *layers, uint32_t count,
                                   uint32_t without, const uint64_t *a, const uint64_t *b, size_t n,
                                   uint8_t *maybe);
size_t blm__steps_add_chain_avx2(struct blm__layer *layers, uint32_t count, uint32_t to,
                                 const uint64_t *a, const uint64_t *b, size_t n, uint8_t *fresh);
size_t blm__steps_check_chain_avx512(const struct blm__layer *layers, uint32_t count,
                                     uint32_t without, const uint64_t *a, const uint64_t *b,
                                     size_t n, uint8_t *maybe);
size_t blm__steps_add_chain_avx512(struct blm__layer *layers, uint32_t count, uint32_t to,
                                   const uint64_t *a, const uint64_t *b, size_t n, uint8_t *fresh);
#endif
void blm__murmur_8(const uint8_t *keys, size_t n, uint64_t seed, uint64_t *start, uint64_t *step);
void blm__murmur3_8(const uint8_t *keys, size_t n, uint64_t *start, uint64_t *step);
/* murmur4 where there are no vectors for it: always false. */
bool blm__murmur4_none(const blm_key *k, uint64_t seed, uint64_t *start, uint64_t *step);

/* For 1 ≤ m ≤ 2^48 and 1 ≤ wrap ≤ 64. */
struct blm__steps blm__steps_of(uint64_t m, unsigned wrap);
/* check_chain and add_chain, layer by layer, each by v's check. */
size_t blm__steps_check_each(const struct blm__stepper *v, const struct blm__layer *layers,
                             uint32_t count, uint32_t without, const uint64_t *a, const uint64_t *b,
                             size_t n, uint8_t *maybe);
size_t blm__steps_add_each(const struct blm__stepper *v, struct blm__layer *layers, uint32_t count,
                           uint32_t to, const uint64_t *a, const uint64_t *b, size_t n,
                           uint8_t *fresh);
/* One key, without what only many keys pay back. */
unsigned blm__steps_add_one(struct blm__layer *l, uint64_t a, uint64_t b, bool shared);
bool     blm__steps_check_one(const struct blm__layer *l, uint64_t a, uint64_t b);

/* 2^64 mod m, or where sums have fewer bits 2 to these; m is below 2^32. */
BLM__INLINE uint32_t blm__steps_wrap(const struct blm__steps *s)
{
    const uint64_t wrap = s->spare ? (uint64_t)1 << (64 - s->spare) : 0 - s->hi * s->m;
    return (uint32_t)(wrap % s->m);
}

/* ---- one key's turn ---- */

struct blm__turn {
    uint64_t c, b; /* shifted up, so that to wrap is to carry */
    uint64_t at, by;
};

BLM__INLINE uint64_t blm__turn_of(const struct blm__steps *s, uint64_t v)
{
    return v * s->hi + blm__mulhi(v, s->lo);
}

BLM__INLINE struct blm__turn blm__turn_first(const struct blm__steps *s, uint64_t a, uint64_t b)
{
    struct blm__turn t = { .c = a << s->spare, .b = b << s->spare };
    t.at = blm__turn_of(s, t.c >> s->spare) + (s->hi >> 1); /* 2^64 / m / 2: the half */
    t.by = blm__turn_of(s, t.b >> s->spare);
    return t;
}

/* The position, and on to the next. */
BLM__INLINE uint64_t blm__turn_next(const struct blm__steps *s, struct blm__turn *t)
{
    uint64_t pos = blm__mulhi(t->at, s->m), c = t->c + t->b;
    t->at += c < t->b ? t->by - s->turn : t->by;
    t->c = c;
    return pos;
}

/* ---- blocks of four keys: position j of lane i at pos[4j + i] ----
 *
 * Its low six bits are a bit's number in a word, and what is left after a shift by `word` is that
 * word's: 6, or 32 where a list has put it there, which saves to shift it at every use. */

typedef void (*blm__steps_list)(const struct blm__steps *s, const uint64_t *a, const uint64_t *b,
                                uint32_t k, uint64_t *pos);

BLM__INLINE void blm__steps_list_plain(const struct blm__steps *s, const uint64_t *a,
                                       const uint64_t *b, uint32_t k, uint64_t *pos)
{
    for (unsigned i = 0; i < 4; i++) {
        struct blm__turn t = blm__turn_first(s, a[i], b[i]);
        for (uint32_t j = 0; j < k; j++)
            pos[4 * j + i] = blm__turn_next(s, &t);
    }
}

/* Where the blocks of a batch wait. */
struct blm__steps_ring {
    uint32_t mask;  /* blocks − 1, a power of two less one */
    uint32_t ahead; /* blocks between two looks at one; 2·ahead fit beside the newest */
    uint32_t k;
    uint64_t pos[BLM__STEPS_ROOM];
};

BLM__INLINE void blm__steps_ring(struct blm__steps_ring *r, uint32_t k)
{
    uint32_t blocks = 16;
    while (blocks * 4 * k > BLM__STEPS_ROOM)
        blocks /= 2;
    r->mask  = blocks - 1;
    r->ahead = (blocks - 1) / 2 < BLM__STEPS_AHEAD ? (blocks - 1) / 2 : BLM__STEPS_AHEAD;
    r->k     = k;
}

BLM__INLINE uint64_t *blm__steps_block(struct blm__steps_ring *r, size_t i)
{
    return r->pos + (i & r->mask) * 4 * r->k;
}

/* Lists block i of n keys; the last may have fewer than four, and is filled up with zeroes. */
BLM__INLINE void blm__steps_take(struct blm__steps_ring *r, const struct blm__steps *s,
                                 const uint64_t *a, const uint64_t *b, size_t i, size_t n,
                                 blm__steps_list list)
{
    if (BLM__LIKELY(4 * i + 4 <= n)) {
        list(s, a + 4 * i, b + 4 * i, r->k, blm__steps_block(r, i));
        return;
    }
    uint64_t last[2][4] = { { 0 }, { 0 } };
    for (size_t j = 0; 4 * i + j < n; j++) {
        last[0][j] = a[4 * i + j];
        last[1][j] = b[4 * i + j];
    }
    list(s, last[0], last[1], r->k, blm__steps_block(r, i));
}

BLM__INLINE void blm__steps_fetch(const uint64_t *words, const uint64_t *pos, uint32_t n,
                                  unsigned word, bool write)
{
    for (uint32_t j = 0; j < n; j++) {
        const uint64_t *w = &words[pos[4 * j] >> word];
        if (write)
            BLM__PREFETCH_W(w);
        else
            BLM__PREFETCH_NEAR(w);
    }
}

BLM__INLINE uint8_t blm__steps_test(const uint64_t *words, const uint64_t *pos, uint32_t n)
{
    uint64_t all = 1; /* but for this bit, what is in it means nothing */
    for (uint32_t j = 0; j < n; j++)
        all &= blm__le64(blm__load(&words[pos[4 * j] >> 6])) >> (pos[4 * j] & 63);
    return (uint8_t)all;
}

/* ---- check ---- */

/* A block at each of the three stages, and the answers of its keys; NULL: none there. */
struct blm__steps_stages {
    const uint64_t *in, *mid, *out;
    uint8_t        *mid_maybe, *out_maybe;
};

/* all: none is NULL. Key by key, not stage by stage, so that misses in the cache come evenly. */
BLM__INLINE size_t blm__steps_stage(const uint64_t *words, const struct blm__steps_stages *g,
                                    uint32_t first, uint32_t k, bool all)
{
    size_t hits = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (all || g->in)
            blm__steps_fetch(words, g->in + i, first, 6, false);
        if (all || g->mid) {
            g->mid_maybe[i] = blm__steps_test(words, g->mid + i, first);
            if (g->mid_maybe[i])
                blm__steps_fetch(words, g->mid + 4 * first + i, k - first, 6, false);
        }
        if ((all || g->out) && g->out_maybe[i])
            hits += g->out_maybe[i] = blm__steps_test(words, g->out + 4 * first + i, k - first);
    }
    return hits;
}

BLM__INLINE size_t blm__steps_check_far(const struct blm__layer *l, const uint64_t *a,
                                        const uint64_t *b, size_t n, uint8_t *maybe, uint32_t first,
                                        blm__steps_list list)
{
    struct blm__steps_ring  r;
    const struct blm__steps s     = l->steps; /* here, or every answer stored might change it */
    const uint64_t         *words = l->words;
    const uint32_t          k     = l->shape.probes;
    const size_t            end   = (n - 1) / 4; /* the last block: its answers wait apart, … */
    size_t                  hits = 0, i = 0;
    uint8_t                 last[4];
    blm__steps_ring(&r, k);
    const size_t ahead = r.ahead;
    for (;; i++) {
        for (; i >= 2 * ahead && i < end; i++) { /* a full block at every stage */
            struct blm__steps_stages g = {
                blm__steps_block(&r, i),
                blm__steps_block(&r, i - ahead),
                blm__steps_block(&r, i - 2 * ahead),
                maybe + 4 * (i - ahead),
                maybe + 4 * (i - 2 * ahead),
            };
            list(&s, a + 4 * i, b + 4 * i, k, blm__steps_block(&r, i));
            hits += blm__steps_stage(words, &g, first, k, true);
        }
        if (i > end + 2 * ahead)
            break;
        struct blm__steps_stages g = { NULL, NULL, NULL, NULL, NULL };
        if (i <= end) {
            blm__steps_take(&r, &s, a, b, i, n, list);
            g.in = blm__steps_block(&r, i);
        }
        if (i >= ahead && i - ahead <= end) {
            g.mid       = blm__steps_block(&r, i - ahead);
            g.mid_maybe = i - ahead == end ? last : maybe + 4 * (i - ahead);
        }
        if (i >= 2 * ahead) {
            g.out       = blm__steps_block(&r, i - 2 * ahead);
            g.out_maybe = i - 2 * ahead == end ? last : maybe + 4 * (i - 2 * ahead);
        }
        hits += blm__steps_stage(words, &g, first, k, false);
    }
    for (size_t j = 0; j < 4; j++) /* … because it may be wider than what is left of maybe */
        if (4 * end + j < n)
            maybe[4 * end + j] = last[j];
        else
            hits -= last[j];
    return hits;
}

/* Key by key: any number of probes. */
BLM__INLINE size_t blm__steps_check_alone(const struct blm__layer *l, const uint64_t *a,
                                          const uint64_t *b, size_t n, uint8_t *maybe)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++)
        hits += maybe[i] = blm__steps_check_one(l, a[i], b[i]);
    return hits;
}

/* In cache: nothing to wait for. */
BLM__INLINE size_t blm__steps_check_near(const struct blm__layer *l, const uint64_t *a,
                                         const uint64_t *b, size_t n, uint8_t *maybe,
                                         blm__steps_list list)
{
    struct blm__steps_ring  r;
    const struct blm__steps s     = l->steps;
    const uint64_t         *words = l->words;
    const uint32_t          k = l->shape.probes, first = k < 4 ? k : 4;
    size_t                  hits = 0;
    blm__steps_ring(&r, k);
    for (size_t i = 0; i < n; i += 4) {
        blm__steps_take(&r, &s, a, b, i / 4, n, list);
        const uint64_t *pos = blm__steps_block(&r, i / 4);
        for (size_t j = 0; j < 4 && i + j < n; j++) {
            maybe[i + j] = blm__steps_test(words, pos + j, first) &&
                           blm__steps_test(words, pos + 4 * first + j, k - first);
            hits += maybe[i + j];
        }
    }
    return hits;
}

BLM__INLINE size_t blm__steps_check_loop(const struct blm__layer *l, const uint64_t *a,
                                         const uint64_t *b, size_t n, uint8_t *maybe,
                                         blm__steps_list list)
{
    const uint32_t k = l->shape.probes;
    if (blm__layer_small(l))
        return k > BLM__STEPS_NEAR ? blm__steps_check_alone(l, a, b, n, maybe)
                                   : blm__steps_check_near(l, a, b, n, maybe, list);
    if (k < BLM__STEPS_FIRST)
        return blm__steps_check_far(l, a, b, n, maybe, k, list);
    return blm__steps_check_far(l, a, b, n, maybe, BLM__STEPS_FIRST, list);
}

/* ---- add ---- */

/* Where nobody watches: no threads, no marks. Sets the bits of a key that is due, and asks for
 * those of one that comes (NULL: none): by turns, because asking waits for memory and setting for
 * instructions, and unrolled (a key of 7 bits in 12 MB: 29.7 ns with the bits asked for key by
 * key, 23.1 by turns, 22.8 unrolled, 21.2 with a k the compiler knows). */
BLM__INLINE unsigned blm__steps_set_plain(uint64_t *words, const uint64_t *in, const uint64_t *due,
                                          uint32_t k, unsigned word)
{
    uint64_t fresh = 0;
    BLM__UNROLL_8
    for (size_t j = 0, end = 4 * (size_t)k; j < end; j += 4) {
        if (in)
            BLM__PREFETCH_W(&words[in[j] >> word]);
        uint64_t *at = &words[due[j] >> word], mask = blm__le64((uint64_t)1 << (due[j] & 63));
        fresh |= ~*at & mask;
        *at |= mask;
    }
    return fresh != 0;
}

BLM__INLINE unsigned blm__steps_set(struct blm__layer *l, const uint64_t *pos, uint32_t k,
                                    bool shared)
{
    unsigned fresh = 0;
    for (uint32_t j = 0; j < k; j++)
        fresh |= blm__bit_set(l, pos[4 * j], shared);
    return fresh;
}

/* A block that comes, NULL: none, and `lanes` keys of one that is due. Keys in their order: whether
 * one is new depends on those before it. */
BLM__INLINE size_t blm__steps_due(struct blm__layer *l, uint64_t *words, const uint64_t *in,
                                  const uint64_t *due, size_t lanes, uint32_t k, uint8_t *fresh,
                                  bool plain, bool shared)
{
    size_t count = 0;
    for (size_t i = 0; i < 4; i++) {
        if (in)
            blm__steps_fetch(words, in + i, k, 6, true);
        if (i < lanes)
            count += fresh[i] = (uint8_t)(plain ? blm__steps_set_plain(words, NULL, due + i, k, 6)
                                                : blm__steps_set(l, due + i, k, shared));
    }
    return count;
}

/* Where nobody watches, blocks ahead … end − 1, all of them full: as block i comes, i − ahead is
 * due. */
BLM__INLINE size_t blm__steps_add_plain(struct blm__steps_ring *r, const struct blm__steps *s,
                                        const struct blm__layer *l, const uint64_t *a,
                                        const uint64_t *b, size_t end, size_t ahead, bool far,
                                        uint8_t *fresh, blm__steps_list list)
{
    uint64_t      *words = l->words;
    const uint32_t k     = l->shape.probes;
    size_t         count = 0;
    for (size_t i = ahead; i < end; i++) {
        uint64_t       *in  = blm__steps_block(r, i);
        const uint64_t *due = blm__steps_block(r, i - ahead);
        uint8_t        *to  = fresh + 4 * (i - ahead);
        list(s, a + 4 * i, b + 4 * i, k, in);
        for (size_t j = 0; j < 4; j++)
            count += to[j] =
                (uint8_t)blm__steps_set_plain(words, far ? in + j : NULL, due + j, k, 6);
    }
    return count;
}

BLM__INLINE size_t blm__steps_add_loop(struct blm__layer *l, const uint64_t *a, const uint64_t *b,
                                       size_t n, uint8_t *fresh, bool shared, blm__steps_list list)
{
    struct blm__steps_ring  r;
    const struct blm__steps s     = l->steps;
    uint64_t               *words = l->words;
    const uint32_t          k     = l->shape.probes;
    const size_t            end   = (n - 1) / 4; /* the last block, which may not be full */
    const bool              plain = !shared && !l->marks, far = !blm__layer_small(l);
    size_t                  count = 0, i = 0;
    blm__steps_ring(&r, k);
    const size_t ahead = far ? r.ahead : 0;
    for (;; i++) {
        if (plain && i == ahead && i < end) { /* the usual case, spelled out */
            count += far ? blm__steps_add_plain(&r, &s, l, a, b, end, ahead, true, fresh, list)
                         : blm__steps_add_plain(&r, &s, l, a, b, end, 0, false, fresh, list);
            i = end;
        }
        if (i > end + ahead)
            return count;
        const uint64_t *in = far && i <= end ? blm__steps_block(&r, i) : NULL, *due = NULL;
        size_t          at = 0, lanes = 0;
        if (i <= end)
            blm__steps_take(&r, &s, a, b, i, n, list);
        if (i >= ahead) {
            at    = 4 * (i - ahead);
            lanes = n - at < 4 ? n - at : 4;
            due   = blm__steps_block(&r, i - ahead);
        }
        count += blm__steps_due(l, words, in, due, lanes, k, fresh + at, plain, shared);
    }
}

#endif
