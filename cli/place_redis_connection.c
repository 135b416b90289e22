/* SPDX-License-Identifier: MIT */
/*
 * One connection, to the server that has the key.
 *
 * There are three sorts of answer: a reply; "not here" (MOVED, ASK: go where it says) or "not now"
 * (LOADING, CLUSTERDOWN …: the command was not done, so it can be sent again, to any server); and a
 * refusal. If the connection is lost, we cannot know whether commands without a reply were done.
 * Those that may be done twice are sent again; for others it is trouble.
 */
#ifdef BLOOMERY_WITH_HIREDIS
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interrupt.h"
#include "memory.h"
#include "place_redis.h"
#include "progress.h"

#define MOST_HOPS     16   /* redirections without a reply; more: the cluster goes in circles */
#define FIRST_PAUSE   0.05 /* seconds before another try; doubled each time */
#define LONGEST_PAUSE 1.0

static struct timeval seconds(double s)
{
    struct timeval t = { .tv_sec = (time_t)s };
    t.tv_usec        = (suseconds_t)((s - (double)t.tv_sec) * 1e6);
    return t;
}

static bool starts(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* ---- messages ---- */

blm_status redis_refusal(const struct redis_connection *l, const char *text, blm_error *err)
{
    static const struct {
        const char *begins, *says;
    } known[] = {
        { "NOAUTH", "the server needs a password: give it as redis://user:password@host/KEY, or "
                    "in the environment as REDISCLI_AUTH" },
        { "WRONGPASS", "the server refuses this user and password: check them" },
        { "ERR AUTH <password> called without any password",
          "the server has no password: remove it from the reference" },
        { "ERR invalid password", "the server refuses this password: check it" },
        { "WRONGTYPE", "the key does not hold a filter: give another key" },
        { "READONLY", "this server is a read-only replica: give its master" },
        { "OOM", "the server has no memory left (maxmemory): make room there" },
        { "ERR not found", "the server has no such key: check its name and database, or make it "
                           "with bloomery create" },
        { "ERR item exists", NULL },
        { "BUSYKEY", NULL },
        { "MISCONF", "the server takes no writes because it cannot save to disk: see its log" },
        { "ERR non scaling filter is full", "the filter is full and cannot grow: make a larger "
                                            "one" },
        { "ERR received bad data",
          "the server refuses these bytes: check that its module and this bloomery have the same "
          "version" },
        { "CROSSSLOT", "the cluster refuses to rename the loaded key: please report this" },
    };
    char words[240];
    (void)l;
    if (strstr(text, "unknown command"))
        return place_fail(err, BLM_E_UNSUPPORTED, 0,
                          "the server does not know this BF command: load bloomery's module "
                          "(redis-server --loadmodule; README shows how)");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (starts(text, known[i].begins))
            return known[i].says ? place_fail(err, BLM_E_UNSUPPORTED, 0, known[i].says)
                                 : place_fail(err, BLM_E_EXISTS, 0, NULL);
    snprintf(words, sizeof words, "the server says: %s", text);
    return place_fail(err, BLM_E_UNSUPPORTED, 0, words);
}

static void where(const struct redis_connection *l, char *out, size_t room)
{
    const char *host = l->host ? l->host : l->uri.host;
    if (host)
        snprintf(out, room, strchr(host, ':') ? "[%.80s]:%d" : "%.80s:%d", host,
                 l->host ? l->port : l->uri.port);
    else
        snprintf(out, room, "%.90s", l->uri.socket);
}

blm_status redis_lost(const struct redis_connection *l, blm_error *err)
{
    char        at[100], words[256];
    const char *what = l->c && l->c->errstr[0] ? l->c->errstr : "out of memory";
    bool        slow = l->c && l->c->err == REDIS_ERR_IO && (errno == EAGAIN || errno == ETIMEDOUT);
    where(l, at, sizeof at);
    if (slow)
        snprintf(words, sizeof words,
                 "%s did not answer within %g seconds: check that it is "
                 "running well, or give a longer ?timeout",
                 at, l->uri.timeout);
    else if (!l->was_open)
        snprintf(words, sizeof words,
                 "cannot reach %s: %.80s: check that the server is running "
                 "there",
                 at, what);
    else
        snprintf(words, sizeof words, "lost the connection to %s: %.100s", at, what);
    return place_fail(err, BLM_E_IO, 0, words);
}

/* ---- connecting ---- */

static void hang_up(struct redis_connection *l)
{
    if (l->c)
        redisFree(l->c);
    l->c = NULL;
}

/* Sends a command of the handshake. */
static blm_status greet(struct redis_connection *l, int argc, const char **argv, blm_error *err)
{
    redisReply *reply = redisCommandArgv(l->c, argc, argv, NULL);
    if (!reply)
        return redis_lost(l, err);
    blm_status st = reply->type == REDIS_REPLY_ERROR ? redis_refusal(l, reply->str, err) : BLM_OK;
    /* The server is loading, or the like: the command itself will get the same answer and wait. */
    if (st != BLM_OK && starts(reply->str, "LOADING"))
        st = BLM_OK;
    freeReplyObject(reply);
    return st;
}

static blm_status dial(struct redis_connection *l, blm_error *err)
{
    const struct redis_uri *u    = &l->uri;
    const char             *host = l->host ? l->host : u->host;
    struct timeval          wait = seconds(u->timeout);
    blm_status              st   = BLM_OK;
    errno                        = 0;
    l->c = host ? redisConnectWithTimeout(host, l->host ? l->port : u->port, wait)
                : redisConnectUnixWithTimeout(u->socket, wait);
    if (!l->c || l->c->err || redisSetTimeout(l->c, wait) != REDIS_OK) {
        st = redis_lost(l, err);
    } else {
        char        db[24];
        const char *auth[3]   = { "AUTH", u->user ? u->user : u->password, u->password };
        const char *choose[2] = { "SELECT", db };
        snprintf(db, sizeof db, "%llu", (unsigned long long)u->db);
        if (u->password)
            st = greet(l, u->user ? 3 : 2, auth, err);
        if (st == BLM_OK && u->db)
            st = greet(l, 2, choose, err);
    }
    if (st != BLM_OK)
        hang_up(l);
    return st;
}

blm_status redis_connect(struct redis_connection **out, const char *text, blm_error *err)
{
    struct redis_connection *l = memory_need(sizeof *l);
    *l                         = (struct redis_connection){ 0 };
    blm_status st              = redis_uri_parse(text, &l->uri, err);
    if (st == BLM_OK)
        st = dial(l, err);
    if (st == BLM_OK) {
        *out = l;
        return BLM_OK;
    }
    redis_disconnect(l);
    return st;
}

void redis_disconnect(struct redis_connection *l)
{
    if (!l)
        return;
    hang_up(l);
    redis_uri_free(&l->uri);
    free(l->host);
    free(l);
}

/* ---- commands ---- */

/* "MOVED 3999 127.0.0.1:6381"; the host may be empty (the one we have) or an IPv6 address. */
static bool follow(struct redis_connection *l, const char *text)
{
    const char *place = strchr(text, ' ');
    place             = place ? strchr(place + 1, ' ') : NULL;
    const char *colon = place ? strrchr(place, ':') : NULL;
    int         port  = colon ? atoi(colon + 1) : 0;
    if (port <= 0 || port > 65535)
        return false;
    size_t      len  = (size_t)(colon - place - 1);
    const char *from = len ? place + 1 : l->host ? l->host : l->uri.host;
    if (!from) /* a socket: the host is this one */
        from = "127.0.0.1";
    if (!len || from != place + 1)
        len = strlen(from);
    char *host = memory_need(len + 1);
    memcpy(host, from, len);
    host[len] = 0;
    free(l->host);
    l->host   = host;
    l->port   = port;
    l->asking = starts(text, "ASK");
    hang_up(l);
    return true;
}

static bool not_now(const char *text)
{
    return starts(text, "LOADING") || starts(text, "TRYAGAIN") || starts(text, "CLUSTERDOWN") ||
           starts(text, "MASTERDOWN") || starts(text, "BUSY ");
}

struct round {
    char   moved[160]; /* the last MOVED or ASK; empty: none */
    bool   wait;       /* some commands got "not now" */
    bool   lost;       /* the connection was lost */
    size_t taken;
};

static blm_status take_reply(struct redis_connection *l, struct redis_command *c, size_t i,
                             redisReply *reply, redis_reply_fn take, void *ctx, struct round *round,
                             blm_error *err)
{
    const char *text = reply->type == REDIS_REPLY_ERROR ? reply->str : "";
    blm_status  st   = BLM_OK;
    if (starts(text, "MOVED ") || starts(text, "ASK ")) {
        snprintf(round->moved, sizeof round->moved, "%s", text);
    } else if (not_now(text)) {
        round->wait = true;
    } else {
        c->done     = true;
        l->was_open = true;
        round->taken++;
        if (take)
            st = take(ctx, i, reply, err);
    }
    freeReplyObject(reply);
    return st;
}

/* Sends the commands that have no reply yet and takes their replies. */
static blm_status once(struct redis_connection *l, struct redis_command *commands, size_t count,
                       redis_reply_fn take, void *ctx, struct round *round, blm_error *err)
{
    blm_status st = BLM_OK;
    for (size_t i = 0; i < count; i++) {
        if (commands[i].done)
            continue;
        if (l->asking)
            redisAppendCommand(l->c, "ASKING");
        redisAppendCommandArgv(l->c, (int)commands[i].argc, commands[i].argv, commands[i].len);
    }
    for (size_t i = 0; i < count; i++) {
        redisReply *reply = NULL;
        if (commands[i].done)
            continue;
        if (l->asking && redisGetReply(l->c, (void **)&reply) == REDIS_OK)
            freeReplyObject(reply);
        reply = NULL;
        errno = 0;
        if (redisGetReply(l->c, (void **)&reply) != REDIS_OK || !reply) {
            round->lost = true;
            return st == BLM_OK ? redis_lost(l, err) : st;
        }
        blm_status this =
            take_reply(l, &commands[i], i, reply, st == BLM_OK ? take : NULL, ctx, round, err);
        if (this != BLM_OK)
            st = this;
    }
    return st;
}

static void pause_for(double *length)
{
    struct timespec t = { .tv_sec  = (time_t)*length,
                          .tv_nsec = (long)((*length - (double)(time_t)*length) * 1e9) };
    nanosleep(&t, NULL);
    *length = *length * 2 < LONGEST_PAUSE ? *length * 2 : LONGEST_PAUSE;
}

/* Back to the server in the reference: it knows where the key is now. */
static void go_home(struct redis_connection *l)
{
    hang_up(l);
    free(l->host);
    l->host   = NULL;
    l->asking = false;
}

blm_status redis_run(struct redis_connection *l, struct redis_command *commands, size_t count,
                     bool again, redis_reply_fn take, void *ctx, blm_error *err)
{
    double   pause = FIRST_PAUSE, since = now();
    unsigned hops = 0;
    for (size_t i = 0; i < count; i++)
        commands[i].done = false;
    for (;;) {
        struct round round = { 0 };
        blm_status   st    = l->c ? BLM_OK : dial(l, err);
        if (st == BLM_OK)
            st = once(l, commands, count, take, ctx, &round, err);
        else
            round.lost = true;
        if (round.taken) {
            since = now();
            pause = FIRST_PAUSE;
            hops  = 0;
        }
        if (st != BLM_OK && !round.lost)
            return st;
        if (round.lost) {
            bool sent = l->c != NULL;
            if (!l->was_open || (sent && !again) || now() - since > l->uri.timeout || interrupted())
                return st;
            l->repeated |= sent;
            go_home(l);
            pause_for(&pause);
        } else if (round.moved[0]) {
            if (++hops > MOST_HOPS || !follow(l, round.moved))
                return redis_refusal(l, round.moved, err);
        } else if (round.wait) {
            if (now() - since > l->uri.timeout || interrupted())
                return place_fail(err, BLM_E_IO, 0,
                                  "the server is not ready (loading, or its cluster is down): "
                                  "try again later");
            pause_for(&pause);
        } else {
            return BLM_OK;
        }
    }
}

/* ---- one command ---- */

struct single {
    const struct redis_connection *connection;
    redisReply                    *reply;
};

/* redis_run frees the reply after this, so its contents are moved to a copy. */
static blm_status keep(void *ctx, size_t i, const redisReply *reply, blm_error *err)
{
    struct single *s = ctx;
    (void)i;
    if (reply->type == REDIS_REPLY_ERROR)
        return redis_refusal(s->connection, reply->str, err);
    redisReply *mine = memory_need(sizeof *mine);
    *mine            = *reply;
    redisReply *old  = (redisReply *)(uintptr_t)reply;
    memset(old, 0, sizeof *old);
    old->type = REDIS_REPLY_NIL;
    s->reply  = mine;
    return BLM_OK;
}

redisReply *redis_call_argv(struct redis_connection *l, bool again, size_t argc, const char **argv,
                            size_t *len, blm_error *err)
{
    struct redis_command c = { .argc = argc, .argv = argv, .len = len };
    struct single        s = { .connection = l };
    return redis_run(l, &c, 1, again, keep, &s, err) == BLM_OK ? s.reply : NULL;
}

#define MOST_WORDS 12

redisReply *redis_call(struct redis_connection *l, bool again, blm_error *err, ...)
{
    const char *argv[MOST_WORDS];
    size_t      len[MOST_WORDS], n = 0;
    va_list     words;
    va_start(words, err);
    for (const char *w; n < MOST_WORDS && (w = va_arg(words, const char *)) != NULL; n++) {
        argv[n] = w;
        /* The key may hold NUL bytes; it is recognised by its address. */
        len[n] = w == l->uri.key ? l->uri.key_len : strlen(w);
    }
    va_end(words);
    return redis_call_argv(l, again, n, argv, len, err);
}
#else
typedef int redis_connection_is_not_built; /* a C file must declare something */
#endif
