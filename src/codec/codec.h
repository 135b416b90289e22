/* SPDX-License-Identifier: MIT */
/* A codec is how a body becomes bytes of one named format, and back: it parses and prints, and
 * knows nothing of hashing. One file and one row in codec.c each. */
#ifndef BLM_CODEC_CODEC_H
#define BLM_CODEC_CODEC_H

#include "core/body.h"
#include "core/error.h"

/* Bytes out, counted, through the caller's function. */
struct blm_sink {
    blm_write_fn write;
    void        *ctx;
    uint64_t     written;
    uint64_t     from; /* bytes before this one are counted and go nowhere */
    bool         failed;
};
bool blm__put(struct blm_sink *s, const void *bytes, size_t len); /* false: failed, now or before */
/* What to return after that: E_IO. */
blm_status blm__put_failed(const struct blm_sink *s, blm_error *err);

/* Bytes in: a buffer that is all there, or a stream read piece by piece. */
struct blm_source {
    const uint8_t *data; /* all there: data, len; else NULL */
    size_t         len;
    blm_read_fn    read;
    void          *ctx;
    uint64_t       at;       /* bytes consumed so far: the offset for errors */
    bool           failed;   /* the reader said error */
    uint8_t        head[64]; /* first bytes of a stream, read to sniff, given out again first */
    size_t         head_len, head_at;
};
/* Reads exactly len bytes unless the input ends; returns how many. */
size_t blm__read(struct blm_source *s, void *bytes, size_t len);
/* Bytes known to be left (all there), or UINT64_MAX for a stream. */
uint64_t blm__remaining(const struct blm_source *s);
/* What to return when blm__read gave too little: E_TRUNCATED, or E_IO when the reader failed, at
 * the place where the input stopped. `what` completes "the input ends within …". */
blm_status blm__short(const struct blm_source *s, const char *what, blm_error *err);
/* Reads `bytes` bytes of words into a fresh block of at least that size, allocating no more than
 * twice what the input has already given (plus 64 KiB). For decoders. */
blm_status blm__read_block(struct blm_source *s, const blm_allocator *a, uint64_t bytes,
                           uint64_t max_bytes, struct blm_block *out, blm_error *err);
/* The whole rest of the input in one buffer (cap bytes at most, E_LIMIT past it), for formats that
 * cannot be read piecewise (JSON, gzip). *out is blm__free'd by the caller with *room. */
blm_status blm__read_all(struct blm_source *s, const blm_allocator *a, uint64_t cap, uint8_t **out,
                         size_t *len, size_t *room, blm_error *err);

struct blm_codec {
    blm_format_row row; /* what blm_format_at shows */
    /* 0 no … 100 magic; headerless formats bid low. total: file size, or 0 when unknown. */
    int (*sniff)(const uint8_t *head, size_t len, uint64_t total);
    /* Fills a body that has alloc, kernel, max_bytes, progress and store set and no layers. On
     * failure the caller releases whatever was added. The filter's format becomes this codec,
     * unless the decoder sets out->format: a form of it that is written differently (gzip). */
    blm_status (*decode)(struct blm_source *in, const blm_options *o, struct blm_body *out,
                         blm_error *err);
    blm_status (*encode)(const struct blm_body *b, struct blm_sink *out, blm_error *err);
};

const struct blm_codec       *blm__codec_find(const char *name); /* NULL: unknown */
extern const struct blm_codec blm__codec_native;
extern const struct blm_codec blm__codec_guava, blm__codec_go, blm__codec_go_json,
    blm__codec_go_gob, blm__codec_spark, blm__codec_dcso, blm__codec_dcso_gz, blm__codec_dcso01;
extern const struct blm_codec blm__codec_bip37, blm__codec_parquet, blm__codec_parquet_bitset,
    blm__codec_redisbloom, blm__codec_redisbloom_dump, blm__codec_byteslot, blm__codec_raw;

#endif
