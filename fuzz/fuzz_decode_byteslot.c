/* SPDX-License-Identifier: MIT */
/* Any bytes are a valid array, also for every scheme without its own format. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode("byteslot", true, data, size);
    return 0;
}
