/* SPDX-License-Identifier: MIT */
#ifndef BLM_SCHEME_DCSO_H
#define BLM_SCHEME_DCSO_H

#include "core/body.h"

/* Are m and k what DCSO's bloom makes of n and p? To one, since logarithms differ in their last
 * digit from library to library. */
bool blm__dcso_planned(uint64_t n, double p, uint64_t m, uint64_t k);

#endif
