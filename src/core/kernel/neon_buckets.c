/* SPDX-License-Identifier: MIT */
/* NEON: the two buckets of a key in one vector, and the answers of two keys in another. Keys are
 * placed one by one: there is no 64-bit multiply of vectors. Answers as buckets.c does; wide
 * fingerprints are left to it. */
#include "core/kernel/bucket_ring.h"

#ifdef BLM__HAVE_NEON
#include <arm_neon.h>

BLM__INLINE uint64x2_t load2(const struct blm__bucket_table *t, const struct blm__eight *e,
                             unsigned i)
{
    uint64x1_t x     = vreinterpret_u64_u8(vld1_u8(t->bytes + e->at[0][i]));
    uint64x1_t y     = vreinterpret_u64_u8(vld1_u8(t->bytes + e->at[1][i]));
    uint64x2_t skips = vcombine_u64(vcreate_u64(blm__bucket_skip(e->bucket[0][i], t->c)),
                                    vcreate_u64(blm__bucket_skip(e->bucket[1][i], t->c)));
    return vshlq_u64(vcombine_u64(x, y), vnegq_s64(vreinterpretq_s64_u64(skips)));
}

/* The highest bits of the cells that are not this print, in one bucket and in the other. */
BLM__INLINE uint64x2_t others(const struct blm__bucket_table *t, const struct blm__eight *e,
                              unsigned i)
{
    uint64x2_t rest = vdupq_n_u64(t->c.rest);
    uint64x2_t v    = veorq_u64(load2(t, e, i), vdupq_n_u64(e->print[i] * t->c.low));
    return vorrq_u64(vaddq_u64(vandq_u64(v, rest), rest), v);
}

BLM__INLINE unsigned have8(const struct blm__bucket_table *t, const struct blm__eight *e)
{
    uint64x2_t high = vdupq_n_u64(t->c.high);
    unsigned   has  = 0;
    for (unsigned i = 0; i < 8; i += 2) {
        uint64x2_t a = others(t, e, i), b = others(t, e, i + 1);
        uint64x2_t none = vandq_u64(vzip1q_u64(a, b), vzip2q_u64(a, b));
        none            = vceqq_u64(vandq_u64(none, high), high);
        has |= (unsigned)(~vgetq_lane_u64(none, 0) & 1) << i;
        has |= (unsigned)(~vgetq_lane_u64(none, 1) & 1) << (i + 1);
    }
    return has;
}

#define NO_TARGET
BLM__BUCKETS_CHECKS(neon, NO_TARGET, NULL, have8)

const struct blm__buckets blm__buckets_neon = { .check  = blm__buckets_check_neon,
                                                .check8 = blm__buckets_check8_neon };
#endif
