/* SPDX-License-Identifier: MIT */
/*
 * Checks, adds and removes keys on the server. A batch is cut into commands of a thousand keys or a
 * mebibyte, which are all sent before the first reply is read. So the batch bounds the memory, and
 * a batch costs one round trip.
 *
 * Adds are sent as BF.INSERT NOCREATE, because BF.MADD would make a new small filter if someone has
 * deleted the key meanwhile. If the filter is gone (it expired, was evicted, or the server
 * restarted without its data), a server answers no for every key. So each batch of checks ends with
 * TYPE: a no without a filter is trouble, not an answer. This does not notice a filter that was
 * gone during the checks and made again before TYPE.
 */
#ifdef BLOOMERY_WITH_HIREDIS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "place_redis.h"

#define KEYS_EACH  1000u
#define BYTES_EACH ((size_t)1 << 20)
#define MOST_HEAD  4u                      /* words before the keys */
#define MOST_KEY   (((size_t)1 << 29) - 1) /* the longest argument Redis takes */

/* A batch that is being sent. */
struct flight {
    struct redis_connection *connection;
    struct redis_command    *commands;
    size_t                  *first; /* of each command's keys; one more at the end */
    size_t                   count;
    bool                     there; /* the last command asks whether there is a filter */
    const char             **argv;  /* of all commands, one after the other */
    size_t                  *len;
    uint8_t                 *out; /* one answer per key, or NULL */
    size_t                   answered, ones;
};

/* How many of the keys from `at` on fit in one command. */
static size_t portion(const blm_key *keys, size_t at, size_t count)
{
    size_t n = 0, bytes = 0;
    while (at + n < count && n < KEYS_EACH && (n == 0 || bytes + keys[at + n].len <= BYTES_EACH))
        bytes += keys[at + n++].len;
    return n;
}

static void load(struct flight *f, const char *const *head, size_t words, const blm_key *keys,
                 size_t count)
{
    const struct redis_uri *u     = &f->connection->uri;
    size_t                  parts = 0, used = 0;
    for (size_t at = 0; at < count; parts++)
        at += portion(keys, at, count);
    size_t room = (parts + 1) * MOST_HEAD + count;
    f->count    = parts + f->there;
    f->commands = memory_need((parts + 1) * sizeof *f->commands);
    f->first    = memory_need((parts + 1) * sizeof *f->first);
    f->argv     = memory_need(room * sizeof *f->argv);
    f->len      = memory_need(room * sizeof *f->len);
    for (size_t i = 0, at = 0; i < parts; i++) {
        size_t n       = portion(keys, at, count);
        f->first[i]    = at;
        f->commands[i] = (struct redis_command){ .argv = f->argv + used,
                                                 .len  = f->len + used,
                                                 .argc = words + n };
        for (size_t w = 0; w < words; w++, used++) {
            f->argv[used] = head[w];
            f->len[used]  = head[w] == u->key ? u->key_len : strlen(head[w]);
        }
        for (size_t k = 0; k < n; k++, used++, at++) {
            f->argv[used] = keys[at].data;
            f->len[used]  = keys[at].len;
        }
    }
    f->first[parts] = count;
    f->commands[parts] =
        (struct redis_command){ .argv = f->argv + used, .len = f->len + used, .argc = 2 };
    f->argv[used]     = "TYPE";
    f->len[used]      = strlen("TYPE");
    f->argv[used + 1] = u->key;
    f->len[used + 1]  = u->key_len;
}

static void unload(struct flight *f)
{
    free(f->commands);
    free(f->first);
    free(f->argv);
    free(f->len);
}

static blm_status odd(blm_error *err)
{
    return place_fail(err, BLM_E_FORMAT, 0,
                      "the server's reply does not fit the command: check "
                      "that it is Redis");
}

/* A reply is one number or an array of numbers. If the filter is full, the array ends early with an
 * error. */
static blm_status take(void *ctx, size_t i, const redisReply *reply, blm_error *err)
{
    struct flight *f = ctx;
    if (reply->type == REDIS_REPLY_ERROR)
        return redis_refusal(f->connection, reply->str, err);
    if (f->there && i + 1 == f->count)
        return reply->str && strcmp(reply->str, "none") == 0
                   ? redis_refusal(f->connection, "ERR not found", err)
                   : BLM_OK;
    size_t first = f->first[i], n = f->first[i + 1] - first;
    bool   array = reply->type == REDIS_REPLY_ARRAY;
    if (!array && (reply->type != REDIS_REPLY_INTEGER || n != 1))
        return odd(err);
    for (size_t k = 0; k < (array ? reply->elements : 1); k++) {
        const redisReply *e = array ? reply->element[k] : reply;
        if (e->type == REDIS_REPLY_ERROR)
            return redis_refusal(f->connection, e->str, err);
        if (e->type != REDIS_REPLY_INTEGER || k >= n)
            return odd(err);
        if (f->out)
            f->out[first + k] = e->integer > 0;
        f->ones += e->integer > 0;
        f->answered++;
    }
    return array && reply->elements < n ? odd(err) : BLM_OK;
}

static blm_status fly(struct flight *f, const char *const *head, const blm_key *keys, size_t count,
                      bool again, blm_error *err)
{
    size_t words = 0;
    while (head[words])
        words++;
    for (size_t i = 0; i < count; i++)
        if (keys[i].len > MOST_KEY)
            return place_fail(err, BLM_E_LIMIT, 0,
                              "a key in the input is longer than 512 MiB, the most that Redis "
                              "takes: leave it out");
    load(f, head, words, keys, count);
    blm_status st = redis_run(f->connection, f->commands, f->count, again, take, f, err);
    unload(f);
    return st;
}

blm_status redis_check_keys(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe,
                            size_t *hits, blm_error *err)
{
    struct flight     f      = { .connection = r->connection, .out = maybe, .there = true };
    const char *const head[] = { "BF.MEXISTS", f.connection->uri.key, NULL };
    blm_status        st     = fly(&f, head, keys, count, true, err);
    *hits                    = f.ones;
    return st;
}

blm_status redis_add_keys(struct ref *r, const blm_key *keys, size_t count, uint8_t *fresh,
                          size_t *done, blm_error *err)
{
    struct flight     f      = { .connection = r->connection, .out = fresh };
    const char *const head[] = { "BF.INSERT", f.connection->uri.key, "NOCREATE", "ITEMS", NULL };
    f.connection->repeated   = false; /* sending a check twice does no harm */
    blm_status st            = fly(&f, head, keys, count, !f.connection->counting, err);
    *done                    = f.answered;
    r->repeated |= f.connection->repeated;
    return st;
}

blm_status redis_remove_keys(struct ref *r, const blm_key *keys, size_t count, uint8_t *gone,
                             size_t *done, blm_error *err)
{
    struct flight     f      = { .connection = r->connection, .out = gone };
    const char *const head[] = { "BF.DEL", f.connection->uri.key, NULL };
    blm_status        st     = fly(&f, head, keys, count, false, err);
    *done                    = f.answered;
    return st;
}
#else
typedef int redis_keys_are_not_built; /* a C file must declare something */
#endif
