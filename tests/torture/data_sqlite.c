/* SPDX-License-Identifier: MIT */
/* SQLite, with tables of every shape that the adapter takes. */
#include <bloomery_sqlite.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "world.h"

#define TEXT "INSERT INTO t(k) VALUES(?1)"
#define BLOB "INSERT INTO t(k) VALUES(CAST(?1 AS BLOB))"

static const struct {
    const char *table, *insert;
    bool        numbers;
} shapes[] = {
    { "CREATE TABLE t(k TEXT PRIMARY KEY NOT NULL, v BLOB)", TEXT, false },
    { "CREATE TABLE t(k TEXT PRIMARY KEY NOT NULL, v BLOB) WITHOUT ROWID", TEXT, false },
    { "CREATE TABLE t(rowid INTEGER DEFAULT 7, k TEXT UNIQUE NOT NULL, v BLOB)", TEXT, false },
    { "CREATE TABLE t(k BLOB UNIQUE NOT NULL, rowid TEXT, oid TEXT, _rowid_ TEXT, v TEXT)", BLOB,
      false },
    { "CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB)", TEXT, true },
    { "CREATE TABLE t(rowid TEXT DEFAULT 'one', k INTEGER UNIQUE NOT NULL, v BLOB)", TEXT, true },
    /* UNIQUE lets any number of NULLs in: more than a page of a scan. */
    { "CREATE TABLE t(k TEXT UNIQUE, v BLOB); WITH RECURSIVE n(i) AS "
      "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t(v) SELECT i FROM n",
      TEXT, false },
};

static void path_of(char out[300]) { snprintf(out, 300, "%s/rows.db", world->base); }

static void prepare(void)
{
    char     path[300], journal[320];
    sqlite3 *db;
    path_of(path);
    unlink(path);
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(journal);
    world->numbers = shapes[world->variant].numbers;
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, shapes[world->variant].table, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "torture: SQLite: %s\n", sqlite3_errmsg(db));
        exit(2);
    }
    sqlite3_close(db);
}

/* In one transaction: as many commits would take a minute. */
static void fill(void)
{
    char          path[300], key[KEY_ROOM];
    sqlite3      *db;
    sqlite3_stmt *st;
    path_of(path);
    bool ok = sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, shapes[world->variant].insert, -1, &st, NULL) == SQLITE_OK;
    for (unsigned k = 0; ok && k < world->keys; k++) {
        sqlite3_bind_text(st, 1, key, (int)key_bytes(k, key), SQLITE_STATIC);
        ok = sqlite3_step(st) == SQLITE_DONE && sqlite3_reset(st) == SQLITE_OK;
    }
    ok = ok && sqlite3_finalize(st) == SQLITE_OK &&
         sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (!ok)
        violated("SQLite: %s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static blm_status open_it(blm_dataset *out, blm_error *err)
{
    blm_sqlite_options o = BLM_SQLITE_OPTIONS_INIT;
    char               path[300];
    path_of(path);
    o.path  = path;
    o.table = "t";
    o.key   = "k";
    o.value = "v";
    return blm_sqlite_open(&o, out, err);
}

const struct adapter sqlite_adapter = { .name       = "sqlite",
                                        .operations = 200,
                                        .variants   = sizeof shapes / sizeof *shapes,
                                        .prepare    = prepare,
                                        .fill       = fill,
                                        .open       = open_it };
