/* SPDX-License-Identifier: MIT */
#include "scheme/asked.h"

#include <math.h>

#include "core/error.h"
#include "maths/sizing.h"

/* A rate so near to 1 that its double is 1 after the root has no end of keys. */
#define MOST_KEYS 9223372036854775808.0 /* 2^63 */

/* Options that only native filters have: refused rather than ignored. */
static blm_status refuse_native(const blm_options *o, blm_error *err)
{
    if (o->hash != BLM_HASH_XXH3)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "scheme %s has its own hash, which cannot be changed", o->scheme);
    if (o->lines)
        return blm__fail(err, BLM_E_UNSUPPORTED, "scheme %s has no lines", o->scheme);
    return BLM_OK;
}

blm_status blm__asked(const blm_options *o, struct blm__asked *out, blm_error *err)
{
    blm_status st = refuse_native(o, err);
    if (st != BLM_OK)
        return st;
    struct blm__asked a = { o->items, o->rate, o->bits, o->probes };
    if (a.rate != 0 && !(a.rate > 0 && a.rate < 1))
        return blm__fail(err, BLM_E_ARGUMENT, "rate must be between 0 and 1, not %g", a.rate);
    if (o->memory && o->bits)
        return blm__fail(err, BLM_E_ARGUMENT, "bits and memory are both given: give one of them");
    if (o->memory && o->memory < 8)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "%llu bytes of memory are too few: a filter takes at least 8",
                         (unsigned long long)o->memory);
    if (o->memory > BLM__MAX_BITS / 8)
        return blm__fail(err, BLM_E_LIMIT,
                         "%llu bytes of memory are too many: a filter has at most 2^48 bits",
                         (unsigned long long)o->memory);
    if (o->memory)
        a.bits = o->memory / 8 * 64;
    if (a.probes && !a.bits)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "probes are given without bits: with items and rate, leave them out");
    if (a.bits && !a.probes && !a.items && a.rate == 0)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "bits alone are not enough: give probes, items or a rate too");
    if (!a.bits && !a.items && a.rate == 0)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "no size is given: give items and rate, or bits and probes");
    *out = a;
    return BLM_OK;
}

uint32_t blm__asked_probes(const struct blm__asked *a, uint64_t bits)
{
    uint32_t k = 1;
    if (a->probes)
        return a->probes;
    /* Any number above the most probes will do: it will be refused. */
    double best =
        a->items ? floor((double)bits / (double)a->items * BLM__LN2 + 0.5) : ceil(-log2(a->rate));
    if (best >= 1)
        k = best > BLM__MAX_PROBES ? BLM__MAX_PROBES + 1 : (uint32_t)best;
    return k;
}

static double usual_rate(const struct blm__shape *s, uint64_t n)
{
    if (s->scheme->throws) /* fewer hashes than probes: its own model */
        return s->scheme->rate_at(s, n);
    return blm__rate_usual(blm__shape_reach(s), s->probes, n);
}

blm_status blm__asked_promise(const struct blm__asked *a, struct blm__body *b, struct blm__shape *s,
                              blm_error *err)
{
    /* How many keys set half of the bits. */
    double half = (double)blm__shape_reach(s) / (double)s->probes * BLM__LN2;
    s->capacity = a->items;
    s->rate     = a->rate;
    if (!a->items && a->rate > 0) /* 1 − e^(−kn/m) = p^(1/k) */
        half *= -log1p(-pow(a->rate, 1.0 / s->probes)) / BLM__LN2;
    if (!a->items)
        s->capacity = half < 1 ? 1 : (uint64_t)fmin(half, MOST_KEYS);
    if (a->rate == 0)
        s->rate = usual_rate(s, s->capacity);
    if (a->bits && a->items && a->rate > 0 && usual_rate(s, a->items) > a->rate)
        return blm__fail(err, BLM_E_LIMIT,
                         "a rate of %g for %llu keys cannot be reached with %llu bits and %u "
                         "probes: they give %.3g",
                         a->rate, (unsigned long long)a->items, (unsigned long long)s->bits,
                         (unsigned)s->probes, usual_rate(s, a->items));
    b->rate = s->rate;
    return BLM_OK;
}
