/* SPDX-License-Identifier: MIT */
/* The public calls about windows. */
#include "bloomery/window.h"

#include "api/filter.h"
#include "engine/ages.h"

/* The layer of a window; NULL: it is none. */
static const struct blm__layer *layer_of(const blm_filter *f)
{
    return f->body.ops->row.can & BLM_CAN_FORGET ? &f->body.layers[0] : NULL;
}

static uint64_t busiest(const struct blm__layer *l)
{
    struct blm__age_turn t    = blm__ages_now(l);
    uint64_t             most = 0;
    for (uint32_t i = 0; i < blm__ages_of(&l->shape); i++) {
        uint64_t adds = blm__age_adds(l, &t, i);
        most          = adds > most ? adds : most;
    }
    return most;
}

blm_status blm_get_window(const blm_filter *f, blm_window *out)
{
    const struct blm__layer *l = layer_of(f);
    blm_window               w = { .size = sizeof w };
    if (!l)
        return BLM_E_UNSUPPORTED;
    w.by_time     = blm__by_time(&l->shape);
    w.length      = blm__ages_window(&l->shape);
    w.ages        = blm__ages_of(&l->shape);
    w.turn_length = l->turn_length;
    w.slack       = w.ages * w.turn_length - w.length;
    w.adds        = blm__layer_holds(l);
    w.share       = blm__turn_length(l->shape.capacity, w.ages);
    w.busiest     = busiest(l);
    if (w.by_time) {
        uint64_t            now = blm__ages_time(l);
        struct blm__clocked c   = blm__ages_clock(l, now);
        w.now                   = now + c.behind;
        w.began                 = c.began;
        w.behind                = c.behind ? c.behind : l->clock.back;
    }
    return blm__emit(out, &w, sizeof w);
}

size_t blm_get_ages(const blm_filter *f, blm_age *out, size_t cap)
{
    const struct blm__layer *l = layer_of(f);
    if (!l)
        return 0;
    struct blm__age_turn t    = blm__ages_now(l);
    uint32_t             ages = blm__ages_of(&l->shape);
    for (uint32_t i = 0; i < ages && i < cap; i++) {
        out[i].adds   = blm__age_adds(l, &t, i);
        uint64_t ones = blm__age_look(l, &t, i, &out[i].estimated);
        out[i].fill   = (double)ones / ((double)l->shape.line_count * BLM__AGE_CELLS);
    }
    return ages;
}

void blm_set_clock(blm_filter *f, blm_clock_fn fn, void *ctx)
{
    blm__clock_start(&f->body.clock, fn, ctx);
    if (f->body.ops->opened)
        f->body.ops->opened(&f->body);
    blm__body_ready(&f->body);
}
