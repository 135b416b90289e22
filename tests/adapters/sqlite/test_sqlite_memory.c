/* SPDX-License-Identifier: MIT */
/* The SQLite adapter while memory fails, SQLite's own too. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "adapters/failing.h"
#include "bloomery_sqlite.h"

static char folder[64], db_path[96];

static blm_status open_set(blm_dataset *out, blm_error *err)
{
    blm_sqlite_options s = BLM_SQLITE_OPTIONS_INIT;
    s.path               = db_path;
    s.table              = "users";
    s.key                = "email";
    s.value              = "profile";
    return blm_sqlite_open(&s, out, err);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    sqlite3 *db;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/blm-XXXXXX" : "/tmp/blm-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(db_path, sizeof db_path, "%s/shop.db", folder);
    assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "CREATE TABLE users(email TEXT UNIQUE, profile TEXT)", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    uint64_t all = fail_everywhere(open_set);
    assert_true(!memory_can_fail() || all > 100);
    unlink(db_path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
