/* SPDX-License-Identifier: MIT */
/* RedisBloom's cuckoo filters, as RedisBloom wrote them (tests/golden/redisbloom-cf): read, asked,
 * written back; and what is no such filter. The commands that made them are in
 * tests/redis/test_cuckoo.py. */
#include "unit/support.h"

#include "bloomery/embed.h"
#include "bloomery/redisbloom.h"
#include "unit/bytes.h"

static struct bytes load(const char *vector, const char *name)
{
    char         path[512];
    struct bytes b = { 0 };
    uint8_t      part[4096];
    snprintf(path, sizeof path, TEST_DATA "/golden/redisbloom-cf/%s/%s", vector, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return b;
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        bytes_add(&b, part, n);
    fclose(f);
    return b;
}

static const char *const vectors[] = {
    "autocompact", "binary",    "bucket1-maxit1", "bucket2-exp2",      "bucket255",  "bucket4-exp4",
    "chinese-nx",  "compact",   "compact-hole",   "default-auto",      "deletes",    "dups-tiny",
    "emptied",     "exp0-full", "exp1-32layers",  "insert-past-limit", "maxit65535",
};

static blm_filter *decoded(struct bytes b, const char *format)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    blm_error   e = { .text = "" };
    o.format      = format;
    if (blm_decode(b.p, b.len, &o, &f, &e) != BLM_OK)
        fail_msg("%s: %s", format ? format : "sniffed", e.text);
    return f;
}

static void check_written(const blm_filter *f, const char *format, struct bytes want)
{
    struct bytes got = { 0 };
    assert_status(blm_encode(f, format, bytes_add, &got, NULL), BLM_OK);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.p, want.p, want.len);
    free(got.p);
}

static size_t unhex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    for (unsigned v; *hex && *hex != '-' && sscanf(hex, "%2x", &v) == 1; hex += 2)
        out[n++] = (uint8_t)v;
    return n;
}

static void check_probes(const blm_filter *f, const char *vector)
{
    struct bytes b = load(vector, "probes.tsv");
    bytes_add(&b, "", 1);
    unsigned asked = 0;
    for (char *line = strtok((char *)b.p, "\n"); line; line = strtok(NULL, "\n")) {
        static char    hex[9000];
        static uint8_t key[4500];
        unsigned       exists, count;
        if (*line == '#')
            continue;
        assert_int_equal(sscanf(line, "%8999s\t%u\t%u", hex, &exists, &count), 3);
        size_t len = unhex(hex, key);
        assert_int_equal(blm_check(f, key, len), exists);
        assert_int_equal(blm_count(f, key, len), count);
        asked++;
    }
    assert_true(asked > 100);
    free(b.p);
}

static void golden_filters_are_read_asked_and_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        struct bytes dump = load(vectors[i], "dump-lzf.bin"), chunks = { 0 };
        assert_non_null(dump.p);
        for (unsigned c = 0;; c++) {
            char name[32];
            snprintf(name, sizeof name, "chunk%u.bin", c);
            struct bytes one = load(vectors[i], name);
            if (!one.p)
                break;
            bytes_add(&chunks, one.p, one.len);
            free(one.p);
        }
        blm_filter *f = decoded(dump, NULL);
        assert_string_equal(params_of(f).scheme, "redisbloom-cf");
        check_probes(f, vectors[i]);
        check_written(f, "redisbloom-cf-dump", dump);
        struct bytes plain = load(vectors[i], "dump.bin");
        blm_filter  *g     = decoded(plain, NULL), *h;
        assert_true(blm_equal(f, g));
        if (chunks.p) {
            check_written(f, "redisbloom-cf", chunks);
            h = decoded(chunks, "redisbloom-cf");
            assert_true(blm_equal(f, h));
            check_written(h, "redisbloom-cf-dump", dump);
            blm_free(h);
        }
        assert_status(blm_copy(f, &h, NULL), BLM_OK);
        check_written(h, "redisbloom-cf-dump", dump);
        blm_free(h);
        blm_free(f);
        blm_free(g);
        free(dump.p);
        free(plain.p);
        free(chunks.p);
    }
}

static void malformed_ones_are_refused(void **state)
{
    (void)state;
    struct bytes reasons = load("bad", "REASONS.tsv");
    bytes_add(&reasons, "", 1);
    unsigned tried = 0;
    for (char *line = strtok((char *)reasons.p, "\n"); line; line = strtok(NULL, "\n")) {
        char name[64], kind[64];
        if (*line == '#' || sscanf(line, "%63s\t%63s", name, kind) != 2)
            continue;
        struct bytes b = load("bad", name);
        blm_options  o = BLM_OPTIONS_INIT;
        blm_filter  *f = NULL;
        blm_cf       c = { .size = sizeof c };
        blm_error    e = { .text = "" };
        o.format       = "redisbloom-cf-dump";
        if (strcmp(kind, "dump") == 0)
            assert_true(blm_decode(b.p, b.len, &o, &f, &e) < 0 && e.text[0]);
        else if (strcmp(kind, "header") == 0 && strcmp(name, "hdr-65535-layers.bin") != 0)
            assert_true(blm_cf_read_header(b.p, b.len, &c, &e) < 0 && e.text[0]);
        assert_null(f);
        tried++;
        free(b.p);
    }
    assert_true(tried > 30);
    free(reasons.p);
}

/* Every cut and many flipped bytes: refused, or a filter that can be asked. */
static void no_bytes_crash_it(void **state)
{
    (void)state;
    static const char *const formats[] = { "redisbloom-cf", "redisbloom-cf-dump" };
    struct rng               r         = { 1 };
    for (unsigned which = 0; which < 2; which++) {
        struct bytes dump = load("bucket2-exp2", "dump.bin"), all = { 0 };
        blm_filter  *f = decoded(dump, NULL);
        blm_options  o = BLM_OPTIONS_INIT;
        o.format       = formats[which];
        o.max_bytes    = 1 << 20;
        assert_status(blm_encode(f, formats[which], bytes_add, &all, NULL), BLM_OK);
        blm_free(f);
        for (unsigned i = 0; i < 4000; i++) {
            size_t  at = rng_size(&r, i % 2 ? 80 : all.len), len = i % 3 ? all.len : at;
            uint8_t was = all.p[at];
            all.p[at] ^= (uint8_t)(1 + rng_below(&r, 255));
            if (blm_decode(all.p, len, &o, &f, NULL) == BLM_OK) {
                blm_add(f, "a", 1);
                blm_remove(f, "b", 1);
                assert_true(blm_check(f, "a", 1) || params_of(f).items > 0);
                blm_cf_compact(f);
                blm_free(f);
            }
            all.p[at] = was;
        }
        free(all.p);
        free(dump.p);
    }
}

static void what_it_cannot_be_is_named(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e = { .text = "" };
    blm_cf      c = { .size           = sizeof c,
                      .buckets        = 512,
                      .layers         = 1,
                      .bucket_size    = 2,
                      .max_iterations = 20,
                      .expansion      = 1 };
    blm_filter *f = NULL;
    uint64_t    n;
    assert_status(blm_cf_create(&c, NULL, &f, &e), BLM_OK);
    assert_true(params_of(f).kind == BLM_CUCKOO && !(params_of(f).can & BLM_CAN_SHARE));
    assert_status(blm_encoded_size(f, "native", &n, &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "not kept in native files");
    blm_free(f);
    o.scheme = "redisbloom-cf";
    o.items  = 1000;
    assert_status(blm_create(&o, &f, &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "redisbloom-cf");
    o.max_bytes = 1000;
    assert_status(blm_cf_create(&c, &o, &f, &e), BLM_E_LIMIT);
    c.size--;
    assert_status(blm_cf_create(&c, NULL, &f, &e), BLM_E_ARGUMENT);
    c.size++;
    c.buckets = 3;
    assert_status(blm_cf_create(&c, NULL, &f, &e), BLM_E_FORMAT);
    c.buckets = 2;
    assert_status(blm_cf_create(&c, &(blm_options){ .size = 3 }, &f, &e), BLM_E_ARGUMENT);
}

static void other_schemes_are_refused(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    uint8_t     header[BLM_CF_HEADER];
    blm_cf      c = { .size = sizeof c };
    o.items       = 100;
    o.rate        = 0.01;
    o.kind        = BLM_CUCKOO; /* a cuckoo filter, but ours */
    blm_filter *f = make(&o);
    assert_status(blm_cf_write_header(f, header), BLM_E_UNSUPPORTED);
    assert_status(blm_cf_get(f, &c), BLM_E_UNSUPPORTED);
    assert_status(blm_cf_compact(f), BLM_E_UNSUPPORTED);
    blm_free(f);
}

/* Chunks bid if they are as long as their header says. */
static void chunks_are_sniffed(void **state)
{
    (void)state;
    struct bytes dump = load("bucket2-exp2", "dump.bin"), b = { 0 };
    blm_filter  *f = decoded(dump, NULL), *g;
    blm_bid      bids[8];
    assert_status(blm_encode(f, "redisbloom-cf", bytes_add, &b, NULL), BLM_OK);
    g = decoded(b, NULL);
    assert_string_equal(params_of(g).format, "redisbloom-cf");
    for (size_t more = 0; more < 2; more++) {
        size_t n = blm_sniff(b.p, b.len, b.len + more, bids, 8), ours = 0;
        for (size_t i = 0; i < n && i < 8; i++)
            ours += strcmp(bids[i].format, "redisbloom-cf") == 0;
        assert_int_equal(ours, 1 - more);
    }
    blm_free(f);
    blm_free(g);
    free(b.p);
    free(dump.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_filters_are_read_asked_and_written),
        cmocka_unit_test(malformed_ones_are_refused),
        cmocka_unit_test(no_bytes_crash_it),
        cmocka_unit_test(what_it_cannot_be_is_named),
        cmocka_unit_test(other_schemes_are_refused),
        cmocka_unit_test(chunks_are_sniffed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
