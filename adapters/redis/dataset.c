/* SPDX-License-Identifier: MIT */
/*
 * A guard's data set in Redis. SCAN guarantees what a guard's scan needs: an element that exists
 * from the beginning of an iteration to its end is returned at least once.
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
    char                  mark[160]; /* where the guard's mark is kept */
};

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
    blm__redis_word(&c, o->hash || o->field ? hash_verb : verb);
    if (o->hash)
        blm__redis_word(&c, o->hash);
    blm__redis_arg(&c, name, name_len);
    if (o->field)
        blm__redis_word(&c, o->field);
    if (value)
        blm__redis_arg(&c, value, value_len);
    blm_status st = blm__redis_ask(&s->pool, &c, strcmp(verb, "GET") == 0, out, err);
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
        if (!each(each_ctx, k->str + s->prefix_len, (size_t)k->len - s->prefix_len))
            return blm__redis_fail(err, BLM_E_CANCELLED, "the scan was stopped");
    }
    return BLM_OK;
}

/* One step from *cursor, which becomes "0" at the end. */
static blm_status scan_step(struct store *s, const char *pattern, char cursor[32], blm_key_fn each,
                            void *each_ctx, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
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
    blm_status st = blm__redis_ask(&s->pool, &c, true, &r, err);
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

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    struct store *s          = ctx;
    char          cursor[32] = "0", *pattern = pattern_of(s->prefix_len ? s->pool.o.prefix : "");
    blm_status    st;
    if (!pattern)
        return blm__redis_fail(err, BLM_E_MEMORY, "no memory for a scan");
    do
        st = scan_step(s, pattern, cursor, each, each_ctx, err);
    while (st == BLM_OK && strcmp(cursor, "0") != 0);
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

static blm_status mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    struct store            *s = ctx;
    struct blm_redis_command c = { .count = 0 };
    redisReply              *r;
    blm__redis_word(&c, "GET");
    blm__redis_word(&c, s->mark);
    blm_status st = blm__redis_ask(&s->pool, &c, true, &r, err);
    if (st != BLM_OK)
        return st;
    st = BLM_E_ABSENT;
    if (r->type == REDIS_REPLY_STRING && r->len > 0 && r->len <= BLM_MARK_MAX) {
        memcpy(mark, r->str, (size_t)r->len);
        *len = (size_t)r->len;
        st   = BLM_OK;
    }
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
    blm_status st = blm__redis_ask(&s->pool, &c, false, &r, err);
    if (st == BLM_OK)
        freeReplyObject(r);
    return st;
}

/* ---- opening and closing ----------------------------------------------------------------- */

static void close_store(void *ctx)
{
    struct store *s = ctx;
    blm__redis_pool_free(&s->pool);
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
