/* SPDX-License-Identifier: MIT */
/* What one filter can do, from the rows of its kind and its scheme. The rows themselves are public
 * where their tables are: kind/kind.c, scheme/scheme.c, codec/codec.c. */
#include "api/filter.h"

uint32_t blm__filter_can(const blm_filter *f)
{
    uint32_t can = f->body.ops->row.can;
    if (blm__grows(&f->body))
        can |= BLM_CAN_GROW;
    if (f->body.scheme->exchanges)
        can &= ~BLM_CAN_SHARE;
    if (f->body.scheme->fold == BLM__FOLD_NONE)
        can &= ~BLM_CAN_FOLD;
    if (f->body.layers[0].shape.variant & f->body.scheme->fixed_variant)
        can &= ~BLM_CAN_GROW;
    return can;
}
