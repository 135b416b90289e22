/* SPDX-License-Identifier: MIT */
/* The oracle, judged by the rule of core/probe.h spelled out cell by cell in one byte a cell. */
#include "core/hash/xxh3.h"
#include "unit/core/kernel/compare.h"

/* ---- a kernel so plain that it can be read: one loop, no groups, no prefetch, no atomics ---- */

static void cells_of(const struct blm__shape *s, uint64_t h, uint64_t *out)
{
    if (s->rule == BLM__CHAIN) {
        for (uint32_t i = 0; i < s->probes; i++, h *= 0xA0761D6478BD642Fu)
            *out++ = blm__mulhi(h, s->bits);
        return;
    }
    for (uint32_t i = 0; i < s->lines; i++) {
        static const uint8_t pattern[9] = { 0, 1, 3, 0x0b, 0x17, 0x2f, 0x3f, 0x7f, 0xff };
        uint64_t             line = blm__mulhi(h, s->line_count), x = h * 0xA0761D6478BD642Fu;
        for (unsigned j = 0; j < 8; j++)
            if (pattern[s->probes] >> ((j - (x >> 61)) & 7) & 1)
                *out++ = line * 512 + j * 64 + (x >> (13 + 6 * j) & 63);
        h = x * 0xE7037ED1A0B428DBu;
        h ^= h >> 32;
    }
}

static size_t plain_add(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    uint8_t *bytes = (uint8_t *)l->words;
    size_t   count = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t at[64];
        cells_of(&l->shape, h[i], at);
        fresh[i] = 0;
        for (uint32_t j = 0; j < blm__shape_probes(&l->shape); j++) {
            uint8_t bit = (uint8_t)(1u << at[j] % 8);
            fresh[i] |= !(bytes[at[j] / 8] & bit);
            bytes[at[j] / 8] |= bit;
        }
        count += fresh[i];
    }
    return count;
}

static bool plain_check_one(const struct blm__layer *l, uint64_t h)
{
    uint64_t at[64];
    cells_of(&l->shape, h, at);
    for (uint32_t j = 0; j < blm__shape_probes(&l->shape); j++)
        if (!(((const uint8_t *)l->words)[at[j] / 8] >> at[j] % 8 & 1))
            return false;
    return true;
}

static size_t plain_check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++)
        hits += maybe[i] = plain_check_one(l, h[i]);
    return hits;
}

static uint64_t plain_popcount(const uint64_t *w, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n * 64; i++)
        sum += ((const uint8_t *)w)[i / 8] >> i % 8 & 1;
    return sum;
}
static uint64_t plain_popcount_or(const uint64_t *a, const uint64_t *b, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t w = a[i] | b[i];
        sum += plain_popcount(&w, 1);
    }
    return sum;
}
static void plain_or(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] = dst[i] | src[i];
}
static void plain_and(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] = dst[i] & src[i];
}
static void plain_hash8(uint64_t flip, const void *keys, size_t n, uint64_t *h)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v = blm__rotl64(blm__get64le((const uint8_t *)keys + 8 * i), 32) ^ flip;
        v ^= blm__rotl64(v, 49) ^ blm__rotl64(v, 24);
        v *= 0x9fb21c651e98df25u;
        v ^= (v >> 35) + 8;
        v *= 0x9fb21c651e98df25u;
        h[i] = v ^ v >> 28;
    }
}

static bool plain_check_key(const struct blm__body *b, const void *key, size_t len)
{
    if (!key && len)
        return true;
    return plain_check_one(b->layers, XXH3_64bits_withSeed(key ? key : "", len, b->hasher.seed[0]));
}

static blm_status plain_add_key(struct blm__body *b, const void *key, size_t len)
{
    uint8_t fresh;
    if (!key && len)
        return BLM_E_ARGUMENT;
    if (b->read_only)
        return BLM_E_READONLY;
    uint64_t h = XXH3_64bits_withSeed(key ? key : "", len, b->hasher.seed[0]);
    b->layers->items += plain_add(b->layers, &h, 1, &fresh);
    return fresh ? BLM_OK : BLM_PRESENT;
}

static void plain_quick(struct blm__quick *q, uint32_t k)
{
    (void)q;
    (void)k;
}

static const struct blm__kernel plain = {
    .name                 = "plain",
    .quick                = plain_quick,
    .hash8                = plain_hash8,
    .lines_add            = plain_add,
    .lines_add_shared     = plain_add,
    .lines_check          = plain_check,
    .lines_check_one      = plain_check_one,
    .line_check_key       = plain_check_key,
    .line_add_key         = plain_add_key,
    .lines_check_key      = plain_check_key,
    .lines_add_key        = plain_add_key,
    .lines_add_key_shared = plain_add_key,
    .chain_add            = plain_add,
    .chain_add_shared     = plain_add,
    .chain_check          = plain_check,
    .chain_check_one      = plain_check_one,
    .chain_check_key      = plain_check_key,
    .chain_add_key        = plain_add_key,
    .chain_add_key_shared = plain_add_key,
    .popcount             = plain_popcount,
    .popcount_or          = plain_popcount_or,
    .or_into              = plain_or,
    .and_into             = plain_and,
};

static void lines_follow_the_rule(void **state)
{
    (void)state;
    agree_on_lines(&plain, &blm__kernel_portable);
}
static void chains_follow_the_rule(void **state)
{
    (void)state;
    agree_on_chains(&plain, &blm__kernel_portable);
}
static void single_calls_follow_the_rule(void **state)
{
    (void)state;
    agree_on_keys(&plain, &blm__kernel_portable);
}
static void positions_pass_32_bits(void **state)
{
    (void)state;
    if (!slow_tests())
        skip();
    agree_past_32_bits(&plain, &blm__kernel_portable);
}
static void words_are_counted_and_joined(void **state)
{
    (void)state;
    agree_on_words(&plain, &blm__kernel_portable);
}
static void eight_byte_keys_are_hashed(void **state)
{
    (void)state;
    agree_on_hash8(&plain, &blm__kernel_portable);
}

/* A region is marked when, and only when, an add changed it: a repeated key marks nothing. */
static void adds_mark_what_they_change(void **state)
{
    (void)state;
    struct blm__shape shapes[] = { chain_shape(100000, 7), line_shape(200, 6, 2) };
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (int shared = 0; shared < 2; shared++) {
            struct blm__layer l         = bare_layer(shapes[i], true);
            uint8_t           marks[64] = { 0 }, want[64] = { 0 }, fresh[8];
            struct loops      v = loops_of(&blm__kernel_portable, &shapes[i]);
            struct rng        r = { 8 };
            uint64_t          h[8], at[64];
            l.marks      = marks;
            l.mark_shift = 5;
            some_hashes(&r, h, 8);
            for (size_t j = 0; j < 8; j++) {
                cells_of(&shapes[i], h[j], at);
                for (uint32_t c = 0; c < blm__shape_probes(&shapes[i]); c++)
                    want[at[c] / 64 >> 5] = 1;
            }
            (shared ? v.add_shared : v.add)(&l, h, 8, fresh);
            assert_memory_equal(marks, want, sizeof marks);
            memset(marks, 0, sizeof marks);
            memset(want, 0, sizeof want);
            (shared ? v.add_shared : v.add)(&l, h, 8, fresh);
            assert_memory_equal(marks, want, sizeof marks);
            bare_free(&l);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_follow_the_rule),
        cmocka_unit_test(chains_follow_the_rule),
        cmocka_unit_test(single_calls_follow_the_rule),
        cmocka_unit_test(positions_pass_32_bits),
        cmocka_unit_test(words_are_counted_and_joined),
        cmocka_unit_test(eight_byte_keys_are_hashed),
        cmocka_unit_test(adds_mark_what_they_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
