/* SPDX-License-Identifier: MIT */
/* Bytes that a caller's function reads, or that an open file has. */
#ifndef BLM_CORE_AT_H
#define BLM_CORE_AT_H

#include "bloomery/far.h"
#include "core/error.h"

struct blm__at {
    blm_read_at_fn read;
    void          *ctx;
    uint64_t       size;
};

/* Reads exactly len bytes, or fails: E_TRUNCATED past the end, else as the function said. */
blm_status blm__at_read(const struct blm__at *in, uint64_t offset, void *bytes, size_t len,
                        blm_error *err);

/* Opens a file for blm__at_read; close it with blm__at_close. */
blm_status blm__at_open(const char *path, struct blm__at *out, blm_error *err);
void       blm__at_close(struct blm__at *in); /* does nothing for a caller's function */

#endif
