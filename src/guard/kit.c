/* SPDX-License-Identifier: MIT */
/*
 * blm_dataset_try: what a guard relies on, tried out on a real data set. The scan is what goes wrong
 * most easily, and is believed most: a row that it leaves out is answered "absent" after the next
 * rebuild. So it is run at rest, after deletes, and while rows come, go and are replaced.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "bloomery/guard.h"
#include "core/alloc.h"
#include "core/error.h"
#include "guard/dataset.h"

#define LEAST 1000u /* a scan in pages shows its seams only with several of them */
#define MOST  ((uint64_t)1 << 24)
#define ROOM  256u

struct kit {
    const blm_dataset *d;
    blm_kit_key        key;
    void              *key_ctx;
    uint64_t           rows;
    uint8_t           *seen; /* by row: the scan named it */
    uint64_t           stop_after, named;
    _Atomic bool       done; /* the scan has ended: no more traffic */
    blm_error         *err;
};

static size_t plain_key(void *ctx, uint64_t i, void *out)
{
    (void)ctx;
    return (size_t)snprintf(out, ROOM, "bloomery-kit-%llu", (unsigned long long)i);
}

static blm_status broken(struct kit *k, uint64_t row, const char *what)
{
    char   key[ROOM];
    size_t len = k->key(k->key_ctx, row, key);
    return blm__fail(k->err, BLM_E_MISMATCH, "row %llu (\"%.*s\"): %s", (unsigned long long)row,
                     len < 60 ? (int)len : 60, key, what);
}

/* ---- one row ----------------------------------------------------------------------------- */

struct value {
    uint8_t bytes[ROOM];
    size_t  len;
};

static bool keep(void *ctx, const void *bytes, size_t len)
{
    struct value *v = ctx;
    if (len > sizeof v->bytes - v->len)
        return false;
    memcpy(v->bytes + v->len, bytes, len);
    v->len += len;
    return true;
}

static blm_status put(struct kit *k, uint64_t row, unsigned version, blm_error *err)
{
    char   key[ROOM], value[32];
    size_t len = k->key(k->key_ctx, row, key);
    int    n   = snprintf(value, sizeof value, "%llu.%u", (unsigned long long)row, version);
    return blm__data_put(k->d, key, len, value, (size_t)n, err);
}

static blm_status del(struct kit *k, uint64_t row, blm_error *err)
{
    char   key[ROOM];
    size_t len = k->key(k->key_ctx, row, key);
    return blm__data_del(k->d, key, len, err);
}

static blm_status get(struct kit *k, uint64_t row, struct value *v)
{
    char   key[ROOM];
    size_t len = k->key(k->key_ctx, row, key);
    v->len     = 0;
    return blm__data_get(k->d, key, len, keep, v, k->err);
}

static blm_status try_row(struct kit *k, uint64_t row)
{
    struct value v;
    char         want[32];
    if (get(k, row, &v) != BLM_E_ABSENT)
        return broken(k, row, "get does not give BLM_E_ABSENT, although nobody put it");
    for (unsigned version = 0; version < 2; version++) {
        blm_status st = put(k, row, version, k->err);
        if (st != BLM_OK)
            return st;
        int n = snprintf(want, sizeof want, "%llu.%u", (unsigned long long)row, version);
        if (get(k, row, &v) != BLM_OK)
            return broken(k, row, "it was put, and get does not give BLM_OK");
        if (v.len && (v.len != (size_t)n || memcmp(v.bytes, want, v.len) != 0))
            return broken(k, row, "get gives another value than the last that was put");
    }
    if (!k->d->del)
        return BLM_OK;
    if (del(k, row, k->err) != BLM_OK)
        return broken(k, row, "it is there, and del does not give BLM_OK");
    if (del(k, row, k->err) != BLM_E_ABSENT)
        return broken(k, row, "it was deleted, and a second del does not give BLM_E_ABSENT");
    if (get(k, row, &v) != BLM_E_ABSENT)
        return broken(k, row, "it was deleted, and get does not give BLM_E_ABSENT");
    return put(k, row, 0, k->err);
}

/* ---- all rows ---------------------------------------------------------------------------- */

/* The number of a key that the kit made; rows that were there before have none. Keys are compared,
 * since only their maker knows how to read them: the numbers stand in a table by hash. */
struct names {
    struct kit *k;
    uint32_t   *at; /* row + 1, open addressing */
    uint64_t    room;
};

static uint64_t hash_of(const void *key, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

static uint32_t *place_of(struct names *n, const void *key, size_t len)
{
    char other[ROOM];
    for (uint64_t i = hash_of(key, len);; i++) {
        uint32_t *at = &n->at[i & (n->room - 1)];
        if (*at == 0)
            return at;
        size_t other_len = n->k->key(n->k->key_ctx, *at - 1, other);
        if (other_len == len && memcmp(other, key, len) == 0)
            return at;
    }
}

static bool name_row(void *ctx, const void *key, size_t len)
{
    struct names *n  = ctx;
    uint32_t     *at = place_of(n, key, len);
    if (*at)
        n->k->seen[*at - 1] = 1;
    return ++n->k->named != n->k->stop_after;
}

/* Rows from `rows` on come and go, and rows below it are replaced, as long as a scan runs. */
static void *traffic(void *ctx)
{
    struct kit *k = ctx;
    for (uint64_t i = 0; !atomic_load(&k->done); i++) {
        put(k, k->rows + i % 64, 0, NULL);
        put(k, i * 7919 % k->rows, 1, NULL);
        if (k->d->del)
            del(k, k->rows + (i + 32) % 64, NULL);
    }
    return NULL;
}

static blm_status scan(struct kit *k, struct names *n, bool busy, const char *when)
{
    pthread_t t;
    memset(k->seen, 0, (size_t)k->rows + 64);
    k->named = 0;
    atomic_store(&k->done, false);
    if (busy && pthread_create(&t, NULL, traffic, k) != 0)
        return blm__fail(k->err, BLM_E_MEMORY, "cannot start a thread");
    blm_status st = blm__data_scan(k->d, name_row, n, k->err);
    atomic_store(&k->done, true);
    if (busy)
        pthread_join(t, NULL);
    uint64_t missed = 0, first = 0;
    for (uint64_t i = k->rows; i-- > 0;)
        if (!k->seen[i]) {
            missed++;
            first = i;
        }
    if (st != BLM_OK || !missed)
        return st;
    char what[120];
    snprintf(what, sizeof what, "the scan %s does not name it, and %llu of %llu rows in all", when,
             (unsigned long long)missed, (unsigned long long)k->rows);
    return broken(k, first, what);
}

static blm_status try_stop(struct kit *k, struct names *n)
{
    k->stop_after = k->rows / 2;
    k->named      = 0;
    blm_status st = blm__data_scan(k->d, name_row, n, k->err);
    if (k->named != k->stop_after)
        return blm__fail(k->err, BLM_E_MISMATCH,
                         "the scan goes on after its callback has returned false");
    k->stop_after = 0;
    return st == BLM_E_CANCELLED
               ? BLM_OK
               : blm__fail(k->err, BLM_E_MISMATCH,
                           "a scan that is stopped does not give BLM_E_CANCELLED");
}

static blm_status try_scans(struct kit *k, struct names *n)
{
    blm_status st = scan(k, n, false, "at rest");
    for (uint64_t i = 0; st == BLM_OK && k->d->del && i < k->rows; i += 3)
        st = del(k, i, k->err); /* their places may be used again … */
    for (uint64_t i = 0; st == BLM_OK && i < k->rows; i += 3)
        st = put(k, i, 0, k->err); /* … in another order */
    if (st == BLM_OK)
        st = scan(k, n, false, "after deletes");
    for (int i = 0; st == BLM_OK && i < 3; i++)
        st = scan(k, n, true, "while rows change");
    return st == BLM_OK ? try_stop(k, n) : st;
}

/* ---- deletes at once, and the mark -------------------------------------------------------- */

struct racer {
    struct kit  *k;
    _Atomic int *ready;
    uint64_t     gone;
};

static void *race(void *ctx)
{
    struct racer *r = ctx;
    atomic_fetch_add(r->ready, 1);
    while (atomic_load(r->ready) < 2)
        ;
    for (uint64_t i = 0; i < 200; i++)
        r->gone += del(r->k, i, NULL) == BLM_OK;
    return NULL;
}

static blm_status try_races(struct kit *k)
{
    _Atomic int  ready = 0;
    struct racer r[2]  = { { k, &ready, 0 }, { k, &ready, 0 } };
    pthread_t    t;
    blm_status   st = BLM_OK;
    if (!k->d->del)
        return BLM_OK;
    if (pthread_create(&t, NULL, race, &r[0]) != 0)
        return blm__fail(k->err, BLM_E_MEMORY, "cannot start a thread");
    race(&r[1]);
    pthread_join(t, NULL);
    for (uint64_t i = 0; st == BLM_OK && i < 200; i++)
        st = put(k, i, 0, k->err);
    if (st == BLM_OK && r[0].gone + r[1].gone != 200)
        st = blm__fail(k->err, BLM_E_MISMATCH,
                       "two threads delete 200 rows, and del gives BLM_OK %llu times",
                       (unsigned long long)(r[0].gone + r[1].gone));
    return st;
}

static blm_status try_mark(struct kit *k)
{
    const blm_dataset *d = k->d;
    uint8_t            before[BLM_MARK_MAX], mark[BLM_MARK_MAX], back[BLM_MARK_MAX];
    size_t             had = 0, len = 0;
    if (!d->mark_read)
        return BLM_OK;
    blm_status st = blm__data_mark_read(d, before, &had, k->err);
    if (st != BLM_OK && st != BLM_E_ABSENT)
        return st;
    for (size_t i = 0; i < sizeof mark; i++)
        mark[i] = (uint8_t)(' ' + i);
    st = blm__data_mark_write(d, mark, sizeof mark, k->err);
    if (st == BLM_OK)
        st = blm__data_mark_read(d, back, &len, k->err);
    if (st == BLM_OK && (len != sizeof mark || memcmp(mark, back, len) != 0))
        st = blm__fail(k->err, BLM_E_MISMATCH, "mark_read does not give what mark_write was given");
    if (st == BLM_OK && had) /* without one, ours stays: no guard takes it for its own */
        st = blm__data_mark_write(d, before, had, k->err);
    return st;
}

/* ---- the whole --------------------------------------------------------------------------- */

static blm_status try_all(struct kit *k, struct names *n)
{
    blm_status st = BLM_OK;
    for (uint64_t i = 0; st == BLM_OK && i < k->rows + 64; i++) {
        char   key[ROOM];
        size_t len             = k->key(k->key_ctx, i, key);
        *place_of(n, key, len) = (uint32_t)(i + 1);
    }
    for (uint64_t i = 0; st == BLM_OK && i < 20; i++)
        st = try_row(k, i);
    /* 7919 is a prime: every row once, and not in their order. */
    for (uint64_t i = 0; st == BLM_OK && i < k->rows; i++)
        st = put(k, i * 7919 % k->rows, 0, k->err);
    if (st == BLM_OK)
        st = try_scans(k, n);
    if (st == BLM_OK)
        st = try_races(k);
    if (st == BLM_OK)
        st = try_mark(k);
    for (uint64_t i = 0; k->d->del && i < k->rows + 64; i++)
        del(k, i, NULL);
    return st;
}

blm_status blm_dataset_try(const blm_dataset *d, uint64_t rows, blm_kit_key key, void *key_ctx,
                           blm_error *err)
{
    blm_error            own;
    blm_dataset          whole = { .size = sizeof whole };
    struct kit           k     = { .d = &whole, .key = key ? key : plain_key, .key_ctx = key_ctx };
    struct names         n     = { .k = &k, .room = 1 };
    const blm_allocator *a     = &blm__default_allocator;
    k.err                      = err ? err : &own;
    k.rows                     = rows < LEAST ? LEAST : rows;
    if (k.rows % 7919 == 0)
        k.rows++;
    if (!d || d->size < sizeof(size_t) || rows > MOST)
        return blm__fail(err, BLM_E_ARGUMENT, "give a data set, and at most 2^24 rows");
    memcpy(&whole, d, d->size < sizeof whole ? d->size : sizeof whole);
    if (!whole.get || !whole.put || !whole.scan)
        return blm__fail(err, BLM_E_UNSUPPORTED, "a data set without put cannot be tried");
    while (n.room < 2 * (k.rows + 64))
        n.room *= 2;
    n.at   = blm__zalloc(a, (size_t)n.room * sizeof *n.at);
    k.seen = blm__zalloc(a, (size_t)k.rows + 64);
    blm_status st =
        n.at && k.seen ? try_all(&k, &n) : blm__fail(err, BLM_E_MEMORY, "no memory for the keys");
    blm__free(a, n.at, (size_t)n.room * sizeof *n.at);
    blm__free(a, k.seen, (size_t)k.rows + 64);
    return st;
}
