/* SPDX-License-Identifier: MIT */
/*
 * BIP37, the filter a Bitcoin wallet sends to a node: hash i is MurmurHash3 x86 32 of the key with
 * seed i · 0xFBA4C795 + tweak, modulo m, for i = 0 … k−1; m = 8 · bytes.
 *
 * The tweak is the filter's seed; its flags (what a match adds to the filter: see blm_bip37_match)
 * are the variant. Two filters match everything and take no keys: one without bytes (here it has
 * one byte that is not used, aux[0] is set, and aux[1] is the k it claims) and one without hash
 * functions. Bitcoin Core's sizing makes both if asked for too little.
 */
#include <math.h>

#include "bloomery/maths.h"
#include "core/error.h"
#include "core/hash/murmur3.h"
#include "maths/sizing.h"
#include "scheme/asked.h"
#include "scheme/bip37.h"

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    uint32_t seed = (uint32_t)h->seed[0];
    for (uint32_t i = 0; i < k; i++, seed += 0xFBA4C795u) {
        uint64_t hash = blm__murmur3_32(key, len, seed);
        d->w[i / 2]   = i % 2 ? d->w[i / 2] | hash << 32 : hash;
    }
}

static bool positions_raw(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    for (uint32_t i = 0; i < s->probes; i++)
        out[i] = (uint32_t)(d->w[i / 2] >> (i % 2 * 32));
    return true;
}

/* Bitcoin Core's constructor, in its order of operations: whole bytes, rounded down; k from a
 * division of whole numbers, rounded down again. */
static uint64_t core_bytes(uint64_t n, double p)
{
    double bits = -1 / 0.4804530139182014246671 * (double)n * log(p);
    return bits < BLM__BIP37_BYTES * 8 ? (uint64_t)bits / 8 : BLM__BIP37_BYTES;
}
static uint32_t core_probes(uint64_t n, uint64_t bytes)
{
    double k = (double)(bytes * 8 / n) * 0.6931471805599453094172;
    return k < BLM__BIP37_PROBES ? (uint32_t)k : BLM__BIP37_PROBES;
}

static blm_status check_options(const blm_options *o, blm_error *err)
{
    if (o->variant > 255)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "variant %llu is too large: bip37's flags are one byte",
                         (unsigned long long)o->variant);
    if (o->flags & BLM_SEEDED && (o->seed[0] > UINT32_MAX || o->seed[1]))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "the seed does not fit: bip37's tweak is 0 to 4294967295");
    return BLM_OK;
}

static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    struct blm__asked a  = { 0 };
    blm_status        st = check_options(o, err);
    if (st == BLM_OK)
        st = blm__asked(o, &a, err);
    if (st != BLM_OK)
        return st;
    if (!a.bits && (a.items == 0 || a.rate == 0))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "no size is given: give items and rate, or bits and probes");
    uint64_t bytes = a.bits ? a.bits / 8 : core_bytes(a.items, a.rate);
    s->probes = a.probes || !a.items ? blm__asked_probes(&a, a.bits) : core_probes(a.items, bytes);
    if (a.bits % 8 || bytes > BLM__BIP37_BYTES || s->probes > BLM__BIP37_PROBES)
        return blm__fail(err, BLM_E_LIMIT,
                         "%llu bits and %u probes do not fit bip37: it has whole bytes, at most "
                         "36000, and at most 50 probes",
                         (unsigned long long)a.bits, (unsigned)s->probes);
    s->bits = bytes ? bytes * 8 : 8;
    if (bytes && s->probes) {
        st = blm__asked_promise(&a, b, s, err);
        if (!a.bits && bytes == BLM__BIP37_BYTES) /* cut: what the bytes give, if that is worse */
            s->rate = b->rate = fmax(s->rate, blm__rate_usual(s->bits, s->probes, a.items));
        return st;
    }
    s->probes   = 0; /* it matches everything, so it promises no rate */
    s->aux[0]   = bytes == 0;
    s->capacity = a.items;
    return BLM_OK;
}

static const char *fault(const struct blm__shape *s)
{
    if (s->bits % 8 || s->bits > BLM__BIP37_BYTES * 8)
        return "it has whole bytes, at most 36000";
    if (s->probes > BLM__BIP37_PROBES || s->aux[1] > BLM__BIP37_PROBES)
        return "it has at most 50 probes";
    if (s->aux[0] > 1 || (s->aux[0] && (s->probes || s->bits != 8)))
        return "a filter without bytes has bits";
    return s->variant > 255 ? "its flags are one byte" : NULL;
}

static const char *notice(const struct blm__shape *s)
{
    if (s->aux[0])
        return "the filter has no bytes: it matches everything";
    return s->probes == 0 ? "the filter has no hash functions: it matches everything" : NULL;
}

const struct blm__scheme blm__scheme_bip37 = {
    .row           = { sizeof(blm_scheme_row), "bip37",
                       "Bitcoin wallet filter: MurmurHash3 once per probe, seeded by a tweak",
                       "sizes and probes are rounded down, and cut at 36000 bytes, so that the rate can come "
                                 "out above the one asked for; too small a filter matches everything",
                       NULL, true, .seeded = true, .kinds = 1u << BLM_CLASSIC, .format = "bip37" },
    .variants      = true,
    .version       = 1,
    .no_probes     = true,
    .short_seed    = true,
    .per_probe     = true,
    .model         = BLM_MODEL_INDEPENDENT,
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 8,
    .digest        = digest,
    .positions     = blm__positions_m,
    .positions_raw = positions_raw,
    .modulus       = blm__modulus_m,
    .reduce        = blm__reduce_m,
    .plan          = plan,
    .fault         = fault,
    .notice        = notice,
};
