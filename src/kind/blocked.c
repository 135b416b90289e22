/* SPDX-License-Identifier: MIT */
/* Blocked: every probe of a key in one 64-byte line (two or three at strict rates), so that a key
 * costs one memory access instead of k. */
#include <math.h>

#include "bloomery/maths.h"
#include "core/kernel/loops.h"
#include "kind/kind.h"
#include "maths/plan.h"

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    return blm__plan_lines(o, out, err);
}

static void shape(const blm_options *o, const blm_plan *p, struct blm_body *b,
                  struct blm_shape *out)
{
    (void)o;
    (void)b;
    out->engine     = BLM__LINES;
    out->bits       = p->bits;
    out->line_count = p->bits / BLM__LINE_BITS;
    out->lines      = p->lines;
    out->probes     = p->probes / p->lines;
    out->cell_bits  = 1;
}

/* Lines are unequally full, and a query meets a fuller one no more often than an emptier one: the
 * rate is the mean over lines of the chance to pass, not the chance at the mean fill. */
static double pass_chance(const double *fill, uint32_t k)
{
    double sum = 0;
    for (uint64_t r = 0; r < 8; r++) {
        unsigned words = blm__line_words(r << 61, k);
        double   pass  = 1;
        for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
            if (words >> j & 1)
                pass *= fill[j];
        sum += pass;
    }
    return sum / 8;
}

/* The share of cells in use in each eighth of line i: a word of bits or of counters, or 16 bits. */
static void fill_of(const struct blm_layer *l, uint64_t i, double *fill)
{
    const bool bits = l->shape.cell_bits == 1, narrow = bits && l->shape.engine == BLM__SHORT;
    for (unsigned j = 0; j < BLM__LINE_WORDS; j++) {
        uint64_t at = narrow ? i * 2 + j / 4 : i * BLM__LINE_WORDS + j;
        uint64_t w  = blm__le64(blm__load(&l->words[at]));
        if (narrow)
            w = w >> 16 * (j % 4) & 0xffff;
        else if (!bits)
            w = (w | w >> 1 | w >> 2 | w >> 3) & 0x1111111111111111u;
        fill[j] = BLM__POPCOUNT64(w) * 8.0 / blm__line_cells(l->shape.engine);
    }
}

double blm__lines_rate_now(const struct blm_layer *l)
{
    double sum = 0, fill[BLM__LINE_WORDS];
    for (uint64_t i = 0; i < l->shape.line_count; i++) {
        fill_of(l, i, fill);
        sum += pass_chance(fill, l->shape.probes);
    }
    return pow(sum / (double)l->shape.line_count, l->shape.lines);
}

const struct blm_kind_ops blm__kind_blocked = {
    .name   = "blocked",
    .id     = BLM_BLOCKED,
    .shares = true,
    .row   = { sizeof(blm_kind_row), BLM_BLOCKED, "blocked", "all bits of a key in few cache lines",
               BLM_CAN_ADD | BLM_CAN_SHARE | BLM_CAN_UNION | BLM_CAN_INTERSECT | BLM_CAN_FOLD |
                   BLM_CAN_COMPARE,
               1, BLM__MAX_LINES },
    .plan  = plan,
    .shape = shape,
    .add   = blm__single_add,
    .check = blm__single_check,
    .check_one = blm__single_check_one,
    .unite     = blm__bits_unite,
    .intersect = blm__bits_intersect,
    .fold      = blm__bits_fold,
};
