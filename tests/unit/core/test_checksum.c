/* SPDX-License-Identifier: MIT */
/* Checksums against numbers from XXH64's and XXH3's own test vectors, and words that are copied. */
#include "unit/support.h"

#include "core/checksum.h"

static void known_answers(void **state)
{
    (void)state;
    assert_true(blm__checksum("", 0) == 0xef46db3751d8e999u);
    assert_true(blm__checksum("a", 1) == 0xd24ec4f1a98c6e5bu);
    assert_true(blm__checksum("abc", 3) == 0x44bc2cf5ad770999u);
    assert_true(blm__checksum("Nobody inspects the spammish repetition", 39) ==
                0xfbcea83c8a378bf1u);
}

static bool gather(void *ctx, const void *bytes, size_t len)
{
    uint8_t **to = ctx;
    memcpy(*to, bytes, len);
    *to += len;
    return true;
}

static bool refuse(void *ctx, const void *bytes, size_t len)
{
    (void)bytes;
    (void)len;
    return --*(int *)ctx > 0;
}

static void words_are_hashed_as_given_out(void **state)
{
    (void)state;
    static uint64_t words[10000], copy[10000];
    struct rng      r = { 3 };
    rng_bytes(&r, words, sizeof words);
    static const size_t counts[] = { 0, 1, 2047, 2048, 2049, 4096, 10000 };
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        uint8_t *to  = (uint8_t *)copy;
        uint64_t sum = 0, again = 0;
        assert_true(blm__checksum_words(words, counts[i], gather, &to, &sum));
        assert_int_equal(to - (uint8_t *)copy, counts[i] * 8);
        assert_memory_equal(copy, words, counts[i] * 8);
        assert_true(sum == blm__checksum(words, counts[i] * 8));
        assert_true(blm__checksum_words(words, counts[i], NULL, NULL, &again));
        assert_true(sum == again);
    }
    int      left = 3;
    uint64_t sum;
    assert_false(blm__checksum_words(words, 10000, refuse, &left, &sum));
}

static void prints_do_not_see_the_cuts(void **state)
{
    (void)state;
    struct blm__print p;
    uint8_t           one[16], two[16];
    blm__print_begin(&p);
    blm__print_add(&p, "abcdefgh", 8);
    blm__print_end(&p, one);
    blm__print_begin(&p);
    blm__print_add(&p, "abc", 3);
    blm__print_add(&p, "", 0);
    blm__print_add(&p, "defgh", 5);
    blm__print_end(&p, two);
    assert_memory_equal(one, two, 16);
    blm__print_begin(&p); /* XXH3-128 of nothing, seed 0 */
    blm__print_end(&p, one);
    static const uint8_t none[16] = { 0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47, 0x98, 0xd8,
                                      0x60, 0x01, 0xc3, 0x24, 0x46, 0x8d, 0x49, 0x7f };
    assert_memory_equal(one, none, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(words_are_hashed_as_given_out),
        cmocka_unit_test(prints_do_not_see_the_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
