/* SPDX-License-Identifier: MIT */
/*
 * RedisBloom's cuckoo filters, CF.*, as they are since version 2.2.0.
 *
 * A fingerprint is h mod 255 + 1, h being MurmurHash64A with seed 0; its buckets are h and
 * h XOR fingerprint · 0x5bd1e995, modulo the number of buckets, which is a power of two. A layer is
 * an array of bytes, `bucket size` of them a bucket. Layer i has expansion^i times the buckets of
 * the first. engine/slots.c has what is done with it.
 */
#include "scheme/redisbloom_cf.h"

#include <math.h>
#include <string.h>

#include "core/hash/murmur2.h"

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    (void)h;
    (void)k;
    d->w[0] = blm__murmur64a(key, len, 0);
}

static bool is_power(uint64_t v) { return v && !(v & (v - 1)); }

/* ---- shapes ---- */

const char *blm__cf_fault(const blm_cf *c, unsigned *field)
{
    uint64_t slots = c->bucket_size ? c->buckets : 0, sum = 0;
    *field = 1;
    if (!is_power(c->buckets))
        return "not a power of two";
    *field = 4;
    if (c->bucket_size < 1 || c->bucket_size > 255)
        return "not 1 to 255";
    *field = 5;
    if (c->max_iterations < 1 || c->max_iterations > 65535)
        return "not 1 to 65535";
    *field = 6;
    if (c->expansion > 32768 || (c->expansion && !is_power(c->expansion)))
        return "not 0 or a power of two up to 32768";
    *field = 3;
    if (c->layers < 1 || c->layers > BLM_CF_MAX_LAYERS)
        return "not 1 to 65535";
    if (c->expansion == 0 && c->layers > 1)
        return "more than one, but it may not grow";
    for (uint64_t i = 0; i < c->layers; i++) {
        *field = 1;
        if (slots > BLM__CF_MAX_SLOTS / c->bucket_size)
            return "a layer has more than 2^32 slots";
        sum += slots * c->bucket_size;
        slots *= c->expansion ? c->expansion : 1;
    }
    *field = 0;
    return c->items > sum ? "more than there are slots" : NULL;
}

void blm__cf_shape(const blm_cf *c, uint32_t i, struct blm__shape *out)
{
    memset(out, 0, sizeof *out);
    out->kind      = BLM_CUCKOO;
    out->rule      = BLM__POSITIONS;
    out->scheme    = &blm__scheme_redisbloom_cf;
    out->cell_bits = 8;
    out->probes    = 1;
    out->bits      = c->buckets * c->bucket_size;
    while (c->expansion > 1 && i-- > 0) /* with 1 there may be tens of thousands */
        out->bits *= c->expansion;
    out->capacity = out->bits;
    out->variant  = blm__cf_variant(c->bucket_size, c->max_iterations, c->expansion);
}

void blm__cf_body(struct blm__body *b, uint32_t expansion)
{
    b->kind          = BLM_CUCKOO;
    b->growth        = expansion;
    b->active        = b->layer_count ? b->layer_count - 1 : 0;
    b->hasher.policy = BLM_SEED_NONE;
}

void blm__cf_describe(const struct blm__body *b, blm_cf *out)
{
    const struct blm__shape *s = &b->layers[0].shape;
    *out                       = (blm_cf){ .size           = sizeof *out,
                                           .buckets        = s->bits / blm__cf_bucket(s),
                                           .deletes        = s->aux[0],
                                           .layers         = b->layer_count,
                                           .bucket_size    = blm__cf_bucket(s),
                                           .max_iterations = blm__cf_iterations(s),
                                           .expansion      = blm__cf_expansion(s) };
    for (uint32_t i = 0; i < b->layer_count; i++)
        out->items += blm__layer_items(&b->layers[i]);
}

static const char *fault(const struct blm__shape *s)
{
    uint32_t b = blm__cf_bucket(s), e = blm__cf_expansion(s);
    if (b < 1 || b > 255 || s->bits % b || !is_power(s->bits / b) || s->bits > BLM__CF_MAX_SLOTS)
        return "its buckets are not a power of two of 1 to 255 slots";
    if (blm__cf_iterations(s) == 0 || e > 32768 || (e && !is_power(e)))
        return "its iterations or expansion are out of range";
    return s->cell_bits == 8 && s->probes == 1 ? NULL : "a slot is not a byte";
}

/* ---- rates, growth ---- */

static double rate_of(double per_bucket) { return -expm1(2 * per_bucket * log1p(-1.0 / 255)); }

static double rate_at(const struct blm__shape *s, uint64_t n)
{
    double fill = n < s->bits ? (double)n / (double)s->bits : 1;
    return rate_of(fill * blm__cf_bucket(s));
}

static blm_status grow(const struct blm__body *b, struct blm__shape *out, blm_error *err)
{
    (void)b;
    uint32_t e = blm__cf_expansion(out);
    if (e == 0)
        return BLM_E_FULL;
    if (out->bits > BLM__CF_MAX_SLOTS / e)
        return blm__fail(err, BLM_E_LIMIT, "the next layer would have more than 2^32 slots");
    out->bits *= e;
    out->capacity = out->bits;
    out->aux[0]   = 0;
    return BLM_OK;
}

static const char *notice(const struct blm__shape *s)
{
    return blm__cf_expansion(s) == 1 ? "its rate grows with every layer" : NULL;
}

const struct blm__scheme blm__scheme_redisbloom_cf = {
    .row       = { sizeof(blm_scheme_row), "redisbloom-cf",
                   "RedisBloom CF.*: cuckoo filters, MurmurHash64A, fingerprints of a byte",
                   "fingerprints of 8 bits, and a rate that grows with every layer; a remove may take "
                         "another key's fingerprint",
                   NULL, false, .kinds = 1u << BLM_CUCKOO, .format = "redisbloom-cf" },
    .version   = 1,
    .model     = BLM_MODEL_USUAL,
    .layers    = BLM_CF_MAX_LAYERS,
    .exchanges = true,
    .digest    = digest,
    .grow      = grow,
    .rate_at   = rate_at,
    .fault     = fault,
    .notice    = notice,
};
