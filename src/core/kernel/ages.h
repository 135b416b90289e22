/* SPDX-License-Identifier: MIT */
/*
 * Loops over ages (core/ages.h). h: native hashes. Each kernel has two things of its own, in which all
 * of the work is: the cells of a key, and which words of a line have them. The rest is the same source
 * for all, built for each by BLM__AGES_LOOPS.
 */
#ifndef BLM_CORE_KERNEL_AGES_H
#define BLM_CORE_KERNEL_AGES_H

#include "core/ages.h"
#include "core/kernel/loops.h"

#define BLM__AGES_AHEAD 16u /* keys between asking for their spans and using them */

struct blm__ages {
    size_t (*check)(const struct blm__layer *l, const struct blm__age_turn *t, const uint64_t *h,
                    size_t n, uint8_t *maybe);
    /* Exclusive. fresh[i]: no age had key i. Returns how many were fresh. */
    size_t (*add)(struct blm__layer *l, const struct blm__age_turn *t, const uint64_t *h, size_t n,
                  uint8_t *fresh);
    /* From any number of threads. */
    size_t (*add_shared)(struct blm__layer *l, const struct blm__age_turn *t, const uint64_t *h,
                         size_t n, uint8_t *fresh);
    /* check and add from n keys of 8 bytes, side by side, of layers below 2^32 spans. NULL: hashed by
     * hash8 first they take as long. */
    size_t (*check8)(const struct blm__layer *l, const struct blm__age_turn *t, uint64_t flip,
                     const void *keys, size_t n, uint8_t *maybe);
    size_t (*add8)(struct blm__layer *l, const struct blm__age_turn *t, uint64_t flip,
                   const void *keys, size_t n, uint8_t *fresh);
};

extern const struct blm__ages blm__ages_portable;
#ifdef BLM__HAVE_AVX2
extern const struct blm__ages blm__ages_avx2;
#endif
#ifdef BLM__HAVE_AVX512
extern const struct blm__ages blm__ages_avx512;
#endif
#ifdef BLM__HAVE_NEON
extern const struct blm__ages blm__ages_neon;
#endif

BLM__INLINE uint64_t blm__span_at(const struct blm__layer *l, uint64_t h, uint32_t ages)
{
    return blm__reduce(h, l->shape.line_count) * ages;
}

BLM__INLINE void blm__span_fetch(const struct blm__layer *l, uint64_t h, uint32_t ages, bool write)
{
    for (uint32_t i = 0; i < l->shape.lines; i++, h = blm__line_next(blm__line_x(h))) {
        const uint64_t *span = l->words + blm__span_at(l, h, ages);
        for (uint32_t j = 0; j < ages; j += 8)
            if (write)
                BLM__PREFETCH_W(span + j);
            else
                BLM__PREFETCH(span + j);
    }
}

/* Puts a key's cells into a word: beside those of the same turn, or in place of older ones. A
 * thread that was held up for a whole window finds younger ones, and leaves them alone: what it
 * adds is already too old. */
BLM__INLINE void blm__age_put(struct blm__layer *l, uint64_t at, uint64_t tag, uint64_t mask,
                              bool shared)
{
    uint64_t *w = &l->words[at], seen = blm__load(w);
    for (;;) {
        uint64_t v = blm__le64(seen), put = mask | tag;
        if (((v ^ tag) & BLM__AGE_TAG) == 0)
            put |= v;
        else if (shared && v && (int8_t)((v - tag) >> 56) > 0)
            return;
        if (put == v)
            return;
        if (l->marks)
            blm__mark(l, at);
        if (!shared) {
            *w = blm__le64(put);
            return;
        }
        if (__atomic_compare_exchange_n(w, &seen, blm__le64(put), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
            if (l->marks)
                blm__mark(l, at); /* again, for a sync that ran meanwhile */
            return;
        }
    }
}

/* isa: ends the names, which the amalgamation has side by side. has8: of the eight words at `line`, of
 * which the first is word `from` of its span, those that have all of `mask` and the tag of their turn;
 * bit j of the result is word j. */
#define BLM__AGES_LOOPS(isa, TARGET, INLINE, mask_of, has8)                                        \
    INLINE uint64_t blm__ages_with_##isa(const struct blm__layer    *l,                            \
                                         const struct blm__age_turn *t, uint64_t h, uint32_t ages) \
    {                                                                                              \
        uint64_t all = UINT64_MAX;                                                                 \
        for (uint32_t i = 0; i < l->shape.lines && all; i++) {                                     \
            uint64_t        x = blm__line_x(h), mask = mask_of(x, l->shape.probes), here = 0;      \
            const uint64_t *span = l->words + blm__span_at(l, h, ages);                            \
            for (uint32_t j = 0; j < ages; j += 8)                                                 \
                here |= (uint64_t)has8(span + j, t, j, mask) << j;                                 \
            all &= here;                                                                           \
            h = blm__line_next(x);                                                                 \
        }                                                                                          \
        return all;                                                                                \
    }                                                                                              \
    INLINE size_t blm__check_all_##isa(const struct blm__layer *l, const struct blm__age_turn *t,  \
                                       const uint64_t *h, size_t n, uint8_t *maybe, uint32_t ages) \
    {                                                                                              \
        size_t hits = 0, ahead = blm__layer_small(l) || n == 1 ? 0 : BLM__AGES_AHEAD;              \
        for (size_t i = 0; i < ahead && i < n; i++)                                                \
            blm__span_fetch(l, h[i], ages, false);                                                 \
        for (size_t i = 0; i < n; i++) {                                                           \
            if (ahead && i + ahead < n)                                                            \
                blm__span_fetch(l, h[i + ahead], ages, false);                                     \
            hits += maybe[i] = blm__ages_with_##isa(l, t, h[i], ages) != 0;                        \
        }                                                                                          \
        return hits;                                                                               \
    }                                                                                              \
    INLINE size_t blm__add_all_##isa(struct blm__layer *l, const struct blm__age_turn *t,          \
                                     const uint64_t *h, size_t n, uint8_t *fresh, uint32_t ages,   \
                                     bool shared)                                                  \
    {                                                                                              \
        size_t count = 0, ahead = blm__layer_small(l) || n == 1 ? 0 : BLM__AGES_AHEAD;             \
        for (size_t i = 0; i < ahead && i < n; i++)                                                \
            blm__span_fetch(l, h[i], ages, true);                                                  \
        for (size_t i = 0; i < n; i++) {                                                           \
            uint64_t g = h[i], has = blm__ages_with_##isa(l, t, g, ages);                          \
            if (ahead && i + ahead < n)                                                            \
                blm__span_fetch(l, h[i + ahead], ages, true);                                      \
            count += fresh[i] = has == 0;                                                          \
            if (has >> t->at & 1)                                                                  \
                continue;                                                                          \
            for (uint32_t s = 0; s < l->shape.lines; s++) {                                        \
                uint64_t x = blm__line_x(g);                                                       \
                blm__age_put(l, blm__span_at(l, g, ages) + t->at, t->young,                        \
                             mask_of(x, l->shape.probes), shared);                                 \
                g = blm__line_next(x);                                                             \
            }                                                                                      \
        }                                                                                          \
        return count;                                                                              \
    }                                                                                              \
    TARGET static size_t blm__ages_check_##isa(const struct blm__layer    *l,                      \
                                               const struct blm__age_turn *t, const uint64_t *h,   \
                                               size_t n, uint8_t *maybe)                           \
    {                                                                                              \
        uint32_t ages = blm__ages_of(&l->shape);                                                   \
        return ages == 8 ? blm__check_all_##isa(l, t, h, n, maybe, 8)                              \
                         : blm__check_all_##isa(l, t, h, n, maybe, ages);                          \
    }                                                                                              \
    TARGET static size_t blm__ages_add_##isa(struct blm__layer *l, const struct blm__age_turn *t,  \
                                             const uint64_t *h, size_t n, uint8_t *fresh)          \
    {                                                                                              \
        uint32_t ages = blm__ages_of(&l->shape);                                                   \
        return ages == 8 ? blm__add_all_##isa(l, t, h, n, fresh, 8, false)                         \
                         : blm__add_all_##isa(l, t, h, n, fresh, ages, false);                     \
    }                                                                                              \
    TARGET static size_t blm__ages_add_shared_##isa(struct blm__layer          *l,                 \
                                                    const struct blm__age_turn *t,                 \
                                                    const uint64_t *h, size_t n, uint8_t *fresh)   \
    {                                                                                              \
        return blm__add_all_##isa(l, t, h, n, fresh, blm__ages_of(&l->shape), true);               \
    }

#endif
