/* SPDX-License-Identifier: MIT */
/*
 * Buckets of narrow cells in batches, around functions that each instruction set writes for itself.
 * They come as arguments, constant ones, and all is inlined into functions of the kernel's target.
 *
 *   take(table, stream, i, eight)     where keys i … i + 7 of a stream may be; few buckets
 *   have(table, eight)                bit q: key q may be there
 *   aim(table, eight, aims)           where each of eight adds goes, as the buckets are now
 *   ask(table, eight)                 fetches where room will have to be made for the eight
 *   shift(table, eight, aims, q)      adds key q, whose buckets are full, in the place of a fingerprint
 *                                     that has a free cell in its other bucket; false: none has
 *
 * Eight keys a step. What was taken waits in a ring while both buckets are fetched; a step is taken one
 * before it is fetched, so that the fetches do not wait for its products, and the keys are asked for
 * themselves, as in stream.h. Emerald Rapids (AVX-512), ns a check of 1e7 keys where two lines take 4.1:
 * 64 keys hashed, then placed and looked up eight by eight, 7.8; this 5.1. To look into the first bucket
 * and only then ask for the second, if need be, costs as much for keys that are there and a tenth more
 * for others. A key more or less ahead, and pulling lines into the first cache, make no difference.
 */
#ifndef BLM_CORE_KERNEL_BUCKET_RING_H
#define BLM_CORE_KERNEL_BUCKET_RING_H

#include "core/kernel/buckets.h"
#include "core/kernel/stream.h"

/* A layer in registers: through the pointer the compiler would load again after every store. */
struct blm__bucket_table {
    uint8_t          *bytes;
    uint64_t          n; /* buckets of a part */
    struct blm__cells c;
};

BLM__INLINE struct blm__bucket_table blm__bucket_table_of(const struct blm__layer *l)
{
    struct blm__bucket_table t = { (uint8_t *)l->words, l->shape.line_count, blm__cells_of(l) };
    return t;
}

/* Where eight keys may be. */
struct blm__eight {
    _Alignas(64) uint64_t print[8];
    uint64_t bucket[2][8];
    uint64_t at[2][8]; /* the byte that a bucket begins in; narrow ones end within 64 bits of it */
};

#define BLM__EIGHTS     16u /* in the ring: a power of two, and two more than … */
#define BLM__EIGHTS_LAG 8u  /* … those between a step and its turn */

typedef void (*blm__eight_taker)(const struct blm__bucket_table *t, const struct blm__stream *s,
                                 size_t i, struct blm__eight *e);
typedef unsigned (*blm__have8)(const struct blm__bucket_table *t, const struct blm__eight *e);

BLM__INLINE void blm__eight_take(const struct blm__bucket_table *t, const struct blm__stream *s,
                                 size_t i, struct blm__eight *e, blm__eight_taker take)
{
    if (s->keys)
        BLM__PREFETCH_NEAR((const void *)((uintptr_t)s->from + 8 * i + BLM__KEYS_AHEAD));
    take(t, s, i, e);
}

/* The buckets of keys from … to − 1. */
BLM__INLINE void blm__eight_fetch(const struct blm__bucket_table *t, const struct blm__eight *e,
                                  unsigned from, unsigned to)
{
    for (unsigned q = from; q < to; q++) {
        BLM__PREFETCH(t->bytes + e->at[0][q]);
        BLM__PREFETCH(t->bytes + e->at[1][q]);
    }
}

/* Eight bits as eight bytes, 0 or 1, the lowest first. */
BLM__INLINE void blm__spread8(unsigned bits, uint8_t *out)
{
    uint64_t low = bits & 0x7f, v = low * 0x0002040810204081u & 0x0101010101010101u;
    v = blm__le64(v | (uint64_t)(bits >> 7) << 56);
    memcpy(out, &v, 8);
}

/* ---- checks ---- */

/* The first key of a step: the last may have some of the one before. */
BLM__INLINE size_t blm__eight_first(size_t step, size_t n)
{
    return step * 8 < n - 8 ? step * 8 : n - 8;
}

/* For any number of buckets and parts. */
BLM__INLINE void blm__eight_place(const struct blm__layer *l, const struct blm__stream *s, size_t i,
                                  struct blm__eight *e)
{
    for (unsigned q = 0; q < 8; q++) {
        struct blm__pair p = blm__pair_of(l, blm__stream_hash(s, i + q));
        e->print[q]        = p.print;
        for (unsigned j = 0; j < 2; j++) {
            e->bucket[j][q] = p.bucket[j];
            e->at[j][q]     = p.bucket[j] * l->shape.cell_bits / 2;
        }
    }
}

/* At least eight keys. take NULL: they are placed one by one. */
BLM__INLINE size_t blm__buckets_check_ring(const struct blm__layer *l, struct blm__stream s,
                                           uint8_t *maybe, bool far, blm__eight_taker take,
                                           blm__have8 have)
{
    const struct blm__bucket_table t     = blm__bucket_table_of(l);
    const size_t                   steps = (s.n + 7) / 8, lag = far ? BLM__EIGHTS_LAG : 1;
    struct blm__eight              ring[BLM__EIGHTS];
    for (size_t i = 0; i <= steps + lag; i++) {
        struct blm__eight       *in    = &ring[i % BLM__EIGHTS];
        const struct blm__eight *last  = &ring[(i - 1) % BLM__EIGHTS];
        const bool               fetch = far && i > 0 && i <= steps;
        if (fetch)
            blm__eight_fetch(&t, last, 0, 4);
        if (i < steps && take)
            blm__eight_take(&t, &s, blm__eight_first(i, s.n), in, take);
        else if (i < steps)
            blm__eight_place(l, &s, blm__eight_first(i, s.n), in);
        if (fetch)
            blm__eight_fetch(&t, last, 4, 8);
        if (i > lag)
            blm__spread8(have(&t, &ring[(i - lag - 1) % BLM__EIGHTS]),
                         maybe + blm__eight_first(i - lag - 1, s.n));
    }
    return blm__ones(maybe, s.n);
}

BLM__INLINE size_t blm__buckets_check_stream(const struct blm__layer *l, struct blm__stream s,
                                             uint8_t *maybe, blm__eight_taker take, blm__have8 have)
{
    if (!take || !blm__buckets_few(l))
        return blm__buckets_check_ring(l, s, maybe, true, NULL, have);
    return blm__layer_small(l) ? blm__buckets_check_ring(l, s, maybe, false, take, have)
                               : blm__buckets_check_ring(l, s, maybe, true, take, have);
}

#define BLM__BUCKETS_CHECKS(isa, TARGET, take, have)                                             \
    TARGET static size_t blm__buckets_check_##isa(const struct blm__layer *l, const uint64_t *h, \
                                                  size_t n, uint8_t *maybe)                      \
    {                                                                                            \
        if (n < 8 || l->shape.cell_bits > BLM__NARROW_MOST)                                      \
            return blm__buckets_portable.check(l, h, n, maybe);                                  \
        return blm__buckets_check_stream(l, blm__stream_hashes(h, n), maybe, take, have);        \
    }                                                                                            \
    TARGET static size_t blm__buckets_check8_##isa(const struct blm__layer  *l,                  \
                                                   const struct blm__kernel *v, uint64_t flip,   \
                                                   const void *keys, size_t n, uint8_t *maybe)   \
    {                                                                                            \
        if (n < 8 || l->shape.cell_bits > BLM__NARROW_MOST)                                      \
            return blm__buckets_portable.check8(l, v, flip, keys, n, maybe);                     \
        return blm__buckets_check_stream(l, blm__stream_keys(keys, n, flip), maybe, take, have); \
    }

/* ---- adds ---- */

/* Eight adds, each as if it were the next: what their buckets were, byte for byte, and which bits to
 * set in the eight bytes from `at` on, those of the bucket with more free cells. */
struct blm__aims {
    _Alignas(64) uint64_t was[2][8];
    uint64_t at[8], set[8];
    unsigned had, full; /* bit q: key q is there; there is no free cell for it */
    bool     apart;     /* no two have a bucket in common; false: nobody looked */
};

typedef void (*blm__aim8)(const struct blm__bucket_table *t, const struct blm__eight *e,
                          struct blm__aims *a);
typedef void (*blm__ask8)(const struct blm__bucket_table *t, const struct blm__eight *e);
typedef bool (*blm__shift)(const struct blm__bucket_table *t, const struct blm__eight *e,
                           const struct blm__aims *a, unsigned q);

#define BLM__EIGHTS_LOOK  3u /* steps before their turn it is looked for room */
#define BLM__TO_MEMORY(v) __asm__("" : "+m"(v))

BLM__INLINE uint64_t blm__bytes8(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, 8);
    return v;
}

/* Sets bits of eight bytes, or puts others in their place. */
BLM__INLINE void blm__bytes_set(uint8_t *at, uint64_t set)
{
    uint64_t v = blm__bytes8(at) | set;
    memcpy(at, &v, 8);
}
BLM__INLINE void blm__bytes_put(uint8_t *at, uint64_t mask, uint64_t set)
{
    uint64_t v = (blm__bytes8(at) & ~mask) | set;
    memcpy(at, &v, 8);
}

BLM__INLINE unsigned blm__bucket_skip(uint64_t bucket, struct blm__cells c)
{
    return (unsigned)(bucket & c.bits & 1) << 2;
}

/* A bucket in a word. */
BLM__INLINE uint64_t blm__bucket_word(const struct blm__bucket_table *t, uint64_t bucket)
{
    return blm__bytes8(t->bytes + bucket * t->c.bits / 2) >> blm__bucket_skip(bucket, t->c);
}

/* An aim holds as long as no add before it changed one of its buckets: then what they were is what they
 * are. */
BLM__INLINE bool blm__aim_holds(const struct blm__bucket_table *t, const struct blm__eight *e,
                                const struct blm__aims *to, unsigned q)
{
    uint64_t a = blm__bytes8(t->bytes + e->at[0][q]), b = blm__bytes8(t->bytes + e->at[1][q]);
    return a == to->was[0][q] && b == to->was[1][q];
}

/* How many, in order, up to the first for which there is no room. in: whose buckets are asked for
 * meanwhile, one by one; NULL: nobody's. */
BLM__INLINE size_t blm__eight_add(const struct blm__bucket_table *t, struct blm__layer *l,
                                  const struct blm__adds *a, const struct blm__eight *e,
                                  const struct blm__eight *in, uint8_t *fresh, blm__aim8 aim,
                                  blm__shift shift)
{
    struct blm__aims to;
    aim(t, e, &to);
    BLM__TO_MEMORY(to); /* to be read word by word: out of vectors that takes longer */
    blm__spread8(~to.had & 0xff, fresh);
    if (to.apart && !to.full) {
        for (unsigned q = 0; q < 8; q++) {
            if (in)
                blm__eight_fetch(t, in, q, q + 1);
            blm__bytes_set(t->bytes + to.at[q], to.set[q]);
        }
        return 8;
    }
    for (unsigned q = 0; q < 8; q++) {
        bool holds = blm__aim_holds(t, e, &to, q), full = to.full >> q & 1;
        if (in)
            blm__eight_fetch(t, in, q, q + 1);
        if (holds && !full) {
            blm__bytes_set(t->bytes + to.at[q], to.set[q]);
        } else if (!holds || !shift(t, e, &to, q)) {
            struct blm__pair p = { e->print[q], { e->bucket[0][q], e->bucket[1][q] }, 0 };
            if (!a->hard(a->body, l, p, &fresh[q]))
                return q;
        }
    }
    return 8;
}

/* The keys behind the last whole step. */
BLM__INLINE size_t blm__odd_add(struct blm__layer *l, const struct blm__adds *a,
                                const struct blm__stream *s, size_t from, uint8_t *fresh)
{
    for (; from < s->n; from++)
        if (!a->hard(a->body, l, blm__pair_of(l, blm__stream_hash(s, from)), &fresh[from]))
            break;
    return from;
}

BLM__INLINE size_t blm__buckets_add_ring(struct blm__layer *l, const struct blm__adds *a,
                                         struct blm__stream s, uint8_t *fresh, bool far,
                                         bool crowded, blm__eight_taker take, blm__aim8 aim,
                                         blm__ask8 ask, blm__shift shift)
{
    const struct blm__bucket_table t     = blm__bucket_table_of(l);
    const size_t                   steps = s.n / 8, lag = far ? BLM__EIGHTS_LAG : 1;
    const size_t                   look = BLM__EIGHTS_LAG + 1 - BLM__EIGHTS_LOOK;
    struct blm__eight              ring[BLM__EIGHTS];
    for (size_t i = 0; i <= steps + lag; i++) {
        const struct blm__eight *in =
            far && i > 0 && i <= steps ? &ring[(i - 1) % BLM__EIGHTS] : NULL;
        if (i < steps)
            blm__eight_take(&t, &s, i * 8, &ring[i % BLM__EIGHTS], take);
        if (far && crowded && i >= look && i - look < steps)
            ask(&t, &ring[(i - look) % BLM__EIGHTS]);
        if (i > lag) {
            size_t at = (i - lag - 1) * 8;
            size_t some =
                blm__eight_add(&t, l, a, &ring[at / 8 % BLM__EIGHTS], in, fresh + at, aim, shift);
            if (BLM__UNLIKELY(some < 8))
                return at + some;
        } else if (in) {
            blm__eight_fetch(&t, in, 0, 8);
        }
    }
    return blm__odd_add(l, a, &s, steps * 8, fresh);
}

#define BLM__BUCKETS_ADDS(isa, TARGET, take, aim, ask, shift)                                    \
    TARGET static size_t blm__buckets_add_##isa(struct blm__layer *l, const struct blm__adds *a, \
                                                const void *from, bool keys, uint64_t flip,      \
                                                size_t n, uint8_t *fresh)                        \
    {                                                                                            \
        struct blm__stream s = { from, n, keys, flip };                                          \
        if (blm__layer_small(l))                                                                 \
            return blm__buckets_add_ring(l, a, s, fresh, false, false, take, aim, ask, shift);   \
        return a->crowded                                                                        \
                   ? blm__buckets_add_ring(l, a, s, fresh, true, true, take, aim, ask, shift)    \
                   : blm__buckets_add_ring(l, a, s, fresh, true, false, take, aim, ask, shift);  \
    }

/* Of a kernel that has both. */
#define BLM__BUCKETS_ROWS(isa)                                              \
    .check = blm__buckets_check_##isa, .check8 = blm__buckets_check8_##isa, \
    .add = blm__buckets_add_##isa

#endif
