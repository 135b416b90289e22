/* SPDX-License-Identifier: MIT */
/* blm_patch: from a snapshot and a delta to the later snapshot. The work is done on a copy, which
 * nobody sees unless its fingerprint is the one that the delta names. */
#include <string.h>

#include "api/delta.h"
#include "api/filter.h"
#include "bloomery/delta.h"
#include "bloomery/redisbloom.h"
#include "codec/codec.h"
#include "core/bytes.h"
#include "core/checksum.h"
#include "engine/shape.h"

struct patch {
    struct blm__source in;
    blm_filter        *f;     /* the copy */
    uint8_t           *frame; /* BLM__FRAME_MAX bytes */
    uint8_t            header[BLM__DELTA_HEADER];
    uint64_t           most; /* bytes that the result may have */
    /* the frame last read */
    uint64_t frame_at, place;
    uint32_t type, len;
    /* where we are */
    uint32_t layers; /* begun */
    uint64_t next;   /* first bit of the layer that may still be flipped */
};

#define BAD(p, ...) blm__fail_at(err, BLM_E_FORMAT, (p)->frame_at, __VA_ARGS__)

static uint32_t layers_before(const struct patch *p) { return blm__get32le(p->header + 12); }
static uint32_t layers_after(const struct patch *p) { return blm__get32le(p->header + 48); }

/* Bytes `from` to `to` of a part that starts at `at` have no meaning. */
static blm_status check_zeroes(const uint8_t *part, uint64_t at, size_t from, size_t to,
                               blm_error *err)
{
    for (; from < to; from++)
        if (part[from])
            return blm__fail_at(err, BLM_E_FORMAT, at + from, "a byte that must be 0 is not");
    return BLM_OK;
}

/* ---- the header ---- */

static blm_status take_header(struct patch *p, blm_error *err)
{
    uint8_t *h   = p->header;
    size_t   got = blm__read(&p->in, h, BLM__DELTA_HEADER);
    if (p->in.failed)
        return blm__short(&p->in, "its header", err);
    if (memcmp(h, BLM__DELTA_MAGIC, got < 8 ? got : 8) != 0 || got == 0)
        return blm__fail_at(err, BLM_E_FORMAT, 0, "not a delta");
    if (got < BLM__DELTA_HEADER)
        return blm__short(&p->in, "its header", err);
    if (blm__get64le(h + BLM__DELTA_SUM) != blm__checksum(h, BLM__DELTA_SUM))
        return blm__fail_at(err, BLM_E_CHECKSUM, 0, "the delta's header is damaged");
    if (blm__get32le(h + 8) != BLM__DELTA_VERSION)
        return blm__fail_at(err, BLM_E_VERSION, 8, "a delta of version %u: this library knows %u",
                            (unsigned)blm__get32le(h + 8), BLM__DELTA_VERSION);
    if (layers_before(p) == 0 || layers_after(p) < layers_before(p) ||
        layers_after(p) > BLM_CHAIN_MAX_LAYERS)
        return blm__fail_at(err, BLM_E_FORMAT, 12, "from %u layers to %u",
                            (unsigned)layers_before(p), (unsigned)layers_after(p));
    if (blm__get32le(h + BLM__DELTA_FLAGS) & ~BLM__DELTA_UNCLOSED)
        return blm__fail_at(err, BLM_E_FORMAT, BLM__DELTA_FLAGS, "unknown flags 0x%x",
                            (unsigned)blm__get32le(h + BLM__DELTA_FLAGS));
    return check_zeroes(h, 0, BLM__DELTA_SPARE, BLM__DELTA_SUM, err);
}

/* BLM_PRESENT: base is where the delta leads. */
static blm_status right_base(const struct patch *p, const blm_filter *base, blm_error *err)
{
    uint8_t    print[16];
    blm_status st = blm_fingerprint(base, print);
    if (st != BLM_OK)
        return blm__fail(err, st, "cancelled while reading the filter");
    if (memcmp(print, p->header + 16, 16) == 0)
        return base->body.layer_count == layers_before(p)
                   ? BLM_OK
                   : blm__fail_at(err, BLM_E_FORMAT, 12, "a wrong number of layers");
    if (memcmp(print, p->header + 32, 16) == 0)
        return BLM_PRESENT;
    return blm__fail(err, BLM_E_MISMATCH,
                     "the delta starts from another filter, or from another state of this one");
}

/* ---- frames ---- */

static blm_status take_frame(struct patch *p, blm_error *err)
{
    uint8_t *f  = p->frame;
    p->frame_at = p->in.at;
    if (blm__read(&p->in, f, BLM__FRAME_FRONT) != BLM__FRAME_FRONT)
        return blm__short(&p->in, "the delta", err);
    p->type  = blm__get32le(f);
    p->len   = blm__get32le(f + 4);
    p->place = blm__get64le(f + 8);
    if (p->len > BLM__FRAME_PAYLOAD)
        return BAD(p, "a piece of %u bytes: damaged, or not a delta", (unsigned)p->len);
    size_t sum = BLM__FRAME_FRONT + p->len;
    if (blm__read(&p->in, f + BLM__FRAME_FRONT, p->len + 8u) != p->len + 8u)
        return blm__short(&p->in, "the delta", err);
    if (blm__get64le(f + sum) != blm__checksum(f, sum))
        return blm__fail_at(err, BLM_E_CHECKSUM, p->frame_at,
                            "the delta is damaged in the %u bytes at %llu", (unsigned)(sum + 8),
                            (unsigned long long)p->frame_at);
    return BLM_OK;
}

static struct blm__layer *layer(const struct patch *p) { return &p->f->body.layers[p->layers - 1]; }

/* Bits of the layer's cells; those of its last word past them stay clear. */
static uint64_t layer_bits(const struct patch *p) { return blm__shape_used(&layer(p)->shape); }

static blm_status take_flips(struct patch *p, blm_error *err)
{
    const uint8_t *at = p->frame + BLM__FRAME_FRONT, *end = at + p->len;
    uint64_t       bits = layer_bits(p), bit = p->place;
    if (p->len == 0 || bit < p->next)
        return BAD(p, "bits out of order");
    while (at < end) {
        uint64_t gap   = 0;
        unsigned shift = 0;
        do {
            if (at == end || shift > 56)
                return BAD(p, "a gap that does not end");
            gap |= (uint64_t)(*at & 0x7f) << shift;
            shift += 7;
        } while (*at++ & 0x80);
        if (bit >= bits || gap >= bits - bit)
            return BAD(p, "a bit past the end of its layer");
        bit += gap;
        layer(p)->words[bit / 64] ^= blm__le64((uint64_t)1 << bit % 64);
        bit++;
    }
    p->next = bit;
    return BLM_OK;
}

static blm_status take_words(struct patch *p, blm_error *err)
{
    uint64_t count = p->len / 8, have = layer(p)->word_count;
    if (count == 0 || p->len % 8 || p->place < p->next / 64 + (p->next % 64 != 0))
        return BAD(p, "words out of order");
    if (p->place >= have || count > have - p->place)
        return BAD(p, "words past the end of their layer");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t x;
        memcpy(&x, p->frame + BLM__FRAME_FRONT + 8 * i, 8);
        layer(p)->words[p->place + i] ^= x;
    }
    p->next = (p->place + count) * 64;
    return BLM_OK;
}

/* ---- layers ---- */

static void get_shape(const struct patch *p, struct blm__shape *s)
{
    const uint8_t *b = p->frame + BLM__FRAME_FRONT;
    memset(s, 0, sizeof *s);
    s->scheme     = p->f->body.scheme;
    s->bits       = blm__get64le(b + 8);
    s->kind       = (blm_kind)(blm__get32le(b + 16) + 1u); /* less one: kind/kind.h */
    s->rule       = (enum blm__rule)blm__get32le(b + 20);
    s->probes     = blm__get32le(b + 24);
    s->lines      = blm__get32le(b + 28);
    s->cell_bits  = blm__get32le(b + 32);
    s->capacity   = blm__get64le(b + 40);
    s->rate       = blm__f64_from_bits(blm__get64le(b + 48));
    s->variant    = blm__get64le(b + 56);
    s->aux[0]     = blm__get64le(b + 64);
    s->aux[1]     = blm__get64le(b + 72);
    s->line_count = s->rule == BLM__BUCKETS ? p->f->body.layers[0].shape.line_count
                                            : blm__line_count(s); /* all layers have its parts */
}

static bool same_cells(const struct blm__shape *a, const struct blm__shape *b)
{
    return a->bits == b->bits && a->kind == b->kind && a->rule == b->rule &&
           a->probes == b->probes && a->lines == b->lines && a->cell_bits == b->cell_bits &&
           a->variant == b->variant && blm__shape_reach(a) == blm__shape_reach(b) &&
           blm__same_window(a, b);
}

static blm_status new_layer(struct patch *p, const struct blm__shape *s, blm_error *err)
{
    struct blm__body *b = &p->f->body;
    if (!blm__grows(b))
        return BAD(p, "a new layer for a filter that does not grow");
    uint64_t bytes = blm__shape_words(s) * 8, held = blm__body_bytes(b);
    if (bytes > p->most || held > p->most - bytes)
        return blm__fail_at(err, BLM_E_LIMIT, p->frame_at,
                            "a new layer of %llu bytes makes the filter more than %u times as "
                            "large: take the whole of it",
                            (unsigned long long)bytes, BLM__DELTA_GROWTH);
    return b->store->add_layer(b, s, err);
}

static blm_status take_layer(struct patch *p, blm_error *err)
{
    struct blm__shape s;
    struct blm__body *b = &p->f->body;
    if (p->len != BLM__DELTA_LAYER || p->place != p->layers || p->layers == layers_after(p))
        return BAD(p, "layers out of order");
    get_shape(p, &s);
    blm_status st = check_zeroes(p->frame, p->frame_at, BLM__FRAME_FRONT + BLM__LAYER_SPARE,
                                 BLM__FRAME_FRONT + BLM__LAYER_SPARE + 4, err);
    if (st == BLM_OK)
        st = blm__shape_valid(&s, s.scheme->native, p->frame_at, err);
    const char *fault = st == BLM_OK && s.scheme->fault ? s.scheme->fault(&s) : NULL;
    if (fault)
        st = BAD(p, "not a layer of scheme %s: %s", s.scheme->row.name, fault);
    bool anew = p->layers == 0 && b->layer_count == 1 && b->store->supplant &&
                blm__filter_replaced(p->f, &s);
    if (st == BLM_OK && (anew || p->layers == b->layer_count))
        st = new_layer(p, &s, err);
    if (st == BLM_OK && anew)
        b->store->supplant(b);
    if (st == BLM_OK && !same_cells(&s, &b->layers[p->layers].shape))
        st = BAD(p, "layer %u is not the filter's", (unsigned)p->layers);
    if (st != BLM_OK)
        return st;
    struct blm__layer *l = &b->layers[p->layers];
    l->shape             = s;
    blm__layer_recount(l, blm__get64le(p->frame + BLM__FRAME_FRONT));
    p->layers++;
    p->next = 0;
    return BLM_OK;
}

/* ---- all of it ---- */

static blm_status take_end(struct patch *p, blm_error *err)
{
    struct blm__body *b = &p->f->body;
    uint8_t           print[16], more;
    if (p->layers != layers_after(p) || p->len != 0 || p->place != p->layers)
        return BAD(p, "the delta ends too early");
    if (blm__read(&p->in, &more, 1) != 0)
        return blm__fail_at(err, BLM_E_FORMAT, p->in.at - 1, "bytes after the delta's end");
    if (p->in.failed)
        return blm__short(&p->in, "the delta", err);
    b->active     = blm__get32le(p->header + 52);
    b->rate       = blm__f64_from_bits(blm__get64le(p->header + 56));
    b->rate_cap   = blm__f64_from_bits(blm__get64le(p->header + 64));
    b->unclosed   = blm__get32le(p->header + BLM__DELTA_FLAGS) & BLM__DELTA_UNCLOSED;
    blm_status st = blm__body_valid(b, p->f->body.scheme->native, 48, err);
    for (uint32_t i = 0; st == BLM_OK && i < b->layer_count; i++)
        if (!blm__slack_clear(&b->layers[i].shape, b->layers[i].words))
            st = BAD(p, "bits past the last one of layer %u are set", (unsigned)i);
    if (st != BLM_OK)
        return st;
    st = blm_fingerprint(p->f, print);
    if (st != BLM_OK)
        return blm__fail(err, st, "cancelled while checking the result");
    if (memcmp(print, p->header + 32, 16) != 0)
        return blm__fail_at(err, BLM_E_CHECKSUM, 32,
                            "the result is not what the delta says it makes: one of its ends was "
                            "changed while it was made");
    return BLM_OK;
}

static uint64_t done_bytes(const struct patch *p)
{
    uint64_t bytes = p->next / 8;
    for (uint32_t i = 0; i + 1 < p->layers; i++)
        bytes += p->f->body.layers[i].word_count * 8;
    return bytes;
}

static blm_status take_frames(struct patch *p, blm_error *err)
{
    for (;;) {
        blm_status st = take_frame(p, err);
        if (st == BLM_OK && p->type == BLM__FRAME_END)
            return take_end(p, err);
        if (st == BLM_OK && p->type == BLM__FRAME_LAYER)
            st = take_layer(p, err);
        else if (st == BLM_OK && p->layers > 0 && p->type == BLM__FRAME_FLIPS)
            st = take_flips(p, err);
        else if (st == BLM_OK && p->layers > 0 && p->type == BLM__FRAME_WORDS)
            st = take_words(p, err);
        else if (st == BLM_OK)
            st = BAD(p, "no such piece of a delta: %u", (unsigned)p->type);
        if (st != BLM_OK)
            return st;
        if (!blm__go_on(&p->f->body, done_bytes(p), blm__body_bytes(&p->f->body)))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled at byte %llu of the delta",
                             (unsigned long long)p->in.at);
    }
}

static blm_status apply(struct patch *p, const blm_filter *base, blm_error *err)
{
    uint64_t bytes = blm__body_bytes(&base->body);
    p->most  = bytes > UINT64_MAX / BLM__DELTA_GROWTH ? UINT64_MAX : bytes * BLM__DELTA_GROWTH;
    p->frame = blm__alloc(base->body.alloc, BLM__FRAME_MAX);
    if (!p->frame)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %u bytes", BLM__FRAME_MAX);
    blm_status st = blm_copy(base, &p->f, err);
    if (st == BLM_OK) {
        if (p->f->body.ops->changed) /* bits come that are no key's */
            p->f->body.ops->changed(&p->f->body);
        st = take_frames(p, err);
    }
    if (st != BLM_OK) {
        blm_free(p->f);
        p->f = NULL;
    }
    blm__free(base->body.alloc, p->frame, BLM__FRAME_MAX);
    return st;
}

blm_status blm_patch(const blm_filter *base, blm_read_fn read, void *ctx, blm_filter **out,
                     blm_error *err)
{
    if (!base || !read || !out)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "a filter, a function to read with and a place for the result are needed");
    struct patch p = { .in = { .read = read, .ctx = ctx } };
    *out           = NULL;
    blm_status st  = blm__filter_stale(base)
                         ? blm__fail(err, BLM_E_BUSY,
                                     "a writer has added layers to the file: call "
                                      "blm_refresh first")
                         : take_header(&p, err);
    if (st == BLM_OK)
        st = right_base(&p, base, err);
    if (st == BLM_OK) {
        st   = apply(&p, base, err);
        *out = p.f;
    } else if (st == BLM_PRESENT) {
        blm_status copied = blm_copy(base, out, err);
        st                = copied == BLM_OK ? BLM_PRESENT : copied;
    }
    return st;
}
