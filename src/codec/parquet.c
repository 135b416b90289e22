/* SPDX-License-Identifier: MIT */
/*
 * Parquet's filter in bytes: a header in Thrift's compact protocol, then the bitset.
 *
 *   15 <zigzag varint: bytes>        field 1, i32: numBytes, a multiple of 32
 *   1c 1c 00 00                      field 2: algorithm, a union of {1: SplitBlock}
 *   1c 1c 00 00                      field 3: hash, a union of {1: XXHASH}
 *   1c 1c 00 00                      field 4: compression, a union of {1: UNCOMPRESSED}
 *   00                               stop
 *   numBytes bytes                   blocks of eight little-endian 32-bit words
 *
 * In a .parquet file the header starts where ColumnMetaData.bloom_filter_offset says. That is
 * options.offset, and then anything may follow the bitset; without an offset nothing may.
 * "parquet-bitset" is the bitset alone.
 *
 * Fields that a later version may add are skipped, whatever their type. Another member of one of
 * the unions would be another filter, and is refused.
 */
#include <string.h>

#include "codec/array.h"
#include "codec/thrift.h"
#include "codec/words.h"
#include "scheme/scheme.h"

#define HEADER_MOST 1024u /* bytes of fields, known or not: the real one has 14 to 18 */

/* ---- the header ---- */

struct header {
    uint64_t bytes, bytes_at;
    unsigned seen; /* bit per field number */
};

/* A union whose only known member is 1, an empty struct. */
static void take_union(struct blm__thrift *t, unsigned type, const char *unknown)
{
    uint64_t id = 0, at = t->in->at;
    unsigned member = type == BLM__STRUCT ? blm__thrift_field(t, &id) : BLM__STOP;
    if (t->status != BLM_OK)
        return;
    if (member != BLM__STRUCT || id != 1) {
        blm__thrift_bad(t, at, unknown);
        return;
    }
    blm__thrift_skip(t, BLM__STRUCT, BLM__THRIFT_DEPTH);
    if (blm__thrift_field(t, &id) != BLM__STOP)
        blm__thrift_bad(t, at, "a union with two members");
}

static void take_bytes(struct blm__thrift *t, unsigned type, struct header *h)
{
    h->bytes_at = t->in->at;
    uint64_t z  = type == BLM__I32 ? blm__thrift_varint(t) : 1;
    h->bytes    = z >> 1;
    if (z & 1 || h->bytes > INT32_MAX || h->bytes == 0 || h->bytes % 32)
        blm__thrift_bad(t, h->bytes_at, "numBytes is not a positive multiple of 32");
}

static blm_status take_header(struct blm__source *in, struct header *h, blm_error *err)
{
    struct blm__thrift t  = { .in     = in,
                              .err    = err,
                              .start  = in->at,
                              .most   = HEADER_MOST,
                              .what   = "not a Parquet filter header",
                              .within = "the header" };
    uint64_t           id = 0, start = in->at;
    memset(h, 0, sizeof *h);
    for (;;) {
        uint64_t at   = in->at;
        unsigned type = blm__thrift_field(&t, &id);
        if (type == BLM__STOP) /* also after what is wrong */
            break;
        if (id >= 1 && id <= 4 && h->seen >> id & 1)
            blm__thrift_bad(&t, at, "a field twice");
        if (id >= 1 && id <= 4)
            h->seen |= 1u << id;
        switch (id) {
        case 1:
            take_bytes(&t, type, h);
            break;
        case 2:
            take_union(&t, type, "field 2 (algorithm) is not SplitBlock");
            break;
        case 3:
            take_union(&t, type, "field 3 (hash) is not XXHASH");
            break;
        case 4:
            take_union(&t, type, "field 4 (compression) is not UNCOMPRESSED");
            break;
        default:
            blm__thrift_skip(&t, type, BLM__THRIFT_DEPTH);
            break;
        }
    }
    if (t.status == BLM_OK && h->seen != 0x1e)
        blm__thrift_bad(&t, start,
                        !(h->seen & 2)   ? "field 1 (numBytes) is missing"
                        : !(h->seen & 4) ? "field 2 (algorithm) is missing"
                        : !(h->seen & 8) ? "field 3 (hash) is missing"
                                         : "field 4 (compression) is missing");
    return t.status;
}

/* Fields 2 to 4 and the stop, as every writer that we know writes them. */
static const uint8_t unions[13] = { 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0 };

/* ---- decode ---- */

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    if (len >= 4 && memcmp(head, "PAR1", 4) == 0)
        return 90; /* a whole file: we can say what to do about it */
    if (len < 3 || head[0] != 0x15)
        return 0;
    size_t at = 1;
    while (at < len && at < 5 && head[at] & 0x80)
        at++;
    at++;
    if (at >= len || (total && total < at + sizeof unions + 32))
        return 0;
    size_t have = len - at < sizeof unions ? len - at : sizeof unions;
    if (memcmp(head + at, unions, have) != 0)
        return (head[at] & 15) == BLM__STRUCT ? 15 : 0; /* an odd one: we can say what is wrong */
    return have == sizeof unions ? 95 : 40;
}

static blm_status refuse_whole_file(struct blm__source *in, blm_error *err)
{
    const uint8_t *head = in->data ? in->data + in->at : in->head + in->head_at;
    uint64_t       have = in->data ? blm__remaining(in) : in->head_len - in->head_at;
    if (have >= 4 && memcmp(head, "PAR1", 4) == 0)
        return blm__fail_at(err, BLM_E_FORMAT, in->at,
                            "this is a whole Parquet file, not one column's filter");
    return BLM_OK;
}

static struct blm__shape shape_of(uint64_t bytes)
{
    struct blm__shape s = { .kind      = BLM_BLOCKED,
                            .rule      = BLM__POSITIONS,
                            .scheme    = &blm__scheme_parquet,
                            .bits      = bytes * 8,
                            .probes    = 8,
                            .cell_bits = 1 };
    return s;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *b,
                         blm_error *err)
{
    struct header h;
    blm_status    st = refuse_whole_file(in, err);
    if (st == BLM_OK)
        st = take_header(in, &h, err);
    if (st != BLM_OK)
        return st;
    struct blm__shape s = shape_of(h.bytes);
    b->kind             = BLM_BLOCKED;
    st                  = blm__read_array(in, &s, h.bytes, b, err);
    return st == BLM_OK ? blm__expect_end(in, o, err) : st;
}

/* As long as the input, or, inside something larger, as options.bits says. */
static blm_status decode_bitset(struct blm__source *in, const blm_options *o, struct blm__body *b,
                                blm_error *err)
{
    struct blm__block block;
    uint64_t          start = in->at, bytes = 0;
    blm_status        st = blm__read_sized(in, o, b, "bitset", &block, &bytes, err);
    if (st != BLM_OK)
        return st;
    if (bytes % 32 || bytes > INT32_MAX) {
        blm__block_free(b->alloc, &block);
        return blm__fail_at(err, BLM_E_FORMAT, start,
                            "the bitset has %llu bytes, not a multiple of 32 below 2^31",
                            (unsigned long long)bytes);
    }
    struct blm__shape s = shape_of(bytes);
    b->kind             = BLM_BLOCKED;
    return blm__give_array(b, &s, &block, bytes, start, err);
}

/* ---- encode ---- */

static blm_status encode_bitset(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st = blm__expect_scheme(b, "parquet", &blm__scheme_parquet, NULL, err);
    return st == BLM_OK ? blm__write_array(out, b, &b->layers[0], b->layers[0].shape.bits / 8, err)
                        : st;
}

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    uint8_t    h[1 + 5 + sizeof unions] = { 0x15 };
    size_t     n                        = 1;
    blm_status st = blm__expect_scheme(b, "parquet", &blm__scheme_parquet, NULL, err);
    if (st != BLM_OK)
        return st;
    for (uint64_t z = b->layers[0].shape.bits / 8 * 2; z || n == 1; z >>= 7)
        h[n++] = (uint8_t)((z & 0x7f) | (z > 0x7f ? 0x80 : 0));
    memcpy(h + n, unions, sizeof unions);
    st = blm__write_bytes(out, h, n + sizeof unions, err);
    return st == BLM_OK ? encode_bitset(b, out, err) : st;
}

const struct blm__codec blm__codec_parquet = {
    .row    = { sizeof(blm_format_row), "parquet",
                "Parquet split-block filter: Thrift header and bitset", true, true, .sniffs = true,
                .schemes = (const char *const[]){ "parquet", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};

const struct blm__codec blm__codec_parquet_bitset = {
    .row    = { sizeof(blm_format_row), "parquet-bitset",
                "Parquet split-block filter: the bitset alone", true, true,
                .schemes = (const char *const[]){ "parquet", NULL } },
    .sniff  = blm__never_bids,
    .decode = decode_bitset,
    .encode = encode_bitset,
};
