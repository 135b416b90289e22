/* SPDX-License-Identifier: MIT */
/* AVX-512: which words of a line a key uses, and eight lines tested at once. */
#ifndef BLM_CORE_KERNEL_AVX512_LINE_H
#define BLM_CORE_KERNEL_AVX512_LINE_H

#include "core/kernel/avx512.h"

#ifdef BLM__HAVE_AVX512
#include "core/kernel/lines.h"

static const _Alignas(64) uint8_t blm__avx512_used[9][8] = BLM__LINE_TABLE(BLM__LINE_BYTE);

/* Bit j: word j of the line does not have what the key has there, used or not. */
typedef __mmask8 (*blm__avx512_lacking)(const void *line, uint64_t x);

/* Of eight keys: each leaves a byte of the words that lack it, and one comparison with the words that
 * count answers for all. Seven instructions a key where a test by itself takes fourteen, so that more
 * keys fit what the processor looks ahead. */
BLM__AVX512_INLINE void blm__avx512_test8(const uint64_t *words, const uint64_t *at,
                                          const uint64_t *x, uint32_t k, uint8_t *maybe,
                                          blm__avx512_lacking lacks)
{
    const uint8_t *line = (const uint8_t *)words;
    __mmask16      a    = _mm512_kunpackb(lacks(line + at[1], x[1]), lacks(line + at[0], x[0]));
    __mmask16      b    = _mm512_kunpackb(lacks(line + at[3], x[3]), lacks(line + at[2], x[2]));
    __mmask16      c    = _mm512_kunpackb(lacks(line + at[5], x[5]), lacks(line + at[4], x[4]));
    __mmask16      d    = _mm512_kunpackb(lacks(line + at[7], x[7]), lacks(line + at[6], x[6]));
    __mmask64      all  = _mm512_kunpackd(_mm512_kunpackw(d, c), _mm512_kunpackw(b, a));
    __m128i        turn = _mm512_cvtepi64_epi8(_mm512_srli_epi64(_mm512_loadu_si512(x), 61));
    __m128i        used = _mm_loadl_epi64((const void *)blm__avx512_used[k]);
    __m128i        miss = _mm_cvtsi64_si128((long long)all);
    miss                = _mm_and_si128(miss, _mm_shuffle_epi8(used, turn));
    __m128i has         = _mm_cmpeq_epi8(miss, _mm_setzero_si128());
    _mm_storel_epi64((void *)maybe, _mm_and_si128(has, _mm_set1_epi8(1)));
}
#endif
#endif
