/* SPDX-License-Identifier: MIT */
/*
 * AVX2: a 512-bit line is two vectors of four words.
 *
 * A check shifts each word so that the bit it asks for becomes the sign, and takes the eight signs as
 * one byte: `(signs & needed) == needed`, with the words that a key does not use absent from needed. Per
 * key that is 4 shifts, 1 shuffle, 1 movemask and no table of vectors. Against building the mask of
 * bits and two vptest (what stood here before): batch in cache 2.9 → 1.7 ns a key on Zen 3.
 * An add must have the mask: one bit shifted into place a word, from a table of ones and zeroes.
 *
 * Shared filters: adds go word by word with atomic operations, as in the portable kernel. Checks
 * load 32 bytes at once; on x86-64 an aligned 8-byte lane of such a load is never torn, so a check
 * sees each word either before or after a concurrent add. (No language rule says so, which is why
 * the thread tests run under TSan on the portable kernel.)
 */
#include "core/kernel/kernel.h"

#ifdef BLM__HAVE_AVX2
#include <immintrin.h>

#include "core/kernel/counters.h"
#include "core/kernel/layers.h"

#define AVX2        __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,bmi,bmi2,popcnt")))

#define ROT(p, r) (((p) << (r) | (p) >> (8 - (r))) & 0xff)
#define ROWS(X)                                                                                 \
    { X(0x00), X(0x01), X(0x03), X(0x0b), X(0x17), X(0x2f), X(0x3f), X(0x7f), X(0xff) }
#define ROW(X, p)                                                                               \
    { X(ROT(p, 0)), X(ROT(p, 1)), X(ROT(p, 2)), X(ROT(p, 3)),                                   \
      X(ROT(p, 4)), X(ROT(p, 5)), X(ROT(p, 6)), X(ROT(p, 7)) }

/* [k][rotation]: the signs needed, in the order in which signs_of gives them: words 0 1 4 5 2 3 6 7. */
#define SIGNS(p)    (uint8_t)(((p) & 0xc3) | ((p) & 0x30) >> 2 | ((p) & 0x0c) << 2)
#define SIGN_ROW(p) ROW(SIGNS, p)
static const _Alignas(64) uint8_t needed[9][8] = ROWS(SIGN_ROW);

/* [k][rotation][word]: 1 where the word is used. A key's row is a cache line. */
#define ON(p, j)   ((p) >> (j)&1)
#define ONES(p)                                                                                 \
    { ON(p, 0), ON(p, 1), ON(p, 2), ON(p, 3), ON(p, 4), ON(p, 5), ON(p, 6), ON(p, 7) }
#define ONE_ROW(p) ROW(ONES, p)
static const _Alignas(64) uint64_t ones[9][8][8] = ROWS(ONE_ROW);

/* A line's half: four words, aligned or not (a caller's own words may not be). */
AVX2_INLINE __m256i load4(const uint64_t *w) { return _mm256_loadu_si256((const void *)w); }

/* ---- one line ---- */

AVX2_INLINE unsigned signs_of(const uint64_t *line, uint64_t x)
{
    const __m256i field = _mm256_set1_epi64x(63);
    __m256i       v     = _mm256_set1_epi64x((long long)x);
    /* 63 − bit = ~bit & 63: how far left until the bit is the sign. */
    __m256i a = _mm256_srlv_epi64(v, _mm256_setr_epi64x(13, 19, 25, 31));
    __m256i b = _mm256_andnot_si256(_mm256_srli_epi64(a, 24), field);
    a         = _mm256_andnot_si256(a, field);
    a = _mm256_sllv_epi64(load4(line), a);
    b = _mm256_sllv_epi64(load4(line + 4), b);
    __m256 high = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd);
    return (unsigned)_mm256_movemask_ps(high);
}

/* need: needed[k]. With eight words in use every sign counts and no table is asked. */
AVX2_INLINE bool line_has(const uint64_t *line, uint64_t x, const uint8_t *need, bool all8)
{
    unsigned want = all8 ? 0xff : need[x >> 61];
    return (~signs_of(line, x) & want) == 0;
}

struct mask {
    __m256i lo, hi;
};

AVX2_INLINE struct mask mask_of(uint64_t x, const uint64_t (*one)[8])
{
    const __m256i field = _mm256_set1_epi64x(63);
    __m256i       v     = _mm256_set1_epi64x((long long)x);
    __m256i a = _mm256_srlv_epi64(v, _mm256_setr_epi64x(13, 19, 25, 31));
    __m256i b = _mm256_and_si256(_mm256_srli_epi64(a, 24), field);
    a         = _mm256_and_si256(a, field);
    const uint64_t *row = one[x >> 61];
    struct mask m = { _mm256_sllv_epi64(load4(row), a), _mm256_sllv_epi64(load4(row + 4), b) };
    return m;
}

/* Sets a key's bits of a line; 1 when one was clear. */
AVX2_INLINE unsigned set_line(struct blm_layer *l, uint64_t *line, struct mask m, bool marks)
{
    __m256i  lo = load4(line), hi = load4(line + 4);
    __m256i  missing = _mm256_or_si256(_mm256_andnot_si256(lo, m.lo), _mm256_andnot_si256(hi, m.hi));
    unsigned fresh   = !_mm256_testz_si256(missing, missing);
    if (marks && fresh)
        blm__mark(l, (uint64_t)(line - l->words));
    _mm256_storeu_si256((void *)line, _mm256_or_si256(lo, m.lo));
    _mm256_storeu_si256((void *)(line + 4), _mm256_or_si256(hi, m.hi));
    return fresh;
}

/* ---- one key ---- */

/* Where a layer's lines are, in registers: through the layer the compiler would reload after every
 * store. */
struct place {
    uint64_t *words;
    uint64_t  count; /* lines */
};

AVX2_INLINE struct place place_of(const struct blm_layer *l)
{
    struct place p = { l->words, l->shape.line_count };
    return p;
}
AVX2_INLINE uint64_t *line_at(struct place p, uint64_t h)
{
    return p.words + blm__reduce(h, p.count) * BLM__LINE_WORDS;
}

/* Lines from the second on; x: of the first. */
AVX2_INLINE bool rest_has(struct place p, uint64_t x, const uint8_t *need, uint32_t lines)
{
    for (uint32_t i = 1; i < lines; i++) {
        uint64_t h = blm__line_next(x);
        x          = blm__line_x(h);
        if (!line_has(line_at(p, h), x, need, false))
            return false;
    }
    return true;
}

/* One line a key. */
AVX2_INLINE bool has_line(const struct blm_layer *l, uint64_t h)
{
    return line_has(line_at(place_of(l), h), blm__line_x(h), needed[l->shape.probes], false);
}

AVX2_INLINE bool has(const struct blm_layer *l, uint64_t h)
{
    return has_line(l, h) && rest_has(place_of(l), blm__line_x(h), needed[l->shape.probes],
                                      l->shape.lines);
}

AVX2_INLINE unsigned set_key(struct blm_layer *l, struct place p, uint64_t h,
                             const uint64_t (*one)[8], uint32_t lines, bool marks)
{
    uint64_t x     = blm__line_x(h);
    unsigned fresh = set_line(l, line_at(p, h), mask_of(x, one), marks);
    for (uint32_t i = 1; i < lines; i++) {
        h = blm__line_next(x);
        x = blm__line_x(h);
        fresh |= set_line(l, line_at(p, h), mask_of(x, one), marks);
    }
    return fresh;
}

AVX2_INLINE blm_status add_hash(struct blm_layer *l, uint64_t h, bool shared)
{
    unsigned fresh;
    if (shared) /* most often all bits are there, and nothing is written */
        fresh = has(l, h) ? 0 : blm__lines_set(l, h, true);
    else
        fresh = set_key(l, place_of(l), h, ones[l->shape.probes], l->shape.lines, l->marks != NULL);
    return blm__added_key(l, fresh, shared);
}

AVX2 BLM__NOINLINE static blm_status add_marked(struct blm_layer *l, uint64_t h)
{
    return add_hash(l, h, false);
}

/* One line a key, nobody watching: a leaf. */
AVX2_INLINE blm_status add_line(struct blm_layer *l, uint64_t h, bool shared)
{
    (void)shared;
    if (BLM__UNLIKELY(l->marks != NULL))
        return add_marked(l, h);
    return blm__added_key(l, set_key(l, place_of(l), h, ones[l->shape.probes], 1, false), false);
}

AVX2 static bool lines_check_one(const struct blm_layer *l, uint64_t h) { return has(l, h); }
BLM__SINGLE_CHECK(AVX2, blm__avx2_line, has_line)
BLM__SINGLE_ADD(AVX2, blm__avx2_line_add_key, blm__avx2_line_add_any, add_line, false)
BLM__SINGLE_CALLS(AVX2, blm__avx2_lines, has, add_hash)

/* ---- batches ---- */

AVX2_INLINE size_t add_batch(struct blm_layer *l, const uint64_t *h, size_t n, uint8_t *fresh,
                             uint32_t lines, bool marks, size_t ahead)
{
    struct place p = place_of(l);
    const uint64_t(*one)[8] = ones[l->shape.probes];
    size_t count = 0, i = 0;
    for (; i < ahead && i < n; i++)
        blm__lines_fetch(l, h[i], true);
    for (i = 0; i + ahead < n; i++) {
        if (ahead && lines == 1)
            BLM__PREFETCH_W(line_at(p, h[i + ahead]));
        else if (ahead)
            blm__lines_fetch(l, h[i + ahead], true);
        count += fresh[i] = (uint8_t)set_key(l, p, h[i], one, lines, marks);
    }
    for (; i < n; i++)
        count += fresh[i] = (uint8_t)set_key(l, p, h[i], one, lines, marks);
    return count;
}

AVX2 static size_t lines_add(struct blm_layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    size_t   ahead = blm__layer_small(l) ? 0 : 32;
    uint32_t lines = l->shape.lines;
    if (l->marks)
        return add_batch(l, h, n, fresh, lines, true, ahead);
    if (lines > 1)
        return add_batch(l, h, n, fresh, lines, false, ahead);
    return ahead ? add_batch(l, h, n, fresh, 1, false, ahead)
                 : add_batch(l, h, n, fresh, 1, false, 0);
}

/* Shared: look with a vector first (most often the bits are there and nothing is written), then
 * set the missing ones word by word. */
AVX2 static size_t lines_add_shared(struct blm_layer *l, const uint64_t *h, size_t n,
                                    uint8_t *fresh)
{
    bool   small = blm__layer_small(l);
    size_t count = 0, ahead = small ? 0 : 32;
    for (size_t i = 0; i < ahead && i < n; i++)
        blm__lines_fetch(l, h[i], true);
    for (size_t i = 0; i < n; i++) {
        if (!small && i + ahead < n)
            blm__lines_fetch(l, h[i + ahead], true);
        fresh[i] = has(l, h[i]) ? 0 : (uint8_t)blm__lines_set(l, h[i], true);
        count += fresh[i];
    }
    return count;
}

/* One line a key: everything at distance. */
AVX2_INLINE size_t check_one_line(const struct blm_layer *l, const uint64_t *h, size_t n,
                                  uint8_t *maybe, bool all8, size_t ahead)
{
    struct place   p    = place_of(l);
    const uint8_t *need = needed[l->shape.probes];
    size_t         hits = 0, i = 0;
    for (; i < ahead && i < n; i++)
        BLM__PREFETCH(line_at(p, h[i]));
    for (i = 0; i + ahead < n; i++) {
        if (ahead)
            BLM__PREFETCH(line_at(p, h[i + ahead]));
        hits += maybe[i] = line_has(line_at(p, h[i]), blm__line_x(h[i]), need, all8);
    }
    for (; i < n; i++)
        hits += maybe[i] = line_has(line_at(p, h[i]), blm__line_x(h[i]), need, all8);
    return hits;
}

/* Several lines: a group's first lines are tested, then the others of the keys that passed are
 * fetched, and tested a group later. Which keys passed is a list made without branches. */
#define GROUP 32u

struct passed {
    uint32_t at[GROUP];
    size_t   n;
};

AVX2_INLINE size_t check_rest(const struct blm_layer *l, const uint64_t *h, uint8_t *maybe,
                              const struct passed *s)
{
    const uint8_t *need = needed[l->shape.probes];
    size_t         hits = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t at = s->at[i];
        hits += maybe[at] = rest_has(place_of(l), blm__line_x(h[at]), need, l->shape.lines);
    }
    return hits;
}

AVX2_INLINE size_t check_lines(const struct blm_layer *l, const uint64_t *h, size_t n,
                               uint8_t *maybe, size_t ahead)
{
    struct place   p    = place_of(l);
    const uint8_t *need = needed[l->shape.probes];
    struct passed  passed[2];
    size_t         hits = 0;
    unsigned       turn = 0;
    passed[1].n = 0;
    for (size_t i = 0; i < ahead && i < n; i++)
        BLM__PREFETCH(line_at(p, h[i]));
    for (size_t at = 0; at < n; at += GROUP, turn ^= 1) {
        struct passed *s = &passed[turn];
        size_t         end = n - at < GROUP ? n : at + GROUP, count = 0;
        for (size_t i = at; i < end; i++) {
            if (ahead && i + ahead < n)
                BLM__PREFETCH(line_at(p, h[i + ahead]));
            maybe[i]     = line_has(line_at(p, h[i]), blm__line_x(h[i]), need, false);
            s->at[count] = (uint32_t)i;
            count += maybe[i];
        }
        s->n = count;
        for (size_t i = 0; ahead && i < count; i++)
            blm__lines_fetch(l, h[s->at[i]], false);
        hits += check_rest(l, h, maybe, &passed[turn ^ 1]);
    }
    return hits + check_rest(l, h, maybe, &passed[turn ^ 1]);
}

AVX2 static size_t lines_check(const struct blm_layer *l, const uint64_t *h, size_t n,
                               uint8_t *maybe)
{
    size_t ahead = blm__layer_small(l) ? 0 : 64;
    bool   all8  = l->shape.probes == 8;
    if (l->shape.lines > 1)
        return check_lines(l, h, n, maybe, ahead);
    if (ahead)
        return check_one_line(l, h, n, maybe, false, ahead);
    return all8 ? check_one_line(l, h, n, maybe, true, 0)
                : check_one_line(l, h, n, maybe, false, 0);
}

/* ---- hashes ---- */

/* a·b mod 2^64 from 32-bit multiplies; bh: b >> 32. */
AVX2_INLINE __m256i mul64(__m256i a, __m256i b, __m256i bh)
{
    __m256i low   = _mm256_mul_epu32(a, b);
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b),
                                     _mm256_mul_epu32(a, bh));
    return _mm256_add_epi64(low, _mm256_slli_epi64(cross, 32));
}

AVX2_INLINE __m256i rotl64(__m256i v, int r)
{
    return _mm256_or_si256(_mm256_slli_epi64(v, r), _mm256_srli_epi64(v, 64 - r));
}

/* blm__xxh3_8 of four keys. */
AVX2_INLINE __m256i hash4(__m256i v, __m256i flip)
{
    const __m256i prime = _mm256_set1_epi64x((long long)BLM__XXH3_PRIME_MX2);
    const __m256i high  = _mm256_set1_epi64x((long long)(BLM__XXH3_PRIME_MX2 >> 32));
    const __m256i by24  = _mm256_setr_epi8(5, 6, 7, 0, 1, 2, 3, 4, 13, 14, 15, 8, 9, 10, 11, 12, 5, 6,
                                           7, 0, 1, 2, 3, 4, 13, 14, 15, 8, 9, 10, 11, 12);
    v = _mm256_xor_si256(_mm256_shuffle_epi32(v, 0xb1), flip);
    v = _mm256_xor_si256(v, _mm256_xor_si256(rotl64(v, 49), _mm256_shuffle_epi8(v, by24)));
    v = mul64(v, prime, high);
    v = _mm256_xor_si256(v, _mm256_add_epi64(_mm256_srli_epi64(v, 35), _mm256_set1_epi64x(8)));
    v = mul64(v, prime, high);
    return _mm256_xor_si256(v, _mm256_srli_epi64(v, 28));
}

/* Eight keys a step: 0.75 ns a key where the scalar form takes 1.7 and one vector a step 0.78; half
 * vectors, half scalar 0.77 to 1.4 (Zen 3, in cache). */
AVX2 static void hash8(uint64_t seed, const void *keys, size_t n, uint64_t *h)
{
    const uint8_t *p    = keys;
    uint64_t       flip = blm__xxh3_flip(seed);
    const __m256i  f    = _mm256_set1_epi64x((long long)flip);
    size_t         i    = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i a = _mm256_loadu_si256((const void *)(p + 8 * i));
        __m256i b = _mm256_loadu_si256((const void *)(p + 8 * i + 32));
        _mm256_storeu_si256((void *)(h + i), hash4(a, f));
        _mm256_storeu_si256((void *)(h + i + 4), hash4(b, f));
    }
    for (; i < n; i++)
        h[i] = blm__xxh3_8(p + 8 * i, flip);
}

/* ---- chains ---- */

AVX2 static size_t chain_add(struct blm_layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    return blm__chain_add_loop(l, h, n, fresh, false);
}

AVX2 static size_t chain_add_shared(struct blm_layer *l, const uint64_t *h, size_t n,
                                    uint8_t *fresh)
{
    return blm__chain_add_loop(l, h, n, fresh, true);
}

AVX2 static size_t chain_check(const struct blm_layer *l, const uint64_t *h, size_t n,
                               uint8_t *maybe)
{
    return blm__chain_check_loop(l, h, n, maybe);
}

AVX2 static bool chain_check_one(const struct blm_layer *l, uint64_t h)
{
    return blm__chain_test(l->words, l->shape.bits, h, 0, l->shape.probes);
}

BLM__SINGLE_CALLS(AVX2, blm__avx2_chain, chain_check_one, blm__chain_add_hash)

/* ---- words ---- */

AVX2 static uint64_t popcount(const uint64_t *w, uint64_t n)
{
    uint64_t a = 0, b = 0, c = 0, d = 0, i = 0;
    for (; i + 4 <= n; i += 4) {
        a += BLM__POPCOUNT64(w[i]);
        b += BLM__POPCOUNT64(w[i + 1]);
        c += BLM__POPCOUNT64(w[i + 2]);
        d += BLM__POPCOUNT64(w[i + 3]);
    }
    for (; i < n; i++)
        a += BLM__POPCOUNT64(w[i]);
    return a + b + c + d;
}

AVX2 static uint64_t popcount_or(const uint64_t *x, const uint64_t *y, uint64_t n)
{
    uint64_t a = 0, b = 0, i = 0;
    for (; i + 2 <= n; i += 2) {
        a += BLM__POPCOUNT64(x[i] | y[i]);
        b += BLM__POPCOUNT64(x[i + 1] | y[i + 1]);
    }
    for (; i < n; i++)
        a += BLM__POPCOUNT64(x[i] | y[i]);
    return a + b;
}

AVX2 static void or_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] |= src[i];
}

AVX2 static void and_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] &= src[i];
}

const struct blm_kernel blm__kernel_avx2 = {
    .name                 = "avx2",
    .hash8                = hash8,
    .lines_add            = lines_add,
    .lines_add_shared     = lines_add_shared,
    .lines_check          = lines_check,
    .lines_check_one      = lines_check_one,
    .line_check_key       = blm__avx2_line_check_key,
    .line_add_key         = blm__avx2_line_add_key,
    .lines_check_key      = blm__avx2_lines_check_key,
    .lines_add_key        = blm__avx2_lines_add_key,
    .lines_add_key_shared = blm__avx2_lines_add_key_shared,
    .chain_add            = chain_add,
    .chain_add_shared     = chain_add_shared,
    .chain_check          = chain_check,
    .chain_check_one      = chain_check_one,
    .chain_check_key      = blm__avx2_chain_check_key,
    .chain_add_key        = blm__avx2_chain_add_key,
    .chain_add_key_shared = blm__avx2_chain_add_key_shared,
    .popcount             = popcount,
    .popcount_or          = popcount_or,
    .or_into              = or_into,
    .and_into             = and_into,
    .counters             = &blm__counters_avx2,
    .layers_check         = blm__layers_check_avx2,
};
#endif
