/* SPDX-License-Identifier: MIT */
/* Options that say what a filter's bytes are when the bytes do not: a format without a header
 * (raw), bytes that fit several formats, a filter inside another file. Every
 * command that reads a filter has them. */
#ifndef CLI_FROM_H
#define CLI_FROM_H

#include "bloomery.h"
#include "options.h"

extern const struct option_group from_group;

/* Was any of them given? */
bool from_given(void);
/* Fills o from the options that were given, to open the filter at `text`. False: the options do not
 * go together, or not with that place; already reported. */
bool from_options(const char *text, blm_options *o);
/* The same for one of several filters: those on a server say what they are. */
bool from_options_each(const char *text, blm_options *o);

/* --column: the filters of this column of a .parquet file; NULL: not given. And --row-group. */
#define FROM_ALL_GROUPS UINT64_MAX
const char *from_column(void);
uint64_t    from_row_group(void);

#endif
