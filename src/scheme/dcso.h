/* SPDX-License-Identifier: MIT */
#ifndef BLM_SCHEME_DCSO_H
#define BLM_SCHEME_DCSO_H

#include "core/body.h"

/* Are m and k what DCSO's bloom makes of n and p? To one, since logarithms differ in their last
 * digit from library to library. */
bool blm__dcso_planned(uint64_t n, double p, uint64_t m, uint64_t k);

#define BLM__DCSO_MAGIC "this-is-magical" /* behind a key, for dcso01's second hash */

/* ---- dcso_rates.c: hooks of the two schemes (scheme.h) ---- */
double blm__dcso_keys(const struct blm__shape *s, double fill, double *spread);
double blm__dcso_rate_now(const struct blm__layer *l, uint64_t ones);
double blm__dcso_rate_at(const struct blm__shape *s, uint64_t n);
double blm__dcso01_keys(const struct blm__shape *s, double fill, double *spread);
double blm__dcso01_rate_now(const struct blm__layer *l, uint64_t ones);
double blm__dcso01_rate_at(const struct blm__shape *s, uint64_t n);

#endif
