/* SPDX-License-Identifier: MIT */
/* A key's value: the filter, what the module remembers about it, and the memory of both. */
#include <string.h>

#include "bf.h"
#include "bloomery/embed.h"
#include "bloomery/window.h"

struct bf_totals bf_totals;

bool bf_repeated(Ctx *ctx)
{
    return api.GetContextFlags(ctx) & (API_CTX_REPLICATED | API_CTX_LOADING);
}

uint64_t bf_cap(Ctx *ctx) { return bf_repeated(ctx) ? 0 : (uint64_t)bf_config.max_bytes; }

/* ---- what is in it ---- */

blm_params bf_params(const struct value *v)
{
    blm_params p = { .size = sizeof p };
    blm_get_params(v->filter, &p);
    return p;
}

blm_params bf_layer(const struct value *v, uint32_t layer)
{
    blm_params p = { .size = sizeof p };
    blm_get_layer(v->filter, layer, &p);
    return p;
}

uint64_t bf_value_size(const struct value *v)
{
    blm_params      p     = bf_params(v);
    uint64_t        bytes = v->native ? p.bytes : 0;
    blm_chain_layer l;
    for (uint32_t i = 0; !v->native && i < p.layers; i++)
        if (blm_chain_get_layer(v->filter, i, &l) == BLM_OK) /* p.bytes are those of whole words */
            bytes += l.bytes;
    return 32 + 64 * (uint64_t)p.layers + bytes;
}

static uint64_t room_of(const struct value *v, const blm_params *all)
{
    blm_params p = *all;
    if (v->native && !v->fixed)
        return 0; /* it decides by itself, so it is examined after each add */
    if (v->saturate || v->forgets || (v->native && p.capacity == 0))
        return UINT64_MAX;
    if (!v->native)
        p = bf_layer(v, all->layers - 1);
    return p.items < p.capacity ? p.capacity - p.items : 0;
}

/* Adds differences, modulo 2^64, because values come and go on several threads. */
void bf_value_tally(struct value *v)
{
    blm_params p = bf_params(v);
    v->room      = room_of(v, &p);
    bf_total(&bf_totals.items, p.items - v->items);
    bf_total(&bf_totals.bytes, p.bytes - v->bytes);
    v->items = p.items;
    v->bytes = p.bytes;
}

void bf_value_added(struct value *v, uint64_t n)
{
    if (n >= v->room || v->counts) {
        bf_value_tally(v);
        return;
    }
    v->room -= n;
    v->items += n;
    bf_tick(&bf_totals.added, n);
}

/* ---- life ---- */

void bf_value_complete(struct value *v)
{
    blm_params p = bf_params(v);
    blm_window w = { .size = sizeof w };
    v->counts    = p.can & (BLM_CAN_REMOVE | BLM_CAN_FORGET);
    v->forgets   = p.can & BLM_CAN_FORGET;
    v->timed     = blm_get_window(v->filter, &w) == BLM_OK && w.by_time;
    v->fixed     = !(p.can & BLM_CAN_GROW);
    v->may_fail  = p.can & BLM_CAN_FILL_UP;
    v->automatic = !v->native && !v->fixed && bf_is_auto(bf_layer(v, 0).rate);
    bf_value_tally(v);
}

struct value *bf_value(blm_filter *f, bool native)
{
    struct value *v = api.TryAlloc(sizeof *v);
    if (!v) {
        blm_free(f);
        return NULL;
    }
    *v = (struct value){ .filter = f, .native = native };
    bf_total(&bf_totals.filters, 1);
    if (f)
        bf_value_complete(v);
    return v;
}

/* Also runs in the background thread. */
void bf_value_free(struct value *v)
{
    if (!v)
        return;
    bf_total(&bf_totals.filters, (uint64_t)-1);
    bf_total(&bf_totals.items, 0 - v->items);
    bf_total(&bf_totals.bytes, 0 - v->bytes);
    bf_changes_end(v);
    bf_native_drop(v);
    bf_asleep_free(v);
    api.Free(v);
}

struct value *bf_value_copy(struct value *v)
{
    blm_filter *f      = NULL;
    bool        peeked = bf_value_peek(v);
    if (v->filter)
        blm_copy(v->filter, &f, NULL);
    if (peeked)
        bf_value_unpeek(v);
    struct value *c = f ? bf_value(f, v->native) : NULL;
    if (c && v->saturate) {
        c->saturate = true;
        bf_value_tally(c); /* there is room again */
    }
    return c;
}

/* ---- its memory ---- */

size_t bf_value_memory(const struct value *v)
{
    uint64_t more = v->asleep   ? bf_asleep_memory(v)
                    : v->filter ? blm_memory(v->filter)
                                : bf_native_arrived(v, NULL, NULL);
    return api.MallocSize((void *)(uintptr_t)v) + (size_t)more;
}

/* Unmapping a page costs about as much as freeing an element of a list, and so does freeing a
 * layer. */
size_t bf_value_effort(const struct value *v)
{
    return 1 + (v->filter ? bf_params(v).layers : v->layers) + (size_t)(v->bytes >> 12);
}

static void *move(void *ctx, void *p) { return api.DefragAlloc(ctx, p); }

int bf_value_defrag(DefragCtx *ctx, struct value **v)
{
    bool          done  = (*v)->asleep && bf_asleep_defrag(ctx, *v);
    struct value *moved = (*v)->place ? NULL : api.DefragAlloc(ctx, *v);
    if (moved) {
        bf_changes_moved(*v, moved);
        *v = moved;
    }
    if (!done && (*v)->filter)
        (*v)->filter = blm_relocate((*v)->filter, move, ctx);
    return 0;
}
