/* SPDX-License-Identifier: MIT */
/*
 * A .parquet file ends with its footer (a Thrift struct, FileMetaData), the footer's length in four
 * bytes, little-endian, and "PAR1". What is read of it, by field numbers:
 *
 *   FileMetaData     2 list<SchemaElement>   3 rows   4 list<RowGroup>   8 encryption
 *   SchemaElement    1 type   2 width   4 name   5 number of children
 *   RowGroup         1 list<ColumnChunk>   3 rows
 *   ColumnChunk      1 path of another file   3 ColumnMetaData   8, 9 encryption
 *   ColumnMetaData   1 type   14 filter's offset   15 filter's length
 *
 * The schema is a tree, each element before its children; the first is the root. A column is a leaf,
 * named by the path to it. A row group has one chunk a column, in the order of the leaves.
 *
 * Every element takes at least a byte of the footer, so that no count makes us allocate more than a
 * small multiple of it. Paths could grow faster than the footer that gives them; but each is in it
 * once more, in every row group. So all together may not be longer than the footer, and some.
 */
#include "codec/parquet_footer.h"

#include <stdlib.h>
#include <string.h>

#include "codec/thrift.h"
#include "core/alloc.h"

#define SCHEMA_DEPTH 64u
#define PATHS_SPARE  65536u

struct reading {
    struct blm__thrift     t;
    struct blm__source     in;
    struct blm__pq_footer *out;
    uint64_t               base, rows;
    size_t                 footer;
    unsigned               seen; /* bit per field of FileMetaData */
    bool is_signed;              /* field 8: a signature follows, as some columns are encrypted */
};

/* ---- arrays ---- */

static void *append(struct reading *r, struct blm__pq_list *l, size_t size, size_t more)
{
    const blm_allocator *a = r->out->alloc;
    if (r->t.status != BLM_OK)
        return NULL;
    if (more > l->room - l->count) {
        bool   fits = more <= SIZE_MAX / 4 / size - l->count;
        size_t room = fits ? (l->count + more) * 2 : 0;
        void  *data = fits ? blm__alloc(a, room * size) : NULL;
        if (!data) {
            r->t.status = blm__fail(r->t.err, BLM_E_MEMORY, "no memory for the footer");
            return NULL;
        }
        if (l->count)
            memcpy(data, l->data, l->count * size);
        blm__free(a, l->data, l->room * size);
        l->data = data;
        l->room = room;
    }
    l->count += more;
    return (char *)l->data + (l->count - more) * size;
}

void blm__pq_footer_free(struct blm__pq_footer *f)
{
    blm__free(f->alloc, f->columns.data, f->columns.room * sizeof(struct blm__pq_column));
    blm__free(f->alloc, f->groups.data, f->groups.room * sizeof(struct blm__pq_group));
    blm__free(f->alloc, f->filters.data, f->filters.room * sizeof(struct blm__pq_filter));
    blm__free(f->alloc, f->names.data, f->names.room);
}

/* ---- fields ---- */

static int64_t take_number(struct reading *r, unsigned type, unsigned want, int64_t least,
                           int64_t most, const char *wrong)
{
    uint64_t at = r->in.at;
    int64_t  v  = type == want ? blm__thrift_number(&r->t) : least - 1;
    if (v < least || v > most)
        blm__thrift_bad(&r->t, at, wrong);
    return v;
}

static int64_t take_i32(struct reading *r, unsigned type, int64_t most, const char *wrong)
{
    return take_number(r, type, BLM__I32, 0, most, wrong);
}

static int64_t take_i64(struct reading *r, unsigned type, const char *wrong)
{
    return take_number(r, type, BLM__I64, 0, INT64_MAX, wrong);
}

/* A list of structs: how many. Each has at least its stop byte. */
static uint64_t take_structs(struct reading *r, unsigned type, const char *wrong)
{
    uint64_t at = r->in.at;
    unsigned of = BLM__STOP;
    uint64_t n  = type == BLM__LIST ? blm__thrift_list(&r->t, &of) : 0;
    if (of != BLM__STRUCT || n > blm__remaining(&r->in))
        blm__thrift_bad(&r->t, at, wrong);
    return r->t.status == BLM_OK ? n : 0;
}

static void skip(struct reading *r, unsigned type)
{
    blm__thrift_skip(&r->t, type, BLM__THRIFT_DEPTH);
}

/* ---- the schema ---- */

struct element {
    const uint8_t *name;
    size_t         name_len;
    uint64_t       at;
    int64_t        type, width, children; /* type −1: an inner element */
};

static void take_element(struct reading *r, struct element *e)
{
    uint64_t id = 0;
    *e          = (struct element){ .at = r->in.at, .type = -1 };
    for (unsigned type; (type = blm__thrift_field(&r->t, &id)) != BLM__STOP;) {
        switch (id) {
        case 1:
            e->type = take_i32(r, type, BLM_PARQUET_FIXED, "an unknown physical type");
            break;
        case 2:
            e->width = take_i32(r, type, INT32_MAX, "a type's length is not a number above 0");
            break;
        case 4:
            if (type != BLM__BINARY)
                blm__thrift_bad(&r->t, e->at, "a name that is no text");
            e->name = blm__thrift_text(&r->t, &e->name_len);
            break;
        case 5:
            e->children = take_i32(r, type, INT32_MAX, "a negative number of children");
            break;
        default:
            skip(r, type);
            break;
        }
    }
    if (e->name && memchr(e->name, 0, e->name_len))
        blm__thrift_bad(&r->t, e->at, "a name with a zero byte in it");
}

/* The path to where the walk is: the names of the elements above, with dots. */
struct path {
    char    *text;
    size_t   len, room;
    size_t   cut[SCHEMA_DEPTH];  /* its length before each of them */
    uint64_t left[SCHEMA_DEPTH]; /* children of theirs still to come */
    unsigned depth;
};

static void push_name(struct reading *r, struct path *p, const struct element *e)
{
    size_t dot = p->len > 0;
    if (r->t.status != BLM_OK)
        return;
    if (e->name_len + dot > p->room - p->len) { /* room is the footer's length */
        blm__thrift_bad(&r->t, e->at, "the path to a column is longer than the footer");
        return;
    }
    if (dot)
        p->text[p->len++] = '.';
    if (e->name_len)
        memcpy(p->text + p->len, e->name, e->name_len);
    p->len += e->name_len;
}

static void add_column(struct reading *r, const struct path *p, const struct element *e)
{
    struct blm__pq_footer *f = r->out;
    if (e->type < 0) {
        blm__thrift_bad(&r->t, e->at, "a column without a physical type");
        return;
    }
    if (f->names.count + p->len > r->footer + PATHS_SPARE) {
        blm__thrift_bad(&r->t, e->at, "the paths of the columns are longer than the footer");
        return;
    }
    char                  *name = append(r, &f->names, 1, p->len + 1);
    struct blm__pq_column *c    = append(r, &f->columns, sizeof *c, 1);
    if (!name || !c)
        return;
    memcpy(name, p->text, p->len);
    name[p->len] = 0;
    *c           = (struct blm__pq_column){
                  .type  = (blm_parquet_type)e->type,
                  .width = e->type == BLM_PARQUET_FIXED ? (uint32_t)e->width : 0,
    };
}

/* One element of the tree, below those of the path. */
static void walk_element(struct reading *r, struct path *p)
{
    struct element e;
    take_element(r, &e);
    if (p->depth == 0 || p->left[p->depth - 1] == 0) {
        blm__thrift_bad(&r->t, e.at, "more elements of the schema than its tree has");
        return;
    }
    p->left[p->depth - 1]--;
    size_t before = p->len;
    push_name(r, p, &e);
    if (e.children == 0) {
        add_column(r, p, &e);
        p->len = before;
    } else if (p->depth == SCHEMA_DEPTH) {
        blm__thrift_bad(&r->t, e.at, "a schema nested more than 64 deep");
    } else {
        p->cut[p->depth]    = before;
        p->left[p->depth++] = (uint64_t)e.children;
    }
    while (p->depth > 1 && p->left[p->depth - 1] == 0)
        p->len = p->cut[--p->depth];
}

/* The names do not move any more. */
static void give_names(struct blm__pq_footer *f)
{
    struct blm__pq_column *c    = f->columns.data;
    const char            *name = f->names.data;
    for (size_t i = 0; i < f->columns.count; i++, name += strlen(name) + 1)
        c[i].name = name;
}

static void take_schema(struct reading *r, unsigned type)
{
    uint64_t       at   = r->in.at;
    uint64_t       n    = take_structs(r, type, "field 2 (schema) is not a list that fits");
    struct path    p    = { .room = r->footer };
    struct element root = { 0 };
    if (r->t.status == BLM_OK && !(p.text = blm__alloc(r->out->alloc, p.room)))
        r->t.status = blm__fail(r->t.err, BLM_E_MEMORY, "no memory for the footer");
    if (n > 0)
        take_element(r, &root);
    p.left[p.depth++] = (uint64_t)root.children;
    for (uint64_t i = 1; i < n && r->t.status == BLM_OK; i++)
        walk_element(r, &p);
    if (n == 0 || p.depth != 1 || p.left[0] != 0)
        blm__thrift_bad(&r->t, at, "the schema's tree is not complete");
    if (r->out->columns.count > UINT32_MAX)
        blm__thrift_bad(&r->t, at, "more than 2^32 columns");
    if (p.text)
        blm__free(r->out->alloc, p.text, p.room);
    give_names(r->out);
}

/* ---- row groups ---- */

struct chunk {
    int64_t  type, offset, bytes;
    uint64_t at, offset_at;
    bool     described, encrypted, elsewhere;
};

static void take_description(struct reading *r, unsigned type, struct chunk *c)
{
    uint64_t id = 0;
    if (type != BLM__STRUCT)
        blm__thrift_bad(&r->t, c->at, "a column's metadata is no struct");
    c->described = true;
    for (unsigned of; (of = blm__thrift_field(&r->t, &id)) != BLM__STOP;) {
        if (id == 1) {
            c->type = take_i32(r, of, BLM_PARQUET_FIXED, "an unknown physical type");
        } else if (id == 14) {
            c->offset_at = r->in.at;
            c->offset    = take_i64(r, of, "bloom_filter_offset is not a number above 0");
        } else if (id == 15) {
            c->bytes = take_i32(r, of, INT32_MAX, "bloom_filter_length is not a number above 0");
        } else {
            skip(r, of);
        }
    }
}

static void take_chunk(struct reading *r, struct chunk *c)
{
    uint64_t id = 0;
    *c          = (struct chunk){ .type = -1, .offset = -1, .at = r->in.at };
    for (unsigned type; (type = blm__thrift_field(&r->t, &id)) != BLM__STOP;) {
        if (id == 3) {
            take_description(r, type, c);
            continue;
        }
        c->elsewhere |= id == 1;
        c->encrypted |= id == 8 || id == 9;
        skip(r, type);
    }
}

static void add_filter(struct reading *r, const struct chunk *c, uint32_t column, uint32_t group)
{
    struct blm__pq_filter f = { .column = column,
                                .group  = group,
                                .state  = c->encrypted   ? BLM_PARQUET_ENCRYPTED
                                          : c->elsewhere ? BLM_PARQUET_ELSEWHERE
                                                         : BLM_PARQUET_HERE };
    if (f.state == BLM_PARQUET_HERE) {
        f.offset = (uint64_t)c->offset;
        f.bytes  = (uint32_t)c->bytes;
        if (f.offset < 4 || f.offset >= r->base || f.bytes > r->base - f.offset)
            blm__thrift_bad(&r->t, c->offset_at, "a filter outside of the file's data");
    }
    struct blm__pq_filter *to = append(r, &r->out->filters, sizeof f, 1);
    if (to)
        *to = f;
}

static void take_chunks(struct reading *r, unsigned type, uint32_t group)
{
    const struct blm__pq_column *columns = r->out->columns.data;
    uint64_t                     at      = r->in.at;
    uint64_t n = take_structs(r, type, "a row group's columns are not a list that fits");
    if (n != r->out->columns.count)
        blm__thrift_bad(&r->t, at, "a row group does not have the columns of the schema");
    for (uint32_t i = 0; i < n && r->t.status == BLM_OK; i++) {
        struct chunk c;
        take_chunk(r, &c);
        if (!c.described && !c.encrypted)
            blm__thrift_bad(&r->t, c.at, "a column without metadata");
        if (c.described && c.type != (int64_t)columns[i].type)
            blm__thrift_bad(&r->t, c.at, "a column's type is not the one of the schema");
        if (c.offset < 0 && c.bytes > 0)
            blm__thrift_bad(&r->t, c.at, "a filter with a length, but without an offset");
        if (c.offset >= 0 || (!c.described && c.encrypted))
            add_filter(r, &c, i, group);
    }
}

static void take_group(struct reading *r)
{
    uint64_t             id = 0, at = r->in.at;
    unsigned             seen  = 0;
    uint32_t             group = (uint32_t)r->out->groups.count;
    struct blm__pq_group g     = { .first = r->out->filters.count };
    for (unsigned type; (type = blm__thrift_field(&r->t, &id)) != BLM__STOP;) {
        if (id == 1 && !(seen & 1))
            take_chunks(r, type, group);
        else if (id == 3)
            g.rows = (uint64_t)take_i64(r, type, "a negative number of rows");
        else
            skip(r, type);
        seen |= id == 1 ? 1u : id == 3 ? 2u : 0;
    }
    if (seen != 3)
        blm__thrift_bad(&r->t, at, "a row group without columns, or without its number of rows");
    struct blm__pq_group *to = append(r, &r->out->groups, sizeof g, 1);
    if (to)
        *to = g;
}

static void take_groups(struct reading *r, unsigned type)
{
    uint64_t at = r->in.at;
    if (!(r->seen & 1u << 2))
        blm__thrift_bad(&r->t, at, "the row groups come before the schema");
    uint64_t n = take_structs(r, type, "field 4 (row groups) is not a list that fits");
    if (n > UINT32_MAX)
        blm__thrift_bad(&r->t, at, "more than 2^32 row groups");
    for (uint64_t i = 0; i < n && r->t.status == BLM_OK; i++)
        take_group(r);
}

/* ---- the whole ---- */

static int by_offset(const void *a, const void *b)
{
    const struct blm__pq_filter *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* One filter for two columns would answer wrongly for one of them. */
static void expect_apart(struct reading *r)
{
    const struct blm__pq_list *all   = &r->out->filters;
    size_t                     bytes = all->count * sizeof(struct blm__pq_filter);
    if (r->t.status != BLM_OK || all->count < 2)
        return;
    struct blm__pq_filter *f = blm__alloc(r->out->alloc, bytes);
    if (!f) {
        r->t.status = blm__fail(r->t.err, BLM_E_MEMORY, "no memory for the footer");
        return;
    }
    memcpy(f, all->data, bytes);
    qsort(f, all->count, sizeof *f, by_offset);
    for (size_t i = 1; i < all->count; i++)
        if (f[i - 1].state == BLM_PARQUET_HERE && f[i].state == BLM_PARQUET_HERE &&
            f[i].offset - f[i - 1].offset < (f[i - 1].bytes ? f[i - 1].bytes : 1)) {
            r->t.status = blm__fail_at(r->t.err, BLM_E_FORMAT, f[i].offset,
                                       "%s: two filters at one place", r->t.what);
            break;
        }
    blm__free(r->out->alloc, f, bytes);
}

static void expect_rows(struct reading *r)
{
    const struct blm__pq_group *g    = r->out->groups.data;
    uint64_t                    rows = 0;
    for (size_t i = 0; i < r->out->groups.count; i++)
        rows += g[i].rows;
    if (rows != r->rows)
        blm__thrift_bad(&r->t, 0, "the row groups do not have its number of rows");
}

blm_status blm__pq_footer_read(const uint8_t *bytes, size_t len, uint64_t base,
                               const blm_allocator *a, struct blm__pq_footer *out, blm_error *err)
{
    struct reading r = {
        .in = { .data = bytes, .len = len }, .out = out, .base = base, .footer = len
    };
    uint64_t id = 0;
    *out        = (struct blm__pq_footer){ .alloc = a };
    r.t         = (struct blm__thrift){ .in     = &r.in,
                                        .err    = err,
                                        .most   = UINT64_MAX,
                                        .base   = base,
                                        .what   = "not a Parquet footer",
                                        .within = "the footer" };
    for (unsigned type; (type = blm__thrift_field(&r.t, &id)) != BLM__STOP;) {
        if (id >= 2 && id <= 4 && r.seen & 1u << id)
            blm__thrift_bad(&r.t, r.in.at, "a field twice");
        if (id == 2)
            take_schema(&r, type);
        else if (id == 3)
            r.rows = (uint64_t)take_i64(&r, type, "a negative number of rows");
        else if (id == 4)
            take_groups(&r, type);
        else
            skip(&r, type);
        r.seen |= id >= 2 && id <= 4 ? 1u << id : 0;
        r.is_signed |= id == 8;
    }
    if (r.seen != 0x1c)
        blm__thrift_bad(&r.t, 0,
                        !(r.seen & 4)   ? "field 2 (schema) is missing"
                        : !(r.seen & 8) ? "field 3 (rows) is missing"
                                        : "field 4 (row groups) is missing");
    if (r.in.at != len && !r.is_signed)
        blm__thrift_bad(&r.t, r.in.at, "bytes follow its end");
    expect_rows(&r);
    expect_apart(&r);
    return r.t.status;
}
