/* SPDX-License-Identifier: MIT */
/* Filters in shards (redis+cluster://): what is done with them as a whole. */
#ifndef CLI_SPREAD_H
#define CLI_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "bloomery/maths.h"

bool spread_is(const char *text);
/* For info. False: already reported. */
bool spread_info(const char *text, bool json);
/* For merge: an exit status. */
int spread_merge(int count, char **operands, bool force);
/* For verify: the rate on random keys. False: already reported. */
struct ref;
bool spread_try(struct ref *r, uint64_t trials, blm_trial *t);
/* For verify: its stats, by the connection that is open. False: already reported. */
bool spread_stats(struct ref *r, blm_stats *s);

#endif
