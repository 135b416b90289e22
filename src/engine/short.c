/* SPDX-License-Identifier: MIT */
/* Short lines: plain bits where a counting filter has its counters, in lines of 16 bytes. Nobody
 * makes such a layer but blm_reduce, so portable loops are fast enough. */
#include "core/kernel/counters.h"
#include "engine/bits.h"

static size_t add(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  uint8_t *fresh)
{
    size_t count = blm__short_add(l, k->hashes, k->n, fresh, b->shared);
    blm__layer_count(l, (int64_t)count);
    return count;
}

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    (void)b;
    return blm__short_check(l, k->hashes, k->n, maybe);
}

static bool check_one(const struct blm__body *b, const struct blm__layer *l, uint64_t h)
{
    uint8_t maybe;
    (void)b;
    return blm__short_check(l, &h, 1, &maybe) != 0;
}

const struct blm__engine blm__engine_short = {
    .name      = "short",
    .rule      = BLM__SHORT,
    .kinds     = 1u << BLM_BLOCKED,
    .native    = true,
    .model     = BLM_MODEL_COUNTERS,
    .add       = add,
    .check     = check,
    .check_one = check_one,
    .positions = blm__lines_positions,
    .rate_now  = blm__lines_rate_now,
    .rate_at   = blm__lines_rate_at,
    BLM__BITS_ENGINE,
};
