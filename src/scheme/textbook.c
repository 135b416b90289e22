/* SPDX-License-Identifier: MIT */
/*
 * Schemes from course material and small old programs: plain hashes of the key's bytes, modulo m.
 *
 *   bkdr         BKDR with multiplier 131, 31, 1313, 13131, … for probe 0, 1, 2, 3, …; with a seed
 *                there is one probe, and the seed is its multiplier
 *   js, rs       one probe each
 *   bkdr-js-rs   three probes: BKDR (131), JS, RS
 *   fnv-murmur   two probes: FNV-1 as JavaScript computes it, and MurmurHash2 with seed 0
 *
 * Their common variants: 0 unsigned 32 bits; 1 the same without the top bit; 2 64 bits; 3 32 bits
 * over C's signed char. (fnv-murmur has only one form.)
 */
#include "scheme/textbook.h"

#include "bloomery/maths.h"
#include "core/error.h"
#include "core/hash/fnv.h"
#include "core/hash/murmur2.h"
#include "core/hash/strings.h"

enum { U32, U31, U64, SIGNED_CHAR, VARIANTS };

#define MULTIPLIERS 8u

/* ---- shared ---- */

bool blm__textbook_raw(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    for (uint32_t i = 0; i < s->probes; i++)
        out[i] = d->w[i];
    return true;
}

/* The best number of hashes, and no more than there are. 0: not enough is given to say. */
static uint32_t choose_probes(const blm_options *o, uint32_t most, const struct blm__shape *s)
{
    struct blm__asked a = { o->items, o->rate, o->bits, 0 };
    uint64_t          m;
    uint32_t          k = 0;
    if (o->memory && !o->bits)
        a.bits = o->memory / 8 * 64 / s->cell_bits;
    if ((o->bits || o->memory) && (o->items || o->rate > 0))
        k = blm__asked_probes(&a, a.bits);
    else if (o->items && o->rate > 0 && o->rate < 1 &&
             blm_textbook(o->items, o->rate, &m, &k) != BLM_OK)
        k = most;
    return k < most ? k : most;
}

blm_status blm__textbook_plan(const blm_options *o, uint32_t most, struct blm__body *b,
                              struct blm__shape *s, blm_error *err)
{
    struct blm__asked a = { 0 };
    uint32_t          k = most == 1 ? 1 : o->probes;
    if (o->probes > most)
        return blm__fail(err, BLM_E_ARGUMENT, "%u probes are too many: scheme %s has at most %u",
                         (unsigned)o->probes, o->scheme, (unsigned)most);
    if (k == 0)
        k = choose_probes(o, most, s);
    if (k == 0 && (o->bits || o->memory))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "bits alone are not enough: give probes, items or a rate too");
    blm_status st = blm__asked_fixed(o, k, s->cell_bits, &a, err);
    if (st != BLM_OK)
        return st;
    s->probes = k;
    s->bits   = a.bits ? a.bits : blm__bits_for(a.items, a.rate, k);
    return blm__asked_promise(&a, b, s, err);
}

static blm_status check_variant(const blm_options *o, blm_error *err)
{
    if (o->variant < VARIANTS)
        return BLM_OK;
    return blm__fail(err, BLM_E_ARGUMENT,
                     "variant %llu is unknown: scheme %s has 0 (32 bits), 1 (31), 2 (64), 3 "
                     "(signed char)",
                     (unsigned long long)o->variant, o->scheme);
}

static const char *fault(const struct blm__shape *s, uint32_t most)
{
    if (s->probes > most)
        return "more probes than it has hashes";
    return s->variant >= VARIANTS ? "no such variant" : NULL;
}

static uint64_t cut(uint64_t h, uint64_t variant)
{
    return variant == U64 ? h : variant == U31 ? h & INT32_MAX : (uint32_t)h;
}

static uint64_t js(const void *key, size_t len, uint64_t variant)
{
    return variant == U64 ? blm__js64(key, len, false)
                          : cut(blm__js32(key, len, variant == SIGNED_CHAR), variant);
}

/* ---- bkdr ---- */

static void bkdr_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                        blm_digest *d)
{
    static const uint32_t multiplier[MULTIPLIERS] = { 131,    31,      1313,     13131,
                                                      131313, 1313131, 13131313, 131313131 };
    bool                  given                   = h->policy == BLM_SEED_FIXED;
    for (uint32_t i = 0; i < k; i++)
        d->w[i] =
            cut(blm__bkdr(key, len, given ? h->seed[0] : multiplier[i], h->variant == SIGNED_CHAR),
                h->variant);
}

static blm_status bkdr_plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                            blm_error *err)
{
    bool       seeded = o->flags & BLM_SEEDED;
    blm_status st     = check_variant(o, err);
    if (st == BLM_OK && seeded && o->seed[1])
        st = blm__fail(err, BLM_E_ARGUMENT, "the seed does not fit: bkdr's multiplier has 64 bits");
    return st == BLM_OK ? blm__textbook_plan(o, seeded ? 1 : MULTIPLIERS, b, s, err) : st;
}

static const char *bkdr_fault(const struct blm__shape *s) { return fault(s, MULTIPLIERS); }

/* ---- js, rs, and all three ---- */

static void js_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                      blm_digest *d)
{
    (void)k;
    d->w[0] = js(key, len, h->variant);
}

static void rs_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                      blm_digest *d)
{
    (void)k;
    d->w[0] = cut(blm__rs(key, len, h->variant == SIGNED_CHAR), h->variant);
}

static void three_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                         blm_digest *d)
{
    bool is_signed = h->variant == SIGNED_CHAR;
    (void)k;
    d->w[0] = cut(blm__bkdr(key, len, 131, is_signed), h->variant);
    d->w[1] = js(key, len, h->variant);
    d->w[2] = cut(blm__rs(key, len, is_signed), h->variant);
}

static blm_status one_plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                           blm_error *err)
{
    blm_status st = check_variant(o, err);
    return st == BLM_OK ? blm__textbook_plan(o, 1, b, s, err) : st;
}

static const char *one_fault(const struct blm__shape *s) { return fault(s, 1); }

/* Exactly k probes: these schemes have two or three hashes, no more and no fewer. */
static blm_status exact_plan(const blm_options *o, uint32_t k, struct blm__body *b,
                             struct blm__shape *s, blm_error *err)
{
    struct blm__asked a  = { 0 };
    blm_status        st = blm__asked_fixed(o, k, s->cell_bits, &a, err);
    if (st != BLM_OK)
        return st;
    s->probes = k;
    s->bits   = a.bits ? a.bits : blm__bits_for(a.items, a.rate, k);
    return blm__asked_promise(&a, b, s, err);
}

static blm_status three_plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                             blm_error *err)
{
    blm_status st = check_variant(o, err);
    return st == BLM_OK ? exact_plan(o, 3, b, s, err) : st;
}

static const char *three_fault(const struct blm__shape *s)
{
    return s->probes != 3 ? "its keys set three bits" : fault(s, 3);
}

/* ---- fnv-murmur ---- */

/* A whole number as a JavaScript Number keeps it: 53 significant bits, ties to even. Computed in
 * integers, because not every machine rounds doubles at each step. |v| < 2^63. */
static int64_t as_number(int64_t v)
{
    uint64_t u    = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    unsigned drop = 0;
    while (u >> drop >= (uint64_t)1 << 53)
        drop++;
    uint64_t rest = u & (((uint64_t)1 << drop) - 1), half = drop ? (uint64_t)1 << (drop - 1) : 1;
    u -= rest;
    if (rest > half || (rest == half && u >> drop & 1))
        u += (uint64_t)1 << drop;
    return v < 0 ? -(int64_t)u : (int64_t)u;
}

/* FNV-1 with hash * 16777619 in a Number, which loses low bits past 2^53, then ^ in 32 bits with
 * sign; its absolute value at the end. */
static uint64_t fnv_of_numbers(const void *key, size_t len)
{
    const uint8_t *p = key;
    int64_t        h = BLM__FNV32_BASIS;
    for (size_t i = 0; i < len; i++) {
        uint32_t low = (uint32_t)as_number(h * (int64_t)BLM__FNV32_PRIME) ^ p[i];
        h            = low >> 31 ? (int64_t)low - ((int64_t)1 << 32) : low;
    }
    return (uint64_t)(h < 0 ? -h : h);
}

static void pair_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                        blm_digest *d)
{
    (void)h;
    (void)k;
    d->w[0] = fnv_of_numbers(key, len);
    d->w[1] = blm__murmur2_32(key, len, 0);
}

static blm_status pair_plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                            blm_error *err)
{
    return exact_plan(o, 2, b, s, err);
}

static const char *pair_fault(const struct blm__shape *s)
{
    return s->probes != 2 ? "its keys set two bits" : s->variant ? "it has no variants" : NULL;
}

/* ---- the rows ---- */

#define KINDS (1u << BLM_CLASSIC | 1u << BLM_COUNTING)

#define COMMON                                                                         \
    .version = 1, .model = BLM_MODEL_USUAL, .fold = BLM__FOLD_STRIDED, .fold_unit = 1, \
    .positions = blm__positions_m, .positions_raw = blm__textbook_raw, .reduce = blm__reduce_m

#define SHORT_KEYS \
    "short keys hash to small numbers and crowd the first bits; keys are easy to collide"

const struct blm__scheme blm__scheme_bkdr = {
    .row = { sizeof(blm_scheme_row), "bkdr", "BKDR string hashes with multipliers 131, 31, 1313, …",
             SHORT_KEYS, NULL, true, .seeded = true, .kinds = KINDS, .format = "native" },
    .variants = true,
    COMMON,
    .per_probe      = true,
    .seeded_probes  = 1,
    .digest_variant = UINT64_MAX,
    .digest         = bkdr_digest,
    .plan           = bkdr_plan,
    .fault          = bkdr_fault,
};

const struct blm__scheme blm__scheme_js = {
    .row      = { sizeof(blm_scheme_row), "js", "Justin Sobel's string hash, one probe",
                  "one probe: a rate of 1% takes a hundred bits a key", NULL, true, .kinds = KINDS,
                  .format = "native" },
    .variants = true,
    COMMON,
    .digest_variant = UINT64_MAX,
    .digest         = js_digest,
    .plan           = one_plan,
    .fault          = one_fault,
};

const struct blm__scheme blm__scheme_rs = {
    .row = { sizeof(blm_scheme_row), "rs", "Robert Sedgewick's string hash, one probe", SHORT_KEYS,
             NULL, true, .kinds = KINDS, .format = "native" },
    .variants = true,
    COMMON,
    .digest_variant = UINT64_MAX,
    .digest         = rs_digest,
    .plan           = one_plan,
    .fault          = one_fault,
};

const struct blm__scheme blm__scheme_bkdr_js_rs = {
    .row      = { sizeof(blm_scheme_row), "bkdr-js-rs", "three string hashes: BKDR (131), JS, RS",
                  SHORT_KEYS, NULL, true, .kinds = KINDS, .format = "native" },
    .variants = true,
    COMMON,
    .digest_variant = UINT64_MAX,
    .digest         = three_digest,
    .plan           = three_plan,
    .fault          = three_fault,
};

const struct blm__scheme blm__scheme_fnv_murmur = {
    .row = { sizeof(blm_scheme_row), "fnv-murmur",
             "two hashes: FNV-1 in JavaScript's numbers, MurmurHash2",
             "FNV is computed in doubles, which round its low bits away", NULL, true,
             .kinds = KINDS, .format = "native" },
    COMMON,
    .digest = pair_digest,
    .plan   = pair_plan,
    .fault  = pair_fault,
};
