/* SPDX-License-Identifier: MIT */
/*
 * The data type MBbloomCF: RedisBloom's cuckoo filters, and never anything else. An RDB value is
 *
 *   uint layers, buckets of the first, items, deletes, bucket size, max iterations, expansion;
 *   a layer, oldest first: uint buckets, string slots
 *
 * Only encoding version 4 is read: before RedisBloom 2.2 the hash was another one. Slots are counted
 * as they come, so a wrong number of items does no harm. All of a payload is checked before there is
 * a key.
 */
#include <string.h>

#include "bf.h"

#define NAME   "MBbloomCF"
#define ENCVER 4

Type *bf_type_cf;

blm_cf bf_cf(const struct value *v)
{
    blm_cf c = { .size = sizeof c };
    blm_cf_get(v->filter, &c);
    return c;
}

/* ---- RDB ---- */

static bool load_front(IO *io, blm_cf *c)
{
    uint64_t small[3];
    c->size    = sizeof *c;
    c->layers  = api.LoadUnsigned(io);
    c->buckets = api.LoadUnsigned(io);
    c->items   = api.LoadUnsigned(io);
    c->deletes = api.LoadUnsigned(io);
    for (unsigned i = 0; i < 3; i++)
        small[i] = api.LoadUnsigned(io);
    c->bucket_size    = (uint32_t)(small[0] & UINT16_MAX);
    c->max_iterations = (uint32_t)(small[1] & UINT16_MAX);
    c->expansion      = (uint32_t)(small[2] & UINT16_MAX);
    return !api.IsIOError(io) && (small[0] | small[1] | small[2]) <= UINT16_MAX &&
           c->layers <= BLM_CF_MAX_LAYERS;
}

struct layer {
    uint64_t buckets;
    char    *slots;
    size_t   len;
};

struct layers {
    struct layer *at;
    uint32_t      count, room;
    bool          starved; /* there was no memory for more */
};

/* Do not trust the number of layers before they are read. */
static bool load_layer(IO *io, struct layers *l)
{
    if (l->count == l->room) {
        uint32_t      room = l->room ? l->room * 2 : 4;
        struct layer *more = bf_try_alloc(room * sizeof *more);
        l->starved         = !more;
        if (!more)
            return false;
        if (l->count)
            memcpy(more, l->at, l->count * sizeof *more);
        api.Free(l->at);
        l->at   = more;
        l->room = room;
    }
    struct layer *next = &l->at[l->count];
    next->buckets      = api.LoadUnsigned(io);
    if (api.IsIOError(io))
        return false;
    next->slots = api.LoadStringBuffer(io, &next->len);
    l->count += next->slots != NULL;
    return next->slots != NULL;
}

/* Sizes as the header has them? Then nothing is allocated that was not read. */
static bool sizes_fit(const blm_cf *c, const struct layers *l)
{
    uint64_t buckets = c->buckets;
    for (uint32_t i = 0; i < l->count; i++, buckets *= c->expansion)
        if (l->at[i].buckets != buckets || l->at[i].len != buckets * c->bucket_size)
            return false;
    return true;
}

static struct value *make_value(const blm_cf *c, const struct layers *l, const char **why)
{
    blm_options o   = bf_options(bf_load_cap());
    blm_filter *f   = NULL;
    blm_error   err = { .status = BLM_OK };
    *why            = "its layers are not of the sizes that its header says";
    if (!sizes_fit(c, l))
        return NULL;
    blm_status st = blm_cf_create(c, &o, &f, &err);
    *why          = st == BLM_OK || st == BLM_E_MEMORY
                        ? BF_STARVED
                        : "a field is out of range, or it is larger than bf-max-bytes allows";
    if (st != BLM_OK)
        return NULL;
    for (uint32_t i = 0; i < l->count; i++)
        blm_write_bits(f, i, 0, l->at[i].slots, l->at[i].len);
    blm_set_max_bytes(f, 0);
    return bf_value(f, false);
}

static void *rdb_load(IO *io, int encver)
{
    blm_cf        c     = { .size = 0 };
    struct layers l     = { 0 };
    struct value *v     = NULL;
    const char   *why   = "it ends too early, or a field is out of range";
    bool          whole = encver == ENCVER && load_front(io, &c);
    if (encver != ENCVER)
        why = "only encoding version 4 is known: before RedisBloom 2.2 the hash was another one";
    while (whole && l.count < c.layers)
        whole = load_layer(io, &l);
    if (l.starved)
        why = BF_STARVED;
    if (whole)
        v = make_value(&c, &l, &why);
    for (uint32_t i = 0; i < l.count; i++)
        api.Free(l.at[i].slots);
    api.Free(l.at);
    if (!v) {
        api.LogIOError(io, "warning", NAME " value refused: %s", why);
        bf_total(&bf_totals.refused, 1);
    }
    return v;
}

static void rdb_save(IO *io, void *value)
{
    const struct value *v = value;
    blm_cf              c = bf_cf(v);
    api.SaveUnsigned(io, c.layers);
    api.SaveUnsigned(io, c.buckets);
    api.SaveUnsigned(io, c.items);
    api.SaveUnsigned(io, c.deletes);
    api.SaveUnsigned(io, c.bucket_size);
    api.SaveUnsigned(io, c.max_iterations);
    api.SaveUnsigned(io, c.expansion);
    for (uint32_t i = 0; i < c.layers; i++) {
        uint64_t    bytes;
        const char *slots = blm_view(v->filter, i, &bytes);
        api.SaveUnsigned(io, bytes / c.bucket_size);
        api.SaveStringBuffer(io, slots, (size_t)bytes);
    }
}

/* ---- AOF ---- */

/* The chunks of CF.SCANDUMP, each with its iterator; of an empty filter too. */
static void aof_rewrite(IO *io, Str *key, void *value)
{
    const struct value *v  = value;
    blm_cf              c  = bf_cf(v);
    uint64_t            at = 1, bytes;
    uint8_t             header[BLM_CF_HEADER];
    blm_cf_write_header(v->filter, header);
    api.EmitAOF(io, "CF.LOADCHUNK", "slb", key, 1LL, header, sizeof header);
    for (uint32_t i = 0; i < c.layers; i++) {
        const char *slots = blm_view(v->filter, i, &bytes);
        for (uint64_t from = 0; from < bytes; from += BF_CHUNK) {
            size_t some = (size_t)(bytes - from < BF_CHUNK ? bytes - from : BF_CHUNK);
            at += some;
            api.EmitAOF(io, "CF.LOADCHUNK", "slb", key, (long long)at, slots + from, some);
        }
    }
}

static void digest(Digest *md, void *value)
{
    const struct value *v = value;
    uint8_t             header[BLM_CF_HEADER];
    uint64_t            bytes, layers = bf_cf(v).layers;
    blm_cf_write_header(v->filter, header);
    api.DigestAddStringBuffer(md, (const char *)header, sizeof header);
    for (uint32_t i = 0; i < layers; i++) {
        const char *slots = blm_view(v->filter, i, &bytes);
        api.DigestAddStringBuffer(md, slots, (size_t)bytes);
    }
    api.DigestEndSequence(md);
}

bool bf_type_cf_create(Ctx *ctx)
{
    TypeMethods m = bf_methods();
    m.rdb_load    = rdb_load;
    m.rdb_save    = rdb_save;
    m.aof_rewrite = aof_rewrite;
    m.digest      = digest;
    bf_type_cf    = api.CreateDataType(ctx, NAME, ENCVER, &m);
    return bf_type_cf != NULL;
}
