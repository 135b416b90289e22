/* SPDX-License-Identifier: MIT */
/* What foreign formats share: a small header, then 64-bit words in one byte order or the other, the
 * end of the input, and a filter that must be of the format's own scheme. */
#ifndef BLM_CODEC_WORDS_H
#define BLM_CODEC_WORDS_H

#include "codec/codec.h"

enum blm__order { BLM__LITTLE, BLM__BIG };

/* Reads the words of a shape and gives them to the body as a layer. E_FORMAT if bits past the last
 * one are set. */
blm_status blm__read_words(struct blm__source *in, enum blm__order order,
                           const struct blm__shape *s, struct blm__body *out, blm_error *err);
/* Writes words that are in memory, a few at a time. */
blm_status blm__write_words(struct blm__sink *out, enum blm__order order, const struct blm__body *b,
                            const uint64_t *words, uint64_t count, blm_error *err);
/* Writes bytes; E_IO if the sink stops. */
blm_status blm__write_bytes(struct blm__sink *out, const void *bytes, size_t len, blm_error *err);

/* E_FORMAT unless the input ends here, or the filter is inside something larger (o->offset). */
blm_status blm__expect_end(struct blm__source *in, const blm_options *o, blm_error *err);

/* E_UNSUPPORTED unless the body is of `scheme` or `other` (may be NULL), the only ones that
 * `format` can hold. */
blm_status blm__only_scheme(const struct blm__body *b, const char *format,
                            const struct blm__scheme *scheme, const struct blm__scheme *other,
                            blm_error *err);
/* The same, and it must be one layer of bits: no counters. */
blm_status blm__expect_scheme(const struct blm__body *b, const char *format,
                              const struct blm__scheme *scheme, const struct blm__scheme *other,
                              blm_error *err);

#endif
