/* SPDX-License-Identifier: MIT */
/* create --from within a given memory: the filter may be larger, and a killed run goes on. */
#ifndef CLI_SPILL_H
#define CLI_SPILL_H

#include "bloomery.h"
#include "options.h"

/* --working-memory and --spill */
struct spill_options {
    uint64_t    memory; /* 0: not given */
    const char *dir;    /* NULL: beside the filter, NAME.spill */
};
extern struct spill_options      spill_options;
extern const struct option_group spill_group;

/* Would the directory have the filter's own name? True: already reported. build asks too. */
bool spill_is_filter(const char *dir, const char *text);
/* Says what is wrong with the directory. Returns EXIT_TROUBLE. */
int spill_trouble(const char *dir, const blm_error *err);
/* Must the filter be built by way of the disk: was it begun so, or is it too large for the memory?
 * False also where nothing was asked for. */
bool spill_needed(const char *text, const blm_options *o);
/* Builds the filter at a path from the keys of one input. Returns the exit status. */
int spill_build(const char *text, const blm_options *o, const char *from);

#endif
