/* SPDX-License-Identifier: MIT */
/* The public calls on whole filters: clear, copy, equal, union, intersection, fold, reduce. */
#include <string.h>

#include "api/filter.h"
#include "engine/shape.h"
#include "store/store.h"

blm_status blm_clear(blm_filter *f)
{
    struct blm__body *b = &f->body;
    if (!b->ops->add)
        return BLM_E_UNSUPPORTED;
    if (b->read_only)
        return BLM_E_READONLY;
    bool dropped = b->layer_count > 1;
    if (dropped) {
        blm_status st = b->store->drop_layers(b, 1, NULL);
        if (st != BLM_OK)
            return st;
        b->active = 0;
    }
    struct blm__layer *l = &b->layers[0];
    blm__mark_all(l);
    memset(l->words, 0, (size_t)l->word_count * 8);
    blm__layer_recount(l, 0);
    b->unclosed = false;
    if (b->ops->clear)
        b->ops->clear(b, dropped);
    return BLM_OK;
}

/* A filter in memory with f's parameters and no layers. */
static blm_status sibling(const blm_filter *f, blm_filter **out, blm_error *err)
{
    blm_options o  = BLM_OPTIONS_INIT;
    o.allocator    = &f->own;
    o.max_bytes    = f->body.max_bytes;
    o.progress     = f->body.progress;
    o.progress_ctx = f->body.progress_ctx;
    o.threads      = f->threads;
    blm_status st  = blm__filter_blank(&o, out, err);
    if (st != BLM_OK)
        return st;
    blm_filter       *g = *out;
    struct blm__body *b = &g->body;
    b->kind             = f->body.kind;
    b->ops              = f->body.ops;
    b->scheme           = f->body.scheme;
    b->hasher           = f->body.hasher;
    b->hasher.secret    = NULL; /* that one is the other's */
    b->kernel           = f->body.kernel;
    b->shared           = f->body.shared;
    b->rate             = f->body.rate;
    b->growth           = f->body.growth;
    b->tightening       = f->body.tightening;
    b->rate_cap         = f->body.rate_cap;
    b->format           = f->body.format;
    b->active           = f->body.active;
    b->clock            = f->body.clock;
    if (f->body.attached_len) {
        b->attached = blm__alloc(b->alloc, f->body.attached_len);
        if (!b->attached) {
            blm_free(g);
            return blm__fail(err, BLM_E_MEMORY, "no memory for %zu attached bytes",
                             f->body.attached_len);
        }
        memcpy(b->attached, f->body.attached, f->body.attached_len);
        b->attached_len = f->body.attached_len;
    }
    st = blm__filter_hashes(g, &f->body.layers[0].shape, err);
    if (st != BLM_OK)
        blm_free(g);
    return st;
}

/* Word by word, because another thread may be adding to a shared original. */
static void copy_words(struct blm__layer *to, const struct blm__layer *from, bool shared)
{
    if (!shared) {
        memcpy(to->words, from->words, (size_t)from->word_count * 8);
        return;
    }
    for (uint64_t i = 0; i < from->word_count; i++)
        to->words[i] = __atomic_load_n(&from->words[i], __ATOMIC_RELAXED);
}

blm_status blm_copy(const blm_filter *f, blm_filter **out, blm_error *err)
{
    blm_filter *g = NULL;
    *out          = NULL;
    if (blm__filter_stale(f))
        return blm__fail(err, BLM_E_BUSY,
                         "a writer has added layers to the file: call blm_refresh first");
    blm_status st = sibling(f, &g, err);
    for (uint32_t i = 0; st == BLM_OK && i < f->body.layer_count; i++) {
        const struct blm__layer *from = &f->body.layers[i];
        st                            = g->body.store->add_layer(&g->body, &from->shape, err);
        if (st != BLM_OK) {
            blm_free(g);
            return st;
        }
        copy_words(&g->body.layers[i], from, f->body.shared);
        g->body.layers[i].items = blm__layer_items(from);
    }
    if (st == BLM_OK) {
        g->body.unclosed = blm__body_unclosed(&f->body);
        if (f->body.ops->copy)
            f->body.ops->copy(&g->body, &f->body);
        *out = g;
    }
    return st;
}

/* ---- same parameters? ---- */

#define REMEDY "make one of them with options.like (--like) the other"

static bool same_shape(const struct blm__shape *a, const struct blm__shape *b, blm_error *err)
{
    if (a->bits != b->bits)
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY, "the sizes differ: %llu and %llu bits",
                       (unsigned long long)a->bits, (unsigned long long)b->bits);
    else if (blm__shape_reach(a) != blm__shape_reach(b)) /* redisbloom: modulus, equal bytes */
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY, "the moduli differ: %llu and %llu",
                       (unsigned long long)blm__shape_reach(a),
                       (unsigned long long)blm__shape_reach(b));
    else if (a->probes != b->probes)
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY, "the numbers of probes differ: %u and %u",
                       (unsigned)blm__shape_probes(a), (unsigned)blm__shape_probes(b));
    else if (a->lines != b->lines || a->rule != b->rule || a->cell_bits != b->cell_bits)
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY, "the layouts differ: %u and %u lines a key",
                       (unsigned)a->lines, (unsigned)b->lines);
    else if (!blm__same_window(a, b))
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY, "the windows differ in length or slack");
    else if (a->variant != b->variant)
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY, "the schemes' variants differ: %llu and %llu",
                       (unsigned long long)a->variant, (unsigned long long)b->variant);
    else
        return true;
    return false;
}

/* Everything that decides where a key lands, but for the sizes. */
static bool same_rule(const blm_filter *a, const blm_filter *b, blm_error *err)
{
    const struct blm__hasher *x = &a->body.hasher, *y = &b->body.hasher;
    if (a->body.scheme != b->body.scheme)
        blm__fail_with(err, BLM_E_MISMATCH, "rebuild one from its keys",
                       "the schemes differ: %s and %s", a->body.scheme->row.name,
                       b->body.scheme->row.name);
    else if (a->body.kind != b->body.kind)
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY, "the kinds differ: %s and %s",
                       a->body.ops->row.name, b->body.ops->row.name);
    else if (x->id != y->id || strcmp(x->name, y->name) != 0)
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY, "the hashes differ: %s and %s", x->name,
                       y->name);
    else if (x->version != y->version)
        blm__fail_with(err, BLM_E_MISMATCH,
                       "rebuild one from its keys: create --like takes over the version",
                       "the versions of scheme %s differ, %u and %u: their keys are hashed "
                       "differently",
                       a->body.scheme->row.name, (unsigned)x->version, (unsigned)y->version);
    else if (x->variant != y->variant)
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY, "the schemes' variants differ: %llu and %llu",
                       (unsigned long long)x->variant, (unsigned long long)y->variant);
    else if (x->seed[0] != y->seed[0] || x->seed[1] != y->seed[1])
        blm__fail_with(err, BLM_E_MISMATCH, REMEDY ", or give both the same seed",
                       "the seeds differ, so their bits cannot meet");
    else
        return true;
    return false;
}

/* Of one scheme. Bits are what they are, whatever a key is to become; but for two filters to meet it must be the
 * same. */
static bool same_funnel(const blm_filter *a, const blm_filter *b, blm_error *err)
{
    const char *x = a->body.hasher.funnel, *y = b->body.hasher.funnel;
    if (x == y) /* the scheme's own text */
        return true;
    blm__fail_with(err, BLM_E_MISMATCH,
                   "if a file does not say it, say it with options.funnel (bloomery convert --to "
                   "native --funnel)",
                   "the funnels differ, %s and %s: a key becomes other bytes in each", x, y);
    return false;
}

static bool same_layers(const blm_filter *a, const blm_filter *b, uint32_t count, blm_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        if (!same_shape(&a->body.layers[i].shape, &b->body.layers[i].shape, err))
            return false;
    return true;
}

static bool same_parameters(const blm_filter *a, const blm_filter *b, blm_error *err)
{
    if (!same_rule(a, b, err))
        return false;
    if (a->body.layer_count != b->body.layer_count) {
        blm__fail(err, BLM_E_MISMATCH, "the numbers of layers differ: %u and %u",
                  (unsigned)a->body.layer_count, (unsigned)b->body.layer_count);
        return false;
    }
    return same_layers(a, b, a->body.layer_count, err);
}

bool blm__filter_replaced(const blm_filter *earlier, const struct blm__shape *later)
{
    return earlier->body.ops->replaced &&
           earlier->body.ops->replaced(&earlier->body.layers[0].shape, later);
}

blm_status blm__filter_extends(const blm_filter *from, const blm_filter *to, blm_error *err)
{
    uint32_t had = from->body.layer_count, has = to->body.layer_count;
    if (!same_rule(from, to, err) || !same_funnel(from, to, err))
        return BLM_E_MISMATCH;
    if (has < had)
        return blm__fail(err, BLM_E_MISMATCH,
                         "the later filter has fewer layers (%u) than the earlier one (%u): take "
                         "the whole of it",
                         (unsigned)has, (unsigned)had);
    if (had == 1 && blm__filter_replaced(from, &to->body.layers[0].shape))
        return BLM_OK;
    return same_layers(from, to, had, err) ? BLM_OK : BLM_E_MISMATCH;
}

blm_status blm__filter_same(const blm_filter *a, const blm_filter *b, blm_error *err)
{
    return same_parameters(a, b, err) && same_funnel(a, b, err) ? BLM_OK : BLM_E_MISMATCH;
}

blm_status blm_can_meet(const blm_filter *a, const blm_filter *b, blm_error *err)
{
    /* Layers are appended whatever their sizes are. */
    bool same = blm__grows(&a->body) ? same_rule(a, b, err) : same_parameters(a, b, err);
    return same && same_funnel(a, b, err) ? BLM_OK : BLM_E_MISMATCH;
}

static bool same_words(const struct blm__layer *a, const struct blm__layer *b, bool shared)
{
    if (!shared)
        return memcmp(a->words, b->words, (size_t)a->word_count * 8) == 0;
    for (uint64_t i = 0; i < a->word_count; i++)
        if (__atomic_load_n(&a->words[i], __ATOMIC_RELAXED) !=
            __atomic_load_n(&b->words[i], __ATOMIC_RELAXED))
            return false;
    return true;
}

bool blm_equal(const blm_filter *a, const blm_filter *b)
{
    if (a == b)
        return true;
    if (!same_parameters(a, b, NULL))
        return false;
    for (uint32_t i = 0; i < a->body.layer_count; i++)
        if (!same_words(&a->body.layers[i], &b->body.layers[i], a->body.shared || b->body.shared))
            return false;
    return true;
}

/* ---- two become one ---- */

static blm_status may_combine(const blm_filter *dst, const blm_filter *src, blm_error *err)
{
    if (dst->body.read_only)
        return blm__fail(err, BLM_E_READONLY, "the filter to change was opened read-only");
    if (blm__filter_stale(src))
        return blm__fail(err, BLM_E_BUSY,
                         "a writer has added layers to the other filter's file: call blm_refresh "
                         "on it first");
    return blm_can_meet(dst, src, err);
}

/* What is cancelled is there in part, as what a writer had not finished. */
static blm_status combine(blm_filter *dst, const blm_filter *src,
                          blm_status (*how)(struct blm__body *, const struct blm__body *,
                                            blm_error *),
                          blm_error *err)
{
    struct blm__body *b   = &dst->body;
    bool              was = b->unclosed;
    b->unclosed |= blm__body_unclosed(&src->body); /* before it is written to a file */
    blm_status st = how(b, &src->body, err);
    if (st == BLM_OK)
        b->unclosed |= blm__body_unclosed(&src->body);
    else
        b->unclosed = was || st == BLM_E_CANCELLED;
    return st;
}

blm_status blm_union(blm_filter *dst, const blm_filter *src, blm_error *err)
{
    if (!dst->body.ops->unite)
        return blm__fail(err, BLM_E_UNSUPPORTED, "%s filters have no union",
                         dst->body.ops->row.name);
    blm_status st = may_combine(dst, src, err);
    if (st != BLM_OK)
        return st;
    return combine(dst, src, dst->body.ops->unite, err);
}

blm_status blm_intersect(blm_filter *dst, const blm_filter *src, blm_error *err)
{
    if (!dst->body.ops->intersect)
        return blm__fail(err, BLM_E_UNSUPPORTED, "%s filters have no intersection",
                         dst->body.ops->row.name);
    blm_status st = may_combine(dst, src, err);
    if (st != BLM_OK || dst == src)
        return st;
    return combine(dst, src, dst->body.ops->intersect, err);
}

/* ---- smaller ---- */

static blm_status fold_shape(const blm_filter *f, uint64_t factor, struct blm__shape *s,
                             blm_error *err)
{
    *s            = f->body.layers[0].shape;
    uint64_t unit = blm__fold_unit(s);
    if (!(blm__filter_can(f) & BLM_CAN_FOLD))
        return blm__fail(err, BLM_E_UNSUPPORTED, "a %s filter of scheme %s cannot be folded",
                         f->body.ops->row.name, f->body.scheme->row.name);
    if (factor == 0)
        return blm__fail(err, BLM_E_ARGUMENT, "a filter cannot be folded by 0");
    if (s->bits / unit % factor != 0)
        return blm__fail(err, BLM_E_INDIVISIBLE, "%llu does not divide the filter's %llu %s",
                         (unsigned long long)factor, (unsigned long long)(s->bits / unit),
                         unit == 1 ? "cells" : "lines");
    s->bits /= factor;
    s->line_count /= factor;
    /* The promise was for the larger filter: the same fill is now reached sooner. */
    s->capacity /= factor;
    if (s->capacity == 0)
        s->capacity = 1;
    return BLM_OK;
}

blm_status blm_fold(const blm_filter *f, uint64_t factor, blm_filter **out, blm_error *err)
{
    struct blm__shape s;
    blm_filter       *g;
    *out          = NULL;
    blm_status st = fold_shape(f, factor, &s, err);
    if (st == BLM_OK)
        st = sibling(f, &g, err);
    if (st != BLM_OK)
        return st;
    st = g->body.store->add_layer(&g->body, &s, err);
    if (st != BLM_OK) {
        blm_free(g);
        return st;
    }
    f->body.layers[0].engine->fold(&f->body.layers[0], factor, &g->body.layers[0]);
    g->body.layers[0].items = blm__layer_items(&f->body.layers[0]);
    g->body.unclosed        = blm__body_unclosed(&f->body);
    *out                    = g;
    return BLM_OK;
}

blm_status blm_reduce(const blm_filter *f, blm_filter **out, blm_error *err)
{
    *out                        = NULL;
    const struct blm__engine *e = f->body.layers[0].engine;
    if (!e->reduce)
        return blm__fail(err, BLM_E_UNSUPPORTED, "a %s filter has no counters to reduce",
                         f->body.ops->row.name);
    blm_filter *g  = NULL;
    blm_status  st = sibling(f, &g, err);
    if (st != BLM_OK)
        return st;
    struct blm__shape s = f->body.layers[0].shape;
    e->reduced(&s);
    g->body.kind = s.kind;
    g->body.ops  = blm__kind_of(s.kind);
    blm__body_singles(&g->body, &s);
    st = g->body.store->add_layer(&g->body, &s, err);
    if (st != BLM_OK) {
        blm_free(g);
        return st;
    }
    e->reduce(&f->body.layers[0], &g->body.layers[0]);
    g->body.layers[0].items = blm__layer_items(&f->body.layers[0]);
    g->body.unclosed        = blm__body_unclosed(&f->body);
    *out                    = g;
    return BLM_OK;
}

const void *blm_view(const blm_filter *f, uint32_t layer, uint64_t *bytes)
{
    if (layer >= f->body.layer_count)
        return NULL;
    const struct blm__layer *l = &f->body.layers[layer];
    if (bytes)
        *bytes = (blm__shape_used(&l->shape) + 7) / 8;
    return l->words;
}
