/* SPDX-License-Identifier: MIT */
/*
 * Filter references: what a command takes where it wants a filter. A path (of a file, or of a pipe
 * to read), `-` (standard input to read, standard output to write), or scheme://… for places that have a row in ref.c.
 *
 *   ref_open    to ask                    info, verify, compare …
 *   ref_change  to ask and change         patch …: then ref_commit
 *   ref_create  a new one                 create, merge …: then ref_commit
 *
 * A command that only checks, adds or removes keys uses ref_open_keys or ref_change_keys, and
 * ref_check, ref_add and ref_remove instead of the library's calls. Then a filter on a server stays
 * there, and the keys are sent to it.
 *
 * On failure each reports what is wrong and returns false.
 */
#ifndef CLI_REF_H
#define CLI_REF_H

#include "bloomery.h"
#include "options.h"

struct place;

/* For commands that change filters on a server. */
extern const struct option_group server_group;
extern uint64_t                  ref_wait; /* --wait: replicas that must have a key */
/* --wait was not given, or this may be on a server. NULL: there is no filter that could be. False:
 * already reported. */
bool ref_wait_fits(const char *text);

#define REF_HEAD 8 /* bytes, by which a file that is no filter is named */

struct ref {
    const char         *name; /* as it was given, "standard input" for -; without a password */
    const char         *text; /* as it was given */
    const struct place *place;
    blm_filter         *filter;
    blm_options         options; /* with which it was opened or made */
    bool                is_new;  /* made by ref_create */
    bool                is_like; /* --like's, whose format --like-from says */
    bool                native;  /* changes are in the file as they are made */
    uint64_t            size;    /* of the file, when ref_refresh last looked */
    int                 lock;    /* of a file that is rewritten as a whole; −1: none */
    bool                changes; /* it is to be changed */
    bool                remote;  /* keys are sent to the server; filter may be NULL */
    bool     repeated;           /* some keys were sent twice, so which were new may not be known */
    uint32_t shards;             /* over which it is spread; 0: it is in one place */
    void    *connection;         /* private to the place */
    char     head[REF_HEAD];     /* the first bytes, of what can be read only once … */
    bool     is_delta;           /* … which is what bloomery diff writes */
};

bool ref_is_dash(const char *text);
/* Does it mean what standard input is (-, or /dev/stdin where that is a pipe)? */
bool ref_is_stdin(const char *text);
/* Of a filter and its inputs: is one of these, or with none all, standard input? */
bool ref_keys_from_stdin(int count, char **operands);
/* Can it be read only once, and not be changed where it is (-, a FIFO, <(…))? */
bool ref_is_stream(const char *text);
/* Is it on a server, where others may be adding to it? */
bool ref_is_shared(const char *text);
/* Are the filter's file and one of the inputs (none: standard input) the same? Then writing the
 * filter would destroy the keys. True: already reported. */
bool ref_is_input(const char *text, char **inputs, int count);
/* The first bytes of a file; zeroes where there are none. */
void ref_head(const char *path, char head[REF_HEAD]);
/* The name for messages: the text without its password. */
const char *ref_name(const char *text);
/* Hides passwords in the arguments that others can see (ps); our copies keep them. */
void ref_hide_passwords(int argc, char **argv);

/* o: flags, format, funnel …; NULL: defaults with the funnel that -e and --funnel ask for. */
bool ref_open(struct ref *r, const char *text, const blm_options *o);
/* For its parameters and seed: of a filter in shards, one of them. */
bool ref_open_like(struct ref *r, const char *text, const blm_options *o);
bool ref_change(struct ref *r, const char *text, const blm_options *o);
/* Opens both or neither, as --from says (from.h), with these flags. */
bool ref_open_two(struct ref *a, struct ref *b, char **texts, uint32_t flags);
/* The same for keys alone. */
bool ref_open_keys(struct ref *r, const char *text, const blm_options *o);
bool ref_change_keys(struct ref *r, const char *text, const blm_options *o);
/* Does not touch an existing file unless o->flags has BLM_REPLACE, and then only at the commit.
 * whole: fill it in memory, so that nobody sees it before the commit. */
bool ref_create(struct ref *r, const char *text, const blm_options *o, bool whole);
/* Makes a new filter for keys, or opens it if someone else has made it meanwhile. */
bool ref_create_keys(struct ref *r, const char *text, const blm_options *o);
/* Prints nothing. False also if it cannot be found out. */
bool ref_exists(const char *text);

/* Is there nothing to overwrite, or may we overwrite it? False: already reported. Call it before
 * any work is done. */
bool ref_vacant(const char *text, bool force);
/* Writes a filter that was made another way (merge, convert …) to a reference, in a format (NULL:
 * its own). The caller keeps the filter. */
bool ref_put(const char *text, const blm_filter *f, const char *format, bool force);
/* Replaces what ref_change opened by f as a whole. Takes f, and closes the reference. */
bool ref_replace(struct ref *r, blm_filter *f);

/* Like blm_check_many, blm_add_many and so on. False: already reported. hits, done and the arrays
 * may be NULL. */
bool ref_check(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe, size_t *hits);
bool ref_add(struct ref *r, const blm_key *keys, size_t count, uint8_t *fresh, size_t *done);
/* gone[i] becomes 1 where key i was removed and 0 where it had never been added. */
bool ref_remove(struct ref *r, const blm_key *keys, size_t count, uint8_t *gone, size_t *done);
/* False: not known; already reported. A server does not give all of them: the others are 0. */
bool ref_params(struct ref *r, blm_params *p);

/* Finds layers that a writer has appended since we opened the file. Cheap if there are none. */
void ref_refresh(struct ref *r);

/* For a call of the library that failed on its filter: what is wrong and what to do. */
int ref_trouble(const struct ref *r, const blm_error *err);

/* Makes the changes so far durable. The filter stays open. */
bool ref_sync(struct ref *r);
/* Makes them durable and closes. False: already reported; the old file is intact. */
bool ref_commit(struct ref *r);
/* Closes without writing what is not yet written. */
void ref_drop(struct ref *r);

#endif
