/* SPDX-License-Identifier: MIT */
/* What dedup --stats and --json say at the end. */
#ifndef CLI_FIGURES_H
#define CLI_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

struct figures {
    uint64_t lines, unique, bytes; /* read; seen for the first time; of the input */
    uint64_t filter_bytes, peak;   /* of the filter; the most memory the process used */
    double   seconds;
    double   rate;     /* of the filter now */
    double   wrong;    /* lines expected to have been dropped wrongly */
    bool     at_least; /* wrong is a lower bound: the filter is too full to say more */
    bool     unknown;  /* rate and wrong are not known: the filter is on a server */
};

/* Print to standard error, because the lines go to standard output. */
void figures_print(const struct figures *f);
void figures_json(const struct figures *f);

#endif
