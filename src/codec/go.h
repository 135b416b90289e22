/* SPDX-License-Identifier: MIT */
/*
 * What the three codecs of Go's bloom share: the filter as the package's WriteTo writes it.
 *
 *   0    8        m, bits in use (the modulus)
 *   8    8        k
 *   16   8        L, length of the bit set in bits
 *   24   8·⌈L/64⌉ words; bit i is bit i % 64 of word i / 64          all big-endian
 *
 * L is almost always m. It is less after New(0, k), whose set has length 0 until the first add (a
 * bit set grows as bits are set). It is more in a filter made over a slice of words, which may even
 * have bits past m. All of that is written back as it was:
 *
 *   shape.aux[0]    0: L is m; else L + 1
 *   body.attached   none, or: the number of a word (8 bytes, little-endian), the length of gob
 *                   type messages (8), those messages, and words from that number on with the
 *                   bits past m (as in memory)
 */
#ifndef BLM_CODEC_GO_H
#define BLM_CODEC_GO_H

#include "codec/codec.h"

#define BLM__GO_HEADER 24u

struct blm__go {
    uint64_t m, k, length;
    uint64_t at_m, at_k, at_length; /* their offsets, for errors */
};

/* How many words a bit set of this length has; the length is at most 2^63. */
static inline uint64_t blm__go_words(uint64_t length)
{
    return (length >> 6) + ((length & 63) != 0);
}

/* Refuses numbers that no filter has. That the bits are really there is not checked yet. */
blm_status blm__go_check(const struct blm__go *g, blm_error *err);
/* Reads the words behind the header and fills the body. types: gob type messages to keep. */
blm_status blm__go_read(struct blm__source *in, const struct blm__go *g, const uint8_t *types,
                        size_t types_len, struct blm__body *out, blm_error *err);

/* The numbers as they will be written. E_UNSUPPORTED: not a Go filter. */
blm_status blm__go_of(const struct blm__body *b, const char *format, struct blm__go *g,
                      blm_error *err);
/* Writes L and the words. */
blm_status blm__go_write(const struct blm__body *b, const struct blm__go *g, struct blm__sink *out,
                         blm_error *err);
/* The gob type messages that were read, or NULL. */
const uint8_t *blm__go_types(const struct blm__body *b, size_t *len);

#endif
