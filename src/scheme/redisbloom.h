/* SPDX-License-Identifier: MIT */
/* RedisBloom's layers, which it calls links, for the scheme and for the two codecs. */
#ifndef BLM_SCHEME_REDISBLOOM_H
#define BLM_SCHEME_REDISBLOOM_H

#include "core/error.h"
#include "scheme/scheme.h"

/* shape.variant: RedisBloom's options, and above them which header the filter came with. */
#define BLM__RB_NOROUND    1u /* layers of any size; else powers of two */
#define BLM__RB_BITS       2u /* the capacity was given in bits; never seen in a dump */
#define BLM__RB_FORCE64    4u /* 64-bit hash; else 32 */
#define BLM__RB_NO_SCALING 8u
#define BLM__RB_OPTIONS    15u

enum blm_rb_layout {
    BLM__RB_CURRENT, /* 20 bytes + 53 per layer: 2.2.1 and later */
    BLM__RB_220,     /* 20 + 49: 2.2.0 */
    BLM__RB_1        /* 16 + 49: 1.0.0 to 2.0.3 */
};
static inline uint64_t blm__rb_variant(uint32_t options, enum blm_rb_layout layout)
{
    return options | (uint64_t)layout << 32;
}
static inline uint32_t           blm__rb_options(uint64_t variant) { return (uint32_t)variant; }
static inline enum blm_rb_layout blm__rb_layout(uint64_t variant)
{
    return (enum blm_rb_layout)(variant >> 32);
}

/* A layer as headers describe it. */
struct blm_rb_link {
    uint64_t bytes; /* of its array */
    uint64_t bits;  /* 8·bytes; before 2.2.5 up to 7 less, before 2.2.0 and with n2 > 0 also 0 */
    uint64_t size;  /* keys in it */
    double   error;
    double   bpe;     /* bits per entry: |ln error| / ln²2 */
    uint32_t hashes;  /* ⌈ln 2 · bpe⌉ */
    uint64_t entries; /* capacity */
    uint8_t  n2;      /* positions are reduced mod 2^n2, or, if it is 0, mod bits */
};

/* What is wrong with a layer, and in *field the number of the field (in the order above); NULL:
 * nothing. */
const char *blm__rb_fault(const struct blm_rb_link *l, enum blm_rb_layout layout, unsigned *field);

/* To a shape and back. */
void blm__rb_shape(const struct blm_rb_link *l, uint64_t variant, struct blm_shape *out);
void blm__rb_link(const struct blm_layer *l, struct blm_rb_link *out);
/* The RDB version of the dump it came from; 0: none. */
uint8_t blm__rb_rdb(const struct blm_shape *s);
void    blm__rb_set_rdb(struct blm_shape *s, uint8_t rdb);

/* The shape of a new layer for this many entries at this rate, laid out as the others are. */
blm_status blm__rb_next(const struct blm_body *b, uint64_t entries, double error,
                        struct blm_shape *out, blm_error *err);

/* Fills what the body has beside its layers. */
void blm__rb_body(struct blm_body *b, uint32_t growth);

#endif
