/* SPDX-License-Identifier: MIT */
/* Double hashing, the turns of four keys in one vector: what steps.c does, bit for bit. For m below
 * 2^32, so that a product with m is two of 32 bits; larger filters wait for memory, not for us. */
#include "core/kernel/flow.h"
#include "core/kernel/hands.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/avx2.h"

BLM__AVX2_INLINE __m256i wide(uint64_t v) { return _mm256_set1_epi64x((long long)v); }
BLM__AVX2_INLINE __m256i sum(__m256i a, __m256i b) { return _mm256_add_epi64(a, b); }
BLM__AVX2_INLINE __m256i high(__m256i v) { return _mm256_srli_epi64(v, 32); }
BLM__AVX2_INLINE __m256i product(__m256i a, __m256i b) { return _mm256_mul_epu32(a, b); }

/* v · hi + ⌊v · lo / 2^64⌋ mod 2^64, at most 3 less: the product of both low halves is left out,
 * and two are cut where the sum would have been. */
BLM__AVX2_INLINE __m256i turn_of(const struct blm__steps *s, __m256i v)
{
    const __m256i hi = wide(s->hi), lo = wide(s->lo), up = high(v), lo_up = high(lo);
    __m256i       part  = sum(high(product(up, lo)), high(product(v, lo_up)));
    __m256i       whole = sum(product(up, hi), product(v, high(hi)));
    part                = sum(part, product(up, lo_up));
    return sum(part, sum(product(v, hi), _mm256_slli_epi64(whole, 32)));
}

BLM__AVX2_INLINE void list_any(const struct blm__steps *s, const uint64_t *a, const uint64_t *b,
                               uint32_t k, uint64_t *pos, bool split)
{
    const __m256i m = wide(s->m), wrap = wide(s->turn), sign = wide((uint64_t)1 << 63);
    const __m128i spare = _mm_cvtsi32_si128((int)s->spare);
    __m256i       c     = _mm256_sll_epi64(blm__avx2_load4(a), spare);
    __m256i       step  = _mm256_sll_epi64(blm__avx2_load4(b), spare);
    __m256i       at    = sum(turn_of(s, _mm256_srl_epi64(c, spare)), wide(s->hi >> 1));
    __m256i       by    = turn_of(s, _mm256_srl_epi64(step, spare));
    /* Compared as signed numbers, because there is nothing else: so both with their top bit
     * turned. */
    const __m256i limit = _mm256_xor_si256(step, sign);
    c                   = _mm256_xor_si256(c, sign);
    BLM__UNROLL_8
    for (uint32_t j = 0; j < k; j++, pos += 4) {
        __m256i p = sum(product(high(at), m), high(product(at, m))), place = high(p);
        if (split)
            place = _mm256_blend_epi32(place, _mm256_srli_epi64(p, 6), 0xaa);
        blm__avx2_store4(pos, place);
        c  = sum(c, step);
        at = sum(at, _mm256_sub_epi64(by, _mm256_and_si256(_mm256_cmpgt_epi64(limit, c), wrap)));
    }
}

BLM__AVX2_INLINE void list(const struct blm__steps *s, const uint64_t *a, const uint64_t *b,
                           uint32_t k, uint64_t *pos)
{
    list_any(s, a, b, k, pos, false);
}

/* With the number of its word in the upper half of a position, for flows. */
BLM__AVX2_INLINE void list_split(const struct blm__steps *s, const uint64_t *a, const uint64_t *b,
                                 uint32_t k, uint64_t *pos)
{
    list_any(s, a, b, k, pos, true);
}

BLM__AVX2 static size_t add(struct blm__layer *l, const uint64_t *a, const uint64_t *b, size_t n,
                            uint8_t *fresh, bool shared)
{
    if (l->steps.m >> 32)
        return blm__stepper_portable.add(l, a, b, n, fresh, shared);
    return blm__steps_add_loop(l, a, b, n, fresh, shared, list);
}

BLM__AVX2 static size_t check(const struct blm__layer *l, const uint64_t *a, const uint64_t *b,
                              size_t n, uint8_t *maybe)
{
    if (l->steps.m >> 32)
        return blm__stepper_portable.check(l, a, b, n, maybe);
    return blm__steps_check_loop(l, a, b, n, maybe, list);
}

static bool narrow(const struct blm__steps_flow *w) { return w->layer->steps.m >> 32 == 0; }

BLM__AVX2 static void flow_check(struct blm__steps_flow *w)
{
    blm__flow_check_loop(w, list_split, 32);
}
BLM__AVX2 static size_t flow_add(struct blm__steps_flow *w)
{
    return blm__flow_add_loop(w, list_split, 32);
}

static void check_flow(struct blm__steps_flow *w)
{
    (narrow(w) ? flow_check : blm__stepper_portable.check_flow)(w);
}

static size_t add_flow(struct blm__steps_flow *w)
{
    return (narrow(w) ? flow_add : blm__stepper_portable.add_flow)(w);
}

const struct blm__stepper blm__stepper_avx2 = {
    add,
    check,
    blm__steps_follow_avx2,
    blm__hands_if_absent,
    blm__steps_check_chain_avx2,
    blm__steps_add_chain_avx2,
    check_flow,
    add_flow,
    blm__murmur4_avx2,
    blm__murmur_8_avx2,
    blm__murmur3_8_avx2,
};

#ifdef BLM__HAVE_AVX512
const struct blm__stepper blm__stepper_avx512 = {
    add,
    check,
    blm__steps_follow_avx512,
    blm__hands_always,
    blm__steps_check_chain_avx512,
    blm__steps_add_chain_avx512,
    check_flow,
    add_flow,
    blm__murmur4_avx2,
    blm__murmur_8_avx512,
    blm__murmur3_8_avx512,
};
#endif
#endif
