/* SPDX-License-Identifier: MIT */
/* The SQLite adapter on a real database, alone and under a guard. */
#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bloomery/guard.h"
#include "bloomery_sqlite.h"

static char folder[64], db_path[96], filter_path[96];

static void sql(const char *text)
{
    sqlite3 *db;
    char    *why = NULL;
    assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s", why);
    sqlite3_close(db);
}

static int make_db(void **state)
{
    (void)state;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/blm-XXXXXX" : "/tmp/blm-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(db_path, sizeof db_path, "%s/shop.db", folder);
    snprintf(filter_path, sizeof filter_path, "%s/users.blm", folder);
    sql("PRAGMA journal_mode=WAL;"
        "CREATE TABLE users(id INTEGER PRIMARY KEY, email TEXT UNIQUE, profile TEXT);");
    return 0;
}

static int drop_db(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static blm_sqlite_options users(void)
{
    blm_sqlite_options s = BLM_SQLITE_OPTIONS_INIT;
    s.path               = db_path;
    s.table              = "users";
    s.key                = "email";
    s.value              = "profile";
    return s;
}

static blm_dataset open_set(blm_sqlite_options s)
{
    blm_dataset d   = { .size = sizeof d };
    blm_error   err = { .status = BLM_OK };
    if (blm_sqlite_open(&s, &d, &err) != BLM_OK)
        fail_msg("%s", err.text);
    return d;
}

static void refused(blm_sqlite_options s, blm_status want, const char *words)
{
    blm_dataset d   = { .size = sizeof d };
    blm_error   err = { .status = BLM_OK };
    assert_int_equal(blm_sqlite_open(&s, &d, &err), want);
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in '%s'", words, err.text);
}

static bool take(void *ctx, const void *bytes, size_t len)
{
    char *out = ctx;
    memcpy(out, bytes, len);
    out[len] = 0;
    return true;
}

static void test_rows(void **state)
{
    (void)state;
    blm_dataset d = open_set(users());
    blm_error   err;
    char        value[64];
    uint64_t    rows = 99;
    assert_int_equal(d.get(d.ctx, "a@x", 3, take, value, &err), BLM_E_ABSENT);
    assert_int_equal(d.put(d.ctx, "a@x", 3, "one", 3, &err), BLM_OK);
    assert_int_equal(d.put(d.ctx, "a@x", 3, "two", 3, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "a@x", 3, take, value, &err), BLM_OK);
    assert_string_equal(value, "two");
    assert_int_equal(d.get(d.ctx, "A@X", 3, NULL, NULL, &err), BLM_E_ABSENT);
    assert_int_equal(d.count(d.ctx, &rows, &err), BLM_OK);
    assert_int_equal(rows, 1);
    sql("INSERT INTO users(email, profile) VALUES('b@x', NULL);");
    assert_int_equal(d.get(d.ctx, "b@x", 3, take, value, &err), BLM_OK);
    assert_string_equal(value, "");
    assert_int_equal(d.del(d.ctx, "a@x", 3, &err), BLM_OK);
    assert_int_equal(d.del(d.ctx, "a@x", 3, &err), BLM_E_ABSENT);
    size_t len = 0;
    assert_int_equal(d.mark_read(d.ctx, value, &len, &err), BLM_E_ABSENT);
    assert_int_equal(d.mark_write(d.ctx, "first", 5, &err), BLM_OK);
    assert_int_equal(d.mark_write(d.ctx, "mark", 4, &err), BLM_OK);
    assert_int_equal(d.mark_read(d.ctx, value, &len, &err), BLM_OK);
    assert_int_equal(len, 4);
    assert_memory_equal(value, "mark", 4);
    d.close(d.ctx);
    sql("DELETE FROM users WHERE typeof(profile) = 'blob'"); /* text went in as text */
}

struct seen {
    uint8_t  hit[4000];
    unsigned named, stop_after;
};

static bool see(void *ctx, const void *key, size_t len)
{
    struct seen *s        = ctx;
    char         text[16] = "";
    memcpy(text, key, len < 15 ? len : 15);
    unsigned long i = strtoul(text + 1, NULL, 10);
    if (text[0] == 'k' && i < 4000)
        s->hit[i]++;
    return ++s->named != s->stop_after;
}

static void test_scan_in_pages(void **state)
{
    (void)state;
    const char *tables[] = { "CREATE TABLE many(k TEXT UNIQUE)",
                             "CREATE TABLE many(k TEXT PRIMARY KEY) WITHOUT ROWID" };
    for (int t = 0; t < 2; t++) {
        sql(tables[t]);
        sql("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<3999) "
            "INSERT INTO many SELECT 'k'||i FROM n;"
            "DELETE FROM many WHERE CAST(substr(k,2) AS INTEGER) % 7 = 3;");
        if (t == 0) /* more than a page of them */
            sql("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<999) "
                "INSERT INTO many SELECT NULL FROM n;");
        blm_sqlite_options s = users();
        s.table              = "many";
        s.key                = "k";
        s.value              = NULL;
        blm_dataset d        = open_set(s);
        blm_error   err;
        struct seen seen = { .named = 0 };
        assert_int_equal(d.scan(d.ctx, see, &seen, &err), BLM_OK);
        for (unsigned i = 0; i < 4000; i++)
            assert_int_equal(seen.hit[i], i % 7 != 3);
        struct seen some = { .stop_after = 700 };
        assert_int_equal(d.scan(d.ctx, see, &some, &err), BLM_E_CANCELLED);
        assert_int_equal(some.named, 700);
        assert_int_equal(d.put(d.ctx, "k3", 2, NULL, 0, &err), BLM_OK);
        assert_int_equal(d.put(d.ctx, "k3", 2, NULL, 0, &err), BLM_OK);
        assert_int_equal(d.get(d.ctx, "k3", 2, NULL, NULL, &err), BLM_OK);
        d.close(d.ctx);
        sql("DROP TABLE many");
    }
}

static size_t number_key(void *ctx, uint64_t i, void *out)
{
    (void)ctx;
    return (size_t)snprintf(out, 32, "%lld", (long long)i * 1000003 % 999983 - 500000);
}

static size_t bytes_key(void *ctx, uint64_t i, void *out)
{
    (void)ctx;
    uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u;
    memcpy(out, &mixed, sizeof mixed);
    return sizeof mixed;
}

/* Tables with columns named rowid, where a scan by that name lost 2 488 of 3 000 rows. */
static void test_kit(void **state)
{
    (void)state;
    static const struct {
        const char *table;
        blm_kit_key key;
    } tables[] = {
        { "CREATE TABLE kit(k TEXT UNIQUE)", NULL },
        { "CREATE TABLE kit(rowid INTEGER DEFAULT 7, k TEXT UNIQUE)", NULL },
        { "CREATE TABLE kit(rowid TEXT, _rowid_ INT DEFAULT 1, oid INT DEFAULT 1, k TEXT UNIQUE)",
          NULL },
        { "CREATE TABLE kit(rowid INT DEFAULT 3, k TEXT PRIMARY KEY) WITHOUT ROWID", NULL },
        { "CREATE TABLE kit(a INT DEFAULT 1, k TEXT UNIQUE NOT NULL, b INTEGER PRIMARY KEY) ",
          NULL },
        { "CREATE TABLE kit(b INT DEFAULT 1, k TEXT NOT NULL UNIQUE, c TEXT DEFAULT 'c',"
          " PRIMARY KEY(b, k)) WITHOUT ROWID",
          NULL },
        { "CREATE TABLE kit(k INTEGER PRIMARY KEY)", number_key },
        { "CREATE TABLE kit(k INT UNIQUE, rowid TEXT DEFAULT 'x')", number_key },
        { "CREATE TABLE kit(k BLOB UNIQUE, rowid DEFAULT 0)", bytes_key },
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        blm_sqlite_options s   = users();
        blm_error          err = { .status = BLM_OK };
        sql(tables[i].table);
        s.table       = "kit";
        s.key         = "k";
        s.value       = NULL;
        blm_dataset d = open_set(s);
        if (blm_dataset_try(&d, 1500, tables[i].key, NULL, &err) != BLM_OK)
            fail_msg("%s: %s", tables[i].table, err.text);
        d.close(d.ctx);
        sql("DROP TABLE kit");
    }
}

static void test_integer_keys(void **state)
{
    (void)state;
    blm_sqlite_options s = users();
    s.key                = "id";
    blm_dataset d        = open_set(s);
    blm_error   err;
    const char *bad[] = {
        "042", " 42", "42 ", "+42", "", "4x", "99999999999999999999", "-0", "1e3"
    };
    assert_int_equal(d.put(d.ctx, "42", 2, "x", 1, &err), BLM_OK);
    assert_int_equal(d.put(d.ctx, "-9223372036854775808", 20, "x", 1, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "42", 2, NULL, NULL, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "-9223372036854775808", 20, NULL, NULL, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "42\0", 3, NULL, NULL, &err), BLM_E_ABSENT);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(d.put(d.ctx, bad[i], strlen(bad[i]), "x", 1, &err), BLM_E_ARGUMENT);
        assert_int_equal(d.get(d.ctx, bad[i], strlen(bad[i]), NULL, NULL, &err), BLM_E_ABSENT);
        assert_int_equal(d.del(d.ctx, bad[i], strlen(bad[i]), &err), BLM_E_ABSENT);
    }
    d.close(d.ctx);
    sql("DELETE FROM users");
}

static void test_blob_keys(void **state)
{
    (void)state;
    sql("CREATE TABLE blobs(k BLOB PRIMARY KEY, v)");
    blm_sqlite_options s = users();
    s.table              = "blobs";
    s.key                = "k";
    s.value              = "v";
    blm_dataset d        = open_set(s);
    blm_error   err;
    assert_int_equal(d.put(d.ctx, "\0\xff\0", 3, "x", 1, &err), BLM_OK);
    assert_int_equal(d.put(d.ctx, "", 0, "x", 1, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "\0\xff\0", 3, NULL, NULL, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "\0\xff", 2, NULL, NULL, &err), BLM_E_ABSENT);
    assert_int_equal(d.get(d.ctx, "", 0, NULL, NULL, &err), BLM_OK);
    d.close(d.ctx);
}

/* Of a long declared type only the first 63 characters were read: the "INT" at the end of this one was
 * not, and the column turned the key 042 into 42. */
static void test_long_types(void **state)
{
    (void)state;
    sql("CREATE TABLE long_names("
        "k CHARACTER_OF_A_TYPE_WITH_A_VERY_LONG_NAME_THAT_GOES_ON_AND_ON_AND_ON_POINT PRIMARY KEY,"
        "t A_TYPE_WITH_A_VERY_LONG_NAME_THAT_GOES_ON_AND_ON_AND_ON_AND_ENDS_IN_text UNIQUE,"
        "n A_TYPE_WITH_A_VERY_LONG_NAME_THAT_GOES_ON_AND_ON_AND_ON_AND_MEANS_NUMBERS UNIQUE)");
    blm_sqlite_options s = users();
    s.table              = "long_names";
    s.key                = "k";
    s.value              = NULL;
    blm_dataset d        = open_set(s);
    blm_error   err;
    assert_int_equal(d.put(d.ctx, "042", 3, NULL, 0, &err), BLM_E_ARGUMENT);
    assert_int_equal(d.put(d.ctx, "42", 2, NULL, 0, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "42", 2, NULL, NULL, &err), BLM_OK);
    d.close(d.ctx);
    s.key = "t";
    d     = open_set(s);
    assert_int_equal(d.put(d.ctx, "042", 3, NULL, 0, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "042", 3, NULL, NULL, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "42", 2, NULL, NULL, &err), BLM_E_ABSENT);
    d.close(d.ctx);
    s.key = "n";
    refused(s, BLM_E_UNSUPPORTED, "a key column is TEXT, BLOB or INTEGER");
}

/* What SQLite ignored is not acknowledged: not a row, a replacement, a row that is only a key, or a
 * delete. What is there already is. */
static void test_ignored(void **state)
{
    (void)state;
    static const char ignored[] = "SQLite ignored the ";
    sql("CREATE TABLE twice(k TEXT UNIQUE, v TEXT UNIQUE ON CONFLICT IGNORE);"
        "CREATE TABLE lacks(k TEXT UNIQUE, w TEXT NOT NULL ON CONFLICT IGNORE);"
        "INSERT INTO lacks VALUES('there', 'w');"
        "CREATE TABLE fires(k TEXT UNIQUE, v TEXT);"
        "CREATE TRIGGER no_z BEFORE INSERT ON fires WHEN NEW.k = 'z' BEGIN SELECT RAISE(IGNORE); "
        "END;"
        "CREATE TRIGGER no_new BEFORE UPDATE ON fires BEGIN SELECT RAISE(IGNORE); END;"
        "CREATE TRIGGER no_end BEFORE DELETE ON fires BEGIN SELECT RAISE(IGNORE); END;"
        "CREATE TABLE noted(k TEXT UNIQUE, v TEXT);" /* rows that a trigger writes do not count */
        "CREATE TABLE notes(k TEXT);"
        "CREATE TRIGGER note AFTER INSERT ON noted BEGIN"
        "  INSERT INTO notes VALUES(NEW.k); INSERT INTO notes VALUES(NEW.k); END;");
    blm_sqlite_options s = users();
    blm_error          err;
    s.key   = "k";
    s.value = "v";
    for (int t = 0; t < 4; t++) {
        s.table       = (const char *[]){ "twice", "lacks", "fires", "noted" }[t];
        s.value       = t == 1 ? NULL : "v";
        blm_dataset d = open_set(s);
        err.text[0]   = 0;
        if (t != 1)
            assert_int_equal(d.put(d.ctx, "a", 1, "same", 4, &err), BLM_OK);
        if (t == 1) {
            assert_int_equal(d.put(d.ctx, "there", 5, NULL, 0, &err), BLM_OK);
            assert_int_equal(d.del(d.ctx, "there", 5, &err), BLM_OK);
        }
        if (t < 3) {
            assert_int_equal(d.put(d.ctx, "z", 1, "same", 4, &err), BLM_E_IO);
            assert_non_null(strstr(err.text, ignored));
            assert_int_equal(d.get(d.ctx, "z", 1, NULL, NULL, &err), BLM_E_ABSENT);
        }
        if (t == 2) {
            assert_int_equal(d.put(d.ctx, "a", 1, "new", 3, &err), BLM_E_IO);
            assert_int_equal(d.del(d.ctx, "a", 1, &err), BLM_E_IO);
            assert_non_null(strstr(err.text, ignored));
            assert_int_equal(d.get(d.ctx, "a", 1, NULL, NULL, &err), BLM_OK);
        }
        if (t == 3)
            assert_int_equal(d.put(d.ctx, "a", 1, "same", 4, &err), BLM_OK);
        assert_int_equal(d.del(d.ctx, "none", 4, &err), BLM_E_ABSENT);
        d.close(d.ctx);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    sql("CREATE TABLE odd(nocase TEXT COLLATE NOCASE UNIQUE, loose TEXT, price REAL UNIQUE,"
        "                 folded TEXT);"
        "CREATE UNIQUE INDEX folded ON odd(folded COLLATE NOCASE);");
    blm_sqlite_options s = users();
    s.value              = NULL;
    s.table              = "odd";
    s.key                = "nocase";
    refused(s, BLM_E_UNSUPPORTED, "compares by NOCASE");
    s.key = "loose";
    refused(s, BLM_E_UNSUPPORTED, "must be UNIQUE");
    s.key = "folded";
    refused(s, BLM_E_UNSUPPORTED, "must be UNIQUE");
    s.key = "price";
    refused(s, BLM_E_UNSUPPORTED, "declared REAL");
    s.key = "nowhere";
    refused(s, BLM_E_IO, "table odd in ");
    refused(s, BLM_E_IO, "has no column nowhere");
    s.table = "no\"table";
    refused(s, BLM_E_IO, "has no table no\"table: create it first, with a column nowhere");
    s       = users();
    s.value = "nowhere";
    refused(s, BLM_E_IO, "has no column nowhere");
    s      = users();
    s.path = "/nonexistent/shop.db";
    refused(s, BLM_E_IO, "/nonexistent/shop.db: unable to open the database: it must exist");
    s.path = NULL;
    refused(s, BLM_E_ARGUMENT, "must be given");
}

/* Another database, in UTF-16: text comes back in UTF-8, and any bytes as they were. The mark is read as it
 * was written, so that a second session trusts the first one's file. */
static void test_utf16(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t      len;
        const char *type; /* as SQLite has it */
    } values[] = {
        { "hello, world, this is text", 26, "text" },
        { "", 0, "text" },
        { "nul\0nul", 7, "text" },
        { "\xc3\xa9 \xe2\x82\xac \xed\x9f\xbf \xf0\x9f\x8c\xb8 \xf4\x8f\xbf\xbf", 20, "text" },
        { "\xff\xfe\x80", 3, "blob" },         /* no beginning */
        { "\xc3", 1, "blob" },                 /* cut off */
        { "\xe2\x82", 2, "blob" },             /* cut off */
        { "\xc3z", 2, "blob" },                /* goes on otherwise */
        { "\xc0\x80", 2, "blob" },             /* too long for what it is */
        { "\xe0\x81\x81", 3, "blob" },         /* … */
        { "\xf0\x82\x82\xac", 4, "blob" },     /* … */
        { "\xed\xa0\x80", 3, "blob" },         /* half of a pair */
        { "\xef\xbf\xbe", 3, "blob" },         /* SQLite has no U+FFFE */
        { "\xf4\x90\x80\x80", 4, "blob" },     /* past the last */
        { "\xf8\x88\x80\x80\x80", 5, "blob" }, /* … */
    };
    char old_path[sizeof db_path], value[300], keys[16][8];
    strcpy(old_path, db_path);
    for (int encoding = 0; encoding < 2; encoding++) {
        blm_guard_options o   = BLM_GUARD_OPTIONS_INIT;
        blm_error         err = { .status = BLM_OK };
        char              text[300];
        snprintf(db_path, sizeof db_path, "%.60s/wide%d.db", folder, encoding);
        snprintf(text, sizeof text,
                 "PRAGMA encoding='UTF-16%s';"
                 "CREATE TABLE users(id INTEGER PRIMARY KEY, email TEXT UNIQUE, raw BLOB UNIQUE,"
                 " profile TEXT); CREATE TABLE good(g CHECK(g));",
                 encoding ? "be" : "le");
        sql(text);
        refused(users(), BLM_E_UNSUPPORTED, "UTF-8");
        for (int k = 0; k < 2; k++) {
            blm_sqlite_options s = users();
            blm_guard         *g;
            s.key         = k ? "raw" : "id";
            o.flags       = BLM_GUARD_MANUAL;
            o.path        = filter_path;
            blm_dataset d = open_set(s);
            unlink(filter_path);
            assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
            assert_int_equal(blm_guard_build(g, &err), BLM_OK);
            for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
                int len = snprintf(keys[i], sizeof keys[i], "%zu", 100 + i);
                assert_int_equal(
                    blm_guard_put(g, keys[i], (size_t)len, values[i].bytes, values[i].len, &err),
                    BLM_OK);
            }
            assert_int_equal(blm_guard_close(g, &err), BLM_OK);
            d = open_set(s);
            assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
            blm_guard_stats stats = { .size = sizeof stats };
            blm_guard_get_stats(g, &stats);
            assert_true(stats.trusted);
            assert_int_equal(blm_guard_build(g, &err), BLM_OK);
            for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
                memset(value, 'x', sizeof value);
                assert_int_equal(blm_guard_get(g, keys[i], 3, take, value, &err), BLM_OK);
                assert_memory_equal(value, values[i].bytes, values[i].len);
                assert_int_equal(value[values[i].len], 0);
                snprintf(text, sizeof text,
                         "INSERT INTO good SELECT typeof(profile) = '%s' FROM users WHERE id = %s",
                         values[i].type, keys[i]);
                if (k == 0)
                    sql(text);
            }
            assert_int_equal(blm_guard_close(g, &err), BLM_OK);
            sql("DELETE FROM users");
        }
        unlink(filter_path);
    }
    strcpy(db_path, old_path);
}

/* The value goes to the caller when the data set is free again: from there a guard that was used again
 * waited for ever. */
static bool use_again(void *ctx, const void *bytes, size_t len)
{
    blm_guard *g = ctx;
    blm_error  err;
    return blm_guard_put(g, "again@x", 7, bytes, len, &err) == BLM_OK &&
           blm_guard_get(g, "again@x", 7, NULL, NULL, &err) == BLM_OK;
}

static void test_value_uses_the_guard(void **state)
{
    (void)state;
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_dataset       d = open_set(users());
    blm_guard        *g;
    blm_error         err;
    char              large[1000], back[1001];
    memset(large, 'l', sizeof large);
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    alarm(60);
    for (size_t len = 0; len <= sizeof large; len += 125) {
        assert_int_equal(blm_guard_put(g, "first@x", 7, large, len, &err), BLM_OK);
        assert_int_equal(blm_guard_get(g, "first@x", 7, use_again, g, &err), BLM_OK);
        assert_int_equal(blm_guard_get(g, "again@x", 7, take, back, &err), BLM_OK);
        assert_int_equal(strlen(back), len);
    }
    alarm(0);
    assert_int_equal(blm_guard_delete(g, "first@x", 7, &err), BLM_OK);
    assert_int_equal(blm_guard_delete(g, "again@x", 7, &err), BLM_OK);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
}

/* Under a guard: what is in the database is found, what is not rarely reaches it, and the mark in
 * the database tells whose file it is. */
static void test_guarded(void **state)
{
    (void)state;
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_dataset       d = open_set(users());
    blm_guard        *g;
    blm_error         err;
    char              key[32];
    sql("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<4999) "
        "INSERT INTO users(email, profile) SELECT 'user'||i||'@x', i FROM n;");
    o.path = filter_path;
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    assert_int_equal(blm_guard_wait(g, &err), BLM_OK);
    for (int i = 0; i < 10000; i++) {
        snprintf(key, sizeof key, "user%d@x", i);
        assert_int_equal(blm_guard_get(g, key, strlen(key), NULL, NULL, &err),
                         i < 5000 ? BLM_OK : BLM_E_ABSENT);
    }
    blm_guard_stats s = { .size = sizeof s };
    blm_guard_get_stats(g, &s);
    assert_in_range(s.refused, 4850, 5000);
    assert_int_equal(s.rebuild_keys, 5000);
    assert_int_equal(blm_guard_put(g, "new@x", 5, "n", 1, &err), BLM_OK);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);

    d = open_set(users());
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    blm_guard_get_stats(g, &s);
    assert_true(s.trusted);
    assert_int_equal(blm_guard_get(g, "new@x", 5, NULL, NULL, &err), BLM_OK);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);

    sql("UPDATE bloomery_guard SET mark = 'bloomery 0 1 closed';"); /* another guard's */
    o.flags = BLM_GUARD_MANUAL;
    d       = open_set(users());
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    blm_guard_get_stats(g, &s);
    assert_false(s.trusted);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
}

static void *put_many(void *arg)
{
    blm_guard *g = arg;
    blm_error  err;
    char       key[32];
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "t%p-%d", (void *)&err, i);
        if (blm_guard_put(g, key, strlen(key), "v", 1, &err) != BLM_OK ||
            blm_guard_get(g, key, strlen(key), NULL, NULL, &err) != BLM_OK)
            return arg;
    }
    return NULL;
}

static void test_guarded_threads(void **state)
{
    (void)state;
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_dataset       d = open_set(users());
    blm_guard        *g;
    blm_error         err;
    pthread_t         t[3];
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&t[i], NULL, put_many, g), 0);
    for (int i = 0; i < 5; i++)
        blm_guard_build(g, &err);
    for (int i = 0; i < 3; i++) {
        void *bad;
        assert_int_equal(pthread_join(t[i], &bad), 0);
        assert_null(bad);
    }
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_scan_in_pages),
        cmocka_unit_test(test_kit),       cmocka_unit_test(test_integer_keys),
        cmocka_unit_test(test_blob_keys), cmocka_unit_test(test_long_types),
        cmocka_unit_test(test_ignored),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_utf16),     cmocka_unit_test(test_value_uses_the_guard),
        cmocka_unit_test(test_guarded),   cmocka_unit_test(test_guarded_threads),
    };
    return cmocka_run_group_tests(tests, make_db, drop_db);
}
