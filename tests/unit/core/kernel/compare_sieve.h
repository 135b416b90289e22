/* SPDX-License-Identifier: MIT */
/* Chains by the sieve of one kernel (core/kernel/sieve.h), judged by another's check: layers from empty
 * to full, so that no key, some, most or all pass their first bits, in any order. */
#ifndef BLM_UNIT_KERNEL_COMPARE_SIEVE_H
#define BLM_UNIT_KERNEL_COMPARE_SIEVE_H

#include "core/kernel/loops.h"
#include "unit/core/kernel/compare.h"

#define SIEVE_KEYS 3000u

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

static inline void agree_on_sieve(const struct blm__kernel *oracle, const struct blm__kernel *other,
                                  struct blm__shape s, unsigned eighths)
{
    struct rng        r = { s.bits + s.probes + eighths };
    struct blm__layer l = bare_layer(s, eighths % 2);
    uint64_t          h[SIEVE_KEYS];
    uint8_t           is[SIEVE_KEYS + 1], got[SIEVE_KEYS + 1];
    set_eighths(&l, eighths, &r);
    some_hashes(&r, h, SIEVE_KEYS);
    for (size_t i = 0; i < SIEVE_KEYS;
         i++) /* stretches that are there, and others longer than the ring of blocks */
        if (i / 750 % 2)
            blm__chain_set_plain(l.words, s.bits, s.probes, h[i]);
    for (size_t n = 0; n <= SIEVE_KEYS; n += n < 40 ? 1 : 740) {
        memset(is, 9, sizeof is);
        memset(got, 9, sizeof got);
        size_t hits = oracle->chain_check(&l, h + SIEVE_KEYS - n, n, is);
        assert_int_equal(other->chain_sieve(&l, h + SIEVE_KEYS - n, n, got), hits);
        assert_memory_equal(got, is, n + 1);
    }
    bare_free(&l);
}

static inline void agree_on_sieves(const struct blm__kernel *oracle,
                                   const struct blm__kernel *other)
{
    static const uint32_t ks[] = { 1, 2, 3, 4, 7, 8, 9, 16, 17 };
    for (size_t i = 0; i < COUNT_OF(ks); i++)
        for (unsigned eighths = 0; eighths <= 8; eighths += 2)
            agree_on_sieve(oracle, other, chain_shape(i % 2 ? 100003 : 4000037, ks[i]), eighths);
}

#endif
