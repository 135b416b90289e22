/* SPDX-License-Identifier: MIT */
/*
 * Guava's BloomFilter. MurmurHash3 x64 128 (seed 0) of a key gives h1, h2; then
 *
 *   guava64  MURMUR128_MITZ_64, what Guava's create makes:
 *            position i = ((h1 + i·h2) mod 2^64, without its top bit) mod m,     i = 0 … k−1
 *   guava32  MURMUR128_MITZ_32, from the two 32-bit halves of h1 alone:
 *            c = low + i·high in wrapping int32, ~c where negative, mod m,       i = 1 … k
 *
 * m is a multiple of 64. The funnel says how a key is hashed; all except "chars" hash the bytes
 * they are given ("int" and "long" mean 4 and 8 of them, little-endian, but take any number).
 */
#include <string.h>

#include "bloomery/maths.h"
#include "core/hash/murmur3.h"
#include "core/kernel/steps.h"
#include "core/utf16.h"
#include "scheme/java.h"

static const char *const funnels[] = { "bytes", "string", "chars", "int", "long", NULL };

/* The chars funnel: the key is UTF-8; its UTF-16 units are hashed, two little-endian bytes each. */
static void hash_chars(const void *key, size_t len, uint64_t out[2])
{
    struct blm__murmur3_128 s;
    struct blm__utf16       text = blm__utf16(key, len);
    uint16_t                unit;
    uint8_t                 bytes[2];
    blm__murmur3_128_start(&s, 0);
    while (blm__utf16_next(&text, &unit)) {
        blm__put16le(bytes, unit);
        blm__murmur3_128_put(&s, bytes, 2);
    }
    blm__murmur3_128_end(&s, out);
}

/* Called for every key, so it calls strcmp only if the answer is probably yes. */
static bool is_chars(const struct blm__hasher *h)
{
    return h->funnel && h->funnel[0] == 'c' && strcmp(h->funnel, "chars") == 0;
}

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    (void)k;
    if (is_chars(h))
        hash_chars(key, len, d->w);
    else
        blm__murmur3_128(key, len, 0, d->w);
}

static void pairs64(const struct blm__hasher *h, const struct blm__kernel *v,
                    const struct blm__keys *keys, size_t n, uint64_t *start, uint64_t *step)
{
    bool chars = is_chars(h);
    if (!chars && !keys->list && keys->width == 8) {
        v->stepper->murmur3_8(keys->fixed, n, start, step);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        blm_key  k = blm__key_at(keys, i);
        uint64_t w[2];
        if (chars)
            hash_chars(k.data ? k.data : "", k.len, w);
        else
            blm__murmur3_128(k.data ? k.data : "", k.len, 0, w);
        start[i] = w[0];
        step[i]  = w[1];
    }
}

/* ---- positions ---- */

static bool raw64(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    uint64_t c = d->w[0];
    for (uint32_t i = 0; i < s->probes; i++, c += d->w[1])
        out[i] = c & INT64_MAX;
    return true;
}

static bool raw32(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    uint32_t low = (uint32_t)d->w[0], high = (uint32_t)(d->w[0] >> 32);
    for (uint32_t i = 1; i <= s->probes; i++) {
        uint32_t c = low + i * high;
        out[i - 1] = c >> 31 ? ~c : c;
    }
    return true;
}

/* ---- sizing ---- */

/* variant 0: k from the rate alone, as since Guava 33.4; 1: from bits and keys, as before. The
 * variant is not kept: filters of both can be united. */
static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    struct blm__asked a  = { 0 };
    blm_status        st = blm__asked(o, &a, err);
    if (st != BLM_OK)
        return st;
    if (o->variant > 1)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "variant %llu is unknown: guava has 0 (33.4 and later) and 1 (before)",
                         (unsigned long long)o->variant);
    uint64_t bits = a.bits;
    if (bits) {
        s->probes = blm__asked_probes(&a, bits);
    } else {
        if (a.items == 0)
            a.items = 1; /* as Guava takes an expected 0 */
        if (a.rate == 0)
            a.rate = 0.03;
        bits = blm__java_bits(a.items, a.rate);
        s->probes =
            o->variant ? blm__java_probes(a.items, bits) : blm__java_round(-log(a.rate) / log(2));
    }
    st = blm__java_words(bits, &s->bits, err);
    if (st == BLM_OK && s->probes > 255)
        st = blm__fail(err, BLM_E_ARGUMENT, "%u probes are too many: guava has at most 255",
                       (unsigned)s->probes);
    s->variant = 0;
    return st == BLM_OK ? blm__asked_promise(&a, b, s, err) : st;
}

static const char *fault(const struct blm__shape *s)
{
    return s->probes > 255 ? "it has more than 255 probes" : blm__java_fault(s);
}

#define FAULTS_64                                                        \
    "the empty key and every key whose hash is 0 probe bit 0 only; the " \
    "number of keys is not recorded"

const struct blm__scheme blm__scheme_guava64 = {
    .row = { sizeof(blm_scheme_row), "guava64", "Guava BloomFilter, MURMUR128_MITZ_64", FAULTS_64,
             funnels, true, .kinds = 1u << BLM_CLASSIC, .format = "guava" },
    .variants      = true,
    .version       = 1,
    .model         = BLM_MODEL_DOUBLE,
    .in_step       = { 0.35, 1.6 },
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 64,
    .digest        = digest,
    .positions     = blm__positions_m,
    .positions_raw = raw64,
    .modulus       = blm__modulus_m,
    .wrap          = 63, /* to drop the top bit of a sum is to take it modulo 2^63 */
    .pairs         = pairs64,
    .reduce        = blm__reduce_m,
    .plan          = plan,
    .fault         = fault,
};

const struct blm__scheme blm__scheme_guava32 = {
    .row           = { sizeof(blm_scheme_row), "guava32", "Guava BloomFilter, MURMUR128_MITZ_32",
                       "probes never reach bit 2^31, so a larger filter does not help; two keys that "
                                 "agree in 64 bits of hash agree in everything; the empty key probes bit 0 only",
                       funnels, true, .kinds = 1u << BLM_CLASSIC, .format = "guava" },
    .variants      = true,
    .version       = 1,
    .model         = BLM_MODEL_DOUBLE,
    .in_step       = { 0.17, 0.5 },
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 64,
    .digest        = digest,
    .positions     = blm__positions_m,
    .positions_raw = raw32,
    .modulus       = blm__modulus_m,
    .reduce        = blm__reduce_m,
    .plan          = plan,
    .reach         = blm__int_reach,
    .notice        = blm__int_notice,
    .fault         = fault,
};

const blm_scheme_row blm__alias_guava = { sizeof(blm_scheme_row),
                                          "guava",
                                          "guava64, what Guava makes today",
                                          FAULTS_64,
                                          funnels,
                                          true,
                                          .kinds  = 1u << BLM_CLASSIC,
                                          .format = "guava",
                                          .means  = "guava64" };
