/* SPDX-License-Identifier: MIT */
/*
 * The data type MBbloom--: RedisBloom's, and never anything else. An RDB value is
 *
 *   uint items, layers, options, growth;  a layer: uint entries, double error, uint hashes,
 *   double bpe, uint bits, uint n2, string array, uint items
 *
 * Encoding versions before 4 have no growth, before 2 no options, and version 0 has neither bits
 * nor n2. Versions above 4 are refused. A payload can come from anyone (RESTORE), so numbers are
 * judged before memory is allocated. The arrays are the strings that Redis read, so none is larger
 * than the payload.
 */
#include <math.h>
#include <string.h>

#include "bf.h"
#include "bloomery/embed.h"
#include "bloomery/redisbloom.h"

#define NAME   "MBbloom--"
#define ENCVER 4

Type *bf_type;

/* ---- RDB ---- */

/* The cap. A RESTORE comes from a client; what comes from a file or a master was already
 * accepted. */
uint64_t bf_load_cap(void)
{
    const int trusted = API_CTX_LOADING | API_CTX_SLAVE;
    return api.GetContextFlags(NULL) & trusted ? 0 : (uint64_t)bf_config.max_bytes;
}

/* Redis' string becomes the layer's words if possible, to avoid a second copy of a large filter. */
static void take_array(struct bf_chain *c, blm_chain_layer *l, char *array, size_t len)
{
    l->bytes = len;
    l->words = array;
    if (len == 0 || len % 8 || (uintptr_t)array % 8) {
        size_t room = (len + 7) & ~(size_t)7;
        l->words    = room ? bf_try_alloc(room) : NULL;
        c->starved  = room && !l->words;
        if (l->words) {
            memset(l->words, 0, room);
            memcpy(l->words, array, len);
        }
        api.Free(array);
    }
    if (l->words)
        bf_memory_filled(l->words, len);
}

/* False: the stream ended, a number is not valid for a layer, or there is no memory for its array. */
static bool load_layer(IO *io, int encver, struct bf_chain *c)
{
    blm_chain_layer *l = &c->layer[c->layers - 1];
    uint64_t         hashes, n2 = 0;
    size_t           len = 0;
    l->entries           = api.LoadUnsigned(io);
    l->error             = api.LoadDouble(io);
    hashes               = api.LoadUnsigned(io);
    l->bpe               = api.LoadDouble(io);
    if (encver >= 1) {
        l->bits = api.LoadUnsigned(io);
        n2      = api.LoadUnsigned(io);
    }
    if (api.IsIOError(io) || hashes > UINT32_MAX || n2 > 63)
        return false;
    l->hashes   = (uint32_t)hashes;
    l->n2       = (uint8_t)n2;
    char *array = api.LoadStringBuffer(io, &len);
    if (!array)
        return false;
    take_array(c, l, array, len);
    l->items = api.LoadUnsigned(io);
    if (encver == 0) { /* fields that did not exist yet: set to what they would have been */
        double bits = (double)l->entries * l->bpe;
        l->bits     = bits >= 1 && bits < 0x1p48 ? (uint64_t)bits : 0;
    }
    return !api.IsIOError(io) && l->words;
}

static bool load_front(IO *io, int encver, struct bf_chain *c, uint64_t *layers)
{
    c->items         = api.LoadUnsigned(io);
    *layers          = api.LoadUnsigned(io);
    uint64_t options = encver >= 2 ? api.LoadUnsigned(io) : 0;
    uint64_t growth  = encver >= 4 ? api.LoadUnsigned(io) : 2;
    if (api.IsIOError(io) || options > 15 || growth > UINT32_MAX)
        return false;
    c->options = (uint32_t)options;
    c->growth  = (uint32_t)growth;
    return *layers > 0 && *layers <= BLM_CHAIN_MAX_LAYERS;
}

static void *rdb_load(IO *io, int encver)
{
    struct bf_chain c   = { 0 };
    struct value   *v   = NULL;
    uint64_t        n   = 0;
    const char     *why = "it ends too early, or a field is out of range";
    if (encver < 0 || encver > ENCVER) {
        api.LogIOError(io, "warning", NAME " value: encoding version %d is not known", encver);
        bf_total(&bf_totals.refused, 1);
        return NULL;
    }
    bool whole = load_front(io, encver, &c, &n);
    while (whole && c.layers < n) /* do not trust the number of layers before they are read */
        whole = bf_chain_room(&c, c.layers + 1) && load_layer(io, encver, &c);
    if (c.starved)
        why = BF_STARVED;
    if (whole)
        v = bf_chain_value(&c, bf_load_cap(), &why);
    bf_chain_free(&c);
    if (v)
        bf_value_rest(v);
    if (!v) {
        api.LogIOError(io, "warning", NAME " value refused: %s", why);
        bf_total(&bf_totals.refused, 1);
    }
    return v;
}

static void rdb_save(IO *io, void *value)
{
    struct value *v      = value;
    bool          peeked = bf_value_peek(v);
    blm_params    p      = bf_params(v);
    api.SaveUnsigned(io, p.items);
    api.SaveUnsigned(io, p.layers);
    api.SaveUnsigned(io, p.variant & BLM_CHAIN_OPTIONS);
    api.SaveUnsigned(io, (uint64_t)p.growth);
    for (uint32_t i = 0; i < p.layers; i++) {
        blm_chain_layer l;
        uint64_t        bytes;
        const char     *bits = blm_view(v->filter, i, &bytes);
        blm_chain_get_layer(v->filter, i, &l);
        api.SaveUnsigned(io, l.entries);
        api.SaveDouble(io, l.error);
        api.SaveUnsigned(io, l.hashes);
        api.SaveDouble(io, l.bpe);
        api.SaveUnsigned(io, l.bits);
        api.SaveUnsigned(io, l.n2);
        api.SaveStringBuffer(io, bits, (size_t)l.bytes);
        api.SaveUnsigned(io, l.items);
    }
    if (peeked)
        bf_value_unpeek(v);
}

/* ---- AOF ---- */

/* The chunks of BF.SCANDUMP, each with its iterator. */
static void aof_rewrite(IO *io, Str *key, void *value)
{
    struct value *v      = value;
    bool          peeked = bf_value_peek(v);
    blm_params    p      = bf_params(v);
    uint64_t      at     = 1;
    size_t        len;
    const void   *header = bf_header(v, &len);
    api.EmitAOF(io, "BF.LOADCHUNK", "slb", key, 1LL, header, len);
    for (uint32_t i = 0; i < p.layers; i++) {
        blm_chain_layer l;
        uint64_t        bytes;
        const char     *bits = blm_view(v->filter, i, &bytes);
        blm_chain_get_layer(v->filter, i, &l);
        for (uint64_t from = 0; from < l.bytes; from += BF_CHUNK) {
            size_t some = (size_t)(l.bytes - from < BF_CHUNK ? l.bytes - from : BF_CHUNK);
            at += some;
            api.EmitAOF(io, "BF.LOADCHUNK", "slb", key, (long long)at, bits + from, some);
        }
    }
    if (peeked)
        bf_value_unpeek(v);
}

/* ---- the rest ---- */

static void digest(Digest *md, void *value)
{
    struct value *v      = value;
    bool          peeked = bf_value_peek(v);
    blm_params    p      = bf_params(v);
    size_t        len;
    const void   *header = bf_header(v, &len);
    api.DigestAddStringBuffer(md, header, len);
    for (uint32_t i = 0; i < p.layers; i++) {
        uint64_t    bytes;
        const char *bits = blm_view(v->filter, i, &bytes);
        api.DigestAddStringBuffer(md, bits, (size_t)bytes);
    }
    api.DigestEndSequence(md);
    if (peeked)
        bf_value_unpeek(v);
}

static size_t mem_usage(OptCtx *ctx, const void *value, size_t samples)
{
    (void)ctx;
    (void)samples;
    return bf_value_memory(value);
}

static size_t free_effort(OptCtx *ctx, const void *value)
{
    (void)ctx;
    return bf_value_effort(value);
}

static void *copy(OptCtx *ctx, const void *value)
{
    (void)ctx;
    /* Redis promises the type that it does not change: it is opened, and is the same after. */
    struct value *c = bf_value_copy((struct value *)(uintptr_t)value);
    if (c)
        bf_value_rest(c);
    return c;
}

static int defrag(DefragCtx *ctx, Str *key, void **value)
{
    (void)key;
    struct value *v    = *value;
    int           more = bf_value_defrag(ctx, &v);
    *value             = v;
    return more;
}

static void free_value(void *value) { bf_value_free(value); }

TypeMethods bf_methods(void)
{
    return (TypeMethods){
        .version      = API_TYPE_METHODS,
        .free         = free_value,
        .defrag       = defrag,
        .mem_usage2   = mem_usage,
        .free_effort2 = free_effort,
        .copy2        = copy,
    };
}

bool bf_type_create(Ctx *ctx)
{
    TypeMethods m = bf_methods();
    m.rdb_load    = rdb_load;
    m.rdb_save    = rdb_save;
    m.aof_rewrite = aof_rewrite;
    m.digest      = digest;
    bf_type       = api.CreateDataType(ctx, NAME, ENCVER, &m);
    return bf_type != NULL;
}
