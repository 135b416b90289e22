/* SPDX-License-Identifier: MIT */
/*
 * What Redis' DUMP returns for a RedisBloom key, and RESTORE takes: the value as in an RDB file.
 *
 *   07                      a module's value
 *   81 + 8 bytes            the module's id: "MBbloom--" in nine times 6 bits, encver in 10
 *   values                  as codec/rdb.h has them
 *   00                      end of the values
 *   u16                     RDB version     u64  CRC-64 of all before it       both little-endian
 *
 * The values: size, nfilters, options, growth; and for each layer (RedisBloom says link) entries,
 * error, hashes, bpe, bits, n2, the array, its size. Before encver 4 there was no growth (it was
 * 2), before 2 no options (0), in 0 neither bits nor n2. We write encver 4, with strings packed as
 * Redis would.
 */
#include <string.h>

#include "codec/array.h"
#include "codec/base64.h"
#include "codec/rdb.h"
#include "codec/words.h"
#include "core/checksum.h"
#include "scheme/redisbloom.h"

#define ENCVER      4u
#define RDB_DEFAULT 10u /* Redis 7.0; newer servers take it too */
#define NO_GROWTH   2u

/* Redis takes the characters of a module's name as URL-safe base64 does. */
static uint64_t module_id(unsigned encver)
{
    uint64_t id = 0;
    for (const char *c = "MBbloom--"; *c; c++)
        id = id << 6 | (uint64_t)blm__base64_value(*c);
    return id << 10 | encver;
}

/* ---- in ---- */

static void take_layer(struct blm__rdb_in *r, unsigned encver, uint64_t variant)
{
    static const char *const names[] = { "the array", "bits",   "size",    "error",
                                         "bpe",       "hashes", "entries", "n2" };
    blm_chain_layer          l       = { 0 };
    struct blm__block        block   = { 0 };
    struct blm__shape        s;
    unsigned                 field = 0;
    uint64_t                 start = r->in->at, n2 = 0, hashes;
    l.entries = blm__rdb_unsigned(r, "entries");
    l.error   = blm__rdb_double(r, "error");
    hashes    = blm__rdb_unsigned(r, "hashes");
    l.bpe     = blm__rdb_double(r, "bpe");
    if (encver >= 1) {
        l.bits = blm__rdb_unsigned(r, "bits");
        n2     = blm__rdb_unsigned(r, "n2");
    } else if (l.bpe > 0 && (double)l.entries * l.bpe < (double)BLM__MAX_BITS) {
        l.bits = (uint64_t)((double)l.entries * l.bpe);
    }
    uint64_t array = r->in->at;
    l.bytes        = blm__rdb_string(r, "the array", &block);
    l.items        = blm__rdb_unsigned(r, "size");
    l.hashes       = hashes <= UINT32_MAX ? (uint32_t)hashes : UINT32_MAX;
    l.n2           = n2 <= UINT8_MAX ? (uint8_t)n2 : UINT8_MAX;
    /* Old layers may have only n2 and no bits, as in the header of their time. */
    const char *fault = blm__rb_fault(&l, l.bits ? BLM__RB_CURRENT : BLM__RB_1, &field);
    if (fault && r->status == BLM_OK) {
        r->what = names[field];
        blm__rdb_bad(r, BLM_E_FORMAT, field == 0 ? array : start, fault);
    }
    if (r->status == BLM_OK) {
        if (l.bits == 0)
            l.bits = l.bytes * 8;
        blm__rb_shape(&l, variant, &s);
        r->status = blm__give_array(r->b, &s, &block, l.bytes, array, r->err);
    } else {
        blm__block_free(r->b->alloc, &block);
    }
    if (r->status == BLM_OK)
        r->b->layers[r->b->layer_count - 1].items = l.items;
}

struct value {
    unsigned encver;
    uint64_t size, layers, options, growth;
};

static void take_front(struct blm__rdb_in *r, struct value *v)
{
    uint8_t type;
    r->what = "the type";
    blm__rdb_take(r, &type, 1);
    if (type != 7)
        blm__rdb_bad(r, BLM_E_FORMAT, 0, "not 7, a module's value");
    r->what     = "the module's id";
    uint64_t id = blm__rdb_length(r);
    v->encver   = id & 1023;
    if (id >> 10 != module_id(0) >> 10)
        blm__rdb_bad(r, BLM_E_FORMAT, 1, "not MBbloom--");
    if (v->encver > ENCVER)
        blm__rdb_bad(r, BLM_E_VERSION, 1, "its encoding version is above 4, the last one we know");
    v->size     = blm__rdb_unsigned(r, "size");
    uint64_t at = r->in->at;
    v->layers   = blm__rdb_unsigned(r, "nfilters");
    if (v->layers == 0 || v->layers > BLM_CHAIN_MAX_LAYERS)
        blm__rdb_bad(r, v->layers ? BLM_E_LIMIT : BLM_E_FORMAT, at, "not 1 to 1075");
    at         = r->in->at;
    v->options = v->encver >= 2 ? blm__rdb_unsigned(r, "options") : 0;
    if (v->options & ~(uint64_t)BLM_CHAIN_OPTIONS)
        blm__rdb_bad(r, BLM_E_FORMAT, at, "those above 15 are unknown");
    at        = r->in->at;
    v->growth = v->encver >= 4 ? blm__rdb_unsigned(r, "growth") : NO_GROWTH;
    if (v->growth > UINT32_MAX)
        blm__rdb_bad(r, BLM_E_FORMAT, at, "more than 32 bits");
}

static void take_end(struct blm__rdb_in *r, const struct value *v, uint64_t *rdb)
{
    uint8_t  b[8];
    uint64_t left = v->size; /* of it, when the layers' are taken away */
    bool     adds = true;
    for (uint32_t i = 0; i < r->b->layer_count; i++) {
        adds = adds && r->b->layers[i].items <= left;
        left -= r->b->layers[i].items;
    }
    r->what = "size";
    if (!adds || left != 0)
        blm__rdb_bad(r, BLM_E_FORMAT, 10, "it is not the sum of the layers' sizes");
    r->what = "the end of the values";
    blm__rdb_opcode(r, BLM__RDB_END);
    r->what     = "the RDB version";
    uint64_t at = r->in->at;
    blm__rdb_take(r, b, 2);
    *rdb = blm__get16le(b);
    if (*rdb == 0 || *rdb > UINT8_MAX)
        blm__rdb_bad(r, BLM_E_VERSION, at, "not 1 to 255");
    uint64_t crc = r->crc;
    r->what      = "the checksum";
    at           = r->in->at;
    blm__rdb_take(r, b, 8);
    if (!blm__sum_matches(crc, blm__get64le(b)))
        blm__rdb_bad(r, BLM_E_CHECKSUM, at, "it does not match");
}

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    (void)total;
    if (len < 10 || head[0] != 7 || head[1] != 0x81)
        return 0;
    return blm__get64be(head + 2) >> 10 == module_id(0) >> 10 ? 100 : 0;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *b,
                         blm_error *err)
{
    struct blm__rdb_in r;
    struct value       v   = { 0 };
    uint64_t           rdb = 0;
    blm__rdb_in(&r, in, b, err);
    take_front(&r, &v);
    for (r.layer = 0; r.status == BLM_OK && r.layer < v.layers; r.layer++)
        take_layer(&r, v.encver, blm__rb_variant((uint32_t)v.options, BLM__RB_CURRENT));
    r.layer = UINT32_MAX;
    if (r.status == BLM_OK)
        take_end(&r, &v, &rdb);
    if (r.status == BLM_OK)
        r.status = blm__expect_end(in, o, err);
    if (r.status != BLM_OK)
        return r.status;
    for (uint32_t i = 0; i < b->layer_count; i++)
        blm__rb_set_rdb(&b->layers[i].shape, (uint8_t)rdb);
    blm__rb_body(b, (uint32_t)v.growth);
    return BLM_OK;
}

/* ---- out ---- */

static blm_status put_layer(struct blm__rdb_out *w, const struct blm__layer *layer, blm_error *err)
{
    blm_chain_layer l;
    blm__rb_layer(layer, &l);
    blm__rdb_put_unsigned(w, l.entries);
    blm__rdb_put_double(w, l.error);
    blm__rdb_put_unsigned(w, l.hashes);
    blm__rdb_put_double(w, l.bpe);
    blm__rdb_put_unsigned(w, l.bits ? l.bits : l.bytes * 8);
    blm__rdb_put_unsigned(w, l.n2);
    blm_status st = blm__rdb_put_string(w, (const uint8_t *)layer->words, l.bytes, err);
    blm__rdb_put_unsigned(w, l.items);
    return st;
}

static blm_status put_value(struct blm__rdb_out *w, blm_error *err)
{
    const struct blm__body *b    = w->b;
    uint8_t                 type = 7, tail[8], rdb = blm__rb_rdb(&b->layers[0].shape);
    uint64_t                size = 0;
    blm_status              st   = BLM_OK;
    blm__rdb_put(w, &type, 1);
    blm__rdb_put_length(w, module_id(ENCVER));
    for (uint32_t i = 0; i < b->layer_count; i++)
        size += blm__layer_items(&b->layers[i]);
    blm__rdb_put_unsigned(w, size);
    blm__rdb_put_unsigned(w, b->layer_count);
    blm__rdb_put_unsigned(w, blm__rb_options(b->layers[0].shape.variant));
    blm__rdb_put_unsigned(w, (uint64_t)b->growth);
    for (uint32_t i = 0; st == BLM_OK && i < b->layer_count; i++)
        st = put_layer(w, &b->layers[i], err);
    blm__rdb_put_length(w, BLM__RDB_END);
    blm__put16le(tail, rdb ? rdb : RDB_DEFAULT);
    blm__rdb_put(w, tail, 2);
    blm__put64le(tail, w->crc);
    blm__rdb_put(w, tail, 8);
    if (st == BLM_OK && w->torn) /* it is mapped from a file that has a writer */
        st = blm__fail(err, BLM_E_BUSY, "the filter changed while it was being written");
    if (st == BLM_OK && w->out->failed)
        st = blm__put_failed(w->out, err);
    return st;
}

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st = blm__only_scheme(b, "redisbloom-dump", &blm__scheme_redisbloom, NULL, err);
    return st == BLM_OK ? blm__rdb_encode(b, out, put_value, err) : st;
}

const struct blm__codec blm__codec_redisbloom_dump = {
    .row    = { sizeof(blm_format_row), "redisbloom-dump", "RedisBloom key as Redis' DUMP gives it",
                true, true, .sniffs = true, .schemes = (const char *const[]){ "redisbloom", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
