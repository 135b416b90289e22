/* SPDX-License-Identifier: MIT */
/* NEON: a key's cells are made two at a time, and a line of ages is compared as four vectors. Each
 * function does what its namesake in ages.c does, bit for bit. */
#include "core/kernel/ages.h"

#ifdef BLM__HAVE_NEON
#include <arm_neon.h>

/* Two groups: v is x, shifted for each. used: 1 where the key has a cell there. */
BLM__INLINE uint64x2_t cells_of(uint64x2_t v, uint64x2_t used, int64x2_t group)
{
    v = vandq_u64(v, vdupq_n_u64(0x3fff));
    v = vshrq_n_u64(vsubq_u64(vshlq_n_u64(v, 3), v), 14); /* times 7 */
    return vshlq_u64(used, vaddq_s64(vreinterpretq_s64_u64(v), group));
}

BLM__INLINE uint64_t mask_of(uint64_t x, uint32_t k)
{
    static const int64_t right[2] = { -5, -11 }, first[2] = { 0, -1 }, group[2] = { 0, 7 };
    uint64x2_t           v = vshlq_u64(vdupq_n_u64(x), vld1q_s64(right)), mask = vdupq_n_u64(0);
    uint64x2_t           used = vshlq_u64(vdupq_n_u64(blm__line_words(x, k)), vld1q_s64(first));
    int64x2_t            at   = vld1q_s64(group);
    for (int i = 0; i < 4; i++) {
        mask = vorrq_u64(mask, cells_of(v, vandq_u64(used, vdupq_n_u64(1)), at));
        v    = vshrq_n_u64(v, 12);
        used = vshrq_n_u64(used, 2);
        at   = vaddq_s64(at, vdupq_n_s64(14));
    }
    return vgetq_lane_u64(mask, 0) | vgetq_lane_u64(mask, 1);
}

/* All ones where the two words have the cells of `mask` and their turn's tag. */
BLM__INLINE uint64x2_t has2(const uint64_t *w, uint64x2_t young, const struct blm__age_turn *t,
                            uint64x2_t mask)
{
    uint64x2_t tag  = vbslq_u64(young, vdupq_n_u64(t->young), vdupq_n_u64(t->old));
    uint64x2_t kept = vandq_u64(vld1q_u64(w), vorrq_u64(mask, vdupq_n_u64(BLM__AGE_TAG)));
    return vceqq_u64(kept, vorrq_u64(mask, tag));
}

BLM__INLINE unsigned has8(const uint64_t *line, const struct blm__age_turn *t, uint32_t from,
                          uint64_t mask)
{
    static const uint64_t pair[2] = { 0, 1 }, bits[2] = { 1, 2 };
    uint64x2_t            index = vaddq_u64(vdupq_n_u64(from), vld1q_u64(pair));
    uint64x2_t            bit = vld1q_u64(bits), has = vdupq_n_u64(0), m = vdupq_n_u64(mask);
    for (int i = 0; i < 4; i++) {
        uint64x2_t young = vcleq_u64(index, vdupq_n_u64(t->at));
        has              = vorrq_u64(has, vandq_u64(has2(line + 2 * i, young, t, m), bit));
        index            = vaddq_u64(index, vdupq_n_u64(2));
        bit              = vshlq_n_u64(bit, 2);
    }
    return (unsigned)vaddvq_u64(has);
}

#define NO_TARGET
BLM__AGES_LOOPS(neon, NO_TARGET, BLM__INLINE, mask_of, has8)

const struct blm__ages blm__ages_neon = {
    .check      = blm__ages_check_neon,
    .add        = blm__ages_add_neon,
    .add_shared = blm__ages_add_shared_neon,
};
#endif
