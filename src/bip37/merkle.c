/* SPDX-License-Identifier: MIT */
#include "bip37/merkle.h"

#include <string.h>

#include "bloomery/bip37.h"
#include "core/hash/sha256.h"

static uint32_t width(uint32_t count, unsigned level)
{
    return (uint32_t)(((uint64_t)count + ((uint64_t)1 << level) - 1) >> level);
}

static unsigned top(uint32_t count)
{
    unsigned level = 0;
    while (width(count, level) > 1)
        level++;
    return level;
}

static void join(const uint8_t left[32], const uint8_t right[32], uint8_t out[32])
{
    const blm_key pair[2] = { { left, 32 }, { right, 32 } };
    blm__sha256d(pair, 2, out);
}

/* ---- making one ---- */

static bool any_below(const struct blm__merkle *m, unsigned level, uint32_t at)
{
    uint64_t from = (uint64_t)at << level, to = (uint64_t)(at + 1) << level;
    for (uint64_t i = from; i < to && i < m->count; i++)
        if (m->matched[i])
            return true;
    return false;
}

static void hash_of(const struct blm__merkle *m, unsigned level, uint32_t at, uint8_t out[32])
{
    if (level == 0) {
        memcpy(out, m->id[at], 32);
        return;
    }
    uint8_t left[32], right[32];
    bool    pair = at * 2 + 1 < width(m->count, level - 1);
    hash_of(m, level - 1, at * 2, left);
    if (pair)
        hash_of(m, level - 1, at * 2 + 1, right);
    join(left, pair ? right : left, out);
}

/* A walk either sets flags and counts, or writes hashes. */
struct walk {
    const struct blm__merkle *m;
    uint8_t                  *flags;
    uint32_t                  bits, hashes;
    blm_write_fn              put; /* NULL: only count */
    void                     *ctx;
};

static bool visit(struct walk *w, unsigned level, uint32_t at)
{
    bool match = any_below(w->m, level, at);
    if (w->flags && match)
        w->flags[w->bits / 8] |= (uint8_t)(1u << (w->bits % 8));
    w->bits++;
    if (level == 0 || !match) {
        uint8_t h[32];
        w->hashes++;
        if (!w->put)
            return true;
        hash_of(w->m, level, at, h);
        return w->put(w->ctx, h, 32);
    }
    return visit(w, level - 1, at * 2) &&
           (at * 2 + 1 >= width(w->m->count, level - 1) || visit(w, level - 1, at * 2 + 1));
}

/* At most every node is visited: fewer than 2n, and one more per level with an odd width. */
size_t blm__merkle_flag_room(uint32_t count) { return ((size_t)count * 2 + 40) / 8 + 1; }

void blm__merkle_flags(const struct blm__merkle *m, uint8_t *flags, uint32_t *bits,
                       uint32_t *hashes)
{
    struct walk w = { .m = m, .flags = flags };
    visit(&w, top(m->count), 0);
    *bits   = w.bits;
    *hashes = w.hashes;
}

bool blm__merkle_hashes(const struct blm__merkle *m, blm_write_fn put, void *ctx)
{
    struct walk w = { .m = m, .put = put, .ctx = ctx };
    return visit(&w, top(m->count), 0);
}

/* ---- checking one ---- */

struct check {
    const struct blm__proof *p;
    uint64_t                 bit, hash;
    blm_bip37_fn             found;
    void                    *ctx;
    blm_status               status;
    blm_error               *err;
};

static void bad(struct check *c, uint64_t at, const char *what)
{
    if (c->status == BLM_OK)
        c->status = blm__fail_at(c->err, BLM_E_FORMAT, at, "not a partial tree: %s", what);
}

static bool take_flag(struct check *c)
{
    uint64_t byte = c->bit / 8;
    if (byte >= c->p->flag_bytes) {
        bad(c, c->p->flags_at + c->p->flag_bytes, "it has too few flag bits");
        return false;
    }
    return c->p->flags[byte] >> (c->bit++ % 8) & 1;
}

static const uint8_t *take_hash(struct check *c)
{
    if (c->hash >= c->p->hash_count) {
        bad(c, c->p->hashes_at + c->p->hash_count * 32, "it has too few hashes");
        return NULL;
    }
    return c->p->hashes + 32 * c->hash++;
}

static void check_node(struct check *c, unsigned level, uint32_t at, uint8_t out[32])
{
    bool match = take_flag(c);
    if (c->status != BLM_OK)
        return;
    if (level == 0 || !match) {
        const uint8_t *h = take_hash(c);
        if (!h)
            return;
        memcpy(out, h, 32);
        if (match && c->found && !c->found(c->ctx, at, h))
            c->status = blm__fail(c->err, BLM_E_CANCELLED, "cancelled at transaction %lu",
                                  (unsigned long)at);
        return;
    }
    uint8_t left[32], right[32];
    bool    pair = at * 2 + 1 < width(c->p->count, level - 1);
    check_node(c, level - 1, at * 2, left);
    if (c->status == BLM_OK && pair)
        check_node(c, level - 1, at * 2 + 1, right);
    if (c->status != BLM_OK)
        return;
    /* Equal halves would let transactions be listed twice under the same root (CVE-2012-2459). */
    if (pair && memcmp(left, right, 32) == 0)
        bad(c, c->p->hashes_at + (c->hash - 1) * 32, "the two halves below a node are equal");
    join(left, pair ? right : left, out);
}

blm_status blm__merkle_check(const struct blm__proof *p, uint8_t root[32], blm_bip37_fn found,
                             void *ctx, blm_error *err)
{
    struct check c = { .p = p, .found = found, .ctx = ctx, .err = err };
    if (p->hash_count > p->count)
        bad(&c, p->hashes_at, "it has more hashes than transactions");
    else if (p->flag_bytes * 8 < p->hash_count)
        bad(&c, p->flags_at, "it has fewer flag bits than hashes");
    else
        check_node(&c, top(p->count), 0, root);
    if (c.status == BLM_OK && c.hash != p->hash_count)
        bad(&c, p->hashes_at + c.hash * 32, "it has hashes that are not used");
    if (c.status == BLM_OK && (c.bit + 7) / 8 != p->flag_bytes)
        bad(&c, p->flags_at + (c.bit + 7) / 8, "it has flag bytes that are not used");
    return c.status;
}
