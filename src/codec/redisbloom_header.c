/* SPDX-License-Identifier: MIT */
/*
 * The header of a RedisBloom dump, packed and little-endian:
 *
 *   0   u64  size: keys in all layers
 *   8   u32  nfilters: layers, at least 1
 *   12  u32  options: 1 NOROUND, 2 ENTS_IS_BITS, 4 FORCE64, 8 NO_SCALING
 *   16  u32  growth                               not before 2.2.0
 *   then for each layer
 *   0   u64  bytes   8  u64 bits   16  u64 size   24  f64 error   32  f64 bpe   40  u32 hashes
 *   44  u64  entries (up to 2.2.0 u32)            52 (48)  u8  n2
 */
#include "codec/redisbloom_header.h"

#include "core/bytes.h"

#define FIXED      20u
#define LAYER_OLD  49u
#define LAYER      53u
#define OLD_GROWTH 2u /* before headers said it */

static size_t fixed_of(enum blm__rb_layout v) { return v == BLM__RB_1 ? BLM__RB_FRONT : FIXED; }
static size_t layer_of(enum blm__rb_layout v) { return v == BLM__RB_CURRENT ? LAYER : LAYER_OLD; }

size_t blm__rb_layer_at(enum blm__rb_layout v, uint32_t layer)
{
    return fixed_of(v) + layer_of(v) * layer;
}

size_t blm__rb_header_size(enum blm__rb_layout v, uint32_t layers)
{
    return blm__rb_layer_at(v, layers);
}

/* ---- bytes to numbers ---- */

void blm__rb_get_layer(const uint8_t *p, enum blm__rb_layout v, blm_chain_layer *out)
{
    bool old = v != BLM__RB_CURRENT;
    *out     = (blm_chain_layer){ .bytes   = blm__get64le(p),
                                  .bits    = blm__get64le(p + 8),
                                  .items   = blm__get64le(p + 16),
                                  .error   = blm__f64_from_bits(blm__get64le(p + 24)),
                                  .bpe     = blm__f64_from_bits(blm__get64le(p + 32)),
                                  .hashes  = blm__get32le(p + 40),
                                  .entries = old ? blm__get32le(p + 44) : blm__get64le(p + 44),
                                  .n2      = p[old ? 48 : 52] };
}

uint32_t blm__rb_get_growth(const uint8_t *h, enum blm__rb_layout v)
{
    return v == BLM__RB_1 ? OLD_GROWTH : blm__get32le(h + BLM__RB_FRONT);
}

blm_status blm__rb_check_front(const uint8_t *h, blm_error *err)
{
    uint32_t layers = blm__get32le(h + 8), options = blm__get32le(h + 12);
    if (layers == 0)
        return blm__fail_at(err, BLM_E_FORMAT, 8, "nfilters is 0: a chain has a layer");
    if (layers > BLM_CHAIN_MAX_LAYERS)
        return blm__fail_at(err, BLM_E_LIMIT, 8,
                            "nfilters is %lu: halving a rate gives %u layers and no more",
                            (unsigned long)layers, BLM_CHAIN_MAX_LAYERS);
    if (options & ~BLM_CHAIN_OPTIONS)
        return blm__fail_at(err, BLM_E_FORMAT, 12, "options are 0x%lx: above 15 none are known",
                            (unsigned long)options);
    return BLM_OK;
}

/* Where the fields of a layer stand, in the order of the header. */
static uint64_t field_at(enum blm__rb_layout v, uint32_t layer, unsigned field)
{
    static const uint8_t at[8]  = { 0, 8, 16, 24, 32, 40, 44, 52 };
    uint64_t             inside = field == 7 && v != BLM__RB_CURRENT ? 48 : at[field];
    return blm__rb_layer_at(v, layer) + inside;
}

blm_status blm__rb_check_header(const uint8_t *h, enum blm__rb_layout v, uint32_t layers,
                                blm_error *err)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < layers; i++) {
        blm_chain_layer l;
        unsigned        field = 0;
        blm__rb_get_layer(h + blm__rb_layer_at(v, i), v, &l);
        const char *fault = blm__rb_fault(&l, v, &field);
        if (fault)
            return blm__fail_at(err, l.bytes >= BLM__MAX_BITS / 8 ? BLM_E_LIMIT : BLM_E_FORMAT,
                                field_at(v, i, field), "layer %lu has %s", (unsigned long)i, fault);
        if (l.items > INT64_MAX - items)
            return blm__fail_at(err, BLM_E_FORMAT, field_at(v, i, 2),
                                "the layers' sizes up to layer %lu add up to 2^63 or more",
                                (unsigned long)i);
        items += l.items;
    }
    if (items != blm__get64le(h))
        return blm__fail_at(err, BLM_E_FORMAT, 0, "size is %llu, but the layers' add up to %llu",
                            (unsigned long long)blm__get64le(h), (unsigned long long)items);
    return BLM_OK;
}

/* ---- and back ---- */

static void put_layer(uint8_t *p, enum blm__rb_layout v, const blm_chain_layer *l)
{
    bool old = v != BLM__RB_CURRENT;
    blm__put64le(p, l->bytes);
    blm__put64le(p + 8, l->bits);
    blm__put64le(p + 16, l->items);
    blm__put64le(p + 24, blm__f64_bits(l->error));
    blm__put64le(p + 32, blm__f64_bits(l->bpe));
    blm__put32le(p + 40, l->hashes);
    if (old)
        blm__put32le(p + 44, (uint32_t)l->entries);
    else
        blm__put64le(p + 44, l->entries);
    p[old ? 48 : 52] = l->n2;
}

blm_status blm__rb_put_header(const struct blm__body *b, enum blm__rb_layout v, uint8_t *h,
                              blm_error *err)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < b->layer_count; i++) {
        blm_chain_layer l;
        blm__rb_layer(&b->layers[i], &l);
        if (v != BLM__RB_CURRENT && l.entries > UINT32_MAX)
            return blm__fail(err, BLM_E_UNSUPPORTED,
                             "layer %lu holds more entries than its old header can say",
                             (unsigned long)i);
        if (v != BLM__RB_1 && l.bits == 0) /* of an old chain that was united with a newer one */
            l.bits = l.bytes * 8;
        put_layer(h + blm__rb_layer_at(v, i), v, &l);
        items += l.items;
    }
    blm__put64le(h, items);
    blm__put32le(h + 8, b->layer_count);
    blm__put32le(h + 12, blm__rb_options(b->layers[0].shape.variant));
    if (v != BLM__RB_1)
        blm__put32le(h + BLM__RB_FRONT, (uint32_t)b->growth);
    return BLM_OK;
}
