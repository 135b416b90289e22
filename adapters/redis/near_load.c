/* SPDX-License-Identifier: MIT */
/*
 * What changed on the server, and whole loads of it: near.c's copies.
 *
 * A load first asks where the changes stand, then reads the filter in chunks while others add to it,
 * and then takes over all changes from that point on. A key that was added before is in the chunks;
 * one that was added during the load is in the changes, and perhaps in the chunks too, which does no
 * harm. Between two chunks the changes so far are fetched, so that the server need keep only those of
 * one chunk's time.
 *
 * The filter may be another one than before, also of another type: each load asks for the type first.
 * If it was replaced between the two, the load fails and the next one succeeds.
 */
#include "near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/embed.h"

#define TRIES 5
#define ONCE  256 /* hashes added at once */

/* ---- changes ---- */

static bool keep_bytes(struct blm__copy *c, const void *bytes, size_t len)
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
    uint64_t   hash[ONCE];
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
        if (n == ONCE || at + 2 * each > len) {
            st = blm_add_hashes(f, hash, n, NULL, NULL);
            n  = 0;
        }
    }
    return st < 0 ? st : BLM_OK;
}

/* False: the copy lacks some of them. */
static bool apply_pending(blm_near *n, struct blm__copy *c)
{
    size_t each = c->ours ? 8 : 16;
    if (!c->pending_len)
        return true;
    pthread_rwlock_wrlock(&n->lock);
    blm_status st = apply(c->filter, c->ours, c->pending, c->pending_len);
    pthread_rwlock_unlock(&n->lock);
    if (st == BLM_OK)
        atomic_fetch_add(&n->changes, c->pending_len / each);
    c->pending_len = 0;
    return st == BLM_OK;
}

/* [epoch, sequence, hashes or nil] */
static blm_status take_changes(void *ctx, size_t i, const redisReply *r, blm_error *err)
{
    struct blm__copy *c = *(struct blm__copy **)ctx + i;
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
    size_t each = c->ours ? 8 : 16;
    if (hashes->len % each || to - c->at > hashes->len / each) /* keys would be missing here */
        return blm__redis_fail(err, BLM_E_FORMAT, "the server's reply to BF.CHANGES lacks changes");
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
    struct blm__copy           *first    = &n->copies[from];
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

/* Keys that are added meanwhile may be in the bytes and not in their count, so the copy would say for
 * good that it may have keys that are not counted. The first pass does without, and ends if one comes. */
struct loading {
    blm_near *n;
    uint32_t  shard;
    bool      torn; /* let them come */
    uint64_t  from; /* the change that it began with */
};

/* Between two chunks. */
static blm_status catch_up(void *ctx, blm_error *err)
{
    struct loading   *l  = ctx;
    struct blm__copy *c  = &l->n->copies[l->shard];
    blm_status        st = ask_changes(l->n, l->shard, 1, false, err);
    if (st == BLM_OK && !l->torn && (c->old || c->at != l->from))
        st = blm__redis_fail(err, BLM_E_BUSY, "the filter changed while it was read");
    return st;
}

/* *read: the filter was read whole; what fails then is the copy's place. */
static blm_status load_once(blm_near *n, uint32_t shard, bool torn, bool *read, blm_error *err)
{
    struct blm__copy *c = &n->copies[shard];
    struct loading    l = { n, shard, torn, 0 };
    blm_options       o = BLM_OPTIONS_INIT;
    blm_filter       *f = NULL;
    o.flags             = torn ? BLM_TORN : 0;
    uint64_t own        = 0;
    bool     swapped    = false;
    c->pending_len      = 0;
    blm_status st       = ask_changes(n, shard, 1, true, err);
    c->old              = false;
    if (st == BLM_OK)
        st = blm__remote_look(n->follows, shard, err);
    c->ours = n->follows->ours;
    l.torn |= !c->ours; /* RedisBloom's cannot say it */
    l.from = c->at;
    if (st == BLM_OK)
        st = blm__remote_fetch_while(n->follows, shard, &o, catch_up, &l, &f, err);
    if (st == BLM_OK && !l.torn)
        st = catch_up(&l, err);
    l.torn = true; /* what comes now is not in the bytes */
    while (st == BLM_OK && !c->old && !swapped) {
        pthread_rwlock_rdlock(&n->lock);
        own = n->own;
        pthread_rwlock_unlock(&n->lock);
        st = catch_up(&l, err);
        if (st != BLM_OK || c->old || !c->whole)
            continue;
        st = apply(f, c->ours, c->pending, c->pending_len);
        if (st != BLM_OK) {
            blm__redis_fail(err, st, "the copy cannot take a key that the server has: %s",
                            blm_status_text(st));
            continue;
        }
        c->pending_len = 0;
        pthread_rwlock_wrlock(&n->lock);
        swapped = own == n->own; /* what we added ourselves meanwhile is among the changes */
        if (swapped)
            st = blm__near_place(n, shard, f, err);
        pthread_rwlock_unlock(&n->lock);
    }
    *read = swapped;
    if (!swapped)
        blm_free(f);
    else if (st == BLM_OK && atomic_fetch_add(&n->loads, 1) >= n->shards)
        atomic_fetch_add(&n->filters, 1); /* not the first time */
    return st == BLM_OK && !swapped ? BLM_E_BUSY : st;
}

static blm_status load(blm_near *n, uint32_t shard, blm_error *err)
{
    bool       read;
    blm_status st = load_once(n, shard, false, &read, err);
    if (!read && (st == BLM_E_CHECKSUM || st == BLM_E_TRUNCATED || st == BLM_E_FORMAT))
        st = BLM_E_BUSY; /* torn, or damaged */
    for (int i = 0; i < TRIES && st == BLM_E_BUSY && !read; i++)
        st = load_once(n, shard, true, &read, err);
    if (st == BLM_E_BUSY && !read)
        blm__redis_fail(err, st,
                        "the filter changes faster than it can be read: raise bf-changes-length");
    n->copies[shard].old = st != BLM_OK;
    return st;
}

/* ---- both ---- */

static bool settled(const blm_near *n)
{
    for (uint32_t i = 0; i < n->shards; i++)
        if (!n->copies[i].whole)
            return false;
    return true;
}

blm_status blm__near_catch_up(blm_near *n, blm_error *err)
{
    blm_status st;
    do {
        st = ask_changes(n, 0, n->shards, false, err);
        for (uint32_t i = 0; st == BLM_OK && i < n->shards; i++) {
            struct blm__copy *c = &n->copies[i];
            if (c->old || !c->filter || !apply_pending(n, c))
                st = load(n, i, err);
        }
    } while (st == BLM_OK && !settled(n));
    return st;
}
