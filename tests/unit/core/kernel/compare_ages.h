/* SPDX-License-Identifier: MIT */
/* Ages by one kernel, judged by another: the same words, the same answers and the same marks, from hashes
 * and from keys, whatever the turn. */
#ifndef BLM_UNIT_KERNEL_COMPARE_AGES_H
#define BLM_UNIT_KERNEL_COMPARE_AGES_H

#include "core/ages.h"
#include "core/kernel/ages.h"
#include "unit/core/kernel/compare.h"

#define AGES_KEYS 300u

static inline struct blm__shape ages_shape(uint64_t spans, uint32_t k, uint32_t lines,
                                           uint32_t ages)
{
    struct blm__shape s = { .kind       = BLM_WINDOW,
                            .rule       = BLM__AGES,
                            .line_count = spans,
                            .probes     = k,
                            .lines      = lines,
                            .cell_bits  = 1,
                            .aux        = { 1000, ages } };
    s.bits              = blm__ages_words(spans, ages) * 64;
    return s;
}

/* The keys of a round: their bytes, for kernels that hash them, and their hashes; without bytes, hashes
 * with the extremes. Some come back. */
struct ages_keys {
    uint64_t keys[AGES_KEYS], h[AGES_KEYS], flip;
    size_t   n;
    bool     bytes;
};

static inline void ages_fill(struct ages_keys *k, const struct blm__kernel *oracle, struct rng *r)
{
    k->n     = 1 + rng_size(r, rng_below(r, 4) ? 70 : AGES_KEYS);
    k->bytes = rng_below(r, 2) != 0;
    some_hashes(r, k->h, k->n);
    for (size_t i = 0; i < k->n; i += 3)
        k->h[i] = 0x9e3779b97f4a7c15u * (1 + rng_below(r, 40)); /* come back */
    if (k->bytes) {
        memcpy(k->keys, k->h, sizeof k->keys);
        oracle->hash8(k->flip, k->keys, k->n, k->h);
    }
}

static inline size_t ages_check(const struct blm__ages *a, const struct blm__layer *l,
                                const struct blm__age_turn *t, const struct ages_keys *k,
                                uint8_t *maybe)
{
    return k->bytes && a->check8 ? a->check8(l, t, k->flip, k->keys, k->n, maybe)
                                 : a->check(l, t, k->h, k->n, maybe);
}

static inline size_t ages_add(const struct blm__ages *a, struct blm__layer *l,
                              const struct blm__age_turn *t, const struct ages_keys *k, bool shared,
                              uint8_t *fresh)
{
    if (shared)
        return a->add_shared(l, t, k->h, k->n, fresh);
    return k->bytes && a->add8 ? a->add8(l, t, k->flip, k->keys, k->n, fresh)
                               : a->add(l, t, k->h, k->n, fresh);
}

/* Turns follow each other, also by more than a round, and tags come round. */
static inline void agree_on_turns(const struct blm__kernel *oracle, const struct blm__kernel *other,
                                  struct blm__shape s, bool shared, bool marks)
{
    struct blm__layer       x = bare_layer(s, true), y = bare_layer(s, false);
    struct rng              r    = { s.line_count + s.probes };
    uint64_t                turn = 0, known = 0, fresh = 0;
    const struct blm__ages *a = oracle->ages, *b = other->ages;
    struct ages_keys        k        = { .flip = rng_next(&r) };
    uint8_t                 mx[2100] = { 0 }, my[2100] = { 0 };
    if (marks) {
        x.marks      = mx;
        y.marks      = my;
        x.mark_shift = y.mark_shift = 5;
    }
    for (size_t round = 0; round < rounds_of(150);
         round++, turn += rng_below(&r, round % 10 ? 3 : 300)) {
        struct blm__age_turn t = blm__age_turn(turn, blm__ages_of(&s));
        uint8_t              fx[AGES_KEYS + 1], fy[AGES_KEYS + 1];
        ages_fill(&k, oracle, &r);
        memset(fx, 0xee, sizeof fx);
        memset(fy, 0xee, sizeof fy);
        size_t now = a->check(&x, &t, k.h, k.n, fx);
        assert_int_equal(ages_check(b, &y, &t, &k, fy), now);
        assert_memory_equal(fx, fy, sizeof fx); /* and nothing written past n */
        known += now;
        now = (shared ? a->add_shared : a->add)(&x, &t, k.h, k.n, fx);
        assert_int_equal(ages_add(b, &y, &t, &k, shared, fy), now);
        assert_memory_equal(fx, fy, sizeof fx);
        fresh += now;
        assert_memory_equal(x.words, y.words, (size_t)x.word_count * 8);
        assert_memory_equal(mx, my, sizeof mx);
        if (!shared) /* that one leaves words alone that look younger, as old ones may that no turn visited */
            assert_int_equal(ages_check(b, &y, &t, &k, fy), k.n);
    }
    assert_true(known > 0 && fresh > 0);
    bare_free(&x);
    bare_free(&y);
}

static inline void agree_on_ages(const struct blm__kernel *oracle, const struct blm__kernel *other)
{
    for (uint32_t ages = BLM__AGES_LEAST; ages <= BLM__AGES_MOST; ages *= 2)
        for (uint32_t k = 1; k <= 8; k++)
            for (uint32_t lines = 1; lines <= BLM__MAX_LINES; lines++) {
                struct blm__shape s   = ages_shape(k % 2 ? 37 : 501, k, lines, ages);
                uint32_t          way = (k + lines) % 3;
                agree_on_turns(oracle, other, s, false, false);
                if (way)
                    agree_on_turns(oracle, other, s, way == 1, way == 2);
            }
}

/* Around 2^32 spans, where 32-bit arithmetic on their numbers would show. */
static inline void agree_on_vast_ages(const struct blm__kernel *oracle,
                                      const struct blm__kernel *other)
{
    static const uint64_t counts[] = { 0xffffffffu, 0x100000000u, 0x100000001u };
    size_t                bytes    = (size_t)((0x100000001u + 10) * 64);
    void                 *a = vast_map(bytes), *b = vast_map(bytes);
    if (!a || !b)
        skip(); /* no such addresses here */
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct blm__layer    x = { .shape = ages_shape(counts[i], 6, 2, 8) }, y;
        struct blm__age_turn t = blm__age_turn(11, 8);
        struct rng           r = { counts[i] };
        uint64_t             h[128];
        uint8_t              fx[128], fy[128];
        x.word_count = blm__shape_words(&x.shape);
        y            = x;
        x.words      = a;
        y.words      = b;
        some_hashes(&r, h, 128);
        assert_int_equal(oracle->ages->add(&x, &t, h, 128, fx),
                         other->ages->add(&y, &t, h, 128, fy));
        assert_memory_equal(fx, fy, 128);
        assert_int_equal(oracle->ages->check(&y, &t, h, 128, fx), 128);
        assert_int_equal(other->ages->check(&x, &t, h, 128, fy), 128);
        madvise(a, bytes, MADV_DONTNEED); /* zeroes again */
        madvise(b, bytes, MADV_DONTNEED);
    }
    munmap(a, bytes);
    munmap(b, bytes);
}

#endif
