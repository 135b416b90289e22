/* SPDX-License-Identifier: MIT */
/* Opening and closing a guard, with options of every kind and with too little memory; its report as
 * JSON. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "guards.h"

static bool keep_text(void *ctx, const void *bytes, size_t len)
{
    memcpy(ctx, bytes, len);
    ((char *)ctx)[len] = 0;
    return true;
}

static void test_json(void **state)
{
    (void)state;
    char       text[4096];
    blm_guard *g = open_built(plain());
    put_keys(g, 0, 3);
    get_key(g, 1);
    assert_int_equal(blm_guard_json(g, keep_text, text, NULL), BLM_OK);
    assert_non_null(strstr(text, "{\"lookups\":1,"));
    assert_non_null(strstr(text, "\"puts\":3,"));
    assert_non_null(strstr(text, "\"trusted\":true,"));
    assert_non_null(strstr(text, "\"kind\":\"blocked\","));
    assert_non_null(strstr(text, "\"promised\":0.01,"));
    assert_non_null(strstr(text, "\"cause\":\"first\","));
    assert_string_equal(text + strlen(text) - 2, "}\n");
    close_guard(g);
}

/* Without memory a guard cannot be opened or rebuilt, and says so; a put then still holds. */
static void test_no_memory(void **state)
{
    (void)state;
    bool whole = false;
    for (uint64_t at = 0; !whole; at++) {
        struct meter      m   = { .fail_at = at };
        blm_allocator     a   = meter_allocator(&m);
        blm_options       f   = BLM_OPTIONS_INIT;
        blm_guard_options o   = plain();
        blm_dataset       d   = rows_dataset(&rows);
        blm_guard        *g   = NULL;
        blm_error         err = { .status = BLM_OK };
        f.kind                = BLM_COUNTING;
        f.allocator           = &a;
        o.filter              = &f;
        o.flags               = BLM_GUARD_MANUAL;
        blm_status st         = blm_guard_open(&o, &d, &g, &err);
        if (st == BLM_OK) {
            st = blm_guard_build(g, &err);
            assert_true(st == BLM_OK || st == BLM_E_MEMORY);
            whole = st == BLM_OK;
            put_keys(g, 0, 20);
            for (uint64_t i = 0; i < 10; i++)
                assert_int_equal(delete_key(g, i), BLM_OK);
            blm_guard_sync(g, NULL);
            for (uint64_t i = 0; i < 20; i++)
                assert_int_equal(get_key(g, i), i < 10 ? BLM_E_ABSENT : BLM_OK);
            close_guard(g);
        } else {
            assert_int_equal(st, BLM_E_MEMORY);
            assert_null(g);
        }
        assert_int_equal(m.live, 0);
        assert_true(at < 200);
    }
}

static void count_close(void *ctx)
{
    (void)ctx;
    rows.puts += 1000;
}

/* Its data set is closed once, whether the guard could be opened or not. */
static void test_closes_its_data_set(void **state)
{
    (void)state;
    blm_guard        *g = NULL;
    blm_dataset       d = rows_dataset(&rows);
    blm_guard_options o = plain();
    d.close             = count_close;
    assert_int_equal(blm_guard_open(NULL, &d, &g, NULL), BLM_E_ARGUMENT);
    assert_int_equal(rows.puts, 1000);
    assert_int_equal(blm_guard_open(&o, &d, NULL, NULL), BLM_E_ARGUMENT);
    assert_int_equal(rows.puts, 2000);
    o.path = "/nonexistent/folder/filter";
    assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_E_IO);
    assert_int_equal(rows.puts, 3000);
    o = plain();
    assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
    close_guard(g);
    assert_int_equal(rows.puts, 4000);
}

static void test_options(void **state)
{
    (void)state;
    blm_guard        *g = NULL;
    blm_error         err;
    blm_dataset       d = rows_dataset(&rows);
    blm_options       f = BLM_OPTIONS_INIT;
    blm_guard_options o = plain();
    assert_int_equal(blm_guard_open(NULL, &d, &g, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_guard_open(&o, NULL, &g, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_guard_open(&o, &d, NULL, &err), BLM_E_ARGUMENT);
    o.rate = 1.5;
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_ARGUMENT);
    o       = plain();
    o.flags = 0x100;
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_ARGUMENT);
    o        = plain();
    f.kind   = BLM_SCALABLE;
    o.filter = &f;
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_UNSUPPORTED);
    f.kind = BLM_WINDOW; /* it would forget rows that are there */
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "forgets"));
    f.kind   = BLM_ANY_KIND; /* which is scalable for this scheme */
    f.scheme = "redisbloom";
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "scalable"));
    f.scheme = "nothing";
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_ARGUMENT);
    f.scheme = NULL;
    f.kind   = (blm_kind)99;
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_ARGUMENT);
    f.kind = BLM_CLASSIC;
    f.bits = 100;
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_ARGUMENT);
    f.bits             = 0;
    blm_guard *classic = open_built(o);
    assert_int_equal(figures_of(classic).kind, BLM_CLASSIC);
    close_guard(classic);
    f.kind         = BLM_ANY_KIND;
    blm_guard *any = open_built(o);
    assert_int_equal(figures_of(any).kind, BLM_BLOCKED);
    close_guard(any);
    d.scan = NULL;
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_ARGUMENT);
    d     = rows_dataset(&rows);
    d.put = NULL;
    d.del = NULL;
    o     = plain();
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    assert_int_equal(blm_guard_put(g, "a", 1, "b", 1, &err), BLM_E_UNSUPPORTED);
    assert_int_equal(blm_guard_delete(g, "a", 1, &err), BLM_E_UNSUPPORTED);
    close_guard(g);
    assert_int_equal(blm_guard_close(NULL, NULL), BLM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROWS(test_json),
        ROWS(test_no_memory),
        ROWS(test_closes_its_data_set),
        ROWS(test_options),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
