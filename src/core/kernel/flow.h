/* SPDX-License-Identifier: MIT */
/*
 * steps.h in one pipeline with what comes before a lookup and after it.
 *
 * Keys arrive four at a time by `fill` and answers leave by `tell`, while other keys' lines are on
 * their way: who parses and hashes 100 keys, then looks them up, then replies, has nothing to do in
 * the middle but to wait for memory. Four at a time, because the processor keeps some twenty lines on
 * their way, as many as a block asks for, and stands still when there would be more. 100 keys in
 * 14 MiB, half of them there, most lines from memory: 5.5 µs hashed first and then looked up, 5.4 by
 * sixteen, 4.8 by four. In a Redis server, where replies are part of it, a tenth less than before.
 */
#ifndef BLM_CORE_KERNEL_FLOW_H
#define BLM_CORE_KERNEL_FLOW_H

#include "core/kernel/steps.h"

#define BLM__FLOW_MOST (BLM__STEPS_ROOM / 16) /* probes; beyond, blocks would not wait */

/* Blocks between asking for bits and using them. A block takes longer than memory, so that more only
 * make the way out of the last ones longer: 4 instead of these cost 6 and 3%. */
#define BLM__FLOW_CHECK_AHEAD 2u
#define BLM__FLOW_ADD_AHEAD   1u

struct blm_steps_flow {
    struct blm_layer *layer; /* with steps, and at most BLM__FLOW_MOST probes */
    /* Four more keys, or fewer: they end there, and it is not called again. Returns how many. */
    size_t (*fill)(struct blm_steps_flow *w, uint64_t *a, uint64_t *b);
    /* The answers of the next n, 1 to 4. */
    void (*tell)(struct blm_steps_flow *w, const uint8_t *answer, size_t n);
    /* Where the words of keys go, block after block and then from the front again: so many blocks, a
     * power of two, and two at least. */
    uint64_t *a, *b;
    size_t    blocks;
};

/* How far the keys go: SIZE_MAX until it is known. */
struct blm_flow_end {
    size_t keys, blocks;
};

/* Of block i in a and b. */
BLM__INLINE size_t blm__flow_at(const struct blm_steps_flow *w, size_t i)
{
    return 4 * (i & (w->blocks - 1));
}

/* The words of block i, if there is one; it may be the last, with fewer keys than four. A block before
 * they are listed: vectors that load what was stored word by word wait for all that is under way. */
BLM__INLINE void blm__flow_fill(struct blm_steps_flow *w, size_t i, struct blm_flow_end *end)
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
BLM__INLINE bool blm__flow_tell(struct blm_steps_flow *w, size_t i, unsigned found,
                                const struct blm_flow_end *end)
{
    const bool last = i + 1 == end->blocks;
    uint8_t    answer[4];
    for (unsigned j = 0; j < 4; j++)
        answer[j] = (uint8_t)(found >> j & 1);
    w->tell(w, answer, last ? end->keys - 4 * i : 4);
    return !last;
}

/* ---- check ---- */

/* The three stages of steps.h; NULL: no block there. Keys as bits: those of mid that passed, those of
 * out that did. */
struct blm_flow_stages {
    const uint64_t *in, *mid, *out;
    unsigned        passed, waiting;
};

/* Tests n bits of a key that is due (NULL: none, and the answer 0), and asks for as many of one that
 * comes (NULL: none): by turns, because asking waits for memory and testing for instructions. */
BLM__INLINE unsigned blm__flow_turns(const uint64_t *words, const uint64_t *in, const uint64_t *due,
                                     uint32_t n)
{
    uint64_t     all = due != NULL;
    const size_t end = 4 * (size_t)n;
    if (in && due) {
        BLM__UNROLL_4
        for (size_t j = 0; j < end; j += 4) {
            BLM__PREFETCH_NEAR(&words[in[j] >> 6]);
            all &= blm__le64(blm__load(&words[due[j] >> 6])) >> (due[j] & 63);
        }
    } else if (in) {
        BLM__UNROLL_4
        for (size_t j = 0; j < end; j += 4)
            BLM__PREFETCH_NEAR(&words[in[j] >> 6]);
    } else if (due) {
        BLM__UNROLL_4
        for (size_t j = 0; j < end; j += 4)
            all &= blm__le64(blm__load(&words[due[j] >> 6])) >> (due[j] & 63);
    }
    return (unsigned)all;
}

/* Key by key, so that lines are asked for evenly. Returns the keys of out that were found. */
BLM__INLINE unsigned blm__flow_stage(const uint64_t *words, struct blm_flow_stages *g,
                                     uint32_t first, uint32_t k)
{
    unsigned found = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned pass =
            blm__flow_turns(words, g->in ? g->in + i : NULL, g->mid ? g->mid + i : NULL, first);
        g->passed |= pass << i;
        found |= blm__flow_turns(words, pass ? g->mid + 4 * first + i : NULL,
                                 g->waiting >> i & 1 ? g->out + 4 * first + i : NULL, k - first)
                 << i;
    }
    return found;
}

BLM__INLINE void blm__flow_check_far(struct blm_steps_flow *w, uint32_t first, uint32_t k,
                                     blm__steps_list list)
{
    struct blm_steps_ring   r;
    const struct blm_layer *l     = w->layer;
    const struct blm_steps  s     = l->steps;
    const uint64_t         *words = l->words;
    struct blm_flow_end     end   = { SIZE_MAX, SIZE_MAX };
    blm__steps_ring(&r, k);
    const size_t ahead = r.ahead < BLM__FLOW_CHECK_AHEAD ? r.ahead : BLM__FLOW_CHECK_AHEAD;
    uint8_t      passed[2 * BLM__FLOW_CHECK_AHEAD]; /* a bit a key */
    blm__flow_fill(w, 0, &end);
    for (size_t i = 0; end.blocks > 0; i++) {
        struct blm_flow_stages g   = { NULL, NULL, NULL, 0, 0 };
        const size_t           mid = i - ahead, out = mid - ahead;
        blm__flow_fill(w, i + 1, &end);
        if (i < end.blocks) {
            uint64_t *in = blm__steps_block(&r, i);
            list(&s, w->a + blm__flow_at(w, i), w->b + blm__flow_at(w, i), k, in);
            g.in = in;
        }
        if (i >= ahead && mid < end.blocks)
            g.mid = blm__steps_block(&r, mid);
        if (i >= 2 * ahead) {
            g.out     = blm__steps_block(&r, out);
            g.waiting = passed[out % sizeof passed];
        }
        unsigned found = blm__flow_stage(words, &g, first, k);
        if (g.mid)
            passed[mid % sizeof passed] = (uint8_t)g.passed;
        if (g.out && !blm__flow_tell(w, out, found, &end))
            return;
    }
}

/* With a k that the compiler knows for what RedisBloom and Guava make of 1%. */
BLM__INLINE void blm__flow_check_loop(struct blm_steps_flow *w, blm__steps_list list)
{
    const uint32_t k = w->layer->shape.probes;
    if (k < BLM__STEPS_FIRST)
        blm__flow_check_far(w, k, k, list);
    else if (k == 8)
        blm__flow_check_far(w, BLM__STEPS_FIRST, 8, list);
    else
        blm__flow_check_far(w, BLM__STEPS_FIRST, k, list);
}

/* ---- add ---- */

/* A layer with room for all that come, without marks, and no other thread's. Returns how many were new. */
BLM__INLINE size_t blm__flow_add_any(struct blm_steps_flow *w, uint32_t k, blm__steps_list list)
{
    struct blm_steps_ring   r;
    const struct blm_layer *l     = w->layer;
    const struct blm_steps  s     = l->steps;
    uint64_t               *words = l->words;
    const bool              far   = !blm__layer_small(l);
    struct blm_flow_end     end   = { SIZE_MAX, SIZE_MAX };
    size_t                  count = 0;
    blm__steps_ring(&r, k);
    const size_t ahead = far ? BLM__FLOW_ADD_AHEAD : 0;
    blm__flow_fill(w, 0, &end);
    for (size_t i = 0; end.blocks > 0; i++) {
        const size_t    due   = i - ahead;
        const uint64_t *pos   = blm__steps_block(&r, due);
        uint64_t       *in    = blm__steps_block(&r, i);
        unsigned        fresh = 0;
        blm__flow_fill(w, i + 1, &end);
        size_t keys = i < ahead ? 0 : due + 1 == end.blocks ? end.keys - 4 * due : 4;
        if (i < end.blocks)
            list(&s, w->a + blm__flow_at(w, i), w->b + blm__flow_at(w, i), k, in);
        const bool ask = far && i < end.blocks;
        for (unsigned j = 0; j < 4; j++)
            if (j >= keys && ask)
                blm__steps_fetch(words, in + j, k, true);
            else if (j < keys)
                fresh |= blm__steps_set_plain(words, ask ? in + j : NULL, pos + j, k) << j;
        for (unsigned j = 0; j < 4; j++)
            count += fresh >> j & 1;
        if (i >= ahead && !blm__flow_tell(w, due, fresh, &end))
            break;
    }
    return count;
}

BLM__INLINE size_t blm__flow_add_loop(struct blm_steps_flow *w, blm__steps_list list)
{
    const uint32_t k = w->layer->shape.probes;
    return k == 8 ? blm__flow_add_any(w, 8, list) : blm__flow_add_any(w, k, list);
}

#endif
