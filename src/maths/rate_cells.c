/* SPDX-License-Identifier: MIT */
/*
 * The rate of probes that may fall anywhere in m bits.
 *
 * independent   every probe of every key is uniform and independent: E[(X/m)^k], X being the
 *               number of set bits after kn throws. Exact for k ≤ 64, by maths/cover.h; beyond
 *               that, bounded by Jensen's inequality and negative association.
 * double        probes a + i·b mod m, b ≠ 0. A key's probes are in step, so one member can cover
 *               many probes of one question. The part without such members is exact (k ≤ 64); what
 *               they add is taken to first order, which enumeration of every pair of keys confirms
 *               (tests/unit/maths/test_rate_cells.c).
 *
 * docs/maths.md has the derivations under the same names.
 */
#include <math.h>
#include <string.h>

#include "bloomery/maths.h"
#include "maths/cover.h"
#include "maths/sizing.h"

double blm__rate_usual(uint64_t m, uint32_t k, uint64_t n)
{
    return pow(-expm1(-(double)k * (double)n / (double)m), (double)k);
}

double blm__with_collisions(double rate, uint64_t n)
{
    return rate + (1 - rate) * ldexp((double)n, -64);
}

static void certain(blm_rate *out, double rate)
{
    out->value = out->low = out->high = rate;
    out->method                       = BLM_BY_SUM;
}

static double clamp(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

/* ---- independent ---- */

/* on[j]: the chance that k throws at m cells meet exactly j different ones, j ≤ min(k, m). */
static uint32_t throws_meet(uint64_t m, uint32_t k, double *on)
{
    const double cells = (double)m;
    uint32_t     most  = k < m ? k : (uint32_t)m;
    memset(on, 0, (most + 1) * sizeof *on);
    on[0] = 1;
    for (uint32_t t = 0; t < k; t++) {
        for (uint32_t j = t + 1 < most ? t + 1 : most; j > 0; j--)
            on[j] = on[j] * (double)j / cells + on[j - 1] * (cells - (double)(j - 1)) / cells;
        on[0] = 0;
    }
    return most;
}

/* One step of the chain is one throw; kn of them. A product past 2^64 is past every m we take. */
static double independent_exact(uint64_t m, uint32_t k, uint64_t n)
{
    double            on[BLM__COVER_MAX + 1], all[BLM__COVER_MAX + 1];
    struct blm__cover c;
    uint64_t          throws = n > UINT64_MAX / k ? UINT64_MAX : n * k;
    c.bits                   = throws_meet(m, k, on);
    for (uint32_t j = 1; j <= c.bits; j++) {
        for (uint32_t i = 0; i + 1 < j; i++)
            *blm__cover_at(&c, j, i) = 0;
        *blm__cover_at(&c, j, j - 1) = (double)j / (double)m;
        c.log_stay[j]                = log1p(-(double)j / (double)m);
    }
    blm__cover_power(&c, throws, all);
    double sum = 0;
    for (uint32_t j = 1; j <= c.bits; j++)
        sum += on[j] * all[j];
    return sum < 1 ? sum : 1;
}

/* Past 64 probes. x^k is convex: the rate is at least q^k (Jensen). Set bits repel each other
 * (negative association): j given ones are all set with chance at most q^j. */
static void independent_bound(uint64_t m, uint32_t k, uint64_t n, blm_rate *out)
{
    double       on[BLM__MAX_PROBES + 1];
    const double cells = (double)m, throws = (double)k * (double)n;
    double       q = -expm1(throws * log1p(-1 / cells)), power = 1, high = 0;
    uint32_t     most = throws_meet(m, k, on);
    for (uint32_t j = 1; j <= most; j++)
        high += on[j] * (power *= q);
    /* To second order in the spread of the fill, whose variance is that of the throws. */
    double load = throws / cells, clear = 1 - q;
    double variance = clear * (1 - (1 + load) * clear) / cells;
    out->low        = pow(q, (double)k);
    out->high       = fmin(fmax(high, out->low), 1);
    out->value      = q > 0 ? out->low * (1 + 0.5 * (double)k * (k - 1.0) * variance / (q * q)) : 0;
    out->value      = clamp(out->value, out->low, out->high);
    out->method     = BLM_BY_BOUND;
}

void blm__model_independent(uint64_t m, uint32_t k, uint64_t n, blm_rate *out)
{
    if (n == 0)
        certain(out, 0);
    else if (k <= BLM__COVER_MAX)
        certain(out, independent_exact(m, k, n));
    else
        independent_bound(m, k, n, out);
}

double blm__rate_classic(uint64_t m, uint32_t k, uint64_t n)
{
    blm_rate r;
    blm__model_independent(m, k, n, &r);
    return blm__with_collisions(r.value, n);
}

/* ---- double ---- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a          = b;
        b          = t;
    }
    return a;
}

/* Euler's φ: how many steps b have order d, for each d that divides m. */
static double totient(uint32_t d)
{
    uint32_t left = d, result = d;
    for (uint32_t p = 2; p * p <= left; p++) {
        if (left % p)
            continue;
        result -= result / p;
        while (left % p == 0)
            left /= p;
    }
    if (left > 1)
        result -= result / left;
    return result;
}

/* order[d]: the chance that a key's k probes fall on exactly d bits, because its step comes back
 * to the start after d. Returns the most bits there can be. */
static uint32_t step_orders(uint64_t m, uint32_t k, double *order)
{
    uint32_t most = k < m ? k : (uint32_t)m;
    double   rest = 1;
    memset(order, 0, (most + 1) * sizeof *order);
    for (uint32_t d = 2; d < most; d++) {
        if (m % d == 0)
            order[d] = totient(d) / (double)(m - 1);
        rest -= order[d];
    }
    order[most] = rest > 0 ? rest : 0;
    return most;
}

/* The row of j clear bits: a key sets d different bits of m, drawn one after the other. */
static void double_row(struct blm__cover *c, uint64_t m, const double *order, uint32_t j)
{
    double  hit[BLM__COVER_MAX + 1] = { 1 }; /* hit[h]: h of the j are among those drawn so far */
    double  log_miss = 0, change = 0;
    double *row = blm__cover_at(c, j, 0);
    memset(row, 0, j * sizeof *row);
    for (uint32_t d = 1; d <= c->bits; d++) {
        double left = (double)(m - d + 1);
        log_miss    = left > j ? log_miss + log1p(-(double)j / left) : -INFINITY;
        for (uint32_t h = j; h > 0; h--)
            hit[h] = hit[h] * (1 - (j - h) / left) + hit[h - 1] * (j - h + 1) / left;
        hit[0] *= left > j ? 1 - j / left : 0;
        change += order[d] * expm1(log_miss);
        for (uint32_t h = 1; h <= j; h++)
            row[j - h] += order[d] * hit[h];
    }
    c->log_stay[j] = log1p(change > -1 ? change : -1);
}

/* The rate as if members met a question's bits no more than pairwise; *fill: one bit's chance. */
static double double_exact(uint64_t m, uint32_t k, uint64_t n, double *fill)
{
    double            order[BLM__COVER_MAX + 1], all[BLM__COVER_MAX + 1], sum = 0;
    struct blm__cover c;
    c.bits = step_orders(m, k, order);
    for (uint32_t j = 1; j <= c.bits; j++)
        double_row(&c, m, order, j);
    blm__cover_power(&c, n, all);
    for (uint32_t d = 1; d <= c.bits; d++)
        sum += order[d] * all[d];
    *fill = all[1];
    return sum < 1 ? sum : 1;
}

/* What a member that covers s of k bits adds to q^k, beyond its share of single bits (and, with
 * `pairs`, of pairs): q^k · Σ_{j ≥ 2 or 3} C(s, j)·((1 − q)/q)^j. */
static double cover_gain(double q, uint32_t k, uint32_t s, bool pairs)
{
    double clear = 1 - q;
    double gain  = pow(q, k - s) - pow(q, k) - s * clear * pow(q, k - 1.0);
    if (pairs)
        gain -= 0.5 * s * (s - 1.0) * clear * clear * pow(q, k - 2.0);
    return gain > 0 ? gain : 0;
}

/* Pairs of points (x, y) of a k × k square that lie t steps of (dx, dy) apart. */
static double pairs_apart(uint32_t k, uint32_t dx, uint32_t dy, uint32_t t)
{
    uint64_t w = (uint64_t)t * dx, h = (uint64_t)t * dy;
    return w < k && h < k ? (double)(k - w) * (double)(k - h) : 0;
}

/* Members in step with the question: probe i + dx of one is probe u ± dy of the other whenever
 * probe i is probe u. A step longer than 64 covers so few that it is left out. */
static double members_in_step(uint64_t m, uint32_t k, double q)
{
    uint32_t far = k - 1 < BLM__COVER_MAX ? k - 1 : BLM__COVER_MAX;
    double   sum = 0, pair = (1 - q) * (1 - q) * pow(q, k - 2.0);
    for (uint32_t dx = 1; dx <= far; dx++) {
        for (uint32_t dy = 1; dy <= far; dy++) {
            uint32_t c = (uint32_t)gcd(dx, dy);
            sum += 2 * ((double)gcd(c, m) - 1) * pairs_apart(k, dx, dy, 1) * pair;
            if (m % c)
                continue;
            double runs;
            for (uint32_t s = 3; pairs_apart(k, dx, dy, s - 1) > 0; s++) {
                runs = pairs_apart(k, dx, dy, s - 1) - 2 * pairs_apart(k, dx, dy, s) +
                       pairs_apart(k, dx, dy, s + 1);
                if (runs > 0)
                    sum += 2 * totient(c) * runs * cover_gain(q, k, s, true);
            }
        }
    }
    return sum;
}

/* Questions whose step has a small order d, and members that come back to those d bits every e
 * probes; less the pairs already counted. Felt where m is small and has many divisors. */
static double members_in_subgroup(uint64_t m, uint32_t k, double q)
{
    double sum = 0;
    for (uint32_t d = 2; d <= k && d < m; d++) {
        if (m % d)
            continue;
        double here = -0.5 * d * (d - 1.0) * k * (k - 1.0) * (1 - q) * (1 - q) * pow(q, d - 2.0);
        for (uint32_t e = 1; e < k; e++)
            if (m / d % e == 0)
                here += (e == 1 ? d * (d - 1.0) : (double)d * d * e * totient(e)) *
                        cover_gain(q, d, k / e < d ? k / e : d, false);
        sum += totient(d) * fmax(here, 0);
    }
    return sum / (double)m;
}

/* The part without members in step past 64 probes, where it is not computed but bounded. Below: as
 * many set bits as expected, no spread, no short orders. Above: no repulsion. */
static double double_wide(uint64_t m, uint32_t most, uint64_t n, double *fill, double *low)
{
    double order[BLM__MAX_PROBES + 1], base = 0;
    step_orders(m, most, order);
    *fill = -expm1((double)n * log1p(-(double)most / (double)m));
    for (uint32_t d = 2; d <= most; d++)
        base += order[d] * pow(*fill, d);
    double set = -expm1((double)n * log1p(-order[most] * most / (double)m)) * (double)m;
    *low       = order[most];
    for (uint32_t i = 0; i < most; i++)
        *low *= fmax(set - i, 0) / ((double)m - i);
    *low = fmin(*low, base);
    return base;
}

/* How far to trust the first order: terms of relative size k²/m are left out. Where a filter has
 * fewer than eight bits a probe, nothing is small, and only the order of magnitude is promised. */
static void double_bounds(uint64_t m, uint32_t most, double base, double low, double extra,
                          blm_rate *out)
{
    double slack = 2 * (double)most * most / (double)m;
    out->value   = fmin(base + extra, 1);
    out->low     = low + extra * (1 - fmin(slack, 1));
    out->high    = fmin(base + extra * (1 + fmin(slack, 2)), 1);
    if (m < 8 * (uint64_t)most && most > 1) {
        out->low *= 0.5;
        out->high = fmin(out->high + 0.25 * base, 1);
    }
    out->low    = fmin(out->low, out->value);
    out->method = out->low < out->high ? BLM_BY_BOUND : BLM_BY_SUM;
}

void blm__model_double(uint64_t m, uint32_t k, uint64_t n, blm_rate *out)
{
    if (n == 0 || m == 1) {
        certain(out, n != 0);
        return;
    }
    uint32_t most = k < m ? k : (uint32_t)m; /* a key has no more bits than there are */
    double   q, low, base, extra = 0;
    if (most <= BLM__COVER_MAX)
        low = base = double_exact(m, k, n, &q);
    else
        base = double_wide(m, most, n, &q, &low);
    if (most > 1)
        extra = members_in_step(m, most, q) + members_in_subgroup(m, most, q);
    double_bounds(m, most, base, low, extra * (double)n / (double)m / (double)m, out);
}
