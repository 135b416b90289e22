/* SPDX-License-Identifier: MIT */
/*
 * How likely is it that n keys together set all of j given bits?
 *
 * Every model of the rate needs this. One key takes "j bits still clear" to "i bits still clear" (i
 * ≤ j) with known chances; n keys are the n-th power of that triangular matrix. All of its entries
 * are ≥ 0, so nothing cancels, unlike in the inclusion–exclusion sum. The diagonal is known in
 * closed form for every power, so rounding errors do not grow with n. The power is computed by
 * squaring: ⌈log2 n⌉ times about j³/6 multiplications, whatever m is. docs/maths.md, "The exact
 * rate".
 */
#ifndef BLM_MATHS_COVER_H
#define BLM_MATHS_COVER_H

#include <stdint.h>

#define BLM__COVER_MAX 64u /* bits asked for; 64-bit hashes do not go below 2^-64 either */

struct blm__cover {
    uint32_t bits;                         /* 1…BLM__COVER_MAX */
    double   log_stay[BLM__COVER_MAX + 1]; /* ln of the chance that j bits all stay clear */
    double   move[(BLM__COVER_MAX + 1) * (BLM__COVER_MAX + 2) / 2]; /* below the diagonal */
};

/* The chance that one key takes j clear bits to i. The caller fills i < j, for j = 1…bits. */
static inline double *blm__cover_at(struct blm__cover *c, uint32_t j, uint32_t i)
{
    return &c->move[j * (j + 1) / 2 + i];
}

/* all[j], j = 0…bits: the chance that j given bits are all set after n keys. Uses up *c. */
void blm__cover_power(struct blm__cover *c, uint64_t n, double *all);

#endif
