/* SPDX-License-Identifier: MIT */
/*
 * RedisBloom's chains layer by layer, for programs that meet them in parts: the Redis module, to
 * which a dump comes value by value (RDB) or chunk by chunk (BF.LOADCHUNK).
 */
#include "api/filter.h"
#include "bloomery/redisbloom.h"
#include "codec/redisbloom_header.h"
#include "store/store.h"

/* ---- create ---- */

static blm_status check_layer(const blm_chain_layer *l, uint32_t i, blm_error *err)
{
    unsigned    field = 0;
    const char *fault = blm__rb_fault(l, l->bits ? BLM__RB_CURRENT : BLM__RB_1, &field);
    if (fault)
        return blm__fail(err, BLM_E_FORMAT, "layer %lu: %s", (unsigned long)i, fault);
    if (l->words && (l->bytes % 8 || (uintptr_t)l->words % 8))
        return blm__fail(err, BLM_E_ARGUMENT, "layer %lu: its words are not whole or not aligned",
                         (unsigned long)i);
    return BLM_OK;
}

static blm_status check_layers(const blm_chain_layer *layers, uint32_t count, uint32_t options,
                               uint64_t max_bytes, blm_error *err)
{
    uint64_t bytes = 0;
    if (!layers || count == 0 || count > BLM_CHAIN_MAX_LAYERS)
        return blm__fail(err, count > BLM_CHAIN_MAX_LAYERS ? BLM_E_LIMIT : BLM_E_ARGUMENT,
                         "%lu layers: a chain has 1 to %u", (unsigned long)count,
                         BLM_CHAIN_MAX_LAYERS);
    if (options & ~BLM_CHAIN_OPTIONS)
        return blm__fail(err, BLM_E_FORMAT, "options are 0x%lx: above 15 none are known",
                         (unsigned long)options);
    for (uint32_t i = 0; i < count; i++) {
        blm_status st = check_layer(&layers[i], i, err);
        if (st != BLM_OK)
            return st;
        bytes += layers[i].bytes; /* below 2^45 each, under 2^11 of them */
        if (max_bytes && bytes > max_bytes)
            return blm__fail(err, BLM_E_LIMIT,
                             "the layers take %llu bytes, more than the limit of %llu",
                             (unsigned long long)bytes, (unsigned long long)max_bytes);
    }
    return BLM_OK;
}

static blm_status add_one(struct blm__body *b, const blm_chain_layer *l, uint64_t variant,
                          blm_error *err)
{
    blm_chain_layer   r = *l;
    struct blm__shape s;
    blm_status        st;
    if (r.bits == 0)
        r.bits = r.bytes * 8;
    blm__rb_shape(&r, variant, &s);
    if (l->words) {
        struct blm__block block = { .words = l->words, .base = l->words, .size = (size_t)l->bytes };
        st                      = blm__memory_take(b, &s, &block, err);
    } else {
        st = b->store->add_layer(b, &s, err);
    }
    if (st == BLM_OK)
        b->layers[b->layer_count - 1].items = l->items;
    return st;
}

/* Frees the filter, but not the arrays that the caller keeps. */
static void give_back(blm_filter *f, const blm_chain_layer *layers)
{
    for (uint32_t i = 0; i < f->body.layer_count; i++)
        if (layers[i].words && layers[i].words == f->body.layers[i].words)
            f->body.layers[i].block.size = 0;
    blm_free(f);
}

blm_status blm_chain_create(const blm_chain_layer *layers, uint32_t count, uint32_t options,
                            uint32_t growth, const blm_options *o, blm_filter **out, blm_error *err)
{
    blm_options wanted;
    blm_filter *f = NULL;
    *out          = NULL;
    blm_status st = blm__options_read(o, true, &wanted, err);
    if (st == BLM_OK)
        st = check_layers(layers, count, options, wanted.max_bytes, err);
    if (st == BLM_OK)
        st = blm__filter_blank(&wanted, &f, err);
    if (st != BLM_OK)
        return st;
    uint64_t variant = blm__rb_variant(options, BLM__RB_CURRENT);
    if (!blm__body_reserve(&f->body, count))
        st = blm__fail(err, BLM_E_MEMORY, "no memory to describe %lu layers", (unsigned long)count);
    for (uint32_t i = 0; st == BLM_OK && i < count; i++)
        st = add_one(&f->body, &layers[i], variant, err);
    if (st == BLM_OK) {
        f->body.format = blm__scheme_redisbloom.row.format;
        blm__rb_body(&f->body, growth);
        st = blm__filter_finish(f, &wanted, err);
    }
    if (st != BLM_OK)
        give_back(f, layers);
    else
        *out = f;
    return st;
}

/* A layer's array as the caller will own it: the block itself, or a copy if the block is larger
 * (it was aligned) or a mapping. */
static void *own_array(const struct blm__body *b, const struct blm__layer *l)
{
    size_t bytes = (size_t)l->word_count * 8;
    if (l->block.base == l->words && l->block.size == bytes && !l->block.mapped)
        return l->words;
    void *copy = blm__alloc(b->alloc, bytes);
    if (copy)
        memcpy(copy, l->words, bytes);
    return copy;
}

blm_status blm_chain_dissolve(blm_filter *f, blm_chain_layer *layers, uint32_t cap, blm_error *err)
{
    struct blm__body *b = &f->body;
    if (b->scheme != &blm__scheme_redisbloom || b->store != &blm__store_memory)
        return blm__fail(err, BLM_E_UNSUPPORTED, "only a chain in memory can be taken apart");
    if (b->layer_count > cap)
        return blm__fail(err, BLM_E_LIMIT, "there are %lu layers, and room for %lu",
                         (unsigned long)b->layer_count, (unsigned long)cap);
    for (uint32_t i = 0; i < b->layer_count; i++) {
        blm__rb_layer(&b->layers[i], &layers[i]);
        layers[i].words = own_array(b, &b->layers[i]);
        if (!layers[i].words) {
            while (i-- > 0)
                if (layers[i].words != b->layers[i].words)
                    blm__free(b->alloc, layers[i].words, (size_t)b->layers[i].word_count * 8);
            return blm__fail(err, BLM_E_MEMORY, "no memory for a layer's array");
        }
    }
    give_back(f, layers);
    return BLM_OK;
}

/* ---- one layer ---- */

blm_status blm_chain_plan(uint64_t entries, double error, uint32_t options, blm_chain_layer *out,
                          blm_error *err)
{
    struct blm__layer l  = { 0 };
    blm_status        st = blm__rb_plan(entries, error, options, &l.shape, err);
    if (st == BLM_OK)
        blm__rb_layer(&l, out);
    return st;
}

blm_status blm_chain_get_layer(const blm_filter *f, uint32_t layer, blm_chain_layer *out)
{
    if (f->body.scheme != &blm__scheme_redisbloom)
        return BLM_E_UNSUPPORTED;
    if (layer >= f->body.layer_count || !out)
        return BLM_E_ARGUMENT;
    blm__rb_layer(&f->body.layers[layer], out);
    return BLM_OK;
}

blm_status blm_chain_grow(blm_filter *f, uint64_t entries, double error, blm_error *err)
{
    struct blm__body *b = &f->body;
    struct blm__shape s;
    if (f->body.scheme != &blm__scheme_redisbloom)
        return blm__fail(err, BLM_E_UNSUPPORTED, "scheme %s has no chain of layers",
                         f->body.scheme->row.name);
    if (b->read_only)
        return blm__fail(err, BLM_E_READONLY, "the filter was opened read-only");
    blm_status st = blm__rb_next(b, entries, error, &s, err);
    if (st != BLM_OK)
        return st;
    uint32_t was = b->active;
    b->active    = b->layer_count; /* a file publishes it together with the layer */
    st           = b->store->add_layer(b, &s, err);
    if (st != BLM_OK)
        b->active = was;
    return st;
}

/* ---- the header of a dump ---- */

/* Its length says which layout it is. */
static bool layout_of(uint32_t layers, size_t len, enum blm__rb_layout *out)
{
    for (*out = BLM__RB_CURRENT; *out <= BLM__RB_1; (*out)++)
        if (len == blm__rb_header_size(*out, layers))
            return true;
    return false;
}

blm_status blm_chain_read_header(const void *bytes, size_t len, blm_chain_header *out,
                                 blm_chain_layer *layers, uint32_t cap, blm_error *err)
{
    const uint8_t      *h = bytes;
    enum blm__rb_layout v;
    if (!bytes || !out || (!layers && cap))
        return blm__fail(err, BLM_E_ARGUMENT, "no bytes, or nowhere to put what they say (NULL)");
    if (len < BLM__RB_FRONT)
        return blm__fail_at(err, BLM_E_TRUNCATED, len, "the input ends within the header");
    uint32_t   count = blm__get32le(h + 8);
    blm_status st    = blm__rb_check_front(h, err);
    if (st != BLM_OK)
        return st;
    if (!layout_of(count, len, &v))
        return blm__fail_at(err, BLM_E_FORMAT, len, "no header of %lu layers has %zu bytes",
                            (unsigned long)count, len);
    st = blm__rb_check_header(h, v, count, err);
    if (st != BLM_OK)
        return st;
    blm_chain_header r = { .items   = blm__get64le(h),
                           .layers  = count,
                           .options = blm__get32le(h + 12),
                           .growth  = blm__rb_get_growth(h, v) };
    for (uint32_t i = 0; i < count; i++) {
        blm_chain_layer l;
        blm__rb_get_layer(h + blm__rb_layer_at(v, i), v, &l);
        r.bytes += l.bytes; /* below 2^45 each, under 2^11 of them */
        if (i < cap)
            layers[i] = l;
    }
    st = blm__emit(out, &r, sizeof r);
    return st == BLM_OK ? st : blm__fail(err, st, "start the header from { .size = sizeof h }");
}

blm_status blm_chain_write_header(const blm_filter *f, void *out, size_t cap, size_t *len,
                                  blm_error *err)
{
    const struct blm__body *b = &f->body;
    if (f->body.scheme != &blm__scheme_redisbloom)
        return blm__fail(err, BLM_E_UNSUPPORTED, "scheme %s has no such header",
                         f->body.scheme->row.name);
    enum blm__rb_layout v    = blm__rb_layout(b->layers[0].shape.variant);
    size_t              need = blm__rb_header_size(v, b->layer_count);
    *len                     = need;
    if (!out)
        return BLM_OK;
    if (need > cap)
        return blm__fail(err, BLM_E_LIMIT, "the header has %zu bytes, and there is room for %zu",
                         need, cap);
    return blm__rb_put_header(b, v, out, err);
}
