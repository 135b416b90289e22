/* SPDX-License-Identifier: MIT */
/*
 * RedisBloom's SCANDUMP chunks, one after the other as BF.SCANDUMP returns them: the header, then
 * the layers' arrays (RedisBloom says links), oldest first. codec/redisbloom_header.c has the
 * header's layouts.
 *
 * Nothing says which of the three layouts it is, but the numbers only make sense in the right one:
 * hashes follow from bpe, bits from bytes, the sizes add up. A single layer makes sense in both of
 * the 20-byte layouts, and then the input's length tells them apart; inside another file
 * (options.offset) today's is assumed. That of 2.2.0 is as long as today's without its last four
 * bytes: so its bits must be those that 2.2.0 stores. A filter is written back in the layout it came
 * in.
 *
 * To load it into a server again, cut the file: BF.LOADCHUNK key 1 <header>, then chunks of one
 * layer's array each, with iterator 1 + the offset of the chunk's end in the arrays laid end to
 * end.
 */
#include <string.h>

#include "codec/array.h"
#include "codec/redisbloom_header.h"
#include "codec/words.h"

/* ---- decode ---- */

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    if (len < 64)
        return 0;
    uint32_t layers = blm__get32le(head + 8), options = blm__get32le(head + 12);
    if (layers == 0 || layers > BLM_CHAIN_MAX_LAYERS || options > BLM_CHAIN_OPTIONS)
        return 0;
    for (enum blm__rb_layout v = BLM__RB_CURRENT; v <= BLM__RB_1; v++) {
        /* 64 bytes have the first layer up to its hashes, and not its n2: take that as 0, or, if
         * bits are missing, as what the bytes need. */
        uint8_t         layer[64] = { 0 };
        blm_chain_layer l;
        unsigned        field;
        memcpy(layer, head + blm__rb_layer_at(v, 0), 44);
        blm__rb_get_layer(layer, v, &l);
        for (l.n2 = 0; l.bits == 0 && l.n2 < 47 && (uint64_t)1 << l.n2 != l.bytes * 8;)
            l.n2++;
        if (!blm__rb_fault(&l, v, &field) && (!total || total > blm__rb_header_size(v, layers)))
            return v == BLM__RB_CURRENT ? 90 : 85;
    }
    return 0;
}

/* 57 KB with the most layers: too much for a stack. */
struct header {
    uint8_t *bytes;
    size_t   room;
};

/* Room for the header of so many layers, but not for more than the input can have. */
static blm_status make_room(struct header *h, uint32_t layers, const struct blm__source *in,
                            const blm_allocator *a, blm_error *err)
{
    uint64_t there = blm__remaining(in), need = blm__rb_header_size(BLM__RB_CURRENT, layers);
    h->room  = (size_t)(there < need - BLM__RB_FRONT ? BLM__RB_FRONT + there : need);
    h->bytes = blm__alloc(a, h->room);
    return h->bytes ? BLM_OK : blm__fail(err, BLM_E_MEMORY, "no memory for the header");
}

/* Reads as much as the shortest layout takes, and more only while none fits: a stream takes nothing
 * back. */
static blm_status take_header(struct blm__source *in, const blm_allocator *a, struct header *h,
                              enum blm__rb_layout *layout, blm_error *err)
{
    uint8_t front[BLM__RB_FRONT];
    size_t  have = blm__read(in, front, BLM__RB_FRONT);
    if (have != BLM__RB_FRONT)
        return blm__short(in, "the header", err);
    uint32_t   layers = blm__get32le(front + 8);
    blm_status st     = blm__rb_check_front(front, err);
    if (st == BLM_OK)
        st = make_room(h, layers, in, a, err);
    if (st != BLM_OK)
        return st;
    memcpy(h->bytes, front, BLM__RB_FRONT);
    for (*layout = BLM__RB_1;; (*layout)--) {
        size_t need = blm__rb_header_size(*layout, layers);
        have += blm__read(in, h->bytes + have, need - have);
        if (have != need)
            return blm__short(in, "the header", err);
        st = blm__rb_check_header(h->bytes, *layout, layers, err);
        if (st == BLM_OK || *layout == BLM__RB_CURRENT)
            return st;
    }
}

/* Makes layer i over an array that is next in the input, or already in a block. */
static blm_status take_layer(struct blm__source *in, struct blm__block *block, const uint8_t *h,
                             enum blm__rb_layout v, uint32_t i, struct blm__body *b, blm_error *err)
{
    blm_chain_layer   l;
    struct blm__shape s;
    blm__rb_get_layer(h + blm__rb_layer_at(v, i), v, &l);
    blm__rb_shape(&l, blm__rb_variant(blm__get32le(h + 12), v), &s);
    blm_status st = block ? blm__give_array(b, &s, block, l.bytes, in->at - l.bytes, err)
                          : blm__read_array(in, &s, l.bytes, b, err);
    if (st == BLM_OK)
        b->layers[i].items = l.items;
    return st;
}

/* One layer, whose header has 69 bytes or 73. Its array was read as if it were 69; if four more
 * bytes follow, the array's first four belong to the header and the others move down. */
static void move_down(uint8_t *h, uint8_t *array, size_t bytes, const uint8_t more[4])
{
    size_t keep = bytes > 4 ? bytes - 4 : 0;
    for (size_t i = 0; i < 4; i++)
        h[blm__rb_header_size(BLM__RB_220, 1) + i] = i < bytes ? array[i] : more[i - bytes];
    memmove(array, array + 4, keep);
    for (size_t i = keep; i < bytes; i++)
        array[i] = more[i + 4 - bytes];
}

/* 2.2.0 stores as many bits as the entries need, and not what they were rounded up to. */
static bool bits_of_220(const blm_chain_layer *l)
{
    uint64_t need = (uint64_t)((double)l->entries * l->bpe);
    return l->n2 || l->bits == (need ? need : 1);
}

/* So did 2.2.1 to 2.2.4, and what they round to may be no more. Then the array of such a dump, cut by
 * four bytes, begins with the last ones of its header: of entries, and n2. An empty one has no key to
 * lose. */
static bool may_be_cut(const uint8_t *layer, const uint8_t *array, size_t bytes)
{
    blm_chain_layer was, now;
    unsigned        field;
    uint8_t         b[53] = { 0 };
    memcpy(b, layer, 49);
    memcpy(b + 49, array, bytes < 4 ? bytes : 4);
    blm__rb_get_layer(b, BLM__RB_220, &was);
    blm__rb_get_layer(b, BLM__RB_CURRENT, &now);
    return now.items && now.entries == was.entries && !blm__rb_fault(&now, BLM__RB_CURRENT, &field);
}

/* The input ends where a dump of 2.2.0 does. */
static blm_status check_220(const struct blm__source *in, const uint8_t *h, const void *array,
                            uint64_t bytes, blm_error *err)
{
    const uint8_t  *layer = h + blm__rb_layer_at(BLM__RB_220, 0);
    blm_chain_layer l;
    blm__rb_get_layer(layer, BLM__RB_220, &l);
    if (!bits_of_220(&l))
        return blm__short(in, "the bits", err);
    if (may_be_cut(layer, array, (size_t)bytes))
        return blm__fail_at(err, BLM_E_AMBIGUOUS, in->at,
                            "either RedisBloom 2.2.0 wrote this, or a later one did and the last "
                            "four bytes are missing: take what DUMP gives, as redisbloom-dump");
    return BLM_OK;
}

static blm_status take_single(struct blm__source *in, uint8_t *h, struct blm__body *b,
                              blm_error *err)
{
    enum blm__rb_layout v     = BLM__RB_220;
    struct blm__block   block = { 0 };
    uint64_t            bytes = blm__get64le(h + blm__rb_layer_at(v, 0));
    uint8_t             more[4];
    blm_status          st = blm__read_block(in, b->alloc, bytes, b->max_bytes, &block, err);
    if (st != BLM_OK)
        return st;
    size_t extra = blm__read(in, more, sizeof more);
    if (extra == sizeof more) {
        v = BLM__RB_CURRENT;
        move_down(h, (uint8_t *)block.words, (size_t)bytes, more);
        st = blm__rb_check_header(h, v, 1, err);
    } else {
        st = extra || in->failed ? blm__short(in, "the bits", err)
                                 : check_220(in, h, block.words, bytes, err);
    }
    if (st == BLM_OK)
        return take_layer(in, &block, h, v, 0, b, err);
    blm__block_free(b->alloc, &block);
    return st;
}

static blm_status take_layers(struct blm__source *in, uint8_t *h, enum blm__rb_layout v,
                              const blm_options *o, struct blm__body *b, blm_error *err)
{
    uint32_t   layers = blm__get32le(h + 8);
    blm_status st     = BLM_OK;
    if (v == BLM__RB_220 && layers == 1)
        st = take_single(in, h, b, err);
    else
        for (uint32_t i = 0; st == BLM_OK && i < layers; i++)
            st = take_layer(in, NULL, h, v, i, b, err);
    if (st == BLM_OK)
        st = blm__expect_end(in, o, err);
    if (st == BLM_OK)
        blm__rb_body(b, blm__rb_get_growth(h, v));
    return st;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *b,
                         blm_error *err)
{
    struct header       h  = { 0 };
    enum blm__rb_layout v  = BLM__RB_CURRENT;
    blm_status          st = take_header(in, b->alloc, &h, &v, err);
    if (st == BLM_OK)
        st = take_layers(in, h.bytes, v, o, b, err);
    blm__free(b->alloc, h.bytes, h.room);
    return st;
}

/* ---- encode ---- */

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st = blm__only_scheme(b, "redisbloom", &blm__scheme_redisbloom, NULL, err);
    if (st != BLM_OK)
        return st;
    enum blm__rb_layout v    = blm__rb_layout(b->layers[0].shape.variant);
    size_t              room = blm__rb_header_size(v, b->layer_count);
    uint8_t            *h    = blm__alloc(b->alloc, room);
    if (!h)
        return blm__fail(err, BLM_E_MEMORY, "no memory for the header");
    st = blm__rb_put_header(b, v, h, err);
    if (st == BLM_OK)
        st = blm__write_bytes(out, h, room, err);
    blm__free(b->alloc, h, room);
    for (uint32_t i = 0; st == BLM_OK && i < b->layer_count; i++)
        st = blm__write_array(out, b, &b->layers[i], b->layers[i].shape.bits / 8, err);
    return st;
}

const struct blm__codec blm__codec_redisbloom = {
    .row    = { sizeof(blm_format_row), "redisbloom",
                "RedisBloom SCANDUMP chunks, one after the other", true, true, .sniffs = true,
                .schemes = (const char *const[]){ "redisbloom", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
