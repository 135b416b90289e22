/* SPDX-License-Identifier: MIT */
/* The modelled rate of a filter when it holds so many keys: that of the probes it really makes. */
#include "api/filter.h"
#include "bloomery/maths.h"

blm_status blm_layer_rate_at(const blm_filter *f, uint32_t layer, uint64_t n, double *rate)
{
    if (layer >= f->body.layer_count || !rate)
        return BLM_E_ARGUMENT;
    *rate = blm__layer_model(&f->body.layers[layer].shape, n);
    return BLM_OK;
}

blm_status blm_rate_at(const blm_filter *f, uint64_t n, double *rate)
{
    return rate ? f->body.ops->rate_at(&f->body, n, rate) : BLM_E_ARGUMENT;
}
