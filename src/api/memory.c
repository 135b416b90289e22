/* SPDX-License-Identifier: MIT */
/* The memory that a filter has taken, to the byte as its allocator was asked for it. */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "core/hash/keyed.h"
#include "store/store.h"

uint64_t blm_memory(const blm_filter *f)
{
    const struct blm__body *b   = &f->body;
    uint64_t                sum = sizeof *f + b->layer_room * sizeof *b->layers;
    for (uint32_t i = 0; i < b->layer_count; i++)
        sum += b->layers[i].block.size + b->layers[i].stripes_block.size;
    sum += b->hasher.secret ? sizeof *b->hasher.secret : 0;
    sum += (b->ops->memory ? b->ops->memory(b) : 0) + b->attached_len;
    if (b->store->backing == BLM_FILE_READ || b->store->backing == BLM_FILE_WRITE)
        sum += blm__file_memory(b);
    return sum;
}
