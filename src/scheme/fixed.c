/* SPDX-License-Identifier: MIT */
#include "scheme/fixed.h"

#include <math.h>

#include "core/error.h"

blm_status blm__asked_fixed(const blm_options *o, uint32_t k, uint32_t cell_bits,
                            struct blm__asked *out, blm_error *err)
{
    blm_options sized = *o;
    if (o->probes && o->probes != k)
        return blm__fail(err, BLM_E_ARGUMENT, "scheme %s has %u probes per key, not %u", o->scheme,
                         (unsigned)k, (unsigned)o->probes);
    sized.probes  = o->bits || o->memory ? k : 0;
    blm_status st = blm__asked(&sized, out, err);
    if (st == BLM_OK && o->memory)
        out->bits /= cell_bits; /* whole words, so at least 16 cells */
    if (st == BLM_OK && !out->bits && (out->items == 0 || out->rate == 0))
        st = blm__fail(err, BLM_E_ARGUMENT,
                       "no size is given: give items and rate, or bits, or memory");
    return st;
}

uint64_t blm__bits_for(uint64_t n, double p, uint32_t k)
{
    double m = ceil(-(double)k * (double)n / log1p(-pow(p, 1.0 / k)));
    if (!(m <= (double)BLM__MAX_BITS))
        return BLM__MAX_BITS + 1;
    return m > 1 ? (uint64_t)m : 1;
}
