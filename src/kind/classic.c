/* SPDX-License-Identifier: MIT */
/* Classic: k bits anywhere in m. The smallest general filter, and the kind in which the filters of
 * most other systems are kept. */
#include "kind/kind.h"
#include "maths/plan.h"

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    return blm__plan_cells(o, 1, out, err);
}

static void shape(const blm_options *o, const blm_plan *p, struct blm_body *b,
                  struct blm_shape *out)
{
    (void)o;
    (void)b;
    out->rule      = BLM__CHAIN;
    out->bits      = p->bits;
    out->probes    = p->probes;
    out->cell_bits = 1;
}

const struct blm__kind blm__kind_classic = {
    .name   = "classic",
    .id     = BLM_CLASSIC,
    .shares = true,
    .words  = true,
    .plan   = plan,
    .shape  = shape,
    BLM__SINGLE_KIND,
};
