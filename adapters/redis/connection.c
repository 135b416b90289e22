/* SPDX-License-Identifier: MIT */
/*
 * See connection.h. Commands are sent with MSG_NOSIGNAL: hiredis itself writes in a way that raises
 * SIGPIPE if the server went away, and a library must not raise signals. A connection on which
 * anything went wrong is closed, so that a late reply cannot be taken for the reply to the next
 * command. A signal is nothing that went wrong: sockets with a timeout are interrupted even if the
 * program asked for calls to be restarted, so we go on, within the timeout.
 */
#include "connection.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

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

/* ---- signals ----------------------------------------------------------------------------- */

uint64_t blm__redis_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A signal has interrupted a wait on the socket, which began anew: may it? *until is 0 at first, and
 * whenever something came or went. So signals prolong a timeout to twice its length at most. */
static bool goes_on(int fd, uint64_t *until)
{
    struct timeval t   = { 0, 0 };
    socklen_t      len = sizeof t;
    uint64_t       now = blm__redis_now();
    if (getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, &len) != 0)
        return false;
    if (!*until)
        *until = now + (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_usec / 1000 + 1;
    return now < *until || (!t.tv_sec && !t.tv_usec);
}

bool blm__redis_send(int fd, const void *bytes, size_t len)
{
    const char *at    = bytes;
    uint64_t    until = 0;
    while (len) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR && goes_on(fd, &until))
            continue;
        if (n <= 0)
            return false;
        until = 0;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

/* hiredis' own loop takes an interrupted read for an empty one, and goes on for ever. NULL: lost. */
static redisReply *receive(redisContext *c)
{
    uint64_t until = 0;
    for (;;) {
        void *reply = NULL;
        if (redisGetReplyFromReader(c, &reply) != REDIS_OK)
            return NULL;
        if (reply)
            return reply;
        size_t before = c->reader->len;
        if (redisBufferRead(c) != REDIS_OK)
            return NULL;
        if (c->reader->len != before) {
            until = 0;
        } else if (!goes_on(c->fd, &until)) {
            c->err = REDIS_ERR_IO;
            errno  = EAGAIN; /* as without signals */
            snprintf(c->errstr, sizeof c->errstr, "%s", strerror(errno));
            return NULL;
        }
    }
}

redisContext *blm__redis_dial(const char *socket, const char *host, int port, struct timeval wait)
{
    uint64_t until =
        blm__redis_now() + (uint64_t)wait.tv_sec * 1000 + (uint64_t)wait.tv_usec / 1000;
    for (;;) {
        redisContext *c = socket ? redisConnectUnixWithTimeout(socket, wait)
                                 : redisConnectWithTimeout(host, port, wait);
        if (!c || c->err != REDIS_ERR_IO || !strstr(c->errstr, strerror(EINTR)) ||
            blm__redis_now() >= until)
            return c;
        redisFree(c); /* it waits without a second try after a signal */
    }
}

/* ---- one command ------------------------------------------------------------------------- */

redisReply *blm__redis_call(redisContext *c, const struct blm_redis_command *command)
{
    char *bytes = NULL;
    int   len =
        redisFormatCommandArgv(&bytes, command->count, (const char **)command->part, command->len);
    if (len < 0)
        return NULL;
    bool sent = blm__redis_send(c->fd, bytes, (size_t)len);
    redisFreeCommand(bytes);
    return sent ? receive(c) : NULL;
}

blm_status blm__redis_ask_on(redisContext *c, const struct blm_redis_command *command, bool *whole,
                             redisReply **out, blm_error *err)
{
    redisReply *r = blm__redis_call(c, command);
    *whole        = r != NULL;
    if (!r)
        return blm__redis_fail(err, BLM_E_IO, "Redis did not answer %s: %.100s", command->part[0],
                               c->err ? c->errstr : "the server went away");
    if (r->type == REDIS_REPLY_ERROR) {
        blm__redis_fail(err, BLM_E_IO, "Redis: %.200s", r->str);
        freeReplyObject(r);
        return BLM_E_IO;
    }
    *out = r;
    return BLM_OK;
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
    redisContext  *c    = blm__redis_dial(o->socket, host, port, t);
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
        redisFree(p->idle[i].c);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((char *)texts[i]);
    free(p->idle);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->returned);
}

/* An idle connection, or a new one. `fresh`: only a new one. *was_idle: it may have died since it
 * was last used. */
static struct blm_redis_line borrow(struct blm_redis_pool *p, bool fresh, bool *was_idle,
                                    blm_error *err)
{
    struct blm_redis_line line = { .c = NULL };
    pthread_mutex_lock(&p->lock);
    while (p->lent == p->most)
        pthread_cond_wait(&p->returned, &p->lock);
    p->lent++;
    if (p->idle_count)
        line = p->idle[--p->idle_count];
    pthread_mutex_unlock(&p->lock);
    if (line.c && fresh) {
        redisFree(line.c); /* another idle connection is probably dead too */
        line = (struct blm_redis_line){ .c = NULL };
    }
    *was_idle = line.c != NULL;
    if (!line.c)
        line.c = blm__redis_connect(&p->o, err);
    return line;
}

static void give_back(struct blm_redis_pool *p, const struct blm_redis_line *line, bool whole)
{
    if (line->c && !whole)
        redisFree(line->c);
    pthread_mutex_lock(&p->lock);
    if (line->c && whole)
        p->idle[p->idle_count++] = *line;
    p->lent--;
    pthread_cond_signal(&p->returned);
    pthread_mutex_unlock(&p->lock);
}

blm_status blm__redis_name(struct blm_redis_line *line, blm_error *err)
{
    static const char        field[] = "\nrun_id:";
    struct blm_redis_command info    = { .count = 0 };
    if (line->server[0])
        return BLM_OK;
    blm__redis_word(&info, "INFO");
    blm__redis_word(&info, "server");
    redisReply *r = blm__redis_call(line->c, &info);
    if (!r)
        return blm__redis_fail(err, BLM_E_IO, "Redis did not answer INFO: %.100s",
                               line->c->err ? line->c->errstr : "the server went away");
    const char *at  = r->type == REDIS_REPLY_STRING ? strstr(r->str, field) : NULL;
    size_t      len = at ? strcspn(at += strlen(field), "\r\n") : 0;
    if (len && len < sizeof line->server)
        memcpy(line->server, at, len);
    else
        strcpy(line->server, BLM__REDIS_UNNAMED);
    freeReplyObject(r);
    return BLM_OK;
}

/* Is it the process that was meant, as far as anybody knows? */
static blm_status check_server(struct blm_redis_line *line, const char *only, blm_error *err)
{
    blm_status st    = blm__redis_name(line, err);
    bool       known = only[0] && strcmp(only, BLM__REDIS_UNNAMED) != 0 &&
                 strcmp(line->server, BLM__REDIS_UNNAMED) != 0;
    if (st == BLM_OK && known && strcmp(only, line->server) != 0)
        st = blm__redis_fail(err, BLM_E_MISMATCH,
                             "Redis was restarted or replaced, and its rows may have gone back");
    return st;
}

/* *was_idle: it may have failed because the idle connection died earlier. */
static blm_status ask_once(struct blm_redis_pool *p, const struct blm_redis_command *command,
                           bool fresh, bool *was_idle, const char *only, char *server,
                           redisReply **out, blm_error *err)
{
    struct blm_redis_line line  = borrow(p, fresh, was_idle, err);
    bool                  whole = false;
    blm_status            st    = line.c ? BLM_OK : err ? err->status : BLM_E_IO;
    if (st == BLM_OK && only)
        st = check_server(&line, only, err);
    if (st == BLM_OK)
        st = blm__redis_ask_on(line.c, command, &whole, out, err);
    if ((st == BLM_OK || st == BLM_E_MISMATCH) && server)
        memcpy(server, line.server, sizeof line.server);
    give_back(p, &line, whole);
    return st;
}

blm_status blm__redis_ask_server(struct blm_redis_pool *p, const struct blm_redis_command *command,
                                 bool again, const char *only, char *server, redisReply **out,
                                 blm_error *err)
{
    bool       was_idle = false;
    blm_status st       = ask_once(p, command, false, &was_idle, only, server, out, err);
    if (st != BLM_OK && st != BLM_E_MISMATCH && again && was_idle)
        st = ask_once(p, command, true, &was_idle, only, server, out, err);
    return st;
}

blm_status blm__redis_ask(struct blm_redis_pool *p, const struct blm_redis_command *command,
                          bool again, redisReply **out, blm_error *err)
{
    return blm__redis_ask_server(p, command, again, NULL, NULL, out, err);
}
