/* SPDX-License-Identifier: MIT */
#include "core/alloc.h"
#include "unit/support.h"

static bool all_zero(const void *p, size_t len)
{
    const uint8_t *b = p;
    for (size_t i = 0; i < len; i++)
        if (b[i])
            return false;
    return true;
}

static void zalloc_zeroes_where_the_allocator_does_not(void **state)
{
    (void)state;
    struct meter  m = { .fail_at = UINT64_MAX };
    blm_allocator a = meter_allocator(&m);
    uint8_t      *p = blm__zalloc(&a, 333);
    assert_non_null(p);
    assert_true(all_zero(p, 333));
    blm__free(&a, p, 333);
    blm__free(&a, NULL, 12); /* not passed on */
    assert_int_equal(m.live, 0);
    m.fail_at = 0;
    assert_null(blm__zalloc(&a, 1));
    assert_null(blm__alloc(&a, 1));
}

static void *given_zeroes(void *ctx, size_t size)
{
    ++*(int *)ctx;
    return calloc(1, size);
}
static void *never(void *ctx, size_t size)
{
    (void)ctx;
    (void)size;
    return NULL;
}
static void plain_free(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)size;
    free(p);
}

static void zalloc_uses_the_caller_s_own(void **state)
{
    (void)state;
    int           calls = 0;
    blm_allocator a     = { &calls, never, given_zeroes, plain_free };
    void         *p     = blm__zalloc(&a, 10);
    assert_non_null(p);
    assert_int_equal(calls, 1);
    blm__free(&a, p, 10);
}

/* Sizes around the rounding, from the allocator and from the system. */
static void blocks_are_aligned_zeroed_and_freed_whole(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {
        1, 63, 64, 65, 4096, (2u << 20) - 64, (2u << 20) - 63, 2u << 20, (2u << 20) + 1, 5u << 20
    };
    struct meter         m      = { .fail_at = UINT64_MAX };
    blm_allocator        own    = meter_allocator(&m);
    const blm_allocator *from[] = { &own, &blm__default_allocator };
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t j = 0; j < 2; j++) {
            struct blm__block b;
            size_t            room = (size_t)(sizes[i] + 63) & ~(size_t)63;
            assert_true(blm__block_alloc(from[j], sizes[i], &b));
            assert_true((uintptr_t)b.words % 64 == 0);
            assert_true((uint8_t *)b.words >= (uint8_t *)b.base);
            assert_true((uint8_t *)b.words + room <= (uint8_t *)b.base + b.size);
            assert_true(all_zero(b.words, room));
            memset(b.words, 0xff, room);        /* all of it is ours: a sanitizer would object */
            assert_true(!(j == 0 && b.mapped)); /* a caller's allocator is never gone around */
            blm__block_free(from[j], &b);
            assert_int_equal(b.size, 0);
            blm__block_free(from[j], &b); /* nothing left: nothing happens */
        }
    assert_int_equal(m.live, 0);
    assert_int_equal(m.live_bytes, 0);
}

#if defined(__linux__)
static void large_default_blocks_are_mapped(void **state)
{
    (void)state;
    struct blm__block b;
    assert_true(blm__block_alloc(&blm__default_allocator, 4u << 20, &b));
    assert_true(b.mapped);
    assert_true((uintptr_t)b.words % (2u << 20) == 0); /* where a huge page can begin */
    blm__block_free(&blm__default_allocator, &b);
}
#endif

static void impossible_blocks_are_refused(void **state)
{
    (void)state;
    struct blm__block b;
    struct meter      m = { .fail_at = 0 };
    blm_allocator     a = meter_allocator(&m);
    assert_false(blm__block_alloc(&blm__default_allocator, 0, &b));
    assert_false(blm__block_alloc(&blm__default_allocator, UINT64_MAX, &b));
    assert_false(blm__block_alloc(&blm__default_allocator, (uint64_t)1 << 62, &b));
    assert_false(blm__block_alloc(&a, 64, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zalloc_zeroes_where_the_allocator_does_not),
        cmocka_unit_test(zalloc_uses_the_caller_s_own),
        cmocka_unit_test(blocks_are_aligned_zeroed_and_freed_whole),
#if defined(__linux__)
        cmocka_unit_test(large_default_blocks_are_mapped),
#endif
        cmocka_unit_test(impossible_blocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
