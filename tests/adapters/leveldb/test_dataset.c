/* SPDX-License-Identifier: MIT */
/* A LevelDB database behind a guard: rows, scans, deletes that race, and reopening. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bloomery/guard.h"
#include "bloomery_leveldb.h"

static char               folder[64], path[96], filter_path[96];
static leveldb_t         *db;
static leveldb_options_t *options;

static void open_db(void)
{
    char *words = NULL;
    db          = leveldb_open(options, path, &words);
    if (words)
        fail_msg("%s", words);
}

static int make_db(void **state)
{
    (void)state;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/blm-XXXXXX" : "/tmp/blm-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/db", folder);
    snprintf(filter_path, sizeof filter_path, "%s/db.blm", folder);
    options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, 1);
    open_db();
    return 0;
}

static int drop_db(void **state)
{
    char command[128];
    (void)state;
    leveldb_close(db);
    leveldb_options_destroy(options);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

struct value {
    char   bytes[64];
    size_t len;
};
static bool keep(void *ctx, const void *bytes, size_t len)
{
    struct value *v = ctx;
    memcpy(v->bytes, bytes, len);
    v->len = len;
    return true;
}
static bool refuse(void *ctx, const void *bytes, size_t len)
{
    (void)ctx, (void)bytes, (void)len;
    return false;
}

static bool count_key(void *ctx, const void *key, size_t len)
{
    assert_true(len == 0 || key != NULL);
    ++*(unsigned *)ctx;
    return true;
}
static bool stop_at_once(void *ctx, const void *key, size_t len)
{
    (void)ctx, (void)key, (void)len;
    return false;
}

static void rows(const char *prefix)
{
    static const struct {
        const char *key;
        size_t      len;
    } keys[] = { { "tuesday", 7 }, { "", 0 }, { "\xff\0\r\n", 4 } };
    char        big[300];
    blm_dataset d;
    blm_error   err;
    unsigned    seen = 0;
    assert_int_equal(blm_leveldb_dataset(db, prefix, false, &d, &err), BLM_OK);
    for (size_t i = 0; i < 3; i++) {
        struct value v = { .len = 0 };
        assert_int_equal(d.get(d.ctx, keys[i].key, keys[i].len, keep, &v, &err), BLM_E_ABSENT);
        assert_int_equal(d.del(d.ctx, keys[i].key, keys[i].len, &err), BLM_E_ABSENT);
        assert_int_equal(d.put(d.ctx, keys[i].key, keys[i].len, "v\0w", 3, &err), BLM_OK);
        assert_int_equal(d.get(d.ctx, keys[i].key, keys[i].len, keep, &v, &err), BLM_OK);
        assert_int_equal(v.len, 3);
        assert_memory_equal(v.bytes, "v\0w", 3);
    }
    memset(big, 'b', sizeof big);
    assert_int_equal(d.put(d.ctx, big, sizeof big, NULL, 0, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, big, sizeof big, NULL, NULL, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "tuesday", 7, refuse, NULL, &err), BLM_E_CANCELLED);
    assert_int_equal(d.mark_write(d.ctx, "\0mark", 5, &err), BLM_OK);
    assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_OK);
    assert_int_equal(seen, 4); /* the mark is no row */
    assert_int_equal(d.scan(d.ctx, stop_at_once, NULL, &err), BLM_E_CANCELLED);
    char   mark[BLM_MARK_MAX];
    size_t len = 0;
    assert_int_equal(d.mark_read(d.ctx, mark, &len, &err), BLM_OK);
    assert_int_equal(len, 5);
    assert_memory_equal(mark, "\0mark", 5);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(d.del(d.ctx, keys[i].key, keys[i].len, &err), BLM_OK);
    assert_int_equal(d.del(d.ctx, big, sizeof big, &err), BLM_OK);
    seen = 0;
    assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_OK);
    assert_int_equal(seen, 0);
    d.close(d.ctx);
}

static void rows_with_and_without_prefix(void **state)
{
    (void)state;
    char                   *words = NULL;
    leveldb_writeoptions_t *w     = leveldb_writeoptions_create();
    rows("user:");
    leveldb_put(db, w, "user", 4, "x", 1, &words); /* not below the prefix */
    leveldb_put(db, w, "user;", 5, "x", 1, &words);
    rows("user:");
    leveldb_delete(db, w, "user", 4, &words);
    leveldb_delete(db, w, "user;", 5, &words);
    leveldb_delete(db, w, BLM_LEVELDB_MARK "user:", strlen(BLM_LEVELDB_MARK "user:"), &words);
    assert_null(words);
    leveldb_writeoptions_destroy(w);
    rows(NULL);
    blm_dataset d;
    assert_int_equal(blm_leveldb_dataset(NULL, NULL, false, &d, NULL), BLM_E_ARGUMENT);
}

/* A row whose key only begins as the mark's does was left out by the scan without a prefix. The mark's
 * own key is nobody's, also where the prefix makes it look like a row. */
static void keys_like_the_mark(void **state)
{
    (void)state;
    static const char *const prefixes[] = { NULL, "\x01" };
    for (size_t i = 0; i < 2; i++) {
        const char       *own  = i ? &(BLM_LEVELDB_MARK "\x01")[1] : BLM_LEVELDB_MARK;
        const char       *like = &(BLM_LEVELDB_MARK "users")[i];
        blm_guard_options o    = BLM_GUARD_OPTIONS_INIT;
        blm_dataset       d;
        blm_guard        *g;
        blm_error         err;
        o.items = 1000;
        o.flags = BLM_GUARD_MANUAL;
        assert_int_equal(blm_leveldb_dataset(db, prefixes[i], false, &d, &err), BLM_OK);
        assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
        assert_int_equal(blm_guard_put(g, like, strlen(like), "v", 1, &err), BLM_OK);
        assert_int_equal(d.mark_write(d.ctx, "mark", 4, &err), BLM_OK);
        assert_int_equal(blm_guard_put(g, own, strlen(own), "v", 1, &err), BLM_E_ARGUMENT);
        assert_non_null(strstr(err.text, "mark"));
        assert_int_equal(blm_guard_delete(g, own, strlen(own), &err), BLM_E_ARGUMENT);
        assert_int_equal(blm_guard_get(g, own, strlen(own), NULL, NULL, &err), BLM_E_ABSENT);
        assert_int_equal(blm_guard_build(g, &err), BLM_OK);
        assert_int_equal(blm_guard_get(g, like, strlen(like), NULL, NULL, &err), BLM_OK);
        unsigned seen = 0;
        assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_OK);
        assert_int_equal(seen, 1);
        assert_int_equal(blm_guard_delete(g, like, strlen(like), &err), BLM_OK);
        char   mark[BLM_MARK_MAX];
        size_t len = 0;
        assert_int_equal(d.mark_read(d.ctx, mark, &len, &err), BLM_OK);
        assert_int_equal(blm_guard_close(g, &err), BLM_OK);
        char                   *words = NULL;
        leveldb_writeoptions_t *w     = leveldb_writeoptions_create();
        leveldb_delete(db, w, BLM_LEVELDB_MARK, strlen(BLM_LEVELDB_MARK), &words);
        assert_null(words);
        leveldb_writeoptions_destroy(w);
    }
}

static void kit(void **state)
{
    (void)state;
    for (int prefix = 0; prefix < 2; prefix++) {
        blm_error   err = { .status = BLM_OK };
        blm_dataset d;
        assert_int_equal(blm_leveldb_dataset(db, prefix ? "kit/" : NULL, false, &d, &err), BLM_OK);
        if (blm_dataset_try(&d, 2000, NULL, NULL, &err) != BLM_OK)
            fail_msg("%s", err.text);
        d.close(d.ctx);
    }
}

/* Of two deletes of one row exactly one hears that it was there. */
static blm_dataset race;
static void       *deleter(void *ctx)
{
    unsigned *won = ctx;
    blm_error err;
    for (unsigned i = 0; i < 2000; i++)
        *won += race.del(race.ctx, &i, sizeof i, &err) == BLM_OK;
    return NULL;
}

static void deletes_race(void **state)
{
    (void)state;
    pthread_t t[3];
    unsigned  won[3] = { 0 };
    blm_error err;
    assert_int_equal(blm_leveldb_dataset(db, "race:", false, &race, &err), BLM_OK);
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(race.put(race.ctx, &i, sizeof i, "v", 1, &err), BLM_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&t[i], NULL, deleter, &won[i]), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(won[0] + won[1] + won[2], 2000);
    race.close(race.ctx);
}

static blm_guard *guard(void)
{
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_dataset       d;
    blm_guard        *g;
    blm_error         err;
    o.items = 10000;
    o.path  = filter_path;
    assert_int_equal(blm_leveldb_dataset(db, "user:", false, &d, &err), BLM_OK);
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    assert_int_equal(blm_guard_wait(g, &err), BLM_OK);
    return g;
}

static void ask_all(blm_guard *g)
{
    blm_error       err;
    blm_guard_stats s = { .size = sizeof s };
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(blm_guard_get(g, &i, sizeof i, NULL, NULL, &err),
                         i < 5000 ? BLM_OK : BLM_E_ABSENT);
    blm_guard_get_stats(g, &s);
    assert_true(s.trusted);
    assert_int_equal(s.found, 5000);
    assert_true(s.reads_saved > 4700);
}

/* Built through the guard, closed, reopened with its file, and once more without it. */
static void guarded_store_reopens(void **state)
{
    (void)state;
    blm_error  err;
    blm_guard *g = guard();
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(blm_guard_put(g, &i, sizeof i, "v", 1, &err), BLM_OK);
    ask_all(g);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
    leveldb_close(db);
    open_db();
    g = guard();
    ask_all(g);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
    assert_int_equal(unlink(filter_path), 0);
    g = guard();
    ask_all(g);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_with_and_without_prefix),
        cmocka_unit_test(keys_like_the_mark),
        cmocka_unit_test(kit),
        cmocka_unit_test(deletes_race),
        cmocka_unit_test(guarded_store_reopens),
    };
    return cmocka_run_group_tests(tests, make_db, drop_db);
}
