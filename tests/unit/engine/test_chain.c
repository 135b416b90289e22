/* SPDX-License-Identifier: MIT */
/* Chain: position i is the high half of h·C^i·m, and single calls are the kernel's where they may
 * be. */
#include "engine/bits.h"
#include "unit/core/kernel/compare.h"

static void positions_are_the_bits_that_are_set(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1, 63, 64, 1000, 9973 };
    struct rng            r       = { 1 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (uint32_t k = 1; k <= 20; k++) {
            struct blm__body  b = { .kernel = blm__kernel_best() };
            struct blm__layer l = bare_layer(chain_shape(sizes[i], k), true);
            uint64_t          h = rng_next(&r), g = h, pos[21], raw[21], ones = 0;
            struct blm__keys  keys = { .n = 1, .hashes = &h };
            blm_digest        d    = { .w = { h } };
            uint8_t           fresh;
            pos[k] = raw[k] = FENCE;
            assert_string_equal(l.engine->name, "chain");
            assert_true(l.engine->positions(&l.shape, &d, false, pos));
            assert_true(l.engine->positions(&l.shape, &d, true, raw));
            assert_true(pos[k] == FENCE && raw[k] == FENCE);
            assert_int_equal(l.engine->add(&b, &l, &keys, &fresh), 1);
            for (uint32_t j = 0; j < k; j++, g *= 0xA0761D6478BD642Fu) {
                bool seen = false;
                assert_true(raw[j] == g && pos[j] == blm__mulhi(g, sizes[i]));
                assert_true(((uint8_t *)l.words)[pos[j] / 8] >> pos[j] % 8 & 1);
                for (uint32_t t = 0; t < j; t++)
                    seen |= pos[t] == pos[j];
                ones += !seen;
            }
            assert_true(l.engine->ones(&l, b.kernel) == ones);
            bare_free(&l);
        }
}

/* The kernel's single calls ask one layer and hash by XXH3: other filters keep what they had. */
static void single_calls_are_the_kernels_where_they_may_be(void **state)
{
    (void)state;
    const struct blm__kernel *v = &blm__kernel_portable;
    struct blm__shape         s = chain_shape(1000, 5);
    const struct blm__engine *e = blm__engine_of(&s);
    for (int shared = 0; shared < 2; shared++)
        for (int only = 0; only < 2; only++)
            for (int xxh3 = 0; xxh3 < 2; xxh3++) {
                struct blm__body b = { .kernel = v, .shared = shared };
                b.hasher.id        = xxh3 ? BLM_HASH_XXH3 : BLM_HASH_SIPHASH;
                e->singles(&b, &s, only);
                if (!only || !xxh3)
                    assert_true(!b.check_key && !b.add_key);
                else
                    assert_true(b.check_key == v->chain_check_key &&
                                b.add_key == (shared ? v->chain_add_key_shared : v->chain_add_key));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_the_bits_that_are_set),
        cmocka_unit_test(single_calls_are_the_kernels_where_they_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
