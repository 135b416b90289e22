/* SPDX-License-Identifier: MIT */
/* Fingerprints in buckets by one kernel, judged by another: the same answers, and by the same adds the
 * same cells, up to the one for which there is no room. */
#ifndef BLM_UNIT_KERNEL_COMPARE_BUCKETS_H
#define BLM_UNIT_KERNEL_COMPARE_BUCKETS_H

#include "core/kernel/buckets.h"
#include "store/store.h"
#include "unit/core/kernel/compare.h"

/* ---- checks ---- */

static inline struct blm__shape bucket_shape(uint64_t buckets, uint32_t parts, uint32_t bits)
{
    struct blm__shape s = { .kind       = BLM_CUCKOO,
                            .rule       = BLM__BUCKETS,
                            .bits       = buckets * parts * BLM__BUCKET,
                            .line_count = buckets,
                            .probes     = 1,
                            .cell_bits  = bits };
    return s;
}

/* Bit by bit, by the rule of core/probe.h alone. */
static inline void plant(struct blm__layer *l, uint64_t h, uint32_t which)
{
    uint64_t n = l->shape.line_count, parts = l->shape.bits / BLM__BUCKET / n;
    uint32_t f     = l->shape.cell_bits;
    uint64_t print = blm__fingerprint_of(h, f), at = blm__reduce(h, n);
    if (which & 4)
        at = blm__other_bucket(at, print, n);
    at = (at + (parts > 1 ? blm__reduce(h * BLM__D, parts) * n : 0)) * BLM__BUCKET + (which & 3);
    for (uint32_t i = 0; i < f; i++) {
        uint8_t *byte = (uint8_t *)l->words + (at * f + i) / 8,
                bit   = (uint8_t)(1u << (at * f + i) % 8);
        *byte         = (uint8_t)(print >> i & 1 ? *byte | bit : *byte & ~bit);
    }
}

static inline void agree_on_filled(const struct blm__kernel *oracle,
                                   const struct blm__kernel *other, struct blm__shape s)
{
    enum { MOST = 333 };
    struct blm__layer l = bare_layer(s, true);
    struct rng        r = { s.bits + s.cell_bits };
    uint64_t          h[MOST], keys[MOST];
    uint8_t           want[MOST], got[MOST];
    bool              full = s.bits > 64 && s.cell_bits % 2;
    if (full) /* else what is not planted is free */
        rng_bytes(&r, (uint8_t *)l.words, (size_t)(s.bits * s.cell_bits / 8));
    rng_bytes(&r, (uint8_t *)keys, sizeof keys);
    for (size_t some = 0; some <= MOST; some += 1 + some / 3) {
        some_hashes(&r, h, some);
        for (size_t i = 0; i < some; i += 2)
            plant(&l, h[i], (uint32_t)rng_below(&r, 8));
        size_t hits = oracle->buckets->check(&l, h, some, want);
        assert_int_equal(other->buckets->check(&l, h, some, got), hits);
        assert_memory_equal(got, want, some);
        oracle->hash8(some, keys, some, h);
        for (size_t i = 0; i < some; i += 3)
            plant(&l, h[i], (uint32_t)rng_below(&r, 8));
        hits = oracle->buckets->check(&l, h, some, want);
        assert_int_equal(other->buckets->check8(&l, other, some, keys, some, got), hits);
        assert_int_equal(oracle->buckets->check8(&l, oracle, some, keys, some, got), hits);
        assert_memory_equal(got, want, some);
        if (some > 64 && s.bits > 4000)
            assert_true(hits >= some / 3 - 20 && (hits < some || s.cell_bits < 10));
    }
    bare_free(&l);
}

static inline void agree_on_buckets(const struct blm__kernel *oracle,
                                    const struct blm__kernel *other)
{
    static const uint64_t counts[] = { 2, 4, 34, 1000, 70002 };
    for (uint32_t f = 8; f <= 30; f += f > 17 ? 4 : 1)
        for (size_t i = 0; i < COUNT_OF(counts); i++)
            for (uint32_t parts = 1; parts <= 4; parts *= 4)
                agree_on_filled(oracle, other, bucket_shape(counts[i], parts, f));
}

/* ---- adds ---- */

/* Keys of which some come again, at once or later, and hashes. */
static inline void some_adds(struct rng *r, uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        keys[i] =
            i && rng_below(r, 16) == 0 ? keys[i - 1 - rng_below(r, i < 12 ? i : 12)] : rng_next(r);
}

static inline size_t added(const struct blm__kernel *v, struct blm__layer *l, const uint64_t *from,
                           bool keys, size_t n, uint8_t *fresh)
{
    struct blm__body b = {
        .kernel = v, .layers = l, .layer_count = 1, .store = &blm__store_memory
    };
    struct blm__keys k = { .n = n, .hashes = from };
    uint64_t         h[BLM__BATCH];
    if (keys && v->buckets->add && blm__buckets_vectors(l)) { /* raw */
        k           = (struct blm__keys){ .n = n, .fixed = (const uint8_t *)from, .width = 8 };
        size_t done = l->engine->place_raw(&b, l, &k, fresh);
        l->items -= done;
        return done;
    }
    if (keys)
        v->hash8(blm__hasher_flip(&b.hasher), from, n, h), k.hashes = h;
    return l->engine->place_many(&b, l, &k, fresh);
}

/* Until it is full; several batches more are refused, or placed, alike. */
static inline void agree_on_filling(const struct blm__kernel *oracle,
                                    const struct blm__kernel *other, struct blm__shape s,
                                    uint64_t seed)
{
    struct blm__layer x = bare_layer(s, true), y = bare_layer(s, seed % 2);
    struct rng        r = { seed };
    uint64_t          batch[BLM__BATCH];
    uint8_t           fx[BLM__BATCH + 8], fy[BLM__BATCH + 8];
    for (unsigned refused = 0; refused < 4;) {
        size_t n    = rng_size(&r, 4) ? BLM__BATCH : rng_size(&r, BLM__BATCH + 1);
        bool   keys = rng_below(&r, 2);
        some_adds(&r, batch, n);
        memset(fx, 0xee, sizeof fx);
        memset(fy, 0xee, sizeof fy);
        size_t done = added(oracle, &x, batch, keys, n, fx);
        assert_int_equal(added(other, &y, batch, keys, n, fy), done);
        assert_memory_equal(fx, fy, done);
        assert_memory_equal(fx + n, fy + n, 8); /* nothing past n */
        assert_memory_equal(x.words, y.words, (size_t)x.word_count * 8);
        x.items += done;
        y.items += done;
        refused += done < n;
    }
    assert_true(x.items <= s.bits && (s.line_count < 1000 || x.items > s.bits / 10 * 9));
    bare_free(&x);
    bare_free(&y);
}

static inline void agree_on_bucket_adds(const struct blm__kernel *oracle,
                                        const struct blm__kernel *other)
{
    static const uint64_t counts[] = { 2, 4, 34, 1000, 5002 };
    for (uint32_t f = 8; f <= 18; f++)
        for (size_t i = 0; i < COUNT_OF(counts); i++) {
            agree_on_filling(oracle, other, bucket_shape(counts[i], 1, f), 2 * f + i);
            agree_on_filling(oracle, other, bucket_shape(counts[i], 3, f), 2 * f + i);
        }
}

#endif
