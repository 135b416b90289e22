/* SPDX-License-Identifier: MIT */
/* Pictures on standard output: bars made of eighths of a block, curves made of Braille dots, both in
 * ASCII where the locale is not UTF-8. They are as wide as the terminal, or 72 columns if there is none, so that a file does not depend on
 * the terminal. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLOT_MOST 240 /* columns, however wide the terminal */

/* How many columns a picture should take, including labels. */
size_t plot_width(void);

/* Bars of heights 0 … 1, one per column, with a percentage scale on the left. first, last: the
 * labels below the first and the last bar. */
#define PLOT_LABEL 7 /* columns that the scale takes */
void plot_bars(const double *height, size_t count, const char *first, const char *last);

/* A curve of a rate on a logarithmic scale. */
struct curve {
    const char   *title;        /* one line above */
    const char   *first, *last; /* below the left and the right end */
    double        at;           /* 0 … 1 from left to right: a line is drawn there; < 0: none */
    bool          dots;         /* only the points themselves: x takes whole numbers */
    size_t        count;        /* of values, evenly spaced from the left end to the right one */
    const double *rate;         /* each 0 … 1; 0 is below every scale */
};
void plot_curve(const struct curve *c);

#endif
