/* SPDX-License-Identifier: MIT */
/*
 * Rates of DCSO's filters whose m is even: the low bits of a key's hash say where several of its probes go.
 * With m = 2^a · odd, all that follows is about residues mod 2^a; modulo the odd part probes are independent.
 * docs/maths.md compares both models with measurements.
 */
#include <math.h>
#include <string.h>

#include "bloomery/maths.h"
#include "core/hash/fnv.h"
#include "scheme/dcso.h"
#include "scheme/scheme.h"

static double independent(const struct blm__shape *s, uint64_t n)
{
    blm_rate r = { .size = sizeof r };
    return blm_rate_of(BLM_MODEL_INDEPENDENT, s->bits, s->probes, 0, n, &r) == BLM_OK ? r.value : 1;
}

static double even_part(const struct blm__shape *s) { return (double)(s->bits & -s->bits); }

/* ---- dcso ----
 *
 * Residue i of a key is c·g^i, c its hash: the powers of g are a ring, and a key's probes are k in a row. Keys that
 * begin d places before or behind ask for the same residues but for d of them. At each they have in common
 * they hit the same cell by the odd part's chance. So a key is passed if windows of keys that begin d = −(k−1) …
 * k−1 places away, a Poisson number at each place, cover all k of its cells. The chance that a set S of the cells is
 * missed is a product over the windows, of how many of S are before and behind each place: so the sum over all
 * S, with changing signs, goes from place to place. */

#define ODD_MOST 4096.0 /* of larger odd parts nothing is left */
#define PROBE_MOST \
    24u /* above, the sum's terms cancel each other, and doubles have not enough digits */

/* Is the ring long enough that a window does not meet its own end? g = 3 mod 8: it has 2^(a−2) places. */
static bool ring(const struct blm__shape *s)
{
    double even = even_part(s);
    return even >= 8 && even / 4 >= 2 * s->probes - 1 && (double)s->bits / even < ODD_MOST;
}

static double covered(const struct blm__shape *s, double n)
{
    const uint32_t k    = s->probes;
    const double   even = even_part(s), miss = log1p(-even / (double)s->bits);
    double         none[PROBE_MOST + 1], sum = 0;
    for (uint32_t c = 0; c <= k; c++) /* no key of a place hits any of c cells */
        none[c] = c ? exp(n / even * expm1(c * miss)) : 1;
    for (uint32_t all = 0; all <= k; all++) {
        double way[PROBE_MOST + 1] = { 1 }; /* sets with so many of the places up to here */
        for (uint32_t place = 1; place <= k; place++)
            for (uint32_t c = all + 1; c-- > 0;)
                way[c] =
                    (way[c] + (c ? way[c - 1] : 0)) * none[c] * (place < k ? none[all - c] : 1);
        sum += all % 2 ? -way[all] : way[all];
    }
    return sum;
}

static double related(const struct blm__shape *s, double n, double usual)
{
    if (s->probes == 0 || s->probes > PROBE_MOST || !ring(s))
        return usual;
    return fmin(fmax(covered(s, n), usual), 1);
}

/* Keys whose windows overlap set fewer bits, and how many do is chance. */
double blm__dcso_keys(const struct blm__shape *s, double fill, double *spread)
{
    const double m = (double)s->bits, k = s->probes, odd = m / even_part(s);
    const double n   = -log1p(-fmin(fill, 1 - 0.5 / m)) * m / k;
    double       sum = 0;
    for (uint32_t j = 1; spread && ring(s) && j < s->probes; j++) {
        double both = n / even_part(s) * j / (odd * odd);
        sum += 2 * odd * (expm1(both) - both);
    }
    if (spread)
        *spread = fill >= 1 ? -1 : n > 0 ? sum * m / (k * k * n) : 0;
    return n;
}

double blm__dcso_rate_at(const struct blm__shape *s, uint64_t n)
{
    return related(s, (double)n, independent(s, n));
}

double blm__dcso_rate_now(const struct blm__layer *l, uint64_t ones)
{
    const double fill = (double)ones / (double)l->shape.bits, usual = pow(fill, l->shape.probes);
    return fill < 1 ? related(&l->shape, blm__dcso_keys(&l->shape, fill, NULL), usual) : usual;
}

/* ---- dcso01 ----
 *
 * The low bits of the second hash depend on those of the first alone. So there are 2^a classes of keys, by the low
 * bits of the first, and position i of a key of class c is c + i·step(c) mod 2^a. Some of these residues get more
 * probes than others, and a key asks where the keys of its own class are. */

#define CLASSES 1024u /* at most: of more bits of the first hash the rate hardly says more */

struct classes {
    uint32_t count; /* 1: m is odd */
    uint32_t step[CLASSES];
    uint32_t load[CLASSES]; /* probes that lead to a residue, of one key of each class */
    double   reach;         /* the share of bits that some probe can lead to */
};

static uint32_t residue(const struct classes *c, uint32_t class, uint32_t probe)
{
    return (class + (probe + 1) * c->step[class]) & (c->count - 1);
}

static void sort_out(const struct blm__shape *s, struct classes *c)
{
    uint32_t led_to = 0;
    memset(c->load, 0, sizeof c->load);
    for (c->count = 1; c->count < CLASSES && s->bits % (2 * c->count) == 0;)
        c->count *= 2;
    for (uint32_t i = 0; i < c->count; i++) {
        c->step[i] =
            (uint32_t)blm__fnv1_64(i, BLM__DCSO_MAGIC, sizeof BLM__DCSO_MAGIC - 1) & (c->count - 1);
        for (uint32_t j = 0; j < s->probes; j++)
            c->load[residue(c, i, j)]++;
    }
    for (uint32_t i = 0; i < c->count; i++)
        led_to += c->load[i] > 0;
    c->reach = (double)led_to / c->count;
}

static double fill_at(const struct blm__shape *s, const struct classes *c, double n)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->count; i++)
        sum -= expm1(-n * c->load[i] / (double)s->bits);
    return sum / c->count;
}

/* Half a bit is left, for an end, where none is. */
static double most_fill(const struct blm__shape *s, const struct classes *c)
{
    return c->reach - 0.5 / (double)s->bits;
}

static double keys_in(const struct blm__shape *s, const struct classes *c, double fill)
{
    double low = 0, high = fill > 0 ? 64 * (double)s->bits : 0;
    fill = fmin(fill, most_fill(s, c));
    for (int i = 0; i < 60; i++) {
        double n = (low + high) / 2;
        if (fill_at(s, c, n) < fill)
            low = n;
        else
            high = n;
    }
    return (low + high) / 2;
}

static double rate_of(const struct blm__shape *s, const struct classes *c, double n)
{
    const double m = (double)s->bits;
    const double same =
        -expm1(-n * even_part(s) / m / m); /* a key with both hashes the same, mod m */
    double fill[CLASSES], sum = 0;
    for (uint32_t i = 0; i < c->count; i++)
        fill[i] = -expm1(-n * c->load[i] / m);
    for (uint32_t i = 0; i < c->count; i++) {
        double all = 1;
        for (uint32_t j = 0; j < s->probes; j++)
            all *= fill[residue(c, i, j)];
        sum += all;
    }
    return same + (1 - same) * sum / c->count;
}

/* With n keys there, one of some classes adds more bits than one of others. */
static double spread_of(const struct blm__shape *s, const struct classes *c, double n)
{
    double adds[CLASSES], mean = 0, squares = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        adds[i] = 0;
        for (uint32_t j = 0; j < s->probes; j++)
            adds[i] += exp(-n * c->load[residue(c, i, j)] / (double)s->bits);
        mean += adds[i] / c->count;
    }
    for (uint32_t i = 0; i < c->count; i++)
        squares += (adds[i] - mean) * (adds[i] - mean) / c->count;
    return mean > 0 ? squares / (mean * mean) : 0;
}

double blm__dcso01_keys(const struct blm__shape *s, double fill, double *spread)
{
    struct classes c;
    sort_out(s, &c);
    double n = keys_in(s, &c, fill);
    if (spread)
        *spread = fill > most_fill(s, &c) ? -1 : spread_of(s, &c, n);
    return n;
}

double blm__dcso01_rate_at(const struct blm__shape *s, uint64_t n)
{
    struct classes c;
    sort_out(s, &c);
    return c.count > 1 ? rate_of(s, &c, (double)n) : independent(s, n);
}

double blm__dcso01_rate_now(const struct blm__layer *l, uint64_t ones)
{
    const struct blm__shape *s    = &l->shape;
    const double             fill = (double)ones / (double)s->bits;
    struct classes           c;
    sort_out(s, &c);
    if (c.count == 1)
        return pow(fill, s->probes);
    return fill > most_fill(s, &c) ? 1 : rate_of(s, &c, keys_in(s, &c, fill));
}
