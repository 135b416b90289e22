/* SPDX-License-Identifier: MIT */
/* A place where filters can live: one file, place_NAME.c, and one row of the table in ref.c. Calls
 * fill err and say nothing; ref.c puts it into words. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include "ref.h"

struct place {
    const char *prefix; /* "redis://"; or all of the reference: "-"; NULL: a path */
    bool (*exists)(const char *text);
    /* Each gives r->filter, by r->text and r->options. */
    blm_status (*open)(struct ref *r, blm_error *err);
    blm_status (*change)(struct ref *r, blm_error *err);
    blm_status (*reopen)(struct ref *r, blm_error *err); /* with other options; NULL: open again */
    void (*refresh)(struct ref *r);                      /* NULL: nothing can have changed */
    blm_status (*create)(struct ref *r, bool whole, blm_error *err);
    blm_status (*sync)(struct ref *r, blm_error *err); /* NULL: nothing lasts before save */
    blm_status (*save)(struct ref *r, blm_error *err); /* writes what is not in place yet */
};

extern const struct place place_path, place_dash;

/* Fills err; text may be NULL. */
blm_status place_fail(blm_error *err, blm_status status, int system, const char *text);

#endif
