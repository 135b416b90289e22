/* SPDX-License-Identifier: MIT */
/*
 * The Go package bloom (willf, now bits-and-blooms), since 2.0.1. Four 64-bit values a key: h0, h1
 * are MurmurHash3 x64 128 (seed 0) of it, h2, h3 the same of the key with a byte 1 behind it. Then
 *
 *   location i = h[i mod 2] + i · h[2 + ((i + i mod 2) mod 4) / 2]  mod 2^64,   i = 0 … k−1
 *   position i = location i mod m
 *
 * Versions before 2.0.1 hashed in another way and wrote the same layout: a file does not say which.
 */
#include <math.h>

#include "bloomery/maths.h"
#include "core/error.h"
#include "core/hash/murmur3.h"
#include "scheme/asked.h"

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    static const uint8_t    one = 1;
    struct blm__murmur3_128 longer, plain;
    (void)h;
    (void)k;
    blm__murmur3_128_start(&longer, 0);
    blm__murmur3_128_put(&longer, key, len);
    plain = longer;
    blm__murmur3_128_put(&longer, &one, 1);
    blm__murmur3_128_end(&plain, d->w);
    blm__murmur3_128_end(&longer, d->w + 2);
}

static bool raw(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    for (uint64_t i = 0; i < s->probes; i++)
        out[i] = d->w[i & 1] + i * d->w[2 + ((i + (i & 1)) & 3) / 2];
    return true;
}

/* EstimateParameters, in Go's order of operations. With 0 < p < 1 neither m nor k is 0, and k is at
 * most 1 075, since the smallest double is 2^-1074. */
static void estimate(uint64_t n, double p, struct blm__shape *s)
{
    double m  = ceil(-1 * (double)n * log(p) / pow(log(2), 2));
    double k  = ceil(log(2) * m / (double)n);
    s->bits   = m > (double)BLM__MAX_BITS ? BLM__MAX_BITS + 1 : (uint64_t)m;
    s->probes = (uint32_t)k;
}

/* (items, rate) is NewWithEstimates. Without either, (bits, probes) is New, which takes 0 as 1, or,
 * over the caller's words, From and FromWithM. aux[0]: see codec/go.h. */
static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    struct blm__asked a    = { 0 };
    blm_options       made = *o;
    bool              new_ = o->items == 0 && o->rate == 0 && o->memory == 0;
    if (new_) {
        made.bits   = o->bits ? o->bits : 1;
        made.probes = o->probes ? o->probes : 1;
    }
    blm_status st = blm__asked(&made, &a, err);
    if (st != BLM_OK)
        return st;
    if (!a.bits && (a.items == 0 || a.rate == 0))
        return blm__fail(err, BLM_E_ARGUMENT, "scheme go needs items and a rate, or bits");
    if (a.bits) {
        s->bits   = a.bits;
        s->probes = blm__asked_probes(&a, a.bits);
    } else {
        estimate(a.items, a.rate, s);
    }
    if (new_ && o->bits == 0)
        s->aux[0] = 1; /* New(0, k): a bit set of length 0 until the first add */
    if (o->words && o->word_count * 64 != s->bits)
        s->aux[0] = o->word_count * 64 + 1;
    return blm__asked_promise(&a, b, s, err);
}

const struct blm__scheme blm__scheme_go = {
    .row = { sizeof(blm_scheme_row), "go", "Go package bloom (willf, bits-and-blooms), since 2.0.1",
             "versions before 2.0.1 hashed in another way, and their files do not say so; the "
             "number of keys is not recorded",
             NULL, true, .kinds = 1u << BLM_CLASSIC, .format = "go" },
    .one_probe     = true,
    .version       = 1,
    .model         = BLM_MODEL_INDEPENDENT, /* almost: two starts and two steps */
    .in_step       = { 0.005, 0.06 },
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 1,
    .digest        = digest,
    .positions     = blm__positions_m,
    .positions_raw = raw,
    .modulus       = blm__modulus_m,
    .reduce        = blm__reduce_m,
    .plan          = plan,
};
