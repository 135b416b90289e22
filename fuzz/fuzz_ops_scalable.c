/* SPDX-License-Identifier: MIT */
/* Operations on scalable filters that start with room for few keys, and on young ones. */
#include "ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ops_input in  = { data, size };
    blm_options      o   = BLM_OPTIONS_INIT;
    uint8_t          how = ops_byte(&in);
    o.kind               = BLM_SCALABLE;
    o.layer_classic      = how & 1;
    o.growth             = how & 2 ? 1.5 : how & 4 ? 2 : 0;
    o.tightening         = how & 8 ? 0.5 : 0;
    o.version            = how & 32 ? 1 : 0;
    o.items              = how & 128 ? 0 : ops_items(ops_byte(&in) % 5);
    o.rate               = how & 64 ? 1e-6 : 0.05;
    o.rate_cap           = how & 16 ? 0.5 : 0;
    ops_run(&o, &in);
    return 0;
}
