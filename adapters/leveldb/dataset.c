/* SPDX-License-Identifier: MIT */
/*
 * A guard's data set in LevelDB. The scan is one iterator, which sees the database as it was when
 * the scan began: every row that is there from its beginning to its end is named.
 *
 * A LevelDB delete does not say whether the row existed, so we read it first. Two deletes of one
 * key must not both report that it existed, so deletes of a key are done one after the other. Puts
 * need not wait.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/guard.h"
#include "bloomery_leveldb.h"

#define STRIPES 64u

struct store {
    leveldb_t              *db;
    leveldb_readoptions_t  *read, *scan;
    leveldb_writeoptions_t *write;
    char                   *prefix, *mark;
    size_t                  prefix_len, mark_len;
    pthread_mutex_t         deleting[STRIPES];
};

/* Copies LevelDB's error message to err, and frees it. */
static blm_status database_says(char *words, blm_error *err)
{
    if (err) {
        *err = (blm_error){ .status = BLM_E_IO, .offset = BLM_NO_OFFSET };
        snprintf(err->text, sizeof err->text, "LevelDB: %.200s", words);
    }
    leveldb_free(words);
    return BLM_E_IO;
}

static blm_status fail(blm_error *err, blm_status status, const char *text)
{
    if (err) {
        *err = (blm_error){ .status = status, .offset = BLM_NO_OFFSET };
        snprintf(err->text, sizeof err->text, "%s", text);
    }
    return status;
}

/* prefix + key: the key itself without a prefix, else in `small` or (*big) on the heap. */
static const char *name_of(const struct store *s, const void *key, size_t len, char small[256],
                           char **big, size_t *out_len)
{
    *big     = NULL;
    *out_len = s->prefix_len + len;
    if (!s->prefix_len)
        return len ? key : "";
    char *at = *out_len <= 256 ? small : (*big = malloc(*out_len));
    if (!at)
        return NULL;
    memcpy(at, s->prefix, s->prefix_len);
    if (len)
        memcpy(at + s->prefix_len, key, len);
    return at;
}

/* No row may have the mark's own key. */
static bool is_mark(const struct store *s, const char *name, size_t len)
{
    return len == s->mark_len && memcmp(name, s->mark, len) == 0;
}

static blm_status refuse_mark(blm_error *err)
{
    return fail(err, BLM_E_ARGUMENT, "no row may have this key: the guard keeps its mark there");
}

/* ---- one row ----------------------------------------------------------------------------- */

static blm_status read_row(struct store *s, const char *name, size_t len, blm_write_fn value,
                           void *value_ctx, blm_error *err)
{
    char      *words = NULL;
    size_t     size  = 0;
    char      *bytes = leveldb_get(s->db, s->read, name, len, &size, &words);
    blm_status st    = BLM_OK;
    if (words)
        return database_says(words, err);
    if (!bytes)
        return BLM_E_ABSENT;
    if (value && !value(value_ctx, bytes, size))
        st = fail(err, BLM_E_CANCELLED, "the caller did not take the value");
    leveldb_free(bytes);
    return st;
}

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    char        small[256], *big;
    size_t      name_len;
    const char *name = name_of(ctx, key, len, small, &big, &name_len);
    blm_status  st   = !name ? fail(err, BLM_E_MEMORY, "no memory for a key")
                       : is_mark(ctx, name, name_len)
                           ? BLM_E_ABSENT
                           : read_row(ctx, name, name_len, value, value_ctx, err);
    free(big);
    return st;
}

static blm_status put(void *ctx, const void *key, size_t len, const void *value, size_t value_len,
                      blm_error *err)
{
    struct store *s = ctx;
    char          small[256], *big, *words = NULL;
    size_t        name_len;
    const char   *name = name_of(s, key, len, small, &big, &name_len);
    if (!name)
        return fail(err, BLM_E_MEMORY, "no memory for a key");
    blm_status st = is_mark(s, name, name_len) ? refuse_mark(err) : BLM_OK;
    if (st == BLM_OK)
        leveldb_put(s->db, s->write, name, name_len, value_len ? value : "", value_len, &words);
    free(big);
    return words ? database_says(words, err) : st;
}

static blm_status del(void *ctx, const void *key, size_t len, blm_error *err)
{
    struct store *s = ctx;
    char          small[256], *big, *words = NULL;
    size_t        name_len;
    const char   *name = name_of(s, key, len, small, &big, &name_len);
    unsigned      mix  = 0;
    if (!name)
        return fail(err, BLM_E_MEMORY, "no memory for a key");
    for (size_t i = 0; i < name_len; i++)
        mix = mix * 31 + (uint8_t)name[i];
    pthread_mutex_lock(&s->deleting[mix % STRIPES]);
    blm_status st = is_mark(s, name, name_len) ? refuse_mark(err)
                                               : read_row(s, name, name_len, NULL, NULL, err);
    if (st == BLM_OK)
        leveldb_delete(s->db, s->write, name, name_len, &words);
    pthread_mutex_unlock(&s->deleting[mix % STRIPES]);
    free(big);
    return words ? database_says(words, err) : st;
}

/* ---- all rows ---------------------------------------------------------------------------- */

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    struct store       *s     = ctx;
    char               *words = NULL;
    blm_status          st    = BLM_OK;
    leveldb_iterator_t *at    = leveldb_create_iterator(s->db, s->scan);
    for (leveldb_iter_seek(at, s->prefix, s->prefix_len); st == BLM_OK && leveldb_iter_valid(at);
         leveldb_iter_next(at)) {
        size_t      len;
        const char *key = leveldb_iter_key(at, &len);
        if (len < s->prefix_len || memcmp(key, s->prefix, s->prefix_len) != 0)
            break;                /* the rows of one prefix are adjacent */
        if (is_mark(s, key, len)) /* those of other prefixes are rows to us */
            continue;
        if (!each(each_ctx, key + s->prefix_len, len - s->prefix_len))
            st = fail(err, BLM_E_CANCELLED, "the scan was stopped");
    }
    leveldb_iter_get_error(at, &words);
    leveldb_iter_destroy(at);
    return words ? database_says(words, err) : st;
}

/* ---- the mark ---------------------------------------------------------------------------- */

struct room {
    uint8_t *bytes;
    size_t   len;
};
static bool keep_mark(void *ctx, const void *bytes, size_t len)
{
    struct room *r = ctx;
    if (len > BLM_MARK_MAX)
        return false;
    memcpy(r->bytes, bytes, len);
    r->len = len;
    return true;
}

static blm_status mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    struct store *s  = ctx;
    struct room   r  = { mark, 0 };
    blm_status    st = read_row(s, s->mark, s->mark_len, keep_mark, &r, err);
    if (st == BLM_E_CANCELLED)
        return BLM_E_ABSENT; /* too long: not one of our marks */
    *len = r.len;
    return st;
}

static blm_status mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    struct store *s     = ctx;
    char         *words = NULL;
    leveldb_put(s->db, s->write, s->mark, s->mark_len, mark, len, &words);
    return words ? database_says(words, err) : BLM_OK;
}

/* ---- opening and closing ----------------------------------------------------------------- */

static void close_store(void *ctx)
{
    struct store *s = ctx;
    for (unsigned i = 0; i < STRIPES; i++)
        pthread_mutex_destroy(&s->deleting[i]);
    leveldb_readoptions_destroy(s->read);
    leveldb_readoptions_destroy(s->scan);
    leveldb_writeoptions_destroy(s->write);
    free(s->prefix);
    free(s->mark);
    free(s);
}

blm_status blm_leveldb_dataset(leveldb_t *db, const char *prefix, bool sync, blm_dataset *out,
                               blm_error *err)
{
    if (!db || !out)
        return fail(err, BLM_E_ARGUMENT, "db and out must not be NULL");
    prefix          = prefix ? prefix : "";
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return fail(err, BLM_E_MEMORY, "no memory for the data set");
    for (unsigned i = 0; i < STRIPES; i++)
        pthread_mutex_init(&s->deleting[i], NULL);
    s->db         = db;
    s->prefix_len = strlen(prefix);
    s->prefix     = strdup(prefix);
    s->mark       = malloc(sizeof BLM_LEVELDB_MARK + s->prefix_len);
    s->read       = leveldb_readoptions_create();
    s->scan       = leveldb_readoptions_create();
    s->write      = leveldb_writeoptions_create();
    if (!s->prefix || !s->mark) {
        close_store(s);
        return fail(err, BLM_E_MEMORY, "no memory for the data set");
    }
    memcpy(s->mark, BLM_LEVELDB_MARK, sizeof BLM_LEVELDB_MARK);
    strcat(s->mark, prefix);
    s->mark_len = strlen(s->mark);
    leveldb_readoptions_set_fill_cache(s->scan, 0); /* a scan would evict everything else */
    leveldb_writeoptions_set_sync(s->write, sync);
    *out = (blm_dataset){ .size       = sizeof *out,
                          .ctx        = s,
                          .get        = get,
                          .put        = put,
                          .del        = del,
                          .scan       = scan,
                          .mark_read  = mark_read,
                          .mark_write = mark_write,
                          .close      = close_store };
    return BLM_OK;
}
