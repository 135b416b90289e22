/* SPDX-License-Identifier: MIT */
/* A place where filters can live: one file, place_NAME.c, and one row of the table in ref.c. (A
 * stream that has a path is found by looking at it.) The
 * calls fill err and print nothing; ref.c prints the message. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include "ref.h"

struct place {
    /* "redis://", or several separated by spaces; or the whole reference: "-"; NULL: a path. */
    const char *prefix;
    /* Where the secret part of a reference is, and how long; NULL: a place without secrets. */
    size_t (*secret)(const char *text, size_t *at);
    bool (*exists)(const char *text);
    /* Each sets r->filter, from r->text and r->options. */
    blm_status (*open)(struct ref *r, blm_error *err);
    blm_status (*like)(struct ref *r, blm_error *err); /* for its parameters alone; NULL: open */
    blm_status (*change)(struct ref *r, blm_error *err);
    void (*refresh)(struct ref *r); /* NULL: nothing can have changed */
    blm_status (*create)(struct ref *r, bool whole, blm_error *err);
    blm_status (*sync)(struct ref *r, blm_error *err); /* NULL: nothing is kept before save */
    blm_status (*save)(struct ref *r, blm_error *err); /* writes what is not in place yet */
    void (*drop)(struct ref *r); /* closes r->connection; NULL: there is none */

    /* For a place that keeps the filter and is sent the keys. `keys` sets r->remote and need not
     * set r->filter; the other calls then replace the library's. All NULL: open and change are
     * used, and the library is called on r->filter. */
    blm_status (*keys)(struct ref *r, blm_error *err);
    blm_status (*params)(struct ref *r, blm_params *p, blm_error *err);
    blm_status (*check_many)(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe,
                             size_t *hits, blm_error *err);
    blm_status (*add_many)(struct ref *r, const blm_key *keys, size_t count, uint8_t *fresh,
                           size_t *done, blm_error *err);
    blm_status (*remove_many)(struct ref *r, const blm_key *keys, size_t count, uint8_t *gone,
                              size_t *done, blm_error *err);
};

extern const struct place place_path, place_dash, place_stream, place_redis, place_near, place_copy,
    place_parquet;
/* A directory that bloomery follow keeps? */
bool place_is_copy(const char *text);

/* Fills err; text may be NULL. */
blm_status place_fail(blm_error *err, blm_status status, int system, const char *text);

#endif
