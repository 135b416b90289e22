/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 against published values, and the native hash XXH3 against the xxHash tool's: a
 * filter's file is worth nothing if another version of either hashes differently. */
#include "core/hash/siphash.h"
#include "core/hash/xxh3.h"
#include "unit/support.h"

/* Key 00 01 … 0f, input the first i of the bytes 00 01 02 …: the 64 outputs that come with the
 * reference implementation. Made here with OpenSSL 3, which is nobody's copy of ours:
 *   openssl mac -macopt hexkey:000102…0f -macopt size:8 -in FILE SIPHASH */
static const uint64_t published[64] = {
    0x726fdb47dd0e0e31u, 0x74f839c593dc67fdu, 0x0d6c8009d9a94f5au, 0x85676696d7fb7e2du,
    0xcf2794e0277187b7u, 0x18765564cd99a68du, 0xcbc9466e58fee3ceu, 0xab0200f58b01d137u,
    0x93f5f5799a932462u, 0x9e0082df0ba9e4b0u, 0x7a5dbbc594ddb9f3u, 0xf4b32f46226bada7u,
    0x751e8fbc860ee5fbu, 0x14ea5627c0843d90u, 0xf723ca908e7af2eeu, 0xa129ca6149be45e5u,
    0x3f2acc7f57c29bdbu, 0x699ae9f52cbe4794u, 0x4bc1b3f0968dd39cu, 0xbb6dc91da77961bdu,
    0xbed65cf21aa2ee98u, 0xd0f2cbb02e3b67c7u, 0x93536795e3a33e88u, 0xa80c038ccd5ccec8u,
    0xb8ad50c6f649af94u, 0xbce192de8a85b8eau, 0x17d835b85bbb15f3u, 0x2f2e6163076bcfadu,
    0xde4daaaca71dc9a5u, 0xa6a2506687956571u, 0xad87a3535c49ef28u, 0x32d892fad841c342u,
    0x7127512f72f27cceu, 0xa7f32346f95978e3u, 0x12e0b01abb051238u, 0x15e034d40fa197aeu,
    0x314dffbe0815a3b4u, 0x027990f029623981u, 0xcadcd4e59ef40c4du, 0x9abfd8766a33735cu,
    0x0e3ea96b5304a7d0u, 0xad0c42d6fc585992u, 0x187306c89bc215a9u, 0xd4a60abcf3792b95u,
    0xf935451de4f21df2u, 0xa9538f0419755787u, 0xdb9acddff56ca510u, 0xd06c98cd5c0975ebu,
    0xe612a3cb9ecba951u, 0xc766e62cfcadaf96u, 0xee64435a9752fe72u, 0xa192d576b245165au,
    0x0a8787bf8ecb74b2u, 0x81b3e73d20b49b6fu, 0x7fa8220ba3b2eceau, 0x245731c13ca42499u,
    0xb78dbfaf3a8d83bdu, 0xea1ad565322a1a0bu, 0x60e61c23a3795013u, 0x6606d7e446282b93u,
    0x6ca4ecb15c5f91e1u, 0x9f626da15c9625f3u, 0xe51b38608ef25f57u, 0x958a324ceb064572u,
};

static void siphash_gives_the_published_outputs(void **state)
{
    (void)state;
    const uint64_t key[2] = { 0x0706050403020100u, 0x0f0e0d0c0b0a0908u };
    uint8_t        in[64];
    for (unsigned i = 0; i < 64; i++) {
        in[i] = (uint8_t)i;
        assert_true(blm__siphash24(key, in, i) == published[i]);
    }
}

/* Unaligned input and lengths past 255 (the length's low byte is part of the last block): equal
 * to the same bytes elsewhere, and no two prefixes of one long input share a hash. */
static void siphash_reads_bytes_wherever_they_lie(void **state)
{
    (void)state;
    const uint64_t key[2] = { 1, 2 };
    uint8_t        in[600], moved[608];
    uint64_t       seen[600];
    struct rng     r = { 3 };
    rng_bytes(&r, in, sizeof in);
    for (size_t shift = 1; shift < 8; shift++) {
        memcpy(moved + shift, in, 600);
        assert_true(blm__siphash24(key, in, 600) == blm__siphash24(key, moved + shift, 600));
    }
    memset(in, 0, sizeof in); /* prefixes differ in nothing but their length */
    for (size_t i = 0; i < 600; i++) {
        seen[i] = blm__siphash24(key, in, i);
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    }
}

static void siphash_uses_the_whole_key(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 128; bit++) {
        uint64_t key[2] = { 7, 9 }, base[2] = { 7, 9 };
        key[bit / 64] ^= (uint64_t)1 << (bit % 64);
        assert_true(blm__siphash24(key, "x", 1) != blm__siphash24(base, "x", 1));
    }
}

/* Bytes (7i + 200) mod 256. Seed 0 as `xxhsum -H3` prints it; the other from libxxhash 0.8.1. */
static void xxh3_is_the_frozen_one(void **state)
{
    (void)state;
    static const struct {
        size_t   len;
        uint64_t plain, seeded;
    } rows[] = {
        { 0, 0x2d06800538d394c2u, 0xcc1ca35a1b089c5cu },
        { 1, 0xf0f28117d57ca107u, 0x304b9b3dcf7c2aecu },
        { 8, 0x28a70a7380da0098u, 0xcc380c64f5d2406fu },
        { 20, 0xec1217ddedb74187u, 0x0f03ab6e914d22ffu },
        { 65, 0xdade726ba83651a6u, 0x78ef54d8d075ffafu },
        { 129, 0x74b2ae3ac1d0ea00u, 0xec102fdbcf17c2f5u },
        { 300, 0x026c38566dfa8700u, 0x434e5676ab0f7c94u },
    };
    uint8_t in[300];
    for (unsigned i = 0; i < 300; i++)
        in[i] = (uint8_t)(i * 7 + 200);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(XXH3_64bits_withSeed(in, rows[i].len, 0) == rows[i].plain);
        assert_true(XXH3_64bits_withSeed(in, rows[i].len, 0x0123456789abcdefu) == rows[i].seeded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_gives_the_published_outputs),
        cmocka_unit_test(siphash_reads_bytes_wherever_they_lie),
        cmocka_unit_test(siphash_uses_the_whole_key),
        cmocka_unit_test(xxh3_is_the_frozen_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
