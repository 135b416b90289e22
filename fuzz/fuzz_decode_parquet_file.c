/* SPDX-License-Identifier: MIT */
/* Any bytes as a .parquet file: its footer and every filter in it. */
#include <bloomery/parquet.h>

#include "decode.h"

struct input {
    const uint8_t *data;
    size_t         size;
};

static blm_status read_input(void *ctx, uint64_t offset, void *bytes, size_t len, blm_error *err)
{
    const struct input *in = ctx;
    (void)err;
    must(offset <= in->size && len <= in->size - offset);
    memcpy(bytes, in->data + offset, len);
    return BLM_OK;
}

static void read_filter(const blm_parquet *p, uint32_t column, uint32_t group, size_t size)
{
    blm_filter *f = NULL;
    blm_error   err;
    blm_options o = BLM_OPTIONS_INIT;
    o.max_bytes   = (uint64_t)16 << 20;
    blm_status s  = blm_parquet_filter(p, column, group, &o, &f, &err);
    must(s == BLM_OK || (s < 0 && !f && err.status == s && err.text[0]));
    must(s == BLM_OK || err.offset == BLM_NO_OFFSET || err.offset <= size);
    if (s == BLM_OK)
        fuzz_use(f);
    blm_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    blm_parquet *p  = NULL;
    blm_error    err;
    blm_status   s = blm_parquet_open_at(read_input, &in, size, NULL, &p, &err);
    if (s != BLM_OK) {
        must(s < 0 && !p && err.status == s && err.text[0]);
        must(err.offset == BLM_NO_OFFSET || err.offset <= size);
        return 0;
    }
    uint32_t columns = blm_parquet_columns(p), groups = blm_parquet_row_groups(p);
    for (uint32_t c = 0; c < columns && c < 64; c++) {
        blm_parquet_column column = { .size = sizeof column };
        must(blm_parquet_get_column(p, c, &column) == BLM_OK && column.name);
        must(blm_parquet_type_name(column.type) != NULL && column.filters <= groups);
        for (uint32_t g = 0; g < groups && g < 64; g++)
            read_filter(p, c, g, size);
    }
    blm_parquet_free(p);
    return 0;
}
