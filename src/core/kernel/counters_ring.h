/* SPDX-License-Identifier: MIT */
/*
 * Counters in batches, for instruction sets with vectors: a line of counters is 64 bytes, found as a
 * line of bits is, so the loops are those of core/kernel/lines.h with another test and another set.
 * A kernel's functions are made by BLM__COUNTERS_LOOPS.
 *
 * A key of a strict rate has up to five lines, which the rings for adds do not: four and five go one by
 * one.
 */
#ifndef BLM_CORE_KERNEL_COUNTERS_RING_H
#define BLM_CORE_KERNEL_COUNTERS_RING_H

#include "core/kernel/counters.h"
#include "core/kernel/lines.h"

BLM__INLINE unsigned blm__counters_move(struct blm__layer *l, uint64_t h, blm__line_set_fn set)
{
    return blm__vec_set(l, blm__place_of(l), h, l->shape.lines, l->marks != NULL, set);
}

BLM__INLINE size_t blm__counters_add_one_by_one(struct blm__layer *l, const uint64_t *h, size_t n,
                                                uint8_t *fresh, blm__line_set_fn set)
{
    size_t count = 0, ahead = blm__short_begin(l, h, n, 3, true);
    for (size_t i = 0; i < n; i++) {
        blm__short_next(l, h, n, i, ahead, 3, true);
        count += fresh[i] = (uint8_t)blm__counters_move(l, h[i], set);
    }
    return count;
}

BLM__INLINE size_t blm__counters_add(struct blm__layer *l, const uint64_t *h, size_t n,
                                     uint8_t *fresh, blm__take_fn take, blm__line_set_fn raise)
{
    if (n < BLM__STEP || l->shape.lines > BLM__MAX_LINES)
        return blm__counters_add_one_by_one(l, h, n, fresh, raise);
    return blm__vec_add_loop(l, h, n, fresh, take, raise);
}

BLM__INLINE size_t blm__counters_remove(struct blm__layer *l, const uint64_t *h, size_t n,
                                        uint8_t *gone, blm__line_has_fn has, blm__line_set_fn lower)
{
    size_t count = 0, ahead = blm__short_begin(l, h, n, 3, true);
    for (size_t i = 0; i < n; i++) {
        blm__short_next(l, h, n, i, ahead, 3, true);
        gone[i] = has(l, h[i]) &&
                  (l->shape.lines == 1 || !blm__lines_meet(l, h[i]) || blm__counters_bear(l, h[i]));
        if (gone[i]) {
            blm__counters_move(l, h[i], lower);
            count++;
        }
    }
    return count;
}

/* Every add counts, fresh or not. */
BLM__INLINE blm_status blm__counters_add_hash(struct blm__layer *l, uint64_t h,
                                              blm__line_set_fn raise)
{
    unsigned fresh = blm__counters_move(l, h, raise);
    blm__added_key(l, 1, false);
    return fresh ? BLM_OK : BLM_PRESENT;
}

/* test and set as in core/kernel/lines.h; a test is that no counter is 0, raise and lower move them by
 * one and tell of one that was. */
#define BLM__COUNTERS_LOOPS(TARGET, INLINE, kernel, take, test, test8, raise, lower)               \
    INLINE bool kernel##_counters_has(const struct blm__layer *l, uint64_t h)                      \
    {                                                                                              \
        return blm__vec_has(l, h, test);                                                           \
    }                                                                                              \
    TARGET static size_t kernel##_counters_check(const struct blm__layer *l, const uint64_t *h,    \
                                                 size_t n, uint8_t *maybe)                         \
    {                                                                                              \
        return blm__vec_check_loop(l, h, n, maybe, take, test, test8);                             \
    }                                                                                              \
    TARGET static size_t kernel##_counters_check8(const struct blm__layer  *l,                     \
                                                  const struct blm__kernel *v, uint64_t flip,      \
                                                  const void *keys, size_t n, uint8_t *maybe)      \
    {                                                                                              \
        (void)v;                                                                                   \
        return blm__line_check(l, blm__stream_keys(keys, n, flip), maybe, take, test, test8);      \
    }                                                                                              \
    TARGET static size_t kernel##_counters_add(struct blm__layer *l, const uint64_t *h, size_t n,  \
                                               uint8_t *fresh)                                     \
    {                                                                                              \
        return blm__counters_add(l, h, n, fresh, take, raise);                                     \
    }                                                                                              \
    TARGET static size_t kernel##_counters_add8(struct blm__layer *l, const struct blm__kernel *v, \
                                                uint64_t flip, const void *keys, size_t n,         \
                                                uint8_t *fresh)                                    \
    {                                                                                              \
        (void)v;                                                                                   \
        return blm__line_add(l, blm__stream_keys(keys, n, flip), fresh, take, raise);              \
    }                                                                                              \
    TARGET static size_t kernel##_counters_remove(struct blm__layer *l, const uint64_t *h,         \
                                                  size_t n, uint8_t *gone)                         \
    {                                                                                              \
        return blm__counters_remove(l, h, n, gone, kernel##_counters_has, lower);                  \
    }                                                                                              \
    INLINE blm_status kernel##_counters_add_hash(struct blm__layer *l, uint64_t h, bool shared)    \
    {                                                                                              \
        (void)shared;                                                                              \
        return blm__counters_add_hash(l, h, raise);                                                \
    }                                                                                              \
    BLM__SINGLE_CHECK(TARGET, kernel##_counters, kernel##_counters_has)                            \
    BLM__SINGLE_ADD(TARGET, kernel##_counters_add_key, kernel##_counters_add_any,                  \
                    kernel##_counters_add_hash, false)

#define BLM__COUNTERS_ROWS(kernel)                                              \
    .add = kernel##_counters_add, .check = kernel##_counters_check,             \
    .add8 = kernel##_counters_add8, .check8 = kernel##_counters_check8,         \
    .remove = kernel##_counters_remove, .add_shared = blm__counters_add_shared, \
    .check_key = kernel##_counters_check_key, .add_key = kernel##_counters_add_key

#endif
