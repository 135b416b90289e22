/* SPDX-License-Identifier: MIT */
/* RedisBloom's layers, which it calls links, for the scheme and for the two codecs. */
#ifndef BLM_SCHEME_REDISBLOOM_H
#define BLM_SCHEME_REDISBLOOM_H

#include "bloomery/redisbloom.h"
#include "core/error.h"
#include "scheme/scheme.h"

/* shape.variant: RedisBloom's options (BLM_CHAIN_…), and above them which header the filter came
 * with. */
enum blm__rb_layout {
    BLM__RB_CURRENT, /* 20 bytes + 53 per layer: 2.2.1 and later */
    BLM__RB_220,     /* 20 + 49: 2.2.0 */
    BLM__RB_1        /* 16 + 49: 1.0.0 to 2.0.3 */
};
static inline uint64_t blm__rb_variant(uint32_t options, enum blm__rb_layout layout)
{
    return options | (uint64_t)layout << 32;
}
static inline uint32_t            blm__rb_options(uint64_t variant) { return (uint32_t)variant; }
static inline enum blm__rb_layout blm__rb_layout(uint64_t variant)
{
    return (enum blm__rb_layout)(variant >> 32);
}

/* What is wrong with a layer, and in *field the number of the field, in the order in which headers
 * have them: bytes, bits, items, error, bpe, hashes, entries, n2. NULL: nothing. */
const char *blm__rb_fault(const blm_chain_layer *l, enum blm__rb_layout layout, unsigned *field);

/* To a shape and back. */
void blm__rb_shape(const blm_chain_layer *l, uint64_t variant, struct blm__shape *out);
void blm__rb_layer(const struct blm__layer *l, blm_chain_layer *out);
/* The RDB version of the dump it came from; 0: none. */
uint8_t blm__rb_rdb(const struct blm__shape *s);
void    blm__rb_set_rdb(struct blm__shape *s, uint8_t rdb);

/* The shape of a layer for this many entries at this rate, as RedisBloom makes it today. */
blm_status blm__rb_plan(uint64_t entries, double error, uint32_t options, struct blm__shape *out,
                        blm_error *err);
/* The same, but laid out as the others of a chain are. */
blm_status blm__rb_next(const struct blm__body *b, uint64_t entries, double error,
                        struct blm__shape *out, blm_error *err);

/* Fills what the body has beside its layers. */
void blm__rb_body(struct blm__body *b, uint32_t growth);

#endif
