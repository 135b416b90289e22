/* SPDX-License-Identifier: MIT */
/*
 * BF.SCANDUMP and BF.LOADCHUNK: a filter in chunks of at most 16 MiB. The first chunk is a header.
 * Then come the bits: of a RedisBloom chain, layer after layer, with no chunk in two layers; of a
 * native filter, its native bytes. A chunk's iterator is 1 + the bytes sent up to its end.
 */
#include <string.h>

#include "bf.h"
#include "bloomery/embed.h"
#include "bloomery/redisbloom.h"

#define TOO_BIG   "ERR invalid chunk - Too big for current filter"
#define NO_MEMORY "ERR Insufficient memory"
#define BAD       "ERR received bad data"

/* ---- BF.SCANDUMP key iterator ---- */

static int reply_chunk(Ctx *ctx, long long next, const void *bytes, size_t len)
{
    api.ReplyWithArray(ctx, 2);
    api.ReplyWithLongLong(ctx, next);
    return api.ReplyWithStringBuffer(ctx, bytes, len);
}

/* The bytes of a RedisBloom chain from `at` to the end of the layer; NULL: the chain ends there. */
static const char *chain_bytes(const struct value *v, uint64_t at, size_t *len)
{
    uint32_t layers = bf_params(v).layers;
    for (uint32_t i = 0; i < layers; i++) {
        blm_chain_layer l;
        uint64_t        bytes;
        const char     *bits = blm_view(v->filter, i, &bytes);
        blm_chain_get_layer(v->filter, i, &l);
        if (at < l.bytes) {
            *len = (size_t)(l.bytes - at < BF_CHUNK ? l.bytes - at : BF_CHUNK);
            return bits + at;
        }
        at -= l.bytes;
    }
    return NULL;
}

static int dump_chain(Ctx *ctx, const struct value *v, long long iterator)
{
    size_t len = 0;
    if (iterator == 0) {
        const uint8_t *header = bf_header(v, &len);
        return reply_chunk(ctx, 1, header, len);
    }
    const char *bytes = iterator > 0 ? chain_bytes(v, (uint64_t)iterator - 1, &len) : NULL;
    return bytes ? reply_chunk(ctx, iterator + (long long)len, bytes, len)
                 : reply_chunk(ctx, 0, "", 0);
}

static int dump_native(Ctx *ctx, const struct value *v, long long iterator)
{
    uint8_t  header[BF_NATIVE_HEADER];
    uint64_t total = bf_native_length(v), at = (uint64_t)iterator - 1;
    if (total == 0)
        return api.ReplyWithError(ctx, NO_MEMORY);
    if (iterator == 0) {
        bf_native_header_put(v, total, header);
        return reply_chunk(ctx, 1, header, sizeof header);
    }
    if (iterator < 0 || at >= total)
        return reply_chunk(ctx, 0, "", 0);
    size_t room   = (size_t)(total - at < BF_CHUNK ? total - at : BF_CHUNK);
    char  *buffer = bf_try_alloc(room);
    if (buffer && bf_native_read(v, at, buffer, room) == room)
        reply_chunk(ctx, iterator + (long long)room, buffer, room);
    else
        api.ReplyWithError(ctx, NO_MEMORY);
    if (buffer)
        api.Free(buffer);
    return API_OK;
}

int bf_cmd_scandump(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    long long     iterator;
    if (argc != 3)
        return api.WrongArity(ctx);
    enum bf_found found = bf_find(ctx, argv[1], &v);
    if (found == BF_MISSING)
        return bf_not_found(ctx);
    if (found == BF_OTHER)
        return bf_wrong_type(ctx);
    if (v->arriving)
        return bf_still_arriving(ctx);
    if (api.StringToLongLong(argv[2], &iterator) != API_OK)
        return api.ReplyWithError(ctx, "Second argument must be numeric");
    return v->native ? dump_native(ctx, v, iterator) : dump_chain(ctx, v, iterator);
}

/* ---- BF.LOADCHUNK key iterator data ---- */

static struct value *begin_chain(const uint8_t *data, size_t len, uint64_t cap, const char **why)
{
    struct bf_chain c = { 0 };
    struct value   *v = NULL;
    /* RedisBloom has one error for everything that is wrong with a header. */
    *why = BAD;
    if (bf_header_get(&c, data, len)) {
        const char *fault;
        if (!bf_chain_fault(&c, 0) && bf_chain_fault(&c, cap))
            *why = BF_TOO_LARGE; /* a valid header */
        else
            v = bf_chain_value(&c, cap, &fault);
        if (!v && !bf_chain_fault(&c, cap))
            *why = NO_MEMORY; /* a valid header too */
        bf_chain_free(&c);
    } else if (c.starved) {
        *why = NO_MEMORY;
    }
    return v;
}

static const char *write_chain(struct value *v, uint64_t at, const void *data, size_t len)
{
    uint32_t layers = bf_params(v).layers;
    for (uint32_t i = 0; i < layers; i++) {
        blm_chain_layer l;
        blm_chain_get_layer(v->filter, i, &l);
        if (at < l.bytes) {
            if (len > l.bytes - at)
                return TOO_BIG;
            return blm_write_bits(v->filter, i, at, data, len) == BLM_OK ? NULL : BAD;
        }
        at -= l.bytes;
    }
    return BF_NO_LAYER;
}

/* NULL, or the error. *gone: the bytes were not a filter, so the key was deleted. */
static const char *load_chunk(Key *key, struct value *v, long long iterator, const void *data,
                              size_t len, bool *gone)
{
    const char *why = NULL;
    if (iterator <= 0 || (uint64_t)iterator - 1 < len)
        return BAD;
    uint64_t at = (uint64_t)iterator - 1 - len;
    bf_changes_end(v);
    if (!v->native)
        return write_chain(v, at, data, len);
    if (!v->arriving)
        return BF_NO_LAYER;
    if (bf_native_take(v, at, data, len, &why) >= 0)
        return NULL;
    *gone = !v->arriving;
    if (*gone)
        api.DeleteKey(key);
    return why;
}

int bf_cmd_loadchunk(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    Key          *key;
    long long     iterator;
    size_t        len;
    bool          gone = false;
    const char   *why  = NULL;
    if (argc != 4)
        return api.WrongArity(ctx);
    if (api.StringToLongLong(argv[2], &iterator) != API_OK)
        return api.ReplyWithError(ctx, "ERR Second argument must be numeric");
    const void   *data  = api.StringPtrLen(argv[3], &len);
    enum bf_found found = bf_open(ctx, argv[1], &key, &v);
    if (found == BF_OTHER) {
        api.CloseKey(key);
        return bf_wrong_type(ctx);
    }
    if (found == BF_MISSING && iterator != 1) {
        why = iterator <= 0 ? BAD : "ERR not found";
    } else if (found == BF_MISSING) {
        v = bf_native_header(data, len) ? bf_native_begin(data, len, bf_cap(ctx), &why)
                                        : begin_chain(data, len, bf_cap(ctx), &why);
        if (v) {
            bf_attach(key, v);
            why = NULL;
        } else {
            bf_total(&bf_totals.refused, 1);
        }
    } else {
        why = load_chunk(key, v, iterator, data, len, &gone);
    }
    api.CloseKey(key);
    if (gone) { /* not the chunk: a replica without a cap, or with more memory, might accept it */
        api.Replicate(ctx, "DEL", "s", argv[1]);
        api.SignalModifiedKey(ctx, argv[1]);
        api.NotifyKeyspaceEvent(ctx, API_NOTIFY_GENERIC, "del", argv[1]);
    } else if (!why) {
        api.ReplicateVerbatim(ctx);
        bf_changed(ctx, argv[1], "bf.loadchunk");
    }
    return why ? api.ReplyWithError(ctx, why) : api.ReplyWithSimpleString(ctx, "OK");
}
