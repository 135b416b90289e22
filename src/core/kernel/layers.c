/* SPDX-License-Identifier: MIT */
/* Several layers at once, in plain C: the oracle for the vector form. */
#include "core/kernel/layers.h"

#define AHEAD 16u

size_t blm__layers_check(const struct blm__stack *s, const uint64_t *h, size_t n, uint8_t *maybe)
{
    struct blm__passed p;
    size_t             hits = 0;
    p.n                     = 0;
    for (size_t i = 0; i < AHEAD && i < n; i++)
        blm__stack_fetch(s, h[i]);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = blm__line_x(h[i]), more = 0;
        unsigned in = 0;
        if (i + AHEAD < n)
            blm__stack_fetch(s, h[i + AHEAD]);
        for (unsigned t = 0; t < s->single; t++)
            in |= blm__line_test(blm__stacked_line(&s->layer[t], h[i]), x, s->layer[t].probes);
        for (unsigned t = s->single; t < s->count; t++)
            more |= (uint64_t)blm__line_test(blm__stacked_line(&s->layer[t], h[i]), x,
                                             s->layer[t].probes)
                    << t;
        hits += maybe[i] = (uint8_t)in;
        if (!in && more)
            blm__passed_add(&p, s, i, h[i], more);
    }
    return hits + blm__passed_rest(&p, s, h, maybe);
}

size_t blm__layers_add(const struct blm__stack *s, struct blm__layer *l, const uint64_t *h,
                       size_t n, uint8_t *fresh)
{
    return blm__layers_ask_add(s, l, h, n, fresh, &blm__kernel_portable);
}
