/* SPDX-License-Identifier: MIT */
/* A pool of connections to one Redis, with one command at a time on each. */
#ifndef ADAPTERS_REDIS_CONNECTION_H
#define ADAPTERS_REDIS_CONNECTION_H

#include <hiredis/hiredis.h>
#include <pthread.h>

#include "bloomery_redis.h"

#define BLM__REDIS_ARGS 16

struct blm_redis_pool {
    blm_redis_options o; /* with texts that the pool owns */
    pthread_mutex_t   lock;
    pthread_cond_t    returned;
    redisContext    **idle;
    int               idle_count, lent, most;
};

/* Appends one argument to a command. */
struct blm_redis_command {
    const char *part[BLM__REDIS_ARGS];
    size_t      len[BLM__REDIS_ARGS];
    int         count;
};

blm_status blm__redis_fail(blm_error *err, blm_status st, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

blm_status blm__redis_pool_make(struct blm_redis_pool *p, const blm_redis_options *o,
                                blm_error *err);
void       blm__redis_pool_free(struct blm_redis_pool *p);

/* A connection outside the pool, ready for commands. NULL: err says why. */
redisContext *blm__redis_connect(const blm_redis_options *o, blm_error *err);

void blm__redis_arg(struct blm_redis_command *c, const void *bytes, size_t len);
void blm__redis_word(struct blm_redis_command *c, const char *word);

/* Sends the command and waits for its reply on this connection. NULL: the connection is broken. An
 * error reply is returned as it is. */
redisReply *blm__redis_call(redisContext *c, const struct blm_redis_command *command);

/* Runs the command on a connection of the pool. `again` allows a second try on a new one. BLM_OK:
 * *out is a reply, not an error; free it with freeReplyObject. */
blm_status blm__redis_ask(struct blm_redis_pool *p, const struct blm_redis_command *command,
                          bool again, redisReply **out, blm_error *err);

#endif
