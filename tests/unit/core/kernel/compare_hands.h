/* SPDX-License-Identifier: MIT */
/* Chains by the hands of one kernel (core/kernel/hands.h), judged by another's check: layers from empty
 * to full, so that no key, some, most or all pass their first bits, in any order. */
#ifndef BLM_UNIT_KERNEL_COMPARE_HANDS_H
#define BLM_UNIT_KERNEL_COMPARE_HANDS_H

#include "core/kernel/hands.h"
#include "unit/core/kernel/compare.h"

#define HANDS_KEYS 3000u

/* Words in which a bit is set with a chance of eighths / 8. */
static inline void set_eighths(struct blm__layer *l, unsigned eighths, struct rng *r)
{
    for (uint64_t i = 0; i < l->word_count; i++) {
        uint64_t a = rng_next(r), b = rng_next(r), c = rng_next(r);
        /* Three coins a bit: the chance in binary, from its last digit on. */
        uint64_t w  = eighths & 1 ? a : 0;
        w           = eighths & 2 ? b | w : b & w;
        w           = eighths & 4 ? c | w : c & w;
        l->words[i] = eighths > 7 ? UINT64_MAX : w;
    }
}

/* In runs as an engine gives them. */
static inline size_t by_hands(const struct blm__kernel *v, const struct blm__layer *l,
                              const uint64_t *h, size_t n, uint8_t *maybe)
{
    struct blm__hands s;
    blm__hands_begin(&s, l, l->shape.bits, maybe);
    for (size_t at = 0, run; at < n; at += run) {
        run = n - at < BLM__HANDS_RUN ? n - at : BLM__HANDS_RUN;
        memcpy(s.a + blm__hands_next(&s), h + at, run * sizeof *h);
        v->chain_follow(&s, run);
    }
    v->chain_follow(&s, 0);
    return blm__hands_count(&s);
}

static inline void agree_on_hands_of(const struct blm__kernel *oracle,
                                     const struct blm__kernel *other, struct blm__shape s,
                                     unsigned eighths)
{
    struct rng        r = { s.bits + s.probes + eighths };
    struct blm__layer l = bare_layer(s, eighths % 2);
    uint64_t          h[HANDS_KEYS];
    uint8_t           is[HANDS_KEYS + 1], got[HANDS_KEYS + 1];
    if (eighths)
        set_eighths(&l, eighths, &r);
    some_hashes(&r, h, HANDS_KEYS);
    for (size_t i = 0; i < HANDS_KEYS; i++) /* stretches that are there */
        if (i / 750 % 2)
            blm__chain_set_plain(l.words, s.bits, s.probes, h[i]);
    for (size_t n = BLM__HANDS_RUN; n <= HANDS_KEYS; n += n < 290 ? 1 : 677) {
        memset(is, 9, sizeof is);
        memset(got, 9, sizeof got);
        size_t hits = oracle->chain_check(&l, h + HANDS_KEYS - n, n, is);
        assert_int_equal(by_hands(other, &l, h + HANDS_KEYS - n, n, got), hits);
        assert_memory_equal(got, is, n + 1);
    }
    bare_free(&l);
}

static inline void agree_on_hands(const struct blm__kernel *oracle, const struct blm__kernel *other)
{
    static const uint32_t ks[] = { 1, 2, 3, 7, 8, 15, 16 };
    for (size_t i = 0; i < COUNT_OF(ks); i++)
        for (unsigned eighths = 0; eighths <= 8; eighths += 2)
            agree_on_hands_of(oracle, other, chain_shape(i % 2 ? 100003 : 4000037, ks[i]), eighths);
    /* The largest that they take: half of its positions are above 2^31. */
    agree_on_hands_of(oracle, other, chain_shape(UINT32_MAX, 7), 0);
}

#endif
