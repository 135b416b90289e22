/* SPDX-License-Identifier: MIT */
/* The size that is wanted of a foreign scheme. Each original has its own formula from keys and rate
 * to bits and probes; which options were given, and whether they make sense together, is the same
 * question for all of them. */
#ifndef BLM_SCHEME_ASKED_H
#define BLM_SCHEME_ASKED_H

#include "scheme/scheme.h"

struct blm__asked {
    uint64_t items;  /* n; 0: not given */
    double   rate;   /* p, inside (0, 1); 0: not given */
    uint64_t bits;   /* m, given as bits, or as memory in whole words; 0: not given */
    uint32_t probes; /* k; 0: not given. Never given without bits */
};

/* Reads the sizes from the options. Afterwards there are either bits with at least one of probes,
 * items and rate; or no bits, and items or rate or both. E_ARGUMENT names what is missing or out of
 * range, E_UNSUPPORTED an option that foreign schemes do not have. */
blm_status blm__asked(const blm_options *o, struct blm__asked *out, blm_error *err);

/* k if bits were given: the probes asked for; else round(m/n·ln 2); else what the rate needs. */
uint32_t blm__asked_probes(const struct blm__asked *a, uint64_t bits);

/* When s->bits and s->probes are set: fills capacity and rate, and b->rate. What was not asked for
 * comes from the usual formula; if neither was, for a fill of one half. E_LIMIT: bits, items and
 * rate were all given, and the rate cannot be reached. */
blm_status blm__asked_promise(const struct blm__asked *a, struct blm__body *b, struct blm__shape *s,
                              blm_error *err);

#endif
