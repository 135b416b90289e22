/* SPDX-License-Identifier: MIT */
/* A header can be written in several ways, so this is not exact. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode("parquet", false, data, size);
    fuzz_decode("parquet-bitset", true, data, size);
    return 0;
}
