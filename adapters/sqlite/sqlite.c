/* SPDX-License-Identifier: MIT */
/*
 * A guard's data set in SQLite. One connection, prepared statements, one lock: SQLite serialises a
 * connection anyway, and the guard exists so that few calls come here.
 *
 * The scan goes by key, a page at a time, and releases the connection between pages, so that gets
 * and puts wait for one page at most. The key column has a unique index, so a page begins where the
 * last one ended, and a row that exists all the time keeps its key and is found. (Not by rowid: a
 * table may have a column of its own of that name, and of the two other names too.)
 */
#include "bloomery/guard.h"
#include "bloomery_sqlite.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 512 /* keys a scan reads while it holds the connection */

enum key_type { KEY_TEXT, KEY_BLOB, KEY_INTEGER };

enum statement { GET, PUT, DEL, SCAN, SCAN_ON, COUNT, MARK_READ, MARK_WRITE, STATEMENTS };

struct store {
    pthread_mutex_t lock;
    sqlite3        *db;
    sqlite3_stmt   *stmt[STATEMENTS];
    enum key_type   type;
    bool            has_value, text_value, utf16;
    char           *name; /* of the mark's row: table.key */
};

static blm_status fail(blm_error *err, blm_status st, const char *fmt, ...)
{
    va_list args;
    if (!err)
        return st;
    err->status = st;
    err->system = 0;
    err->offset = BLM_NO_OFFSET;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    return st;
}

static blm_status database_says(const struct store *s, blm_error *err)
{
    int        code = sqlite3_extended_errcode(s->db);
    blm_status st   = (code & 0xff) == SQLITE_FULL       ? BLM_E_SPACE
                      : (code & 0xff) == SQLITE_NOMEM    ? BLM_E_MEMORY
                      : (code & 0xff) == SQLITE_READONLY ? BLM_E_READONLY
                      : (code & 0xff) == SQLITE_BUSY     ? BLM_E_BUSY
                                                         : BLM_E_IO;
    return fail(err, st, "SQLite: %.200s (%d)", sqlite3_errmsg(s->db), code);
}

/* ---- keys -------------------------------------------------------------------------------- */

/* The integer that a key spells, if it is spelled as SQLite prints it. */
static bool integer_of(const void *key, size_t len, sqlite3_int64 *out)
{
    char text[24], back[24];
    if (len == 0 || len > 20)
        return false;
    memcpy(text, key, len);
    text[len] = 0;
    errno     = 0;
    *out      = strtoll(text, NULL, 10);
    snprintf(back, sizeof back, "%lld", (long long)*out);
    return errno == 0 && strcmp(text, back) == 0 && strlen(text) == len;
}

/* False: no row can have this key. */
static bool bind_key(struct store *s, sqlite3_stmt *st, int at, const void *key, size_t len)
{
    sqlite3_int64 number;
    const void   *bytes = len ? key : "";
    switch (s->type) {
    case KEY_INTEGER:
        return integer_of(key, len, &number) && sqlite3_bind_int64(st, at, number) == SQLITE_OK;
    case KEY_TEXT:
        return sqlite3_bind_text64(st, at, bytes, len, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK;
    default:
        return sqlite3_bind_blob64(st, at, bytes, len, SQLITE_STATIC) == SQLITE_OK;
    }
}

/* The length of the character in UTF-8 that begins here. 0: SQLite would make another one of it in
 * UTF-16, since it is not well-formed, or no character (U+FFFE, U+FFFF). */
static size_t character(const uint8_t *at, size_t len)
{
    size_t   n = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? at[0] : at[0] & (0x7fu >> n);
    if (n == 0 || n > len || at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3fu);
    }
    bool shorter = (n == 3 && c < 0x800) || (n == 4 && c < 0x10000);
    return shorter || c > 0x10ffff || c >> 11 == 0x1b || c >> 1 == 0x7fff ? 0 : n;
}

static bool survives_utf16(const uint8_t *at, size_t len)
{
    for (size_t n; len; at += n, len -= n)
        if (!(n = character(at, len)))
            return false;
    return true;
}

/* Binds the value as the column's other rows are stored: as text if it is declared as text, else as
 * a blob; and as a blob what would not come back from a UTF-16 database. */
static bool bind_value(struct store *s, sqlite3_stmt *st, const void *bytes, size_t len)
{
    bool text = s->text_value && (!s->utf16 || survives_utf16(bytes, len));
    return (text ? sqlite3_bind_text64(st, 2, bytes, len, SQLITE_STATIC, SQLITE_UTF8)
                 : sqlite3_bind_blob64(st, 2, bytes, len, SQLITE_STATIC)) == SQLITE_OK;
}

static void done(sqlite3_stmt *st)
{
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
}

/* ---- one row ----------------------------------------------------------------------------- */

/* The column's bytes: of anything but a blob, its text in UTF-8, whatever the database's encoding is.
 * NULL: there is no memory. */
static const void *bytes_of(sqlite3_stmt *st, size_t *len)
{
    int         type = sqlite3_column_type(st, 0);
    const void *bytes =
        type == SQLITE_BLOB ? sqlite3_column_blob(st, 0) : (const void *)sqlite3_column_text(st, 0);
    *len = (size_t)sqlite3_column_bytes(st, 0);
    return *len || (type != SQLITE_BLOB && type != SQLITE_NULL) ? bytes : "";
}

/* The row's value, in `small` or, if it is larger, on the heap; NULL: there is no memory. */
static char *copy_of(sqlite3_stmt *st, char small[256], size_t *len)
{
    const void *bytes = bytes_of(st, len);
    char       *copy  = !bytes ? NULL : *len > 256 ? malloc(*len) : small;
    if (copy)
        memcpy(copy, bytes, *len);
    return copy;
}

/* The caller gets a copy after the lock is released, so that he may use the data set again. */
static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    struct store *s    = ctx;
    sqlite3_stmt *st   = s->stmt[GET];
    blm_status    r    = BLM_E_ABSENT;
    size_t        size = 0;
    char          small[256], *copy = NULL;
    bool          wants = value && s->has_value;
    pthread_mutex_lock(&s->lock);
    if (bind_key(s, st, 1, key, len)) {
        int code = sqlite3_step(st);
        r        = code == SQLITE_ROW ? BLM_OK : code == SQLITE_DONE ? r : database_says(s, err);
    }
    if (r == BLM_OK && wants && !(copy = copy_of(st, small, &size)))
        r = fail(err, BLM_E_MEMORY, "no memory for a value");
    done(st);
    pthread_mutex_unlock(&s->lock);
    if (r == BLM_OK && wants && !value(value_ctx, copy, size))
        r = fail(err, BLM_E_CANCELLED, "the caller did not take the value");
    if (copy != small)
        free(copy);
    return r;
}

/* A statement that changed nothing: is the row there? Under the lock. */
static blm_status find(struct store *s, const void *key, size_t len, blm_error *err)
{
    sqlite3_stmt *st = s->stmt[GET];
    blm_status    r  = BLM_E_ABSENT;
    if (!bind_key(s, st, 1, key, len)) {
        r = database_says(s, err);
    } else {
        int code = sqlite3_step(st);
        r        = code == SQLITE_ROW ? BLM_OK : code == SQLITE_DONE ? r : database_says(s, err);
    }
    done(st);
    return r;
}

/* ON CONFLICT IGNORE in the table, or RAISE(IGNORE) in a trigger, makes SQLite drop a row and say that
 * all went well. A row that is only a key may be there already. */
static blm_status look_after_put(struct store *s, const void *key, size_t len, blm_error *err)
{
    if (sqlite3_changes(s->db) == 1)
        return BLM_OK;
    blm_status r = s->has_value ? BLM_E_ABSENT : find(s, key, len, err);
    return r == BLM_E_ABSENT
               ? fail(err, BLM_E_IO,
                      "SQLite ignored the row: a constraint or a trigger of the table says so")
               : r;
}

static blm_status put(void *ctx, const void *key, size_t len, const void *value, size_t value_len,
                      blm_error *err)
{
    struct store *s  = ctx;
    sqlite3_stmt *st = s->stmt[PUT];
    blm_status    r  = BLM_OK;
    pthread_mutex_lock(&s->lock);
    if (!bind_key(s, st, 1, key, len))
        r = fail(err, BLM_E_ARGUMENT,
                 "the key column holds integers: give the key as SQLite prints it");
    else if (s->has_value && !bind_value(s, st, value_len ? value : "", value_len))
        r = database_says(s, err);
    else if (sqlite3_step(st) != SQLITE_DONE)
        r = database_says(s, err);
    else
        r = look_after_put(s, key, len, err);
    done(st);
    pthread_mutex_unlock(&s->lock);
    return r;
}

static blm_status del(void *ctx, const void *key, size_t len, blm_error *err)
{
    struct store *s  = ctx;
    sqlite3_stmt *st = s->stmt[DEL];
    blm_status    r  = BLM_E_ABSENT;
    pthread_mutex_lock(&s->lock);
    if (bind_key(s, st, 1, key, len)) {
        if (sqlite3_step(st) != SQLITE_DONE)
            r = database_says(s, err);
        else if (sqlite3_changes(s->db) > 0)
            r = BLM_OK;
        else if ((r = find(s, key, len, err)) == BLM_OK)
            r = fail(err, BLM_E_IO, "SQLite ignored the delete: a trigger of the table says so");
    }
    done(st);
    pthread_mutex_unlock(&s->lock);
    return r;
}

/* ---- all rows ---------------------------------------------------------------------------- */

/* Scans one page while holding the connection. *after is the last key seen, NULL at the beginning.
 * BLM_PRESENT: there is more. */
static blm_status page(struct store *s, sqlite3_value **after, blm_key_fn each, void *each_ctx,
                       blm_error *err)
{
    sqlite3_stmt *st   = s->stmt[*after ? SCAN_ON : SCAN];
    int           rows = 0, code = SQLITE_DONE;
    blm_status    r = BLM_OK;
    if (*after)
        sqlite3_bind_value(st, 1, *after);
    while (r == BLM_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
        if (++rows == PAGE) {
            sqlite3_value_free(*after);
            *after = sqlite3_value_dup(sqlite3_column_value(st, 0));
            if (!*after) {
                r = fail(err, BLM_E_MEMORY, "no memory for a scan");
                break;
            }
        }
        size_t      len;
        const void *key = bytes_of(st, &len); /* an integer becomes its text */
        if (!key)
            r = fail(err, BLM_E_MEMORY, "no memory for a scan");
        else if (!each(each_ctx, key, len))
            r = fail(err, BLM_E_CANCELLED, "the scan was stopped");
    }
    if (r == BLM_OK && code != SQLITE_DONE)
        r = database_says(s, err);
    done(st);
    return r == BLM_OK && rows == PAGE ? BLM_PRESENT : r;
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    struct store  *s     = ctx;
    sqlite3_value *after = NULL;
    blm_status     r;
    do {
        pthread_mutex_lock(&s->lock);
        r = page(s, &after, each, each_ctx, err);
        pthread_mutex_unlock(&s->lock);
    } while (r == BLM_PRESENT);
    sqlite3_value_free(after);
    return r;
}

static blm_status count(void *ctx, uint64_t *rows, blm_error *err)
{
    struct store *s  = ctx;
    sqlite3_stmt *st = s->stmt[COUNT];
    blm_status    r  = BLM_OK;
    pthread_mutex_lock(&s->lock);
    if (sqlite3_step(st) == SQLITE_ROW)
        *rows = (uint64_t)sqlite3_column_int64(st, 0);
    else
        r = database_says(s, err);
    done(st);
    pthread_mutex_unlock(&s->lock);
    return r;
}

/* ---- the mark ---------------------------------------------------------------------------- */

static blm_status mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    struct store *s  = ctx;
    sqlite3_stmt *st = s->stmt[MARK_READ];
    blm_status    r  = BLM_E_ABSENT;
    pthread_mutex_lock(&s->lock);
    int code = sqlite3_bind_text(st, 1, s->name, -1, SQLITE_STATIC);
    code     = code == SQLITE_OK ? sqlite3_step(st) : code;
    if (code == SQLITE_ROW) {
        size_t      n;
        const void *bytes = bytes_of(st, &n);
        if (!bytes) {
            r = fail(err, BLM_E_MEMORY, "no memory for the mark");
        } else if (n && n <= BLM_MARK_MAX) {
            memcpy(mark, bytes, n);
            *len = n;
            r    = BLM_OK;
        }
    } else if (code != SQLITE_DONE) {
        r = database_says(s, err);
    }
    done(st);
    pthread_mutex_unlock(&s->lock);
    return r;
}

static blm_status mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    struct store *s  = ctx;
    sqlite3_stmt *st = s->stmt[MARK_WRITE];
    blm_status    r  = BLM_OK;
    pthread_mutex_lock(&s->lock);
    sqlite3_bind_text(st, 1, s->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 2, mark, (int)len, SQLITE_STATIC);
    if (sqlite3_step(st) != SQLITE_DONE)
        r = database_says(s, err);
    done(st);
    pthread_mutex_unlock(&s->lock);
    return r;
}

/* ---- opening and closing ----------------------------------------------------------------- */

static void close_store(void *ctx)
{
    struct store *s = ctx;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(s->stmt[i]);
    sqlite3_close(s->db);
    sqlite3_free(s->name);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Does the declared type have this word in it? */
static bool has(const char *declared, const char *word)
{
    int len = (int)strlen(word);
    for (; declared && *declared; declared++)
        if (sqlite3_strnicmp(declared, word, len) == 0)
            return true;
    return false;
}

/* SQLite's rule from a declared type to a column's affinity. False: the column converts values to
 * numbers. */
static bool type_of(const char *declared, enum key_type *out)
{
    if (has(declared, "INT"))
        *out = KEY_INTEGER;
    else if (has(declared, "CHAR") || has(declared, "CLOB") || has(declared, "TEXT"))
        *out = KEY_TEXT;
    else if (has(declared, "BLOB") || !declared || !*declared)
        *out = KEY_BLOB;
    else
        return false;
    return true;
}

static blm_status read_encoding(struct store *s, blm_error *err)
{
    sqlite3_stmt *st   = NULL;
    const void   *text = NULL;
    if (sqlite3_prepare_v2(s->db, "PRAGMA encoding", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        text = sqlite3_column_text(st, 0);
    s->utf16     = text && strcmp(text, "UTF-8") != 0;
    blm_status r = text ? BLM_OK : database_says(s, err);
    sqlite3_finalize(st);
    return r;
}

/* What must exist, and does not. */
static blm_status missing(const struct store *s, const blm_sqlite_options *o, const char *column,
                          blm_error *err)
{
    if (sqlite3_errcode(s->db) != SQLITE_ERROR)
        return database_says(s, err);
    bool table = sqlite3_table_column_metadata(s->db, "main", o->table, NULL, NULL, NULL, NULL,
                                               NULL, NULL) == SQLITE_OK;
    if (!table)
        return fail(
            err, BLM_E_IO,
            "%.100s has no table %.60s: create it first, with a column %.60s that is UNIQUE "
            "or the PRIMARY KEY",
            o->path, o->table, o->key);
    return fail(err, BLM_E_IO, "table %.60s in %.100s has no column %.60s", o->table, o->path,
                column);
}

static blm_status look_at_value(struct store *s, const blm_sqlite_options *o, blm_error *err)
{
    const char   *declared = NULL;
    enum key_type type     = KEY_BLOB;
    if (sqlite3_table_column_metadata(s->db, "main", o->table, o->value, &declared, NULL, NULL,
                                      NULL, NULL) != SQLITE_OK)
        return missing(s, o, o->value, err);
    s->has_value  = true;
    s->text_value = type_of(declared, &type) && type == KEY_TEXT;
    return BLM_OK;
}

static blm_status look_at_table(struct store *s, const blm_sqlite_options *o, blm_error *err)
{
    const char *declared = NULL, *collation = NULL;
    if (sqlite3_table_column_metadata(s->db, "main", o->table, o->key, &declared, &collation, NULL,
                                      NULL, NULL) != SQLITE_OK)
        return missing(s, o, o->key, err);
    if (collation && sqlite3_stricmp(collation, "BINARY") != 0)
        return fail(err, BLM_E_UNSUPPORTED,
                    "%.60s.%.60s compares by %.40s: keys must be compared byte for byte", o->table,
                    o->key, collation);
    if (!type_of(declared, &s->type))
        return fail(err, BLM_E_UNSUPPORTED,
                    "%.60s.%.60s is declared %.40s: a key column is TEXT, BLOB or INTEGER",
                    o->table, o->key, declared);
    blm_status st = read_encoding(s, err);
    if (st == BLM_OK && s->utf16 &&
        s->type == KEY_TEXT) /* bytes that are not UTF-8 would be lost */
        st = fail(err, BLM_E_UNSUPPORTED, "text keys need a database whose encoding is UTF-8");
    return st == BLM_OK && o->value ? look_at_value(s, o, err) : st;
}

static blm_status prepare(struct store *s, enum statement which, char *sql, blm_error *err)
{
    if (!sql)
        return fail(err, BLM_E_MEMORY, "no memory for a statement");
    int code = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[which], NULL);
    sqlite3_free(sql);
    return code == SQLITE_OK ? BLM_OK : database_says(s, err);
}

/* Names the collation. Otherwise a unique index that ignores case would serve as the key's: 'A'
 * would overwrite 'a' and then not be found. A rowid has no collation and must not name one. */
static char *put_sql(const struct store *s, const blm_sqlite_options *o)
{
    const char *by = s->type == KEY_INTEGER ? "" : " COLLATE BINARY";
    if (o->value)
        return sqlite3_mprintf("INSERT INTO main.\"%w\"(\"%w\",\"%w\") VALUES(?1,?2) "
                               "ON CONFLICT(\"%w\"%s) DO UPDATE SET \"%w\"=excluded.\"%w\"",
                               o->table, o->key, o->value, o->key, by, o->value, o->value);
    return sqlite3_mprintf("INSERT INTO main.\"%w\"(\"%w\") VALUES(?1) "
                           "ON CONFLICT(\"%w\"%s) DO NOTHING",
                           o->table, o->key, o->key, by);
}

static blm_status prepare_all(struct store *s, const blm_sqlite_options *o, blm_error *err)
{
    const char *t = o->table, *k = o->key;
    blm_status  st = prepare(s, GET,
                             sqlite3_mprintf("SELECT \"%w\" FROM main.\"%w\" WHERE \"%w\"=?1",
                                            o->value ? o->value : k, t, k),
                             err);
    if (st == BLM_OK && prepare(s, PUT, put_sql(s, o), err) != BLM_OK)
        st = strstr(sqlite3_errmsg(s->db), "ON CONFLICT")
                 ? fail(err, BLM_E_UNSUPPORTED,
                        "%.60s.%.60s must be UNIQUE or the PRIMARY KEY, for instance by CREATE "
                        "UNIQUE INDEX",
                        t, k)
                 : database_says(s, err);
    if (st == BLM_OK)
        st = prepare(s, DEL, sqlite3_mprintf("DELETE FROM main.\"%w\" WHERE \"%w\"=?1", t, k), err);
    if (st == BLM_OK)
        st = prepare(s, SCAN,
                     sqlite3_mprintf("SELECT \"%w\" FROM main.\"%w\" WHERE \"%w\" IS NOT NULL "
                                     "ORDER BY \"%w\" LIMIT %d",
                                     k, t, k, k, PAGE),
                     err);
    if (st == BLM_OK)
        st = prepare(s, SCAN_ON,
                     sqlite3_mprintf("SELECT \"%w\" FROM main.\"%w\" WHERE \"%w\">?1 "
                                     "ORDER BY \"%w\" LIMIT %d",
                                     k, t, k, k, PAGE),
                     err);
    if (st == BLM_OK)
        st = prepare(s, COUNT, sqlite3_mprintf("SELECT count(*) FROM main.\"%w\"", t), err);
    if (st == BLM_OK)
        st = prepare(s, MARK_READ,
                     sqlite3_mprintf("SELECT mark FROM main.bloomery_guard WHERE name=?1"), err);
    if (st == BLM_OK)
        st = prepare(s, MARK_WRITE,
                     sqlite3_mprintf("INSERT INTO main.bloomery_guard VALUES(?1,?2) "
                                     "ON CONFLICT(name) DO UPDATE SET mark=excluded.mark"),
                     err);
    return st;
}

static blm_status open_store(struct store *s, const blm_sqlite_options *o, blm_error *err)
{
    if (sqlite3_open_v2(o->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return !s->db ? fail(err, BLM_E_MEMORY, "no memory for SQLite")
               : sqlite3_errcode(s->db) == SQLITE_CANTOPEN
                   ? fail(err, BLM_E_IO,
                          "%.150s: unable to open the database: it must exist, and this program "
                          "must "
                          "be allowed to write it",
                          o->path)
                   : database_says(s, err);
    sqlite3_busy_timeout(s->db, o->busy_ms > 0 ? o->busy_ms : 5000);
    s->name       = sqlite3_mprintf("%s.%s", o->table, o->key);
    blm_status st = s->name ? look_at_table(s, o, err) : fail(err, BLM_E_MEMORY, "no memory");
    if (st == BLM_OK && sqlite3_exec(s->db,
                                     "CREATE TABLE IF NOT EXISTS main.bloomery_guard"
                                     "(name TEXT PRIMARY KEY NOT NULL, mark TEXT NOT NULL)",
                                     NULL, NULL, NULL) != SQLITE_OK)
        st = database_says(s, err);
    return st == BLM_OK ? prepare_all(s, o, err) : st;
}

blm_status blm_sqlite_open(const blm_sqlite_options *o, blm_dataset *out, blm_error *err)
{
    if (!o || o->size != sizeof *o || !out)
        return fail(err, BLM_E_ARGUMENT, "start options from BLM_SQLITE_OPTIONS_INIT");
    if (!o->path || !o->table || !o->key)
        return fail(err, BLM_E_ARGUMENT, "path, table and key must be given");
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return fail(err, BLM_E_MEMORY, "no memory for the data set");
    pthread_mutex_init(&s->lock, NULL);
    blm_status st = open_store(s, o, err);
    if (st != BLM_OK) {
        close_store(s);
        return st;
    }
    *out = (blm_dataset){ .size       = sizeof *out,
                          .ctx        = s,
                          .get        = get,
                          .put        = put,
                          .del        = del,
                          .scan       = scan,
                          .count      = count,
                          .mark_read  = mark_read,
                          .mark_write = mark_write,
                          .close      = close_store };
    return BLM_OK;
}
