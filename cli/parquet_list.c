/* SPDX-License-Identifier: MIT */
/* info on a whole .parquet file: its columns, and where their filters are. */
#include <string.h>

#include "bloomery/parquet.h"
#include "escape.h"
#include "from.h"
#include "numbers.h"
#include "out.h"
#include "parquet.h"
#include "say.h"

bool parquet_lists(const char *text, const blm_options *o)
{
    char head[REF_HEAD];
    if (parquet_asked())
        return parquet_all();
    if (o->format || o->offset || ref_is_shared(text) || ref_is_stream(text))
        return false;
    ref_head(text, head);
    return memcmp(head, "PAR1", 4) == 0;
}

static const char *state_text(blm_parquet_state s)
{
    return s == BLM_PARQUET_ENCRYPTED   ? "encrypted"
           : s == BLM_PARQUET_ELSEWHERE ? "elsewhere"
                                        : NULL;
}

static uint64_t rows_of(const blm_parquet *p)
{
    uint64_t rows = 0;
    for (uint32_t g = 0; g < blm_parquet_row_groups(p); g++)
        rows += blm_parquet_rows(p, g);
    return rows;
}

/* ---- words ---- */

static void show_place(const blm_parquet *p, uint32_t column, uint32_t group)
{
    blm_parquet_column c = { .size = sizeof c };
    blm_parquet_place  l = { .size = sizeof l };
    char               rows[NUMBER_TEXT], at[NUMBER_TEXT], bytes[NUMBER_TEXT];
    blm_parquet_get_column(p, column, &c);
    blm_parquet_get_place(p, column, group, &l);
    if (l.state == BLM_PARQUET_NONE)
        return;
    out_print("  %-20s  %9lu  %12s  ", shown(c.name), (unsigned long)group,
              count_text(blm_parquet_rows(p, group), rows));
    if (l.state != BLM_PARQUET_HERE)
        out_print("%14s\n", state_text(l.state));
    else
        out_print("%14s  %12s\n", count_text(l.offset, at),
                  l.bytes ? count_text(l.bytes, bytes) : "-");
}

static void show(const blm_parquet *p, const char *name, uint32_t first, uint32_t last)
{
    char               text[NUMBER_TEXT];
    blm_parquet_column c     = { .size = sizeof c };
    uint32_t           found = 0;
    out_print("%s\n", shown(name));
    out_print("  %-12s%s in ", "rows", count_text(rows_of(p), text));
    out_print("%s\n", plural_text(blm_parquet_row_groups(p), "row group", text));
    for (uint32_t i = first; i < last; i++) {
        blm_parquet_get_column(p, i, &c);
        out_print("  %-12s%s, %s", i == first ? "columns" : "", shown(c.name),
                  blm_parquet_type_name(c.type));
        if (c.type == BLM_PARQUET_FIXED)
            out_print("(%lu)", (unsigned long)c.width);
        out_print(": %s\n", c.filters ? plural_text(c.filters, "filter", text) : "no filter");
        found += c.filters;
    }
    if (!found)
        return;
    out_print("\n  %-20s  %9s  %12s  %14s  %12s\n", "column", "row group", "rows", "offset",
              "bytes");
    for (uint32_t i = first; i < last; i++)
        for (uint32_t g = 0; g < blm_parquet_row_groups(p); g++)
            show_place(p, i, g);
}

/* ---- JSON ---- */

static void json_filter(struct json *j, const blm_parquet *p, uint32_t column, uint32_t group)
{
    blm_parquet_place l = { .size = sizeof l };
    blm_parquet_get_place(p, column, group, &l);
    if (l.state == BLM_PARQUET_NONE)
        return;
    json_open(j, NULL, '{');
    json_count(j, "row_group", group);
    json_known(j, "offset", l.offset, l.state == BLM_PARQUET_HERE);
    json_known(j, "bytes", l.bytes, l.bytes > 0);
    json_text(j, "not_here", state_text(l.state));
    json_close(j, '}');
}

static void show_json(const blm_parquet *p, const char *name, uint32_t first, uint32_t last)
{
    struct json        j = JSON_INIT;
    blm_parquet_column c = { .size = sizeof c };
    json_open(&j, NULL, '{');
    json_text(&j, "file", name);
    json_count(&j, "rows", rows_of(p));
    json_open(&j, "row_groups", '[');
    for (uint32_t g = 0; g < blm_parquet_row_groups(p); g++)
        json_count(&j, NULL, blm_parquet_rows(p, g));
    json_close(&j, ']');
    json_open(&j, "columns", '[');
    for (uint32_t i = first; i < last; i++) {
        blm_parquet_get_column(p, i, &c);
        json_open(&j, NULL, '{');
        json_text(&j, "name", c.name);
        json_text(&j, "type", blm_parquet_type_name(c.type));
        json_known(&j, "width", c.width, c.type == BLM_PARQUET_FIXED);
        json_open(&j, "filters", '[');
        for (uint32_t g = 0; g < blm_parquet_row_groups(p); g++)
            json_filter(&j, p, i, g);
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    out_bytes(j.text, j.len);
    json_free(&j);
}

bool parquet_list(const char *text, bool as_json)
{
    blm_error    err    = { .offset = BLM_NO_OFFSET };
    blm_parquet *p      = NULL;
    uint32_t     column = 0;
    if (blm_parquet_open(text, NULL, &p, &err) != BLM_OK)
        return filter_trouble(text, &err), false;
    bool one  = parquet_asked();
    bool good = !one || blm_parquet_find(p, from_column(), &column);
    if (!good)
        trouble("%s: no column %s: bloomery info %s lists them", text, from_column(), text);
    else
        (as_json ? show_json : show)(p, text, column, one ? column + 1 : blm_parquet_columns(p));
    blm_parquet_free(p);
    return good;
}
