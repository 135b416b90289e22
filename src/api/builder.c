/* SPDX-License-Identifier: MIT */
/*
 * The public calls that build a filter at once: gather the hashes of all keys, sort them, choose a
 * size, work out the cells (api/fuse.c), and ask the filter for every key before it is given out.
 * Kinds that can be added to are made for as many keys as there are, and filled.
 */
#include <math.h>
#include <string.h>

#include "api/builder.h"
#include "bloomery/embed.h"
#include "core/kernel/fuse.h"
#include "core/threads.h"
#include "maths/sizing.h"
#include "store/store.h"

#define IN  BLM__IN
#define OUT BLM__OUT

/* Keys that a thread hashes at a time, and the least that several are asked for. */
#define SHARE    ((size_t)1 << 12)
#define LEAST    ((size_t)1 << 15)
#define VERIFIED ((size_t)1 << 16) /* hashes between two looks at progress … */
#define LET_GO   32u               /* … and so many of those between two times that pages go */

/* ---- a builder ---- */

/* What a filter that only hashes is taken to be. */
static const struct blm__shape blank = { .kind       = BLM_STATIC,
                                         .rule       = BLM__FUSE,
                                         .scheme     = &blm__scheme_native,
                                         .bits       = BLM__FUSE_PROBES,
                                         .line_count = 1,
                                         .probes     = BLM__FUSE_PROBES,
                                         .cell_bits  = 1,
                                         .aux        = { 1, 1 } };

static blm_status prepare(blm_builder *b, blm_error *err)
{
    blm_options o  = b->o;
    blm_status  st = blm__filter_blank(&o, &b->f, err);
    if (st == BLM_OK && o.scheme && strcmp(o.scheme, "native") != 0)
        st = blm__fail(err, BLM_E_UNSUPPORTED, "only native filters are built at once, not %s",
                       o.scheme);
    if (st == BLM_OK && (o.bits || o.probes || o.memory || o.like || o.words))
        st = blm__fail(err, BLM_E_ARGUMENT,
                       "a builder sizes by the rate alone: bits, probes, memory, like and words "
                       "must be 0");
    if (st == BLM_OK && o.rate != 0 && !(o.rate > 0 && o.rate < 1))
        st = blm__fail(err, BLM_E_ARGUMENT, "rate must be between 0 and 1, not %g", o.rate);
    if (st == BLM_OK && o.rate == 0 && o.kind != BLM_CASCADE && o.kind != BLM_ANY_KIND)
        st = blm__fail(err, BLM_E_ARGUMENT, "the rate is missing");
    o.kind = o.kind ? o.kind : BLM_STATIC;
    if (st == BLM_OK && blm__kind_of(o.kind) && blm__kind_of(o.kind)->row.can & BLM_CAN_FORGET)
        st = blm__fail(err, BLM_E_UNSUPPORTED, "a kind that forgets keys is not built from a list");
    if (st == BLM_OK)
        st = blm__filter_choose(b->f, &o, err);
    return st == BLM_OK ? blm__filter_hashes(b->f, &blank, err) : st;
}

blm_status blm__builder_make(const blm_options *o, blm_builder **out, blm_error *err)
{
    const blm_allocator *a = o->allocator ? o->allocator : &blm__default_allocator;
    blm_builder         *b = blm__zalloc(a, sizeof *b);
    if (!b)
        return blm__fail(err, BLM_E_MEMORY, "no memory for a builder");
    b->o           = *o;
    b->o.allocator = a;
    blm_status st  = prepare(b, err);
    if (st == BLM_OK && o->items && o->items <= SIZE_MAX / 16 &&
        !blm__hashes_room(&b->list[IN], a, (size_t)o->items))
        st = blm__fail(err, BLM_E_MEMORY, "no memory for the hashes of %llu keys",
                       (unsigned long long)o->items);
    if (st == BLM_OK)
        *out = b;
    else
        blm_builder_free(b);
    return st;
}

blm_status blm_builder_new(const blm_options *options, blm_builder **out, blm_error *err)
{
    blm_options o;
    if (!out)
        return blm__fail(err, BLM_E_ARGUMENT, "nowhere to put the builder: out is NULL");
    *out          = NULL;
    blm_status st = blm__options_read(options, false, &o, err);
    return st == BLM_OK ? blm__builder_make(&o, out, err) : st;
}

void blm_builder_free(blm_builder *b)
{
    if (!b)
        return;
    const blm_allocator *a = b->o.allocator;
    blm__builder_close(b);
    blm__hashes_free(&b->list[IN], a);
    blm__hashes_free(&b->list[OUT], a);
    blm_free(b->built);
    blm_free(b->f);
    blm__free(a, b, sizeof *b);
}

/* ---- keys ---- */

struct hashing {
    const struct blm__body *body;
    struct blm__keys        keys;
    uint64_t               *out;
    _Atomic size_t          next;
};

static void hash_shares(void *ctx)
{
    struct hashing *j = ctx;
    size_t          at;
    while ((at = blm__next_share(&j->next) * SHARE) < j->keys.n) {
        size_t n = j->keys.n - at < SHARE ? j->keys.n - at : SHARE;
        if (j->keys.fixed)
            blm__native_hash_fixed(&j->body->hasher, j->body->kernel,
                                   (const uint8_t *)j->keys.fixed + at * j->keys.width,
                                   j->keys.width, n, j->out + at);
        else
            blm__native_hash_many(&j->body->hasher, j->body->kernel, j->keys.list + at, n,
                                  j->out + at);
    }
}

static blm_status may_take(const blm_builder *b, int list)
{
    if (b->done)
        return BLM_E_ARGUMENT;
    return list == OUT && b->o.kind != BLM_CASCADE && b->o.kind != BLM_ANY_KIND ? BLM_E_UNSUPPORTED
                                                                                : BLM_OK;
}

/* So many more are in a list in memory: a filter without them is of no use. */
static void taken(blm_builder *b, int list, size_t n)
{
    b->list[list].n += n;
    b->given[list] += n;
    blm_free(b->built);
    b->built = NULL;
}

/* Some at a time, to files. */
static blm_status take_to_disk(blm_builder *b, int list, const struct blm__keys *k)
{
    uint64_t   h[SHARE];
    blm_status st = BLM_OK;
    for (size_t at = 0; at < k->n && st == BLM_OK; at += SHARE) {
        struct hashing j = { .body = &b->f->body, .keys = *k, .out = h };
        j.keys.n         = k->n - at < SHARE ? k->n - at : SHARE;
        if (k->fixed)
            j.keys.fixed = (const uint8_t *)k->fixed + at * k->width;
        else
            j.keys.list = k->list + at;
        hash_shares(&j);
        st = blm__builder_spill(b, list, h, j.keys.n);
    }
    return st;
}

static blm_status take(blm_builder *b, int list, const struct blm__keys *k)
{
    blm_status st = may_take(b, list);
    if (st != BLM_OK || k->n == 0)
        return st;
    for (size_t i = 0; k->list && i < k->n; i++)
        if (!k->list[i].data && k->list[i].len)
            return BLM_E_ARGUMENT;
    if (b->disk)
        return take_to_disk(b, list, k);
    struct hashing j = { .body = &b->f->body, .keys = *k };
    j.out            = blm__hashes_room(&b->list[list], b->o.allocator, k->n);
    if (!j.out)
        return BLM_E_MEMORY;
    blm__threads_run(k->n < LEAST ? 1 : b->o.threads, hash_shares, &j);
    taken(b, list, k->n);
    return BLM_OK;
}

static blm_status take_list(blm_builder *b, int list, const blm_key *keys, size_t count)
{
    struct blm__keys k = { .n = count, .list = keys };
    return !keys && count ? BLM_E_ARGUMENT : take(b, list, &k);
}

static blm_status take_fixed(blm_builder *b, int list, const void *keys, size_t width, size_t count)
{
    struct blm__keys k = { .n = count, .fixed = keys ? keys : "", .width = width };
    return !keys && width && count ? BLM_E_ARGUMENT : take(b, list, &k);
}

static blm_status take_hashes(blm_builder *b, int list, const uint64_t *hashes, size_t count)
{
    blm_status st = may_take(b, list);
    if (st != BLM_OK || count == 0)
        return st;
    if (!hashes)
        return BLM_E_ARGUMENT;
    if (b->disk)
        return blm__builder_spill(b, list, hashes, count);
    uint64_t *to = blm__hashes_room(&b->list[list], b->o.allocator, count);
    if (!to)
        return BLM_E_MEMORY;
    memcpy(to, hashes, count * sizeof *to);
    taken(b, list, count);
    return BLM_OK;
}

blm_status blm_builder_add(blm_builder *b, const blm_key *keys, size_t count)
{
    return take_list(b, IN, keys, count);
}

blm_status blm_builder_exclude(blm_builder *b, const blm_key *keys, size_t count)
{
    return take_list(b, OUT, keys, count);
}

blm_status blm_builder_add_fixed(blm_builder *b, const void *keys, size_t width, size_t count)
{
    return take_fixed(b, IN, keys, width, count);
}

blm_status blm_builder_exclude_fixed(blm_builder *b, const void *keys, size_t width, size_t count)
{
    return take_fixed(b, OUT, keys, width, count);
}

blm_status blm_builder_hash(const blm_builder *b, const blm_key *keys, size_t count, uint64_t *out)
{
    return b->f ? blm_hash_many(b->f, keys, count, out) : BLM_E_ARGUMENT;
}

blm_status blm_builder_add_hashes(blm_builder *b, const uint64_t *hashes, size_t count)
{
    return take_hashes(b, IN, hashes, count);
}

blm_status blm_builder_exclude_hashes(blm_builder *b, const uint64_t *hashes, size_t count)
{
    return take_hashes(b, OUT, hashes, count);
}

bool blm_builder_conflict(const blm_builder *b, uint64_t *hash)
{
    if (b->conflict && hash)
        *hash = b->conflict_hash;
    return b->conflict;
}

/* ---- levels ---- */

static struct blm__shape level_of(const blm_builder *b, uint32_t bits, uint64_t capacity)
{
    return (struct blm__shape){ .kind      = b->f->body.kind,
                                .scheme    = &blm__scheme_native,
                                .cell_bits = bits,
                                .capacity  = capacity };
}

static blm_status build_level(blm_builder *b, const struct blm__shape *s,
                              const struct blm__fuse_keys *k, struct blm__fuse_progress *p,
                              blm_error *err)
{
    struct blm__fuse_steps steps;
    if (b->disk)
        steps = blm__builder_steps(b);
    return blm__fuse_layer_build(&b->f->body, s, k, b->f->body.ops->layers > 1, b->o.threads,
                                 b->disk ? &steps : NULL, p, &b->effort, err);
}

static blm_status no_rate(double rate, blm_error *err)
{
    return blm__fail(err, BLM_E_LIMIT, "no fingerprint of %u bits or fewer gives a rate of %g",
                     BLM__FUSE_BITS_MOST, rate);
}

static blm_status build_static(blm_builder *b, struct blm__fuse_progress *p, blm_error *err)
{
    const struct blm__hashes *in = &b->list[IN];
    struct blm__fuse_keys     k  = { { in->of, NULL }, { in->n, 0 } };
    struct blm__shape         s  = level_of(b, blm__fuse_bits(in->n, b->o.rate), in->n);
    if (s.cell_bits == 0)
        return no_rate(b->o.rate, err);
    b->f->body.rate = s.rate = b->o.rate;
    return build_level(b, &s, &k, p, err);
}

/* Bits of fingerprint for the first level, so that both levels together are smallest: one bit more
 * lets half as many excluded keys pass. 0: no first level. */
static uint32_t first_bits(uint64_t in, uint64_t out, double rate)
{
    uint32_t best  = 0;
    double   least = INFINITY;
    for (uint32_t f = 0; f <= BLM__FUSE_BITS_MOST; f++) {
        double pass  = ldexp((double)out, -(int)f);
        double cells = (f ? (double)blm__fuse_tight_cells(in) * f : 0) +
                       (double)blm__fuse_tight_cells(in + (uint64_t)pass);
        if ((rate == 0 || ldexp(1, -(int)f - 1) <= rate) && cells < least) {
            least = cells;
            best  = f;
        }
    }
    return least < INFINITY ? best : UINT32_MAX;
}

/* The excluded keys that pass the first level, to the front of their list, in order; how many. */
static size_t to_front(blm_builder *b)
{
    struct blm__hashes *out = &b->list[OUT];
    uint8_t             maybe[BLM__BATCH];
    size_t              pass = 0;
    for (size_t at = 0, n; at < out->n; at += n) {
        n                  = out->n - at < BLM__BATCH ? out->n - at : BLM__BATCH;
        struct blm__keys k = { .n = n, .hashes = out->of + at };
        b->f->body.layers[0].engine->check(&b->f->body, b->f->body.layers, &k, maybe);
        for (size_t i = 0; i < n; i++)
            if (maybe[i]) {
                uint64_t h      = out->of[at + i];
                out->of[at + i] = out->of[pass];
                out->of[pass++] = h;
            }
    }
    return pass;
}

static blm_status build_cascade(blm_builder *b, struct blm__fuse_progress *p, blm_error *err)
{
    const struct blm__hashes *in = &b->list[IN], *out = &b->list[OUT];
    uint32_t                  bits = first_bits(in->n, out->n, b->o.rate);
    const uint64_t           *few  = out->of; /* those excluded keys that the last level is told */
    size_t                    pass = out->n;
    blm_status                st   = BLM_OK;
    if (bits == UINT32_MAX)
        return no_rate(b->o.rate, err);
    double            rate = ldexp(1, -(int)bits - 1);
    struct blm__shape s    = level_of(b, bits, in->n);
    b->f->body.rate        = b->o.rate > 0 ? b->o.rate : rate;
    if (in->n == 0)
        bits = 0;
    if (bits) {
        struct blm__fuse_keys k = { { in->of, NULL }, { in->n, 0 } };
        s.rate                  = blm__rate_fuse(bits, in->n);
        st                      = build_level(b, &s, &k, p, err);
        if (st == BLM_OK && b->disk)
            st = blm__builder_passing(b, &few, &pass, err);
        else if (st == BLM_OK)
            pass = to_front(b);
    }
    struct blm__fuse_keys k = { { in->of, few }, { in->n, in->n ? pass : 0 } };
    s                       = level_of(b, 1, out->n);
    s.rate                  = 0.5;
    if (st == BLM_OK)
        st = build_level(b, &s, &k, p, err);
    if (st == BLM_OK) /* with nothing included, all are out without a cell of theirs */
        blm__layer_recount(&b->f->body.layers[b->f->body.layer_count - 1], in->n + pass);
    return st;
}

/* ---- the whole ---- */

blm_status blm__builder_choose(blm_builder *b, blm_error *err)
{
    static const blm_kind some[] = { BLM_STATIC, BLM_CLASSIC, BLM_BLOCKED };
    uint64_t              least  = UINT64_MAX;
    if (b->o.kind)
        return BLM_OK;
    if (b->list[OUT].n) {
        b->o.kind = BLM_CASCADE;
        return BLM_OK;
    }
    if (b->o.rate == 0)
        return blm__fail(err, BLM_E_ARGUMENT, "the rate is missing");
    b->o.kind = BLM_STATIC;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        blm_options o = b->o;
        blm_plan    p = { .size = sizeof p };
        o.kind        = some[i];
        o.items       = b->list[IN].n ? b->list[IN].n : 1;
        if (b->list[IN].n == 0 && least != UINT64_MAX)
            break; /* without a key the first that has the rate will do */
        if (blm_plan_for(&o, &p, NULL) == BLM_OK && p.bytes < least) {
            least     = p.bytes;
            b->o.kind = some[i];
        }
    }
    return BLM_OK;
}

/* A kind that can be added to, for the keys there are. */
static blm_status fill(blm_builder *b, blm_error *err)
{
    blm_options o = b->o;
    blm_filter *f;
    o.items = b->list[IN].n ? b->list[IN].n : 1;
    o.flags = (o.flags & BLM_SHARED) | BLM_SEEDED;
    memcpy(o.seed, b->f->body.hasher.seed, sizeof o.seed);
    blm_status st = blm_create(&o, &f, err);
    if (st != BLM_OK)
        return st;
    f->body.hasher.policy = b->f->body.hasher.policy;
    st                    = blm_add_hashes(f, b->list[IN].of, b->list[IN].n, NULL, NULL);
    if (st != BLM_OK) {
        blm_free(f);
        return blm__fail(err, st, "%s", blm_status_text(st));
    }
    blm_free(b->f);
    b->f = f;
    return BLM_OK;
}

/* Does every key of a list get this answer? */
static blm_status verify(const blm_builder *b, int list, struct blm__fuse_progress *p,
                         blm_error *err)
{
    const struct blm__hashes *l = &b->list[list];
    for (size_t at = 0, n; at < l->n; at += n) {
        n = l->n - at < VERIFIED ? l->n - at : VERIFIED;
        if (blm_check_hashes(b->f, l->of + at, n, NULL) != (list == IN ? n : 0))
            return b->disk ? blm__disk_damaged(err)
                           : blm__fail(err, BLM_E_CHECKSUM,
                                       "the filter that was built does not answer as it must: is "
                                       "this machine's memory damaged?");
        p->done += n;
        if (b->disk && at / VERIFIED % LET_GO == 0)
            blm__disk_release(b->disk);
        if (!blm__go_on(&b->f->body, p->done, p->total))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled while verifying");
    }
    return BLM_OK;
}

blm_status blm__builder_run(blm_builder *b, struct blm__fuse_progress *p, blm_error *err)
{
    size_t     in = b->list[IN].n, out = b->list[OUT].n;
    blm_status st = blm__builder_choose(b, err);
    if (st != BLM_OK)
        return st;
    const struct blm__kind *kind = blm__kind_of(b->o.kind);
    p->total                     = p->done + 2 * in + (b->o.kind == BLM_CASCADE ? in + 2 * out : 0);
    if (kind->add) {
        st = fill(b, err);
    } else {
        b->f->body.kind = b->o.kind;
        b->f->body.ops  = kind;
        st = b->o.kind == BLM_CASCADE ? build_cascade(b, p, err) : build_static(b, p, err);
        if (st == BLM_OK)
            st = blm__filter_hashes(b->f, &b->f->body.layers[0].shape, err);
    }
    b->f->threads = b->o.threads;
    for (int list = IN; st == BLM_OK && list <= OUT; list++)
        st = verify(b, list, p, err);
    return st;
}

blm_status blm__builder_conflict(blm_builder *b, uint64_t hash, blm_error *err)
{
    b->conflict      = true;
    b->conflict_hash = hash;
    return blm__fail(err, BLM_E_CONFLICT,
                     "an included and an excluded key have the same hash, %016llx: they are "
                     "the same key, or another seed tells them apart",
                     (unsigned long long)hash);
}

static blm_status build_lists(blm_builder *b, blm_error *err)
{
    struct blm__fuse_progress p = { 0, 0 };
    uint64_t                  hash;
    blm__hashes_sort(&b->list[IN], b->o.threads);
    blm__hashes_sort(&b->list[OUT], b->o.threads);
    return blm__hashes_meet(&b->list[IN], &b->list[OUT], &hash)
               ? blm__builder_conflict(b, hash, err)
               : blm__builder_run(b, &p, err);
}

/* Another filter without layers, which hashes as the builder's does. */
static blm_status hashing_like(const blm_builder *b, blm_filter **out, blm_error *err)
{
    blm_status st = blm__filter_blank(&b->o, out, err);
    if (st != BLM_OK)
        return st;
    struct blm__body *to = &(*out)->body;
    to->kind             = b->f->body.kind;
    to->ops              = b->f->body.ops;
    to->scheme           = b->f->body.scheme;
    to->shared           = b->f->body.shared;
    to->hasher           = b->f->body.hasher;
    to->hasher.secret    = NULL; /* that one is the other's */
    return blm__filter_hashes(*out, &blank, err);
}

/* Everything is as it was if this fails: the lists are sorted, but they are still there. */
blm_status blm__builder_ready(blm_builder *b, blm_error *err)
{
    blm_filter *hashing = b->f, *next = NULL;
    blm_kind    asked = b->o.kind;
    if (b->done)
        return blm__fail(err, BLM_E_ARGUMENT, "a builder builds once: make another");
    if (b->built)
        return BLM_OK;
    blm_status st = hashing_like(b, &next, err);
    if (st == BLM_OK) {
        b->f      = next;
        st        = build_lists(b, err);
        next      = b->f;
        b->f      = hashing;
        b->o.kind = asked;
    }
    if (st == BLM_OK)
        b->built = next;
    else
        blm_free(next);
    return st;
}

blm_status blm_builder_build(blm_builder *b, blm_filter **out, blm_error *err)
{
    if (!out)
        return blm__fail(err, BLM_E_ARGUMENT, "nowhere to put the filter: out is NULL");
    *out = NULL;
    if (b->disk)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "a builder whose keys are in files makes a file, not a filter in memory");
    blm_status st = blm__builder_ready(b, err);
    if (st != BLM_OK)
        return st;
    *out     = b->built;
    b->built = NULL;
    b->done  = true;
    return BLM_OK;
}

/* ---- what was built ---- */

blm_status blm_get_fixed(const blm_filter *f, blm_fixed *out)
{
    const struct blm__body  *b = &f->body;
    const struct blm__layer *last;
    blm_fixed                x = { .size = sizeof x, .levels = b->layer_count };
    blm_params               p = { .size = sizeof p };
    if (b->ops->add)
        return BLM_E_UNSUPPORTED;
    last = &b->layers[b->layer_count - 1];
    blm_get_params(f, &p);
    x.included = p.items;
    if (b->ops->layers) {
        x.excluded = last->shape.capacity;
        x.passed   = blm__layer_items(last) - x.included;
    }
    x.print_bits = b->ops->layers && b->layer_count == 1 ? 0 : b->layers[0].shape.cell_bits;
    b->ops->rate_at(b, x.included, &x.rate);
    return blm__emit(out, &x, sizeof x);
}
