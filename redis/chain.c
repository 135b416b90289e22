/* SPDX-License-Identifier: MIT */
/*
 * A RedisBloom chain as its dumps describe it. Reads and writes the header chunk, and judges a
 * description before memory is allocated for it. The header is packed and little-endian:
 *
 *   u64 items   u32 layers   u32 options   u32 growth
 *   a layer: u64 bytes, u64 bits, u64 items, f64 error, f64 bpe, u32 hashes, u64 entries, u8 n2
 *
 * Version 2.2.0 had entries in 32 bits, and earlier versions also had no growth. The lengths tell
 * them apart.
 */
#include <math.h>
#include <string.h>

#include "bf.h"
#include "bloomery/redisbloom.h"

#define LN2_SQUARED 0.480453013918201 /* the original's decimals */
#define NOROUND     1u
#define OLD_GROWTH  2u

/* ---- room ---- */

/* Doubles each time, for a caller that adds layer by layer. */
bool bf_chain_room(struct bf_chain *c, uint64_t n)
{
    if (n == 0 || n > BF_MAX_LINKS)
        return false;
    if (n > c->room) {
        size_t    room = n > 2 * (uint64_t)c->room ? (size_t)n : 2 * (size_t)c->room;
        blm_link *link = bf_try_alloc(room * sizeof *link);
        if (!link)
            return false;
        memset(link, 0, room * sizeof *link);
        if (c->link) {
            memcpy(link, c->link, c->links * sizeof *link);
            api.Free(c->link);
        }
        c->link = link;
        c->room = (uint32_t)room;
    }
    c->links = (uint32_t)n;
    return true;
}

void bf_chain_free(struct bf_chain *c)
{
    for (uint32_t i = 0; c->link && i < c->links; i++)
        if (c->link[i].words)
            api.Free(c->link[i].words);
    if (c->link)
        api.Free(c->link);
    c->link = NULL;
}

/* ---- judging ---- */

/* Does the array have the size that follows from its entries and error? Some versions rounded up to
 * a word, some to a byte, some to a power of two, which then also raised the entries. */
static bool fits(const blm_link *l, uint32_t options)
{
    double need = (double)l->entries * l->bpe, have = (double)l->bytes * 8;
    if (l->entries == 0 || !(fabs(fabs(log(l->error) / LN2_SQUARED) - l->bpe) <= 1e-9 * l->bpe))
        return false;
    if (options & NOROUND || l->n2 == 0)
        return have + 1 > need && have <= need + 64 + 8;
    double power = ldexp(1, l->n2);
    return have >= power && have < power + 64 && need <= power + 1 && need > power / 2 - 1;
}

const char *bf_chain_fault(const struct bf_chain *c, uint64_t max_bytes)
{
    uint64_t items = 0, bytes = 0;
    for (uint32_t i = 0; i < c->links; i++) {
        const blm_link *l = &c->link[i];
        if (!(l->error > 0 && l->error < 1) || !fits(l, c->options))
            return "the size of a layer does not follow from its entries and error";
        if (l->bytes > (uint64_t)1 << 45)
            return "a layer is larger than any that can be";
        items += l->items;
        bytes += l->bytes;
    }
    if (items != c->items)
        return "the layers' items do not add up";
    if (max_bytes && bytes > max_bytes)
        return "it is larger than bf-max-bytes allows";
    return NULL;
}

struct value *bf_chain_value(struct bf_chain *c, uint64_t max_bytes, const char **why)
{
    static char text[256]; /* commands and loads run one at a time */
    blm_options o = bf_options(max_bytes);
    blm_filter *f;
    blm_error   err;
    *why = bf_chain_fault(c, max_bytes);
    if (*why)
        return NULL;
    if (blm_chain_create(c->link, c->links, c->options, c->growth, &o, &f, &err) != BLM_OK) {
        memcpy(text, err.text, sizeof text);
        *why = text;
        return NULL;
    }
    for (uint32_t i = 0; i < c->links; i++)
        c->link[i].words = NULL;
    struct value *v = bf_value(f, false);
    if (!v)
        *why = "no memory";
    return v;
}

/* ---- the header chunk ---- */

static void put(uint8_t **p, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *(*p)++ = (uint8_t)(v >> 8 * i);
}

static uint64_t get(const uint8_t **p, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t) * (*p)++ << 8 * i;
    return v;
}

static void put_double(uint8_t **p, double d)
{
    uint64_t v;
    memcpy(&v, &d, sizeof v);
    put(p, v, 8);
}

static double get_double(const uint8_t **p)
{
    uint64_t v = get(p, 8);
    double   d;
    memcpy(&d, &v, sizeof d);
    return d;
}

const uint8_t *bf_header(const struct value *v, size_t *len)
{
    static uint8_t
        header[BF_HEADER(BF_MAX_LINKS)]; /* too large for a stack; only one is used at a time */
    blm_params p   = bf_params(v);
    uint8_t   *out = header;
    put(&out, p.items, 8);
    put(&out, p.layers, 4);
    put(&out, p.variant & 15, 4);
    put(&out, (uint64_t)p.growth, 4);
    for (uint32_t i = 0; i < p.layers; i++) {
        blm_link l;
        blm_chain_link(v->filter, i, &l);
        put(&out, l.bytes, 8);
        put(&out, l.bits, 8);
        put(&out, l.items, 8);
        put_double(&out, l.error);
        put_double(&out, l.bpe);
        put(&out, l.hashes, 4);
        put(&out, l.entries, 8);
        put(&out, l.n2, 1);
    }
    *len = (size_t)(out - header);
    return header;
}

static void get_link(blm_link *l, const uint8_t **in, unsigned entries)
{
    l->bytes   = get(in, 8);
    l->bits    = get(in, 8);
    l->items   = get(in, 8);
    l->error   = get_double(in);
    l->bpe     = get_double(in);
    l->hashes  = (uint32_t)get(in, 4);
    l->entries = get(in, entries);
    l->n2      = (uint8_t)get(in, 1);
}

bool bf_header_get(struct bf_chain *c, const uint8_t *in, size_t len)
{
    if (len < 20)
        return false;
    c->items         = get(&in, 8);
    uint64_t n       = get(&in, 4);
    c->options       = (uint32_t)get(&in, 4);
    bool     old     = len == 16 + 49 * n;
    unsigned entries = len == 20 + 53 * n ? 8 : 4;
    if (!old && entries == 4 && len != 20 + 49 * n)
        return false;
    c->growth = old ? OLD_GROWTH : (uint32_t)get(&in, 4);
    if (!bf_chain_room(c, n))
        return false;
    for (uint32_t i = 0; i < c->links; i++)
        get_link(&c->link[i], &in, entries);
    return true;
}
