/* SPDX-License-Identifier: MIT */
/*
 * Go's bloom in a gob stream: one value of a type that encodes itself. The stream is messages, each
 * after its length:
 *
 *   types    minus the type's id, then a wireType with one member set (GobEncoderT, or
 *            BinaryMarshalerT), which has a CommonType: perhaps a name, and an id. There is one
 *            such message, or more for a type that wraps the filter's; the value's type is first
 *   value    the type's id, a zero, a length, and that many bytes: the plain form (go.h)
 *
 * Ids are given out while a program runs. They are kept as they were read; a stream that we make
 * has 65 and 66, the first ones that a program gives out. Numbers: below 128 one byte; else the
 * count of bytes, negated, and the bytes, big-endian. Signed: twice the value, or twice ~value + 1.
 */
#include "codec/go.h"
#include "codec/words.h"

#define TYPES_MOST 1024u /* bytes of type messages: a name or two */

static const uint8_t default_type[] = { 0x0a, 0xff, 0x81, 0x05, 0x01, 0x02,
                                        0xff, 0x84, 0x00, 0x00, 0x00 };

/* ---- numbers ---- */

static uint64_t take_uint(struct blm__cursor *c)
{
    uint8_t first = blm__take8(c);
    if (first < 128)
        return first;
    size_t         n = 256u - first;
    const uint8_t *p = n <= 8 ? blm__take(c, n) : NULL;
    uint64_t       v = 0;
    if (!p) {
        c->bad = true;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static size_t put_uint(uint8_t *p, uint64_t v)
{
    if (v < 128) {
        p[0] = (uint8_t)v;
        return 1;
    }
    size_t n = 1;
    while (n < 8 && v >> (8 * n))
        n++;
    p[0] = (uint8_t)(256 - n);
    for (size_t i = 0; i < n; i++)
        p[1 + i] = (uint8_t)(v >> (8 * (n - 1 - i)));
    return n + 1;
}

/* Reads a number of up to 9 bytes, copied to `bytes`. Returns how many; 0: the input ended, or this
 * is not a number. */
static size_t read_uint(struct blm__source *in, uint8_t bytes[9], uint64_t *v)
{
    if (blm__read(in, bytes, 1) != 1)
        return 0;
    size_t more = bytes[0] < 128 ? 0 : 256u - bytes[0];
    if (more > 8 || blm__read(in, bytes + 1, more) != more)
        return 0;
    struct blm__cursor c = blm__cursor(bytes, more + 1);
    *v                   = take_uint(&c);
    return more + 1;
}

/* ---- the type messages ---- */

/* The id that a message's value begins with (as an unsigned number) when it is of the type that the
 * first of these messages defines; 0 when that is no type which encodes itself. */
static uint64_t type_id(const uint8_t *types, size_t len)
{
    struct blm__cursor c      = blm__cursor(types, len);
    uint64_t           length = take_uint(&c);
    if (c.bad || length > blm__left(&c))
        return 0;
    c.len       = c.at + (size_t)length;
    uint64_t id = take_uint(&c), member = take_uint(&c), common = take_uint(&c);
    if (c.bad || !(id & 1) || (member != 5 && member != 6) || common != 1)
        return 0;
    uint64_t step = take_uint(&c);
    if (step == 1) { /* a name, then the id is the next member */
        uint64_t name = take_uint(&c);
        if (c.bad || name > blm__left(&c))
            return 0;
        blm__take(&c, (size_t)name);
        step = take_uint(&c) + 1;
    }
    if (step != 2)
        return 0;
    take_uint(&c); /* the id again, or another */
    const uint8_t *end = blm__take(&c, 3);
    if (!end || end[0] || end[1] || end[2] || blm__left(&c) != 0)
        return 0;
    return id + 1; /* minus an id: 2·id − 1. The id itself: 2·id */
}

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    (void)total;
    return type_id(head, len) ? 85 : 0;
}

/* ---- in ---- */

/* What comes before the bytes of the filter itself. */
struct opening {
    uint8_t  types[TYPES_MOST];
    size_t   types_len;
    uint64_t id;      /* of the value's type */
    uint64_t message; /* bytes of the value's message … */
    uint64_t start;   /* … and where it begins */
};

/* Reads the type messages, and the length and id of the value's message: a message's length and id
 * must be read before we know which it is. */
static blm_status read_types(struct blm__source *in, struct opening *g, blm_error *err)
{
    for (;;) {
        uint8_t *at     = g->types + g->types_len;
        uint64_t begins = in->at, id;
        if (TYPES_MOST - g->types_len < 18)
            return blm__fail_at(err, BLM_E_FORMAT, begins,
                                "the gob defines more types than a filter needs");
        size_t n = read_uint(in, at, &g->message);
        if (n == 0)
            return blm__short(in, "the length of a gob message", err);
        g->start      = in->at;
        size_t id_len = read_uint(in, at + n, &id);
        if (id_len == 0)
            return blm__short(in, "the type id of a gob message", err);
        if (g->types_len == 0 && !(id & 1))
            return blm__fail_at(err, BLM_E_FORMAT, g->start,
                                "the gob begins with a value, not with its type");
        if (!(id & 1)) {
            g->id = id;
            return BLM_OK;
        }
        if (g->message < id_len || g->message > TYPES_MOST - g->types_len - n)
            return blm__fail_at(err, BLM_E_FORMAT, begins,
                                "the gob has an impossible type definition of %llu bytes",
                                (unsigned long long)g->message);
        size_t rest = (size_t)g->message - id_len;
        if (blm__read(in, at + n + id_len, rest) != rest)
            return blm__short(in, "a type definition of the gob", err);
        g->types_len += n + (size_t)g->message;
    }
}

/* Reads the value's message up to the words. */
static blm_status read_value(struct blm__source *in, const struct opening *o, struct blm__go *g,
                             blm_error *err)
{
    uint8_t  scratch[9], h[BLM__GO_HEADER];
    uint64_t zero, bytes, id = type_id(o->types, o->types_len);
    if (id == 0)
        return blm__fail_at(err, BLM_E_FORMAT, 0,
                            "the gob's first type is not one that encodes itself");
    if (id != o->id)
        return blm__fail_at(err, BLM_E_FORMAT, o->start,
                            "the gob's value is not of the type defined first");
    if (read_uint(in, scratch, &zero) == 0)
        return blm__short(in, "the gob's value", err);
    uint64_t at_bytes = in->at;
    if (read_uint(in, scratch, &bytes) == 0)
        return blm__short(in, "the gob value's byte count", err);
    if (zero != 0 || o->message != in->at - o->start + bytes || bytes < BLM__GO_HEADER)
        return blm__fail_at(err, BLM_E_FORMAT, at_bytes,
                            "the gob value's byte count of %llu does not fit its message of %llu",
                            (unsigned long long)bytes, (unsigned long long)o->message);
    uint64_t at = in->at;
    if (blm__read(in, h, sizeof h) != sizeof h)
        return blm__short(in, "the filter's header", err);
    *g = (struct blm__go){ blm__get64be(h), blm__get64be(h + 8), blm__get64be(h + 16), at, at + 8,
                           at + 16 };
    blm_status st = blm__go_check(g, err);
    if (st == BLM_OK && bytes != BLM__GO_HEADER + blm__go_words(g->length) * 8)
        st = blm__fail_at(err, BLM_E_FORMAT, at_bytes,
                          "a byte count of %llu does not fit a bit set of %llu bits",
                          (unsigned long long)bytes, (unsigned long long)g->length);
    return st;
}

static blm_status decode(struct blm__source *in, const blm_options *options, struct blm__body *out,
                         blm_error *err)
{
    struct opening o;
    struct blm__go g;
    o.types_len   = 0;
    blm_status st = read_types(in, &o, err);
    if (st == BLM_OK)
        st = read_value(in, &o, &g, err);
    if (st != BLM_OK)
        return st;
    if (o.types_len == sizeof default_type &&
        memcmp(o.types, default_type, sizeof default_type) == 0)
        o.types_len = 0;
    st = blm__go_read(in, &g, o.types, o.types_len, out, err);
    return st == BLM_OK ? blm__expect_end(in, options, err) : st;
}

/* ---- out ---- */

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    struct blm__go g;
    blm_status     st = blm__go_of(b, "go-gob", &g, err);
    if (st != BLM_OK)
        return st;
    size_t         types_len;
    const uint8_t *types = blm__go_types(b, &types_len);
    uint64_t       id    = types ? type_id(types, types_len) : 0;
    if (id == 0) {
        types     = default_type;
        types_len = sizeof default_type;
        id        = type_id(types, types_len);
    }
    /* Message length, id, 0, byte count; then m and k of the plain form. */
    uint64_t bytes = BLM__GO_HEADER + blm__go_words(g.length) * 8;
    uint8_t  inner[32], outer[9];
    size_t   n = put_uint(inner, id);
    inner[n++] = 0;
    n += put_uint(inner + n, bytes);
    size_t length = put_uint(outer, n + bytes);
    st            = blm__write_bytes(out, types, types_len, err);
    if (st == BLM_OK)
        st = blm__write_bytes(out, outer, length, err);
    if (st == BLM_OK)
        st = blm__write_bytes(out, inner, n, err);
    blm__put64be(inner, g.m);
    blm__put64be(inner + 8, g.k);
    if (st == BLM_OK)
        st = blm__write_bytes(out, inner, 16, err);
    return st == BLM_OK ? blm__go_write(b, &g, out, err) : st;
}

const struct blm__codec blm__codec_go_gob = {
    .row    = { sizeof(blm_format_row), "go-gob", "Go bloom, in a gob stream", true, true,
                .sniffs = true, .schemes = (const char *const[]){ "go", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
