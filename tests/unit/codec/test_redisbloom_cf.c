/* SPDX-License-Identifier: MIT */
/* RedisBloom's cuckoo filters, as RedisBloom wrote them (tests/golden/redisbloom-cf): read, asked,
 * written back; and what is no such filter. The commands that made them are in
 * tests/redis/test_cuckoo.py. */
#include "unit/support.h"

#include <math.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "bloomery/redisbloom.h"
#include "codec/redisbloom_cf.h"
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
            chunks.sip = 1000; /* and found in a stream, whose length nobody knows */
            assert_status(blm_decode_stream(bytes_get, &chunks, NULL, &h, NULL), BLM_OK);
            assert_string_equal(params_of(h).format, "redisbloom-cf");
            assert_true(blm_equal(f, h));
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

/* ---- compaction ---- */

/* The first free slot of one of a fingerprint's buckets. */
static uint8_t *free_slot(uint8_t *layer, const blm_cf *c, uint64_t bucket, uint8_t print)
{
    uint64_t both[] = { bucket, bucket ^ print * 0x5bd1e995u };
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t j = 0; j < c->bucket_size; j++) {
            uint8_t *slot = layer + (both[i] & (c->buckets - 1)) * c->bucket_size + j;
            if (!*slot)
                return slot;
        }
    return NULL;
}

/* As it is described: newest layer first, slot by slot, to the oldest layer that has a place. Returns the
 * number of layers that are left. */
static uint64_t compact_plainly(uint8_t *slots, const blm_cf *c)
{
    uint64_t per = c->buckets * c->bucket_size, layers = c->layers;
    for (uint64_t from = c->layers; from-- > 1;) {
        bool left = false;
        for (uint64_t i = 0; i < per; i++) {
            uint8_t *slot = slots + from * per + i, *to = NULL;
            for (uint64_t older = 0; *slot && older < from && !to; older++)
                to = free_slot(slots + older * per, c, i / c->bucket_size, *slot);
            if (to)
                *to = *slot;
            left |= *slot && !to;
            *slot = to ? 0 : *slot;
        }
        layers -= !left && from + 1 == layers;
    }
    return layers;
}

static void compaction_is_as_described(void **state)
{
    (void)state;
    struct rng r = { 5 };
    for (unsigned round = 0; round < 200; round++) {
        blm_cf      c   = { .size    = sizeof c,
                            .buckets = (uint64_t)1 << rng_below(&r, 5),
                            .layers  = 60 + rng_below(&r, 60), /* from 64 on it goes another way */
                            .bucket_size    = (uint32_t)(1 + rng_below(&r, 3)),
                            .max_iterations = 20,
                            .expansion      = 1 };
        size_t      per = (size_t)c.buckets * c.bucket_size;
        uint64_t    bytes, share = 1 + rng_below(&r, 100);
        blm_filter *f     = NULL;
        uint8_t    *slots = calloc((size_t)c.layers, per);
        for (size_t i = 0; i < (size_t)c.layers * per; i++)
            slots[i] = rng_below(&r, 100) < share ? (uint8_t)(1 + rng_below(&r, 255)) : 0;
        assert_status(blm_cf_create(&c, NULL, &f, NULL), BLM_OK);
        for (uint32_t i = 0; i < c.layers; i++)
            assert_status(blm_write_bits(f, i, 0, slots + i * per, per), BLM_OK);
        assert_status(blm_cf_compact(f), BLM_OK);
        assert_int_equal(params_of(f).layers, compact_plainly(slots, &c));
        for (uint32_t i = 0; i < params_of(f).layers; i++)
            assert_memory_equal(blm_view(f, i, &bytes), slots + i * per, per);
        blm_free(f);
        free(slots);
    }
}

/* As many layers as a header of 38 bytes can say, each full: what is done layer by layer must not look at
 * all the others each time. */
static void tens_of_thousands_of_layers(void **state)
{
    (void)state;
    blm_cf      c = { .size           = sizeof c,
                      .buckets        = 2,
                      .layers         = BLM_CF_MAX_LAYERS,
                      .bucket_size    = 1,
                      .max_iterations = 20,
                      .expansion      = 1 };
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL, *copy = NULL;
    uint64_t    bytes;
    o.max_bytes = 1u << 26;
    assert_status(blm_cf_create(&c, &o, &f, NULL), BLM_OK);
    for (uint32_t i = 0; i < c.layers; i++) /* the second bucket is never one of 2's */
        assert_status(blm_write_bits(f, i, 0, "\2", 1), BLM_OK);
    assert_status(blm_copy(f, &copy, NULL), BLM_OK);
    assert_status(blm_cf_compact(copy), BLM_OK);
    assert_int_equal(params_of(copy).layers, c.layers);
    assert_int_equal(params_of(copy).items, c.layers);
    assert_memory_equal(blm_view(copy, (uint32_t)c.layers - 1, &bytes), "\2", 2);
    blm_free(copy);
    blm_free(f);
    o.max_bytes = 2 * BLM_CF_MAX_LAYERS - 1; /* the limit is on slots … */
    assert_status(blm_cf_create(&c, &o, &f, NULL), BLM_E_LIMIT);
}

/* … and, if there are very many layers, on what it takes to describe them, whichever way they come. */
static void descriptions_of_layers_count(void **state)
{
    (void)state;
    static uint8_t bytes[BLM_CF_HEADER + 2 * BLM_CF_MAX_LAYERS];
    blm_options    o = BLM_OPTIONS_INIT;
    blm_cf         c = { .size = sizeof c, .buckets = 1, .bucket_size = 2, .max_iterations = 1 };
    blm_cf         most;
    blm_filter    *f;
    c.expansion = 1;
    for (c.layers = 1000; c.layers <= BLM_CF_MAX_LAYERS; c.layers = c.layers * 5 / 2) {
        struct meter  m = { .fail_at = UINT64_MAX };
        blm_allocator a = meter_allocator(&m);
        o.allocator     = &a;
        o.max_bytes     = 1u << 20;
        bool fits       = c.layers < 3000;
        blm__cf_put(&c, bytes);
        assert_status(blm_cf_create(&c, &o, &f, NULL), fits ? BLM_OK : BLM_E_LIMIT);
        if (fits)
            blm_free(f);
        o.format = "redisbloom-cf";
        assert_status(blm_decode(bytes, (size_t)(BLM_CF_HEADER + 2 * c.layers), &o, &f, NULL),
                      fits ? BLM_OK : BLM_E_LIMIT);
        if (fits)
            blm_free(f);
        assert_true(m.peak_bytes < 4 << 20);
        assert_int_equal(m.live, 0);
    }
    /* One that has grown up to a limit comes back under it, and goes on when it has been emptied. */
    c.layers    = 1;
    o.allocator = NULL;
    o.max_bytes = 300000;
    assert_status(blm_cf_create(&c, &o, &f, NULL), BLM_OK);
    blm_status st = BLM_OK;
    for (uint64_t i = 0; st >= 0; i++)
        st = blm_add(f, &i, sizeof i);
    assert_status(st, BLM_E_LIMIT);
    most.size = sizeof most;
    assert_status(blm_cf_get(f, &most), BLM_OK);
    assert_true(most.layers > 500 && most.layers < 2000);
    struct bytes b = { 0 };
    assert_status(blm_encode(f, "redisbloom-cf", bytes_add, &b, NULL), BLM_OK);
    blm_free(f);
    assert_status(blm_decode(b.p, b.len, &o, &f, NULL), BLM_OK);
    assert_status(blm_clear(f), BLM_OK);
    for (uint64_t i = 0; i < most.layers; i++)
        assert_true(blm_add(f, &i, sizeof i) >= 0);
    blm_free(f);
    free(b.p);
}

/* The rate is that of the fingerprints that are there, in buckets of any size; CF.ADD of a key that is there adds
 * its fingerprint again, and no more absent keys pass for that. */
static void rates_are_those_of_its_fingerprints(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 1, 2, 4, 16, 64, 255 };
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (uint64_t times = 1; times <= 3; times++) {
            blm_cf      c   = { .size           = sizeof c,
                                .buckets        = sizes[s] == 255 ? 32 : 8192 / sizes[s],
                                .layers         = 1,
                                .bucket_size    = sizes[s],
                                .max_iterations = 20 };
            blm_filter *f   = NULL;
            blm_trial   t   = { .size = sizeof t };
            blm_stats   now = { .size = sizeof now };
            assert_status(blm_cf_create(&c, NULL, &f, NULL), BLM_OK);
            for (uint64_t i = 0, full = 0; i < 8160 && full < 100; i++) {
                uint64_t key = i % (8160 / times);
                full += blm_add(f, &key, sizeof key) == BLM_E_FULL;
            }
            assert_status(blm_get_stats(f, &now), BLM_OK);
            assert_status(blm_try_rate(f, NULL, 1000000, 3, &t, NULL), BLM_OK);
            double error = 4.5 * sqrt(now.rate_now / 1e6) + (sizes[s] > 16 ? 0.01 : 0);
            if (fabs(t.rate - now.rate_now) > error) /* of large buckets some are looked at */
                fail_msg("buckets of %u, %u times: %g is shown, %g measured", (unsigned)sizes[s],
                         (unsigned)times, now.rate_now, t.rate);
            double keys = (double)(8160 / times); /* as long as it was not full */
            if (fabs(now.estimated.value / keys - 1) > 0.05 && now.params.items == 8160)
                fail_msg("buckets of %u, %u times: %g keys", (unsigned)sizes[s], (unsigned)times,
                         now.estimated.value);
            blm_free(f);
        }
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
        cmocka_unit_test(compaction_is_as_described),
        cmocka_unit_test(tens_of_thousands_of_layers),
        cmocka_unit_test(descriptions_of_layers_count),
        cmocka_unit_test(rates_are_those_of_its_fingerprints),
        cmocka_unit_test(chunks_are_sniffed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
