/* SPDX-License-Identifier: MIT */
/* What may be remembered, and what never. */
#include "guard/table.h"

#include "../support.h"

#include "core/alloc.h"

static struct blm__table t;

static int open_table(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    return blm__table_open(&t, 256, &blm__default_allocator) == BLM_OK ? 0 : -1;
}
static int close_table(void **state)
{
    (void)state;
    blm__table_close(&t);
    return 0;
}

#define KEY "key", 3
#define H   0x123456789abcdef0u

static void test_learns_and_forgets(void **state)
{
    (void)state;
    assert_false(blm__table_knows(&t, H, KEY));
    blm__table_learn(&t, H, KEY, blm__table_ticket(&t, H));
    blm__table_learn(&t, H, KEY, blm__table_ticket(&t, H));
    assert_int_equal(t.count, 1);
    assert_true(blm__table_knows(&t, H, KEY));
    assert_false(blm__table_knows(&t, H, "kez", 3)); /* the same hash is not the same key */
    assert_false(blm__table_knows(&t, H, "ke", 2));
    blm__table_put_begin(&t, H, KEY);
    assert_false(blm__table_knows(&t, H, KEY));
    blm__table_put_end(&t, H);
    assert_int_equal(t.count, 0);
    blm__table_learn(&t, H, KEY, blm__table_ticket(&t, H));
    blm__table_learn(&t, H + 1, "", 0, blm__table_ticket(&t, H + 1)); /* the empty key */
    assert_true(blm__table_knows(&t, H + 1, "", 0));
    uint64_t before = blm__table_ticket(&t, H);
    blm__table_clear(&t);
    assert_int_equal(t.count, 0);
    blm__table_learn(&t, H, KEY, before); /* nor what was read before */
    assert_int_equal(t.count, 0);
    blm__table_learn(&t, H, KEY, blm__table_ticket(&t, H));
    assert_int_equal(t.count, 1);
}

static void test_not_beside_a_put(void **state)
{
    (void)state;
    uint64_t before = blm__table_ticket(&t, H);
    blm__table_put_begin(&t, H, KEY);
    uint64_t during = blm__table_ticket(&t, H);
    blm__table_learn(&t, H, KEY, before); /* a put began since the read */
    blm__table_learn(&t, H, KEY, during); /* a put was under way when the read began */
    blm__table_put_end(&t, H);
    blm__table_learn(&t, H, KEY,
                     before); /* it has ended, and its row may have come after the read */
    blm__table_learn(&t, H, KEY, during);
    assert_false(blm__table_knows(&t, H, KEY));
    blm__table_learn(&t, H, KEY, blm__table_ticket(&t, H));
    assert_true(blm__table_knows(&t, H, KEY));
}

static bool count_key(void *ctx, const void *key, size_t len)
{
    (void)key;
    (void)len;
    ++*(unsigned *)ctx;
    return true;
}

static void test_doubts(void **state)
{
    (void)state;
    unsigned seen = 0;
    char     key[16];
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 1000; i++) {
            int len = snprintf(key, sizeof key, "%u", i);
            blm__table_doubt(&t, H + (i & ~3u), key, (size_t)len); /* hashes that meet */
        }
    assert_int_equal(t.doubts, 1000);
    blm__table_doubts(&t, count_key, &seen);
    assert_int_equal(seen, 1000);
    blm__table_learn(&t, H, "0", 1, blm__table_ticket(&t, H));
    assert_false(blm__table_knows(&t, H, "0", 1));
    blm__table_learn(&t, H, "1000", 4, blm__table_ticket(&t, H));
    assert_true(blm__table_knows(&t, H, "1000", 4));
    assert_false(t.overflow);
}

/* Past the bound nothing is remembered any more: a doubt that was lost could be any key. */
static void test_too_many_doubts(void **state)
{
    (void)state;
    char key[16];
    for (unsigned i = 0; i < BLM__DOUBTS + 10; i++) {
        int len = snprintf(key, sizeof key, "%u", i);
        blm__table_doubt(&t, i * 0x9e3779b97f4a7c15u, key, (size_t)len);
    }
    assert_true(t.overflow);
    assert_true(t.doubts <= BLM__DOUBTS);
    blm__table_learn(&t, H, KEY, blm__table_ticket(&t, H));
    assert_false(blm__table_knows(&t, H, KEY));
}

static void test_the_least_asked_for_goes(void **state)
{
    (void)state;
    char key[16];
    for (unsigned i = 0; i < 100; i++) { /* all into one set of eight */
        int len = snprintf(key, sizeof key, "%u", i);
        blm__table_learn(&t, H, key, (size_t)len, blm__table_ticket(&t, H));
        assert_true(blm__table_knows(&t, H, "0", 1)); /* asked for all the time */
    }
    assert_int_equal(t.count, BLM__TABLE_WAYS);
    assert_true(blm__table_knows(&t, H, "99", 2));
    assert_false(blm__table_knows(&t, H, "50", 2));
    char long_key[BLM__TABLE_KEY + 1] = { 0 };
    blm__table_learn(&t, H + 1, long_key, sizeof long_key, blm__table_ticket(&t, H + 1));
    assert_false(blm__table_knows(&t, H + 1, long_key, sizeof long_key));
}

#define TABLE(f) cmocka_unit_test_setup_teardown(f, open_table, close_table)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TABLE(test_learns_and_forgets), TABLE(test_not_beside_a_put),         TABLE(test_doubts),
        TABLE(test_too_many_doubts),    TABLE(test_the_least_asked_for_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
