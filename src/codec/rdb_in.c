/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/lzf.h"
#include "codec/rdb.h"

void blm__rdb_in(struct blm__rdb_in *r, struct blm__source *in, struct blm__body *b, blm_error *err)
{
    memset(r, 0, sizeof *r);
    r->in    = in;
    r->b     = b;
    r->err   = err;
    r->layer = UINT32_MAX;
    blm__crc64_init(&r->table);
}

void blm__rdb_bad(struct blm__rdb_in *r, blm_status st, uint64_t at, const char *text)
{
    if (r->status != BLM_OK)
        return;
    if (r->layer != UINT32_MAX)
        r->status = blm__fail_at(r->err, st, at, "%s of layer %lu: %s", r->what,
                                 (unsigned long)r->layer, text);
    else
        r->status = blm__fail_at(r->err, st, at, "%s: %s", r->what, text);
}

void blm__rdb_take(struct blm__rdb_in *r, void *out, size_t len)
{
    memset(out, 0, len);
    if (r->status != BLM_OK)
        return;
    if (blm__read(r->in, out, len) != len)
        r->status = blm__short(r->in, r->what, r->err);
    else
        r->crc = blm__crc64(&r->table, r->crc, out, len);
}

/* Reads an RDB length. special (NULL: not allowed) becomes true if it is a string's encoding
 * instead. */
static uint64_t take_length(struct blm__rdb_in *r, bool *special)
{
    uint64_t at = r->in->at;
    uint8_t  b[8];
    blm__rdb_take(r, b, 1);
    uint8_t first = b[0];
    switch (first >> 6) {
    case 0:
        return first;
    case 1:
        blm__rdb_take(r, b, 1);
        return (uint64_t)(first & 0x3f) << 8 | b[0];
    case 2:
        if (first == 0x80)
            return blm__rdb_take(r, b, 4), blm__get32be(b);
        if (first == 0x81)
            return blm__rdb_take(r, b, 8), blm__get64be(b);
        break;
    default:
        if (special) {
            *special = true;
            return first & 0x3f;
        }
    }
    blm__rdb_bad(r, BLM_E_FORMAT, at, "not a number in RDB's encoding");
    return 0;
}

uint64_t blm__rdb_length(struct blm__rdb_in *r) { return take_length(r, NULL); }

void blm__rdb_opcode(struct blm__rdb_in *r, enum blm__rdb_op want)
{
    uint64_t at = r->in->at, op = blm__rdb_length(r);
    if (op != (uint64_t)want)
        blm__rdb_bad(r, BLM_E_FORMAT, at, "the value has another type");
}

uint64_t blm__rdb_unsigned(struct blm__rdb_in *r, const char *what)
{
    r->what = what;
    blm__rdb_opcode(r, BLM__RDB_UNSIGNED);
    return blm__rdb_length(r);
}

double blm__rdb_double(struct blm__rdb_in *r, const char *what)
{
    uint8_t b[8];
    r->what = what;
    blm__rdb_opcode(r, BLM__RDB_DOUBLE);
    blm__rdb_take(r, b, 8);
    return blm__f64_from_bits(blm__get64le(b));
}

/* ---- strings ---- */

static void take_plain(struct blm__rdb_in *r, uint64_t len, struct blm__block *out)
{
    if (r->status != BLM_OK)
        return;
    r->status = blm__read_block(r->in, r->b->alloc, len, r->b->max_bytes, out, r->err);
    if (r->status == BLM_OK)
        r->crc = blm__crc64(&r->table, r->crc, out->words, (size_t)len);
}

static void take_packed(struct blm__rdb_in *r, uint64_t *len, struct blm__block *out)
{
    uint64_t          at = r->in->at, packed = blm__rdb_length(r);
    struct blm__block block = { 0 };
    *len                    = blm__rdb_length(r);
    if (packed == 0 || *len == 0 || *len / BLM__LZF_RATIO > packed)
        blm__rdb_bad(r, BLM_E_FORMAT, at, "its lengths are impossible for LZF");
    if (r->b->max_bytes && *len > r->b->max_bytes)
        blm__rdb_bad(r, BLM_E_LIMIT, at, "it is larger than the limit");
    take_plain(r, packed, &block);
    if (r->status == BLM_OK)
        r->status = blm__block_make(r->b->alloc, *len, out, r->err);
    if (r->status == BLM_OK && !blm__lzf_unpack((const uint8_t *)block.words, (size_t)packed,
                                                (uint8_t *)out->words, (size_t)*len))
        blm__rdb_bad(r, BLM_E_FORMAT, at, "it does not unpack");
    blm__block_free(r->b->alloc, &block);
}

/* Reads a number that stands for its decimal text. */
static void take_decimal(struct blm__rdb_in *r, unsigned size, uint64_t *len,
                         struct blm__block *out)
{
    uint8_t b[4];
    char    text[16];
    blm__rdb_take(r, b, size);
    int32_t v = size == 1   ? (int8_t)b[0]
                : size == 2 ? (int16_t)blm__get16le(b)
                            : (int32_t)blm__get32le(b);
    *len      = (uint64_t)snprintf(text, sizeof text, "%" PRId32, v);
    if (r->status == BLM_OK)
        r->status = blm__block_make(r->b->alloc, *len, out, r->err);
    if (r->status == BLM_OK)
        memcpy(out->words, text, (size_t)*len);
}

uint64_t blm__rdb_string(struct blm__rdb_in *r, const char *what, struct blm__block *out)
{
    bool special = false;
    r->what      = what;
    blm__rdb_opcode(r, BLM__RDB_STRING);
    uint64_t at = r->in->at, len = take_length(r, &special), how = len;
    if (!special && len == 0)
        blm__rdb_bad(r, BLM_E_FORMAT, at, "it is empty");
    if (!special)
        take_plain(r, len, out);
    else if (how == 3)
        take_packed(r, &len, out);
    else if (how <= 2)
        take_decimal(r, 1u << how, &len, out);
    else
        blm__rdb_bad(r, BLM_E_FORMAT, at, "the string's encoding is unknown");
    return len;
}
