/* SPDX-License-Identifier: MIT */
/* bloomery/inline.h answers as blm_check does, whatever the filter, and inlines where it says so. */
#define BLM_INLINE_AVX2
#define BLM_INLINE_AVX512
#include "bloomery/inline.h"

#include "core/bytes.h"
#include "unit/support.h"

#ifdef BLM_INLINES
#define CALLER __attribute__((target("avx2")))
static bool can_run(void) { return __builtin_cpu_supports("avx2"); }
#else
#define CALLER
static bool can_run(void) { return true; }
#endif

#ifdef BLM_INLINES_AVX512
__attribute__((target("avx512f,avx512dq,bmi2"))) static bool wide_check(const blm_inline *in,
                                                                        const void *key, size_t len)
{
    return blm_inline_check_avx512(in, key, len);
}
__attribute__((target("avx512f,avx512dq,bmi2"))) static bool wide_check8(const blm_inline *in,
                                                                         const void       *key)
{
    return blm_inline_check8_avx512(in, key);
}
static bool can_run_wide(void)
{
    return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("bmi2");
}
#else
static bool wide_check(const blm_inline *in, const void *key, size_t len)
{
    return blm_inline_check(in, key, len);
}
static bool wide_check8(const blm_inline *in, const void *key)
{
    return blm_inline_check8(in, key);
}
static bool can_run_wide(void) { return true; }
#endif

/* Keys of every length up to 20, half of them added; the same answer from both. */
CALLER static void same_answers(blm_filter *f)
{
    blm_inline in   = BLM_INLINE_INIT;
    size_t     hits = 0;
    assert_status(blm_inline_of(f, &in), BLM_OK);
    for (uint64_t i = 0; i < 40000; i++) {
        uint64_t key[3] = { i * 0x9e3779b97f4a7c15u, i, ~i };
        size_t   len    = i % 3 ? 8 : (size_t)(i / 3 % 21);
        if (i % 2 == 0)
            blm_add(f, key, len);
        bool maybe = blm_inline_check(&in, key, len);
        assert_int_equal(maybe, blm_check(f, key, len));
        if (can_run_wide())
            assert_int_equal(maybe, wide_check(&in, key, len));
        if (len == 8 && blm_inline_ready(&in)) {
            assert_int_equal(maybe, blm_inline_check8(&in, key));
            if (can_run_wide())
                assert_int_equal(maybe, wide_check8(&in, key));
        }
        hits += maybe;
        assert_true(maybe || i % 2);
    }
    assert_true(hits >= 20000 && hits < 40000);
    assert_true(blm_inline_check(&in, NULL, 8)); /* no key: maybe */
    assert_int_equal(blm_inline_check(&in, NULL, 0), blm_check(f, NULL, 0));
}

CALLER static void every_filter_answers_the_same(void **state)
{
    (void)state;
    static const struct {
        blm_kind kind;
        blm_hash hash;
        double   rate;
        uint32_t version; /* that the view must have */
    } rows[] = {
        { BLM_BLOCKED, BLM_HASH_XXH3, 0.2, 1 },     { BLM_BLOCKED, BLM_HASH_XXH3, 0.01, 1 },
        { BLM_BLOCKED, BLM_HASH_XXH3, 0.001, 1 },   { BLM_BLOCKED, BLM_HASH_XXH3, 1e-6, 0 },
        { BLM_BLOCKED, BLM_HASH_SIPHASH, 0.01, 0 }, { BLM_CLASSIC, BLM_HASH_XXH3, 0.01, 0 },
        { BLM_COUNTING, BLM_HASH_XXH3, 0.01, 0 },   { BLM_SCALABLE, BLM_HASH_XXH3, 0.01, 0 },
    };
    if (!can_run())
        skip();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_inline  v = BLM_INLINE_INIT;
        blm_filter *f;
        o.kind  = rows[i].kind;
        o.hash  = rows[i].hash;
        o.rate  = rows[i].rate;
        o.items = 20000;
        assert_status(blm_create(&o, &f, NULL), BLM_OK);
        assert_status(blm_inline_of(f, &v), BLM_OK);
        assert_int_equal(v.version, BLM__BIG_ENDIAN ? 0 : rows[i].version);
#ifdef BLM_INLINES
        assert_int_equal(blm_inline_ready(&v), rows[i].version);
#endif
        assert_true(v.filter == f);
        same_answers(f);
        blm_free(f);
    }
}

/* A program of an older header has a shorter struct; one that set no size is told. */
static void the_struct_says_its_size(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_inline  v;
    blm_filter *f;
    o.items = 100;
    o.rate  = 0.01;
    assert_status(blm_create(&o, &f, NULL), BLM_OK);
    memset(&v, 0x77, sizeof v);
    v.size = 0;
    assert_status(blm_inline_of(f, &v), BLM_E_ARGUMENT);
    v.size = offsetof(blm_inline, lines);
    assert_status(blm_inline_of(f, &v), BLM_OK);
    assert_true(v.filter == f && v.line_count == 0x7777777777777777u);
    assert_status(blm_inline_of(f, NULL), BLM_E_ARGUMENT);
    blm_free(f);
}

/* The three forms of which words a key needs are of one pattern; an older program's struct ends before
 * the last, and nothing is written behind it. */
CALLER static void the_rows_agree(void **state)
{
    (void)state;
    static const unsigned order[8] = { 0, 1, 4, 5, 2, 3, 6, 7 };
    blm_options           o        = BLM_OPTIONS_INIT;
    blm_filter           *f;
    if (!can_run())
        skip();
    o.items = 1000;
    for (double rate = 0.5; rate > 1e-3; rate /= 2) {
        blm_inline v = BLM_INLINE_INIT;
        o.rate       = rate;
        assert_status(blm_create(&o, &f, NULL), BLM_OK);
        assert_status(blm_inline_of(f, &v), BLM_OK);
#ifdef BLM_INLINES
        assert_int_equal(v.version, 1);
        for (unsigned r = 0; r < 8; r++)
            for (unsigned j = 0; j < 8; j++) {
                assert_int_equal(v.asked[r][j], (uint32_t)(v.words[r] >> order[j] & 1) << 31);
                assert_int_equal(v.needed[r] >> j & 1, v.words[r] >> order[j] & 1);
            }
#else
        (void)order;
        assert_null(v.asked);
#endif
        v      = (blm_inline)BLM_INLINE_INIT;
        v.size = offsetof(blm_inline, asked);
        assert_status(blm_inline_of(f, &v), BLM_OK);
        assert_true(v.asked == NULL && (v.words[0] != 0) == !BLM__BIG_ENDIAN);
        assert_true(blm_add(f, "12345678", 8) == BLM_OK && blm_inline_check(&v, "12345678", 8));
        blm_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_filter_answers_the_same),
        cmocka_unit_test(the_struct_says_its_size),
        cmocka_unit_test(the_rows_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
