/* SPDX-License-Identifier: MIT */
/*
 * Lines in streams: batches of the commonest filters, as fast as we know how to.
 *
 * Eight keys are taken a step: hashed where they are 8-byte keys, x made and (out of cache) the
 * line's place, all in vectors that an instruction set writes for itself; then the eight that were
 * taken some steps before are looked up. What lies between waits in
 * a ring that stays in registers' reach:
 *
 *   take(from, keys, flip, lines, at, x)   eight 8-byte keys (or, without keys, hashes) from
 *                                          `from`: x[8], and at[8]: the line's offset in bytes, or
 *                                          with lines = 0 the hash. lines < 2^32
 *
 * One loop for hash and lookup together, because the processor then overlaps the multiplications of
 * the one with the shifts and loads of the other, and the fetches never run dry between two
 * batches. A prototype on Zen 3 (AVX2), ns a key of a check, against hashing 256 keys and then
 * looking them up: in cache 3.2 → 2.35, 1e6 keys 4.1 → 3.0, 1e7 5.7 → 4.4, 1e8 11.1 → 8.1 where
 * reading the lines alone takes 7.6. In cache the scalar product for the line wins (2.35; in
 * vectors 2.5), for there the vector units are the bottleneck;
 * out of cache the vectors' do (8.1 against 8.3).
 *
 * Fetching ahead: none in cache, where 32 keys lie between taking and using one. Else a line is asked
 * for 96 keys ahead, into the second cache, and pulled into the first 16 keys ahead; the keys are
 * taken one step before that, so that the fetches do not wait for their products and come evenly.
 * Zen 4 (AVX2), ns a check at 1e8 where reading the lines alone takes 3.95 and with the keys 4.5: 32
 * ahead 6.3, 64 5.0, 96 4.9, pulled too 4.7. Adds, where changing the lines takes 4.1: 6.6, pulled 6.1;
 * asked for straight into the first cache 11.7, as that cache waits for few lines at a time; the bare
 * lines cost as much with PREFETCHW. A prototype's figures.
 *
 * The keys themselves are asked for too, and so are the answers' bytes of small batches: the
 * processor's own fetching of what is read in order starves beside so many fetches at random. Golden
 * Cove, ns a check in batches of a million, 1e7 keys: 6.0 → 3.3 (AVX-512), 8.6 → 3.5 (AVX2), 5e7 7.1 →
 * 5.3; in batches of 32, 1e7: 8.6 → 5.6. There the hint made no difference: first cache, second, or
 * half of each.
 */
#ifndef BLM_CORE_KERNEL_STREAM_H
#define BLM_CORE_KERNEL_STREAM_H

#include <string.h>

#include "core/kernel/loops.h"

#define BLM__STEP          8u   /* keys taken at once */
#define BLM__AHEAD         32u  /* keys between taking a key and using its line, in cache … */
#define BLM__FAR_AHEAD     96u  /* … and where it must be fetched */
#define BLM__PULL          16u  /* keys ahead of which a line is pulled into the first cache */
#define BLM__RING          128u /* more than the farthest and two steps */
/* Bytes of keys ahead of those that are taken, asked for even behind the last: callers of small
 * batches cut them from larger ones. */
#define BLM__KEYS_AHEAD    1024u
#define BLM__ANSWERS_AHEAD 64u

typedef bool (*blm__line_test_fn)(const uint64_t *line, uint64_t x, uint32_t k);
typedef unsigned (*blm__line_set_fn)(struct blm__layer *l, uint64_t *line, uint64_t x, uint32_t k,
                                     bool marks);
/* Eight keys at once, whose lines begin at words + at[q] bytes. NULL: one by one. */
typedef void (*blm__line_test8_fn)(const uint64_t *words, const uint64_t *at, const uint64_t *x,
                                   uint32_t k, uint8_t *maybe);
typedef void (*blm__take_fn)(const uint8_t *from, bool keys, uint64_t flip, uint64_t lines,
                             uint64_t *at, uint64_t *x);

/* Where the keys come from. */
struct blm__stream {
    const uint8_t *from; /* 8 bytes a key */
    size_t         n;
    bool           keys; /* else hashes */
    uint64_t       flip; /* of keys: blm__hasher_flip */
};

BLM__INLINE struct blm__stream blm__stream_keys(const void *keys, size_t n, uint64_t flip)
{
    struct blm__stream s = { keys, n, true, flip };
    return s;
}
BLM__INLINE struct blm__stream blm__stream_hashes(const uint64_t *h, size_t n)
{
    struct blm__stream s = { (const uint8_t *)h, n, false, 0 };
    return s;
}

BLM__INLINE uint64_t blm__stream_hash(const struct blm__stream *s, size_t i)
{
    uint64_t h;
    if (s->keys)
        return blm__xxh3_8(s->from + 8 * i, s->flip);
    memcpy(&h, s->from + 8 * i, sizeof h);
    return h;
}

/* A layer in registers: through the pointer the compiler would load again after every store. */
struct blm__place {
    uint64_t *words;
    uint64_t  count; /* lines */
    uint32_t  k, lines;
};

BLM__INLINE struct blm__place blm__place_of(const struct blm__layer *l)
{
    struct blm__place p = { l->words, l->shape.line_count, l->shape.probes, l->shape.lines };
    return p;
}
BLM__INLINE uint64_t *blm__place_line(struct blm__place p, uint64_t h)
{
    return p.words + blm__reduce(h, p.count) * BLM__LINE_WORDS;
}

/* For instruction sets whose vectors do not multiply 64 bits. */
BLM__INLINE void blm__take_plain(const uint8_t *from, bool keys, uint64_t flip, uint64_t lines,
                                 uint64_t *at, uint64_t *x)
{
    struct blm__stream s = { from, BLM__STEP, keys, flip };
    for (size_t i = 0; i < BLM__STEP; i++) {
        uint64_t h = blm__stream_hash(&s, i);
        x[i]       = blm__line_x(h);
        at[i]      = lines ? blm__reduce(h, lines) * (BLM__LINE_BITS / 8) : h;
    }
}

struct blm__ring {
    _Alignas(64) uint64_t at[BLM__RING];
    _Alignas(64) uint64_t x[BLM__RING];
};

/* Where the lines are: constants, so that each makes a loop of its own. */
enum blm__reach {
    BLM__NEAR, /* in cache: nothing is fetched */
    BLM__FAR,
    BLM__VAST /* 2^32 lines or more */
};

/* Are the lines' places found in vectors, when the keys are taken? In cache only where it is early:
 * for adds, 3.3 ns a key against 5.3, and where eight are looked up at once; other checks gain from
 * the scalar product, see above. */
BLM__INLINE bool blm__reach_early(enum blm__reach reach, bool early)
{
    return reach == BLM__FAR || (reach == BLM__NEAR && early);
}

BLM__INLINE size_t blm__reach_ahead(enum blm__reach reach)
{
    return reach == BLM__NEAR ? BLM__AHEAD : BLM__FAR_AHEAD;
}

BLM__INLINE enum blm__reach blm__reach_of(const struct blm__layer *l)
{
    return blm__layer_small(l) ? BLM__NEAR : l->shape.line_count >> 32 ? BLM__VAST : BLM__FAR;
}

BLM__INLINE uint64_t *blm__ring_line(struct blm__place p, const struct blm__ring *r, size_t j,
                                     enum blm__reach reach, bool early)
{
    if (blm__reach_early(reach, early))
        return (uint64_t *)(void *)((uint8_t *)p.words + r->at[j]);
    return blm__place_line(p, r->at[j]);
}

BLM__INLINE void blm__ring_take(struct blm__place p, const struct blm__stream *s, size_t i,
                                struct blm__ring *r, enum blm__reach reach, bool early,
                                blm__take_fn take)
{
    size_t   to    = i % BLM__RING;
    uint64_t lines = blm__reach_early(reach, early) ? p.count : 0;
    if (s->keys)
        BLM__PREFETCH_NEAR((const void *)((uintptr_t)s->from + 8 * i + BLM__KEYS_AHEAD));
    take(s->from + 8 * i, s->keys, s->flip, lines, r->at + to, r->x + to);
}

BLM__INLINE void blm__ring_fetch(struct blm__place p, const struct blm__ring *r, size_t j,
                                 enum blm__reach reach, bool write, bool early)
{
    const uint64_t *line = blm__ring_line(p, r, j, reach, early);
    if (reach == BLM__NEAR)
        return;
    if (write)
        BLM__PREFETCH_W(line);
    else
        BLM__PREFETCH(line);
}

BLM__INLINE void blm__ring_pull(struct blm__place p, const struct blm__ring *r, size_t j,
                                enum blm__reach reach, bool early)
{
    if (reach != BLM__NEAR)
        BLM__PREFETCH_NEAR(blm__ring_line(p, r, j, reach, early));
}

/* How many of n answers are 1: counted afterwards, eight at a time, as counting each as it is made
 * costs three instructions a key. */
BLM__INLINE size_t blm__ones(const uint8_t *answers, size_t n)
{
    size_t sum = 0, i = 0;
    while (n - i >= 8) {
        uint64_t each = 0, eight; /* a byte of `each` counts to 255 */
        for (size_t end = n - i < 255 * 8 ? i + (n - i) / 8 * 8 : i + 255 * 8; i < end; i += 8) {
            memcpy(&eight, answers + i, 8);
            each += eight;
        }
        each = (each & 0x00ff00ff00ff00ffu) + (each >> 8 & 0x00ff00ff00ff00ffu);
        sum += (size_t)(each * 0x0001000100010001u >> 48);
    }
    for (; i < n; i++)
        sum += answers[i];
    return sum;
}

/* The keys behind the last whole step, fetched before all others. */
struct blm__odd {
    uint64_t h[BLM__STEP];
    size_t   n;
};

BLM__INLINE void blm__odd_take(struct blm__odd *o, struct blm__place p, const struct blm__stream *s,
                               enum blm__reach reach)
{
    o->n = s->n % BLM__STEP;
    for (size_t i = 0; i < o->n; i++) {
        o->h[i] = blm__stream_hash(s, s->n - o->n + i);
        if (reach != BLM__NEAR)
            BLM__PREFETCH(blm__place_line(p, o->h[i]));
    }
}

/* Three loops: keys are taken and fetched; taken, fetched and looked up; looked up. What comes last
 * fetches nothing: the ring may have places that nobody wrote. Its first key, of `whole` that were
 * taken: */
BLM__INLINE size_t blm__stream_left(size_t whole, size_t ahead)
{
    return whole < ahead ? 0 : whole - ahead;
}

/* Looks up the step of keys whose ring begins at j. */
BLM__INLINE void blm__ring_test8(struct blm__place p, const struct blm__ring *r, size_t j,
                                 enum blm__reach reach, uint8_t *maybe, blm__line_test8_fn test8)
{
    if (reach != BLM__VAST) {
        test8(p.words, r->at + j, r->x + j, p.k, maybe);
        return;
    }
    _Alignas(64) uint64_t at[BLM__STEP];
    for (size_t q = 0; q < BLM__STEP; q++)
        at[q] = blm__reduce(r->at[j + q], p.count) * (BLM__LINE_BITS / 8);
    test8(p.words, at, r->x + j, p.k, maybe);
}

BLM__INLINE size_t blm__stream_check(struct blm__place p, struct blm__stream s, uint8_t *maybe,
                                     enum blm__reach reach, blm__take_fn take,
                                     blm__line_test_fn test, blm__line_test8_fn test8)
{
    const size_t     whole = s.n - s.n % BLM__STEP, ahead = blm__reach_ahead(reach);
    const bool       early = test8 != NULL; /* places in vectors, in cache too */
    struct blm__ring r;
    struct blm__odd  odd;
    size_t           i = 0;
    blm__odd_take(&odd, p, &s, reach);
    if (whole <= ahead && reach != BLM__NEAR) /* the answers of the next call, most likely */
        BLM__PREFETCH_NEW((void *)((uintptr_t)maybe + BLM__ANSWERS_AHEAD));
    if (whole)
        blm__ring_take(p, &s, 0, &r, reach, early, take);
    for (; i < whole && i < ahead; i += BLM__STEP) {
        if (i + BLM__STEP < whole)
            blm__ring_take(p, &s, i + BLM__STEP, &r, reach, early, take);
        for (size_t q = 0; q < BLM__STEP; q++)
            blm__ring_fetch(p, &r, i % BLM__RING + q, reach, false, early);
    }
    for (; i < whole; i += BLM__STEP) {
        if (i + BLM__STEP < whole)
            blm__ring_take(p, &s, i + BLM__STEP, &r, reach, early, take);
        for (size_t q = 0; q < BLM__STEP; q++) {
            size_t at = i - ahead + q, j = (i - ahead) % BLM__RING + q;
            blm__ring_fetch(p, &r, i % BLM__RING + q, reach, false, early);
            blm__ring_pull(p, &r, (i - ahead + BLM__PULL) % BLM__RING + q, reach, early);
            if (!test8)
                maybe[at] = test(blm__ring_line(p, &r, j, reach, early), r.x[j], p.k);
        }
        if (test8)
            blm__ring_test8(p, &r, (i - ahead) % BLM__RING, reach, maybe + i - ahead, test8);
    }
    for (i = blm__stream_left(whole, ahead); test8 && i < whole; i += BLM__STEP)
        blm__ring_test8(p, &r, i % BLM__RING, reach, maybe + i, test8);
    for (; i < whole; i++) {
        size_t j = i % BLM__RING;
        maybe[i] = test(blm__ring_line(p, &r, j, reach, early), r.x[j], p.k);
    }
    for (size_t q = 0; q < odd.n; q++)
        maybe[whole + q] = test(blm__place_line(p, odd.h[q]), blm__line_x(odd.h[q]), p.k);
    return blm__ones(maybe, s.n);
}

BLM__INLINE size_t blm__stream_add(struct blm__layer *l, struct blm__stream s, uint8_t *fresh,
                                   bool marks, enum blm__reach reach, blm__take_fn take,
                                   blm__line_set_fn set)
{
    const struct blm__place p     = blm__place_of(l);
    const size_t            whole = s.n - s.n % BLM__STEP, ahead = blm__reach_ahead(reach);
    struct blm__ring        r;
    struct blm__odd         odd;
    size_t                  i = 0;
    blm__odd_take(&odd, p, &s, reach);
    if (whole)
        blm__ring_take(p, &s, 0, &r, reach, true, take);
    for (; i < whole && i < ahead; i += BLM__STEP) {
        if (i + BLM__STEP < whole)
            blm__ring_take(p, &s, i + BLM__STEP, &r, reach, true, take);
        for (size_t q = 0; q < BLM__STEP; q++)
            blm__ring_fetch(p, &r, i % BLM__RING + q, reach, true, true);
    }
    for (; i < whole; i += BLM__STEP) {
        if (i + BLM__STEP < whole)
            blm__ring_take(p, &s, i + BLM__STEP, &r, reach, true, take);
        for (size_t q = 0; q < BLM__STEP; q++) {
            size_t at = i - ahead + q, j = (i - ahead) % BLM__RING + q;
            blm__ring_fetch(p, &r, i % BLM__RING + q, reach, true, true);
            blm__ring_pull(p, &r, (i - ahead + BLM__PULL) % BLM__RING + q, reach, true);
            fresh[at] = (uint8_t)set(l, blm__ring_line(p, &r, j, reach, true), r.x[j], p.k, marks);
        }
    }
    for (i = blm__stream_left(whole, ahead); i < whole; i++) {
        size_t j = i % BLM__RING;
        fresh[i] = (uint8_t)set(l, blm__ring_line(p, &r, j, reach, true), r.x[j], p.k, marks);
    }
    for (size_t q = 0; q < odd.n; q++)
        fresh[whole + q] =
            (uint8_t)set(l, blm__place_line(p, odd.h[q]), blm__line_x(odd.h[q]), p.k, marks);
    return blm__ones(fresh, s.n);
}

/* ---- several lines a key ----
 *
 * Adds: a ring for each line. Against scalar products, made twice (Zen 3): two lines in cache
 * 9.2 → 7.3 ns a key, three 14.3 → 11.2, two in 78 MB 21 → 19. */

struct blm__rings {
    struct blm__ring line[BLM__MAX_LINES];
};

BLM__INLINE void blm__rings_take(struct blm__place p, const struct blm__stream *s, size_t i,
                                 struct blm__rings *r, enum blm__reach reach, uint32_t lines,
                                 blm__take_fn take)
{
    size_t to = i % BLM__RING;
    blm__ring_take(p, s, i, &r->line[0], reach, true, take);
    for (uint32_t j = 1; j < lines; j++) {
        _Alignas(64) uint64_t h[BLM__STEP];
        for (size_t q = 0; q < BLM__STEP; q++)
            h[q] = blm__line_next(r->line[j - 1].x[to + q]);
        struct blm__stream next = blm__stream_hashes(h, BLM__STEP);
        take(next.from, false, 0, blm__reach_early(reach, true) ? p.count : 0, r->line[j].at + to,
             r->line[j].x + to);
    }
}

BLM__INLINE size_t blm__stream_add_lines(struct blm__layer *l, struct blm__stream s, uint8_t *fresh,
                                         bool marks, enum blm__reach reach, uint32_t lines,
                                         blm__take_fn take, blm__line_set_fn set)
{
    const struct blm__place p     = blm__place_of(l);
    const size_t            whole = s.n - s.n % BLM__STEP;
    const size_t            ahead = blm__reach_ahead(reach) / 2;
    struct blm__rings       r;
    for (size_t i = 0; i < whole + ahead; i += BLM__STEP) {
        if (i < whole)
            blm__rings_take(p, &s, i, &r, reach, lines, take);
        for (size_t q = 0; q < BLM__STEP; q++) {
            for (uint32_t j = 0; i < whole && j < lines; j++)
                blm__ring_fetch(p, &r.line[j], i % BLM__RING + q, reach, true, true);
            if (i < ahead)
                continue;
            size_t at    = (i - ahead) % BLM__RING + q;
            unsigned new = 0;
            for (uint32_t j = 0; j < lines; j++)
                new |= set(l, blm__ring_line(p, &r.line[j], at, reach, true), r.line[j].x[at], p.k,
                           marks);
            fresh[i - ahead + q] = (uint8_t) new;
        }
    }
    for (size_t i = whole; i < s.n; i++) {
        uint64_t h   = blm__stream_hash(&s, i);
        unsigned new = 0;
        for (uint32_t j = 0; j < lines; j++) {
            uint64_t x = blm__line_x(h);
            new |= set(l, blm__place_line(p, h), x, p.k, marks);
            h = blm__line_next(x);
        }
        fresh[i] = (uint8_t) new;
    }
    return blm__ones(fresh, s.n);
}

/* Two or three (BLM__MAX_LINES). */
BLM__INLINE size_t blm__lines_add_stream(struct blm__layer *l, struct blm__stream s, uint8_t *fresh,
                                         blm__take_fn take, blm__line_set_fn set)
{
    bool marks = l->marks != NULL, slow = marks || l->shape.line_count >> 32 != 0;
    if (l->shape.lines == 2)
        return slow ? blm__stream_add_lines(l, s, fresh, marks, BLM__VAST, 2, take, set)
                    : blm__stream_add_lines(l, s, fresh, false, BLM__FAR, 2, take, set);
    return slow ? blm__stream_add_lines(l, s, fresh, marks, BLM__VAST, 3, take, set)
                : blm__stream_add_lines(l, s, fresh, false, BLM__FAR, 3, take, set);
}

/* The loop that fits the layer. */
BLM__INLINE size_t blm__line_add(struct blm__layer *l, struct blm__stream s, uint8_t *fresh,
                                 blm__take_fn take, blm__line_set_fn set)
{
    if (l->marks)
        return blm__stream_add(l, s, fresh, true, BLM__VAST, take, set);
    switch (blm__reach_of(l)) {
    case BLM__NEAR:
        return blm__stream_add(l, s, fresh, false, BLM__NEAR, take, set);
    case BLM__FAR:
        return blm__stream_add(l, s, fresh, false, BLM__FAR, take, set);
    default:
        return blm__stream_add(l, s, fresh, false, BLM__VAST, take, set);
    }
}

#endif
