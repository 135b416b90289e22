/* SPDX-License-Identifier: MIT */
/* Whole .parquet files: DuckDB's, parquet-mr's and parquet-rs's with the answers of DuckDB, footers
 * that lie, and readers that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/parquet.h"
#include "foreign.h"

#define DIR_ "parquet-file"

static blm_status read_memory(void *ctx, uint64_t offset, void *bytes, size_t len, blm_error *err)
{
    const struct golden_file *f = ctx;
    (void)err;
    assert_true(offset <= f->len && len <= f->len - offset);
    memcpy(bytes, f->data + offset, len);
    return BLM_OK;
}

static blm_parquet *open_file(const char *name)
{
    char         path[1024];
    blm_parquet *p = NULL;
    blm_error    err;
    snprintf(path, sizeof path, TEST_DATA "/golden/" DIR_ "/%s", name);
    if (blm_parquet_open(path, NULL, &p, &err) != BLM_OK)
        fail_msg("%s", err.text);
    return p;
}

static uint32_t column_of(const blm_parquet *p, const char *name)
{
    uint32_t column = 0;
    if (!blm_parquet_find(p, name, &column))
        fail_msg("no column %s", name);
    return column;
}

static blm_filter *filter_of(const blm_parquet *p, const char *name, uint32_t group)
{
    blm_filter *f = NULL;
    blm_error   err;
    if (blm_parquet_filter(p, column_of(p, name), group, NULL, &f, &err) != BLM_OK)
        fail_msg("%s of row group %u: %s", name, group, err.text);
    return f;
}

/* What DuckDB's parquet_metadata prints, row by row. */
static void test_listed(void **state)
{
    (void)state;
    struct golden_file tsv   = golden_read_in(DIR_, "filters.tsv");
    size_t             lines = 0;
    for (char *line, *f[7]; (line = golden_line(&tsv, NULL)); lines++) {
        assert_int_equal(golden_fields(line, f, 7), 7);
        blm_parquet       *p      = open_file(f[0]);
        uint32_t           group  = (uint32_t)atoi(f[1]);
        char              *comma  = strstr(f[2], ", "); /* DuckDB's dot */
        blm_parquet_column column = { .size = sizeof column };
        blm_parquet_place  place  = { .size = sizeof place };
        if (comma) {
            *comma = '.';
            memmove(comma + 1, comma + 2, strlen(comma + 2) + 1);
        }
        uint32_t c = column_of(p, f[2]);
        assert_int_equal(blm_parquet_get_column(p, c, &column), BLM_OK);
        assert_string_equal(column.name, f[2]);
        assert_string_equal(blm_parquet_type_name(column.type), f[3]);
        assert_int_equal(blm_parquet_rows(p, group), atoi(f[4]));
        assert_int_equal(blm_parquet_get_place(p, c, group, &place), BLM_OK);
        assert_int_equal(place.state, f[5][0] == '-' ? BLM_PARQUET_NONE : BLM_PARQUET_HERE);
        if (f[5][0] != '-') {
            assert_int_equal(place.offset, atoi(f[5]));
            assert_int_equal(place.bytes, atoi(f[6]));
            blm_free(filter_of(p, f[2], group));
        }
        blm_parquet_free(p);
    }
    assert_int_equal(lines, 23);
    golden_free_file(&tsv);
}

static size_t key_of(blm_parquet_type type, const char *text, uint8_t key[64])
{
    uint64_t bits = 0;
    size_t   len  = type == BLM_PARQUET_INT32 || type == BLM_PARQUET_FLOAT ? 4 : 8;
    if (type == BLM_PARQUET_BYTE_ARRAY) {
        memcpy(key, text, strlen(text));
        return strlen(text);
    }
    if (type == BLM_PARQUET_DOUBLE) {
        double d = strtod(text, NULL);
        memcpy(&bits, &d, 8);
    } else if (type == BLM_PARQUET_FLOAT) {
        float    x = strtof(text, NULL);
        uint32_t b;
        memcpy(&b, &x, 4);
        bits = b;
    } else {
        bits = (uint64_t)strtoll(text, NULL, 10);
    }
    for (size_t i = 0; i < len; i++)
        key[i] = (uint8_t)(bits >> 8 * i);
    return len;
}

/* Every answer is DuckDB's, row group by row group. */
static void test_answers(void **state)
{
    (void)state;
    struct golden_file tsv   = golden_read_in(DIR_, "probes.tsv");
    size_t             lines = 0;
    for (char *line, *f[4]; (line = golden_line(&tsv, NULL)); lines++) {
        golden_fields(line, f, 4);
        blm_parquet       *p      = open_file(f[0]);
        blm_parquet_column column = { .size = sizeof column };
        uint8_t            key[64];
        char               answer[64] = "";
        blm_parquet_get_column(p, column_of(p, f[1]), &column);
        size_t len = key_of(column.type, f[2], key);
        for (uint32_t g = 0; g < blm_parquet_row_groups(p); g++) {
            blm_filter *filter = filter_of(p, f[1], g);
            if (blm_check(filter, key, len))
                sprintf(answer + strlen(answer), "%s%u", answer[0] ? "," : "", (unsigned)g);
            blm_free(filter);
        }
        if (strcmp(answer, f[3]) != 0)
            fail_msg("%s, %s: %s is in row groups %s, and DuckDB says %s", f[0], f[1], f[2], answer,
                     f[3]);
        blm_parquet_free(p);
    }
    assert_int_equal(lines, 760);
    golden_free_file(&tsv);
}

/* Files of two other writers; one's footer does not say how long the filter is. */
static void test_other_writers(void **state)
{
    (void)state;
    static const char *const members[] = { "Hello",  "This is",   "a",         "test",    "How",
                                           "doing ", "the quick", "brown fox", "the lazy" };
    static const struct {
        const char *name;
        uint64_t    offset, bytes, bits;
    } files[] = { { "parquet-mr.parquet", 192, 0, 8192 },
                  { "parquet-rs.parquet", 253, 2064, 16384 } };
    for (size_t i = 0; i < 2; i++) {
        blm_parquet      *p      = open_file(files[i].name);
        blm_parquet_place place  = { .size = sizeof place };
        blm_params        params = { .size = sizeof params };
        blm_filter       *f      = filter_of(p, "String", 0);
        assert_int_equal(blm_parquet_get_place(p, 0, 0, &place), BLM_OK);
        assert_int_equal(place.offset, files[i].offset);
        assert_int_equal(place.bytes, files[i].bytes);
        assert_int_equal(blm_get_params(f, &params), BLM_OK);
        assert_int_equal(params.bits, files[i].bits);
        for (size_t m = 0; m < sizeof members / sizeof *members; m++)
            assert_true(blm_check(f, members[m], strlen(members[m])));
        assert_false(blm_check(f, "goodbye", 7));
        blm_free(f);
        blm_parquet_free(p);
    }
}

static void test_without(void **state)
{
    (void)state;
    blm_error    err;
    blm_filter  *f;
    blm_parquet *p = open_file("duckdb-none.parquet");
    assert_int_equal(blm_parquet_filter(p, 0, 0, NULL, &f, &err), BLM_E_ABSENT);
    assert_int_equal(blm_parquet_filter(p, 1, 0, NULL, &f, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_parquet_filter(p, 0, 1, NULL, &f, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_parquet_filter(p, 0, 0, NULL, NULL, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_parquet_get_place(p, 1, 0, &(blm_parquet_place){ .size = 32 }),
                     BLM_E_ARGUMENT);
    assert_int_equal(blm_parquet_get_place(p, 0, 1, &(blm_parquet_place){ .size = 32 }),
                     BLM_E_ARGUMENT);
    assert_int_equal(blm_parquet_get_column(p, 1, &(blm_parquet_column){ .size = 32 }),
                     BLM_E_ARGUMENT);
    assert_int_equal(blm_parquet_rows(p, 7), 0);
    assert_null(blm_parquet_type_name((blm_parquet_type)8));
    uint32_t column;
    assert_false(blm_parquet_find(p, "nobody", &column));
    blm_parquet_free(p);
    p = open_file("duckdb-empty.parquet");
    assert_int_equal(blm_parquet_columns(p), 1);
    assert_int_equal(blm_parquet_row_groups(p), 0);
    blm_parquet_free(p);
    blm_parquet_free(NULL);
    assert_int_equal(blm_parquet_open("/nowhere/at.parquet", NULL, &p, &err), BLM_E_IO);
    assert_int_equal(blm_parquet_open(TEST_DATA, NULL, &p, &err), BLM_E_IO);
    assert_int_equal(blm_parquet_open(NULL, NULL, &p, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_parquet_open(TEST_DATA, NULL, NULL, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_parquet_open_at(read_memory, NULL, 0, NULL, NULL, &err), BLM_E_ARGUMENT);
    assert_int_equal(
        blm_parquet_open_at(read_memory, NULL, 0, &(blm_options){ .size = 3 }, &p, &err),
        BLM_E_ARGUMENT);
    assert_int_equal(blm_parquet_open_at(NULL, NULL, 0, NULL, &p, &err), BLM_E_ARGUMENT);
}

/* The whole of a file, as far as it can be read: footer, then every filter. */
static blm_status read_whole(struct golden_file *in, const blm_options *o, blm_error *err)
{
    blm_parquet *p;
    blm_status   st = blm_parquet_open_at(read_memory, in, in->len, o, &p, err);
    if (st != BLM_OK)
        return st;
    for (uint32_t g = 0; g < blm_parquet_row_groups(p); g++)
        for (uint32_t c = 0; c < blm_parquet_columns(p) && st == BLM_OK; c++) {
            blm_filter *f;
            st = blm_parquet_filter(p, c, g, o, &f, err);
            if (st == BLM_OK)
                blm_free(f);
            else if (st == BLM_E_ABSENT)
                st = BLM_OK;
        }
    blm_parquet_free(p);
    return st;
}

static void test_lies(void **state)
{
    (void)state;
    struct golden_file tsv  = golden_read_in(DIR_ "/bad", "REASONS.tsv");
    struct golden_file good = golden_read_in(DIR_, "by-hand.parquet");
    blm_error          err;
    size_t             lies = 0;
    if (read_whole(&good, NULL, &err) != BLM_OK)
        fail_msg("the good one: %s", err.text);
    golden_free_file(&good);
    for (char *line, *f[3]; (line = golden_line(&tsv, NULL)); lies++) {
        assert_int_equal(golden_fields(line, f, 3), 3);
        struct golden_file in = golden_read_in(DIR_ "/bad", f[0]);
        struct counted     memory;
        blm_options        o = BLM_OPTIONS_INIT;
        counted_start(&memory);
        o.allocator   = &memory.allocator;
        blm_status st = read_whole(&in, &o, &err);
        if (strcmp(blm_status_name(st), f[1]) != 0 || !strstr(err.text, f[2]))
            fail_msg("%s: %s, %s; not %s with \"%s\"", f[0], blm_status_name(st),
                     st == BLM_OK ? "-" : err.text, f[1], f[2]);
        assert_true(err.offset == BLM_NO_OFFSET || err.offset <= in.len);
        assert_true(memory.peak <= 64 * in.len + (1 << 18));
        assert_int_equal(memory.now, 0);
        golden_free_file(&in);
    }
    assert_int_equal(lies, 60);
    golden_free_file(&tsv);
}

/* A file that ends at any byte is refused by a name. */
static void test_cuts(void **state)
{
    (void)state;
    struct golden_file in = golden_read_in(DIR_, "duckdb-types.parquet");
    blm_error          err;
    size_t             whole = in.len;
    for (in.len = 0; in.len < whole; in.len++) {
        err.text[0] = 0;
        assert_true(read_whole(&in, NULL, &err) < 0);
        assert_true(err.text[0]);
    }
    golden_free_file(&in);
}

/* Any byte of the footer may be any other: an answer or a named error, and nothing leaks. */
static void test_flips(void **state)
{
    (void)state;
    struct golden_file in = golden_read_in(DIR_, "duckdb-types.parquet");
    blm_error          err;
    for (size_t i = in.len - 8 - 1800; i < in.len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            in.data[i] ^= (char)(1 << bit);
            err.text[0]   = 0;
            blm_status st = read_whole(&in, NULL, &err);
            assert_true(st == BLM_OK || (st < 0 && err.text[0]));
            in.data[i] ^= (char)(1 << bit);
        }
    golden_free_file(&in);
}

struct failing {
    struct golden_file file;
    uint64_t           reads, fail_at; /* the number of the read that fails */
    blm_status         with;
    const char        *says;
};

static blm_status read_failing(void *ctx, uint64_t offset, void *bytes, size_t len, blm_error *err)
{
    struct failing *f = ctx;
    if (f->reads++ != f->fail_at)
        return read_memory(&f->file, offset, bytes, len, err);
    if (f->says)
        snprintf(err->text, sizeof err->text, "%s", f->says);
    return f->with;
}

static blm_status read_filter(struct failing *f, blm_error *err)
{
    blm_parquet *p;
    blm_filter  *filter;
    f->reads      = 0;
    blm_status st = blm_parquet_open_at(read_failing, f, f->file.len, NULL, &p, err);
    if (st != BLM_OK)
        return st;
    st = blm_parquet_filter(p, 0, 0, NULL, &filter, err);
    if (st == BLM_OK)
        blm_free(filter);
    blm_parquet_free(p);
    return st;
}

static void test_reader_fails(void **state)
{
    (void)state;
    struct failing f = { .file    = golden_read_in(DIR_, "parquet-rs.parquet"),
                         .fail_at = UINT64_MAX };
    blm_error      err;
    assert_int_equal(read_filter(&f, &err), BLM_OK);
    uint64_t reads = f.reads;
    assert_true(reads >= 4 && reads < 10);
    for (f.fail_at = 0; f.fail_at < reads; f.fail_at++) {
        f.with = BLM_E_CANCELLED;
        f.says = "the bucket is closed";
        assert_int_equal(read_filter(&f, &err), BLM_E_CANCELLED);
        assert_int_equal(err.status, BLM_E_CANCELLED);
        assert_string_equal(err.text, "the bucket is closed");
        f.with = BLM_E_IO;
        f.says = NULL;
        assert_int_equal(read_filter(&f, &err), BLM_E_IO);
        assert_non_null(strstr(err.text, "failed"));
        f.with = BLM_PRESENT; /* no answer that the contract knows */
        assert_int_equal(read_filter(&f, &err), BLM_E_IO);
        assert_int_equal(read_filter(&f, NULL), BLM_E_IO); /* nobody asks for the words */
    }
    golden_free_file(&f.file);
}

static void test_starved(void **state)
{
    (void)state;
    struct golden_file in = golden_read_in(DIR_, "duckdb-types.parquet");
    struct counted     memory;
    blm_error          err;
    blm_options        o  = BLM_OPTIONS_INIT;
    blm_status         st = BLM_E_MEMORY;
    o.allocator           = &memory.allocator;
    for (size_t fail_at = 1; st != BLM_OK; fail_at++) {
        counted_start(&memory);
        memory.fail_at = fail_at;
        st             = read_whole(&in, &o, &err);
        assert_true(st == BLM_OK || st == BLM_E_MEMORY);
        assert_int_equal(memory.now, 0);
        assert_true(fail_at < 1000);
    }
    o.allocator = NULL;
    o.max_bytes = 100;
    assert_int_equal(read_whole(&in, &o, &err), BLM_E_LIMIT);
    o.max_bytes = 1 << 20;
    assert_int_equal(read_whole(&in, &o, &err), BLM_OK);
    golden_free_file(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed),        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_other_writers), cmocka_unit_test(test_without),
        cmocka_unit_test(test_lies),          cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_flips),         cmocka_unit_test(test_reader_fails),
        cmocka_unit_test(test_starved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
