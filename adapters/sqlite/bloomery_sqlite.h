/* SPDX-License-Identifier: MIT */
/*
 * A guard's data set in SQLite: one table, its key column, perhaps a value column.
 *
 *     blm_sqlite_options s = BLM_SQLITE_OPTIONS_INIT;
 *     s.path = "shop.db", s.table = "users", s.key = "email", s.value = "profile";
 *     blm_dataset data;
 *     if (blm_sqlite_open(&s, &data, &err) == BLM_OK)
 *         blm_guard_open(&o, &data, &guard, &err);          // which closes the database in the end
 *
 * The connection is the adapter's own, one statement at a time: whatever it says is committed. Keys
 * are compared byte for byte, so a column whose comparison is not (NOCASE, REAL, NUMERIC) is
 * refused: what is equal to the database must be equal to the filter. A column of integers takes
 * keys that are integers as they are printed ("42", not "042"); one without a type holds blobs.
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
    const char *path;    /* the database's file; it must be there */
    const char *table;   /* it must be there too */
    const char *key;     /* a column that is UNIQUE or the PRIMARY KEY */
    const char *value;   /* NULL: rows are only keys (other columns take their defaults) */
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

/* Fills *out; out->close(out->ctx) ends it, which a guard does for you. The guard's mark is kept in
 * a table bloomery_guard, one row for each guarded table. E_UNSUPPORTED: the key column cannot be
 * guarded, and err says why. */
BLM_API blm_status blm_sqlite_open(const blm_sqlite_options *o, blm_dataset *out, blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
