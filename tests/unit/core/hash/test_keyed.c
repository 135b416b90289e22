/* SPDX-License-Identifier: MIT */
/* The keyed hash: pinned values, every form against the plain one, and keys that count. */
#include "core/hash/keyed.h"

#include "unit/support.h"

/* Known answers, from tests/native_decoder.py: keys 0, 1, 2, … of each length, seed { 1, 2 }. */
static void known_answers(void **state)
{
    (void)state;
    static const struct {
        size_t   len;
        uint64_t hash;
    } rows[] = {
        { 0, 0x88554cda18f5b8ddu },    { 1, 0x29575573200d9b50u },   { 2, 0x6eee485f936ac5c7u },
        { 3, 0x8810552d503cd4ceu },    { 4, 0xcf25427b55dc862cu },   { 5, 0xc5d47a12473401acu },
        { 7, 0xf23f00817acca3a2u },    { 8, 0x01659ea4836f95d4u },   { 9, 0x533004d2f6b83d80u },
        { 15, 0x5f12d1d6bf2a8e3au },   { 16, 0xe4d4cc36effa4521u },  { 17, 0x8d01f50329eb3843u },
        { 31, 0x2b883c8469a56631u },   { 32, 0x85484b91b1506653u },  { 33, 0x1d7914c239c71355u },
        { 64, 0x6161caad3e6a4c7cu },   { 65, 0xf64c8cdd84c024e0u },  { 96, 0xb256db6f65829d64u },
        { 97, 0xda3b83fd97c50032u },   { 128, 0xaf76c379367af10du }, { 129, 0x4bb53d2f2747ed66u },
        { 144, 0xc30640b8a7ea90aeu },  { 145, 0xa275ce5e04b45d24u }, { 240, 0xea5f76ad50248904u },
        { 241, 0x6189cb0ef879f2f5u },  { 255, 0xa899f652c42388a1u }, { 256, 0x4ce89adcf9e5ae28u },
        { 257, 0x98d4aee83019d749u },  { 272, 0x6612129a9d954719u }, { 273, 0xe02078c37e60c63du },
        { 512, 0xc5d6a8198712661cu },  { 513, 0x336c762c6f718676u }, { 768, 0xb7034cf9493f7a26u },
        { 1000, 0x76f88aa212af693eu },
    };
    uint64_t           seed[2] = { 1, 2 };
    uint8_t            key[1000];
    struct blm__secret s;
    blm__secret_make(&s, seed);
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_true(blm__keyed_any(key, rows[i].len, &s) == rows[i].hash);
}

/* A buffer of its own for each length, so that a sanitizer sees one byte too many. */
static void every_form_hashes_alike(void **state)
{
    (void)state;
    struct rng         r = { 1 };
    struct blm__secret s;
    for (size_t len = 0; len <= 700; len++) {
        uint64_t seed[2] = { rng_next(&r), rng_next(&r) };
        uint8_t *key     = malloc(len ? len : 1);
        blm_key  keys[40];
        uint64_t many[40];
        rng_bytes(&r, key, len);
        if (len % 3 == 0)
            memset(key, 0xff, len); /* the largest products */
        blm__secret_make(&s, seed);
        uint64_t h = blm__keyed_any(key, len, &s);
        for (size_t i = 0; i < 40; i++)
            keys[i] = (blm_key){ len ? key : NULL, len };
        blm__keyed_many(keys, 40, &s, many);
        for (size_t i = 0; i < 40; i++)
            assert_true(many[i] == h);
        if (len > 32 && len <= 96)
            assert_true(blm__keyed_33to96(key, len, &s) == h);
        if (len == 8)
            assert_true(blm__xxh3_8(key, s.flip[4]) == h);
        free(key);
    }
}

/* Every byte of a key and its length count. */
static void every_byte_counts(void **state)
{
    (void)state;
    uint64_t           seed[2] = { 3, 4 };
    uint8_t            key[1200];
    struct blm__secret s;
    blm__secret_make(&s, seed);
    memset(key, 0, sizeof key);
    for (size_t len = 0; len < sizeof key; len += len < 300 ? 1 : 37) {
        uint64_t h = blm__keyed_any(key, len, &s);
        assert_true(h != blm__keyed_any(key, len + 1, &s));
        for (size_t i = 0; i < len; i++) {
            key[i] = 1;
            assert_true(h != blm__keyed_any(key, len, &s));
            key[i] = 0;
        }
    }
}

/* Keys that differ in a counter fill a filter as evenly as any: the spread of the rate over many
 * seeds is that of chance. (A hash that is linear in the key gives every tenth seed a bad rate.) */
static void counters_are_hashed_evenly(void **state)
{
    (void)state;
    enum { KEYS = 4000, ASKED = 20000, SEEDS = 24 };
    static const struct {
        size_t len, at;
    } rows[] = { { 9, 0 },   { 16, 0 },   { 16, 8 },    { 20, 4 },
                 { 60, 20 }, { 100, 48 }, { 200, 100 }, { 700, 300 } };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            uint8_t     key[700] = { 0 };
            blm_options o        = BLM_OPTIONS_INIT;
            unsigned    hits     = 0;
            o.items              = KEYS;
            o.rate               = 0.01;
            o.flags              = BLM_SEEDED;
            o.seed[0]            = seed;
            blm_filter *f        = make(&o);
            for (uint64_t n = 0; n < KEYS + ASKED; n++) {
                blm__put64le(key + rows[i].at, n);
                if (n < KEYS)
                    blm_add(f, key, rows[i].len);
                else
                    hits += blm_check(f, key, rows[i].len);
            }
            assert_true(hits < 200 + 6 * 14.1);
            blm_free(f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(every_form_hashes_alike),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(counters_are_hashed_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
