/* SPDX-License-Identifier: MIT */
/* Any bytes are an array; so are those of every scheme without a format of its own. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode("byteslot", true, data, size);
    return 0;
}
