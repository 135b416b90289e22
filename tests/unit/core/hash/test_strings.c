/* SPDX-License-Identifier: MIT */
/* BKDR, JS and RS in every width, against the table of classic hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>

#include "core/hash/strings.h"
#include "hash_table.h"

static uint64_t multiplier(const char *seed) { return strtoull(seed, NULL, 10); }

static void print32(uint64_t v, char *out) { snprintf(out, HASH_TEXT, "%08" PRIx32, (uint32_t)v); }
static void print64(uint64_t v, char *out) { snprintf(out, HASH_TEXT, "%016" PRIx64, v); }

#define WIDTHS(name, hash32, hash64)                                                   \
    static void name##_u32(const uint8_t *k, size_t n, const char *seed, char *out)    \
    {                                                                                  \
        (void)seed;                                                                    \
        print32(hash32(k, n, seed, false), out);                                       \
    }                                                                                  \
    static void name##_u31(const uint8_t *k, size_t n, const char *seed, char *out)    \
    {                                                                                  \
        (void)seed;                                                                    \
        print32(hash32(k, n, seed, false) & INT32_MAX, out);                           \
    }                                                                                  \
    static void name##_u64(const uint8_t *k, size_t n, const char *seed, char *out)    \
    {                                                                                  \
        (void)seed;                                                                    \
        print64(hash64(k, n, seed, false), out);                                       \
    }                                                                                  \
    static void name##_signed(const uint8_t *k, size_t n, const char *seed, char *out) \
    {                                                                                  \
        (void)seed;                                                                    \
        print32(hash32(k, n, seed, true), out);                                        \
    }

#define BKDR(k, n, seed, is_signed) blm__bkdr(k, n, multiplier(seed), is_signed)
#define JS32(k, n, seed, is_signed) blm__js32(k, n, is_signed)
#define JS64(k, n, seed, is_signed) blm__js64(k, n, is_signed)
#define RS(k, n, seed, is_signed)   blm__rs(k, n, is_signed)
WIDTHS(bkdr, BKDR, BKDR)
WIDTHS(js, JS32, JS64)
WIDTHS(rs, RS, RS)

static void test_bkdr(void **state)
{
    (void)state;
    assert_int_equal(check_hash_table("bkdr_u32", bkdr_u32), 156);
    assert_int_equal(check_hash_table("bkdr_u31", bkdr_u31), 39);
    assert_int_equal(check_hash_table("bkdr_u64", bkdr_u64), 39);
    assert_int_equal(check_hash_table("bkdr_u32_signedchar", bkdr_signed), 39);
}

static void test_js(void **state)
{
    (void)state;
    assert_int_equal(check_hash_table("js_u32", js_u32), 39);
    assert_int_equal(check_hash_table("js_u31", js_u31), 39);
    assert_int_equal(check_hash_table("js_u64", js_u64), 39);
    assert_int_equal(check_hash_table("js_u32_signedchar", js_signed), 39);
}

static void test_rs(void **state)
{
    (void)state;
    assert_int_equal(check_hash_table("rs_u32", rs_u32), 39);
    assert_int_equal(check_hash_table("rs_u31", rs_u31), 39);
    assert_int_equal(check_hash_table("rs_u64", rs_u64), 39);
    assert_int_equal(check_hash_table("rs_u32_signedchar", rs_signed), 39);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bkdr),
        cmocka_unit_test(test_js),
        cmocka_unit_test(test_rs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
