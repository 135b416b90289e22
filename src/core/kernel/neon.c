/* SPDX-License-Identifier: MIT */
/*
 * NEON, which every AArch64 processor has: a line is four registers of two words. A shift by a
 * vector of counts makes the bits, two at a time, from a table of ones and zeroes (a word that a
 * key does not use gets a zero); what the line lacks of them is joined, and is nothing or not.
 *
 * Checked bit for bit against the portable kernel under qemu (tests/kernel/test_neon.py) where
 * there is no such machine. Its speed was not measured: there was none to measure on.
 *
 * Shared filters: adds are atomic, word by word. A check's 16-byte load is made of whole 8-byte
 * words: the architecture promises that for aligned elements of a vector load (Arm ARM, B2.2: each
 * element is an access of its own), and the order in which they are read does not matter here.
 */
#include "core/kernel/kernel.h"

#ifdef BLM__HAVE_NEON
#include <arm_neon.h>

#include "core/kernel/ages.h"
#include "core/kernel/buckets.h"
#include "core/kernel/counters.h"
#include "core/kernel/fuse.h"
#include "core/kernel/layers.h"
#include "core/kernel/lines.h"
#include "core/kernel/steps.h"

#define NEON
#define NEON_INLINE static inline __attribute__((always_inline))

/* ---- one line ---- */

static const _Alignas(64) uint64_t ones[9][8][8] = BLM__LINE_TABLE(BLM__LINE_ONES);

/* A key's bits of words 2i and 2i + 1; v: x >> {13, 19}. */
NEON_INLINE uint64x2_t bits_of(uint64x2_t v, const uint64_t *one)
{
    return vshlq_u64(vld1q_u64(one), vreinterpretq_s64_u64(vandq_u64(v, vdupq_n_u64(63))));
}

struct mask {
    uint64x2_t w[4];
};

NEON_INLINE struct mask mask_of(uint64_t x, uint32_t k)
{
    static const int64_t right[2] = { -13, -19 };
    const uint64_t      *one      = ones[k][x >> 61];
    uint64x2_t           v        = vshlq_u64(vdupq_n_u64(x), vld1q_s64(right));
    struct mask          m        = { { bits_of(v, one), bits_of(vshrq_n_u64(v, 12), one + 2),
                                        bits_of(vshrq_n_u64(v, 24), one + 4),
                                        bits_of(vshrq_n_u64(v, 36), one + 6) } };
    return m;
}

NEON_INLINE bool any(uint64x2_t v) { return vmaxvq_u32(vreinterpretq_u32_u64(v)) != 0; }

NEON_INLINE bool test_line(const uint64_t *line, uint64_t x, uint32_t k)
{
    struct mask m = mask_of(x, k);
    uint64x2_t  a =
        vorrq_u64(vbicq_u64(m.w[0], vld1q_u64(line)), vbicq_u64(m.w[1], vld1q_u64(line + 2)));
    uint64x2_t b =
        vorrq_u64(vbicq_u64(m.w[2], vld1q_u64(line + 4)), vbicq_u64(m.w[3], vld1q_u64(line + 6)));
    return !any(vorrq_u64(a, b));
}

NEON_INLINE unsigned set_line(struct blm__layer *l, uint64_t *line, uint64_t x, uint32_t k,
                              bool marks)
{
    struct mask m     = mask_of(x, k);
    unsigned    fresh = !test_line(line, x, k);
    if (marks && fresh)
        blm__mark(l, (uint64_t)(line - l->words));
    for (int i = 0; i < 4; i++)
        vst1q_u64(line + 2 * i, vorrq_u64(vld1q_u64(line + 2 * i), m.w[i]));
    return fresh;
}

BLM__VECTOR_LINES(NEON, NEON_INLINE, blm__neon, blm__take_plain, test_line, NULL, set_line)
BLM__VECTOR_LINE(NEON, NEON_INLINE, blm__neon, test_line, set_line)
BLM__VECTOR_CHAINS(NEON, blm__neon)
BLM__CHAIN_FOLLOW(NEON, blm__neon)

/* ---- hashes ---- */

/* Scalar: NEON has no 64-bit multiply, and AArch64 cores multiply a word a cycle. */
static void hash8(uint64_t flip, const void *keys, size_t n, uint64_t *h)
{
    const uint8_t *p = keys;
    for (size_t i = 0; i < n; i++)
        h[i] = blm__xxh3_8(p + 8 * i, flip);
}

/* ---- words ---- */

/* Bits of two words, as two 64-bit sums. */
NEON_INLINE uint64x2_t ones_in(uint64x2_t v)
{
    return vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u64(v)))));
}

static uint64_t popcount(const uint64_t *w, uint64_t n)
{
    uint64x2_t sum = vdupq_n_u64(0);
    uint64_t   i   = 0;
    for (; i + 2 <= n; i += 2)
        sum = vaddq_u64(sum, ones_in(vld1q_u64(w + i)));
    return vaddvq_u64(sum) + (i < n ? BLM__POPCOUNT64(w[i]) : 0);
}

static uint64_t popcount_or(const uint64_t *x, const uint64_t *y, uint64_t n)
{
    uint64x2_t sum = vdupq_n_u64(0);
    uint64_t   i   = 0;
    for (; i + 2 <= n; i += 2)
        sum = vaddq_u64(sum, ones_in(vorrq_u64(vld1q_u64(x + i), vld1q_u64(y + i))));
    return vaddvq_u64(sum) + (i < n ? BLM__POPCOUNT64(x[i] | y[i]) : 0);
}

static void or_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    uint64_t i = 0;
    for (; i + 2 <= n; i += 2)
        vst1q_u64(dst + i, vorrq_u64(vld1q_u64(dst + i), vld1q_u64(src + i)));
    for (; i < n; i++)
        dst[i] |= src[i];
}

static void and_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    uint64_t i = 0;
    for (; i + 2 <= n; i += 2)
        vst1q_u64(dst + i, vandq_u64(vld1q_u64(dst + i), vld1q_u64(src + i)));
    for (; i < n; i++)
        dst[i] &= src[i];
}

/* ---- what has no vectors here yet ---- */

static void hash_many(const struct blm__hasher *by, const blm_key *keys, size_t n, uint64_t *h)
{
    blm__hasher_many(by, keys, n, h);
}

static void quick(struct blm__quick *q, uint32_t k)
{
    (void)q;
    (void)k;
}

static size_t layers_add(const struct blm__stack *s, struct blm__layer *l, const uint64_t *h,
                         size_t n, uint8_t *fresh)
{
    return blm__layers_ask_add(s, l, h, n, fresh, &blm__kernel_neon);
}

BLM__KEYS_LOOPS(blm__neon, &blm__kernel_neon)

const struct blm__kernel blm__kernel_neon = {
    .name            = "neon",
    .hash8           = hash8,
    .hash_many       = hash_many,
    .line_add_keys   = blm__neon_line_add_keys,
    .line_check_keys = blm__neon_line_check_keys,
    BLM__VECTOR_ROWS(blm__neon),
    .hands_for      = blm__hands_if_absent,
    .quick          = quick,
    .line_check_key = blm__neon_line_check_key,
    .line_add_key   = blm__neon_line_add_key,
    .popcount       = popcount,
    .popcount_or    = popcount_or,
    .or_into        = or_into,
    .and_into       = and_into,
    .counters       = &blm__counters_portable,
    .ages           = &blm__ages_neon,
    .buckets        = &blm__buckets_neon,
    .fuse           = &blm__fuse_portable,
    .stepper        = &blm__stepper_portable,
    .layers_check   = blm__layers_check,
    .layers_add     = layers_add,
};
#endif
