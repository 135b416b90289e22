/* SPDX-License-Identifier: MIT */
/* BF.DEL, BF.MERGE, BF.ESTIMATE: commands that RedisBloom does not have. */
#include <stdio.h>
#include <string.h>

#include "bf.h"
#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "bloomery/redisbloom.h"

/* ---- BF.DEL key item [item …]: counting and cuckoo filters ---- */

int bf_cmd_del(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    Key          *key;
    size_t        gone = 0;
    if (argc < 3)
        return api.WrongArity(ctx);
    enum bf_found found = bf_open(ctx, argv[1], &key, &v);
    api.CloseKey(key);
    if (found == BF_MISSING)
        return bf_not_found(ctx);
    if (found == BF_OTHER)
        return bf_wrong_type(ctx);
    if (v->arriving)
        return bf_still_arriving(ctx);
    if (!(bf_params(v).can & BLM_CAN_REMOVE))
        return api.ReplyWithError(ctx, "ERR items can only be removed from a filter of KIND "
                                       "counting or cuckoo");
    if (argc > 3)
        api.ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        size_t      len;
        const char *item = api.StringPtrLen(argv[i], &len);
        bool        was  = blm_remove(v->filter, item, len) == BLM_OK;
        gone += was;
        api.ReplyWithBool(ctx, was);
    }
    if (gone) {
        bf_value_tally(v);
        api.ReplicateVerbatim(ctx);
        bf_changed(ctx, argv[1], "bf.del");
    }
    return API_OK;
}

/* Why native filters do not go together. What the library says to do about it names its own options:
 * here it is BF.RESERVE's. */
static const char *why_apart(const blm_error *err)
{
    static char text[sizeof err->text + 80];
    snprintf(text, sizeof text, "ERR %.*s%s", (int)err->wrong, err->text,
             err->text[err->wrong] ? ": reserve both with the same rate, capacity, KIND and SEED"
                                   : "");
    return text;
}

#define APART "ERR the filters are of different types: RedisBloom's and native filters cannot be "

/* ---- BF.MERGE destination source [source …] ---- */

/* Are these chains of one layer each, all alike, whose keys fit in one layer? Then their bits can
 * be ORed. */
static bool can_unite(struct value *const *v, size_t n)
{
    uint64_t        items = 0;
    blm_chain_layer first = { 0 }, l;
    for (size_t i = 0; i < n; i++) {
        if (bf_params(v[i]).layers != 1)
            return false;
        blm_chain_get_layer(v[i]->filter, 0, &l);
        if (i == 0)
            first = l;
        if (l.bits != first.bits || l.hashes != first.hashes || l.n2 != first.n2)
            return false;
        items += l.items;
    }
    return items <= first.entries;
}

static bool copy_layers(struct bf_chain *c, uint32_t at, const struct value *v)
{
    uint32_t layers = bf_params(v).layers;
    for (uint32_t i = 0; i < layers; i++) {
        blm_chain_layer *l = &c->layer[at + i];
        uint64_t         bytes;
        const void      *bits = blm_view(v->filter, i, &bytes);
        blm_chain_get_layer(v->filter, i, l);
        c->items += l->items;
        if (!(l->words = bf_try_alloc((size_t)l->bytes)))
            return false;
        memcpy(l->words, bits, (size_t)l->bytes);
    }
    return true;
}

/* By words, and the bytes after the last whole one. */
static void unite_bits(void *to, const void *from, uint64_t bytes)
{
    uint64_t       *a = to;
    const uint64_t *b = from;
    for (uint64_t i = 0; i < bytes / 8; i++)
        a[i] |= b[i];
    for (uint64_t i = bytes & ~(uint64_t)7; i < bytes; i++)
        ((uint8_t *)to)[i] |= ((const uint8_t *)from)[i];
}

/* ORs the bits of chains of one layer each. */
static bool unite_layers(struct bf_chain *c, struct value *const *v, size_t n)
{
    if (!copy_layers(c, 0, v[0]))
        return false;
    for (size_t i = 1; i < n; i++) {
        uint64_t    bytes;
        const void *from = blm_view(v[i]->filter, 0, &bytes);
        unite_bits(c->layer[0].words, from, bytes);
        uint64_t items = bf_params(v[i]).items;
        c->items += items;
        c->layer[0].items += items;
    }
    return true;
}

/* Later chains first, so that the destination's newest layer, which takes new keys, stays the
 * newest. What is then the first layer says how the chain grows (growth.c). That is the destination's
 * to say, so another's mark goes. */
static bool join_layers(struct bf_chain *c, struct value *const *v, size_t n)
{
    uint32_t at = 0;
    for (size_t i = n; i-- > 0;) {
        if (!copy_layers(c, at, v[i]))
            return false;
        at += bf_params(v[i]).layers;
    }
    if (!v[0]->automatic || c->layer[0].error != bf_layer(v[0], 0).rate)
        bf_unmark(&c->layer[0], c->options);
    return true;
}

static struct value *merge_chains(struct value *const *v, size_t n, uint64_t cap, const char **why)
{
    struct bf_chain c      = { 0 };
    blm_params      first  = bf_params(v[0]);
    uint64_t        layers = 0, bytes = 0;
    bool            one = can_unite(v, n);
    for (size_t i = 0; i < n; i++) {
        blm_params p = bf_params(v[i]);
        layers += p.layers;
        bytes += p.bytes;
        if ((p.variant ^ first.variant) & (BLM_CHAIN_NOROUND | BLM_CHAIN_FORCE64)) {
            *why = "ERR the filters hash items differently and cannot be merged";
            return NULL;
        }
    }
    if (cap && !one && bytes > cap) {
        *why = BF_TOO_LARGE;
        return NULL;
    }
    if (!bf_chain_room(&c, one ? 1 : layers)) {
        *why = layers > BLM_CHAIN_MAX_LAYERS ? "ERR the merged filter would have too many layers"
                                             : "ERR Insufficient memory";
        return NULL;
    }
    c.options       = first.variant & BLM_CHAIN_OPTIONS;
    c.growth        = (uint32_t)first.growth;
    struct value *m = NULL;
    *why            = "ERR Insufficient memory";
    if (one ? unite_layers(&c, v, n) : join_layers(&c, v, n))
        m = bf_chain_value(&c, cap, why);
    bf_chain_free(&c);
    return m;
}

static struct value *merge_native(struct value *const *v, size_t n, uint64_t cap, const char **why)
{
    blm_error err;
    for (size_t i = 1; i < n; i++)
        if (blm_can_meet(v[0]->filter, v[i]->filter, &err) != BLM_OK) {
            *why = why_apart(&err);
            return NULL;
        }
    struct value *m = bf_value_copy(v[0]);
    *why            = "ERR Insufficient memory";
    if (m)
        blm_set_max_bytes(m->filter, cap);
    for (size_t i = 1; m && i < n; i++)
        if (blm_union(m->filter, v[i]->filter, &err) != BLM_OK) {
            *why = why_apart(&err);
            bf_value_free(m);
            m = NULL;
        }
    if (m)
        bf_value_complete(m);
    return m;
}

/* The values of all keys that exist, the destination's first if it exists. False: the error has
 * been replied; `apart` is for filters of two types. */
static bool gather(Ctx *ctx, Str **names, int n, struct value **v, size_t *count, const char *apart)
{
    *count = 0;
    for (int i = 0; i < n; i++) {
        struct value *one;
        enum bf_found found = bf_find_beside(ctx, names[i], &one);
        if (found == BF_MISSING && i == 0)
            continue;
        if (found == BF_OURS && one->filter) {
            v[(*count)++] = one;
            if (one->native != v[0]->native) {
                api.ReplyWithError(ctx, apart);
                return false;
            }
            continue;
        }
        if (found == BF_MISSING)
            bf_not_found(ctx);
        else if (found == BF_OTHER)
            bf_wrong_type(ctx);
        else
            bf_still_arriving(ctx);
        return false;
    }
    return true;
}

/* Drops a filter that is named twice, or is also the destination: merging it again would only count
 * its items twice. The order is kept, so that replicas build the same chain. */
static size_t drop_repeated(struct value **v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!v[i]->named) {
            v[i]->named = true;
            v[kept++]   = v[i];
        }
    for (size_t i = 0; i < kept; i++)
        v[i]->named = false;
    return kept;
}

int bf_cmd_merge(Ctx *ctx, Str **argv, int argc)
{
    size_t      n;
    const char *why = NULL;
    if (argc < 3)
        return api.WrongArity(ctx);
    struct value **v = api.Alloc((size_t)argc * sizeof *v);
    if (!gather(ctx, argv + 1, argc - 1, v, &n, APART "merged")) {
        api.Free(v);
        return API_OK;
    }
    n               = drop_repeated(v, n);
    struct value *m = v[0]->native ? merge_native(v, n, bf_cap(ctx), &why)
                                   : merge_chains(v, n, bf_cap(ctx), &why);
    api.Free(v);
    if (!m)
        return api.ReplyWithError(ctx, why);
    bf_put(ctx, argv[1], m);
    api.ReplicateVerbatim(ctx);
    bf_changed(ctx, argv[1], "bf.merge");
    return api.ReplyWithSimpleString(ctx, "OK");
}

/* ---- BF.ESTIMATE key [key]: how many items, and how many in common, from the bits ---- */

static void reply_estimate(Ctx *ctx, const char *name, const blm_estimate *e)
{
    api.ReplyWithSimpleString(ctx, name);
    api.ReplyWithArray(ctx, 3);
    api.ReplyWithDouble(ctx, e->value);
    api.ReplyWithDouble(ctx, e->low);
    api.ReplyWithDouble(ctx, e->high);
}

/* Behind bytes that do not end with a word, a layer has zeroes. */
static uint64_t ones(const uint64_t *a, const uint64_t *b, uint64_t bytes)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < (bytes + 7) / 8; i++)
        sum += (uint64_t)__builtin_popcountll(b ? a[i] | b[i] : a[i]);
    return sum;
}

/* NULL, or why not. */
static const char *compare(const struct value *a, const struct value *b, blm_overlap *out)
{
    blm_error       err;
    blm_chain_layer x, y;
    uint64_t        bytes;
    if (a->native)
        return blm_compare(a->filter, b->filter, out, &err) == BLM_OK ? NULL : why_apart(&err);
    blm_chain_get_layer(a->filter, 0, &x);
    blm_chain_get_layer(b->filter, 0, &y);
    if (bf_params(a).layers != 1 || bf_params(b).layers != 1 || x.bits != y.bits ||
        x.hashes != y.hashes || x.n2 != y.n2 ||
        (bf_params(a).variant ^ bf_params(b).variant) & BLM_CHAIN_FORCE64)
        return "ERR only filters of one layer and the same size can be compared";
    const uint64_t *p = blm_view(a->filter, 0, &bytes), *q = blm_view(b->filter, 0, &bytes);
    uint64_t        m = x.n2 ? (uint64_t)1 << x.n2 : x.bits;
    return blm_estimate_overlap(m, x.hashes, ones(p, NULL, bytes), ones(q, NULL, bytes),
                                ones(p, q, bytes), out) == BLM_OK
               ? NULL
               : "ERR no estimate can be made";
}

int bf_cmd_estimate(Ctx *ctx, Str **argv, int argc)
{
    struct value *v[2];
    size_t        n;
    if (argc != 2 && argc != 3)
        return api.WrongArity(ctx);
    if (!gather(ctx, argv + 1, argc - 1, v, &n, APART "compared"))
        return API_OK;
    if ((int)n != argc - 1)
        return bf_not_found(ctx);
    if (n == 1) {
        blm_stats s = { .size = sizeof s };
        if (blm_get_stats(v[0]->filter, &s) != BLM_OK)
            return api.ReplyWithError(ctx, "ERR no estimate can be made");
        api.ReplyWithMap(ctx, 3);
        reply_estimate(ctx, "Items", &s.estimated);
        api.ReplyWithSimpleString(ctx, "Fill");
        api.ReplyWithDouble(ctx, s.fill);
        api.ReplyWithSimpleString(ctx, "Error rate now");
        return api.ReplyWithDouble(ctx, s.rate_now);
    }
    blm_overlap o   = { .size = sizeof o };
    const char *why = compare(v[0], v[1], &o);
    if (why)
        return api.ReplyWithError(ctx, why);
    api.ReplyWithMap(ctx, 5);
    reply_estimate(ctx, "First", &o.a);
    reply_estimate(ctx, "Second", &o.b);
    reply_estimate(ctx, "Union", &o.either);
    reply_estimate(ctx, "Intersection", &o.both);
    reply_estimate(ctx, "Jaccard", &o.jaccard);
    return API_OK;
}
