/* SPDX-License-Identifier: MIT */
/*
 * Apache Spark's sketch BloomFilter. Two 32-bit hashes per key, the second seeded by the first:
 * h1 = H(key, seed), h2 = H(key, h1), H being MurmurHash3 x86 32 with Spark's own tail. Then
 *
 *   spark1  seed 0; c = h1 + i·h2 in wrapping int32, ~c where negative, mod m,    i = 1 … k
 *   spark2  c = h1·(2^31 − 1) in int64, then k times: c += h2, and c or ~c mod m
 *
 * m is a multiple of 64. Funnel "long" is putLong: 8 bytes, or 1, 2 or 4 widened with their sign as
 * Spark widens; other lengths, and the other funnels, are hashed as they are.
 */
#include <string.h>

#include "bloomery/maths.h"
#include "core/hash/murmur3.h"
#include "scheme/java.h"

static const char *const funnels[] = { "string", "binary", "long", NULL };

static bool is_long(const struct blm__hasher *h)
{
    return h->funnel && strcmp(h->funnel, "long") == 0;
}

/* The 8 bytes of a smaller integer. */
static void widen(const uint8_t *key, size_t len, uint8_t out[8])
{
    memset(out, key[len - 1] & 0x80 ? 0xff : 0, 8);
    memcpy(out, key, len);
}

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    uint8_t wide[8];
    (void)k;
    if (is_long(h) && (len == 1 || len == 2 || len == 4)) {
        widen(key, len, wide);
        key = wide;
        len = 8;
    }
    uint32_t h1 = blm__murmur3_32_spark(key, len, (uint32_t)h->seed[0]);
    d->w[0]     = h1;
    d->w[1]     = blm__murmur3_32_spark(key, len, h1);
}

/* A 32-bit value as int, widened to 64 bits with its sign. */
static uint64_t signed32(uint64_t v) { return ((v & 0xffffffffu) ^ 0x80000000u) - 0x80000000u; }

static bool raw1(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    uint32_t c = (uint32_t)d->w[0];
    for (uint32_t i = 0; i < s->probes; i++) {
        c += (uint32_t)d->w[1];
        out[i] = c >> 31 ? ~c : c;
    }
    return true;
}

static bool raw2(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    uint64_t step = signed32(d->w[1]), c = signed32(d->w[0]) * INT32_MAX;
    for (uint32_t i = 0; i < s->probes; i++) {
        c += step;
        out[i] = c >> 63 ? ~c : c;
    }
    return true;
}

/* A seed is a Java int: given as such, or as its 32 bits. */
static blm_status check_seed(struct blm__hasher *h, blm_error *err)
{
    uint64_t seed = h->seed[0];
    if (h->seed[1] || (seed > UINT32_MAX && seed < UINT64_MAX - INT32_MAX))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "the seed does not fit: spark's is an int, -2147483648 to 2147483647, or "
                         "its 32 bits, up to 4294967295");
    h->seed[0] = (uint32_t)seed;
    h->seed[1] = 0;
    h->policy  = BLM_SEED_FIXED;
    return BLM_OK;
}

static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    struct blm__asked a  = { 0 };
    blm_status        st = blm__asked(o, &a, err);
    if (st == BLM_OK && s->scheme->row.seeded)
        st = check_seed(&b->hasher, err);
    if (st != BLM_OK)
        return st;
    if (!a.bits && a.items == 0)
        return blm__fail(err, BLM_E_ARGUMENT, "scheme %s needs the number of items",
                         s->scheme->row.name);
    uint64_t bits = a.bits;
    if (!bits) {
        if (a.rate == 0)
            a.rate = 0.03;
        bits = blm__java_bits(a.items, a.rate);
    }
    s->probes =
        a.items && !a.probes ? blm__java_probes(a.items, bits) : blm__asked_probes(&a, bits);
    st = blm__java_words(bits, &s->bits, err);
    return st == BLM_OK ? blm__asked_promise(&a, b, s, err) : st;
}

const struct blm__scheme blm__scheme_spark1 = {
    .row           = { sizeof(blm_scheme_row), "spark1", "Apache Spark BloomFilter, version 1",
                       "probes never reach bit 2^31, so the rate of a large filter is worse than promised; "
                                 "the number of keys is not recorded",
                       funnels, true, .kinds = 1u << BLM_CLASSIC, .format = "spark" },
    .version       = 1,
    .model         = BLM_MODEL_DOUBLE,
    .in_step       = { 0.17, 0.5 },
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 64,
    .digest        = digest,
    .positions     = blm__positions_m,
    .positions_raw = raw1,
    .modulus       = blm__modulus_m,
    .reduce        = blm__reduce_m,
    .plan          = plan,
    .reach         = blm__int_reach,
    .notice        = blm__int_notice,
    .fault         = blm__java_fault,
};

#define FAULTS_2                                                          \
    "two keys that agree in two 32-bit hashes agree in every probe; the " \
    "number of keys is not recorded"

const struct blm__scheme blm__scheme_spark2 = {
    .row     = { sizeof(blm_scheme_row), "spark2", "Apache Spark BloomFilter, version 2", FAULTS_2,
                 funnels, true, .seeded = true, .kinds = 1u << BLM_CLASSIC, .format = "spark" },
    .version = 1,
    .short_seed    = true,
    .model         = BLM_MODEL_DOUBLE,
    .in_step       = { 1.4, 1.7 },
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 64,
    .digest        = digest,
    .positions     = blm__positions_m,
    .positions_raw = raw2,
    .modulus       = blm__modulus_m,
    .reduce        = blm__reduce_m,
    .plan          = plan,
    .fault         = blm__java_fault,
};

const blm_scheme_row blm__alias_spark = { sizeof(blm_scheme_row),
                                          "spark",
                                          "spark2, what Spark makes today",
                                          FAULTS_2,
                                          funnels,
                                          true,
                                          .seeded = true,
                                          .kinds  = 1u << BLM_CLASSIC,
                                          .format = "spark",
                                          .means  = "spark2" };
