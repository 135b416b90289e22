/* SPDX-License-Identifier: MIT */
/*
 * Thrift's compact protocol. A struct is fields up to a stop byte; a field is one byte, the distance
 * to its number and its type, or the type alone and then its number; a whole number is a zigzag
 * varint; a list is one byte, count and type, or the type alone (count 15) and then the count; a map
 * is its count, then one byte with both types.
 */
#include "codec/thrift.h"

void blm__thrift_bad(struct blm__thrift *t, uint64_t at, const char *what)
{
    if (t->status == BLM_OK)
        t->status = blm__fail_at(t->err, BLM_E_FORMAT, t->base + at, "%s: %s", t->what, what);
}

static void ends(struct blm__thrift *t)
{
    t->status = blm__short(t->in, t->within, t->err);
    if (t->err)
        t->err->offset += t->base;
}

uint8_t blm__thrift_byte(struct blm__thrift *t)
{
    uint8_t b = 0;
    if (t->status != BLM_OK)
        return 0;
    if (t->in->at - t->start >= t->most)
        t->status = blm__fail_at(t->err, BLM_E_FORMAT, t->base + t->in->at,
                                 "%s: it does not end within %llu bytes", t->what,
                                 (unsigned long long)t->most);
    else if (blm__read(t->in, &b, 1) != 1)
        ends(t);
    return b;
}

uint64_t blm__thrift_varint(struct blm__thrift *t)
{
    uint64_t at = t->in->at, v = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t b = blm__thrift_byte(t);
        if (shift == 63 && b > 1)
            break;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
    blm__thrift_bad(t, at, "a number longer than 64 bits");
    return 0;
}

static int64_t unzigzag(uint64_t z) { return (int64_t)(z >> 1 ^ (0 - (z & 1))); }

int64_t blm__thrift_number(struct blm__thrift *t) { return unzigzag(blm__thrift_varint(t)); }

unsigned blm__thrift_field(struct blm__thrift *t, uint64_t *id)
{
    uint8_t b = blm__thrift_byte(t);
    if ((b & 15) == BLM__STOP)
        return BLM__STOP;
    *id = b >> 4 ? *id + (b >> 4) : (uint64_t)blm__thrift_number(t);
    return t->status == BLM_OK ? b & 15 : BLM__STOP;
}

uint64_t blm__thrift_list(struct blm__thrift *t, unsigned *type)
{
    uint8_t head = blm__thrift_byte(t);
    *type        = head & 15;
    return head >> 4 < 15 ? head >> 4 : blm__thrift_varint(t);
}

const uint8_t *blm__thrift_text(struct blm__thrift *t, size_t *len)
{
    uint64_t at = t->in->at, n = blm__thrift_varint(t);
    if (t->status == BLM_OK && n > blm__remaining(t->in))
        blm__thrift_bad(t, at, "a text longer than what is left");
    if (t->status != BLM_OK)
        return NULL;
    const uint8_t *text = t->in->data + t->in->at;
    t->in->at += n;
    *len = (size_t)n;
    return text;
}

/* ---- what nobody here knows ---- */

static void skip_items(struct blm__thrift *t, uint64_t count, unsigned key, unsigned value,
                       unsigned depth)
{
    for (; count > 0 && t->status == BLM_OK; count--) {
        if (key)
            blm__thrift_skip(t, key <= BLM__NO ? BLM__BYTE : key, depth);
        blm__thrift_skip(t, value <= BLM__NO ? BLM__BYTE : value, depth);
    }
}

static void skip_list(struct blm__thrift *t, unsigned depth)
{
    unsigned type;
    uint64_t count = blm__thrift_list(t, &type);
    skip_items(t, count, 0, type, depth);
}

static void skip_map(struct blm__thrift *t, unsigned depth)
{
    uint64_t count = blm__thrift_varint(t);
    uint8_t  types = count ? blm__thrift_byte(t) : 0;
    skip_items(t, count, types >> 4, types & 15, depth);
}

static void skip_struct(struct blm__thrift *t, unsigned depth)
{
    uint64_t id = 0;
    for (unsigned type; (type = blm__thrift_field(t, &id)) != BLM__STOP;)
        blm__thrift_skip(t, type, depth);
}

static void skip_bytes(struct blm__thrift *t, uint64_t n)
{
    for (; n > 0 && t->status == BLM_OK; n--)
        blm__thrift_byte(t);
}

void blm__thrift_skip(struct blm__thrift *t, unsigned type, unsigned depth)
{
    if (depth == 0) {
        blm__thrift_bad(t, t->in->at, "fields nested too deep");
        return;
    }
    switch (type) {
    case BLM__YES:
    case BLM__NO:
        break;
    case BLM__BYTE:
        blm__thrift_byte(t);
        break;
    case BLM__I16:
    case BLM__I32:
    case BLM__I64:
        blm__thrift_varint(t);
        break;
    case BLM__DOUBLE:
        skip_bytes(t, 8);
        break;
    case BLM__BINARY:
        skip_bytes(t, blm__thrift_varint(t));
        break;
    case BLM__LIST:
    case BLM__SET:
        skip_list(t, depth - 1);
        break;
    case BLM__MAP:
        skip_map(t, depth - 1);
        break;
    case BLM__STRUCT:
        skip_struct(t, depth - 1);
        break;
    default:
        blm__thrift_bad(t, t->in->at, "a field of an unknown type");
        break;
    }
}
