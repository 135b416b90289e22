/* SPDX-License-Identifier: MIT */
/*
 * DCSO's bloom. FNV-1 64 of the key, and then
 *
 *   dcso    since 0.2.0: h = fnv mod P, k times: h = (h·g mod 2^64) mod P, position h mod m.
 *           The product wraps before it is reduced, so this does not generate the field as it
 *           was meant to.
 *   dcso01  before: h2 = FNV-1 64 of the key followed by "this-is-magical",
 *           position i = (h1 + (i + 1)·h2 mod 2^64) mod m,      i = 0 … k−1
 */
#include <math.h>

#include "bloomery/maths.h"
#include "core/error.h"
#include "core/hash/fnv.h"
#include "scheme/asked.h"
#include "scheme/dcso.h"

#define P 18446744073709551557u /* the largest prime below 2^64 */
#define G 18446744073709550147u

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    (void)h;
    (void)k;
    d->w[0] = blm__fnv1_64(BLM__FNV64_BASIS, key, len);
}

static void digest01(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                     blm_digest *d)
{
    digest(h, k, key, len, d);
    d->w[1] = blm__fnv1_64(d->w[0], BLM__DCSO_MAGIC, sizeof BLM__DCSO_MAGIC - 1);
}

static void pairs01(const struct blm__hasher *h, const struct blm__kernel *v,
                    const struct blm__keys *keys, size_t n, uint64_t *start, uint64_t *step)
{
    (void)v;
    for (size_t i = 0; i < n; i++) {
        blm_key    k = blm__key_at(keys, i);
        blm_digest d;
        digest01(h, 0, k.data ? k.data : "", k.len, &d);
        start[i] = d.w[0] + d.w[1];
        step[i]  = d.w[1];
    }
}

static bool raw(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    uint64_t h = d->w[0] % P;
    for (uint32_t i = 0; i < s->probes; i++)
        out[i] = h = h * G % P;
    return true;
}

static bool raw01(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    for (uint64_t i = 0; i < s->probes; i++)
        out[i] = d->w[0] + (i + 1) * d->w[1];
    return true;
}

/* m = |⌈n·ln p / ln²2⌉|: the ceiling of a negative number, so it rounds down, perhaps to 0. k is at
 * most 1 075: the smallest double is 2^-1074. */
static void estimate(uint64_t n, double p, struct blm__shape *s)
{
    double m  = fabs(ceil((double)n * log(p) / pow(log(2), 2)));
    double k  = ceil(log(2) * m / (double)n);
    s->bits   = m > (double)BLM__MAX_BITS ? BLM__MAX_BITS + 1 : (uint64_t)m;
    s->probes = (uint32_t)k;
}

static bool near(uint64_t a, uint64_t b) { return a == b || a == b + 1 || a + 1 == b; }

bool blm__dcso_planned(uint64_t n, double p, uint64_t m, uint64_t k)
{
    struct blm__shape s;
    if (n == 0)
        return false;
    estimate(n, p, &s);
    return near(s.bits, m) && near(s.probes, k);
}

static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    struct blm__asked a  = { 0 };
    blm_status        st = blm__asked(o, &a, err);
    if (st != BLM_OK)
        return st;
    if (a.bits) {
        s->bits   = a.bits - (o->memory != 0); /* odd: both schemes have related probes otherwise */
        s->probes = blm__asked_probes(&a, s->bits);
    } else {
        if (a.items == 0 || a.rate == 0)
            return blm__fail(err, BLM_E_ARGUMENT, "scheme %s needs items and a rate, or bits",
                             s->scheme->row.name);
        estimate(a.items, a.rate, s);
        if (s->bits == 0)
            return blm__fail(err, BLM_E_ARGUMENT,
                             "a rate of %g for %llu keys gives 0 bits in scheme %s", a.rate,
                             (unsigned long long)a.items, s->scheme->row.name);
    }
    return blm__asked_promise(&a, b, s, err);
}

/* Where m is even and its odd part is small, the rate is worse than k and fill say (dcso_rates.c). From an odd
 * part of a thousand on nothing is left of that. */
static const char *notice_even(const struct blm__shape *s)
{
    uint64_t odd = s->bits;
    while (odd && odd % 2 == 0)
        odd /= 2;
    return odd < 1000 && odd != s->bits ? "m is a power of two times a small number, so the probes "
                                          "of a key are related: the rate "
                                          "is above what m and k give"
                                        : NULL;
}

const struct blm__scheme blm__scheme_dcso = {
    .row           = { sizeof(blm_scheme_row), "dcso", "DCSO bloom, since 0.2.0",
                       "m is rounded down, so the rate is a little above what was asked; FNV-1 is not "
                                 "keyed and mixes the last byte of a key weakly",
                       NULL, true, .kinds = 1u << BLM_CLASSIC, .format = "dcso" },
    .version       = 1,
    .model         = BLM_MODEL_INDEPENDENT,
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 1,
    .digest        = digest,
    .positions     = blm__positions_m,
    .positions_raw = raw,
    .modulus       = blm__modulus_m,
    .reduce        = blm__reduce_m,
    .plan          = plan,
    .keys          = blm__dcso_keys,
    .rate_now      = blm__dcso_rate_now,
    .rate_at       = blm__dcso_rate_at,
    .notice        = notice_even,
};

static const char *notice01(const struct blm__shape *s)
{
    return s->bits % 2 == 0 ? "m is even, so the probes of a key are related: the rate is above "
                              "what m and k give"
                            : NULL;
}

const struct blm__scheme blm__scheme_dcso01 = {
    .row           = { sizeof(blm_scheme_row), "dcso01", "DCSO bloom before 0.2.0",
                       "both hashes are FNV-1 of one beginning, so probes of a key are related; m is "
                                 "rounded down; sizes are 32-bit",
                       NULL, true, .kinds = 1u << BLM_CLASSIC, .format = "dcso01" },
    .version       = 1,
    .model         = BLM_MODEL_DOUBLE,
    .in_step       = { 0.45, 0.45 },
    .keys          = blm__dcso01_keys,
    .rate_now      = blm__dcso01_rate_now,
    .rate_at       = blm__dcso01_rate_at,
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 1,
    .digest        = digest01,
    .positions     = blm__positions_m,
    .positions_raw = raw01,
    .modulus       = blm__modulus_m,
    .wrap          = 64,
    .pairs         = pairs01,
    .reduce        = blm__reduce_m,
    .plan          = plan,
    .notice        = notice01,
};
