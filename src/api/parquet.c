/* SPDX-License-Identifier: MIT */
/* The public calls on whole .parquet files. */
#include "bloomery/parquet.h"

#include <string.h>

#include "api/filter.h"
#include "codec/codec.h"
#include "codec/parquet_footer.h"
#include "core/alloc.h"
#include "core/at.h"
#include "core/bytes.h"

#define TAIL 8u /* the footer's length, and "PAR1" */

struct blm_parquet {
    struct blm__pq_footer footer;
    struct blm__at        in;
    uint64_t              data; /* bytes before the footer */
    blm_allocator         own;
};

/* ---- opening ---- */

static blm_status find_footer(const struct blm__at *in, uint64_t cap, uint64_t *at, uint32_t *len,
                              blm_error *err)
{
    uint8_t head[4], tail[TAIL];
    if (in->size < sizeof head + TAIL)
        return blm__fail_at(err, BLM_E_TRUNCATED, in->size, "too short for a Parquet file");
    blm_status st = blm__at_read(in, 0, head, sizeof head, err);
    if (st == BLM_OK)
        st = blm__at_read(in, in->size - TAIL, tail, TAIL, err);
    if (st != BLM_OK)
        return st;
    if (memcmp(tail + 4, "PARE", 4) == 0)
        return blm__fail_at(err, BLM_E_UNSUPPORTED, in->size - 4, "its footer is encrypted");
    if (memcmp(head, "PAR1", 4) != 0)
        return blm__fail_at(err, BLM_E_FORMAT, 0,
                            "not a Parquet file: it does not begin with PAR1");
    if (memcmp(tail + 4, "PAR1", 4) != 0)
        return blm__fail_at(err, BLM_E_FORMAT, in->size - 4,
                            "it begins as a Parquet file, but does not end as one: it was cut");
    *len = blm__get32le(tail);
    if (*len > in->size - sizeof head - TAIL)
        return blm__fail_at(err, BLM_E_FORMAT, in->size - TAIL,
                            "the footer is to have %lu bytes, more than the file",
                            (unsigned long)*len);
    if (cap && *len > cap)
        return blm__fail_at(err, BLM_E_LIMIT, in->size - TAIL,
                            "a footer of %lu bytes is more than the limit of %llu",
                            (unsigned long)*len, (unsigned long long)cap);
    *at = in->size - TAIL - *len;
    return BLM_OK;
}

static blm_status read_footer(blm_parquet *p, uint64_t cap, blm_error *err)
{
    uint32_t   len = 0;
    blm_status st  = find_footer(&p->in, cap, &p->data, &len, err);
    if (st != BLM_OK)
        return st;
    uint8_t *bytes = blm__alloc(&p->own, len ? len : 1);
    if (!bytes)
        return blm__fail(err, BLM_E_MEMORY, "no memory for a footer of %lu bytes",
                         (unsigned long)len);
    st = blm__at_read(&p->in, p->data, bytes, len, err);
    if (st == BLM_OK)
        st = blm__pq_footer_read(bytes, len, p->data, &p->own, &p->footer, err);
    blm__free(&p->own, bytes, len ? len : 1);
    return st;
}

/* Takes `in`, on failure too. */
static blm_status open_in(struct blm__at *in, const blm_options *options, blm_parquet **out,
                          blm_error *err)
{
    blm_options o;
    blm_status  st = blm__options_read(options, true, &o, err);
    if (st == BLM_OK) {
        const blm_allocator *a = o.allocator ? o.allocator : &blm__default_allocator;
        blm_parquet         *p = blm__zalloc(a, sizeof *p);
        if (p) {
            p->own          = *a;
            p->in           = *in;
            p->footer.alloc = &p->own;
            st              = read_footer(p, o.max_bytes, err);
            if (st == BLM_OK)
                *out = p;
            else
                blm_parquet_free(p);
            return st;
        }
        st = blm__fail(err, BLM_E_MEMORY, "no memory for a file's handle");
    }
    blm__at_close(in);
    return st;
}

blm_status blm_parquet_open(const char *path, const blm_options *o, blm_parquet **out,
                            blm_error *err)
{
    struct blm__at in;
    if (!path || !out)
        return blm__fail(err, BLM_E_ARGUMENT, "no path, or nowhere to put the handle (NULL)");
    *out          = NULL;
    blm_status st = blm__at_open(path, &in, err);
    if (st == BLM_OK)
        st = open_in(&in, o, out, err);
    return blm__name_file(st, path, err);
}

blm_status blm_parquet_open_at(blm_read_at_fn read, void *ctx, uint64_t size, const blm_options *o,
                               blm_parquet **out, blm_error *err)
{
    struct blm__at in = { read, ctx, size };
    if (!read || !out)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "no function to read with, or nowhere to put the handle (NULL)");
    *out = NULL;
    return open_in(&in, o, out, err);
}

void blm_parquet_free(blm_parquet *p)
{
    if (!p)
        return;
    blm_allocator a = p->own;
    blm__at_close(&p->in);
    blm__pq_footer_free(&p->footer);
    blm__free(&a, p, sizeof *p);
}

/* ---- what the footer says ---- */

const char *blm_parquet_type_name(blm_parquet_type t)
{
    static const char *const names[] = {
        "BOOLEAN", "INT32",  "INT64",      "INT96",
        "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"
    };
    return (unsigned)t < sizeof names / sizeof *names ? names[t] : NULL;
}

uint32_t blm_parquet_columns(const blm_parquet *p) { return (uint32_t)p->footer.columns.count; }

uint32_t blm_parquet_row_groups(const blm_parquet *p) { return (uint32_t)p->footer.groups.count; }

static const struct blm__pq_group *group_at(const blm_parquet *p, uint32_t i)
{
    const struct blm__pq_group *g = p->footer.groups.data;
    return i < p->footer.groups.count ? g + i : NULL;
}

uint64_t blm_parquet_rows(const blm_parquet *p, uint32_t row_group)
{
    const struct blm__pq_group *g = group_at(p, row_group);
    return g ? g->rows : 0;
}

/* NULL: the column has none in that row group, or there is no such row group. */
static const struct blm__pq_filter *filter_at(const blm_parquet *p, uint32_t column, uint32_t group)
{
    const struct blm__pq_group  *g = group_at(p, group);
    const struct blm__pq_filter *f = p->footer.filters.data;
    for (size_t i = g ? g->first : SIZE_MAX; i < p->footer.filters.count && f[i].group == group;
         i++)
        if (f[i].column == column)
            return f + i;
    return NULL;
}

blm_status blm_parquet_get_column(const blm_parquet *p, uint32_t column, blm_parquet_column *out)
{
    const struct blm__pq_column *c = p->footer.columns.data;
    const struct blm__pq_filter *f = p->footer.filters.data;
    if (column >= p->footer.columns.count)
        return BLM_E_ARGUMENT;
    blm_parquet_column is = {
        .size = sizeof is, .name = c[column].name, .type = c[column].type, .width = c[column].width
    };
    for (size_t i = 0; i < p->footer.filters.count; i++)
        is.filters += f[i].column == column;
    return blm__emit(out, &is, sizeof is);
}

bool blm_parquet_find(const blm_parquet *p, const char *name, uint32_t *column)
{
    const struct blm__pq_column *c = p->footer.columns.data;
    for (size_t i = 0; i < p->footer.columns.count; i++)
        if (strcmp(c[i].name, name) == 0) {
            *column = (uint32_t)i;
            return true;
        }
    return false;
}

blm_status blm_parquet_get_place(const blm_parquet *p, uint32_t column, uint32_t row_group,
                                 blm_parquet_place *out)
{
    const struct blm__pq_filter *f = filter_at(p, column, row_group);
    if (column >= p->footer.columns.count || row_group >= p->footer.groups.count)
        return BLM_E_ARGUMENT;
    blm_parquet_place is = { .size = sizeof is };
    if (f) {
        is.state  = f->state;
        is.offset = f->offset;
        is.bytes  = f->bytes;
    }
    return blm__emit(out, &is, sizeof is);
}

/* ---- one filter ---- */

/* The bytes of a filter as a stream for its decoder; `failed` keeps what the reader said. */
struct reach {
    const struct blm__at *in;
    uint64_t              at, end;
    blm_status            status;
    blm_error             failed;
};

static size_t read_on(void *ctx, void *bytes, size_t len)
{
    struct reach *r    = ctx;
    uint64_t      left = r->end - r->at;
    size_t        n    = len < left ? len : (size_t)left;
    r->status          = blm__at_read(r->in, r->at, bytes, n, &r->failed);
    if (r->status != BLM_OK)
        return SIZE_MAX;
    r->at += n;
    return n;
}

/* A header of 14 to 18 bytes is taken byte by byte. */
struct buffered {
    struct reach reach;
    uint8_t      held[512];
    size_t       at, len;
};

static size_t read_buffered(void *ctx, void *bytes, size_t len)
{
    struct buffered *b = ctx;
    if (b->at == b->len && len >= sizeof b->held)
        return read_on(&b->reach, bytes, len);
    if (b->at == b->len) {
        size_t n = read_on(&b->reach, b->held, sizeof b->held);
        if (n == SIZE_MAX || n == 0)
            return n;
        b->at  = 0;
        b->len = n;
    }
    size_t n = len < b->len - b->at ? len : b->len - b->at;
    memcpy(bytes, b->held + b->at, n);
    b->at += n;
    return n;
}

static blm_status refuse(const struct blm__pq_filter *f, blm_error *err)
{
    if (!f)
        return blm__fail(err, BLM_E_ABSENT, "the column has no filter in this row group");
    if (f->state == BLM_PARQUET_ENCRYPTED)
        return blm__fail(err, BLM_E_UNSUPPORTED, "the column is encrypted, and so is its filter");
    if (f->state == BLM_PARQUET_ELSEWHERE)
        return blm__fail(err, BLM_E_UNSUPPORTED, "the column is in another file");
    return BLM_OK;
}

blm_status blm_parquet_filter(const blm_parquet *p, uint32_t column, uint32_t row_group,
                              const blm_options *options, blm_filter **out, blm_error *err)
{
    const struct blm__pq_filter *f = filter_at(p, column, row_group);
    blm_options                  o;
    if (!out || column >= p->footer.columns.count || row_group >= p->footer.groups.count)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "no such column or row group, or nowhere to put the filter (NULL)");
    *out          = NULL;
    blm_status st = refuse(f, err);
    if (st == BLM_OK)
        st = blm__options_read(options, true, &o, err);
    if (st != BLM_OK)
        return st;
    struct buffered b = {
        .reach = { .in = &p->in, .at = f->offset, .end = f->bytes ? f->offset + f->bytes : p->data }
    };
    struct blm__source in = { .read = read_buffered, .ctx = &b };
    o.offset              = f->offset;
    st                    = blm__decode_with(&blm__codec_parquet, &in, &o, out, err);
    if (b.reach.status != BLM_OK) {
        if (err)
            *err = b.reach.failed;
        return b.reach.status;
    }
    if (st == BLM_OK && f->bytes && in.at != f->bytes) {
        blm_free(*out);
        *out = NULL;
        st   = blm__fail_at(err, BLM_E_FORMAT, f->offset,
                            "the filter has %llu bytes, and the footer says %lu",
                            (unsigned long long)in.at, (unsigned long)f->bytes);
    }
    return st;
}
