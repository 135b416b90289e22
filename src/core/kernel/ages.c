/* SPDX-License-Identifier: MIT */
/* Ages in plain C: the oracle for other kernels. */
#include "core/kernel/ages.h"

BLM__INLINE unsigned has8(const uint64_t *line, const struct blm__age_turn *t, uint32_t from,
                          uint64_t mask)
{
    unsigned has = 0;
    for (uint32_t j = 0; j < 8; j++) {
        uint64_t want = mask | blm__age_tag(t, from + j);
        has |= (unsigned)((blm__le64(blm__load(&line[j])) & (mask | BLM__AGE_TAG)) == want) << j;
    }
    return has;
}

#define NO_TARGET
BLM__AGES_LOOPS(portable, NO_TARGET, BLM__INLINE, blm__age_mask, has8)

const struct blm__ages blm__ages_portable = {
    .check      = blm__ages_check_portable,
    .add        = blm__ages_add_portable,
    .add_shared = BLM__SHARED_FORM(blm__ages_add_shared_portable, blm__ages_add_portable),
};
