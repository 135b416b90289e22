/* SPDX-License-Identifier: MIT */
/* Counters by one kernel, judged by another: the same counters and the same answers, from hashes and from
 * keys, for adds and removes, where counters are stuck and where a key's lines meet. */
#ifndef BLM_UNIT_KERNEL_COMPARE_COUNTERS_H
#define BLM_UNIT_KERNEL_COMPARE_COUNTERS_H

#include "core/kernel/counters.h"
#include "unit/core/kernel/compare.h"

#define COUNTER_KEYS 300u

static inline struct blm__shape counter_shape(uint64_t count, uint32_t k, uint32_t lines)
{
    struct blm__shape s = { .kind       = BLM_COUNTING,
                            .rule       = BLM__SHORT,
                            .bits       = count * BLM__SHORT_CELLS,
                            .line_count = count,
                            .probes     = k,
                            .lines      = lines,
                            .cell_bits  = 4 };
    return s;
}

/* Counters of all values, more of them 0, and many at 15. */
static inline void counters_fill(struct blm__layer *x, struct blm__layer *y, struct rng *r)
{
    for (uint64_t i = 0; i < x->word_count; i++) {
        x->words[i] = rng_next(r);
        if (rng_below(r, 3) == 0)
            x->words[i] |= rng_next(r) | rng_next(r);
    }
    memcpy(y->words, x->words, (size_t)x->word_count * 8);
}

/* A mark too many is no fault, one too few is. */
static inline void marks_cover(const uint8_t *least, const uint8_t *got, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(got[i] || !least[i]);
}

static inline void agree_on_counter_shape(const struct blm__kernel *oracle,
                                          const struct blm__kernel *other, struct blm__shape s,
                                          bool full, bool marks)
{
    struct blm__layer           x = bare_layer(s, true), y = bare_layer(s, s.probes % 2 == 0);
    struct rng                  r = { s.line_count * 64 + s.probes * 8 + s.lines + full };
    const struct blm__counters *a = oracle->counters, *b = other->counters;
    uint64_t                    keys[COUNTER_KEYS], h[COUNTER_KEYS], flip = rng_next(&r);
    uint8_t                     fx[COUNTER_KEYS + 1], fy[COUNTER_KEYS + 1];
    uint8_t                     mx[2100] = { 0 }, my[2100] = { 0 };
    const size_t                bytes = (size_t)x.word_count * 8;
    if (full)
        counters_fill(&x, &y, &r);
    if (marks) {
        x.marks      = mx;
        y.marks      = my;
        x.mark_shift = y.mark_shift = 5;
    }
    for (size_t round = 0; round < rounds_of(40); round++) {
        size_t n     = round % 3 ? rng_size(&r, 70) : rng_size(&r, COUNTER_KEYS + 1);
        bool   eight = rng_below(&r, 2) && s.lines == 1;
        some_hashes(&r, keys, n);
        if (eight)
            oracle->hash8(flip, keys, n, h);
        else
            memcpy(h, keys, sizeof h);
        memset(fx, 0xee, sizeof fx);
        memset(fy, 0xee, sizeof fy);
        size_t some = a->check(&x, h, n, fx);
        assert_int_equal(eight ? b->check8(&y, other, flip, keys, n, fy) : b->check(&y, h, n, fy),
                         some);
        assert_memory_equal(fx, fy, sizeof fx); /* and nothing written past n */
        some = a->add(&x, h, n, fx);
        assert_int_equal(eight ? b->add8(&y, other, flip, keys, n, fy) : b->add(&y, h, n, fy),
                         some);
        assert_memory_equal(fx, fy, sizeof fx);
        assert_memory_equal(x.words, y.words, bytes);
        marks_cover(mx, my, sizeof mx);
        assert_int_equal(b->check(&y, h, n, fy), n);
        if (round % 2)
            some_hashes(&r, h, n / 2); /* half of them others */
        memset(fx, 0xee, sizeof fx);
        memset(fy, 0xee, sizeof fy);
        some = a->remove(&x, h, n, fx);
        assert_int_equal(b->remove(&y, h, n, fy), some);
        assert_memory_equal(fx, fy, sizeof fx);
        assert_memory_equal(x.words, y.words, bytes);
    }
    bare_free(&x);
    bare_free(&y);
}

static inline void agree_on_counters(const struct blm__kernel *oracle,
                                     const struct blm__kernel *other)
{
    static const uint64_t counts[] = { 1, 2, 7, 64, 1001, 8193 };
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        for (uint32_t k = 1; k <= 8; k++)
            for (uint32_t lines = 1; lines <= BLM__MAX_SHORT; lines++)
                if (counts[i] < 1000 || (k == 6 && lines < 3))
                    agree_on_counter_shape(oracle, other, counter_shape(counts[i], k, lines),
                                           (k + lines) % 2, (k + lines) % 3 == 0);
}

/* Around 2^32 lines, where 32-bit arithmetic on their numbers would show. */
static inline void agree_on_vast_counters(const struct blm__kernel *oracle,
                                          const struct blm__kernel *other)
{
    static const uint64_t counts[] = { 0xffffffffu, 0x100000000u, 0x100000001u };
    size_t                bytes    = (size_t)(0x100000001u * 64);
    void                 *a = vast_map(bytes), *b = vast_map(bytes);
    if (!a || !b)
        skip(); /* no such addresses here */
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        for (uint32_t lines = 1; lines <= 2; lines++) {
            struct blm__layer x = { .shape = counter_shape(counts[i], 6, lines) }, y;
            struct rng        r = { counts[i] + lines };
            uint64_t          h[128];
            uint8_t           fx[128], fy[128];
            x.word_count = counts[i] * 8;
            y            = x;
            x.words      = a;
            y.words      = b;
            some_hashes(&r, h, 128);
            assert_int_equal(oracle->counters->add(&x, h, 128, fx),
                             other->counters->add(&y, h, 128, fy));
            assert_memory_equal(fx, fy, 128);
            assert_int_equal(oracle->counters->check(&y, h, 128, fx), 128);
            assert_int_equal(other->counters->check(&x, h, 128, fy), 128);
            madvise(a, bytes, MADV_DONTNEED); /* zeroes again */
            madvise(b, bytes, MADV_DONTNEED);
        }
    munmap(a, bytes);
    munmap(b, bytes);
}

#endif
