/* SPDX-License-Identifier: MIT */
/* A LevelDB database behind the adapter while the adapter's memory fails. LevelDB is C++ and ends the
 * program when its own does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "adapters/failing.h"
#include "bloomery_leveldb.h"

static char       folder[64], path[96];
static leveldb_t *db;

static blm_status open_set(blm_dataset *out, blm_error *err)
{
    return blm_leveldb_dataset(db, "rows:", false, out, err);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    char               command[128], *words = NULL;
    leveldb_options_t *options = leveldb_options_create();
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/blm-XXXXXX" : "/tmp/blm-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/db", folder);
    leveldb_options_set_create_if_missing(options, 1);
    db = leveldb_open(options, path, &words);
    assert_non_null(db);
    memory.own   = true;
    uint64_t all = fail_everywhere(open_set);
    assert_true(!memory_can_fail() || all > 5);
    leveldb_close(db);
    leveldb_options_destroy(options);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
