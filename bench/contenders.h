/* SPDX-License-Identifier: MIT */
/* The contenders of compare.c, and one pass of each over some keys. */
#ifndef BENCH_CONTENDERS_H
#define BENCH_CONTENDERS_H

#include <math.h>

#if defined(__x86_64__)
#define BLM_INLINE_AVX2 /* in functions that have it, as the peers */
#define BLM_INLINE_AVX512
#endif
#include <bloomery/inline.h>

#include "clock.h"
#include "keys.h"
#include "local.h"
#include "memory.h"
#ifdef BENCH_LIBBLOOM
#include <bloom.h>
#endif

#define RATE      0.01
#define SAMPLE    1000000u
#define FEW       100000u      /* up to here rounds are short, so there are eight times as many */
#define LEAST     65536u       /* keys to time at once, at least */
#define EMPTIED   (4 * SAMPLE) /* filters up to this are emptied before adds */
#define PEERS_TOP 200000000u

enum op { MISS, HIT, ADD, BUILD, OPS };
static const char *const op_name[OPS] = { "miss", "hit", "add", "build" };

enum who {
    LIBBLOOM,
    CLASSIC,
    CLASSIC_BATCH,
    BLOCKED,
    BLOCKED_INLINE,
    BLOCKED_BATCH,
    BLOCKED_32,
    BLOCKED_1000,
    BLOCKED_DIGESTS,
    BLOCKED_SHARED,
    SPLIT,
    SPLIT_INLINED,
    SPLIT_PIPE,
    LOCAL,
    LOCAL_32,
    LOCAL_PIPE,
    LIMIT,
    ALL
};
static const struct {
    const char *name;
    bool        ours, adds, checks;
} row_of[ALL] = {
    { "libbloom", false, true, true },       { "classic", true, true, true },
    { "classic_batch", true, true, true },   { "blocked", true, true, true },
    { "blocked_inline", true, false, true }, { "blocked_batch", true, true, true },
    { "blocked_32", true, false, true },     { "blocked_1000", true, false, true },
    { "blocked_digests", true, true, true }, { "blocked_shared", true, true, false },
    { "split", false, true, true },          { "split_inline", false, false, true },
    { "split_pipe", false, true, true },     { "local", false, true, true },
    { "local_32", false, false, true },      { "local_pipe", false, true, true },
    { "limit", false, true, true },
};

/* What is measured at one n. NULL or ready = 0: left out. */
struct field {
    uint64_t     n;
    blm_filter  *classic, *blocked, *shared;
    struct split split;
    struct local local;
    struct limit limit;
    double       classic_bits, blocked_bits; /* a key */
#ifdef BENCH_LIBBLOOM
    struct bloom theirs;
#endif
};

static uint8_t           answers[SAMPLE];
static volatile uint64_t sink;
static const char       *kernel_used;
static bool              json, owed_only, first_row = true;

/* ---- one pass of one contender over some keys ---- */

#define EACH_KEY(k, CALL)                                   \
    do {                                                    \
        uint64_t got = 0;                                   \
        if ((k)->width) {                                   \
            const char  *key = (k)->bytes;                  \
            const size_t len = (k)->width;                  \
            for (size_t i = 0; i < (k)->n; i++, key += len) \
                got += (uint64_t)(CALL);                    \
        } else                                              \
            for (size_t i = 0; i < (k)->n; i++) {           \
                const void  *key = (k)->list[i].data;       \
                const size_t len = (k)->list[i].len;        \
                got += (uint64_t)(CALL);                    \
            }                                               \
        sink += got;                                        \
    } while (0)

static void one_by_one(blm_filter *f, const struct keys *k, enum op op, struct watch *w)
{
    watch_go(w);
    if (op == ADD)
        EACH_KEY(k, blm_add(f, key, len));
    else
        EACH_KEY(k, blm_check(f, key, len));
    watch_halt(w);
}

static void batch(blm_filter *f, const struct keys *k, enum op op, struct watch *w)
{
    watch_go(w);
    if (op == BUILD) /* whether a key is new is not asked for */
        blm_add_fixed(f, k->bytes, k->width, k->n, NULL, NULL);
    else if (op == ADD && k->width)
        blm_add_fixed(f, k->bytes, k->width, k->n, answers, NULL);
    else if (op == ADD)
        blm_add_many(f, k->list, k->n, answers, NULL);
    else if (k->width)
        sink += blm_check_fixed(f, k->bytes, k->width, k->n, answers);
    else
        sink += blm_check_many(f, k->list, k->n, answers);
    watch_halt(w);
}

/* Keys hashed in advance, a few at a time, because a digest has room for every scheme: 224
 * bytes. */
static void digests(blm_filter *f, const struct keys *k, enum op op, struct watch *w)
{
    enum { SOME = 1024 };
    static blm_digest d[SOME];
    for (size_t at = 0; at < k->n; at += SOME) {
        size_t some = k->n - at < SOME ? k->n - at : SOME;
        for (size_t i = 0; i < some; i++)
            blm_digest_of(f, k->list[at + i].data, k->list[at + i].len, &d[i]);
        watch_go(w);
        if (op == ADD)
            blm_add_digests(f, d, some, answers, NULL);
        else
            sink += blm_check_digests(f, d, some, answers);
        watch_halt(w);
    }
}

/* So many keys a call. */
static void batches(blm_filter *f, const struct keys *k, size_t size, struct watch *w)
{
    watch_go(w);
    for (size_t at = 0; at < k->n; at += size) {
        size_t some = k->n - at < size ? k->n - at : size;
        sink += k->width
                    ? blm_check_fixed(f, k->bytes + at * k->width, k->width, some, answers + at)
                    : blm_check_many(f, k->list + at, some, answers + at);
    }
    watch_halt(w);
}

/* What is inlined is compiled for 8-byte keys by themselves. */
#define EACH_8(k, CALL)                               \
    do {                                              \
        const char *key = (k)->bytes;                 \
        uint64_t    sum = 0;                          \
        for (size_t i = 0; i < (k)->n; i++, key += 8) \
            sum += (uint64_t)(CALL);                  \
        sink += sum;                                  \
    } while (0)

SPLIT_TARGET static void inlined_8(const blm_inline *in, const struct keys *k)
{
    const blm_inline own = *in; /* of which the compiler knows that no store changes it */
    EACH_8(k, blm_inline_check8(&own, key));
}

#ifdef BLM_INLINES_AVX512
__attribute__((target("avx512f,avx512dq,bmi2"), noinline)) static void inlined_8_avx512(
    const blm_inline *in, const struct keys *k)
{
    const blm_inline own = *in;
    EACH_8(k, blm_inline_check8_avx512(&own, key));
}
#endif

SPLIT_TARGET static void inlined_any(const blm_inline *in, const struct keys *k)
{
    const blm_inline own = *in;
    EACH_KEY(k, blm_inline_check(&own, key, len));
}

/* By the instructions of the kernel that the others use. */
SPLIT_TARGET static void inlined(const blm_filter *f, const struct keys *k, struct watch *w)
{
    blm_inline in = BLM_INLINE_INIT;
    blm_inline_of(f, &in);
    watch_go(w);
    if (k->width != 8 || !blm_inline_ready(&in))
        inlined_any(&in, k);
#ifdef BLM_INLINES_AVX512
    else if (strcmp(kernel_used, "avx512") == 0)
        inlined_8_avx512(&in, k);
#endif
    else
        inlined_8(&in, k);
    watch_halt(w);
}

static void split_pass(struct split *s, const struct keys *k, enum op op, struct watch *w)
{
    watch_go(w);
    if (op == ADD || op == BUILD)
        EACH_KEY(k, (split_add(s, key, len), 0));
    else
        EACH_KEY(k, split_check(s, key, len));
    watch_halt(w);
}

SPLIT_TARGET static void split_inlined(const struct split *s, const struct keys *k, struct watch *w)
{
    const struct split own = *s;
    watch_go(w);
    if (k->width == 8)
        EACH_8(k, split_has(&own, split_hash(key, 8)));
    else
        EACH_KEY(k, split_has(&own, split_hash(key, len)));
    watch_halt(w);
}

static void local_pass(struct local *l, const struct keys *k, enum op op, struct watch *w)
{
    watch_go(w);
    if (op == ADD || op == BUILD)
        EACH_KEY(k, (local_add(l, key, len), 0));
    else
        EACH_KEY(k, local_check(l, key, len));
    watch_halt(w);
}

/* ---- the peers' batches: plain loops over what split.h and local.h inline ---- */

SPLIT_INLINE uint64_t hash_at(const struct keys *k, size_t i)
{
    if (k->width == 8)
        return split_hash(k->bytes + 8 * i, 8);
    return split_hash(k->list[i].data, k->list[i].len);
}

#define PIPE_RING 128u

/* Hash a key, ask for its block, and use that of the key hashed `ahead` keys before. */
#define PIPE(name, type, where, has, set)                                                 \
    SPLIT_INLINE void name##_ahead(type *f, const struct keys *k, bool add, size_t ahead) \
    {                                                                                     \
        uint64_t h[PIPE_RING];                                                            \
        for (size_t i = 0; i < k->n + ahead; i++) {                                       \
            if (i >= ahead) {                                                             \
                uint64_t was = h[(i - ahead) % PIPE_RING];                                \
                if (add)                                                                  \
                    set(f, was);                                                          \
                else                                                                      \
                    answers[i - ahead] = has(f, was);                                     \
            }                                                                             \
            if (i < k->n) {                                                               \
                uint64_t now     = hash_at(k, i);                                         \
                h[i % PIPE_RING] = now;                                                   \
                __builtin_prefetch(where(f, now), 0, 2);                                  \
            }                                                                             \
        }                                                                                 \
    }                                                                                     \
    SPLIT_TARGET static void name##_check_32(type *f, const struct keys *k)               \
    {                                                                                     \
        name##_ahead(f, k, false, 32);                                                    \
    }                                                                                     \
    SPLIT_TARGET static void name##_check_96(type *f, const struct keys *k)               \
    {                                                                                     \
        name##_ahead(f, k, false, 96);                                                    \
    }                                                                                     \
    SPLIT_TARGET static void name##_add_96(type *f, const struct keys *k)                 \
    {                                                                                     \
        name##_ahead(f, k, true, 96);                                                     \
    }                                                                                     \
    /* Checks by turns 32 and 96 ahead: the best round counts. */                         \
    static void name##_pass(type *f, const struct keys *k, enum op op, struct watch *w)   \
    {                                                                                     \
        static unsigned turn;                                                             \
        watch_go(w);                                                                      \
        if (op == ADD || op == BUILD)                                                     \
            name##_add_96(f, k);                                                          \
        else if (turn++ / 2 % 2) /* the untimed pass, then the timed one */               \
            name##_check_32(f, k);                                                        \
        else                                                                              \
            name##_check_96(f, k);                                                        \
        watch_halt(w);                                                                    \
    }

PIPE(split_pipe, struct split, split_block_of, split_has, split_set)
PIPE(local_pipe, struct local, local_line, local_has, local_put)

/* As RocksDB's MultiGet: hash and ask for 32, then test them. */
SPLIT_TARGET static void local_batches(struct local *l, const struct keys *k, struct watch *w)
{
    enum { SOME = 32 };
    uint64_t h[SOME];
    watch_go(w);
    for (size_t at = 0; at < k->n; at += SOME) {
        size_t some = k->n - at < SOME ? k->n - at : SOME;
        for (size_t i = 0; i < some; i++) {
            h[i] = hash_at(k, at + i);
            __builtin_prefetch(local_line(l, h[i]), 0, 3);
        }
        for (size_t i = 0; i < some; i++)
            answers[at + i] = local_has(l, h[i]);
    }
    watch_halt(w);
}

#ifdef BENCH_LIBBLOOM
static void libbloom(struct bloom *b, const struct keys *k, enum op op, struct watch *w)
{
    watch_go(w);
    if (op == ADD || op == BUILD)
        EACH_KEY(k, bloom_add(b, key, (int)len));
    else
        EACH_KEY(k, bloom_check(b, key, (int)len));
    watch_halt(w);
}
#endif

static bool there(const struct field *f, enum who who)
{
    switch (who) {
    case CLASSIC:
    case CLASSIC_BATCH:
        return f->classic != NULL;
    case BLOCKED_DIGESTS:
        return !owed_only;
    case BLOCKED_SHARED:
        return f->shared != NULL;
    case SPLIT:
    case SPLIT_INLINED:
    case SPLIT_PIPE:
        return f->split.block != NULL;
    case LOCAL:
    case LOCAL_32:
    case LOCAL_PIPE:
        return f->local.words != NULL;
    case LIBBLOOM:
#ifdef BENCH_LIBBLOOM
        return f->theirs.ready;
#else
        return false;
#endif
    default:
        return true;
    }
}

static void pass(struct field *f, enum who who, const struct keys *k, enum op op, struct watch *w)
{
    switch (who) {
    case CLASSIC:
        one_by_one(f->classic, k, op, w);
        break;
    case CLASSIC_BATCH:
        batch(f->classic, k, op, w);
        break;
    case BLOCKED:
        one_by_one(f->blocked, k, op, w);
        break;
    case BLOCKED_INLINE:
        inlined(f->blocked, k, w);
        break;
    case BLOCKED_BATCH:
        batch(f->blocked, k, op, w);
        break;
    case BLOCKED_32:
        batches(f->blocked, k, 32, w);
        break;
    case BLOCKED_1000:
        batches(f->blocked, k, 1000, w);
        break;
    case BLOCKED_DIGESTS:
        digests(f->blocked, k, op, w);
        break;
    case BLOCKED_SHARED:
        batch(f->shared, k, op, w);
        break;
    case SPLIT:
        split_pass(&f->split, k, op, w);
        break;
    case SPLIT_INLINED:
        split_inlined(&f->split, k, w);
        break;
    case SPLIT_PIPE:
        split_pipe_pass(&f->split, k, op, w);
        break;
    case LOCAL:
        local_pass(&f->local, k, op, w);
        break;
    case LOCAL_32:
        local_batches(&f->local, k, w);
        break;
    case LOCAL_PIPE:
        local_pipe_pass(&f->local, k, op, w);
        break;
#ifdef BENCH_LIBBLOOM
    case LIBBLOOM:
        libbloom(&f->theirs, k, op, w);
        break;
#endif
    default:
        break;
    }
}

static void empty(struct field *f, enum who who)
{
    switch (who) {
    case CLASSIC:
    case CLASSIC_BATCH:
        blm_clear(f->classic);
        break;
    case BLOCKED_SHARED:
        blm_clear(f->shared);
        break;
    case SPLIT:
    case SPLIT_INLINED:
    case SPLIT_PIPE:
        split_clear(&f->split);
        break;
    case LOCAL:
    case LOCAL_32:
    case LOCAL_PIPE:
        local_clear(&f->local);
        break;
#ifdef BENCH_LIBBLOOM
    case LIBBLOOM:
        bloom_reset(&f->theirs);
        break;
#endif
    default:
        blm_clear(f->blocked);
        break;
    }
}

#endif
