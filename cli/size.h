/* SPDX-License-Identifier: MIT */
/* Options that say how large a filter should be, for every command that plans one. */
#ifndef CLI_SIZE_H
#define CLI_SIZE_H

#include "bloomery.h"
#include "bloomery/maths.h"
#include "options.h"

struct size_options {
    uint64_t    items;
    double      rate;
    uint64_t    bits;
    uint64_t    probes;
    uint64_t    memory;
    const char *kind; /* NULL: not given. A command's own option, as each takes other kinds */
};
extern struct size_options       size_options;
extern const struct option_group size_group; /* -n -p -m -k --memory */

/* Was any of them given, other than the kind? */
bool size_given(void);
/* Puts what was given into o. False: too many probes; already reported. */
bool size_fill(blm_options *o);

/* Memory that gives its keys a rate above this, where no rate was asked for, is too little for them. */
#define SIZE_WORST 0.5

/* If items and memory are both given: does the rate fit (`usual` if none is given)? False: it does
 * not. That has been reported, with the memory it would need. *out is the plan. things: "keys",
 * "lines". */
bool size_fits(const blm_options *o, double usual, const char *things, blm_plan *out);

#endif
