/* SPDX-License-Identifier: MIT */
/* What all plans have in common, and the plan of kinds whose probes may fall anywhere: see
 * plan.h. */
#include "maths/plan.h"

#include <inttypes.h>
#include <math.h>

#include "bloomery/maths.h"
#include "core/error.h"
#include "maths/cover.h"
#include "maths/sizing.h"

/* ---- shared ---- */

uint64_t blm__greatest(bool (*holds)(const void *ctx, uint64_t x), const void *ctx, uint64_t guess,
                       uint64_t most)
{
    uint64_t low = 0, high = most, step = 1; /* holds(low), and not beyond high */
    if (guess > most)
        guess = most;
    if (holds(ctx, guess)) {
        for (low = guess; low < most; step *= 2) {
            uint64_t next = most - low > step ? low + step : most;
            if (!holds(ctx, next)) {
                high = next - 1;
                break;
            }
            low = next;
        }
    } else {
        for (high = guess - 1; high > 0; step *= 2) {
            uint64_t next = high > step ? high - step : 0;
            if (next == 0 || holds(ctx, next)) {
                low = next;
                break;
            }
            high = next - 1;
        }
    }
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        if (holds(ctx, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static blm_status read_size(const blm_options *o, uint32_t cell_bits, uint64_t unit,
                            struct blm__want *out, blm_error *err)
{
    const uint64_t most = BLM__MAX_BITS / cell_bits / unit * unit;
    if (o->bits > most)
        return blm__fail(err, BLM_E_LIMIT,
                         "bits = %" PRIu64 " is more than the %" PRIu64
                         " that one filter can have; split the keys over several filters",
                         o->bits, most);
    out->cells     = (o->bits + unit - 1) / unit * unit;
    uint64_t bytes = o->memory; /* of which whole words are used */
    if (!o->bits && !o->memory && o->words)
        bytes = o->word_count < BLM__MAX_BITS / 64 ? o->word_count * 8 : BLM__MAX_BITS / 8;
    if (bytes == 0)
        return BLM_OK;
    uint64_t fits = bytes < BLM__MAX_BITS / 8 ? bytes / 8 * 64 / cell_bits / unit * unit : most;
    if (o->bits && out->cells > fits)
        return blm__fail(err, BLM_E_LIMIT,
                         "bits = %" PRIu64 " does not fit memory = %" PRIu64
                         " bytes; give one of the two, or more memory",
                         o->bits, bytes);
    if (!o->bits)
        out->cells = fits;
    if (out->cells == 0)
        return blm__fail(err, BLM_E_LIMIT, "%" PRIu64 " bytes hold no filter; give at least %u",
                         bytes, (unsigned)((unit * cell_bits + 63) / 64 * 8));
    return BLM_OK;
}

blm_status blm__want_read(const blm_options *o, uint32_t cell_bits, uint64_t unit,
                          struct blm__want *out, blm_error *err)
{
    *out = (struct blm__want){ o->items, o->rate, 0, o->probes, o->lines };
    if (o->rate != 0 && !(o->rate > 0 && o->rate < 1))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "rate must be between 0 and 1, not %g; 0.01 is one in a hundred", o->rate);
    if (o->probes > BLM__MAX_PROBES)
        return blm__fail(err, BLM_E_ARGUMENT, "probes = %" PRIu32 " is more than the %u allowed",
                         o->probes, BLM__MAX_PROBES);
    blm_status s = read_size(o, cell_bits, unit, out, err);
    if (s != BLM_OK || out->cells > 0)
        return s;
    if (out->items == 0)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "items is 0 and no size is given; give the number of keys (items) and how "
                         "often maybe may be wrong (rate), or give bits or memory");
    if (out->rate == 0)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "items = %" PRIu64 " alone is not enough; give rate, memory or bits too",
                         out->items);
    return BLM_OK;
}

/* Two digits, rounded up. */
static double rounded_up(double rate)
{
    double unit = pow(10, floor(log10(rate)) - 1);
    return ceil(rate / unit * (1 + 1e-9)) * unit;
}

blm_status blm__want_hashes(const blm_options *o, double share, blm__again_fn again,
                            const void *ctx, blm_error *err)
{
    double      rate    = o->rate > 0 ? o->rate : BLM__DEFAULT_RATE;
    double      collide = ldexp((double)o->items, -64), least = 2 * collide / share;
    blm_options higher = *o;
    blm_plan    p      = { .size = sizeof p };
    bool        fewer  = ldexp(1, -63) / share <= rate; /* a single key could have this rate */
    const char *s      = o->items == 1 ? "" : "s";
    if (least <= rate)
        return BLM_OK;
    if (collide >= 0.5)
        return blm__fail(err, BLM_E_LIMIT,
                         "items = %" PRIu64 " is as many as there are 64-bit hashes; split the "
                         "keys over several filters",
                         o->items);
    higher.rate = rounded_up(least);
    if (!err || higher.rate >= 1 || again(ctx, &higher, &p) != BLM_OK || !p.fits)
        return blm__fail(
            err, BLM_E_LIMIT, "%" PRIu64 " key%s with 64-bit hashes cannot reach a rate of %g; %s",
            o->items, s, rate, fewer ? "split the keys over several filters" : "raise the rate");
    return blm__fail(err, BLM_E_LIMIT,
                     "%" PRIu64 " key%s with 64-bit hashes cannot reach a rate of %g; ask for at "
                     "least %.2g%s",
                     o->items, s, rate, higher.rate, fewer ? ", or for fewer keys" : "");
}

blm_status blm__want_less(const struct blm__want *w, blm_error *err)
{
    bool one = w->items == 1;
    return blm__fail(err, BLM_E_LIMIT,
                     "%" PRIu64
                     " key%s at a rate of %g need%s more than 2^48 bits; raise the rate%s%s",
                     w->items, one ? "" : "s", w->rate, one ? "s" : "",
                     w->probes ? ", or the number of probes" : "",
                     one ? "" : ", or split the keys over several filters");
}

static uint64_t bytes_of(uint64_t cells, uint32_t cell_bits)
{
    return (cells * cell_bits + 63) / 64 * 8;
}

blm_status blm__plan_finish(const blm_options *o, uint32_t cell_bits, double asked, uint64_t needed,
                            blm_plan *out, blm_error *err)
{
    out->asked         = asked;
    out->bytes         = bytes_of(out->bits, cell_bits);
    out->fits          = asked == 0 || out->rate <= asked;
    out->bytes_needed  = asked == 0             ? 0
                         : needed == UINT64_MAX ? UINT64_MAX
                                                : bytes_of(needed, cell_bits);
    out->bits_per_item = (double)out->bits * cell_bits / (double)out->items;
    if (o->max_bytes && out->bytes > o->max_bytes)
        return blm__fail(err, BLM_E_LIMIT,
                         "the filter takes %" PRIu64 " bytes, more than the limit of %" PRIu64
                         "; raise that, or ask for fewer items or a higher rate",
                         out->bytes, o->max_bytes);
    return BLM_OK;
}

/* ---- probes anywhere ---- */

/* A plan with one number still missing: the context of a search. */
struct cells {
    uint64_t m, n;
    uint32_t k;
    double   p;
    uint64_t unit;
};

static bool holds_keys(const void *ctx, uint64_t n)
{
    const struct cells *c = ctx;
    return blm__rate_classic(c->m, c->k, n) <= c->p;
}

static bool too_small(const void *ctx, uint64_t units)
{
    const struct cells *c = ctx;
    return units == 0 || blm__rate_classic(units * c->unit, c->k, c->n) > c->p;
}

/* The least m, a multiple of unit, for n keys at rate p with k probes; UINT64_MAX: there is none.
 * The usual formula is only a few cells off, so the search takes few steps. */
static uint64_t least_cells(uint64_t n, double p, uint32_t k, uint64_t unit, uint64_t most)
{
    struct cells c     = { 0, n, k, p, unit };
    double       room  = p - ldexp((double)n, -64); /* for the probes themselves */
    double       usual = -(double)k * (double)n / log1p(-pow(room, 1.0 / k));
    if (!(usual <= (double)most))
        return UINT64_MAX;
    uint64_t units = blm__greatest(too_small, &c, (uint64_t)usual / unit, most / unit) + 1;
    return units > most / unit ? UINT64_MAX : units * unit;
}

/* The probes worth trying at a rate: −log2 p, rounded either way, and (small filters) one less. */
static uint32_t fewest_probes(double p)
{
    double k = floor(-log2(p)) - 1;
    return k < 1 ? 1 : k > BLM__COVER_MAX ? BLM__COVER_MAX : (uint32_t)k;
}

/* k = 0: the best k. Of two with the same m, the smaller. */
static uint64_t best_cells(uint64_t n, double p, uint32_t *k, uint64_t unit, uint64_t most)
{
    if (*k > 0)
        return least_cells(n, p, *k, unit, most);
    uint64_t best  = UINT64_MAX;
    uint32_t first = fewest_probes(p);
    *k             = first;
    for (uint32_t i = first; i <= first + 2 && i <= BLM__COVER_MAX; i++) {
        uint64_t m = least_cells(n, p, i, unit, most);
        if (m < best) {
            best = m;
            *k   = i;
        }
    }
    return best;
}

/* The best k for n keys in m cells: m/n·ln 2, rounded either way. If the filter is so large that
 * only hash collisions are left of the rate, no more probes than it takes to get there. */
static uint32_t probes_at(uint64_t m, uint64_t n)
{
    double   exact = (double)m / (double)n * BLM__LN2;
    uint32_t k     = exact < 1 ? 1 : exact > BLM__COVER_MAX ? BLM__COVER_MAX : (uint32_t)exact;
    if (k < BLM__COVER_MAX && blm__rate_classic(m, k + 1, n) < blm__rate_classic(m, k, n))
        k++;
    double collide = ldexp((double)n, -64);
    while (k > 1 && blm__rate_usual(m, k - 1, n) < collide / 1000)
        k--;
    return k;
}

/* Size and keys are given. */
static blm_status plan_rate(const struct blm__want *w, blm_plan *out)
{
    out->bits   = w->cells;
    out->items  = w->items;
    out->probes = w->probes ? w->probes : probes_at(w->cells, w->items);
    out->rate   = blm__rate_classic(out->bits, out->probes, out->items);
    return BLM_OK;
}

static uint64_t most_keys(uint64_t m, uint32_t k, double p)
{
    struct cells c     = { m, 0, k, p, 1 };
    uint64_t     guess = 0;
    blm_capacity_for(m, k, p, &guess);
    double hashes = ldexp(p, 64); /* as many collide at this rate, whatever m is */
    if (hashes < (double)guess)
        guess = (uint64_t)hashes;
    return blm__greatest(holds_keys, &c, guess, UINT64_MAX);
}

/* How many keys set half of the cells, on average: (1 − 1/m)^(kn) = 1/2. */
static uint64_t half_full(uint64_t m, uint32_t k)
{
    return m < 2 ? 0 : (uint64_t)(-BLM__LN2 / ((double)k * log1p(-1 / (double)m)));
}

/* Size is given, keys are not: how many fit. */
static blm_status plan_items(const struct blm__want *w, double p, blm_plan *out, blm_error *err)
{
    out->bits   = w->cells;
    out->probes = w->probes;
    out->items  = 0;
    if (p == 0) {
        out->items = half_full(w->cells, w->probes);
        out->items += out->items == 0; /* more probes than half of the cells */
    } else if (w->probes) {
        out->items = most_keys(w->cells, w->probes, p);
    } else {
        uint32_t first = fewest_probes(p);
        for (uint32_t k = first; k <= first + 2 && k <= BLM__COVER_MAX; k++) {
            uint64_t n = most_keys(w->cells, k, p);
            if (n > out->items || out->probes == 0) {
                out->items  = n;
                out->probes = k;
            }
        }
    }
    if (out->items == 0)
        return blm__fail(err, BLM_E_LIMIT,
                         "%" PRIu64 " cells cannot hold one key at a rate of %g%s; give more, or a "
                         "higher rate",
                         w->cells, p, w->probes ? " with these probes" : "");
    out->rate = blm__rate_classic(out->bits, out->probes, out->items);
    return BLM_OK;
}

static blm_status again(const void *cell_bits, const blm_options *o, blm_plan *out)
{
    return blm__plan_cells(o, *(const uint32_t *)cell_bits, out, NULL);
}

blm_status blm__plan_cells(const blm_options *o, uint32_t cell_bits, blm_plan *out, blm_error *err)
{
    const uint64_t   unit = 64 / cell_bits, most = BLM__MAX_BITS / cell_bits;
    struct blm__want w;
    blm_status       s = blm__want_read(o, cell_bits, 1, &w, err);
    if (s != BLM_OK)
        return s;
    double asked = w.rate;
    if (w.items == 0 && w.rate == 0 && w.probes == 0)
        asked = BLM__DEFAULT_RATE;
    out->lines = 0;
    out->model = BLM_MODEL_INDEPENDENT;
    if (w.cells)
        s = w.items ? plan_rate(&w, out) : plan_items(&w, asked, out, err);
    else
        s = blm__want_hashes(o, 1, again, &cell_bits, err);
    if (s != BLM_OK)
        return s;
    uint64_t needed = w.cells;
    uint32_t k      = w.probes;
    if (w.items > 0 && w.rate > 0)
        needed = ldexp((double)w.items, -64) <= w.rate / 2
                     ? best_cells(w.items, w.rate, &k, unit, most)
                     : UINT64_MAX;
    if (!w.cells) {
        if (needed == UINT64_MAX)
            return blm__want_less(&w, err);
        out->bits   = needed;
        out->items  = w.items;
        out->probes = k;
        out->rate   = blm__rate_classic(needed, k, w.items);
    }
    return blm__plan_finish(o, cell_bits, asked, needed, out, err);
}
