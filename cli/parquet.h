/* SPDX-License-Identifier: MIT */
/* Whole .parquet files: --column NAME, a column's filters in all row groups or (--row-group N) in
 * one. place_parquet.c is the place behind ref.h; info lists what a file has. */
#ifndef CLI_PARQUET_H
#define CLI_PARQUET_H

#include "json.h"
#include "ref.h"

/* Are a column's filters asked for (--column), and in all row groups? */
bool parquet_asked(void);
bool parquet_all(void);
/* Should info list the file: --column alone, or a .parquet file of which nothing else is said? */
bool parquet_lists(const char *text, const blm_options *o);
/* Prints the file's filters. False: already reported. */
bool parquet_list(const char *text, bool as_json);

/* How many row groups a column was opened in (ref_open_keys), and the number of one of them. */
uint32_t parquet_groups(const struct ref *r);
uint32_t parquet_group(const struct ref *r, uint32_t i);
bool     parquet_has_filter(const struct ref *r, uint32_t i);
/* Which of them may have key i of the last ref_check, as "0,2". Valid until the next call. */
const char *parquet_where(const struct ref *r, size_t i);
/* How many keys of all ref_checks each may have. */
void parquet_json(struct json *j, const struct ref *r);

/* As ref_open, for the i-th of the row groups in which `all` was opened. */
bool parquet_open_group(struct ref *r, const struct ref *all, uint32_t i, const blm_options *o);

#endif
