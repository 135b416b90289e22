/* SPDX-License-Identifier: MIT */
/* A pool of connections to one Redis, with one command at a time on each. */
#ifndef ADAPTERS_REDIS_CONNECTION_H
#define ADAPTERS_REDIS_CONNECTION_H

#include <hiredis/hiredis.h>
#include <pthread.h>

#include "bloomery_redis.h"

#define BLM__REDIS_ARGS 16

/* The name of a server process, its run_id: a restart gives it another one. */
#define BLM__REDIS_SERVER  48
#define BLM__REDIS_UNNAMED "?" /* it does not say */

/* A connection of the pool. */
struct blm_redis_line {
    redisContext *c;
    char          server[BLM__REDIS_SERVER]; /* whose answers come; empty: not asked for yet */
};

struct blm_redis_pool {
    blm_redis_options      o; /* with texts that the pool owns */
    pthread_mutex_t        lock;
    pthread_cond_t         returned;
    struct blm_redis_line *idle;
    int                    idle_count, lent, most;
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

/* Asks for the server's name, once for each connection. An error reply (the user may not run INFO) and
 * a server that does not say are no failure. */
blm_status blm__redis_name(struct blm_redis_line *line, blm_error *err);

void blm__redis_arg(struct blm_redis_command *c, const void *bytes, size_t len);
void blm__redis_word(struct blm_redis_command *c, const char *word);

/* Milliseconds, by a clock that nobody sets. */
uint64_t blm__redis_now(void);

/* The following go on when a signal interrupts them, for as long as the timeout says. */

/* hiredis' connection, by the socket or else to host and port, as hiredis gives it. */
redisContext *blm__redis_dial(const char *socket, const char *host, int port, struct timeval wait);
/* All of it. False: errno says why. */
bool blm__redis_send(int fd, const void *bytes, size_t len);
/* Sends the command and waits for its reply on this connection. NULL: the connection is broken. An
 * error reply is returned as it is. */
redisReply *blm__redis_call(redisContext *c, const struct blm_redis_command *command);

/* The same. BLM_OK: *out is a reply, not an error; free it with freeReplyObject. *whole: the connection
 * is as before. */
blm_status blm__redis_ask_on(redisContext *c, const struct blm_redis_command *command, bool *whole,
                             redisReply **out, blm_error *err);

/* Runs the command on a connection of the pool. `again` allows a second try on a new one.
 * *out is as above. */
blm_status blm__redis_ask(struct blm_redis_pool *p, const struct blm_redis_command *command,
                          bool again, redisReply **out, blm_error *err);

/* The same of one server process. `only`: its name; if that of the connection's is another, nothing is
 * sent: E_MISMATCH. Empty: of any. NULL: nobody asks. *server (or NULL) becomes the name of the one that
 * answered, or that was not the one. */
blm_status blm__redis_ask_server(struct blm_redis_pool *p, const struct blm_redis_command *command,
                                 bool again, const char *only, char *server, redisReply **out,
                                 blm_error *err);

#endif
