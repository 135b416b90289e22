/* SPDX-License-Identifier: MIT */
/*
 * How many keys a filter has probably called "seen" that it had not seen.
 *
 * A new key meets the filter as it is at that moment: with x keys in it the answer is wrong with
 * probability r(x). So while a filter goes from a to b keys, the expected number of wrong answers
 * is the sum of r(x) / (1 − r(x)) for x from a to b − 1 (a wrong answer leaves the filter as it
 * was, and the next new key tries again). r is the model of the probes the filter really makes, so
 * this needs parameters and counts only, and costs nothing while lines go by. The true number is
 * close to Poisson distributed around it.
 */
#ifndef CLI_EXPECTED_H
#define CLI_EXPECTED_H

#include "bloomery.h"

struct expected {
    uint32_t  layers;
    uint64_t *items; /* of each layer, at the start */
};

/* Remembers how full the filter is now. */
void expected_start(struct expected *e, const blm_filter *f);
/* The expected number of wrong answers since; frees what start kept. rate: of the filter now. */
double expected_end(struct expected *e, const blm_filter *f, double *rate);

#endif
