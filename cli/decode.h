/* SPDX-License-Identifier: MIT */
/* What a line encodes (-e): text, hexadecimal, base64, or a number. */
#ifndef CLI_DECODE_H
#define CLI_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "bloomery.h"

struct encoding {
    const char *name;
    const char *what; /* for messages */
    /* Decodes to `out`, which has room for decode_room(len) bytes. False: the text is not in this
     * encoding. NULL: the line is the key. */
    bool (*decode)(const char *text, size_t len, char *out, size_t *out_len);
};

/* NULL: no such encoding. */
const struct encoding *encoding_find(const char *name);
const char            *encoding_names(size_t i);
/* The funnel of a scheme that takes what this encoding gives; NULL: the scheme's own default. */
const char *encoding_funnel(const char *encoding, const char *scheme);

/* A 64-bit integer takes 8 bytes however short its line is. */
static inline size_t decode_room(size_t len) { return len > 8 ? len : 8; }

/* Does its file say through which funnel its keys came? The scheme's first, and the one for text, may only be
 * what nobody chose. */
bool funnel_said(const blm_params *p);

#endif
