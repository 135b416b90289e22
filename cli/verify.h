/* SPDX-License-Identifier: MIT */
/* The parts of verify: cmd_verify.c checks the checksums, the members and the rate, verify_fill.c
 * looks at the bits. Each prints its row and returns its verdict. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include <stdbool.h>

#include "bloomery.h"
#include "json.h"
#include "ref.h"

#define SURE 0.999999 /* before chance is ruled out */

enum verdict { GOOD, BAD, STOPPED }; /* STOPPED: trouble, already reported */

/* The report as JSON (docs/json.md), with --json; otherwise NULL, and it is printed in words. */
extern struct json *verify_json;

/* Begins a row of the report. */
void verify_row(const char *label);

/* More bits than its keys explain. */
bool verify_polluted(const struct ref *r, const blm_stats *s);

/* held: the user gave a rate, so the capacity in the file is shown but not judged. */
enum verdict verify_fill(const struct ref *r, const blm_stats *s, bool held);

#endif
