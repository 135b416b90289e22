/* SPDX-License-Identifier: MIT */
/* A column of a .parquet file as a place. A question about it is a question to each row group's
 * filter; a row group without one may have any key, and a file without row groups has none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/parquet.h"
#include "from.h"
#include "keys.h"
#include "memory.h"
#include "parquet.h"
#include "place.h"
#include "say.h"

struct group {
    uint32_t    number;
    blm_filter *filter; /* NULL: it has none */
    uint64_t    maybe;  /* keys so far */
    uint8_t     answers[KEYS_BATCH];
};

struct column {
    blm_parquet *file;
    uint32_t     column, count;
    struct group groups[];
};

static uint32_t one_group; /* parquet_open_group's; valid if it is `opening` */
static bool     opening;

bool parquet_asked(void) { return from_column() != NULL; }
bool parquet_all(void) { return parquet_asked() && from_row_group() == FROM_ALL_GROUPS; }

/* ---- keys ---- */

static const char *encoding_of(blm_parquet_type type)
{
    switch (type) {
    case BLM_PARQUET_INT32:
        return "int32";
    case BLM_PARQUET_INT64:
        return "int64";
    case BLM_PARQUET_FLOAT:
        return "float";
    case BLM_PARQUET_DOUBLE:
        return "double";
    default:
        return "text";
    }
}

/* A key is a value of the column: lines are read by its type, unless -e gives its bytes. */
static blm_status choose_encoding(const blm_parquet_column *c, blm_error *err)
{
    const char *natural = encoding_of(c->type), *given = keys_options.encoding;
    bool        bytes = given && (strcmp(given, "hex") == 0 || strcmp(given, "base64") == 0);
    char        text[256];
    if (c->type == BLM_PARQUET_INT96 && !bytes) {
        snprintf(text, sizeof text, "column %s is INT96: give keys as 12 bytes with -e hex",
                 c->name);
        return place_fail(err, BLM_E_ARGUMENT, 0, text);
    }
    if (given && !bytes && strcmp(given, natural) != 0) {
        snprintf(text, sizeof text, "column %s is %s: remove -e %s, or give -e %s, hex or base64",
                 c->name, blm_parquet_type_name(c->type), given, natural);
        return place_fail(err, BLM_E_ARGUMENT, 0, text);
    }
    if (!given)
        keys_options.encoding = natural;
    return BLM_OK;
}

/* ---- opening ---- */

static blm_status find_column(const blm_parquet *file, uint32_t *column, blm_error *err)
{
    const char        *name = from_column();
    char               text[256];
    blm_parquet_column c = { .size = sizeof c };
    if (!blm_parquet_find(file, name, column)) {
        snprintf(text, sizeof text, "no column %s: bloomery info lists them", name);
        return place_fail(err, BLM_E_ABSENT, 0, text);
    }
    blm_parquet_get_column(file, *column, &c);
    if (c.filters == 0 && blm_parquet_row_groups(file) > 0) {
        snprintf(text, sizeof text, "column %s has no filter in any row group", name);
        return place_fail(err, BLM_E_ABSENT, 0, text);
    }
    return choose_encoding(&c, err);
}

static blm_status check_group(const blm_parquet *file, uint64_t group, blm_error *err)
{
    char text[128];
    if (group < blm_parquet_row_groups(file))
        return BLM_OK;
    if (blm_parquet_row_groups(file) == 0)
        return place_fail(err, BLM_E_ABSENT, 0, "it has no row groups, and so no filters");
    snprintf(text, sizeof text, "no row group %llu: it has %lu, counted from 0",
             (unsigned long long)group, (unsigned long)blm_parquet_row_groups(file));
    return place_fail(err, BLM_E_ABSENT, 0, text);
}

/* One filter, as for any other command that reads one. */
static blm_status parquet_open(struct ref *r, blm_error *err)
{
    blm_parquet *file;
    uint32_t     column = 0;
    uint64_t     group  = opening ? one_group : from_row_group();
    blm_status   st     = blm_parquet_open(r->text, &r->options, &file, err);
    if (st != BLM_OK)
        return st;
    st = find_column(file, &column, err);
    if (st == BLM_OK && group == FROM_ALL_GROUPS && blm_parquet_row_groups(file) == 1)
        group = 0;
    if (st == BLM_OK && group == FROM_ALL_GROUPS && blm_parquet_row_groups(file) > 1)
        st = place_fail(err, BLM_E_ABSENT, 0,
                        "the column has a filter in each row group: say which with --row-group N");
    if (st == BLM_OK)
        st = check_group(file, group, err);
    if (st == BLM_OK)
        st = blm_parquet_filter(file, column, (uint32_t)group, &r->options, &r->filter, err);
    blm_parquet_free(file);
    return st;
}

static blm_status open_groups(struct ref *r, struct column *c, blm_error *err)
{
    uint32_t bare = 0, first = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct group *g = &c->groups[i];
        blm_status    st =
            blm_parquet_filter(c->file, c->column, g->number, &r->options, &g->filter, err);
        if (st != BLM_OK && (st != BLM_E_ABSENT || c->count == 1))
            return st;
        if (st == BLM_E_ABSENT && bare++ == 0)
            first = g->number;
    }
    if (bare)
        say("%s: column %s has no filter in %lu of %lu row groups (the first is %lu), which may "
            "hold any key",
            r->name, from_column(), (unsigned long)bare, (unsigned long)c->count,
            (unsigned long)first);
    return BLM_OK;
}

static blm_status parquet_keys(struct ref *r, blm_error *err)
{
    blm_parquet *file;
    uint32_t     column = 0;
    uint64_t     group  = from_row_group();
    blm_status   st     = blm_parquet_open(r->text, &r->options, &file, err);
    if (st != BLM_OK)
        return st;
    st = find_column(file, &column, err);
    if (st == BLM_OK && group != FROM_ALL_GROUPS)
        st = check_group(file, group, err);
    if (st != BLM_OK) {
        blm_parquet_free(file);
        return st;
    }
    uint32_t       count = group == FROM_ALL_GROUPS ? blm_parquet_row_groups(file) : 1;
    struct column *c     = memory_need(sizeof *c + count * sizeof *c->groups);
    memset(c, 0, sizeof *c + count * sizeof *c->groups);
    *c = (struct column){ .file = file, .column = column, .count = count };
    for (uint32_t i = 0; i < count; i++)
        c->groups[i].number = count == 1 && group != FROM_ALL_GROUPS ? (uint32_t)group : i;
    r->connection = c;
    r->remote     = true;
    return open_groups(r, c, err);
}

static void parquet_drop(struct ref *r)
{
    struct column *c = r->connection;
    for (uint32_t i = 0; c && i < c->count; i++)
        blm_free(c->groups[i].filter);
    if (c)
        blm_parquet_free(c->file);
    free(c);
    r->connection = NULL;
}

/* ---- asking ---- */

static blm_status parquet_check(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe,
                                size_t *hits, blm_error *err)
{
    struct column *c = r->connection;
    (void)err;
    memset(maybe, 0, count);
    for (uint32_t i = 0; i < c->count; i++) {
        struct group *g = &c->groups[i];
        if (g->filter) {
            g->maybe += blm_check_many(g->filter, keys, count, g->answers);
        } else {
            memset(g->answers, 1, count);
            g->maybe += count;
        }
        for (size_t k = 0; k < count; k++)
            maybe[k] |= g->answers[k];
    }
    *hits = 0;
    for (size_t k = 0; k < count; k++)
        *hits += maybe[k];
    return BLM_OK;
}

uint32_t parquet_groups(const struct ref *r)
{
    return ((const struct column *)r->connection)->count;
}

uint32_t parquet_group(const struct ref *r, uint32_t i)
{
    return ((const struct column *)r->connection)->groups[i].number;
}

bool parquet_has_filter(const struct ref *r, uint32_t i)
{
    return ((const struct column *)r->connection)->groups[i].filter != NULL;
}

const char *parquet_where(const struct ref *r, size_t i)
{
    static char  *text;
    static size_t room;
    size_t        len = 0;

    const struct column *c = r->connection;
    if (room < c->count * 11u + 1)
        text = memory_grow(text, room = c->count * 11u + 1);
    text[0] = 0;
    for (uint32_t g = 0; g < c->count; g++)
        if (c->groups[g].answers[i])
            len += (size_t)snprintf(text + len, room - len, "%s%lu", len ? "," : "",
                                    (unsigned long)c->groups[g].number);
    return text;
}

void parquet_json(struct json *j, const struct ref *r)
{
    const struct column *c = r->connection;
    json_open(j, "row_groups", '[');
    for (uint32_t i = 0; i < c->count; i++) {
        json_open(j, NULL, '{');
        json_count(j, "row_group", c->groups[i].number);
        json_bool(j, "has_filter", c->groups[i].filter != NULL);
        json_count(j, "maybe", c->groups[i].maybe);
        json_close(j, '}');
    }
    json_close(j, ']');
}

bool parquet_open_group(struct ref *r, const struct ref *all, uint32_t i, const blm_options *o)
{
    one_group = parquet_group(all, i);
    opening   = true;
    bool good = ref_open(r, all->text, o);
    opening   = false;
    return good;
}

const struct place place_parquet = {
    .open       = parquet_open,
    .keys       = parquet_keys,
    .check_many = parquet_check,
    .drop       = parquet_drop,
};
