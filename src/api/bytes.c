/* SPDX-License-Identifier: MIT */
/* The public calls on a filter's memory as such: writing its bits, moving it elsewhere. */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "store/store.h"

blm_status blm_write_bits(blm_filter *f, uint32_t layer, uint64_t at, const void *bytes,
                          uint64_t len)
{
    if (f->body.read_only)
        return BLM_E_READONLY;
    if (layer >= f->body.layer_count || (!bytes && len))
        return BLM_E_ARGUMENT;
    struct blm__layer *l    = &f->body.layers[layer];
    uint64_t           bits = blm__shape_used(&l->shape), size = (bits + 7) / 8;
    if (at > size || len > size - at)
        return BLM_E_ARGUMENT;
    if (len == 0)
        return BLM_OK;
    unsigned slack = (unsigned)(size * 8 - bits);
    if (slack && at + len == size && ((const uint8_t *)bytes)[len - 1] >> (8 - slack))
        return BLM_E_ARGUMENT;
    if (l->engine->moves && !blm__save(&f->body, l, at * 8, len * 8))
        return BLM_E_IO;
    if (l->marks)
        for (uint64_t w = at / 8; w <= (at + len - 1) / 8; w++)
            blm__mark(l, w);
    if (f->body.ops->changed)
        f->body.ops->changed(&f->body);
    uint64_t width = l->shape.cell_bits, from = at * 8 / width,
             to  = ((at + len) * 8 - 1) / width + 1;
    uint64_t had = l->engine->prints ? blm__cells_used(l, from, to) : 0;
    memcpy((uint8_t *)l->words + at, bytes, (size_t)len);
    if (l->engine->prints) /* a cell is an add */
        blm__layer_recount(l, blm__layer_items(l) + blm__cells_used(l, from, to) - had);
    return BLM_OK;
}

void blm_set_max_bytes(blm_filter *f, uint64_t max_bytes) { f->body.max_bytes = max_bytes; }

/* ---- moving ---- */

blm_filter *blm_relocate(blm_filter *f, blm_move_fn move, void *ctx)
{
    struct blm__body *b = &f->body;
    struct blm__mover m = { move, ctx };
    if (b->store->backing == BLM_FILE_READ || b->store->backing == BLM_FILE_WRITE)
        return f;
    for (uint32_t i = 0; i < b->layer_count; i++) {
        struct blm__layer *l = &b->layers[i];
        l->words             = blm__moved_block(&m, &l->block, l->words, (size_t)l->word_count * 8);
        if (l->stripes) {
            blm__layer_stripes_leave(l);
            l->stripes = (struct blm__stripe *)(void *)blm__moved_block(
                &m, &l->stripes_block, (uint64_t *)(void *)l->stripes, BLM__STRIPES_BYTES);
            blm__layer_stripes_moved(l);
        }
    }
    b->layers = blm__moved(&m, b->layers);
    blm__body_ready(b);
    b->attached = blm__moved(&m, b->attached);
    if (b->ops->move)
        b->ops->move(b, &m);
    f             = blm__moved(&m, f);
    f->body.alloc = &f->own;
    return f;
}
