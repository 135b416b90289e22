/* SPDX-License-Identifier: MIT */
/*
 * Several layers at once, a line as two vectors: what layers.c does, bit for bit.
 *
 * Where every layer has one line a key (rates down to 2.5e-4 a layer) keys go through a ring, eight
 * taken a step, as in stream.h: x and the lines' places of all layers are made in vectors, far
 * lines are fetched, and 32 keys later a key's shifts are made once and each layer's line is tested
 * with them. Nothing branches on which layer has the key. One loop for each number of layers, so
 * that the layers' numbers stay in registers. 1e7 keys in three layers, Zen 3 (bench/kinds): 11 to
 * 12 ns a check, where one filter takes 4 to 5; masks with two vptest a layer (what stood here
 * before) took 19 in four layers.
 */
#include "core/kernel/layers.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/avx2_line.h"

#define AHEAD 16u
#define RING  64u /* more than BLM__AHEAD and a step */
#define MOST  6u  /* layers that go through the ring; more are asked key by key */

struct ring {
    _Alignas(64) uint64_t x[RING];
    _Alignas(64) uint64_t at[MOST + 1][RING]; /* bytes; the last: of the layer added to */
};

/* The layers in registers: through the pointer they would be loaded again after every answer. */
struct local {
    const uint64_t *words[MOST];
    uint64_t        count[MOST]; /* lines */
    const uint8_t  *needed[MOST];
    bool            far[MOST];
};

BLM__AVX2_INLINE struct local local_of(const struct blm__stack *s, unsigned count)
{
    struct local l;
    for (unsigned t = 0; t < count; t++) {
        l.words[t]  = s->layer[t].words;
        l.count[t]  = s->layer[t].line_count;
        l.needed[t] = blm__avx2_needed[s->layer[t].probes];
        l.far[t]    = s->layer[t].far;
    }
    return l;
}

/* ---- the ring ---- */

BLM__AVX2_INLINE void place8(__m256i a, __m256i b, uint64_t count, uint64_t *at)
{
    const __m256i m = _mm256_set1_epi64x((long long)count);
    _mm256_store_si256((void *)at, blm__avx2_offset4(a, m));
    _mm256_store_si256((void *)(at + 4), blm__avx2_offset4(b, m));
}

/* Eight hashes into the ring at `to`; mine: a layer that is to be changed, or NULL. */
BLM__AVX2_INLINE void take8(const struct local *s, unsigned count, const struct blm__layer *mine,
                            const uint64_t *h, struct ring *r, size_t to)
{
    const __m256i a = blm__avx2_load4(h), b = blm__avx2_load4(h + 4);
    _mm256_store_si256((void *)(r->x + to), blm__avx2_mul64(a, BLM__C));
    _mm256_store_si256((void *)(r->x + to + 4), blm__avx2_mul64(b, BLM__C));
    for (unsigned t = 0; t < count; t++)
        place8(a, b, s->count[t], r->at[t] + to);
    if (mine)
        place8(a, b, mine->shape.line_count, r->at[MOST] + to);
}

/* Asks for the lines of the key at j. */
BLM__AVX2_INLINE void fetch(const struct local *s, unsigned count, const struct blm__layer *mine,
                            const struct ring *r, size_t j)
{
    for (unsigned t = 0; t < count; t++)
        if (s->far[t])
            BLM__PREFETCH((const uint8_t *)s->words[t] + r->at[t][j]);
    if (mine)
        BLM__PREFETCH_W((uint8_t *)mine->words + r->at[MOST][j]);
}

/* Does one of the layers have the key at j? */
BLM__AVX2_INLINE unsigned has(const struct local *s, unsigned count, const struct ring *r, size_t j)
{
    const struct blm__avx2_shifts shifts = blm__avx2_shifts_of(r->x[j]);
    unsigned                      in     = 0;
    for (unsigned t = 0; t < count; t++) {
        const void *line = (const uint8_t *)s->words[t] + r->at[t][j];
        in |= (~blm__avx2_signs(line, shifts) & s->needed[t][r->x[j] >> 56]) == 0;
    }
    return in;
}

/* n: whole steps. */
BLM__AVX2_INLINE void check_steps(const struct blm__stack *s, unsigned count, const uint64_t *h,
                                  size_t n, uint8_t *maybe)
{
    const struct local layers = local_of(s, count);
    struct ring        r;
    for (size_t i = 0; i < n + BLM__AHEAD; i += BLM__STEP) {
        if (i < n)
            take8(&layers, count, NULL, h + i, &r, i % RING);
        if (i < BLM__AHEAD) {
            for (size_t q = 0; i < n && q < BLM__STEP; q++)
                fetch(&layers, count, NULL, &r, i % RING + q);
            continue;
        }
        for (size_t q = 0; q < BLM__STEP; q++) {
            if (i < n)
                fetch(&layers, count, NULL, &r, i % RING + q);
            maybe[i - BLM__AHEAD + q] =
                (uint8_t)has(&layers, count, &r, (i - BLM__AHEAD) % RING + q);
        }
    }
}

/* A key that another layer has uses no word of ours:
 * without a branch, which would be mispredicted. */
BLM__AVX2_INLINE void add_steps(const struct blm__stack *s, unsigned count, struct blm__layer *l,
                                const uint64_t *h, size_t n, uint8_t *fresh)
{
    const struct local layers = local_of(s, count);
    struct ring        r;
    for (size_t i = 0; i < n + BLM__AHEAD; i += BLM__STEP) {
        if (i < n)
            take8(&layers, count, l, h + i, &r, i % RING);
        if (i < BLM__AHEAD) {
            for (size_t q = 0; i < n && q < BLM__STEP; q++)
                fetch(&layers, count, l, &r, i % RING + q);
            continue;
        }
        for (size_t q = 0; q < BLM__STEP; q++) {
            if (i < n)
                fetch(&layers, count, l, &r, i % RING + q);
            size_t   j    = (i - BLM__AHEAD) % RING + q;
            uint32_t k    = l->shape.probes & ((uint32_t)has(&layers, count, &r, j) - 1);
            void    *line = (uint8_t *)l->words + r.at[MOST][j];
            fresh[i - BLM__AHEAD + q] = (uint8_t)blm__avx2_set(l, line, r.x[j], k, false);
        }
    }
}

/* Can they go through the ring? */
static bool rings(const struct blm__stack *s)
{
    if (s->count == 0 || s->count > MOST || s->single < s->count)
        return false;
    for (unsigned t = 0; t < s->count; t++)
        if (s->layer[t].line_count >> 32)
            return false;
    return true;
}

/* X(n) for the n that s->count is. */
#define FOR_COUNT(X)    \
    switch (s->count) { \
    case 1:             \
        X(1);           \
        break;          \
    case 2:             \
        X(2);           \
        break;          \
    case 3:             \
        X(3);           \
        break;          \
    case 4:             \
        X(4);           \
        break;          \
    case 5:             \
        X(5);           \
        break;          \
    default:            \
        X(6);           \
        break;          \
    }

/* ---- key by key: layers of several lines, and what is left of a ring's steps ---- */

BLM__AVX2 static size_t check_each(const struct blm__stack *s, const uint64_t *h, size_t n,
                                   uint8_t *maybe)
{
    struct blm__passed p;
    size_t             hits = 0;
    p.n                     = 0;
    for (size_t i = 0; i < AHEAD && i < n; i++)
        blm__stack_fetch(s, h[i]);
    for (size_t i = 0; i < n; i++) {
        const uint64_t                x      = blm__line_x(h[i]);
        const struct blm__avx2_shifts shifts = blm__avx2_shifts_of(x);
        uint64_t                      had    = 0;
        if (i + AHEAD < n)
            blm__stack_fetch(s, h[i + AHEAD]);
        for (unsigned t = 0; t < s->count; t++) {
            unsigned signs = blm__avx2_signs(blm__stacked_line(&s->layer[t], h[i]), shifts);
            had |= (uint64_t)((~signs & blm__avx2_needed[s->layer[t].probes][x >> 56]) == 0) << t;
        }
        uint64_t in      = s->single < 64 ? had & (((uint64_t)1 << s->single) - 1) : had;
        hits += maybe[i] = in != 0;
        if (!in && had)
            blm__passed_add(&p, s, i, h[i], had);
    }
    return hits + blm__passed_rest(&p, s, h, maybe);
}

BLM__AVX2 size_t blm__layers_check_avx2(const struct blm__stack *s, const uint64_t *h, size_t n,
                                        uint8_t *maybe)
{
    size_t whole = rings(s) ? n - n % BLM__STEP : 0;
#define CHECK(count) check_steps(s, count, h, whole, maybe)
    if (whole)
        FOR_COUNT(CHECK)
#undef CHECK
    return blm__ones(maybe, whole) + check_each(s, h + whole, n - whole, maybe + whole);
}

BLM__AVX2 size_t blm__layers_add_avx2(const struct blm__stack *s, struct blm__layer *l,
                                      const uint64_t *h, size_t n, uint8_t *fresh)
{
    size_t whole = n - n % BLM__STEP;
    if (!rings(s) || l->marks || l->shape.lines != 1 || l->shape.line_count >> 32)
        return blm__layers_ask_add(s, l, h, n, fresh, &blm__kernel_avx2);
#define ADD(layers) add_steps(s, layers, l, h, whole, fresh)
    if (whole)
        FOR_COUNT(ADD)
#undef ADD
    check_each(s, h + whole, n - whole, fresh + whole);
    for (size_t i = whole; i < n; i++) {
        uint64_t *line = l->words + blm__reduce(h[i], l->shape.line_count) * BLM__LINE_WORDS;
        fresh[i]       = (uint8_t)blm__avx2_set(l, line, blm__line_x(h[i]),
                                          fresh[i] ? 0 : l->shape.probes, false);
    }
    return blm__ones(fresh, n);
}
#endif
