/* SPDX-License-Identifier: MIT */
/*
 * Counting: four-bit counters instead of bits, so that a key can be taken back. A counter that
 * reaches 15 stays there for ever: it may stand for more keys than it can say, and lowering it
 * could lose one. At the best k and full load a counter passes 15 with chance about 1.4e-15.
 *
 * Native counters stand in lines of 64 bytes, and a key's in one of them (strict rates: several),
 * which costs one memory access instead of k: core/kernel/counters.h. Other schemes' stand where
 * their positions say. Both are a list that may name a counter twice; add and remove both go
 * through the list, so they agree.
 */
#include "bloomery/maths.h"
#include "core/kernel/counters.h"
#include "kind/kind.h"
#include "maths/plan.h"
#include "scheme/scheme.h"

#define LOW  0x1111111111111111u /* lowest bit of each counter */
#define EVEN 0x0f0f0f0f0f0f0f0fu /* every other counter, with room to add */

static blm_status plan(const blm_options *o, blm_plan *out, blm_error *err)
{
    return blm__plan_counters(o, out, err);
}

static void shape(const blm_options *o, const blm_plan *p, struct blm_body *b,
                  struct blm_shape *out)
{
    (void)o;
    (void)b;
    out->engine     = BLM__SHORT;
    out->bits       = p->bits;
    out->line_count = p->bits / BLM__SHORT_CELLS;
    out->lines      = p->lines;
    out->probes     = p->probes / p->lines;
    out->cell_bits  = 4;
}

/* A word of sixteen; others may be adding to it. */
static uint64_t counters(const struct blm_layer *l, uint64_t word)
{
    return blm__le64(blm__load(&l->words[word]));
}

static unsigned get(const struct blm_layer *l, uint64_t cell)
{
    return (unsigned)(counters(l, cell >> 4) >> ((cell & 15) * 4)) & 15;
}

/* Up by one unless stuck; the value before. */
static unsigned raise(struct blm_layer *l, uint64_t cell, bool shared)
{
    uint64_t *w     = &l->words[cell >> 4];
    unsigned  shift = (unsigned)(cell & 15) * 4;
    uint64_t  seen  = blm__load(w);
    for (;;) {
        uint64_t v   = blm__le64(seen);
        unsigned old = (unsigned)(v >> shift) & 15;
        if (old == BLM__COUNTER_MAX)
            return old;
        if (l->marks)
            blm__mark(l, cell >> 4);
        uint64_t next = blm__le64(v + ((uint64_t)1 << shift));
        if (!shared) {
            *w = next;
            return old;
        }
        if (__atomic_compare_exchange_n(w, &seen, next, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
            if (l->marks)
                blm__mark(l, cell >> 4); /* again, for a sync that ran meanwhile */
            return old;
        }
    }
}

unsigned blm__counter_raise(struct blm_layer *l, uint64_t cell, bool shared)
{
    return raise(l, cell, shared);
}

static void lower(struct blm_layer *l, uint64_t cell)
{
    uint64_t *w     = &l->words[cell >> 4];
    unsigned  shift = (unsigned)(cell & 15) * 4;
    uint64_t  v     = blm__le64(*w);
    if ((v >> shift & 15) == BLM__COUNTER_MAX)
        return;
    if (l->marks)
        blm__mark(l, cell >> 4);
    *w = blm__le64(v - ((uint64_t)1 << shift));
}

/* ---- counters of another scheme ---- */

/* Keys are taken in groups, as in kind/bits.c: their counters are fetched before they are used. */
static size_t group_of(uint32_t k)
{
    size_t fit = BLM__MAX_PROBES / k;
    return fit < 32 ? fit : 32;
}

static void fetch(const struct blm_layer *l, const blm_digest *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t *p = pos + i * l->shape.probes;
        l->shape.scheme->positions(&l->shape, &d[i], p);
        for (uint32_t j = 0; j < l->shape.probes; j++)
            BLM__PREFETCH(&l->words[p[j] >> 4]);
    }
}

static bool raise_list(struct blm_layer *l, const uint64_t *pos, bool shared)
{
    unsigned is_new = 0;
    for (uint32_t j = 0; j < l->shape.probes; j++)
        is_new |= raise(l, pos[j], shared) == 0;
    return is_new != 0;
}

static bool present(const struct blm_layer *l, const uint64_t *pos)
{
    for (uint32_t j = 0; j < l->shape.probes; j++)
        if (get(l, pos[j]) == 0)
            return false;
    return true;
}

/* Had this key been added, each of its counters would be at least as high as the key names it. */
static bool removable(const struct blm_layer *l, const uint64_t *pos)
{
    for (uint32_t j = 0; j < l->shape.probes; j++) {
        unsigned named = 0;
        for (uint32_t i = 0; i < l->shape.probes; i++)
            named += pos[i] == pos[j];
        if (get(l, pos[j]) < (named < BLM__COUNTER_MAX ? named : BLM__COUNTER_MAX))
            return false;
    }
    return true;
}

static bool lower_list(struct blm_layer *l, const uint64_t *pos)
{
    if (!removable(l, pos))
        return false;
    for (uint32_t j = 0; j < l->shape.probes; j++)
        lower(l, pos[j]);
    return true;
}

enum deed { ADD, ADD_SHARED, CHECK, REMOVE };

/* Does it to every key, in order; out[i] is its answer. Returns how many were yes. */
static size_t each_list(struct blm_layer *l, const blm_digest *d, size_t n, uint8_t *out,
                        enum deed deed)
{
    uint64_t pos[BLM__MAX_PROBES];
    size_t   count = 0, group = group_of(l->shape.probes);
    for (size_t at = 0; at < n; at += group) {
        size_t some = n - at < group ? n - at : group;
        fetch(l, d + at, some, pos);
        for (size_t i = 0; i < some; i++) {
            const uint64_t *p    = pos + i * l->shape.probes;
            count += out[at + i] = deed == CHECK    ? present(l, p)
                                   : deed == REMOVE ? lower_list(l, p)
                                                    : raise_list(l, p, deed == ADD_SHARED);
        }
    }
    return count;
}

/* ---- the kind ---- */

static blm_status add(struct blm_body *b, const struct blm_batch *k, uint8_t *fresh, size_t *done)
{
    struct blm_layer *l = &b->layers[0];
    if (k->d)
        each_list(l, k->d, k->n, fresh, b->shared ? ADD_SHARED : ADD);
    else
        (b->shared ? blm__counters_add_shared : blm__counters_of(b->kernel)->add)(l, k->h, k->n,
                                                                                  fresh);
    blm__layer_count(l, (int64_t)k->n);
    *done = k->n;
    return BLM_OK;
}

static size_t check(const struct blm_body *b, const struct blm_batch *k, uint8_t *maybe)
{
    struct blm_layer *l = &b->layers[0]; /* which CHECK does not change */
    return k->d ? each_list(l, k->d, k->n, maybe, CHECK)
                : blm__counters_of(b->kernel)->check(l, k->h, k->n, maybe);
}

static bool check_one(const struct blm_body *b, uint64_t h)
{
    uint8_t maybe;
    return blm__counters_of(b->kernel)->check(&b->layers[0], &h, 1, &maybe) != 0;
}

static size_t remove_keys(struct blm_body *b, const struct blm_batch *k, uint8_t *gone)
{
    struct blm_layer *l     = &b->layers[0];
    size_t            count = k->d ? each_list(l, k->d, k->n, gone, REMOVE)
                                   : blm__counters_of(b->kernel)->remove(l, k->h, k->n, gone);
    uint64_t          items = blm__layer_items(l);
    blm__layer_count(l, -(int64_t)(count < items ? count : items));
    return count;
}

/* ---- two filters: counters side by side, eight at a time ---- */

static uint64_t add_half(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b, over = sum >> 4 & 0x0101010101010101u;
    return (sum | over * 15) & EVEN;
}
static uint64_t add_sixteen(uint64_t a, uint64_t b)
{
    return add_half(a & EVEN, b & EVEN) | add_half(a >> 4 & EVEN, b >> 4 & EVEN) << 4;
}
static uint64_t min_half(uint64_t a, uint64_t b)
{
    uint64_t a_not_less = ((a + 0x1010101010101010u - b) >> 4 & 0x0101010101010101u) * 15;
    return (b & a_not_less) | (a & ~a_not_less);
}
static uint64_t min_sixteen(uint64_t a, uint64_t b)
{
    return min_half(a & EVEN, b & EVEN) | min_half(a >> 4 & EVEN, b >> 4 & EVEN) << 4;
}

static void add_words(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] = blm__le64(add_sixteen(blm__le64(dst[i]), blm__le64(blm__load(&src[i]))));
}

static void min_words(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] = blm__le64(min_sixteen(blm__le64(dst[i]), blm__le64(blm__load(&src[i]))));
}

static blm_status unite(struct blm_body *dst, const struct blm_body *src, blm_error *err)
{
    blm_status st = blm__combine(dst, src, err, add_words);
    if (st == BLM_OK)
        blm__layer_count(&dst->layers[0], (int64_t)blm__layer_items(&src->layers[0]));
    return st;
}

static blm_status intersect(struct blm_body *dst, const struct blm_body *src, blm_error *err)
{
    blm_status st = blm__combine(dst, src, err, min_words);
    if (st != BLM_OK)
        return st;
    uint64_t mine = blm__layer_items(&dst->layers[0]), theirs = blm__layer_items(&src->layers[0]);
    if (theirs < mine)
        blm__layer_count(&dst->layers[0], -(int64_t)(mine - theirs));
    return BLM_OK;
}

static void put(struct blm_layer *l, uint64_t cell, unsigned value)
{
    unsigned shift      = (unsigned)(cell & 15) * 4;
    uint64_t v          = blm__le64(l->words[cell >> 4]);
    v                   = (v & ~((uint64_t)15 << shift)) | (uint64_t)value << shift;
    l->words[cell >> 4] = blm__le64(v);
}

static void fold(const struct blm_layer *from, uint64_t factor, struct blm_layer *to)
{
    if (from->shape.lines) { /* neighbouring lines meet, counter by counter */
        for (uint64_t i = 0; i < from->shape.line_count; i++)
            add_words(to->words + i / factor * BLM__LINE_WORDS, from->words + i * BLM__LINE_WORDS,
                      BLM__LINE_WORDS);
        return;
    }
    bool strided = from->shape.scheme->fold == BLM__FOLD_STRIDED;
    for (uint64_t c = 0; c < from->shape.bits; c++) {
        unsigned v = get(from, c);
        if (v == 0)
            continue;
        uint64_t t   = strided ? c % to->shape.bits : c / factor;
        unsigned sum = get(to, t) + v;
        put(to, t, sum < BLM__COUNTER_MAX ? sum : BLM__COUNTER_MAX);
    }
}

/* ---- numbers ---- */

static uint64_t non_zero(uint64_t w) { return (w | w >> 1 | w >> 2 | w >> 3) & LOW; }
static uint64_t all_set(uint64_t w) { return w & w >> 1 & w >> 2 & w >> 3 & LOW; }

uint64_t blm__counters_ones(const struct blm_layer *l)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < l->word_count; i++)
        sum += BLM__POPCOUNT64(non_zero(counters(l, i)));
    return sum;
}

uint64_t blm__counters_stuck(const struct blm_layer *l)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < l->word_count; i++)
        sum += BLM__POPCOUNT64(all_set(counters(l, i)));
    return sum;
}

void blm__counters_reduce(const struct blm_layer *from, struct blm_layer *to)
{
    for (uint64_t i = 0; i < from->word_count; i++) {
        uint64_t set = non_zero(counters(from, i)), bits = 0;
        for (unsigned c = 0; c < 16; c++)
            bits |= (set >> (4 * c) & 1) << c;
        to->words[i / 4] |= blm__le64(bits << (16 * (i % 4)));
    }
}

const struct blm_kind_ops blm__kind_counting = {
    .name   = "counting",
    .id     = BLM_COUNTING,
    .shares = true,
    .row    = { sizeof(blm_kind_row), BLM_COUNTING, "counting", "counters, so keys can be removed",
                BLM_CAN_ADD | BLM_CAN_SHARE | BLM_CAN_UNION | BLM_CAN_INTERSECT | BLM_CAN_FOLD |
                    BLM_CAN_COMPARE | BLM_CAN_REMOVE | BLM_CAN_REDUCE,
                4, BLM__MAX_SHORT },
    .plan   = plan,
    .shape  = shape,
    .add    = add,
    .check  = check,
    .check_one = check_one,
    .remove    = remove_keys,
    .unite     = unite,
    .intersect = intersect,
    .fold      = fold,
};
