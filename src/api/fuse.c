/* SPDX-License-Identifier: MIT */
#include "api/fuse.h"

#include <pthread.h>
#include <string.h>

#include "core/threads.h"
#include "engine/solve.h"

#define STEPS 64u /* as a rule, into which a long build is cut */
#define OVER  16u /* times as many cells as a part takes as a rule are no use to it either */

struct job {
    const struct blm__fuse_keys  *keys;
    struct blm__fuse_size         size;
    struct blm__layer            *layer;
    struct blm__peel             *work; /* one for each thread */
    const struct blm__body       *body;
    struct blm__fuse_progress    *progress;
    const struct blm__fuse_steps *steps; /* NULL: all at once */
    uint64_t                      end;   /* of this step: a part */
    uint32_t                      level; /* 0: the first */
    bool                          tight; /* as few cells as can be found */
    pthread_t                     caller;
    _Atomic size_t                next, worker;
    _Atomic uint64_t              done, tries;
    _Atomic bool                  failed, stopped, no_memory;
};

static bool over(const struct job *j) { return j->failed || j->stopped || j->no_memory; }

/* By elimination? Where there is one part, which the caller's thread builds: its memory comes from an
 * allocator that need not be safe for others, and grows with the cells of the largest part. */
static bool solves(const struct job *j, size_t n)
{
    return j->tight && n <= BLM__SOLVE_MOST && j->layer->shape.line_count == 1;
}

/* One try. */
static bool build_with(struct job *j, struct blm__peel *work, struct blm__solve_room *room,
                       const struct blm__fuse_keys *k, uint64_t part, uint64_t factor)
{
    const struct blm__shape *s = &j->layer->shape;
    size_t                   n = k->n[0] + k->n[1];
    if (!solves(j, n)) {
        bool all = blm__peel_keys(work, k, j->size, s->line_count, factor);
        if (all)
            blm__peel_set(work, n, j->layer, part, factor);
        return all;
    }
    blm_status st = n ? blm__solve_part(j->body->alloc, room, k, j->size, s->line_count,
                                        s->cell_bits, factor, work->count)
                      : BLM_OK;
    if (st == BLM_OK && n)
        blm__peel_put(work->count, j->layer, part, factor);
    j->no_memory = j->no_memory || st == BLM_E_MEMORY;
    return st == BLM_OK;
}

static void build_part(struct job *j, struct blm__peel *work, uint64_t part)
{
    uint64_t               parts = j->layer->shape.line_count;
    struct blm__fuse_keys  k     = blm__fuse_keys_in(j->keys, part, parts);
    size_t                 n     = k.n[0] + k.n[1];
    uint32_t               i = 0, tries = blm__fuse_tries(n, solves(j, n));
    struct blm__solve_room room = { 0 };
    while (i < tries && !build_with(j, work, &room, &k, part, blm__fuse_factor(j->level, i)) &&
           !j->no_memory)
        i++;
    blm__solve_free(j->body->alloc, &room);
    j->tries += i + (i < tries);
    j->done += n;
    j->failed = j->failed || i == tries;
}

static void build_parts(void *ctx)
{
    struct job       *j    = ctx;
    struct blm__peel *work = &j->work[blm__next_share(&j->worker)];
    bool              tell = pthread_equal(j->caller, pthread_self());
    for (size_t i; !over(j) && (i = blm__next_share(&j->next)) < j->end;) {
        build_part(j, work, i);
        if (j->steps)
            j->steps->release(j->steps->ctx);
        if (tell && !blm__go_on(j->body, j->progress->done + j->done, j->progress->total))
            j->stopped = true;
    }
}

/* The most keys that one part has. */
static size_t largest(const struct blm__fuse_keys *k, uint64_t parts,
                      const struct blm__fuse_steps *steps)
{
    size_t most = 0;
    for (uint64_t i = 0; i < parts; i++) {
        if (steps) /* halving touches pages all over the list */
            steps->release(steps->ctx);
        struct blm__fuse_keys in = blm__fuse_keys_in(k, i, parts);
        if (in.n[0] + in.n[1] > most)
            most = in.n[0] + in.n[1];
    }
    return most;
}

static void enlarge(struct blm__fuse_size *s, bool tight)
{
    if (tight)
        blm__fuse_enlarge_little(s);
    else
        blm__fuse_enlarge(s);
}

/* Hashes that are not spread evenly, as those of a caller's own function may be, are one part. */
static struct blm__fuse_size sizes(const struct blm__fuse_keys *k, bool tight,
                                   const struct blm__fuse_steps *steps, uint64_t *parts,
                                   uint64_t *limit)
{
    size_t n = k->n[0] + k->n[1], most;
    *parts   = blm__fuse_parts(n);
    most     = largest(k, *parts, steps);
    if (most / 2 > n / *parts) {
        *parts = 1;
        most   = n;
    }
    struct blm__fuse_size s = tight ? blm__fuse_tight_of(most) : blm__fuse_size_of(most);
    *limit                  = OVER * s.cells + OVER * OVER * OVER;
    for (uint64_t i = 0; steps && i < steps->enlarged && s.cells <= *limit; i++)
        enlarge(&s, tight); /* no oftener, whatever a file says: so many are refused */
    return s;
}

static void free_work(const struct blm__body *b, struct blm__peel *work, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        blm__peel_free(b->alloc, &work[i]);
}

/* How many threads, each with memory for a part. */
static uint32_t workers(const struct job *j, const struct blm__shape *s, uint32_t threads)
{
    uint64_t count = threads ? threads : 1, each = blm__peel_bytes(j->size.cells);
    if (count > BLM__MAX_THREADS)
        count = BLM__MAX_THREADS;
    if (count > s->line_count)
        count = s->line_count;
    if (j->steps && count * each > j->steps->memory)
        count = j->steps->memory / each;
    return count ? (uint32_t)count : 1;
}

static blm_status no_memory(const struct job *j, blm_error *err)
{
    return blm__fail(err, BLM_E_MEMORY, "no memory to build %llu cells",
                     (unsigned long long)j->size.cells);
}

static blm_status build_step(struct job *j, uint32_t workers_made, uint64_t from, uint64_t to,
                             blm_error *err)
{
    j->next   = (size_t)from;
    j->end    = to;
    j->worker = 0;
    blm__threads_run(workers_made, build_parts, j);
    if (j->stopped)
        return blm__fail(err, BLM_E_CANCELLED, "cancelled while building");
    if (j->no_memory)
        return no_memory(j, err);
    if (j->failed)
        return BLM_E_FULL;
    return j->steps ? j->steps->done(j->steps->ctx, to, err) : BLM_OK;
}

/* All parts from this one on, with one size. BLM_E_FULL: one of them takes more cells. */
static blm_status build_sized(struct blm__body *b, struct job *j, const struct blm__shape *s,
                              uint64_t from, uint32_t threads, blm_error *err)
{
    struct blm__peel work[BLM__MAX_THREADS];
    uint32_t         made = 0, count = workers(j, s, threads);
    uint64_t         every = j->steps ? s->line_count / STEPS + 1 : s->line_count;
    blm_status       st    = b->store->add_layer(b, s, err);
    if (st != BLM_OK)
        return st;
    while (made < count && blm__peel_make(b->alloc, j->size.cells, &work[made]))
        made++;
    j->layer  = &b->layers[b->layer_count - 1];
    j->work   = work;
    j->done   = blm__fuse_keys_before(j->keys, from, s->line_count);
    j->failed = false;
    if (!made)
        st = no_memory(j, err);
    for (uint64_t at = from; at < s->line_count && st == BLM_OK; at += every)
        st = build_step(j, made, at, s->line_count - at < every ? s->line_count : at + every,
                        err); /* fewer threads than asked for also do it */
    free_work(b, work, made);
    j->work = NULL;
    return st;
}

/* Hashes that crowd are one part, and it has no bounds. */
static blm_status fits(const struct job *j, uint64_t parts, blm_error *err)
{
    uint64_t bytes = blm__peel_bytes(j->size.cells);
    if (!j->steps || parts > 1 || j->keys->n[0] + j->keys->n[1] < 2 * BLM__FUSE_PART ||
        bytes <= j->steps->memory)
        return BLM_OK;
    return blm__fail(err, BLM_E_LIMIT,
                     "the keys' hashes are not spread evenly: building takes %llu bytes of memory",
                     (unsigned long long)bytes);
}

blm_status blm__fuse_layer_build(struct blm__body *b, const struct blm__shape *given,
                                 const struct blm__fuse_keys *k, bool tight, uint32_t threads,
                                 const struct blm__fuse_steps *steps,
                                 struct blm__fuse_progress    *progress,
                                 struct blm__fuse_effort *effort, blm_error *err)
{
    uint32_t          before = b->layer_count;
    uint64_t          limit;
    struct blm__shape s = *given;
    struct job        j = { .keys     = k,
                            .body     = b,
                            .progress = progress,
                            .steps    = steps,
                            .level    = before,
                            .tight    = tight,
                            .caller   = pthread_self() };
    j.size              = sizes(k, tight, steps, &s.line_count, &limit);
    s.aux[1]            = s.line_count;
    s.rule              = BLM__FUSE;
    s.probes            = BLM__FUSE_PROBES;
    uint64_t   from     = steps ? steps->filled : 0;
    uint64_t   enlarged = steps ? steps->enlarged : 0;
    blm_status st       = fits(&j, s.line_count, err);
    if (st != BLM_OK)
        return st;
    do {
        s.aux[0] = j.size.segment;
        s.bits   = j.size.cells * s.line_count;
        if (j.size.cells > limit)
            return blm__fail(
                err, BLM_E_LIMIT,
                "a part of the keys does not fit into %llu cells: their hashes are not "
                "spread evenly%s",
                (unsigned long long)limit,
                steps ? ", or the spill directory is damaged: remove it" : "");
        if (s.bits > BLM__MAX_BITS / s.cell_bits)
            return blm__fail(err, BLM_E_LIMIT, "the keys need more than 2^48 bits");
        st = build_sized(b, &j, &s, from, threads, err);
        if (st != BLM_OK && b->layer_count > before)
            b->store->drop_layers(b, before, NULL);
        bool again = st == BLM_E_FULL;
        if (again) {
            enlarge(&j.size, tight);
            effort->enlarged++;
            from = 0;
            st   = steps ? steps->enlarge(steps->ctx, ++enlarged, err) : BLM_OK;
        }
        if (!again || st != BLM_OK)
            break;
    } while (true);
    effort->parts += s.line_count;
    effort->tries += j.tries;
    progress->done += k->n[0] + k->n[1];
    if (st == BLM_OK)
        blm__layer_count(&b->layers[before], (int64_t)(k->n[0] + k->n[1]));
    return st;
}
