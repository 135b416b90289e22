/* SPDX-License-Identifier: MIT */
/*
 * AVX2: a 512-bit line is two vectors of four words. One variable shift makes the four bits a key
 * has in half a line, and one test instruction asks whether all of them are set.
 *
 * Shared filters: adds go word by word with atomic operations, as in the portable kernel. Checks
 * load 32 bytes at once; on x86-64 an aligned 8-byte lane of such a load is never torn, so a check
 * sees each word either before or after a concurrent add. (No language rule says so, which is why
 * the thread tests run under TSan on the portable kernel.)
 */
#include "core/kernel/kernel.h"

#ifdef BLM__HAVE_AVX2
#include <immintrin.h>

#include "core/hash/xxh3.h"
#include "core/kernel/loops.h"

#define AVX2 __attribute__((target("avx2,bmi2,popcnt")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,bmi2,popcnt")))

/* All ones in the 64-bit lanes whose word is used, for k words rotated by r: [k][r][word]. */
#define ON(p, j) (((p) >> (j) & 1) ? ~0LL : 0)
#define ROT(p, r) (((p) << (r) | (p) >> (8 - (r))) & 0xff)
#define LANES(p) { ON(p, 0), ON(p, 1), ON(p, 2), ON(p, 3), ON(p, 4), ON(p, 5), ON(p, 6), ON(p, 7) }
#define ROW(p)                                                                          \
    { LANES(ROT(p, 0)), LANES(ROT(p, 1)), LANES(ROT(p, 2)), LANES(ROT(p, 3)),           \
      LANES(ROT(p, 4)), LANES(ROT(p, 5)), LANES(ROT(p, 6)), LANES(ROT(p, 7)) }
static const _Alignas(64) long long lanes[9][8][8] = {
    ROW(0x00), ROW(0x01), ROW(0x03), ROW(0x0b), ROW(0x17), ROW(0x2f), ROW(0x3f), ROW(0x7f), ROW(0xff),
};

struct mask {
    __m256i lo, hi;
};

AVX2_INLINE struct mask mask_of(uint64_t x, uint32_t k)
{
    const __m256i one = _mm256_set1_epi64x(1), field = _mm256_set1_epi64x(63);
    __m256i       v   = _mm256_set1_epi64x((long long)x);
    __m256i a = _mm256_and_si256(_mm256_srlv_epi64(v, _mm256_setr_epi64x(13, 19, 25, 31)), field);
    __m256i b = _mm256_and_si256(_mm256_srlv_epi64(v, _mm256_setr_epi64x(37, 43, 49, 55)), field);
    struct mask m = { _mm256_sllv_epi64(one, a), _mm256_sllv_epi64(one, b) };
    if (k < 8) {
        const __m256i *on = (const __m256i *)(const void *)lanes[k][x >> 61];
        m.lo = _mm256_and_si256(m.lo, _mm256_load_si256(on));
        m.hi = _mm256_and_si256(m.hi, _mm256_load_si256(on + 1));
    }
    return m;
}

AVX2_INLINE bool line_has(const uint64_t *line, struct mask m)
{
    __m256i lo = _mm256_loadu_si256((const __m256i *)(const void *)line);
    __m256i hi = _mm256_loadu_si256((const __m256i *)(const void *)(line + 4));
    return _mm256_testc_si256(lo, m.lo) & _mm256_testc_si256(hi, m.hi);
}

AVX2_INLINE bool has(const struct blm_layer *l, uint64_t h, uint32_t k, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++) {
        uint64_t x = blm__line_x(h);
        if (!line_has(blm__line_at(l, h), mask_of(x, k)))
            return false;
        h = blm__line_next(x);
    }
    return true;
}

AVX2_INLINE unsigned set_line(struct blm_layer *l, uint64_t h, uint64_t x, uint32_t k)
{
    uint64_t   *line = blm__line_at(l, h);
    struct mask m    = mask_of(x, k);
    __m256i    *plo = (__m256i *)(void *)line, *phi = (__m256i *)(void *)(line + 4);
    __m256i     lo = _mm256_loadu_si256(plo), hi = _mm256_loadu_si256(phi);
    unsigned    fresh = !(_mm256_testc_si256(lo, m.lo) & _mm256_testc_si256(hi, m.hi));
    if (l->marks && fresh)
        blm__mark(l, (uint64_t)(line - l->words));
    _mm256_storeu_si256(plo, _mm256_or_si256(lo, m.lo));
    _mm256_storeu_si256(phi, _mm256_or_si256(hi, m.hi));
    return fresh;
}

AVX2 static size_t lines_add(struct blm_layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    bool     small = blm__layer_small(l);
    uint32_t k = l->shape.probes, lines = l->shape.lines;
    size_t   count = 0, ahead = small ? 0 : 32;
    for (size_t i = 0; i < ahead && i < n; i++)
        blm__lines_fetch(l, h[i], true);
    for (size_t i = 0; i < n; i++) {
        if (!small && i + ahead < n)
            blm__lines_fetch(l, h[i + ahead], true);
        uint64_t g = h[i], x = blm__line_x(g);
        unsigned is_new = set_line(l, g, x, k);
        for (uint32_t j = 1; j < lines; j++) {
            g = blm__line_next(x);
            x = blm__line_x(g);
            is_new |= set_line(l, g, x, k);
        }
        count += fresh[i] = (uint8_t)is_new;
    }
    return count;
}

/* Shared: look with a vector first (most often the bits are there and nothing is written), then
 * set the missing ones word by word. */
AVX2 static size_t lines_add_shared(struct blm_layer *l, const uint64_t *h, size_t n,
                                    uint8_t *fresh)
{
    bool     small = blm__layer_small(l);
    uint32_t k = l->shape.probes, lines = l->shape.lines;
    size_t   count = 0, ahead = small ? 0 : 32;
    for (size_t i = 0; i < ahead && i < n; i++)
        blm__lines_fetch(l, h[i], true);
    for (size_t i = 0; i < n; i++) {
        if (!small && i + ahead < n)
            blm__lines_fetch(l, h[i + ahead], true);
        fresh[i] = has(l, h[i], k, lines) ? 0 : (uint8_t)blm__lines_set(l, h[i], true);
        count += fresh[i];
    }
    return count;
}

/* One line a key: everything at distance. */
AVX2_INLINE size_t check_one_line(const struct blm_layer *l, const uint64_t *h, size_t n,
                                  uint8_t *maybe, uint32_t k, size_t ahead)
{
    size_t hits = 0;
    for (size_t i = 0; i < ahead && i < n; i++)
        BLM__PREFETCH(blm__line_at(l, h[i]));
    for (size_t i = 0; i < n; i++) {
        if (ahead && i + ahead < n)
            BLM__PREFETCH(blm__line_at(l, h[i + ahead]));
        hits += maybe[i] = line_has(blm__line_at(l, h[i]), mask_of(blm__line_x(h[i]), k));
    }
    return hits;
}

/* Several lines: the first is tested half way, and only keys that pass fetch the others. */
AVX2_INLINE size_t check_lines(const struct blm_layer *l, const uint64_t *h, size_t n,
                               uint8_t *maybe, uint32_t k, size_t ahead)
{
    size_t hits = 0, half = ahead / 2;
    for (size_t i = 0; i < ahead && i < n; i++)
        BLM__PREFETCH(blm__line_at(l, h[i]));
    for (size_t i = 0; i < n + half; i++) {
        if (i < n) {
            if (ahead && i + ahead < n)
                BLM__PREFETCH(blm__line_at(l, h[i + ahead]));
            uint64_t x = blm__line_x(h[i]);
            maybe[i]   = line_has(blm__line_at(l, h[i]), mask_of(x, k));
            if (maybe[i] && ahead)
                blm__lines_fetch(l, h[i], false);
        }
        if (i >= half && maybe[i - half])
            hits += maybe[i - half] = has(l, h[i - half], k, l->shape.lines);
    }
    return hits;
}

AVX2 static size_t lines_check(const struct blm_layer *l, const uint64_t *h, size_t n,
                               uint8_t *maybe)
{
    size_t   ahead = blm__layer_small(l) ? 0 : 64;
    uint32_t k     = l->shape.probes;
    if (l->shape.lines == 1)
        return k == 8 ? check_one_line(l, h, n, maybe, 8, ahead)
                      : check_one_line(l, h, n, maybe, k, ahead);
    return check_lines(l, h, n, maybe, k, ahead);
}

AVX2 static bool lines_check_one(const struct blm_layer *l, uint64_t h)
{
    return has(l, h, l->shape.probes, l->shape.lines);
}

AVX2 static void hash8(uint64_t seed, const void *keys, size_t n, uint64_t *h)
{
    blm__kernel_portable.hash8(seed, keys, n, h);
}

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
    .name             = "avx2",
    .hash8            = hash8,
    .lines_add        = lines_add,
    .lines_add_shared = lines_add_shared,
    .lines_check      = lines_check,
    .lines_check_one  = lines_check_one,
    .chain_add        = chain_add,
    .chain_add_shared = chain_add_shared,
    .chain_check      = chain_check,
    .chain_check_one  = chain_check_one,
    .popcount         = popcount,
    .popcount_or      = popcount_or,
    .or_into          = or_into,
    .and_into         = and_into,
};
#endif
