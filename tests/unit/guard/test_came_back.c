/* SPDX-License-Identifier: MIT */
/* A data set that dies and comes back as it was at its last save: with an older mark, perhaps another
 * guard's, and with rows that have been deleted since. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "law.h"

static struct rows saved;
static blm_guard  *watched; /* by the data set, which calls it */

static void save_rows(void)
{
    saved     = rows;
    saved.row = malloc(rows.room * sizeof *rows.row);
    memcpy(saved.row, rows.row, rows.room * sizeof *rows.row);
}

/* As a server does that dies and comes back from its last save. */
static void come_back(void)
{
    memcpy(rows.row, saved.row, rows.room * sizeof *rows.row);
    rows.live     = saved.live;
    rows.mark_len = saved.mark_len;
    memcpy(rows.mark, saved.mark, sizeof rows.mark);
    free(saved.row);
}

enum asked { GET, PUT, DELETE, SCAN, CALLS };

/* All that the guard sees of it. */
static void one_call_fails(blm_guard *g, enum asked which)
{
    blm_status st;
    rows.fail_get = rows.fail_put = rows.fail_del = rows.fail_scan = true;
    if (which == GET)
        st = blm_guard_get(g, "key-1", 5, NULL, NULL, NULL);
    else if (which == PUT)
        st = blm_guard_put(g, "key-1", 5, NULL, 0, NULL);
    else if (which == DELETE)
        st = blm_guard_delete(g, "key-1", 5, NULL);
    else
        st = blm_guard_build(g, NULL);
    rows.fail_get = rows.fail_put = rows.fail_del = rows.fail_scan = false;
    assert_int_equal(st, BLM_E_IO);
}

/* It has the mark again that our file was closed with, and the other guard goes on putting rows. */
static void test_an_older_mark_comes_back(void **state)
{
    (void)state;
    for (enum asked which = GET; which < CALLS; which++) {
        leave_rows();
        save_rows();
        blm_guard *other = open_guard(filed(NULL));
        put_keys(other, 100, 110);
        come_back();
        one_call_fails(other, which);
        put_keys(other, 110, 200);
        close_guard(other);
        blm_guard *g = open_filed();
        assert_false(figures_of(g).trusted);
        assert_there(g, 110, 200);
        close_guard(g);
        unlink(at("law.blm"));
        unlink(at("law.blm.guard"));
        rows.mark_len = 0;
    }
}

/* … or without any mark, or with our own from the session before: then the filter that answers is not
 * to be relied on, since rows that were deleted are there again. */
static void test_deleted_rows_come_back(void **state)
{
    (void)state;
    for (int from = 0; from < 2; from++) {
        blm_guard *g = open_kind(BLM_COUNTING, 0);
        put_keys(g, 0, 2000);
        build(g);
        if (from == 1) {
            close_guard(g);
            save_rows();
            g = open_kind(BLM_COUNTING, 0);
            assert_true(figures_of(g).trusted);
        } else {
            save_rows();
            saved.mark_len = 0;
        }
        delete_keys(g, 0, 1500);
        come_back();
        one_call_fails(g, DELETE);
        delete_keys(g, 0, 1500);
        assert_there(g, 1500, 2000);
        assert_false(figures_of(g).trusted);
        build(g);
        assert_there(g, 1500, 2000);
        close_guard(g);
        unlink(at("law.blm"));
        unlink(at("law.blm.guard"));
    }
}

/* A guard that has put nothing has no mark to compare: after a failure it removes nothing until it is
 * rebuilt, not even with a mark that it writes then. Nor is it a mark that there is none. */
static void test_deleted_rows_come_back_to_no_mark(void **state)
{
    (void)state;
    enum { NEVER, AFTERWARDS, BEFORE } puts;
    blm_guard_options o = filed(NULL);
    blm_options       f = *o.filter;
    f.kind              = BLM_COUNTING;
    o.filter            = &f;
    o.items             = 2000;
    o.rate              = 0.2;
    for (puts = NEVER; puts <= BEFORE; puts++) {
        blm_guard *g = open_guard(filed(NULL));
        put_keys(g, 0, 2000);
        close_guard(g);
        save_rows();
        g = open_guard(o);
        if (puts == BEFORE)
            put_keys(g, 2000, 2001);
        build(g);
        delete_keys(g, 0, 1000);
        come_back();
        one_call_fails(g, DELETE);
        if (puts == AFTERWARDS)
            put_keys(g, 2000, 2001);
        delete_keys(g, 0, 1000);
        assert_there(g, 1000, 2000);
        build(g);
        delete_keys(g, 1000, 1500);
        assert_there(g, 1500, 2000);
        assert_int_equal(figures_of(g).stale, 0); /* it removes again */
        close_guard(g);
    }
}

/* While ours is open, another guard puts rows. To claim the mark again after an error must not hide
 * that at close. */
static void test_an_error_hides_no_session(void **state)
{
    (void)state;
    blm_guard *g     = open_with_rows();
    blm_guard *other = open_guard(filed(NULL));
    put_keys(other, 100, 200);
    close_guard(other);
    one_call_fails(g, PUT);
    put_keys(g, 200, 210);
    assert_there(g, 0, 210); /* everything passes */
    close_guard(g);
    g = open_filed();
    assert_false(figures_of(g).trusted);
    assert_there(g, 0, 210);
    close_guard(g);
}

/* The data set comes back while a put is under way, and it is another call that fails. */
static blm_status put_and_come_back(void *ctx, const void *key, size_t len, const void *value,
                                    size_t value_len, blm_error *err)
{
    if (watched) {
        blm_guard *g = watched;
        watched      = NULL;
        come_back();
        one_call_fails(g, GET);
    }
    return rows_put(ctx, key, len, value, value_len, err);
}

static void test_an_older_mark_during_a_put(void **state)
{
    (void)state;
    blm_guard_options o = filed(NULL);
    blm_dataset       d = rows_dataset(&rows);
    blm_guard        *g = NULL;
    d.put               = put_and_come_back;
    leave_rows();
    save_rows();
    assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
    put_keys(g, 100, 110);
    watched = g;
    put_keys(g, 110, 111);
    assert_null(watched);
    close_guard(g);
    g = open_filed();
    assert_false(figures_of(g).trusted);
    assert_there(g, 110, 111);
    close_guard(g);
}

/* A data set that knows that it went back says so. */
static blm_status get_of_another(void *ctx, const void *key, size_t len, blm_write_fn value,
                                 void *value_ctx, blm_error *err)
{
    (void)ctx, (void)key, (void)len, (void)value, (void)value_ctx;
    *err = (blm_error){ .status = BLM_E_MISMATCH };
    return BLM_E_MISMATCH;
}

static void test_a_data_set_that_says_so(void **state)
{
    (void)state;
    for (int advisory = 0; advisory < 2; advisory++) {
        blm_guard_options o = filed(NULL);
        blm_dataset       d = rows_dataset(&rows);
        blm_guard        *g = NULL;
        d.get               = get_of_another;
        o.flags |= advisory ? BLM_GUARD_ADVISORY : 0;
        assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
        put_keys(g, 0, 100);
        build(g);
        assert_int_equal(get_key(g, 7), BLM_E_MISMATCH);
        assert_int_equal(figures_of(g).trusted, advisory);
        close_guard(g);
    }
}

/* … also when it is asked how many rows it has, each time: the scan comes after that. */
static blm_status count_of_another(void *ctx, uint64_t *number, blm_error *err)
{
    (void)ctx, (void)number;
    *err = (blm_error){ .status = BLM_E_MISMATCH };
    return BLM_E_MISMATCH;
}

static void test_a_count_that_says_so(void **state)
{
    (void)state;
    blm_guard_options o = filed(NULL);
    blm_dataset       d = rows_dataset(&rows);
    blm_guard        *g = NULL;
    d.count             = count_of_another;
    assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
    put_keys(g, 0, 100);
    alarm(60); /* it never ended */
    for (int i = 0; i < 2; i++) {
        build(g);
        assert_true(figures_of(g).trusted);
    }
    alarm(0);
    assert_int_equal(rows.scans, 2);
    assert_there(g, 0, 100);
    close_guard(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAW(test_an_older_mark_comes_back),
        LAW(test_deleted_rows_come_back),
        LAW(test_deleted_rows_come_back_to_no_mark),
        LAW(test_an_error_hides_no_session),
        LAW(test_an_older_mark_during_a_put),
        LAW(test_a_data_set_that_says_so),
        LAW(test_a_count_that_says_so),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
