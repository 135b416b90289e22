/* SPDX-License-Identifier: MIT */
/*
 * The native codec: bloomery's own file as a stream of bytes, in one pass each way. The checksums
 * of a layer follow its words, so a writer hashes what it writes and a reader what it reads, and a
 * filter that another process is adding to is saved with checksums that match.
 *
 * What is encoded is a closed file: no writer, no marks, both slots the same, and no random id, so
 * that the bytes depend on the filter alone.
 */
#include "store/layout.h"

#include <string.h>

#include "bloomery/embed.h"
#include "codec/codec.h"
#include "core/checksum.h"
#include "engine/shape.h"
#include "kind/kind.h"
#include "store/store.h"

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    (void)total;
    return blm__native_bid(head, len); /* damaged and cut off ones too: we can say what is wrong */
}

/* ---- encode ------------------------------------------------------------------------------ */

struct writing {
    const struct blm__body *b;
    struct blm__sink       *out;
    uint64_t                total;
};

/* Skips what is not written, up to `to`. */
static void skip_to(struct blm__sink *out, uint64_t to)
{
    uint64_t most = out->from < to ? out->from : to;
    if (out->written < most && !out->failed)
        out->written = most;
}

static bool put_zeroes(struct blm__sink *out, uint64_t to)
{
    static const uint8_t none[512];
    skip_to(out, to);
    while (out->written < to && !out->failed) {
        uint64_t n = to - out->written;
        blm__put(out, none, n < sizeof none ? (size_t)n : sizeof none);
    }
    return !out->failed;
}

static bool to_sink(void *ctx, const void *bytes, size_t len) { return blm__put(ctx, bytes, len); }

/* Reads a region: into the sink, or (write is NULL) only for its checksum. */
static blm_status put_region(struct writing *w, const struct blm__layer *l,
                             const struct blm__native_section *s, uint64_t r, blm_write_fn write,
                             uint8_t *sums, blm_error *err)
{
    uint64_t sum, from = r << s->region_log2;
    if (!blm__go_on(w->b, w->out->written, w->total))
        return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu of %llu bytes",
                         (unsigned long long)w->out->written, (unsigned long long)w->total);
    if (!blm__checksum_words(l->words + from / 8, blm__native_region_bytes(s, r) / 8, write, w->out,
                             &sum))
        return blm__put_failed(w->out, err);
    blm__put64le(sums + 8 * r, blm__native_region_sum(sum, r));
    return BLM_OK;
}

/* Regions that are not written are read only if the checksums are. */
static blm_status put_words(struct writing *w, const struct blm__layer *l,
                            const struct blm__native_section *s, uint8_t *sums, blm_error *err)
{
    blm_status st   = BLM_OK;
    uint64_t   from = w->out->from, skipped = 0;
    if (from >= s->sums_at)
        skipped = s->regions;
    else if (from > s->words_at)
        skipped = (from - s->words_at) >> s->region_log2;
    skip_to(w->out, skipped < s->regions ? s->words_at + (skipped << s->region_log2) : s->sums_at);
    for (uint64_t r = skipped; r < s->regions && st == BLM_OK; r++)
        st = put_region(w, l, s, r, to_sink, sums, err);
    for (uint64_t r = 0; r < skipped && from < s->marks_at && st == BLM_OK; r++)
        st = put_region(w, l, s, r, NULL, sums, err);
    return st;
}

static blm_status put_section(struct writing *w, const struct blm__layer *l,
                              const struct blm__native_section *s, blm_error *err)
{
    uint8_t record[BLM__RECORD_BYTES];
    size_t  table = (size_t)s->regions * 8;
    if (!blm__slack_clear(&l->shape, l->words))
        return blm__fail(err, BLM_E_ARGUMENT, "bits past the last one are set");
    uint8_t *sums = blm__alloc(w->b->alloc, table);
    if (!sums)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %zu bytes of checksums", table);
    blm__native_put_record(s, record);
    blm__put(w->out, record, sizeof record);
    put_zeroes(w->out, s->words_at);
    blm_status st = put_words(w, l, s, sums, err);
    if (st == BLM_OK) {
        blm__put(w->out, sums, table);
        if (!put_zeroes(w->out, s->end)) /* the marks, all clear, and the rest of the block */
            st = blm__put_failed(w->out, err);
    }
    blm__free(w->b->alloc, sums, table);
    return st;
}

/* Where everything will be. */
static blm_status place_all(const struct blm__body *b, const struct blm__native_head *h,
                            struct blm__native_slot *slot, blm_error *err)
{
    memset(slot, 0, sizeof *slot);
    blm__native_slot_of(b, slot);
    slot->generation = slot->epoch = 1;
    slot->length                   = blm__native_first(h);
    for (uint32_t i = 0; i < b->layer_count; i++) {
        struct blm__native_section s;
        slot->layer[i].at    = slot->length;
        slot->layer[i].items = blm__layer_items(&b->layers[i]);
        if (!blm__native_place(&b->layers[i].shape, slot->length, h->block, &s))
            return blm__fail(err, BLM_E_LIMIT, "the file would be larger than 2^62 bytes");
        slot->length = s.end;
    }
    return BLM_OK;
}

static blm_status put_front(struct writing *w, const struct blm__native_head *h,
                            const struct blm__native_slot *slot, blm_error *err)
{
    uint8_t head[BLM__HEAD_BYTES], bytes[BLM__SLOT_MAX];
    blm__native_put_head(h, head);
    blm__native_put_slot(h, slot, bytes);
    blm__put(w->out, head, sizeof head);
    put_zeroes(w->out, h->block);
    blm__put(w->out, bytes, h->slot_bytes);
    blm__put(w->out, bytes, h->slot_bytes);
    blm__put(w->out, w->b->attached, w->b->attached_len);
    return put_zeroes(w->out, blm__native_first(h)) ? BLM_OK : blm__put_failed(w->out, err);
}

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    struct blm__native_head  head;
    struct blm__native_slot  slot;
    const struct blm__shape *first = &b->layers[0].shape;
    blm_status               st    = blm__body_valid(b, first->scheme->native, BLM_NO_OFFSET, err);
    if (st == BLM_OK)
        st = blm__native_head_of(b, first, &head, err);
    if (st == BLM_OK)
        st = place_all(b, &head, &slot, err);
    if (st != BLM_OK)
        return st;
    struct writing w = { b, out, slot.length };
    st               = put_front(&w, &head, &slot, err);
    for (uint32_t i = 0; st == BLM_OK && i < b->layer_count; i++) {
        struct blm__native_section s;
        blm__native_place(&b->layers[i].shape, slot.layer[i].at, head.block, &s);
        s.live = slot.layer[i].items;
        st     = put_section(&w, &b->layers[i], &s, err);
    }
    return st;
}

/* ---- decode ------------------------------------------------------------------------------ */

struct reading {
    struct blm__source       *in;
    struct blm__body         *b;
    struct blm__native_head   head;
    struct blm__native_slot   slot;
    const struct blm__scheme *scheme;
};

/* Reads bytes up to `to`, which must be zero. */
static blm_status take_zeroes(struct blm__source *in, uint64_t to, blm_error *err)
{
    uint8_t bytes[512];
    while (in->at < to) {
        uint64_t from = in->at;
        size_t   n    = to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;
        if (blm__read(in, bytes, n) != n)
            return blm__short(in, "the space between two parts", err);
        for (size_t i = 0; i < n; i++)
            if (bytes[i])
                return blm__fail_at(err, BLM_E_FORMAT, from + i, "a byte that must be 0 is not");
    }
    return BLM_OK;
}

static blm_status take_front(struct reading *r, blm_error *err)
{
    uint8_t  bytes[2 * BLM__SLOT_MAX];
    unsigned which;
    if (blm__read(r->in, bytes, BLM__HEAD_BYTES) != BLM__HEAD_BYTES)
        return blm__short(r->in, "the header", err);
    blm_status st = blm__native_get_head(bytes, &r->head, err);
    if (st == BLM_OK)
        st = blm__native_head_to(&r->head, r->b, &r->scheme, err);
    if (st == BLM_OK)
        st = take_zeroes(r->in, r->head.block, err);
    if (st != BLM_OK)
        return st;
    size_t both = (size_t)r->head.slot_bytes * 2;
    if (blm__read(r->in, bytes, both) != both)
        return blm__short(r->in, "the header", err);
    st = blm__native_get_slot(&r->head, bytes, &r->slot, &which, err);
    if (st == BLM_OK && r->slot.flags & BLM__SLOT_SAVES) /* what it saved may have to be put back */
        st = blm__fail(err, BLM_E_BUSY,
                       "a writer has the file open, or did not close it: open it by its name");
    if (st == BLM_OK)
        blm__native_slot_to(&r->slot, r->b);
    return st;
}

static blm_status take_attached(struct reading *r, blm_error *err)
{
    struct blm__body *b   = r->b;
    uint64_t          len = r->head.attached_len, at = r->in->at;
    struct blm__block block;
    if (len == 0)
        return BLM_OK;
    blm_status st = blm__read_block(r->in, b->alloc, len, b->max_bytes, &block, err);
    if (st != BLM_OK)
        return st;
    st = blm__memory_attach(b, (size_t)len, err);
    if (st == BLM_OK)
        memcpy(b->attached, block.words, (size_t)len);
    blm__block_free(b->alloc, &block);
    if (st != BLM_OK)
        return st;
    if (blm__checksum(b->attached, b->attached_len) != r->head.attached_sum)
        return blm__fail_at(err, BLM_E_CHECKSUM, at, "the attached bytes are damaged");
    return BLM_OK;
}

/* Compares the table of checksums with the words just read. If the file was not closed, its bits
 * count, as when it is opened: its checksums may be older. */
static blm_status take_sums(struct reading *r, const struct blm__native_section *s, uint32_t i,
                            const uint64_t *words, blm_error *err)
{
    bool closed = !(r->slot.flags & BLM__SLOT_WRITER);
    for (uint64_t n = 0; n < s->regions; n++) {
        uint8_t  bytes[8];
        uint64_t from = n << s->region_log2, size = blm__native_region_bytes(s, n);
        if (blm__read(r->in, bytes, 8) != 8)
            return blm__short(r->in, "the checksums", err);
        if (!blm__go_on(r->b, from, s->words_len))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled while checking layer %u", i);
        if (!closed)
            continue;
        uint64_t sum = blm__checksum(words + from / 8, (size_t)size);
        if (blm__native_region_sum(sum, n) != blm__get64le(bytes))
            return blm__fail_at(err, BLM_E_CHECKSUM, s->words_at + from,
                                "region %llu of layer %u, %llu bytes at %llu, is damaged",
                                (unsigned long long)n, i, (unsigned long long)size,
                                (unsigned long long)(s->words_at + from));
    }
    return BLM_OK;
}

static blm_status take_marks(struct reading *r, const struct blm__native_section *s, blm_error *err)
{
    uint8_t most = r->slot.flags & BLM__SLOT_WRITER ? 2 : 0;
    for (uint64_t left = s->regions; left > 0;) {
        uint8_t  bytes[512];
        uint64_t from = r->in->at;
        size_t   n    = left < sizeof bytes ? (size_t)left : sizeof bytes;
        if (blm__read(r->in, bytes, n) != n)
            return blm__short(r->in, "the marks", err);
        for (size_t i = 0; i < n; i++)
            if (bytes[i] > most)
                return blm__fail_at(err, BLM_E_FORMAT, from + i,
                                    most ? "the mark is invalid" : "a closed file has a mark");
        left -= n;
    }
    return BLM_OK;
}

static blm_status take_record(struct reading *r, uint32_t i, struct blm__native_section *s,
                              blm_error *err)
{
    uint8_t record[BLM__RECORD_BYTES];
    if (blm__read(r->in, record, sizeof record) != sizeof record)
        return blm__short(r->in, "the description of a layer", err);
    blm_status st = blm__native_get_record(&r->head, &r->slot, i, r->scheme, record, s, err);
    if (st != BLM_OK)
        return st;
    if (!(r->slot.flags & BLM__SLOT_WRITER) && s->live != r->slot.layer[i].items)
        return blm__fail_at(err, BLM_E_FORMAT, s->at + BLM__RECORD_LIVE,
                            "the two counts of items differ in a closed file");
    bool moves = blm__engine_of(&s->shape)->moves; /* then a count, any count */
    for (uint32_t j = BLM__RECORD_MOVES + 8 * moves; j < BLM__RECORD_BYTES; j++)
        if (record[j])
            return blm__fail_at(err, BLM_E_FORMAT, s->at + j, "a byte that must be 0 is not");
    return take_zeroes(r->in, s->words_at, err);
}

static blm_status check_layer(struct reading *r, const struct blm__native_section *s, uint32_t i,
                              const uint64_t *words, blm_error *err)
{
    blm_status st = take_sums(r, s, i, words, err);
    if (st == BLM_OK && !blm__slack_clear(&s->shape, words))
        st = blm__fail_at(err, BLM_E_FORMAT, s->sums_at - 8, "bits past the last one are set");
    if (st == BLM_OK)
        st = take_marks(r, s, err);
    return st == BLM_OK ? take_zeroes(r->in, s->end, err) : st;
}

static blm_status take_layer(struct reading *r, uint32_t i, blm_error *err)
{
    struct blm__native_section s;
    struct blm__block          block;
    struct blm__body          *b    = r->b;
    uint64_t                   held = blm__body_held(b);
    blm_status                 st   = take_record(r, i, &s, err);
    if (st != BLM_OK)
        return st;
    if (b->max_bytes && held >= b->max_bytes)
        return blm__fail_at(err, BLM_E_LIMIT, s.at,
                            "with layer %u there are more than the limit of %llu bytes", i,
                            (unsigned long long)b->max_bytes);
    st = blm__read_block(r->in, b->alloc, s.words_len, b->max_bytes ? b->max_bytes - held : 0,
                         &block, err);
    if (st != BLM_OK)
        return st;
    st = check_layer(r, &s, i, block.words, err);
    if (st == BLM_OK)
        st = blm__memory_take(b, &s.shape, &block, err);
    if (st != BLM_OK) {
        blm__block_free(b->alloc, &block);
        return st;
    }
    b->layers[i].items = blm__native_items(&r->slot, i, s.live);
    return BLM_OK;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *b,
                         blm_error *err)
{
    struct reading r  = { .in = in, .b = b };
    blm_status     st = take_front(&r, err);
    if (o->flags & BLM_TORN) { /* as of a file that is being written */
        r.slot.flags |= BLM__SLOT_WRITER;
        b->unclosed = true;
    }
    if (st == BLM_OK)
        st = take_attached(&r, err);
    if (st == BLM_OK)
        st = take_zeroes(in, blm__native_first(&r.head), err);
    for (uint32_t i = 0; st == BLM_OK && i < r.slot.layer_count; i++)
        st = take_layer(&r, i, err);
    if (st == BLM_OK)
        st = blm__body_valid(b, r.scheme->native, blm__native_slot_at(&r.head, 0), err);
    return st;
}

const struct blm__codec blm__codec_native = {
    .row    = { sizeof(blm_format_row), "native",
                "bloomery's own file: mapped, checksummed, every kind", true, true, .sniffs = true,
                .maps = true },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
