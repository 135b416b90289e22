/* SPDX-License-Identifier: MIT */
/*
 * Layers in memory: the store of every filter that is not a mapped file.
 *
 * A layer's words are a block from the body's allocator (add_layer), a block that a decoder filled
 * (take), or the caller's own words (borrow). Only the first two are ours to free; a borrowed layer
 * has block.size 0. Filters over borrowed words have a store of their own, which differs only in
 * what blm_get_params reports as their backing.
 */
#include "engine/engine.h"
#include "store/store.h"

/* What layer number i counts against max_bytes. From where native files end, also its description: a
 * RedisBloom header of 38 bytes may say that there are tens of thousands of layers of one slot. */
static uint64_t cost(uint32_t i, uint64_t words)
{
    return words * 8 + (i < BLM__MAX_LAYERS ? 0 : sizeof(struct blm__layer));
}

static void release_layer(struct blm__body *b, struct blm__layer *l)
{
    uint64_t bytes = cost((uint32_t)(l - b->layers), l->word_count);
    b->held -= bytes < b->held ? bytes : b->held;
    blm__layer_unstripe(b, l);
    blm__block_free(b->alloc, &l->block);
    memset(l, 0, sizeof *l);
}

/* Bytes of a new layer, checked against the address space and max_bytes. What the others have is not
 * added up for each: a filter may come with tens of thousands of them. */
static blm_status layer_bytes(const struct blm__body *b, const struct blm__shape *s, uint64_t *out,
                              blm_error *err)
{
    uint64_t bytes = blm__shape_words(s) * 8;
    if (bytes > SIZE_MAX / 2)
        return blm__fail(err, BLM_E_LIMIT, "%llu bytes are more than this machine can address",
                         (unsigned long long)bytes);
    *out = bytes;
    return blm__body_may_have(b, b->held + b->attached_len,
                              cost(b->layer_count, blm__shape_words(s)), "bits", err);
}

/* Every way to get a layer ends here. Takes nothing unless it succeeds. */
static blm_status append_layer(struct blm__body *b, const struct blm__shape *s, uint64_t *words,
                               const struct blm__block *block, blm_error *err)
{
    uint32_t most = blm__most_layers(b, s->scheme);
    if (b->layer_count >= most)
        return blm__fail(err, BLM_E_LIMIT, "a filter of scheme %s has at most %u layers",
                         s->scheme->row.name, (unsigned)most);
    struct blm__layer *l = blm__body_room(b);
    if (!l || !blm__layer_stripes(b, l))
        return blm__fail(err, BLM_E_MEMORY, "no memory to describe another layer");
    l->shape      = *s;
    l->words      = words;
    l->word_count = blm__shape_words(s);
    l->block      = *block;
    if (block->size) /* ours: somebody else's words may be another process's too */
        blm__layer_lanes(l);
    blm__layer_ready(l);
    b->held += cost(b->layer_count, l->word_count);
    b->layer_count++;
    blm__body_ready(b);
    return BLM_OK;
}

static blm_status memory_add_layer(struct blm__body *b, const struct blm__shape *s, blm_error *err)
{
    struct blm__block block;
    uint64_t          bytes = 0;
    blm_status        st    = layer_bytes(b, s, &bytes, err);
    if (st != BLM_OK)
        return st;
    st = blm__block_make(b->alloc, bytes, &block, err);
    if (st != BLM_OK)
        return st;
    st = append_layer(b, s, block.words, &block, err);
    if (st != BLM_OK)
        blm__block_free(b->alloc, &block);
    return st;
}

static blm_status memory_drop_layers(struct blm__body *b, uint32_t keep, blm_error *err)
{
    (void)err;
    while (b->layer_count > keep)
        release_layer(b, &b->layers[--b->layer_count]);
    return BLM_OK;
}

static void memory_supplant(struct blm__body *b)
{
    release_layer(b, &b->layers[0]);
    b->layers[0] = b->layers[--b->layer_count];
    memset(&b->layers[b->layer_count], 0, sizeof *b->layers);
    blm__body_ready(b);
}

static blm_status memory_close(struct blm__body *b, blm_error *err)
{
    memory_drop_layers(b, 0, err);
    blm__free(b->alloc, b->layers, b->layer_room * sizeof *b->layers);
    b->layers     = NULL;
    b->layer_room = 0;
    return BLM_OK;
}

const struct blm__store blm__store_memory = {
    .name        = "memory",
    .backing     = BLM_IN_MEMORY,
    .add_layer   = memory_add_layer,
    .drop_layers = memory_drop_layers,
    .supplant    = memory_supplant,
    .close       = memory_close,
};

static const struct blm__store store_words = {
    .name        = "words",
    .backing     = BLM_IN_WORDS,
    .add_layer   = memory_add_layer,
    .drop_layers = memory_drop_layers,
    .close       = memory_close,
};

blm_status blm__memory_borrow(struct blm__body *b, const struct blm__shape *s, uint64_t *words,
                              bool adopt, blm_error *err)
{
    struct blm__block block = { .words = words };
    uint64_t          bytes = 0;
    blm_status        st    = layer_bytes(b, s, &bytes, err);
    if (st != BLM_OK)
        return st;
    if (adopt) {
        block.base = words;
        block.size = (size_t)bytes;
    }
    st = append_layer(b, s, words, &block, err);
    if (st == BLM_OK && !adopt)
        b->store = &store_words;
    return st;
}

blm_status blm__memory_attach(struct blm__body *b, size_t len, blm_error *err)
{
    /* Once in a filter: then a file's layers, which are not ours, can be counted too. */
    blm_status st = blm__body_may_have(b, blm__body_held(b), len, "attached data", err);
    if (st != BLM_OK)
        return st;
    b->attached = blm__alloc(b->alloc, len);
    if (!b->attached)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %zu attached bytes", len);
    b->attached_len = len;
    return BLM_OK;
}

blm_status blm__memory_take(struct blm__body *b, const struct blm__shape *s,
                            struct blm__block *block, blm_error *err)
{
    uint64_t   bytes = 0;
    blm_status st    = layer_bytes(b, s, &bytes, err);
    if (st == BLM_OK)
        st = append_layer(b, s, block->words, block, err);
    if (st == BLM_OK)
        memset(block, 0, sizeof *block);
    return st;
}
