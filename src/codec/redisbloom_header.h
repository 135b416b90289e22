/* SPDX-License-Identifier: MIT */
/* The header of a RedisBloom dump, from bytes to numbers and back: for codec/redisbloom.c, which
 * has to find out its layout, and for the public calls, which are told its length. */
#ifndef BLM_CODEC_REDISBLOOM_HEADER_H
#define BLM_CODEC_REDISBLOOM_HEADER_H

#include "scheme/redisbloom.h"

#define BLM__RB_FRONT 16u /* what all layouts begin with: items, layers, options */

/* The length of the header of so many layers, and where layer i starts in it. */
size_t blm__rb_header_size(enum blm__rb_layout v, uint32_t layers);
size_t blm__rb_layer_at(enum blm__rb_layout v, uint32_t layer);

/* `p` are the layer's own bytes. */
void     blm__rb_get_layer(const uint8_t *p, enum blm__rb_layout v, blm_chain_layer *out);
uint32_t blm__rb_get_growth(const uint8_t *h, enum blm__rb_layout v);

/* The front, then the whole: does it make sense in this layout? */
blm_status blm__rb_check_front(const uint8_t *h, blm_error *err);
blm_status blm__rb_check_header(const uint8_t *h, enum blm__rb_layout v, uint32_t layers,
                                blm_error *err);

/* blm__rb_header_size bytes. E_UNSUPPORTED: an old layout cannot say it. */
blm_status blm__rb_put_header(const struct blm__body *b, enum blm__rb_layout v, uint8_t *h,
                              blm_error *err);

#endif
