/* SPDX-License-Identifier: MIT */
/* Our own format, with a custom hash: files that name one are only accepted if it is given. */
#include "decode.h"

static uint64_t hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    (void)ctx;
    uint64_t h = seed[0] ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * 0x100000001b3u;
    return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.format      = "native";
    o.max_bytes   = (uint64_t)64 << 20;
    o.hash_fn     = hash;
    o.hash_name   = "fnv";
    fuzz_decode_with(&o, false, data, size);
    return 0;
}
