/* SPDX-License-Identifier: MIT */
/* Every public call without memory. Each story below uses some of them; it is told again and again,
 * with the first allocation failing, then the second, and so on, once with only that one failing and
 * once with every one from there on. A call in which memory failed says E_MEMORY, leaves what it was
 * given usable, and does its work when it is asked again with memory back. Nothing leaks.
 *
 * The stories together must use every function that the headers declare: a new one without a story
 * fails here. (api/test_failing_alloc.c looks closer at fewer: what was there before is as it was.) */
#include "unit/failing_beyond.h"

/* ---- stories of filters, their bytes and files ---- */

static void rows_and_words(void)
{
    blm_kind   k;
    uint64_t   m = 0, n;
    uint32_t   p;
    double     x, y;
    blm_rate   r = { .size = sizeof r };
    blm_bid    bids[4];
    uint64_t   pos[8];
    blm_secret secret;
    uint64_t   seed[2]  = { 1, 2 };
    uint8_t    bare[64] = { 0 };
    ASK(blm_status_text(BLM_OK));
    ASK(blm_status_name(BLM_OK));
    ASK(blm_version());
    ASK(blm_kind_name(BLM_CLASSIC));
    ASK(blm_kind_from_name("classic", &k));
    ASK(blm_kind_at(0));
    ASK(blm_scheme_at(0));
    ASK(blm_format_at(0));
    ASK(blm_kind_find(BLM_CLASSIC));
    ASK(blm_scheme_find("guava"));
    ASK(blm_format_find("guava"));
    ASK(blm_sniff("head", 4, 4, bids, 4));
    ASK(blm_textbook(100, 0.01, &m, &p));
    ASK(blm_best_probes(1000, 100, &p));
    ASK(blm_probes_for_rate(0.01, &p));
    ASK(blm_best_rate(1000, 100, &x));
    ASK(blm_capacity_for(1000, 3, 0.01, &n));
    ASK(blm_rate_of(BLM_MODEL_INDEPENDENT, 1000, 3, 0, 100, &r));
    ASK(blm_fill_interval(1000, 3, 100, false, 0.95, &(blm_estimate){ 0 }));
    ASK(blm_estimate_items(1000, 3, 100, &(blm_estimate){ 0 }));
    ASK(blm_estimate_overlap(1000, 3, 100, 100, 150,
                             &(blm_overlap){ .size = sizeof(blm_overlap) }));
    ASK(blm_binomial_interval(1, 100, 0.95, &x, &y));
    ASK(blm_locations("go", 4, "key", 3, pos));
    ASK(blm_parquet_type_name(BLM_PARQUET_INT32));
    ASK(blm_bare_add(bare, 512, 3, 1, "key", 3));
    ASK(blm_bare_check(bare, 512, 3, 1, "key", 3));
    ASK(blm_secret_make(seed, &secret));
    ASK(blm_bare_add_keyed(bare, 512, 3, &secret, "key", 3));
    ASK(blm_bare_check_keyed(bare, 512, 3, &secret, "key", 3));
}

static void ask_all(const blm_filter *f)
{
    blm_params  p = { .size = sizeof p };
    blm_stats   s = { .size = sizeof s };
    blm_trial   t = { .size = sizeof t };
    blm_verdict v = { .size = sizeof v };
    blm_inline  view;
    uint64_t    bytes;
    uint8_t     print[16];
    double      map[4], rate;
    ASK(blm_check(f, &number[0], 8));
    ASK(blm_check_many(f, keys, KEYS, NULL));
    ASK(blm_check_fixed(f, number, 8, KEYS, NULL));
    ASK(blm_view(f, 0, &bytes));
    ASK(blm_get_params(f, &p));
    ASK(blm_get_layer(f, 0, &p));
    ASK(blm_get_stats(f, &s));
    ASK(blm_fill_map(f, map, 4));
    ASK(blm_fingerprint(f, print));
    TRY(blm_encoded_size(f, NULL, &bytes, NULL));
    ASK(blm_memory(f));
    ASK(blm_equal(f, f));
    ASK(blm_can_meet(f, f, NULL));
    ASK(blm_inline_of(f, &view));
    ASK(blm_rate_at(f, 100, &rate));
    ASK(blm_layer_rate_at(f, 0, 100, &rate));
    ASK(blm_try_rate(f, NULL, 100, 1, &t, NULL));
    TRY(blm_verify(f, &v, NULL));
}

static void one_of(blm_kind kind)
{
    blm_options o = with(kind);
    blm_filter *f = NULL, *g = NULL;
    size_t      done;
    uint64_t    hashes[KEYS];
    blm_digest  d;
    TRY(blm_create(&o, &f, NULL));
    TRY(blm_add(f, &number[0], 8));
    TRY(blm_add_many(f, keys, KEYS / 2, NULL, &done));
    TRY(blm_add_fixed(f, number, 8, KEYS / 2, NULL, &done));
    ASK(blm_hash_many(f, keys, KEYS, hashes));
    TRY(blm_add_hashes(f, hashes, KEYS / 2, NULL, &done));
    ASK(blm_check_hashes(f, hashes, KEYS, NULL));
    ASK(blm_digest_of(f, &number[0], 8, &d));
    TRY(blm_add_digest(f, &d));
    ASK(blm_check_digest(f, &d));
    TRY(blm_add_digests(f, &d, 1, NULL, &done));
    ASK(blm_check_digests(f, &d, 1, NULL));
    ASK(blm_count(f, &number[0], 8));
    ASK(blm_set_progress(f, onwards, NULL));
    ask_all(f);
    TRY(blm_copy(f, &g, NULL));
    assert_int_equal(blm_check_fixed(g, number, 8, KEYS / 2, NULL), KEYS / 2);
    if (params_of(f).can & BLM_CAN_REMOVE) {
        ASK(blm_remove(f, &number[0], 8));
        ASK(blm_remove_many(f, keys, 3, NULL, &done));
        ASK(blm_remove_fixed(f, number, 8, 3, NULL, &done));
    }
    if (params_of(f).can & BLM_CAN_UNION)
        TRY(blm_union(f, g, NULL));
    if (params_of(f).can & BLM_CAN_INTERSECT)
        TRY(blm_intersect(f, g, NULL));
    if (params_of(f).can & BLM_CAN_COMPARE)
        ASK(blm_compare(f, g, &(blm_overlap){ .size = sizeof(blm_overlap) }, NULL));
    ASK(blm_set_max_bytes(f, 1u << 30));
    ASK(blm_clear(f));
    ASK(blm_free(g));
    TRY(blm_close(f, NULL));
}

static void every_kind(void)
{
    static const blm_kind kinds[] = { BLM_CLASSIC,  BLM_BLOCKED, BLM_COUNTING,
                                      BLM_SCALABLE, BLM_WINDOW,  BLM_CUCKOO };
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        one_of(kinds[i]);
}

static void combined(void)
{
    blm_options o = with(BLM_CLASSIC), like = BLM_OPTIONS_INIT;
    blm_filter *f = NULL, *g = NULL, *h = NULL, *c = NULL;
    blm_plan    plan = { .size = sizeof plan };
    blm_trial   t    = { .size = sizeof t };
    uint64_t    pos[64];
    size_t      n;
    o.bits   = 4096;
    o.probes = 4;
    TRY(blm_create(&o, &f, NULL));
    TRY(blm_add_fixed(f, number, 8, 50, NULL, NULL));
    like.like      = f;
    like.allocator = &metered;
    TRY(blm_plan_for(&like, &plan, NULL));
    TRY(blm_create(&like, &g, NULL));
    TRY(blm_fold(f, 2, &h, NULL));
    ASK(blm_positions(f, "key", 3, pos, 64, &n));
    ASK(blm_check_positions(f, pos, n));
    ASK(blm_add_positions(f, pos, n));
    ASK(blm_positions_raw(f, "key", 3, pos, 64, &n));
    ASK(blm_check_positions_raw(f, pos, n));
    ASK(blm_write_bits(f, 0, 0, "bits", 4));
    ASK(blm_set_threads(f, 2));
    blm_free(h);
    blm_free(g);
    blm_free(f);
    o = with(BLM_COUNTING);
    TRY(blm_create(&o, &c, NULL));
    TRY(blm_reduce(c, &f, NULL));
    blm_free(c);
    blm_free(f);
    o         = with(BLM_CLASSIC);
    o.bits    = 4096;
    o.probes  = 4;
    o.items   = 0;
    o.rate    = 0;
    o.threads = 2;
    TRY(blm_try_options(&o, 100, &t, NULL));
    o        = with(BLM_ANY_KIND);
    o.scheme = "guava";
    o.flags  = 0;
    TRY(blm_create(&o, &f, NULL));
    ASK(blm_set_funnel(f, "int64", NULL));
    blm_free(f);
}

/* Sorted by several threads, which need room. */
static void large_batches(void)
{
    blm_options o    = with(BLM_BLOCKED);
    size_t      n    = 1u << 20;
    uint64_t   *many = malloc(n * sizeof *many);
    blm_filter *f    = NULL;
    assert_non_null(many);
    for (size_t i = 0; i < n; i++)
        many[i] = i;
    o.items   = 4 * n;
    o.threads = 2;
    TRY(blm_create(&o, &f, NULL));
    MAY(blm_add_fixed(f, many, 8, n, NULL, NULL));
    assert_int_equal(blm_check_fixed(f, many, 8, n, NULL), n);
    blm_free(f);
    free(many);
}

static size_t flow_next(void *ctx, blm_key *out, size_t room)
{
    size_t *at = ctx, n = KEYS - *at < room ? KEYS - *at : room;
    memcpy(out, keys + *at, n * sizeof *out);
    *at += n;
    return n;
}
static void flow_tell(void *ctx, const uint8_t *answers, size_t n)
{
    (void)ctx;
    (void)answers;
    (void)n;
}

static void flows(void)
{
    for (int foreign = 0; foreign < 2; foreign++) {
        blm_options o    = with(BLM_SCALABLE);
        blm_filter *f    = NULL;
        size_t      at   = 0, done;
        blm_flow    flow = { flow_next, flow_tell, &at };
        o.scheme         = foreign ? "redisbloom" : NULL;
        o.flags          = foreign ? 0 : BLM_SEEDED;
        o.items          = 20;
        TRY(blm_create(&o, &f, NULL));
        TRY(blm_add_flow(f, (at = 0, &flow), &done));
        assert_int_equal(blm_check_fixed(f, number, 8, KEYS, NULL), KEYS);
        ASK(blm_check_flow(f, (at = 0, &flow)));
        blm_free(f);
    }
}

static void bytes_and_back(void)
{
    blm_options  o = with(BLM_SCALABLE), plain = BLM_OPTIONS_INIT;
    blm_filter  *f = NULL, *g = NULL, *h = NULL;
    struct bytes b = { 0 };
    uint8_t      head[BLM_DUMP_HEADER];
    uint32_t     flags;
    uint64_t     len;
    o.items         = 20;
    plain.allocator = &metered;
    TRY(blm_create(&o, &f, NULL));
    TRY(blm_add_fixed(f, number, 8, KEYS, NULL, NULL));
    TRY(blm_encode(f, NULL, nowhere, NULL, NULL));
    TRY(blm_encode_from(f, NULL, 100, nowhere, NULL, NULL));
    hold();
    b = encoded(f);
    go_on();
    TRY(blm_decode(b.p, b.len, &plain, &g, NULL));
    TRY(blm_decode_stream(bytes_get, (b.at = 0, &b), &plain, &h, NULL));
    assert_true(blm_equal(f, g) && blm_equal(f, h));
    blm_free(f);
    ASK(blm_dump_write_header(head, 0, b.len));
    ASK(blm_dump_read_header(head, sizeof head, &flags, &len, NULL));
    blm_free(g);
    blm_free(h);
    free(b.p);
}

static void deltas(void)
{
    blm_options  o = with(BLM_BLOCKED);
    blm_filter  *f = NULL, *g = NULL, *h = NULL;
    struct bytes d = { 0 };
    TRY(blm_create(&o, &f, NULL));
    TRY(blm_copy(f, &g, NULL));
    TRY(blm_add_fixed(g, number, 8, KEYS, NULL, NULL));
    TRY(blm_diff(f, g, nowhere, NULL, NULL));
    hold();
    assert_status(blm_diff(f, g, bytes_add, &d, NULL), BLM_OK);
    go_on();
    TRY(blm_patch(f, bytes_get, (d.at = 0, &d), &h, NULL));
    assert_true(blm_equal(g, h));
    blm_free(f);
    blm_free(g);
    blm_free(h);
    free(d.p);
}

static void *moved(void *ctx, void *p)
{
    (void)ctx;
    (void)p;
    return NULL; /* it may stay */
}

static void files(void)
{
    blm_options o = with(BLM_SCALABLE), plain = BLM_OPTIONS_INIT;
    blm_filter *f = NULL, *g = NULL;
    o.items = 20;
    o.flags |= BLM_REPLACE;
    plain.allocator = &metered;
    TRY(blm_create_file(at("f"), &o, &f, NULL));
    TRY(blm_add_fixed(f, number, 8, KEYS / 2, NULL, NULL));
    TRY(blm_open(at("f"), &plain, &g, NULL));
    TRY(blm_add_fixed(f, number, 8, KEYS, NULL, NULL)); /* grows behind g's back */
    TRY(blm_sync(f, NULL));
    TRY(blm_refresh(g, NULL));
    assert_int_equal(blm_check_fixed(g, number, 8, KEYS, NULL), KEYS);
    TRY(blm_save(g, at("g"), NULL, BLM_REPLACE, NULL));
    TRY(blm_verify(g, &(blm_verdict){ .size = sizeof(blm_verdict) }, NULL));
    blm_free(g);
    TRY(blm_close(f, NULL));
    o = with(BLM_BLOCKED);
    TRY(blm_create(&o, &f, NULL));
    ASK(f = blm_relocate(f, moved, NULL));
    blm_free(f);
}

static void far_away(void)
{
    blm_options plain = BLM_OPTIONS_INIT;
    blm_filter *f     = make(
            &(blm_options){ .size = sizeof plain, .kind = BLM_BLOCKED, .items = KEYS, .rate = 0.01 });
    blm_far     *r = NULL;
    struct bytes b;
    bool         maybe;
    uint8_t      all[KEYS];
    assert_status(blm_add_fixed(f, number, 8, KEYS, NULL, NULL), BLM_OK);
    b               = encoded(f);
    plain.allocator = &metered;
    TRY(blm_far_open(read_bytes, &b, b.len, &plain, &r, NULL));
    TRY(blm_far_check(r, &number[0], 8, &maybe, NULL));
    assert_true(maybe);
    TRY(blm_far_check_many(r, keys, KEYS, all, NULL));
    for (size_t i = 0; i < KEYS; i++)
        assert_true(all[i]);
    ASK(blm_far_set_gap(r, 64));
    ASK(blm_far_get_params(r, &(blm_params){ .size = sizeof(blm_params) }));
    ASK(blm_far_get_reads(r, &(blm_far_reads){ .size = sizeof(blm_far_reads) }));
    ASK(blm_far_free(r));
    blm_free(f);
    free(b.p);
}

static void fixed_sets(void)
{
    static const blm_kind kinds[] = { BLM_STATIC, BLM_CASCADE, BLM_BLOCKED };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        blm_options  o = with(kinds[i]);
        blm_builder *b = NULL;
        blm_filter  *f = NULL;
        uint64_t     hash, hashes[KEYS];
        bool         out = kinds[i] == BLM_CASCADE;
        o.items          = 0;
        TRY(blm_builder_new(&o, &b, NULL));
        TRY(blm_builder_add(b, keys, 50));
        TRY(blm_builder_add_fixed(b, number, 8, 100));
        ASK(blm_builder_hash(b, keys, KEYS, hashes));
        TRY(blm_builder_add_hashes(b, hashes, 100));
        if (out) {
            TRY(blm_builder_exclude(b, keys + 200, 50));
            TRY(blm_builder_exclude_fixed(b, number + 200, 8, 100));
            TRY(blm_builder_exclude_hashes(b, hashes + 200, 100));
        }
        ASK(blm_builder_get_state(b, &(blm_builder_state){ .size = sizeof(blm_builder_state) }));
        ASK(blm_builder_conflict(b, &hash));
        TRY(blm_builder_build(b, &f, NULL));
        ASK(blm_get_fixed(f, &(blm_fixed){ .size = sizeof(blm_fixed) }));
        assert_int_equal(blm_check_fixed(f, number, 8, 100, NULL), 100);
        if (out)
            assert_int_equal(blm_check_fixed(f, number + 200, 8, 100, NULL), 0);
        blm_free(f);
        ASK(blm_builder_free(b));
    }
}

/* A builder on disk whose call failed is opened again, as after a kill. */
static blm_status build_on_disk(blm_kind kind)
{
    blm_options  o = with(kind);
    blm_builder *b = NULL;
    o.items        = 0;
    blm_status st  = blm_builder_open(at("dir"), &o, 1u << 16, &b, NULL);
    if (st != BLM_OK)
        return st;
    st = blm_builder_add_fixed(b, number, 8, 200);
    if (st == BLM_OK && kind == BLM_CASCADE)
        st = blm_builder_exclude_fixed(b, number + 200, 8, 100);
    if (st == BLM_OK)
        st = blm_builder_sync(b, NULL);
    if (st == BLM_OK)
        st = blm_builder_save(b, at("out"), BLM_REPLACE, NULL);
    blm_builder_free(b);
    return st;
}

static void on_disk(void)
{
    static const blm_kind kinds[] = { BLM_STATIC, BLM_CASCADE, BLM_CLASSIC };
    visit("blm_builder_open( blm_builder_sync( blm_builder_save(");
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        TRY(build_on_disk(kinds[i]));
        blm_filter *f = open_at(at("out"), BLM_VERIFY);
        assert_int_equal(blm_check_fixed(f, number, 8, 200, NULL), 200);
        blm_free(f);
    }
}

static blm_status spill_it(void)
{
    blm_options o = with(BLM_CLASSIC);
    blm_spill  *s = NULL;
    uint64_t    hashes[KEYS];
    blm_status  st = blm_spill_open(at("dir"), &o, 1u << 16, &s, NULL);
    if (st != BLM_OK)
        return st;
    st = blm_spill_filling(s) ? BLM_OK : blm_spill_add_many(s, keys, 100, NULL);
    if (st == BLM_OK && !blm_spill_filling(s))
        st = blm_spill_sync(s, NULL);
    if (st == BLM_OK)
        st = blm_spill_hash_many(s, keys, KEYS, hashes);
    if (st == BLM_OK && !blm_spill_filling(s))
        st = blm_spill_add_hashes(s, hashes + 100, KEYS - 100, NULL);
    ASK(blm_spill_get_state(s, &(blm_spill_state){ .size = sizeof(blm_spill_state) }));
    if (st == BLM_OK)
        st = blm_spill_finish(s, at("out"), BLM_REPLACE, NULL);
    blm_spill_free(s);
    return st;
}

static void spilled(void)
{
    visit("blm_spill_open( blm_spill_filling( blm_spill_add_many( blm_spill_sync( blm_spill_free(");
    visit("blm_spill_hash_many( blm_spill_add_hashes( blm_spill_finish(");
    TRY(spill_it());
    blm_filter *f = open_at(at("out"), BLM_VERIFY);
    assert_int_equal(blm_check_fixed(f, number, 8, KEYS, NULL), KEYS);
    blm_free(f);
}

/* ---- the test ---- */

static const struct {
    const char *name;
    void (*tell)(void);
} stories[] = {
    { "rows and words", rows_and_words },
    { "every kind", every_kind },
    { "combined", combined },
    { "large batches", large_batches },
    { "flows", flows },
    { "bytes and back", bytes_and_back },
    { "deltas", deltas },
    { "files", files },
    { "far away", far_away },
    { "fixed sets", fixed_sets },
    { "on disk", on_disk },
    { "spilled", spilled },
    { "guarded", guarded },
    { "tried data set", tried_data_set },
    { "parquet files", parquet_files },
    { "wallets", wallets },
    { "redis chains", redis_chains },
    { "redis cuckoos", redis_cuckoos },
    { "windows", windows },
    { "other formats", other_formats },
};

static void every_call_may_lack_memory(void **state)
{
    (void)state;
    make_keys();
    for (size_t s = 0; s < COUNT_OF(stories); s++) {
        uint64_t most = 0;
        for (int once = 0; once < 2; once++)
            for (uint64_t i = 0;; i++) {
                memset(&meter, 0, sizeof meter);
                metered = meter_allocator(&meter);
                arm(i, once);
                fired = false;
                stories[s].tell();
                disarm();
                if (meter.live != 0)
                    fail_msg("%s, allocation %d: %d blocks are left", stories[s].name, (int)i,
                             (int)meter.live);
                assert_int_equal(meter.live_bytes, 0);
                most = i > most ? i : most;
                if (!fired)
                    break;
                assert_true(i < 3000);
            }
        print_message("%-16s up to %d allocations\n", stories[s].name, (int)most);
    }
}

/* The functions that a header declares. */
static unsigned look_at_header(const char *path)
{
    struct bytes b       = slurp(path);
    unsigned     unknown = 0;
    bytes_add(&b, "", 1);
    for (const char *p = (const char *)b.p; (p = strstr(p, "\nBLM_API "));) {
        p += 9;
        const char *name = strstr(p, "blm_"), *end = strchr(p, '(');
        assert_true(name && end);
        for (const char *next; (next = strstr(name + 1, "blm_")) && next < end;)
            name = next; /* what it returns comes first */
        char it[48];
        snprintf(it, sizeof it, "%.*s", (int)(end - name), name);
        if (!among(it)) {
            print_error("%s in %s: no story above uses it\n", it, path);
            unknown++;
        }
    }
    free(b.p);
    return unknown;
}

static void every_public_call_was_tried(void **state)
{
    (void)state;
    static const char folder[] = TEST_DATA "/../include/bloomery";
    unsigned          unknown = look_at_header(TEST_DATA "/../include/bloomery.h"), headers = 0;
    DIR              *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char   path[1024];
        size_t len = strlen(e->d_name);
        if (len < 2 || strcmp(e->d_name + len - 2, ".h") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unknown += look_at_header(path);
        headers++;
    }
    closedir(d);
    assert_true(headers > 8 && visited.count > 150);
    assert_int_equal(unknown, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_may_lack_memory),
        cmocka_unit_test(every_public_call_was_tried),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
