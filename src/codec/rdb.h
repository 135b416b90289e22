/* SPDX-License-Identifier: MIT */
/*
 * A module's value as Redis dumps it: numbers, doubles and strings, each after an opcode, and a
 * CRC-64 of all of it.
 *
 * Numbers are RDB lengths: 00xxxxxx; 01xxxxxx + 1 byte; 80 + 4 bytes; 81 + 8 bytes; big-endian. A
 * string is a length and bytes; or c3, packed and unpacked length, LZF; or c0, c1, c2 and a number
 * of 1, 2, 4 bytes, whose decimal text it is (Redis does that to every string that looks like one).
 */
#ifndef BLM_CODEC_RDB_H
#define BLM_CODEC_RDB_H

#include "codec/codec.h"
#include "core/hash/crc64.h"

enum blm__rdb_op {
    BLM__RDB_END      = 0,
    BLM__RDB_UNSIGNED = 2,
    BLM__RDB_DOUBLE   = 4,
    BLM__RDB_STRING   = 5
};

/* ---- in: `status` and err keep the first failure, and after it everything reads as 0 ---- */

struct blm__rdb_in {
    struct blm__source *in;
    struct blm__body   *b; /* for memory and its limit */
    blm_error          *err;
    blm_status          status;
    struct blm__crc64   table;
    uint64_t            crc;
    const char         *what;  /* what is being read, for errors */
    uint32_t            layer; /* of which layer; UINT32_MAX: of none */
};

void blm__rdb_in(struct blm__rdb_in *r, struct blm__source *in, struct blm__body *b,
                 blm_error *err);
/* Fails with "<what> of layer <layer>: <text>", unless something failed before. */
void     blm__rdb_bad(struct blm__rdb_in *r, blm_status st, uint64_t at, const char *text);
void     blm__rdb_take(struct blm__rdb_in *r, void *out, size_t len);
uint64_t blm__rdb_length(struct blm__rdb_in *r);
void     blm__rdb_opcode(struct blm__rdb_in *r, enum blm__rdb_op want);
uint64_t blm__rdb_unsigned(struct blm__rdb_in *r, const char *what);
double   blm__rdb_double(struct blm__rdb_in *r, const char *what);
/* The string's length; its bytes in a block that the caller frees, even after a failure. */
uint64_t blm__rdb_string(struct blm__rdb_in *r, const char *what, struct blm__block *out);

/* ---- out: the sink remembers a failure ---- */

struct blm__rdb_out {
    const struct blm__body *b; /* for memory and progress */
    struct blm__sink       *out;
    struct blm__crc64       table;
    uint64_t                crc;
    uint32_t               *slots; /* for packing */
    bool                    torn;  /* a string changed between two reads */
};

/* Writes a value by `put`, which gets a writer that is ready. */
typedef blm_status (*blm__rdb_put_fn)(struct blm__rdb_out *w, blm_error *err);
blm_status blm__rdb_encode(const struct blm__body *b, struct blm__sink *out, blm__rdb_put_fn put,
                           blm_error *err);
bool       blm__rdb_put(void *w, const void *bytes, size_t len); /* a blm_write_fn */
void       blm__rdb_put_length(struct blm__rdb_out *w, uint64_t v);
void       blm__rdb_put_unsigned(struct blm__rdb_out *w, uint64_t v);
void       blm__rdb_put_double(struct blm__rdb_out *w, double v);
/* Encoded as Redis would. */
blm_status blm__rdb_put_string(struct blm__rdb_out *w, const uint8_t *s, uint64_t len,
                               blm_error *err);

#endif
