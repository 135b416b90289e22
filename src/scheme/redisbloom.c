/* SPDX-License-Identifier: MIT */
/*
 * RedisBloom: layers (its links), each a filter of its own with positions (a + i·b) mod M, where a
 * and b are MurmurHash64A (or, before 1.1.1, MurmurHash2) of the key, b with a as its seed. A key
 * is in the filter if any layer has it. It is added to the newest layer, and only if no layer has
 * it, so a key that is falsely answered "maybe" is never stored.
 *
 * Sizes are computed in the original's order with its decimal constants, so that the bytes are the
 * same as in its dumps.
 */
#include "scheme/redisbloom.h"

#include <math.h>

#include "bloomery/maths.h"
#include "core/hash/murmur2.h"
#include "core/kernel/steps.h"

#define LN2_SQUARED 0.480453013918201
#define LN2         0.693147180559945
#define TIGHTENING  0.5
#define MOST_ITEMS  ((uint64_t)1 << 30)
#define MOST_GROWTH 32768.0

/* ---- positions ---- */

#define SEED64 BLM__MURMUR64A /* RedisBloom seeds the hash with the hash's own constant */

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    (void)k;
    if (h->variant & BLM_CHAIN_FORCE64) {
        d->w[0] = blm__murmur64a(key, len, SEED64);
        d->w[1] = blm__murmur64a(key, len, d->w[0]);
    } else {
        d->w[0] = blm__murmur2_32(key, len, 0x9747b28cu);
        d->w[1] = blm__murmur2_32(key, len, (uint32_t)d->w[0]);
    }
}

/* Keys in Redis are mostly short texts: their words are read and mixed once for both hashes. */
#define SHORT 31u

static uint64_t hash_short(const uint64_t *mixed, size_t len, uint64_t tail, uint64_t seed)
{
    uint64_t h = seed ^ len * BLM__MURMUR64A;
    for (size_t i = 0; i < len / 8; i++)
        h = (h ^ mixed[i]) * BLM__MURMUR64A;
    if (len & 7)
        h = (h ^ tail) * BLM__MURMUR64A;
    return blm__murmur64a_finish(h);
}

static void pair64(const uint8_t *key, size_t len, uint64_t *start, uint64_t *step)
{
    uint64_t mixed[SHORT / 8], tail = blm__last64(key + len, len & 7, len);
    for (size_t i = 0; i < len / 8; i++) {
        uint64_t k = blm__get64le(key + 8 * i) * BLM__MURMUR64A;
        mixed[i]   = (k ^ k >> 47) * BLM__MURMUR64A;
    }
    *start = hash_short(mixed, len, tail, SEED64);
    *step  = hash_short(mixed, len, tail, *start);
}

static void pair(const struct blm__hasher *h, const uint8_t *key, size_t len, uint64_t *start,
                 uint64_t *step)
{
    blm_digest d;
    if (h->variant & BLM_CHAIN_FORCE64 && len <= SHORT) {
        pair64(key, len, start, step);
        return;
    }
    digest(h, 0, key, len, &d);
    *start = d.w[0];
    *step  = d.w[1];
}

static void pairs(const struct blm__hasher *h, const struct blm__kernel *v,
                  const struct blm__keys *keys, size_t n, uint64_t *start, uint64_t *step)
{
    const struct blm__stepper *vectors = v->stepper;
    const bool                 wide    = h->variant & BLM_CHAIN_FORCE64;
    const bool                 four    = wide && keys->list;
    if (four && n == 4 && vectors->murmur4(keys->list, SEED64, start, step))
        return; /* a flow's */
    if (wide && !keys->list && keys->width == 8) {
        vectors->murmur_8(keys->fixed, n, SEED64, start, step);
        return;
    }
    for (size_t i = 0, next; i < n; i = next) {
        next = i + 4;
        if (four && next <= n && vectors->murmur4(keys->list + i, SEED64, start + i, step + i))
            continue;
        for (next = next < n ? next : n; i < next; i++) {
            blm_key k = blm__key_at(keys, i);
            pair(h, k.data ? k.data : (const void *)"", k.len, &start[i], &step[i]);
        }
    }
}

/* aux[0]: the bits of the double bpe. aux[1]: n2 (8 bits), the RDB version (8), bits (48). */
static uint8_t  n2_of(const struct blm__shape *s) { return (uint8_t)s->aux[1]; }
static uint64_t bits_of(const struct blm__shape *s) { return s->aux[1] >> 16; }
uint8_t         blm__rb_rdb(const struct blm__shape *s) { return (uint8_t)(s->aux[1] >> 8); }

static uint64_t modulus(const struct blm__shape *s)
{
    return n2_of(s) ? (uint64_t)1 << n2_of(s) : bits_of(s);
}

static bool positions_raw(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    uint64_t g = d->w[0];
    for (uint32_t i = 0; i < s->probes; i++, g += d->w[1])
        out[i] = g;
    return true;
}

static uint64_t reduce(const struct blm__shape *s, uint64_t raw) { return raw % modulus(s); }

/* A division takes some 25 cycles, and a key needs eight remainders or more, all by one number. So
 * that number is inverted once: inv = ⌊(2^64 − 1)/m⌋, and the high half of g·inv is g/m or one
 * less. 100 adds of eight probes in a filter of 1e7 keys: 19 µs become 10. */
static void positions(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    uint64_t m = modulus(s), inv = UINT64_MAX / m, g = d->w[0];
    for (uint32_t i = 0; i < s->probes; i++, g += d->w[1]) {
        uint64_t r = g - blm__mulhi(g, inv) * m;
        out[i]     = r >= m ? r - m : r;
    }
}

/* ---- layers ---- */

static uint64_t hashes_for(double bpe) { return (uint64_t)ceil(LN2 * bpe); }

/* bits, which is M: 8·bytes, or up to 7 less, since old versions rounded to bytes. */
static bool bits_fit(const blm_chain_layer *l, enum blm__rb_layout layout)
{
    if (l->bits == 0) /* old: only n2 counted */
        return layout == BLM__RB_1 && l->n2 && l->bytes == (((uint64_t)1 << l->n2) + 7) / 8;
    return (l->bits + 7) / 8 == l->bytes;
}

const char *blm__rb_fault(const blm_chain_layer *l, enum blm__rb_layout layout, unsigned *field)
{
    static const struct {
        unsigned    field;
        const char *text;
    } fault[] = {
        { 0, "no bytes" },
        { 0, "more than 2^45 bytes" },
        { 3, "an error rate that is not between 0 and 1" },
        { 4, "bits per entry that are not a positive number" },
        { 5, "hashes that do not follow from the bits per entry" },
        { 7, "n2 above 63" },
        { 1, "bits and bytes that do not agree" },
        { 7, "2^n2 bits, more than there are" },
    };
    unsigned i = 0;
    if (l->bytes == 0)
        i = 1;
    else if (l->bytes >= BLM__MAX_BITS / 8)
        i = 2;
    else if (!(l->error > 0 && l->error < 1))
        i = 3;
    else if (!(l->bpe > 0 && l->bpe < BLM__MAX_PROBES))
        i = 4;
    else if (l->hashes != hashes_for(l->bpe) || l->hashes == 0)
        i = 5;
    else if (l->n2 > 63)
        i = 6;
    else if (!bits_fit(l, layout))
        i = 7;
    else if (l->n2 && (uint64_t)1 << l->n2 > l->bytes * 8)
        i = 8;
    if (i == 0)
        return NULL;
    *field = fault[i - 1].field;
    return fault[i - 1].text;
}

void blm__rb_set_rdb(struct blm__shape *s, uint8_t rdb) { s->aux[1] |= (uint64_t)rdb << 8; }

void blm__rb_shape(const blm_chain_layer *l, uint64_t variant, struct blm__shape *out)
{
    struct blm__shape s = { .kind      = BLM_CLASSIC,
                            .rule      = BLM__POSITIONS,
                            .scheme    = &blm__scheme_redisbloom,
                            .bits      = l->bytes * 8,
                            .probes    = l->hashes,
                            .cell_bits = 1,
                            .capacity  = l->entries,
                            .rate      = l->error,
                            .variant   = variant };
    s.aux[0]            = blm__f64_bits(l->bpe);
    s.aux[1]            = l->n2 | l->bits << 16;
    *out                = s;
}

void blm__rb_layer(const struct blm__layer *l, blm_chain_layer *out)
{
    *out = (blm_chain_layer){ .bytes   = l->shape.bits / 8,
                              .bits    = bits_of(&l->shape),
                              .items   = blm__layer_items(l),
                              .entries = l->shape.capacity,
                              .error   = l->shape.rate,
                              .bpe     = blm__f64_from_bits(l->shape.aux[0]),
                              .hashes  = l->shape.probes,
                              .n2      = n2_of(&l->shape) };
}

static const char *fault(const struct blm__shape *s)
{
    struct blm__layer l = { .shape = *s };
    blm_chain_layer   described;
    unsigned          field;
    blm__rb_layer(&l, &described);
    if (blm__rb_options(s->variant) & ~BLM_CHAIN_OPTIONS || s->variant >> 32 > BLM__RB_1)
        return "unknown options";
    return blm__rb_fault(&described, blm__rb_layout(s->variant), &field);
}

/* ---- sizes ---- */

/* How a version rounds a layer's size. */
enum rounding { TO_WORDS, TO_BYTES };

static bool to_power_of_two(blm_chain_layer *l, double need, uint64_t *bits)
{
    int n2 = ilogb(need) + 1;
    if (n2 < 1 || n2 > 47)
        return false;
    l->n2 = (uint8_t)n2;
    *bits = (uint64_t)1 << n2;
    l->entries += (uint64_t)((double)(uint64_t)((double)*bits - need) / l->bpe);
    return true;
}

/* A new layer for this many entries at this rate. */
static blm_status make_layer(uint64_t entries, double error, uint64_t variant, enum rounding round,
                             struct blm__shape *out, blm_error *err)
{
    blm_chain_layer l    = { .error = error, .entries = entries };
    uint64_t        bits = 0;
    if (entries == 0 || !(error > 0 && error < 1))
        return blm__fail(err, BLM_E_FULL,
                         "RedisBloom makes no layer of %llu entries at a rate of %g",
                         (unsigned long long)entries, error);
    l.bpe       = fabs(log(error) / LN2_SQUARED);
    double need = (double)entries * l.bpe;
    bool   fits = need < (double)(BLM__MAX_BITS - 64) && l.bpe * LN2 <= BLM__MAX_PROBES;
    if (fits && variant & BLM_CHAIN_NOROUND)
        bits = need >= 1 ? (uint64_t)need : 1;
    else if (fits)
        fits = to_power_of_two(&l, need, &bits);
    if (!fits)
        return blm__fail(err, BLM_E_LIMIT, "a layer of %llu entries at a rate of %g is too large",
                         (unsigned long long)entries, error);
    l.hashes = (uint32_t)hashes_for(l.bpe);
    l.bytes  = round == TO_WORDS ? (bits + 63) / 64 * 8 : (bits + 7) / 8;
    l.bits   = round == TO_WORDS ? l.bytes * 8 : bits;
    if (blm__rb_layout(variant) == BLM__RB_1)
        l.bits = 0;
    blm__rb_shape(&l, variant, out);
    return BLM_OK;
}

/* Layers of 2.2.0 to 2.2.4 have a number of bits that is not a multiple of 64; later ones do
 * not. */
static enum rounding rounding_of(const struct blm__body *b)
{
    if (blm__rb_layout(b->layers[0].shape.variant) != BLM__RB_CURRENT)
        return TO_BYTES;
    for (uint32_t i = 0; i < b->layer_count; i++)
        if (bits_of(&b->layers[i].shape) % 64)
            return TO_BYTES;
    return TO_WORDS;
}

blm_status blm__rb_plan(uint64_t entries, double error, uint32_t options, struct blm__shape *out,
                        blm_error *err)
{
    return make_layer(entries, error, blm__rb_variant(options, BLM__RB_CURRENT), TO_WORDS, out,
                      err);
}

blm_status blm__rb_next(const struct blm__body *b, uint64_t entries, double error,
                        struct blm__shape *out, blm_error *err)
{
    return make_layer(entries, error, b->layers[0].shape.variant, rounding_of(b), out, err);
}

static blm_status grow(const struct blm__body *b, struct blm__shape *out, blm_error *err)
{
    const struct blm__shape *last    = &b->layers[b->active].shape;
    uint64_t                 variant = b->layers[0].shape.variant, growth = (uint64_t)b->growth;
    bool                     old = blm__rb_layout(variant) == BLM__RB_1;
    if (blm__rb_options(variant) & BLM_CHAIN_NO_SCALING)
        return blm__fail(err, BLM_E_FULL, "the filter is full, and was made not to grow");
    if (growth && last->capacity > UINT64_MAX / growth)
        return blm__fail(err, BLM_E_LIMIT, "the next layer would hold more than 2^64 entries");
    double tighter = old ? pow(TIGHTENING, b->layer_count + 1.0) : TIGHTENING;
    return blm__rb_next(b, last->capacity * growth, last->rate * tighter, out, err);
}

/* The rate that was asked for when it was made: half of it went to the first layer. */
static double asked_rate(double first, bool halved)
{
    return halved && first < 0.5 ? first * 2 : first;
}

/* A layer that grew out of the one before is stricter, and not smaller. One that did not is the first of
 * another filter, which a union put there. */
static bool begins_anew(const struct blm__shape *s, const struct blm__shape *before)
{
    return s->rate > before->rate * 0.75 || s->capacity < before->capacity;
}

void blm__rb_body(struct blm__body *b, uint32_t growth)
{
    const struct blm__shape *first  = &b->layers[0].shape;
    bool                     halved = blm__rb_layout(first->variant) != BLM__RB_1 &&
                  !(blm__rb_options(first->variant) & BLM_CHAIN_NO_SCALING);
    b->kind       = BLM_SCALABLE;
    b->growth     = growth;
    b->tightening = TIGHTENING;
    b->active     = b->layer_count - 1;
    b->rate       = asked_rate(first->rate, halved);
    b->rate_cap   = b->rate < 0.05 ? b->rate * 10 : b->rate < 0.5 ? 0.5 : b->rate;
    for (uint32_t i = 1; i < b->layer_count; i++)
        if (begins_anew(&b->layers[i].shape, &b->layers[i - 1].shape))
            b->rate = fmin(b->rate + asked_rate(b->layers[i].shape.rate, halved), nextafter(1, 0));
    b->rate_cap = fmax(b->rate_cap, b->rate);
}

static blm_status check_options(const blm_options *o, blm_error *err)
{
    if (o->bits || o->probes || o->memory)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "RedisBloom's filters are sized by items and rate: bits, probes and "
                         "memory do not apply");
    if (o->tightening != 0 && o->tightening != TIGHTENING)
        return blm__fail(err, BLM_E_ARGUMENT, "RedisBloom's tightening is 0.5");
    if (o->rate != 0 && !(o->rate > 0 && o->rate < 1))
        return blm__fail(err, BLM_E_ARGUMENT, "rate must be between 0 and 1, not %g", o->rate);
    if (o->items > MOST_ITEMS)
        return blm__fail(err, BLM_E_LIMIT,
                         "%llu items are too many: RedisBloom reserves at most 2^30",
                         (unsigned long long)o->items);
    if (!(o->growth == 0 || (o->growth >= 1 && o->growth <= MOST_GROWTH)) ||
        floor(o->growth) != o->growth)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "growth must be a whole number up to 32768 in RedisBloom, not %g",
                         o->growth);
    if (o->variant & ~(uint64_t)BLM_CHAIN_OPTIONS || o->variant & BLM_CHAIN_ENTRIES_ARE_BITS)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "variant %llu is unknown: RedisBloom's options are 1 (any size), 4 "
                         "(64-bit hash), 8 (does not grow)",
                         (unsigned long long)o->variant);
    return BLM_OK;
}

/* As BF.RESERVE; without items and rate as BF.ADD to a new filter: 100 keys at 1%. */
static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    blm_status st = check_options(o, err);
    if (st != BLM_OK)
        return st;
    uint64_t variant = o->variant ? o->variant : BLM_CHAIN_NOROUND | BLM_CHAIN_FORCE64;
    double   rate    = o->rate != 0 ? fmin(o->rate, 0.25) : 0.01;
    bool     fixed   = variant & BLM_CHAIN_NO_SCALING;
    st =
        make_layer(o->items ? o->items : 100, fixed ? rate : rate * 0.5, variant, TO_WORDS, s, err);
    if (st != BLM_OK)
        return st;
    if (!(o->rate_cap >= 0 && o->rate_cap < 1) || (o->rate_cap > 0 && o->rate_cap < rate))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "rate_cap must be at least the rate, %g, and below 1, not %g", rate,
                         o->rate_cap);
    b->growth     = o->growth != 0 ? o->growth : 2;
    b->tightening = TIGHTENING;
    b->rate       = rate;
    b->rate_cap   = o->rate_cap > 0 ? o->rate_cap : rate < 0.05 ? rate * 10 : 0.5;
    return BLM_OK;
}

static const char *notice(const struct blm__shape *s)
{
    if (modulus(s) < s->bits - 63)
        return "no key reaches some of the bits: the modulus is smaller than the array";
    if (!(s->variant & BLM_CHAIN_FORCE64))
        return "the hash has 32 bits, as before RedisBloom 1.1.1: past some 10^8 keys the rate "
               "grows";
    return NULL;
}

const struct blm__scheme blm__scheme_redisbloom = {
    .row            = { sizeof(blm_scheme_row), "redisbloom",
                        "RedisBloom BF.*: layers, MurmurHash64A (or MurmurHash2) twice, a + i·b",
                        "a key that is falsely answered maybe is not stored; each new layer halves the "
                                   "rate and so takes one more probe",
                        NULL, true, .kinds = 1u << BLM_SCALABLE, .format = "redisbloom" },
    .variants       = true,
    .version        = 1,
    .digest_variant = BLM_CHAIN_FORCE64,
    .fixed_variant  = BLM_CHAIN_NO_SCALING,
    .model          = BLM_MODEL_DOUBLE,
    .in_step        = { 0.4, 1.6 },
    .layers         = BLM_CHAIN_MAX_LAYERS,
    .digest         = digest,
    .positions      = positions,
    .positions_raw  = positions_raw,
    .modulus        = modulus,
    .wrap           = 64,
    .pairs          = pairs,
    .reduce         = reduce,
    .plan           = plan,
    .grow           = grow,
    .reach          = modulus,
    .fault          = fault,
    .notice         = notice,
};
