/* SPDX-License-Identifier: MIT */
/* RedisBloom's cuckoo filters, for programs that meet them in parts: the Redis module, to which a
 * dump comes value by value (RDB) or chunk by chunk (CF.LOADCHUNK). */
#include "api/filter.h"
#include "codec/redisbloom_cf.h"
#include "engine/slots.h"
#include "scheme/redisbloom_cf.h"

static bool is_cf(const blm_filter *f) { return f->body.scheme == &blm__scheme_redisbloom_cf; }

blm_status blm_cf_read_header(const void *bytes, size_t len, blm_cf *out, blm_error *err)
{
    blm_cf c;
    if (!bytes || len != BLM_CF_HEADER)
        return blm__fail(err, BLM_E_FORMAT, "%zu bytes: a header has %u", len, BLM_CF_HEADER);
    blm__cf_get(bytes, &c);
    blm_status st = blm__cf_check(&c, err);
    return st == BLM_OK ? blm__emit(out, &c, sizeof c) : st;
}

blm_status blm_cf_write_header(const blm_filter *f, uint8_t out[BLM_CF_HEADER])
{
    blm_cf c;
    if (!is_cf(f))
        return BLM_E_UNSUPPORTED;
    blm__cf_describe(&f->body, &c);
    blm__cf_put(&c, out);
    return BLM_OK;
}

blm_status blm_cf_get(const blm_filter *f, blm_cf *out)
{
    blm_cf c;
    if (!is_cf(f))
        return BLM_E_UNSUPPORTED;
    blm__cf_describe(&f->body, &c);
    return blm__emit(out, &c, sizeof c);
}

static blm_status add_layers(blm_filter *f, const blm_cf *c, blm_error *err)
{
    blm_status st = BLM_OK;
    for (uint32_t i = 0; st == BLM_OK && i < c->layers; i++) {
        struct blm__shape s;
        blm__cf_shape(c, i, &s);
        st = f->body.store->add_layer(&f->body, &s, err);
    }
    if (st == BLM_OK) {
        f->body.layers[0].shape.aux[0] = c->deletes;
        blm__cf_body(&f->body, c->expansion);
        f->body.format = "redisbloom-cf";
    }
    return st;
}

blm_status blm_cf_create(const blm_cf *c, const blm_options *options, blm_filter **out,
                         blm_error *err)
{
    blm_options o;
    blm_filter *f = NULL;
    *out          = NULL;
    blm_status st =
        c->size < sizeof *c
            ? blm__fail(err, BLM_E_ARGUMENT,
                        "the struct that receives the figures does not begin with its size")
            : blm__cf_check(c, err);
    if (st == BLM_OK)
        st = blm__options_read(options, true, &o, err);
    if (st == BLM_OK && o.max_bytes && blm__cf_slots(c) > o.max_bytes)
        st = blm__fail(err, BLM_E_LIMIT, "%llu slots are more than the limit of %llu bytes",
                       (unsigned long long)blm__cf_slots(c), (unsigned long long)o.max_bytes);
    if (st == BLM_OK)
        st = blm__filter_blank(&o, &f, err);
    if (st != BLM_OK)
        return st;
    st = add_layers(f, c, err);
    if (st == BLM_OK)
        st = blm__filter_finish(f, &o, err);
    if (st != BLM_OK) {
        blm_free(f);
        return st;
    }
    *out = f;
    return BLM_OK;
}

blm_status blm_cf_compact(blm_filter *f)
{
    if (!is_cf(f))
        return BLM_E_UNSUPPORTED;
    blm__slots_compact(&f->body, true);
    return BLM_OK;
}
