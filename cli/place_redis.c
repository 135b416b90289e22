/* SPDX-License-Identifier: MIT */
/*
 * Filters on Redis, in one key or spread over a cluster, by blm_remote. Commands that work key by key
 * (add, check, remove, dedup --state) send the keys to the server. All others fetch a copy once and
 * work on that. A new filter is made by the server, or sent as a whole.
 */
#include <bloomery_remote.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "memory.h"
#include "place.h"

#define PREFIX "redis:// rediss:// redis+unix:// redis+cluster:// unix:"

#ifdef BLOOMERY_WITH_HIREDIS

static bool spread(const char *text)
{
    return strncmp(text, "redis+cluster://", strlen("redis+cluster://")) == 0;
}

static bool stop(void *ctx)
{
    (void)ctx;
    return interrupted();
}

static blm_remote_options wanted(void)
{
    blm_remote_options o = BLM_REMOTE_OPTIONS_INIT;
    o.wait               = (uint32_t)ref_wait;
    o.stop               = stop;
    return o;
}

static void redis_drop(struct ref *r)
{
    blm_remote_close(r->connection);
    r->connection = NULL;
}

static bool redis_exists(const char *text)
{
    blm_remote_options o = wanted();
    return blm_remote_exists(text, &o);
}

static blm_status redis_params(struct ref *r, blm_params *p, blm_error *err)
{
    return blm_remote_get_params(r->connection, p, err);
}

/* Connects, and checks that the key holds a filter. */
static blm_status find(struct ref *r, blm_error *err)
{
    blm_remote_options o = wanted();
    blm_remote        *l = NULL;
    blm_status         st;
    if (r->connection)
        return BLM_OK;
    st            = blm_remote_open(r->text, &o, &l, err);
    r->connection = l;
    return st;
}

/* Of shards, the first: they differ only in their keys. */
static blm_status redis_like(struct ref *r, blm_error *err)
{
    blm_status st = find(r, err);
    return st == BLM_OK ? blm_remote_fetch(r->connection, 0, &r->options, &r->filter, err) : st;
}

static blm_status redis_open(struct ref *r, blm_error *err)
{
    if (spread(r->text))
        return place_fail(err, BLM_E_UNSUPPORTED, 0,
                          "this command takes one filter, and shards are many: use it on a shard, "
                          "which bloomery info lists");
    return redis_like(r, err);
}

static void now_remote(struct ref *r)
{
    blm_remote_stats s = { .size = sizeof s };
    blm_remote_get_stats(r->connection, &s);
    r->remote = true;
    r->shards = spread(r->text) ? s.shards : 0;
}

/* To check and add keys on the server. */
static blm_status redis_keys(struct ref *r, blm_error *err)
{
    blm_status st = find(r, err);
    if (st == BLM_OK)
        now_remote(r);
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
    blm_remote_options o  = wanted();
    blm_remote        *l  = NULL;
    blm_status         st = BLM_OK;
    if (whole && spread(r->text))
        return place_fail(err, BLM_E_UNSUPPORTED, 0,
                          "a filter of shards cannot appear all at once: make it without --from, "
                          "and then add the keys");
    if (whole && !(r->options.flags & BLM_REPLACE) && redis_exists(r->text))
        return place_fail(err, BLM_E_EXISTS, 0, NULL);
    if (!whole) {
        st            = blm_remote_create(r->text, &r->options, &o, &l, err);
        r->connection = l;
    }
    if (st == BLM_OK && !spread(r->text)) /* what it is, for messages; or to be filled */
        st = blm_create(&r->options, &r->filter, err);
    if (st == BLM_OK && !whole)
        now_remote(r);
    return st;
}

static blm_status redis_save(struct ref *r, blm_error *err)
{
    blm_remote_options o = wanted();
    return r->remote ? BLM_OK
                     : blm_remote_store(r->text, r->filter, r->options.format,
                                        (r->options.flags & BLM_REPLACE) != 0, &o, err);
}

/* ---- keys ---- */

static blm_status redis_check(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe,
                              size_t *hits, blm_error *err)
{
    return blm_remote_check_many(r->connection, keys, count, maybe, hits, err);
}

/* Keys of which nobody knows whether they were new are not counted. */
static blm_status redis_add(struct ref *r, const blm_key *keys, size_t count, uint8_t *fresh,
                            size_t *done, blm_error *err)
{
    blm_status st = blm_remote_add_many(r->connection, keys, count, fresh, done, err);
    for (size_t i = 0; fresh && i < count; i++)
        if (fresh[i] == BLM_REMOTE_UNKNOWN) {
            fresh[i]    = 0;
            r->repeated = true;
        }
    return st;
}

static blm_status redis_remove(struct ref *r, const blm_key *keys, size_t count, uint8_t *gone,
                               size_t *done, blm_error *err)
{
    return blm_remote_remove_many(r->connection, keys, count, gone, done, err);
}

const struct place place_redis = {
    .prefix      = PREFIX,
    .secret      = blm_remote_secret,
    .exists      = redis_exists,
    .open        = redis_open,
    .like        = redis_like,
    .keys        = redis_keys,
    .change      = redis_change,
    .create      = redis_create,
    .save        = redis_save,
    .drop        = redis_drop,
    .params      = redis_params,
    .check_many  = redis_check,
    .add_many    = redis_add,
    .remove_many = redis_remove,
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
    .prefix = PREFIX,
    .secret = blm_remote_secret,
    .exists = no_exists,
    .open   = no_open,
    .keys   = no_open,
    .change = no_open,
    .create = no_create,
    .save   = no_open,
};
#endif
