/* SPDX-License-Identifier: MIT */
/*
 * Adds to a blocked filter by several threads, with the result of one.
 *
 * Keys are taken in rounds. First all threads hash, each a share of the keys. Then each thread owns
 * a stretch of the filter, goes through the hashes of all keys in order, and sets the lines that
 * are in its stretch: no bit is touched by two threads, so no atomic operation is needed, and in
 * every line keys come in their order. A key is fresh when one of its lines lacked a bit; each
 * thread notes that of the lines it set, and the notes are joined at the end.
 *
 * Going through hashes that are another's costs a thread one to two nanoseconds a line; the line
 * itself, ten out of cache. Other filters (layers that grow, counters, single bits) would gain
 * nothing or be wrong: there only the hashing is shared, and one thread adds.
 */
#include <string.h>

#include "api/batch.h"
#include "core/kernel/loops.h"
#include "core/threads.h"

#define ROUND         ((size_t)1 << 18) /* keys */
#define ROUND_DIGESTS ((size_t)1 << 13) /* of 224 bytes each */
#define SHARE         ((size_t)1 << 11) /* keys a thread hashes at a time */
#define LEAST         ((size_t)1 << 15) /* keys worth the start of threads */

struct split {
    blm_filter             *f;
    const struct blm__keys *source;
    struct blm__layer      *layer;
    struct blm__layer       one_line; /* the layer as if a key had one line */
    uint32_t                threads;
    bool                    noted; /* a key has lines in several stretches */

    uint64_t   *hash;   /* native, or schemes that step, … */
    uint64_t   *steps;  /* … and then with these */
    blm_digest *digest; /* others */
    uint8_t    *notes;  /* [threads][ROUND] */

    size_t           at, n;
    uint8_t         *fresh; /* the caller's, for these keys; may be NULL */
    _Atomic size_t   next;
    _Atomic uint64_t count;
};

/* ---- hashing ---- */

/* Where n hashed keys go, from `at` of the round on. */
static struct blm__hash_room room_at(const struct split *p, size_t at, size_t n)
{
    struct blm__hash_room room = { .words = n, .digest_count = n };
    if (p->hash)
        room.hashes = p->hash + at;
    if (p->steps)
        room.steps = p->steps + at;
    if (p->digest)
        room.digests = p->digest + at;
    return room;
}

static void hash_shares(void *ctx)
{
    struct split *p = ctx;
    size_t        i;
    while ((i = blm__next_share(&p->next)) * SHARE < p->n) {
        size_t end = p->n - i * SHARE < SHARE ? p->n : (i + 1) * SHARE;
        for (size_t at = i * SHARE, n; at < end; at += n) {
            n                          = end - at < BLM__BATCH ? end - at : BLM__BATCH;
            struct blm__hash_room room = room_at(p, at, n);
            struct blm__keys      hashed;
            blm__keys_hash(&p->f->body, p->source, p->at + at, p->at + at + n, &room, &hashed);
        }
    }
}

static void step(struct split *p, blm__task_fn task)
{
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    blm__threads_run(p->threads, task, p);
}

/* ---- stretches ---- */

/* Lines of one stretch on their way: set as soon as there is a batch of them. */
struct some {
    uint64_t hash[BLM__BATCH + BLM__MAX_LINES]; /* of a line */
    uint32_t key[BLM__BATCH + BLM__MAX_LINES];
    size_t   n;
};

static uint64_t set_some(struct split *p, struct some *s, size_t n, uint8_t *notes)
{
    const struct blm__kernel *v      = p->f->body.kernel;
    bool                      shared = p->f->body.shared;
    uint8_t                   fresh[BLM__BATCH];
    uint64_t                  count;
    count = (shared ? v->lines_add_shared : v->lines_add)(&p->one_line, s->hash, n, fresh);
    if (p->noted)
        for (size_t i = 0; i < n; i++)
            notes[s->key[i]] |= fresh[i];
    else if (p->fresh)
        for (size_t i = 0; i < n; i++)
            p->fresh[s->key[i]] = fresh[i];
    s->n -= n;
    memmove(s->hash, s->hash + n, s->n * sizeof *s->hash);
    memmove(s->key, s->key + n, s->n * sizeof *s->key);
    return count;
}

/* Appends the lines of key i that are first … first + lines − 1: without a branch, which would be
 * mispredicted as often as not. */
static void take_lines(const struct split *p, uint64_t g, uint32_t i, uint64_t first,
                       uint64_t lines, struct some *s)
{
    const struct blm__shape *shape = &p->layer->shape;
    for (uint32_t j = 0; j < shape->lines; j++, g = blm__line_next(blm__line_x(g))) {
        s->hash[s->n] = g;
        s->key[s->n]  = i;
        s->n += blm__reduce(g, shape->line_count) - first < lines;
    }
}

static void set_stretch(struct split *p, size_t stretch)
{
    const uint64_t *hash  = p->source->hashes ? p->source->hashes + p->at : p->hash;
    uint64_t        lines = p->layer->shape.line_count;
    uint64_t        first = lines * stretch / p->threads;
    uint64_t        mine  = lines * (stretch + 1) / p->threads - first;
    uint8_t        *notes = p->notes + stretch * ROUND;
    uint64_t        count = 0;
    struct some     s;
    s.n = 0;
    if (p->noted)
        memset(notes, 0, p->n);
    for (size_t i = 0; i < p->n; i++) {
        take_lines(p, hash[i], (uint32_t)i, first, mine, &s);
        if (s.n >= BLM__BATCH)
            count += set_some(p, &s, BLM__BATCH, notes);
    }
    count += set_some(p, &s, s.n, notes);
    atomic_fetch_add_explicit(&p->count, count, memory_order_relaxed);
}

static void set_stretches(void *ctx)
{
    struct split *p = ctx;
    size_t        i;
    while ((i = blm__next_share(&p->next)) < p->threads)
        set_stretch(p, i);
}

/* Joins the notes. Returns how many keys are fresh. */
static uint64_t gather(struct split *p)
{
    uint64_t count = 0;
    uint8_t *to    = p->fresh ? p->fresh : p->notes;
    if (!p->noted)
        return atomic_load_explicit(&p->count, memory_order_relaxed);
    if (p->fresh)
        memcpy(to, p->notes, p->n);
    for (uint32_t t = 1; t < p->threads; t++)
        for (size_t i = 0; i < p->n; i++)
            to[i] |= p->notes[t * ROUND + i];
    for (size_t i = 0; i < p->n; i++)
        count += to[i];
    return count;
}

/* ---- rounds ---- */

/* The layer that can be cut into stretches; NULL: none. */
static struct blm__layer *stretched_layer(const struct blm__body *b)
{
    struct blm__layer *l = blm__grows(b) ? NULL : blm__only_layer(b);
    return l && l->engine->stretches ? l : NULL;
}

/* Is hashing these keys work enough to be shared, when nothing else can be? */
static bool hashes_long(const struct blm__body *b, const struct blm__keys *k)
{
    return !k->hashes && !k->digests &&
           (k->list || k->width > 32 || !b->scheme->native || b->hasher.id != BLM_HASH_XXH3);
}

static blm_status add_round(struct split *p, bool whole, size_t count, uint8_t *fresh)
{
    if (!p->source->hashes)
        step(p, hash_shares);
    if (whole) {
        atomic_store_explicit(&p->count, 0, memory_order_relaxed);
        step(p, set_stretches);
        blm__layer_count(p->layer, (int64_t)gather(p));
        p->at += p->n;
        return blm__go_on(&p->f->body, p->at, count) || p->at == count ? BLM_OK : BLM_E_CANCELLED;
    }
    struct blm__keys hashed = {
        .n = p->n, .hashes = p->hash, .steps = p->steps, .digests = p->digest
    };
    blm_progress_fn told = p->f->body.progress;
    size_t          at   = 0;
    p->f->body.progress  = NULL; /* it is told here, of the whole */
    blm_status st        = blm__plain_add(p->f, &hashed, &at, p->n, fresh ? fresh + p->at : NULL);
    p->f->body.progress  = told;
    p->at += at;
    if (st == BLM_OK && !blm__go_on(&p->f->body, p->at, count) && p->at < count)
        st = BLM_E_CANCELLED;
    return st;
}

static bool make_room(struct split *p, bool whole, struct blm__block *block)
{
    const struct blm__scheme *scheme = p->f->body.scheme;
    uint64_t                  hashes = scheme->native ? ROUND * sizeof *p->hash
                                       : scheme->wrap ? ROUND * 2 * sizeof *p->hash
                                                      : ROUND_DIGESTS * sizeof *p->digest;
    if (!blm__block_alloc(p->f->body.alloc, hashes + (whole && p->noted ? p->threads * ROUND : 0),
                          block))
        return false;
    p->notes = (uint8_t *)block->words + hashes;
    if (scheme->native || scheme->wrap)
        p->hash = block->words;
    else
        p->digest = (blm_digest *)block->words;
    if (scheme->wrap)
        p->steps = block->words + ROUND;
    return true;
}

bool blm__split_add(blm_filter *f, const struct blm__keys *k, uint8_t *fresh, size_t *done,
                    blm_status *st)
{
    const struct blm__body *b     = &f->body;
    const size_t            count = k->n;
    struct blm__block       block;
    if (f->threads < 2 || count < LEAST)
        return false;
    struct split p     = { .f = f, .source = k, .threads = f->threads };
    bool         words = b->scheme->native || b->scheme->wrap;
    size_t       most  = words ? ROUND : ROUND_DIGESTS;
    p.layer            = stretched_layer(b);
    bool whole         = p.layer != NULL;
    /* In cache a line costs little more than going past it (5 ns a key by one thread, 8.6 by two
     * that had to share a processor): then only keys that are long to hash are worth it. */
    if (!hashes_long(b, k) && (!whole || p.layer->word_count * 8 < blm__bulk.bytes))
        return false;
    if (p.threads > BLM__MAX_THREADS)
        p.threads = BLM__MAX_THREADS;
    if (whole) {
        p.one_line             = *p.layer;
        p.noted                = p.layer->shape.lines > 1;
        p.one_line.shape.lines = 1;
    }
    if (!make_room(&p, whole, &block))
        return false;
    *st = BLM_OK;
    while (*st == BLM_OK && p.at < count) {
        size_t           left = count - p.at < most ? count - p.at : most;
        struct blm__keys part = blm__keys_part(k, p.at, left);
        p.n                   = blm__keys_good(b, &part);
        p.fresh               = fresh ? fresh + p.at : NULL;
        bool bad              = p.n < left;
        *st                   = add_round(&p, whole, count, fresh);
        if (*st == BLM_OK && bad)
            *st = blm__bad_key(k);
    }
    *done = p.at;
    blm__block_free(b->alloc, &block);
    return true;
}
