/* SPDX-License-Identifier: MIT */
/* AVX2 against the oracle; skipped where the machine has none. */
#define JUDGED blm__kernel_named("avx2")
#include "unit/core/kernel/judge.h"
