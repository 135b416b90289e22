/* SPDX-License-Identifier: MIT */
/*
 * Hands (core/kernel/hands.h) with AVX-512, sixteen to a visit. Their bits are gathered, and those that
 * take a key have it moved to their lanes by one instruction. A visit also asks for the lines that the
 * visit before it came to, one by one between its own instructions: STAY keeps the compiler from moving
 * them together.
 */
#include <string.h>

#include "core/kernel/hands.h"

#ifdef BLM__HAVE_AVX512
#include "core/kernel/avx512.h"

#define AVX512        BLM__AVX512
#define AVX512_INLINE BLM__AVX512_INLINE

#define LANES 16u

#define ASK(i)  BLM__PREFETCH(words + ask[i])
#define STAY(v) __asm__ volatile("" : "+v"(v))

AVX512_INLINE __m512i wide(uint64_t v) { return _mm512_set1_epi64((long long)v); }
AVX512_INLINE __m512i each(uint32_t v) { return _mm512_set1_epi32((int)v); }
AVX512_INLINE __m512i load(const void *p) { return _mm512_loadu_si512(p); }
AVX512_INLINE void    store(void *p, __m512i v) { _mm512_storeu_si512(p, v); }
AVX512_INLINE __m512i lanes(void)
{
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
/* The upper halves of sixteen words. */
AVX512_INLINE __m512i uppers(__m512i a, __m512i b)
{
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_epi32(a, odd, b);
}
/* v · m / 2^32, m below 2^32. */
AVX512_INLINE __m512i times(__m512i v, __m512i m)
{
    __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(v, m), 32);
    return _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(v, 32), m), low);
}

/* Keys that have all their bits. */
struct found {
    uint32_t id[BLM__HANDS + BLM__HANDS_RUN + 2 * LANES];
};

/* A run under way: what stays the same, and what a visit moves on. Copies, which the compiler can keep in
 * registers whatever is stored. */
struct run {
    const uint8_t *words;
    __m512i        m, last;
    uint32_t       taken, found;
};

/* The hands that take the next key: so many of the first eight, and of all; and where that is. */
struct freed {
    __mmask16 lanes;
    uint32_t  low, n;
    size_t    in;
};

AVX512_INLINE struct run run_of(const struct blm__hands *s)
{
    return (struct run){ (const uint8_t *)s->words, wide(s->m), each(s->last), s->taken, 0 };
}

AVX512_INLINE __m512i bits_at(const uint8_t *words, __m512i pos, const uint32_t *ask)
{
    __m512i at  = _mm512_srli_epi32(pos, 5);
    __m256i low = _mm256_i32gather_epi32((const void *)words, _mm512_castsi512_si256(at), 4);
    STAY(low);
    ASK(0);
    ASK(1);
    ASK(2);
    __m256i top = _mm256_i32gather_epi32((const void *)words, _mm512_extracti64x4_epi64(at, 1), 4);
    STAY(top);
    ASK(3);
    ASK(4);
    ASK(5);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), top, 1);
}

/* Looks at the bits of sixteen hands. They get the numbers of what they go on to. */
AVX512_INLINE struct freed look(struct blm__hands *s, struct run *r, uint32_t t, __m512i got,
                                struct found *f)
{
    const __m512i   id = load(s->id + t), bit = _mm512_rolv_epi32(each(1), load(s->pos + t));
    const __mmask16 has  = _mm512_test_epi32_mask(got, bit);
    const __mmask16 done = _mm512_mask_cmpge_epu32_mask(has, id, r->last);
    const __mmask16 free = (__mmask16)(~has | done);
    struct freed    v    = { free, (uint32_t)BLM__POPCOUNT64(free & 0xff),
                             (uint32_t)BLM__POPCOUNT64(free), r->taken % BLM__HANDS_ROOM };
    store(f->id + r->found, _mm512_maskz_compress_epi32(done, id));
    r->found += (uint32_t)BLM__POPCOUNT64(done);
    store(s->id + t, _mm512_mask_expand_epi32(_mm512_add_epi32(id, each(BLM__HANDS_BIT)), free,
                                              _mm512_add_epi32(lanes(), each(r->taken))));
    r->taken += v.n;
    return v;
}

/* Words of eight hands: those that they go on to, and those of the keys that they take. */
AVX512_INLINE __m512i take_low(const struct freed *v, __m512i next, const uint64_t *keys)
{
    return _mm512_mask_expand_epi64(next, (__mmask8)v->lanes, load(keys + v->in));
}
AVX512_INLINE __m512i take_top(const struct freed *v, __m512i next, const uint64_t *keys)
{
    return _mm512_mask_expand_epi64(next, (__mmask8)(v->lanes >> 8), load(keys + v->in + v->low));
}
AVX512_INLINE __m512i take_all(const struct freed *v, __m512i next, const uint32_t *keys)
{
    return _mm512_mask_expand_epi32(next, v->lanes, load(keys + v->in));
}

AVX512_INLINE void put_pos(struct blm__hands *s, uint32_t t, __m512i pos)
{
    store(s->pos + t, pos);
    store(s->byte + t, _mm512_srli_epi32(pos, 3));
}

/* The sixteen before these. */
AVX512_INLINE uint32_t before(uint32_t t) { return t ? t - LANES : BLM__HANDS - LANES; }
AVX512_INLINE uint32_t after(uint32_t t) { return t + LANES == BLM__HANDS ? 0 : t + LANES; }

/* All lines but those that the first visit asks for. */
AVX512_INLINE void ask_first(struct blm__hands *s)
{
    for (uint32_t t = 0; t < BLM__HANDS - LANES; t++)
        BLM__PREFETCH((const uint8_t *)s->words + s->byte[t]);
    s->taken = BLM__HANDS;
}

AVX512_INLINE void give(struct blm__hands *s, size_t n)
{
    memset(s->maybe + s->given, 0, n);
    s->given += (uint32_t)n;
}

AVX512_INLINE void tell(struct blm__hands *s, const struct run *r, uint32_t t,
                        const struct found *f)
{
    for (uint32_t i = 0; i < r->found; i++)
        s->maybe[f->id[i] % BLM__HANDS_BIT] = 1;
    s->taken = r->taken;
    s->turn  = t;
}

/* ---- chains ---- */

AVX512_INLINE void visit_chain(struct blm__hands *s, struct run *r, uint32_t t, struct found *f)
{
    const uint8_t  *words  = r->words;
    const uint32_t *ask    = s->byte + before(t);
    const __m512i   factor = wide(BLM__C);
    __m512i         got    = bits_at(words, load(s->pos + t), ask);
    __m512i         a      = _mm512_mullo_epi64(load(s->g + t), factor);
    STAY(a);
    ASK(6);
    __m512i b = _mm512_mullo_epi64(load(s->g + t + 8), factor);
    STAY(b);
    ASK(7);
    ASK(8);
    const struct freed v = look(s, r, t, got, f);
    ASK(9);
    a = take_low(&v, a, s->a);
    STAY(a);
    ASK(10);
    b = take_top(&v, b, s->a);
    STAY(b);
    ASK(11);
    store(s->g + t, a);
    store(s->g + t + 8, b);
    ASK(12);
    a = times(a, r->m);
    STAY(a);
    ASK(13);
    b = times(b, r->m);
    STAY(b);
    ASK(14);
    put_pos(s, t, uppers(a, b));
    ASK(15);
}

AVX512_INLINE void begin_chain(struct blm__hands *s)
{
    const __m512i m = wide(s->m);
    for (uint32_t t = 0; t < BLM__HANDS; t += LANES) {
        __m512i a = load(s->a + t), b = load(s->a + t + 8);
        store(s->g + t, a);
        store(s->g + t + 8, b);
        store(s->id + t, _mm512_add_epi32(lanes(), each(t)));
        put_pos(s, t, uppers(times(a, m), times(b, m)));
    }
    ask_first(s);
}

AVX512 void blm__chain_follow_avx512(struct blm__hands *s, size_t n)
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
    give(s, n);
    struct run r = run_of(s);
    uint32_t   t = s->turn;
    for (; s->given - r.taken >= LANES; t = after(t))
        visit_chain(s, &r, t, &f);
    tell(s, &r, t, &f);
}

/* ---- steps ---- */

/* Remainders, as in avx2_modulus.h: in the upper halves. */
struct modulus {
    __m512i one, one_up, word, word_up, half, m;
};

AVX512_INLINE struct modulus modulus_of(const struct blm__steps *s)
{
    const uint64_t one  = s->hi + (s->lo >> 63);
    const uint64_t word = (s->hi << 32 | s->lo >> 32) + (s->lo >> 31 & 1);
    return (struct modulus){ wide(one),
                             wide(one >> 32),
                             wide(word),
                             wide(word >> 32),
                             wide((s->hi >> 1) + ((uint64_t)1 << 31)),
                             wide(s->m) };
}

AVX512_INLINE __m512i remainder_of(const struct modulus *d, __m512i v)
{
    __m512i up  = _mm512_srli_epi64(v, 32);
    __m512i low = _mm512_add_epi64(_mm512_mul_epu32(v, d->one), _mm512_mul_epu32(up, d->word));
    __m512i top =
        _mm512_add_epi64(_mm512_mul_epu32(v, d->one_up), _mm512_mul_epu32(up, d->word_up));
    __m512i turn = _mm512_add_epi64(_mm512_add_epi64(low, d->half), _mm512_slli_epi64(top, 32));
    return _mm512_mul_epu32(_mm512_srli_epi64(turn, 32), d->m);
}

/* Of words shifted up, so that to wrap is to carry. */
AVX512_INLINE __m512i remainders(const struct modulus *d, __m512i a, __m512i b, __m128i spare)
{
    return uppers(remainder_of(d, _mm512_srl_epi64(a, spare)),
                  remainder_of(d, _mm512_srl_epi64(b, spare)));
}

/* Which of these many steps wrap. */
AVX512_INLINE __m512i wraps_of(__m512i c0, __m512i c1, __m512i step0, __m512i step1, uint32_t steps)
{
    __m512i wraps = _mm512_setzero_si512(), bit = each(1);
    for (uint32_t j = 0; j < steps; j++) {
        c0 = _mm512_add_epi64(c0, step0);
        c1 = _mm512_add_epi64(c1, step1);
        __mmask16 over =
            _mm512_kunpackb(_mm512_cmplt_epu64_mask(c1, step1), _mm512_cmplt_epu64_mask(c0, step0));
        wraps = _mm512_mask_or_epi32(wraps, over, wraps, bit);
        bit   = _mm512_slli_epi32(bit, 1);
    }
    return wraps;
}

/* Makes sixteen keys ready, number `made` and those after it: what is behind the last means nothing.
 * Returns how many are. */
AVX512_INLINE uint32_t ready(struct blm__hands *s, const struct modulus *d, uint32_t made)
{
    const __m128i spare = _mm_cvtsi32_si128((int)s->steps.spare);
    const size_t  at    = made % BLM__HANDS_ROOM;
    __m512i       a0    = _mm512_sll_epi64(load(s->a + at), spare);
    __m512i       a1    = _mm512_sll_epi64(load(s->a + at + 8), spare);
    __m512i       b0    = _mm512_sll_epi64(load(s->b + at), spare);
    __m512i       b1    = _mm512_sll_epi64(load(s->b + at + 8), spare);
    store(s->key_pos + at, remainders(d, a0, a1, spare));
    store(s->key_by + at, remainders(d, b0, b1, spare));
    store(s->key_wraps + at, wraps_of(a0, a1, b0, b1, s->last / BLM__HANDS_BIT));
    if (at == 0) {
        store(s->key_pos + BLM__HANDS_ROOM, load(s->key_pos));
        store(s->key_by + BLM__HANDS_ROOM, load(s->key_by));
        store(s->key_wraps + BLM__HANDS_ROOM, load(s->key_wraps));
    }
    return made + LANES;
}

AVX512_INLINE __m512i step_on(__m512i pos, __m512i by, __m512i wraps, __m512i wrap, __m512i m)
{
    const __mmask16 over = _mm512_test_epi32_mask(wraps, each(1));
    __m512i         less = _mm512_sub_epi32(by, wrap);
    less                 = _mm512_min_epu32(less, _mm512_add_epi32(less, m));
    pos                  = _mm512_add_epi32(pos, _mm512_mask_blend_epi32(over, by, less));
    return _mm512_min_epu32(pos, _mm512_sub_epi32(pos, m));
}

/* r->m: in each half of a word. */
AVX512_INLINE void visit_steps(struct blm__hands *s, struct run *r, uint32_t t, __m512i wrap,
                               struct found *f)
{
    const uint8_t  *words = r->words;
    const uint32_t *ask   = s->byte + before(t);
    __m512i         by = load(s->by + t), pos = load(s->pos + t), wraps = load(s->wraps + t);
    __m512i         got = bits_at(words, pos, ask);
    pos                 = step_on(pos, by, wraps, wrap, r->m);
    STAY(pos);
    ASK(6);
    ASK(7);
    ASK(8);
    const struct freed v = look(s, r, t, got, f);
    ASK(9);
    ASK(10);
    by = take_all(&v, by, s->key_by);
    STAY(by);
    ASK(11);
    wraps = take_all(&v, _mm512_srli_epi32(wraps, 1), s->key_wraps);
    STAY(wraps);
    ASK(12);
    pos = take_all(&v, pos, s->key_pos);
    STAY(pos);
    ASK(13);
    store(s->by + t, by);
    store(s->wraps + t, wraps);
    ASK(14);
    put_pos(s, t, pos);
    ASK(15);
}

AVX512 void blm__steps_follow_avx512(struct blm__hands *s, size_t n)
{
    struct found f;
    if (n == 0) {
        blm__hands_end_steps(s, BLM__HANDS);
        return;
    }
    const struct modulus d    = modulus_of(&s->steps);
    const __m512i        wrap = each(blm__steps_wrap(&s->steps));
    uint32_t             made = s->given;
    if (s->given == 0) {
        while (made < BLM__HANDS)
            made = ready(s, &d, made);
        for (uint32_t t = 0; t < BLM__HANDS; t++)
            blm__hands_take(s, t, t);
        ask_first(s);
    }
    give(s, n);
    struct run r = run_of(s);
    uint32_t   t = s->turn;
    r.m          = each((uint32_t)s->m);
    for (; s->given - r.taken >= LANES; t = after(t)) {
        if (made - r.taken < 2 * LANES && made < s->given)
            made = ready(s, &d, made);
        visit_steps(s, &r, t, wrap, &f);
    }
    while (made < s->given)
        made = ready(s, &d, made);
    tell(s, &r, t, &f);
}

#endif
