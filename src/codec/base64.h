/* SPDX-License-Identifier: MIT */
/* Base64, as much of it as JSON with bytes in it needs. */
#ifndef BLM_CODEC_BASE64_H
#define BLM_CODEC_BASE64_H

#include "codec/codec.h"

/* What a character stands for, 0 … 63, in either alphabet (+/ or -_); -1: it is not one of them. */
int blm__base64_value(char c);

/* Text to bytes: either alphabet, with padding, and nothing else. `out` has room for len / 4 · 3
 * bytes. Returns how many there are; SIZE_MAX: not base64, and *bad is the first character that
 * does not fit (len: the text is too short). */
size_t blm__base64_decode(const char *text, size_t len, uint8_t *out, size_t *bad);

/* A sink that writes what it gets to another, as base64 with the URL-safe alphabet. Make one, write
 * to .sink, then call blm__base64_end, which pads. */
struct blm__base64 {
    struct blm__sink  sink;
    struct blm__sink *to;
    uint8_t           rest[3];
    size_t            rest_len;
};
void blm__base64_begin(struct blm__base64 *b, struct blm__sink *to);
bool blm__base64_end(struct blm__base64 *b);

#endif
