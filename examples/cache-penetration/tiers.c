/* SPDX-License-Identifier: MIT */
/* See tiers.h. */
#include "tiers.h"

#include <stdio.h>
#include <string.h>

#include "bloomery/guard.h"
#include "common/job.h"

#define NOTHING "\x01none" /* what negative caching writes for an absent row */

struct value {
    char   bytes[256];
    size_t len;
};
static bool keep(void *ctx, const void *bytes, size_t len)
{
    struct value *v = ctx;
    if (len > sizeof v->bytes)
        return false;
    memcpy(v->bytes, bytes, len);
    v->len = len;
    return true;
}

static redisReply *reply(struct tiers *t, redisReply *r)
{
    if (!r || r->type == REDIS_REPLY_ERROR)
        job_trouble("Redis: %s", r ? r->str : t->cache->errstr);
    return r;
}

/* BLM_OK: *out is the cached value. BLM_E_ABSENT: the cache knows that there is no such row.
 * BLM_E_UNSUPPORTED: the cache does not know. */
static blm_status from_cache(struct tiers *t, const void *key, size_t len, struct value *out)
{
    redisReply *r  = reply(t, redisCommand(t->cache, "GET row:%b", key, len));
    blm_status  st = BLM_E_UNSUPPORTED;
    t->cache_reads++;
    if (r->type == REDIS_REPLY_STRING) {
        bool nothing = (size_t)r->len == strlen(NOTHING) && strcmp(r->str, NOTHING) == 0;
        st           = nothing ? BLM_E_ABSENT : BLM_OK;
        keep(out, r->str, (size_t)r->len);
        t->cache_hits++;
    }
    freeReplyObject(r);
    return st;
}

static void to_cache(struct tiers *t, const void *key, size_t len, const void *value, size_t size)
{
    freeReplyObject(reply(t, redisCommand(t->cache, "SET row:%b %b EX 60", key, len, value, size)));
    t->cache_writes++;
}

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    struct tiers *t  = ctx;
    struct value  v  = { .len = 0 };
    blm_status    st = from_cache(t, key, len, &v);
    if (st == BLM_E_UNSUPPORTED) {
        t->table_reads++;
        st = t->table.get(t->table.ctx, key, len, keep, &v, err);
        if (st == BLM_OK)
            to_cache(t, key, len, v.bytes, v.len);
        else if (st == BLM_E_ABSENT && t->negative)
            to_cache(t, key, len, NOTHING, strlen(NOTHING));
    }
    if (st == BLM_OK && value)
        value(value_ctx, v.bytes, v.len);
    return st;
}

/* The table knows all rows; the cache is not asked. */
static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    struct tiers *t = ctx;
    return t->table.scan(t->table.ctx, each, each_ctx, err);
}

blm_dataset tiers_dataset(struct tiers *t)
{
    return (blm_dataset){ .size = sizeof(blm_dataset), .ctx = t, .get = get, .scan = scan };
}
