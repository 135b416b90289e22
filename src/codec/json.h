/* SPDX-License-Identifier: MIT */
/*
 * The members of one JSON object, in order, without any memory: names and values are places in the
 * text. The grammar is RFC 8259's as Go's encoding/json takes it. Of a value that nobody wants only the
 * grammar counts: numbers of any size, half surrogates, NULs, bytes that are not UTF-8.
 */
#ifndef BLM_CODEC_JSON_H
#define BLM_CODEC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLM__JSON_DEPTH 10000u /* brackets that may be open at once, as in Go */

struct blm__json {
    const uint8_t *text;
    size_t         len, at;
    const char
        *wrong; /* what is wrong there; NULL: nothing. If at is len, the text ends too early */
    bool begun; /* a member has come */
};

struct blm__json_member {
    const uint8_t *name; /* what stands between its quotes, escapes and all; NULL: not whole */
    size_t         name_len;
    size_t         at;    /* where its first quote is */
    const uint8_t *value; /* from its first to its last character; a string with its quotes */
    size_t         value_len;
};

/* Into an object: false if the text is not one. */
bool blm__json_open(struct blm__json *j);
/* The next member. False at the object's end, which it passes, and where something is wrong. */
bool blm__json_next(struct blm__json *j, struct blm__json_member *m);
/* Nothing but white space follows. */
bool blm__json_end(struct blm__json *j);

#endif
