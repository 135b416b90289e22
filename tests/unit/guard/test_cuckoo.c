/* SPDX-License-Identifier: MIT */
/* A guard whose filter may be full: rows that are replaced take no cells, and a filter without room
 * for a key stops answering. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "guards.h"

static blm_guard_options cuckoo(uint32_t flags)
{
    static blm_options f;
    blm_guard_options  o = plain();
    f                    = *o.filter;
    f.kind               = BLM_CUCKOO;
    o.filter             = &f;
    o.flags              = flags;
    return o;
}

static blm_guard *open_empty(uint64_t items)
{
    blm_guard_options o = cuckoo(BLM_GUARD_MANUAL);
    o.items             = items;
    blm_guard *g        = open_guard(o);
    assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
    return g;
}

static void assert_there(blm_guard *g, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(get_key(g, i), BLM_OK);
}

/* ---- rows that are replaced ---- */

static void test_replaced_rows_take_no_cells(void **state)
{
    (void)state;
    blm_guard *g = open_empty(1000);
    for (int times = 0; times < 12; times++)
        put_keys(g, 0, 900);
    assert_int_equal(figures_of(g).items, 900);
    assert_true(figures_of(g).trusted);
    assert_there(g, 0, 900);
    for (uint64_t i = 0; i < 800; i++)
        assert_int_equal(delete_key(g, i), BLM_OK);
    assert_int_equal(blm_guard_sync(g, NULL), BLM_OK);
    assert_int_equal(figures_of(g).items, 100);
    assert_int_equal(figures_of(g).stale, 0);
    uint64_t before = rows.gets;
    for (uint64_t i = 0; i < 800; i++)
        assert_int_equal(get_key(g, i), BLM_E_ABSENT);
    assert_in_range(rows.gets - before, 0, 40);
    assert_there(g, 800, 900);
    close_guard(g);
}

/* Deleted and put again before the removal is done: both are counted. */
static void test_deleted_and_put_again(void **state)
{
    (void)state;
    blm_guard *g = open_empty(1000);
    for (int times = 0; times < 50; times++) {
        put_keys(g, 0, 5);
        for (uint64_t i = 0; i < 5; i++)
            assert_int_equal(delete_key(g, i), BLM_OK);
        put_keys(g, 0, 5);
        assert_there(g, 0, 5);
    }
    assert_int_equal(blm_guard_sync(g, NULL), BLM_OK);
    assert_int_equal(figures_of(g).items, 5);
    assert_there(g, 0, 5);
    close_guard(g);
}

/* The data set cannot say whether the row is there: then the key is added once more. */
static void test_unsure_rows_are_added(void **state)
{
    (void)state;
    blm_guard *g = open_empty(1000);
    put_keys(g, 0, 50);
    rows.fail_get = true;
    put_keys(g, 0, 50);
    rows.fail_get = false;
    assert_int_equal(figures_of(g).items, 100);
    close_guard(g);
}

static void test_an_advisory_guard_adds_once(void **state)
{
    (void)state;
    blm_guard *g = open_guard(cuckoo(BLM_GUARD_MANUAL | BLM_GUARD_ADVISORY));
    char       key[32];
    assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
    for (int times = 0; times < 20; times++) {
        uint64_t before = rows.gets;
        put_keys(g, 0, 200);
        for (uint64_t i = 200; i < 400; i++) {
            key_of(key, i);
            blm_guard_note_put(g, key, strlen(key));
        }
        assert_int_equal(rows.gets, before);
    }
    assert_in_range(figures_of(g).items, 390, 400); /* the others are false positives */
    for (uint64_t i = 0; i < 400; i++) {
        key_of(key, i);
        assert_true(blm_guard_maybe(g, key, strlen(key)));
    }
    close_guard(g);
}

/* Keys that the filter cannot tell apart, more than it can hold copies of. */
static void test_more_rows_than_copies(void **state)
{
    (void)state;
    blm_guard  *g = open_empty(8);
    blm_options f = *cuckoo(0).filter;
    blm_filter *one;
    char        key[32];
    uint64_t    same[20];
    f.items = 8;
    f.rate  = 0.01;
    assert_int_equal(blm_create(&f, &one, NULL), BLM_OK);
    key_of(key, 0);
    blm_add(one, key, strlen(key));
    for (uint64_t i = 0, n = 0; n < 20; i++) {
        key_of(key, i);
        if (blm_check(one, key, strlen(key)))
            same[n++] = i;
    }
    blm_free(one);
    for (int i = 0; i < 20; i++)
        put_keys(g, same[i], same[i] + 1);
    assert_true(figures_of(g).trusted);
    assert_int_equal(figures_of(g).items, 8);
    for (int i = 0; i < 19; i++)
        assert_int_equal(delete_key(g, same[i]), BLM_OK);
    assert_int_equal(blm_guard_sync(g, NULL), BLM_OK);
    assert_int_equal(get_key(g, same[19]), BLM_OK);
    close_guard(g);
}

/* A put sees its row in the data set and the key in the filter, and then takes so long that another
 * filter answers, whose scan did not see the row: it was deleted in between. */
static struct {
    blm_guard      *g;
    pthread_t       put;
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    bool            slow, looked, go_on;
} slow;

static blm_status slow_get(void *ctx, const void *key, size_t len, blm_write_fn value,
                           void *value_ctx, blm_error *err)
{
    blm_status st = rows_get(ctx, key, len, value, value_ctx, err);
    pthread_mutex_lock(&slow.lock);
    if (slow.slow) {
        slow.slow   = false;
        slow.looked = true;
        pthread_cond_broadcast(&slow.changed);
        while (!slow.go_on)
            pthread_cond_wait(&slow.changed, &slow.lock);
    }
    pthread_mutex_unlock(&slow.lock);
    return st;
}

static void *slow_put(void *arg)
{
    (void)arg;
    put_keys(slow.g, 7, 8);
    return NULL;
}

static blm_status scan_meanwhile(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    if (rows.scans == 1) {
        slow.slow = true;
        assert_int_equal(pthread_create(&slow.put, NULL, slow_put, NULL), 0);
        pthread_mutex_lock(&slow.lock);
        while (!slow.looked)
            pthread_cond_wait(&slow.changed, &slow.lock);
        pthread_mutex_unlock(&slow.lock);
        assert_int_equal(delete_key(slow.g, 7), BLM_OK);
    }
    return rows_scan(ctx, each, each_ctx, err);
}

static void test_a_put_across_a_swap(void **state)
{
    (void)state;
    blm_guard_options o = cuckoo(BLM_GUARD_MANUAL);
    blm_dataset       d = rows_dataset(&rows);
    d.scan              = scan_meanwhile;
    d.get               = slow_get;
    memset(&slow, 0, sizeof slow);
    pthread_mutex_init(&slow.lock, NULL);
    pthread_cond_init(&slow.changed, NULL);
    assert_int_equal(blm_guard_open(&o, &d, &slow.g, NULL), BLM_OK);
    assert_int_equal(blm_guard_build(slow.g, NULL), BLM_OK);
    put_keys(slow.g, 0, 20);
    assert_int_equal(blm_guard_build(slow.g, NULL), BLM_OK);
    pthread_mutex_lock(&slow.lock);
    slow.go_on = true;
    pthread_cond_broadcast(&slow.changed);
    pthread_mutex_unlock(&slow.lock);
    pthread_join(slow.put, NULL);
    assert_there(slow.g, 0, 20);
    close_guard(slow.g);
}

/* ---- no room ---- */

static void test_full_stops_answering(void **state)
{
    (void)state;
    blm_guard *g = open_empty(1000);
    put_keys(g, 0, 3000);
    assert_false(figures_of(g).trusted);
    assert_there(g, 0, 3000);
    put_keys(g, 3000, 3100);
    assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
    assert_true(figures_of(g).trusted);
    assert_true(figures_of(g).capacity >= 3100);
    assert_int_equal(rows.scans, 3); /* an empty one; one that counts the rows; one that fits */
    assert_there(g, 0, 3100);
    close_guard(g);
}

static void test_full_is_rebuilt(void **state)
{
    (void)state;
    blm_guard *g = open_built(cuckoo(0));
    for (uint64_t i = 0; i < 20000; i += 500) {
        put_keys(g, i, i + 500);
        assert_there(g, 0, i + 500);
    }
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    assert_true(figures_of(g).trusted);
    assert_int_equal(figures_of(g).cause, BLM_CAUSE_FULL);
    assert_true(figures_of(g).capacity > 10000);
    close_guard(g);
}

/* A full filter in a file is not believed again. */
static void test_full_over_close(void **state)
{
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s/full.blm", scratch);
    blm_guard_options o = cuckoo(BLM_GUARD_MANUAL);
    o.path              = path;
    for (int how = 0; how < 2; how++) {
        blm_guard *g = open_guard(o);
        assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
        put_keys(g, 0, how ? 900 : 3000);
        close_guard(g);
        g = open_guard(o);
        assert_int_equal(figures_of(g).trusted, how);
        assert_there(g, 0, how ? 900 : 3000);
        close_guard(g);
    }
    unlink(path);
    unlink(at("full.blm.guard"));
}

/* Rows come while a scan runs, and there is no room for them in what is being built. */
static blm_status scan_and_put(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    blm_status st = rows_scan(ctx, each, each_ctx, err);
    if (rows.scans == 1)
        put_keys(slow.g, 0, 3000);
    return st;
}

static void test_full_while_it_is_built(void **state)
{
    (void)state;
    blm_guard_options o = cuckoo(BLM_GUARD_MANUAL);
    blm_dataset       d = rows_dataset(&rows);
    d.scan              = scan_and_put;
    assert_int_equal(blm_guard_open(&o, &d, &slow.g, NULL), BLM_OK);
    assert_int_equal(blm_guard_build(slow.g, NULL), BLM_OK);
    assert_true(figures_of(slow.g).trusted);
    assert_true(figures_of(slow.g).capacity >= 3000);
    assert_there(slow.g, 0, 3000);
    close_guard(slow.g);
}

/* A scan that names every row often. */
static blm_status scan_often(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    blm_status st = BLM_OK;
    for (int i = 0; i < 20 && st == BLM_OK; i++)
        st = rows_scan(ctx, each, each_ctx, err);
    return st;
}

static void test_rows_named_often(void **state)
{
    (void)state;
    blm_guard_options o = cuckoo(BLM_GUARD_MANUAL);
    blm_dataset       d = rows_dataset(&rows);
    blm_guard        *g;
    d.scan  = scan_often;
    o.items = 4000;
    assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
    put_keys(g, 0, 100);
    assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
    assert_true(figures_of(g).items <= 800);
    for (uint64_t i = 0; i < 50; i++)
        assert_int_equal(delete_key(g, i), BLM_OK);
    assert_int_equal(blm_guard_sync(g, NULL), BLM_OK);
    assert_there(g, 50, 100);
    close_guard(g);
}

static void test_growth_is_refused(void **state)
{
    (void)state;
    blm_guard_options o = cuckoo(0);
    blm_options       f = *o.filter;
    blm_dataset       d = rows_dataset(&rows);
    blm_guard        *g;
    blm_error         err;
    f.growth = 2;
    o.filter = &f;
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_ARGUMENT);
    assert_non_null(strstr(err.text, "growth"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROWS(test_replaced_rows_take_no_cells),
        ROWS(test_deleted_and_put_again),
        ROWS(test_unsure_rows_are_added),
        ROWS(test_an_advisory_guard_adds_once),
        ROWS(test_more_rows_than_copies),
        ROWS(test_a_put_across_a_swap),
        ROWS(test_full_stops_answering),
        ROWS(test_full_is_rebuilt),
        ROWS(test_full_over_close),
        ROWS(test_full_while_it_is_built),
        ROWS(test_rows_named_often),
        ROWS(test_growth_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
