/* SPDX-License-Identifier: MIT */
/*
 * See connection.h. Commands are sent with MSG_NOSIGNAL: hiredis itself writes in a way that raises
 * SIGPIPE if the server went away, and a library must not raise signals. A connection on which
 * anything went wrong is closed, so that a late reply cannot be taken for the reply to the next
 * command.
 */
#include "connection.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define TIMEOUT_MS  1000
#define CONNECTIONS 8

blm_status blm__redis_fail(blm_error *err, blm_status st, const char *format, ...)
{
    va_list args;
    if (!err)
        return st;
    *err = (blm_error){ .status = st, .offset = BLM_NO_OFFSET };
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return st;
}

/* ---- commands ---------------------------------------------------------------------------- */

void blm__redis_arg(struct blm_redis_command *c, const void *bytes, size_t len)
{
    c->part[c->count]  = len ? bytes : "";
    c->len[c->count++] = len;
}

void blm__redis_word(struct blm_redis_command *c, const char *word)
{
    blm__redis_arg(c, word, strlen(word));
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

redisReply *blm__redis_call(redisContext *c, const struct blm_redis_command *command)
{
    char *bytes = NULL;
    void *reply = NULL;
    int   len =
        redisFormatCommandArgv(&bytes, command->count, (const char **)command->part, command->len);
    if (len < 0)
        return NULL;
    bool sent = send_all(c->fd, bytes, (size_t)len);
    redisFreeCommand(bytes);
    return sent && redisGetReply(c, &reply) == REDIS_OK ? reply : NULL;
}

/* ---- one connection ---------------------------------------------------------------------- */

static struct timeval timeout_of(const blm_redis_options *o)
{
    int ms = o->timeout_ms > 0 ? o->timeout_ms : TIMEOUT_MS;
    return (struct timeval){ ms / 1000, ms % 1000 * 1000 };
}

/* Sends AUTH or SELECT. Returns BLM_OK, or why the server refuses. */
static blm_status greet_with(redisContext *c, const struct blm_redis_command *command,
                             blm_error *err)
{
    redisReply *r = blm__redis_call(c, command);
    if (!r)
        return blm__redis_fail(err, BLM_E_IO, "Redis went away while connecting");
    blm_status st = BLM_OK;
    if (r->type == REDIS_REPLY_ERROR)
        st = blm__redis_fail(err, BLM_E_IO, "Redis: %.200s", r->str);
    freeReplyObject(r);
    return st;
}

static blm_status greet(redisContext *c, const blm_redis_options *o, blm_error *err)
{
    blm_status st = BLM_OK;
    if (o->password) {
        struct blm_redis_command auth = { .count = 0 };
        blm__redis_word(&auth, "AUTH");
        if (o->user)
            blm__redis_word(&auth, o->user);
        blm__redis_word(&auth, o->password);
        st = greet_with(c, &auth, err);
    }
    struct blm_redis_command hello = { .count = 0 };
    char                     number[16];
    if (o->database) {
        snprintf(number, sizeof number, "%d", o->database);
        blm__redis_word(&hello, "SELECT");
        blm__redis_word(&hello, number);
    } else {
        blm__redis_word(&hello,
                        "PING"); /* a server that is loading, or wants a password, says so */
    }
    return st == BLM_OK ? greet_with(c, &hello, err) : st;
}

redisContext *blm__redis_connect(const blm_redis_options *o, blm_error *err)
{
    struct timeval t    = timeout_of(o);
    const char    *host = o->host ? o->host : "127.0.0.1";
    int            port = o->port ? o->port : 6379;
    redisContext  *c    = o->socket ? redisConnectUnixWithTimeout(o->socket, t)
                                    : redisConnectWithTimeout(host, port, t);
    if (!c) {
        blm__redis_fail(err, BLM_E_MEMORY, "no memory for a connection");
        return NULL;
    }
    if (c->err)
        blm__redis_fail(err, BLM_E_IO, "Redis at %.80s:%d: %.100s", o->socket ? o->socket : host,
                        o->socket ? 0 : port, c->errstr);
    else if (redisSetTimeout(c, t) != REDIS_OK)
        blm__redis_fail(err, BLM_E_IO, "Redis: the timeout could not be set");
    else if (greet(c, o, err) == BLM_OK)
        return c;
    redisFree(c);
    return NULL;
}

/* ---- the pool ---------------------------------------------------------------------------- */

/* Copies every text. False: there is no memory, and the text is NULL. */
static bool copy_texts(blm_redis_options *o)
{
    const char **texts[] = { &o->host,   &o->socket, &o->user, &o->password,
                             &o->prefix, &o->field,  &o->hash };
    bool         good    = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i]) {
            *texts[i] = strdup(*texts[i]);
            good      = good && *texts[i];
        }
    return good;
}

blm_status blm__redis_pool_make(struct blm_redis_pool *p, const blm_redis_options *o,
                                blm_error *err)
{
    *p        = (struct blm_redis_pool){ .o = *o };
    p->most   = o->connections > 0 ? o->connections : CONNECTIONS;
    bool good = copy_texts(&p->o);
    p->idle   = calloc((size_t)p->most, sizeof *p->idle);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->returned, NULL);
    if (good && p->idle)
        return BLM_OK;
    blm__redis_pool_free(p);
    return blm__redis_fail(err, BLM_E_MEMORY, "no memory for connections");
}

void blm__redis_pool_free(struct blm_redis_pool *p)
{
    const char *texts[] = { p->o.host,   p->o.socket, p->o.user, p->o.password,
                            p->o.prefix, p->o.field,  p->o.hash };
    for (int i = 0; i < p->idle_count; i++)
        redisFree(p->idle[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((char *)texts[i]);
    free(p->idle);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->returned);
}

/* An idle connection, or a new one. `fresh`: only a new one. *was_idle: it may have died since it
 * was last used. */
static redisContext *borrow(struct blm_redis_pool *p, bool fresh, bool *was_idle, blm_error *err)
{
    redisContext *c = NULL;
    pthread_mutex_lock(&p->lock);
    while (p->lent == p->most)
        pthread_cond_wait(&p->returned, &p->lock);
    p->lent++;
    if (p->idle_count)
        c = p->idle[--p->idle_count];
    pthread_mutex_unlock(&p->lock);
    if (c && fresh) {
        redisFree(c); /* another idle connection is probably dead too */
        c = NULL;
    }
    *was_idle = c != NULL;
    if (!c)
        c = blm__redis_connect(&p->o, err);
    return c;
}

static void give_back(struct blm_redis_pool *p, redisContext *c, bool whole)
{
    if (c && !whole)
        redisFree(c);
    pthread_mutex_lock(&p->lock);
    if (c && whole)
        p->idle[p->idle_count++] = c;
    p->lent--;
    pthread_cond_signal(&p->returned);
    pthread_mutex_unlock(&p->lock);
}

/* *was_idle: it may have failed because the idle connection died earlier. */
static blm_status ask_once(struct blm_redis_pool *p, const struct blm_redis_command *command,
                           bool fresh, bool *was_idle, redisReply **out, blm_error *err)
{
    redisContext *c = borrow(p, fresh, was_idle, err);
    if (!c) {
        give_back(p, NULL, false);
        return err ? err->status : BLM_E_IO;
    }
    redisReply *r  = blm__redis_call(c, command);
    blm_status  st = BLM_OK;
    if (!r)
        st = blm__redis_fail(err, BLM_E_IO, "Redis did not answer %s: %.100s", command->part[0],
                             c->err ? c->errstr : "the server went away");
    else if (r->type == REDIS_REPLY_ERROR)
        st = blm__redis_fail(err, BLM_E_IO, "Redis: %.200s", r->str);
    give_back(p, c, r != NULL);
    if (st == BLM_OK)
        *out = r;
    else if (r)
        freeReplyObject(r);
    return st;
}

blm_status blm__redis_ask(struct blm_redis_pool *p, const struct blm_redis_command *command,
                          bool again, redisReply **out, blm_error *err)
{
    bool       was_idle = false;
    blm_status st       = ask_once(p, command, false, &was_idle, out, err);
    if (st != BLM_OK && again && was_idle)
        st = ask_once(p, command, true, &was_idle, out, err);
    return st;
}
