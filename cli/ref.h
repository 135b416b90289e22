/* SPDX-License-Identifier: MIT */
/*
 * Filter references: what a command takes where it wants a filter. A path, `-` (standard input to
 * read, standard output to write), or scheme://… for places that have a row in ref.c.
 *
 *   ref_open    to ask                    info, verify, compare …
 *   ref_change  to ask and change         patch …: then ref_commit
 *   ref_create  a new one                 create, merge …: then ref_commit
 *
 * A command that only asks, adds or removes keys uses ref_open_keys or ref_change_keys, and
 * ref_check, ref_add and ref_remove in place of the library's calls: then a filter that lives on a
 * server stays there, and the keys go to it.
 *
 * Each says what is wrong itself and returns false.
 */
#ifndef CLI_REF_H
#define CLI_REF_H

#include "bloomery.h"
#include "options.h"

struct place;

struct ref {
    const char         *name; /* as it was given, "standard input" for -; without a password */
    const char         *text; /* as it was given */
    const struct place *place;
    blm_filter         *filter;
    blm_options         options;  /* it was opened or made with */
    bool                is_new;   /* made by ref_create */
    bool                native;   /* changes are in the file as they are made */
    uint64_t            size;     /* of the file, when ref_refresh last looked */
    int                 lock;     /* of a file that is rewritten as a whole; −1: none */
    bool                remote;   /* keys are sent to where it lives; filter may be NULL */
    bool                repeated; /* keys were sent once more: what was new may not be known */
    void               *link;     /* the place's own: a connection */
};

bool ref_is_stdin(const char *text);
/* Does it live on a server, where others may be adding to it? */
bool ref_is_shared(const char *text);
/* How to call it in words: the text, without a password that may be in it. */
const char *ref_name(const char *text);
/* Takes passwords out of the arguments as others can see them (ps); ours keep them. */
void ref_hide_passwords(int argc, char **argv);

/* o: flags, format, funnel …; NULL: defaults with the funnel that -e and --funnel ask for. */
bool ref_open(struct ref *r, const char *text, const blm_options *o);
bool ref_change(struct ref *r, const char *text, const blm_options *o);
/* Both or neither. */
bool ref_open_two(struct ref *a, struct ref *b, char **texts);
/* The same for keys alone. */
bool ref_open_keys(struct ref *r, const char *text, const blm_options *o);
bool ref_change_keys(struct ref *r, const char *text);
/* Does nothing to an existing file unless o->flags has BLM_REPLACE, and then only at the commit.
 * whole: fill it in memory, and let nobody see it before the commit. */
bool ref_create(struct ref *r, const char *text, const blm_options *o, bool whole);
/* A new one for keys, or, where someone else has made it by now, that one. */
bool ref_create_keys(struct ref *r, const char *text, const blm_options *o);
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

/* As blm_check_many, blm_add_many and so on; false: said. hits, done and the arrays may be NULL. */
bool ref_check(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe, size_t *hits);
bool ref_add(struct ref *r, const blm_key *keys, size_t count, uint8_t *fresh, size_t *done);
/* gone[i] becomes 1 where key i was removed and 0 where it had never been added. */
bool ref_remove(struct ref *r, const blm_key *keys, size_t count, uint8_t *gone, size_t *done);
/* False: not known; said. A server does not tell all of them: those are 0. */
bool ref_params(struct ref *r, blm_params *p);

/* Sees layers that a writer has appended since we opened the file; cheap when there are none. */
void ref_refresh(struct ref *r);

/* Makes the changes so far last; the filter stays open. */
bool ref_sync(struct ref *r);
/* Makes them last and closes. False: said; the old file is whole. */
bool ref_commit(struct ref *r);
/* Closes without writing what is not yet written. */
void ref_drop(struct ref *r);

#endif
