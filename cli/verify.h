/* SPDX-License-Identifier: MIT */
/* What verify is made of: cmd_verify.c asks for sums, members and the rate, verify_fill.c looks at
 * the bits. Each prints its row and gives its verdict. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include <stdbool.h>

#include "bloomery.h"
#include "ref.h"

enum verdict { GOOD, BAD, STOPPED }; /* STOPPED: trouble, and it has been said */

/* Begins a row of the report. */
void verify_row(const char *label);

/* held: the user named a rate, so that what the file was planned for is told, but not judged. */
enum verdict verify_fill(const struct ref *r, const blm_stats *s, bool held);

#endif
