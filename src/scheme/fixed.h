/* SPDX-License-Identifier: MIT */
/* Sizes of schemes that have a fixed number of probes. */
#ifndef BLM_SCHEME_FIXED_H
#define BLM_SCHEME_FIXED_H

#include "scheme/asked.h"

/* As blm__asked, for schemes that always have k probes, so that bits alone are enough. out->bits
 * counts cells of cell_bits each. Without bits, both items and rate must be given. */
blm_status blm__asked_fixed(const blm_options *o, uint32_t k, uint32_t cell_bits,
                            struct blm__asked *out, blm_error *err);

/* Bits for n keys at rate p with k probes: −k·n / ln(1 − p^(1/k)), rounded up. Above BLM__MAX_BITS:
 * more than a filter can have. */
uint64_t blm__bits_for(uint64_t n, double p, uint32_t k);

#endif
