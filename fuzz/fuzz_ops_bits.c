/* SPDX-License-Identifier: MIT */
/* Operations on classic and blocked filters of one to three lines. */
#include "ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ops_input in  = { data, size };
    blm_options      o   = BLM_OPTIONS_INIT;
    uint8_t          how = ops_byte(&in);
    o.kind               = how & 1 ? BLM_CLASSIC : BLM_BLOCKED;
    o.lines              = o.kind == BLM_BLOCKED ? (how >> 1) & 3 : 0;
    o.hash               = how & 8 ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
    o.flags              = how & 16 ? BLM_SHARED : 0;
    o.version            = how & 32 ? 1 : 0;
    o.items              = ops_items(ops_byte(&in));
    o.rate               = how & 64 ? 1e-6 : 0.05;
    ops_run(&o, &in);
    return 0;
}
