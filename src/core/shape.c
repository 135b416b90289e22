/* SPDX-License-Identifier: MIT */
#include "core/shape.h"

#include <math.h>

bool blm__rate_valid(double p) { return p >= 0 && p < 1; } /* false for a NaN */

/* How a key finds its cells must fit what the cells are. */
static const char *engine_fault(const struct blm_shape *s, bool native)
{
    switch (s->engine) {
    case BLM__CHAIN:
        if (!native)
            return "only the native scheme has chains";
        return s->kind != BLM_CLASSIC ? "only a classic layer has chains" : NULL;
    case BLM__LINES:
        if (!native)
            return "only the native scheme has lines";
        return s->kind != BLM_BLOCKED ? "only a blocked layer has lines" : NULL;
    case BLM__SHORT:
        if (!native)
            return "only the native scheme has lines";
        return s->kind == BLM_CLASSIC ? "a classic layer has no lines" : NULL;
    case BLM__POSITIONS:
        return native ? "the native scheme has chains or lines, not positions" : NULL;
    }
    return "no such way from key to cells";
}

static const char *lines_fault(const struct blm_shape *s)
{
    uint32_t cells = blm__line_cells(s->engine);
    if (cells == 0)
        return s->line_count || s->lines ? "a layer without lines has a number of lines" : NULL;
    if (s->lines < 1 || s->lines > blm__lines_most(s->engine))
        return s->engine == BLM__LINES ? "lines per key are not 1 to 3"
                                       : "short lines per key are not 1 to 5";
    if (s->probes > BLM__LINE_WORDS)
        return "more probes in a line than it has words";
    if (s->line_count > BLM__MAX_BITS / cells || s->line_count * cells != s->bits)
        return "lines and bits do not agree";
    return NULL;
}

static const char *shape_fault(const struct blm_shape *s, bool native)
{
    if (s->kind != BLM_CLASSIC && s->kind != BLM_BLOCKED && s->kind != BLM_COUNTING)
        return "no such kind of layer";
    if (s->cell_bits != (s->kind == BLM_COUNTING ? 4u : 1u))
        return "cells of a width that its kind does not have";
    if (s->bits == 0)
        return "no bits";
    if (s->probes == 0 && s->engine != BLM__POSITIONS) /* there the scheme has the last word */
        return "no probes";
    if (!blm__rate_valid(s->rate))
        return "a rate that is not between 0 and 1";
    const char *fault = engine_fault(s, native);
    return fault ? fault : lines_fault(s);
}

blm_status blm__shape_valid(const struct blm_shape *s, bool native, uint64_t offset, blm_error *err)
{
    const char *fault = shape_fault(s, native);
    if (fault)
        return blm__fail_at(err, BLM_E_FORMAT, offset, "not a valid layer: %s", fault);
    if (s->bits > BLM__MAX_BITS)
        return blm__fail_at(err, BLM_E_LIMIT, offset, "%llu bits are more than 2^48",
                            (unsigned long long)s->bits);
    if (s->probes > BLM__MAX_PROBES)
        return blm__fail_at(err, BLM_E_LIMIT, offset, "%u probes are more than %u", s->probes,
                            BLM__MAX_PROBES);
    return BLM_OK;
}

static const char *scalable_fault(const struct blm_body *b, bool native)
{
    /* Other systems' chains may not grow at all, or by equal steps. */
    if (!(b->growth == 0 || (native ? b->growth > 1 : b->growth > 0)) || isinf(b->growth))
        return "growth is not above 1";
    if (!(native ? b->tightening > 0 && b->tightening < 1
                 : b->tightening >= 0 && b->tightening <= 1))
        return "tightening is not between 0 and 1";
    if (!blm__rate_valid(b->rate_cap))
        return "a cap of the rate that is not between 0 and 1";
    if (b->active >= b->layer_count)
        return "the layer that adds go to is not there";
    for (uint32_t i = 0; i < b->layer_count; i++)
        if (b->layers[i].shape.kind == BLM_COUNTING)
            return "a scalable filter has no counting layers";
    return NULL;
}

static const char *body_fault(const struct blm_body *b, bool native)
{
    if (!blm__rate_valid(b->rate))
        return "a rate that is not between 0 and 1";
    if (b->kind == BLM_SCALABLE)
        return scalable_fault(b, native);
    if (b->layer_count != 1)
        return "more than one layer in a filter that does not grow";
    if (b->layers[0].shape.kind != b->kind)
        return "its layer is of another kind";
    if (b->growth != 0 || b->tightening != 0 || b->rate_cap != 0 || b->active != 0)
        return "growth in a filter that does not grow";
    return NULL;
}

blm_status blm__body_valid(const struct blm_body *b, bool native, uint64_t offset, blm_error *err)
{
    if (b->layer_count == 0)
        return blm__fail_at(err, BLM_E_FORMAT, offset, "not a valid filter: no layers");
    const char *fault = body_fault(b, native);
    if (fault)
        return blm__fail_at(err, BLM_E_FORMAT, offset, "not a valid filter: %s", fault);
    return BLM_OK;
}

bool blm__slack_clear(const struct blm_shape *s, const uint64_t *words)
{
    unsigned used = (unsigned)(s->bits * s->cell_bits % 64);
    if (used == 0)
        return true;
    uint64_t last = __atomic_load_n(&words[blm__shape_words(s) - 1], __ATOMIC_RELAXED);
    return blm__le64(last) >> used == 0;
}
