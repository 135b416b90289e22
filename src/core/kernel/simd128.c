/* SPDX-License-Identifier: MIT */
/*
 * WebAssembly's vectors of 16 bytes. They have no shift by a vector of counts, so a bit is looked up
 * as a byte of its word (a swizzle of the line) and a bit of that byte (a swizzle of a table of eight).
 * All eight words of a line are asked in one register of eight lanes.
 *
 * A module runs in one thread of an engine that fetches nothing ahead: there are no rings here, and the
 * shared adds are the plain ones. Its memory is below 2^32 bytes, so two products find a line.
 *
 * Node 20, Xeon, ns a key of 4 bytes in a batch, blocked at 1% with 1e6 keys, in the portable kernel and
 * here: check 18.6 and 9.1, add 37.9 and 11.9.
 *
 * tests/web/package.mjs compares it with the portable kernel, bit for bit.
 */
#include "core/kernel/kernel.h"

#ifdef BLM__HAVE_SIMD128
#include <wasm_simd128.h>

#include "core/kernel/ages.h"
#include "core/kernel/buckets.h"
#include "core/kernel/counters.h"
#include "core/kernel/fuse.h"
#include "core/kernel/layers.h"
#include "core/kernel/lines.h"
#include "core/kernel/steps.h"

/* ---- constants ---- */

/* Node 20 makes a constant vector anew, in four instructions, wherever it is used, and the index of
 * a shuffle too. So they are loaded, once a batch, from where the compiler cannot see what they are:
 * a check of 4 bytes 12.8 → 9.1 ns, an add 18.2 → 11.9. */
struct vectors {
    v128_t spread, scale, first, seven, bits; /* of key_of */
    v128_t others[4];      /* 0x80 in the lanes of other words than 2i and 2i + 1 */
    v128_t count, each[4]; /* of set_line */
};

#define OTHERS   0x80, 0, 0x80, 0, 0x80, 0, 0x80, 0
#define FIRST    0, 0, 0, 0, 0x80, 0, 0x80, 0
#define SECOND   0x80, 0, 0x80, 0, 0, 0, 0, 0
#define EIGHT(l) l, l, l, l, l, l, l, l
static const _Alignas(16) uint8_t stored[14][16] = {
    { 0, 1, 0, 1, 1, 2, 2, 3, 3, 4, 3, 4, 4, 5, 5, 6 },
    { 0, 4, 16, 0, 64, 0, 0, 1, 0, 4, 16, 0, 64, 0, 0, 1 }, /* 1024, 16, 64, 256 */
    { 0, 0x80, 8, 0x80, 0, 0x80, 8, 0x80, 0, 0x80, 8, 0x80, 0, 0x80, 8, 0x80 },
    { 7, 0, 7, 0, 7, 0, 7, 0, 7, 0, 7, 0, 7, 0, 7, 0 },
    { 1, 2, 4, 8, 16, 32, 64, 128 },
    { FIRST, OTHERS },
    { SECOND, OTHERS },
    { OTHERS, FIRST },
    { OTHERS, SECOND },
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
    { EIGHT(0), EIGHT(2) },
    { EIGHT(4), EIGHT(6) },
    { EIGHT(8), EIGHT(10) },
    { EIGHT(12), EIGHT(14) },
};

BLM__INLINE struct vectors vectors(void)
{
    const uint8_t(*p)[16] = stored;
    __asm__("" : "+r"(p));
#define AT(i) wasm_v128_load(p[i])
    struct vectors v = { AT(0), AT(1),
                         AT(2), AT(3),
                         AT(4), { AT(5), AT(6), AT(7), AT(8) },
                         AT(9), { AT(10), AT(11), AT(12), AT(13) } };
#undef AT
    return v;
}

/* ---- one line ---- */

#define LANE(p, j) ((p) >> (j)&1 ? 0xff : 0)
#define LANES(p)                                                                            \
    {                                                                                       \
        LANE(p, 0), LANE(p, 1), LANE(p, 2), LANE(p, 3), LANE(p, 4), LANE(p, 5), LANE(p, 6), \
            LANE(p, 7)                                                                      \
    }
/* Of each k and rotation, lane j: the low byte is 0xff if word j is used. */
static const _Alignas(16) uint16_t used[9][8][8] = BLM__LINE_TABLE(LANES);

/* Lane j: of word j, which byte has the key's bit, counted in two words, and 0x80 above it; and the
 * bit, or 0 if the key does not use the word. */
struct key {
    v128_t at, bit;
};

BLM__INLINE struct key key_of(const struct vectors *c, uint64_t x, const uint16_t (*by_turn)[8])
{
    /* Six bits from bit 6j on of x >> 13: the two bytes that hold them, moved to the top and down. */
    v128_t v     = wasm_i8x16_swizzle(wasm_u64x2_splat(x >> 13), c->spread);
    v            = wasm_u16x8_shr(wasm_i16x8_mul(v, c->scale), 10);
    v128_t     b = wasm_i8x16_swizzle(c->bits, wasm_v128_and(v, c->seven));
    struct key k = { wasm_v128_or(wasm_u16x8_shr(v, 3), c->first),
                     wasm_v128_and(b, wasm_v128_load(by_turn[x >> 61])) };
    return k;
}

/* The bytes of words 2i and 2i + 1, in their lanes; in all others 0, as there is no byte 0x80. */
BLM__INLINE v128_t bytes_of(const struct vectors *c, const uint64_t *line, struct key k, int i)
{
    return wasm_i8x16_swizzle(wasm_v128_load(line + 2 * i), wasm_v128_or(k.at, c->others[i]));
}

BLM__INLINE bool test_line(const struct vectors *c, const uint64_t *line, struct key k)
{
    v128_t a = wasm_v128_or(bytes_of(c, line, k, 0), bytes_of(c, line, k, 1));
    v128_t b = wasm_v128_or(bytes_of(c, line, k, 2), bytes_of(c, line, k, 3));
    return !wasm_v128_any_true(wasm_v128_andnot(k.bit, wasm_v128_or(a, b)));
}

/* Sets the key's bits of words 2i and 2i + 1; those that were clear. */
BLM__INLINE v128_t set_two(const struct vectors *c, uint64_t *line, struct key k, int i)
{
    v128_t byte = wasm_i8x16_eq(wasm_i8x16_swizzle(k.at, c->each[i]), c->count);
    v128_t mask = wasm_v128_and(wasm_i8x16_swizzle(k.bit, c->each[i]), byte);
    v128_t old  = wasm_v128_load(line + 2 * i);
    wasm_v128_store(line + 2 * i, wasm_v128_or(old, mask));
    return wasm_v128_andnot(mask, old);
}

BLM__INLINE unsigned set_line(const struct vectors *c, uint64_t *line, struct key k)
{
    v128_t a = wasm_v128_or(set_two(c, line, k, 0), set_two(c, line, k, 1));
    v128_t b = wasm_v128_or(set_two(c, line, k, 2), set_two(c, line, k, 3));
    return wasm_v128_any_true(wasm_v128_or(a, b));
}

/* ---- one key ---- */

/* A layer in registers; lines: of a key, a constant 1 where it can be, so that its loop falls away. */
struct place {
    struct vectors c;
    uint64_t      *words;
    const uint16_t (*by_turn)[8];
    uint32_t count, lines;
};

BLM__INLINE struct place place_of(const struct blm__layer *l, uint32_t lines)
{
    struct place p = { vectors(), l->words, used[l->shape.probes], (uint32_t)l->shape.line_count,
                       lines };
    return p;
}

/* blm__reduce, of fewer than 2^32 lines. */
BLM__INLINE uint64_t *line_at(struct place p, uint64_t h)
{
    uint64_t i = ((h >> 32) * p.count + ((uint32_t)h * (uint64_t)p.count >> 32)) >> 32;
    return p.words + (size_t)i * BLM__LINE_WORDS;
}

BLM__INLINE bool has(struct place p, uint64_t h)
{
    uint64_t x   = blm__line_x(h);
    bool     all = test_line(&p.c, line_at(p, h), key_of(&p.c, x, p.by_turn));
    for (uint32_t i = 1; all && i < p.lines; i++) {
        h   = blm__line_next(x);
        x   = blm__line_x(h);
        all = test_line(&p.c, line_at(p, h), key_of(&p.c, x, p.by_turn));
    }
    return all;
}

BLM__INLINE unsigned put(struct place p, uint64_t h)
{
    uint64_t x     = blm__line_x(h);
    unsigned fresh = set_line(&p.c, line_at(p, h), key_of(&p.c, x, p.by_turn));
    for (uint32_t i = 1; i < p.lines; i++) {
        h = blm__line_next(x);
        x = blm__line_x(h);
        fresh |= set_line(&p.c, line_at(p, h), key_of(&p.c, x, p.by_turn));
    }
    return fresh;
}

BLM__INLINE bool check_hash(const struct blm__layer *l, uint64_t h)
{
    return has(place_of(l, l->shape.lines), h);
}

static bool lines_check_one(const struct blm__layer *l, uint64_t h) { return check_hash(l, h); }

/* Only files have marks, and a module has no files. */
BLM__INLINE blm_status add_hash(struct blm__layer *l, uint64_t h, bool shared)
{
    unsigned fresh = l->marks ? blm__lines_set(l, h, shared) : put(place_of(l, l->shape.lines), h);
    return blm__added_key(l, fresh, shared);
}

/* ---- batches ---- */

BLM__INLINE size_t check_loop(struct place p, const uint64_t *h, size_t n, uint8_t *maybe)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++)
        hits += maybe[i] = has(p, h[i]);
    return hits;
}

static size_t lines_check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe)
{
    if (l->shape.lines == 1)
        return check_loop(place_of(l, 1), h, n, maybe);
    return check_loop(place_of(l, l->shape.lines), h, n, maybe);
}

BLM__INLINE size_t add_loop(struct place p, const uint64_t *h, size_t n, uint8_t *fresh)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += fresh[i] = (uint8_t)put(p, h[i]);
    return count;
}

static size_t lines_add(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    if (l->marks)
        return blm__kernel_portable.lines_add(l, h, n, fresh);
    if (l->shape.lines == 1)
        return add_loop(place_of(l, 1), h, n, fresh);
    return add_loop(place_of(l, l->shape.lines), h, n, fresh);
}

static void hash8(uint64_t flip, const void *keys, size_t n, uint64_t *h)
{
    const uint8_t *p = keys;
    for (size_t i = 0; i < n; i++)
        h[i] = blm__xxh3_8(p + 8 * i, flip);
}

static size_t line_add8(struct blm__layer *l, uint64_t flip, const void *keys, size_t n,
                        uint8_t *fresh)
{
    uint64_t h[BLM__BATCH];
    size_t   count = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BATCH ? n - at : BLM__BATCH;
        hash8(flip, (const uint8_t *)keys + 8 * at, some, h);
        count += lines_add(l, h, some, fresh + at);
    }
    return count;
}

static size_t line_check8(const struct blm__layer *l, uint64_t flip, const void *keys, size_t n,
                          uint8_t *maybe)
{
    uint64_t h[BLM__BATCH]; /* one loop for both is slower: 15.4 ns for 12.8 */
    size_t   hits = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BATCH ? n - at : BLM__BATCH;
        hash8(flip, (const uint8_t *)keys + 8 * at, some, h);
        hits += lines_check(l, h, some, maybe + at);
    }
    return hits;
}

static void hash_many(const struct blm__hasher *by, const blm_key *keys, size_t n, uint64_t *h)
{
    blm__hasher_many(by, keys, n, h);
}

/* ---- words: what the compiler makes of it ---- */

static uint64_t popcount_or(const uint64_t *a, const uint64_t *b, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += BLM__POPCOUNT64(a[i] | b[i]);
    return sum;
}

static uint64_t popcount(const uint64_t *w, uint64_t n) { return popcount_or(w, w, n); }

static void or_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] |= src[i];
}

static void and_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] &= src[i];
}

static void quick(struct blm__quick *q, uint32_t k)
{
    (void)q;
    (void)k;
}

static size_t layers_add(const struct blm__stack *s, struct blm__layer *l, const uint64_t *h,
                         size_t n, uint8_t *fresh)
{
    return blm__layers_ask_add(s, l, h, n, fresh, &blm__kernel_simd128);
}

#define NO_TARGET
BLM__KEYS_LOOPS(blm__simd128, &blm__kernel_simd128)
BLM__SINGLE_CALLS(NO_TARGET, blm__simd128_lines, check_hash, add_hash)
BLM__VECTOR_CHAINS(NO_TARGET, blm__simd128)
BLM__CHAIN_FOLLOW(NO_TARGET, blm__simd128)

const struct blm__kernel blm__kernel_simd128 = {
    .name             = "simd128",
    .hash8            = hash8,
    .hash_many        = hash_many,
    .lines_add        = lines_add,
    .lines_add_shared = lines_add,
    .lines_check      = lines_check,
    .lines_check_one  = lines_check_one,
    .line_add8        = line_add8,
    .line_check8      = line_check8,
    .line_add_keys    = blm__simd128_line_add_keys,
    .line_check_keys  = blm__simd128_line_check_keys,
    .quick            = quick,
    .line_check_key   = blm__simd128_lines_check_key,
    .line_add_key     = blm__simd128_lines_add_key,
    .lines_check_key  = blm__simd128_lines_check_key,
    .lines_add_key    = blm__simd128_lines_add_key,
    .lines_add_key_shared =
        BLM__SHARED_FORM(blm__simd128_lines_add_key_shared, blm__simd128_lines_add_key),
    .chain_add        = blm__simd128_chain_add,
    .chain_add_shared = BLM__SHARED_FORM(blm__simd128_chain_add_shared, blm__simd128_chain_add),
    .chain_check      = blm__simd128_chain_check,
    .chain_follow     = BLM__CHAIN_FOLLOW_ROW(blm__simd128),
    .hands_for        = blm__hands_if_absent,
    .chain_check_one  = blm__simd128_chain_check_one,
    .chain_check_key  = blm__simd128_chain_check_key,
    .chain_add_key    = blm__simd128_chain_add_key,
    .chain_add_key_shared =
        BLM__SHARED_FORM(blm__simd128_chain_add_key_shared, blm__simd128_chain_add_key),
    .popcount     = popcount,
    .popcount_or  = popcount_or,
    .or_into      = or_into,
    .and_into     = and_into,
    .counters     = &blm__counters_portable,
    .ages         = &blm__ages_portable,
    .buckets      = &blm__buckets_portable,
    .fuse         = &blm__fuse_portable,
    .stepper      = &blm__stepper_portable,
    .layers_check = blm__layers_check,
    .layers_add   = layers_add,
};
#endif
