/* SPDX-License-Identifier: MIT */
/*
 * A batch of keys in all layers of a chain of steps at once.
 *
 * Most keys are not in most layers, and their first bits say so. So keys are screened, eight to a
 * vector, by their first positions in each layer, and only those that pass have the rest worked out.
 * Blocks of eight come, are asked and leave: a block's first lines in the large layers are on their
 * way while the block before it is screened in the small ones, and the lines of keys that passed, or
 * are added, one block later.
 *
 * Lines are asked for into the second cache. The first keeps some twenty lines on their way, the
 * second many more: of 40 MB a line took 4.0 ns, and 8.5 to 10 ns into the first, for reading or for
 * writing, on a processor of the Zen 4 family. In a chain of 12 layers and 40 MB, 100 new keys took
 * 36 µs layer by layer and 20 here, and looking for 100 of which half are there 20 and 12.
 *
 * Positions are followed as remainders of 32 bits: a mod m and b mod m once, then an addition and
 * a subtraction a step. Where a + i·b wraps, which is the same in every layer, b mod m gives way to
 * (b − 2^64) mod m.
 */
#include <string.h>

#include "core/kernel/steps.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/avx2_modulus.h"

#define LANES   8u
#define NEAR    16u /* small layers at once */
#define FAR     8u  /* large ones */
#define PROBES  32u /* of a layer */
#define FIRST   4u  /* that keys are screened by: in a small layer … */
#define FETCHED 3u  /* … and in a large one */

BLM__AVX2_INLINE __m256i wide(uint64_t v) { return _mm256_set1_epi64x((long long)v); }
BLM__AVX2_INLINE __m256i sum(__m256i a, __m256i b) { return _mm256_add_epi64(a, b); }
BLM__AVX2_INLINE __m256i both(__m256i even, __m256i odd)
{
    return _mm256_blend_epi32(even, odd, 0xaa);
}

/* ---- eight keys ---- */

struct eight {
    __m256i start[2], step[2]; /* of keys 0, 2, 4, 6 and of 1, 3, 5, 7 */
    __m256i wrapped[PROBES];   /* where a + (i + 1)·b wraps */
};

/* For layers of up to k probes. */
BLM__AVX2_INLINE void eight_of(struct eight *e, const uint64_t *a, const uint64_t *b, uint32_t k)
{
    const __m256i sign = wide((uint64_t)1 << 63);
    blm__avx2_apart(a, e->start);
    blm__avx2_apart(b, e->step);
    /* Compared as signed numbers: both with their top bit turned. */
    const __m256i limit[2] = { _mm256_xor_si256(e->step[0], sign),
                               _mm256_xor_si256(e->step[1], sign) };
    __m256i c[2] = { _mm256_xor_si256(e->start[0], sign), _mm256_xor_si256(e->start[1], sign) };
    for (uint32_t i = 0; i + 1 < k; i++) {
        c[0] = sum(c[0], e->step[0]);
        c[1] = sum(c[1], e->step[1]);
        e->wrapped[i] =
            both(_mm256_cmpgt_epi64(limit[0], c[0]), _mm256_cmpgt_epi64(limit[1], c[1]));
    }
}

/* Position j of key i at pos[8j + i]. */
BLM__AVX2_INLINE void list(const struct blm__avx2_modulus *d, const struct eight *e, uint32_t k,
                           uint32_t *pos)
{
    __m256i at = blm__avx2_remainder8(d, e->start), by = blm__avx2_remainder8(d, e->step);
    __m256i less = _mm256_sub_epi32(by, d->wrap);
    less         = _mm256_min_epu32(less, _mm256_add_epi32(less, d->m32));
    _mm256_storeu_si256((void *)pos, at);
    BLM__UNROLL_8
    for (uint32_t i = 1; i < k; i++) {
        at = _mm256_add_epi32(at, _mm256_blendv_epi8(by, less, e->wrapped[i - 1]));
        at = _mm256_min_epu32(at, _mm256_sub_epi32(at, d->m32));
        _mm256_storeu_si256((void *)(pos + (size_t)LANES * i), at);
    }
}

BLM__AVX2_INLINE uint64_t bits_at(const uint64_t *words, const uint32_t *pos, uint32_t k)
{
    uint64_t all = 1;
    BLM__UNROLL_8
    for (uint32_t i = 0; i < k; i++)
        all &= blm__load(&words[pos[LANES * i] >> 6]) >> (pos[LANES * i] & 63);
    return all;
}

/* ---- a chain, and eight keys on their way through it ---- */

struct place {
    const struct blm__layer *layer;
    struct blm__avx2_modulus d;
};

struct chain {
    struct place near[NEAR], far[FAR];
    unsigned     nears, fars;
    struct place to;   /* where keys are added; no layer: they are only looked for */
    uint32_t     most; /* probes of any of them */
};

struct block {
    struct eight e;
    size_t       key, n; /* the first, and how many */
    uint32_t     first[FAR][FETCHED * LANES], rest[FAR][PROBES * LANES], to[PROBES * LANES];
    unsigned     passed[FAR];            /* keys as bits: those with all first bits set … */
    uint16_t     kept[NEAR * LANES + 1]; /* … and, 8 · layer + key, of the small layers */
    unsigned     left;                   /* of kept */
};

BLM__AVX2_INLINE void come(const struct chain *c, struct block *s)
{
    for (unsigned t = 0; t < c->fars; t++) {
        const uint64_t *words = c->far[t].layer->words;
        list(&c->far[t].d, &s->e, FETCHED, s->first[t]);
        for (size_t i = 0; i < FETCHED * LANES; i++)
            BLM__PREFETCH(&words[s->first[t][i] >> 6]);
    }
    if (c->to.layer)
        list(&c->to.d, &s->e, c->to.layer->shape.probes, s->to);
}

/* In a large layer, by the lines that have come. */
BLM__AVX2_INLINE void ask_far(const struct place *p, struct block *s, unsigned layer)
{
    const uint64_t *words  = p->layer->words;
    const uint32_t  k      = p->layer->shape.probes;
    unsigned        passed = 0;
    BLM__UNROLL_8
    for (unsigned i = 0; i < LANES; i++)
        passed |= (unsigned)(bits_at(words, s->first[layer] + i, FETCHED) & 1) << i;
    s->passed[layer] = passed &= (1u << s->n) - 1;
    if (passed)
        list(&p->d, &s->e, k, s->rest[layer]);
    for (; passed; passed &= passed - 1) {
        const uint32_t *pos = s->rest[layer] + (unsigned)__builtin_ctz(passed);
        for (uint32_t i = FETCHED; i < k; i++)
            BLM__PREFETCH(&words[pos[(size_t)LANES * i] >> 6]);
    }
}

/* In a small layer. No branch on what is found. */
BLM__AVX2_INLINE void ask_near(const struct place *p, struct block *s, unsigned layer)
{
    uint32_t pos[FIRST * LANES];
    list(&p->d, &s->e, FIRST, pos);
    BLM__UNROLL_8
    for (unsigned i = 0; i < LANES; i++) {
        s->kept[s->left] = (uint16_t)(layer * LANES + i);
        s->left += (unsigned)bits_at(p->layer->words, pos + i, FIRST) & 1;
    }
}

BLM__AVX2_INLINE void be_asked(const struct chain *c, struct block *s)
{
    s->left = 0;
    for (unsigned t = 0; t < c->fars; t++)
        ask_far(&c->far[t], s, t);
    for (unsigned t = 0; t < c->nears; t++)
        ask_near(&c->near[t], s, t);
}

/* a, b and maybe are the block's. */
BLM__AVX2_INLINE void leave(const struct chain *c, const struct block *s, const uint64_t *a,
                            const uint64_t *b, uint8_t *maybe)
{
    for (unsigned t = 0; t < c->fars; t++) {
        const struct blm__layer *l = c->far[t].layer;
        for (unsigned passed = s->passed[t]; passed; passed &= passed - 1) {
            const unsigned i = (unsigned)__builtin_ctz(passed);
            maybe[i] |= (uint8_t)(bits_at(l->words, s->rest[t] + FETCHED * LANES + i,
                                          l->shape.probes - FETCHED) &
                                  1);
        }
    }
    for (unsigned i = 0; i < s->left; i++) {
        const unsigned key = s->kept[i] % LANES;
        if (key < s->n && !maybe[key])
            maybe[key] = blm__steps_check_one(c->near[s->kept[i] / LANES].layer, a[key], b[key]);
    }
}

/* Sets the bits of a block's keys that no layer has, and asks for those of the next block (NULL:
 * there is none), by turns. */
BLM__AVX2_INLINE void set(const struct place *p, const struct block *next, const struct block *due,
                          const uint8_t *maybe, uint8_t *fresh)
{
    uint64_t      *words = p->layer->words;
    const uint32_t k     = p->layer->shape.probes;
    for (size_t i = 0; i < LANES; i++) {
        const bool is_new = due && i < due->n && !maybe[i];
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
        if (due && i < due->n)
            fresh[i] = news != 0;
    }
}

BLM__AVX2_INLINE void block_of(struct block *s, const uint64_t *a, const uint64_t *b, size_t key,
                               size_t n, uint32_t most)
{
    s->key = key;
    s->n   = n < LANES ? n : LANES;
    if (BLM__LIKELY(n >= LANES)) {
        eight_of(&s->e, a + key, b + key, most);
        return;
    }
    uint64_t last[2][LANES] = { { 0 }, { 0 } };
    memcpy(last[0], a + key, n * sizeof *a);
    memcpy(last[1], b + key, n * sizeof *b);
    eight_of(&s->e, last[0], last[1], most);
}

/* Keys are looked for, or those that have no 1 in maybe are added too. */
BLM__AVX2 static void run(const struct chain *c, const uint64_t *a, const uint64_t *b, size_t n,
                          uint8_t *maybe, uint8_t *fresh)
{
    struct block ring[3];
    const size_t blocks = (n + LANES - 1) / LANES;
    for (size_t i = 0; i < blocks + 2; i++) {
        struct block *in  = i < blocks ? &ring[i % 3] : NULL;
        struct block *mid = i >= 1 && i <= blocks ? &ring[(i - 1) % 3] : NULL;
        struct block *out = i >= 2 ? &ring[(i - 2) % 3] : NULL;
        const size_t  at  = out ? out->key : 0;
        if (in) {
            block_of(in, a, b, i * LANES, n - i * LANES, c->most);
            come(c, in);
        }
        if (mid)
            be_asked(c, mid);
        if (out)
            leave(c, out, a + at, b + at, maybe + at);
        if (c->to.layer)
            set(&c->to, mid, out, maybe + at, fresh + at);
    }
}

/* ---- any chain ---- */

static bool fits(const struct blm__layer *l)
{
    return l->steps.spare == 0 && l->steps.m <= BLM__STEPS_NARROW && l->shape.probes >= FIRST &&
           l->shape.probes <= PROBES;
}

BLM__AVX2 static void put(struct chain *c, struct place *p, const struct blm__layer *l)
{
    p->layer = l;
    p->d     = blm__avx2_modulus_of(&l->steps);
    c->most  = l->shape.probes > c->most ? l->shape.probes : c->most;
}

static void begin(struct chain *c, uint8_t *maybe, size_t n)
{
    c->nears = c->fars = 0;
    c->to.layer        = NULL;
    c->most            = FIRST;
    memset(maybe, 0, n);
}

/* The large layers first, which have most keys. Only what is in none of them is looked for in the
 * small ones. */
static void run_check(struct chain *c, const uint64_t *a, const uint64_t *b, size_t n,
                      uint8_t *maybe)
{
    uint64_t       start[BLM__BATCH], step[BLM__BATCH];
    uint16_t       at[BLM__BATCH];
    uint8_t        has[BLM__BATCH] = { 0 };
    const unsigned nears           = c->nears;
    size_t         left            = 0;
    c->nears                       = 0;
    if (c->fars)
        run(c, a, b, n, maybe, NULL);
    c->fars  = 0;
    c->nears = nears;
    for (size_t i = 0; i < n; i++) {
        start[left] = a[i];
        step[left]  = b[i];
        at[left]    = (uint16_t)i;
        left += !maybe[i];
    }
    if (nears)
        run(c, start, step, left, has, NULL);
    for (size_t i = 0; i < left; i++)
        maybe[at[i]] = has[i];
}

/* Puts the layers but `without` into the chain. Those that do not fit, or for which there is no
 * place, are asked at once. */
static void gather(struct chain *c, const struct blm__layer *layers, uint32_t count,
                   uint32_t without, const uint64_t *a, const uint64_t *b, size_t n, uint8_t *maybe)
{
    uint8_t has[BLM__BATCH];
    for (uint32_t i = count; i-- > 0;) {
        const struct blm__layer *l = &layers[i];
        if (i == without)
            continue;
        if (!fits(l)) {
            blm__steps_check_each(&blm__stepper_avx2, l, 1, 1, a, b, n, has);
            for (size_t j = 0; j < n; j++)
                maybe[j] |= has[j];
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
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += answer[i];
    return sum;
}

size_t blm__steps_check_chain_avx2(const struct blm__layer *layers, uint32_t count,
                                   uint32_t without, const uint64_t *a, const uint64_t *b, size_t n,
                                   uint8_t *maybe)
{
    struct chain c;
    if (n < LANES)
        return blm__steps_check_each(&blm__stepper_avx2, layers, count, without, a, b, n, maybe);
    begin(&c, maybe, n);
    gather(&c, layers, count, without, a, b, n, maybe);
    run_check(&c, a, b, n, maybe);
    return ones(maybe, n);
}

size_t blm__steps_add_chain_avx2(struct blm__layer *layers, uint32_t count, uint32_t to,
                                 const uint64_t *a, const uint64_t *b, size_t n, uint8_t *fresh)
{
    struct chain c;
    uint8_t      maybe[BLM__BATCH];
    if (n < LANES || !fits(&layers[to]))
        return blm__steps_add_each(&blm__stepper_avx2, layers, count, to, a, b, n, fresh);
    begin(&c, maybe, n);
    gather(&c, layers, count, to, a, b, n, maybe);
    put(&c, &c.to, &layers[to]);
    run(&c, a, b, n, maybe, fresh);
    return ones(fresh, n);
}
#endif
