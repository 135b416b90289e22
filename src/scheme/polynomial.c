/* SPDX-License-Identifier: MIT */
/*
 * Two filters from Java whose hashes are polynomials over the UTF-16 units c of a string, in
 * wrapping 32 bits: h = seed·h + c.
 *
 *   byteslot    `size` bytes, eight seeds, h from 5381. v = (h ^ h >>> 16) without its top bit;
 *               hash i sets bit i of byte v % size, so each hash has `size` bits of its own, a plane.
 *   polynomial  `cap` bits, seven seeds, h from 0, bit h & (cap − 1). Written again in C, it hashes
 *               bytes: variant 1 takes them as unsigned char, 2 as signed char. That reaches every bit only
 *               if cap is a power of two, and the original's own example, 15 MiB, is not one.
 *
 * Neither has a file format: the array is kept in a native file, or read and written by itself as
 * format "raw" ("byteslot").
 */
#include <math.h>

#include "bloomery/maths.h"
#include "core/error.h"
#include "core/utf16.h"
#include "scheme/fixed.h"

#define SLOTS      8u
#define MOST_BYTES ((uint64_t)1 << 31) /* v has 31 bits, as a Java array's index has */
#define SEEDS      7u
#define MOST_BITS  ((uint64_t)1 << 31)

/* Hashes with all seeds in one pass over the text. */
static void hash_units(const void *key, size_t len, const uint32_t *seed, unsigned n, uint32_t *h)
{
    struct blm__utf16 text = blm__utf16(key, len);
    uint16_t          unit;
    while (blm__utf16_next(&text, &unit))
        for (unsigned i = 0; i < n; i++)
            h[i] = seed[i] * h[i] + unit;
}

/* The same over bytes, as a C program has it. */
static void hash_bytes(const void *key, size_t len, bool is_signed, const uint32_t *seed,
                       unsigned n, uint32_t *h)
{
    for (const uint8_t *p = key, *end = p + len; p < end; p++) {
        uint32_t unit = is_signed && *p > 127 ? *p - 256u : *p;
        for (unsigned i = 0; i < n; i++)
            h[i] = seed[i] * h[i] + unit;
    }
}

/* ---- byteslot ---- */

static void slot_digest(const struct blm__hasher *hasher, uint32_t k, const void *key, size_t len,
                        blm_digest *d)
{
    static const uint32_t seed[SLOTS] = { 33, 53, 79, 97, 113, 137, 163, 181 };
    uint32_t              h[SLOTS]    = { 5381, 5381, 5381, 5381, 5381, 5381, 5381, 5381 };
    (void)hasher;
    (void)k;
    hash_units(key, len, seed, SLOTS, h);
    for (unsigned i = 0; i < SLOTS; i++)
        d->w[i] = (h[i] ^ h[i] >> 16) & INT32_MAX;
}

/* Raw: the value before % size, with the plane in the low three bits. */
static bool slot_raw(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    (void)s;
    for (unsigned i = 0; i < SLOTS; i++)
        out[i] = d->w[i] << 3 | i;
    return true;
}

static uint64_t slot_reduce(const struct blm__shape *s, uint64_t raw)
{
    return (raw >> 3) % (s->bits / 8) * 8 + (raw & 7);
}

static void slot_positions(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    for (unsigned i = 0; i < SLOTS; i++)
        out[i] = d->w[i] % (s->bits / 8) * 8 + i;
}

static blm_status slot_plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                            blm_error *err)
{
    struct blm__asked a     = { 0 };
    blm_options       sized = *o;
    /* Only items: the original's advice, one and a half bytes per key. */
    if (o->items && o->rate == 0 && !o->bits && !o->memory)
        sized.bits = o->items < MOST_BYTES ? (o->items + (o->items + 1) / 2) * 8 : MOST_BYTES * 16;
    blm_status st = blm__asked_fixed(&sized, SLOTS, 1, &a, err);
    if (st != BLM_OK)
        return st;
    s->probes = SLOTS;
    s->bits   = a.bits ? a.bits : (blm__bits_for(a.items, a.rate, SLOTS) + 7) / 8 * 8;
    if (s->bits % 8)
        return blm__fail(err, BLM_E_ARGUMENT, "%llu bits do not fit: byteslot has whole bytes",
                         (unsigned long long)s->bits);
    if (s->bits / 8 > MOST_BYTES)
        return blm__fail(err, BLM_E_LIMIT, "%llu bytes are too many: byteslot has at most 2 GiB",
                         (unsigned long long)(s->bits / 8));
    return blm__asked_promise(&a, b, s, err);
}

/* Each probe asks its own plane, so this is the product of the planes' fills. */
static double slot_rate_now(const struct blm__layer *l, uint64_t all)
{
    (void)all;
    double pass = 1;
    for (unsigned i = 0; i < SLOTS; i++) {
        uint64_t plane = (uint64_t)0x0101010101010101u << i, ones = 0;
        for (uint64_t w = 0; w < l->word_count; w++)
            ones += BLM__POPCOUNT64(__atomic_load_n(&l->words[w], __ATOMIC_RELAXED) & plane);
        pass *= (double)ones / (double)(l->shape.bits / 8);
    }
    return pass;
}

static const char *slot_fault(const struct blm__shape *s)
{
    if (s->probes != SLOTS)
        return "its keys set eight bits";
    return s->bits % 8 || s->bits / 8 > MOST_BYTES ? "it has whole bytes, at most 2 GiB" : NULL;
}

static const char *slot_notice(const struct blm__shape *s)
{
    return s->capacity && (double)(s->bits / 8) < 1.5 * (double)s->capacity
               ? "the filter is smaller than the original advises: at least 1.5 bytes per key"
               : NULL;
}

const struct blm__scheme blm__scheme_byteslot = {
    .row           = { sizeof(blm_scheme_row), "byteslot",
                       "Java byte array, eight polynomial hashes of UTF-16, hash i sets bit i of its byte",
                       "keys that differ only in their last unit set bits side by side; the empty key sets "
                                 "all eight bits of one byte",
                       NULL, true, .kinds = 1u << BLM_CLASSIC, .format = "native" },
    .version       = 1,
    .model         = BLM_MODEL_USUAL,
    .fold          = BLM__FOLD_STRIDED,
    .fold_unit     = 8,
    .digest        = slot_digest,
    .positions     = slot_positions,
    .positions_raw = slot_raw,
    .reduce        = slot_reduce,
    .plan          = slot_plan,
    .rate_now      = slot_rate_now,
    .fault         = slot_fault,
    .notice        = slot_notice,
};

/* ---- polynomial ---- */

enum { UNITS, BYTES, SIGNED_BYTES, VARIANTS };

static void poly_digest(const struct blm__hasher *hasher, uint32_t k, const void *key, size_t len,
                        blm_digest *d)
{
    static const uint32_t seed[SEEDS] = { 5, 7, 11, 13, 31, 37, 61 };
    uint32_t              h[SEEDS]    = { 0 };
    (void)k;
    if (hasher->variant == UNITS)
        hash_units(key, len, seed, SEEDS, h);
    else
        hash_bytes(key, len, hasher->variant == SIGNED_BYTES, seed, SEEDS, h);
    for (unsigned i = 0; i < SEEDS; i++)
        d->w[i] = h[i];
}

static bool poly_raw(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    (void)s;
    for (unsigned i = 0; i < SEEDS; i++)
        out[i] = d->w[i];
    return true;
}

static uint64_t poly_reduce(const struct blm__shape *s, uint64_t raw)
{
    return raw & (s->bits - 1);
}

static void poly_positions(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    for (unsigned i = 0; i < SEEDS; i++)
        out[i] = d->w[i] & (s->bits - 1);
}

static blm_status poly_plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                            blm_error *err)
{
    struct blm__asked a = { 0 };
    if (o->variant >= VARIANTS)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "variant %llu is unknown: polynomial has 0 (UTF-16), 1 (bytes), 2 (bytes "
                         "as signed char)",
                         (unsigned long long)o->variant);
    blm_status st = blm__asked_fixed(o, SEEDS, s->cell_bits, &a, err);
    if (st != BLM_OK)
        return st;
    s->probes = SEEDS;
    s->bits   = a.bits;
    if (!a.bits || o->memory) { /* we choose a power of two, so that every bit is reached */
        uint64_t want = a.bits ? a.bits / 2 + 1 : blm__bits_for(a.items, a.rate, SEEDS);
        for (s->bits = 1; s->bits < want;)
            s->bits *= 2;
    }
    if (s->bits > MOST_BITS)
        return blm__fail(err, BLM_E_LIMIT, "%llu bits are too many: polynomial has at most 2^31",
                         (unsigned long long)s->bits);
    return blm__asked_promise(&a, b, s, err);
}

/* How many cells have a number whose bits are all set in cap − 1. */
static uint64_t poly_reach(const struct blm__shape *s)
{
    return (uint64_t)1 << BLM__POPCOUNT64(s->bits - 1);
}

static const char *poly_fault(const struct blm__shape *s)
{
    if (s->probes != SEEDS)
        return "its keys set seven bits";
    if (s->variant >= VARIANTS)
        return "no such variant";
    return s->bits > MOST_BITS ? "it has at most 2^31 bits" : NULL;
}

static const char *poly_notice(const struct blm__shape *s)
{
    return poly_reach(s) != s->bits ? "the capacity is not a power of two: with hash & (capacity - "
                                      "1) no key reaches some "
                                      "of the bits, and the rate is that of a smaller filter"
                                    : NULL;
}

const struct blm__scheme blm__scheme_polynomial = {
    .row            = { sizeof(blm_scheme_row), "polynomial",
                        "Java BitSet, seven polynomial hashes of UTF-16 (or bytes) with small seeds",
                        "all seven hashes of a key of one character are the same bit, the empty key's are bit "
                                   "0; if the capacity is not a power of two, some bits are never reached",
                        NULL, true, .kinds = 1u << BLM_CLASSIC | 1u << BLM_COUNTING, .format = "native" },
    .variants       = true,
    .digest_variant = UINT64_MAX,
    .version        = 1,
    .model          = BLM_MODEL_USUAL,
    .digest         = poly_digest,
    .positions      = poly_positions,
    .positions_raw  = poly_raw,
    .reduce         = poly_reduce,
    .plan           = poly_plan,
    .reach          = poly_reach,
    .fault          = poly_fault,
    .notice         = poly_notice,
};
