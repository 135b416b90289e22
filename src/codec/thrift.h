/* SPDX-License-Identifier: MIT */
/* A bounded reader of Thrift's compact protocol, as far as Parquet's metadata uses it. The first
 * failure stays: after it every take gives 0 and STOP, so it is enough to look at `status` once. */
#ifndef BLM_CODEC_THRIFT_H
#define BLM_CODEC_THRIFT_H

#include "codec/codec.h"

/* The types. BLM__YES and BLM__NO are the two booleans and take no further byte, but in lists. */
enum {
    BLM__STOP,
    BLM__YES,
    BLM__NO,
    BLM__BYTE,
    BLM__I16,
    BLM__I32,
    BLM__I64,
    BLM__DOUBLE,
    BLM__BINARY,
    BLM__LIST,
    BLM__SET,
    BLM__MAP,
    BLM__STRUCT
};

#define BLM__THRIFT_DEPTH 8u /* of what is skipped */

struct blm__thrift {
    struct blm__source *in;
    blm_error          *err;
    blm_status          status;
    uint64_t            start, most; /* at most so many bytes from there */
    uint64_t            base;        /* of the source in the file, for errors */
    const char         *what;        /* "not a Parquet filter header" */
    const char         *within;      /* "the header": the input ends there */
};

void blm__thrift_bad(struct blm__thrift *t, uint64_t at, const char *what);

uint8_t  blm__thrift_byte(struct blm__thrift *t);
uint64_t blm__thrift_varint(struct blm__thrift *t);
int64_t  blm__thrift_number(struct blm__thrift *t); /* a zigzag varint: I16, I32, I64 */
/* The next field's type, STOP at the end or after a failure; *id becomes its number. */
unsigned blm__thrift_field(struct blm__thrift *t, uint64_t *id);
/* The head of a list: how many, and of which type. */
uint64_t blm__thrift_list(struct blm__thrift *t, unsigned *type);
/* The bytes of a BINARY, inside a source that is a buffer; NULL after a failure. */
const uint8_t *blm__thrift_text(struct blm__thrift *t, size_t *len);
void           blm__thrift_skip(struct blm__thrift *t, unsigned type, unsigned depth);

#endif
