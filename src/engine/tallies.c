/* SPDX-License-Identifier: MIT */
/* Tallies: the counters of a counting filter of another system's scheme, where its positions say. A
 * key may name a counter twice; add and remove go through the same list, so they agree. */
#include "core/kernel/loops.h"
#include "engine/bits.h"

/* Keys are taken in groups: their counters are asked for before they are used. */
static size_t group_of(uint32_t k)
{
    size_t fit = k ? BLM__MAX_PROBES / k : 32;
    return fit < 32 ? fit : 32;
}

static void fetch(const struct blm__layer *l, const struct blm__keys *k, size_t at, size_t n,
                  uint64_t *pos)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t *p = pos + i * l->shape.probes;
        l->shape.scheme->positions(&l->shape, blm__digest_at(k, at + i), p);
        for (uint32_t j = 0; j < l->shape.probes; j++)
            BLM__PREFETCH(&l->words[p[j] >> 4]);
    }
}

static bool raise_list(struct blm__layer *l, const uint64_t *pos, bool shared)
{
    unsigned is_new = 0;
    for (uint32_t j = 0; j < l->shape.probes; j++)
        is_new |= blm__counter_raise(l, pos[j], shared) == 0;
    return is_new != 0;
}

static bool present(const struct blm__layer *l, const uint64_t *pos)
{
    for (uint32_t j = 0; j < l->shape.probes; j++)
        if (blm__counter_get(l, pos[j]) == 0)
            return false;
    return true;
}

/* Had this key been added, each of its counters would be at least as high as the key names it. */
static bool removable(const struct blm__layer *l, const uint64_t *pos)
{
    for (uint32_t j = 0; j < l->shape.probes; j++) {
        unsigned named = 0;
        for (uint32_t i = 0; i < l->shape.probes; i++)
            named += pos[i] == pos[j];
        if (blm__counter_get(l, pos[j]) < (named < BLM__COUNTER_MAX ? named : BLM__COUNTER_MAX))
            return false;
    }
    return true;
}

static bool lower_list(struct blm__layer *l, const uint64_t *pos)
{
    if (!removable(l, pos))
        return false;
    for (uint32_t j = 0; j < l->shape.probes; j++)
        blm__counter_lower(l, pos[j]);
    return true;
}

enum deed { ADD, ADD_SHARED, CHECK, REMOVE };

/* Does it to every key, in order; out[i] is its answer. Returns how many were yes. */
static size_t each(struct blm__layer *l, const struct blm__keys *k, uint8_t *out, enum deed deed)
{
    uint64_t pos[BLM__MAX_PROBES];
    size_t   count = 0, group = group_of(l->shape.probes);
    for (size_t at = 0; at < k->n; at += group) {
        size_t some = k->n - at < group ? k->n - at : group;
        fetch(l, k, at, some, pos);
        for (size_t i = 0; i < some; i++) {
            const uint64_t *p    = pos + i * l->shape.probes;
            count += out[at + i] = deed == CHECK    ? present(l, p)
                                   : deed == REMOVE ? lower_list(l, p)
                                                    : raise_list(l, p, deed == ADD_SHARED);
        }
    }
    return count;
}

static size_t add(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  uint8_t *fresh)
{
    size_t count = each(l, k, fresh, b->shared ? ADD_SHARED : ADD);
    blm__layer_count(l, (int64_t)k->n); /* every add counts, because every one can be taken back */
    return count;
}

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    struct blm__layer same = *l; /* which CHECK does not change */
    (void)b;
    return each(&same, k, maybe, CHECK);
}

static size_t remove_keys(const struct blm__body *b, struct blm__layer *l,
                          const struct blm__keys *k, uint8_t *gone)
{
    size_t count = each(l, k, gone, REMOVE);
    (void)b;
    blm__layer_uncount(l, count);
    return count;
}

static void put(struct blm__layer *l, uint64_t cell, unsigned value)
{
    unsigned shift      = (unsigned)(cell & 15) * 4;
    uint64_t v          = blm__le64(l->words[cell >> 4]);
    v                   = (v & ~((uint64_t)15 << shift)) | (uint64_t)value << shift;
    l->words[cell >> 4] = blm__le64(v);
}

static void fold(const struct blm__layer *from, uint64_t factor, struct blm__layer *to)
{
    bool strided = from->shape.scheme->fold == BLM__FOLD_STRIDED;
    for (uint64_t c = 0; c < from->shape.bits; c++) {
        unsigned v = blm__counter_get(from, c);
        if (v == 0)
            continue;
        uint64_t t   = strided ? c % to->shape.bits : c / factor;
        unsigned sum = blm__counter_get(to, t) + v;
        put(to, t, sum < BLM__COUNTER_MAX ? sum : BLM__COUNTER_MAX);
    }
}

static void reduced(struct blm__shape *s)
{
    s->kind      = BLM_CLASSIC;
    s->cell_bits = 1;
}

const struct blm__engine blm__engine_tallies = {
    .name      = "tallies",
    .rule      = BLM__POSITIONS,
    .kinds     = 1u << BLM_COUNTING,
    .add       = add,
    .check     = check,
    .remove    = remove_keys,
    .positions = blm__positions_list,
    .rate_now  = blm__fill_rate_now,
    .rate_at   = blm__scheme_rate_at,
    .fold      = fold,
    .reduced   = reduced,
    BLM__COUNTERS_ENGINE,
};
