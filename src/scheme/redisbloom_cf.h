/* SPDX-License-Identifier: MIT */
/* RedisBloom's cuckoo filters (CF.*): what their layers say, for the scheme, the engine and the
 * codecs. */
#ifndef BLM_SCHEME_REDISBLOOM_CF_H
#define BLM_SCHEME_REDISBLOOM_CF_H

#include "bloomery/redisbloom.h"
#include "core/error.h"
#include "scheme/scheme.h"

#define BLM__CF_MAX_SLOTS ((uint64_t)1 << 32) /* of a layer: RedisBloom cuts larger numbers */

/* shape.variant: bucket size, most exchanges, expansion; shape.aux[0] of the first layer: removes
 * since the filter was last compacted. */
static inline uint64_t blm__cf_variant(uint32_t bucket, uint32_t iterations, uint32_t expansion)
{
    return bucket | (uint64_t)iterations << 16 | (uint64_t)expansion << 32;
}
static inline uint32_t blm__cf_bucket(const struct blm__shape *s) { return s->variant & 0xffff; }
static inline uint32_t blm__cf_iterations(const struct blm__shape *s)
{
    return s->variant >> 16 & 0xffff;
}
static inline uint32_t blm__cf_expansion(const struct blm__shape *s)
{
    return (uint32_t)(s->variant >> 32);
}

/* A key's fingerprint, and what leads from one of its buckets to the other. */
static inline uint8_t  blm__cf_print(uint64_t h) { return (uint8_t)(h % 255 + 1); }
static inline uint64_t blm__cf_turn(uint8_t print) { return print * (uint64_t)0x5bd1e995; }

/* What is wrong with a header; NULL: nothing. *field: the number of the field, in the order in which
 * headers have them. */
const char *blm__cf_fault(const blm_cf *c, unsigned *field);
/* The shape of layer i of a filter that has no fault. */
void blm__cf_shape(const blm_cf *c, uint32_t i, struct blm__shape *out);
/* Fills what the body has beside its layers. */
void blm__cf_body(struct blm__body *b, uint32_t expansion);
void blm__cf_describe(const struct blm__body *b, blm_cf *out);

#endif
