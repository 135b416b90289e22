/* SPDX-License-Identifier: MIT */
/*
 * A guard's data set in Redis. SCAN guarantees what a guard's scan needs: an element that exists
 * from the beginning of an iteration to its end is returned at least once. That holds within one
 * server process: each has a hash of its own, by which a cursor counts. So a scan is made on one
 * connection, outside the pool, and ends in a failure with it.
 *
 * A server that was restarted, or that another one took over from, may have the rows and the mark of
 * some time ago. So the first call that would write there, or that is about the mark, fails with
 * E_MISMATCH, by which the guard knows. A row is put only on the process on which the mark was seen as
 * the guard knows it, or written: every other put fails, also of threads that did not hear of it.
 */
#include "bloomery/guard.h"
#include "connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCAN_COUNT "1000" /* keys per step: a few hundred microseconds of the server's time */

struct store {
    struct blm_redis_pool pool;
    size_t                prefix_len;
    char                  mark[160];                 /* where the guard's mark is kept */
    pthread_mutex_t       lock;                      /* over what follows */
    char                  last[BLM__REDIS_SERVER];   /* that the guard knows of; empty: none yet */
    char                  server[BLM__REDIS_SERVER]; /* that has this mark */
    char                  seen[BLM_MARK_MAX];
    size_t                seen_len; /* 0: it has none */
};

/* ---- one server process ------------------------------------------------------------------- */

enum purpose { PUT, MARK, OTHER };

/* A command for the process that the guard knows of; a put, for the one with its mark. If it is another,
 * that is said once: from then on the guard knows. Before there was a scan or a mark, it is any. */
static blm_status ask_known(struct store *s, const struct blm_redis_command *c, bool again,
                            enum purpose what, char *server, redisReply **out, blm_error *err)
{
    char only[BLM__REDIS_SERVER], found[BLM__REDIS_SERVER] = "";
    pthread_mutex_lock(&s->lock);
    memcpy(only, what == PUT ? s->server : s->last, sizeof only);
    pthread_mutex_unlock(&s->lock);
    blm_status st = blm__redis_ask_server(&s->pool, c, again, only[0] || what == MARK ? only : NULL,
                                          found, out, err);
    if (st == BLM_E_MISMATCH) {
        pthread_mutex_lock(&s->lock);
        memcpy(s->last, found, sizeof s->last);
        pthread_mutex_unlock(&s->lock);
    }
    if (server)
        memcpy(server, found, sizeof found);
    return st;
}

/* ---- names ------------------------------------------------------------------------------- */

/* prefix + key; in `small` when there is room, else from malloc (then *big must be freed). */
static const char *name_of(const struct store *s, const void *key, size_t len, char small[256],
                           char **big, size_t *out_len)
{
    size_t total = s->prefix_len + len;
    char  *at    = small;
    *big         = NULL;
    if (total < len)
        return NULL;
    if (total > 256)
        at = *big = malloc(total);
    if (!at)
        return NULL;
    if (s->prefix_len)
        memcpy(at, s->pool.o.prefix, s->prefix_len);
    if (len)
        memcpy(at + s->prefix_len, key, len);
    *out_len = total;
    return at;
}

/* No row may have the mark's own key. */
static bool is_mark(const struct store *s, const char *name, size_t len)
{
    return !s->pool.o.hash && len == strlen(s->mark) && memcmp(name, s->mark, len) == 0;
}

/* One command about one row: verb, name[, field][, value]. */
static blm_status row(struct store *s, const char *verb, const char *hash_verb, const void *key,
                      size_t len, const void *value, size_t value_len, redisReply **out,
                      blm_error *err)
{
    const blm_redis_options *o = &s->pool.o;
    struct blm_redis_command c = { .count = 0 };
    char                     small[256], *big;
    size_t                   name_len;
    const char              *name = name_of(s, key, len, small, &big, &name_len);
    if (!name)
        return blm__redis_fail(err, BLM_E_MEMORY, "no memory for a key");
    if (is_mark(s, name, name_len)) {
        free(big);
        return strcmp(verb, "GET") == 0
                   ? BLM_E_ABSENT
                   : blm__redis_fail(err, BLM_E_ARGUMENT,
                                     "no row may have this key: the guard keeps its mark there");
    }
    blm__redis_word(&c, o->hash || o->field ? hash_verb : verb);
    if (o->hash)
        blm__redis_word(&c, o->hash);
    blm__redis_arg(&c, name, name_len);
    if (o->field)
        blm__redis_word(&c, o->field);
    if (value)
        blm__redis_arg(&c, value, value_len);
    blm_status st = strcmp(verb, "GET") == 0
                        ? blm__redis_ask(&s->pool, &c, true, out, err)
                        : ask_known(s, &c, false, value ? PUT : OTHER, NULL, out, err);
    free(big);
    return st;
}

/* ---- one row ----------------------------------------------------------------------------- */

static blm_status unexpected(redisReply *r, blm_error *err)
{
    int type = r->type;
    freeReplyObject(r);
    return blm__redis_fail(err, BLM_E_IO, "Redis: unexpected reply of type %d", type);
}

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    redisReply *r;
    blm_status  st = row(ctx, "GET", "HGET", key, len, NULL, 0, &r, err);
    if (st != BLM_OK)
        return st;
    if (r->type == REDIS_REPLY_NIL)
        st = BLM_E_ABSENT;
    else if (r->type != REDIS_REPLY_STRING)
        return unexpected(r, err);
    else if (value && !value(value_ctx, r->str, (size_t)r->len))
        st = blm__redis_fail(err, BLM_E_CANCELLED, "the caller did not take the value");
    freeReplyObject(r);
    return st;
}

static blm_status put(void *ctx, const void *key, size_t len, const void *value, size_t value_len,
                      blm_error *err)
{
    redisReply *r;
    blm_status  st = row(ctx, "SET", "HSET", key, len, value_len ? value : "", value_len, &r, err);
    if (st == BLM_OK)
        freeReplyObject(r);
    return st;
}

static blm_status del(void *ctx, const void *key, size_t len, blm_error *err)
{
    redisReply *r;
    blm_status  st = row(ctx, "DEL", "HDEL", key, len, NULL, 0, &r, err);
    if (st != BLM_OK)
        return st;
    if (r->type != REDIS_REPLY_INTEGER)
        return unexpected(r, err);
    st = r->integer > 0 ? BLM_OK : BLM_E_ABSENT;
    freeReplyObject(r);
    return st;
}

/* ---- all rows ---------------------------------------------------------------------------- */

/* The pattern that matches the prefix, with its special characters escaped. */
static char *pattern_of(const char *prefix)
{
    size_t len = strlen(prefix);
    char  *out = malloc(2 * len + 2), *at = out;
    if (!out)
        return NULL;
    for (; *prefix; prefix++) {
        if (strchr("*?[]\\^-", *prefix))
            *at++ = '\\';
        *at++ = *prefix;
    }
    *at++ = '*';
    *at   = 0;
    return out;
}

/* Passes on the keys of one step. HSCAN's elements are fields and values by turns. */
static blm_status take_keys(const struct store *s, const redisReply *list, blm_key_fn each,
                            void *each_ctx, blm_error *err)
{
    size_t step = s->pool.o.hash ? 2 : 1;
    for (size_t i = 0; i < list->elements; i += step) {
        const redisReply *k = list->element[i];
        if (k->type != REDIS_REPLY_STRING || (size_t)k->len < s->prefix_len)
            return blm__redis_fail(err, BLM_E_IO, "Redis: the reply to a scan has no keys");
        if (is_mark(s, k->str, (size_t)k->len))
            continue;
        if (!each(each_ctx, k->str + s->prefix_len, (size_t)k->len - s->prefix_len))
            return blm__redis_fail(err, BLM_E_CANCELLED, "the scan was stopped");
    }
    return BLM_OK;
}

/* One step from *cursor, which becomes "0" at the end. */
static blm_status scan_step(struct store *s, redisContext *on, const char *pattern, char cursor[32],
                            blm_key_fn each, void *each_ctx, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
    bool                     whole;
    blm__redis_word(&c, s->pool.o.hash ? "HSCAN" : "SCAN");
    if (s->pool.o.hash)
        blm__redis_word(&c, s->pool.o.hash);
    blm__redis_word(&c, cursor);
    blm__redis_word(&c, "COUNT");
    blm__redis_word(&c, SCAN_COUNT);
    if (s->prefix_len) {
        blm__redis_word(&c, "MATCH");
        blm__redis_word(&c, pattern);
    }
    blm_status st = blm__redis_ask_on(on, &c, &whole, &r, err);
    if (st != BLM_OK)
        return st;
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 2 ||
        r->element[0]->type != REDIS_REPLY_STRING || r->element[0]->len > 30 ||
        r->element[1]->type != REDIS_REPLY_ARRAY)
        return unexpected(r, err);
    strcpy(cursor, r->element[0]->str);
    st = take_keys(s, r->element[1], each, each_ctx, err);
    freeReplyObject(r);
    return st;
}

/* The guard's first scan is all that it knows, until there is a mark. */
static blm_status saw_server(struct store *s, struct blm_redis_line *on, blm_error *err)
{
    blm_status st = blm__redis_name(on, err);
    pthread_mutex_lock(&s->lock);
    if (st == BLM_OK && !s->last[0])
        memcpy(s->last, on->server, sizeof s->last);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    struct store *s          = ctx;
    char          cursor[32] = "0", *pattern = pattern_of(s->prefix_len ? s->pool.o.prefix : "");
    bool          ended = false;
    if (!pattern)
        return blm__redis_fail(err, BLM_E_MEMORY, "no memory for a scan");
    struct blm_redis_line on = { .c = blm__redis_connect(&s->pool.o, err) };
    blm_status            st = on.c ? saw_server(s, &on, err) : err->status;
    while (st == BLM_OK && !ended) {
        st    = scan_step(s, on.c, pattern, cursor, each, each_ctx, err);
        ended = strcmp(cursor, "0") == 0;
    }
    if (on.c)
        redisFree(on.c);
    free(pattern);
    return st;
}

/* Only if Redis counts exactly the rows. */
static blm_status count(void *ctx, uint64_t *rows, blm_error *err)
{
    struct store            *s = ctx;
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
    blm__redis_word(&c, s->pool.o.hash ? "HLEN" : "DBSIZE");
    if (s->pool.o.hash)
        blm__redis_word(&c, s->pool.o.hash);
    blm_status st = blm__redis_ask(&s->pool, &c, true, &r, err);
    if (st != BLM_OK)
        return st;
    if (r->type != REDIS_REPLY_INTEGER)
        return unexpected(r, err);
    *rows = (uint64_t)r->integer;
    freeReplyObject(r);
    return BLM_OK;
}

/* ---- the mark ---------------------------------------------------------------------------- */

/* This server has this mark (of len 0: none), and it was just written there or not. One that has
 * another mark than the one before may be put to when it has been given the right one. One without any
 * may be: no file is trusted then. */
static void saw_mark(struct store *s, const char *server, const void *mark, size_t len,
                     bool written)
{
    pthread_mutex_lock(&s->lock);
    memcpy(s->last, server, sizeof s->last);
    if (written || !s->server[0] || len == 0 ||
        (len == s->seen_len && memcmp(mark, s->seen, len) == 0)) {
        memcpy(s->server, server, sizeof s->server);
        s->seen_len = len <= sizeof s->seen ? len : 0;
        memcpy(s->seen, mark, s->seen_len);
    }
    pthread_mutex_unlock(&s->lock);
}

static blm_status mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    struct store            *s = ctx;
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
    char                     server[BLM__REDIS_SERVER];
    blm__redis_word(&c, "GET");
    blm__redis_word(&c, s->mark);
    blm_status st = ask_known(s, &c, true, MARK, server, &r, err);
    if (st != BLM_OK)
        return st;
    st = BLM_E_ABSENT;
    if (r->type == REDIS_REPLY_STRING && r->len > 0 && r->len <= BLM_MARK_MAX) {
        memcpy(mark, r->str, (size_t)r->len);
        *len = (size_t)r->len;
        st   = BLM_OK;
    }
    saw_mark(s, server, mark, st == BLM_OK ? *len : 0, false);
    freeReplyObject(r);
    return st;
}

static blm_status mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    struct store            *s = ctx;
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
    blm__redis_word(&c, "SET");
    blm__redis_word(&c, s->mark);
    blm__redis_arg(&c, mark, len);
    char       server[BLM__REDIS_SERVER];
    blm_status st = ask_known(s, &c, false, MARK, server, &r, err);
    if (st != BLM_OK)
        return st;
    freeReplyObject(r);
    saw_mark(s, server, mark, len, true);
    return BLM_OK;
}

/* ---- opening and closing ----------------------------------------------------------------- */

static void close_store(void *ctx)
{
    struct store *s = ctx;
    blm__redis_pool_free(&s->pool);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Is a server there, and does it accept us? */
static blm_status knock(struct store *s, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
    blm__redis_word(&c, "PING");
    blm_status st = blm__redis_ask(&s->pool, &c, false, &r, err);
    if (st == BLM_OK)
        freeReplyObject(r);
    return st;
}

blm_status blm_redis_open(const blm_redis_options *o, blm_dataset *out, blm_error *err)
{
    blm_error own;
    err = err ? err : &own;
    if (!o || o->size != sizeof *o || !out)
        return blm__redis_fail(err, BLM_E_ARGUMENT, "start options from BLM_REDIS_OPTIONS_INIT");
    if (o->hash && (o->prefix || o->field))
        return blm__redis_fail(err, BLM_E_ARGUMENT,
                               "give either hash, or prefix and field, not both");
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return blm__redis_fail(err, BLM_E_MEMORY, "no memory for the data set");
    blm_status st = blm__redis_pool_make(&s->pool, o, err);
    if (st != BLM_OK) {
        free(s);
        return st;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->prefix_len = o->prefix ? strlen(o->prefix) : 0;
    snprintf(s->mark, sizeof s->mark, "bloomery:guard:%.60s:%.60s",
             o->hash            ? o->hash
             : s->pool.o.prefix ? s->pool.o.prefix
                                : "",
             o->hash    ? "hash"
             : o->field ? o->field
                        : "");
    st = knock(s, err);
    if (st != BLM_OK) {
        close_store(s);
        return st;
    }
    *out = (blm_dataset){ .size       = sizeof *out,
                          .ctx        = s,
                          .get        = get,
                          .put        = put,
                          .del        = del,
                          .scan       = scan,
                          .count      = s->prefix_len ? NULL : count,
                          .mark_read  = mark_read,
                          .mark_write = mark_write,
                          .close      = close_store };
    return BLM_OK;
}
