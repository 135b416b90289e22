/* SPDX-License-Identifier: MIT */
/*
 * Cuckoo: how many buckets of four, and fingerprints of how many bits.
 *
 * A question looks at eight cells, and each that is in use holds one of 2^f − 1 fingerprints: the
 * rate is 1 − (1 − 1/(2^f − 1))^(8·fill). So f follows from the rate, and the number of cells from
 * the keys alone: 95% of the cells are used, less in small tables, where chance weighs more. With
 * these numbers no key of 2·10^7 was refused, n from 9 to 10 000 (docs/maths.md, "Cuckoo").
 */
#include <inttypes.h>
#include <math.h>

#include "core/error.h"
#include "core/kernel/buckets.h"
#include "maths/plan.h"
#include "maths/sizing.h"

#define FILL    0.95
#define SPARE   48.0 /* cells beside, from 144 keys on */
#define UNIT    (2 * BLM__BUCKET)
#define MILLION ((uint64_t)1 << 20)

double blm__rate_buckets(uint64_t cells, uint32_t bits, uint64_t n)
{
    double fill   = n < cells ? (double)n / (double)cells : 1;
    double prints = ldexp(1, (int)bits) - 1;
    return blm__with_collisions(-expm1(UNIT * fill * log1p(-1 / prints)), n);
}

/* Eight keys always find room in two buckets. */
static uint64_t cells_for(uint64_t n)
{
    if (n <= UNIT)
        return UNIT;
    double spare = 4 * sqrt((double)n), cells = (double)n / FILL + (spare < SPARE ? spare : SPARE);
    return (uint64_t)ceil(cells / UNIT) * UNIT;
}

static bool holds(const void *cells, uint64_t n)
{
    return cells_for(n) <= *(const uint64_t *)cells;
}

static uint64_t keys_for(uint64_t cells)
{
    return blm__greatest(holds, &cells, (uint64_t)((double)cells * FILL), cells);
}

/* Few fingerprints make few pairs of buckets, and large tables then fill before 95%. */
static uint32_t least_bits(uint64_t n)
{
    return BLM__FINGERPRINT_MIN + (n > (uint64_t)1 << 25) + (n > (uint64_t)1 << 32);
}

/* 0: no fingerprint is long enough. */
static uint32_t bits_for(uint64_t cells, uint64_t n, double rate)
{
    for (uint32_t f = least_bits(n); f <= BLM__FINGERPRINT_MAX; f++)
        if (blm__rate_buckets(cells, f, n) <= rate)
            return f;
    return 0;
}

static uint64_t bytes_of(uint64_t cells, uint32_t bits) /* blm__shape_words */
{
    return ((cells * bits + 63) / 64 + 1) * 8;
}

/* The cells that fit; 0: none. */
static uint64_t cells_in(uint64_t bytes, uint32_t bits)
{
    uint64_t most = bytes < BLM__MAX_BITS / 8 ? bytes : BLM__MAX_BITS / 8;
    return most < 16 ? 0 : (most - 8) * 8 / bits / UNIT * UNIT;
}

struct table {
    uint64_t cells, n;
    uint32_t bits;
};

static blm_status no_rate(double rate, blm_error *err)
{
    return blm__fail(err, BLM_E_LIMIT,
                     "no cuckoo filter has a rate of %g: fingerprints of %u bits give %.2g; use a "
                     "classic or blocked filter",
                     rate, BLM__FINGERPRINT_MAX,
                     blm__rate_buckets(UNIT, BLM__FINGERPRINT_MAX, UNIT));
}

/* A million keys fill a table as more of them do, and hardly collide. */
blm_status blm__want_fingerprints(uint64_t items, double rate, blm_error *err)
{
    uint64_t n = items < MILLION ? items : MILLION;
    return bits_for(cells_for(n), n, rate) ? BLM_OK : no_rate(rate, err);
}

/* Size, and perhaps keys, are given. Bits count cells. */
static blm_status fit(const blm_options *o, double rate, struct table *t, blm_error *err)
{
    t->bits = least_bits(o->items);
    if (o->items && !o->bits && o->rate == 0) { /* the longest that fit */
        t->cells = cells_for(o->items);
        t->bits  = BLM__FINGERPRINT_MAX;
        while (t->bits > least_bits(o->items) && bytes_of(t->cells, t->bits) > o->memory)
            t->bits--;
    } else {
        uint32_t f = bits_for(UNIT, UNIT, rate); /* for full buckets; fewer may do */
        if (f == 0)
            return no_rate(rate, err);
        t->bits    = f;
        t->cells   = o->bits ? (o->bits + UNIT - 1) / UNIT * UNIT : cells_in(o->memory, f);
        uint64_t n = o->items ? o->items : keys_for(t->cells);
        f          = t->cells && n ? bits_for(t->cells, n, rate) : 0;
        if (f && f != t->bits) {
            t->bits  = f;
            t->cells = o->bits ? t->cells : cells_in(o->memory, f);
        }
    }
    t->n = o->items ? o->items : t->cells ? keys_for(t->cells) : 0;
    if (t->cells == 0 || t->cells < cells_for(t->n) ||
        (o->memory && bytes_of(t->cells, t->bits) > o->memory))
        return blm__fail(err, BLM_E_LIMIT,
                         "%" PRIu64 " keys do not fit: a cuckoo filter has a cell for each, and "
                         "needs %" PRIu64 " bytes",
                         o->items, bytes_of(cells_for(o->items), t->bits));
    return BLM_OK;
}

static blm_status solve(const blm_options *o, double rate, struct table *t, blm_error *err)
{
    if (o->bits || o->memory)
        return fit(o, rate, t, err);
    *t = (struct table){ cells_for(o->items), o->items, 0 };
    if (o->items > BLM__MAX_BITS / UNIT)
        return blm__fail(err, BLM_E_LIMIT, "%" PRIu64 " keys need more than 2^48 bits", o->items);
    t->bits = bits_for(t->cells, o->items, rate);
    return t->bits ? BLM_OK : no_rate(rate, err);
}

static blm_status again(const void *ctx, const blm_options *o, blm_plan *out)
{
    (void)ctx;
    return blm__plan_buckets(o, out, NULL);
}

blm_status blm__plan_buckets(const blm_options *o, blm_plan *out, blm_error *err)
{
    struct blm__want w;
    struct table     t = { 0, 0, 0 };
    blm_status       s = blm__want_read(o, BLM__FINGERPRINT_MIN, 1, &w, err);
    if (s == BLM_OK && o->probes > 1)
        s = blm__fail(err, BLM_E_ARGUMENT,
                      "a key of a cuckoo filter has one cell: probes do not apply");
    double rate = w.rate > 0 ? w.rate : BLM__DEFAULT_RATE;
    if (s == BLM_OK && w.items)
        s = blm__want_fingerprints(w.items, rate, err);
    if (s == BLM_OK && w.items)
        s = blm__want_hashes(o, 1, again, NULL, err);
    if (s == BLM_OK)
        s = solve(o, rate, &t, err);
    if (s != BLM_OK)
        return s;
    if (t.cells > BLM__MAX_BITS / t.bits)
        return blm__fail(err, BLM_E_LIMIT, "%" PRIu64 " keys need more than 2^48 bits", t.n);
    out->items         = t.n;
    out->bits          = t.cells;
    out->probes        = 1;
    out->lines         = t.bits;
    out->model         = BLM_MODEL_BUCKETS;
    out->rate          = blm__rate_buckets(t.cells, t.bits, t.n);
    out->asked         = w.rate;
    out->fits          = w.rate == 0 || out->rate <= w.rate;
    out->bytes         = bytes_of(t.cells, t.bits);
    out->bits_per_item = (double)t.cells * t.bits / (double)t.n;
    uint64_t need      = cells_for(t.n);
    uint32_t bits      = w.rate > 0 ? bits_for(need, t.n, w.rate) : 0;
    out->bytes_needed  = bits ? bytes_of(need, bits) : w.rate > 0 ? UINT64_MAX : 0;
    if (o->max_bytes && out->bytes > o->max_bytes)
        return blm__fail(err, BLM_E_LIMIT,
                         "the filter takes %" PRIu64 " bytes, more than the limit of %" PRIu64
                         "; raise that, or ask for fewer items or a higher rate",
                         out->bytes, o->max_bytes);
    return BLM_OK;
}
