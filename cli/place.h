/* SPDX-License-Identifier: MIT */
/* A place where filters can live: one file, place_NAME.c, and one row of the table in ref.c. Calls
 * fill err and say nothing; ref.c puts it into words. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include "ref.h"

struct place {
    const char *prefix; /* "redis://", perhaps several with spaces between them; or all of the
                           reference: "-"; NULL: a path */
    /* The part of a reference that nobody may see, how long and where; NULL: there is none. */
    size_t (*secret)(const char *text, size_t *at);
    bool (*exists)(const char *text);
    /* Each gives r->filter, by r->text and r->options. */
    blm_status (*open)(struct ref *r, blm_error *err);
    blm_status (*change)(struct ref *r, blm_error *err);
    void (*refresh)(struct ref *r); /* NULL: nothing can have changed */
    blm_status (*create)(struct ref *r, bool whole, blm_error *err);
    blm_status (*sync)(struct ref *r, blm_error *err); /* NULL: nothing lasts before save */
    blm_status (*save)(struct ref *r, blm_error *err); /* writes what is not in place yet */
    void (*drop)(struct ref *r);                       /* lets go of r->link; NULL: it has none */

    /* For a place that keeps its filters to itself and is sent the keys. `keys` sets r->remote and
     * need not give r->filter; the others then stand for the library's calls. All NULL: open and
     * change do, and the library is called on r->filter. */
    blm_status (*keys)(struct ref *r, blm_error *err);
    blm_status (*params)(struct ref *r, blm_params *p, blm_error *err);
    blm_status (*check_many)(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe,
                             size_t *hits, blm_error *err);
    blm_status (*add_many)(struct ref *r, const blm_key *keys, size_t count, uint8_t *fresh,
                           size_t *done, blm_error *err);
    blm_status (*remove_many)(struct ref *r, const blm_key *keys, size_t count, uint8_t *gone,
                              size_t *done, blm_error *err);
};

extern const struct place place_path, place_dash, place_redis;

/* Fills err; text may be NULL. */
blm_status place_fail(blm_error *err, blm_status status, int system, const char *text);

#endif
