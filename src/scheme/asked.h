/* SPDX-License-Identifier: MIT */
/* What was asked of a foreign scheme's size. Each original has its own formula from keys and rate
 * to bits and probes; which of the options were given, and whether they make sense together, is
 * the same question for all of them. */
#ifndef BLM_SCHEME_ASKED_H
#define BLM_SCHEME_ASKED_H

#include "scheme/scheme.h"

struct blm_asked {
    uint64_t items;  /* n; 0: not given */
    double   rate;   /* p, inside (0, 1); 0: not given */
    uint64_t bits;   /* m, given as bits, or as memory in whole words; 0: follows from n and p */
    uint32_t probes; /* k; 0: not given. Never given without bits */
};

/* Reads the sizes from the options. Given are, afterwards, bits with at least one of probes, items
 * and rate; or no bits, and items or rate or both. E_ARGUMENT names what is missing or outside its
 * domain, E_UNSUPPORTED an option that foreign schemes do not have. */
blm_status blm__asked(const blm_options *o, struct blm_asked *out, blm_error *err);

/* k for bits that were given: the probes asked for; else round(m/n·ln 2);
 * else what the rate takes. */
uint32_t blm__asked_probes(const struct blm_asked *a, uint64_t bits);

/* After s->bits and s->probes are settled: capacity and rate as asked; what was not asked from the
 * usual formula, with half of the bits set where neither was. E_LIMIT when bits, items and rate
 * were all given and do not go together. Fills b->rate too. */
blm_status blm__asked_settle(const struct blm_asked *a, struct blm_body *b, struct blm_shape *s,
                             blm_error *err);

#endif
