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
 */
#ifndef CLI_EXPECTED_H
#define CLI_EXPECTED_H

#include "bloomery.h"

struct expected {
    uint32_t  layers;
    uint64_t *items; /* of each layer, at the start */
    /* Set by the caller: how many keys on average had been checked but not yet added when the next
     * was checked; 0 if check and add are one step. */
    double lag;
};

/* Remembers how full the filter is now. (A struct of zeros stands for an empty filter.) */
void expected_start(struct expected *e, const blm_filter *f);
/* The expected number of wrong answers since then. Frees what start kept. *rate becomes the
 * filter's rate now. */
double expected_end(struct expected *e, const blm_filter *f, double *rate);

#endif
