/* SPDX-License-Identifier: MIT */
/* Double hashing in plain C: the oracle for the vectors, and lone keys. */
#include <string.h>

#include "core/hash/murmur2.h"
#include "core/hash/murmur3.h"
#include "core/kernel/flow.h"
#include "core/kernel/hands.h"

/* ⌊(high·2^64 + 2^64 − 1) / m⌋ for high < m. */
static uint64_t divide(uint64_t high, uint64_t m)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)(((u128)high << 64 | UINT64_MAX) / m);
#else
    uint64_t q = 0;
    for (int i = 0; i < 64; i++) { /* m ≤ 2^48, so that high never overflows */
        high = high << 1 | 1;
        q    = q << 1 | (high >= m);
        high -= high >= m ? m : 0;
    }
    return q;
#endif
}

struct blm__steps blm__steps_of(uint64_t m, unsigned wrap)
{
    struct blm__steps s = { .m = m, .hi = UINT64_MAX / m, .spare = 64 - wrap };
    s.lo                = divide(UINT64_MAX % m, m);
    s.turn              = s.spare ? s.lo >> s.spare | s.hi << (64 - s.spare) : s.lo;
    return s;
}

unsigned blm__steps_add_one(struct blm__layer *l, uint64_t a, uint64_t b, bool shared)
{
    const struct blm__steps s     = l->steps;
    struct blm__turn        t     = blm__turn_first(&s, a, b);
    uint64_t                fresh = 0, *words = l->words;
    if (shared || l->marks) {
        for (uint32_t i = l->shape.probes; i; i--)
            fresh |= blm__bit_set(l, blm__turn_next(&s, &t), shared);
        return (unsigned)fresh;
    }
    if (!blm__layer_small(l)) {
        struct blm__turn u = t;
        for (uint32_t i = l->shape.probes; i; i--)
            BLM__PREFETCH_W(&words[blm__turn_next(&s, &u) >> 6]);
    }
    for (uint32_t i = l->shape.probes; i; i--) {
        uint64_t pos = blm__turn_next(&s, &t), mask = blm__le64((uint64_t)1 << (pos & 63));
        uint64_t old = words[pos >> 6];
        fresh |= ~old & mask;
        words[pos >> 6] = old | mask;
    }
    return fresh != 0;
}

/* The bit, below others. */
static inline uint64_t bit_at(const uint64_t *words, uint64_t pos)
{
    return blm__le64(blm__load(&words[pos >> 6])) >> (pos & 63);
}

/* Four at a time without a branch, as in loops.h. */
bool blm__steps_check_one(const struct blm__layer *l, uint64_t a, uint64_t b)
{
    const uint64_t         *words = l->words;
    const struct blm__steps s     = l->steps;
    struct blm__turn        t     = blm__turn_first(&s, a, b);
    uint64_t                all   = 1; /* but for this bit, what is in it means nothing */
    uint32_t                k     = l->shape.probes;
    for (; k >= 4; k -= 4) {
        BLM__UNROLL_8
        for (unsigned i = 0; i < 4; i++)
            all &= bit_at(words, blm__turn_next(&s, &t));
        if (!(all & 1))
            return false;
    }
    for (; k; k--)
        all &= bit_at(words, blm__turn_next(&s, &t));
    return all & 1;
}

static size_t add(struct blm__layer *l, const uint64_t *a, const uint64_t *b, size_t n,
                  uint8_t *fresh, bool shared)
{
    return blm__steps_add_loop(l, a, b, n, fresh, shared, blm__steps_list_plain);
}

static size_t check(const struct blm__layer *l, const uint64_t *a, const uint64_t *b, size_t n,
                    uint8_t *maybe)
{
    return blm__steps_check_loop(l, a, b, n, maybe, blm__steps_list_plain);
}

/* ---- chains, layer by layer ---- */

/* Keys that no layer has yet. */
struct open {
    uint64_t a[BLM__BATCH], b[BLM__BATCH];
    uint16_t at[BLM__BATCH]; /* in the batch */
    size_t   n;
};

static void open_all(struct open *o, const uint64_t *a, const uint64_t *b, size_t n)
{
    memcpy(o->a, a, n * sizeof *a);
    memcpy(o->b, b, n * sizeof *b);
    for (size_t i = 0; i < n; i++)
        o->at[i] = (uint16_t)i;
    o->n = n;
}

static void close_found(struct open *o, const uint8_t *has, uint8_t *maybe)
{
    size_t left = 0;
    for (size_t i = 0; i < o->n; i++) {
        o->a[left]  = o->a[i];
        o->b[left]  = o->b[i];
        o->at[left] = o->at[i];
        maybe[o->at[i]] |= has[i];
        left += !has[i];
    }
    o->n = left;
}

static void ask_each(const struct blm__stepper *v, const struct blm__layer *layers, uint32_t count,
                     uint32_t without, struct open *o, uint8_t *maybe)
{
    uint8_t has[BLM__BATCH];
    for (uint32_t i = count; i-- > 0 && o->n > 0;) { /* the newest has the most keys */
        const struct blm__layer *l = &layers[i];
        if (i == without)
            continue;
        if (l->shape.probes <= BLM__STEPS_MOST ? v->check(l, o->a, o->b, o->n, has)
                                               : blm__steps_check_alone(l, o->a, o->b, o->n, has))
            close_found(o, has, maybe);
    }
}

size_t blm__steps_check_each(const struct blm__stepper *v, const struct blm__layer *layers,
                             uint32_t count, uint32_t without, const uint64_t *a, const uint64_t *b,
                             size_t n, uint8_t *maybe)
{
    struct open o;
    open_all(&o, a, b, n);
    memset(maybe, 0, n);
    ask_each(v, layers, count, without, &o, maybe);
    return n - o.n;
}

size_t blm__steps_add_each(const struct blm__stepper *v, struct blm__layer *layers, uint32_t count,
                           uint32_t to, const uint64_t *a, const uint64_t *b, size_t n,
                           uint8_t *fresh)
{
    struct open o;
    uint8_t     has[BLM__BATCH];
    size_t      news = 0;
    open_all(&o, a, b, n);
    memset(fresh, 0, n);
    ask_each(v, layers, count, to, &o, fresh); /* for now: what some layer has */
    memset(fresh, 0, n);
    if (layers[to].shape.probes <= BLM__STEPS_MOST)
        news = o.n ? v->add(&layers[to], o.a, o.b, o.n, has, false) : 0;
    else
        for (size_t i = 0; i < o.n; i++)
            news += has[i] = (uint8_t)blm__steps_add_one(&layers[to], o.a[i], o.b[i], false);
    for (size_t i = 0; i < o.n; i++)
        fresh[o.at[i]] = has[i];
    return news;
}

static size_t check_chain(const struct blm__layer *layers, uint32_t count, uint32_t without,
                          const uint64_t *a, const uint64_t *b, size_t n, uint8_t *maybe)
{
    return blm__steps_check_each(&blm__stepper_portable, layers, count, without, a, b, n, maybe);
}

static size_t add_chain(struct blm__layer *layers, uint32_t count, uint32_t to, const uint64_t *a,
                        const uint64_t *b, size_t n, uint8_t *fresh)
{
    return blm__steps_add_each(&blm__stepper_portable, layers, count, to, a, b, n, fresh);
}

#ifdef BLOOMERY_WITHOUT_FLOW /* then src/api/flow.c is left out too: nobody asks for them */
#define check_flow NULL
#define add_flow   NULL
#else
static void check_flow(struct blm__steps_flow *w)
{
    blm__flow_check_loop(w, blm__steps_list_plain, 6);
}

static size_t add_flow(struct blm__steps_flow *w)
{
    return blm__flow_add_loop(w, blm__steps_list_plain, 6);
}
#endif

void blm__murmur_8(const uint8_t *keys, size_t n, uint64_t seed, uint64_t *start, uint64_t *step)
{
    const uint64_t len = 8 * BLM__MURMUR64A;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = blm__get64le(keys + 8 * i);
        start[i]      = blm__murmur64a_finish(blm__murmur64a_word(seed ^ len, word));
        step[i]       = blm__murmur64a_finish(blm__murmur64a_word(start[i] ^ len, word));
    }
}

/* A loop without a branch on each key's length. */
void blm__murmur3_8(const uint8_t *keys, size_t n, uint64_t *start, uint64_t *step)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t w[2] = { 0, 0 };
        blm__murmur3_finish(w, blm__get64le(keys + 8 * i), 0, 8);
        start[i] = w[0];
        step[i]  = w[1];
    }
}

bool blm__murmur4_none(const blm_key *k, uint64_t seed, uint64_t *start, uint64_t *step)
{
    (void)k;
    (void)seed;
    (void)start;
    (void)step;
    return false;
}

const struct blm__stepper blm__stepper_portable = {
    add,        check,    blm__hands_none,   blm__hands_never, check_chain,    add_chain,
    check_flow, add_flow, blm__murmur4_none, blm__murmur_8,    blm__murmur3_8,
};
