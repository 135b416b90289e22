/* SPDX-License-Identifier: MIT */
/* The bookkeeping that every store and kind needs of a body. */
#include <sched.h>
#include <string.h>

#include "core/body.h"
#include "core/error.h"

uint64_t blm__body_bytes(const struct blm__body *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->layer_count; i++)
        sum += b->layers[i].word_count * 8;
    return sum;
}

uint64_t blm__body_held(const struct blm__body *b) { return blm__body_bytes(b) + b->attached_len; }

blm_status blm__body_may_have(const struct blm__body *b, uint64_t held, uint64_t bytes,
                              const char *what, blm_error *err)
{
    if (b->max_bytes == 0 || (held <= b->max_bytes && bytes <= b->max_bytes - held))
        return BLM_OK;
    return blm__fail(err, BLM_E_LIMIT,
                     "%llu bytes of %s (beside %llu) are more than the limit of %llu",
                     (unsigned long long)bytes, what, (unsigned long long)held,
                     (unsigned long long)b->max_bytes);
}

uint64_t blm__layer_items(const struct blm__layer *l)
{
    uint64_t sum = l->items;
    if (l->stripes)
        for (unsigned i = 0; i < BLM__STRIPES; i++)
            sum += atomic_load_explicit(&l->stripes[i].count, memory_order_relaxed);
    return sum;
}

/* Threads have stacks of their own, so the address of a local tells them apart well enough: two
 * threads that share a stripe lose a little speed, never a count. */
static unsigned my_stripe(void)
{
    char     here;
    uint64_t v = (uint64_t)(uintptr_t)&here >> 14;
    return (unsigned)(blm__mix64(v) % BLM__STRIPES);
}

void blm__layer_count(struct blm__layer *l, int64_t n)
{
    if (n == 0)
        return;
    if (l->stripes && n > 0)
        atomic_fetch_add_explicit(&l->stripes[my_stripe()].count, (uint64_t)n,
                                  memory_order_relaxed);
    else
        l->items += (uint64_t)n;
    if (l->live)
        blm__put64le(l->live, l->items);
}

uint64_t blm__layer_tally(struct blm__layer *l, uint64_t n, uint64_t unit)
{
    if (!l->stripes) {
        blm__layer_count(l, (int64_t)n);
        return n;
    }
    uint64_t was =
        atomic_fetch_add_explicit(&l->stripes[my_stripe()].count, n, memory_order_relaxed);
    return (was + n) / unit * unit - was / unit * unit;
}

void blm__layer_uncount(struct blm__layer *l, uint64_t n)
{
    uint64_t items = blm__layer_items(l);
    blm__layer_count(l, -(int64_t)(n < items ? n : items));
}

void blm__layer_recount(struct blm__layer *l, uint64_t n)
{
    if (l->stripes)
        for (unsigned i = 0; i < BLM__STRIPES; i++)
            atomic_store_explicit(&l->stripes[i].count, 0, memory_order_relaxed);
    l->items = n;
    if (l->live)
        blm__put64le(l->live, n);
}

struct blm__layer *blm__body_room(struct blm__body *b)
{
    if (b->layer_count == b->layer_room) {
        uint32_t           room  = b->layer_room ? b->layer_room * 2 : 1;
        struct blm__layer *grown = blm__zalloc(b->alloc, room * sizeof *grown);
        if (!grown)
            return NULL;
        if (b->layer_count)
            memcpy(grown, b->layers, b->layer_count * sizeof *grown);
        blm__free(b->alloc, b->layers, b->layer_room * sizeof *grown);
        b->layers     = grown;
        b->layer_room = room;
    }
    struct blm__layer *l = &b->layers[b->layer_count];
    memset(l, 0, sizeof *l);
    return l;
}

bool blm__body_reserve(struct blm__body *b, uint32_t layers)
{
    b->layers = blm__zalloc(b->alloc, layers * sizeof *b->layers);
    if (b->layers)
        b->layer_room = layers;
    return b->layers != NULL;
}

/* In a forked child: what other threads had, nobody has. */
static void unlock_all(void *stripes)
{
    struct blm__stripe *s = stripes;
    atomic_store(&s[BLM__ADDING].count, 0);
    for (unsigned i = BLM__LANE_FIRST; i < BLM__LANE_FIRST + BLM__LANES; i++)
        if (atomic_load(&s[i].count) & 1)
            atomic_fetch_add(&s[i].count, 1);
}

void blm__layer_stripes_leave(struct blm__layer *l)
{
    if (l->stripes)
        blm__fork_unwatch(&l->stripes[BLM__FORKED].watch);
}

void blm__layer_stripes_moved(struct blm__layer *l)
{
    if (l->stripes)
        blm__fork_watch(&l->stripes[BLM__FORKED].watch, unlock_all, l->stripes);
}

bool blm__layer_stripes(struct blm__body *b, struct blm__layer *l)
{
    if (!b->shared || l->stripes)
        return true;
    /* _Alignas(64) does not bind the allocator: align by hand through a block. */
    struct blm__block block;
    if (!blm__block_alloc(b->alloc, BLM__STRIPES_BYTES, &block))
        return false;
    l->stripes       = (struct blm__stripe *)(void *)block.words;
    l->stripes_block = block;
    blm__layer_stripes_moved(l);
    return true;
}

void blm__layer_unstripe(struct blm__body *b, struct blm__layer *l)
{
    blm__layer_stripes_leave(l);
    blm__block_free(b->alloc, &l->stripes_block);
    l->stripes = NULL;
    l->lanes   = false;
}

void blm__layer_lanes(struct blm__layer *l)
{
    l->lanes = l->stripes && l->shape.rule == BLM__LINES && l->shape.lines == 1;
    for (l->lane_shift = 0; (l->shape.line_count - 1) >> l->lane_shift >= BLM__LANES;)
        l->lane_shift++;
}

void blm__mark_all(const struct blm__layer *l)
{
    if (!l->marks)
        return;
    for (uint64_t w = 0; w < l->word_count; w += (uint64_t)1 << l->mark_shift)
        blm__mark(l, w);
}

void blm__adds_stop(struct blm__body *b)
{
    while (b->shared && atomic_exchange_explicit(&b->layers[0].stripes[BLM__ADDING].count, 1,
                                                 memory_order_acquire))
        sched_yield();
}

void blm__adds_go_on(struct blm__body *b)
{
    if (b->shared)
        atomic_store_explicit(&b->layers[0].stripes[BLM__ADDING].count, 0, memory_order_release);
}
