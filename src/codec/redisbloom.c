/* SPDX-License-Identifier: MIT */
/*
 * RedisBloom's SCANDUMP chunks, one after the other as BF.SCANDUMP returns them: the header, then
 * the layers' arrays (RedisBloom says links), oldest first. Packed, little-endian:
 *
 *   0   u64  size: keys in all layers
 *   8   u32  nfilters: layers, at least 1
 *   12  u32  options: 1 NOROUND, 2 ENTS_IS_BITS, 4 FORCE64, 8 NO_SCALING
 *   16  u32  growth                               not before 2.2.0
 *   then for each layer
 *   0   u64  bytes   8  u64 bits   16  u64 size   24  f64 error   32  f64 bpe   40  u32 hashes
 *   44  u64  entries (up to 2.2.0 u32)            52 (48)  u8  n2
 *
 * Nothing says which of the three layouts it is, but the numbers only make sense in the right one:
 * hashes follow from bpe, bits from bytes, the sizes add up. A single layer makes sense in both of
 * the 20-byte layouts, and then the input's length tells them apart; inside another file
 * (options.offset) today's is assumed. A filter is written back in the layout it came in.
 *
 * To load it into a server again, cut the file: BF.LOADCHUNK key 1 <header>, then chunks of one
 * layer's array each, with iterator 1 + the offset of the chunk's end in the arrays laid end to
 * end.
 */
#include <string.h>

#include "codec/array.h"
#include "codec/words.h"
#include "scheme/redisbloom.h"

#define FIXED_1  16u /* without growth */
#define FIXED    20u
#define LINK_OLD 49u
#define LINK     53u

static size_t fixed_of(enum blm_rb_layout v) { return v == BLM__RB_1 ? FIXED_1 : FIXED; }
static size_t link_of(enum blm_rb_layout v) { return v == BLM__RB_CURRENT ? LINK : LINK_OLD; }
static size_t header_of(enum blm_rb_layout v, uint32_t links)
{
    return fixed_of(v) + link_of(v) * links;
}

/* ---- header to numbers ---- */

static void get_link(const uint8_t *p, enum blm_rb_layout v, struct blm_rb_link *l)
{
    bool old   = v != BLM__RB_CURRENT;
    l->bytes   = blm__get64le(p);
    l->bits    = blm__get64le(p + 8);
    l->size    = blm__get64le(p + 16);
    l->error   = blm__f64_from_bits(blm__get64le(p + 24));
    l->bpe     = blm__f64_from_bits(blm__get64le(p + 32));
    l->hashes  = blm__get32le(p + 40);
    l->entries = old ? blm__get32le(p + 44) : blm__get64le(p + 44);
    l->n2      = p[old ? 48 : 52];
}

static void put_link(uint8_t *p, enum blm_rb_layout v, const struct blm_rb_link *l)
{
    bool old = v != BLM__RB_CURRENT;
    blm__put64le(p, l->bytes);
    blm__put64le(p + 8, l->bits);
    blm__put64le(p + 16, l->size);
    blm__put64le(p + 24, blm__f64_bits(l->error));
    blm__put64le(p + 32, blm__f64_bits(l->bpe));
    blm__put32le(p + 40, l->hashes);
    if (old)
        blm__put32le(p + 44, (uint32_t)l->entries);
    else
        blm__put64le(p + 44, l->entries);
    p[old ? 48 : 52] = l->n2;
}

/* Where a layer's fields are, in the order of struct blm_rb_link. */
static uint64_t field_at(enum blm_rb_layout v, uint32_t layer, unsigned field)
{
    static const uint8_t at[8]  = { 0, 8, 16, 24, 32, 40, 44, 52 };
    uint64_t             inside = field == 7 && v != BLM__RB_CURRENT ? 48 : at[field];
    return fixed_of(v) + link_of(v) * layer + inside;
}

/* Whether the header makes sense in this layout. */
static blm_status check_header(const uint8_t *h, enum blm_rb_layout v, uint32_t links,
                               blm_error *err)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < links; i++) {
        struct blm_rb_link l;
        unsigned           field = 0;
        get_link(h + fixed_of(v) + link_of(v) * i, v, &l);
        const char *fault = blm__rb_fault(&l, v, &field);
        if (fault)
            return blm__fail_at(err, l.bytes >= BLM__MAX_BITS / 8 ? BLM_E_LIMIT : BLM_E_FORMAT,
                                field_at(v, i, field), "layer %lu has %s", (unsigned long)i, fault);
        size += l.size;
    }
    if (size != blm__get64le(h))
        return blm__fail_at(err, BLM_E_FORMAT, 0, "size is %llu, but the layers' add up to %llu",
                            (unsigned long long)blm__get64le(h), (unsigned long long)size);
    return BLM_OK;
}

/* ---- decode ---- */

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    if (len < 64)
        return 0;
    uint32_t links = blm__get32le(head + 8), options = blm__get32le(head + 12);
    if (links == 0 || links > BLM__MAX_LINKS || options > BLM__RB_OPTIONS)
        return 0;
    for (enum blm_rb_layout v = BLM__RB_CURRENT; v <= BLM__RB_1; v++) {
        /* 64 bytes have the first layer up to its hashes, and not its n2: take that as 0, or, if
         * bits are missing, as what the bytes need. */
        uint8_t            link[LINK] = { 0 };
        struct blm_rb_link l;
        unsigned           field;
        memcpy(link, head + fixed_of(v), 44);
        get_link(link, v, &l);
        for (l.n2 = 0; l.bits == 0 && l.n2 < 47 && (uint64_t)1 << l.n2 != l.bytes * 8;)
            l.n2++;
        if (!blm__rb_fault(&l, v, &field) && (!total || total > header_of(v, links)))
            return v == BLM__RB_CURRENT ? 90 : 85;
    }
    return 0;
}

static blm_status check_front(const uint8_t *h, blm_error *err)
{
    uint32_t links = blm__get32le(h + 8), options = blm__get32le(h + 12);
    if (links == 0)
        return blm__fail_at(err, BLM_E_FORMAT, 8, "nfilters is 0: there are no layers");
    if (links > BLM__MAX_LINKS)
        return blm__fail_at(err, BLM_E_LIMIT, 8,
                            "nfilters is %lu: there cannot be more than %u layers",
                            (unsigned long)links, BLM__MAX_LINKS);
    if (options & ~BLM__RB_OPTIONS)
        return blm__fail_at(err, BLM_E_FORMAT, 12,
                            "options are 0x%lx, and those above 15 are unknown",
                            (unsigned long)options);
    return BLM_OK;
}

/* 57 KB with the most layers: too much for a stack. */
struct header {
    uint8_t *bytes;
    size_t   room;
};

/* Room for the header of so many layers, but not for more than the input can have. */
static blm_status make_room(struct header *h, uint32_t links, const struct blm_source *in,
                            const blm_allocator *a, blm_error *err)
{
    uint64_t there = blm__remaining(in), need = header_of(BLM__RB_CURRENT, links);
    h->room  = (size_t)(there < need - FIXED_1 ? FIXED_1 + there : need);
    h->bytes = blm__alloc(a, h->room);
    return h->bytes ? BLM_OK : blm__fail(err, BLM_E_MEMORY, "no memory for the header");
}

/* Reads as much as the shortest layout takes, and more only while none fits: a stream takes nothing
 * back. */
static blm_status take_header(struct blm_source *in, const blm_allocator *a, struct header *h,
                              enum blm_rb_layout *layout, blm_error *err)
{
    uint8_t front[FIXED_1];
    size_t  have = blm__read(in, front, FIXED_1);
    if (have != FIXED_1)
        return blm__short(in, "the header", err);
    uint32_t   links = blm__get32le(front + 8);
    blm_status st    = check_front(front, err);
    if (st == BLM_OK)
        st = make_room(h, links, in, a, err);
    if (st != BLM_OK)
        return st;
    memcpy(h->bytes, front, FIXED_1);
    for (*layout = BLM__RB_1;; (*layout)--) {
        size_t need = header_of(*layout, links);
        have += blm__read(in, h->bytes + have, need - have);
        if (have != need)
            return blm__short(in, "the header", err);
        st = check_header(h->bytes, *layout, links, err);
        if (st == BLM_OK || *layout == BLM__RB_CURRENT)
            return st;
    }
}

/* Makes layer i over an array that is next in the input, or already in a block. */
static blm_status take_layer(struct blm_source *in, struct blm_block *block, const uint8_t *h,
                             enum blm_rb_layout v, uint32_t i, struct blm_body *b, blm_error *err)
{
    struct blm_rb_link l;
    struct blm_shape   s;
    get_link(h + fixed_of(v) + link_of(v) * i, v, &l);
    blm__rb_shape(&l, blm__rb_variant(blm__get32le(h + 12), v), &s);
    blm_status st = block ? blm__give_array(b, &s, block, l.bytes, in->at - l.bytes, err)
                          : blm__read_array(in, &s, l.bytes, b, err);
    if (st == BLM_OK)
        b->layers[i].items = l.size;
    return st;
}

/* One layer, whose header has 69 bytes or 73. Its array was read as if it were 69; if four more
 * bytes follow, the array's first four belong to the header and the others move down. */
static void move_down(uint8_t *h, uint8_t *array, size_t bytes, const uint8_t more[4])
{
    size_t keep = bytes > 4 ? bytes - 4 : 0;
    for (size_t i = 0; i < 4; i++)
        h[FIXED + LINK_OLD + i] = i < bytes ? array[i] : more[i - bytes];
    memmove(array, array + 4, keep);
    for (size_t i = keep; i < bytes; i++)
        array[i] = more[i + 4 - bytes];
}

static blm_status take_single(struct blm_source *in, uint8_t *h, struct blm_body *b, blm_error *err)
{
    enum blm_rb_layout v     = BLM__RB_220;
    struct blm_block   block = { 0 };
    uint64_t           bytes = blm__get64le(h + FIXED);
    uint8_t            more[LINK - LINK_OLD];
    blm_status         st = blm__read_block(in, b->alloc, bytes, b->max_bytes, &block, err);
    if (st != BLM_OK)
        return st;
    size_t extra = blm__read(in, more, sizeof more);
    if (extra == sizeof more) {
        v = BLM__RB_CURRENT;
        move_down(h, (uint8_t *)block.words, (size_t)bytes, more);
        st = check_header(h, v, 1, err);
    } else if (extra) {
        st = blm__short(in, "the bits", err);
    }
    if (st == BLM_OK)
        return take_layer(in, &block, h, v, 0, b, err);
    blm__block_free(b->alloc, &block);
    return st;
}

static blm_status take_layers(struct blm_source *in, uint8_t *h, enum blm_rb_layout v,
                              const blm_options *o, struct blm_body *b, blm_error *err)
{
    uint32_t   links = blm__get32le(h + 8);
    blm_status st    = BLM_OK;
    if (v == BLM__RB_220 && links == 1)
        st = take_single(in, h, b, err);
    else
        for (uint32_t i = 0; st == BLM_OK && i < links; i++)
            st = take_layer(in, NULL, h, v, i, b, err);
    if (st == BLM_OK && o->offset == 0)
        st = blm__expect_end(in, err);
    if (st == BLM_OK)
        blm__rb_body(b, v == BLM__RB_1 ? 2 : blm__get32le(h + 16));
    return st;
}

static blm_status decode(struct blm_source *in, const blm_options *o, struct blm_body *b,
                         blm_error *err)
{
    struct header      h  = { 0 };
    enum blm_rb_layout v  = BLM__RB_CURRENT;
    blm_status         st = take_header(in, b->alloc, &h, &v, err);
    if (st == BLM_OK)
        st = take_layers(in, h.bytes, v, o, b, err);
    blm__free(b->alloc, h.bytes, h.room);
    return st;
}

/* ---- encode ---- */

static blm_status put_header(const struct blm_body *b, enum blm_rb_layout v, uint8_t *h,
                             blm_error *err)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < b->layer_count; i++) {
        struct blm_rb_link l;
        blm__rb_link(&b->layers[i], &l);
        if (v != BLM__RB_CURRENT && l.entries > UINT32_MAX)
            return blm__fail(err, BLM_E_UNSUPPORTED,
                             "layer %lu has more entries than its old header can hold",
                             (unsigned long)i);
        put_link(h + fixed_of(v) + link_of(v) * i, v, &l);
        size += l.size;
    }
    blm__put64le(h, size);
    blm__put32le(h + 8, b->layer_count);
    blm__put32le(h + 12, blm__rb_options(b->layers[0].shape.variant));
    if (v != BLM__RB_1)
        blm__put32le(h + 16, (uint32_t)b->growth);
    return BLM_OK;
}

static blm_status encode(const struct blm_body *b, struct blm_sink *out, blm_error *err)
{
    blm_status st = blm__only_scheme(b, "redisbloom", &blm__scheme_redisbloom, NULL, err);
    if (st != BLM_OK)
        return st;
    enum blm_rb_layout v    = blm__rb_layout(b->layers[0].shape.variant);
    size_t             room = header_of(v, b->layer_count);
    uint8_t           *h    = blm__alloc(b->alloc, room);
    if (!h)
        return blm__fail(err, BLM_E_MEMORY, "no memory for the header");
    st = put_header(b, v, h, err);
    if (st == BLM_OK)
        st = blm__write_bytes(out, h, room, err);
    blm__free(b->alloc, h, room);
    for (uint32_t i = 0; st == BLM_OK && i < b->layer_count; i++)
        st = blm__write_array(out, b, &b->layers[i], b->layers[i].shape.bits / 8, err);
    return st;
}

const struct blm_codec blm__codec_redisbloom = {
    .row    = { sizeof(blm_format_row), "redisbloom",
                "RedisBloom SCANDUMP chunks, one after the other", true, true },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
