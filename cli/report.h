/* SPDX-License-Identifier: MIT */
/* What info, compare and schemes print with --json (docs/json.md). They need nothing else of the
 * command line: the page (web/wasm) shows the same. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "bloomery.h"
#include "json.h"

/* The members of info's object, without its brackets. Of a key on a server no seed is shown. */
void info_json(struct json *j, const char *name, const blm_filter *f, const blm_stats *s,
               bool on_server);
void compare_json(struct json *j, const char *a, const char *b, const blm_overlap *o);
void schemes_json(struct json *j);
/* What whoever can choose keys can do to filters of this scheme, in a sentence; NULL: a secret seed
 * keeps them out, or nothing is known (the caller's own functions). */
const char *scheme_warning(const char *scheme);

/* The modelled rate with as many keys as it was planned for; 0: not known. */
double full_rate(const blm_filter *f, const blm_params *p);
/* The same, where the scheme does not keep what it promises; else 0. */
double broken_rate(const blm_filter *f, const blm_params *p);
/* How much above the promise that must be to be worth a word. */
#define RATE_ABOVE 1.1

#endif
