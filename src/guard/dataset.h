/* SPDX-License-Identifier: MIT */
/* The data set's functions, called. err may be NULL: theirs never is. After a failure it has the status
 * and a sentence, whatever they left out; after E_ABSENT too, since callers may print it. */
#ifndef BLM_GUARD_DATASET_H
#define BLM_GUARD_DATASET_H

#include "bloomery/guard.h"

blm_status blm__data_get(const blm_dataset *d, const void *key, size_t len, blm_write_fn value,
                         void *value_ctx, blm_error *err);
blm_status blm__data_put(const blm_dataset *d, const void *key, size_t len, const void *value,
                         size_t value_len, blm_error *err);
blm_status blm__data_del(const blm_dataset *d, const void *key, size_t len, blm_error *err);
blm_status blm__data_scan(const blm_dataset *d, blm_key_fn each, void *each_ctx, blm_error *err);
blm_status blm__data_count(const blm_dataset *d, uint64_t *rows, blm_error *err);
blm_status blm__data_mark_read(const blm_dataset *d, void *mark, size_t *len, blm_error *err);
blm_status blm__data_mark_write(const blm_dataset *d, const void *mark, size_t len, blm_error *err);

/* There is no such row: E_ABSENT. */
blm_status blm__data_absent(blm_error *err);

#endif
