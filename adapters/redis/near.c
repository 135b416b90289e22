/* SPDX-License-Identifier: MIT */
/*
 * Near copies: see bloomery_near.h, and redis/changes.c for the server's side.
 *
 * A load first asks where the changes stand, then reads the filter in chunks while others add to it,
 * and then takes over all changes from that point on. A key that was added before is in the chunks;
 * one that was added during the load is in the changes, and perhaps in the chunks too, which does no
 * harm. Between two chunks the changes so far are fetched, so that the server need keep only those of
 * one chunk's time.
 *
 * The copy's age is counted from before the question for changes was sent: what the server had
 * acknowledged then is in the answer.
 */
#include "bloomery_near.h"
#include "remote.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "bloomery/embed.h"

#define EVERY_MS 100
#define STALE_MS 1000
#define TRIES    5
#define ROUTED   256 /* keys checked at once */

struct copy {
    blm_filter *filter;    /* NULL: not loaded */
    uint64_t    epoch, at; /* the server's, and the sequence number of the next change */
    uint64_t    loads;
    bool        whole;   /* no more changes at the moment */
    bool        old;     /* must be loaded again */
    uint8_t    *pending; /* changes that came during the load */
    size_t      pending_len, pending_room;
};

struct blm_near {
    blm_near_options      o;
    blm_remote           *follows, *adds; /* the second is opened by the first add or question */
    char                 *url;
    pthread_mutex_t       asking, adding; /* over each of them */
    pthread_rwlock_t      lock;           /* over the copies' filters */
    struct copy          *copies;
    uint32_t              shards;
    atomic_uint_least64_t since; /* microseconds: the copy has all that was acknowledged then */
    uint64_t              own;   /* times that keys were added here, under the lock */
    char                 *file;
    struct timespec       date; /* the file has all that was acknowledged then */
    bool                  dated;
    pthread_t             thread;
    pthread_mutex_t       waking;
    pthread_cond_t        wake;
    bool                  ends, started;
    atomic_uint_least64_t loads, changes, failures, received, bytes;
};

/* A copy ages while the machine sleeps. */
static uint64_t now_us(void)
{
    struct timespec t;
#ifdef CLOCK_BOOTTIME
    clock_gettime(CLOCK_BOOTTIME, &t);
#else
    clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* ---- changes ---- */

static bool keep_bytes(struct copy *c, const void *bytes, size_t len)
{
    if (c->pending_room - c->pending_len < len) {
        size_t   room = (c->pending_len + len) * 2;
        uint8_t *more = realloc(c->pending, room);
        if (!more)
            return false;
        c->pending      = more;
        c->pending_room = room;
    }
    memcpy(c->pending + c->pending_len, bytes, len);
    c->pending_len += len;
    return true;
}

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t v = 0;
    for (int b = 7; b >= 0; b--)
        v = v << 8 | bytes[b];
    return v;
}

/* Native filters take hashes of 8 bytes, RedisBloom's digests of two words. If one cannot be added,
 * the filter lacks it and what follows. */
static blm_status apply(blm_filter *f, bool native, const uint8_t *bytes, size_t len)
{
    size_t     each = native ? 8 : 16;
    blm_digest d;
    uint64_t   hash[ROUTED];
    blm_status st = BLM_OK;
    if (!native)
        blm_digest_of(f, "", 0, &d); /* for its tag */
    for (size_t n = 0, at = 0; st >= 0 && at + each <= len; at += each) {
        if (!native) {
            d.w[0] = word_at(bytes + at);
            d.w[1] = word_at(bytes + at + 8);
            st     = blm_add_digest(f, &d);
            continue;
        }
        hash[n++] = word_at(bytes + at);
        if (n == ROUTED || at + 2 * each > len) {
            st = blm_add_hashes(f, hash, n, NULL, NULL);
            n  = 0;
        }
    }
    return st < 0 ? st : BLM_OK;
}

/* False: the copy lacks some of them. */
static bool apply_pending(blm_near *n, struct copy *c)
{
    size_t each = n->follows->ours ? 8 : 16;
    if (!c->pending_len)
        return true;
    pthread_rwlock_wrlock(&n->lock);
    blm_status st = apply(c->filter, n->follows->ours, c->pending, c->pending_len);
    pthread_rwlock_unlock(&n->lock);
    if (st == BLM_OK)
        atomic_fetch_add(&n->changes, c->pending_len / each);
    c->pending_len = 0;
    return st == BLM_OK;
}

/* [epoch, sequence, hashes or nil] */
static blm_status take_changes(void *ctx, size_t i, const redisReply *r, blm_error *err)
{
    struct copy *c = *(struct copy **)ctx + i;
    if (r->type == REDIS_REPLY_ERROR && strstr(r->str, "unknown command"))
        return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                               "the server does not know BF.CHANGES: load bloomery's module");
    if (r->type == REDIS_REPLY_ERROR && strstr(r->str, "not for windows"))
        return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                               "windows and cuckoo filters have no near copies: ask the server");
    if (r->type == REDIS_REPLY_ERROR)
        return blm__remote_refusal(r->str, err);
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 3 ||
        r->element[0]->type != REDIS_REPLY_INTEGER || r->element[1]->type != REDIS_REPLY_INTEGER)
        return blm__redis_fail(err, BLM_E_FORMAT, "the server's reply to BF.CHANGES is odd");
    const redisReply *hashes = r->element[2];
    uint64_t          epoch  = (uint64_t)r->element[0]->integer;
    uint64_t          to     = (uint64_t)r->element[1]->integer;
    c->whole                 = true;
    if (hashes->type != REDIS_REPLY_STRING || epoch != c->epoch) {
        c->old   = true;
        c->epoch = epoch;
        c->at    = to;
        return BLM_OK;
    }
    if (to <= c->at) /* the second answer to the same question, or nothing new */
        return BLM_OK;
    if (!keep_bytes(c, hashes->str, hashes->len))
        return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    c->at    = to;
    c->whole = hashes->len == 0;
    return BLM_OK;
}

/* Asks shards from..from + count for changes; `begin`: only where they stand. */
static blm_status ask_changes(blm_near *n, uint32_t from, uint32_t count, bool begin,
                              blm_error *err)
{
    struct copy                *first    = &n->copies[from];
    struct blm__remote_command *commands = calloc(count, sizeof *commands);
    const char                **argv     = malloc(4 * count * sizeof *argv);
    size_t                     *len      = malloc(4 * count * sizeof *len);
    char(*numbers)[2][24]                = malloc(count * sizeof *numbers);
    blm_status st                        = BLM_E_MEMORY;
    if (commands && argv && len && numbers) {
        for (uint32_t i = 0; i < count; i++) {
            const struct blm__remote_shard *s = &n->follows->shard[from + i];
            const char                    **a = argv + 4 * (size_t)i;
            size_t                         *l = len + 4 * (size_t)i;
            snprintf(numbers[i][0], 24, "%llu", (unsigned long long)first[i].epoch);
            snprintf(numbers[i][1], 24, "%llu", (unsigned long long)first[i].at);
            a[0] = "BF.CHANGES", a[1] = s->key, a[2] = numbers[i][0], a[3] = numbers[i][1];
            l[0] = strlen(a[0]), l[1] = s->key_len, l[2] = strlen(a[2]), l[3] = strlen(a[3]);
            commands[i] = (struct blm__remote_command){
                .argc = begin ? 2 : 4, .argv = a, .len = l, .slot = s->slot
            };
        }
        st = blm__remote_run(n->follows, commands, count, BLM__AGAIN, take_changes, &first, err);
    } else {
        blm__redis_fail(err, st, "out of memory");
    }
    free(commands);
    free(argv);
    free(len);
    free(numbers);
    return st;
}

/* ---- loading ---- */

struct loading {
    blm_near *n;
    uint32_t  shard;
};

/* Between two chunks. */
static blm_status catch_up(void *ctx, blm_error *err)
{
    struct loading *l = ctx;
    return ask_changes(l->n, l->shard, 1, false, err);
}

/* Can the new bits be added to the copy's, so that those who map its file need not notice? Not of a
 * kind that grows, even if this one may not: its union appends layers. */
static bool can_unite(const blm_filter *copy, const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    return copy && blm_get_params(copy, &p) == BLM_OK && p.cell_bits == 1 &&
           p.can & BLM_CAN_UNION && !(p.can & BLM_CAN_GROW) &&
           !(blm_kind_find(p.kind)->can & BLM_CAN_GROW) && blm_can_meet(copy, f, NULL) == BLM_OK;
}

/* The file as it is, and how current that is. NULL: there is none, or not one of ours; then saving
 * says so. */
static blm_filter *open_file(blm_near *n)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    struct stat s;
    o.flags = BLM_WRITE;
    if (stat(n->file, &s) != 0 || blm_open(n->file, &o, &f, NULL) != BLM_OK)
        return NULL;
    if (!n->dated)
        n->date = (struct timespec){ .tv_sec = s.st_mtime };
    n->dated = true;
    return f;
}

/* Writing to the file has made it look newer than it is. */
static void set_date(blm_near *n)
{
    if (n->dated)
        utimensat(AT_FDCWD, n->file, (struct timespec[2]){ n->date, n->date }, 0);
}

/* Makes the loaded filter the copy, and takes it. Under the lock. */
static blm_status put_in_place(blm_near *n, struct copy *c, blm_filter *f, blm_error *err)
{
    blm_options o    = BLM_OPTIONS_INIT;
    blm_filter *old  = c->filter;
    bool        ours = c->loads > 0; /* the file */
    blm_status  st   = BLM_OK;
    o.flags          = BLM_WRITE;
    if (n->file && !old)
        old = open_file(n);
    if (n->file && can_unite(old, f)) {
        st        = blm_union(old, f, err);
        c->filter = old;
        blm_free(f);
    } else if (n->file) {
        bool replaces = n->o.replace || ours || (old && blm_can_meet(old, f, NULL) == BLM_OK);
        blm_free(old);
        st        = blm_save(f, n->file, "native", replaces ? BLM_REPLACE : 0, err);
        c->filter = NULL;
        if (st == BLM_OK)
            st = blm_open(n->file, &o, &c->filter, err);
        else if (ours) /* the old one is still there */
            c->filter = open_file(n);
        blm_free(f);
    } else {
        c->filter = f;
        blm_free(old);
    }
    c->loads += st == BLM_OK;
    return st;
}

static blm_status load_once(blm_near *n, uint32_t shard, blm_error *err)
{
    struct copy   *c = &n->copies[shard];
    struct loading l = { n, shard };
    blm_options    o = BLM_OPTIONS_INIT;
    blm_filter    *f = NULL;
    o.flags          = BLM_TORN;
    uint64_t own     = 0;
    bool     swapped = false;
    c->pending_len   = 0;
    blm_status st    = ask_changes(n, shard, 1, true, err);
    c->old           = false;
    if (st == BLM_OK)
        st = blm__remote_fetch_while(n->follows, shard, &o, catch_up, &l, &f, err);
    while (st == BLM_OK && !c->old && !swapped) {
        pthread_rwlock_rdlock(&n->lock);
        own = n->own;
        pthread_rwlock_unlock(&n->lock);
        st = catch_up(&l, err);
        if (st != BLM_OK || c->old || !c->whole)
            continue;
        st = apply(f, n->follows->ours, c->pending, c->pending_len);
        if (st != BLM_OK) {
            blm__redis_fail(err, st, "the copy cannot take a key that the server has: %s",
                            blm_status_text(st));
            continue;
        }
        c->pending_len = 0;
        pthread_rwlock_wrlock(&n->lock);
        swapped = own == n->own; /* what we added ourselves meanwhile is among the changes */
        if (swapped)
            st = put_in_place(n, c, f, err);
        pthread_rwlock_unlock(&n->lock);
    }
    if (!swapped)
        blm_free(f);
    else if (st == BLM_OK)
        atomic_fetch_add(&n->loads, 1);
    return st == BLM_OK && !swapped ? BLM_E_BUSY : st;
}

static blm_status load(blm_near *n, uint32_t shard, blm_error *err)
{
    blm_status st = BLM_E_BUSY;
    for (int i = 0; i < TRIES && st == BLM_E_BUSY; i++)
        st = load_once(n, shard, err);
    if (st == BLM_E_BUSY)
        blm__redis_fail(err, st,
                        "the filter changes faster than it can be read: raise bf-changes-length");
    n->copies[shard].old = st != BLM_OK;
    return st;
}

/* ---- following ---- */

static bool settled(const blm_near *n)
{
    for (uint32_t i = 0; i < n->shards; i++)
        if (!n->copies[i].whole)
            return false;
    return true;
}

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
    atomic_store(&n->received, r.received);
    atomic_store(&n->bytes, bytes);
}

static blm_status update(blm_near *n, blm_error *err)
{
    uint64_t        begun = now_us();
    uint_least64_t  since = atomic_load(&n->since);
    struct timespec wall;
    blm_status      st;
    clock_gettime(CLOCK_REALTIME, &wall);
    do {
        st = ask_changes(n, 0, n->shards, false, err);
        for (uint32_t i = 0; st == BLM_OK && i < n->shards; i++) {
            struct copy *c = &n->copies[i];
            if (c->old || !c->filter || !apply_pending(n, c))
                st = load(n, i, err);
        }
    } while (st == BLM_OK && !settled(n));
    if (st == BLM_OK) /* unless an add of our own failed meanwhile */
        atomic_compare_exchange_strong(&n->since, &since, begun);
    else
        atomic_fetch_add(&n->failures, 1);
    measure(n);
    if (st == BLM_OK && n->file) {
        n->date  = wall;
        n->dated = true;
    }
    set_date(n);
    return st;
}

blm_status blm_near_update(blm_near *n, blm_error *err)
{
    blm_error own;
    pthread_mutex_lock(&n->asking);
    blm_status st = update(n, err ? err : &own);
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

static bool stops(void *ctx)
{
    blm_near *n = ctx;
    pthread_mutex_lock(&n->waking);
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

static blm_status begin(blm_near *n, const char *url, blm_error *err)
{
    blm_remote_options o = BLM_REMOTE_OPTIONS_INIT;
    o.stop               = stops;
    o.stop_ctx           = n;
    n->url               = strdup(url);
    blm_status st        = n->url ? blm_remote_open(url, &o, &n->follows, err)
                                  : blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    if (st != BLM_OK)
        return st;
    n->shards = n->follows->shards;
    if (n->o.file && n->shards > 1)
        return blm__redis_fail(err, BLM_E_UNSUPPORTED, "shards cannot be in one file");
    if (n->o.file && !(n->file = strdup(n->o.file)))
        return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    n->copies = calloc(n->shards, sizeof *n->copies);
    if (!n->copies)
        return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    st = update(n, err);
    if (st == BLM_OK && pthread_create(&n->thread, NULL, follow, n) != 0)
        st = blm__redis_fail(err, BLM_E_MEMORY, "could not start a thread");
    n->started = st == BLM_OK;
    return st;
}

blm_status blm_near_open(const char *url, const blm_near_options *o, blm_near **out, blm_error *err)
{
    blm_error own;
    err = err ? err : &own;
    if (o && o->size != sizeof *o)
        return blm__redis_fail(err, BLM_E_ARGUMENT, "start options from BLM_NEAR_OPTIONS_INIT");
    blm_near *n = calloc(1, sizeof *n);
    if (!n)
        return blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    if (o)
        n->o = *o;
    n->o.every_ms = n->o.every_ms ? n->o.every_ms : EVERY_MS;
    n->o.stale_ms = n->o.stale_ms ? n->o.stale_ms : STALE_MS;
    pthread_mutex_init(&n->asking, NULL);
    pthread_mutex_init(&n->adding, NULL);
    pthread_mutex_init(&n->waking, NULL);
    pthread_cond_init(&n->wake, NULL);
    pthread_rwlock_init(&n->lock, NULL);
    blm_status st = begin(n, url, err);
    if (st == BLM_OK)
        *out = n;
    else
        blm_near_close(n);
    return st;
}

void blm_near_close(blm_near *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->waking);
    n->ends = true;
    pthread_cond_signal(&n->wake);
    pthread_mutex_unlock(&n->waking);
    if (n->started)
        pthread_join(n->thread, NULL);
    for (uint32_t i = 0; n->copies && i < n->shards; i++) {
        blm_free(n->copies[i].filter);
        free(n->copies[i].pending);
    }
    set_date(n);
    blm_remote_close(n->follows);
    blm_remote_close(n->adds);
    free(n->copies);
    free(n->url);
    free(n->file);
    pthread_mutex_destroy(&n->asking);
    pthread_mutex_destroy(&n->adding);
    pthread_mutex_destroy(&n->waking);
    pthread_cond_destroy(&n->wake);
    pthread_rwlock_destroy(&n->lock);
    free(n);
}

/* ---- keys ---- */

static bool current(blm_near *n)
{
    return now_us() - atomic_load(&n->since) <= (uint64_t)n->o.stale_ms * 1000;
}

/* The connection for adds and questions, under n->adding. */
static blm_status connect_adds(blm_near *n, blm_error *err)
{
    blm_remote_options o = BLM_REMOTE_OPTIONS_INIT;
    o.wait               = n->o.wait;
    return n->adds ? BLM_OK : blm_remote_open(n->url, &o, &n->adds, err);
}

static void ask_server(blm_near *n, const blm_key *keys, size_t count, uint8_t *maybe)
{
    blm_error err;
    pthread_mutex_lock(&n->adding);
    bool good = connect_adds(n, &err) == BLM_OK &&
                blm_remote_check_many(n->adds, keys, count, maybe, NULL, &err) == BLM_OK;
    pthread_mutex_unlock(&n->adding);
    if (!good)
        memset(maybe, 1, count);
}

/* False: the copy is too old to know, or its file could not be replaced (one shard, then). */
static bool check_copy(blm_near *n, const blm_key *keys, size_t count, uint8_t *maybe)
{
    pthread_rwlock_rdlock(&n->lock);
    bool known = current(n) && n->copies[0].filter;
    if (known && n->shards == 1)
        blm_check_many(n->copies[0].filter, keys, count, maybe);
    else if (known)
        for (size_t i = 0; i < count; i++) {
            uint32_t s = blm_remote_route(n->follows, keys[i].data, keys[i].len);
            maybe[i]   = blm_check(n->copies[s].filter, keys[i].data, keys[i].len);
        }
    pthread_rwlock_unlock(&n->lock);
    return known;
}

size_t blm_near_check_many(blm_near *n, const blm_key *keys, size_t count, uint8_t *maybe)
{
    uint8_t some[ROUTED];
    size_t  hits = 0;
    for (size_t at = 0, m; at < count; at += m) {
        m            = count - at < ROUTED ? count - at : ROUTED;
        uint8_t *out = maybe ? maybe + at : some;
        if (!check_copy(n, keys + at, m, out)) {
            if (n->o.ask)
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

blm_status blm_near_add_many(blm_near *n, const blm_key *keys, size_t count, uint8_t *fresh,
                             size_t *done, blm_error *err)
{
    blm_error own;
    err = err ? err : &own;
    pthread_mutex_lock(&n->adding);
    blm_status st = connect_adds(n, err);
    if (st == BLM_OK)
        st = blm_remote_add_many(n->adds, keys, count, fresh, done, err);
    pthread_mutex_unlock(&n->adding);
    pthread_rwlock_wrlock(&n->lock);
    n->own++;
    for (size_t i = 0; i < count; i++) { /* also what may have been added */
        uint32_t    s = blm_remote_route(n->follows, keys[i].data, keys[i].len);
        blm_filter *f = n->copies[s].filter;
        if (f && blm_add(f, keys[i].data, keys[i].len) < 0)
            atomic_store(&n->since, 0); /* not current before the next update */
    }
    pthread_rwlock_unlock(&n->lock);
    return st;
}

/* ---- what it is ---- */

void blm_near_get_stats(blm_near *n, blm_near_stats *out)
{
    blm_near_stats s    = { .size = out->size, .shards = n->shards, .current = current(n) };
    size_t         size = out->size < sizeof s ? out->size : sizeof s;
    s.age_ms            = (now_us() - atomic_load(&n->since)) / 1000;
    s.loads             = atomic_load(&n->loads);
    s.changes           = atomic_load(&n->changes);
    s.failures          = atomic_load(&n->failures);
    s.received          = atomic_load(&n->received);
    s.bytes             = atomic_load(&n->bytes);
    memcpy(out, &s, size);
}

bool blm_near_use(blm_near *n, uint32_t                                              shard,
                  void (*use)(void *ctx, const blm_filter *f, uint64_t loads), void *ctx)
{
    if (shard >= n->shards)
        return false;
    pthread_rwlock_rdlock(&n->lock);
    const blm_filter *f = n->copies[shard].filter;
    if (f)
        use(ctx, f, n->copies[shard].loads);
    pthread_rwlock_unlock(&n->lock);
    return f != NULL;
}
