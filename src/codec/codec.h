/* SPDX-License-Identifier: MIT */
/* A codec turns a body into the bytes of one named format, and back. It parses and prints, and does
 * no hashing. Each has a file and a row in codec.c. */
#ifndef BLM_CODEC_CODEC_H
#define BLM_CODEC_CODEC_H

#include "core/body.h"
#include "core/error.h"

/* Where bytes go: counted, to the caller's function. */
struct blm__sink {
    blm_write_fn write;
    void        *ctx;
    uint64_t     written;
    uint64_t     from; /* bytes before this one are only counted */
    bool         failed;
};
bool blm__put(struct blm__sink *s, const void *bytes,
              size_t len); /* false: failed, now or before */
/* What to return after that: E_IO. */
blm_status blm__put_failed(const struct blm__sink *s, blm_error *err);

/* Where bytes come from: a buffer that has all of them, or a stream. */
struct blm__source {
    const uint8_t *data; /* of a buffer, with len; NULL: a stream */
    size_t         len;
    blm_read_fn    read;
    void          *ctx;
    uint64_t       at;       /* bytes read so far: the offset for errors */
    bool           failed;   /* the reader returned an error */
    uint8_t        head[64]; /* a stream's first bytes, which were read to find its format */
    size_t         head_len, head_at;
};
/* Reads len bytes, fewer only if the input ends or fails; returns how many. */
size_t blm__read(struct blm__source *s, void *bytes, size_t len);
/* Bytes that a buffer has left; UINT64_MAX for a stream. */
uint64_t blm__remaining(const struct blm__source *s);
/* What to return when blm__read gave too little: E_TRUNCATED, or E_IO if the reader failed, with
 * the offset where the input stopped. `what` completes "the input ends within …". */
blm_status blm__short(const struct blm__source *s, const char *what, blm_error *err);
/* Reads `bytes` bytes into a new block. Never allocates more than 64 KiB and twice what the input
 * has given so far. For decoders. */
blm_status blm__read_block(struct blm__source *s, const blm_allocator *a, uint64_t bytes,
                           uint64_t max_bytes, struct blm__block *out, blm_error *err);
/* Reads the rest of the input into one buffer, at most `cap` bytes (else E_LIMIT): for formats that
 * must be read as a whole (JSON). The caller frees *out, *room bytes. */
blm_status blm__read_all(struct blm__source *s, const blm_allocator *a, uint64_t cap, uint8_t **out,
                         size_t *len, size_t *room, blm_error *err);

/* The bid of a format of which little more than the length tells. Two such bids are ambiguous. */
#define BLM__BID_LENGTH 50
/* … if the length is not known: a bid for almost any bytes. */
#define BLM__BID_WEAK   5

struct blm__codec {
    blm_format_row row; /* what blm_format_at shows */
    /* How sure it is that these bytes are its own, from 0 to 100 (a magic number); a format without
     * a header bids low. total: the input's size; 0: not known. */
    int (*sniff)(const uint8_t *head, size_t len, uint64_t total);
    /* Fills a body that has alloc, kernel, max_bytes, progress and store set and no layers. If it
     * fails, the caller releases what was added. The filter's format becomes this one, unless the
     * decoder sets out->format because it is written in another way (gzip). */
    blm_status (*decode)(struct blm__source *in, const blm_options *o, struct blm__body *out,
                         blm_error *err);
    blm_status (*encode)(const struct blm__body *b, struct blm__sink *out, blm_error *err);
};

const struct blm__codec       *blm__codec_find(const char *name); /* NULL: unknown */
extern const struct blm__codec blm__codec_native;
extern const struct blm__codec blm__codec_guava, blm__codec_go, blm__codec_go_json,
    blm__codec_go_gob, blm__codec_spark, blm__codec_dcso, blm__codec_dcso_gz, blm__codec_dcso01;
extern const struct blm__codec blm__codec_bip37, blm__codec_parquet, blm__codec_parquet_bitset,
    blm__codec_redisbloom, blm__codec_redisbloom_dump, blm__codec_redisbloom_cf,
    blm__codec_redisbloom_cf_dump, blm__codec_byteslot, blm__codec_raw;

#endif
