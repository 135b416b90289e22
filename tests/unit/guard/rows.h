/* SPDX-License-Identifier: MIT */
/* An exact data set in memory, for tests of the guard: a few thousand rows in an array, one lock,
 * counts of what reached it, and faults on demand. */
#ifndef TESTS_GUARD_ROWS_H
#define TESTS_GUARD_ROWS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery.h"
#include "bloomery/guard.h"

struct row {
    char     key[32];
    uint32_t len;
    uint32_t value;
    bool     there;
};

struct rows {
    pthread_mutex_t lock;
    struct row     *row; /* by hash, open addressing; a deleted row keeps its place */
    size_t          room, used;
    uint64_t        gets, puts, dels, scans, live;
    bool            fail_get, fail_put, fail_del, fail_scan, fail_mark; /* without effect */
    bool            late_put, late_del; /* "failed", but it took effect */
    char            mark[BLM_MARK_MAX];
    size_t          mark_len;
};

static inline void rows_init(struct rows *r, size_t room)
{
    memset(r, 0, sizeof *r);
    pthread_mutex_init(&r->lock, NULL);
    r->room = room;
    r->row  = calloc(room, sizeof *r->row);
}

static inline void rows_free(struct rows *r)
{
    free(r->row);
    pthread_mutex_destroy(&r->lock);
}

static inline struct row *rows_at(struct rows *r, const void *key, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * 0x100000001b3u;
    for (size_t i = (size_t)(h % r->room);; i = (i + 1) % r->room) {
        struct row *w = &r->row[i];
        if (!w->there && w->len == 0 && w->key[0] == 0)
            return w;
        if (w->len == len && memcmp(w->key, key, len) == 0)
            return w;
    }
}

static inline blm_status rows_failure(blm_error *err)
{
    err->status = BLM_E_IO;
    strcpy(err->text, "the data set is away");
    return BLM_E_IO;
}

static inline blm_status rows_get(void *ctx, const void *key, size_t len, blm_write_fn value,
                                  void *value_ctx, blm_error *err)
{
    struct rows *r = ctx;
    pthread_mutex_lock(&r->lock);
    r->gets++;
    struct row w = *rows_at(r, key, len);
    bool       f = r->fail_get;
    pthread_mutex_unlock(&r->lock);
    if (f)
        return rows_failure(err);
    if (!w.there)
        return BLM_E_ABSENT;
    return !value || value(value_ctx, &w.value, sizeof w.value) ? BLM_OK : BLM_E_CANCELLED;
}

static inline blm_status rows_put(void *ctx, const void *key, size_t len, const void *value,
                                  size_t value_len, blm_error *err)
{
    struct rows *r = ctx;
    pthread_mutex_lock(&r->lock);
    bool f = r->fail_put, late = r->late_put;
    r->puts++;
    if (!f || late) {
        struct row *w = rows_at(r, key, len);
        r->live += !w->there;
        memcpy(w->key, key, len);
        w->len   = (uint32_t)len;
        w->there = true;
        if (value_len == sizeof w->value)
            memcpy(&w->value, value, value_len);
    }
    pthread_mutex_unlock(&r->lock);
    return f ? rows_failure(err) : BLM_OK;
}

static inline blm_status rows_del(void *ctx, const void *key, size_t len, blm_error *err)
{
    struct rows *r = ctx;
    pthread_mutex_lock(&r->lock);
    bool        f = r->fail_del, late = r->late_del;
    struct row *w     = rows_at(r, key, len);
    bool        there = w->there;
    r->dels++;
    if ((!f || late) && there) {
        w->there = false;
        r->live--;
    }
    pthread_mutex_unlock(&r->lock);
    return f ? rows_failure(err) : there ? BLM_OK : BLM_E_ABSENT;
}

static inline blm_status rows_scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    struct rows *r = ctx;
    for (size_t i = 0; i < r->room; i++) {
        pthread_mutex_lock(&r->lock);
        struct row w = r->row[i];
        bool       f = r->fail_scan && i > r->room / 2;
        r->scans += i == 0;
        pthread_mutex_unlock(&r->lock);
        if (f)
            return rows_failure(err);
        if (w.there && !each(each_ctx, w.key, w.len))
            return BLM_E_CANCELLED;
    }
    return BLM_OK;
}

static inline blm_status rows_mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    struct rows *r = ctx;
    if (r->fail_mark)
        return rows_failure(err);
    *len = r->mark_len;
    memcpy(mark, r->mark, r->mark_len);
    return r->mark_len ? BLM_OK : BLM_E_ABSENT;
}

static inline blm_status rows_mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    struct rows *r = ctx;
    if (r->fail_mark)
        return rows_failure(err);
    r->mark_len = len;
    memcpy(r->mark, mark, len);
    return BLM_OK;
}

static inline blm_dataset rows_dataset(struct rows *r)
{
    return (blm_dataset){ .size       = sizeof(blm_dataset),
                          .ctx        = r,
                          .get        = rows_get,
                          .put        = rows_put,
                          .del        = rows_del,
                          .scan       = rows_scan,
                          .mark_read  = rows_mark_read,
                          .mark_write = rows_mark_write };
}

#endif
