/* SPDX-License-Identifier: MIT */
/* A header may be written in more ways than one, so it is not exact. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode("parquet", false, data, size);
    fuzz_decode("parquet-bitset", true, data, size);
    return 0;
}
