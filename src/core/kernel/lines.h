/* SPDX-License-Identifier: MIT */
/*
 * Lines, for kernels with vectors: the loops around three functions that each instruction set
 * writes for itself (`take` is in stream.h). They come as arguments, constant ones, and everything
 * is inlined into functions of the kernel's target.
 *
 *   test(line, x, k)                are the key's bits of this line all set?
 *   set(layer, line, x, k, marks)   sets them; 1 when one was clear. With marks, the region is
 *                                   marked before the line changes
 *
 * Shared adds, one by one, look with `test` first (most often the bits are there, and nothing is
 * written), then set the missing bits word by word with atomic operations; batches lock (lanes.h).
 *
 * Batches go through the rings of stream.h, and checks of few keys through few.h. In cache nothing is
 * fetched ahead for checks of many (4, 8 or 16 keys cost 5 to 15% there, Zen 3).
 */
#ifndef BLM_CORE_KERNEL_LINES_H
#define BLM_CORE_KERNEL_LINES_H

#include "core/kernel/few.h"
#include "core/kernel/hands.h"
#include "core/kernel/lanes.h"

#define BLM__SHARED_AHEAD 32u

/* ---- one key ---- */

/* Lines from the second on; x: of the first. */
BLM__INLINE bool blm__vec_rest(struct blm__place p, uint64_t x, blm__line_test_fn test)
{
    for (uint32_t i = 1; i < p.lines; i++) {
        uint64_t h = blm__line_next(x);
        x          = blm__line_x(h);
        if (!test(blm__place_line(p, h), x, p.k))
            return false;
    }
    return true;
}

/* One line a key. */
BLM__INLINE bool blm__vec_has_line(const struct blm__layer *l, uint64_t h, blm__line_test_fn test)
{
    struct blm__place p = blm__place_of(l);
    return test(blm__place_line(p, h), blm__line_x(h), p.k);
}

BLM__INLINE bool blm__vec_has(const struct blm__layer *l, uint64_t h, blm__line_test_fn test)
{
    return blm__vec_has_line(l, h, test) && blm__vec_rest(blm__place_of(l), blm__line_x(h), test);
}

BLM__INLINE unsigned blm__vec_set(struct blm__layer *l, struct blm__place p, uint64_t h,
                                  uint32_t lines, bool marks, blm__line_set_fn set)
{
    uint64_t x     = blm__line_x(h);
    unsigned fresh = set(l, blm__place_line(p, h), x, p.k, marks);
    for (uint32_t i = 1; i < lines; i++) {
        h = blm__line_next(x);
        x = blm__line_x(h);
        fresh |= set(l, blm__place_line(p, h), x, p.k, marks);
    }
    return fresh;
}

/* A single add, of any layer. */
BLM__INLINE blm_status blm__vec_add(struct blm__layer *l, uint64_t h, bool shared,
                                    blm__line_has_fn has, blm__line_set_fn set)
{
    unsigned fresh =
        shared ? blm__shared_add(l, h, has)
               : blm__vec_set(l, blm__place_of(l), h, l->shape.lines, l->marks != NULL, set);
    return blm__added_key(l, fresh, shared);
}

/* Of a layer with one line a key and no marks. */
BLM__INLINE blm_status blm__vec_add_line(struct blm__layer *l, uint64_t h, blm__line_set_fn set)
{
    return blm__added_key(l, blm__vec_set(l, blm__place_of(l), h, 1, false, set), false);
}

/* ---- batches ---- */

BLM__INLINE size_t blm__vec_add_loop(struct blm__layer *l, const uint64_t *h, size_t n,
                                     uint8_t *fresh, blm__take_fn take, blm__line_set_fn set)
{
    if (l->shape.lines == 1)
        return blm__line_add(l, blm__stream_hashes(h, n), fresh, take, set);
    return blm__lines_add_stream(l, blm__stream_hashes(h, n), fresh, take, set);
}

/* Several: the first lines of a batch as if there were no others, then those of the keys that
 * passed, which are listed without branches. */
#define BLM__REST_AHEAD 16u

BLM__INLINE void blm__vec_fetch_rest(struct blm__place p, uint64_t h)
{
    for (uint32_t i = 1; i < p.lines; i++) {
        h = blm__line_next(blm__line_x(h));
        BLM__PREFETCH(blm__place_line(p, h));
    }
}

BLM__INLINE size_t blm__vec_check_rest(struct blm__place p, const uint64_t *h, size_t n,
                                       uint8_t *maybe, bool far, blm__line_test_fn test)
{
    uint16_t at[BLM__BATCH];
    size_t   passed = 0, hits = 0;
    for (size_t i = 0; i < n; i++) {
        at[passed] = (uint16_t)i;
        passed += maybe[i];
    }
    for (size_t i = 0; far && i < BLM__REST_AHEAD && i < passed; i++)
        blm__vec_fetch_rest(p, h[at[i]]);
    for (size_t i = 0; i < passed; i++) {
        if (far && i + BLM__REST_AHEAD < passed)
            blm__vec_fetch_rest(p, h[at[i + BLM__REST_AHEAD]]);
        hits += maybe[at[i]] = blm__vec_rest(p, blm__line_x(h[at[i]]), test);
    }
    return hits;
}

BLM__INLINE size_t blm__vec_check_lines(const struct blm__layer *l, const uint64_t *h, size_t n,
                                        uint8_t *maybe, blm__take_fn take, blm__line_test_fn test,
                                        blm__line_test8_fn test8)
{
    size_t hits = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BATCH ? n - at : BLM__BATCH;
        if (blm__line_check(l, blm__stream_hashes(h + at, some), maybe + at, take, test, test8) > 0)
            hits += blm__vec_check_rest(blm__place_of(l), h + at, some, maybe + at,
                                        !blm__layer_small(l), test);
    }
    return hits;
}

BLM__INLINE size_t blm__vec_check_loop(const struct blm__layer *l, const uint64_t *h, size_t n,
                                       uint8_t *maybe, blm__take_fn take, blm__line_test_fn test,
                                       blm__line_test8_fn test8)
{
    if (l->shape.lines > 1)
        return blm__vec_check_lines(l, h, n, maybe, take, test, test8);
    return blm__line_check(l, blm__stream_hashes(h, n), maybe, take, test, test8);
}

/* ---- what a key uses of a line ---- */

#define BLM__ROT8(p, r) (((p) << (r) | (p) >> (8 - (r))) & 0xff)
/* X of the eight rotations of the pattern for each k: a table [k][rotation]. */
#define BLM__LINE_ROW(X, p)                                                                \
    {                                                                                      \
        X(BLM__ROT8(p, 0)), X(BLM__ROT8(p, 1)), X(BLM__ROT8(p, 2)), X(BLM__ROT8(p, 3)),    \
            X(BLM__ROT8(p, 4)), X(BLM__ROT8(p, 5)), X(BLM__ROT8(p, 6)), X(BLM__ROT8(p, 7)) \
    }
#define BLM__LINE_TABLE(X)                                                          \
    {                                                                               \
        BLM__LINE_ROW(X, 0x00), BLM__LINE_ROW(X, 0x01), BLM__LINE_ROW(X, 0x03),     \
            BLM__LINE_ROW(X, 0x0b), BLM__LINE_ROW(X, 0x17), BLM__LINE_ROW(X, 0x2f), \
            BLM__LINE_ROW(X, 0x3f), BLM__LINE_ROW(X, 0x7f), BLM__LINE_ROW(X, 0xff)  \
    }
/* As eight numbers, 1 where the word is used: a cache line. */
#define BLM__LINE_ONES(p)                                                              \
    {                                                                                  \
        (p) & 1, (p) >> 1 & 1, (p) >> 2 & 1, (p) >> 3 & 1, (p) >> 4 & 1, (p) >> 5 & 1, \
            (p) >> 6 & 1, (p) >> 7 & 1                                                 \
    }
#define BLM__LINE_BYTE(p) (uint8_t)(p)

/* ---- a kernel's functions, from its test and set ---- */

/* TARGET: the attribute of its instruction set; INLINE: the same with static, inline and always.
 * Names begin with kernel, blm__avx2 for instance:
 * the two-file form does not see what a macro makes. */
#define BLM__VECTOR_LINES(TARGET, INLINE, kernel, take, test, test8, set)                          \
    INLINE bool kernel##_has(const struct blm__layer *l, uint64_t h)                               \
    {                                                                                              \
        return blm__vec_has(l, h, test);                                                           \
    }                                                                                              \
    TARGET static size_t kernel##_lines_add(struct blm__layer *l, const uint64_t *h, size_t n,     \
                                            uint8_t *fresh)                                        \
    {                                                                                              \
        return blm__vec_add_loop(l, h, n, fresh, take, set);                                       \
    }                                                                                              \
    TARGET static size_t kernel##_lines_add_shared(struct blm__layer *l, const uint64_t *h,        \
                                                   size_t n, uint8_t *fresh)                       \
    {                                                                                              \
        return blm__shared_add_loop(l, h, n, fresh, BLM__SHARED_AHEAD, kernel##_has, set);         \
    }                                                                                              \
    TARGET static size_t kernel##_lines_check(const struct blm__layer *l, const uint64_t *h,       \
                                              size_t n, uint8_t *maybe)                            \
    {                                                                                              \
        return blm__vec_check_loop(l, h, n, maybe, take, test, test8);                             \
    }                                                                                              \
    TARGET static size_t kernel##_line_add8(struct blm__layer *l, uint64_t flip, const void *keys, \
                                            size_t n, uint8_t *fresh)                              \
    {                                                                                              \
        return blm__line_add(l, blm__stream_keys(keys, n, flip), fresh, take, set);                \
    }                                                                                              \
    TARGET static size_t kernel##_line_check8(const struct blm__layer *l, uint64_t flip,           \
                                              const void *keys, size_t n, uint8_t *maybe)          \
    {                                                                                              \
        return blm__line_check(l, blm__stream_keys(keys, n, flip), maybe, take, test, test8);      \
    }                                                                                              \
    INLINE blm_status kernel##_add_hash(struct blm__layer *l, uint64_t h, bool shared)             \
    {                                                                                              \
        return blm__vec_add(l, h, shared, kernel##_has, set);                                      \
    }                                                                                              \
    TARGET static bool kernel##_lines_check_one(const struct blm__layer *l, uint64_t h)            \
    {                                                                                              \
        return kernel##_has(l, h);                                                                 \
    }                                                                                              \
    BLM__SINGLE_CALLS(TARGET, kernel##_lines, kernel##_has, kernel##_add_hash)

/* Single calls where a key has one line. */
#define BLM__VECTOR_LINE(TARGET, INLINE, kernel, test, set)                                      \
    INLINE bool kernel##_has_line(const struct blm__layer *l, uint64_t h)                        \
    {                                                                                            \
        return blm__vec_has_line(l, h, test);                                                    \
    }                                                                                            \
    TARGET BLM__NOINLINE static blm_status kernel##_add_marked(struct blm__layer *l, uint64_t h) \
    {                                                                                            \
        return blm__vec_add(l, h, false, kernel##_has, set);                                     \
    }                                                                                            \
    INLINE blm_status kernel##_add_line(struct blm__layer *l, uint64_t h, bool shared)           \
    {                                                                                            \
        (void)shared;                                                                            \
        if (BLM__UNLIKELY(l->marks != NULL))                                                     \
            return kernel##_add_marked(l, h);                                                    \
        return blm__vec_add_line(l, h, set);                                                     \
    }                                                                                            \
    BLM__SINGLE_CHECK(TARGET, kernel##_line, kernel##_has_line)                                  \
    BLM__SINGLE_ADD(TARGET, kernel##_line_add_key, kernel##_line_add_any, kernel##_add_line, false)

/* The shortest single calls, where a key has one line. What they load besides key and line is in the
 * body's first cache lines (b->quick). has(line, x, needed) and put(line, x, quick), which is 1 when
 * nothing was missing, are the instruction set's. A key of eight bytes is hashed in the leaf; keys of
 * other lengths are hashed in a second function, inlined there too. Every other filter, and files, go
 * the long way. Zen 3, ns a call in cache, through the layer and then like this: check 4.55 → 4.06, add
 * 6.5 → 5.7. A check is 45 instructions; four or so fewer, as memory operands, mulx or a compare in
 * place of the jump through the handle, gain nothing more. */
BLM__INLINE uint64_t *blm__quick_line(const struct blm__body *b, uint64_t h)
{
    return b->quick.words + blm__reduce(h, b->quick.line_count) * BLM__LINE_WORDS;
}

#define BLM__QUICK_CALLS(TARGET, INLINE, kernel, has, put)                                        \
    INLINE bool kernel##_quick_has(const struct blm__body *b, uint64_t h)                         \
    {                                                                                             \
        uint64_t x = blm__line_x(h);                                                              \
        return has(blm__quick_line(b, h), x, b->quick.needed[x >> 61]);                           \
    }                                                                                             \
    TARGET BLM__NOINLINE static bool kernel##_quick_check_any(const struct blm__body *b,          \
                                                              const void *key, size_t len)        \
    {                                                                                             \
        if (BLM__UNLIKELY(!b->hasher.secret))                                                     \
            return kernel##_line_check_key(b, key, len);                                          \
        if (BLM__UNLIKELY(!key))                                                                  \
            return kernel##_line_check_key(b, key, len);                                          \
        return kernel##_quick_has(b, blm__keyed(key, len, b->hasher.secret));                     \
    }                                                                                             \
    TARGET static bool kernel##_quick_check(const struct blm__body *b, const void *key,           \
                                            size_t len)                                           \
    {                                                                                             \
        if (BLM__UNLIKELY(len != 8))                                                              \
            return kernel##_quick_check_any(b, key, len);                                         \
        if (BLM__UNLIKELY(!key))                                                                  \
            return kernel##_quick_check_any(b, key, len);                                         \
        return kernel##_quick_has(b, blm__xxh3_8_one(key, b->flip));                              \
    }                                                                                             \
    TARGET static blm_status kernel##_quick_add(struct blm__body *b, const void *key, size_t len) \
    {                                                                                             \
        if (BLM__UNLIKELY(len != b->quick.add_len))                                               \
            return kernel##_line_add_key(b, key, len);                                            \
        if (BLM__UNLIKELY(!key))                                                                  \
            return kernel##_line_add_key(b, key, len);                                            \
        uint64_t h       = blm__xxh3_8_one(key, b->flip);                                         \
        unsigned present = put(blm__quick_line(b, h), blm__line_x(h), &b->quick);                 \
        b->layers->items += present < 1; /* compare and add with carry */                         \
        return (blm_status)present;      /* BLM_OK is 0, BLM_PRESENT 1 */                         \
    }

/* Chains, built for the target. */
#define BLM__VECTOR_CHAINS(TARGET, kernel)                                                     \
    TARGET static size_t kernel##_chain_add(struct blm__layer *l, const uint64_t *h, size_t n, \
                                            uint8_t *fresh)                                    \
    {                                                                                          \
        return blm__chain_add_loop(l, h, n, fresh, false);                                     \
    }                                                                                          \
    TARGET static size_t kernel##_chain_add_shared(struct blm__layer *l, const uint64_t *h,    \
                                                   size_t n, uint8_t *fresh)                   \
    {                                                                                          \
        return blm__chain_add_loop(l, h, n, fresh, true);                                      \
    }                                                                                          \
    TARGET static size_t kernel##_chain_check(const struct blm__layer *l, const uint64_t *h,   \
                                              size_t n, uint8_t *maybe)                        \
    {                                                                                          \
        return blm__chain_check_loop(l, h, n, maybe);                                          \
    }                                                                                          \
    TARGET static bool kernel##_chain_check_one(const struct blm__layer *l, uint64_t h)        \
    {                                                                                          \
        return blm__chain_test(l->words, l->shape.bits, h, 0, l->shape.probes);                \
    }                                                                                          \
    BLM__SINGLE_CALLS(TARGET, kernel##_chain, kernel##_chain_check_one, blm__chain_add_hash)

/* The rows of a kernel's table that these two make. */
#define BLM__VECTOR_ROWS(kernel)                                                                \
    .lines_add = kernel##_lines_add, .lines_add_shared = kernel##_lines_add_shared,             \
    .lines_check = kernel##_lines_check, .lines_check_one = kernel##_lines_check_one,           \
    .line_add8 = kernel##_line_add8, .line_check8 = kernel##_line_check8,                       \
    .lines_check_key = kernel##_lines_check_key, .lines_add_key = kernel##_lines_add_key,       \
    .lines_add_key_shared = kernel##_lines_add_key_shared, .chain_add = kernel##_chain_add,     \
    .chain_add_shared = kernel##_chain_add_shared, .chain_check = kernel##_chain_check,         \
    .chain_follow = BLM__CHAIN_FOLLOW_ROW(kernel), .chain_check_one = kernel##_chain_check_one, \
    .chain_check_key = kernel##_chain_check_key, .chain_add_key = kernel##_chain_add_key,       \
    .chain_add_key_shared = kernel##_chain_add_key_shared

#endif
