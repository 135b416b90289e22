/* SPDX-License-Identifier: MIT */
/* Exact binomial tests, and Holm's correction for their number. */
#include <math.h>
#include <stdlib.h>

#include "statistics.h"

static double log_mass(double h, double n, double p)
{
    if (p <= 0 || p >= 1)
        return (p <= 0 ? h == 0 : h == n) ? 0 : -INFINITY;
    return lgamma(n + 1) - lgamma(h + 1) - lgamma(n - h + 1) + h * log(p) + (n - h) * log1p(-p);
}

/* Sums the masses from h on, away from the mode: they only fall, until they no longer matter. */
static double tail(double h, double n, double p, bool up)
{
    double odds = p / (1 - p), mass = exp(log_mass(h, n, p)), sum = 0;
    while (h >= 0 && h <= n && mass > sum * 1e-17) {
        sum += mass;
        mass *= up ? (n - h) / (h + 1) * odds : h / ((n - h + 1) * odds);
        h += up ? 1 : -1;
    }
    return fmin(sum, 1);
}

/* Across the mode it is one less the other tail, which is the smaller one there. */
double chance_below(uint64_t hits, uint64_t trials, double p)
{
    double h = (double)hits, n = (double)trials;
    return h < n * p ? tail(h, n, p, false) : 1 - tail(h + 1, n, p, true);
}
double chance_above(uint64_t hits, uint64_t trials, double p)
{
    double h = (double)hits, n = (double)trials;
    return h > n * p ? tail(h, n, p, true) : 1 - tail(h - 1, n, p, false);
}

double chance_beyond(uint64_t hits, uint64_t trials, double p)
{
    bool   above = (double)hits > (double)trials * p; /* the smaller tail is on that side */
    double one   = above ? chance_above(hits, trials, p) : chance_below(hits, trials, p);
    return fmin(1, 2 * one);
}

/* ---- Holm ---- */

struct claim {
    double p;
    size_t number;
    bool   rejected;
};
static struct claim *claims;
static size_t        count, room;

size_t judge(double p)
{
    if (count == room) {
        room   = room ? 2 * room : 256;
        claims = realloc(claims, room * sizeof *claims);
        if (!claims)
            exit(2);
    }
    claims[count] = (struct claim){ .p = p, .number = count };
    return count++;
}

static int by_p(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    return x->p < y->p ? -1 : x->p > y->p;
}
static int by_number(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

void holm(double level)
{
    bool still = true;
    qsort(claims, count, sizeof *claims, by_p);
    for (size_t i = 0; i < count; i++) {
        still              = still && claims[i].p <= level / (double)(count - i);
        claims[i].rejected = still;
    }
    qsort(claims, count, sizeof *claims, by_number);
}

bool   rejected(size_t which) { return claims[which].rejected; }
size_t judged(void) { return count; }
void   forget(void) { count = 0; }
