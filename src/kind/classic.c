/* SPDX-License-Identifier: MIT */
/* Classic: k bits anywhere in m. The smallest general filter, and the kind in which the filters of
 * most other systems are kept. */
#include "kind/kind.h"
#include "maths/plan.h"

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    return blm__plan_cells(o, 1, out, err);
}

static void shape(const blm_options *o, const blm_plan *p, struct blm__body *b,
                  struct blm__shape *out)
{
    (void)o;
    (void)b;
    out->rule      = BLM__CHAIN;
    out->bits      = p->bits;
    out->probes    = p->probes;
    out->cell_bits = 1;
}

const struct blm__kind blm__kind_classic = {
    .row   = { sizeof(blm_kind_row), BLM_CLASSIC, "classic", "bits anywhere in the filter",
               BLM_CAN_ADD | BLM_CAN_SHARE | BLM_CAN_UNION | BLM_CAN_INTERSECT | BLM_CAN_FOLD |
                   BLM_CAN_COMPARE,
               1, 0 },
    .words = true,
    .plan  = plan,
    .shape = shape,
    BLM__SINGLE_KIND,
};
