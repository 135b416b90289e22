/* SPDX-License-Identifier: MIT */
#include "api/hashes.h"

#include "unit/support.h"

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* `spread`: how many different values there are, so that some come often. */
static void sorts(size_t n, uint64_t spread, uint32_t threads)
{
    struct blm__hashes h      = { NULL, 0, 0 };
    struct rng         r      = { n + spread };
    uint64_t          *copy   = malloc((n + 1) * 8);
    size_t             unique = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t *room = blm__hashes_room(&h, &blm__default_allocator, 1);
        *room = copy[i] = rng_below(&r, spread) * (spread < 1000 ? 0x0101010101010101u : 1);
        h.n++;
    }
    qsort(copy, n, 8, by_value);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || copy[i] != copy[i - 1])
            copy[unique++] = copy[i];
    blm__hashes_sort(&h, threads);
    assert_int_equal(h.n, unique);
    if (unique)
        assert_memory_equal(h.of, copy, unique * 8);
    blm__hashes_free(&h, &blm__default_allocator);
    free(copy);
}

static void hashes_are_sorted_and_none_comes_twice(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 2, 47, 48, 49, 1000, 5000, 100000 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (uint32_t threads = 1; threads <= 3; threads++) {
            sorts(sizes[i], UINT64_MAX, threads);
            sorts(sizes[i], 1, threads);
            sorts(sizes[i], 250, threads);
            sorts(sizes[i], 100000, threads);
        }
}

static void two_lists_meet_in_their_first_common_hash(void **state)
{
    (void)state;
    uint64_t           a[] = { 1, 5, 9, 12 }, b[] = { 0, 2, 9, 12 }, hash = 77;
    struct blm__hashes x = { a, 4, 4 }, y = { b, 4, 4 }, none = { NULL, 0, 0 };
    assert_true(blm__hashes_meet(&x, &y, &hash));
    assert_int_equal(hash, 9);
    y.n = 2;
    assert_false(blm__hashes_meet(&x, &y, &hash));
    assert_false(blm__hashes_meet(&x, &none, &hash));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_sorted_and_none_comes_twice),
        cmocka_unit_test(two_lists_meet_in_their_first_common_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
