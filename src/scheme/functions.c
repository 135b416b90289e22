/* SPDX-License-Identifier: MIT */
/*
 * The caller's own k hash functions, as every textbook defines the filter: position i is function
 * i of the key, mod m. The functions come with options.probe_fn and have a name, which files keep;
 * the filter takes their values as they are. The rate is modelled as if they were independent.
 */
#include "core/error.h"
#include "scheme/textbook.h"

#define MOST 26u /* values that a digest has room for */

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    for (uint32_t i = 0; i < k; i++)
        d->w[i] = h->probe(h->ctx, i, key, len);
}

static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    return blm__textbook_plan(o, MOST, b, s, err);
}

static const char *fault(const struct blm__shape *s)
{
    return s->probes > MOST ? "more than 26 probes" : NULL;
}

const struct blm__scheme blm__scheme_functions = {
    .row           = { sizeof(blm_scheme_row), "functions",
                       "the caller's own hash functions, one a probe, mod m", NULL, NULL, true,
                       .kinds = 1u << BLM_CLASSIC | 1u << BLM_COUNTING, .format = "native",
                       .by_caller = true },
    .version       = 1,
    .per_probe     = true,
    .model         = BLM_MODEL_INDEPENDENT,
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 1,
    .digest        = digest,
    .positions     = blm__positions_m,
    .positions_raw = blm__textbook_raw,
    .modulus       = blm__modulus_m,
    .reduce        = blm__reduce_m,
    .plan          = plan,
    .fault         = fault,
};
