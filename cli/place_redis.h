/* SPDX-License-Identifier: MIT */
/* What the files of the Redis place share:
 *
 *   place_redis_uri.c         parses references, and finds the password to hide
 *   place_redis_connection.c  one connection to the server that has the key
 *   place_redis_keys.c        checks, adds and removes keys on the server
 *   place_redis_chunks.c      pulls and pushes whole filters in chunks
 *   place_redis.c             the place itself
 */
#ifndef CLI_PLACE_REDIS_H
#define CLI_PLACE_REDIS_H

#include "place.h"

/* ---- references ---- */

struct redis_uri {
    char    *host;   /* NULL: a socket */
    char    *socket; /* NULL: a host */
    int      port;
    char    *user, *password; /* NULL: none */
    uint64_t db;
    char    *key; /* its bytes; NUL-ended too */
    size_t   key_len;
    double   timeout; /* seconds to wait for an answer */
};

/* err says what is wrong with it. */
blm_status redis_uri_parse(const char *text, struct redis_uri *u, blm_error *err);
void       redis_uri_free(struct redis_uri *u);
/* The part of a reference that nobody should see: user, password and @. 0: there is none. */
size_t redis_uri_secret(const char *text, size_t *at);

#ifdef BLOOMERY_WITH_HIREDIS
#include <hiredis.h>

/* ---- the connection ---- */

struct redis_connection {
    struct redis_uri uri;
    redisContext    *c;    /* NULL: not connected */
    char            *host; /* where a cluster redirected us; NULL: where uri says */
    int              port;
    bool             asking; /* send ASKING before each command: the key is moving to that server */
    bool             was_open; /* the server has answered before: worth trying again */
    bool             counting; /* an add sent twice counts twice */
    bool             repeated; /* some commands were sent again that may have been done before */
    bool             ours;     /* the key is of our own type, native bytes */
};

struct redis_command {
    size_t       argc;
    const char **argv;
    size_t      *len;
    bool         done; /* its reply has been taken */
};

blm_status redis_connect(struct redis_connection **out, const char *text, blm_error *err);
void       redis_disconnect(struct redis_connection *l);

/* Takes the reply to command i; not BLM_OK: stop, with err filled. */
typedef blm_status (*redis_reply_fn)(void *ctx, size_t i, const redisReply *reply, blm_error *err);

/* Sends the commands in one go and hands each reply to `take`, in order except for commands that
 * had to be sent again. Follows redirections to the server that has the key (MOVED, ASK), and waits
 * for a server that is not ready. `again`: if the connection is lost, commands without a reply may
 * be sent once more. */
blm_status redis_run(struct redis_connection *l, struct redis_command *commands, size_t count,
                     bool again, redis_reply_fn take, void *ctx, blm_error *err);

/* Sends one command, given as words that end with NULL. The caller frees the reply. NULL: err says
 * why, also for an error reply. */
redisReply *redis_call(struct redis_connection *l, bool again, blm_error *err, ...);
/* The same with words that have a length. */
redisReply *redis_call_argv(struct redis_connection *l, bool again, size_t argc, const char **argv,
                            size_t *len, blm_error *err);

/* Fills err from an error reply, with what to do about it if we know. */
blm_status redis_refusal(const struct redis_connection *l, const char *text, blm_error *err);
/* Fills err for a connection that failed. */
blm_status redis_lost(const struct redis_connection *l, blm_error *err);

/* ---- keys ---- */

blm_status redis_check_keys(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe,
                            size_t *hits, blm_error *err);
blm_status redis_add_keys(struct ref *r, const blm_key *keys, size_t count, uint8_t *fresh,
                          size_t *done, blm_error *err);
blm_status redis_remove_keys(struct ref *r, const blm_key *keys, size_t count, uint8_t *gone,
                             size_t *done, blm_error *err);

/* ---- whole filters ---- */

/* r->filter becomes a copy of what the server has. */
blm_status redis_pull(struct ref *r, blm_error *err);
/* Puts r->filter under the key, all at once, in the format (NULL: its own). */
blm_status redis_push(struct ref *r, const char *format, bool replace, blm_error *err);
/* Makes an empty filter. The server makes it itself if BF.RESERVE can express it; else it is
 * pushed. */
blm_status redis_reserve(struct ref *r, const blm_options *o, bool replace, blm_error *err);
#endif

#endif
