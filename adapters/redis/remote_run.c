/* SPDX-License-Identifier: MIT */
/*
 * Commands to the nodes that have their keys, until all are answered. A round sends every command
 * that has no answer yet, to all nodes at once, and reads until each node has answered or is lost.
 *
 * There are three sorts of answer: a reply; "not here" (MOVED, ASK: go where it says) or "not now"
 * (LOADING, TRYAGAIN, CLUSTERDOWN …: the command was not done, so it can be sent again, to any
 * node); and a refusal. If a connection is lost, we cannot know whether commands without a reply
 * were done. Those that may be done twice are sent again; for others it is trouble.
 *
 * With options.wait each node's writes are followed by WAIT on the same connection, and are done
 * only when it says that enough replicas have them. If the connection is lost before that, or the
 * node is no longer a master, they are sent again, to whoever is.
 */
#include "remote.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HOPS     16   /* redirections without a reply; more: the cluster goes in circles */
#define FIRST_PAUSE   0.05 /* seconds before another try; doubled each time */
#define LONGEST_PAUSE 1.0
#define TICK          0.25 /* seconds: how quickly a stop is noticed */
#define WAIT_MS       1000

static bool starts(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

blm_status blm__remote_refusal(const char *text, blm_error *err)
{
    static const struct {
        const char *begins;
        blm_status  status;
        const char *says;
    } known[] = {
        { "NOAUTH", BLM_E_UNSUPPORTED,
          "the server needs a password: give it as redis://user:password@host/KEY, or in the "
          "environment as REDISCLI_AUTH" },
        { "WRONGPASS", BLM_E_UNSUPPORTED, "the server refuses this user and password: check them" },
        { "ERR AUTH <password> called without any password", BLM_E_UNSUPPORTED,
          "the server has no password: remove it from the reference" },
        { "ERR invalid password", BLM_E_UNSUPPORTED, "the server refuses this password: check it" },
        { "WRONGTYPE", BLM_E_UNSUPPORTED, "the key does not hold a filter: give another key" },
        { "READONLY", BLM_E_UNSUPPORTED, "this server is a read-only replica: give its master" },
        { "OOM", BLM_E_UNSUPPORTED, "the server has no memory left (maxmemory): make room there" },
        { "ERR not found", BLM_E_ABSENT,
          "the server has no such key: check its name and database, or make it with bloomery "
          "create" },
        { "ERR item exists", BLM_E_EXISTS, "the key exists" },
        { "BUSYKEY", BLM_E_EXISTS, "the key exists" },
        { "MISCONF", BLM_E_UNSUPPORTED,
          "the server takes no writes because it cannot save to disk: see its log" },
        { "ERR non scaling filter is full", BLM_E_FULL,
          "the filter is full and cannot grow: make a larger one" },
        { "ERR received bad data", BLM_E_UNSUPPORTED,
          "the server refuses these bytes: check that its module and this bloomery have the same "
          "version" },
        { "ERR This instance has cluster support disabled", BLM_E_UNSUPPORTED,
          "the server is not part of a cluster: give redis://host/KEY" },
        { "CROSSSLOT", BLM_E_UNSUPPORTED,
          "the cluster refuses to rename the loaded key: please report this" },
    };
    if (strstr(text, "unknown command"))
        return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                               "the server does not know this BF command: load bloomery's module "
                               "(redis-server --loadmodule; README shows how)");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (starts(text, known[i].begins))
            return blm__redis_fail(err, known[i].status, "%s", known[i].says);
    return blm__redis_fail(err, BLM_E_UNSUPPORTED, "the server says: %.220s", text);
}

/* ---- one round ---- */

struct job {
    blm_remote                 *r;
    struct blm__remote_command *commands;
    size_t                      count;
    unsigned                    how;
    blm__reply_fn               take;
    void                       *ctx;
    blm_error                  *err;
    blm_status                  st; /* the first refusal */
    /* What happened in this round: */
    char   moved[160]; /* the last MOVED or ASK; empty: none */
    bool   not_now, stopped, lacking;
    bool   idle;     /* nothing came for a while */
    bool   unknown;  /* commands that may not be sent twice were on a connection that was lost */
    int    lost;     /* a node that was lost or could not be reached; −1: none */
    int    replicas; /* the fewest that a WAIT counted */
    size_t taken;
};

static bool not_now(const blm_remote *r, const char *text)
{
    return starts(text, "LOADING") || starts(text, "TRYAGAIN") || starts(text, "CLUSTERDOWN") ||
           starts(text, "MASTERDOWN") || starts(text, "BUSY ") ||
           (r->url.cluster && starts(text, "READONLY"));
}

/* "MOVED 3999 127.0.0.1:6381"; the host may be empty (that of the node that said it) or an IPv6
 * address. Returns the node, or −1. */
static int named_by(blm_remote *r, int said_by, const char *text, uint16_t *slot)
{
    const char *number = strchr(text, ' ');
    const char *place  = number ? strchr(number + 1, ' ') : NULL;
    const char *colon  = place ? strrchr(place, ':') : NULL;
    long        port   = colon ? strtol(colon + 1, NULL, 10) : 0;
    if (port <= 0 || port > 65535)
        return -1;
    const char *host = place + 1;
    size_t      len  = (size_t)(colon - host);
    if (!len) {
        host = r->nodes[said_by]->host;
        if (!host) /* a socket: the host is this one */
            host = "127.0.0.1";
        len = strlen(host);
    }
    *slot = (uint16_t)(strtoul(number + 1, NULL, 10) % BLM__SLOTS);
    return blm__node_at(r, host, len, (int)port);
}

static void redirect(struct job *j, struct blm__remote_command *c, const char *text)
{
    uint16_t slot;
    int      to = named_by(j->r, c->node, text, &slot);
    snprintf(j->moved, sizeof j->moved, "%s", text);
    j->r->stats.redirected++;
    c->state = BLM__WAITING;
    if (to < 0)
        j->st = blm__remote_refusal(text, j->err);
    else if (starts(text, "ASK"))
        c->ask = to;
    else
        j->r->owner[slot] = (int16_t)to;
}

/* The commands of a node that is gone: those on their way may have been done, and those that no
 * replica has yet may be lost. */
static void recall(struct job *j, int node)
{
    for (size_t i = 0; i < j->count; i++) {
        struct blm__remote_command *c = &j->commands[i];
        if (c->node != node || (c->state != BLM__SENT && c->state != BLM__ANSWERED))
            continue;
        c->state = BLM__WAITING;
        c->again = true;
        j->unknown |= !(j->how & BLM__AGAIN);
        j->r->stats.repeated++;
    }
}

static void lose(struct job *j, int node)
{
    j->lost = node;
    j->r->stats.lost++;
    recall(j, node);
}

static void take_reply(struct job *j, size_t i, redisReply *reply)
{
    struct blm__remote_command *c    = &j->commands[i];
    const char                 *text = reply->type == REDIS_REPLY_ERROR ? reply->str : "";
    if (starts(text, "MOVED ") || starts(text, "ASK ")) {
        redirect(j, c, text);
    } else if (not_now(j->r, text)) {
        j->not_now = true;
        c->state   = BLM__WAITING;
    } else {
        blm_error  err;
        blm_status st    = j->take ? j->take(j->ctx, i, reply, &err) : BLM_OK;
        bool       waits = j->how & BLM__WRITE && j->r->o.wait && st == BLM_OK;
        c->state         = waits ? BLM__ANSWERED : BLM__DONE;
        j->r->was_open = j->r->nodes[c->node]->met = true;
        j->taken++;
        if (st != BLM_OK && j->st == BLM_OK) {
            j->st   = st;
            *j->err = err;
        }
    }
}

/* The reply to WAIT: how many replicas have everything that this connection wrote. */
static void take_wait(struct job *j, int node, const redisReply *reply)
{
    struct blm__remote_node *n = j->r->nodes[node];
    if (reply->type != REDIS_REPLY_INTEGER) { /* it is not a master any more */
        snprintf(n->why, sizeof n->why, "%.90s", reply->str ? reply->str : "not a master");
        blm__node_hang_up(n);
        lose(j, node);
        return;
    }
    if (reply->integer < (long long)j->r->o.wait) {
        j->lacking  = true;
        j->replicas = (int)reply->integer;
        return;
    }
    for (size_t i = 0; i < j->count; i++)
        if (j->commands[i].node == node && j->commands[i].state == BLM__ANSWERED) {
            j->commands[i].state = BLM__DONE;
            j->taken++;
        }
}

/* Takes the replies that have arrived whole. */
static void take_replies(struct job *j, int node)
{
    struct blm__remote_node *n     = j->r->nodes[node];
    void                    *reply = NULL;
    while (blm__node_busy(n)) {
        if (redisGetReplyFromReader(n->c, &reply) != REDIS_OK) {
            snprintf(n->why, sizeof n->why, "%.90s", n->c->errstr);
            blm__node_hang_up(n);
            lose(j, node);
            return;
        }
        if (!reply)
            return;
        size_t what = n->queue[n->queue_at++];
        if (what == BLM__WAIT)
            take_wait(j, node, reply);
        else if (what != BLM__ASKING)
            take_reply(j, what, reply);
        freeReplyObject(reply);
    }
    n->queue_at = n->queue_len = 0;
}

static bool reach(struct job *j, int node)
{
    struct blm__remote_node *n = j->r->nodes[node];
    blm_error                err;
    if (n->down == j->r->round)
        return false;
    blm_status st = blm__node_dial(j->r, n, &err);
    if (st == BLM_OK)
        return true;
    n->down = j->r->round;
    if (st == BLM_E_IO) {
        j->lost = node;
    } else if (j->st == BLM_OK) {
        j->st   = st;
        *j->err = err;
    }
    return false;
}

static bool say_word(struct blm__remote_node *n, size_t what, const char *const *words,
                     size_t count)
{
    size_t len[3];
    for (size_t i = 0; i < count; i++)
        len[i] = strlen(words[i]);
    return blm__node_say(n, what, count, words, len);
}

static bool hand_out(struct job *j, size_t i)
{
    static const char *const    asking[] = { "ASKING" };
    struct blm__remote_command *c        = &j->commands[i];
    int                         node     = c->ask >= 0 ? c->ask : j->r->owner[c->slot];
    struct blm__remote_node    *n        = j->r->nodes[node];
    if (!reach(j, node)) {
        c->ask = -1;
        return true;
    }
    if (c->ask >= 0 && !say_word(n, BLM__ASKING, asking, 1))
        return false;
    if (!blm__node_say(n, i, c->argc, c->argv, c->len))
        return false;
    n->writes = j->how & BLM__WRITE;
    c->ask    = -1;
    c->node   = node;
    c->state  = BLM__SENT;
    j->r->stats.commands++;
    return true;
}

static bool hand_out_waits(struct job *j)
{
    char        replicas[16], ms[16];
    double      most  = blm__remote_patience(j->r) * 500;
    const char *say[] = { "WAIT", replicas, ms };
    if (!j->r->o.wait)
        return true;
    snprintf(replicas, sizeof replicas, "%u", (unsigned)j->r->o.wait);
    snprintf(ms, sizeof ms, "%d", most < 1 ? 1 : most < WAIT_MS ? (int)most : WAIT_MS);
    for (size_t i = 0; i < j->r->node_count; i++) {
        struct blm__remote_node *n = j->r->nodes[i];
        if (n->c && n->writes && !say_word(n, BLM__WAIT, say, 3))
            return false;
    }
    return true;
}

/* Gives each node its commands. False: no memory. */
static bool hand_out_all(struct job *j)
{
    double now = blm__remote_now();
    for (size_t i = 0; i < j->r->node_count; i++)
        j->r->nodes[i]->writes = false;
    for (size_t i = 0; i < j->count; i++) {
        struct blm__remote_command *c = &j->commands[i];
        if (c->state == BLM__ANSWERED && !j->r->nodes[c->node]->c)
            recall(j, c->node);
        if (c->state == BLM__ANSWERED) /* only its replicas are missing */
            j->r->nodes[c->node]->writes = true;
        else if (c->state == BLM__WAITING && !hand_out(j, i))
            return false;
    }
    bool good = hand_out_waits(j);
    for (size_t i = 0; i < j->r->node_count; i++)
        j->r->nodes[i]->heard = now;
    return good;
}

static bool stopped(const blm_remote *r) { return r->o.stop && r->o.stop(r->o.stop_ctx); }

/* One turn for each node that has something to send or to say. False: none has. */
static bool exchange(struct job *j, struct pollfd *polls, int *which)
{
    blm_remote *r        = j->r;
    nfds_t      count    = 0;
    double      patience = blm__remote_patience(r), now = blm__remote_now();
    for (size_t i = 0; i < r->node_count; i++) {
        struct blm__remote_node *n = r->nodes[i];
        if (!blm__node_busy(n))
            continue;
        if (!blm__node_send(r, n)) {
            lose(j, (int)i);
            continue;
        }
        if (now - n->heard > patience) {
            n->slow = true;
            blm__node_hang_up(n);
            lose(j, (int)i);
            continue;
        }
        short events   = n->out_at < n->out_len ? POLLIN | POLLOUT : POLLIN;
        which[count]   = (int)i;
        polls[count++] = (struct pollfd){ .fd = n->c->fd, .events = events };
    }
    if (count == 0)
        return false;
    double tick  = patience < TICK ? patience : TICK;
    int    ready = poll(polls, count, (int)(tick * 1000) + 1);
    j->idle      = ready == 0;
    for (nfds_t k = 0; ready > 0 && k < count; k++) {
        struct blm__remote_node *n = r->nodes[which[k]];
        if (!(polls[k].revents & (POLLIN | POLLERR | POLLHUP)))
            continue;
        if (blm__node_read(r, n))
            take_replies(j, which[k]);
        else
            lose(j, which[k]);
    }
    return true;
}

static bool all_done(const struct job *j)
{
    for (size_t i = 0; i < j->count; i++)
        if (j->commands[i].state != BLM__DONE)
            return false;
    return true;
}

/* False: no memory. */
static bool one_round(struct job *j)
{
    j->moved[0] = 0;
    j->not_now = j->lacking = j->unknown = false;
    j->lost                              = -1;
    j->taken                             = 0;
    j->r->round++;
    bool           good  = hand_out_all(j);
    size_t         room  = j->r->node_count; /* redirections may add nodes, which wait a round */
    struct pollfd *polls = malloc(room * sizeof *polls);
    int           *which = malloc(room * sizeof *which);
    good                 = good && polls && which;
    while (good && exchange(j, polls, which))
        if (j->idle && (j->stopped = stopped(j->r)))
            break;
    free(polls);
    free(which);
    return good;
}

/* ---- until all are answered ---- */

/* Replies that nobody will wait for must not be taken for later ones. */
static void drop_busy(blm_remote *r)
{
    for (size_t i = 0; i < r->node_count; i++)
        if (blm__node_busy(r->nodes[i]))
            blm__node_hang_up(r->nodes[i]);
}

/* After a loss: back to the server in the URL, which knows where the key is now; or ask the cluster
 * where its slots are. */
static blm_status look_around(blm_remote *r, blm_error *err)
{
    if (r->url.cluster)
        return blm__remote_map(r, err);
    memset(r->owner, 0, sizeof r->owner);
    return BLM_OK;
}

static blm_status give_up(const struct job *j)
{
    const blm_remote *r = j->r;
    if (j->stopped)
        return blm__redis_fail(j->err, BLM_E_CANCELLED, "interrupted");
    if (j->lost >= 0)
        return blm__node_lost(r, r->nodes[j->lost], j->err);
    if (j->lacking)
        return blm__redis_fail(j->err, BLM_E_IO,
                               "only %d of %u replicas have the last keys: add replicas, or ask "
                               "for fewer",
                               j->replicas, (unsigned)r->o.wait);
    return blm__redis_fail(j->err, BLM_E_IO,
                           "the server is not ready (loading, or its cluster is down): try again "
                           "later");
}

static blm_status until_done(struct job *j)
{
    blm_remote *r     = j->r;
    double      pause = FIRST_PAUSE, since = blm__remote_now();
    unsigned    hops = 0;
    for (;;) {
        if (!one_round(j))
            return blm__redis_fail(j->err, BLM_E_MEMORY, "out of memory");
        if (j->st != BLM_OK)
            return j->st;
        if (!j->stopped && all_done(j))
            return BLM_OK;
        if (j->taken) {
            since = blm__remote_now();
            pause = FIRST_PAUSE;
            hops  = 0;
        }
        bool late = blm__remote_now() - since > r->url.timeout;
        if (j->stopped || stopped(r) || (j->lost >= 0 && (!r->was_open || j->unknown)))
            return give_up(j);
        if (j->lost < 0 && !j->not_now && !j->lacking) {
            if (++hops > MOST_HOPS)
                return blm__remote_refusal(j->moved, j->err);
            continue;
        }
        if (late)
            return give_up(j);
        if (j->lost >= 0 || (j->not_now && r->url.cluster))
            look_around(r, j->err);
        hops = 0;
        blm__remote_pause(pause);
        pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE;
    }
}

blm_status blm__remote_run(blm_remote *r, struct blm__remote_command *commands, size_t count,
                           unsigned how, blm__reply_fn take, void *ctx, blm_error *err)
{
    blm_error  own;
    struct job j = { .r        = r,
                     .commands = commands,
                     .count    = count,
                     .how      = how,
                     .take     = take,
                     .ctx      = ctx,
                     .err      = err ? err : &own };
    for (size_t i = 0; i < count; i++) {
        commands[i].state = BLM__WAITING;
        commands[i].ask   = -1;
        commands[i].again = false;
    }
    blm_status st = count ? until_done(&j) : BLM_OK;
    drop_busy(r);
    return st;
}

/* ---- one command ---- */

/* blm__remote_run frees the reply after this, so its contents are moved to a copy. */
static blm_status keep(void *ctx, size_t i, const redisReply *reply, blm_error *err)
{
    redisReply **out = ctx;
    (void)i;
    if (reply->type == REDIS_REPLY_ERROR)
        return blm__remote_refusal(reply->str, err);
    redisReply *mine = *out ? *out : malloc(sizeof *mine);
    if (!mine)
        return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    if (!*out) {
        redisReply *old = (redisReply *)(uintptr_t)reply;
        *mine           = *reply;
        memset(old, 0, sizeof *old);
        old->type = REDIS_REPLY_NIL;
    }
    *out = mine;
    return BLM_OK;
}

blm_status blm__remote_call(blm_remote *r, uint16_t slot, const struct blm_redis_command *c,
                            unsigned how, redisReply **out, blm_error *err)
{
    struct blm__remote_command one   = { .argc = (size_t)c->count,
                                         .argv = (const char **)(uintptr_t)c->part,
                                         .len  = (size_t *)(uintptr_t)c->len,
                                         .slot = slot };
    redisReply                *reply = NULL;
    blm_status                 st    = blm__remote_run(r, &one, 1, how, keep, &reply, err);
    if (st == BLM_OK && out)
        *out = reply;
    else if (reply)
        freeReplyObject(reply);
    return st;
}

/* ---- where the slots are ---- */

/* [first, last, [host, port, id …], replicas …] */
static bool take_range(blm_remote *r, int said_by, const redisReply *range)
{
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3)
        return false;
    const redisReply *first = range->element[0], *last = range->element[1];
    const redisReply *node = range->element[2];
    if (first->type != REDIS_REPLY_INTEGER || last->type != REDIS_REPLY_INTEGER ||
        node->type != REDIS_REPLY_ARRAY || node->elements < 2 ||
        node->element[1]->type != REDIS_REPLY_INTEGER)
        return false;
    const redisReply *name = node->element[0];
    const char       *host =
        name->type == REDIS_REPLY_STRING && name->len ? name->str : r->nodes[said_by]->host;
    long long port = node->element[1]->integer;
    if (!host || port <= 0 || port > 65535 || first->integer < 0 || last->integer >= BLM__SLOTS)
        return false;
    int at = blm__node_at(r, host, strlen(host), (int)port);
    for (long long s = first->integer; at >= 0 && s <= last->integer; s++)
        r->owner[s] = (int16_t)at;
    return at >= 0;
}

static blm_status ask_map(blm_remote *r, int node, blm_error *err)
{
    struct blm__remote_node *n = r->nodes[node];
    struct blm_redis_command c = { .count = 0 };
    blm_status               st;
    if (blm__node_busy(n) || (st = blm__node_dial(r, n, err)) != BLM_OK)
        return BLM_E_IO;
    blm__redis_word(&c, "CLUSTER");
    blm__redis_word(&c, "SLOTS");
    redisReply *reply = blm__redis_call(n->c, &c);
    if (!reply) {
        snprintf(n->why, sizeof n->why, "%.90s", n->c->errstr);
        blm__node_hang_up(n);
        return blm__node_lost(r, n, err);
    }
    if (reply->type == REDIS_REPLY_ERROR)
        st = blm__remote_refusal(reply->str, err);
    else if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 0)
        st = blm__redis_fail(err, BLM_E_IO, "the cluster has no slots yet: join its nodes first");
    for (size_t i = 0; st == BLM_OK && i < reply->elements; i++)
        if (!take_range(r, node, reply->element[i]))
            st = blm__redis_fail(err, BLM_E_FORMAT, "the cluster's list of slots cannot be read");
    freeReplyObject(reply);
    n->met = r->was_open = r->was_open || st == BLM_OK;
    return st;
}

/* Any node can say it. Those that answered before are asked first, and then those that the URL
 * names. */
blm_status blm__remote_map(blm_remote *r, blm_error *err)
{
    blm_status st = BLM_E_IO;
    for (int connected = 1; connected >= 0; connected--)
        for (size_t i = 0; i < r->node_count; i++) {
            if ((r->nodes[i]->c != NULL) != connected)
                continue;
            st = ask_map(r, (int)i, err);
            if (st != BLM_E_IO)
                return st;
        }
    return st;
}

/* ---- slots ---- */

uint16_t blm__remote_crc16(uint16_t crc, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        crc = (uint16_t)(crc ^ (uint16_t)((uint8_t)bytes[i] << 8));
        for (int b = 0; b < 8; b++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc;
}

bool blm__remote_tag(const char *key, size_t len, const char **tag, size_t *tag_len)
{
    const char *open  = memchr(key, '{', len);
    const char *close = open ? memchr(open, '}', len - (size_t)(open - key)) : NULL;
    if (!close || close == open + 1)
        return false;
    *tag     = open + 1;
    *tag_len = (size_t)(close - open - 1);
    return true;
}

uint16_t blm__remote_slot(const char *key, size_t len)
{
    const char *tag     = key;
    size_t      tag_len = len;
    blm__remote_tag(key, len, &tag, &tag_len);
    return (uint16_t)(blm__remote_crc16(0, tag, tag_len) % BLM__SLOTS);
}
