/* SPDX-License-Identifier: MIT */
/*
 * How many keys a filter has probably called "seen" that it had not seen.
 *
 * A new key meets the filter as it is at that moment, after N different keys: the answer is wrong
 * with probability r(N), the modelled rate of the probes the filter really makes. Keys wrongly
 * called seen change no bit, so N counts them too, while the filter's own counter of new keys x
 * does not: dx = (1 − r(N)) dN. Going along N until x has grown by what the counter has, the
 * difference is the expected number of wrong answers. It needs parameters and counts only, and
 * costs nothing while lines go by. The true number is close to Poisson distributed around it.
 */
#ifndef CLI_EXPECTED_H
#define CLI_EXPECTED_H

#include "bloomery.h"

struct expected {
    uint32_t  layers;
    uint64_t *items; /* of each layer, at the start */
    double    lag;   /* set by the caller: keys on average that had been asked but not yet added
                        when another was asked; 0 where asking and adding is one */
};

/* Remembers how full the filter is now. (One of zeroes remembers when it was empty.) */
void expected_start(struct expected *e, const blm_filter *f);
/* The expected number of wrong answers since; frees what start kept. rate: of the filter now. */
double expected_end(struct expected *e, const blm_filter *f, double *rate);

#endif
