/* SPDX-License-Identifier: MIT */
/*
 * The loops that are the same source for every instruction set: chains of single bits. Each kernel
 * includes this and wraps the functions, so that the compiler builds them for its target.
 *
 * Out of cache a probe is a memory access and nothing else matters, so the keys of a batch are
 * taken in groups: ask for the cells of a whole group, then use them. A check first asks for the
 * first FIRST probes only, because half the bits of a full filter are clear and most absent keys
 * fall there; the rest is fetched for those that passed.
 *
 * Loads are relaxed atomics: free on every machine we know, and right beside concurrent adds.
 */
#ifndef BLM_CORE_KERNEL_LOOPS_H
#define BLM_CORE_KERNEL_LOOPS_H

#include "core/hasher.h"
#include "core/kernel/kernel.h"
#include "core/probe.h"

#define BLM__GROUP 64u /* keys asked for at once */
#define BLM__FIRST 4u  /* probes of an absent key that nearly always settle it */

#define BLM__CHAIN_AHEAD 16u /* keys of an add between asking for bits and setting them */

BLM__INLINE uint64_t blm__load(const uint64_t *w) { return __atomic_load_n(w, __ATOMIC_RELAXED); }

BLM__INLINE bool blm__layer_small(const struct blm__layer *l)
{
    return l->word_count * 8 <= atomic_load_explicit(&blm__in_cache_bytes, memory_order_relaxed);
}

/* Hashes, by v, of n keys of 8 bytes those from `at` on, at most so many. How many. */
BLM__INLINE size_t blm__hash_some(const struct blm__kernel *v, uint64_t flip, const void *keys,
                                  size_t at, size_t n, size_t most, uint64_t *h)
{
    size_t some = n - at < most ? n - at : most;
    v->hash8(flip, (const uint8_t *)keys + 8 * at, some, h);
    return some;
}

/* ---- single calls ----
 *
 * Each kernel has its own, as two functions: a leaf for the 8-byte key, and this for the rest, out
 * of line, because a call in the leaf would give it a stack frame
 * that its common way pays for too. */

/* A key of any length hashed, or false: it is no key (NULL with a length). */
BLM__INLINE bool blm__key_hash(const struct blm__body *b, const void *key, size_t len, uint64_t *h)
{
    if (!key && len)
        return false;
    *h = blm__hasher_key(&b->hasher, key ? key : "", len);
    return true;
}

/* Counts the key of a single add, and says what blm_add says. */
BLM__INLINE blm_status blm__added_key(struct blm__layer *l, unsigned fresh, bool shared)
{
    if (shared) {
        blm__layer_count(l, fresh);
    } else {
        l->items += fresh;
        if (BLM__UNLIKELY(l->live != NULL))
            blm__put64le(l->live, l->items);
    }
    return fresh ? BLM_OK : BLM_PRESENT;
}

/* 1 when the bit is set. */
BLM__INLINE unsigned blm__bit_get(const uint64_t *words, uint64_t pos)
{
    return (unsigned)(blm__le64(blm__load(&words[pos >> 6])) >> (pos & 63)) & 1;
}

/* Sets a bit; 1 when it was clear. */
BLM__INLINE unsigned blm__bit_set(struct blm__layer *l, uint64_t pos, bool shared)
{
    uint64_t *w = &l->words[pos >> 6], mask = blm__le64((uint64_t)1 << (pos & 63));
    if (shared) {
        if (blm__load(w) & mask)
            return 0; /* no write, no mark: the line stays shared between cores */
        if (l->marks)
            blm__mark(l, pos >> 6);
        /* Whether it was clear is what we saw above: of two threads that set one bit at once both
         * may be told so, and an OR whose old value nobody wants is one instruction, not a loop. */
        __atomic_fetch_or(w, mask, __ATOMIC_SEQ_CST);
        if (l->marks)
            blm__mark(l, pos >> 6);
        return 1;
    }
    uint64_t old = *w;
    if (l->marks && !(old & mask))
        blm__mark(l, pos >> 6);
    *w = old | mask;
    return (old & mask) == 0;
}

/* Are probes from … to − 1 of the chain all set? g is the value for probe `from`. */
BLM__INLINE bool blm__chain_test(const uint64_t *words, uint64_t m, uint64_t g, uint32_t from,
                                 uint32_t to)
{
    /* Four at a time without a branch: in cache a mispredicted exit costs more than two probes. */
    for (; to - from >= 4; from += 4) {
        unsigned all = blm__bit_get(words, blm__reduce(g, m));
        g            = blm__chain_next(g);
        all &= blm__bit_get(words, blm__reduce(g, m));
        g = blm__chain_next(g);
        all &= blm__bit_get(words, blm__reduce(g, m));
        g = blm__chain_next(g);
        all &= blm__bit_get(words, blm__reduce(g, m));
        g = blm__chain_next(g);
        if (!all)
            return false;
    }
    unsigned all = 1;
    for (; from < to; from++, g = blm__chain_next(g))
        all &= blm__bit_get(words, blm__reduce(g, m));
    return all;
}

BLM__INLINE uint64_t blm__chain_fetch(const uint64_t *words, uint64_t m, uint64_t g, uint32_t n,
                                      bool write)
{
    for (uint32_t i = 0; i < n; i++, g = blm__chain_next(g)) {
        const uint64_t *w = &words[blm__reduce(g, m) >> 6];
        if (write)
            BLM__PREFETCH_W(w);
        else
            BLM__PREFETCH(w);
    }
    return g;
}

BLM__INLINE size_t blm__chain_check_loop(const struct blm__layer *l, const uint64_t *h, size_t n,
                                         uint8_t *maybe)
{
    const uint64_t *words = l->words;
    uint64_t        m     = l->shape.bits;
    uint32_t        k     = l->shape.probes;
    size_t          hits  = 0;
    if (blm__layer_small(l)) {
        for (size_t i = 0; i < n; i++)
            hits += maybe[i] = blm__chain_test(words, m, h[i], 0, k);
        return hits;
    }
    uint32_t first = k < BLM__FIRST ? k : BLM__FIRST;
    for (size_t at = 0; at < n; at += BLM__GROUP) {
        size_t   end = n - at < BLM__GROUP ? n : at + BLM__GROUP;
        uint64_t rest[BLM__GROUP];
        for (size_t i = at; i < end; i++)
            rest[i - at] = blm__chain_fetch(words, m, h[i], first, false);
        for (size_t i = at; i < end; i++) {
            maybe[i] = blm__chain_test(words, m, h[i], 0, first);
            if (maybe[i])
                blm__chain_fetch(words, m, rest[i - at], k - first, false);
        }
        for (size_t i = at; i < end; i++)
            if (maybe[i])
                hits += maybe[i] = blm__chain_test(words, m, rest[i - at], first, k);
    }
    return hits;
}

BLM__INLINE unsigned blm__chain_set(struct blm__layer *l, uint64_t g, bool shared)
{
    unsigned fresh = 0;
    for (uint32_t i = 0; i < l->shape.probes; i++, g = blm__chain_next(g))
        fresh |= blm__bit_set(l, blm__reduce(g, l->shape.bits), shared);
    return fresh;
}

/* The same where nobody watches: no threads, no marks. m, k and the words stay in registers;
 * through the layer the compiler must reload them after every store. */
BLM__INLINE unsigned blm__chain_set_plain(uint64_t *words, uint64_t m, uint32_t k, uint64_t g)
{
    uint64_t fresh = 0;
    for (uint32_t i = 0; i < k; i++, g = blm__chain_next(g)) {
        uint64_t pos = blm__reduce(g, m), mask = blm__le64((uint64_t)1 << (pos & 63));
        uint64_t old = words[pos >> 6];
        fresh |= ~old & mask;
        words[pos >> 6] = old | mask;
    }
    return fresh != 0;
}

BLM__INLINE blm_status blm__chain_add_hash(struct blm__layer *l, uint64_t h, bool shared)
{
    unsigned fresh = shared || l->marks
                         ? blm__chain_set(l, h, shared)
                         : blm__chain_set_plain(l->words, l->shape.bits, l->shape.probes, h);
    return blm__added_key(l, fresh, shared);
}

/* Sets the bits of a key that is due and asks for those of one that comes, by turns: asking waits
 * for memory, setting for instructions (7 bits a key: 21 ns a key in 12 MB and 56 in 48 MB, where
 * asking for the bits of 32 keys and then setting them took 24 and 92). */
BLM__INLINE unsigned blm__chain_set_turns(uint64_t *words, uint64_t m, uint32_t k, uint64_t in,
                                          uint64_t g)
{
    uint64_t fresh = 0;
    for (uint32_t i = 0; i < k; i++, g = blm__chain_next(g), in = blm__chain_next(in)) {
        BLM__PREFETCH_W(&words[blm__reduce(in, m) >> 6]);
        uint64_t pos = blm__reduce(g, m), mask = blm__le64((uint64_t)1 << (pos & 63));
        uint64_t old = words[pos >> 6];
        fresh |= ~old & mask;
        words[pos >> 6] = old | mask;
    }
    return fresh != 0;
}

BLM__INLINE size_t blm__chain_add_loop(struct blm__layer *l, const uint64_t *h, size_t n,
                                       uint8_t *fresh, bool shared)
{
    const size_t ahead = blm__layer_small(l) ? 0 : n < BLM__CHAIN_AHEAD ? n : BLM__CHAIN_AHEAD;
    size_t       count = 0, i = 0;
    uint64_t    *words = l->words, m = l->shape.bits;
    uint32_t     k     = l->shape.probes;
    bool         plain = !shared && !l->marks;
    for (size_t j = 0; j < ahead; j++)
        blm__chain_fetch(words, m, h[j], k, true);
    for (; plain && ahead && i + ahead < n; i++)
        count += fresh[i] = (uint8_t)blm__chain_set_turns(words, m, k, h[i + ahead], h[i]);
    for (; plain && i < n; i++)
        count += fresh[i] = (uint8_t)blm__chain_set_plain(words, m, k, h[i]);
    for (; i < n; i++) {
        if (ahead && i + ahead < n)
            blm__chain_fetch(words, m, h[i + ahead], k, true);
        count += fresh[i] = (uint8_t)blm__chain_set(l, h[i], shared);
    }
    return count;
}

/* ---- lines, one word at a time: the oracle, and the shared form of every kernel ---- */

BLM__INLINE uint64_t *blm__line_at(const struct blm__layer *l, uint64_t h)
{
    return l->words + blm__reduce(h, l->shape.line_count) * BLM__LINE_WORDS;
}

BLM__INLINE bool blm__line_test(const uint64_t *line, uint64_t x, uint32_t k)
{
    unsigned words = blm__line_words(x, k), missing = 0;
    for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
        missing |=
            (words >> j & 1) & ~(unsigned)(blm__le64(blm__load(&line[j])) >> blm__line_bit(x, j));
    return (missing & 1) == 0;
}

BLM__INLINE bool blm__lines_test(const struct blm__layer *l, uint64_t h)
{
    for (uint32_t i = 0; i < l->shape.lines; i++) {
        uint64_t x = blm__line_x(h);
        if (!blm__line_test(blm__line_at(l, h), x, l->shape.probes))
            return false;
        h = blm__line_next(x);
    }
    return true;
}

BLM__INLINE unsigned blm__lines_set(struct blm__layer *l, uint64_t h, bool shared)
{
    unsigned fresh = 0;
    for (uint32_t i = 0; i < l->shape.lines; i++) {
        uint64_t x = blm__line_x(h), first = blm__reduce(h, l->shape.line_count) * BLM__LINE_BITS;
        unsigned words = blm__line_words(x, l->shape.probes);
        for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
            if (words >> j & 1)
                fresh |= blm__bit_set(l, first + j * 64 + blm__line_bit(x, j), shared);
        h = blm__line_next(x);
    }
    return fresh;
}

BLM__INLINE void blm__lines_fetch(const struct blm__layer *l, uint64_t h, bool write)
{
    for (uint32_t i = 0; i < l->shape.lines; i++) {
        const uint64_t *line = blm__line_at(l, h);
        if (write)
            BLM__PREFETCH_W(line);
        else
            BLM__PREFETCH(line);
        h = blm__line_next(blm__line_x(h));
    }
}

/* ---- keys of any lengths: hashed in batches ---- */

BLM__INLINE size_t blm__keys_check_loop(const struct blm__layer *l, const struct blm__hasher *by,
                                        const blm_key *keys, size_t n, uint8_t *maybe,
                                        const struct blm__kernel *v)
{
    uint64_t h[BLM__BATCH];
    size_t   hits = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BATCH ? n - at : BLM__BATCH;
        v->hash_many(by, keys + at, some, h);
        hits += v->lines_check(l, h, some, maybe + at);
    }
    return hits;
}

BLM__INLINE size_t blm__keys_add_loop(struct blm__layer *l, const struct blm__hasher *by,
                                      const blm_key *keys, size_t n, uint8_t *fresh,
                                      const struct blm__kernel *v)
{
    uint64_t h[BLM__BATCH];
    size_t   count = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BATCH ? n - at : BLM__BATCH;
        v->hash_many(by, keys + at, some, h);
        count += v->lines_add(l, h, some, fresh + at);
    }
    return count;
}

/* line_check_keys and line_add_keys of a kernel that has nothing better. */
#define BLM__KEYS_LOOPS(kernel, table)                                                        \
    static size_t kernel##_line_check_keys(const struct blm__layer  *l,                       \
                                           const struct blm__hasher *by, const blm_key *keys, \
                                           size_t n, uint8_t *maybe)                          \
    {                                                                                         \
        return blm__keys_check_loop(l, by, keys, n, maybe, table);                            \
    }                                                                                         \
    static size_t kernel##_line_add_keys(struct blm__layer *l, const struct blm__hasher *by,  \
                                         const blm_key *keys, size_t n, uint8_t *fresh)       \
    {                                                                                         \
        return blm__keys_add_loop(l, by, keys, n, fresh, table);                              \
    }

/* The single calls of a kernel, around its own inlined check_hash(layer, h) and add_hash(layer, h,
 * shared) → status. TARGET: its attribute. engine: blm__KERNEL_lines and the like; with our prefix,
 * because the two-file form does not see the names that a macro makes. The conditions stand one by
 * one because gcc makes one value of several, and that costs more than the branches. */
#define BLM__SINGLE_CHECK(TARGET, engine, check_hash)                                             \
    TARGET BLM__NOINLINE static bool engine##_check_any(const struct blm__body *b,                \
                                                        const void *key, size_t len)              \
    {                                                                                             \
        uint64_t h;                                                                               \
        return !blm__key_hash(b, key, len, &h) || check_hash(b->layers, h); /* no key: maybe */   \
    }                                                                                             \
    TARGET static bool engine##_check_key(const struct blm__body *b, const void *key, size_t len) \
    {                                                                                             \
        if (BLM__UNLIKELY(len != 8))                                                              \
            return engine##_check_any(b, key, len);                                               \
        if (BLM__UNLIKELY(!key))                                                                  \
            return engine##_check_any(b, key, len);                                               \
        return check_hash(b->layers, blm__xxh3_8_one(key, b->flip));                              \
    }

#define BLM__SINGLE_ADD(TARGET, name, any, add_hash, shared)                                     \
    TARGET BLM__NOINLINE static blm_status any(struct blm__body *b, const void *key, size_t len) \
    {                                                                                            \
        uint64_t h;                                                                              \
        if (!blm__key_hash(b, key, len, &h))                                                     \
            return BLM_E_ARGUMENT;                                                               \
        return b->read_only ? BLM_E_READONLY : add_hash(b->layers, h, shared);                   \
    }                                                                                            \
    TARGET static blm_status name(struct blm__body *b, const void *key, size_t len)              \
    {                                                                                            \
        if (BLM__UNLIKELY(len != 8))                                                             \
            return any(b, key, len);                                                             \
        if (BLM__UNLIKELY(!key))                                                                 \
            return any(b, key, len);                                                             \
        if (BLM__UNLIKELY(b->read_only))                                                         \
            return any(b, key, len);                                                             \
        return add_hash(b->layers, blm__xxh3_8_one(key, b->flip), shared);                       \
    }

#define BLM__SINGLE_CALLS(TARGET, engine, check_hash, add_hash)                  \
    BLM__SINGLE_CHECK(TARGET, engine, check_hash)                                \
    BLM__SINGLE_ADD(TARGET, engine##_add_key, engine##_add_any, add_hash, false) \
    BLM__SINGLE_ADD(TARGET, engine##_add_key_shared, engine##_add_any_shared, add_hash, true)

#endif
