/* SPDX-License-Identifier: MIT */
/* Where layers live. */
#ifndef BLM_STORE_STORE_H
#define BLM_STORE_STORE_H

#include "core/body.h"
#include "core/error.h"

/* In memory, through the body's allocator. */
extern const struct blm__store blm__store_memory;
/* For create with options.words: a layer over the caller's words. adopt: they are freed with it. */
blm_status blm__memory_borrow(struct blm__body *b, const struct blm__shape *s, uint64_t *words,
                              bool adopt, blm_error *err);
/* For decoders: a layer over a block that is already filled; the body takes the block. */
blm_status blm__memory_take(struct blm__body *b, const struct blm__shape *s,
                            struct blm__block *block, blm_error *err);
/* Room for `len` bytes that a format carries along: body.attached, for the caller to fill. */
blm_status blm__memory_attach(struct blm__body *b, size_t len, blm_error *err);

/* A mapped native file. Both set b->store and b->store_ctx on success.
 * create: b has everything but layers; `first` is the first layer's shape. flags: BLM_REPLACE. */
blm_status blm__file_create(const char *path, uint32_t flags, struct blm__body *b,
                            const struct blm__shape *first, blm_error *err);
/* open: fills b from the file. flags: BLM_WRITE, BLM_VERIFY, BLM_SHARED. If the file does not begin
 * as a native file does, *foreign becomes true and nothing else happens. */
blm_status blm__file_open(const char *path, uint32_t flags, struct blm__body *b, bool *foreign,
                          blm_error *err);
/* For a file opened with BLM_WRITE: allocates its space, puts right what the last writer left, and
 * says in the file that it has a writer. Before this nothing may change, and closing changes
 * nothing. */
blm_status blm__file_begin(struct blm__body *b, blm_error *err);
blm_status blm__file_refresh(struct blm__body *b, blm_error *err);
/* Fills all of *out, whatever its size field says. */
blm_status blm__file_verify(const struct blm__body *b, blm_verdict *out, blm_error *err);
/* Bytes taken to manage the mapping, beside the layers' structs. */
size_t blm__file_memory(const struct blm__body *b);
/* Whether b, which is mapped from a file, is mapped from the one that is at this path now. */
bool blm__file_same(const struct blm__body *b, const char *path);

#endif
