/* SPDX-License-Identifier: MIT */
/*
 * steps.h in one pipeline with what comes before a lookup and after it.
 *
 * Keys arrive four at a time by `fill` and answers leave by `tell`, while other keys' lines are on
 * their way: who parses and hashes 100 keys, then looks them up, then replies, has nothing to do in
 * the middle but to wait for memory. So a round takes one block in, and between its four keys does
 * what needs no memory: hashes the next block, gives the last one's answers, lists positions. 100 keys, half of them there, in 138 MB, µs: 6.0 block by block, 5.6
 * with hashes in vectors and no branch on what is found, 5.1 with the rest in between. In 14 MB
 * hashes one by one cost 3.9 and in vectors 3.5.
 */
#ifndef BLM_CORE_KERNEL_FLOW_H
#define BLM_CORE_KERNEL_FLOW_H

#include "core/kernel/steps.h"

#define BLM__FLOW_MOST (BLM__STEPS_ROOM / 16) /* probes; beyond, blocks would not wait */

/* Blocks between asking for bits and using them. Lines are asked for into the second cache, which
 * keeps many more on their way than the first. 100 keys, half of them there, in 14 MB on a Zen 4, µs:
 * 6.3 into the first cache and two blocks ahead, 3.2 into the second, 2.9 with four blocks. Adds have
 * one block, and for them the cache makes no difference. */
#define BLM__FLOW_CHECK_AHEAD 4u

struct blm__steps_flow {
    struct blm__layer *layer; /* with steps, and at most BLM__FLOW_MOST probes */
    /* Four more keys, or fewer: they end there, and it is not called again. Returns how many. */
    size_t (*fill)(struct blm__steps_flow *w, uint64_t *a, uint64_t *b);
    /* The answers of the next n, 1 to 4. */
    void (*tell)(struct blm__steps_flow *w, const uint8_t *answer, size_t n);
    /* Where the words of keys go, block after block and then from the front again: so many
     * blocks, a power of two, and two at least. */
    uint64_t *a, *b;
    size_t    blocks;
};

/* How far the keys go: SIZE_MAX until it is known. */
struct blm__flow_end {
    size_t keys, blocks;
};

/* Of block i in a and b. */
BLM__INLINE size_t blm__flow_at(const struct blm__steps_flow *w, size_t i)
{
    return 4 * (i & (w->blocks - 1));
}

/* The words of block i, if there is one; it may be the last, with fewer keys than four. Two keys
 * are looked up between this and their listing: vectors that load what was stored word by word wait
 * for all that is under way. */
BLM__INLINE void blm__flow_fill(struct blm__steps_flow *w, size_t i, struct blm__flow_end *end)
{
    uint64_t *a = w->a + blm__flow_at(w, i), *b = w->b + blm__flow_at(w, i);
    if (i >= end->blocks)
        return;
    size_t got = w->fill(w, a, b);
    if (BLM__LIKELY(got == 4))
        return;
    end->keys   = 4 * i + got;
    end->blocks = i + (got > 0);
    for (size_t j = got; got && j < 4; j++) /* of no block: nothing, a kept one may stand there */
        a[j] = b[j] = 0;
}

/* False: that was the last. */
BLM__INLINE bool blm__flow_tell(struct blm__steps_flow *w, size_t i, unsigned found,
                                const struct blm__flow_end *end)
{
    static const uint8_t answers[16][4] = {
        { 0, 0, 0, 0 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 1, 1, 0, 0 },
        { 0, 0, 1, 0 }, { 1, 0, 1, 0 }, { 0, 1, 1, 0 }, { 1, 1, 1, 0 },
        { 0, 0, 0, 1 }, { 1, 0, 0, 1 }, { 0, 1, 0, 1 }, { 1, 1, 0, 1 },
        { 0, 0, 1, 1 }, { 1, 0, 1, 1 }, { 0, 1, 1, 1 }, { 1, 1, 1, 1 },
    };
    const bool last = i + 1 == end->blocks;
    w->tell(w, answers[found], last ? end->keys - 4 * i : 4);
    return !last;
}

/* The ring of steps.h, with what the compiler may know of it. */
struct blm__flow_ring {
    uint64_t       *pos;
    uint32_t        mask, k;
    blm__steps_list list;
};

BLM__INLINE uint64_t *blm__flow_block(struct blm__flow_ring r, size_t i)
{
    return r.pos + (i & r.mask) * 4 * r.k;
}

/* The positions of block i, if there is one. */
BLM__INLINE void blm__flow_list(const struct blm__steps_flow *w, size_t i,
                                const struct blm__flow_end *end, struct blm__flow_ring r,
                                const struct blm__steps *s)
{
    if (i < end->blocks)
        r.list(s, w->a + blm__flow_at(w, i), w->b + blm__flow_at(w, i), r.k, blm__flow_block(r, i));
}

/* ---- check ---- */

/* The three stages of steps.h; NULL: no block there. Keys as bits: those of mid that passed,
 * those of out that had, those of out that were found. */
struct blm__flow_stages {
    const uint64_t *in, *mid, *out;
    unsigned        passed, waiting, found;
};

/* Asks for n bits of a key that comes, and tests as many of one that is due: by turns, because
 * asking waits for memory and testing for instructions. A mask of 0 stands for a key that has
 * been answered: position 0 is asked for and tested, whose line is near. */
BLM__INLINE uint64_t blm__flow_turns(const uint64_t *words, unsigned word, const uint64_t *in,
                                     uint64_t in_mask, const uint64_t *due, uint64_t due_mask,
                                     uint32_t n)
{
    uint64_t     all = due_mask;
    const size_t end = 4 * (size_t)n;
    if (in && due) {
        BLM__UNROLL_8
        for (size_t j = 0; j < end; j += 4) {
            BLM__PREFETCH(&words[in[j] >> word & in_mask]);
            all &= blm__le64(blm__load(&words[due[j] >> word & due_mask])) >> (due[j] & 63);
        }
    } else if (in) {
        BLM__UNROLL_8
        for (size_t j = 0; j < end; j += 4)
            BLM__PREFETCH(&words[in[j] >> word & in_mask]);
        return 0;
    } else if (due) {
        BLM__UNROLL_8
        for (size_t j = 0; j < end; j += 4)
            all &= blm__le64(blm__load(&words[due[j] >> word & due_mask])) >> (due[j] & 63);
    } else {
        return 0;
    }
    return all & 1;
}

/* Key i of each stage, with no branch on what is found: where half of the keys are there, the
 * processor would guess wrong for every second one. */
BLM__INLINE void blm__flow_lane(const uint64_t *words, unsigned word, struct blm__flow_stages *g,
                                unsigned i, uint32_t first, uint32_t k)
{
    const uint64_t *in = g->in ? g->in + i : NULL, *mid = g->mid ? g->mid + i : NULL;
    const uint64_t *out   = g->out ? g->out + i : NULL;
    uint64_t        wait  = g->waiting >> i & 1;
    uint64_t        pass  = blm__flow_turns(words, word, in, UINT64_MAX, mid, UINT64_MAX, first);
    uint64_t        found = blm__flow_turns(words, word, mid ? mid + 4 * first : NULL, 0 - pass,
                                     out ? out + 4 * first : NULL, 0 - wait, k - first);
    g->passed |= (unsigned)pass << i;
    g->found |= (unsigned)found << i;
}

BLM__INLINE void blm__flow_check_far(struct blm__steps_flow *w, uint32_t first, uint32_t k,
                                     blm__steps_list list, unsigned word)
{
    struct blm__steps_ring   room;
    const struct blm__layer *l     = w->layer;
    const struct blm__steps  s     = l->steps;
    const uint64_t          *words = l->words;
    struct blm__flow_end     end   = { SIZE_MAX, SIZE_MAX };
    blm__steps_ring(&room, k);
    const struct blm__flow_ring r = { room.pos, room.mask, k, list };
    const size_t ahead = room.ahead < BLM__FLOW_CHECK_AHEAD ? room.ahead : BLM__FLOW_CHECK_AHEAD;
    uint8_t      passed[2 * BLM__FLOW_CHECK_AHEAD]; /* a bit a key */
    unsigned     found = 0;                         /* of the block before out */
    blm__flow_fill(w, 0, &end);
    blm__flow_list(w, 0, &end, r, &s);
    for (size_t i = 0; end.blocks > 0; i++) {
        struct blm__flow_stages g   = { NULL, NULL, NULL, 0, 0, 0 };
        const size_t            mid = i - ahead, out = mid - ahead;
        if (i < end.blocks)
            g.in = blm__flow_block(r, i);
        if (i >= ahead && mid < end.blocks)
            g.mid = blm__flow_block(r, mid);
        if (i >= 2 * ahead && out < end.blocks)
            g.waiting = passed[out % sizeof passed];
        if (g.waiting) /* none of four: seldom where some are there, the rule where none is */
            g.out = blm__flow_block(r, out);
        blm__flow_lane(words, word, &g, 0, first, k);
        blm__flow_fill(w, i + 1, &end);
        blm__flow_lane(words, word, &g, 1, first, k);
        if (i > 2 * ahead && !blm__flow_tell(w, out - 1, found, &end))
            return;
        blm__flow_lane(words, word, &g, 2, first, k);
        blm__flow_list(w, i + 1, &end, r, &s);
        blm__flow_lane(words, word, &g, 3, first, k);
        if (g.mid)
            passed[mid % sizeof passed] = (uint8_t)g.passed;
        found = g.found;
    }
}

/* With a k that the compiler knows for what RedisBloom and Guava make of 1%. */
BLM__INLINE void blm__flow_check_loop(struct blm__steps_flow *w, blm__steps_list list,
                                      unsigned word)
{
    const uint32_t k = w->layer->shape.probes;
    if (k < BLM__STEPS_FIRST)
        blm__flow_check_far(w, k, k, list, word);
    else if (k == 8)
        blm__flow_check_far(w, BLM__STEPS_FIRST, 8, list, word);
    else
        blm__flow_check_far(w, BLM__STEPS_FIRST, k, list, word);
}

/* ---- add ---- */

/* Key i of a block that is due, and of one that comes (NULL: none). Returns the key as a bit, if it
 * is new. */
BLM__INLINE unsigned blm__flow_set(uint64_t *words, unsigned word, const uint64_t *in,
                                   const uint64_t *due, size_t keys, unsigned i, uint32_t k)
{
    if (i < keys)
        return blm__steps_set_plain(words, in ? in + i : NULL, due + i, k, word) << i;
    if (in)
        blm__steps_fetch(words, in + i, k, word, true);
    return 0;
}

/* A layer with room for all that come, without marks, and no other thread's. Returns how many
 * were new. */
BLM__INLINE size_t blm__flow_add_any(struct blm__steps_flow *w, uint32_t k, blm__steps_list list,
                                     unsigned word)
{
    struct blm__steps_ring   room;
    const struct blm__layer *l     = w->layer;
    const struct blm__steps  s     = l->steps;
    uint64_t                *words = l->words;
    struct blm__flow_end     end   = { SIZE_MAX, SIZE_MAX };
    size_t                   count = 0;
    unsigned                 told  = 0; /* of the block before due: its answers */
    blm__steps_ring(&room, k);
    const struct blm__flow_ring r = { room.pos, room.mask, k, list };
    blm__flow_fill(w, 0, &end);
    blm__flow_list(w, 0, &end, r, &s);
    for (size_t i = 0; end.blocks > 0; i++) {
        const uint64_t *in   = i < end.blocks ? blm__flow_block(r, i) : NULL;
        const uint64_t *due  = blm__flow_block(r, i - 1);
        size_t          keys = i > 0 && i <= end.blocks ? 4 : 0;
        if (i == end.blocks)
            keys = end.keys - 4 * (i - 1);
        unsigned fresh = blm__flow_set(words, word, in, due, keys, 0, k);
        blm__flow_fill(w, i + 1, &end);
        fresh |= blm__flow_set(words, word, in, due, keys, 1, k);
        if (i > 1 && !blm__flow_tell(w, i - 2, told, &end))
            break;
        fresh |= blm__flow_set(words, word, in, due, keys, 2, k);
        blm__flow_list(w, i + 1, &end, r, &s);
        fresh |= blm__flow_set(words, word, in, due, keys, 3, k);
        for (unsigned j = 0; j < 4; j++)
            count += fresh >> j & 1;
        told = fresh;
    }
    return count;
}

BLM__INLINE size_t blm__flow_add_loop(struct blm__steps_flow *w, blm__steps_list list,
                                      unsigned word)
{
    const uint32_t k = w->layer->shape.probes;
    return k == 8 ? blm__flow_add_any(w, 8, list, word) : blm__flow_add_any(w, k, list, word);
}

#endif
