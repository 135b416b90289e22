/* SPDX-License-Identifier: MIT */
/* "dcso" takes gzip too. Seven bytes of the version word are ignored, so it is not exact. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decode("dcso", false, data, size);
    fuzz_decode("dcso01", true, data, size);
    return 0;
}
