/* SPDX-License-Identifier: MIT */
/* The part of a .parquet file's footer that leads to its Bloom filters. */
#ifndef BLM_CODEC_PARQUET_FOOTER_H
#define BLM_CODEC_PARQUET_FOOTER_H

#include "bloomery/parquet.h"
#include "core/error.h"

struct blm__pq_column { /* a leaf of the schema */
    const char      *name;
    blm_parquet_type type;
    uint32_t         width; /* of FIXED_LEN_BYTE_ARRAY */
};

struct blm__pq_group {
    uint64_t rows;
    size_t   first; /* of its filters */
};

struct blm__pq_filter {
    uint32_t               column, group;
    enum blm_parquet_state state;
    uint64_t               offset;
    uint32_t               bytes; /* with its header; 0: the footer does not say */
};

/* An array that grows. */
struct blm__pq_list {
    void  *data;
    size_t count, room; /* in elements */
};

struct blm__pq_footer {
    const blm_allocator *alloc;
    struct blm__pq_list  columns, groups, filters; /* filters by row group, then by column */
    struct blm__pq_list  names;                    /* char: the columns' names, each with its NUL */
};

/* Reads a footer, the bytes between the columns and the length at the end. `base`: where in the file
 * it starts, which is also where filters must have ended. On failure too, free it. */
blm_status blm__pq_footer_read(const uint8_t *bytes, size_t len, uint64_t base,
                               const blm_allocator *a, struct blm__pq_footer *out, blm_error *err);
void       blm__pq_footer_free(struct blm__pq_footer *f);

#endif
