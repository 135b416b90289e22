/* SPDX-License-Identifier: MIT */
/*
 * Schemes that take MD5 once a probe, for i = 0 … k−1:
 *
 *   md5-cat   MD5(key followed by i in decimal)
 *   md5-or    MD5(key with its last byte OR i); the empty key has no last byte and stays as it is
 *
 * The first eight bytes of it, little-endian, modulo m.
 */
#include <math.h>
#include <string.h>

#include "bloomery/maths.h"
#include "core/error.h"
#include "maths/plan.h"
#include "scheme/textbook.h"

#define MOST 26u /* hashes that a digest holds */

#ifdef BLOOMERY_WITH_MD
#include <md5.h>
#define MISSING NULL
#define CREATES true

static uint64_t finish(const MD5_CTX *start, const uint8_t *last, size_t len)
{
    MD5_CTX c = *start;
    uint8_t sum[MD5_DIGEST_LENGTH];
    MD5Update(&c, last, len);
    MD5Final(sum, &c);
    return blm__get64le(sum);
}

static void cat_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                       blm_digest *d)
{
    MD5_CTX c;
    (void)h;
    MD5Init(&c);
    MD5Update(&c, key, len);
    for (uint32_t i = 0; i < k; i++) {
        uint8_t digit[2] = { (uint8_t)('0' + i / 10), (uint8_t)('0' + i % 10) };
        d->w[i]          = i < 10 ? finish(&c, digit + 1, 1) : finish(&c, digit, 2);
    }
}

static void or_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                      blm_digest *d)
{
    MD5_CTX c;
    size_t  some = len ? 1 : 0;
    (void)h;
    MD5Init(&c);
    MD5Update(&c, key, len - some);
    for (uint32_t i = 0; i < k; i++) {
        uint8_t last = (uint8_t)(len ? ((const uint8_t *)key)[len - 1] | i : 0);
        d->w[i]      = finish(&c, &last, some);
    }
}

#else
#define MISSING    "MD5 (libmd)"
#define CREATES    false
#define cat_digest no_digest
#define or_digest  no_digest

/* Never called: because of `missing` every such filter is refused. */
static void no_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                      blm_digest *d)
{
    (void)h;
    (void)k;
    (void)key;
    (void)len;
    memset(d->w, 0, sizeof d->w);
}
#endif

static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    return blm__textbook_plan(o, MOST, b, s, err);
}

/* ---- md5-or: how many hashes a key really has ---- */

/* Its last byte c gives as many as there are numbers c | i. k is at most 26, so only the low five
 * bits of c matter. */
#define LAST 32u

static unsigned distinct(unsigned c, uint32_t k)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < k; i++)
        seen |= (uint32_t)1 << ((c | i) & (LAST - 1));
    return (unsigned)BLM__POPCOUNT64(seen);
}

/* The mean of base^distinct over the last bytes, all equally likely. */
static double mean_power(double base, uint32_t k)
{
    double sum = 0;
    for (unsigned c = 0; c < LAST; c++)
        sum += pow(base, distinct(c, k));
    return sum / LAST;
}

static double or_rate_now(const struct blm__layer *l, uint64_t ones)
{
    return mean_power((double)ones / (double)l->shape.bits, l->shape.probes);
}

static double or_rate_at(const struct blm__shape *s, uint64_t n)
{
    double clear = pow(mean_power(1 - 1 / (double)s->bits, s->probes), (double)n);
    return mean_power(1 - clear, s->probes);
}

static double or_throws(const struct blm__shape *s, double *spread)
{
    double sum = 0, squares = 0;
    for (unsigned c = 0; c < LAST; c++) {
        double n = distinct(c, s->probes);
        sum += n;
        squares += n * n;
    }
    *spread = squares * LAST / (sum * sum) - 1;
    return sum / LAST;
}

static bool or_holds(const void *shape, uint64_t n)
{
    const struct blm__shape *s = shape;
    return or_rate_at(s, n) <= s->rate;
}

/* Fewer keys than k hashes a key would leave room for. */
static blm_status or_keys(struct blm__shape *s, blm_error *err)
{
    s->capacity = blm__greatest(or_holds, s, s->capacity, s->capacity);
    if (s->capacity == 0)
        return blm__fail(err, BLM_E_LIMIT,
                         "%llu cells cannot hold one key at a rate of %g in scheme md5-or; give "
                         "more, or a higher rate",
                         (unsigned long long)s->bits, s->rate);
    return BLM_OK;
}

/* Enlarges a filter that was sized for k hashes a key to the rate asked for. */
static blm_status or_bits(struct blm__shape *s, blm_error *err)
{
    uint64_t low = s->bits, high = s->bits;
    while (high < BLM__MAX_BITS && or_rate_at(s, s->capacity) > s->rate) {
        low     = high;
        s->bits = high *= 2;
    }
    while (low + 1 < high) {
        s->bits = low + (high - low) / 2;
        if (or_rate_at(s, s->capacity) > s->rate)
            low = s->bits;
        else
            high = s->bits;
    }
    s->bits = high;
    if (s->bits > BLM__MAX_BITS)
        return blm__fail(err, BLM_E_LIMIT,
                         "a rate of %g for %llu keys takes more than 2^48 bits in scheme md5-or",
                         s->rate, (unsigned long long)s->capacity);
    return BLM_OK;
}

static blm_status or_plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                          blm_error *err)
{
    blm_status st = plan(o, b, s, err);
    if (st != BLM_OK)
        return st;
    if (!o->bits && !o->memory)
        return or_bits(s, err);
    return !o->items && o->rate > 0 ? or_keys(s, err) : BLM_OK;
}

static const char *fault(const struct blm__shape *s)
{
    return s->probes > MOST ? "more than 26 probes" : NULL;
}

#define KINDS (1u << BLM_CLASSIC | 1u << BLM_COUNTING)

#define COMMON                                                                         \
    .version = 1, .per_probe = true, .missing = MISSING, .fold = BLM__FOLD_STRIDED,    \
    .fold_unit = 1, .positions = blm__positions_m, .positions_raw = blm__textbook_raw, \
    .reduce = blm__reduce_m, .fault = fault

const struct blm__scheme blm__scheme_md5_cat = {
    .row = { sizeof(blm_scheme_row), "md5-cat", "MD5 of the key followed by the probe's number",
             "the key \"x1\" has hashes in common with the key \"x\" from its eleventh probe on",
             NULL, CREATES, .kinds = KINDS, .format = "native" },
    COMMON,
    .model  = BLM_MODEL_INDEPENDENT,
    .digest = cat_digest,
    .plan   = plan,
};

const struct blm__scheme blm__scheme_md5_or = {
    .row = { sizeof(blm_scheme_row), "md5-or",
             "MD5 of the key, its last byte ORed with the probe's number",
             "few distinct hashes: a last byte with its low bits set gives the same hash for every "
             "probe, and keys whose last bytes differ only in those bits share their hashes",
             NULL, CREATES, .kinds = KINDS, .format = "native" },
    COMMON,
    .model    = BLM_MODEL_USUAL,
    .digest   = or_digest,
    .plan     = or_plan,
    .rate_now = or_rate_now,
    .rate_at  = or_rate_at,
    .throws   = or_throws,
};
