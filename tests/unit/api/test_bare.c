/* SPDX-License-Identifier: MIT */
/* Bare bits are the bits of a classic filter, wherever they stand, and lose no key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bloomery.h"
#include "bloomery/embed.h"

#define SEED 0x9e3779b97f4a7c15u

#define LONGEST 300u

/* A key of every length 0 … 299, so that every branch of the hash is met; bytes above 0x7f too. */
static size_t key_of(unsigned i, uint8_t key[LONGEST])
{
    size_t len = i % LONGEST;
    for (size_t j = 0; j < len; j++)
        key[j] = (uint8_t)(i * 131 + j * 29 + (i >> 8));
    return len;
}

static blm_filter *classic(uint64_t m, uint32_t k, uint32_t version)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = m;
    o.probes      = k;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = SEED;
    o.version     = version;
    blm_filter *f;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    return f;
}

static void same_bits(uint64_t m, uint32_t k, unsigned keys, uint32_t version)
{
    uint8_t     room[1 + 4096] = { 0 }, key[LONGEST];
    uint8_t    *bits           = room + 1; /* an odd address */
    blm_filter *f              = classic(m, k, version);
    blm_secret  secret;
    blm_secret_make((uint64_t[]){ SEED, 0 }, &secret);
    for (unsigned i = 0; i < keys; i++) {
        size_t len = key_of(i, key);
        if (version == 1)
            blm_bare_add(bits, m, k, SEED, key, len);
        else
            blm_bare_add_keyed(bits, m, k, &secret, key, len);
        blm_add(f, key, len);
    }
    uint64_t    bytes;
    const void *theirs = blm_view(f, 0, &bytes);
    assert_memory_equal(bits, theirs, (size_t)(m + 7) / 8);
    assert_int_equal(room[0], 0);
    for (unsigned i = 0; i < 4 * keys; i++) {
        size_t len   = key_of(i, key);
        bool   maybe = version == 1 ? blm_bare_check(bits, m, k, SEED, key, len)
                                    : blm_bare_check_keyed(bits, m, k, &secret, key, len);
        assert_int_equal(maybe, blm_check(f, key, len));
        assert_true(maybe || i >= keys);
    }
    blm_free(f);
}

static void bits_are_a_classic_filters(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1, 7, 8, 9, 63, 64, 65, 300, 4099, 32768 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t k = 1; k < 12; k += 3)
            for (uint32_t version = 1; version <= 2; version++)
                same_bits(sizes[i], k, (unsigned)(sizes[i] / 10 + 1), version);
}

static void another_seed_is_another_filter(void **state)
{
    (void)state;
    uint8_t  bits[128] = { 0 };
    unsigned passed    = 0;
    for (uint32_t i = 0; i < 100; i++)
        blm_bare_add(bits, 1024, 7, SEED, &i, sizeof i);
    for (uint32_t i = 0; i < 100; i++)
        passed += blm_bare_check(bits, 1024, 7, SEED + 1, &i, sizeof i);
    assert_in_range(passed, 0, 10); /* expected: 0.8 */
}

static void nothing_known_is_maybe(void **state)
{
    (void)state;
    uint8_t bits[1] = { 0 };
    blm_bare_add(bits, 0, 3, SEED, "x", 1);
    blm_bare_add(bits, 8, 0, SEED, "x", 1);
    assert_int_equal(bits[0], 0);
    assert_true(blm_bare_check(bits, 0, 3, SEED, "x", 1));
    assert_true(blm_bare_check(bits, 8, 0, SEED, "x", 1));
    assert_false(blm_bare_check(bits, 8, 1, SEED, NULL, 0));
    blm_bare_add(bits, 8, 1, SEED, NULL, 0);
    assert_true(blm_bare_check(bits, 8, 1, SEED, "", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_a_classic_filters),
        cmocka_unit_test(another_seed_is_another_filter),
        cmocka_unit_test(nothing_known_is_maybe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
