/* SPDX-License-Identifier: MIT */
/* Combines two or more filters into one, for merge and intersect. */
#ifndef CLI_MEET_H
#define CLI_MEET_H

#include "bloomery.h"

typedef blm_status (*meet_fn)(blm_filter *dst, const blm_filter *src, blm_error *err);

/* operands: OUT, then the filters. did: "merged, about" as in "2 filters merged, about 5 keys".
 * Returns the exit status. */
int meet(int count, char **operands, meet_fn how, const char *did, bool force);

#endif
