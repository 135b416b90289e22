/* SPDX-License-Identifier: MIT */
/* Bits as an array of bytes, bit i being bit i % 8 of byte i / 8, as in memory: for formats whose
 * arrays need not be whole words, and for those that are only the array. */
#ifndef BLM_CODEC_ARRAY_H
#define BLM_CODEC_ARRAY_H

#include "codec/codec.h"

/* The sniff of formats that nothing tells apart: any file could be one, so none is taken for
 * one. */
int blm__never_bids(const uint8_t *head, size_t len, uint64_t total);

/* Reads `bytes` bytes, which hold the bits of s (8·bytes ≥ s->bits), and gives them to the body as
 * a layer. E_FORMAT if bits past the last one are set. */
blm_status blm__read_array(struct blm__source *in, const struct blm__shape *s, uint64_t bytes,
                           struct blm__body *b, blm_error *err);
/* For formats that do not say how long they are: reads as many bytes as o->bits take, or, if that
 * is 0, all that is left. Nothing may follow, unless the filter is inside another file (o->offset).
 * *bytes, at least 1, is how many; `what` names them in errors. The caller frees the block or gives
 * it to blm__give_array. */
blm_status blm__read_sized(struct blm__source *in, const blm_options *o, const struct blm__body *b,
                           const char *what, struct blm__block *out, uint64_t *bytes,
                           blm_error *err);
/* Makes a layer of a block that holds `bytes` bytes, read from offset `start` on. Takes the block,
 * even if it fails. */
blm_status blm__give_array(struct blm__body *b, const struct blm__shape *s,
                           struct blm__block *block, uint64_t bytes, uint64_t start,
                           blm_error *err);
/* Writes the first `bytes` bytes of a layer's words. */
blm_status blm__write_array(struct blm__sink *out, const struct blm__body *b,
                            const struct blm__layer *l, uint64_t bytes, blm_error *err);

#endif
