/* SPDX-License-Identifier: MIT */
/*
 * Filter references: what a command takes where it wants a filter. A path, `-` (standard input to
 * read, standard output to write), or scheme://… for places that have a row in ref.c.
 *
 *   ref_open    to ask                    check, info, compare …
 *   ref_change  to ask and change         add, remove, dedup --state …: then ref_commit
 *   ref_create  a new one                 create, merge …: then ref_commit
 *
 * Each says what is wrong itself and returns false.
 */
#ifndef CLI_REF_H
#define CLI_REF_H

#include "bloomery.h"
#include "options.h"

struct place;

struct ref {
    const char         *name; /* as it was given, "standard input" for - */
    const char         *text; /* as it was given */
    const struct place *place;
    blm_filter         *filter;
    blm_options         options; /* it was opened or made with */
    bool                is_new;  /* made by ref_create */
    bool                native;  /* changes are in the file as they are made */
    uint64_t            size;    /* of the file, when ref_refresh last looked */
    int                 lock;    /* of a file that is rewritten as a whole; −1: none */
};

bool ref_is_stdin(const char *text);

/* o: flags, format, funnel …; NULL: defaults with the funnel that -e and --funnel ask for. */
bool ref_open(struct ref *r, const char *text, const blm_options *o);
bool ref_change(struct ref *r, const char *text, const blm_options *o);
/* Does nothing to an existing file unless o->flags has BLM_REPLACE, and then only at the commit.
 * whole: fill it in memory, and let nobody see it before the commit. */
bool ref_create(struct ref *r, const char *text, const blm_options *o, bool whole);
/* false also when no such filter exists and nothing else is wrong; says nothing. */
bool ref_exists(const char *text);

/* Is there nothing that a new filter would overwrite, or may it? False: said. To be asked before
 * any work is done. */
bool ref_vacant(const char *text, bool force);
/* Puts a filter that was made some other way (merge, convert …) at a reference, in a format (NULL:
 * its own). The filter stays the caller's. */
bool ref_put(const char *text, const blm_filter *f, const char *format, bool force);
/* Replaces what ref_change opened by f, as a whole; takes f, and closes. */
bool ref_replace(struct ref *r, blm_filter *f);

/* Sees layers that a writer has appended since we opened the file; cheap when there are none. */
void ref_refresh(struct ref *r);

/* Makes the changes so far last; the filter stays open. */
bool ref_sync(struct ref *r);
/* Makes them last and closes. False: said; the old file is whole. */
bool ref_commit(struct ref *r);
/* Closes without writing what is not yet written. */
void ref_drop(struct ref *r);

#endif
