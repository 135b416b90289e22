/* SPDX-License-Identifier: MIT */
/* LevelDB, with our filter policy in its tables too. The data set's close closes the database. */
#include <bloomery_leveldb.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

static leveldb_t              *db;
static leveldb_filterpolicy_t *policy;
static void (*close_set)(void *ctx);

static void path_of(char out[300]) { snprintf(out, 300, "%s/rows.ldb", world->base); }

static void prepare(void)
{
    char               path[300], *words = NULL;
    leveldb_options_t *o = leveldb_options_create();
    path_of(path);
    leveldb_destroy_db(o, path, &words);
    leveldb_free(words);
    leveldb_options_destroy(o);
}

static void close_it(void *ctx)
{
    close_set(ctx);
    leveldb_close(db);
    leveldb_filterpolicy_destroy(policy);
}

static blm_status open_it(blm_dataset *out, blm_error *err)
{
    char               path[300], *words = NULL;
    leveldb_options_t *o = leveldb_options_create();
    path_of(path);
    policy = blm_leveldb_policy(10, NULL, err);
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_options_set_write_buffer_size(o, 64 << 10);
    leveldb_options_set_filter_policy(o, policy);
    db = leveldb_open(o, path, &words);
    leveldb_options_destroy(o);
    if (!db) {
        *err = (blm_error){ .status = BLM_E_IO, .offset = BLM_NO_OFFSET };
        snprintf(err->text, sizeof err->text, "LevelDB: %.200s", words);
        leveldb_free(words);
        return BLM_E_IO;
    }
    blm_status st = blm_leveldb_dataset(db, world->variant ? "row:" : NULL, false, out, err);
    close_set     = out->close;
    out->close    = close_it;
    return st;
}

const struct adapter leveldb_adapter = { .name       = "leveldb",
                                         .alone      = true,
                                         .operations = 1500,
                                         .variants   = 2,
                                         .prepare    = prepare,
                                         .open       = open_it };
