/* SPDX-License-Identifier: MIT */
/*
 * Asking a native file by a few small reads. The handle is a filter without words: its header and
 * records are read and verified once, its keys are hashed as ever, and its engines say which cells
 * decide. The bytes of those cells are sorted by place, joined where they lie close together, and
 * read. Layer by layer, from the last on, since most keys that a filter has are in its last and
 * largest; from the first on where a key must be in every layer.
 */
#include "bloomery/far.h"

#include <stdlib.h>
#include <string.h>

#include "api/filter.h"
#include "core/at.h"
#include "core/bytes.h"
#include "core/checksum.h"
#include "store/layout.h"

#define FRONT       24576u /* header, slots and the first record of nearly every file */
#define RUN         4096u  /* keys taken together */
#define READ_MOST   ((uint64_t)1 << 20) /* what is joined to one read, at most */
#define DEFAULT_GAP 4096u

struct far_layer {
    struct blm__native_section s;
    uint64_t                  *sums;   /* of its regions, if they are verified; as in the file */
    uint64_t                  *guides; /* its first words, which say where cells are; or NULL */
    uint64_t                   guide_words;
};

struct blm_far {
    blm_filter       *filter; /* its layers have no words */
    struct blm__at    in;
    uint32_t          gap;
    uint64_t          reads, bytes;
    uint8_t          *buffer;
    size_t            room;
    blm_allocator     own;
    uint32_t          count;
    struct far_layer *layer;
};

static blm_status read_at(blm_far *f, uint64_t at, void *bytes, size_t len, blm_error *err)
{
    f->reads++;
    f->bytes += len;
    return blm__at_read(&f->in, at, bytes, len, err);
}

/* ---- opening ---- */

struct opening {
    struct blm__native_head   head;
    struct blm__native_slot   slot;
    const struct blm__scheme *scheme;
    uint8_t                   front[FRONT];
    size_t                    have;
};

/* len bytes of the file, from what has been read already if they are there. */
static blm_status bring(blm_far *f, const struct opening *o, uint64_t at, void *bytes, size_t len,
                        blm_error *err)
{
    if (at > o->have || len > o->have - at)
        return read_at(f, at, bytes, len, err);
    memcpy(bytes, o->front + at, len);
    return BLM_OK;
}

static blm_status read_front(blm_far *f, struct opening *o, blm_error *err)
{
    uint8_t    both[2 * BLM__SLOT_MAX];
    unsigned   which;
    size_t     have = f->in.size < FRONT ? (size_t)f->in.size : FRONT;
    blm_status st   = read_at(f, 0, o->front, have, err);
    o->have         = have;
    if (st == BLM_OK && blm__native_bid(o->front, have) == 0)
        return blm__fail_at(err, BLM_E_FORMAT, 0, "not a native file, and only those can be far");
    if (st == BLM_OK && have < BLM__HEAD_BYTES)
        return blm__fail_at(err, BLM_E_TRUNCATED, have, "the file ends within the header");
    if (st == BLM_OK)
        st = blm__native_get_head(o->front, &o->head, err);
    if (st == BLM_OK)
        st = bring(f, o, blm__native_slot_at(&o->head, 0), both, (size_t)o->head.slot_bytes * 2,
                   err);
    if (st == BLM_OK)
        st = blm__native_get_slot(&o->head, both, &o->slot, &which, err);
    if (st != BLM_OK)
        return st;
    if (o->slot.flags & BLM__SLOT_WRITER)
        return blm__fail(err, BLM_E_BUSY, "a writer has the file open, or did not close it");
    if (o->slot.length > f->in.size)
        return blm__fail_at(err, BLM_E_TRUNCATED, f->in.size,
                            "the file ends after %llu of %llu bytes",
                            (unsigned long long)f->in.size, (unsigned long long)o->slot.length);
    return BLM_OK;
}

static blm_status read_sums(blm_far *f, struct far_layer *l, blm_error *err)
{
    l->sums = blm__alloc(&f->own, (size_t)l->s.regions * sizeof *l->sums);
    if (!l->sums)
        return blm__fail(err, BLM_E_MEMORY, "no memory for a file's checksums");
    return read_at(f, l->s.sums_at, l->sums, (size_t)l->s.regions * sizeof *l->sums, err);
}

static blm_status read_guides(blm_far *f, const struct opening *o, struct far_layer *l,
                              struct blm__layer *to, blm_error *err);

static blm_status read_layer(blm_far *f, const struct opening *o, uint32_t i, bool verify,
                             blm_error *err)
{
    uint8_t           record[BLM__RECORD_BYTES];
    struct far_layer *l  = &f->layer[i];
    blm_status        st = bring(f, o, o->slot.layer[i].at, record, sizeof record, err);
    if (st == BLM_OK)
        st = blm__native_get_record(&o->head, &o->slot, i, o->scheme, record, &l->s, err);
    if (st == BLM_OK && verify)
        st = read_sums(f, l, err);
    if (st != BLM_OK)
        return st;
    struct blm__body  *b  = &f->filter->body;
    struct blm__layer *to = blm__body_room(b);
    if (!to)
        return blm__fail(err, BLM_E_MEMORY, "no memory for a layer");
    to->shape = l->s.shape;
    to->items = o->slot.layer[i].items;
    blm__layer_ready(to);
    b->layer_count++;
    if (!to->engine->positions && !to->engine->deciding)
        return blm__fail(
            err, BLM_E_UNSUPPORTED,
            "a %s filter cannot be asked from afar: more than a few of its bytes decide",
            blm_kind_name(b->kind));
    return to->engine->guides ? read_guides(f, o, l, to, err) : BLM_OK;
}

static blm_status open_far(blm_far *f, struct opening *o, const blm_options *options,
                           blm_error *err)
{
    blm_status st = blm__filter_blank(options, &f->filter, err);
    if (st == BLM_OK)
        st = read_front(f, o, err);
    if (st == BLM_OK)
        st = blm__native_head_to(&o->head, &f->filter->body, &o->scheme, err);
    if (st != BLM_OK)
        return st;
    f->layer = blm__zalloc(&f->own, o->slot.layer_count * sizeof *f->layer);
    if (!f->layer)
        return blm__fail(err, BLM_E_MEMORY, "no memory to describe a file");
    f->count = o->slot.layer_count;
    /* What some kinds answer is taken for certain: never by bytes that may be damaged. */
    const struct blm__kind *kind     = blm__kind_of(f->filter->body.kind);
    bool                    verified = options->flags & BLM_VERIFY || kind->certain;
    for (uint32_t i = 0; st == BLM_OK && i < f->count; i++)
        st = read_layer(f, o, i, verified, err);
    if (st != BLM_OK)
        return st;
    blm__native_slot_to(&o->slot, &f->filter->body);
    st =
        blm__body_valid(&f->filter->body, o->scheme->native, blm__native_slot_at(&o->head, 0), err);
    f->filter->body.read_only = true;
    return st == BLM_OK ? blm__filter_finish(f->filter, options, err) : st;
}

blm_status blm_far_open(blm_read_at_fn read, void *ctx, uint64_t size, const blm_options *options,
                        blm_far **out, blm_error *err)
{
    blm_options o;
    if (!read || !out)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "no function to read with, or nowhere to put the handle (NULL)");
    *out          = NULL;
    blm_status st = blm__options_read(options, true, &o, err);
    if (st != BLM_OK)
        return st;
    const blm_allocator *a  = o.allocator ? o.allocator : &blm__default_allocator;
    blm_far             *f  = blm__zalloc(a, sizeof *f);
    struct opening      *op = blm__alloc(a, sizeof *op);
    if (f) {
        f->own = *a;
        f->in  = (struct blm__at){ read, ctx, size };
        f->gap = DEFAULT_GAP;
    }
    st = f && op ? open_far(f, op, &o, err)
                 : blm__fail(err, BLM_E_MEMORY, "no memory for a far file's handle");
    if (op)
        blm__free(a, op, sizeof *op);
    if (st == BLM_OK)
        *out = f;
    else
        blm_far_free(f);
    return st;
}

void blm_far_free(blm_far *f)
{
    if (!f)
        return;
    blm_allocator a = f->own;
    for (uint32_t i = 0; i < f->count; i++) {
        struct far_layer *l = &f->layer[i];
        if (l->sums)
            blm__free(&a, l->sums, (size_t)l->s.regions * sizeof *l->sums);
        if (l->guides)
            blm__free(&a, l->guides, (size_t)l->guide_words * sizeof *l->guides);
    }
    blm__free(&a, f->layer, f->count * sizeof *f->layer);
    blm__free(&a, f->buffer, f->room);
    blm_free(f->filter);
    blm__free(&a, f, sizeof *f);
}

/* ---- what a run of keys needs of one layer ---- */

struct want {
    uint64_t at;   /* byte of the layer's words */
    uint32_t key;  /* of the run */
    uint32_t cell; /* of the key */
    uint8_t  len, shift;
};

struct run {
    blm_far                 *f;
    const struct blm__layer *l;
    struct far_layer        *far;
    const blm_digest        *digests;
    uint32_t                 cells; /* a key has */
    bool                     every; /* a key must be in all layers, and not in one of them */
    uint8_t                 *open;  /* keys that this layer must be asked about */
    uint64_t                *values;
    struct want             *wants;
    size_t                   count;
};

static int by_place(const void *a, const void *b)
{
    const struct want *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static void want_cells(struct run *r, uint32_t key)
{
    const struct blm__layer *l    = r->l;
    uint32_t                 bits = l->shape.cell_bits;
    uint64_t                 cell[BLM__MAX_PROBES];
    if (l->engine->deciding)
        l->engine->deciding(l, r->digests[key].w[0], cell);
    else
        l->engine->positions(&l->shape, &r->digests[key], false, cell);
    for (uint32_t i = 0; i < r->cells; i++) {
        uint64_t first = r->far->guide_words * 64 + cell[i] * bits, last = first + bits - 1;
        r->wants[r->count++] = (struct want){ .at    = first / 8,
                                              .key   = key,
                                              .cell  = i,
                                              .len   = (uint8_t)(last / 8 - first / 8 + 1),
                                              .shift = (uint8_t)(first % 8) };
    }
}

static uint64_t value_of(const struct run *r, const struct want *w, const uint8_t *bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < w->len; i++)
        v |= (uint64_t)bytes[i] << 8 * i;
    return v >> w->shift & (((uint64_t)1 << r->l->shape.cell_bits) - 1);
}

/* ---- reading ---- */

/* With checksums: from the beginning of a region to the end of one. */
static void widen(const struct run *r, uint64_t *from, uint64_t *to)
{
    uint64_t region = (uint64_t)1 << r->far->s.region_log2;
    if (!r->far->sums)
        return;
    *from -= *from % region;
    *to = blm__align(*to, region);
    if (*to > r->far->s.words_len)
        *to = r->far->s.words_len;
}

static blm_status verify(const struct run *r, uint64_t from, uint64_t to, blm_error *err)
{
    const struct blm__native_section *s = &r->far->s;
    for (uint64_t at = from; r->far->sums && at < to;) {
        uint64_t n   = at >> s->region_log2;
        size_t   len = (size_t)blm__native_region_bytes(s, n);
        uint64_t sum = blm__checksum(r->f->buffer + (at - from), len);
        if (!blm__sum_matches(blm__native_region_sum(sum, n), blm__le64(r->far->sums[n])))
            return blm__fail_at(err, BLM_E_CHECKSUM, s->words_at + at, "region %llu is damaged",
                                (unsigned long long)n);
        at += len;
    }
    return BLM_OK;
}

static blm_status fetch(const struct run *r, uint64_t from, uint64_t to, blm_error *err)
{
    blm_far *f   = r->f;
    uint64_t len = to - from;
    if (len > SIZE_MAX / 2)
        return blm__fail(err, BLM_E_LIMIT, "a region is larger than memory");
    if (len > f->room) {
        uint8_t *more = blm__alloc(&f->own, (size_t)len);
        if (!more)
            return blm__fail(err, BLM_E_MEMORY, "no memory for %llu bytes of a far file",
                             (unsigned long long)len);
        blm__free(&f->own, f->buffer, f->room);
        f->buffer = more;
        f->room   = (size_t)len;
    }
    blm_status st = read_at(f, r->far->s.words_at + from, f->buffer, (size_t)len, err);
    return st == BLM_OK ? verify(r, from, to, err) : st;
}

static blm_status read_guides(blm_far *f, const struct opening *o, struct far_layer *l,
                              struct blm__layer *to, blm_error *err)
{
    struct run r    = { .f = f, .l = to, .far = l };
    uint64_t   from = 0, end, words = to->engine->guides(&to->shape);
    if (words > l->s.words_len / 8)
        return blm__fail(err, BLM_E_FORMAT, "a layer is shorter than what it begins with");
    if (words > SIZE_MAX / 2 / sizeof *l->guides)
        return blm__fail(err, BLM_E_LIMIT,
                         "a layer begins with more than this machine can address");
    l->guides = blm__alloc(&f->own, (size_t)words * sizeof *l->guides);
    if (!l->guides)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %llu words of a far file",
                         (unsigned long long)words);
    l->guide_words = words;
    end            = words * 8;
    widen(&r, &from, &end);
    blm_status st = l->sums ? fetch(&r, from, end, err)
                            : bring(f, o, l->s.words_at, l->guides, (size_t)words * 8, err);
    if (st == BLM_OK && l->sums)
        memcpy(l->guides, f->buffer, (size_t)words * sizeof *l->guides);
    to->words = l->guides;
    return st;
}

/* Is this cell still needed? A clear cell has decided where all must be in use. */
static bool needed(const struct run *r, const struct want *w) { return r->open[w->key] == 1; }

/* From want i on, all that one read brings. Returns the first that it does not. */
static size_t join(const struct run *r, size_t i, uint64_t *from, uint64_t *to)
{
    *from = r->wants[i].at;
    *to   = *from + r->wants[i].len;
    widen(r, from, to);
    for (i++; i < r->count; i++) {
        const struct want *w   = &r->wants[i];
        uint64_t           end = w->at + w->len, start = w->at;
        if (!needed(r, w))
            continue;
        widen(r, &start, &end);
        if (start > *to + r->f->gap || (end > *to && end - *from > READ_MOST))
            break;
        *to = end > *to ? end : *to;
    }
    return i;
}

static blm_status read_wants(struct run *r, blm_error *err)
{
    qsort(r->wants, r->count, sizeof *r->wants, by_place);
    for (size_t i = 0, next; i < r->count; i = next) {
        uint64_t from, to;
        next = i + 1;
        if (!needed(r, &r->wants[i]))
            continue;
        next          = join(r, i, &from, &to);
        blm_status st = fetch(r, from, to, err);
        if (st != BLM_OK)
            return st;
        for (; i < next; i++) {
            const struct want *w = &r->wants[i];
            if (!needed(r, w))
                continue;
            uint64_t v = value_of(r, w, r->f->buffer + (w->at - from));
            if (!r->l->engine->deciding && v == 0)
                r->open[w->key] = 2; /* no */
            r->values[w->key * r->cells + w->cell] = v;
        }
    }
    return BLM_OK;
}

/* ---- keys ---- */

static uint32_t cells_of(const struct blm__layer *l)
{
    return l->engine->deciding ? l->engine->deciders : blm__shape_probes(&l->shape);
}

/* One layer, and the keys that no layer before it may have; or, where a key must be in every layer,
 * those that none has denied: settled. */
static blm_status ask_layer(struct run *r, size_t n, uint8_t *settled, blm_error *err)
{
    r->count = 0;
    for (uint32_t i = 0; i < n; i++) {
        r->open[i] = !settled[i];
        if (r->open[i])
            want_cells(r, i);
    }
    blm_status st = read_wants(r, err);
    for (uint32_t i = 0; st == BLM_OK && i < n; i++) {
        const uint64_t *v = r->values + (size_t)i * r->cells;
        if (r->open[i] == 1)
            settled[i] = r->every != (!r->l->engine->decides ||
                                      r->l->engine->decides(r->l, r->digests[i].w[0], v));
    }
    return st;
}

static blm_status ask_layers(blm_far *f, const blm_digest *digests, size_t n, uint8_t *maybe,
                             blm_error *err)
{
    const struct blm__body *b = &f->filter->body;
    uint8_t                 open[RUN], settled[RUN] = { 0 };
    bool                    every = b->ops->every;
    blm_status              st    = BLM_OK;
    for (uint32_t at = 0; at < b->layer_count && st == BLM_OK; at++) {
        uint32_t   i     = every ? at : b->layer_count - 1 - at;
        struct run r     = { .f       = f,
                             .l       = &b->layers[i],
                             .far     = &f->layer[i],
                             .every   = every,
                             .digests = digests,
                             .cells   = cells_of(&b->layers[i]),
                             .open    = open };
        size_t     cells = n * r.cells;
        r.values         = blm__alloc(&f->own, cells * sizeof *r.values);
        r.wants          = blm__alloc(&f->own, cells * sizeof *r.wants);
        st               = r.values && r.wants ? ask_layer(&r, n, settled, err)
                                               : blm__fail(err, BLM_E_MEMORY, "no memory for %zu keys", n);
        blm__free(&f->own, r.values, cells * sizeof *r.values);
        blm__free(&f->own, r.wants, cells * sizeof *r.wants);
    }
    for (size_t i = 0; i < n && st == BLM_OK; i++)
        maybe[i] = every != settled[i];
    return st;
}

blm_status blm_far_check_many(blm_far *f, const blm_key *keys, size_t count, uint8_t *maybe,
                              blm_error *err)
{
    blm_status  st   = BLM_OK;
    size_t      most = count < RUN ? count : RUN;
    blm_digest *d;
    if ((!keys || !maybe) && count)
        return blm__fail(err, BLM_E_ARGUMENT, "keys or answers are missing (NULL)");
    if (count == 0)
        return BLM_OK;
    memset(maybe, 1, count);
    d = blm__alloc(&f->own, most * sizeof *d);
    if (!d)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %zu keys", most);
    for (size_t at = 0, n; at < count && st == BLM_OK; at += n) {
        n = count - at < RUN ? count - at : RUN;
        for (size_t i = 0; i < n && st == BLM_OK; i++)
            if ((st = blm_digest_of(f->filter, keys[at + i].data, keys[at + i].len, &d[i])) !=
                BLM_OK)
                blm__fail(err, st, "key %zu has a length but no data", at + i);
        if (st == BLM_OK)
            st = ask_layers(f, d, n, maybe + at, err);
    }
    blm__free(&f->own, d, most * sizeof *d);
    return st;
}

blm_status blm_far_check(blm_far *f, const void *key, size_t len, bool *maybe, blm_error *err)
{
    blm_key    k      = { key, len };
    uint8_t    answer = 1;
    blm_status st     = blm_far_check_many(f, &k, 1, &answer, err);
    *maybe            = answer != 0;
    return st;
}

/* ---- what it is ---- */

void blm_far_set_gap(blm_far *f, uint32_t bytes) { f->gap = bytes; }

blm_status blm_far_get_params(const blm_far *f, blm_params *out)
{
    return blm_get_params(f->filter, out);
}

blm_status blm_far_get_reads(const blm_far *f, blm_far_reads *out)
{
    blm_far_reads r = { sizeof r, f->reads, f->bytes };
    return blm__emit(out, &r, sizeof r);
}
