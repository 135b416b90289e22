/* SPDX-License-Identifier: MIT */
/* NEON against the oracle; skipped where the machine has none. tests/kernel/test_neon.py runs this
 * under qemu. */
#define JUDGED blm__kernel_named("neon")
#include "unit/core/kernel/judge.h"
