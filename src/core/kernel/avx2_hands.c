/* SPDX-License-Identifier: MIT */
/*
 * Hands (core/kernel/hands.h) with AVX2, eight to a visit: what avx512_hands.c does. Moving keys to the
 * lanes that take one is a permutation from a table, by the eight bits that say which do.
 */
#include <string.h>

#include "core/kernel/hands.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/avx2_line.h"
#include "core/kernel/avx2_modulus.h"

#define INLINE BLM__AVX2_INLINE
#define LANES  8u

#define ASK(i)  BLM__PREFETCH(words + ask[i])
#define STAY(v) __asm__ volatile("" : "+x"(v))

INLINE __m256i load(const void *p) { return _mm256_loadu_si256(p); }
INLINE void    store(void *p, __m256i v) { _mm256_storeu_si256(p, v); }
INLINE __m256i each(uint32_t v) { return _mm256_set1_epi32((int)v); }
INLINE __m256i lanes(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }

/* ---- permutations: eight indices of four bits ---- */

#define FOUR(row, m)    row(m), row((m) + 1), row((m) + 2), row((m) + 3)
#define SIXTEEN(row, m) FOUR(row, m), FOUR(row, (m) + 4), FOUR(row, (m) + 8), FOUR(row, (m) + 12)
#define SIXTY(row, m) \
    SIXTEEN(row, m), SIXTEEN(row, (m) + 16), SIXTEEN(row, (m) + 32), SIXTEEN(row, (m) + 48)
#define ALL(row) SIXTY(row, 0u), SIXTY(row, 64u), SIXTY(row, 128u), SIXTY(row, 192u)

#define BIT(m, i)  ((m) >> (i)&1u)
#define BITS(m)    (BIT(m, 0) + BIT(m, 1) + BIT(m, 2) + BIT(m, 3) + BIT(m, 4) + BIT(m, 5) + BIT(m, 6))
#define RANK(m, i) BITS((m) & ((1u << (i)) - 1)) /* of lane i among those of m */

#define EACH(f, m) (f(m, 0) | f(m, 1) | f(m, 2) | f(m, 3) | f(m, 4) | f(m, 5) | f(m, 6) | f(m, 7))
#define TO(m, i)   (RANK(m, i) << 4 * (i))
#define FROM(m, i) (BIT(m, i) * ((i##u) << 4 * RANK(m, i)))
#define PAIR(m, i) ((2 * RANK(m, i) | (2 * RANK(m, i) + 1) << 4) << 8 * (i))

#define EXPAND(m)   EACH(TO, m)
#define COMPRESS(m) EACH(FROM, m)
#define WORDS(m)    (PAIR(m, 0) | PAIR(m, 1) | PAIR(m, 2) | PAIR(m, 3))

static const uint32_t expand_by[256]   = { ALL(EXPAND) };
static const uint32_t compress_by[256] = { ALL(COMPRESS) };
static const uint32_t words_by[16]     = { SIXTEEN(WORDS, 0u) }; /* four words of 64 bits */

INLINE __m256i permuted(__m256i v, uint32_t by)
{
    const __m256i places = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    return _mm256_permutevar8x32_epi32(v, _mm256_srlv_epi32(each(by), places));
}

/* ---- visits ---- */

/* Keys that have all their bits. */
struct found {
    uint32_t id[BLM__HANDS + BLM__HANDS_RUN + 2 * LANES];
};

/* A run under way, as in avx512_hands.c. */
struct run {
    const uint8_t *words;
    __m256i        m, last;
    uint32_t       taken, found;
};

/* The hands that go on: a sign in each. The others are free: which, how many of the first four and of
 * all, and where their keys are. */
struct going {
    __m256i  on;
    unsigned free, low;
    size_t   in;
};

INLINE __m256i signs_at(const uint8_t *words, __m256i pos)
{
    __m256i got = _mm256_i32gather_epi32((const void *)words, _mm256_srli_epi32(pos, 5), 4);
    return _mm256_sllv_epi32(got, _mm256_andnot_si256(pos, each(31)));
}

INLINE unsigned signs(__m256i v) { return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(v)); }

INLINE __m256i either(__m256i on, __m256i next, __m256i other)
{
    return _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(other), _mm256_castsi256_ps(next), _mm256_castsi256_ps(on)));
}

/* Looks at the bits of eight hands. They get the numbers of what they go on to. */
INLINE struct going look(struct blm__hands *s, struct run *r, uint32_t t, __m256i has,
                         struct found *f)
{
    const __m256i  id   = load(s->id + t);
    const __m256i  on   = _mm256_and_si256(has, _mm256_cmpgt_epi32(r->last, id));
    const unsigned free = ~signs(on) & 0xff, done = signs(has) & free;
    struct going v = { on, free, (unsigned)BLM__POPCOUNT64(free & 15), r->taken % BLM__HANDS_ROOM };
    const __m256i news = _mm256_add_epi32(lanes(), each(r->taken));
    store(f->id + r->found, permuted(id, compress_by[done]));
    r->found += (uint32_t)BLM__POPCOUNT64(done);
    store(s->id + t,
          either(on, _mm256_add_epi32(id, each(BLM__HANDS_BIT)), permuted(news, expand_by[free])));
    r->taken += (uint32_t)BLM__POPCOUNT64(free);
    return v;
}

INLINE __m256i take(const struct going *v, __m256i next, const uint32_t *keys)
{
    return either(v->on, next, permuted(load(keys + v->in), expand_by[v->free]));
}

/* Words of the first four hands, and of the others. */
INLINE __m256i either_word(__m128i on, __m256i next, __m256i other)
{
    return _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(other),
                                                _mm256_castsi256_pd(next),
                                                _mm256_castsi256_pd(_mm256_cvtepi32_epi64(on))));
}
INLINE __m256i take_low(const struct going *v, __m256i next, const uint64_t *keys)
{
    return either_word(_mm256_castsi256_si128(v->on), next,
                       permuted(load(keys + v->in), words_by[v->free & 15]));
}
INLINE __m256i take_top(const struct going *v, __m256i next, const uint64_t *keys)
{
    return either_word(_mm256_extracti128_si256(v->on, 1), next,
                       permuted(load(keys + v->in + v->low), words_by[v->free >> 4]));
}

INLINE void put_pos(struct blm__hands *s, uint32_t t, __m256i pos)
{
    store(s->pos + t, pos);
    store(s->byte + t, _mm256_srli_epi32(pos, 3));
}

/* The upper halves of eight words. */
INLINE __m256i uppers(__m256i a, __m256i b)
{
    __m256 odd = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(odd), 0xd8);
}

INLINE uint32_t before(uint32_t t) { return t ? t - LANES : BLM__HANDS - LANES; }
INLINE uint32_t after(uint32_t t) { return t + LANES == BLM__HANDS ? 0 : t + LANES; }

/* All lines but those that the first visit asks for. */
INLINE void ask_first(struct blm__hands *s)
{
    for (uint32_t t = 0; t < BLM__HANDS - LANES; t++)
        BLM__PREFETCH((const uint8_t *)s->words + s->byte[t]);
    s->taken = BLM__HANDS;
}

INLINE struct run give(struct blm__hands *s, size_t n, __m256i m)
{
    memset(s->maybe + s->given, 0, n);
    s->given += (uint32_t)n;
    return (struct run){ (const uint8_t *)s->words, m, each(s->last), s->taken, 0 };
}

INLINE void tell(struct blm__hands *s, const struct run *r, uint32_t t, const struct found *f)
{
    for (uint32_t i = 0; i < r->found; i++)
        s->maybe[f->id[i] % BLM__HANDS_BIT] = 1;
    s->taken = r->taken;
    s->turn  = t;
}

/* ---- chains ---- */

/* v · m / 2^32, m below 2^32. */
INLINE __m256i times(__m256i v, __m256i m)
{
    __m256i low = _mm256_srli_epi64(_mm256_mul_epu32(v, m), 32);
    return _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(v, 32), m), low);
}

INLINE void visit_chain(struct blm__hands *s, struct run *r, uint32_t t, struct found *f)
{
    const uint8_t  *words = r->words;
    const uint32_t *ask   = s->byte + before(t);
    __m256i         has   = signs_at(words, load(s->pos + t));
    STAY(has);
    ASK(0);
    __m256i a = blm__avx2_mul64(load(s->g + t), BLM__C);
    STAY(a);
    ASK(1);
    __m256i b = blm__avx2_mul64(load(s->g + t + 4), BLM__C);
    STAY(b);
    ASK(2);
    const struct going v = look(s, r, t, has, f);
    ASK(3);
    a = take_low(&v, a, s->a);
    STAY(a);
    ASK(4);
    b = take_top(&v, b, s->a);
    STAY(b);
    ASK(5);
    store(s->g + t, a);
    store(s->g + t + 4, b);
    a = times(a, r->m);
    STAY(a);
    ASK(6);
    put_pos(s, t, uppers(a, times(b, r->m)));
    ASK(7);
}

INLINE void begin_chain(struct blm__hands *s)
{
    for (uint32_t t = 0; t < BLM__HANDS; t++) {
        s->g[t]    = s->a[t];
        s->id[t]   = t;
        s->pos[t]  = (uint32_t)blm__reduce(s->a[t], s->m);
        s->byte[t] = s->pos[t] / 8;
    }
    ask_first(s);
}

BLM__AVX2 void blm__chain_follow_avx2(struct blm__hands *s, size_t n)
{
    struct found f;
    if (n == 0) {
        blm__hands_end_chain(s, BLM__HANDS);
        return;
    }
    if (s->given == 0)
        begin_chain(s);
    if (blm__hands_next(s) == 0)
        memcpy(s->a + BLM__HANDS_ROOM, s->a, LANES * sizeof *s->a);
    struct run r = give(s, n, _mm256_set1_epi64x((long long)s->m));
    uint32_t   t = s->turn;
    for (; s->given - r.taken >= LANES; t = after(t))
        visit_chain(s, &r, t, &f);
    tell(s, &r, t, &f);
}

/* ---- steps ---- */

/* Whether a step took a sum over the end, in the sign. */
INLINE __m256i over(__m256i sum, __m256i step)
{
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
    return _mm256_cmpgt_epi64(_mm256_xor_si256(step, sign), _mm256_xor_si256(sum, sign));
}

/* Which of these many steps wrap. Words are apart: 0, 2, 4, 6 and 1, 3, 5, 7. */
INLINE __m256i wraps_of(const __m256i *a, const __m256i *b, uint32_t steps)
{
    __m256i c[2] = { a[0], a[1] }, wraps = _mm256_setzero_si256(), bit = each(1);
    for (uint32_t j = 0; j < steps; j++) {
        c[0]         = _mm256_add_epi64(c[0], b[0]);
        c[1]         = _mm256_add_epi64(c[1], b[1]);
        __m256i both = _mm256_blend_epi32(over(c[0], b[0]), over(c[1], b[1]), 0xaa);
        wraps        = _mm256_or_si256(wraps, _mm256_and_si256(both, bit));
        bit          = _mm256_slli_epi32(bit, 1);
    }
    return wraps;
}

/* What a[0] and a[1] are mod m, and the words shifted up. */
INLINE __m256i reduce8(const struct blm__avx2_modulus *d, __m256i *a, __m128i spare)
{
    __m256i low[2];
    for (unsigned j = 0; j < 2; j++) {
        a[j]   = _mm256_sll_epi64(a[j], spare);
        low[j] = _mm256_srl_epi64(a[j], spare);
    }
    return blm__avx2_remainder8(d, low);
}

/* Makes eight keys ready, number `made` and those after it: what is behind the last means nothing.
 * Returns how many are. */
INLINE uint32_t ready(struct blm__hands *s, const struct blm__avx2_modulus *d, uint32_t made)
{
    const __m128i spare = _mm_cvtsi32_si128((int)s->steps.spare);
    const size_t  at    = made % BLM__HANDS_ROOM;
    __m256i       a[2], b[2];
    blm__avx2_apart(s->a + at, a);
    blm__avx2_apart(s->b + at, b);
    store(s->key_pos + at, reduce8(d, a, spare));
    store(s->key_by + at, reduce8(d, b, spare));
    store(s->key_wraps + at, wraps_of(a, b, s->last / BLM__HANDS_BIT));
    if (at == 0) {
        store(s->key_pos + BLM__HANDS_ROOM, load(s->key_pos));
        store(s->key_by + BLM__HANDS_ROOM, load(s->key_by));
        store(s->key_wraps + BLM__HANDS_ROOM, load(s->key_wraps));
    }
    return made + LANES;
}

/* Positions after a step. */
INLINE __m256i step_on(__m256i pos, __m256i by, __m256i wraps, __m256i wrap, __m256i m)
{
    __m256i less = _mm256_sub_epi32(by, wrap);
    less         = _mm256_min_epu32(less, _mm256_add_epi32(less, m));
    pos          = _mm256_add_epi32(pos, either(_mm256_slli_epi32(wraps, 31), less, by));
    return _mm256_min_epu32(pos, _mm256_sub_epi32(pos, m));
}

INLINE void visit_steps(struct blm__hands *s, struct run *r, uint32_t t, __m256i wrap,
                        struct found *f)
{
    const uint8_t  *words = r->words;
    const uint32_t *ask   = s->byte + before(t);
    __m256i         by = load(s->by + t), pos = load(s->pos + t), wraps = load(s->wraps + t);
    __m256i         has = signs_at(words, pos);
    STAY(has);
    ASK(0);
    pos = step_on(pos, by, wraps, wrap, r->m);
    STAY(pos);
    ASK(1);
    const struct going v = look(s, r, t, has, f);
    ASK(2);
    ASK(3);
    by = take(&v, by, s->key_by);
    STAY(by);
    ASK(4);
    wraps = take(&v, _mm256_srli_epi32(wraps, 1), s->key_wraps);
    STAY(wraps);
    ASK(5);
    pos = take(&v, pos, s->key_pos);
    STAY(pos);
    ASK(6);
    store(s->by + t, by);
    store(s->wraps + t, wraps);
    put_pos(s, t, pos);
    ASK(7);
}

BLM__AVX2 void blm__steps_follow_avx2(struct blm__hands *s, size_t n)
{
    struct found f;
    if (n == 0) {
        blm__hands_end_steps(s, BLM__HANDS);
        return;
    }
    const struct blm__avx2_modulus d    = blm__avx2_modulus_of(&s->steps);
    uint32_t                       made = s->given;
    if (s->given == 0) {
        while (made < BLM__HANDS)
            made = ready(s, &d, made);
        for (uint32_t t = 0; t < BLM__HANDS; t++)
            blm__hands_take(s, t, t);
        ask_first(s);
    }
    struct run r = give(s, n, d.m32);
    uint32_t   t = s->turn;
    for (; s->given - r.taken >= LANES; t = after(t)) {
        if (made - r.taken < 2 * LANES && made < s->given)
            made = ready(s, &d, made);
        visit_steps(s, &r, t, d.wrap, &f);
    }
    while (made < s->given)
        made = ready(s, &d, made);
    tell(s, &r, t, &f);
}
#endif
