/* SPDX-License-Identifier: MIT */
/* The tests of one vector kernel: JUDGED, or NULL where the machine does not run it. A test file
 * defines it and includes this, which is the rest of that file. */
#include "unit/core/kernel/compare.h"
#include "unit/core/kernel/compare_ages.h"
#include "unit/core/kernel/compare_buckets.h"
#include "unit/core/kernel/compare_counters.h"
#include "unit/core/kernel/compare_fuse.h"
#include "unit/core/kernel/compare_hands.h"

static const struct blm__kernel *judged;

static int find(void **state)
{
    (void)state;
    judged = JUDGED;
    return 0;
}

static void lines_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_lines(&blm__kernel_portable, judged);
}
/* The small shapes again, as if nothing were in cache:
 * with fetches, and the groups they come in. */
static void lines_out_of_cache_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    uint64_t before = atomic_exchange(&blm__in_cache_bytes, 0);
    agree_on_lines(&blm__kernel_portable, judged);
    atomic_store(&blm__in_cache_bytes, before);
}
/* An emulator writes down every page of a vast map, for half a minute each. */
static void more_than_2_32_lines_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged || quick_tests())
        skip();
    agree_on_vast(&blm__kernel_portable, judged);
    agree_on_vast_ages(&blm__kernel_portable, judged);
    agree_on_vast_counters(&blm__kernel_portable, judged);
}
static void chains_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_chains(&blm__kernel_portable, judged);
}
static void hands_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged || !judged->chain_follow)
        skip();
    agree_on_hands(&blm__kernel_portable, judged);
}
static void single_calls_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_keys(&blm__kernel_portable, judged);
}
static void buckets_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_buckets(&blm__kernel_portable, judged);
    uint64_t before = atomic_exchange(&blm__in_cache_bytes, 0); /* as if nothing were in cache */
    agree_on_buckets(&blm__kernel_portable, judged);
    atomic_store(&blm__in_cache_bytes, before);
}
static void bucket_adds_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_bucket_adds(&blm__kernel_portable, judged);
    uint64_t before = atomic_exchange(&blm__in_cache_bytes, 0);
    agree_on_bucket_adds(&blm__kernel_portable, judged);
    atomic_store(&blm__in_cache_bytes, before);
}
static void fuse_agrees_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_fuse(&blm__kernel_portable, judged);
    uint64_t before = atomic_exchange(&blm__in_cache_bytes, 0);
    agree_on_fuse(&blm__kernel_portable, judged);
    atomic_store(&blm__in_cache_bytes, before);
}
static void ages_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_ages(&blm__kernel_portable, judged);
    uint64_t before = atomic_exchange(&blm__in_cache_bytes, 0);
    agree_on_ages(&blm__kernel_portable, judged);
    atomic_store(&blm__in_cache_bytes, before);
}
static void counters_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_counters(&blm__kernel_portable, judged);
    uint64_t before = atomic_exchange(&blm__in_cache_bytes, 0);
    agree_on_counters(&blm__kernel_portable, judged);
    atomic_store(&blm__in_cache_bytes, before);
}
static void they_agree_past_32_bits(void **state)
{
    (void)state;
    if (!judged || !slow_tests())
        skip();
    agree_past_32_bits(&blm__kernel_portable, judged);
}
static void words_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_words(&blm__kernel_portable, judged);
}
static void hashes_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_hash8(&blm__kernel_portable, judged);
}
static void strings_agree_with_the_library(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_strings(judged);
}
static void streams_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    agree_on_streams(&blm__kernel_portable, judged);
    uint64_t before = atomic_exchange(&blm__in_cache_bytes, 0); /* as if nothing were in cache */
    agree_on_streams(&blm__kernel_portable, judged);
    atomic_store(&blm__in_cache_bytes, before);
    agree_on_lists(&blm__kernel_portable, judged);
}

/* Regions as the portable kernel marks them: what changed, and a repeated key changes nothing. A
 * line is one mark at most, as regions are whole lines. */
static void marks_agree_with_the_oracle(void **state)
{
    (void)state;
    if (!judged)
        skip();
    struct blm__shape shapes[] = { chain_shape(100000, 7), line_shape(200, 6, 2),
                                   line_shape(200, 8, 1) };
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (int shared = 0; shared < 2; shared++) {
            struct blm__layer x = bare_layer(shapes[i], true), y = bare_layer(shapes[i], true);
            uint8_t           mx[64] = { 0 }, my[64] = { 0 }, fresh[8];
            struct loops      a = loops_of(&blm__kernel_portable, &shapes[i]);
            struct loops      b = loops_of(judged, &shapes[i]);
            struct rng        r = { 8 };
            x.marks             = mx;
            y.marks             = my;
            x.mark_shift = y.mark_shift = 5;
            for (int round = 0; round < 20; round++) {
                uint64_t h[8];
                some_hashes(&r, h, 8);
                for (int again = 0; again < 2; again++) {
                    memset(mx, 0, sizeof mx);
                    memset(my, 0, sizeof my);
                    (shared ? a.add_shared : a.add)(&x, h, 8, fresh);
                    (shared ? b.add_shared : b.add)(&y, h, 8, fresh);
                    assert_memory_equal(mx, my, sizeof mx);
                }
            }
            bare_free(&x);
            bare_free(&y);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_agree_with_the_oracle),
        cmocka_unit_test(lines_out_of_cache_agree_with_the_oracle),
        cmocka_unit_test(more_than_2_32_lines_agree_with_the_oracle),
        cmocka_unit_test(chains_agree_with_the_oracle),
        cmocka_unit_test(hands_agree_with_the_oracle),
        cmocka_unit_test(single_calls_agree_with_the_oracle),
        cmocka_unit_test(buckets_agree_with_the_oracle),
        cmocka_unit_test(bucket_adds_agree_with_the_oracle),
        cmocka_unit_test(fuse_agrees_with_the_oracle),
        cmocka_unit_test(ages_agree_with_the_oracle),
        cmocka_unit_test(counters_agree_with_the_oracle),
        cmocka_unit_test(they_agree_past_32_bits),
        cmocka_unit_test(words_agree_with_the_oracle),
        cmocka_unit_test(hashes_agree_with_the_oracle),
        cmocka_unit_test(strings_agree_with_the_library),
        cmocka_unit_test(streams_agree_with_the_oracle),
        cmocka_unit_test(marks_agree_with_the_oracle),
    };
    return cmocka_run_group_tests(tests, find, NULL);
}
