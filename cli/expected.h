/* SPDX-License-Identifier: MIT */
/*
 * How many keys a filter has probably called "seen" that it had not seen.
 *
 * A new key is checked against the filter as it is after N different keys: the answer is wrong with
 * probability r(N), the modelled rate of the probes the filter really makes. Keys wrongly called
 * seen change no bit. N counts them too, but the filter's own counter of new keys, x, does not: dx
 * = (1 − r(N)) dN. We integrate over N until x has grown as much as the counter has. The difference
 * is the expected number of wrong answers. This needs only parameters and counts, and costs nothing
 * while lines are read. The true number is close to Poisson distributed around it.
 *
 * Where keys are checked first and added in batches, all keys of a batch meet the same filter, so
 * there is a sum of steps instead of the integral: a batch of x new keys was x / (1 − r) keys.
 *
 * When r comes near 1, x hardly grows any more, and by chance it is a little more or less: a hundred
 * keys more can mean that ten times as many came. After expected_start the rate counts as no higher
 * than where that becomes more than a quarter of the figure, which is a lower bound from there on.
 */
#ifndef CLI_EXPECTED_H
#define CLI_EXPECTED_H

#include "bloomery.h"

struct expected {
    uint32_t layers;
    double  *items; /* of each layer, at the start or after the last batch */
    double  *keys;  /* N of each layer then; NULL: no batches */
    double
        begun; /* N at the start by the bits, where the counter does not count keys; 0: it does */
    double wrong;    /* in the batches so far */
    double batch;    /* keys in the last one */
    double rate;     /* that it met */
    bool   careful;  /* begun by expected_start: a figure that is uncertain is a lower bound */
    bool   at_least; /* at the end: it is */
    double variance; /* of the number of new keys in the batches */
    double least;    /* the rate from which all is a lower bound; 0: not reached */
    struct {
        double wrong, variance;
    } before; /* the first batch */
};

/* Remembers how full the filter is now. (A struct of zeros stands for an empty filter.) */
void expected_start(struct expected *e, const blm_filter *f);
/* A batch of so many new keys has been checked and is about to be added; it has been added. */
void expected_batch(struct expected *e, const blm_filter *f, size_t count);
void expected_added(struct expected *e, const blm_filter *f);
/* The expected number of wrong answers since then; e->at_least: or one below it. Frees what start
 * kept. *rate becomes the filter's rate now, or then one below it. */
double expected_end(struct expected *e, const blm_filter *f, double *rate);

#endif
