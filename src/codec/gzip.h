/* SPDX-License-Identifier: MIT */
/* gzip around a format: a source that inflates another source, a sink that deflates into another.
 * In a build without zlib both are E_UNSUPPORTED. */
#ifndef BLM_CODEC_GZIP_H
#define BLM_CODEC_GZIP_H

#include "codec/codec.h"

/* The most inflated bytes if there is no max_bytes: 1 GiB. A thousand zeroes take one compressed
 * byte, so the size of the input is no limit here. */
#define BLM__INFLATED_MOST ((uint64_t)1 << 30)

struct blm__gzip; /* zlib's state and our buffers */

/* Inflates `first` (at most 16 bytes, already read from `from`) and then what `from` has left. *out
 * is then read like any stream, at most `cap` inflated bytes. */
blm_status blm__gunzip_open(struct blm__source *from, const uint8_t *first, size_t first_len,
                            const blm_allocator *a, uint64_t cap, struct blm__gzip **gzip,
                            struct blm__source *out, blm_error *err);
/* Ends it. st is how reading ended; if gzip itself failed, that replaces the failed read that it
 * caused. A reader that got to the end (a read of 0 bytes) knows that gzip's checksum matches. In
 * an error, the text has the offset among the inflated bytes, `offset` the one in the compressed
 * ones. */
blm_status blm__gunzip_close(struct blm__gzip *gzip, blm_status st, blm_error *err);

/* *out deflates into `to`. */
blm_status blm__gzip_open(struct blm__sink *to, const blm_allocator *a, struct blm__gzip **gzip,
                          struct blm__sink *out, blm_error *err);
/* Writes the rest and ends it; st: how writing ended. */
blm_status blm__gzip_close(struct blm__gzip *gzip, blm_status st, blm_error *err);

#ifdef BLOOMERY_WITH_ZLIB
#define BLM__HAS_GZIP true
#else
#define BLM__HAS_GZIP false
#endif

#endif
