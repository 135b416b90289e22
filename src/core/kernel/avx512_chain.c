/* SPDX-License-Identifier: MIT */
/*
 * A batch of keys in all layers of a chain of steps, sixteen keys to a vector. Remainders, wraps and
 * blocks on their way are those of avx2_chain.c. What is different:
 *
 * Bits are gathered, those of sixteen keys at once, and the keys that may still be there are the bits
 * of a mask.
 *
 * A large layer is asked in three parts: one bit of every key, three more of those that have it, and all
 * others of those that have these. A line costs more than the arithmetic: 5.4 ns each in 30 MB, in a
 * virtual machine whose pages of 2 MB are small ones to its host, since most are a walk through the
 * page tables. So a key that is not there should touch few, and lines are asked for a few at a time,
 * between other work.
 *
 * Keys that no large layer has wait until there are sixteen of them. They are looked for in the small
 * layers while the lines of other keys are on their way.
 *
 * In a chain of 12 layers and 39 MB, 100 keys of which half are there took 12.7 and
 * 10.7 µs (median and lower tenth) in avx2_chain.c and 11.3 and 8.6 here; 100 of which none is there 11.5
 * and 11.1, and 7.8 and 7.3.
 */
#include <string.h>

#include "core/kernel/steps.h"

#ifdef BLM__HAVE_AVX512
#include <immintrin.h>

#define AVX512_SET    "avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,popcnt"
#define AVX512        __attribute__((target(AVX512_SET)))
#define AVX512_INLINE static inline __attribute__((always_inline, target(AVX512_SET)))

#define LANES   16u
#define NEAR    16u                 /* small layers at once */
#define FAR     8u                  /* large ones */
#define PROBES  32u                 /* of a layer */
#define FIRST   4u                  /* that keys are screened by, in a small layer … */
#define FETCHED 1u                  /* … and in a large one, at first */
#define DRIP    3u                  /* lines that are asked for between two bits of small layers */
#define LARGEST ((uint64_t)5 << 28) /* m: below 2^32 / 3 */

AVX512_INLINE __m512i wide(uint64_t v) { return _mm512_set1_epi64((long long)v); }
AVX512_INLINE __m512i sum(__m512i a, __m512i b) { return _mm512_add_epi64(a, b); }
AVX512_INLINE __m512i high(__m512i v) { return _mm512_srli_epi64(v, 32); }
AVX512_INLINE __m512i product(__m512i a, __m512i b) { return _mm512_mul_epu32(a, b); }
AVX512_INLINE __m512i load(const void *p) { return _mm512_loadu_si512(p); }
AVX512_INLINE void    store(void *p, __m512i v) { _mm512_storeu_si512(p, v); }

/* ---- remainders: avx2_chain.c ---- */

struct modulus {
    uint64_t one, word; /* 1/m and 2^32/m, the fractions, in units of 2^-64 */
    uint64_t half, m;
    uint32_t m32, wrap; /* m, and 2^64 mod m */
};

static struct modulus modulus_of(const struct blm__steps *s)
{
    const uint64_t wrap = 0 - s->hi * s->m; /* 1 to m */
    return (struct modulus){ .one  = s->hi + (s->lo >> 63),
                             .word = (s->hi << 32 | s->lo >> 32) + (s->lo >> 31 & 1),
                             .half = (s->hi >> 1) + ((uint64_t)1 << 31),
                             .m    = s->m,
                             .m32  = (uint32_t)s->m,
                             .wrap = (uint32_t)(wrap == s->m ? 0 : wrap) };
}

/* In the upper halves. */
AVX512_INLINE __m512i remainder_of(const struct modulus *d, __m512i v)
{
    __m512i up   = high(v);
    __m512i low  = sum(product(v, wide(d->one)), product(up, wide(d->word)));
    __m512i top  = sum(product(v, wide(d->one >> 32)), product(up, wide(d->word >> 32)));
    __m512i turn = sum(sum(low, wide(d->half)), _mm512_slli_epi64(top, 32));
    return product(high(turn), wide(d->m));
}

/* ---- sixteen keys ---- */

struct sixteen {
    __m512i   start[2], step[2];
    __mmask16 wrapped[PROBES]; /* where a + (i + 1)·b wraps */
};

/* For layers of up to k probes. */
AVX512_INLINE void sixteen_of(struct sixteen *e, const uint64_t *a, const uint64_t *b, uint32_t k)
{
    __m512i c[2];
    for (unsigned h = 0; h < 2; h++) {
        c[h] = e->start[h] = load(a + 8 * h);
        e->step[h]         = load(b + 8 * h);
    }
    for (uint32_t i = 0; i + 1 < k; i++) {
        c[0]          = sum(c[0], e->step[0]);
        c[1]          = sum(c[1], e->step[1]);
        e->wrapped[i] = _mm512_kunpackb(_mm512_cmplt_epu64_mask(c[1], e->step[1]),
                                        _mm512_cmplt_epu64_mask(c[0], e->step[0]));
    }
}

AVX512_INLINE __m512i remainders(const struct modulus *d, const __m512i *v)
{
    const __m512i upper =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_epi32(remainder_of(d, v[0]), upper, remainder_of(d, v[1]));
}

/* Sixteen keys' walk through one layer. */
struct walk {
    __m512i at, by, less; /* the position; b mod m, and (b − 2^64) mod m */
};

AVX512_INLINE struct walk walk_of(const struct modulus *d, const struct sixteen *e)
{
    struct walk   w = { .at = remainders(d, e->start), .by = remainders(d, e->step) };
    const __m512i l = _mm512_sub_epi32(w.by, _mm512_set1_epi32((int)d->wrap));
    w.less          = _mm512_min_epu32(l, _mm512_add_epi32(l, _mm512_set1_epi32((int)d->m32)));
    return w;
}

AVX512_INLINE void walk_on(const struct modulus *d, struct walk *w, __mmask16 wrapped)
{
    w->at = _mm512_add_epi32(w->at, _mm512_mask_blend_epi32(wrapped, w->by, w->less));
    w->at = _mm512_min_epu32(w->at, _mm512_sub_epi32(w->at, _mm512_set1_epi32((int)d->m32)));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"

/* Which of these keys have their bit set. Words are bytes, so that halves of words will do. (Without an
 * optimiser gcc's gathers are macros, with conversions of their own.) */
AVX512_INLINE __mmask16 has(const uint64_t *words, __m512i at, __mmask16 keys)
{
    const __m512i one = _mm512_set1_epi32(1);
    __m512i       got = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), keys,
                                                    _mm512_srli_epi32(at, 5), words, 4);
    return _mm512_test_epi32_mask(got, _mm512_rolv_epi32(one, at)); /* by at mod 32 */
}
#pragma GCC diagnostic pop

/* ---- lines to be asked for ----
 *
 * What asks for many at once stands still until they are found, and what comes after it too. */

#define WAITING 256u

struct drip {
    size_t      at, end;
    const char *line[WAITING + LANES];
};

AVX512_INLINE void drip(struct drip *d, size_t n)
{
    const size_t stop = d->end - d->at < n ? d->end : d->at + n;
    for (; d->at < stop; d->at++)
        BLM__PREFETCH(d->line[d->at]);
}

AVX512_INLINE void drip_all(struct drip *d)
{
    drip(d, WAITING + LANES);
    d->at = d->end = 0;
}

/* The lines of these keys' bits. */
AVX512_INLINE void drip_later(struct drip *d, const uint64_t *words, __m512i at, __mmask16 keys)
{
    if (d->end > WAITING - LANES)
        drip_all(d);
    const __m512i  base = wide((uint64_t)(uintptr_t)words), byte = _mm512_srli_epi32(at, 3);
    const __mmask8 lo = (__mmask8)keys, hi = (__mmask8)(keys >> 8);
    __m512i        p = sum(base, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(byte)));
    __m512i        q = sum(base, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(byte, 1)));
    store(d->line + d->end, _mm512_maskz_compress_epi64(lo, p));
    d->end += BLM__POPCOUNT64(lo);
    store(d->line + d->end, _mm512_maskz_compress_epi64(hi, q));
    d->end += BLM__POPCOUNT64(hi);
}

/* ---- a chain, and a block of keys on its way through it ---- */

struct place {
    const struct blm__layer *layer;
    struct modulus           d;
};

struct chain {
    struct place near[NEAR], far[FAR];
    unsigned     nears, fars;
    struct place to;   /* where keys are added; no layer: they are only looked for */
    uint32_t     most; /* probes of any of them */
};

struct block {
    struct sixteen e;
    struct walk    walk[FAR];
    size_t         key;     /* the first */
    __mmask16      keys;    /* … and which there are */
    __mmask16      in[FAR]; /* those that a large layer may have, … */
    __mmask16      near[NEAR];
    __mmask16      found; /* … and those that some layer has */
    uint32_t       pos[FAR][FIRST * LANES], to[PROBES * LANES];
};

/* Lists positions from … to − 1 of the keys that are in, and asks for their lines. */
AVX512_INLINE void list(const struct place *p, struct block *s, unsigned layer, uint32_t from,
                        uint32_t to, struct drip *d)
{
    struct walk    *w  = &s->walk[layer];
    const __mmask16 in = s->in[layer];
    for (uint32_t i = from; i < to; i++) {
        store(s->pos[layer] + (size_t)LANES * i, w->at);
        drip_later(d, p->layer->words, w->at, in);
        walk_on(&p->d, w, s->e.wrapped[i]);
    }
}

/* Keeps the keys that have these bits. */
AVX512_INLINE void keep(const struct place *p, struct block *s, unsigned layer, uint32_t from,
                        uint32_t to)
{
    const __mmask16 in = s->in[layer];
    for (uint32_t i = from; i < to; i++)
        s->in[layer] &= has(p->layer->words, load(s->pos[layer] + (size_t)LANES * i), in);
}

AVX512_INLINE void come(const struct chain *c, struct block *s, struct drip *d)
{
    for (unsigned t = 0; t < c->fars; t++) {
        s->in[t]   = s->keys;
        s->walk[t] = walk_of(&c->far[t].d, &s->e);
        list(&c->far[t], s, t, 0, FETCHED, d);
    }
    if (c->to.layer) {
        struct walk w = walk_of(&c->to.d, &s->e);
        for (uint32_t i = 0; i < c->to.layer->shape.probes; i++) {
            store(s->to + (size_t)LANES * i, w.at);
            walk_on(&c->to.d, &w, s->e.wrapped[i]);
        }
    }
}

/* The large layers, by the first lines. */
AVX512_INLINE void be_asked(const struct chain *c, struct block *s, struct drip *d)
{
    for (unsigned t = 0; t < c->fars; t++) {
        keep(&c->far[t], s, t, 0, FETCHED);
        if (s->in[t])
            list(&c->far[t], s, t, FETCHED, FIRST, d);
    }
}

/* … by the next ones, and whoever is in then by all others, whose lines are only asked for by that: most
 * have them all, and the processor goes on to the next bits while it waits for one. */
AVX512_INLINE void leave(const struct chain *c, struct block *s)
{
    for (unsigned t = 0; t < c->fars; t++) {
        const struct blm__layer *l = c->far[t].layer;
        struct walk              w = s->walk[t];
        if (s->in[t])
            keep(&c->far[t], s, t, FETCHED, FIRST);
        const __mmask16 in = s->in[t];
        for (uint32_t i = FIRST; in && i < l->shape.probes; i++) {
            s->in[t] &= has(l->words, w.at, in);
            walk_on(&c->far[t].d, &w, s->e.wrapped[i]);
        }
        s->found |= s->in[t];
    }
}

/* Those of the keys that a small layer may have, by their first bits. No branch on what is found. */
AVX512_INLINE __mmask16 ask_near(const struct place *p, const struct sixteen *e, __mmask16 keys,
                                 struct drip *d)
{
    const uint64_t *words = p->layer->words;
    struct walk     w     = walk_of(&p->d, e);
    __mmask16       in    = keys;
    BLM__UNROLL_8
    for (uint32_t i = 0; i < FIRST; i++) {
        in &= has(words, w.at, i < 2 ? keys : in);
        walk_on(&p->d, &w, e->wrapped[i]);
        drip(d, DRIP);
    }
    return in;
}

/* Those that a small layer has, of the few that passed. */
static __mmask16 confirm(const struct blm__layer *l, unsigned in, const uint64_t *a,
                         const uint64_t *b)
{
    unsigned there = 0;
    for (; in; in &= in - 1) {
        const unsigned i = (unsigned)__builtin_ctz(in);
        there |= (unsigned)blm__steps_check_one(l, a[i], b[i]) << i;
    }
    return (__mmask16)there;
}

/* Fewer than sixteen are filled up with zeroes. */
AVX512_INLINE void block_of(struct block *s, const uint64_t *a, const uint64_t *b, size_t key,
                            size_t n, uint32_t most)
{
    s->key   = key;
    s->found = 0;
    s->keys  = (__mmask16)(n < LANES ? (1u << n) - 1 : 0xffff);
    if (BLM__LIKELY(n >= LANES)) {
        sixteen_of(&s->e, a + key, b + key, most);
        return;
    }
    uint64_t last[2][LANES] = { { 0 }, { 0 } };
    memcpy(last[0], a + key, n * sizeof *a);
    memcpy(last[1], b + key, n * sizeof *b);
    sixteen_of(&s->e, last[0], last[1], most);
}

/* ---- looking for keys ---- */

/* Keys that no large layer has. */
struct waiting {
    uint64_t a[3 * LANES], b[3 * LANES];
    uint32_t at[3 * LANES];
    unsigned n;
};

AVX512_INLINE void wait_for_more(struct waiting *w, const struct block *s)
{
    const __mmask16 in = (__mmask16)(s->keys & ~s->found);
    const __mmask8  lo = (__mmask8)in, hi = (__mmask8)(in >> 8);
    const unsigned  n = w->n, half = n + BLM__POPCOUNT64(lo);
    const __m512i   at =
        _mm512_add_epi32(_mm512_set1_epi32((int)s->key),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    store(w->a + n, _mm512_maskz_compress_epi64(lo, s->e.start[0]));
    store(w->b + n, _mm512_maskz_compress_epi64(lo, s->e.step[0]));
    store(w->a + half, _mm512_maskz_compress_epi64(hi, s->e.start[1]));
    store(w->b + half, _mm512_maskz_compress_epi64(hi, s->e.step[1]));
    store(w->at + n, _mm512_maskz_compress_epi32(in, at));
    w->n = half + BLM__POPCOUNT64(hi);
}

/* The small layers, for the first sixteen that wait. */
AVX512_INLINE void ask_waiting(const struct chain *c, struct waiting *w, uint8_t *maybe,
                               struct drip *d)
{
    struct sixteen  e;
    const unsigned  n    = w->n < LANES ? w->n : LANES;
    const __mmask16 keys = (__mmask16)((1u << n) - 1);
    __mmask16       in[NEAR];
    sixteen_of(&e, w->a, w->b, FIRST + 1);
    for (unsigned t = 0; t < c->nears; t++)
        in[t] = ask_near(&c->near[t], &e, keys, d);
    for (unsigned t = 0; t < c->nears; t++)
        for (unsigned left = confirm(c->near[t].layer, in[t], w->a, w->b); left; left &= left - 1)
            maybe[w->at[__builtin_ctz(left)]] = 1;
    w->n -= n;
    store(w->a, load(w->a + LANES));
    store(w->a + 8, load(w->a + LANES + 8));
    store(w->b, load(w->b + LANES));
    store(w->b + 8, load(w->b + LANES + 8));
    store(w->at, load(w->at + LANES));
}

AVX512 static void run_check(const struct chain *c, const uint64_t *a, const uint64_t *b, size_t n,
                             uint8_t *maybe)
{
    struct block   ring[3];
    struct waiting w;
    struct drip    d;
    const size_t   blocks = (n + LANES - 1) / LANES;
    w.n                   = 0;
    d.at = d.end = 0;
    for (size_t i = 0; i < blocks + 2; i++) {
        if (i < blocks) {
            block_of(&ring[i % 3], a, b, i * LANES, n - i * LANES, c->most);
            come(c, &ring[i % 3], &d);
        }
        if (i >= 1 && i - 1 < blocks)
            be_asked(c, &ring[(i - 1) % 3], &d);
        if (w.n >= LANES)
            ask_waiting(c, &w, maybe, &d);
        drip_all(&d);
        if (i >= 2) {
            struct block *s = &ring[(i - 2) % 3];
            leave(c, s);
            for (unsigned found = s->found; found; found &= found - 1)
                maybe[s->key + (unsigned)__builtin_ctz(found)] = 1;
            wait_for_more(&w, s);
        }
    }
    while (w.n)
        ask_waiting(c, &w, maybe, &d);
}

/* ---- adding ---- */

/* Sets the bits of a block's keys that no layer has, and asks for those of the next block (NULL:
 * there is none), by turns. */
AVX512_INLINE void set(const struct place *p, const struct block *next, const struct block *due,
                       uint8_t *fresh)
{
    uint64_t      *words = p->layer->words;
    const uint32_t k     = p->layer->shape.probes;
    for (size_t i = 0; i < LANES; i++) {
        const bool is_new = due && due->keys >> i & ~due->found >> i & 1;
        uint64_t   news   = 0;
        for (size_t j = i; j < (size_t)LANES * k; j += LANES) {
            if (next)
                BLM__PREFETCH(&words[next->to[j] >> 6]);
            if (is_new) {
                uint64_t *at = &words[due->to[j] >> 6], mask = (uint64_t)1 << (due->to[j] & 63);
                news |= ~*at & mask;
                *at |= mask;
            }
        }
        if (due && due->keys >> i & 1)
            fresh[i] = news != 0;
    }
}

AVX512 static void run_add(const struct chain *c, const uint64_t *a, const uint64_t *b, size_t n,
                           const uint8_t *maybe, uint8_t *fresh)
{
    struct block ring[3];
    struct drip  d;
    const size_t blocks = (n + LANES - 1) / LANES;
    d.at = d.end = 0;
    for (size_t i = 0; i < blocks + 2; i++) {
        struct block *mid = i >= 1 && i - 1 < blocks ? &ring[(i - 1) % 3] : NULL;
        struct block *out = i >= 2 ? &ring[(i - 2) % 3] : NULL;
        if (i < blocks) {
            block_of(&ring[i % 3], a, b, i * LANES, n - i * LANES, c->most);
            come(c, &ring[i % 3], &d);
        }
        if (mid) {
            be_asked(c, mid, &d);
            for (unsigned t = 0; t < c->nears; t++)
                mid->near[t] = ask_near(&c->near[t], &mid->e, mid->keys, &d);
        }
        drip_all(&d);
        if (out) {
            leave(c, out);
            for (size_t j = 0; j < LANES && out->key + j < n; j++)
                out->found |= (__mmask16)((unsigned)maybe[out->key + j] << j);
            for (unsigned t = 0; t < c->nears; t++)
                out->found |= confirm(c->near[t].layer, out->near[t] & ~(unsigned)out->found,
                                      a + out->key, b + out->key);
        }
        set(&c->to, mid, out, out ? fresh + out->key : NULL);
    }
}

/* ---- any chain ---- */

static bool fits(const struct blm__layer *l)
{
    return l->steps.spare == 0 && l->steps.m <= LARGEST && l->shape.probes >= FIRST &&
           l->shape.probes <= PROBES;
}

static void put(struct chain *c, struct place *p, const struct blm__layer *l)
{
    p->layer = l;
    p->d     = modulus_of(&l->steps);
    c->most  = l->shape.probes > c->most ? l->shape.probes : c->most;
}

static void begin(struct chain *c, uint8_t *maybe, size_t n)
{
    c->nears = c->fars = 0;
    c->to.layer        = NULL;
    c->most            = FIRST;
    memset(maybe, 0, n);
}

/* Puts the layers but `without` into the chain. Those that do not fit, or for which there is no
 * place, are asked at once. */
static void gather(struct chain *c, const struct blm__layer *layers, uint32_t count,
                   uint32_t without, const uint64_t *a, const uint64_t *b, size_t n, uint8_t *maybe)
{
    uint8_t got[BLM__BATCH];
    for (uint32_t i = count; i-- > 0;) {
        const struct blm__layer *l = &layers[i];
        if (i == without)
            continue;
        if (!fits(l)) {
            blm__steps_check_each(&blm__stepper_avx2, l, 1, 1, a, b, n, got);
            for (size_t j = 0; j < n; j++)
                maybe[j] |= got[j];
            continue;
        }
        if (c->nears == NEAR || c->fars == FAR) {
            run_check(c, a, b, n, maybe);
            c->nears = c->fars = 0;
        }
        put(c, blm__layer_small(l) ? &c->near[c->nears++] : &c->far[c->fars++], l);
    }
}

static size_t ones(const uint8_t *answer, size_t n)
{
    size_t s = 0;
    for (size_t i = 0; i < n; i++)
        s += answer[i];
    return s;
}

size_t blm__steps_check_chain_avx512(const struct blm__layer *layers, uint32_t count,
                                     uint32_t without, const uint64_t *a, const uint64_t *b,
                                     size_t n, uint8_t *maybe)
{
    struct chain c;
    if (n < LANES / 2)
        return blm__steps_check_each(&blm__stepper_avx2, layers, count, without, a, b, n, maybe);
    begin(&c, maybe, n);
    gather(&c, layers, count, without, a, b, n, maybe);
    run_check(&c, a, b, n, maybe);
    return ones(maybe, n);
}

size_t blm__steps_add_chain_avx512(struct blm__layer *layers, uint32_t count, uint32_t to,
                                   const uint64_t *a, const uint64_t *b, size_t n, uint8_t *fresh)
{
    struct chain c;
    uint8_t      maybe[BLM__BATCH];
    if (n < LANES / 2 || !fits(&layers[to]))
        return blm__steps_add_each(&blm__stepper_avx2, layers, count, to, a, b, n, fresh);
    begin(&c, maybe, n);
    gather(&c, layers, count, to, a, b, n, maybe);
    put(&c, &c.to, &layers[to]);
    run_add(&c, a, b, n, maybe, fresh);
    return ones(fresh, n);
}

#endif
