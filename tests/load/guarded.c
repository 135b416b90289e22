/* SPDX-License-Identifier: MIT */
/*
 * Threads that put, delete and get rows through one guard. Its data set is the oracle's memory, so that it
 * survives what kills the worker. A new worker asks for every row that callers were told is there: at once, when
 * the file of the killed one may answer, and again when what had to be rebuilt was.
 */
#include "load.h"

#include <bloomery/guard.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum row { UNKNOWN, THERE, GONE }; /* of a row, and the low two bits of what was told */

static blm_guard *guard;

static bool parse(const void *key, size_t len, unsigned *thread, uint64_t *i)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)len, (const char *)key);
    return sscanf(text, "t%u-%" SCNu64, thread, i) == 2 && *thread < MOST_THREADS && *i < ROWS;
}
static blm_status row_get(void *ctx, const void *key, size_t len, blm_write_fn value,
                          void *value_ctx, blm_error *err)
{
    unsigned t;
    uint64_t i;
    (void)ctx, (void)err;
    if (!parse(key, len, &t, &i) || shared->row[t][i] != THERE)
        return BLM_E_ABSENT;
    return value && !value(value_ctx, "v", 1) ? BLM_E_CANCELLED : BLM_OK;
}
static blm_status row_put(void *ctx, const void *key, size_t len, const void *value,
                          size_t value_len, blm_error *err)
{
    unsigned t;
    uint64_t i;
    (void)ctx, (void)err, (void)value, (void)value_len;
    if (!parse(key, len, &t, &i))
        return BLM_E_IO;
    shared->row[t][i] = THERE;
    return BLM_OK;
}
static blm_status row_del(void *ctx, const void *key, size_t len, blm_error *err)
{
    unsigned t;
    uint64_t i;
    (void)ctx, (void)err;
    if (!parse(key, len, &t, &i) || atomic_exchange(&shared->row[t][i], GONE) != THERE)
        return BLM_E_ABSENT;
    return BLM_OK;
}
static blm_status row_scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    (void)ctx, (void)err;
    for (unsigned t = 0; t < threads; t++)
        for (uint64_t i = 0; i < ROWS; i++) {
            char key[32];
            if (shared->row[t][i] == THERE && !each(each_ctx, key, key_of(t, i, key)))
                return BLM_E_CANCELLED;
        }
    return BLM_OK;
}
static blm_status mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    uint32_t at = shared->mark_at;
    (void)ctx, (void)err;
    if (!at)
        return BLM_E_ABSENT;
    memcpy(mark, shared->mark[at % 2], *len = shared->mark_len[at % 2]);
    return BLM_OK;
}
static blm_status mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    (void)ctx, (void)err;
    pthread_mutex_lock(&one);
    uint32_t at = shared->mark_at + 1;
    memcpy(shared->mark[at % 2], mark, len);
    shared->mark_len[at % 2] = (uint8_t)len;
    shared->mark_at          = at;
    pthread_mutex_unlock(&one);
    return BLM_OK;
}

static blm_status get(unsigned thread, uint64_t i)
{
    char      key[32];
    blm_error e;
    return blm_guard_get(guard, key, key_of(thread, i, key), NULL, NULL, &e);
}

/* Every row that is known to be there; nobody writes yet. */
static void ask_all(void)
{
    for (unsigned t = 0; t < threads; t++)
        for (uint64_t i = 0; i < ROWS; i++)
            if (shared->told[t][i] % 4 == THERE)
                judge(1, get(t, i) != BLM_OK, true);
}

static void open_worker(void)
{
    char              path[256];
    blm_error         e;
    blm_guard_options g     = BLM_GUARD_OPTIONS_INIT;
    blm_guard_stats   stats = { .size = sizeof stats };
    blm_dataset       d     = { .size       = sizeof d,
                                .get        = row_get,
                                .put        = row_put,
                                .del        = row_del,
                                .scan       = row_scan,
                                .mark_read  = mark_read,
                                .mark_write = mark_write };
    path_of(0, path);
    g.items = (uint64_t)threads * ROWS;
    g.path  = path;
    if (blm_guard_open(&g, &d, &guard, &e) != BLM_OK)
        die("guard", &e);
    ask_all();
    if (blm_guard_wait(guard, &e) != BLM_OK)
        die("rebuild", &e);
    ask_all();
    /* A guard that lets everything through denies nothing: see that its filter answers. */
    for (uint64_t i = 0; i < 1000; i++)
        get(MOST_THREADS, i);
    if (blm_guard_get_stats(guard, &stats) == BLM_OK)
        shared->refused += stats.refused;
}

/* Own rows are put and deleted. What is told in between is not known. */
static void change(unsigned me, uint64_t i, bool put)
{
    char      key[32];
    size_t    len = key_of(me, i, key);
    uint32_t  was = shared->told[me][i] & ~3u;
    blm_error e;
    shared->told[me][i] = (was + 4) | UNKNOWN;
    blm_status s =
        put ? blm_guard_put(guard, key, len, "v", 1, &e) : blm_guard_delete(guard, key, len, &e);
    if (s == BLM_OK || (s == BLM_E_ABSENT && !put)) {
        shared->told[me][i] = (was + 8) | (put ? THERE : GONE);
        shared->all_acked++;
    } else {
        failed(s);
    }
}

/* Anybody's row. It was there all the time if what was told is the same after the answer as before it. */
static void ask(unsigned who, uint64_t i)
{
    uint32_t   before = shared->told[who][i];
    blm_status s      = get(who, i);
    if (before % 4 == THERE && shared->told[who][i] == before)
        judge(1, s != BLM_OK, false);
}

static void *caller(void *arg)
{
    unsigned me  = (unsigned)(uintptr_t)arg;
    uint64_t rng = me * 977 + (uint64_t)getpid();
    shared->ready++;
    for (;;) {
        shared->begun++;
        change(me, next(&rng) % ROWS, next(&rng) % 4 != 0);
        for (int n = 0; n < 4; n++)
            ask((unsigned)(next(&rng) % threads), next(&rng) % ROWS);
        ask(me, next(&rng) % ROWS);
    }
    return NULL;
}

/* The next worker does it, when it opens what this one left; `threads.c` starts a last one for that. */
static void verify(void) {}

const struct load load_guard = { open_worker, caller, verify };
