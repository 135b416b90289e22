/* SPDX-License-Identifier: MIT */
/* Our spelling of XXH3-64 against the library's, over every length that has a path of its own. */
#include "core/hash/xxh3.h"

#include "core/hash/xxh3_key.h"
#include "unit/support.h"

static const uint64_t seeds[] = {
    0,           1,          0xffffffffu,         0x100000000u,
    0x80000000u, UINT64_MAX, 0x8000000000000000u, 0x0123456789abcdefu
};

/* A buffer of its own for each length, so that a sanitizer sees one byte too many. */
static void every_length_and_seed_gives_the_library_s_hash(void **state)
{
    (void)state;
    struct rng r = { 1 };
    for (size_t len = 0; len <= 1100; len++) {
        uint8_t *key = malloc(len ? len : 1);
        rng_bytes(&r, key, len);
        for (size_t i = 0; i < COUNT_OF(seeds) + 4; i++) {
            uint64_t seed = i < COUNT_OF(seeds) ? seeds[i] : rng_next(&r);
            assert_true(blm__xxh3_any(key, len, seed) == XXH3_64bits_withSeed(key, len, seed));
        }
        free(key);
    }
}

static void extreme_bytes_give_the_library_s_hash(void **state)
{
    (void)state;
    uint8_t key[256];
    for (int fill = 0; fill < 256; fill += 51) {
        memset(key, fill, sizeof key);
        for (size_t len = 0; len <= 256; len++)
            for (size_t i = 0; i < COUNT_OF(seeds); i++)
                assert_true(blm__xxh3_any(key, len, seeds[i]) ==
                            XXH3_64bits_withSeed(key, len, seeds[i]));
    }
}

/* The forms of one width, on keys that are not aligned. */
static void fixed_widths_give_the_library_s_hash(void **state)
{
    (void)state;
    struct rng r = { 2 };
    uint8_t    buffer[40];
    for (int round = 0; round < 2000; round++) {
        const uint8_t *key  = buffer + round % 8;
        uint64_t       seed = rng_next(&r), flip = blm__xxh3_flip(seed);
        rng_bytes(&r, buffer, sizeof buffer);
        assert_true(blm__xxh3_8(key, flip) == XXH3_64bits_withSeed(key, 8, seed));
        assert_true(blm__xxh3_8_one(key, blm__xxh3_turn(flip)) == blm__xxh3_8(key, flip));
        assert_true(blm__xxh3_4(key, flip) == XXH3_64bits_withSeed(key, 4, seed));
        assert_true(blm__xxh3_9to16(key, 16, seed) == XXH3_64bits_withSeed(key, 16, seed));
        assert_true(blm__xxh3_17to32(key, 20, seed) == XXH3_64bits_withSeed(key, 20, seed));
    }
}

/* Groups of one length class, of two, and of all; every number of keys to a few groups. */
static void many_keys_get_the_library_s_hashes(void **state)
{
    (void)state;
    static const size_t spans[][2] = { { 4, 8 },   { 9, 16 },  { 17, 32 },  { 33, 64 }, { 65, 96 },
                                       { 33, 96 }, { 32, 64 }, { 33, 97 },  { 0, 3 },   { 8, 9 },
                                       { 16, 17 }, { 3, 8 },   { 97, 128 }, { 0, 300 } };
    struct rng          r          = { 3 };
    for (size_t s = 0; s < COUNT_OF(spans); s++)
        for (size_t n = 0; n <= 70; n++) {
            blm_key  keys[70];
            uint64_t out[71], seed = rng_next(&r);
            for (size_t i = 0; i < n; i++) {
                size_t   len = spans[s][0] + rng_size(&r, spans[s][1] - spans[s][0] + 1);
                uint8_t *key = len ? malloc(len) : NULL;
                rng_bytes(&r, key, len);
                keys[i] = (blm_key){ key, len };
            }
            memset(out, 0x77, sizeof out);
            blm__xxh3_many(keys, n, seed, out);
            for (size_t i = 0; i < n; i++)
                assert_true(out[i] == XXH3_64bits_withSeed(keys[i].len ? keys[i].data : "",
                                                           keys[i].len, seed));
            assert_true(out[n] == 0x7777777777777777u);
            for (size_t i = 0; i < n; i++)
                free((void *)(uintptr_t)keys[i].data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_and_seed_gives_the_library_s_hash),
        cmocka_unit_test(extreme_bytes_give_the_library_s_hash),
        cmocka_unit_test(fixed_widths_give_the_library_s_hash),
        cmocka_unit_test(many_keys_get_the_library_s_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
