/* SPDX-License-Identifier: MIT */
/*
 * RedisBloom's chains link by link, for who meets them in pieces: the Redis module, to which a dump
 * comes value by value (RDB) or chunk by chunk (BF.LOADCHUNK).
 */
#include "api/filter.h"
#include "bloomery/redisbloom.h"
#include "scheme/redisbloom.h"
#include "store/store.h"

/* ---- create ---- */

static struct blm_rb_link described(const blm_link *l)
{
    struct blm_rb_link r = { .bytes   = l->bytes,
                             .bits    = l->bits,
                             .size    = l->items,
                             .error   = l->error,
                             .bpe     = l->bpe,
                             .hashes  = l->hashes,
                             .entries = l->entries,
                             .n2      = l->n2 };
    return r;
}

static blm_status check_link(const blm_link *l, uint32_t i, blm_error *err)
{
    struct blm_rb_link r     = described(l);
    unsigned           field = 0;
    const char        *fault = blm__rb_fault(&r, r.bits ? BLM__RB_CURRENT : BLM__RB_1, &field);
    if (fault)
        return blm__fail(err, BLM_E_FORMAT, "link %lu: %s", (unsigned long)i, fault);
    if (l->words && (l->bytes % 8 || (uintptr_t)l->words % 8))
        return blm__fail(err, BLM_E_ARGUMENT, "link %lu: its words are not whole or not aligned",
                         (unsigned long)i);
    return BLM_OK;
}

static blm_status check_links(const blm_link *links, uint32_t count, uint32_t options,
                              uint64_t max_bytes, blm_error *err)
{
    uint64_t bytes = 0;
    if (!links || count == 0 || count > BLM__MAX_LINKS)
        return blm__fail(err, count > BLM__MAX_LINKS ? BLM_E_LIMIT : BLM_E_ARGUMENT,
                         "%lu links: a chain has 1 to %u", (unsigned long)count, BLM__MAX_LINKS);
    if (options & ~BLM__RB_OPTIONS)
        return blm__fail(err, BLM_E_FORMAT, "options are 0x%lx: above 15 none are known",
                         (unsigned long)options);
    for (uint32_t i = 0; i < count; i++) {
        blm_status st = check_link(&links[i], i, err);
        if (st != BLM_OK)
            return st;
        bytes += links[i].bytes; /* below 2^45 each, under 2^11 of them */
        if (max_bytes && bytes > max_bytes)
            return blm__fail(err, BLM_E_LIMIT, "the links take %llu bytes, past the cap of %llu",
                             (unsigned long long)bytes, (unsigned long long)max_bytes);
    }
    return BLM_OK;
}

static blm_status add_link(struct blm_body *b, const blm_link *l, uint64_t variant, blm_error *err)
{
    struct blm_rb_link r = described(l);
    struct blm_shape   s;
    blm_status         st;
    if (r.bits == 0)
        r.bits = r.bytes * 8;
    blm__rb_shape(&r, variant, &s);
    if (l->words) {
        struct blm_block block = { .words = l->words, .base = l->words, .size = (size_t)l->bytes };
        st                     = blm__memory_take(b, &s, &block, err);
    } else {
        st = b->store->add_layer(b, &s, err);
    }
    if (st == BLM_OK)
        b->layers[b->layer_count - 1].items = l->items;
    return st;
}

/* What the caller gave stays the caller's when the whole is not made. */
static void give_back(blm_filter *f, const blm_link *links)
{
    for (uint32_t i = 0; i < f->body.layer_count; i++)
        if (links[i].words)
            f->body.layers[i].block.size = 0;
    blm_free(f);
}

blm_status blm_chain_create(const blm_link *links, uint32_t count, uint32_t options,
                            uint32_t growth, const blm_options *o, blm_filter **out, blm_error *err)
{
    blm_options wanted;
    blm_filter *f = NULL;
    *out          = NULL;
    blm_status st = blm__options_read(o, true, &wanted, err);
    if (st == BLM_OK)
        st = check_links(links, count, options, wanted.max_bytes, err);
    if (st == BLM_OK)
        st = blm__filter_blank(&wanted, &f, err);
    if (st != BLM_OK)
        return st;
    uint64_t variant = blm__rb_variant(options, BLM__RB_CURRENT);
    for (uint32_t i = 0; st == BLM_OK && i < count; i++)
        st = add_link(&f->body, &links[i], variant, err);
    if (st == BLM_OK) {
        f->body.format = blm__scheme_redisbloom.format;
        blm__rb_body(&f->body, growth);
        st = blm__filter_finish(f, &wanted, err);
    }
    if (st != BLM_OK)
        give_back(f, links);
    else
        *out = f;
    return st;
}

/* ---- one link ---- */

blm_status blm_chain_link(const blm_filter *f, uint32_t link, blm_link *out)
{
    struct blm_rb_link r;
    if (f->body.scheme != &blm__scheme_redisbloom)
        return BLM_E_UNSUPPORTED;
    if (link >= f->body.layer_count || !out)
        return BLM_E_ARGUMENT;
    blm__rb_link(&f->body.layers[link], &r);
    *out = (blm_link){ .bytes   = r.bytes,
                       .bits    = r.bits,
                       .items   = r.size,
                       .entries = r.entries,
                       .error   = r.error,
                       .bpe     = r.bpe,
                       .hashes  = r.hashes,
                       .n2      = r.n2 };
    return BLM_OK;
}

blm_status blm_chain_grow(blm_filter *f, uint64_t entries, double error, blm_error *err)
{
    struct blm_body *b = &f->body;
    struct blm_shape s;
    if (f->body.scheme != &blm__scheme_redisbloom)
        return blm__fail(err, BLM_E_UNSUPPORTED, "scheme %s has no links",
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
