/* SPDX-License-Identifier: MIT */
/* As fuzz_decode_redisbloom.c, for cuckoo filters. Items are counted, so even chunks may be written
 * back with another number of them. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode("redisbloom-cf", false, data, size);
    fuzz_decode("redisbloom-cf-dump", false, data, size);
    return 0;
}
