/* SPDX-License-Identifier: MIT */
/* The table of kinds, made from BLM_KIND_MAP (bloomery.h): a new one is a file beside this and a row
 * there. */
#include "kind/kind.h"

#include <string.h>

#include "engine/shape.h"

#define DECLARE(NAME, value, name) extern const struct blm__kind blm__kind_##name;
BLM_KIND_MAP(DECLARE)

#define ROW(NAME, value, name) [value] = &blm__kind_##name,
static const struct blm__kind *const kinds[] = { BLM_KIND_MAP(ROW) };
#define COUNT (sizeof kinds / sizeof *kinds)

const struct blm__kind *blm__kind_of(blm_kind k) { return (size_t)k < COUNT ? kinds[k] : NULL; }

const struct blm__kind *blm__kind_numbered(uint32_t number)
{
    return number < COUNT - 1 ? kinds[number + 1] : NULL;
}

const char *blm_kind_name(blm_kind k)
{
    const struct blm__kind *kind = blm__kind_of(k);
    return kind ? kind->row.name : NULL;
}

bool blm_kind_from_name(const char *name, blm_kind *out)
{
    for (size_t i = 0; i < COUNT; i++)
        if (kinds[i] && strcmp(kinds[i]->row.name, name) == 0) {
            *out = kinds[i]->row.kind;
            return true;
        }
    return false;
}

blm_status blm__body_valid(const struct blm__body *b, bool native, uint64_t offset, blm_error *err)
{
    if (b->layer_count == 0)
        return blm__fail_at(err, BLM_E_FORMAT, offset, "not a valid filter: no layers");
    const char *fault = !blm__rate_valid(b->rate) ? "a rate that is not between 0 and 1"
                                                  : blm__kind_of(b->kind)->fault(b, native);
    if (fault)
        return blm__fail_at(err, BLM_E_FORMAT, offset, "not a valid filter: %s", fault);
    return BLM_OK;
}

/* The i-th, whatever its value: a place of the table may be empty. */
const blm_kind_row *blm_kind_at(size_t i)
{
    for (size_t k = 0; k < COUNT; k++)
        if (kinds[k] && i-- == 0)
            return &kinds[k]->row;
    return NULL;
}

const blm_kind_row *blm_kind_find(blm_kind k)
{
    const struct blm__kind *kind = blm__kind_of(k == BLM_ANY_KIND ? BLM_BLOCKED : k);
    return kind ? &kind->row : NULL;
}
