/* SPDX-License-Identifier: MIT */
/* The native scheme, pinned: files written today must be answered the same for ever, so the
 * positions of some keys stand here as numbers. */
#include "bloomery/embed.h"
#include "core/hash/keyed.h"
#include "core/kernel/kernel.h"
#include "scheme/scheme.h"
#include "unit/support.h"

/* XXH3 of the key with the seed, then core/probe.h's rule, done in Python's long integers from
 * the hashes that the xxHash library gives (0x0123456789abcdef is the seed). */
static void positions_are_pinned(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        size_t      len;
        uint64_t    chain[4];    /* m = 1 000 003, k = 4 */
        uint64_t    lines[6];    /* 1 000 lines, 2 a key, 3 words each */
        uint64_t    counters[6]; /* 7 813 short lines, the same */
    } rows[] = {
        { "",
          0,
          { 797314, 604473, 24827, 382237 },
          { 408373, 408405, 408565, 94461, 94521, 94642 },
          { 797381, 797407, 797437, 184371, 184396, 184419 } },
        { "tuesday",
          7,
          { 71653, 320328, 361281, 118432 },
          { 36504, 36590, 36703, 47198, 47547, 47563 },
          { 71587, 71613, 71632, 92690, 92783, 92786 } },
        { "\xff\x80\0x",
          4,
          { 548179, 819360, 778640, 517923 },
          { 280663, 280992, 281059, 151092, 151138, 151273 },
          { 548117, 548206, 548216, 295175, 295194, 295218 } },
        { "https://example.org/a/rather/long/path?with=a&query=string&to=hash",
          66,
          { 221801, 360728, 778903, 745123 },
          { 113328, 113365, 113492, 317507, 317604, 317706 },
          { 221730, 221744, 221788, 620955, 620970, 620992 } },
    };
    blm_options o = BLM_OPTIONS_INIT, b = BLM_OPTIONS_INIT;
    o.flags = b.flags = BLM_SEEDED;
    o.seed[0] = b.seed[0] = 0x0123456789abcdefu;
    o.version = b.version = 1;
    o.bits                = 1000003;
    o.probes              = 4;
    b.kind                = BLM_BLOCKED;
    b.bits                = 512000;
    b.probes              = 6;
    b.lines               = 2;
    blm_filter *f = make(&o), *g = make(&b);
    b.kind        = BLM_COUNTING;
    b.bits        = 1000064;
    blm_filter *c = make(&b);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t pos[6];
        size_t   n = 0;
        blm_positions(f, rows[i].key, rows[i].len, pos, 6, &n);
        assert_int_equal(n, 4);
        assert_memory_equal(pos, rows[i].chain, sizeof rows[i].chain);
        blm_positions(c, rows[i].key, rows[i].len, pos, 6, &n);
        assert_int_equal(n, 6);
        assert_memory_equal(pos, rows[i].counters, sizeof rows[i].counters);
        blm_positions(g, rows[i].key, rows[i].len, pos, 6, &n);
        assert_int_equal(n, 6);
        assert_memory_equal(pos, rows[i].lines, sizeof rows[i].lines);
    }
    blm_free(f);
    blm_free(g);
    blm_free(c);
}

static uint64_t sum_hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    const uint8_t *p = key;
    uint64_t       h = seed[0] ^ seed[1] << 1 ^ len;
    (void)ctx;
    for (size_t i = 0; i < len; i++)
        h = h * 31 + p[i];
    return h;
}

/* One key, many keys and keys side by side go through different loops: same hashes. */
static void all_ways_hash_alike(void **state)
{
    (void)state;
    struct blm__secret secret;
    struct blm__hasher hashers[] = {
        { .id = BLM_HASH_XXH3, .seed = { 7, 8 } },
        { .id = BLM_HASH_XXH3, .seed = { 7, 8 }, .secret = &secret },
        { .id = BLM_HASH_SIPHASH, .seed = { 7, 8 } },
        { .id = BLM_HASH_CUSTOM, .fn = sum_hash, .seed = { 7, 8 } },
    };
    struct key_set s = key_set_make(1, 256);
    blm__secret_make(&secret, hashers[1].seed);
    s.keys[77] = (blm_key){ NULL, 0 }; /* the empty key without an address */
    for (size_t i = 0; i < COUNT_OF(hashers); i++) {
        uint64_t h[256];
        blm__native_hash_many(&hashers[i], blm__kernel_best(), s.keys, 256, h);
        for (size_t j = 0; j < 256; j++)
            assert_true(h[j] == blm__native_hash(&hashers[i], s.keys[j].data, s.keys[j].len));
        assert_true(h[77] == blm__native_hash(&hashers[i], "", 0));
        for (size_t width = 0; width <= 40; width++) {
            blm__native_hash_fixed(&hashers[i], blm__kernel_best(), s.bytes + 1, width, 256, h);
            for (size_t j = 0; j < 256; j++)
                assert_true(h[j] == blm__native_hash(&hashers[i], s.bytes + 1 + j * width, width));
        }
    }
    key_set_free(&s);
}

/* XXH3 takes the first seed word only; SipHash and the keyed hash both. */
static void hashes_use_their_seed(void **state)
{
    (void)state;
    struct blm__hasher a = { .id = BLM_HASH_XXH3, .seed = { 1, 2 } }, b = a;
    b.seed[0] = 3;
    assert_true(blm__native_hash(&a, "k", 1) != blm__native_hash(&b, "k", 1));
    a.id = b.id = BLM_HASH_SIPHASH;
    assert_true(blm__native_hash(&a, "k", 1) != blm__native_hash(&b, "k", 1));
    b         = a;
    b.seed[1] = 3;
    assert_true(blm__native_hash(&a, "k", 1) != blm__native_hash(&b, "k", 1));
    struct blm__secret x, y;
    blm__secret_make(&x, a.seed);
    blm__secret_make(&y, b.seed);
    for (size_t i = 0; i < sizeof x / 8; i++)
        assert_true(((const uint64_t *)(const void *)&x)[i] !=
                    ((const uint64_t *)(const void *)&y)[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_pinned),
        cmocka_unit_test(all_ways_hash_alike),
        cmocka_unit_test(hashes_use_their_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
