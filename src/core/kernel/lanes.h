/* SPDX-License-Identifier: MIT */
/*
 * Shared adds to a layer of one line a key, in memory.
 *
 * Setting a key's bits with atomic operations takes one for each word, 6 ns each (Emerald Rapids): 55 ns
 * where an exclusive add takes 2.3. So a batch locks. The layer is cut into 16 lanes; a batch sorts
 * its keys by lane, and changes the lines of a lane, whole, while it alone has it. Threads meet in a
 * lane by chance, and take another one first.
 *
 * Single adds do not lock. They set their bits by atomic operations, and a batch that has read the
 * line before and writes it back afterwards takes them away. So a lane is a number: odd while a batch
 * has it, and another one afterwards. A single add that finds it even, and the same after it has set
 * (or seen) the bits, met no batch: one that comes now reads them. Else it does it again; after some
 * times it takes the lane itself. Nobody is told "added" or "present" of bits that may be taken away.
 *
 * That a batch which comes later sees the bits needs an order of the words' accesses and the lane's on
 * both sides. On x86-64 the locked instruction of entering is one, those that set the bits are others,
 * and two loads stay in order; elsewhere there is a fence.
 *
 * Layers in files keep to atomic operations: their marks want an order for each word.
 */
#ifndef BLM_CORE_KERNEL_LANES_H
#define BLM_CORE_KERNEL_LANES_H

#include <sched.h>

#include "core/kernel/loops.h"

#define BLM__LANE_TRIES 8u  /* of a single add, before it takes the lane */
#define BLM__LANE_LEAST 16u /* keys of a batch that is worth locks */

#if defined(__x86_64__) && defined(__GNUC__)
#define BLM__LANE_FENCE() __asm__ __volatile__("" ::: "memory")
#else
#define BLM__LANE_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

typedef bool (*blm__line_has_fn)(const struct blm__layer *l, uint64_t h);
/* As blm__line_set_fn of core/kernel/stream.h. */
typedef unsigned (*blm__lane_set_fn)(struct blm__layer *l, uint64_t *line, uint64_t x, uint32_t k,
                                     bool marks);

BLM__INLINE _Atomic uint64_t *blm__lane(const struct blm__layer *l, unsigned lane)
{
    return &l->stripes[BLM__LANE_FIRST + lane].count;
}

/* False: somebody has it. */
BLM__INLINE bool blm__lane_enter(_Atomic uint64_t *lane, uint64_t *was)
{
    *was = atomic_load_explicit(lane, memory_order_relaxed);
    if (*was & 1 || !atomic_compare_exchange_strong(lane, was, *was + 1))
        return false;
    BLM__LANE_FENCE();
    return true;
}

BLM__INLINE void blm__lane_leave(_Atomic uint64_t *lane, uint64_t was)
{
    atomic_store_explicit(lane, was + 2, memory_order_release);
}

/* ---- one key ---- */

BLM__INLINE unsigned blm__shared_set(struct blm__layer *l, uint64_t h, blm__line_has_fn has)
{
    return has(l, h) ? 0 : blm__lines_set(l, h, true);
}

/* 1 when a bit was clear. */
BLM__INLINE unsigned blm__shared_add(struct blm__layer *l, uint64_t h, blm__line_has_fn has)
{
    if (!l->lanes)
        return blm__shared_set(l, h, has);
    _Atomic uint64_t *lane =
        blm__lane(l, (unsigned)(blm__reduce(h, l->shape.line_count) >> l->lane_shift));
    unsigned fresh = 0;
    uint64_t was;
    for (unsigned i = 0; i < BLM__LANE_TRIES; i++) {
        was = atomic_load(lane);
        if (was & 1) {
            sched_yield();
            continue;
        }
        fresh |= blm__shared_set(l, h, has);
        BLM__LANE_FENCE();
        if (atomic_load(lane) == was)
            return fresh;
    }
    while (!blm__lane_enter(lane, &was))
        sched_yield();
    fresh |= blm__shared_set(l, h, has);
    blm__lane_leave(lane, was);
    return fresh;
}

/* A bit by itself, of a layer with lanes. */
BLM__INLINE unsigned blm__lane_bit(struct blm__layer *l, uint64_t pos)
{
    _Atomic uint64_t *lane = blm__lane(l, (unsigned)(pos / BLM__LINE_BITS >> l->lane_shift));
    uint64_t          was;
    while (!blm__lane_enter(lane, &was))
        sched_yield();
    unsigned fresh = blm__bit_set(l, pos, true);
    blm__lane_leave(lane, was);
    return fresh;
}

/* ---- batches ---- */

/* Up to a batch of keys, sorted by lane: those of lane i are order[end[i − 1]] … order[end[i] − 1]. */
struct blm__laned {
    uint64_t at[BLM__BATCH]; /* the line's first word */
    uint16_t order[BLM__BATCH];
    uint16_t end[BLM__LANES];
    uint8_t  lane[BLM__BATCH];
};

BLM__INLINE void blm__laned_sort(const struct blm__layer *l, const uint64_t *h, size_t n,
                                 struct blm__laned *s)
{
    const bool     small                = blm__layer_small(l);
    const uint64_t lines                = l->shape.line_count;
    uint16_t       next[BLM__LANES + 1] = { 0 };
    for (size_t i = 0; i < n; i++) {
        uint64_t line = blm__reduce(h[i], lines);
        s->at[i]      = line * BLM__LINE_WORDS;
        s->lane[i]    = (uint8_t)(line >> l->lane_shift);
        if (!small)
            BLM__PREFETCH_W(l->words + s->at[i]);
        next[s->lane[i] + 1]++;
    }
    for (unsigned i = 0; i < BLM__LANES; i++) {
        next[i + 1] = (uint16_t)(next[i + 1] + next[i]);
        s->end[i]   = next[i + 1];
    }
    for (size_t i = 0; i < n; i++)
        s->order[next[s->lane[i]]++] = (uint16_t)i;
}

BLM__INLINE size_t blm__laned_set(struct blm__layer *l, const uint64_t *h, struct blm__laned *s,
                                  unsigned lane, uint8_t *fresh, blm__lane_set_fn set)
{
    const uint32_t k     = l->shape.probes;
    uint64_t      *words = l->words;
    size_t         count = 0;
    for (unsigned j = lane ? s->end[lane - 1] : 0; j < s->end[lane]; j++) {
        size_t i = s->order[j];
        fresh[i] = (uint8_t)set(l, words + s->at[i], blm__line_x(h[i]), k, false);
        count += fresh[i];
    }
    return count;
}

BLM__INLINE unsigned blm__laned_todo(const struct blm__laned *s)
{
    unsigned todo = 0;
    for (unsigned i = 0, begin = 0; i < BLM__LANES; begin = s->end[i++])
        todo |= (unsigned)(s->end[i] > begin) << i;
    return todo;
}

/* The lanes in their order from where the first key is, those that others have later. */
BLM__INLINE size_t blm__laned_add(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh,
                                  blm__lane_set_fn set)
{
    struct blm__laned s;
    size_t            count = 0;
    blm__laned_sort(l, h, n, &s);
    for (unsigned todo = blm__laned_todo(&s), i = s.lane[0], idle = 0; todo;
         i = (i + 1) % BLM__LANES) {
        uint64_t was;
        if (!(todo >> i & 1))
            continue;
        if (!blm__lane_enter(blm__lane(l, i), &was)) {
            if (++idle % BLM__LANES == 0)
                sched_yield();
            continue;
        }
        count += blm__laned_set(l, h, &s, i, fresh, set);
        blm__lane_leave(blm__lane(l, i), was);
        todo &= ~(1u << i);
    }
    return count;
}

/* Any layer, any n; ahead: keys whose lines are asked for, where there are no lanes. */
BLM__INLINE size_t blm__shared_add_loop(struct blm__layer *l, const uint64_t *h, size_t n,
                                        uint8_t *fresh, size_t ahead, blm__line_has_fn has,
                                        blm__lane_set_fn set)
{
    size_t count = 0, at = 0;
    for (; l->lanes && n - at >= BLM__LANE_LEAST;) {
        size_t some = n - at < BLM__BATCH ? n - at : BLM__BATCH;
        count += blm__laned_add(l, h + at, some, fresh + at, set);
        at += some;
    }
    ahead = blm__layer_small(l) ? 0 : ahead;
    for (size_t i = at; i < at + ahead && i < n; i++)
        blm__lines_fetch(l, h[i], true);
    for (; at < n; at++) {
        if (ahead && at + ahead < n)
            blm__lines_fetch(l, h[at + ahead], true);
        count += fresh[at] = (uint8_t)blm__shared_add(l, h[at], has);
    }
    return count;
}

#endif
