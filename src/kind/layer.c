/* SPDX-License-Identifier: MIT */
/* Numbers of one layer, whatever filter it stands in. */
#include <math.h>

#include "bloomery/maths.h"
#include "kind/kind.h"
#include "maths/sizing.h"
#include "scheme/scheme.h"

uint64_t blm__layer_ones(const struct blm_layer *l, const struct blm_kernel *k)
{
    return l->shape.cell_bits == 1 ? k->popcount(l->words, l->word_count) : blm__counters_ones(l);
}

double blm__layer_rate_now(const struct blm_layer *l, uint64_t ones)
{
    if (l->shape.scheme->rate_now)
        return l->shape.scheme->rate_now(l);
    if (l->shape.lines)
        return blm__lines_rate_now(l);
    return pow((double)ones / (double)blm__shape_reach(&l->shape), l->shape.probes);
}

uint64_t blm__fold_unit(const struct blm_shape *s)
{
    return s->lines ? blm__line_cells(s->engine) : s->scheme->fold_unit;
}

double blm__shape_rate(const struct blm_shape *s, uint64_t n)
{
    if (s->lines)
        return blm__rate_lines(blm__line_cells(s->engine), s->line_count, s->probes, s->lines, n);
    if (s->engine == BLM__CHAIN)
        return blm__rate_classic(s->bits, s->probes, n);
    if (s->scheme->rate_at)
        return s->scheme->rate_at(s, n);
    blm_rate r = { .size = sizeof r };
    if (blm_rate_of(s->scheme->model, blm__shape_reach(s), s->probes, 0, n, &r) != BLM_OK)
        return 1;
    return r.value;
}
