/* SPDX-License-Identifier: MIT */
/*
 * Whole filters, chunk by chunk: BF.SCANDUMP gives them, BF.LOADCHUNK takes them.
 *
 * A fetch is one pass. Keys that others add meanwhile may or may not be in it. A RedisBloom chain
 * may also grow a layer meanwhile. Its bytes follow those that the header announces, and are left
 * out. The bytes of our own type carry checksums, which no longer match if a chunk changed after
 * its checksum was made: then the fetch starts again.
 *
 * A push goes to another key first and is renamed at the end, so that nobody ever checks half a
 * filter. That key's name is the key's own plus a suffix, for access lists that go by prefix. The
 * suffix is chosen so that a cluster keeps both keys in one slot, where they can be renamed. If we
 * die, the server deletes the other key within an hour.
 */
#include "remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloomery/embed.h"
#include "bloomery/redisbloom.h"

#define CHUNK    ((size_t)4 << 20) /* a push's; a fetch's are the server's choice, 16 MiB */
#define RESERVED (BLM_CHAIN_NOROUND | BLM_CHAIN_FORCE64) /* as BF.RESERVE makes chains */
#define TRIES    5
#define FORGET   "3600"
#define REFRESH  600.0 /* seconds */

static blm_status no_memory(blm_error *err)
{
    return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
}

static bool stopped(const blm_remote *r) { return r->o.stop && r->o.stop(r->o.stop_ctx); }

/* ---- fetch ---- */

struct fetch {
    blm_remote                     *r;
    const struct blm__remote_shard *shard;
    redisReply                     *reply; /* [next iterator, bytes] */
    long long                       next;
    size_t                          at;   /* in its bytes */
    uint64_t                        left; /* bytes after the header; UINT64_MAX: until the end */
    bool                            begun, failed;
    blm__between_fn                 between; /* NULL: nothing to do between two chunks */
    void                           *ctx;
    blm_error                      *err;
};

/* How many bytes a header announces; UINT64_MAX: not a header we know. */
static uint64_t announced(const redisReply *header, bool ours)
{
    const uint8_t *h = (const uint8_t *)header->str;
    uint32_t       flags;
    uint64_t       bytes;
    if (ours)
        return blm_dump_read_header(h, header->len, &flags, &bytes, NULL) == BLM_OK ? bytes
                                                                                    : UINT64_MAX;
    blm_chain_header chain = { .size = sizeof chain };
    return blm_chain_read_header(h, header->len, &chain, NULL, 0, NULL) == BLM_OK ? chain.bytes
                                                                                  : UINT64_MAX;
}

/* Asks for the chunk after the last one. */
static blm_status ask_chunk(struct fetch *p)
{
    struct blm_redis_command c = { .count = 0 };
    char                     from[24];
    snprintf(from, sizeof from, "%lld", p->next);
    if (p->reply)
        freeReplyObject(p->reply);
    p->reply = NULL;
    blm__redis_word(&c, "BF.SCANDUMP");
    blm__redis_arg(&c, p->shard->key, p->shard->key_len);
    blm__redis_word(&c, from);
    blm_status st = blm__remote_call(p->r, p->shard->slot, &c, BLM__AGAIN, &p->reply, p->err);
    if (st != BLM_OK)
        return st;
    const redisReply *r = p->reply;
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 2 ||
        r->element[0]->type != REDIS_REPLY_INTEGER || r->element[1]->type != REDIS_REPLY_STRING)
        return blm__redis_fail(p->err, BLM_E_FORMAT,
                               "the server's reply to BF.SCANDUMP is not a dump: check that it has "
                               "bloomery's module or RedisBloom");
    return BLM_OK;
}

/* The next chunk. False: there is none, or p->failed. */
static bool next_chunk(struct fetch *p)
{
    if (p->begun && (p->next == 0 || p->left == 0))
        return false;
    if (ask_chunk(p) != BLM_OK || (p->between && p->between(p->ctx, p->err) != BLM_OK)) {
        p->failed = true;
        return false;
    }
    const redisReply *r = p->reply;
    p->next             = r->element[0]->integer;
    p->at               = 0;
    if (!p->begun) {
        p->left = announced(r->element[1], p->r->ours);
        if (p->r->ours) /* this header is not part of the filter's bytes */
            p->at = r->element[1]->len;
    } else if (p->left != UINT64_MAX)
        p->left -= r->element[1]->len < p->left ? r->element[1]->len : p->left;
    bool first = !p->begun;
    p->begun   = true;
    return first && p->r->ours ? next_chunk(p) : r->element[1]->len > 0;
}

static size_t read_chunks(void *ctx, void *bytes, size_t len)
{
    struct fetch *p = ctx;
    if (stopped(p->r)) {
        blm__redis_fail(p->err, BLM_E_CANCELLED, "interrupted");
        p->failed = true;
        return SIZE_MAX;
    }
    if (!p->reply || p->at == p->reply->element[1]->len) {
        if (!next_chunk(p))
            return p->failed ? SIZE_MAX : 0;
    }
    const redisReply *data = p->reply->element[1];
    size_t            n    = data->len - p->at < len ? data->len - p->at : len;
    memcpy(bytes, data->str + p->at, n);
    p->at += n;
    return n;
}

blm_status blm__remote_fetch_while(blm_remote *r, uint32_t shard, const blm_options *f,
                                   blm__between_fn between, void *ctx, blm_filter **out,
                                   blm_error *err)
{
    blm_options  o   = *f;
    blm_error    why = { .offset = BLM_NO_OFFSET };
    struct fetch p   = {
          .r = r, .shard = &r->shard[shard], .between = between, .ctx = ctx, .err = &why
    };
    o.format      = r->ours ? "native" : "redisbloom";
    blm_status st = blm_decode_stream(read_chunks, &p, &o, out, err);
    if (st != BLM_OK && p.failed)
        *err = why;
    if (p.reply)
        freeReplyObject(p.reply);
    return st == BLM_OK ? st : err->status;
}

blm_status blm_remote_fetch(blm_remote *r, uint32_t shard, const blm_options *f, blm_filter **out,
                            blm_error *err)
{
    blm_options plain = BLM_OPTIONS_INIT;
    blm_error   own;
    blm_status  st = BLM_OK;
    err            = err ? err : &own;
    if (shard >= r->shards)
        return blm__redis_fail(err, BLM_E_ARGUMENT, "there are only %u shards",
                               (unsigned)r->shards);
    for (int i = 0; i < TRIES; i++) {
        st        = blm__remote_fetch_while(r, shard, f ? f : &plain, NULL, NULL, out, err);
        bool torn = st == BLM_E_CHECKSUM || st == BLM_E_TRUNCATED || st == BLM_E_FORMAT;
        if (!torn || !r->ours || stopped(r))
            return st;
    }
    return blm__redis_fail(err, BLM_E_BUSY, "the filter changed during each of %d tries to read it",
                           TRIES);
}

/* ---- the other key ---- */

/* The key and a suffix; in the same slot. NULL: no memory. */
static char *other_key(const struct blm__remote_shard *s, size_t *len)
{
    static const char middle[] = ".loading.";
    char             *name     = malloc(s->key_len + sizeof middle + 24);
    const char       *tag;
    size_t            tag_len;
    if (!name)
        return NULL;
    uint64_t number =
        (uint64_t)getpid() * 1000003u + (uint64_t)(blm__remote_now() * 1e6) % 1000000007u;
    memcpy(name, s->key, s->key_len);
    memcpy(name + s->key_len, middle, sizeof middle - 1);
    size_t   base   = s->key_len + sizeof middle - 1;
    uint16_t before = blm__remote_crc16(0, name, base);
    bool     any    = blm__remote_tag(s->key, s->key_len, &tag, &tag_len);
    for (;; number++) {
        int n = snprintf(name + base, 24, "%llu", (unsigned long long)number);
        *len  = base + (size_t)n;
        if (any || blm__remote_crc16(before, name + base, (size_t)n) % BLM__SLOTS == s->slot)
            return name;
    }
}

struct push {
    blm_remote                     *r;
    const struct blm__remote_shard *shard;
    char                           *key; /* the other one, or the real one */
    size_t                          key_len;
    bool                            other; /* it is the other one: rename it at the end */
    bool                            expires;
    double                          refreshed;

    char           *chunk;
    size_t          filled;
    uint64_t        iterator; /* of the last chunk sent; 0: none yet */
    const uint64_t *runs;     /* lengths that no chunk may span, one after the other */
    size_t          run, run_count;
    uint64_t        in_run; /* bytes of this one that have come */
    blm_error      *err;
};

/* A command on the key that is being filled, with a word and bytes; either may be NULL. */
static blm_status on_key(struct push *p, unsigned how, const char *name, const char *word,
                         const char *bytes, size_t bytes_len, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    blm__redis_word(&c, name);
    blm__redis_arg(&c, p->key, p->key_len);
    if (word)
        blm__redis_word(&c, word);
    if (bytes)
        blm__redis_arg(&c, bytes, bytes_len);
    return blm__remote_call(p->r, p->shard->slot, &c, how | BLM__WRITE, NULL, err);
}

/* An access list may forbid this. Then the key stays until someone deletes it. */
static void expire(struct push *p)
{
    blm_error ignored;
    p->expires |= on_key(p, BLM__AGAIN, "EXPIRE", FORGET, NULL, 0, &ignored) == BLM_OK;
    p->refreshed = blm__remote_now();
}

static bool send_chunk(struct push *p)
{
    char iterator[24];
    if (stopped(p->r)) {
        blm__redis_fail(p->err, BLM_E_CANCELLED, "interrupted; nothing changed on the server");
        return false;
    }
    bool head = p->iterator == 0;
    p->iterator += head ? 1 : p->filled;
    snprintf(iterator, sizeof iterator, "%llu", (unsigned long long)p->iterator);
    /* A server takes each chunk of native bytes once; RedisBloom's chunks can be written again. */
    unsigned how = !head && p->run_count ? BLM__AGAIN : 0;
    if (on_key(p, how, "BF.LOADCHUNK", iterator, p->chunk, p->filled, p->err) != BLM_OK)
        return false;
    p->filled = 0;
    if (p->other && (head || blm__remote_now() - p->refreshed > REFRESH))
        expire(p);
    return true;
}

/* A blm_write_fn: bytes gather until a chunk or a run is full. */
static bool gather(void *ctx, const void *bytes, size_t len)
{
    struct push *p    = ctx;
    const char  *from = bytes;
    while (len) {
        uint64_t left = p->run < p->run_count ? p->runs[p->run] - p->in_run : UINT64_MAX;
        size_t   n    = CHUNK - p->filled < len ? CHUNK - p->filled : len;
        n             = left < n ? (size_t)left : n;
        memcpy(p->chunk + p->filled, from, n);
        p->filled += n;
        p->in_run += n;
        from += n;
        len -= n;
        bool whole = n == left;
        if ((whole || p->filled == CHUNK) && !send_chunk(p))
            return false;
        if (whole) {
            p->run++;
            p->in_run = 0;
        }
    }
    return true;
}

/* The other key becomes the real one. */
static blm_status rename_key(struct push *p, bool replace)
{
    struct blm_redis_command c     = { .count = 0 };
    redisReply              *reply = NULL;
    blm_status               st    = BLM_OK;
    if (p->expires)
        st = on_key(p, BLM__AGAIN, "PERSIST", NULL, NULL, 0, p->err);
    blm__redis_word(&c, replace ? "RENAME" : "RENAMENX");
    blm__redis_arg(&c, p->key, p->key_len);
    blm__redis_arg(&c, p->shard->key, p->shard->key_len);
    if (st == BLM_OK)
        st = blm__remote_call(p->r, p->shard->slot, &c, BLM__WRITE, &reply, p->err);
    if (st != BLM_OK)
        return st;
    bool taken = reply->type == REDIS_REPLY_INTEGER && reply->integer == 0;
    freeReplyObject(reply);
    return taken ? blm__redis_fail(p->err, BLM_E_EXISTS, "the key exists") : BLM_OK;
}

static blm_status finish(struct push *p, blm_status st, bool replace)
{
    blm_error ignored;
    if (st == BLM_OK && p->other)
        st = rename_key(p, replace);
    if (st != BLM_OK && p->other && p->key)
        on_key(p, BLM__AGAIN, "DEL", NULL, NULL, 0, &ignored);
    free(p->key);
    free(p->chunk);
    return st;
}

/* ---- push ---- */

/* Only our module takes native bytes, and RedisBloom would ignore KIND. */
static blm_status need_ours(blm_remote *r, uint16_t slot, blm_error *err)
{
    struct blm_redis_command c = { .count = 0 };
    redisReply              *reply;
    blm__redis_word(&c, "COMMAND");
    blm__redis_word(&c, "INFO");
    blm__redis_word(&c, "BF.ESTIMATE");
    blm__redis_word(&c, "BF.ADD");
    blm_status st = blm__remote_call(r, slot, &c, BLM__AGAIN, &reply, err);
    if (st != BLM_OK)
        return st;
    bool known[2] = { false, false };
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < 2 && i < reply->elements; i++)
        known[i] = reply->element[i]->type == REDIS_REPLY_ARRAY;
    freeReplyObject(reply);
    if (known[0])
        return BLM_OK;
    if (!known[1])
        return blm__remote_refusal("ERR unknown command", err);
    return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                           "the server has RedisBloom, and a native filter needs bloomery's "
                           "module: load that, or make a filter for RedisBloom with bloomery "
                           "create --scheme redisbloom");
}

/* Our own bytes follow a header that says how many there are. */
static blm_status send_header(struct push *p, const blm_filter *f)
{
    uint64_t   total = 0;
    blm_status st    = blm_encoded_size(f, "native", &total, p->err);
    if (st != BLM_OK)
        return st;
    blm_dump_write_header((uint8_t *)p->chunk, BLM_DUMP_SATURATE, total);
    p->filled = BLM_DUMP_HEADER;
    return send_chunk(p) ? BLM_OK : p->err->status;
}

/* The header's length and the layers'. NULL: no memory. */
static uint64_t *runs_of(const blm_filter *f, bool native, size_t *count)
{
    blm_params p = { .size = sizeof p };
    blm_get_params(f, &p);
    uint64_t *runs   = malloc((p.layers + 1) * sizeof *runs);
    size_t    header = 0;
    if (!runs)
        return NULL;
    if (!native)
        blm_chain_write_header(f, NULL, 0, &header, NULL);
    runs[0] = header;
    *count  = native ? 0 : p.layers + 1;
    for (uint32_t i = 0; !native && i < p.layers; i++) {
        blm_chain_layer layer;
        blm_chain_get_layer(f, i, &layer);
        runs[i + 1] = layer.bytes;
    }
    return runs;
}

blm_status blm__remote_push(blm_remote *r, const struct blm__remote_shard *s, const blm_filter *f,
                            const char *format, bool replace, blm_error *err)
{
    struct push p      = { .r = r, .shard = s, .other = true, .err = err };
    blm_error   why    = { .offset = BLM_NO_OFFSET };
    blm_params  params = { .size = sizeof params };
    blm_get_params(f, &params);
    if (!format)
        format = strcmp(params.scheme, "redisbloom") == 0 ? "redisbloom" : "native";
    bool native = strcmp(format, "native") == 0;
    if (!native && strcmp(format, "redisbloom") != 0)
        return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                               "a server can hold filters of format native or redisbloom: give "
                               "--to native or --to redisbloom");
    blm_status st = native ? need_ours(r, s->slot, err) : BLM_OK;
    if (st != BLM_OK)
        return st;
    err->status    = BLM_OK;
    uint64_t *runs = runs_of(f, native, &p.run_count);
    p.runs         = runs;
    p.key          = other_key(s, &p.key_len);
    p.chunk        = malloc(CHUNK);
    if (!runs || !p.key || !p.chunk)
        st = no_memory(err);
    else if (native)
        st = send_header(&p, f);
    if (st == BLM_OK)
        st = blm_encode(f, format, gather, &p, &why);
    if (st == BLM_OK && p.filled && !send_chunk(&p))
        st = err->status;
    else if (st != BLM_OK && err->status == BLM_OK) /* not the server's fault */
        *err = why;
    st = finish(&p, st == BLM_OK ? st : err->status, replace);
    free(runs);
    return st;
}

/* ---- reserve ---- */

/* Can BF.RESERVE express all of this? */
static bool plain(const blm_options *o, const blm_params *p)
{
    if (o->like || o->bits || o->probes || o->memory || o->lines || p->can & BLM_CAN_FORGET ||
        o->hash != BLM_HASH_XXH3 || o->tightening != 0 || o->rate_cap != 0)
        return false;
    return p->capacity > 0 && p->rate > 0 &&
           ((strcmp(p->scheme, "native") == 0 && o->growth == 0) ||
            (strcmp(p->scheme, "redisbloom") == 0 && !(o->flags & BLM_SEEDED) &&
             (p->variant & ~(uint64_t)BLM_CHAIN_NO_SCALING) == RESERVED));
}

/* The words of BF.RESERVE after the capacity. */
static void say_kind(struct blm_redis_command *c, const blm_options *o, const blm_params *p,
                     char seed[40], char growth[24])
{
    if (strcmp(p->scheme, "native") == 0) {
        blm__redis_word(c, "KIND");
        blm__redis_word(c, blm_kind_name(p->kind));
        if (!(p->can & (BLM_CAN_GROW | BLM_CAN_FILL_UP | BLM_CAN_FORGET)))
            blm__redis_word(c, "SATURATE");
        if (o->flags & BLM_SEEDED) {
            snprintf(seed, 40, "0x%016llx%016llx", (unsigned long long)p->seed[1],
                     (unsigned long long)p->seed[0]);
            blm__redis_word(c, "SEED");
            blm__redis_word(c, seed);
        }
    } else if (p->variant & BLM_CHAIN_NO_SCALING) {
        blm__redis_word(c, "NONSCALING");
    } else if (o->growth > 0) {
        snprintf(growth, 24, "%.0f", o->growth);
        blm__redis_word(c, "EXPANSION");
        blm__redis_word(c, growth);
    }
}

blm_status blm__remote_reserve(blm_remote *r, const struct blm__remote_shard *s,
                               const blm_options *o, const blm_filter *f, bool replace,
                               blm_error *err)
{
    struct push              p      = { .r = r, .shard = s, .other = replace, .err = err };
    blm_params               params = { .size = sizeof params };
    struct blm_redis_command c      = { .count = 0 };
    char                     rate[40], items[24], growth[24], seed[40];
    blm_get_params(f, &params);
    if (!plain(o, &params))
        return blm__remote_push(r, s, f, NULL, replace, err);
    bool       native = strcmp(params.scheme, "native") == 0;
    blm_status st     = native ? need_ours(r, s->slot, err) : BLM_OK;
    if (st != BLM_OK)
        return st;
    if (replace) {
        p.key = other_key(s, &p.key_len);
    } else {
        p.key_len = s->key_len;
        p.key     = malloc(p.key_len + 1);
        if (p.key)
            memcpy(p.key, s->key, p.key_len + 1);
    }
    if (!p.key)
        return no_memory(err);
    snprintf(rate, sizeof rate, "%.17g", params.rate);
    snprintf(items, sizeof items, "%llu", (unsigned long long)params.capacity);
    blm__redis_word(&c, "BF.RESERVE");
    blm__redis_arg(&c, p.key, p.key_len);
    blm__redis_word(&c, rate);
    blm__redis_word(&c, items);
    say_kind(&c, o, &params, seed, growth);
    st = blm__remote_call(r, s->slot, &c, BLM__WRITE, NULL, err);
    return finish(&p, st, replace);
}
