/* SPDX-License-Identifier: MIT */
/* Static: the keys are known when the filter is built, and none comes later. Fingerprints that
 * three cells add up to take the fewest bits of all kinds. Built by api/builder.c. */
#include "kind/kind.h"
#include "maths/plan.h"

static const char *fault(const struct blm__body *b, bool native)
{
    const char *f = blm__single_fault(b, native);
    return f ? f : b->layers[0].shape.rule != BLM__FUSE ? "its cells are of another kind" : NULL;
}

const struct blm__kind blm__kind_static = {
    .row       = { sizeof(blm_kind_row), BLM_STATIC, "static",
                   "built once from all its keys: the fewest bits", 0, 0, 0 },
    .plan      = blm__plan_fuse,
    .fault     = fault,
    .check     = blm__single_check,
    .check_one = blm__single_check_one,
    .rate_at   = blm__single_rate_at,
};
