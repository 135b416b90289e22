/* SPDX-License-Identifier: MIT */
/* Operations on cuckoo filters, of those that are full soon and of those that grow. */
#include "ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ops_input in  = { data, size };
    blm_options      o   = BLM_OPTIONS_INIT;
    uint8_t          how = ops_byte(&in);
    o.kind               = BLM_CUCKOO;
    o.growth             = how & 1 ? (how & 2 ? 1.5 : 2) : 0;
    o.version            = how & 32 ? 1 : 0;
    o.items              = ops_items(ops_byte(&in) % 6);
    o.rate               = how & 64 ? 1e-6 : how & 4 ? 0.3 : 0.01;
    ops_run(&o, &in);
    return 0;
}
