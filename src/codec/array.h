/* SPDX-License-Identifier: MIT */
/* Bits in the input as an array of bytes, bit i being bit i % 8 of byte i / 8, which is how they
 * lie in memory: for formats whose arrays need not be whole words, and for those that are nothing
 * but the array. */
#ifndef BLM_CODEC_ARRAY_H
#define BLM_CODEC_ARRAY_H

#include "codec/codec.h"

/* For formats without anything to know them by:
 * every file could be one, so none is taken for one. */
int blm__never_bids(const uint8_t *head, size_t len, uint64_t total);

/* Reads `bytes` bytes, which hold the bits of s (8·bytes ≥ s->bits), and gives them to the body as
 * a layer. Bits past the last are E_FORMAT. */
blm_status blm__read_array(struct blm_source *in, const struct blm_shape *s, uint64_t bytes,
                           struct blm_body *b, blm_error *err);
/* For formats that do not say how long they are: reads as many bytes as o->bits take, or, when it
 * is 0, all that is left. Nothing may follow unless the filter stands inside another file
 * (o->offset). *bytes, at least 1, says how much it was; `what` names it in errors. The block is
 * the caller's to free, or to give to blm__give_array. */
blm_status blm__read_sized(struct blm_source *in, const blm_options *o, const struct blm_body *b,
                           const char *what, struct blm_block *out, uint64_t *bytes,
                           blm_error *err);
/* Makes a layer of a block that holds `bytes` bytes from input offset `start` on. Takes the block,
 * also when it fails. */
blm_status blm__give_array(struct blm_body *b, const struct blm_shape *s, struct blm_block *block,
                           uint64_t bytes, uint64_t start, blm_error *err);
/* Writes the first `bytes` bytes of a layer's words. */
blm_status blm__write_array(struct blm_sink *out, const struct blm_body *b,
                            const struct blm_layer *l, uint64_t bytes, blm_error *err);

#endif
