/* SPDX-License-Identifier: MIT */
/* Powers of a triangular stochastic matrix: see cover.h. */
#include "maths/cover.h"

#include <math.h>

/* all ← matrix · all. Rows from the last, so that no row reads what another has written. */
static void apply(struct blm__cover *c, double *all)
{
    for (uint32_t j = c->bits; j > 0; j--) {
        const double *row = blm__cover_at(c, j, 0);
        double        sum = 0;
        for (uint32_t i = 0; i <= j; i++)
            sum += row[i] * all[i];
        all[j] = sum < 1 ? sum : 1; /* rounding may leave 1 + 1e-16 */
    }
}

/* In place: row j is only read by rows from j on, and entry (j, i) only by (j, i') with i' ≤ i. */
static void square(struct blm__cover *c)
{
    for (uint32_t j = c->bits; j > 0; j--) {
        double *row = blm__cover_at(c, j, 0);
        for (uint32_t i = 0; i < j; i++) {
            double sum = 0;
            for (uint32_t l = i; l <= j; l++)
                sum += row[l] * *blm__cover_at(c, l, i);
            row[i] = sum;
        }
    }
}

static void set_diagonal(struct blm__cover *c, double power)
{
    *blm__cover_at(c, 0, 0) = 1;
    for (uint32_t j = 1; j <= c->bits; j++)
        *blm__cover_at(c, j, j) = exp(power * c->log_stay[j]);
}

void blm__cover_power(struct blm__cover *c, uint64_t n, double *all)
{
    all[0] = 1;
    for (uint32_t j = 1; j <= c->bits; j++)
        all[j] = 0;
    for (double power = 1; n; n >>= 1, power *= 2) {
        set_diagonal(c, power);
        if (n & 1)
            apply(c, all);
        if (n > 1)
            square(c);
    }
}
