/* SPDX-License-Identifier: MIT */
/*
 * A guard's data set in SQLite: one table, its key column, and optionally a value column.
 *
 *     blm_sqlite_options s = BLM_SQLITE_OPTIONS_INIT;
 *     s.path = "shop.db", s.table = "users", s.key = "email", s.value = "profile";
 *     blm_dataset data;
 *     if (blm_sqlite_open(&s, &data, &err) == BLM_OK)
 *         blm_guard_open(&o, &data, &guard, &err);          // which closes the database in the end
 *
 * The adapter has its own connection and runs one statement at a time, so everything it reports is
 * committed. A row that SQLite ignores, by ON CONFLICT IGNORE or a trigger, is a failure. A `value`
 * that is given a row may use the data set again; whoever is given the keys of a scan may not.
 *
 * Keys are compared byte for byte. A column that compares otherwise (NOCASE, REAL, NUMERIC) is
 * refused, because keys that are equal to the database must be equal to the filter. A column of
 * integers takes keys that are integers as SQLite prints them ("42", not "042"). A column without a
 * type holds blobs. Text keys need a database in UTF-8; in one of UTF-16, a text value that is not
 * UTF-8 is kept as a blob.
 */
#ifndef BLOOMERY_SQLITE_H
#define BLOOMERY_SQLITE_H

#include <bloomery.h>
#include <bloomery/guard.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blm_sqlite_options {
    size_t      size;
    const char *path;    /* the database file; it must exist */
    const char *table;   /* it must exist too */
    const char *key;     /* a column that is UNIQUE or the PRIMARY KEY */
    const char *value;   /* NULL: rows are only keys (other columns get their defaults) */
    int         busy_ms; /* how long to wait for another connection's lock (0: 5 000) */
} blm_sqlite_options;

#ifdef __cplusplus
#define BLM_SQLITE_OPTIONS_INIT blm_sqlite_options_init()
#else
#define BLM_SQLITE_OPTIONS_INIT            \
    {                                      \
        .size = sizeof(blm_sqlite_options) \
    }
#endif
static inline blm_sqlite_options blm_sqlite_options_init(void)
{
#ifdef __cplusplus
    blm_sqlite_options o = {};
#else
    blm_sqlite_options o = { 0, 0, 0, 0, 0, 0 };
#endif
    o.size = sizeof o;
    return o;
}

/* Fills *out. out->close(out->ctx) closes it; a guard does that for you. The guard's mark is kept
 * in a table bloomery_guard, one row for each guarded table. E_UNSUPPORTED: the key column cannot
 * be guarded, and err says why. */
BLM_API blm_status blm_sqlite_open(const blm_sqlite_options *o, blm_dataset *out, blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
