/* SPDX-License-Identifier: MIT */
/* The stories of api/test_failing_calls.c about what stands around filters: guards, data sets, other systems'
 * files and chains, windows by a clock. */
#ifndef BLM_UNIT_FAILING_BEYOND_H
#define BLM_UNIT_FAILING_BEYOND_H

#include "unit/failing_story.h"

static blm_status rebuild_and_wait(blm_guard *g)
{
    blm_status st = blm_guard_rebuild(g, NULL);
    return st == BLM_OK ? blm_guard_wait(g, NULL) : st;
}

/* A key that was put is never denied, whatever failed. */
static void guarded(void)
{
    static const blm_kind kinds[] = { BLM_BLOCKED, BLM_COUNTING, BLM_CUCKOO };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct rows       rows;
        blm_options       o = with(kinds[i]);
        blm_guard_options w = BLM_GUARD_OPTIONS_INIT;
        blm_guard        *g = NULL;
        rows_init(&rows, 1024);
        blm_dataset d = rows_dataset(&rows);
        w.filter      = &o;
        w.flags       = BLM_GUARD_MANUAL;
        w.path        = i == 1 ? at("guard") : NULL;
        TRY(blm_guard_open(&w, &d, &g, NULL));
        TRY(blm_guard_build(g, NULL));
        for (unsigned k = 0; k < 40; k++)
            MAY(blm_guard_put(g, &number[k], 8, "v", 1, NULL));
        for (unsigned k = 0; k < 80; k++)
            (void)blm_guard_get(g, &number[k], 8, NULL, NULL, NULL);
        MAY(blm_guard_get(g, &number[0], 8, nowhere, NULL, NULL));
        MAY(blm_guard_update(g, &number[0], 8, &number[100], 8, "v", 1, NULL));
        MAY(blm_guard_delete(g, &number[1], 8, NULL));
        visit("blm_guard_note_put( blm_guard_note_delete( blm_guard_rebuild( blm_guard_wait(");
        blm_guard_note_put(g, &number[200], 8);
        blm_guard_note_delete(g, &number[200], 8);
        MAY(rebuild_and_wait(g));
        for (unsigned k = 2; k < 40; k++)
            assert_true(blm_guard_maybe(g, &number[k], 8));
        assert_true(blm_guard_maybe(g, &number[100], 8));
        ASK(blm_guard_maybe(g, &number[2], 8));
        ASK(blm_guard_maybe_many(g, keys, KEYS, NULL));
        MAY(blm_guard_sync(g, NULL));
        ASK(blm_guard_get_stats(g, &(blm_guard_stats){ .size = sizeof(blm_guard_stats) }));
        MAY(blm_guard_json(g, nowhere, NULL, NULL));
        ASK(blm_guard_distrust(g));
        assert_true(blm_guard_maybe(g, &number[250], 8));
        MAY(blm_guard_close(g, NULL));
        rows_free(&rows);
        unlink(at("guard"));
        unlink(at("guard.guard"));
    }
}

static void tried_data_set(void)
{
    struct rows rows;
    rows_init(&rows, 1u << 13);
    blm_dataset d = rows_dataset(&rows);
    /* The rows keep values of four bytes, and so do not pass. */
    visit("blm_dataset_try(");
    libc.on       = OWN_MALLOC;
    blm_status st = blm_dataset_try(&d, 1000, NULL, NULL, NULL);
    libc.on       = false;
    fired         = failed();
    assert_status(st, fired ? BLM_E_MEMORY : BLM_E_MISMATCH);
    rows_free(&rows);
}

static void parquet_files(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.allocator   = &metered;
    for (int i = 0; i < 2; i++) {
        blm_parquet      *p      = NULL;
        blm_filter       *f      = NULL;
        struct bytes      b      = golden("parquet-file/parquet-rs.parquet");
        uint32_t          column = 0, group = 0;
        bool              found = false;
        blm_parquet_place place = { .size = sizeof place };
        if (i)
            TRY(blm_parquet_open_at(read_bytes, &b, b.len, &o, &p, NULL));
        else
            TRY(blm_parquet_open(TEST_DATA "/golden/parquet-file/parquet-rs.parquet", &o, &p,
                                 NULL));
        ASK(blm_parquet_columns(p));
        ASK(blm_parquet_row_groups(p));
        ASK(blm_parquet_rows(p, 0));
        ASK(blm_parquet_get_column(p, 0,
                                   &(blm_parquet_column){ .size = sizeof(blm_parquet_column) }));
        ASK(blm_parquet_find(p, "none", &column));
        for (column = 0; column < blm_parquet_columns(p) && !found; column += !found)
            for (group = 0; group < blm_parquet_row_groups(p) && !found; group += !found) {
                ASK(blm_parquet_get_place(p, column, group, &place));
                found = place.state == BLM_PARQUET_HERE;
            }
        assert_true(found);
        TRY(blm_parquet_filter(p, column, group, &o, &f, NULL));
        blm_free(f);
        ASK(blm_parquet_free(p));
        free(b.p);
    }
}

static void wallets(void)
{
    blm_options        o      = BLM_OPTIONS_INIT;
    struct golden_file in     = golden_read("bip37/cases/merkle_cases.json");
    struct json       *j      = json_parse(&in);
    struct json_bytes  filter = json_hex(j->first, "filter_before"),
                      block   = json_hex(j->first, "block"),
                      proof   = json_hex(j->first, "merkleblock");
    struct golden_file txs    = golden_read("bip37/cases/tx_cases.json");
    struct json       *t      = json_parse(&txs);
    struct json_bytes  tx     = json_hex(t->first, "tx");
    blm_filter        *f      = NULL;
    bool               relevant;
    uint8_t            id[32];
    o.format    = "bip37";
    o.allocator = &metered;
    TRY(blm_decode(filter.data, filter.len, &o, &f, NULL));
    visit("blm_bip37_match( blm_bip37_match_block( blm_bip37_check(");
    if (blm_bip37_check("", 0, NULL, NULL, NULL, NULL) != BLM_E_UNSUPPORTED) { /* without libmd */
        TRY(blm_bip37_match(f, tx.data, tx.len, &relevant, id, NULL));
        TRY(blm_bip37_match_block(f, block.data, block.len, NULL, NULL, nowhere, NULL, NULL));
        TRY(blm_bip37_check(proof.data, proof.len, NULL, NULL,
                            &(blm_bip37_proof){ .size = sizeof(blm_bip37_proof) }, NULL));
    }
    blm_free(f);
    free(filter.data);
    free(block.data);
    free(proof.data);
    free(tx.data);
    json_free(j);
    json_free(t);
    golden_free_file(&in);
    golden_free_file(&txs);
}

static void redis_chains(void)
{
    blm_options      o = with(BLM_SCALABLE), plain = BLM_OPTIONS_INIT;
    blm_filter      *f = NULL, *g = NULL;
    blm_chain_layer  layers[8], one;
    blm_chain_header head = { .size = sizeof head };
    uint8_t          bytes[BLM_CHAIN_MAX_HEADER];
    size_t           len;
    uint32_t         n;
    o.scheme        = "redisbloom";
    o.flags         = 0;
    o.items         = 100;
    plain.allocator = &metered;
    TRY(blm_create(&o, &f, NULL));
    TRY(blm_add_fixed(f, number, 8, KEYS, NULL, NULL));
    n = params_of(f).layers;
    assert_true(n >= 2 && n <= 8);
    for (uint32_t i = 0; i < n; i++)
        ASK(blm_chain_get_layer(f, i, &layers[i]));
    ASK(blm_chain_write_header(f, bytes, sizeof bytes, &len, NULL));
    ASK(blm_chain_read_header(bytes, len, &head, layers, 8, NULL));
    ASK(blm_chain_plan(100, 0.01, 4, &one, NULL));
    TRY(blm_chain_grow(f, 1000, 0.001, NULL));
    for (uint32_t i = 0; i < n; i++)
        layers[i].words = NULL;
    TRY(blm_chain_create(layers, n, 5, 2, &plain, &g, NULL));
    TRY(blm_chain_dissolve(g, layers, 8, NULL));
    for (uint32_t i = 0; i < n; i++)
        metered.free(&meter, layers[i].words, (size_t)layers[i].bytes);
    blm_free(f);
}

static void redis_cuckoos(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_cf      c = { .size           = sizeof c,
                      .layers         = 1,
                      .buckets        = 16,
                      .bucket_size    = 2,
                      .max_iterations = 20,
                      .expansion      = 1 };
    blm_filter *f = NULL;
    uint8_t     head[BLM_CF_HEADER];
    o.allocator = &metered;
    TRY(blm_cf_create(&c, &o, &f, NULL));
    for (unsigned i = 0; i < KEYS; i++)
        TRY(blm_add(f, &number[i], 8));
    assert_int_equal(blm_check_fixed(f, number, 8, KEYS, NULL), KEYS);
    assert_true(params_of(f).layers > 1);
    ASK(blm_cf_get(f, &c));
    ASK(blm_cf_write_header(f, head));
    ASK(blm_cf_read_header(head, sizeof head, &c, NULL));
    ASK(blm_remove(f, &number[0], 8));
    MAY(blm_cf_compact(f));
    assert_int_equal(blm_check_fixed(f, number + 1, 8, KEYS - 1, NULL), KEYS - 1);
    blm_free(f);
}

static uint64_t tick(void *ctx) { return ++*(uint64_t *)ctx; }

static void windows(void)
{
    blm_options o   = with(BLM_WINDOW);
    uint64_t    now = 5;
    blm_filter *f   = NULL;
    blm_age     ages[64];
    o.window_ms = 1000;
    o.clock     = tick;
    o.clock_ctx = &now;
    TRY(blm_create(&o, &f, NULL));
    TRY(blm_add_fixed(f, number, 8, 50, NULL, NULL));
    ASK(blm_get_window(f, &(blm_window){ .size = sizeof(blm_window) }));
    ASK(blm_get_ages(f, ages, 64));
    ASK(blm_set_clock(f, tick, &now));
    blm_free(f);
}

/* Other systems' bytes, whatever library it takes to read them. */
static void other_formats(void)
{
    static const struct {
        const char *format, *path;
    } files[] = {
        { "go-json", "go/small10/filter.json" },    { "dcso-gz", "dcso/v1-small10/filter.bin.gz" },
        { "go", "go/small10/filter.bin" },          { "guava", "guava/m64-int32/filter.bin" },
        { "spark", "spark/v2-small10/filter.bin" }, { "parquet", "parquet/small10/filter.bin" },
    };
    blm_options o = BLM_OPTIONS_INIT;
    o.allocator   = &metered;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        if (!blm_format_find(files[i].format)->reads) /* without Jansson or zlib */
            continue;
        char where[512];
        snprintf(where, sizeof where, TEST_DATA "/golden/%s", files[i].path);
        struct bytes b = slurp(where);
        blm_filter  *f = NULL;
        libc.on        = OWN_MALLOC;
        MAY(blm_decode(b.p, b.len, &o, &f, NULL)); /* JSON is read again */
        TRY(blm_encode(f, NULL, nowhere, NULL, NULL));
        libc.on = false;
        blm_free(f);
        free(b.p);
    }
}

#endif
