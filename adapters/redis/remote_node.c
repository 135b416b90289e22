/* SPDX-License-Identifier: MIT */
/*
 * A connection to one node. Commands gather in a buffer and leave as the socket takes them, while
 * replies to earlier ones come in, so neither side ever waits for the other with full buffers.
 * Everything is sent with MSG_NOSIGNAL, as in connection.c.
 */
#include "remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define MOST_CONNECT 2.0 /* seconds to connect to a node of a cluster */

double blm__remote_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void blm__remote_pause(double seconds)
{
    struct timespec t = { .tv_sec = (time_t)seconds };
    t.tv_nsec         = (long)((seconds - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
}

/* A cluster may replace a node that says nothing, so there it is given up while time is left. */
double blm__remote_patience(const blm_remote *r)
{
    return r->url.cluster ? r->url.timeout / 4 : r->url.timeout;
}

/* ---- which nodes there are ---- */

static int add_node(blm_remote *r, const char *host, size_t len, int port)
{
    struct blm__remote_node **more = realloc(r->nodes, (r->node_count + 1) * sizeof *more);
    if (!more)
        return -1;
    r->nodes                   = more;
    struct blm__remote_node *n = calloc(1, sizeof *n);
    if (!n)
        return -1;
    n->port = port;
    n->host = host ? strndup(host, len) : NULL;
    if (host && !n->host) {
        free(n);
        return -1;
    }
    r->nodes[r->node_count] = n;
    return (int)r->node_count++;
}

int blm__node_at(blm_remote *r, const char *host, size_t len, int port)
{
    for (size_t i = 0; i < r->node_count; i++) {
        const struct blm__remote_node *n = r->nodes[i];
        if (host ? n->host && strlen(n->host) == len && memcmp(n->host, host, len) == 0 &&
                       n->port == port
                 : !n->host)
            return (int)i;
    }
    return r->node_count < INT16_MAX ? add_node(r, host, len, port) : -1;
}

void blm__node_hang_up(struct blm__remote_node *n)
{
    if (n->c)
        redisFree(n->c);
    n->c        = NULL;
    n->queue_at = n->queue_len = 0;
    n->out_at = n->out_len = 0;
}

void blm__node_free(struct blm__remote_node *n)
{
    blm__node_hang_up(n);
    free(n->host);
    free(n->out);
    free(n->queue);
    free(n);
}

/* ---- connecting ---- */

static void address(const blm_remote *r, const struct blm__remote_node *n, char *out, size_t room)
{
    if (n->host)
        snprintf(out, room, strchr(n->host, ':') ? "[%.80s]:%d" : "%.80s:%d", n->host, n->port);
    else
        snprintf(out, room, "%.90s", r->url.socket);
}

blm_status blm__node_lost(const blm_remote *r, const struct blm__remote_node *n, blm_error *err)
{
    char at[100];
    address(r, n, at, sizeof at);
    if (n->slow)
        return blm__redis_fail(err, BLM_E_IO,
                               "%s did not answer within %g seconds: check that it is running "
                               "well, or give a longer ?timeout",
                               at, blm__remote_patience(r));
    if (!n->met)
        return blm__redis_fail(err, BLM_E_IO,
                               "cannot reach %s: %.80s: check that the server is running there", at,
                               n->why);
    return blm__redis_fail(err, BLM_E_IO, "lost the connection to %s: %.100s", at, n->why);
}

/* Keeps why the connection failed, and closes it. */
static void give_up(struct blm__remote_node *n, const char *why)
{
    n->slow = !why && n->c && n->c->err == REDIS_ERR_IO && (errno == EAGAIN || errno == ETIMEDOUT);
    snprintf(n->why, sizeof n->why, "%.99s",
             why                       ? why
             : n->c && n->c->errstr[0] ? n->c->errstr
                                       : "out of memory");
    blm__node_hang_up(n);
}

/* Sends a command of the handshake. E_IO: lost. */
static blm_status greet(blm_remote *r, struct blm__remote_node *n,
                        const struct blm_redis_command *c, blm_error *err)
{
    errno             = 0;
    redisReply *reply = blm__redis_call(n->c, c);
    if (!reply) {
        give_up(n, NULL);
        return blm__node_lost(r, n, err);
    }
    /* The server is loading, or the like: the command itself will get the same answer and wait. */
    bool       refused = reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "LOADING", 7) != 0;
    blm_status st      = refused ? blm__remote_refusal(reply->str, err) : BLM_OK;
    freeReplyObject(reply);
    if (st != BLM_OK)
        blm__node_hang_up(n);
    return st;
}

static blm_status log_in(blm_remote *r, struct blm__remote_node *n, blm_error *err)
{
    const struct blm__remote_url *u    = &r->url;
    struct blm_redis_command      auth = { .count = 0 }, choose = { .count = 0 };
    char                          db[24];
    blm_status                    st = BLM_OK;
    if (u->password) {
        blm__redis_word(&auth, "AUTH");
        if (u->user)
            blm__redis_word(&auth, u->user);
        blm__redis_word(&auth, u->password);
        st = greet(r, n, &auth, err);
    }
    if (u->db && st == BLM_OK) {
        snprintf(db, sizeof db, "%llu", (unsigned long long)u->db);
        blm__redis_word(&choose, "SELECT");
        blm__redis_word(&choose, db);
        st = greet(r, n, &choose, err);
    }
    return st;
}

static struct timeval timeval_of(double s)
{
    struct timeval t = { .tv_sec = (time_t)s };
    t.tv_usec        = (suseconds_t)((s - (double)t.tv_sec) * 1e6);
    return t;
}

blm_status blm__node_dial(blm_remote *r, struct blm__remote_node *n, blm_error *err)
{
    double patience = blm__remote_patience(r);
    if (n->c)
        return BLM_OK;
    errno = 0;
    struct timeval connect =
        timeval_of(r->url.cluster && patience > MOST_CONNECT ? MOST_CONNECT : patience);
    n->c = blm__redis_dial(n->host ? NULL : r->url.socket, n->host, n->port, connect);
    if (!n->c || n->c->err || redisSetTimeout(n->c, timeval_of(patience)) != REDIS_OK) {
        give_up(n, NULL);
        return blm__node_lost(r, n, err);
    }
    return log_in(r, n, err);
}

/* ---- out ---- */

static bool make_room(struct blm__remote_node *n, size_t len)
{
    if (n->out_at == n->out_len)
        n->out_at = n->out_len = 0;
    if (n->out_room - n->out_len >= len)
        return true;
    size_t room = (n->out_len + len) * 2;
    char  *more = realloc(n->out, room);
    if (!more)
        return false;
    n->out      = more;
    n->out_room = room;
    return true;
}

static void put(struct blm__remote_node *n, const void *bytes, size_t len)
{
    if (len)
        memcpy(n->out + n->out_len, bytes, len);
    n->out_len += len;
}

static void put_number(struct blm__remote_node *n, char type, size_t number)
{
    char text[24];
    put(n, text, (size_t)snprintf(text, sizeof text, "%c%zu\r\n", type, number));
}

static bool expect(struct blm__remote_node *n, size_t what)
{
    if (n->queue_len == n->queue_room) {
        size_t  room = n->queue_room ? n->queue_room * 2 : 64;
        size_t *more = realloc(n->queue, room * sizeof *more);
        if (!more)
            return false;
        n->queue      = more;
        n->queue_room = room;
    }
    n->queue[n->queue_len++] = what;
    return true;
}

bool blm__node_say(struct blm__remote_node *n, size_t what, size_t argc, const char *const *argv,
                   const size_t *len)
{
    size_t bytes = 24;
    for (size_t i = 0; i < argc; i++)
        bytes += len[i] + 26;
    if (!make_room(n, bytes) || !expect(n, what))
        return false;
    put_number(n, '*', argc);
    for (size_t i = 0; i < argc; i++) {
        put_number(n, '$', len[i]);
        put(n, argv[i], len[i]);
        put(n, "\r\n", 2);
    }
    return true;
}

bool blm__node_send(blm_remote *r, struct blm__remote_node *n)
{
    while (n->out_at < n->out_len) {
        ssize_t some =
            send(n->c->fd, n->out + n->out_at, n->out_len - n->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return true;
        if (some <= 0) {
            give_up(n, strerror(errno));
            return false;
        }
        n->out_at += (size_t)some;
        r->stats.sent += (uint64_t)some;
    }
    return true;
}

/* ---- in ---- */

bool blm__node_read(blm_remote *r, struct blm__remote_node *n)
{
    size_t before = n->c->reader->len;
    errno         = 0;
    if (redisBufferRead(n->c) != REDIS_OK) {
        give_up(n, NULL);
        return false;
    }
    size_t after = n->c->reader->len;
    r->stats.received += after > before ? after - before : 0;
    n->heard = blm__remote_now();
    return true;
}
