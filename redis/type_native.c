/* SPDX-License-Identifier: MIT */
/*
 * The data type bloomery1: any native filter. RedisBloom's clients never see it. An RDB value is
 *
 *   uint flags (1 saturate, 2 still arriving), uint total, uint have, strings: `have` bytes
 *
 * where the bytes are format native: all of them, or the first ones if BF.LOADCHUNK is still
 * loading the rest.
 */
#include <string.h>

#include "bf.h"

#define NAME     "bloomery1"
#define ENCVER   1
#define SATURATE 1u
#define ARRIVING 2u
#define PIECE    ((size_t)1 << 20)

Type *bf_type_native;

/* ---- RDB: out ---- */

struct strings {
    IO    *io;
    char  *buffer;
    size_t len;
};

static void flush(struct strings *s)
{
    if (s->len)
        api.SaveStringBuffer(s->io, s->buffer, s->len);
    s->len = 0;
}

static void save_bytes(void *ctx, const void *bytes, size_t len)
{
    struct strings *s = ctx;
    while (len) {
        size_t some = PIECE - s->len < len ? PIECE - s->len : len;
        memcpy(s->buffer + s->len, bytes, some);
        s->len += some;
        bytes = (const char *)bytes + some;
        len -= some;
        if (s->len == PIECE)
            flush(s);
    }
}

static bool save_encoded(void *ctx, const void *bytes, size_t len)
{
    save_bytes(ctx, bytes, len);
    return true;
}

static void rdb_save(IO *io, void *value)
{
    struct value  *v = value;
    struct strings s = { .io = io, .buffer = api.Alloc(PIECE) };
    bf_memory_must(true);
    uint64_t total = bf_native_length(v);
    api.SaveUnsigned(io, (v->saturate ? SATURATE : 0) | (v->arriving ? ARRIVING : 0));
    api.SaveUnsigned(io, total);
    api.SaveUnsigned(io, v->arriving ? bf_native_arrived(v, NULL, NULL) : total);
    if (v->arriving)
        bf_native_arrived(v, save_bytes, &s);
    else
        blm_encode(v->filter, "native", save_encoded, &s, NULL);
    bf_memory_must(false);
    flush(&s);
    api.Free(s.buffer);
}

/* ---- RDB: in ---- */

static uint64_t load_cap(void)
{
    const int trusted = API_CTX_LOADING | API_CTX_SLAVE;
    return api.GetContextFlags(NULL) & trusted ? 0 : (uint64_t)bf_config.max_bytes;
}

static struct value *load_begin(IO *io, uint64_t *have, bool *partial, const char **why)
{
    uint8_t  header[BF_NATIVE_HEADER];
    uint64_t flags = api.LoadUnsigned(io), total = api.LoadUnsigned(io);
    *have    = api.LoadUnsigned(io);
    *partial = (flags & ARRIVING) != 0;
    *why     = "it ends too early, or a field is out of range";
    if (api.IsIOError(io) || flags & ~(uint64_t)(SATURATE | ARRIVING) || *have > total ||
        (*partial ? *have == total : *have != total))
        return NULL;
    blm_dump_write_header(header, flags & SATURATE ? BLM_DUMP_SATURATE : 0, total);
    return bf_native_begin(header, sizeof header, load_cap(), why);
}

static void *rdb_load(IO *io, int encver)
{
    uint64_t      have = 0, at = 0;
    bool          partial = false;
    int           state   = 0;
    const char   *why     = "its encoding version is not known";
    struct value *v       = encver == ENCVER ? load_begin(io, &have, &partial, &why) : NULL;
    while (v && state == 0 && at < have) {
        size_t len   = 0;
        char  *bytes = api.LoadStringBuffer(io, &len);
        why          = "it ends too early";
        state = bytes && len && len <= have - at ? bf_native_take(v, at, bytes, len, &why) : -1;
        if (bytes)
            api.Free(bytes);
        at += len;
    }
    if (v && state == (partial ? 0 : 1))
        return v;
    api.LogIOError(io, "warning", NAME " value refused: %s", why);
    bf_total(&bf_totals.refused, 1);
    bf_value_free(v);
    return NULL;
}

/* ---- AOF ---- */

struct chunks {
    IO      *io;
    Str     *key;
    uint64_t at;
    char    *buffer;
    size_t   len, room;
};

static void emit(struct chunks *c)
{
    c->at += c->len;
    if (c->len)
        api.EmitAOF(c->io, "BF.LOADCHUNK", "slb", c->key, (long long)(1 + c->at), c->buffer,
                    c->len);
    c->len = 0;
}

static void emit_bytes(void *ctx, const void *bytes, size_t len)
{
    struct chunks *c = ctx;
    while (len) {
        size_t some = c->room - c->len < len ? c->room - c->len : len;
        memcpy(c->buffer + c->len, bytes, some);
        c->len += some;
        bytes = (const char *)bytes + some;
        len -= some;
        if (c->len == c->room)
            emit(c);
    }
}

static bool emit_encoded(void *ctx, const void *bytes, size_t len)
{
    emit_bytes(ctx, bytes, len);
    return true;
}

static void aof_rewrite(IO *io, Str *key, void *value)
{
    struct value *v = value;
    uint8_t       header[BF_NATIVE_HEADER];
    struct chunks c = { .io = io, .key = key, .buffer = api.Alloc(PIECE), .room = PIECE };
    bf_memory_must(true);
    bf_native_header_put(v, bf_native_length(v), header);
    api.EmitAOF(io, "BF.LOADCHUNK", "slb", key, 1LL, (const char *)header, sizeof header);
    if (v->arriving)
        bf_native_arrived(v, emit_bytes, &c);
    else
        blm_encode(v->filter, "native", emit_encoded, &c, NULL);
    bf_memory_must(false);
    emit(&c);
    api.Free(c.buffer);
}

/* ---- the rest ---- */

static void digest_bytes(void *ctx, const void *bytes, size_t len)
{
    api.DigestAddStringBuffer(ctx, bytes, len);
}

/* Two servers that have the same are asked at different moments. How many items a window by time has
 * depends on the moment; that it counted them alike is in the fingerprint, with its turns. */
static void digest(Digest *md, void *value)
{
    struct value *v = value;
    uint8_t       print[16];
    api.DigestAddLongLong(md, v->saturate);
    if (v->arriving)
        bf_native_arrived(v, digest_bytes, md);
    else if (blm_fingerprint(v->filter, print) == BLM_OK)
        api.DigestAddStringBuffer(md, (const char *)print, sizeof print);
    if (!v->arriving && !v->timed)
        api.DigestAddLongLong(md, (long long)bf_params(v).items);
    api.DigestEndSequence(md);
}

bool bf_type_native_create(Ctx *ctx)
{
    TypeMethods m  = bf_methods();
    m.rdb_load     = rdb_load;
    m.rdb_save     = rdb_save;
    m.aof_rewrite  = aof_rewrite;
    m.digest       = digest;
    bf_type_native = api.CreateDataType(ctx, NAME, ENCVER, &m);
    return bf_type_native != NULL;
}
