/* SPDX-License-Identifier: MIT */
/* AVX-512 against the oracle; skipped where the machine has none. test_avx512_emulated.c runs the
 * same source anywhere. */
#define JUDGED blm__kernel_named("avx512")
#include "unit/core/kernel/judge.h"
