/* SPDX-License-Identifier: MIT */
/* How often keys can be taken away, over very many sets: docs/maths.md, "Static", has the table that
 * BLM_SLOW=1 BLM_SHOW=1 prints. */
#include "engine/peel.h"

#include "engine/engine.h"
#include "unit/support.h"

#define TRIES 16u

struct success {
    uint64_t sets, first, tries, larger;
};

/* Sets of n random hashes, built as api/fuse.c does it. */
static struct success build(size_t n, uint64_t sets, struct rng *r)
{
    struct success   s = { 0, 0, 0, 0 };
    uint64_t        *h = malloc((n + 1) * 8);
    struct blm__peel p;
    for (uint64_t i = 0; i < sets; i++) {
        struct blm__fuse_size size = blm__fuse_size_of(n);
        struct blm__fuse_keys k    = { { h, NULL }, { n, 0 } };
        uint32_t              try  = 0;
        for (size_t j = 0; j < n; j++)
            h[j] = rng_next(r);
        assert_true(blm__peel_make(&blm__default_allocator, size.cells, &p));
        while (try < TRIES && !blm__peel_keys(&p, &k, size, 1, blm__fuse_factor(0, try)))
            try++;
        blm__peel_free(&blm__default_allocator, &p);
        s.sets++;
        s.first += try == 0;
        s.tries += try + 1;
        s.larger += try == TRIES;
    }
    free(h);
    return s;
}

static void sets_of_any_size_are_built(void **state)
{
    (void)state;
    static const size_t sizes[] = {
        1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000
    };
    struct rng r   = { 1 };
    uint64_t   all = 0, larger = 0, keys = slow_tests() ? 20000000 : 200000;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        uint64_t       sets = keys / (sizes[i] + 20) + 1;
        struct success s    = build(sizes[i], sets, &r);
        if (getenv("BLM_SHOW"))
            print_message(
                "n %6zu  cells %6llu  sets %7llu  first try %.2f%%  tries %.3f  larger %llu\n",
                sizes[i], (unsigned long long)blm__fuse_size_of(sizes[i]).cells,
                (unsigned long long)s.sets, 100.0 * (double)s.first / (double)s.sets,
                (double)s.tries / (double)s.sets, (unsigned long long)s.larger);
        assert_true((double)s.first >= 0.5 * (double)s.sets);
        all += s.sets;
        larger += s.larger;
    }
    if (getenv("BLM_SHOW"))
        print_message("%llu sets, %llu needed more cells\n", (unsigned long long)all,
                      (unsigned long long)larger);
    assert_true((double)larger <= 1e-4 * (double)all);
}

/* Two keys with one hash can never be told apart. */
static void a_hash_that_comes_twice_is_left(void **state)
{
    (void)state;
    uint64_t              h[3] = { 5, 5, 1u << 30 };
    struct blm__fuse_keys k    = { { h, NULL }, { 3, 0 } };
    struct blm__fuse_size size = { 16, 160 };
    struct blm__peel      p;
    assert_true(blm__peel_make(&blm__default_allocator, size.cells, &p));
    for (uint32_t i = 0; i < TRIES; i++)
        assert_false(blm__peel_keys(&p, &k, size, 1, blm__fuse_factor(i % 2, i)));
    k.n[0] = 1;
    assert_true(blm__peel_keys(&p, &k, size, 1, 1));
    blm__peel_free(&blm__default_allocator, &p);
}

static void parts_share_all_keys_among_them(void **state)
{
    (void)state;
    uint64_t h[] = { 0, 1, UINT64_MAX / 4 - 1, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };
    struct blm__fuse_keys all = { { h, h + 3 }, { 6, 3 } };
    for (uint64_t parts = 1; parts < 9; parts++) {
        size_t sum[2] = { 0, 0 };
        for (uint64_t i = 0; i < parts; i++) {
            struct blm__fuse_keys k = blm__fuse_keys_in(&all, i, parts);
            assert_ptr_equal(k.of[0], h + sum[0]);
            sum[0] += k.n[0];
            sum[1] += k.n[1];
        }
        assert_int_equal(sum[0], 6);
        assert_int_equal(sum[1], 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_any_size_are_built),
        cmocka_unit_test(a_hash_that_comes_twice_is_left),
        cmocka_unit_test(parts_share_all_keys_among_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
