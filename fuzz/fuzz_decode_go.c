/* SPDX-License-Identifier: MIT */
/* The three forms begin so differently that an input is interesting for only one of them. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode("go", true, data, size);
    fuzz_decode("go-gob", false, data, size); /* a number may be written longer than necessary */
    fuzz_decode("go-json", false, data, size);
    return 0;
}
