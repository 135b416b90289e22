/* SPDX-License-Identifier: MIT */
/* blm_diff: the bits in which two snapshots of one filter differ. */
#include <string.h>

#include "api/delta.h"
#include "api/filter.h"
#include "bloomery/delta.h"
#include "codec/codec.h"
#include "core/bytes.h"
#include "core/checksum.h"

struct diff {
    const blm_filter *to;
    struct blm__sink  out;
    uint8_t          *frame; /* BLM__FRAME_MAX bytes */
    size_t            len;   /* of the payload so far */
    uint64_t          from;  /* flips: the bit that the frame's first gap counts from … */
    uint64_t          next;  /* … and the one that the next gap will */
};

static bool put_frame(struct diff *d, enum blm__frame type, uint64_t place)
{
    uint8_t *f   = d->frame;
    size_t   sum = BLM__FRAME_FRONT + d->len;
    blm__put32le(f, (uint32_t)type);
    blm__put32le(f + 4, (uint32_t)d->len);
    blm__put64le(f + 8, place);
    blm__put64le(f + sum, blm__checksum(f, sum));
    d->len = 0;
    return blm__put(&d->out, f, sum + 8);
}

static bool flush_flips(struct diff *d)
{
    bool good = d->len == 0 || put_frame(d, BLM__FRAME_FLIPS, d->from);
    d->from   = d->next;
    return good;
}

static bool put_flip(struct diff *d, uint64_t bit)
{
    if (d->len + 10 > BLM__FRAME_PAYLOAD && !flush_flips(d))
        return false;
    uint8_t *p   = d->frame + BLM__FRAME_FRONT;
    uint64_t gap = bit - d->next;
    for (; gap >= 0x80; gap >>= 7)
        p[d->len++] = (uint8_t)(gap | 0x80);
    p[d->len++] = (uint8_t)gap;
    d->next     = bit + 1;
    return true;
}

/* Words of one go: few changed bits are listed, many are sent as they lie. A listed bit takes a
 * byte, or two from 128 to the next one, so the border is one bit in eight. */
static bool put_words(struct diff *d, uint64_t at, const uint64_t *old, const uint64_t *new,
                      size_t count)
{
    static const uint64_t none[BLM__DELTA_WORDS];
    uint64_t              flips = 0;
    if (!old)
        old = none;
    if (memcmp(old, new, count * 8) == 0)
        return true;
    for (size_t i = 0; i < count; i++)
        flips += BLM__POPCOUNT64(old[i] ^ new[i]);
    if (flips < count * 8) {
        for (size_t i = 0; i < count; i++)
            for (uint64_t x = blm__le64(old[i] ^ new[i]); x; x &= x - 1)
                if (!put_flip(d, (at + i) * 64 + BLM__POPCOUNT64(~x & (x - 1))))
                    return false;
        return true;
    }
    if (!flush_flips(d))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t x = old[i] ^ new[i];
        memcpy(d->frame + BLM__FRAME_FRONT + 8 * i, &x, 8); /* little-endian in memory already */
    }
    d->len  = count * 8;
    d->from = d->next = (at + count) * 64;
    return put_frame(d, BLM__FRAME_WORDS, at);
}

static bool put_shape(struct diff *d, uint32_t i, const struct blm__layer *l)
{
    const struct blm__shape *s = &l->shape;
    uint8_t                 *p = d->frame + BLM__FRAME_FRONT;
    memset(p, 0, BLM__DELTA_LAYER);
    blm__put64le(p, blm__layer_items(l));
    blm__put64le(p + 8, s->bits);
    blm__put32le(p + 16, blm__kind_number(s->kind));
    blm__put32le(p + 20, (uint32_t)s->rule);
    blm__put32le(p + 24, s->probes);
    blm__put32le(p + 28, s->lines);
    blm__put32le(p + 32, s->cell_bits);
    blm__put64le(p + 40, s->capacity);
    blm__put64le(p + 48, blm__f64_bits(s->rate));
    blm__put64le(p + 56, s->variant);
    blm__put64le(p + 64, s->aux[0]);
    blm__put64le(p + 72, s->aux[1]);
    d->len = BLM__DELTA_LAYER;
    return put_frame(d, BLM__FRAME_LAYER, i);
}

static blm_status stopped(const struct diff *d, blm_error *err)
{
    return blm__fail_at(err, BLM_E_IO, d->out.written, "writing stopped after %llu bytes",
                        (unsigned long long)d->out.written);
}

/* old: the same layer of the earlier snapshot; NULL when it is new. */
static blm_status put_layer(struct diff *d, uint32_t i, const struct blm__layer *old,
                            uint64_t *done, blm_error *err)
{
    const struct blm__body  *b = &d->to->body;
    const struct blm__layer *l = &b->layers[i];
    if (!put_shape(d, i, l))
        return stopped(d, err);
    d->from = d->next = 0;
    for (uint64_t at = 0; at < l->word_count; at += BLM__DELTA_WORDS) {
        uint64_t left = l->word_count - at;
        size_t   n    = left < BLM__DELTA_WORDS ? (size_t)left : BLM__DELTA_WORDS;
        if (*done % (1u << 20) < n * 8 && !blm__go_on(b, *done, blm__body_bytes(b)))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu of %llu bytes",
                             (unsigned long long)*done, (unsigned long long)blm__body_bytes(b));
        if (!put_words(d, at, old ? old->words + at : NULL, l->words + at, n))
            return stopped(d, err);
        *done += n * 8;
    }
    return flush_flips(d) ? BLM_OK : stopped(d, err);
}

static blm_status put_header(struct diff *d, const blm_filter *from, blm_error *err)
{
    const struct blm__body *b                    = &d->to->body;
    uint8_t                 h[BLM__DELTA_HEADER] = { 0 };
    blm_status              st                   = blm_fingerprint(from, h + 16);
    if (st == BLM_OK)
        st = blm_fingerprint(d->to, h + 32);
    if (st != BLM_OK)
        return blm__fail(err, st, "cancelled while reading the filters");
    memcpy(h, BLM__DELTA_MAGIC, 8);
    blm__put32le(h + 8, BLM__DELTA_VERSION);
    blm__put32le(h + 12, from->body.layer_count);
    blm__put32le(h + 48, b->layer_count);
    blm__put32le(h + 52, b->active);
    blm__put64le(h + 56, blm__f64_bits(b->rate));
    blm__put64le(h + 64, blm__f64_bits(b->rate_cap));
    blm__put32le(h + BLM__DELTA_FLAGS, blm__body_unclosed(b) ? BLM__DELTA_UNCLOSED : 0);
    blm__put64le(h + BLM__DELTA_SUM, blm__checksum(h, BLM__DELTA_SUM));
    return blm__put(&d->out, h, sizeof h) ? BLM_OK : stopped(d, err);
}

static blm_status may_diff(const blm_filter *from, const blm_filter *to, blm_error *err)
{
    if (blm__filter_stale(from) || blm__filter_stale(to))
        return blm__fail(err, BLM_E_BUSY,
                         "a writer has added layers to the file: call blm_refresh first");
    if (from->body.attached_len != to->body.attached_len ||
        (to->body.attached_len &&
         memcmp(from->body.attached, to->body.attached, to->body.attached_len) != 0))
        return blm__fail(err, BLM_E_MISMATCH,
                         "the bytes attached to the filters differ, which a delta does not carry: "
                         "take the whole file");
    blm_status st = blm__filter_extends(from, to, err);
    if (st == BLM_OK &&
        (from->body.growth != to->body.growth || from->body.tightening != to->body.tightening))
        st = blm__fail(err, BLM_E_MISMATCH,
                       "the filters grow differently (growth %g and %g, tightening %g and %g), "
                       "which a delta does not carry: take the whole file",
                       from->body.growth, to->body.growth, from->body.tightening,
                       to->body.tightening);
    return st;
}

/* Layer i as it was; NULL: it is new, or was made anew. */
static const struct blm__layer *earlier(const blm_filter *from, const blm_filter *to, uint32_t i)
{
    const struct blm__layer *old = i < from->body.layer_count ? &from->body.layers[i] : NULL;
    return old && i == 0 && blm__filter_replaced(from, &to->body.layers[0].shape) ? NULL : old;
}

blm_status blm_diff(const blm_filter *from, const blm_filter *to, blm_write_fn write, void *ctx,
                    blm_error *err)
{
    if (!from || !to || !write)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "two filters and a function to write with are needed");
    struct diff d    = { .to = to, .out = { .write = write, .ctx = ctx } };
    uint64_t    done = 0;
    blm_status  st   = may_diff(from, to, err);
    if (st != BLM_OK)
        return st;
    d.frame = blm__alloc(to->body.alloc, BLM__FRAME_MAX);
    if (!d.frame)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %u bytes", BLM__FRAME_MAX);
    st = put_header(&d, from, err);
    for (uint32_t i = 0; st == BLM_OK && i < to->body.layer_count; i++)
        st = put_layer(&d, i, earlier(from, to, i), &done, err);
    if (st == BLM_OK && !put_frame(&d, BLM__FRAME_END, to->body.layer_count))
        st = stopped(&d, err);
    blm__free(to->body.alloc, d.frame, BLM__FRAME_MAX);
    return st;
}
