/* SPDX-License-Identifier: MIT */
/*
 * What Redis' DUMP gives for a RedisBloom key, and RESTORE takes: the value as in an RDB file.
 *
 *   07                      a module's value
 *   81 + 8 bytes            the module's id: "MBbloom--" in nine times 6 bits, encver in 10
 *   values                  each an opcode (2 unsigned, 4 double, 5 string) and what it says
 *   00                      end of the values
 *   u16                     RDB version     u64  CRC-64 of all before it       both little-endian
 *
 * Numbers are RDB lengths: 00xxxxxx; 01xxxxxx + 1 byte; 80 + 4 bytes; 81 + 8 bytes; big-endian. A
 * string is a length and bytes; or c3, packed and unpacked length, LZF; or c0, c1, c2 and a number of
 * 1, 2, 4 bytes of which it is the decimal text (Redis does that to whatever looks like one).
 *
 * The values: size, nfilters, options, growth; and for each link entries, error, hashes, bpe, bits,
 * n2, the array, its size. Before encver 4 there was no growth (it was 2), before 2 no options (0),
 * in 0 neither bits nor n2. It is written as encver 4, strings packed where Redis would.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/array.h"
#include "codec/lzf.h"
#include "codec/words.h"
#include "core/hash/crc64.h"
#include "scheme/redisbloom.h"

#define ENCVER      4u
#define RDB_DEFAULT 10u /* Redis 7.0; newer servers take it too */
#define NO_GROWTH   2u

enum { OP_END, OP_UNSIGNED = 2, OP_DOUBLE = 4, OP_STRING = 5 };

/* A–Z a–z 0–9 - _ are 0 … 63. */
static uint64_t module_id(unsigned encver)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t id = 0;
    for (const char *c = "MBbloom--"; *c; c++)
        id = id << 6 | (uint64_t)(strchr(set, *c) - set);
    return id << 10 | encver;
}

/* ---- in ---- */

struct reading {
    struct blm_source *in;
    struct blm_body   *b;
    blm_error         *err;
    blm_status         status; /* the first failure */
    struct blm_crc64   table;
    uint64_t           crc;
    const char        *what; /* is being read, for errors */
    uint32_t           link;
    bool               in_link;
};

static void bad(struct reading *r, blm_status st, uint64_t at, const char *text)
{
    if (r->status != BLM_OK)
        return;
    if (r->in_link)
        r->status = blm__fail_at(r->err, st, at, "%s of link %lu: %s", r->what,
                                 (unsigned long)r->link, text);
    else
        r->status = blm__fail_at(r->err, st, at, "%s: %s", r->what, text);
}

static void take(struct reading *r, void *out, size_t len)
{
    memset(out, 0, len);
    if (r->status != BLM_OK)
        return;
    if (blm__read(r->in, out, len) != len)
        r->status = blm__short(r->in, r->what, r->err);
    else
        r->crc = blm__crc64(&r->table, r->crc, out, len);
}

/* An RDB length. special (NULL: not allowed) becomes true when it is a string's encoding instead. */
static uint64_t take_length(struct reading *r, bool *special)
{
    uint64_t at = r->in->at;
    uint8_t  b[8];
    take(r, b, 1);
    uint8_t first = b[0];
    switch (first >> 6) {
    case 0: return first;
    case 1: take(r, b, 1); return (uint64_t)(first & 0x3f) << 8 | b[0];
    case 2:
        if (first == 0x80)
            return take(r, b, 4), blm__get32be(b);
        if (first == 0x81)
            return take(r, b, 8), blm__get64be(b);
        break;
    default:
        if (special) {
            *special = true;
            return first & 0x3f;
        }
    }
    bad(r, BLM_E_FORMAT, at, "not a number in RDB's encoding");
    return 0;
}

static void take_opcode(struct reading *r, unsigned want)
{
    uint64_t at = r->in->at, op = take_length(r, NULL);
    if (op != want)
        bad(r, BLM_E_FORMAT, at, "a value of another type");
}

static uint64_t take_unsigned(struct reading *r, const char *what)
{
    r->what = what;
    take_opcode(r, OP_UNSIGNED);
    return take_length(r, NULL);
}

static double take_double(struct reading *r, const char *what)
{
    uint8_t b[8];
    r->what = what;
    take_opcode(r, OP_DOUBLE);
    take(r, b, 8);
    return blm__f64_from_bits(blm__get64le(b));
}

/* ---- strings ---- */

static void take_plain(struct reading *r, uint64_t len, struct blm_block *out)
{
    if (r->status != BLM_OK)
        return;
    r->status = blm__read_block(r->in, r->b->alloc, len, r->b->max_bytes, out, r->err);
    if (r->status == BLM_OK)
        r->crc = blm__crc64(&r->table, r->crc, out->words, (size_t)len);
}

static void take_packed(struct reading *r, uint64_t *len, struct blm_block *out)
{
    uint64_t         at = r->in->at, packed = take_length(r, NULL);
    struct blm_block block = { 0 };
    *len = take_length(r, NULL);
    if (packed == 0 || *len == 0 || *len / BLM__LZF_RATIO > packed)
        bad(r, BLM_E_FORMAT, at, "lengths that LZF cannot have");
    if (r->b->max_bytes && *len > r->b->max_bytes)
        bad(r, BLM_E_LIMIT, at, "larger than the cap");
    take_plain(r, packed, &block);
    if (r->status == BLM_OK && !blm__block_alloc(r->b->alloc, *len, out))
        r->status = blm__fail(r->err, BLM_E_MEMORY, "no memory for %llu bytes of bits",
                              (unsigned long long)*len);
    else if (r->status == BLM_OK && !blm__lzf_unpack((const uint8_t *)block.words, (size_t)packed,
                                                     (uint8_t *)out->words, (size_t)*len))
        bad(r, BLM_E_FORMAT, at, "it does not unpack");
    blm__block_free(r->b->alloc, &block);
}

/* A number that stands for its text. */
static void take_decimal(struct reading *r, unsigned size, uint64_t *len, struct blm_block *out)
{
    uint8_t b[4];
    char    text[16];
    take(r, b, size);
    int32_t v = size == 1 ? (int8_t)b[0]
              : size == 2 ? (int16_t)blm__get16le(b) : (int32_t)blm__get32le(b);
    *len = (uint64_t)snprintf(text, sizeof text, "%" PRId32, v);
    if (r->status == BLM_OK && !blm__block_alloc(r->b->alloc, *len, out))
        r->status = blm__fail(r->err, BLM_E_MEMORY, "no memory for %llu bytes of bits",
                              (unsigned long long)*len);
    if (r->status == BLM_OK)
        memcpy(out->words, text, (size_t)*len);
}

static uint64_t take_string(struct reading *r, const char *what, struct blm_block *out)
{
    bool special = false;
    r->what = what;
    take_opcode(r, OP_STRING);
    uint64_t at = r->in->at, len = take_length(r, &special), how = len;
    if (!special && len == 0)
        bad(r, BLM_E_FORMAT, at, "it is empty");
    if (!special)
        take_plain(r, len, out);
    else if (how == 3)
        take_packed(r, &len, out);
    else if (how <= 2)
        take_decimal(r, 1u << how, &len, out);
    else
        bad(r, BLM_E_FORMAT, at, "a string in an unknown encoding");
    return len;
}

/* ---- the value ---- */

static void take_link(struct reading *r, unsigned encver, uint64_t variant)
{
    static const char *const names[] = { "the array", "bits", "size", "error", "bpe", "hashes",
                                         "entries", "n2" };
    struct blm_rb_link l = { 0 };
    struct blm_block   block = { 0 };
    struct blm_shape   s;
    unsigned           field = 0;
    uint64_t           start = r->in->at, n2 = 0, hashes;
    l.entries = take_unsigned(r, "entries");
    l.error   = take_double(r, "error");
    hashes    = take_unsigned(r, "hashes");
    l.bpe     = take_double(r, "bpe");
    if (encver >= 1) {
        l.bits = take_unsigned(r, "bits");
        n2     = take_unsigned(r, "n2");
    } else if (l.bpe > 0 && (double)l.entries * l.bpe < (double)BLM__MAX_BITS) {
        l.bits = (uint64_t)((double)l.entries * l.bpe);
    }
    uint64_t array = r->in->at;
    l.bytes  = take_string(r, "the array", &block);
    l.size   = take_unsigned(r, "size");
    l.hashes = hashes <= UINT32_MAX ? (uint32_t)hashes : UINT32_MAX;
    l.n2     = n2 <= UINT8_MAX ? (uint8_t)n2 : UINT8_MAX;
    /* Old links may have no bits but n2 only, as in the header of their time. */
    const char *fault = blm__rb_fault(&l, l.bits ? BLM__RB_CURRENT : BLM__RB_1, &field);
    if (fault && r->status == BLM_OK) {
        r->what = names[field];
        bad(r, BLM_E_FORMAT, field == 0 ? array : start, fault);
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
        r->b->layers[r->b->layer_count - 1].items = l.size;
}

struct value {
    unsigned encver;
    uint64_t size, links, options, growth;
};

static void take_front(struct reading *r, struct value *v)
{
    uint8_t type;
    r->what = "the type";
    take(r, &type, 1);
    if (type != 7)
        bad(r, BLM_E_FORMAT, 0, "not 7, a module's value");
    r->what = "the module's id";
    uint64_t id = take_length(r, NULL);
    v->encver = id & 1023;
    if (id >> 10 != module_id(0) >> 10)
        bad(r, BLM_E_FORMAT, 1, "not MBbloom--");
    if (v->encver > ENCVER)
        bad(r, BLM_E_VERSION, 1, "its encoding version is above 4, the last one known");
    v->size    = take_unsigned(r, "size");
    uint64_t at = r->in->at;
    v->links   = take_unsigned(r, "nfilters");
    if (v->links == 0 || v->links > BLM__MAX_LAYERS)
        bad(r, v->links ? BLM_E_LIMIT : BLM_E_FORMAT, at, "not 1 to 256");
    at = r->in->at;
    v->options = v->encver >= 2 ? take_unsigned(r, "options") : 0;
    if (v->options & ~(uint64_t)BLM__RB_OPTIONS)
        bad(r, BLM_E_FORMAT, at, "above 15 none are known");
    at = r->in->at;
    v->growth = v->encver >= 4 ? take_unsigned(r, "growth") : NO_GROWTH;
    if (v->growth > UINT32_MAX)
        bad(r, BLM_E_FORMAT, at, "more than 32 bits");
}

static void take_end(struct reading *r, const struct value *v, uint64_t *rdb)
{
    uint8_t  b[8];
    uint64_t size = 0;
    for (uint32_t i = 0; i < r->b->layer_count; i++)
        size += r->b->layers[i].items;
    r->what = "size";
    if (size != v->size)
        bad(r, BLM_E_FORMAT, 10, "it is not what the links' sizes add up to");
    r->what = "the end of the values";
    take_opcode(r, OP_END);
    r->what = "the RDB version";
    uint64_t at = r->in->at;
    take(r, b, 2);
    *rdb = blm__get16le(b);
    if (*rdb == 0 || *rdb > UINT8_MAX)
        bad(r, BLM_E_VERSION, at, "not 1 to 255");
    uint64_t crc = r->crc;
    r->what = "the checksum";
    at = r->in->at;
    take(r, b, 8);
    if (blm__get64le(b) != crc)
        bad(r, BLM_E_CHECKSUM, at, "it does not match");
}

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    (void)total;
    if (len < 10 || head[0] != 7 || head[1] != 0x81)
        return 0;
    return blm__get64be(head + 2) >> 10 == module_id(0) >> 10 ? 100 : 0;
}

static blm_status decode(struct blm_source *in, const blm_options *o, struct blm_body *b,
                         blm_error *err)
{
    struct reading r = { .in = in, .b = b, .err = err };
    struct value   v = { 0 };
    uint64_t       rdb = 0;
    blm__crc64_init(&r.table);
    take_front(&r, &v);
    r.in_link = true;
    for (; r.status == BLM_OK && r.link < v.links; r.link++)
        take_link(&r, v.encver, blm__rb_variant((uint32_t)v.options, BLM__RB_CURRENT));
    r.in_link = false;
    if (r.status == BLM_OK)
        take_end(&r, &v, &rdb);
    if (r.status == BLM_OK && o->offset == 0)
        r.status = blm__expect_end(in, err);
    if (r.status != BLM_OK)
        return r.status;
    for (uint32_t i = 0; i < b->layer_count; i++)
        blm__rb_set_rdb(&b->layers[i].shape, (uint8_t)rdb);
    blm__rb_body(b, (uint32_t)v.growth);
    return BLM_OK;
}

/* ---- out ---- */

struct writing {
    const struct blm_body *b;
    struct blm_sink       *out;
    struct blm_crc64       table;
    uint64_t               crc;
    uint32_t              *slots; /* for packing */
};

static bool put(void *ctx, const void *bytes, size_t len)
{
    struct writing *w = ctx;
    w->crc = blm__crc64(&w->table, w->crc, bytes, len);
    return blm__put(w->out, bytes, len);
}

static void put_length(struct writing *w, uint64_t v)
{
    uint8_t b[9];
    if (v < 1 << 6) {
        b[0] = (uint8_t)v;
        put(w, b, 1);
    } else if (v < 1 << 14) {
        b[0] = (uint8_t)(0x40 | v >> 8);
        b[1] = (uint8_t)v;
        put(w, b, 2);
    } else if (v <= UINT32_MAX) {
        b[0] = 0x80;
        blm__put32be(b + 1, (uint32_t)v);
        put(w, b, 5);
    } else {
        b[0] = 0x81;
        blm__put64be(b + 1, v);
        put(w, b, 9);
    }
}

static void put_unsigned(struct writing *w, uint64_t v)
{
    put_length(w, OP_UNSIGNED);
    put_length(w, v);
}

static void put_double(struct writing *w, double v)
{
    uint8_t b[8];
    blm__put64le(b, blm__f64_bits(v));
    put_length(w, OP_DOUBLE);
    put(w, b, 8);
}

/* Is this text a 32-bit number as it would be printed: no sign but a minus, no zero in front? */
static bool is_decimal(const uint8_t *s, uint64_t len, int64_t *out)
{
    bool     minus = len > 0 && s[0] == '-';
    uint64_t i = minus, v = 0;
    if (len > 11 || i == len || (s[i] == '0' && len > 1))
        return false;
    for (; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    *out = minus ? -(int64_t)v : (int64_t)v;
    return *out >= INT32_MIN && *out <= INT32_MAX;
}

static bool put_decimal(struct writing *w, const uint8_t *s, uint64_t len)
{
    uint8_t b[5];
    int64_t v;
    if (!is_decimal(s, len, &v))
        return false;
    unsigned how = v >= INT8_MIN && v <= INT8_MAX ? 0 : v >= INT16_MIN && v <= INT16_MAX ? 1 : 2;
    b[0] = (uint8_t)(0xc0 | how);
    blm__put32le(b + 1, (uint32_t)v);
    put(w, b, 1 + (1u << how));
    return true;
}

/* Packed when that saves more than four bytes. Two passes, so that the length can stand in front
 * without keeping what follows. */
static bool put_packed(struct writing *w, const uint8_t *s, uint64_t len)
{
    const uint8_t how = 0xc3;
    if (len <= 20 || len > UINT32_MAX)
        return false;
    memset(w->slots, 0, BLM__LZF_TABLE * sizeof *w->slots);
    size_t packed = blm__lzf_pack(s, (size_t)len, (size_t)len - 4, w->slots, NULL, NULL);
    if (packed == 0)
        return false;
    put(w, &how, 1);
    put_length(w, packed);
    put_length(w, len);
    memset(w->slots, 0, BLM__LZF_TABLE * sizeof *w->slots);
    blm__lzf_pack(s, (size_t)len, (size_t)len - 4, w->slots, put, w);
    return true;
}

static blm_status put_array(struct writing *w, const struct blm_layer *l, blm_error *err)
{
    const uint8_t *s   = (const uint8_t *)l->words; /* a redisbloom filter is never shared */
    uint64_t       len = l->shape.bits / 8;
    put_length(w, OP_STRING);
    if (put_decimal(w, s, len) || put_packed(w, s, len))
        return BLM_OK;
    put_length(w, len);
    for (uint64_t at = 0; at < len; at += 1 << 20) {
        size_t n = len - at < 1 << 20 ? (size_t)(len - at) : 1 << 20;
        if (!blm__go_on(w->b, at, len))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu bytes",
                             (unsigned long long)w->out->written);
        put(w, s + at, n);
    }
    return BLM_OK;
}

static blm_status put_link(struct writing *w, const struct blm_layer *layer, blm_error *err)
{
    struct blm_rb_link l;
    blm__rb_link(layer, &l);
    put_unsigned(w, l.entries);
    put_double(w, l.error);
    put_unsigned(w, l.hashes);
    put_double(w, l.bpe);
    put_unsigned(w, l.bits ? l.bits : l.bytes * 8);
    put_unsigned(w, l.n2);
    blm_status st = put_array(w, layer, err);
    put_unsigned(w, l.size);
    return st;
}

static blm_status put_value(struct writing *w, blm_error *err)
{
    const struct blm_body *b = w->b;
    uint8_t    type = 7, tail[8], rdb = blm__rb_rdb(&b->layers[0].shape);
    uint64_t   size = 0;
    blm_status st = BLM_OK;
    put(w, &type, 1);
    put_length(w, module_id(ENCVER));
    for (uint32_t i = 0; i < b->layer_count; i++)
        size += blm__layer_items(&b->layers[i]);
    put_unsigned(w, size);
    put_unsigned(w, b->layer_count);
    put_unsigned(w, blm__rb_options(b->layers[0].shape.variant));
    put_unsigned(w, (uint64_t)b->growth);
    for (uint32_t i = 0; st == BLM_OK && i < b->layer_count; i++)
        st = put_link(w, &b->layers[i], err);
    put_length(w, OP_END);
    blm__put16le(tail, rdb ? rdb : RDB_DEFAULT);
    put(w, tail, 2);
    blm__put64le(tail, w->crc);
    put(w, tail, 8);
    if (st == BLM_OK && w->out->failed)
        st = blm__fail_at(err, BLM_E_IO, w->out->written, "writing stopped after %llu bytes",
                          (unsigned long long)w->out->written);
    return st;
}

static blm_status encode(const struct blm_body *b, struct blm_sink *out, blm_error *err)
{
    struct writing w = { .b = b, .out = out };
    size_t         room = BLM__LZF_TABLE * sizeof *w.slots;
    if (b->layers[0].shape.scheme != &blm__scheme_redisbloom)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "format redisbloom-dump holds filters of scheme redisbloom, this one is "
                         "%s, and without its keys it cannot become another: rebuild it from them",
                         b->layers[0].shape.scheme->row.name);
    w.slots = blm__alloc(b->alloc, room);
    if (!w.slots)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %zu bytes to pack with", room);
    blm__crc64_init(&w.table);
    blm_status st = put_value(&w, err);
    blm__free(b->alloc, w.slots, room);
    return st;
}

const struct blm_codec blm__codec_redisbloom_dump = {
    .row    = { sizeof(blm_format_row), "redisbloom-dump",
                "RedisBloom key as Redis' DUMP gives it", true, true },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
