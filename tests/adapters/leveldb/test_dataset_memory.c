/* SPDX-License-Identifier: MIT */
/* A LevelDB database behind the adapter while the adapter's memory fails, and LevelDB's. LevelDB is C++
 * and ends the program when its own does, by an exception that C cannot catch or (leveldb_get) by a write
 * to what malloc did not give. Then the rows are there when the database is opened again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "adapters/failing_library.h"
#include "bloomery_leveldb.h"

static char       folder[64], path[96];
static leveldb_t *db;

static blm_status open_set(blm_dataset *out, blm_error *err)
{
    bool on   = memory.on;
    memory.on = false; /* that LevelDB opens is not the adapter's */
    if (!db) {
        char              *words   = NULL;
        leveldb_options_t *options = leveldb_options_create();
        leveldb_options_set_create_if_missing(options, 1);
        db = leveldb_open(options, path, &words);
        leveldb_options_destroy(options);
    }
    assert_non_null(db);
    memory.on = on;
    return blm_leveldb_dataset(db, "rows:", false, out, err);
}

static void leave(void)
{
    leveldb_close(db);
    db = NULL;
}

static int begin(void **state)
{
    (void)state;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/blm-XXXXXX" : "/tmp/blm-XXXXXX");
    snprintf(path, sizeof path, "%s/db", mkdtemp(folder));
    return 0;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    memory.own   = true;
    uint64_t all = fail_everywhere(open_set);
    assert_true(!memory_can_fail() || all > 5);
    if (db)
        leave();
}

static void each_of_leveldb_does(void **state)
{
    uint64_t died, all;
    (void)state;
    if (!memory_can_fail())
        skip();
    all = fail_in_library("leveldb", open_set, leave, &died);
    assert_true(all > 100 && died > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_fails_once),
                                        cmocka_unit_test(each_of_leveldb_does) };
    return cmocka_run_group_tests(tests, begin, end);
}
