/* SPDX-License-Identifier: MIT */
/* Counting: four-bit counters instead of bits, so that a key can be taken back (engine/counter.c).
 * Native counters stand in lines of 64 bytes, other schemes' where their positions say. */
#include "kind/kind.h"
#include "maths/plan.h"

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    return blm__plan_counters(o, out, err);
}

static void shape(const blm_options *o, const blm_plan *p, struct blm__body *b,
                  struct blm__shape *out)
{
    (void)o;
    (void)b;
    out->rule       = BLM__SHORT;
    out->bits       = p->bits;
    out->line_count = p->bits / BLM__SHORT_CELLS;
    out->lines      = p->lines;
    out->probes     = p->probes / p->lines;
    out->cell_bits  = 4;
}

const struct blm__kind blm__kind_counting = {
    .row    = { sizeof(blm_kind_row), BLM_COUNTING, "counting", "counters, so keys can be removed",
                BLM_CAN_ADD | BLM_CAN_SHARE | BLM_CAN_UNION | BLM_CAN_INTERSECT | BLM_CAN_FOLD |
                    BLM_CAN_COMPARE | BLM_CAN_REMOVE | BLM_CAN_REDUCE,
                4, BLM__MAX_SHORT },
    .plan   = plan,
    .shape  = shape,
    .remove = blm__single_remove,
    BLM__SINGLE_KIND,
};
