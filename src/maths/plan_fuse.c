/* SPDX-License-Identifier: MIT */
/*
 * Static: how many cells, and fingerprints of how many bits.
 *
 * The rate is 2^-f, so f follows from the rate, and the number of cells from the keys alone. Three
 * cells a key can be worked out as long as there are somewhat more cells than keys: 1.09 per key in
 * the limit, where a key's cells lie close together and the whole is long (Dietzfelbinger and
 * Walzer, 2019). A million keys take 1.126, small sets more; docs/maths.md, "Static", has how often
 * that is enough. Where it is not, others are tried, and then more cells.
 *
 * Keys are built in parts of one to two million, each by itself: in memory that does not grow with
 * their number, and by several threads. The largest part decides how many cells all have.
 */
#include <inttypes.h>
#include <math.h>

#include "core/error.h"
#include "core/kernel/fuse.h"
#include "maths/fuse.h"
#include "maths/plan.h"
#include "maths/sizing.h"

double blm__rate_fuse(uint32_t bits, uint64_t n)
{
    return blm__with_collisions(ldexp(1, -(int)bits), n);
}

uint64_t blm__fuse_parts(uint64_t n) { return n < 2 * BLM__FUSE_PART ? 1 : n / BLM__FUSE_PART; }

/* The two formulas were fitted to trials with 1 to 2^21 keys. */
struct blm__fuse_size blm__fuse_size_of(uint64_t n)
{
    struct blm__fuse_size s    = { 2, 2 * BLM__FUSE_PROBES };
    double                some = n > 1 ? (double)n : 2, factor = 0.863 + 1.5 / log10(some);
    int                   exponent = (int)(log(some) / log(3.33) + 1.25);
    factor                         = factor < 1.125 ? 1.125 : factor > 2.4 ? 2.4 : factor;
    s.segment                      = (uint64_t)1 << exponent;
    if (s.segment > BLM__SEGMENT_MOST)
        s.segment = BLM__SEGMENT_MOST;
    uint64_t segments = (uint64_t)ceil((double)n * factor / (double)s.segment);
    s.cells           = (segments < BLM__FUSE_PROBES ? BLM__FUSE_PROBES : segments) * s.segment;
    return s;
}

void blm__fuse_enlarge(struct blm__fuse_size *s)
{
    uint64_t segments = s->cells / s->segment;
    s->cells += (segments / 32 + 1) * s->segment;
}

#define TIGHT_MOST ((uint64_t)1 << 18)
#define TIGHT      1.13 /* cells a key: fewer never do when keys are only taken away */

/* Elimination finds cells as long as there is one for each key and some more: 1.09 a key in the limit
 * (Dietzfelbinger et al., 2010, "Tight thresholds for cuckoo hashing via XORSAT"), and with luck fewer
 * while the keys are few. Segments of √n cells and a bit lose least at both ends. Fitted to trials
 * with 1 to 20,000 keys: 1.04 cells a key are found at 30 to 100 keys, 1.11 to 1.15 from 200 on. */
static struct blm__fuse_size solved_size(uint64_t n)
{
    double                some  = n > 1 ? (double)n : 1;
    struct blm__fuse_size s     = { 1, 0 };
    double                least = some * (n <= 200 ? 1.02 : n <= 2000 ? 1.08 : 1.1);
    while ((double)(s.segment * 2) <= 1.45 * sqrt(some) &&
           (double)(BLM__FUSE_PROBES * s.segment * 2) <= 1.2 * some)
        s.segment *= 2;
    uint64_t segments = (uint64_t)ceil(least / (double)s.segment);
    s.cells           = (segments < BLM__FUSE_PROBES ? BLM__FUSE_PROBES : segments) * s.segment;
    return s;
}

/* Above, the formulas allow for bad luck at the first try. With sixteen tries, 20,000 keys can nearly
 * always be built with 1.18 cells each in place of 1.23. */
struct blm__fuse_size blm__fuse_tight_of(uint64_t n)
{
    if (n <= BLM__SOLVE_MOST)
        return solved_size(n);
    struct blm__fuse_size s        = blm__fuse_size_of(n);
    uint64_t              segments = s.cells / s.segment;
    uint64_t              least    = (uint64_t)ceil((double)n * TIGHT / (double)s.segment);
    if (n > TIGHT_MOST)
        return s;
    segments -= segments / 10 + 1;
    segments = segments < least ? least : segments;
    s.cells  = segments * s.segment;
    return s;
}

/* A try costs about as much as its keys: of small parts, many can be made. */
uint32_t blm__fuse_tries(uint64_t n, bool tight)
{
    if (!tight || n > BLM__SOLVE_MOST)
        return 16;
    return n < 100 ? 400 : n > 2500 ? 16 : (uint32_t)(40000 / n);
}

void blm__fuse_enlarge_little(struct blm__fuse_size *s)
{
    uint64_t segments = s->cells / s->segment;
    s->cells += (segments / 128 + 1) * s->segment;
}

/* The largest of many parts, as a rule. */
static uint64_t largest_part(uint64_t n, uint64_t parts)
{
    double mean = (double)n / (double)parts;
    return parts == 1 ? n : (uint64_t)ceil(mean + 3 * sqrt(mean));
}

uint64_t blm__fuse_cells(uint64_t n)
{
    uint64_t parts = blm__fuse_parts(n);
    return blm__fuse_size_of(largest_part(n, parts)).cells * parts;
}

uint64_t blm__fuse_tight_cells(uint64_t n)
{
    return n > TIGHT_MOST ? blm__fuse_cells(n) : blm__fuse_tight_of(n).cells;
}

static uint64_t bytes_of(uint64_t n, uint32_t bits) /* blm__shape_words */
{
    return ((blm__fuse_cells(n) * bits + 63) / 64 + blm__fuse_parts(n) + 1) * 8;
}

struct room {
    uint64_t bytes;
    uint32_t bits;
};

static bool holds(const void *ctx, uint64_t n)
{
    const struct room *r = ctx;
    return n == 0 || bytes_of(n, r->bits) <= r->bytes;
}

static uint64_t keys_for(uint64_t bytes, uint32_t bits)
{
    struct room r     = { bytes, bits };
    uint64_t    most  = BLM__MAX_BITS / 2 / bits;
    double      guess = (double)bytes * 8 / bits / 1.13;
    return blm__greatest(holds, &r, guess < (double)most ? (uint64_t)guess : most, most);
}

uint32_t blm__fuse_bits(uint64_t n, double rate)
{
    for (uint32_t f = 1; f <= BLM__FUSE_BITS_MOST; f++)
        if (blm__rate_fuse(f, n) <= rate)
            return f;
    return 0;
}

static blm_status no_rate(double rate, blm_error *err)
{
    return blm__fail(err, BLM_E_LIMIT,
                     "no static filter has a rate of %g: fingerprints of %u bits give %.2g; use a "
                     "classic or blocked filter",
                     rate, BLM__FUSE_BITS_MOST, blm__rate_fuse(BLM__FUSE_BITS_MOST, 1));
}

/* Without a rate, the longest fingerprints that fit. */
static blm_status solve(const blm_options *o, double rate, uint64_t *n, uint32_t *bits,
                        blm_error *err)
{
    *n    = o->items;
    *bits = blm__fuse_bits(*n, rate);
    if (o->items && o->memory && o->rate == 0)
        for (*bits = BLM__FUSE_BITS_MOST; *bits > 1 && bytes_of(*n, *bits) > o->memory;)
            --*bits;
    if (*bits == 0)
        return no_rate(rate, err);
    if (!o->items)
        *n = keys_for(o->memory, *bits);
    if (*n == 0 || *n > BLM__MAX_BITS / 2 / *bits)
        return blm__fail(err, BLM_E_LIMIT, "%" PRIu64 " keys at a rate of %g do not fit", *n, rate);
    return BLM_OK;
}

static blm_status again(const void *ctx, const blm_options *o, blm_plan *out)
{
    (void)ctx;
    return blm__plan_fuse(o, out, NULL);
}

blm_status blm__plan_fuse(const blm_options *o, blm_plan *out, blm_error *err)
{
    struct blm__want w;
    uint64_t         n    = 0;
    uint32_t         bits = 0;
    if (o->bits || o->probes || o->lines)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "the size of a static filter follows from its keys and the rate: bits, "
                         "probes and lines do not apply");
    blm_status s    = blm__want_read(o, 1, 1, &w, err);
    double     rate = w.rate > 0 ? w.rate : BLM__DEFAULT_RATE;
    if (s == BLM_OK && blm__fuse_bits(1, rate) == 0)
        s = no_rate(rate, err);
    if (s == BLM_OK && w.items)
        s = blm__want_hashes(o, 1, again, NULL, err);
    if (s == BLM_OK)
        s = solve(o, rate, &n, &bits, err);
    if (s != BLM_OK)
        return s;
    out->items  = n;
    out->bits   = blm__fuse_cells(n);
    out->probes = BLM__FUSE_PROBES;
    out->lines  = bits;
    out->model  = BLM_MODEL_FUSE;
    out->rate   = blm__rate_fuse(bits, n);
    out->asked  = w.rate;
    out->bytes  = bytes_of(n, bits);
    out->fits   = (w.rate == 0 || out->rate <= w.rate) && (!o->memory || out->bytes <= o->memory);
    out->bits_per_item = (double)out->bits * bits / (double)n;
    out->bytes_needed  = w.rate > 0 ? out->bytes : 0;
    if (o->max_bytes && out->bytes > o->max_bytes)
        return blm__fail(err, BLM_E_LIMIT,
                         "the filter takes %" PRIu64 " bytes, more than the limit of %" PRIu64
                         "; raise that, or ask for fewer items or a higher rate",
                         out->bytes, o->max_bytes);
    return BLM_OK;
}
