/* SPDX-License-Identifier: MIT */
/*
 * Checks, adds and removes keys. A batch is cut into commands of a thousand keys or a mebibyte, each
 * for one shard, which are all sent before the first reply is read. So the batch bounds the memory,
 * and a batch costs one round trip, however many nodes there are.
 *
 * Adds are sent as BF.INSERT NOCREATE, because BF.MADD would make a new small filter if someone has
 * deleted the key meanwhile. If the filter is gone (it expired, was evicted, or the server
 * restarted without its data), a server answers no for every key. So each batch of checks ends with
 * TYPE: a no without a filter is trouble, not an answer. This does not notice a filter that was
 * gone during the checks and made again before TYPE.
 */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

#include "bloomery/embed.h"

#define KEYS_EACH  1000u
#define BYTES_EACH ((size_t)1 << 20)
#define MOST_HEAD  4u                      /* words before the keys */
#define MOST_KEY   (((size_t)1 << 29) - 1) /* the longest argument Redis takes */
#define HASHED     256u                    /* keys hashed at once */

/* A batch that is being sent. */
struct flight {
    blm_remote                 *r;
    const blm_key              *keys;
    size_t                      count;
    const char *const          *head; /* words before the keys; the second is the shard's key */
    size_t                      words;
    bool                        there; /* then ask whether the shards that were asked are there */
    size_t                     *order; /* the keys by shard; NULL: as they come, there is one */
    size_t                     *end;   /* of each shard's keys in that order */
    struct blm__remote_command *commands;
    size_t                      parts, total; /* commands with keys, and all */
    size_t                     *first;        /* of each command's keys, in that order; one more */
    size_t                     *got;          /* answers of each command */
    const char                **argv;         /* of all commands, one after the other */
    size_t                     *len, used;
    uint8_t                    *out; /* one answer per key */
};

static size_t at(const struct flight *f, size_t i) { return f->order ? f->order[i] : i; }

/* ---- which shard ---- */

/* docs/scale.md, "Which shard": the hash times the number of shards, over 2^64. */
static uint32_t shard_of(const blm_remote *r, uint64_t hash)
{
    uint64_t high = (hash >> 32) * r->shards, low = (hash & UINT32_MAX) * r->shards;
    return (uint32_t)((high + (low >> 32)) >> 32);
}

uint32_t blm_remote_route(const blm_remote *r, const void *key, size_t len)
{
    blm_key  one  = { key, len };
    uint64_t hash = 0;
    if (r->route)
        blm_hash_many(r->route, &one, 1, &hash);
    return shard_of(r, hash);
}

/* Sorts the keys by shard, those of one shard in the order they came. False: no memory. */
static bool sort(struct flight *f)
{
    const blm_remote *r     = f->r;
    uint32_t         *shard = NULL;
    f->end                  = calloc((size_t)r->shards + 1, sizeof *f->end);
    if (!f->end)
        return false;
    if (!r->route) {
        f->end[0] = f->count;
        return true;
    }
    shard    = malloc(f->count * sizeof *shard);
    f->order = malloc(f->count * sizeof *f->order);
    if (!shard || !f->order) {
        free(shard);
        return false;
    }
    for (size_t i = 0; i < f->count; i += HASHED) {
        uint64_t hash[HASHED];
        size_t   n = f->count - i < HASHED ? f->count - i : HASHED;
        blm_hash_many(r->route, f->keys + i, n, hash);
        for (size_t k = 0; k < n; k++)
            f->end[1 + (shard[i + k] = shard_of(r, hash[k]))]++;
    }
    for (uint32_t s = 0; s < r->shards; s++)
        f->end[s + 1] += f->end[s];
    for (size_t i = 0; i < f->count; i++)
        f->order[f->end[shard[i]]++] = i; /* the start of a shard becomes its end */
    free(shard);
    return true;
}

/* ---- commands ---- */

/* How many of the keys from `from` to `end` fit in one command. */
static size_t fitting(const struct flight *f, size_t from, size_t end)
{
    size_t n = 0, bytes = 0;
    while (from + n < end && n < KEYS_EACH &&
           (n == 0 || bytes + f->keys[at(f, from + n)].len <= BYTES_EACH))
        bytes += f->keys[at(f, from + n++)].len;
    return n;
}

static struct blm__remote_command *begin(struct flight *f, uint32_t shard)
{
    struct blm__remote_command *c = &f->commands[f->total++];
    *c                            = (struct blm__remote_command){ .argv = f->argv + f->used,
                                                                  .len  = f->len + f->used,
                                                                  .slot = f->r->shard[shard].slot };
    return c;
}

static void word(struct flight *f, struct blm__remote_command *c, const void *bytes, size_t len)
{
    f->argv[f->used]  = bytes;
    f->len[f->used++] = len;
    c->argc++;
}

static void add_command(struct flight *f, uint32_t shard, size_t from, size_t n)
{
    f->first[f->total]            = from;
    struct blm__remote_command *c = begin(f, shard);
    for (size_t w = 0; w < f->words; w++)
        if (w == 1)
            word(f, c, f->r->shard[shard].key, f->r->shard[shard].key_len);
        else
            word(f, c, f->head[w], strlen(f->head[w]));
    for (size_t k = 0; k < n; k++)
        word(f, c, f->keys[at(f, from + k)].data, f->keys[at(f, from + k)].len);
}

static void add_questions(struct flight *f)
{
    for (uint32_t s = 0; s < f->r->shards; s++) {
        if (f->end[s] == (s ? f->end[s - 1] : 0))
            continue;
        struct blm__remote_command *c = begin(f, s);
        word(f, c, "TYPE", strlen("TYPE"));
        word(f, c, f->r->shard[s].key, f->r->shard[s].key_len);
    }
}

/* Makes the commands. False: no memory. */
static bool load(struct flight *f)
{
    size_t parts = 0, from = 0;
    if (!sort(f))
        return false;
    for (uint32_t s = 0; s < f->r->shards; s++)
        for (; from < f->end[s]; parts++)
            from += fitting(f, from, f->end[s]);
    size_t all  = parts + f->r->shards;
    size_t room = all * MOST_HEAD + f->count;
    f->commands = malloc(all * sizeof *f->commands);
    f->first    = malloc((parts + 1) * sizeof *f->first);
    f->got      = calloc(parts + 1, sizeof *f->got);
    f->argv     = malloc(room * sizeof *f->argv);
    f->len      = malloc(room * sizeof *f->len);
    if (!f->commands || !f->first || !f->got || !f->argv || !f->len)
        return false;
    from = 0;
    for (uint32_t s = 0; s < f->r->shards; s++)
        for (size_t n; from < f->end[s]; from += n)
            add_command(f, s, from, n = fitting(f, from, f->end[s]));
    f->parts           = parts;
    f->first[f->parts] = f->count;
    if (f->there)
        add_questions(f);
    return true;
}

static void unload(struct flight *f)
{
    free(f->order);
    free(f->end);
    free(f->commands);
    free(f->first);
    free(f->got);
    free(f->argv);
    free(f->len);
}

/* ---- replies ---- */

static blm_status odd(blm_error *err)
{
    return blm__redis_fail(err, BLM_E_FORMAT,
                           "the server's reply does not fit the command: check that it is Redis");
}

/* A command that was sent again finds what it may have done itself the first time. So "it is there"
 * then says nothing, unless the first answer came and was the same. */
static uint8_t answer(bool one, bool again, uint8_t before)
{
    if (one)
        return BLM_REMOTE_NEW;
    return again && before != BLM_REMOTE_PRESENT ? BLM_REMOTE_UNKNOWN : BLM_REMOTE_PRESENT;
}

/* A reply is one number or an array of numbers. If the filter is full, the array ends early with an
 * error. */
static blm_status take(void *ctx, size_t i, const redisReply *reply, blm_error *err)
{
    struct flight *f = ctx;
    if (reply->type == REDIS_REPLY_ERROR)
        return blm__remote_refusal(reply->str, err);
    if (i >= f->parts)
        return reply->str && strcmp(reply->str, "none") == 0
                   ? blm__remote_refusal("ERR not found", err)
                   : BLM_OK;
    size_t n     = f->first[i + 1] - f->first[i];
    bool   array = reply->type == REDIS_REPLY_ARRAY;
    if (!array && (reply->type != REDIS_REPLY_INTEGER || n != 1))
        return odd(err);
    f->got[i] = 0;
    for (size_t k = 0; k < (array ? reply->elements : 1); k++) {
        const redisReply *e = array ? reply->element[k] : reply;
        if (e->type == REDIS_REPLY_ERROR)
            return blm__remote_refusal(e->str, err);
        if (e->type != REDIS_REPLY_INTEGER || k >= n)
            return odd(err);
        uint8_t *out = &f->out[at(f, f->first[i] + k)];
        *out         = answer(e->integer > 0, f->commands[i].again && !f->there, *out);
        f->got[i]++;
    }
    return array && reply->elements < n ? odd(err) : BLM_OK;
}

/* *done becomes how many keys have an answer that counts. */
static void settle(struct flight *f, size_t *done)
{
    *done = 0;
    for (size_t i = 0; i < f->parts; i++) {
        size_t good = f->commands[i].state == BLM__DONE ? f->got[i] : 0;
        *done += good;
        for (size_t k = f->first[i] + good; k < f->first[i + 1]; k++)
            f->out[at(f, k)] = BLM_REMOTE_UNKNOWN;
    }
}

static blm_status fly(struct flight *f, unsigned how, uint8_t *out, size_t *done, blm_error *err)
{
    blm_status st = BLM_OK;
    *done         = 0;
    while (f->head[f->words])
        f->words++;
    for (size_t i = 0; i < f->count; i++)
        if (f->keys[i].len > MOST_KEY)
            return blm__redis_fail(err, BLM_E_LIMIT,
                                   "a key in the input is longer than 512 MiB, the most that Redis "
                                   "takes: leave it out");
    if (f->count == 0)
        return BLM_OK;
    f->out = out ? out : malloc(f->count);
    if (!f->out || !load(f)) {
        st = blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
        if (f->out)
            memset(f->out, BLM_REMOTE_UNKNOWN, f->count);
    } else {
        memset(f->out, BLM_REMOTE_UNKNOWN, f->count);
        st = blm__remote_run(f->r, f->commands, f->total, how, take, f, err);
        settle(f, done);
    }
    unload(f);
    return st;
}

/* ---- the calls ---- */

blm_status blm_remote_check_many(blm_remote *r, const blm_key *keys, size_t count, uint8_t *maybe,
                                 size_t *hits, blm_error *err)
{
    static const char *const head[] = { "BF.MEXISTS", "", NULL };
    struct flight f = { .r = r, .keys = keys, .count = count, .head = head, .there = true };
    size_t        done, n = 0;
    blm_status    st = fly(&f, BLM__AGAIN, maybe, &done, err);
    for (size_t i = 0; f.out && i < count; i++)
        n += f.out[i] != 0; /* what was not answered is maybe */
    if (f.out != maybe)
        free(f.out);
    if (hits)
        *hits = n;
    return st;
}

blm_status blm_remote_add_many(blm_remote *r, const blm_key *keys, size_t count, uint8_t *fresh,
                               size_t *done, blm_error *err)
{
    static const char *const head[] = { "BF.INSERT", "", "NOCREATE", "ITEMS", NULL };
    struct flight            f      = { .r = r, .keys = keys, .count = count, .head = head };
    size_t                   n;
    blm_status st = fly(&f, BLM__WRITE | (r->counting ? 0 : BLM__AGAIN), fresh, &n, err);
    if (f.out != fresh)
        free(f.out);
    if (done)
        *done = n;
    return st;
}

blm_status blm_remote_remove_many(blm_remote *r, const blm_key *keys, size_t count, uint8_t *gone,
                                  size_t *done, blm_error *err)
{
    static const char *const head[] = { "BF.DEL", "", NULL };
    struct flight            f      = { .r = r, .keys = keys, .count = count, .head = head };
    size_t                   n;
    blm_status               st = fly(&f, BLM__WRITE, gone, &n, err);
    if (f.out != gone)
        free(f.out);
    if (done)
        *done = n;
    return st;
}
