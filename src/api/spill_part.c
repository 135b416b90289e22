/* SPDX-License-Identifier: MIT */
/*
 * From keys to records, and from records to bits.
 *
 * A record is what sets bits in one part: of a chain the position in the part (u32), of lines the
 * hash of the round (u64), which gives line and bits (core/probe.h). Where a key has several records,
 * each is followed by how many keys it is further than the one before in its file (a varint): a key
 * is new if any of its records sets a bit, and they may be in different parts. In a file records are
 * in the order of the keys.
 */
#include "api/spill.h"
#include "core/bytes.h"
#include "core/checksum.h"
#include "core/os.h"
#include "core/probe.h"

#define RECORD_MOST 18u                 /* a hash and a varint */
#define AHEAD       32u                 /* records whose words are on their way from memory */
#define TELL_EVERY  ((uint64_t)1 << 24) /* bytes between two calls of progress */

uint64_t blm__spill_words(const blm_spill *s, uint32_t p)
{
    uint64_t all = blm__shape_words(&s->shape), from = (uint64_t)p * s->part_words;
    return all - from < s->part_words ? all - from : s->part_words;
}

/* A part's file is frames: how many bytes of records, their checksum, and the records. The sum is of
 * where the frame is, too. */
static uint64_t frame_sum(const blm_spill *s, const struct blm__spill_part *p, uint64_t at,
                          const uint8_t *records, size_t len)
{
    uint8_t about[24];
    blm__put64le(about, (uint64_t)(p - s->part));
    blm__put64le(about + 8, at);
    blm__put64le(about + 16, len);
    return blm__checksum(about, sizeof about) ^ blm__checksum(records, len);
}

blm_status blm__spill_flush(blm_spill *s, struct blm__spill_part *p, blm_error *err)
{
    if (p->held == 0)
        return BLM_OK;
    size_t len = BLM__SPILL_FRAME + p->held;
    blm__put64le(p->buffer, p->held);
    blm__put64le(p->buffer + 8, frame_sum(s, p, p->length, p->buffer + BLM__SPILL_FRAME, p->held));
    int why = blm__os.write_at(p->fd, p->buffer, len, p->length);
    if (why)
        return blm__spill_failed(why, "write to", err);
    p->length += len;
    s->spilled += len;
    p->held = 0;
    return BLM_OK;
}

/* ---- out ---- */

static blm_status put_record(blm_spill *s, uint64_t part, uint64_t value, unsigned bytes,
                             blm_error *err)
{
    struct blm__spill_part *p = &s->part[part];
    if (s->buffer - BLM__SPILL_FRAME - p->held < RECORD_MOST) {
        blm_status st = blm__spill_flush(s, p, err);
        if (st != BLM_OK)
            return st;
    }
    uint8_t *to = p->buffer + BLM__SPILL_FRAME + p->held;
    if (bytes == 4)
        blm__put32le(to, (uint32_t)value);
    else
        blm__put64le(to, value);
    to += bytes;
    if (s->several) {
        for (uint64_t d = s->keys - p->key; d > 0x7f || (*to++ = (uint8_t)d, false); d >>= 7)
            *to++ = (uint8_t)(d | 0x80);
        p->key = s->keys;
    }
    p->held = (size_t)(to - p->buffer) - BLM__SPILL_FRAME;
    return BLM_OK;
}

blm_status blm__spill_key(blm_spill *s, uint64_t h, blm_error *err)
{
    const struct blm__shape *shape = &s->shape;
    blm_status               st    = BLM_OK;
    uint64_t                 bits  = s->part_words * 64;
    if (shape->rule == BLM__CHAIN) {
        for (uint32_t i = 0; i < shape->probes && st == BLM_OK; i++, h = blm__chain_next(h)) {
            uint64_t at = blm__reduce(h, shape->bits), part = at / bits;
            st = put_record(s, part, at - part * bits, 4, err);
        }
        return st;
    }
    for (uint32_t i = 0; i < shape->lines && st == BLM_OK; i++) {
        uint64_t line = blm__reduce(h, shape->line_count);
        st            = put_record(s, line * BLM__LINE_WORDS / s->part_words, h, 8, err);
        h             = blm__line_next(blm__line_x(h));
    }
    return st;
}

/* ---- in ---- */

/* A part's file, frame by frame, through a buffer. */
struct records {
    const blm_spill              *s;
    const struct blm__spill_part *part;
    uint8_t                      *buffer;
    size_t                        at, len;
    uint64_t                      read, length; /* of the file */
    blm_status                    status;
    blm_error                    *err;
};

static bool read_bytes(struct records *r, uint8_t *to, size_t n)
{
    size_t got = 0;
    int    why = blm__os_read_at(r->part->fd, to, n, r->read, &got);
    if (why || got < n)
        r->status = why ? blm__spill_failed(why, "read", r->err)
                        : blm__fail(r->err, BLM_E_TRUNCATED,
                                    "a file of the spill directory has become shorter: remove the "
                                    "directory and start again");
    else
        r->read += n;
    return r->status == BLM_OK;
}

/* The next frame; false at the end, or when it fails. */
static bool next_frame(struct records *r)
{
    uint8_t  head[BLM__SPILL_FRAME];
    uint64_t at = r->read, left = r->length - at;
    if (left == 0)
        return false;
    if (left < sizeof head) {
        r->status = blm__spill_damaged(r->err);
        return false;
    }
    if (!read_bytes(r, head, sizeof head))
        return false;
    uint64_t len = blm__get64le(head);
    if (len == 0 || len > left - sizeof head || len > r->s->buffer - BLM__SPILL_FRAME) {
        r->status = blm__spill_damaged(r->err);
        return false;
    }
    if (!read_bytes(r, r->buffer, (size_t)len))
        return false;
    if (!blm__sum_matches(frame_sum(r->s, r->part, at, r->buffer, (size_t)len),
                          blm__get64le(head + 8)))
        r->status = blm__spill_damaged(r->err);
    r->at  = 0;
    r->len = (size_t)len;
    return r->status == BLM_OK;
}

/* The next record; false at the end, or when it fails. */
static bool next_record(struct records *r, unsigned bytes, uint64_t *value, uint64_t *key)
{
    if (r->at == r->len && !next_frame(r))
        return false;
    struct blm__cursor c = blm__cursor(r->buffer + r->at, r->len - r->at);
    *value               = bytes == 4 ? blm__take32le(&c) : blm__take64le(&c);
    for (unsigned shift = 0; r->s->several; shift += 7) {
        uint8_t b = blm__take8(&c);
        if (c.bad || shift > 56)
            break;
        *key += (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            break;
    }
    if (c.bad || *key >= r->s->mark.keys)
        r->status = blm__spill_damaged(r->err);
    r->at += c.at;
    return r->status == BLM_OK;
}

/* Sets bits; true: one was clear. */
static bool set_bits(uint64_t *word, uint64_t mask)
{
    uint64_t old = *word;
    *word        = old | mask;
    return (old & mask) != mask;
}

static bool set_line(uint64_t *line, uint64_t h, unsigned k)
{
    uint64_t x    = blm__line_x(h);
    unsigned used = blm__line_words(x, k);
    bool     any  = false;
    for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
        if (used >> j & 1)
            any |= set_bits(&line[j], blm__le64((uint64_t)1 << blm__line_bit(x, j)));
    return any;
}

/* A record, and the word of the part that it sets bits in, or from which on. */
struct record {
    uint64_t value, key, at;
};

/* False: it is not of this part. */
static bool place(const blm_spill *s, uint64_t first, uint64_t count, struct record *r)
{
    bool chain = s->shape.rule == BLM__CHAIN;
    r->at      = chain ? r->value / 64
                       : blm__reduce(r->value, s->shape.line_count) * BLM__LINE_WORDS - first;
    return r->at < count;
}

static bool apply(const blm_spill *s, uint64_t *words, const struct record *r)
{
    if (s->shape.rule == BLM__CHAIN)
        return set_bits(&words[r->at], blm__le64((uint64_t)1 << r->value % 64));
    return set_line(words + r->at, r->value, s->shape.probes);
}

static bool told(const blm_spill *s, uint64_t read, uint64_t *last)
{
    if (!s->progress || s->done + read - *last < TELL_EVERY)
        return true;
    *last = s->done + read;
    return s->progress(s->progress_ctx, *last, s->total);
}

blm_status blm__spill_fill(blm_spill *s, uint32_t p, uint64_t *words, uint8_t *fresh,
                           uint64_t *items, blm_error *err)
{
    struct blm__spill_part *part  = &s->part[p];
    uint64_t                first = (uint64_t)p * s->part_words, count = blm__spill_words(s, p);
    unsigned                bytes = s->shape.rule == BLM__CHAIN ? 4 : 8;
    struct record           run[AHEAD];
    size_t                  n;
    uint64_t                key = 0, last = s->done;
    struct records          r = {
                 .s = s, .part = part, .buffer = part->buffer, .length = part->length, .err = err
    };
    *items = 0;
    memset(words, 0, (size_t)count * 8);
    do {
        for (n = 0; n < AHEAD && next_record(&r, bytes, &run[n].value, &key); n++) {
            run[n].key = key;
            if (!place(s, first, count, &run[n]))
                return blm__spill_damaged(err);
            BLM__PREFETCH_W(&words[run[n].at]);
        }
        for (size_t i = 0; i < n; i++) {
            bool any = apply(s, words, &run[i]);
            if (any && fresh)
                fresh[run[i].key / 8] |= (uint8_t)(1u << run[i].key % 8);
            *items += any;
        }
        if (!told(s, r.read, &last))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled");
    } while (n == AHEAD);
    s->done += part->length;
    return r.status;
}
