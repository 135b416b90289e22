/* SPDX-License-Identifier: MIT */
/* Part of every fuzz target: checksums are taken as right, or no mutated input would get past the first
 * one. BLM_SUMS=1 in the environment has them checked, as everywhere else. */
#include <stdlib.h>

#include "core/checksum.h"

__attribute__((constructor)) static void take_any_sum(void)
{
    blm__any_sum = getenv("BLM_SUMS") == NULL;
}
