/* SPDX-License-Identifier: MIT */
/* Ways in which the law was broken once: what was acknowledged and not deleted was answered absent.
 * Each test shows one, and fails without its mend. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "law.h"

/* ---- writes whose outcome nobody knows ------------------------------------------------------ */

/* Two puts of one key fail. After a rebuild, which knows only that the key is in doubt, each takes
 * effect, and the row of the first is deleted in between. */
static void test_two_late_puts(void **state)
{
    (void)state;
    blm_guard_options o = plain();
    o.flags             = BLM_GUARD_COUNTING | BLM_GUARD_MANUAL;
    blm_guard *g        = open_guard(o);
    char       key[32];
    blm_error  err;
    for (uint64_t i = 0; i < 40; i++) {
        key_of(key, i);
        rows.fail_put = true;
        for (int twice = 0; twice < 2; twice++)
            assert_int_equal(blm_guard_put(g, key, strlen(key), NULL, 0, NULL), BLM_E_IO);
        rows.fail_put = false;
    }
    build(g);
    for (uint64_t i = 0; i < 40; i++) {
        key_of(key, i);
        rows_put(&rows, key, strlen(key), NULL, 0, &err);
        assert_int_equal(delete_key(g, i), BLM_OK);
    }
    assert_int_equal(blm_guard_sync(g, NULL), BLM_OK); /* removes what waits */
    for (uint64_t i = 0; i < 40; i++) {
        key_of(key, i);
        rows_put(&rows, key, strlen(key), NULL, 0, &err);
    }
    assert_there(g, 0, 40);
    close_guard(g);
}

/* More failed puts than can be remembered: a new filter would lack the rest. */
static void test_too_many_failed_puts(void **state)
{
    (void)state;
    blm_guard_options o = plain();
    o.items             = 100000;
    o.flags             = BLM_GUARD_COUNTING | BLM_GUARD_MANUAL;
    blm_guard *g        = open_guard(o);
    blm_error  err      = { .status = BLM_OK };
    char       key[32];
    build(g);
    rows.fail_put = true;
    for (uint64_t i = 0; i < 65536 + 100; i++) {
        key_of(key, i);
        assert_int_equal(blm_guard_put(g, key, strlen(key), NULL, 0, NULL), BLM_E_IO);
    }
    rows.fail_put = false;
    assert_int_equal(blm_guard_build(g, &err), BLM_E_LIMIT);
    assert_non_null(strstr(err.text, "too many puts failed"));
    key_of(key, 65536 + 50); /* one that was not remembered takes effect, twice */
    for (int twice = 0; twice < 2; twice++) {
        rows_put(&rows, key, strlen(key), NULL, 0, &err);
        assert_int_equal(get_key(g, 65536 + 50), BLM_OK);
        if (twice == 0)
            assert_int_equal(delete_key(g, 65536 + 50), BLM_OK);
        assert_int_equal(blm_guard_sync(g, NULL), BLM_OK);
    }
    close_guard(g);
}

/* ---- rebuilds -------------------------------------------------------------------------------- */

/* Somebody else's rows come while the scan runs, and the guard is told that it cannot be trusted:
 * what the scan has must not be. */
static blm_guard *watched; /* by the data set, which calls it */

static blm_status scan_and_distrust(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    blm_status st = rows_scan(ctx, each, each_ctx, err);
    if (rows.scans == 1) {
        char key[32];
        for (uint64_t i = 100; i < 200; i++) {
            key_of(key, i);
            rows_put(&rows, key, strlen(key), NULL, 0, err);
        }
        blm_guard_distrust(watched);
    }
    return st;
}

static void test_distrust_during_a_rebuild(void **state)
{
    (void)state;
    blm_guard_options o = filed(at("law.blm"));
    blm_dataset       d = rows_dataset(&rows);
    d.scan              = scan_and_distrust;
    assert_int_equal(blm_guard_open(&o, &d, &watched, NULL), BLM_OK);
    put_keys(watched, 0, 100);
    build(watched);
    assert_true(figures_of(watched).trusted);
    assert_int_equal(rows.scans, 2);
    assert_there(watched, 0, 200);
    blm_guard_distrust(watched);
    assert_false(figures_of(watched).trusted);
    assert_there(watched, 0, 200);
    close_guard(watched);
    blm_guard *g = open_filed();
    assert_false(figures_of(g).trusted);
    close_guard(g);
}

/* A get finds nothing. Before it says so, somebody else writes the row, the guard is distrusted and
 * rebuilt: the get must not remember what was true before. */
static blm_status get_and_distrust(void *ctx, const void *key, size_t len, blm_write_fn value,
                                   void *value_ctx, blm_error *err)
{
    blm_status st = rows_get(ctx, key, len, value, value_ctx, err);
    if (st == BLM_E_ABSENT && watched) {
        blm_guard *g = watched;
        watched      = NULL;
        rows_put(ctx, key, len, NULL, 0, err);
        blm_guard_distrust(g);
        build(g);
    }
    return st;
}

static void test_an_absence_from_before_a_rebuild(void **state)
{
    (void)state;
    blm_guard_options o = filed(NULL);
    blm_dataset       d = rows_dataset(&rows);
    blm_guard        *g = NULL;
    d.get               = get_and_distrust;
    assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
    put_keys(g, 0, 100);
    build(g);
    assert_int_equal(delete_key(g, 7), BLM_OK); /* the filter lets it pass */
    watched = g;
    assert_int_equal(get_key(g, 7), BLM_E_ABSENT);
    assert_null(watched);
    assert_true(figures_of(g).trusted);
    assert_int_equal(figures_of(g).table_keys, 0);
    assert_there(g, 0, 100);
    close_guard(g);
}

/* A rebuild that is asked for while one runs comes after it. */
static void test_rebuilds_queue(void **state)
{
    (void)state;
    blm_guard_options o = plain();
    o.flags             = BLM_GUARD_MANUAL;
    blm_guard *g        = open_guard(o);
    put_keys(g, 0, 100);
    unsigned present = 0;
    for (int i = 0; i < 50; i++)
        present += blm_guard_rebuild(g, NULL) == BLM_PRESENT;
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    assert_true(present > 0);
    assert_in_range(figures_of(g).rebuilds, 50 - present + 1, 50);
    close_guard(g);
}

/* The thread of one rebuild cannot start, and while that is found out another is asked for. Who was
 * told that it would come gets it. */
static struct {
    blm_guard *g;
    blm_status second; /* of the rebuild that is asked for meanwhile */
} starting;

static void *zalloc_bytes(void *ctx, size_t bytes)
{
    (void)ctx;
    return calloc(1, bytes);
}

static void *alloc_but_no_thread(void *ctx, size_t bytes)
{
    blm_guard *g = starting.g;
    (void)ctx;
    if (!g)
        return malloc(bytes);
    starting.g      = NULL;
    starting.second = blm_guard_rebuild(g, NULL);
    return NULL;
}

static void free_bytes(void *ctx, void *p, size_t bytes)
{
    (void)ctx, (void)bytes;
    free(p);
}

static void test_a_thread_that_cannot_start(void **state)
{
    (void)state;
    blm_options       f = BLM_OPTIONS_INIT;
    blm_guard_options o = plain();
    f.allocator         = &(
        blm_allocator){ .alloc = alloc_but_no_thread, .zalloc = zalloc_bytes, .free = free_bytes };
    f.kind       = BLM_BLOCKED;
    o.filter     = &f;
    o.flags      = BLM_GUARD_MANUAL;
    blm_guard *g = open_guard(o);
    put_keys(g, 0, 100);
    starting.g       = g;
    blm_status first = blm_guard_rebuild(g, NULL);
    assert_null(starting.g);
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    assert_true(first == BLM_E_MEMORY || first == BLM_PRESENT);
    assert_true(starting.second == BLM_OK || starting.second == BLM_PRESENT);
    assert_true(figures_of(g).rebuilds > 0);
    close_guard(g);
}

/* ---- what is in force ------------------------------------------------------------------------ */

static void test_other_options(void **state)
{
    (void)state;
    blm_guard *g = open_with_rows();
    char       first[16];
    memcpy(first, figures_of(g).hash, sizeof first);
    assert_true(first[0] != 0);
    close_guard(g);
    for (int what = 0; what < 3; what++) {
        blm_options       f = BLM_OPTIONS_INIT;
        blm_guard_options o = filed(at("law.blm"));
        f.kind              = BLM_BLOCKED;
        f.hash              = what == 0 ? BLM_HASH_XXH3 : BLM_HASH_SIPHASH;
        o.rate              = what == 0 ? 0.001 : what == 1 ? 0.001 : 0.0001;
        o.filter            = &f;
        g                   = open_guard(o); /* manual: it says what is in force */
        blm_guard_stats was = figures_of(g);
        assert_true(figures_of(g).trusted);
        assert_true(figures_of(g).promised > o.rate * 1.5 || what == 1);
        assert_string_equal(was.hash, what == 2 ? "siphash" : first);
        assert_there(g, 0, 100);
        close_guard(g);
        o.flags = 0; /* or rebuilds */
        g       = open_built(o);
        assert_int_equal(figures_of(g).cause, BLM_CAUSE_OPTIONS);
        assert_true(figures_of(g).promised <= o.rate);
        assert_string_equal(figures_of(g).hash, what == 0 ? first : "siphash");
        assert_there(g, 0, 100);
        close_guard(g);
        g = open_built(o); /* nothing to do */
        assert_int_equal(figures_of(g).rebuilds, 0);
        close_guard(g);
    }
}

/* ---- staleness ------------------------------------------------------------------------------- */

static void test_stale_over_close(void **state)
{
    (void)state;
    blm_guard *g = open_filed();
    put_keys(g, 0, 400);
    build(g);
    for (uint64_t i = 0; i < 70; i++)
        assert_int_equal(delete_key(g, i), BLM_OK);
    close_guard(g);
    g = open_filed();
    assert_true(figures_of(g).trusted);
    assert_int_equal(figures_of(g).stale, 70);
    assert_true(figures_of(g).stale_share > 0.17 && figures_of(g).stale_share < 0.18);
    for (uint64_t i = 70; i < 80; i++)
        assert_int_equal(delete_key(g, i), BLM_OK);
    close_guard(g);
    g = open_filed();
    assert_int_equal(figures_of(g).stale, 80);
    build(g);
    assert_int_equal(figures_of(g).stale, 0);
    close_guard(g);
}

static void deletes_and_dies(void *arg)
{
    (void)arg;
    blm_guard *g = open_filed();
    put_keys(g, 0, 1000);
    build(g);
    put_keys(g, 1000, 1200);
    for (uint64_t i = 0; i < 70; i++)
        assert_int_equal(delete_key(g, i), BLM_OK);
    spit(at("mark"), rows.mark, rows.mark_len);
    kill(getpid(), SIGKILL);
}

static void test_stale_after_a_kill(void **state)
{
    (void)state;
    assert_int_equal(in_child(deletes_and_dies, NULL), SIGKILL);
    follow_child(70, 1200);
    blm_guard *g = open_filed();
    assert_true(figures_of(g).trusted);
    assert_int_equal(figures_of(g).stale, 70);
    assert_in_range(figures_of(g).items, 1100, 1300);
    close_guard(g); /* what was not counted is not counted in later sessions either */
    g = open_filed();
    assert_true(figures_of(g).trusted);
    assert_int_equal(figures_of(g).stale, 70);
    assert_in_range(figures_of(g).items, 1100, 1300);
    build(g); /* sized for the rows there are, without another scan */
    assert_true(figures_of(g).capacity >= 1130);
    assert_int_equal(rows.scans, 1);
    assert_there(g, 70, 1200);
    close_guard(g);
}

/* ---- keys that somebody chooses --------------------------------------------------------------- */

/* Keys that pass are asked for again and again, each time others. */
static void ask_what_passes(blm_guard *g, uint64_t *next, uint64_t passes)
{
    while (passes > 0) {
        char    key[32];
        blm_key k = { key, 0 };
        key_of(key, (*next)++);
        k.len = strlen(key);
        if (!blm_guard_maybe(g, k.data, k.len))
            continue;
        assert_int_equal(blm_guard_get(g, key, k.len, NULL, NULL, NULL), BLM_E_ABSENT);
        passes--;
    }
}

static void test_pollution_is_said(void **state)
{
    (void)state;
    blm_guard_options o    = plain();
    uint64_t          next = 1000000;
    o.rate_pause_ms        = 1000000; /* none is due again while this test runs */
    blm_guard *g           = open_guard(o);
    put_keys(g, 0, 900);
    assert_int_equal(blm_guard_build(g, NULL) == BLM_OK || blm_guard_wait(g, NULL) == BLM_OK, 1);
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    uint64_t before = figures_of(g).rebuilds;
    assert_false(figures_of(g).polluted);
    ask_what_passes(g, &next, 80);
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    assert_int_equal(figures_of(g).rebuilds, before + 1);
    assert_int_equal(figures_of(g).cause, BLM_CAUSE_RATE);
    ask_what_passes(g, &next, 400);
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    assert_int_equal(figures_of(g).rebuilds, before + 1); /* the next one has to wait … */
    assert_true(figures_of(g).held > 0);
    assert_true(figures_of(g).polluted); /* … and why is said */
    close_guard(g);
}

/* Stale keys that are asked for pass too, and that is no attack. */
static void test_stale_keys_are_no_pollution(void **state)
{
    (void)state;
    blm_guard_options o = plain();
    o.flags             = BLM_GUARD_MANUAL;
    blm_guard *g        = open_guard(o);
    put_keys(g, 0, 900);
    build(g);
    for (uint64_t i = 0; i < 200; i++)
        assert_int_equal(delete_key(g, i), BLM_OK);
    for (uint64_t i = 0; i < 200; i++)
        assert_int_equal(get_key(g, i), BLM_E_ABSENT);
    assert_false(figures_of(g).polluted);
    close_guard(g);
}

/* ---- fork -------------------------------------------------------------------------------------- */

static void use_in_child(void *arg)
{
    blm_guard      *g       = arg;
    blm_error       err     = { .status = BLM_OK };
    blm_guard_stats s       = { .size = sizeof s };
    blm_key         keys[2] = { { "key-1", 5 }, { "none", 4 } };
    uint8_t         maybe[2];
    uint64_t        gets = rows.gets, puts = rows.puts;
    bool            ok = blm_guard_get(g, "key-1", 5, NULL, NULL, &err) == BLM_E_BUSY &&
              strstr(err.text, "forked") != NULL;
    ok &= blm_guard_get(g, "none", 4, NULL, NULL, NULL) == BLM_E_BUSY;
    ok &= blm_guard_maybe(g, "none", 4) && blm_guard_maybe_many(g, keys, 2, maybe) == 2;
    ok &= blm_guard_put(g, "new", 3, NULL, 0, &err) == BLM_E_BUSY;
    ok &= blm_guard_delete(g, "key-1", 5, &err) == BLM_E_BUSY;
    ok &= blm_guard_update(g, "key-1", 5, "new", 3, NULL, 0, &err) == BLM_E_BUSY;
    ok &= blm_guard_build(g, &err) == BLM_E_BUSY && blm_guard_rebuild(g, &err) == BLM_E_BUSY;
    ok &= blm_guard_wait(g, &err) == BLM_E_BUSY && blm_guard_sync(g, &err) == BLM_E_BUSY;
    ok &= blm_guard_get_stats(g, &s) == BLM_E_BUSY;
    blm_guard_note_put(g, "new", 3);
    blm_guard_note_delete(g, "key-1", 5);
    blm_guard_distrust(g);
    ok &= blm_guard_close(g, &err) == BLM_OK;
    ok &= rows.gets == gets && rows.puts == puts && rows.dels == 0;
    _exit(ok ? 0 : 1);
}

static void test_fork(void **state)
{
    (void)state;
    for (int in_file = 0; in_file < 2; in_file++) {
        blm_guard_options o = filed(in_file ? at("law.blm") : NULL);
        blm_guard        *g = open_guard(o), *second = NULL;
        blm_dataset       d = rows_dataset(&rows);
        put_keys(g, 0, 100);
        build(g);
        for (int twice = 0; twice < 2; twice++)
            assert_int_equal(in_child(use_in_child, g), 0);
        if (in_file) /* the lock is still the parent's */
            assert_int_equal(blm_guard_open(&o, &d, &second, NULL), BLM_E_BUSY);
        put_keys(g, 100, 200);
        assert_there(g, 0, 200);
        close_guard(g);
        if (in_file) {
            g = open_guard(o);
            assert_true(figures_of(g).trusted);
            assert_there(g, 0, 200);
            close_guard(g);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAW(test_two_late_puts),
        LAW(test_too_many_failed_puts),
        LAW(test_distrust_during_a_rebuild),
        LAW(test_an_absence_from_before_a_rebuild),
        LAW(test_rebuilds_queue),
        LAW(test_a_thread_that_cannot_start),
        LAW(test_other_options),
        LAW(test_stale_over_close),
        LAW(test_stale_after_a_kill),
        LAW(test_pollution_is_said),
        LAW(test_stale_keys_are_no_pollution),
        LAW(test_fork),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
