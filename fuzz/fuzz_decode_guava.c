/* SPDX-License-Identifier: MIT */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode("guava", true, data, size);
    return 0;
}
