/* SPDX-License-Identifier: MIT */
/* Blocked: every probe of a key in one 64-byte line (two or three at strict rates). The default. */
#include "kind/kind.h"
#include "maths/plan.h"

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    return blm__plan_lines(o, out, err);
}

static void shape(const blm_options *o, const blm_plan *p, struct blm__body *b,
                  struct blm__shape *out)
{
    (void)o;
    (void)b;
    out->rule       = BLM__LINES;
    out->bits       = p->bits;
    out->line_count = p->bits / BLM__LINE_BITS;
    out->lines      = p->lines;
    out->probes     = p->probes / p->lines;
    out->cell_bits  = 1;
}

const struct blm__kind blm__kind_blocked = {
    .row = { sizeof(blm_kind_row), BLM_BLOCKED, "blocked", "all bits of a key in a few cache lines",
             BLM_CAN_ADD | BLM_CAN_SHARE | BLM_CAN_UNION | BLM_CAN_INTERSECT | BLM_CAN_FOLD |
                 BLM_CAN_COMPARE,
             1, BLM__MAX_LINES },
    .words = true,
    .plan  = plan,
    .shape = shape,
    BLM__SINGLE_KIND,
};
