/* SPDX-License-Identifier: MIT */
/* One kernel judged by another, over shapes with every border in them: same bits, same fresh[],
 * same maybe[], same counts. test_portable.c judges the oracle by the rule itself; every further
 * kernel is judged by the oracle, in a file that names it and nothing else. */
#ifndef BLM_UNIT_KERNEL_COMPARE_H
#define BLM_UNIT_KERNEL_COMPARE_H

#include <sys/mman.h>

#include "core/hasher.h"
#include "core/kernel/kernel.h"
#include "core/probe.h"
#include "engine/engine.h"
#include "unit/support.h"

#define FENCE 0x5e5e5e5e5e5e5e5eu

/* A layer in plain memory, with a fence behind its words. aligned: on a cache line's start, as
 * our own are; else 8 bytes past it, as a caller's own words may be. */
static inline struct blm__layer bare_layer(struct blm__shape s, bool aligned)
{
    struct blm__layer l = { .shape = s, .engine = blm__engine_of(&s) };
    l.word_count        = blm__shape_words(&s);
    size_t    room      = (size_t)l.word_count * 8 + 128;
    uint64_t *base      = calloc(1, room + 64);
    assert_non_null(base);
    uintptr_t at          = ((uintptr_t)base + 64 + 63) & ~(uintptr_t)63;
    l.words               = (uint64_t *)(at + (aligned ? 0 : 8));
    l.block.base          = base;
    l.words[l.word_count] = FENCE;
    return l;
}

static inline void bare_free(struct blm__layer *l)
{
    assert_true(l->words[l->word_count] == FENCE);
    free(l->block.base);
}

static inline struct blm__shape line_shape(uint64_t lines_in_all, uint32_t k, uint32_t lines)
{
    struct blm__shape s = { .kind       = BLM_BLOCKED,
                            .rule       = BLM__LINES,
                            .bits       = lines_in_all * BLM__LINE_BITS,
                            .line_count = lines_in_all,
                            .probes     = k,
                            .lines      = lines,
                            .cell_bits  = 1 };
    return s;
}

static inline struct blm__shape chain_shape(uint64_t m, uint32_t k)
{
    struct blm__shape s = {
        .kind = BLM_CLASSIC, .rule = BLM__CHAIN, .bits = m, .probes = k, .cell_bits = 1
    };
    return s;
}

/* Hashes with repeats, and the extremes, which find the first and the last cell. */
static inline void some_hashes(struct rng *r, uint64_t *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (rng_below(r, 16)) {
        case 0:
            h[i] = 0;
            break;
        case 1:
            h[i] = UINT64_MAX;
            break;
        case 2:
            h[i] = i ? h[rng_below(r, i)] : 1;
            break;
        default:
            h[i] = rng_next(r);
        }
}

struct loops {
    size_t (*add)(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh);
    size_t (*add_shared)(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh);
    size_t (*check)(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe);
    bool (*check_one)(const struct blm__layer *l, uint64_t h);
};

static inline struct loops loops_of(const struct blm__kernel *k, const struct blm__shape *s)
{
    struct loops lines = { k->lines_add, k->lines_add_shared, k->lines_check, k->lines_check_one };
    struct loops chain = { k->chain_add, k->chain_add_shared, k->chain_check, k->chain_check_one };
    return s->rule == BLM__LINES ? lines : chain;
}

/* Seven bits of eight set, in both: a key that is not there passes several probes before it meets
 * a clear bit, so that what is asked late counts too. */
static inline void crowd(struct blm__layer *x, struct blm__layer *y, struct rng *r)
{
    for (uint64_t i = 0; i < x->word_count; i++)
        x->words[i] = rng_next(r) | rng_next(r) | rng_next(r);
    if (x->shape.bits % 64)
        x->words[x->word_count - 1] &= blm__le64(((uint64_t)1 << x->shape.bits % 64) - 1);
    memcpy(y->words, x->words, (size_t)x->word_count * 8);
}

/* Adds and asks in batches of every size given, through both kernels in step. */
static inline void agree(const struct blm__kernel *oracle, const struct blm__kernel *other,
                         struct blm__shape s, size_t rounds, uint64_t seed)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 97, 128, 255, 256 };
    struct loops        a = loops_of(oracle, &s), b = loops_of(other, &s);
    struct blm__layer   x = bare_layer(s, true), y = bare_layer(s, seed % 2 == 0);
    struct rng          r = { seed };
    if (seed % 3 || x.word_count > 60000)
        crowd(&x, &y, &r);
    for (size_t round = 0; round < rounds; round++) {
        size_t   n      = sizes[rng_below(&r, COUNT_OF(sizes))];
        bool     shared = rng_below(&r, 2) != 0;
        uint64_t h[BLM__BATCH];
        uint8_t  fx[BLM__BATCH + 1], fy[BLM__BATCH + 1];
        some_hashes(&r, h, n);
        memset(fx, 0xee, sizeof fx);
        memset(fy, 0xee, sizeof fy);
        size_t cx = (shared ? a.add_shared : a.add)(&x, h, n, fx);
        size_t cy = (shared ? b.add_shared : b.add)(&y, h, n, fy);
        assert_int_equal(cx, cy);
        assert_memory_equal(fx, fy, sizeof fx); /* and nothing written past n */
        assert_int_equal(fx[n], 0xee);
        assert_memory_equal(x.words, y.words, (size_t)(size_t)x.word_count * 8);
        if (rng_below(&r, 2)) /* half the time keys that are there, half the time others */
            some_hashes(&r, h, n);
        memset(fx, 0xee, sizeof fx);
        memset(fy, 0xee, sizeof fy);
        cx = a.check(&x, h, n, fx);
        cy = b.check(&y, h, n, fy);
        assert_int_equal(cx, cy);
        assert_memory_equal(fx, fy, sizeof fx);
        assert_int_equal(fx[n], 0xee);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(a.check_one(&x, h[i]), fx[i]);
            assert_int_equal(b.check_one(&y, h[i]), fx[i]);
        }
    }
    bare_free(&x);
    bare_free(&y);
}

/* Where memory is the subject, and not chance, a part of the rounds does. */
static inline size_t rounds_of(size_t all) { return quick_tests() ? all / 4 : all; }
static inline size_t rounds_for(uint64_t words) { return rounds_of(words < 4000 ? 12 : 20); }

static inline void agree_on_lines(const struct blm__kernel *oracle, const struct blm__kernel *other)
{
    /* The last one is larger than what counts as in cache (512 KiB: 8192 lines). */
    static const uint64_t counts[] = { 1, 2, 3, 7, 64, 1001, 8192, 8193, 20011 };
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        for (uint32_t k = 1; k <= 8; k++)
            for (uint32_t lines = 1; lines <= BLM__MAX_LINES; lines++)
                if (counts[i] < 8000 || k >= 7 || k == 3)
                    agree(oracle, other, line_shape(counts[i], k, lines), rounds_for(counts[i] * 8),
                          i * 100 + k * 10 + lines);
}

static inline void agree_on_chains(const struct blm__kernel *oracle,
                                   const struct blm__kernel *other)
{
    static const uint64_t sizes[] = {
        1, 2, 3, 63, 64, 65, 127, 1000003, 4194304, 4194305, 9999991
    };
    static const uint32_t ks[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 27, 40 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t j = 0; j < COUNT_OF(ks); j++)
            agree(oracle, other, chain_shape(sizes[i], ks[j]), rounds_for(sizes[i] / 64),
                  i * 100 + ks[j]);
}

/* Single calls: the same as a batch of one, from the key's bytes; and what they refuse. */
static inline void agree_on_one_key(const struct blm__kernel *oracle,
                                    const struct blm__kernel *other, struct blm__shape s,
                                    bool shared, bool marks, uint64_t seed)
{
    struct blm__layer x = bare_layer(s, true), y = bare_layer(s, seed % 2 == 0);
    bool              lines  = s.rule == BLM__LINES;
    uint8_t           mx[64] = { 0 }, my[64] = { 0 }, live[8] = { 0 };
    struct rng        r = { seed };
    struct blm__body a = { .layers = &x, .layer_count = 1, .hasher = { .seed = { rng_next(&r) } } };
    a.flip             = blm__xxh3_turn(blm__xxh3_flip(a.hasher.seed[0]));
    a.shared           = shared;
    struct blm__body b = a;
    b.layers           = &y;
    blm__check_key ca  = lines ? oracle->lines_check_key : oracle->chain_check_key;
    blm__check_key cb  = lines ? other->lines_check_key : other->chain_check_key;
    blm__add_key   aa  = lines ? oracle->lines_add_key : oracle->chain_add_key;
    blm__add_key   ab  = lines ? other->lines_add_key : other->chain_add_key;
    if (s.lines == 1 && seed % 4 != 0) { /* one line has its own functions, and may use others */
        cb = other->line_check_key;
        ab = other->line_add_key;
    }
    if (shared) {
        aa = lines ? oracle->lines_add_key_shared : oracle->chain_add_key_shared;
        ab = lines ? other->lines_add_key_shared : other->chain_add_key_shared;
    }
    if (marks) {
        y.marks      = my;
        y.mark_shift = 5;
        y.live       = shared ? NULL : live;
    }
    a.kernel = oracle;
    b.kernel = other;
    blm__body_ready(&a);
    blm__body_ready(&b);
    for (int i = 0; i < 400; i++) {
        static const size_t lengths[] = { 8, 8, 8, 0, 1, 4, 7, 9, 16, 20, 33, 60, 96, 200 };
        uint8_t             key[200];
        size_t              len = lengths[rng_below(&r, COUNT_OF(lengths))];
        rng_bytes(&r, key, len);
        if (len == 8 && i % 3 == 0)
            memset(key + 1, 0, 7); /* repeats */
        assert_int_equal(ca(&a, key, len), cb(&b, key, len));
        assert_int_equal(aa(&a, key, len), ab(&b, key, len));
        assert_true(cb(&b, key, len));
        assert_int_equal(ab(&b, key, len), BLM_PRESENT);
    }
    assert_memory_equal(x.words, y.words, (size_t)(size_t)x.word_count * 8);
    assert_true(x.items > 0 && x.items == y.items);
    if (marks && !shared)
        assert_true(blm__get64le(live) == y.items);
    for (uint64_t w = 0; marks && w < y.word_count; w++)
        mx[w >> 5] |= y.words[w] != 0;
    assert_memory_equal(mx, my, sizeof mx);
    /* The empty key may be NULL; another may not. */
    assert_int_equal(aa(&a, NULL, 0), ab(&b, NULL, 0));
    assert_true(cb(&b, NULL, 0) && cb(&b, "", 0) && ca(&a, NULL, 0));
    assert_true(cb(&b, NULL, 8) && cb(&b, NULL, 3));
    assert_int_equal(ab(&b, NULL, 8), BLM_E_ARGUMENT);
    assert_int_equal(ab(&b, NULL, 1), BLM_E_ARGUMENT);
    b.read_only = true;
    blm__body_ready(&b);
    assert_int_equal(ab(&b, "12345678", 8), BLM_E_READONLY);
    assert_int_equal(ab(&b, "1", 1), BLM_E_READONLY);
    assert_memory_equal(x.words, y.words, (size_t)(size_t)x.word_count * 8);
    bare_free(&x);
    bare_free(&y);
}

static inline void agree_on_keys(const struct blm__kernel *oracle, const struct blm__kernel *other)
{
    for (uint64_t way = 0; way < 4; way++) {
        for (uint32_t k = 1; k <= 8; k++)
            for (uint32_t lines = 1; lines <= BLM__MAX_LINES; lines++)
                agree_on_one_key(oracle, other, line_shape(200, k, lines), way & 1, way & 2,
                                 k * 8 + lines + way);
        for (uint32_t k = 1; k <= 17; k += 3)
            agree_on_one_key(oracle, other, chain_shape(100000, k), way & 1, way & 2, k + way);
    }
}

/* Around 2^32 lines, where 32-bit arithmetic on line numbers would show: 256 GiB of addresses each,
 * of which a few pages are touched. */
static inline void *vast_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static inline void agree_on_vast(const struct blm__kernel *oracle, const struct blm__kernel *other)
{
    static const uint64_t counts[] = { 0xffffffffu, 0x100000000u, 0x100000001u, 0x1000f0f0fu };
    size_t                bytes    = (size_t)(0x1000f0f0fu * 64);
    void                 *a = vast_map(bytes), *b = vast_map(bytes);
    if (!a || !b)
        skip(); /* no such addresses here */
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        for (uint32_t lines = 1; lines <= BLM__MAX_LINES; lines++) {
            struct blm__layer x = { .shape = line_shape(counts[i], 8 - lines, lines) };
            x.word_count        = counts[i] * 8;
            struct blm__layer y = x;
            uint64_t          h[128], absent[128];
            uint8_t           fx[128], fy[128];
            struct rng        r = { counts[i] + lines };
            x.words             = a;
            y.words             = b;
            some_hashes(&r, h, 128);
            some_hashes(&r, absent, 128);
            assert_int_equal(oracle->lines_add(&x, h, 128, fx), other->lines_add(&y, h, 128, fy));
            assert_memory_equal(fx, fy, 128);
            assert_int_equal(oracle->lines_check(&y, h, 128, fx), 128);
            assert_int_equal(other->lines_check(&x, h, 128, fy), 128);
            assert_int_equal(oracle->lines_check(&x, absent, 128, fx),
                             other->lines_check(&y, absent, 128, fy));
            assert_memory_equal(fx, fy, 128);
            madvise(a, bytes, MADV_DONTNEED); /* zeroes again */
            madvise(b, bytes, MADV_DONTNEED);
        }
    munmap(a, bytes);
    munmap(b, bytes);
}

/* Positions past 2^32: 640 MiB of address space, of which few pages are touched. */
static inline void agree_past_32_bits(const struct blm__kernel *oracle,
                                      const struct blm__kernel *other)
{
    uint64_t          m        = ((uint64_t)1 << 32) + ((uint64_t)1 << 30) + 77;
    struct blm__shape shapes[] = { chain_shape(m, 11), line_shape(m / 512, 8, 2) };
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        struct loops      a = loops_of(oracle, &shapes[i]), b = loops_of(other, &shapes[i]);
        struct blm__layer x = bare_layer(shapes[i], true), y = bare_layer(shapes[i], true);
        struct rng        r = { 99 };
        uint64_t          h[256], high = 0;
        uint8_t           fx[256], fy[256];
        for (int round = 0; round < 20; round++) {
            some_hashes(&r, h, 256);
            for (int j = 0; j < 256; j++)
                high += blm__reduce(h[j], shapes[i].bits) >> 32;
            assert_int_equal(a.add(&x, h, 256, fx), b.add(&y, h, 256, fy));
            assert_memory_equal(fx, fy, 256);
            assert_int_equal(a.check(&y, h, 256, fx), 256); /* each reads what the other wrote */
            assert_int_equal(b.check(&x, h, 256, fy), 256);
        }
        assert_true(high > 0);
        assert_true(oracle->popcount(x.words, x.word_count) ==
                    other->popcount(y.words, y.word_count));
        bare_free(&x);
        bare_free(&y);
    }
}

/* Whole words: every length to 70, from every word of a cache line. */
static inline void agree_on_words(const struct blm__kernel *oracle, const struct blm__kernel *other)
{
    uint64_t   a[80], b[80], x[80], y[80];
    struct rng r = { 5 };
    for (size_t i = 0; i < 80; i++) {
        a[i] = rng_next(&r);
        b[i] = rng_next(&r) & rng_next(&r);
    }
    for (size_t from = 0; from < 9; from++)
        for (size_t n = 0; n <= 70; n++) {
            assert_true(oracle->popcount(a + from, n) == other->popcount(a + from, n));
            assert_true(oracle->popcount_or(a + from, b + 3, n) ==
                        other->popcount_or(a + from, b + 3, n));
            memcpy(x, a, sizeof a);
            memcpy(y, a, sizeof a);
            oracle->or_into(x + from, b + 1, n);
            other->or_into(y + from, b + 1, n);
            assert_memory_equal(x, y, sizeof x);
            oracle->and_into(x + from, b + 2, n);
            other->and_into(y + from, b + 2, n);
            assert_memory_equal(x, y, sizeof x);
        }
}

/* Strings: rounds of one class of lengths, of two, of all; every key in memory of its own size, so
 * that a sanitizer sees a byte too many. */
static inline void agree_on_strings(const struct blm__kernel *other)
{
    static const size_t spans[][2] = { { 33, 64 },   { 65, 96 },  { 48, 96 },  { 47, 96 },
                                       { 48, 97 },   { 33, 65 },  { 32, 64 },  { 17, 32 },
                                       { 0, 16 },    { 17, 128 }, { 97, 128 }, { 0, 300 },
                                       { 128, 129 }, { 16, 40 },  { 129, 240 } };
    static const size_t counts[]   = { 0, 1, 4, 63, 64, 65, 127, 128, 200, 256 };
    struct rng          r          = { 21 };
    for (size_t s = 0; s < COUNT_OF(spans); s++)
        for (size_t c = 0; c < 2 * COUNT_OF(counts); c++) {
            blm_key            keys[256];
            uint64_t           got[257], want[256], seed[2] = { rng_next(&r), rng_next(&r) };
            struct blm__secret secret;
            struct blm__hasher by = { .seed = { seed[0] }, .secret = c % 2 ? &secret : NULL };
            size_t             n  = counts[c / 2];
            blm__secret_make(&secret, seed);
            for (size_t i = 0; i < n; i++) {
                size_t   len = spans[s][0] + rng_size(&r, spans[s][1] - spans[s][0] + 1);
                uint8_t *key = len ? malloc(len) : NULL;
                if (len && i % 7 == 0)
                    memset(key, 0xff, len); /* the largest products */
                else
                    rng_bytes(&r, key, len);
                keys[i]          = (blm_key){ key, len };
                const void *data = len ? key : (const void *)"";
                want[i]          = c % 2 ? blm__keyed_any(data, len, &secret)
                                         : blm__xxh3_library(data, len, seed[0]);
            }
            got[n] = 0x7777777777777777u;
            other->hash_many(&by, keys, n, got);
            assert_memory_equal(got, want, n * sizeof *got);
            assert_true(got[n] == 0x7777777777777777u);
            for (size_t i = 0; i < n; i++)
                free((void *)(uintptr_t)keys[i].data);
        }
}

static inline void agree_on_hash8(const struct blm__kernel *oracle, const struct blm__kernel *other)
{
    uint8_t    keys[8 * 70 + 3];
    uint64_t   x[71], y[71];
    struct rng r = { 6 };
    rng_bytes(&r, keys, sizeof keys);
    for (size_t n = 0; n <= 70; n++) {
        uint64_t seed = rng_next(&r);
        memset(x, 0x77, sizeof x);
        memset(y, 0x77, sizeof y);
        oracle->hash8(seed, keys + n % 4, n, x); /* keys need no alignment */
        other->hash8(seed, keys + n % 4, n, y);
        assert_memory_equal(x, y, sizeof x);
    }
}

/* Lists of keys to answers: the same as hashing them and then adding or checking, a batch at a
 * time, for every number of keys around a round and around what is on the way, lengths of one class,
 * of two and of all, with and without a secret, with and without marks, near and far. */
static inline void agree_on_one_list(const struct blm__kernel *oracle,
                                     const struct blm__kernel *other, size_t n, size_t least,
                                     size_t most, uint64_t seed)
{
    struct blm__shape  s = line_shape(seed % 3 ? 61 : 1001, 1 + (uint32_t)(seed % 8), 1);
    struct blm__layer  x = bare_layer(s, true), y = bare_layer(s, seed % 5 != 0);
    uint8_t            mx[64] = { 0 }, my[64] = { 0 };
    uint64_t           word[2] = { seed, ~seed };
    struct blm__secret secret;
    struct blm__hasher by   = { .seed = { seed }, .secret = seed % 4 ? &secret : NULL };
    blm_key           *keys = malloc((n + 1) * sizeof *keys);
    uint64_t          *h    = malloc((n + 1) * sizeof *h);
    uint8_t           *fx = malloc(n + 1), *fy = malloc(n + 1);
    struct rng         r = { seed };
    blm__secret_make(&secret, word);
    x.mark_shift = y.mark_shift = 8;
    x.marks                     = seed % 7 ? NULL : mx;
    y.marks                     = seed % 7 ? NULL : my;
    for (size_t i = 0; i < n; i++) {
        size_t   len = least + rng_size(&r, most - least + 1);
        uint8_t *key = len ? malloc(len) : NULL;
        rng_bytes(&r, key, len);
        keys[i] = (blm_key){ key, len };
        if (i > 3 && i % 5 == 0) { /* again, while it is on the way */
            free(key);
            keys[i]      = keys[i - 3];
            uint8_t *too = keys[i].len ? malloc(keys[i].len) : NULL;
            if (too)
                memcpy(too, keys[i].data, keys[i].len);
            keys[i].data = too;
        }
    }
    for (int add = 1; add >= 0; add--) {
        size_t part = add ? n / 2 : n, count[2] = { 0, 0 };
        oracle->hash_many(&by, keys, part, h);
        fx[part] = fy[part] = 0x5a;
        for (size_t at = 0, some; at < part; at += some) {
            some = part - at < BLM__BATCH ? part - at : BLM__BATCH;
            count[0] += add ? oracle->lines_add(&x, h + at, some, fx + at)
                            : oracle->lines_check(&x, h + at, some, fx + at);
        }
        count[1] = add ? other->line_add_keys(&y, &by, keys, part, fy)
                       : other->line_check_keys(&y, &by, keys, part, fy);
        assert_int_equal(count[0], count[1]);
        assert_memory_equal(fx, fy, part + 1);
        assert_memory_equal(x.words, y.words, (size_t)x.word_count * 8);
        assert_memory_equal(mx, my, sizeof mx);
    }
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)keys[i].data);
    free(keys);
    free(h);
    free(fx);
    free(fy);
    bare_free(&x);
    bare_free(&y);
}

static inline void agree_on_lists(const struct blm__kernel *oracle, const struct blm__kernel *other)
{
    static const size_t spans[][2] = { { 33, 64 }, { 48, 96 }, { 47, 97 }, { 0, 16 }, { 0, 300 } };
    static const size_t counts[]   = { 0, 1, 3, 4, 7, 8, 62, 130, 137, 254, 258, 389, 700 };
    const uint64_t      near       = blm__in_cache_bytes;
    uint64_t            seed       = 1;
    for (int far = 0; far < 2; far++) {
        blm__in_cache_bytes = far ? 0 : near;
        for (size_t s = 0; s < COUNT_OF(spans); s++)
            for (size_t c = 0; c < COUNT_OF(counts); c++)
                agree_on_one_list(oracle, other, counts[c], spans[s][0], spans[s][1], seed++);
    }
    blm__in_cache_bytes = near;
}

/* Streams of 8-byte keys: the same as hashing them and then adding or checking, a batch at a time.
 * Every length up to several steps, one that counts past 255 in every byte,
 * keys of any alignment, repeats. */
static inline void agree_on_one_stream(const struct blm__kernel *oracle,
                                       const struct blm__kernel *other, struct blm__shape s,
                                       size_t n, bool marks, uint64_t seed)
{
    struct blm__layer x = bare_layer(s, true), y = bare_layer(s, true);
    uint8_t           mx[64] = { 0 }, my[64] = { 0 };
    size_t            off = seed % 8, count[2] = { 0, 0 };
    uint8_t          *keys = malloc(8 * n + 16), *fx = malloc(n + 1), *fy = malloc(n + 1);
    struct rng        r = { seed };
    x.mark_shift = y.mark_shift = 8;
    x.marks                     = marks ? mx : NULL;
    y.marks                     = marks ? my : NULL;
    rng_bytes(&r, keys, 8 * n + 16);
    for (size_t i = 3; i < n; i += 5) /* again, near enough to be on the way together */
        memcpy(keys + off + 8 * i, keys + off + 8 * (i - 1 - rng_next(&r) % 3), 8);
    for (int add = 1; add >= 0; add--) {
        if (!add)
            rng_bytes(&r, keys + off, 8 * (n / 2)); /* half of them were never added */
        count[0] = 0;
        fx[n] = fy[n] = 0x5a;
        for (size_t at = 0, some; at < n; at += some) {
            uint64_t h[BLM__BATCH];
            some = n - at < BLM__BATCH ? n - at : BLM__BATCH;
            oracle->hash8(seed, keys + off + 8 * at, some, h);
            count[0] += add ? oracle->lines_add(&x, h, some, fx + at)
                            : oracle->lines_check(&x, h, some, fx + at);
        }
        count[1] = add ? other->line_add8(&y, seed, keys + off, n, fy)
                       : other->line_check8(&y, seed, keys + off, n, fy);
        assert_int_equal(count[0], count[1]);
        assert_memory_equal(fx, fy, n + 1);
        assert_memory_equal(x.words, y.words, (size_t)x.word_count * 8);
        assert_memory_equal(mx, my, sizeof mx);
    }
    free(keys);
    free(fx);
    free(fy);
    bare_free(&x);
    bare_free(&y);
}

static inline void agree_on_streams(const struct blm__kernel *oracle,
                                    const struct blm__kernel *other)
{
    static const uint64_t counts[] = { 1, 2, 61, 1001 };
    for (size_t c = 0; c < COUNT_OF(counts); c++)
        for (uint32_t k = 1; k <= 8; k++) {
            for (size_t n = 0; n <= 90; n++)
                agree_on_one_stream(oracle, other, line_shape(counts[c], k, 1), n, n % 7 == 0,
                                    n * 64 + k * 8 + c);
            agree_on_one_stream(oracle, other, line_shape(counts[c], k, 1), 5003, k % 2, k);
        }
}

#endif
