/* SPDX-License-Identifier: MIT */
/* What a filter's bytes are, where they do not say it themselves: a format without a header (raw),
 * bytes that fit several formats, a filter inside another file. The commands that read one filter
 * share these options. */
#ifndef CLI_FROM_H
#define CLI_FROM_H

#include "bloomery.h"
#include "options.h"

extern const struct option_group from_group;

/* Fills o, to open the filter at `text`, by the options that were given. False: they do not go
 * together, or not with that place; said. */
bool from_options(const char *text, blm_options *o);

#endif
