/* SPDX-License-Identifier: MIT */
/* A layer of plain bits: what classic, blocked and the layers of scalable have in common. The
 * layer's engine says how a key finds its bits; everything else is words. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/kernel/counters.h"
#include "kind/kind.h"
#include "scheme/scheme.h"

/* ---- add and check ---- */

/* Schemes that are not ours: positions from the scheme, a group of keys fetched before use. */
#define GROUP 16u

/* The positions of n keys, k each, on their way into the cache. */
static void fetch_positions(const struct blm_layer *l, const blm_digest *d, size_t n,
                            uint64_t *pos, bool write)
{
    const struct blm_scheme *scheme = l->shape.scheme;
    uint32_t                 k      = l->shape.probes;
    for (size_t i = 0; i < n; i++) {
        scheme->positions(&l->shape, &d[i], pos + i * k);
        for (uint32_t j = 0; j < k; j++) {
            const uint64_t *w = &l->words[pos[i * k + j] >> 6];
            if (write)
                BLM__PREFETCH_W(w);
            else
                BLM__PREFETCH(w);
        }
    }
}

static bool test_positions(const struct blm_layer *l, const uint64_t *pos)
{
    for (uint32_t j = 0; j < l->shape.probes; j++)
        if (!blm__bit_get(l->words, pos[j]))
            return false;
    return true;
}

static unsigned set_positions(struct blm_layer *l, const uint64_t *pos, bool shared)
{
    unsigned fresh = 0;
    for (uint32_t j = 0; j < l->shape.probes; j++)
        fresh |= blm__bit_set(l, pos[j], shared);
    return fresh;
}

/* Keys whose positions fit the buffer at once; at least one, as BLM__MAX_PROBES fit. */
static size_t group_of(uint32_t k, size_t most)
{
    size_t fit = k ? BLM__MAX_PROBES / k : most;
    return fit < most ? fit : most;
}

static size_t add_positions(struct blm_layer *l, const blm_digest *d, size_t n, uint8_t *fresh,
                            bool shared)
{
    uint64_t pos[BLM__MAX_PROBES];
    size_t   count = 0, group = group_of(l->shape.probes, GROUP);
    for (size_t at = 0; at < n; at += group) {
        size_t some = n - at < group ? n - at : group;
        fetch_positions(l, d + at, some, pos, true);
        for (size_t i = 0; i < some; i++)
            count += fresh[at + i] =
                (uint8_t)set_positions(l, pos + i * l->shape.probes, shared);
    }
    return count;
}

/* First probes of a key before the others: at half full, two leave a quarter of the absent keys. 100
 * keys asked of a RedisBloom chain of six links, 1e7 keys: absent ones 37 µs before, 12 now, present
 * ones 14 and 10. Finding positions and fetching them key by key is faster than all positions first
 * (15 µs): the arithmetic hides behind the fetches. Groups of 32 are a tenth slower than of 64. */
#define FIRST  2u
#define SIFTED 64u

/* `count` positions of the keys that are left, from number `from` on: fetches them all, then keeps
 * the keys that have every one. Returns how many are left. */
static size_t sift(const struct blm_layer *l, const blm_digest *d, uint8_t *which, size_t n,
                   uint32_t from, uint32_t count)
{
    uint64_t pos[BLM__MAX_PROBES];
    size_t   left = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t *p = pos + i * count;
        l->shape.scheme->some(&l->shape, &d[which[i]], from, count, p);
        for (uint32_t j = 0; j < count; j++)
            BLM__PREFETCH(&l->words[p[j] >> 6]);
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t *p   = pos + i * count;
        bool            all = true;
        for (uint32_t j = 0; j < count && all; j++)
            all = blm__bit_get(l->words, p[j]);
        which[left] = which[i];
        left += all;
    }
    return left;
}

static size_t check_sifted(const struct blm_layer *l, const blm_digest *d, size_t n,
                           uint8_t *maybe, size_t group)
{
    uint8_t which[BLM__BATCH_DIGESTS];
    size_t  hits = 0;
    memset(maybe, 0, n);
    for (size_t at = 0; at < n; at += group) {
        size_t some = n - at < group ? n - at : group;
        for (size_t i = 0; i < some; i++)
            which[i] = (uint8_t)i;
        some = sift(l, d + at, which, some, 0, FIRST);
        if (some)
            some = sift(l, d + at, which, some, FIRST, l->shape.probes - FIRST);
        for (size_t i = 0; i < some; i++)
            maybe[at + which[i]] = 1;
        hits += some;
    }
    return hits;
}

static size_t check_positions(const struct blm_layer *l, const blm_digest *d, size_t n,
                              uint8_t *maybe)
{
    uint64_t pos[BLM__MAX_PROBES];
    size_t   hits = 0, group = group_of(l->shape.probes, GROUP);
    if (l->shape.scheme->some && l->shape.probes > FIRST)
        return check_sifted(l, d, n, maybe, group_of(l->shape.probes, SIFTED));
    for (size_t at = 0; at < n; at += group) {
        size_t some = n - at < group ? n - at : group;
        fetch_positions(l, d + at, some, pos, false);
        for (size_t i = 0; i < some; i++)
            hits += maybe[at + i] = test_positions(l, pos + i * l->shape.probes);
    }
    return hits;
}

size_t blm__bits_add(struct blm_body *b, struct blm_layer *l, const struct blm_batch *k,
                     uint8_t *fresh)
{
    const struct blm_kernel *v = b->kernel;
    size_t count;
    switch (l->shape.engine) {
    case BLM__CHAIN:
        count = (b->shared ? v->chain_add_shared : v->chain_add)(l, k->h, k->n, fresh);
        break;
    case BLM__LINES:
        count = (b->shared ? v->lines_add_shared : v->lines_add)(l, k->h, k->n, fresh);
        break;
    case BLM__SHORT: count = blm__short_add(l, k->h, k->n, fresh, b->shared); break;
    default: count = add_positions(l, k->d, k->n, fresh, b->shared); break;
    }
    blm__layer_count(l, (int64_t)count);
    return count;
}

size_t blm__bits_check(const struct blm_body *b, const struct blm_layer *l,
                       const struct blm_batch *k, uint8_t *maybe)
{
    switch (l->shape.engine) {
    case BLM__CHAIN: return b->kernel->chain_check(l, k->h, k->n, maybe);
    case BLM__LINES: return b->kernel->lines_check(l, k->h, k->n, maybe);
    case BLM__SHORT: return blm__short_check(l, k->h, k->n, maybe);
    default: return check_positions(l, k->d, k->n, maybe);
    }
}

bool blm__bits_check_one(const struct blm_body *b, const struct blm_layer *l, uint64_t h)
{
    uint8_t maybe;
    switch (l->shape.engine) {
    case BLM__LINES: return b->kernel->lines_check_one(l, h);
    case BLM__SHORT: return blm__short_check(l, &h, 1, &maybe) != 0;
    default: return b->kernel->chain_check_one(l, h);
    }
}

blm_status blm__single_add(struct blm_body *b, const struct blm_batch *k, uint8_t *fresh,
                           size_t *done)
{
    blm__bits_add(b, &b->layers[0], k, fresh);
    *done = k->n;
    return BLM_OK;
}

size_t blm__single_check(const struct blm_body *b, const struct blm_batch *k, uint8_t *maybe)
{
    return blm__bits_check(b, &b->layers[0], k, maybe);
}

bool blm__single_check_one(const struct blm_body *b, uint64_t h)
{
    return blm__bits_check_one(b, &b->layers[0], h);
}

/* ---- set operations ---- */

/* Many words, a piece at a time so that a caller can watch and stop. A stopped union has some of
 * src's bits: more "maybe", never a wrong "no"; a stopped intersection is as harmless. */
#define PIECE ((uint64_t)1 << 20)

blm_status blm__combine(struct blm_body *dst, const struct blm_body *src, blm_error *err,
                        void (*op)(uint64_t *, const uint64_t *, uint64_t))
{
    struct blm_layer       *d = &dst->layers[0];
    const struct blm_layer *s = &src->layers[0];
    blm__mark_all(d);
    for (uint64_t at = 0; at < d->word_count; at += PIECE) {
        uint64_t n = d->word_count - at < PIECE ? d->word_count - at : PIECE;
        if (!blm__go_on(dst, at * 8, d->word_count * 8))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu of %llu bytes",
                             (unsigned long long)(at * 8),
                             (unsigned long long)(d->word_count * 8));
        op(d->words + at, s->words + at, n);
    }
    return BLM_OK;
}

blm_status blm__bits_unite(struct blm_body *dst, const struct blm_body *src, blm_error *err)
{
    if (dst == src)
        return BLM_OK;
    blm_status s = blm__combine(dst, src, err, dst->kernel->or_into);
    if (s == BLM_OK)
        blm__layer_count(&dst->layers[0], (int64_t)blm__layer_items(&src->layers[0]));
    return s;
}

blm_status blm__bits_intersect(struct blm_body *dst, const struct blm_body *src, blm_error *err)
{
    blm_status s = blm__combine(dst, src, err, dst->kernel->and_into);
    if (s != BLM_OK)
        return s;
    /* No one counted the common keys: the smaller count is the most there can be. */
    struct blm_layer *d = &dst->layers[0];
    uint64_t mine = blm__layer_items(d), theirs = blm__layer_items(&src->layers[0]);
    if (theirs < mine)
        blm__layer_recount(d, theirs);
    return BLM_OK;
}

/* ---- fold ---- */

/* ORs n bits of src from bit `from` into dst at bit `to`, a word at a time. */
static void or_bits(uint64_t *dst, uint64_t to, const uint64_t *src, uint64_t from, uint64_t n)
{
    while (n > 0) {
        unsigned room = 64 - (unsigned)(to & 63), have = 64 - (unsigned)(from & 63);
        unsigned take = room < have ? room : have;
        if (take > n)
            take = (unsigned)n;
        uint64_t v = blm__le64(blm__load(&src[from >> 6])) >> (from & 63);
        if (take < 64)
            v &= ((uint64_t)1 << take) - 1;
        dst[to >> 6] |= blm__le64(v << (to & 63));
        to += take;
        from += take;
        n -= take;
    }
}

void blm__bits_fold(const struct blm_layer *from, uint64_t factor, struct blm_layer *to)
{
    uint64_t unit = blm__fold_unit(&from->shape), units = to->shape.bits / unit;
    for (uint64_t part = 0; part < factor; part++)
        if (from->shape.scheme->fold == BLM__FOLD_STRIDED)
            or_bits(to->words, 0, from->words, part * to->shape.bits, to->shape.bits);
        else
            for (uint64_t u = 0; u < units; u++)
                or_bits(to->words, u * unit, from->words, (u * factor + part) * unit, unit);
}
