/* SPDX-License-Identifier: MIT */
/*
 * Filters on Redis. Commands that work key by key (add, check, remove, dedup --state) send the keys
 * to the server. All others pull a copy once and work on that. A new filter is made by the server,
 * or pushed as a whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "place_redis.h"

#ifdef BLOOMERY_WITH_HIREDIS

static blm_status connect_to(struct ref *r, blm_error *err)
{
    struct redis_connection *l = NULL;
    if (r->connection)
        return BLM_OK;
    blm_status st = redis_connect(&l, r->text, err);
    r->connection = l;
    return st;
}

static void redis_drop(struct ref *r)
{
    redis_disconnect(r->connection);
    r->connection = NULL;
}

static bool redis_exists(const char *text)
{
    struct redis_connection *l = NULL;
    blm_error                err;
    if (redis_connect(&l, text, &err) != BLM_OK)
        return false; /* the caller gets the reason when it opens or makes the filter */
    redisReply *reply = redis_call(l, true, &err, "EXISTS", l->uri.key, NULL);
    bool        there = reply && reply->type == REDIS_REPLY_INTEGER && reply->integer > 0;
    if (reply)
        freeReplyObject(reply);
    redis_disconnect(l);
    return there;
}

/* ---- what is there ---- */

static const redisReply *field(const redisReply *info, const char *name)
{
    for (size_t i = 0; i + 1 < info->elements; i += 2)
        if (info->element[i]->str && strcmp(info->element[i]->str, name) == 0)
            return info->element[i + 1];
    return NULL;
}

static uint64_t number(const redisReply *info, const char *name)
{
    const redisReply *v = field(info, name);
    return v && v->type == REDIS_REPLY_INTEGER && v->integer > 0 ? (uint64_t)v->integer : 0;
}

static blm_status redis_params(struct ref *r, blm_params *p, blm_error *err)
{
    struct redis_connection *l    = r->connection;
    redisReply              *info = redis_call(l, true, err, "BF.INFO", l->uri.key, NULL);
    if (!info)
        return err->status;
    const redisReply *kind = field(info, "Kind"), *rate = field(info, "Error rate");
    *p          = (blm_params){ .size = sizeof *p, .kind = BLM_SCALABLE, .scheme = "redisbloom" };
    p->capacity = number(info, "Capacity");
    p->bytes    = number(info, "Size");
    p->items    = number(info, "Number of items inserted");
    p->layers   = (uint32_t)number(info, "Number of filters");
    if (kind && kind->str && blm_kind_from_name(kind->str, &p->kind))
        p->scheme = "native";
    const blm_kind_row *row = blm_kind_find(p->kind);
    p->can                  = row->can;
    p->cell_bits            = row->cell_bits;
    if (rate && rate->str)
        p->rate = strtod(rate->str, NULL);
    freeReplyObject(info);
    return BLM_OK;
}

/* Connects, and checks that the key holds a filter and of which type. */
static blm_status find(struct ref *r, blm_error *err)
{
    static const char *const others[] = { "string", "list", "set", "zset", "hash", "stream" };
    blm_status               st       = connect_to(r, err);
    if (st != BLM_OK)
        return st;
    struct redis_connection *l     = r->connection;
    redisReply              *reply = redis_call(l, true, err, "TYPE", l->uri.key, NULL);
    if (!reply)
        return err->status;
    const char *type = reply->str ? reply->str : "";
    char        words[120];
    if (strcmp(type, "none") == 0)
        st = redis_refusal(l, "ERR not found", err);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(type, others[i]) == 0) {
            snprintf(words, sizeof words, "the key holds a %s, not a filter: give another key",
                     type);
            st = place_fail(err, BLM_E_UNSUPPORTED, 0, words);
        }
    l->ours = strcmp(type, "MBbloom--") != 0;
    freeReplyObject(reply);
    return st;
}

static blm_status redis_open(struct ref *r, blm_error *err)
{
    blm_status st = find(r, err);
    return st == BLM_OK ? redis_pull(r, err) : st;
}

/* To check and add keys on the server. */
static blm_status redis_keys(struct ref *r, blm_error *err)
{
    blm_params p;
    blm_status st = find(r, err);
    if (st == BLM_OK)
        st = redis_params(r, &p, err);
    if (st == BLM_OK) {
        ((struct redis_connection *)r->connection)->counting = (p.can & BLM_CAN_REMOVE) != 0;
        r->remote                                            = true;
    }
    return st;
}

static blm_status redis_change(struct ref *r, blm_error *err)
{
    (void)r;
    return place_fail(err, BLM_E_UNSUPPORTED, 0,
                      "this command only changes files: copy the filter to a file with bloomery "
                      "convert, change that, and copy it back with bloomery convert --force");
}

/* ---- new ones ---- */

static blm_status redis_create(struct ref *r, bool whole, blm_error *err)
{
    bool       replace = r->options.flags & BLM_REPLACE;
    blm_status st      = connect_to(r, err);
    if (st != BLM_OK)
        return st;
    if (!replace && redis_exists(r->text))
        return place_fail(err, BLM_E_EXISTS, 0, NULL);
    st = blm_create(&r->options, &r->filter, err);
    if (st != BLM_OK || whole)
        return st;
    st        = redis_reserve(r, &r->options, replace, err);
    r->remote = st == BLM_OK;
    return st;
}

static blm_status redis_save(struct ref *r, blm_error *err)
{
    if (r->remote)
        return BLM_OK;
    blm_status st = connect_to(r, err);
    return st == BLM_OK
               ? redis_push(r, r->options.format, (r->options.flags & BLM_REPLACE) != 0, err)
               : st;
}

const struct place place_redis = {
    .prefix      = "redis:// rediss:// redis+unix:// unix:",
    .secret      = redis_uri_secret,
    .exists      = redis_exists,
    .open        = redis_open,
    .keys        = redis_keys,
    .change      = redis_change,
    .create      = redis_create,
    .save        = redis_save,
    .drop        = redis_drop,
    .params      = redis_params,
    .check_many  = redis_check_keys,
    .add_many    = redis_add_keys,
    .remove_many = redis_remove_keys,
};

#else

static blm_status missing(blm_error *err)
{
    return place_fail(err, BLM_E_UNSUPPORTED, 0,
                      "this bloomery was built without a Redis client: install hiredis (on Debian, "
                      "libhiredis-dev) and build it again");
}

static bool no_exists(const char *text)
{
    (void)text;
    return false;
}

static blm_status no_open(struct ref *r, blm_error *err)
{
    (void)r;
    return missing(err);
}

static blm_status no_create(struct ref *r, bool whole, blm_error *err)
{
    (void)r, (void)whole;
    return missing(err);
}

const struct place place_redis = {
    .prefix = "redis:// rediss:// redis+unix:// unix:",
    .secret = redis_uri_secret,
    .exists = no_exists,
    .open   = no_open,
    .keys   = no_open,
    .change = no_open,
    .create = no_create,
    .save   = no_open,
};
#endif
