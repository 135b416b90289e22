/* SPDX-License-Identifier: MIT */
/*
 * BF.CHANGES: what was added to a filter lately, for near copies of it (docs/scale.md).
 *
 * The last bf-changes-length hashes of new items are kept in memory, in a ring, with a sequence number
 * and an epoch. They are kept from the first BF.CHANGES on, and until nobody has asked for ten
 * minutes, or one if MOST_FILTERS have changes. The epoch is random: a reader that sees another one
 * than before (the server was restarted, a replica took over, the filter was replaced, merged or loaded), or whose sequence
 * number is no longer in the ring, loads the filter again. A replica has changes of its own.
 *
 * A server that is out of memory goes on telling those that it has told before: the command is not
 * denied then. It takes no memory for more filters.
 *
 * Which filters are followed is known by a bit in the value, so that the others pay nothing. Values
 * are freed by the background thread too; hence the lock.
 */
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "bf.h"
#include "bloomery/embed.h"

#define KEEP_SECONDS 600
#define MOST_FILTERS 1024
#define MOST_REPLY   65536 /* hashes in a reply */
#define BATCH        256

struct changes {
    struct changes     *next;
    const struct value *of;
    uint64_t            epoch, end; /* end: the sequence number of the next hash */
    uint64_t            room;       /* hashes in the ring */
    size_t              words;      /* of a hash: 1, or 2 for RedisBloom's */
    time_t              asked;
    uint64_t            ring[];
};

static struct changes *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static time_t seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* ---- the list ---- */

static struct changes **place_of(const struct value *v)
{
    struct changes **p = &all;
    while (*p && (*p)->of != v)
        p = &(*p)->next;
    return p;
}

static void drop(struct changes **p)
{
    struct changes *old = *p;
    *p                  = old->next;
    api.Free(old);
}

void bf_changes_end(struct value *v)
{
    if (!v->followed)
        return;
    v->followed = false;
    pthread_mutex_lock(&lock);
    struct changes **p = place_of(v);
    if (*p)
        drop(p);
    pthread_mutex_unlock(&lock);
}

void bf_changes_moved(const struct value *from, struct value *to)
{
    if (!to->followed)
        return;
    pthread_mutex_lock(&lock);
    struct changes *c = *place_of(from);
    if (c)
        c->of = to;
    pthread_mutex_unlock(&lock);
}

/* Drops what nobody has asked for in so many seconds. Returns how many stay. Their values still say
 * that they are followed, until they are next added to. */
static size_t drop_older(time_t age)
{
    size_t stay = 0;
    time_t now  = seconds();
    for (struct changes **p = &all; *p;) {
        if (now - (*p)->asked > age) {
            drop(p);
            continue;
        }
        p = &(*p)->next;
        stay++;
    }
    return stay;
}

/* NULL: no memory, or no random bytes. */
static struct changes *begin(struct value *v)
{
    uint64_t        room  = (uint64_t)bf_config.changes;
    size_t          words = v->native ? 1 : 2;
    struct changes *c     = bf_try_alloc(sizeof *c + (size_t)room * words * sizeof *c->ring);
    if (!c)
        return NULL;
    *c = (struct changes){ .next = all, .of = v, .room = room, .words = words };
    if (getrandom(&c->epoch, sizeof c->epoch, 0) != (ssize_t)sizeof c->epoch) {
        api.Free(c);
        return NULL;
    }
    c->epoch >>= 1; /* a number of Redis is signed */
    all         = c;
    v->followed = true;
    return c;
}

/* ---- adding ---- */

static void note(struct changes *c, const blm_filter *f, const blm_key *keys, size_t n)
{
    uint64_t hash[BATCH];
    if (c->words == 1)
        blm_hash_many(f, keys, n, hash);
    for (size_t i = 0; i < n; i++, c->end++) {
        uint64_t *at = c->ring + c->end % c->room * c->words;
        if (c->words == 1) {
            *at = hash[i];
            continue;
        }
        blm_digest d;
        blm_digest_of(f, keys[i].data, keys[i].len, &d);
        memcpy(at, d.w, 2 * sizeof *at);
    }
}

void bf_changes_add(struct value *v, Str **items, const uint8_t *fresh, size_t n)
{
    blm_key keys[BATCH];
    size_t  some = 0;
    pthread_mutex_lock(&lock);
    struct changes *c = *place_of(v);
    if (c && seconds() - c->asked > KEEP_SECONDS) {
        drop(place_of(v));
        c = NULL;
    }
    v->followed = c != NULL;
    for (size_t i = 0; c && i < n; i++) {
        if (fresh[i]) {
            keys[some].data = api.StringPtrLen(items[i], &keys[some].len);
            some++;
        }
        if (some == BATCH || (some && i + 1 == n)) {
            note(c, v->filter, keys, some);
            some = 0;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* ---- BF.CHANGES key [epoch sequence] ---- */

static int reply(Ctx *ctx, struct changes *c, bool known, uint64_t from)
{
    uint64_t n    = known ? c->end - from : 0;
    uint64_t most = n < MOST_REPLY ? n : MOST_REPLY;
    api.ReplyWithArray(ctx, 3);
    api.ReplyWithLongLong(ctx, (long long)c->epoch);
    api.ReplyWithLongLong(ctx, (long long)(known ? from + most : c->end));
    if (!known)
        return api.ReplyWithNull(ctx);
    size_t   bytes = (size_t)most * c->words * 8;
    uint8_t *out   = api.Alloc(bytes + 1);
    for (uint64_t i = 0; i < most * c->words; i++) {
        uint64_t word = c->ring[(from + i / c->words) % c->room * c->words + i % c->words];
        for (int b = 0; b < 8; b++)
            out[i * 8 + (uint64_t)b] = (uint8_t)(word >> 8 * b);
    }
    api.ReplyWithStringBuffer(ctx, (const char *)out, bytes);
    api.Free(out);
    return API_OK;
}

static int changes(Ctx *ctx, struct value *v, bool asks, uint64_t epoch, uint64_t from)
{
    struct changes **p = place_of(v), *c = *p;
    if (c && (!v->followed || c->room != (uint64_t)bf_config.changes)) {
        drop(p); /* of a value that was there before, or too long or short by now */
        c = NULL;
    }
    if (!c && drop_older(KEEP_SECONDS) >= MOST_FILTERS && drop_older(60) >= MOST_FILTERS)
        return api.ReplyWithError(ctx, "ERR changes of 1024 filters are kept already");
    if (!c && api.GetContextFlags(ctx) & API_CTX_OOM)
        return api.ReplyWithError(ctx, "OOM command not allowed when used memory > 'maxmemory'.");
    if (!c)
        c = begin(v);
    if (!c)
        return api.ReplyWithError(ctx, "ERR Insufficient memory");
    c->asked   = seconds();
    bool known = asks && c->epoch == epoch && from <= c->end && c->end - from <= c->room;
    return reply(ctx, c, known, from);
}

int bf_cmd_changes(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    long long     epoch = 0, from = 0;
    if (argc != 2 && argc != 4)
        return api.WrongArity(ctx);
    if (argc == 4 && (api.StringToLongLong(argv[2], &epoch) != API_OK ||
                      api.StringToLongLong(argv[3], &from) != API_OK || epoch < 0 || from < 0))
        return api.ReplyWithError(ctx, "ERR epoch and sequence must be numbers");
    enum bf_found found = bf_find(ctx, argv[1], &v);
    if (found != BF_OURS)
        return found == BF_MISSING ? bf_not_found(ctx) : bf_wrong_type(ctx);
    if (v->arriving)
        return bf_still_arriving(ctx);
    if (v->forgets || bf_params(v).can & BLM_CAN_FILL_UP)
        return api.ReplyWithError(ctx, "ERR BF.CHANGES is not for windows and cuckoo filters");
    pthread_mutex_lock(&lock);
    int result = changes(ctx, v, argc == 4, (uint64_t)epoch, (uint64_t)from);
    pthread_mutex_unlock(&lock);
    return result;
}
