/* SPDX-License-Identifier: MIT */
/* The table of kinds. A new one is a file beside this and a row here. */
#include "kind/kind.h"

#include <string.h>

extern const struct blm_kind_ops blm__kind_classic, blm__kind_blocked, blm__kind_counting,
    blm__kind_scalable;

static const struct blm_kind_ops *const kinds[] = {
    [BLM_CLASSIC]  = &blm__kind_classic,
    [BLM_BLOCKED]  = &blm__kind_blocked,
    [BLM_COUNTING] = &blm__kind_counting,
    [BLM_SCALABLE] = &blm__kind_scalable,
};

#define COUNT (sizeof kinds / sizeof *kinds)

const struct blm_kind_ops *blm__kind_ops(blm_kind k) { return (size_t)k < COUNT ? kinds[k] : NULL; }

const char *blm_kind_name(blm_kind k)
{
    const struct blm_kind_ops *ops = blm__kind_ops(k);
    return ops ? ops->name : NULL;
}

bool blm_kind_from_name(const char *name, blm_kind *out)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(kinds[i]->name, name) == 0) {
            *out = kinds[i]->id;
            return true;
        }
    return false;
}

/* The i-th, whatever its value: a place of the table may be empty, or a second one of some kind. */
const blm_kind_row *blm_kind_at(size_t i)
{
    for (size_t k = 0; k < COUNT; k++)
        if (kinds[k] && kinds[k]->row.kind == (blm_kind)k && i-- == 0)
            return &kinds[k]->row;
    return NULL;
}

const blm_kind_row *blm_kind_find(blm_kind k)
{
    const struct blm_kind_ops *ops = blm__kind_ops(k);
    return ops ? &ops->row : NULL;
}
