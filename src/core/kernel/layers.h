/* SPDX-License-Identifier: MIT */
/*
 * Several layers of lines asked at once, for scalable filters: a key is hashed once, its mask is
 * made once (it depends on the hash and k, not on the layer), the first lines of all layers are on
 * their way before one is tested, and there is no branch on which layer has the key.
 */
#ifndef BLM_CORE_KERNEL_LAYERS_H
#define BLM_CORE_KERNEL_LAYERS_H

#include "core/kernel/loops.h"

#define BLM__STACK 64u /* layers at most; more are asked one after the other */

struct blm__stacked {
    const uint64_t *words;
    uint64_t        line_count;
    uint32_t        probes, lines;
    bool            far; /* out of cache: fetch ahead */
};

/* The layers of one question, in any order. `single` of them, in front, have one line a key. */
struct blm__stack {
    struct blm__stacked layer[BLM__STACK];
    unsigned            count, single;
};

/* maybe[i]: some layer has key i. n at most BLM__BATCH. Returns how many. */
size_t blm__layers_check(const struct blm__stack *s, const uint64_t *h, size_t n, uint8_t *maybe);
/* The keys that no layer has are added to l, in order; exclusive, and not counted. n at most
 * BLM__BATCH. Returns how many were fresh. */
size_t blm__layers_add(const struct blm__stack *s, struct blm__layer *l, const uint64_t *h,
                       size_t n, uint8_t *fresh);
#ifdef BLM__HAVE_AVX2
size_t blm__layers_check_avx2(const struct blm__stack *s, const uint64_t *h, size_t n,
                              uint8_t *maybe);
size_t blm__layers_add_avx2(const struct blm__stack *s, struct blm__layer *l, const uint64_t *h,
                            size_t n, uint8_t *fresh);
#endif

BLM__INLINE const uint64_t *blm__stacked_line(const struct blm__stacked *l, uint64_t h)
{
    return l->words + blm__reduce(h, l->line_count) * BLM__LINE_WORDS;
}

/* The first lines of a key in the layers that are far. */
BLM__INLINE void blm__stack_fetch(const struct blm__stack *s, uint64_t h)
{
    for (unsigned t = 0; t < s->count; t++)
        if (s->layer[t].far)
            BLM__PREFETCH(blm__stacked_line(&s->layer[t], h));
}

/* The lines of a key after the first. */
BLM__INLINE void blm__stacked_fetch_rest(const struct blm__stacked *l, uint64_t h)
{
    for (uint32_t i = 1; i < l->lines; i++) {
        h = blm__line_next(blm__line_x(h));
        BLM__PREFETCH(blm__stacked_line(l, h));
    }
}

BLM__INLINE bool blm__stacked_rest(const struct blm__stacked *l, uint64_t h)
{
    for (uint32_t i = 1; i < l->lines; i++) {
        h = blm__line_next(blm__line_x(h));
        if (!blm__line_test(blm__stacked_line(l, h), blm__line_x(h), l->probes))
            return false;
    }
    return true;
}

/* Keys that have passed the first of several lines, in the layers of the bits set. */
struct blm__passed {
    uint16_t at[BLM__BATCH];
    uint64_t layers[BLM__BATCH];
    size_t   n;
};

BLM__INLINE void blm__passed_add(struct blm__passed *p, const struct blm__stack *s, size_t i,
                                 uint64_t h, uint64_t layers)
{
    p->at[p->n]       = (uint16_t)i;
    p->layers[p->n++] = layers;
    for (unsigned t = s->single; t < s->count; t++)
        if (layers >> t & 1)
            blm__stacked_fetch_rest(&s->layer[t], h);
}

/* Looks at their other lines; how many are in. */
BLM__INLINE size_t blm__passed_rest(const struct blm__passed *p, const struct blm__stack *s,
                                    const uint64_t *h, uint8_t *maybe)
{
    size_t hits = 0;
    for (size_t j = 0; j < p->n; j++) {
        bool in = false;
        for (unsigned t = s->single; t < s->count && !in; t++)
            in = (p->layers[j] >> t & 1) && blm__stacked_rest(&s->layer[t], h[p->at[j]]);
        hits += maybe[p->at[j]] = in;
    }
    return hits;
}

/* layers_add as two steps: ask, then add what no layer has. `v`: the kernel. */
BLM__INLINE size_t blm__layers_ask_add(const struct blm__stack *s, struct blm__layer *l,
                                       const uint64_t *h, size_t n, uint8_t *fresh,
                                       const struct blm__kernel *v)
{
    uint64_t left[BLM__BATCH];
    uint16_t at[BLM__BATCH];
    uint8_t  is_new[BLM__BATCH];
    size_t   count = 0;
    v->layers_check(s, h, n, fresh);
    for (size_t i = 0; i < n; i++) {
        left[count] = h[i];
        at[count]   = (uint16_t)i;
        count += !fresh[i];
        fresh[i] = 0;
    }
    if (count == 0)
        return 0;
    size_t added = v->lines_add(l, left, count, is_new);
    for (size_t i = 0; i < count; i++)
        fresh[at[i]] = is_new[i];
    return added;
}

#endif
