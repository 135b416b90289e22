/* SPDX-License-Identifier: MIT */
/* A RedisBloom chain as its dumps describe it. Judges a description before memory is allocated for
 * it; the library reads and writes the header chunk. */
#include <math.h>
#include <string.h>

#include "bf.h"
#include "bloomery/embed.h"
#include "bloomery/redisbloom.h"

#define LN2_SQUARED 0.480453013918201 /* the original's decimals */

/* ---- room ---- */

/* Doubles each time, for a caller that adds layer by layer. */
bool bf_chain_room(struct bf_chain *c, uint64_t n)
{
    if (n == 0 || n > BLM_CHAIN_MAX_LAYERS)
        return false;
    if (n > c->room) {
        size_t           room  = n > 2 * (uint64_t)c->room ? (size_t)n : 2 * (size_t)c->room;
        blm_chain_layer *layer = bf_try_alloc(room * sizeof *layer);
        c->starved             = !layer;
        if (!layer)
            return false;
        memset(layer, 0, room * sizeof *layer);
        if (c->layer) {
            memcpy(layer, c->layer, c->layers * sizeof *layer);
            api.Free(c->layer);
        }
        c->layer = layer;
        c->room  = (uint32_t)room;
    }
    c->layers = (uint32_t)n;
    return true;
}

void bf_chain_free(struct bf_chain *c)
{
    for (uint32_t i = 0; c->layer && i < c->layers; i++)
        if (c->layer[i].words)
            api.Free(c->layer[i].words);
    if (c->layer)
        api.Free(c->layer);
    c->layer = NULL;
}

/* ---- judging ---- */

/* Does the array have the size that follows from its entries and error? Some versions rounded up to
 * a word, some to a byte, some to a power of two, which then also raised the entries. */
static bool fits(const blm_chain_layer *l, uint32_t options)
{
    double need = (double)l->entries * l->bpe, have = (double)l->bytes * 8;
    if (l->entries == 0 || !(fabs(fabs(log(l->error) / LN2_SQUARED) - l->bpe) <= 1e-9 * l->bpe))
        return false;
    if (options & BLM_CHAIN_NOROUND || l->n2 == 0)
        return have + 1 > need && have <= need + 64 + 8;
    double power = ldexp(1, l->n2);
    return have >= power && have < power + 64 && need <= power + 1 && need > power / 2 - 1;
}

const char *bf_chain_fault(const struct bf_chain *c, uint64_t max_bytes)
{
    uint64_t items = 0, bytes = 0;
    for (uint32_t i = 0; i < c->layers; i++) {
        const blm_chain_layer *l = &c->layer[i];
        if (l->bits == 0)
            return "RedisBloom 1.x or 2.0 wrote it, and RedisBloom itself no longer reads those";
        if (!(l->error > 0 && l->error < 1) || !fits(l, c->options))
            return "the size of a layer does not follow from its entries and error";
        if (l->bytes > (uint64_t)1 << 45)
            return "a layer is larger than any that can be";
        if (l->items > c->items - items)
            return "the layers' items do not add up";
        items += l->items;
        bytes += l->bytes;
    }
    if (items != c->items)
        return "the layers' items do not add up";
    if (max_bytes && bytes > max_bytes)
        return "it is larger than bf-max-bytes allows";
    return NULL;
}

/* Arrays that are not a whole number of words cannot be handed over: they are copied into the new
 * filter. Commands and loads run one at a time. */
static void *odd[BLM_CHAIN_MAX_LAYERS];

static void keep_odd(struct bf_chain *c)
{
    for (uint32_t i = 0; i < c->layers; i++) {
        odd[i] = c->layer[i].bytes % 8 ? c->layer[i].words : NULL;
        if (odd[i])
            c->layer[i].words = NULL;
    }
}

/* f is NULL: it could not be made, and the arrays stay the chain's. */
static void write_odd(struct bf_chain *c, blm_filter *f)
{
    for (uint32_t i = 0; i < c->layers; i++) {
        if (f && odd[i])
            blm_write_bits(f, i, 0, odd[i], c->layer[i].bytes);
        if (odd[i])
            c->layer[i].words = odd[i];
        else if (f)
            c->layer[i].words = NULL; /* the filter's now */
    }
}

struct value *bf_chain_value(struct bf_chain *c, uint64_t max_bytes, const char **why)
{
    static char text[256]; /* commands and loads run one at a time */
    blm_options o = bf_options(max_bytes);
    blm_filter *f = NULL;
    blm_error   err;
    *why = bf_chain_fault(c, max_bytes);
    if (*why)
        return NULL;
    keep_odd(c);
    if (blm_chain_create(c->layer, c->layers, c->options, c->growth, &o, &f, &err) != BLM_OK) {
        memcpy(text, err.text, sizeof text);
        *why = text;
    }
    write_odd(c, f);
    if (!f)
        return NULL;
    struct value *v = bf_value(f, false);
    if (!v)
        *why = BF_STARVED;
    return v;
}

/* ---- the header chunk ---- */

const uint8_t *bf_header(const struct value *v, size_t *len)
{
    static uint8_t
        header[BLM_CHAIN_MAX_HEADER]; /* too large for a stack; only one is used at a time */
    blm_chain_write_header(v->filter, header, sizeof header, len, NULL);
    return header;
}

bool bf_header_get(struct bf_chain *c, const uint8_t *in, size_t len)
{
    blm_chain_header h = { .size = sizeof h };
    if (blm_chain_read_header(in, len, &h, NULL, 0, NULL) != BLM_OK || !bf_chain_room(c, h.layers))
        return false;
    c->items   = h.items;
    c->options = h.options;
    c->growth  = h.growth;
    return blm_chain_read_header(in, len, &h, c->layer, c->layers, NULL) == BLM_OK;
}
