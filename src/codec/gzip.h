/* SPDX-License-Identifier: MIT */
/* gzip around a format: a source that inflates another source, a sink that deflates into another.
 * Without zlib in the build both can only be refused (E_UNSUPPORTED). */
#ifndef BLM_CODEC_GZIP_H
#define BLM_CODEC_GZIP_H

#include "codec/codec.h"

/* Inflated bytes when no cap is given: 1 GiB. A thousand zeroes cost one compressed byte, so what
 * the input justifies is no bound here. */
#define BLM__INFLATED_MOST ((uint64_t)1 << 30)

struct blm_gzip; /* zlib's state and our buffers */

/* Inflates what `from` still has, `first` (at most 16 bytes, already read from it) before that.
 * *out is then read as any stream; `cap` inflated bytes at most. */
blm_status blm__gunzip_open(struct blm_source *from, const uint8_t *first, size_t first_len,
                            const blm_allocator *a, uint64_t cap, struct blm_gzip **gzip,
                            struct blm_source *out, blm_error *err);
/* Ends it. st is what reading came to; a failure of gzip itself takes the place of the failed read
 * it caused. Whoever reads to the end (a read of 0 bytes) has seen gzip's check sum hold. In an
 * error's sentence stands the offset among the inflated bytes, its offset is the compressed one. */
blm_status blm__gunzip_close(struct blm_gzip *gzip, blm_status st, blm_error *err);

/* *out deflates into `to`. */
blm_status blm__gzip_open(struct blm_sink *to, const blm_allocator *a, struct blm_gzip **gzip,
                          struct blm_sink *out, blm_error *err);
/* Writes the rest and ends it; st: what writing came to. */
blm_status blm__gzip_close(struct blm_gzip *gzip, blm_status st, blm_error *err);

#ifdef BLOOMERY_WITH_ZLIB
#define BLM__HAS_GZIP true
#else
#define BLM__HAS_GZIP false
#endif

#endif
