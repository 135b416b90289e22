/* SPDX-License-Identifier: MIT */
/*
 * The Bloom filters inside a .parquet file, found through its footer:
 *
 *     blm_parquet *p;
 *     uint32_t     column;
 *     if (blm_parquet_open("orders.parquet", NULL, &p, &err) != BLM_OK) …
 *     if (blm_parquet_find(p, "customer", &column)) …
 *     for (uint32_t g = 0; g < blm_parquet_row_groups(p); g++) {
 *         blm_filter *f;
 *         if (blm_parquet_filter(p, column, g, NULL, &f, &err) != BLM_OK) …  // E_ABSENT: no filter
 *         if (blm_check(f, "smith", 5)) …                    // row group g may have it
 *         blm_free(f);
 *     }
 *
 * A filter's keys are the column's values in plain encoding: BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY
 * their bytes, without a length; INT32, INT64, FLOAT and DOUBLE 4 or 8 bytes, little-endian; INT96
 * its 12 bytes. A row group without a filter may have any key.
 *
 * Only the footer is kept in memory. A footer that lies is refused (E_FORMAT, with the byte in the
 * file): lengths and counts that do not fit, filters outside the file or over each other, a schema
 * that the row groups do not follow. An encrypted footer is E_UNSUPPORTED.
 *
 * Any number of threads may use one handle, if they may call its reader. May still change before 1.0.
 */
#ifndef BLOOMERY_PARQUET_H
#define BLOOMERY_PARQUET_H

#include <bloomery.h>
#include <bloomery/far.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blm_parquet blm_parquet;

/* Physical types, by Parquet's numbers. */
typedef enum blm_parquet_type {
    BLM_PARQUET_BOOLEAN    = 0,
    BLM_PARQUET_INT32      = 1,
    BLM_PARQUET_INT64      = 2,
    BLM_PARQUET_INT96      = 3,
    BLM_PARQUET_FLOAT      = 4,
    BLM_PARQUET_DOUBLE     = 5,
    BLM_PARQUET_BYTE_ARRAY = 6,
    BLM_PARQUET_FIXED      = 7
} blm_parquet_type;

/* The name in Parquet's documents: "BYTE_ARRAY"; NULL for any other value. */
BLM_API const char *blm_parquet_type_name(blm_parquet_type t);

/* `o` may be NULL; allocator and max_bytes (for the footer, then for each filter) are read from it.
 * The second form reads through your function from a file of `size` bytes; ctx must outlive the
 * handle. On success you own *out: blm_parquet_free it, NULL is allowed. */
BLM_API blm_status blm_parquet_open(const char *path, const blm_options *o, blm_parquet **out,
                                    blm_error *err);
BLM_API blm_status blm_parquet_open_at(blm_read_at_fn read, void *ctx, uint64_t size,
                                       const blm_options *o, blm_parquet **out, blm_error *err);
BLM_API void       blm_parquet_free(blm_parquet *p);

BLM_API uint32_t blm_parquet_columns(const blm_parquet *p);
BLM_API uint32_t blm_parquet_row_groups(const blm_parquet *p);
BLM_API uint64_t blm_parquet_rows(const blm_parquet *p, uint32_t row_group);

typedef struct blm_parquet_column {
    size_t           size;
    const char      *name; /* the path in the schema, with dots; the handle keeps it */
    blm_parquet_type type;
    uint32_t         width;   /* bytes of a BLM_PARQUET_FIXED, else 0 */
    uint32_t         filters; /* row groups in which the column has one */
} blm_parquet_column;
BLM_API blm_status blm_parquet_get_column(const blm_parquet *p, uint32_t column,
                                          blm_parquet_column *out);
/* false: there is no column of this name. */
BLM_API bool blm_parquet_find(const blm_parquet *p, const char *name, uint32_t *column);

/* What the footer says about a column's filter in a row group. */
typedef enum blm_parquet_state {
    BLM_PARQUET_NONE      = 0, /* it has none */
    BLM_PARQUET_HERE      = 1,
    BLM_PARQUET_ENCRYPTED = 2, /* with its column */
    BLM_PARQUET_ELSEWHERE = 3  /* in another file */
} blm_parquet_state;

typedef struct blm_parquet_place {
    size_t            size;
    blm_parquet_state state;
    uint64_t          offset; /* in the file, of the filter's header; only if it is HERE */
    uint64_t          bytes;  /* with its header; 0: the footer does not say */
} blm_parquet_place;
BLM_API blm_status blm_parquet_get_place(const blm_parquet *p, uint32_t column, uint32_t row_group,
                                         blm_parquet_place *out);

/* Reads that filter into memory; you own it. E_ABSENT: the column has none in that row group;
 * E_UNSUPPORTED: it is encrypted, or elsewhere. */
BLM_API blm_status blm_parquet_filter(const blm_parquet *p, uint32_t column, uint32_t row_group,
                                      const blm_options *o, blm_filter **out, blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
