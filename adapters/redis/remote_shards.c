/* SPDX-License-Identifier: MIT */
/*
 * One filter in many keys. docs/scale.md specifies what is here, for other clients.
 *
 * The key that the URL names holds the descriptor, a line of text:
 *
 *   bloomery-shards 1 shards=12 route=siphash24 seed=… id=… items=… rate=…
 *
 * 1 is the version of these rules. Shard i is an ordinary filter under the key {TAG}KEY.ID, where TAG
 * is the smallest decimal number whose slot is ⌊(2i + 1) · 8192 / shards⌋: the middle of the i-th of
 * `shards` equal parts of the cluster's 16384 slots. Masters have stretches of slots, so each gets as
 * many shards as it has slots, give or take one. The tag is in front, so that braces in KEY do not
 * count. ID is random: whoever still has the descriptor of a filter that was replaced finds no shards,
 * instead of adding to wrong ones.
 *
 * A key belongs to shard ⌊h · shards / 2^64⌋, where h is its SipHash-2-4 with the descriptor's seed.
 * For native filters that seed is derived from the filter's, so that filters which may be merged also
 * agree in where their keys are; it is another one, so that a key's shard says nothing about its bits.
 */
#include "remote.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloomery/embed.h"

#define MAGIC       "bloomery-shards "
#define VERSION     1
#define ROUTE       "siphash24"
#define LEAST       16u      /* shards, if the URL does not say how many */
#define EACH_MASTER 4u       /* … and for each master */
#define OVERFLOW    1e-9     /* the chance that some shard gets more keys than planned */
#define MOST_TAG    10000000 /* all slots have a tag long before */

struct descriptor {
    uint32_t shards;
    uint64_t seed[2];
    uint32_t id;
    uint64_t items;
    double   rate;
};

static blm_status no_memory(blm_error *err)
{
    return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
}

void blm__shards_free(blm_remote *r)
{
    for (uint32_t i = 0; r->shard && i < r->shards; i++)
        free(r->shard[i].key);
    free(r->shard);
    blm_free(r->route);
    r->shard  = NULL;
    r->route  = NULL;
    r->shards = 0;
}

blm_status blm__shards_one(blm_remote *r, blm_error *err)
{
    const struct blm__remote_url *u = &r->url;
    r->shard                        = calloc(1, sizeof *r->shard);
    r->shards                       = r->shard ? 1 : 0;
    if (!r->shard || !(r->shard[0].key = malloc(u->key_len + 1)))
        return no_memory(err);
    memcpy(r->shard[0].key, u->key, u->key_len + 1);
    r->shard[0].key_len = u->key_len;
    r->shard[0].slot    = blm__remote_slot(u->key, u->key_len);
    return BLM_OK;
}

blm_status blm__shards_ask(blm_remote *r, const char *word, unsigned how, blm__reply_fn take,
                           void *ctx, blm_error *err)
{
    struct blm__remote_command *commands = calloc(r->shards, sizeof *commands);
    const char                **argv     = malloc(2 * r->shards * sizeof *argv);
    size_t                     *len      = malloc(2 * r->shards * sizeof *len);
    blm_status                  st       = commands && argv && len ? BLM_OK : no_memory(err);
    for (uint32_t i = 0; st == BLM_OK && i < r->shards; i++) {
        argv[2 * i]     = word;
        len[2 * i]      = strlen(word);
        argv[2 * i + 1] = r->shard[i].key;
        len[2 * i + 1]  = r->shard[i].key_len;
        commands[i]     = (struct blm__remote_command){ .argc = 2,
                                                        .argv = argv + 2 * (size_t)i,
                                                        .len  = len + 2 * (size_t)i,
                                                        .slot = r->shard[i].slot };
    }
    if (st == BLM_OK)
        st = blm__remote_run(r, commands, r->shards, how, take, ctx, err);
    free(commands);
    free(argv);
    free(len);
    return st;
}

/* ---- names ---- */

static uint16_t slot_of_shard(uint32_t i, uint32_t shards)
{
    return (uint16_t)((2 * (uint64_t)i + 1) * (BLM__SLOTS / 2) / shards);
}

/* tag[i] becomes the tag of shard i. False: no memory. */
static bool find_tags(uint32_t shards, uint32_t *tag)
{
    uint32_t *wanted = malloc(BLM__SLOTS * sizeof *wanted), left = shards;
    char      text[16];
    if (!wanted)
        return false;
    memset(wanted, 0xff, BLM__SLOTS * sizeof *wanted);
    for (uint32_t i = 0; i < shards; i++)
        wanted[slot_of_shard(i, shards)] = i;
    for (uint32_t n = 0; left && n < MOST_TAG; n++) {
        size_t    len  = (size_t)snprintf(text, sizeof text, "%u", (unsigned)n);
        uint32_t *here = &wanted[blm__remote_crc16(0, text, len) % BLM__SLOTS];
        if (*here == UINT32_MAX)
            continue;
        tag[*here] = n;
        *here      = UINT32_MAX;
        left--;
    }
    free(wanted);
    return left == 0;
}

static bool name_shard(blm_remote *r, uint32_t i, uint32_t tag, uint32_t id)
{
    struct blm__remote_shard *s    = &r->shard[i];
    size_t                    room = r->url.key_len + 32;
    s->key                         = malloc(room);
    if (!s->key)
        return false;
    size_t front = (size_t)snprintf(s->key, room, "{%u}", (unsigned)tag);
    memcpy(s->key + front, r->url.key, r->url.key_len);
    s->key_len = front + r->url.key_len;
    s->key_len += (size_t)snprintf(s->key + s->key_len, room - s->key_len, ".%08x", (unsigned)id);
    s->slot = blm__remote_slot(s->key, s->key_len);
    return true;
}

static blm_filter *hasher(const uint64_t seed[2])
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    o.bits        = 64;
    o.probes      = 1;
    o.hash        = BLM_HASH_SIPHASH;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = seed[0];
    o.seed[1]     = seed[1];
    return blm_create(&o, &f, NULL) == BLM_OK ? f : NULL;
}

/* Makes r->shard and r->route as the descriptor says. */
static blm_status name_all(blm_remote *r, const struct descriptor *d, blm_error *err)
{
    uint32_t *tag = malloc(d->shards * sizeof *tag);
    blm__shards_free(r);
    r->shard  = calloc(d->shards, sizeof *r->shard);
    r->shards = r->shard ? d->shards : 0;
    r->route  = hasher(d->seed);
    memcpy(r->seed, d->seed, sizeof r->seed);
    r->id     = d->id;
    r->items  = d->items;
    r->rate   = d->rate;
    bool good = tag && r->shard && r->route && find_tags(d->shards, tag);
    for (uint32_t i = 0; good && i < d->shards; i++)
        good = name_shard(r, i, tag[i], d->id);
    free(tag);
    return good ? BLM_OK : no_memory(err);
}

/* ---- the descriptor ---- */

static void write_descriptor(const struct descriptor *d, char out[BLM__SHARDS_TEXT])
{
    snprintf(out, BLM__SHARDS_TEXT,
             MAGIC "%d shards=%u route=" ROUTE " seed=%016llx%016llx id=%08x items=%llu rate=%.17g",
             VERSION, (unsigned)d->shards, (unsigned long long)d->seed[1],
             (unsigned long long)d->seed[0], (unsigned)d->id, (unsigned long long)d->items,
             d->rate);
}

static blm_status not_a_descriptor(blm_error *err)
{
    return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                           "the key does not describe a filter of shards: give another key, or "
                           "redis://host/KEY for a filter in one key");
}

static blm_status read_descriptor(const char *text, struct descriptor *d, blm_error *err)
{
    int                version = 0, used = 0;
    unsigned           shards, id;
    unsigned long long high, low, items;
    char               route[24] = "";
    if (strncmp(text, MAGIC, strlen(MAGIC)) != 0 ||
        sscanf(text, MAGIC "%9d%n", &version, &used) != 1)
        return not_a_descriptor(err);
    if (version != VERSION)
        return blm__redis_fail(err, BLM_E_VERSION, "the shards follow rules of version %d",
                               version);
    if (sscanf(text + used, " shards=%9u route=%23s seed=%16llx%16llx id=%8x items=%20llu rate=%lf",
               &shards, route, &high, &low, &id, &items, &d->rate) != 7 ||
        shards < 1 || shards > BLM__SLOTS)
        return not_a_descriptor(err);
    if (strcmp(route, ROUTE) != 0)
        return blm__redis_fail(err, BLM_E_VERSION, "the shards are chosen by %.20s", route);
    d->shards  = shards;
    d->id      = id;
    d->items   = items;
    d->seed[1] = high;
    d->seed[0] = low;
    return BLM_OK;
}

static uint16_t home_slot(const blm_remote *r)
{
    return blm__remote_slot(r->url.key, r->url.key_len);
}

/* E_ABSENT: there is none. */
static blm_status get_descriptor(blm_remote *r, struct descriptor *d, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *reply;
    blm__redis_word(&c, "GET");
    blm__redis_arg(&c, r->url.key, r->url.key_len);
    blm_status st = blm__remote_call(r, home_slot(r), &c, BLM__AGAIN, &reply, err);
    if (st != BLM_OK)
        return strstr(err->text, "does not hold a filter") ? not_a_descriptor(err) : st;
    st = reply->type == REDIS_REPLY_STRING ? read_descriptor(reply->str, d, err)
                                           : blm__remote_refusal("ERR not found", err);
    freeReplyObject(reply);
    return st;
}

blm_status blm__shards_find(blm_remote *r, blm_error *err)
{
    struct descriptor d  = { .shards = 0 };
    blm_status        st = get_descriptor(r, &d, err);
    if (st == BLM_OK && r->url.shards && r->url.shards != d.shards)
        return blm__redis_fail(err, BLM_E_MISMATCH,
                               "the filter has %u shards, not %u: remove ?shards",
                               (unsigned)d.shards, (unsigned)r->url.shards);
    return st == BLM_OK ? name_all(r, &d, err) : st;
}

blm_status blm__shards_same(blm_remote *r, bool *same, blm_error *err)
{
    struct descriptor d  = { .shards = 0 };
    blm_status        st = get_descriptor(r, &d, err);
    *same                = st == BLM_OK && d.shards == r->shards && d.id == r->id &&
            memcmp(d.seed, r->seed, sizeof d.seed) == 0;
    return st;
}

void blm__shards_write(const blm_remote *r, char out[BLM__SHARDS_TEXT])
{
    struct descriptor d = { r->shards, { r->seed[0], r->seed[1] }, r->id, r->items, r->rate };
    write_descriptor(&d, out);
}

blm_status blm__shards_read(blm_remote *r, const char *text, blm_error *err)
{
    struct descriptor d  = { .shards = 0 };
    blm_status        st = read_descriptor(text, &d, err);
    return st == BLM_OK ? name_all(r, &d, err) : st;
}

/* ---- new ones ---- */

/* How many keys a shard is planned for. Of n keys a shard gets a number with mean n / shards; by
 * Bernstein's inequality it exceeds it by t with a chance below exp(−t² / (2·mean + 2t/3)). t is
 * chosen so that this, for all shards together, is OVERFLOW. Then every shard keeps the rate, and so
 * does the whole, which has the mean of its shards' rates. */
static uint64_t share_of(uint64_t items, uint32_t shards)
{
    double mean = (double)items / shards, l = log((double)shards / OVERFLOW);
    double most = mean + l / 3 + sqrt(l * l / 9 + 2 * mean * l);
    return most < (double)items ? (uint64_t)ceil(most) : items;
}

static uint32_t count_masters(const blm_remote *r)
{
    uint32_t count = 0;
    for (size_t n = 0; n < r->node_count; n++)
        for (size_t s = 0; s < BLM__SLOTS; s++)
            if (r->owner[s] == (int16_t)n) {
                count++;
                break;
            }
    return count;
}

static blm_status draw(void *out, size_t len, blm_error *err)
{
    return getentropy(out, len) == 0
               ? BLM_OK
               : blm__redis_fail(err, BLM_E_IO, "the system has no random bytes");
}

/* The seed of the route: from the filter's, if it has one. */
static blm_status route_seed(const blm_params *p, uint64_t out[2], blm_error *err)
{
    static const blm_key words[2] = { { "bloomery route 0", 16 }, { "bloomery route 1", 16 } };
    if (strcmp(p->scheme, "native") != 0)
        return draw(out, 16, err);
    blm_filter *h = hasher(p->seed);
    if (!h)
        return no_memory(err);
    blm_hash_many(h, words, 2, out);
    blm_free(h);
    return BLM_OK;
}

static blm_status plan(blm_remote *r, blm_options *o, struct descriptor *d, blm_filter **one,
                       blm_error *err)
{
    blm_params p = { .size = sizeof p };
    d->shards    = r->url.shards                            ? r->url.shards
                   : count_masters(r) * EACH_MASTER > LEAST ? count_masters(r) * EACH_MASTER
                                                            : LEAST;
    d->items     = o->items;
    o->items     = share_of(o->items, d->shards);
    o->memory /= d->shards;
    o->bits /= d->shards;
    blm_status st     = draw(&d->id, sizeof d->id, err);
    bool       native = !o->like && (!o->scheme || strcmp(o->scheme, "native") == 0);
    if (st == BLM_OK && native && !(o->flags & BLM_SEEDED)) {
        o->flags |= BLM_SEEDED; /* one for all shards */
        st = draw(o->seed, sizeof o->seed, err);
    }
    if (st == BLM_OK)
        st = blm_create(o, one, err);
    if (st != BLM_OK)
        return st;
    blm_get_params(*one, &p);
    if (p.can & BLM_CAN_FORGET && !o->window_ms)
        return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                               "a window by number of keys cannot be shared out: make one by time");
    if (!d->items)
        d->items = p.capacity * d->shards;
    d->rate = p.rate;
    return route_seed(&p, d->seed, err);
}

/* Best effort: what stays is found by its name. */
static void delete_shards(blm_remote *r)
{
    blm_error ignored;
    blm__shards_ask(r, "UNLINK", BLM__AGAIN, NULL, NULL, &ignored);
}

/* Publishes the filter. E_EXISTS: somebody else was first. */
static blm_status set_descriptor(blm_remote *r, const struct descriptor *d, bool replace,
                                 blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *reply;
    char                     text[BLM__SHARDS_TEXT];
    write_descriptor(d, text);
    blm__redis_word(&c, "SET");
    blm__redis_arg(&c, r->url.key, r->url.key_len);
    blm__redis_word(&c, text);
    if (!replace)
        blm__redis_word(&c, "NX");
    blm_status st = blm__remote_call(r, home_slot(r), &c, BLM__WRITE, &reply, err);
    if (st != BLM_OK)
        return st;
    bool taken = reply->type == REDIS_REPLY_NIL;
    freeReplyObject(reply);
    return taken ? blm__redis_fail(err, BLM_E_EXISTS, "the key exists") : BLM_OK;
}

/* May a filter be made here? What is there goes to *old. */
static blm_status vacant(blm_remote *r, bool replace, struct descriptor *old, blm_error *err)
{
    blm_status st = get_descriptor(r, old, err);
    if (!replace && st == BLM_OK)
        return blm__redis_fail(err, BLM_E_EXISTS, "the key exists");
    return st == BLM_E_ABSENT ? BLM_OK : st;
}

/* The shards have been made, or that failed with st. */
static blm_status finish(blm_remote *r, blm_status st, const struct descriptor *d,
                         const struct descriptor *old, bool replace, blm_error *err)
{
    bool named = st == BLM_OK;
    if (named)
        st = set_descriptor(r, d, replace, err);
    /* Without an answer nobody knows which shards the descriptor names: neither are deleted. */
    if (st != BLM_OK && !(named && st == BLM_E_IO) && r->shards == d->shards && r->shard) {
        delete_shards(r);
    } else if (st == BLM_OK && old->shards) {
        /* Nobody can find the old ones any more. */
        if (name_all(r, old, err) == BLM_OK)
            delete_shards(r);
        st = name_all(r, d, err);
    }
    return st;
}

blm_status blm__shards_create(blm_remote *r, const blm_options *options, blm_error *err)
{
    struct descriptor d = { .shards = 0 }, old = { .shards = 0 };
    blm_options       o       = *options;
    blm_filter       *one     = NULL;
    bool              replace = o.flags & BLM_REPLACE;
    blm_status        st      = vacant(r, replace, &old, err);
    o.flags &= ~BLM_REPLACE;
    if (st == BLM_OK)
        st = plan(r, &o, &d, &one, err);
    if (st == BLM_OK)
        st = name_all(r, &d, err);
    for (uint32_t i = 0; st == BLM_OK && i < d.shards; i++)
        st = blm__remote_reserve(r, &r->shard[i], &o, one, false, err);
    st = finish(r, st, &d, &old, replace, err);
    blm_free(one);
    return st;
}

/* ---- merging ---- */

/* BF.MERGE of one shard, on the node that has it. */
static blm_status merge_shard(blm_remote *r, uint32_t i, blm_remote *const *from, size_t count,
                              blm_error *err)
{
    const struct blm__remote_shard *to = &r->shard[i];
    for (size_t k = 0; k < count; k++) {
        struct blm_redis_command c = { .count = 0 };
        blm__redis_word(&c, "BF.MERGE");
        blm__redis_arg(&c, to->key, to->key_len);
        blm__redis_arg(&c, from[k]->shard[i].key, from[k]->shard[i].key_len);
        blm_status st = blm__remote_call(r, to->slot, &c, BLM__WRITE, NULL, err);
        if (st != BLM_OK)
            return st;
    }
    return BLM_OK;
}

blm_status blm__shards_merge(blm_remote *r, blm_remote *const *from, size_t count, bool replace,
                             blm_error *err)
{
    struct descriptor d   = { .shards = from[0]->shards,
                              .items  = from[0]->items,
                              .rate   = from[0]->rate },
                      old = { .shards = 0 };
    memcpy(d.seed, from[0]->seed, sizeof d.seed);
    for (size_t k = 0; k < count; k++)
        if (!from[k]->route || from[k]->shards != d.shards ||
            memcmp(from[k]->seed, d.seed, sizeof d.seed) != 0)
            return blm__redis_fail(err, BLM_E_MISMATCH,
                                   "the filters differ in their shards or seed: make them with "
                                   "--like, and with as many shards");
    blm_status st = vacant(r, replace, &old, err);
    if (st == BLM_OK)
        st = draw(&d.id, sizeof d.id, err);
    if (st == BLM_OK)
        st = name_all(r, &d, err);
    for (uint32_t i = 0; st == BLM_OK && i < d.shards; i++)
        st = merge_shard(r, i, from, count, err);
    return finish(r, st, &d, &old, replace, err);
}

/* ---- for callers ---- */

const char *blm_remote_shard(const blm_remote *r, uint32_t shard, size_t *len, uint32_t *slot)
{
    if (shard >= r->shards)
        return NULL;
    if (len)
        *len = r->shard[shard].key_len;
    if (slot)
        *slot = r->shard[shard].slot;
    return r->shard[shard].key;
}
