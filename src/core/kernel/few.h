/* SPDX-License-Identifier: MIT */
/*
 * Checks of a batch that is smaller than the pipeline of stream.h is long: all lines are asked for, then
 * all are looked up. Without what a rolling ring wants, and with the answers counted while they are
 * in a register, a batch of 32 is 37 instructions a key where those loops take 44 (41 in cache).
 *
 * Zen 3, ns a key in batches of 32: in cache 3.2 → 3.0, 1e8 keys 14.0 → 13.4 where RocksDB's way takes
 * 14.0, of which the lines, 32 at a time and nothing else, take 7.7. The rest is not hidden: what a
 * call does is longer than the processor looks ahead, so its lines are not asked for while the last
 * ones of the call before are on their way. The hint makes no difference there; all keys hashed
 * before the first is asked for, it takes 1.5 more. A step of eight is taken one before it is asked for:
 * without that a batch of 32 took 1.5 times as long on Emerald Rapids (1e7 keys, 0.9 and 0.5 of
 * RocksDB's).
 */
#ifndef BLM_CORE_KERNEL_FEW_H
#define BLM_CORE_KERNEL_FEW_H

#include "core/kernel/stream.h"

#ifdef __wasm__
#define BLM__FEW 0u /* nothing can be fetched ahead there */
#else
#define BLM__FEW 64u /* keys, at most */
#endif

/* Looks up the step of keys whose ring begins at j. Their answers, a byte each. */
BLM__INLINE uint64_t blm__few_test8(struct blm__place p, const struct blm__ring *r, size_t j,
                                    enum blm__reach reach, uint8_t *maybe, blm__line_test_fn test,
                                    blm__line_test8_fn test8)
{
    uint64_t eight = 0;
    if (test8) {
        blm__ring_test8(p, r, j, reach, maybe, test8);
        memcpy(&eight, maybe, 8);
        return eight;
    }
    for (size_t q = 0; q < BLM__STEP; q++) {
        bool in = test(blm__ring_line(p, r, j + q, reach, true), r->x[j + q], p.k);
        eight |= (uint64_t)in << 8 * q;
    }
    memcpy(maybe, &eight, 8); /* kernels with streams are of little-endian machines */
    return eight;
}

BLM__INLINE size_t blm__stream_few(struct blm__place p, struct blm__stream s, uint8_t *maybe,
                                   enum blm__reach reach, blm__take_fn take, blm__line_test_fn test,
                                   blm__line_test8_fn test8)
{
    const size_t     whole = s.n - s.n % BLM__STEP;
    struct blm__ring r;
    struct blm__odd  odd;
    uint64_t         each = 0; /* at most BLM__FEW / 8 in a byte */
    size_t           sum  = 0;
    blm__odd_take(&odd, p, &s, reach);
    BLM__PREFETCH_NEW((void *)((uintptr_t)maybe + BLM__ANSWERS_AHEAD)); /* of the next call's */
    if (whole)
        blm__ring_take(p, &s, 0, &r, reach, true, take);
    for (size_t i = 0; i < whole; i += BLM__STEP) {
        if (i + BLM__STEP < whole) /* so that the fetches do not wait for products */
            blm__ring_take(p, &s, i + BLM__STEP, &r, reach, true, take);
        for (size_t q = 0; q < BLM__STEP; q++)
            blm__ring_fetch(p, &r, i + q, reach, false, true);
    }
    for (size_t i = 0; i < whole; i += BLM__STEP)
        each += blm__few_test8(p, &r, i, reach, maybe + i, test, test8);
    for (size_t q = 0; q < odd.n; q++)
        sum += maybe[whole + q] = test(blm__place_line(p, odd.h[q]), blm__line_x(odd.h[q]), p.k);
    each = (each & 0x00ff00ff00ff00ffu) + (each >> 8 & 0x00ff00ff00ff00ffu);
    return sum + (size_t)(each * 0x0001000100010001u >> 48);
}

/* The loop that fits the layer. */
BLM__INLINE size_t blm__line_check(const struct blm__layer *l, struct blm__stream s, uint8_t *maybe,
                                   blm__take_fn take, blm__line_test_fn test,
                                   blm__line_test8_fn test8)
{
    struct blm__place p = blm__place_of(l);
    if (BLM__FEW && s.n <= BLM__FEW)
        return p.count >> 32 ? blm__stream_few(p, s, maybe, BLM__VAST, take, test, test8)
                             : blm__stream_few(p, s, maybe, BLM__FAR, take, test, test8);
    switch (blm__reach_of(l)) {
    case BLM__NEAR:
        return blm__stream_check(p, s, maybe, BLM__NEAR, take, test, test8);
    case BLM__FAR:
        return blm__stream_check(p, s, maybe, BLM__FAR, take, test, test8);
    default:
        return blm__stream_check(p, s, maybe, BLM__VAST, take, test, test8);
    }
}

#endif
