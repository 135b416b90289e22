/* SPDX-License-Identifier: MIT */
/*
 * Large adds: sorted by where they fall, and by several threads at once.
 *
 * A key added to a filter larger than the caches costs a line read from memory and written back,
 * whatever the code does, unless the keys that meet in a part of the filter come one after another.
 * So keys are taken in rounds. A round hashes its keys and drops each probe into the bucket of the
 * part of the filter (128 KiB) that it falls into; then it empties the buckets, part by part, from
 * cache. A probe is the line of a key in a blocked filter, or one bit of a classic one.
 *
 * Both steps are work for as many threads as there are: the first by pieces of the keys, each with
 * buckets of its own, the second by parts, each part one thread's alone, so that no bit needs an
 * atomic operation.
 *
 * The result is that of one add after another, `fresh` too. A key is fresh when one of its probes
 * was clear as its turn came. Whether it was depends only on the probes of earlier keys in the same
 * place, all of which are set by then, fresh or not; and a part's buckets are emptied in the order
 * of the keys.
 *
 * Buckets have room for what chance brings. When one runs over all the same (one key a million
 * times), the round ends with the key before, and the next keys are added the ordinary way, which
 * keys that repeat suit better anyhow.
 */
#include <math.h>
#include <string.h>

#include "api/batch.h"
#include "core/kernel/loops.h"
#include "core/threads.h"

struct blm__bulk blm__bulk = {
    .keys  = 1000000,            /* fewer do not pay for the sorting */
    .bytes = (uint64_t)16 << 20, /* caches do not hold more */
    .room  = (uint64_t)128 << 20,
};

#define PART_SHIFT 11u   /* 2^11 lines, 128 KiB: a part and the passing bucket fit an L2 cache */
#define MOST_PARTS 1024u /* more, and the ends of the buckets no longer fit the L2 cache */
#define AHEAD      24u   /* bits of a chain asked for ahead */

struct round {
    blm_filter             *f;
    const struct blm__keys *source;
    struct blm__layer      *layer;
    uint32_t                threads, pieces, parts;
    uint32_t                probes; /* of one key: lines, or bits of a chain */
    unsigned                shift;  /* part = line >> shift */
    bool                    chain;

    /* Memory. A bucket is `deep`; that of a piece and a part is number piece · parts + part. */
    size_t    deep, piece; /* probes a bucket holds; keys a piece has, at most */
    uint64_t *probe;       /* a line's hash; or a bit's place in its part << 32 | key */
    uint32_t *fill;        /* probes in a bucket */
    uint8_t  *notes;       /* chain: [threads][pieces · piece], which keys set a bit */

    /* This round. */
    size_t           at, n;
    uint8_t         *fresh;                      /* the caller's, for these keys; may be NULL */
    size_t           good[2 * BLM__MAX_THREADS]; /* keys of each piece that are in buckets */
    uint32_t         full;                       /* pieces to be emptied */
    _Atomic size_t   next, worker;
    _Atomic uint64_t count; /* fresh lines */
};

/* ---- the plan ---- */

/* The layer whose adds are worth sorting; NULL: none. Layers that grow and counters that count
 * cannot be. For a blocked filter whose keys have to be told apart, sorting the keys' numbers along
 * costs what it gains (17 ns a key where 13 are usual, 10 bits a key, 36 MB); single bits gain all
 * the same. */
static struct blm__layer *sorted_layer(const struct blm__body *b, bool fresh)
{
    struct blm__layer *l = blm__grows(b) ? NULL : blm__only_layer(b);
    if (!l || l->engine->sorting == BLM__SORTS_NOT)
        return NULL;
    return l->engine->sorting == BLM__SORTS_BITS || (l->shape.lines == 1 && !fresh) ? l : NULL;
}

static uint64_t parts_of(uint64_t lines, unsigned shift) { return ((lines - 1) >> shift) + 1; }

static bool plan(struct round *r, size_t count)
{
    struct blm__layer *l     = r->layer;
    uint64_t           lines = (l->shape.bits + BLM__LINE_BITS - 1) / BLM__LINE_BITS;
    r->chain                 = l->engine->sorting == BLM__SORTS_BITS;
    r->probes                = r->chain ? l->shape.probes : 1;
    if (l->word_count * 8 < blm__bulk.bytes || count < lines / r->probes / 4)
        return false;
    for (r->shift = PART_SHIFT; parts_of(lines, r->shift) > MOST_PARTS; r->shift++)
        ;
    r->parts  = (uint32_t)parts_of(lines, r->shift);
    r->pieces = r->threads > 1 ? 2 * r->threads : 1;
    return r->shift + 9 < 32; /* a bit's place in its part has 32 bits */
}

/* How many probes chance may bring into a bucket when `mean` are expected: one bucket in 1e9 gets
 * more. */
static double most_of(double mean) { return mean + 6 * sqrt(mean) + 16; }

/* How deep, for how many keys: as much as the memory allows, or as the keys need. */
static void size_buckets(struct round *r, size_t count, uint64_t room)
{
    uint64_t lines   = (r->layer->shape.bits + BLM__LINE_BITS - 1) / BLM__LINE_BITS;
    double   parts   = (double)lines / (double)((uint64_t)1 << r->shift);
    double   buckets = (double)r->pieces * r->parts;
    double   mean    = (double)count / r->pieces * r->probes / (parts > 1 ? parts : 1);
    double   most    = (double)room / sizeof *r->probe / buckets;
    if (most_of(mean) > most) {
        mean = most - 6 * sqrt(most) - 16;
        mean = mean > 1 ? mean : 1;
    }
    r->deep  = ((size_t)most_of(mean) + 7) & ~(size_t)7; /* whole cache lines */
    r->piece = (size_t)(mean * (parts > 1 ? parts : 1) / r->probes);
    r->piece = (r->piece / BLM__BATCH + 1) * BLM__BATCH; /* a round without keys would never end */
}

static bool make_room(struct round *r, size_t count, struct blm__block *block)
{
    /* As much again as the filter has, up to blm__bulk.room, and past that a quarter. Every round
     * reads and writes all of the filter, so fewer rounds are faster: half of this took 8.3 ns a
     * key where this takes 6.9 (1e8 keys, 124 MB). */
    uint64_t room = r->layer->word_count * 8, most = room / 4;
    most = most > blm__bulk.room ? most : blm__bulk.room;
    size_buckets(r, count, room < most ? room : most);
    size_t   buckets = (size_t)r->pieces * r->parts;
    uint64_t notes   = r->chain ? (uint64_t)r->threads * r->pieces * r->piece : 0;
    uint64_t bytes   = (uint64_t)buckets * (r->deep * sizeof *r->probe + sizeof *r->fill) + notes;
    if (!blm__block_alloc(r->f->body.alloc, bytes, block))
        return false;
    r->probe = block->words;
    r->fill  = (uint32_t *)(r->probe + buckets * r->deep);
    r->notes = (uint8_t *)(r->fill + buckets);
    return true;
}

/* ---- first step: hash, and fill the buckets ---- */

/* Takes back the first n probes of a key whose next one found its bucket full. */
static void take_back(uint32_t *fill, uint64_t g, uint32_t n, uint64_t m, unsigned shift)
{
    for (; n > 0; n--, g = blm__chain_next(g))
        fill[blm__reduce(g, m) >> shift]--;
}

/* The next cache line of a bucket is asked for while this one fills: a write that misses the caches
 * holds up all those after it. */
#define NEXT_LINE(p) BLM__PREFETCH_W((p) + 8)

/* These return how many of the n keys are in; the first of them is key number `key`. */
static size_t fill_chain(const struct round *r, const uint64_t *h, size_t n, size_t key,
                         uint32_t *fill, uint64_t *probe)
{
    uint64_t m = r->layer->shape.bits, deep = r->deep;
    unsigned shift = r->shift + 9;
    uint32_t k     = r->probes;
    uint64_t rest  = ((uint64_t)1 << shift) - 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t g = h[i];
        for (uint32_t j = 0; j < k; j++, g = blm__chain_next(g)) {
            uint64_t  pos = blm__reduce(g, m), part = pos >> shift;
            uint64_t *to = &probe[part * deep + fill[part]];
            if (fill[part] == deep) {
                take_back(fill, h[i], j, m, shift);
                return i;
            }
            fill[part]++;
            NEXT_LINE(to);
            *to = (pos & rest) << 32 | (key + i);
        }
    }
    return n;
}

static size_t fill_lines(const struct round *r, const uint64_t *h, size_t n, uint32_t *fill,
                         uint64_t *probe)
{
    uint64_t lines = r->layer->shape.line_count, deep = r->deep;
    unsigned shift = r->shift;
    for (size_t i = 0; i < n; i++) {
        uint64_t  part = blm__reduce(h[i], lines) >> shift;
        uint64_t *to   = &probe[part * deep + fill[part]];
        if (fill[part] == deep)
            return i;
        fill[part]++;
        NEXT_LINE(to);
        *to = h[i];
    }
    return n;
}

static size_t fill_piece(const struct round *r, size_t piece, size_t from, size_t to)
{
    size_t                first = piece * r->parts;
    uint32_t             *fill  = r->fill + first;
    uint64_t             *probe = r->probe + first * r->deep;
    uint64_t              own[BLM__BATCH];
    struct blm__hash_room room = { .hashes = own, .words = BLM__BATCH };
    memset(fill, 0, r->parts * sizeof *fill);
    for (size_t i = from; i < to; i += BLM__BATCH) {
        size_t           n = to - i < BLM__BATCH ? to - i : BLM__BATCH, in;
        struct blm__keys k;
        blm__keys_hash(&r->f->body, r->source, r->at + i, r->at + i + n, &room, &k);
        in = r->chain ? fill_chain(r, k.hashes, n, i, fill, probe)
                      : fill_lines(r, k.hashes, n, fill, probe);
        if (in < n)
            return i + in - from;
    }
    return to - from;
}

static void fill_buckets(void *ctx)
{
    struct round *r = ctx;
    size_t        i;
    while ((i = blm__next_share(&r->next)) < r->pieces) {
        size_t from = i * r->piece < r->n ? i * r->piece : r->n;
        size_t to   = r->n - from < r->piece ? r->n : from + r->piece;
        r->good[i]  = fill_piece(r, i, from, to);
    }
}

/* ---- second step: empty them ---- */

static void empty_chain(const struct round *r, const uint64_t *probe, uint32_t n, uint64_t base,
                        uint8_t *notes)
{
    uint64_t *words = r->layer->words + base / 64;
    if (r->f->body.shared) {
        for (uint32_t i = 0; i < n; i++)
            notes[(uint32_t)probe[i]] |=
                (uint8_t)blm__bit_set(r->layer, base + (probe[i] >> 32), true);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            BLM__PREFETCH_W(&words[probe[i + AHEAD] >> 38]);
        uint64_t *w = &words[probe[i] >> 38], mask = (uint64_t)1 << (probe[i] >> 32 & 63);
        uint64_t  old = *w;
        *w            = old | blm__le64(mask);
        notes[(uint32_t)probe[i]] |= (blm__le64(old) & mask) == 0;
    }
}

static uint64_t empty_lines(const struct round *r, struct blm__layer *l, const uint64_t *probe,
                            uint32_t n)
{
    const struct blm__kernel *v = r->f->body.kernel;
    uint8_t                   fresh[8 * BLM__BATCH];
    uint64_t                  count = 0;
    for (uint32_t i = 0; i < n; i += sizeof fresh)
        count += (r->f->body.shared ? v->lines_add_shared : v->lines_add)(
            l, probe + i, n - i < sizeof fresh ? n - i : sizeof fresh, fresh);
    return count;
}

/* Exclusive filters: the dirty marks of a whole part are set before it is changed, so that the
 * loops need not look at each word's. A part that gets no new bit is then written again by the next
 * sync, which does no harm. */
static void mark_part(const struct round *r, size_t part)
{
    struct blm__layer *l = r->layer;
    uint64_t at = (uint64_t)part << (r->shift + 3), end = (uint64_t)(part + 1) << (r->shift + 3);
    if (!l->marks || r->f->body.shared)
        return;
    for (end = end < l->word_count ? end : l->word_count; at < end;
         at  = ((at >> l->mark_shift) + 1) << l->mark_shift)
        blm__mark(l, at);
}

/* In order, as memory likes it; the keys will ask for its lines in any. (9.7 → 8.3 ns a key.
 * Leaving out the fetches a key as well, now that the part is there: 13.5.
 * The L2 cache is not ours alone.) */
static void fetch_part(const struct round *r, size_t part)
{
    uint64_t at = (uint64_t)part << (r->shift + 3), end = (uint64_t)(part + 1) << (r->shift + 3);
    end = end < r->layer->word_count ? end : r->layer->word_count;
    for (; at < end; at += BLM__LINE_WORDS)
        BLM__PREFETCH_W(r->layer->words + at);
}

static uint8_t *notes_of(const struct round *r, size_t worker)
{
    if (r->threads == 1 && r->fresh)
        return r->fresh;
    return r->notes + worker * r->pieces * r->piece;
}

static void empty_buckets(void *ctx)
{
    struct round     *r     = ctx;
    uint64_t          count = 0;
    uint8_t          *notes = notes_of(r, blm__next_share(&r->worker));
    size_t            part;
    struct blm__layer l = *r->layer;
    if (!r->f->body.shared)
        l.marks = NULL; /* see mark_part */
    if (r->chain)
        memset(notes, 0, r->n);
    while ((part = blm__next_share(&r->next)) < r->parts) {
        mark_part(r, part);
        if (!r->chain)
            fetch_part(r, part);
        for (size_t i = 0; i < r->full; i++) {
            size_t          bucket = i * r->parts + part;
            const uint64_t *probe  = r->probe + bucket * r->deep;
            if (r->chain)
                empty_chain(r, probe, r->fill[bucket], (uint64_t)part << (r->shift + 9), notes);
            else
                count += empty_lines(r, &l, probe, r->fill[bucket]);
        }
    }
    atomic_fetch_add_explicit(&r->count, count, memory_order_relaxed);
}

/* ---- a round ---- */

/* What the threads noted becomes what one would have. Returns how many keys are fresh. */
static uint64_t gather(struct round *r)
{
    uint64_t count = 0;
    if (!r->chain)
        return atomic_load_explicit(&r->count, memory_order_relaxed);
    size_t   workers = atomic_load_explicit(&r->worker, memory_order_relaxed);
    uint8_t *to      = r->fresh ? r->fresh : r->notes;
    for (size_t w = 0; w < workers; w++) {
        const uint8_t *from = notes_of(r, w);
        if (from != to && w == 0)
            memcpy(to, from, r->n);
        else if (from != to)
            for (size_t i = 0; i < r->n; i++)
                to[i] |= from[i];
    }
    for (size_t i = 0; i < r->n; i++)
        count += to[i];
    return count;
}

static void step(struct round *r, blm__task_fn task)
{
    atomic_store_explicit(&r->next, 0, memory_order_relaxed);
    blm__threads_run(r->threads, task, r);
}

/* False: a bucket ran over, and r->n are the keys before. */
static bool do_round(struct round *r)
{
    size_t wanted = r->n, in = 0;
    atomic_store_explicit(&r->count, 0, memory_order_relaxed);
    atomic_store_explicit(&r->worker, 0, memory_order_relaxed);
    step(r, fill_buckets);
    for (r->full = 0; r->full < r->pieces;) {
        in += r->good[r->full++];
        if (in < wanted && in < r->full * r->piece)
            break;
    }
    r->n = in;
    step(r, empty_buckets);
    blm__layer_count(r->layer, (int64_t)gather(r));
    return in == wanted;
}

bool blm__bulk_add(blm_filter *f, const struct blm__keys *k, uint8_t *fresh, size_t *done,
                   blm_status *st)
{
    const size_t      count   = k->n;
    uint32_t          threads = f->threads < 1 ? 1 : f->threads;
    struct round      r       = { .f = f, .source = k };
    struct blm__block block;
    if (count < blm__bulk.keys || !(r.layer = sorted_layer(&f->body, fresh != NULL)))
        return false;
    r.threads = threads < BLM__MAX_THREADS ? threads : BLM__MAX_THREADS;
    if (!plan(&r, count) || !make_room(&r, count, &block))
        return false;
    *st = BLM_OK;
    while (*st == BLM_OK && r.at < count) {
        size_t left = count - r.at, most = r.pieces * r.piece;
        left                  = left < most ? left : most;
        struct blm__keys part = blm__keys_part(k, r.at, left);
        r.n                   = blm__keys_good(&f->body, &part);
        r.fresh               = fresh ? fresh + r.at : NULL;
        bool bad = r.n < left, whole = do_round(&r);
        r.at += r.n;
        if (!whole) {
            size_t end = count - r.at < blm__bulk.keys ? count : r.at + blm__bulk.keys;
            *st        = blm__plain_add(f, k, &r.at, end, fresh);
        } else if (bad) {
            *st = blm__bad_key(k);
        } else if (!blm__go_on(&f->body, r.at, count) && r.at < count) {
            *st = BLM_E_CANCELLED;
        }
    }
    *done = r.at;
    blm__block_free(f->body.alloc, &block);
    return true;
}
