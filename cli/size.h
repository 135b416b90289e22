/* SPDX-License-Identifier: MIT */
/* How large a filter should be, as options: for create and for everything else that plans one. */
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
    const char *kind; /* NULL: not given */
};
extern struct size_options       size_options;
extern const struct option_group size_group; /* -n -p -m -k --memory --kind */

/* Was any of them but the kind given? */
bool size_given(void);
/* Puts what was given into o. False: more probes than there can be; it has been said. */
bool size_fill(blm_options *o);

/* When items and memory are both given: does the rate (`usual` when none is) fit? False: it does
 * not, and it has been said, with what would. *out is the plan. things: "keys", "lines". */
bool size_fits(const blm_options *o, double usual, const char *things, blm_plan *out);

#endif
