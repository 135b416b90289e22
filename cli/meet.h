/* SPDX-License-Identifier: MIT */
/* Combines two or more filters into one, for merge and intersect. */
#ifndef CLI_MEET_H
#define CLI_MEET_H

#include "bloomery.h"

typedef blm_status (*meet_fn)(blm_filter *dst, const blm_filter *src, blm_error *err);

struct meet {
    meet_fn     how;
    const char *verb, *did, *about; /* "2 filters merged, about 5 keys": merge, merged, about */
};

/* operands: OUT, then the filters. Returns the exit status. */
int meet(int count, char **operands, const struct meet *m, bool force);

#endif
