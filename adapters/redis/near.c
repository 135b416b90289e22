/* SPDX-License-Identifier: MIT */
/*
 * Near copies: see bloomery_near.h, and redis/changes.c for the server's side.
 *
 * The copy's age is counted from before the question for changes was sent: what the server had
 * acknowledged then is in the answer. For shards that question begins with the descriptor, since the
 * filter may have been sharded anew: then its shards are loaded, and those who ask meanwhile get
 * "maybe".
 */
#include "near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVERY_MS 100
#define STALE_MS 1000
#define ROUTED   256 /* keys checked at once */
#define TRIES    5
#define LONG_AGO (UINT64_C(1) << 56) /* microseconds: two thousand years */

uint64_t blm__near_now(void)
{
    struct timespec t;
#ifdef CLOCK_BOOTTIME
    clock_gettime(CLOCK_BOOTTIME, &t);
#else
    clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    return LONG_AGO + (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

blm_status blm__near_forget(struct blm__copy *copies, uint32_t count, blm_error *err)
{
    blm_status st = BLM_OK;
    for (uint32_t i = 0; copies && i < count; i++) {
        blm_status closed = blm_close(copies[i].filter, st == BLM_OK ? err : NULL);
        st                = st == BLM_OK ? closed : st;
        free(copies[i].pending);
    }
    free(copies);
    return st;
}

/* ---- following ---- */

/* For the stats, which wait for nobody. */
static void measure(blm_near *n)
{
    blm_remote_stats r     = { .size = sizeof r };
    uint64_t         bytes = 0;
    blm_remote_get_stats(n->follows, &r);
    pthread_rwlock_rdlock(&n->lock); /* adds of our own change what is read */
    for (uint32_t i = 0; i < n->shards; i++) {
        blm_params p = { .size = sizeof p };
        if (n->copies[i].filter && blm_get_params(n->copies[i].filter, &p) == BLM_OK)
            bytes += p.bytes;
    }
    pthread_rwlock_unlock(&n->lock);
    atomic_store(&n->received, n->before + r.received);
    atomic_store(&n->bytes, bytes);
}

static bool stops(void *ctx)
{
    blm_near *n = ctx;
    pthread_mutex_lock(&n->waking);
    bool end = n->ends;
    pthread_mutex_unlock(&n->waking);
    return end;
}

/* ?shards says how many there are when a copy begins. Later the filter may be sharded anew, into any
 * number, and is followed. */
static void take_any_shards(char *url)
{
    char *word = strrchr(url, '/');
    for (word = word ? strchr(word, '?') : NULL; word && strncmp(word + 1, "shards=", 7) != 0;)
        word = strchr(word + 1, '&');
    if (!word)
        return;
    size_t len = 1 + strcspn(word + 1, "&");
    if (word[len])
        memmove(word + 1, word + len + 1, strlen(word + len + 1) + 1);
    else
        *word = 0;
}

/* Opens the filter that the URL names now, and has nothing of it yet. */
static blm_status open_filter(blm_near *n, blm_error *err)
{
    blm_remote_options o    = BLM_REMOTE_OPTIONS_INIT;
    blm_remote        *next = NULL, *old = n->follows;
    struct blm__copy  *before = n->copies;
    uint32_t           count  = n->shards;
    o.stop                    = stops;
    o.stop_ctx                = n;
    blm_status st             = blm_remote_open(n->url, &o, &next, err);
    if (st != BLM_OK)
        return st;
    if (!old) /* nobody else has the URL yet */
        take_any_shards(n->url);
    struct blm__copy *copies = calloc(next->shards, sizeof *copies);
    if (!copies) {
        blm_remote_close(next);
        return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    }
    if (old)
        n->before += old->stats.received;
    pthread_rwlock_wrlock(&n->lock);
    atomic_store(&n->since, 0);
    n->follows = next;
    n->copies  = copies;
    n->shards  = next->shards;
    pthread_rwlock_unlock(&n->lock);
    atomic_fetch_add(&n->filters, 1);
    blm__near_forget(before, count, NULL);
    blm_remote_close(old);
    return BLM_OK;
}

/* Do we still follow the filter that the URL names? If it was sharded anew, that one from now on. */
static blm_status find_filter(blm_near *n, blm_error *err)
{
    bool       same = true;
    blm_status st   = n->follows->url.cluster ? blm__shards_same(n->follows, &same, err) : BLM_OK;
    if (st == BLM_OK && !same)
        st = open_filter(n, err);
    return st == BLM_OK && !same && n->file ? blm__near_claim(n, err) : st;
}

static blm_status update(blm_near *n, blm_error *err)
{
    uint64_t        begun = blm__near_now();
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    blm_status     st    = find_filter(n, err);
    uint_least64_t since = atomic_load(&n->since);
    if (st == BLM_OK)
        st = blm__near_catch_up(n, err);
    if (st == BLM_OK)
        st = blm__near_publish(n, &wall, err);
    measure(n);
    blm_error  other; /* a file that is behind must not look newer either */
    blm_status dated = blm__near_date(n, st == BLM_OK ? err : &other);
    st               = st == BLM_OK ? dated : st;
    if (st == BLM_OK) /* unless an add of our own failed meanwhile */
        atomic_compare_exchange_strong(&n->since, &since, begun);
    else
        atomic_fetch_add(&n->failures, 1);
    return st;
}

/* For the stats. */
static void keep_why(blm_near *n, blm_status st, const blm_error *err)
{
    pthread_mutex_lock(&n->waking);
    n->why.status = st;
    if (st != BLM_OK)
        n->why = *err;
    pthread_mutex_unlock(&n->waking);
}

blm_status blm_near_update(blm_near *n, blm_error *err)
{
    blm_error own;
    err = err ? err : &own;
    pthread_mutex_lock(&n->asking);
    blm_status st = n->reads ? blm__near_look(n, err) : update(n, err);
    keep_why(n, st, err);
    pthread_mutex_unlock(&n->asking);
    return st;
}

static bool ends(blm_near *n)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)(n->o.every_ms % 1000) * 1000000;
    t.tv_sec += (time_t)(n->o.every_ms / 1000) + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_mutex_lock(&n->waking);
    if (!n->ends)
        pthread_cond_timedwait(&n->wake, &n->waking, &t);
    bool end = n->ends;
    pthread_mutex_unlock(&n->waking);
    return end;
}

static void *follow(void *ctx)
{
    blm_near *n = ctx;
    while (!ends(n))
        blm_near_update(n, NULL);
    return NULL;
}

/* ---- opening ---- */

static blm_status begin(blm_near *n, blm_error *err)
{
    blm_status st = open_filter(n, err);
    if (st == BLM_OK && n->file) {
        n->directory = n->shards > 1;
        st           = blm__near_claim(n, err);
    }
    if (st == BLM_OK)
        st = update(n, err);
    if (st == BLM_OK && pthread_create(&n->thread, NULL, follow, n) != 0)
        st = blm__redis_fail(err, BLM_E_MEMORY, "could not start a thread");
    n->started = st == BLM_OK;
    return st;
}

/* What is kept by another process. It may be replaced while we open it. */
static blm_status begin_reading(blm_near *n, blm_error *err)
{
    struct stat s;
    blm_status  st = BLM_E_IO;
    n->reads       = true;
    n->directory   = stat(n->file, &s) == 0 && S_ISDIR(s.st_mode);
    for (int i = 0; i < TRIES && st == BLM_E_IO; i++)
        st = blm__near_look(n, err);
    if (st == BLM_OK)
        measure(n);
    return st;
}

static blm_status make(const char *url, const char *file, const blm_near_options *o, blm_near **out,
                       blm_error *err)
{
    if (o && o->size != sizeof *o)
        return blm__redis_fail(err, BLM_E_ARGUMENT, "start options from BLM_NEAR_OPTIONS_INIT");
    blm_near *n = calloc(1, sizeof *n);
    if (!n)
        return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    if (o)
        n->o = *o;
    n->o.every_ms = n->o.every_ms ? n->o.every_ms : EVERY_MS;
    pthread_mutex_init(&n->asking, NULL);
    pthread_mutex_init(&n->adding, NULL);
    pthread_mutex_init(&n->waking, NULL);
    pthread_cond_init(&n->wake, NULL);
    pthread_rwlock_init(&n->lock, NULL);
    n->url  = url ? strdup(url) : NULL;
    n->file = file ? strdup(file) : NULL;
    if ((url && !n->url) || (file && !n->file)) {
        blm_near_close(n);
        return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    }
    *out = n;
    return BLM_OK;
}

static blm_status made(blm_near *n, blm_status st, blm_near **out)
{
    if (st == BLM_OK)
        *out = n;
    else
        blm_near_close(n);
    return st;
}

blm_status blm_near_open(const char *url, const blm_near_options *o, blm_near **out, blm_error *err)
{
    blm_error own;
    blm_near *n   = NULL;
    err           = err ? err : &own;
    blm_status st = make(url, o ? o->file : NULL, o, &n, err);
    if (st != BLM_OK)
        return st;
    n->o.stale_ms = n->o.stale_ms ? n->o.stale_ms : STALE_MS;
    return made(n, begin(n, err), out);
}

blm_status blm_near_open_file(const char *file, const blm_near_options *o, blm_near **out,
                              blm_error *err)
{
    blm_error own;
    blm_near *n = NULL;
    err         = err ? err : &own;
    if (!file)
        return blm__redis_fail(err, BLM_E_ARGUMENT, "no file: blm_near_open asks a server");
    blm_status st = make(NULL, file, o, &n, err);
    return st == BLM_OK ? made(n, begin_reading(n, err), out) : st;
}

blm_status blm_near_finish(blm_near *n, blm_error *err)
{
    blm_error own;
    if (!n)
        return BLM_OK;
    err = err ? err : &own;
    pthread_mutex_lock(&n->waking);
    n->ends = true;
    pthread_cond_signal(&n->wake);
    pthread_mutex_unlock(&n->waking);
    if (n->started)
        pthread_join(n->thread, NULL);
    blm_status st = blm__near_forget(n->copies, n->shards, err);
    if (!n->reads) {
        blm_error  other;
        blm_status dated = blm__near_date(n, st == BLM_OK ? err : &other);
        st               = st == BLM_OK ? dated : st;
    }
    blm__near_abandon(n);
    blm__near_release(n);
    blm_remote_close(n->follows);
    blm_remote_close(n->adds);
    free(n->url);
    free(n->file);
    pthread_mutex_destroy(&n->asking);
    pthread_mutex_destroy(&n->adding);
    pthread_mutex_destroy(&n->waking);
    pthread_cond_destroy(&n->wake);
    pthread_rwlock_destroy(&n->lock);
    free(n);
    return st;
}

void blm_near_close(blm_near *n) { blm_near_finish(n, NULL); }

/* ---- keys ---- */

static bool current(blm_near *n)
{
    if (n->reads && !n->o.stale_ms)
        return true;
    return blm__near_now() - atomic_load(&n->since) <= (uint64_t)n->o.stale_ms * 1000;
}

/* A copy that another process keeps: is it still the one that we have, and how old is it by now? */
static void look(blm_near *n)
{
    blm_error err;
    if (!n->reads || blm__near_now() - atomic_load(&n->looked) < (uint64_t)n->o.every_ms * 1000 ||
        pthread_mutex_trylock(&n->asking) != 0)
        return;
    blm_status st = blm__near_look(n, &err);
    if (st != BLM_OK)
        atomic_fetch_add(&n->failures, 1);
    keep_why(n, st, &err);
    pthread_mutex_unlock(&n->asking);
}

/* The connection for adds and questions, to the filter that is followed now; under n->adding. */
static blm_status connect_adds(blm_near *n, blm_error *err)
{
    blm_remote_options o       = BLM_REMOTE_OPTIONS_INIT;
    uint64_t           filters = atomic_load(&n->filters);
    if (n->reads)
        return blm__redis_fail(err, BLM_E_READONLY,
                               "another process keeps this copy: add to the "
                               "filter on the server");
    if (n->adds && n->known == filters)
        return BLM_OK;
    blm_remote_close(n->adds);
    n->adds  = NULL;
    n->known = filters;
    o.wait   = n->o.wait;
    return blm_remote_open(n->url, &o, &n->adds, err);
}

/* Calls `what` with it; once more if the filter has been replaced. */
static blm_status with_adds(blm_near *n, blm_status (*what)(blm_remote *r, void *ctx, blm_error *e),
                            void *ctx, blm_error *err)
{
    pthread_mutex_lock(&n->adding);
    blm_status st = connect_adds(n, err);
    if (st == BLM_OK)
        st = what(n->adds, ctx, err);
    if (st == BLM_E_ABSENT && n->adds) {
        blm_remote_close(n->adds);
        n->adds = NULL;
        st      = connect_adds(n, err);
        if (st == BLM_OK)
            st = what(n->adds, ctx, err);
    }
    pthread_mutex_unlock(&n->adding);
    return st;
}

struct questions {
    const blm_key *keys;
    size_t         count;
    uint8_t       *maybe;
};

static blm_status ask(blm_remote *r, void *ctx, blm_error *err)
{
    struct questions *q = ctx;
    return blm_remote_check_many(r, q->keys, q->count, q->maybe, NULL, err);
}

static void ask_server(blm_near *n, const blm_key *keys, size_t count, uint8_t *maybe)
{
    struct questions q = { keys, count, maybe };
    blm_error        err;
    if (with_adds(n, ask, &q, &err) != BLM_OK)
        memset(maybe, 1, count);
}

/* False: the copy is too old to know, or a file of it could not be replaced. */
static bool check_copy(blm_near *n, const blm_key *keys, size_t count, uint8_t *maybe)
{
    pthread_rwlock_rdlock(&n->lock);
    bool known = current(n) && n->copies[0].filter;
    if (known && n->shards == 1)
        blm_check_many(n->copies[0].filter, keys, count, maybe);
    else
        for (size_t i = 0; known && i < count; i++) {
            uint32_t          s = blm_remote_route(n->follows, keys[i].data, keys[i].len);
            const blm_filter *f = n->copies[s].filter;
            known               = f != NULL;
            maybe[i]            = !known || blm_check(f, keys[i].data, keys[i].len);
        }
    pthread_rwlock_unlock(&n->lock);
    return known;
}

size_t blm_near_check_many(blm_near *n, const blm_key *keys, size_t count, uint8_t *maybe)
{
    uint8_t some[ROUTED];
    size_t  hits = 0;
    look(n);
    for (size_t at = 0, m; at < count; at += m) {
        m            = count - at < ROUTED ? count - at : ROUTED;
        uint8_t *out = maybe ? maybe + at : some;
        if (!check_copy(n, keys + at, m, out)) {
            if (n->o.ask && !n->reads)
                ask_server(n, keys + at, m, out);
            else
                memset(out, 1, m);
        }
        for (size_t i = 0; i < m; i++)
            hits += out[i] != 0;
    }
    return hits;
}

bool blm_near_check(blm_near *n, const void *key, size_t len)
{
    blm_key one = { key, len };
    return blm_near_check_many(n, &one, 1, NULL) != 0;
}

struct additions {
    const blm_key *keys;
    size_t         count;
    uint8_t       *fresh;
    size_t        *done;
};

static blm_status add(blm_remote *r, void *ctx, blm_error *err)
{
    struct additions *a = ctx;
    return blm_remote_add_many(r, a->keys, a->count, a->fresh, a->done, err);
}

blm_status blm_near_add_many(blm_near *n, const blm_key *keys, size_t count, uint8_t *fresh,
                             size_t *done, blm_error *err)
{
    struct additions a = { keys, count, fresh, done };
    blm_error        own;
    blm_status       st = with_adds(n, add, &a, err ? err : &own);
    if (n->reads)
        return st;
    pthread_rwlock_wrlock(&n->lock);
    n->own++;
    for (size_t i = 0; i < count; i++) { /* also what may have been added */
        uint32_t    s = blm_remote_route(n->follows, keys[i].data, keys[i].len);
        blm_filter *f = n->copies[s].filter;
        if (f && blm_add(f, keys[i].data, keys[i].len) < 0)
            atomic_store(&n->since, 0); /* not current before the next update */
    }
    if (!n->directory) /* of a directory, adds do not touch the file with the date */
        blm__near_date(n, &own);
    pthread_rwlock_unlock(&n->lock);
    return st;
}

/* ---- what it is ---- */

void blm_near_get_stats(blm_near *n, blm_near_stats *out)
{
    look(n);
    blm_near_stats s     = { .size = out->size, .shards = n->shards, .current = current(n) };
    size_t         size  = out->size < sizeof s ? out->size : sizeof s;
    uint64_t       since = atomic_load(&n->since);
    s.age_ms             = since ? (blm__near_now() - since) / 1000 : UINT64_MAX;
    s.loads              = atomic_load(&n->loads);
    s.changes            = atomic_load(&n->changes);
    s.failures           = atomic_load(&n->failures);
    s.received           = atomic_load(&n->received);
    s.bytes              = atomic_load(&n->bytes);
    pthread_mutex_lock(&n->waking);
    s.why = n->why;
    pthread_mutex_unlock(&n->waking);
    memcpy(out, &s, size);
}

bool blm_near_use(blm_near *n, uint32_t                                              shard,
                  void (*use)(void *ctx, const blm_filter *f, uint64_t loads), void *ctx)
{
    look(n);
    pthread_rwlock_rdlock(&n->lock);
    const blm_filter *f = shard < n->shards ? n->copies[shard].filter : NULL;
    if (f)
        use(ctx, f, n->copies[shard].loads);
    pthread_rwlock_unlock(&n->lock);
    return f != NULL;
}
