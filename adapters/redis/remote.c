/* SPDX-License-Identifier: MIT */
/* Opening and closing filters on Redis, and what the server says of them. */
#include "remote.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- handles ---- */

/* The nodes that the URL names. */
static blm_status first_nodes(blm_remote *r, blm_error *err)
{
    int at = r->url.socket ? blm__node_at(r, NULL, 0, 0) : 0;
    for (size_t i = 0; at >= 0 && i < r->url.seed_count; i++)
        at = blm__node_at(r, r->url.seeds[i].host, strlen(r->url.seeds[i].host),
                          r->url.seeds[i].port);
    return at >= 0 ? BLM_OK : blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
}

static blm_status begin(const char *url, const blm_remote_options *o, blm_remote **out,
                        blm_error *err)
{
    if (o && o->size != sizeof *o)
        return blm__redis_fail(err, BLM_E_ARGUMENT, "start options from BLM_REMOTE_OPTIONS_INIT");
    blm_remote *r = calloc(1, sizeof *r);
    if (!r)
        return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    if (o)
        r->o = *o;
    blm_status st = blm__remote_url_parse(url, &r->url, err);
    if (st == BLM_OK)
        st = first_nodes(r, err);
    if (st == BLM_OK)
        st = r->url.cluster ? blm__remote_map(r, err) : blm__node_dial(r, r->nodes[0], err);
    if (st == BLM_OK) {
        *out = r;
        return BLM_OK;
    }
    blm_remote_close(r);
    return st;
}

void blm_remote_close(blm_remote *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->node_count; i++)
        blm__node_free(r->nodes[i]);
    free(r->nodes);
    blm__shards_free(r);
    blm__remote_url_free(&r->url);
    free(r);
}

static bool exists(blm_remote *r)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *reply;
    blm_error                err;
    blm__redis_word(&c, "EXISTS");
    blm__redis_arg(&c, r->url.key, r->url.key_len);
    if (blm__remote_call(r, blm__remote_slot(r->url.key, r->url.key_len), &c, BLM__AGAIN, &reply,
                         &err) != BLM_OK)
        return false; /* the caller gets the reason when it opens or makes the filter */
    bool there = reply->type == REDIS_REPLY_INTEGER && reply->integer > 0;
    freeReplyObject(reply);
    return there;
}

bool blm_remote_exists(const char *url, const blm_remote_options *o)
{
    blm_remote *r = NULL;
    blm_error   err;
    bool        there = begin(url, o, &r, &err) == BLM_OK && exists(r);
    blm_remote_close(r);
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

/* Adds what BF.INFO says of a shard. */
static blm_status take_info(void *ctx, size_t i, const redisReply *info, blm_error *err)
{
    blm_params *p = ctx;
    (void)i;
    if (info->type == REDIS_REPLY_ERROR)
        return blm__remote_refusal(info->str, err);
    const redisReply *kind = field(info, "Kind"), *rate = field(info, "Error rate");
    uint32_t          layers = (uint32_t)number(info, "Number of filters");
    p->capacity += number(info, "Capacity");
    p->bytes += number(info, "Size");
    p->items += number(info, "Number of items inserted");
    p->layers = layers > p->layers ? layers : p->layers;
    if (kind && kind->str && blm_kind_from_name(kind->str, &p->kind))
        p->scheme = "native";
    if (rate && rate->str)
        p->rate = strtod(rate->str, NULL);
    return BLM_OK;
}

blm_status blm_remote_get_params(blm_remote *r, blm_params *p, blm_error *err)
{
    *p            = (blm_params){ .size = sizeof *p, .kind = BLM_SCALABLE, .scheme = "redisbloom" };
    blm_status st = blm__shards_ask(r, "BF.INFO", BLM__AGAIN, take_info, p, err);
    if (st != BLM_OK)
        return st;
    const blm_kind_row *row = blm_kind_find(p->kind);
    p->can                  = row->can;
    p->cell_bits            = row->cell_bits;
    if (r->items)
        p->capacity = r->items; /* what was asked for; the shards have more room */
    return BLM_OK;
}

static blm_status take_type(void *ctx, size_t i, const redisReply *reply, blm_error *err)
{
    static const char *const others[] = { "string", "list", "set", "zset", "hash", "stream" };
    blm_remote              *r        = ctx;
    const char              *type     = reply->str ? reply->str : "";
    (void)i;
    if (reply->type == REDIS_REPLY_ERROR)
        return blm__remote_refusal(type, err);
    if (strcmp(type, "none") == 0)
        return r->route ? blm__redis_fail(err, BLM_E_ABSENT,
                                          "a shard of the filter is gone: it was deleted, expired "
                                          "or evicted, and its keys with it")
                        : blm__remote_refusal("ERR not found", err);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strcmp(type, others[k]) == 0)
            return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                                   "the key holds a %s, not a filter: give another key", type);
    if (strcmp(type, "MBbloomCF") == 0)
        return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                               "the key holds a cuckoo filter of CF.*, which only those commands "
                               "use: give another key");
    r->ours = strcmp(type, "MBbloom--") != 0;
    return BLM_OK;
}

blm_status blm__remote_look(blm_remote *r, uint32_t shard, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *reply;
    blm__redis_word(&c, "TYPE");
    blm__redis_arg(&c, r->shard[shard].key, r->shard[shard].key_len);
    blm_status st = blm__remote_call(r, r->shard[shard].slot, &c, BLM__AGAIN, &reply, err);
    if (st != BLM_OK)
        return st;
    st = take_type(r, shard, reply, err);
    freeReplyObject(reply);
    return st;
}

/* ---- opening ---- */

static blm_status look(blm_remote *r, blm_error *err)
{
    blm_params p;
    blm_status st = blm__shards_ask(r, "TYPE", BLM__AGAIN, take_type, r, err);
    if (st == BLM_OK)
        st = blm_remote_get_params(r, &p, err);
    if (st == BLM_OK)
        r->counting = (p.can & BLM_CAN_REMOVE) != 0;
    return st;
}

static blm_status end(blm_remote *r, blm_status st, blm_remote **out)
{
    if (st == BLM_OK)
        *out = r;
    else
        blm_remote_close(r);
    return st;
}

blm_status blm_remote_open(const char *url, const blm_remote_options *o, blm_remote **out,
                           blm_error *err)
{
    blm_remote *r = NULL;
    blm_error   own;
    err           = err ? err : &own;
    blm_status st = begin(url, o, &r, err);
    if (st != BLM_OK)
        return st;
    st = r->url.cluster ? blm__shards_find(r, err) : blm__shards_one(r, err);
    return end(r, st == BLM_OK ? look(r, err) : st, out);
}

static blm_status create_one(blm_remote *r, const blm_options *f, blm_error *err)
{
    blm_filter *one = NULL;
    blm_status  st  = blm__shards_one(r, err);
    if (st == BLM_OK && !(f->flags & BLM_REPLACE) && exists(r))
        st = blm__redis_fail(err, BLM_E_EXISTS, "the key exists");
    if (st == BLM_OK)
        st = blm_create(f, &one, err);
    if (st == BLM_OK)
        st = blm__remote_reserve(r, &r->shard[0], f, one, (f->flags & BLM_REPLACE) != 0, err);
    blm_free(one);
    return st;
}

blm_status blm_remote_create(const char *url, const blm_options *f, const blm_remote_options *o,
                             blm_remote **out, blm_error *err)
{
    blm_remote *r = NULL;
    blm_error   own;
    err           = err ? err : &own;
    blm_status st = begin(url, o, &r, err);
    if (st != BLM_OK)
        return st;
    st = r->url.cluster ? blm__shards_create(r, f, err) : create_one(r, f, err);
    return end(r, st == BLM_OK ? look(r, err) : st, out);
}

blm_status blm_remote_store(const char *url, const blm_filter *f, const char *format, bool replace,
                            const blm_remote_options *o, blm_error *err)
{
    blm_remote *r = NULL;
    blm_error   own;
    err           = err ? err : &own;
    blm_status st = begin(url, o, &r, err);
    if (st != BLM_OK)
        return st;
    st = r->url.cluster
             ? blm__redis_fail(err, BLM_E_UNSUPPORTED,
                               "a whole filter cannot be shared out over shards, since that needs "
                               "its keys: make it there with bloomery create, and add the keys")
             : blm__shards_one(r, err);
    if (st == BLM_OK)
        st = blm__remote_push(r, &r->shard[0], f, format, replace, err);
    blm_remote_close(r);
    return st;
}

blm_status blm_remote_merge(const char *url, blm_remote *const *from, size_t count, bool replace,
                            const blm_remote_options *o, blm_error *err)
{
    blm_remote *r = NULL;
    blm_error   own;
    err           = err ? err : &own;
    blm_status st = begin(url, o, &r, err);
    if (st != BLM_OK)
        return st;
    st = r->url.cluster && count
             ? blm__shards_merge(r, from, count, replace, err)
             : blm__redis_fail(err, BLM_E_ARGUMENT, "only filters of shards are merged there");
    blm_remote_close(r);
    return st;
}

/* ---- what the bits say ---- */

static void add_stats(blm_stats *sum, const blm_stats *s)
{
    double low  = s->estimated.value - s->estimated.low;
    double high = s->estimated.high - s->estimated.value;
    sum->params.bits += s->params.bits;
    sum->params.bytes += s->params.bytes;
    sum->params.items += s->params.items;
    sum->ones += s->ones;
    sum->stuck += s->stuck;
    sum->estimated.value += s->estimated.value;
    sum->estimated.low += low * low; /* squares: the shards' errors are independent */
    sum->estimated.high += high * high;
    sum->estimated.saturated |= s->estimated.saturated;
    sum->rate_now += s->rate_now;
    sum->overfilled |= s->overfilled;
}

blm_status blm_remote_measure(blm_remote *r,
                              void (*each)(void *ctx, uint32_t shard, const blm_stats *s),
                              void *ctx, blm_stats *out, blm_error *err)
{
    blm_stats sum = { .size = sizeof sum };
    for (uint32_t i = 0; i < r->shards; i++) {
        blm_stats   s  = { .size = sizeof s };
        blm_filter *f  = NULL;
        blm_status  st = blm_remote_fetch(r, i, NULL, &f, err);
        if (st != BLM_OK)
            return st;
        blm_get_stats(f, &s);
        if (i == 0)
            sum.params = s.params, sum.params.bits = sum.params.bytes = sum.params.items = 0;
        add_stats(&sum, &s);
        if (each)
            each(ctx, i, &s);
        blm_free(f);
    }
    sum.fill = sum.params.bits ? (double)sum.ones / (double)sum.params.bits : 0;
    sum.rate_now /= r->shards;
    sum.estimated.low  = sum.estimated.value - sqrt(sum.estimated.low);
    sum.estimated.high = sum.estimated.value + sqrt(sum.estimated.high);
    if (r->items)
        sum.params.capacity = r->items;
    memcpy(out, &sum, out->size < sizeof sum ? out->size : sizeof sum);
    return BLM_OK;
}

void blm_remote_get_stats(const blm_remote *r, blm_remote_stats *out)
{
    size_t           size = out->size < sizeof *out ? out->size : sizeof *out;
    blm_remote_stats s    = r->stats;
    s.size                = out->size;
    s.shards              = r->shards;
    for (size_t i = 0; i < r->node_count; i++)
        s.nodes += r->nodes[i]->met;
    memcpy(out, &s, size);
}
