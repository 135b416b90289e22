/* SPDX-License-Identifier: MIT */
/*
 * RedisBloom's cuckoo filters, in two formats.
 *
 * redisbloom-cf: the chunks of CF.SCANDUMP one after the other. A header of 38 bytes, little-endian,
 * then the slots of each layer, oldest first, a byte each.
 *
 *   0 u64 items   8 u64 buckets of the first layer   16 u64 deletes   24 u64 layers
 *   32 u16 bucket size   34 u16 max iterations   36 u16 expansion
 *
 * redisbloom-cf-dump: what DUMP returns and RESTORE takes: a module's value (codec/rdb.h) of
 * "MBbloomCF", encoding version 4: layers, buckets, items, deletes, bucket size, max iterations,
 * expansion; then for each layer its buckets and its slots.
 *
 * Slots are counted, and items that do not match are not an error: a load that was left unfinished
 * has such. More than there are slots are.
 */
#include <string.h>

#include "codec/array.h"
#include "codec/base64.h"
#include "codec/rdb.h"
#include "codec/redisbloom_cf.h"
#include "codec/words.h"
#include "core/checksum.h"
#include "engine/engine.h"
#include "scheme/redisbloom_cf.h"

#define ENCVER      4u
#define RDB_DEFAULT 10u

static const char *const fields[] = { "items",       "buckets",        "deletes",  "layers",
                                      "bucket size", "max iterations", "expansion" };

/* ---- the header ---- */

void blm__cf_get(const uint8_t in[BLM_CF_HEADER], blm_cf *c)
{
    *c = (blm_cf){ .size           = sizeof *c,
                   .items          = blm__get64le(in),
                   .buckets        = blm__get64le(in + 8),
                   .deletes        = blm__get64le(in + 16),
                   .layers         = blm__get64le(in + 24),
                   .bucket_size    = blm__get16le(in + 32),
                   .max_iterations = blm__get16le(in + 34),
                   .expansion      = blm__get16le(in + 36) };
}

void blm__cf_put(const blm_cf *c, uint8_t out[BLM_CF_HEADER])
{
    blm__put64le(out, c->items);
    blm__put64le(out + 8, c->buckets);
    blm__put64le(out + 16, c->deletes);
    blm__put64le(out + 24, c->layers);
    blm__put16le(out + 32, (uint16_t)c->bucket_size);
    blm__put16le(out + 34, (uint16_t)c->max_iterations);
    blm__put16le(out + 36, (uint16_t)c->expansion);
}

blm_status blm__cf_check(const blm_cf *c, blm_error *err)
{
    static const uint8_t at[] = { 0, 8, 16, 24, 32, 34, 36 };
    unsigned             field;
    const char          *fault = blm__cf_fault(c, &field);
    if (!fault)
        return BLM_OK;
    return blm__fail_at(err, BLM_E_FORMAT, at[field], "%s: %s", fields[field], fault);
}

uint64_t blm__cf_slots(const blm_cf *c)
{
    uint64_t sum = 0, slots = c->buckets * c->bucket_size;
    for (uint64_t i = 0; i < c->layers; i++, slots *= c->expansion)
        sum += slots;
    return sum;
}

/* After the layers' slots are there. */
static void count_slots(struct blm__body *b, const blm_cf *c)
{
    for (uint32_t i = 0; i < b->layer_count; i++)
        b->layers[i].items = blm__layer_ones(&b->layers[i], b->kernel);
    b->layers[0].shape.aux[0] = c->deletes;
    blm__cf_body(b, c->expansion);
}

/* ---- redisbloom-cf ---- */

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    blm_cf   c;
    unsigned field;
    if (len < BLM_CF_HEADER)
        return 0;
    blm__cf_get(head, &c);
    if (blm__cf_fault(&c, &field))
        return 0;
    if (total == 0) /* less than those that may look like it, by chance, with a length that fits */
        return 75;
    return blm__cf_slots(&c) == total - BLM_CF_HEADER ? 90 : 0;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *b,
                         blm_error *err)
{
    uint8_t header[BLM_CF_HEADER];
    blm_cf  c;
    if (blm__read(in, header, sizeof header) != sizeof header)
        return blm__short(in, "the header", err);
    blm__cf_get(header, &c);
    blm_status st = blm__cf_check(&c, err);
    for (uint32_t i = 0; st == BLM_OK && i < c.layers; i++) {
        struct blm__shape s;
        blm__cf_shape(&c, i, &s);
        st = blm__read_array(in, &s, s.bits, b, err);
    }
    if (st == BLM_OK)
        st = blm__expect_end(in, o, err);
    if (st == BLM_OK)
        count_slots(b, &c);
    return st;
}

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_cf     c;
    uint8_t    header[BLM_CF_HEADER];
    blm_status st = blm__only_scheme(b, "redisbloom-cf", &blm__scheme_redisbloom_cf, NULL, err);
    if (st != BLM_OK)
        return st;
    blm__cf_describe(b, &c);
    blm__cf_put(&c, header);
    st = blm__write_bytes(out, header, sizeof header, err);
    for (uint32_t i = 0; st == BLM_OK && i < b->layer_count; i++)
        st = blm__write_array(out, b, &b->layers[i], b->layers[i].shape.bits, err);
    return st;
}

const struct blm__codec blm__codec_redisbloom_cf = {
    .row    = { sizeof(blm_format_row), "redisbloom-cf", "RedisBloom's CF.SCANDUMP chunks, joined",
                true, true, .sniffs = true,
                .schemes = (const char *const[]){ "redisbloom-cf", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};

/* ---- redisbloom-cf-dump ---- */

static uint64_t module_id(void)
{
    uint64_t id = 0;
    for (const char *c = "MBbloomCF"; *c; c++)
        id = id << 6 | (uint64_t)blm__base64_value(*c);
    return id;
}

static int sniff_dump(const uint8_t *head, size_t len, uint64_t total)
{
    (void)total;
    if (len < 10 || head[0] != 7 || head[1] != 0x81)
        return 0;
    return blm__get64be(head + 2) >> 10 == module_id() ? 100 : 0;
}

static void take_front(struct blm__rdb_in *r, blm_cf *c)
{
    uint8_t  type;
    unsigned field;
    r->what = "the type";
    blm__rdb_take(r, &type, 1);
    if (type != 7)
        blm__rdb_bad(r, BLM_E_FORMAT, 0, "not 7, a module's value");
    r->what     = "the module's id";
    uint64_t id = blm__rdb_length(r);
    if (id >> 10 != module_id())
        blm__rdb_bad(r, BLM_E_FORMAT, 1, "not MBbloomCF");
    if ((id & 1023) > ENCVER)
        blm__rdb_bad(r, BLM_E_VERSION, 1, "its encoding version is above 4, the last one we know");
    if ((id & 1023) < ENCVER)
        blm__rdb_bad(r, BLM_E_UNSUPPORTED, 1,
                     "its encoding version is below 4: RedisBloom before 2.2 hashed otherwise");
    uint64_t at = r->in->at, wide[3];
    c->layers   = blm__rdb_unsigned(r, "layers");
    c->buckets  = blm__rdb_unsigned(r, "buckets");
    c->items    = blm__rdb_unsigned(r, "items");
    c->deletes  = blm__rdb_unsigned(r, "deletes");
    for (unsigned i = 0; i < 3; i++) {
        wide[i] = blm__rdb_unsigned(r, fields[4 + i]);
        if (wide[i] > UINT16_MAX)
            blm__rdb_bad(r, BLM_E_FORMAT, at, "more than 16 bits");
    }
    c->bucket_size    = wide[0] & UINT16_MAX;
    c->max_iterations = wide[1] & UINT16_MAX;
    c->expansion      = wide[2] & UINT16_MAX;
    const char *fault = r->status == BLM_OK ? blm__cf_fault(c, &field) : NULL;
    if (fault) {
        r->what = fields[field];
        blm__rdb_bad(r, BLM_E_FORMAT, at, fault);
    }
}

static void take_layer(struct blm__rdb_in *r, const blm_cf *c)
{
    struct blm__shape s;
    struct blm__block block = { 0 };
    blm__cf_shape(c, r->layer, &s);
    uint64_t at = r->in->at;
    if (blm__rdb_unsigned(r, "buckets") != s.bits / c->bucket_size)
        blm__rdb_bad(r, BLM_E_FORMAT, at, "not those of the first times the expansion");
    at             = r->in->at;
    uint64_t bytes = blm__rdb_string(r, "the slots", &block);
    if (bytes != s.bits)
        blm__rdb_bad(r, BLM_E_FORMAT, at, "not as many as the buckets have");
    if (r->status == BLM_OK)
        r->status = blm__give_array(r->b, &s, &block, bytes, at, r->err);
    else
        blm__block_free(r->b->alloc, &block);
}

static void take_end(struct blm__rdb_in *r, uint64_t *rdb)
{
    uint8_t b[8];
    r->what = "the end of the values";
    blm__rdb_opcode(r, BLM__RDB_END);
    r->what     = "the RDB version";
    uint64_t at = r->in->at;
    blm__rdb_take(r, b, 2);
    *rdb = blm__get16le(b);
    if (*rdb == 0)
        blm__rdb_bad(r, BLM_E_VERSION, at, "it is 0");
    uint64_t crc = r->crc;
    r->what      = "the checksum";
    at           = r->in->at;
    blm__rdb_take(r, b, 8);
    if (!blm__sum_matches(crc, blm__get64le(b)))
        blm__rdb_bad(r, BLM_E_CHECKSUM, at, "it does not match");
}

static blm_status decode_dump(struct blm__source *in, const blm_options *o, struct blm__body *b,
                              blm_error *err)
{
    struct blm__rdb_in r;
    blm_cf             c   = { 0 };
    uint64_t           rdb = 0;
    blm__rdb_in(&r, in, b, err);
    take_front(&r, &c);
    for (r.layer = 0; r.status == BLM_OK && r.layer < c.layers; r.layer++)
        take_layer(&r, &c);
    r.layer = UINT32_MAX;
    if (r.status == BLM_OK)
        take_end(&r, &rdb);
    if (r.status == BLM_OK)
        r.status = blm__expect_end(in, o, err);
    if (r.status != BLM_OK)
        return r.status;
    count_slots(b, &c);
    b->layers[0].shape.aux[1] = rdb;
    return BLM_OK;
}

static blm_status put_value(struct blm__rdb_out *w, blm_error *err)
{
    const struct blm__body *b    = w->b;
    uint8_t                 type = 7, tail[8];
    uint64_t                rdb  = b->layers[0].shape.aux[1];
    blm_status              st   = BLM_OK;
    blm_cf                  c;
    blm__cf_describe(b, &c);
    blm__rdb_put(w, &type, 1);
    blm__rdb_put_length(w, module_id() << 10 | ENCVER);
    blm__rdb_put_unsigned(w, c.layers);
    blm__rdb_put_unsigned(w, c.buckets);
    blm__rdb_put_unsigned(w, c.items);
    blm__rdb_put_unsigned(w, c.deletes);
    blm__rdb_put_unsigned(w, c.bucket_size);
    blm__rdb_put_unsigned(w, c.max_iterations);
    blm__rdb_put_unsigned(w, c.expansion);
    for (uint32_t i = 0; st == BLM_OK && i < b->layer_count; i++) {
        const struct blm__layer *l = &b->layers[i];
        blm__rdb_put_unsigned(w, l->shape.bits / c.bucket_size);
        st = blm__rdb_put_string(w, (const uint8_t *)l->words, l->shape.bits, err);
    }
    blm__rdb_put_length(w, BLM__RDB_END);
    blm__put16le(tail, (uint16_t)(rdb ? rdb : RDB_DEFAULT));
    blm__rdb_put(w, tail, 2);
    blm__put64le(tail, w->crc);
    blm__rdb_put(w, tail, 8);
    return st == BLM_OK && w->out->failed ? blm__put_failed(w->out, err) : st;
}

static blm_status encode_dump(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st =
        blm__only_scheme(b, "redisbloom-cf-dump", &blm__scheme_redisbloom_cf, NULL, err);
    return st == BLM_OK ? blm__rdb_encode(b, out, put_value, err) : st;
}

const struct blm__codec blm__codec_redisbloom_cf_dump = {
    .row    = { sizeof(blm_format_row), "redisbloom-cf-dump",
                "RedisBloom CF key as Redis' DUMP gives it", true, true, .sniffs = true,
                .schemes = (const char *const[]){ "redisbloom-cf", NULL } },
    .sniff  = sniff_dump,
    .decode = decode_dump,
    .encode = encode_dump,
};
