/* SPDX-License-Identifier: MIT */
/* A list of keys that are never found, whatever a filter says: kept whole, so that it is exact. */
#ifndef CLI_EXCEPT_H
#define CLI_EXCEPT_H

#include "keys.h"

/* Reads the list. False: already reported. */
bool except_read(const char *path);
void except_free(void);

/* flags[i] becomes 0 where key i is in the list. Any number of threads may call it. */
void except_drop(const struct batch *b);

#endif
