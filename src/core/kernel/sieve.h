/* SPDX-License-Identifier: MIT */
/*
 * Checks of k bits anywhere in a layer, where only keys that may be there are followed to their end.
 *
 * Half the bits of a full filter are clear, so that three of four absent keys fall at their first two
 * bits. Keys come in blocks of eight. The lines of a block's first bits are asked for; LAG blocks later
 * they are looked at, and keys that passed go to a queue, with no branch on which did. When there are
 * eight in it, the lines of all their other bits are asked for, and those of eight keys that were WAIT
 * before them in the queue are looked at. Where all keys are there, that is a pipeline of two stages;
 * where none is, the second one seldom has work.
 *
 * For keys that are there it is slower than asking for all bits at once (classic, Zen 3, 1e7 keys: 22.1 ns
 * against 19.1; absent ones 11.1 against 13.5), so an engine chooses it by the run of keys before.
 *
 * Asking and looking take turns, as in core/kernel/fuse_ring.h and for the same reason.
 *
 *   list(from, i, k, pos)   the positions of keys i … i + 7, below 2^32: position j of key i + q at
 *                           pos[8j + q]
 *   rest(from, i, k, pos)   positions FIRST … k − 1 of key i, at pos[8j]; NULL: list gives them too
 */
#ifndef BLM_CORE_KERNEL_SIEVE_H
#define BLM_CORE_KERNEL_SIEVE_H

#include "core/kernel/steps.h"
#include "core/kernel/stream.h"

#define BLM__SIEVE_LANES 8u
#define BLM__SIEVE_FIRST 2u
#define BLM__SIEVE_LAG   4u    /* blocks */
#define BLM__SIEVE_WAIT  32u   /* keys of the queue */
#define BLM__SIEVE_QUEUE 64u   /* a power of two, and more than WAIT and two blocks */
#define BLM__SIEVE_ROOM  4096u /* positions: 16 KiB */
#define BLM__SIEVE_MOST  16u   /* probes: 32 blocks have room then */

typedef void (*blm__sieve_list)(const void *from, size_t i, uint32_t k, uint32_t *pos);

/* A layer's words, and where keys are on their way. A key's place is 8 · block + lane. */
struct blm__sieve {
    const uint64_t *words;
    const void     *from;
    uint8_t        *maybe;
    size_t          last;    /* the first place of the last block … */
    size_t          back;    /* … whose keys are so many before their places, as it is full too */
    uint32_t        k, mask; /* blocks in the ring − 1 */
    size_t          tail, mid, out;          /* of the queue: put into it, asked for, looked at */
    size_t          queue[BLM__SIEVE_QUEUE]; /* places */
    uint32_t        pos[BLM__SIEVE_ROOM];
};

BLM__INLINE uint32_t *blm__sieve_at(struct blm__sieve *s, size_t place, uint32_t k)
{
    size_t block = place / BLM__SIEVE_LANES & s->mask;
    return s->pos + block * BLM__SIEVE_LANES * k + place % BLM__SIEVE_LANES;
}

BLM__INLINE size_t blm__sieve_key(const struct blm__sieve *s, size_t place)
{
    return place - (place >= s->last ? s->back : 0);
}

BLM__INLINE uint64_t blm__sieve_bit(const uint64_t *words, uint32_t pos)
{
    return blm__le64(blm__load(&words[pos >> 6])) >> (pos & 63);
}

/* The first bits of a block that comes (NULL: none), and of one that is due (NULL). */
BLM__INLINE void blm__sieve_first(struct blm__sieve *s, const uint32_t *in, const uint32_t *due,
                                  size_t place)
{
    const uint64_t *words = s->words;
    uint8_t        *maybe = due ? s->maybe + blm__sieve_key(s, place) : NULL;
    size_t          tail  = s->tail;
    for (size_t q = 0; q < BLM__SIEVE_LANES; q++) {
        uint64_t all = 1;
        for (uint32_t j = 0; j < BLM__SIEVE_FIRST; j++) {
            if (in)
                BLM__PREFETCH(&words[in[BLM__SIEVE_LANES * j + q] >> 6]);
            if (due)
                all &= blm__sieve_bit(words, due[BLM__SIEVE_LANES * j + q]);
        }
        if (due) {
            maybe[q]                          = (uint8_t)all;
            s->queue[tail % BLM__SIEVE_QUEUE] = place + q;
            tail += (size_t)all;
        }
    }
    s->tail = tail;
}

BLM__INLINE const uint32_t *blm__sieve_ask(struct blm__sieve *s, size_t i, uint32_t k,
                                           blm__sieve_list rest)
{
    size_t    place = s->queue[i % BLM__SIEVE_QUEUE];
    uint32_t *pos   = blm__sieve_at(s, place, k);
    if (rest)
        rest(s->from, blm__sieve_key(s, place), k, pos);
    return pos;
}

/* The other bits of one that comes, and of one that is due: as many as `ask` and `look` say. */
BLM__INLINE void blm__sieve_other(struct blm__sieve *s, uint32_t k, bool ask, bool look,
                                  blm__sieve_list rest)
{
    const uint64_t *words = s->words;
    const uint32_t *in    = ask ? blm__sieve_ask(s, s->mid, k, rest) : NULL;
    size_t          place = look ? s->queue[s->out % BLM__SIEVE_QUEUE] : 0;
    const uint32_t *due   = look ? blm__sieve_at(s, place, k) : NULL;
    uint64_t        all   = 1;
    BLM__UNROLL_8
    for (uint32_t j = BLM__SIEVE_FIRST; j < k; j++) {
        if (ask)
            BLM__PREFETCH(&words[in[BLM__SIEVE_LANES * j] >> 6]);
        if (look)
            all &= blm__sieve_bit(words, due[BLM__SIEVE_LANES * j]);
    }
    s->mid += ask;
    s->out += look;
    if (look)
        s->maybe[blm__sieve_key(s, place)] = (uint8_t)all;
}

/* Eights of the queue. */
BLM__INLINE void blm__sieve_queue(struct blm__sieve *s, uint32_t k, blm__sieve_list rest)
{
    while (s->tail - s->mid >= BLM__SIEVE_LANES) {
        if (s->mid - s->out >= BLM__SIEVE_WAIT)
            for (size_t q = 0; q < BLM__SIEVE_LANES; q++)
                blm__sieve_other(s, k, true, true, rest);
        else
            for (size_t q = 0; q < BLM__SIEVE_LANES; q++)
                blm__sieve_other(s, k, true, false, rest);
    }
}

/* Those whose block is before `block`, whether others have come or not. */
BLM__INLINE void blm__sieve_flush(struct blm__sieve *s, size_t block, uint32_t k,
                                  blm__sieve_list rest)
{
    while (s->out != s->tail && s->queue[s->out % BLM__SIEVE_QUEUE] / BLM__SIEVE_LANES < block) {
        while (s->mid != s->tail && s->mid - s->out < BLM__SIEVE_LANES)
            blm__sieve_other(s, k, true, false, rest);
        blm__sieve_other(s, k, false, true, rest);
    }
}

/* n ≥ 8 keys, FIRST < k ≤ MOST. */
BLM__INLINE size_t blm__sieve_run(const uint64_t *words, const void *from, size_t n, uint32_t k,
                                  uint8_t *maybe, blm__sieve_list list, blm__sieve_list rest)
{
    const size_t      blocks = (n + BLM__SIEVE_LANES - 1) / BLM__SIEVE_LANES;
    struct blm__sieve s; /* its ring is not cleared */
    s.words = words;
    s.from  = from;
    s.maybe = maybe;
    s.last  = (blocks - 1) * BLM__SIEVE_LANES;
    s.back  = blocks * BLM__SIEVE_LANES - n;
    s.k     = k;
    s.mask  = k <= 8 ? BLM__SIEVE_ROOM / 64 - 1 : BLM__SIEVE_ROOM / 128 - 1;
    s.tail = s.mid = s.out = 0;
    for (size_t t = 0; t < blocks + BLM__SIEVE_LAG; t++) {
        const uint32_t *in = NULL, *due = NULL;
        const size_t    at = t * BLM__SIEVE_LANES, place = at - BLM__SIEVE_LAG * BLM__SIEVE_LANES;
        if (t < blocks) {
            uint32_t *pos = blm__sieve_at(&s, at, k);
            if (t > s.mask) /* its place in the ring may still be waited for */
                blm__sieve_flush(&s, t - s.mask, k, rest);
            list(from, blm__sieve_key(&s, at), rest ? BLM__SIEVE_FIRST : k, pos);
            in = pos;
        }
        if (t >= BLM__SIEVE_LAG)
            due = blm__sieve_at(&s, place, k);
        if (in && due)
            blm__sieve_first(&s, in, due, place);
        else if (in)
            blm__sieve_first(&s, in, NULL, 0);
        else
            blm__sieve_first(&s, NULL, due, place);
        blm__sieve_queue(&s, k, rest);
    }
    blm__sieve_flush(&s, SIZE_MAX, k, rest);
    return blm__ones(maybe, n);
}

/* With a k that the compiler knows, for what is made of 1%. */
BLM__INLINE size_t blm__sieve_check(const uint64_t *words, const void *from, size_t n, uint32_t k,
                                    uint8_t *maybe, blm__sieve_list list, blm__sieve_list rest)
{
    if (k == 7)
        return blm__sieve_run(words, from, n, 7, maybe, list, rest);
    if (k == 8)
        return blm__sieve_run(words, from, n, 8, maybe, list, rest);
    return blm__sieve_run(words, from, n, k, maybe, list, rest);
}

BLM__INLINE bool blm__sieve_fits(const struct blm__layer *l, size_t n)
{
    return n >= BLM__SIEVE_LANES && l->shape.probes > BLM__SIEVE_FIRST &&
           l->shape.probes <= BLM__SIEVE_MOST && !blm__layer_small(l);
}

/* ---- chains ---- */

struct blm__sieve_links {
    const uint64_t *h;
    uint64_t        m;
};

BLM__INLINE void blm__sieve_link(const void *from, size_t i, uint32_t k, uint32_t *pos)
{
    const struct blm__sieve_links *s = from;
    for (size_t q = 0; q < BLM__SIEVE_LANES; q++) {
        uint64_t g = s->h[i + q];
        for (uint32_t j = 0; j < k; j++, g = blm__chain_next(g))
            pos[BLM__SIEVE_LANES * j + q] = (uint32_t)blm__reduce(g, s->m);
    }
}

BLM__INLINE void blm__sieve_link_rest(const void *from, size_t i, uint32_t k, uint32_t *pos)
{
    const struct blm__sieve_links *s = from;
    uint64_t                       g = s->h[i];
    for (uint32_t j = 0; j < BLM__SIEVE_FIRST; j++)
        g = blm__chain_next(g); /* by one product: both factors are known */
    BLM__UNROLL_8
    for (uint32_t j = BLM__SIEVE_FIRST; j < k; j++, g = blm__chain_next(g))
        pos[BLM__SIEVE_LANES * j] = (uint32_t)blm__reduce(g, s->m);
}

/* Any layer, any n. */
BLM__INLINE size_t blm__sieve_chain(const struct blm__layer *l, const uint64_t *h, size_t n,
                                    uint8_t *maybe)
{
    const struct blm__sieve_links s = { h, l->shape.bits };
    if (!blm__sieve_fits(l, n) || l->shape.bits >> 32)
        return blm__chain_check_loop(l, h, n, maybe);
    return blm__sieve_check(l->words, &s, n, l->shape.probes, maybe, blm__sieve_link,
                            blm__sieve_link_rest);
}

#endif
