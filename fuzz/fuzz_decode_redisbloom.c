/* SPDX-License-Identifier: MIT */
/* A dump's numbers and strings can be written in several ways, chunks in only one. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode("redisbloom", true, data, size);
    fuzz_decode("redisbloom-dump", false, data, size);
    return 0;
}
