/* SPDX-License-Identifier: MIT */
/*
 * Whole filters, chunk by chunk: BF.SCANDUMP gives them, BF.LOADCHUNK takes them.
 *
 * A pull is one pass. Keys that others add meanwhile may or may not be in it. A RedisBloom chain
 * may also grow a layer meanwhile. Its bytes follow those that the header announces, and are left
 * out. The bytes of our own type carry checksums, which no longer match if a chunk changed after
 * its checksum was made: then the pull starts again.
 *
 * A push goes to another key first and is renamed at the end, so that nobody ever checks half a
 * filter. That key's name is the key's own plus a suffix, for access lists that go by prefix. The
 * suffix is chosen so that a cluster keeps both keys in one slot, where they can be renamed. If we
 * die, the server deletes the other key within an hour.
 */
#ifdef BLOOMERY_WITH_HIREDIS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloomery/embed.h"
#include "bloomery/redisbloom.h"
#include "interrupt.h"
#include "memory.h"
#include "place_redis.h"
#include "progress.h"

#define CHUNK    ((size_t)4 << 20) /* a push's; a pull's are the server's choice, 16 MiB */
#define RESERVED (BLM_CHAIN_NOROUND | BLM_CHAIN_FORCE64) /* as BF.RESERVE makes chains */
#define TRIES    5
#define FORGET   "3600"
#define REFRESH  600.0 /* seconds */

/* ---- pull ---- */

struct pull {
    struct redis_connection *link;
    redisReply              *reply; /* [next iterator, bytes] */
    long long                next;
    size_t                   at;   /* in its bytes */
    uint64_t                 left; /* bytes after the header; UINT64_MAX: until the server ends */
    bool                     begun, failed;
    blm_error               *err;
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

/* The next chunk. False: there is none, or p->failed. */
static bool fetch(struct pull *p)
{
    char        from[24];
    const char *key = p->link->uri.key;
    if (p->begun && (p->next == 0 || p->left == 0))
        return false;
    snprintf(from, sizeof from, "%lld", p->next);
    if (p->reply)
        freeReplyObject(p->reply);
    p->reply = redis_call(p->link, true, p->err, "BF.SCANDUMP", key, from, NULL);
    if (!p->reply) {
        p->failed = true;
        return false;
    }
    const redisReply *r = p->reply;
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 2 ||
        r->element[0]->type != REDIS_REPLY_INTEGER || r->element[1]->type != REDIS_REPLY_STRING) {
        place_fail(p->err, BLM_E_FORMAT, 0,
                   "the server's reply to BF.SCANDUMP is not a dump: "
                   "check that it has bloomery's module or RedisBloom");
        p->failed = true;
        return false;
    }
    p->next = r->element[0]->integer;
    p->at   = 0;
    if (!p->begun) {
        p->left = announced(r->element[1], p->link->ours);
        if (p->link->ours) /* this header is not part of the filter's bytes */
            p->at = r->element[1]->len;
    } else if (p->left != UINT64_MAX)
        p->left -= r->element[1]->len < p->left ? r->element[1]->len : p->left;
    bool first = !p->begun;
    p->begun   = true;
    return first && p->link->ours ? fetch(p) : r->element[1]->len > 0;
}

static size_t read_chunks(void *ctx, void *bytes, size_t len)
{
    struct pull *p = ctx;
    if (interrupted()) {
        place_fail(p->err, BLM_E_CANCELLED, 0, "interrupted");
        p->failed = true;
        return SIZE_MAX;
    }
    if (!p->reply || p->at == p->reply->element[1]->len) {
        if (!fetch(p))
            return p->failed ? SIZE_MAX : 0;
    }
    const redisReply *data = p->reply->element[1];
    size_t            n    = data->len - p->at < len ? data->len - p->at : len;
    memcpy(bytes, data->str + p->at, n);
    p->at += n;
    return n;
}

static blm_status pull_once(struct ref *r, blm_error *err)
{
    struct redis_connection *l   = r->connection;
    blm_error                why = { .offset = BLM_NO_OFFSET };
    struct pull              p   = { .link = l, .err = &why };
    r->options.format            = l->ours ? "native" : "redisbloom";
    blm_status st                = blm_decode_stream(read_chunks, &p, &r->options, &r->filter, err);
    if (st != BLM_OK && p.failed)
        *err = why;
    if (p.reply)
        freeReplyObject(p.reply);
    return st == BLM_OK ? st : err->status;
}

blm_status redis_pull(struct ref *r, blm_error *err)
{
    blm_status st = BLM_OK;
    for (int i = 0; i < TRIES; i++) {
        st        = pull_once(r, err);
        bool torn = st == BLM_E_CHECKSUM || st == BLM_E_TRUNCATED || st == BLM_E_FORMAT;
        if (!torn || !((struct redis_connection *)r->connection)->ours || interrupted())
            return st;
    }
    return place_fail(err, BLM_E_BUSY, 0, NULL);
}

/* ---- the other key ---- */

static uint16_t crc16(uint16_t crc, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        crc = (uint16_t)(crc ^ (uint16_t)((uint8_t)bytes[i] << 8));
        for (int b = 0; b < 8; b++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc;
}

/* Does {…} in the key say which part of it decides the slot? */
static bool tagged(const char *key, size_t len)
{
    const char *open  = memchr(key, '{', len);
    const char *close = open ? memchr(open, '}', len - (size_t)(open - key)) : NULL;
    return close && close > open + 1;
}

/* The key and a suffix; in the same slot. */
static char *other_key(const struct redis_uri *u, size_t *len)
{
    static const char middle[] = ".loading.";
    char             *name     = memory_need(u->key_len + sizeof middle + 24);
    uint64_t number = (uint64_t)getpid() * 1000003u + (uint64_t)(now() * 1e6) % 1000000007u;
    memcpy(name, u->key, u->key_len);
    memcpy(name + u->key_len, middle, sizeof middle - 1);
    size_t   base   = u->key_len + sizeof middle - 1;
    uint16_t target = crc16(0, u->key, u->key_len), before = crc16(0, name, base);
    bool     any = tagged(u->key, u->key_len);
    for (;; number++) {
        int n = snprintf(name + base, 24, "%llu", (unsigned long long)number);
        *len  = base + (size_t)n;
        if (any || (crc16(before, name + base, (size_t)n) - target) % 16384 == 0)
            return name;
    }
}

struct push {
    struct redis_connection *link;
    char                    *key; /* the other one, or the real one */
    size_t                   key_len;
    bool                     other; /* it is the other one: rename it at the end */
    bool                     expires;
    double                   refreshed;

    char           *chunk;
    size_t          filled;
    uint64_t        iterator; /* of the last chunk sent; 0: none yet */
    const uint64_t *pieces;   /* lengths that no chunk may span, one after the other */
    size_t          piece, piece_count;
    uint64_t        in_piece; /* bytes of this one that have come */
    blm_error      *err;
};

static bool succeeds(redisReply *reply)
{
    if (reply)
        freeReplyObject(reply);
    return reply != NULL;
}

/* A command on the key that is being filled, with a word and bytes; either may be NULL. */
static bool on_key(struct push *p, bool again, const char *name, const char *word,
                   const char *bytes, size_t bytes_len, blm_error *err)
{
    const char *argv[4] = { name, p->key, word, bytes };
    size_t      len[4]  = { strlen(name), p->key_len, word ? strlen(word) : 0, bytes_len };
    return succeeds(redis_call_argv(p->link, again, bytes ? 4 : word ? 3 : 2, argv, len, err));
}

/* An access list may forbid this. Then the key stays until someone deletes it. */
static void expire(struct push *p)
{
    blm_error ignored;
    p->expires |= on_key(p, true, "EXPIRE", FORGET, NULL, 0, &ignored);
    p->refreshed = now();
}

static bool send_chunk(struct push *p)
{
    char iterator[24];
    if (interrupted()) {
        place_fail(p->err, BLM_E_CANCELLED, 0, "interrupted; nothing changed on the server");
        return false;
    }
    bool head = p->iterator == 0;
    p->iterator += head ? 1 : p->filled;
    snprintf(iterator, sizeof iterator, "%llu", (unsigned long long)p->iterator);
    /* A server takes each chunk of native bytes once; RedisBloom's chunks can be written again. */
    if (!on_key(p, !head && p->piece_count, "BF.LOADCHUNK", iterator, p->chunk, p->filled, p->err))
        return false;
    p->filled = 0;
    if (p->other && (head || now() - p->refreshed > REFRESH))
        expire(p);
    return true;
}

/* A blm_write_fn: bytes gather until a chunk or a piece is full. */
static bool gather(void *ctx, const void *bytes, size_t len)
{
    struct push *p    = ctx;
    const char  *from = bytes;
    while (len) {
        uint64_t left = p->piece < p->piece_count ? p->pieces[p->piece] - p->in_piece : UINT64_MAX;
        size_t   n    = CHUNK - p->filled < len ? CHUNK - p->filled : len;
        n             = left < n ? (size_t)left : n;
        memcpy(p->chunk + p->filled, from, n);
        p->filled += n;
        p->in_piece += n;
        from += n;
        len -= n;
        bool whole = n == left;
        if ((whole || p->filled == CHUNK) && !send_chunk(p))
            return false;
        if (whole) {
            p->piece++;
            p->in_piece = 0;
        }
    }
    return true;
}

static void forget(struct push *p)
{
    blm_error ignored;
    if (p->other)
        on_key(p, true, "DEL", NULL, NULL, 0, &ignored);
}

/* The other key becomes the real one. */
static blm_status rename_key(struct push *p, bool replace)
{
    const struct redis_uri *u = &p->link->uri;
    if (p->expires && !on_key(p, true, "PERSIST", NULL, NULL, 0, p->err))
        return p->err->status;
    const char *argv[3] = { replace ? "RENAME" : "RENAMENX", p->key, u->key };
    size_t      len[3]  = { strlen(argv[0]), p->key_len, u->key_len };
    redisReply *reply   = redis_call_argv(p->link, false, 3, argv, len, p->err);
    if (!reply)
        return p->err->status;
    bool taken = reply->type == REDIS_REPLY_INTEGER && reply->integer == 0;
    freeReplyObject(reply);
    return taken ? place_fail(p->err, BLM_E_EXISTS, 0, NULL) : BLM_OK;
}

static blm_status finish(struct push *p, blm_status st, bool replace)
{
    if (st == BLM_OK && p->other)
        st = rename_key(p, replace);
    if (st != BLM_OK)
        forget(p);
    free(p->key);
    free(p->chunk);
    return st;
}

/* ---- push ---- */

/* Only our module takes native bytes, and RedisBloom would ignore KIND. */
static blm_status need_ours(struct redis_connection *l, blm_error *err)
{
    redisReply *reply = redis_call(l, true, err, "COMMAND", "INFO", "BF.ESTIMATE", "BF.ADD", NULL);
    if (!reply)
        return err->status;
    bool known[2] = { false, false };
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < 2 && i < reply->elements; i++)
        known[i] = reply->element[i]->type == REDIS_REPLY_ARRAY;
    freeReplyObject(reply);
    if (known[0])
        return BLM_OK;
    if (!known[1])
        return redis_refusal(l, "ERR unknown command", err);
    return place_fail(err, BLM_E_UNSUPPORTED, 0,
                      "the server has RedisBloom, and a native filter needs bloomery's module: "
                      "load that, or make a filter for RedisBloom with bloomery create --scheme "
                      "redisbloom");
}

/* Our own bytes follow a header that says how many there are. */
static bool send_header(struct push *p, const blm_filter *f, blm_error *err)
{
    uint64_t total = 0;
    uint8_t *h     = (uint8_t *)p->chunk;
    if (blm_encoded_size(f, "native", &total, err) != BLM_OK)
        return false;
    blm_dump_write_header(h, BLM_DUMP_SATURATE, total);
    p->filled = BLM_DUMP_HEADER;
    return send_chunk(p);
}

static uint64_t *pieces_of(const blm_filter *f, bool native, size_t *count)
{
    blm_params p = { .size = sizeof p };
    blm_get_params(f, &p);
    uint64_t *pieces = memory_need((p.layers + 1) * sizeof *pieces);
    size_t    header = 0;
    if (!native)
        blm_chain_write_header(f, NULL, 0, &header, NULL);
    pieces[0] = header;
    *count    = native ? 0 : p.layers + 1;
    for (uint32_t i = 0; !native && i < p.layers; i++) {
        blm_chain_layer layer;
        blm_chain_get_layer(f, i, &layer);
        pieces[i + 1] = layer.bytes;
    }
    return pieces;
}

blm_status redis_push(struct ref *r, const char *format, bool replace, blm_error *err)
{
    struct push p      = { .link = r->connection, .other = true, .err = err };
    blm_error   why    = { .offset = BLM_NO_OFFSET };
    blm_params  params = { .size = sizeof params };
    blm_get_params(r->filter, &params);
    if (!format)
        format = strcmp(params.scheme, "redisbloom") == 0 ? "redisbloom" : "native";
    bool native = strcmp(format, "native") == 0;
    if (!native && strcmp(format, "redisbloom") != 0)
        return place_fail(
            err, BLM_E_UNSUPPORTED, 0,
            "a server can hold filters of format native or redisbloom: give --to native or --to "
            "redisbloom");
    blm_status st = native ? need_ours(r->connection, err) : BLM_OK;
    if (st != BLM_OK)
        return st;
    uint64_t *pieces = pieces_of(r->filter, native, &p.piece_count);
    p.pieces         = pieces;
    p.key            = other_key(&p.link->uri, &p.key_len);
    p.chunk          = memory_need(CHUNK);
    if (native && !send_header(&p, r->filter, err))
        st = err->status;
    else
        st = blm_encode(r->filter, format, gather, &p, &why);
    if (st == BLM_OK && p.filled && !send_chunk(&p))
        st = err->status;
    else if (st != BLM_OK && err->status == BLM_OK) /* not the server's fault */
        *err = why;
    st = finish(&p, st == BLM_OK ? st : err->status, replace);
    free(pieces);
    return st;
}

/* ---- reserve ---- */

/* Can BF.RESERVE express all of this? */
static bool plain(const blm_options *o, const blm_params *p)
{
    if (o->like || o->bits || o->probes || o->memory || o->lines || o->flags & BLM_SEEDED ||
        p->can & BLM_CAN_FORGET || o->hash != BLM_HASH_XXH3 || o->tightening != 0 ||
        o->rate_cap != 0)
        return false;
    return p->capacity > 0 && p->rate > 0 &&
           ((strcmp(p->scheme, "native") == 0 && o->growth == 0) ||
            (strcmp(p->scheme, "redisbloom") == 0 &&
             (p->variant & ~(uint64_t)BLM_CHAIN_NO_SCALING) == RESERVED));
}

blm_status redis_reserve(struct ref *r, const blm_options *o, bool replace, blm_error *err)
{
    struct push p      = { .link = r->connection, .other = replace, .err = err };
    blm_params  params = { .size = sizeof params };
    char        rate[40], items[24];
    char        growth[24];
    size_t      len[7], argc = 4;
    blm_get_params(r->filter, &params);
    if (!plain(o, &params))
        return redis_push(r, NULL, replace, err);
    bool       native = strcmp(params.scheme, "native") == 0;
    blm_status st     = native ? need_ours(r->connection, err) : BLM_OK;
    if (st != BLM_OK)
        return st;
    if (p.other) {
        p.key = other_key(&p.link->uri, &p.key_len);
    } else {
        p.key_len = p.link->uri.key_len;
        p.key     = memcpy(memory_need(p.key_len + 1), p.link->uri.key, p.key_len + 1);
    }
    snprintf(rate, sizeof rate, "%.17g", params.rate);
    snprintf(items, sizeof items, "%llu", (unsigned long long)params.capacity);
    const char *argv[7] = { "BF.RESERVE", p.key, rate, items };
    if (native) {
        argv[argc++] = "KIND";
        argv[argc++] = blm_kind_name(params.kind);
        if (!(params.can & (BLM_CAN_GROW | BLM_CAN_FILL_UP | BLM_CAN_FORGET)))
            argv[argc++] = "SATURATE";
    } else if (params.variant & BLM_CHAIN_NO_SCALING) {
        argv[argc++] = "NONSCALING";
    } else if (o->growth > 0) {
        snprintf(growth, sizeof growth, "%.0f", o->growth);
        argv[argc++] = "EXPANSION";
        argv[argc++] = growth;
    }
    for (size_t i = 0; i < argc; i++)
        len[i] = i == 1 ? p.key_len : strlen(argv[i]);
    st = succeeds(redis_call_argv(p.link, false, argc, argv, len, err)) ? BLM_OK : err->status;
    return finish(&p, st, replace);
}
#else
typedef int redis_chunks_are_not_built; /* a C file must declare something */
#endif
