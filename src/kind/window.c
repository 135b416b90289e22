/* SPDX-License-Identifier: MIT */
/*
 * Window: has what was added lately, and forgets the rest: the last N keys, or the last T
 * milliseconds. One layer of ages (core/ages.h).
 */
#include <math.h>

#include "engine/ages.h"
#include "kind/kind.h"
#include "maths/plan.h"

#define MS_MOST ((uint64_t)1 << 40) /* of a window: 34 years */

/* How much longer than the window this many ages keep a key: S·⌈W/(S − 1)⌉ − W, as a share of W. */
static double slack_of(uint64_t window, uint32_t ages)
{
    double whole = (double)blm__turn_length(window, ages) * ages;
    return (whole - (double)window) / (double)window;
}

/* Turns are whole, so more ages can keep keys for longer: of 100 keys 64 ages make turns of two. */
static blm_status no_slack(uint64_t window, double slack, blm_error *err)
{
    double least = slack_of(window, BLM__AGES_LEAST);
    for (uint32_t ages = BLM__AGES_LEAST; ages <= BLM__AGES_MOST; ages *= 2)
        least = fmin(least, slack_of(window, ages));
    double unit = pow(10, floor(log10(least)) - 2); /* three digits, rounded up: it can be given */
    return blm__fail(err, BLM_E_ARGUMENT,
                     "a slack of %g: the least of this window is %.3g, because its turns are whole "
                     "numbers of keys or milliseconds; give that, or none",
                     slack, ceil(least / unit * (1 - 1e-9)) * unit);
}

/* The fewest ages with which nothing is kept longer than the slack allows. */
static blm_status choose_ages(uint64_t window, double slack, uint32_t *ages, blm_error *err)
{
    *ages = BLM__AGES_LEAST;
    if (!(slack >= 0) || slack > 1e6)
        return blm__fail(err, BLM_E_ARGUMENT, "a slack of %g: a share of the window, above 0",
                         slack);
    if (slack == 0)
        return BLM_OK;
    while (*ages <= BLM__AGES_MOST && slack_of(window, *ages) > slack * (1 + 1e-9))
        *ages *= 2;
    return *ages <= BLM__AGES_MOST ? BLM_OK : no_slack(window, slack, err);
}

/* Options to a plan, and the words of shape.aux that belong to it. */
static blm_status plan_ages(const blm_options *o, blm_plan *out, uint64_t aux[2], blm_error *err)
{
    uint32_t ages = 0;
    if (o->window_ms > MS_MOST)
        return blm__fail(err, BLM_E_ARGUMENT, "a window of more than 2^40 milliseconds");
    blm_status st = choose_ages(o->window_ms ? o->window_ms
                                : o->items   ? o->items
                                             : MS_MOST,
                                o->slack, &ages, err);
    if (st == BLM_OK)
        st = blm__plan_ages(o, ages, out, err);
    if (st != BLM_OK)
        return st;
    aux[0] = o->window_ms ? o->window_ms : out->items;
    aux[1] = ages | (o->window_ms ? BLM__BY_TIME : 0);
    return BLM_OK;
}

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    uint64_t aux[2];
    return plan_ages(o, out, aux, err);
}

static void shape(const blm_options *o, const blm_plan *p, struct blm__body *b,
                  struct blm__shape *out)
{
    blm_plan again = { .size = sizeof again };
    (void)b;
    plan_ages(o, &again, out->aux, NULL);
    out->rule       = BLM__AGES;
    out->bits       = p->bits;
    out->lines      = p->lines;
    out->probes     = p->probes / p->lines;
    out->cell_bits  = 1;
    out->line_count = blm__ages_spans(p->bits / 64, blm__ages_of(out));
}

static const char *fault(const struct blm__body *b, bool native)
{
    const struct blm__shape *s = &b->layers[0].shape;
    const char              *f = blm__single_fault(b, native);
    return f ? f : s->rule != BLM__AGES ? "its cells do not age" : NULL;
}

/* A file may have seen a later time than our clock shows now. */
static void opened(struct blm__body *b)
{
    struct blm__layer *l = &b->layers[0];
    if (!b->read_only)
        blm__ages_begin(l);
    if (!b->read_only && b->store->writer && b->store->writer(b) == BLM_WRITER_CRASH)
        blm__ages_mend(l);
    if (blm__by_time(&l->shape)) {
        blm__clock_seen(&b->clock, blm__ages_clock(l, 0).began);
        blm__body_ready(b);
    }
}

static blm_status unite(struct blm__body *dst, const struct blm__body *src, blm_error *err)
{
    (void)err;
    if (dst == src)
        return BLM_OK;
    blm__ages_unite(&dst->layers[0], &src->layers[0]);
    /* By number a window counts its own turns, and forgets by them: src's adds are in no count. */
    dst->unclosed |= !blm__by_time(&dst->layers[0].shape) && blm__layer_holds(&src->layers[0]) > 0;
    return BLM_OK;
}

const struct blm__kind blm__kind_window = {
    .row    = { sizeof(blm_kind_row), BLM_WINDOW, "window", "forgets what is older than a window",
                BLM_CAN_ADD | BLM_CAN_SHARE | BLM_CAN_UNION | BLM_CAN_FORGET, 1, BLM__MAX_LINES },
    .plan   = plan,
    .shape  = shape,
    .fault  = fault,
    .opened = opened,
    .add    = blm__single_add,
    .check  = blm__single_check,
    .check_one = blm__single_check_one,
    .room      = blm__single_room,
    .rate_at   = blm__single_rate_at,
    .unite     = unite,
};
