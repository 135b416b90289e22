/* SPDX-License-Identifier: MIT */
/* Whose file is it? Every golden filter is its own format's, by its whole length and by its first
 * bytes alone; heads that are almost right are nobody's. */
#include <math.h>

#include "unit/support.h"

#include "core/bytes.h"
#include "foreign.h"
#include "unit/bytes.h"

/* The bid of one format for a head. */
static int bid_of(const char *format, const void *head, size_t len, uint64_t total)
{
    blm_bid bids[32];
    size_t  n = blm_sniff(head, len, total, bids, COUNT_OF(bids));
    for (size_t i = 0; i < n && i < COUNT_OF(bids); i++)
        if (strcmp(bids[i].format, format) == 0)
            return bids[i].bid;
    return 0;
}

static bool reads(const char *format)
{
    for (size_t i = 0; blm_format_at(i); i++)
        if (strcmp(blm_format_at(i)->name, format) == 0)
            return blm_format_at(i)->reads;
    return false;
}

static void test_golden(void **state)
{
    (void)state;
    static const struct {
        const char *path, *format;
    } rows[] = {
        { "guava/m64-small10/filter.bin", "guava" },
        { "guava/m32-med1000-p03/filter.bin", "guava" },
        { "guava/m64-empty/filter.bin", "guava" },
        { "go/small10/filter.bin", "go" },
        { "go/empty/filter.bin", "go" },
        { "go/lengths/new-0-3.bin", "go" },
        { "go/lengths/from-4-words-m130.bin", "go" },
        { "go/small10/filter.json", "go-json" },
        { "go/small10/filter.gob", "go-gob" },
        { "go/gob/later-ids.gob", "go-gob" },
        { "go/gob/named-type.gob", "go-gob" },
        { "spark/v1-emptykey/filter.bin", "spark" },
        { "spark/v2-small10/filter.bin", "spark" },
        { "dcso/v1-small10/filter.bin", "dcso" },
        { "dcso/v1-med1000-p03/filter.bin", "dcso" },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz" },
        { "dcso/v01-binary200/filter.bin", "dcso01" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct golden_file f = golden_read(rows[i].path);
        blm_bid            best[2];
        size_t             head = f.len < 64 ? f.len : 64;
        if (!reads(rows[i].format))
            continue;
        size_t n = blm_sniff(f.data, head, f.len, best, 2);
        if (n == 0 || strcmp(best[0].format, rows[i].format) != 0 ||
            (n > 1 && best[1].bid == best[0].bid))
            fail_msg("%s: %s bids %d, %s bids %d", rows[i].path, n ? best[0].format : "nobody",
                     n ? best[0].bid : 0, n > 1 ? best[1].format : "nobody",
                     n > 1 ? best[1].bid : 0);
        /* A stream's length is not known: less sure. */
        int unsure = bid_of(rows[i].format, f.data, head, 0);
        assert_true(unsure > 0 && unsure <= best[0].bid);
        /* Another length, where the header tells the length. */
        if (strcmp(rows[i].format, "guava") == 0 || strcmp(rows[i].format, "spark") == 0 ||
            strcmp(rows[i].format, "go") == 0 || strcmp(rows[i].format, "dcso01") == 0) {
            assert_int_equal(bid_of(rows[i].format, f.data, head, f.len + 1), 0);
            assert_int_equal(bid_of(rows[i].format, f.data, head, f.len - 1), 0);
        }
        golden_free_file(&f);
    }
}

/* One field of a good head at a time set to what no filter has. */
static void test_near_misses(void **state)
{
    (void)state;
    static const struct {
        const char *path, *format;
        size_t      at, len;
        const char *bytes;
        size_t      head; /* how much of it is shown; 0: all */
    } rows[] = {
        { "guava/m64-small10/filter.bin", "guava", 0, 1, "\2", 0 },
        { "guava/m64-small10/filter.bin", "guava", 1, 1, "\0", 0 },
        { "guava/m64-small10/filter.bin", "guava", 2, 4, "\0\0\0\0", 0 },
        { "guava/m64-small10/filter.bin", "guava", 2, 4, "\200\0\0\0", 0 },
        { "guava/m64-small10/filter.bin", "guava", 0, 0, "", 5 },
        { "spark/v1-emptykey/filter.bin", "spark", 3, 1, "\3", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 3, 1, "\0", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 4, 4, "\0\0\0\0", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 4, 4, "\0\0\10\1", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 8, 4, "\0\0\0\0", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 8, 4, "\200\0\0\0", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 0, 0, "", 15 },
        { "go/small10/filter.bin", "go", 0, 8, "\0\0\0\0\0\0\0\0", 0 },
        { "go/small10/filter.bin", "go", 8, 8, "\0\0\0\0\0\0\0\0", 0 },
        { "go/small10/filter.bin", "go", 0, 0, "", 23 },
        { "go/small10/filter.json", "go-json", 0, 1, "[", 0 },
        { "go/small10/filter.json", "go-json", 1, 1, "m", 0 },
        { "go/small10/filter.json", "go-json", 2, 1, "x", 4 },
        { "go/small10/filter.json", "go-json", 3, 1, "m", 0 },
        { "go/small10/filter.json", "go-json", 0, 0, "", 3 },
        { "go/small10/filter.json", "go-json", 0, 0, "", 1 },
        { "go/small10/filter.gob", "go-gob", 0, 1, "\11", 0 },
        { "go/small10/filter.gob", "go-gob", 2, 1, "\202", 0 },
        { "go/small10/filter.gob", "go-gob", 3, 1, "\7", 0 },
        { "go/small10/filter.gob", "go-gob", 4, 1, "\2", 0 },
        { "go/small10/filter.gob", "go-gob", 5, 1, "\3", 0 },
        { "go/small10/filter.gob", "go-gob", 8, 1, "\1", 0 },
        { "go/small10/filter.gob", "go-gob", 9, 1, "\1", 0 },
        { "go/small10/filter.gob", "go-gob", 10, 1, "\1", 0 },
        { "go/small10/filter.gob", "go-gob", 0, 0, "", 10 },
        { "dcso/v1-small10/filter.bin", "dcso", 0, 1, "\2", 0 },
        { "dcso/v1-small10/filter.bin", "dcso", 16, 8, "\0\0\0\0\0\0\360\77", 0 }, /* p = 1 */
        { "dcso/v1-small10/filter.bin", "dcso", 24, 1, "\0", 0 },
        { "dcso/v1-small10/filter.bin", "dcso", 32, 1, "\0", 0 },
        { "dcso/v1-small10/filter.bin", "dcso", 32, 1, "\201", 0 }, /* more bits than there are */
        { "dcso/v1-small10/filter.bin", "dcso", 0, 0, "", 47 },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz", 0, 1, "\36", 0 },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz", 1, 1, "\212", 0 },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz", 2, 1, "\7", 0 },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz", 0, 0, "", 2 },
        { "dcso/v01-binary200/filter.bin", "dcso01", 12, 4, "\0\0\0\0", 0 },
        { "dcso/v01-binary200/filter.bin", "dcso01", 16, 4, "\0\0\0\0", 0 },
        { "dcso/v01-binary200/filter.bin", "dcso01", 0, 0, "", 23 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct golden_file f    = golden_read(rows[i].path);
        size_t             head = rows[i].head ? rows[i].head : f.len < 64 ? f.len : 64;
        memcpy(f.data + rows[i].at, rows[i].bytes, rows[i].len);
        if (bid_of(rows[i].format, f.data, head, f.len) != 0)
            fail_msg("row %zu: %s bids for it", i, rows[i].format);
        golden_free_file(&f);
    }
}

/* White space before and inside; every member may come first. */
static void test_json_heads(void **state)
{
    (void)state;
    if (!reads("go-json"))
        skip();
    static const char *const good[] = { "{\"m\"", " \t\r\n{ \n\"k\":", "{\"b\":\"", "{\r\"m\":1" };
    static const char *const bad[]  = { "", " ", "{", "{\"", "{\"m", "{\"mm\"", "{m", "\"m\"" };
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(bid_of("go-json", good[i], strlen(good[i]), 0) > 0);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(bid_of("go-json", bad[i], strlen(bad[i]), 0), 0);
}

/* The version word's upper bytes are ignored, but make it less likely. */
static void test_dcso_flags(void **state)
{
    (void)state;
    struct golden_file f    = golden_read("dcso/v1-small10/filter.bin");
    int                sure = bid_of("dcso", f.data, 48, f.len);
    f.data[3]               = 1;
    int less                = bid_of("dcso", f.data, 48, f.len);
    assert_true(less > 0 && less < sure);
    golden_free_file(&f);
}

/* ---- files that we write ---- */

/* Whose these bytes are, by their first 64 (as a file is opened) and by all of them: the format's
 * own, or ambiguous; another's never. Returns how often it was ambiguous. */
static int judge_own(const char *format, const uint8_t *bytes, size_t len, uint64_t total)
{
    int ties = 0;
    for (size_t head = len < 64 ? len : 64;; head = len) {
        blm_bid bids[32];
        size_t  n = blm_sniff(bytes, head, total, bids, COUNT_OF(bids)), own = 0;
        while (own < n && strcmp(bids[own].format, format) != 0)
            own++;
        if (own == n || bids[own].bid < bids[0].bid)
            fail_msg("%s: %zu bytes of %llu are taken for %s (%d)", format, head,
                     (unsigned long long)total, n ? bids[0].format : "nobody's",
                     n ? bids[0].bid : 0);
        ties += n > 1 && bids[0].bid == bids[1].bid;
        if (head == len)
            return ties;
    }
}

static int judge_filter(const blm_filter *f, const char *format)
{
    struct bytes b = { 0 };
    blm_error    e = { .text = "" };
    if (blm_encode(f, format, bytes_add, &b, &e) != BLM_OK)
        fail_msg("%s: %s", format, e.text);
    int ties = judge_own(format, b.p, b.len, b.len);
    free(b.p);
    return ties;
}

/* Adds keys one after another up to n: adds change bits, and the counts in headers. */
static int judge_filling(blm_filter *f, const char *format, uint64_t n)
{
    int ties = judge_filter(f, format);
    for (uint64_t i = 1; i <= n; i++) {
        char key[24];
        int  len = snprintf(key, sizeof key, "%llu", (unsigned long long)i * 7919);
        blm_add(f, key, (size_t)len);
        if (i < 3 || i == n)
            ties += judge_filter(f, format);
    }
    return ties;
}

static blm_filter *made(const char *scheme, uint64_t n, double p)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    o.scheme      = scheme;
    o.items       = n;
    o.rate        = p;
    blm_create(&o, &f, NULL); /* some sizes are refused */
    return f;
}

/* Every format that we write and tell by its bytes. */
static void test_own_files(void **state)
{
    (void)state;
    static const struct {
        const char *scheme, *format;
    } rows[] = {
        { "native", "native" },
        { "guava64", "guava" },
        { "guava32", "guava" },
        { "go", "go" },
        { "go", "go-json" },
        { "go", "go-gob" },
        { "spark1", "spark" },
        { "spark2", "spark" },
        { "dcso", "dcso" },
        { "dcso", "dcso-gz" },
        { "dcso01", "dcso01" },
        { "bip37", "bip37" },
        { "parquet", "parquet" },
        { "redisbloom", "redisbloom" },
        { "redisbloom", "redisbloom-dump" },
    };
    static const double rates[] = { 0.5, 0.1, 0.01, 1e-3, 1e-6 };
    uint64_t            most    = quick_tests() ? 20 : 300;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint64_t n = 1; reads(rows[i].format) && n <= most; n++)
            for (size_t j = 0; j < COUNT_OF(rates); j++) {
                blm_filter *f = made(rows[i].scheme, n, rates[j]);
                if (!f)
                    continue;
                if (judge_filling(f, rows[i].format, n) != 0)
                    fail_msg("%s for %llu keys at %g is ambiguous", rows[i].format,
                             (unsigned long long)n, rates[j]);
                blm_free(f);
            }
}

/* 64 800 files without a magic number, empty and with one key. */
static void test_own_dcso01(void **state)
{
    (void)state;
    static const double rates[] = { 0.9,  0.75, 0.5,  0.3,  0.2,  0.1,  0.07, 0.05, 0.03,
                                    0.02, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9 };
    uint64_t            most    = quick_tests() ? 30 : 3600;
    for (size_t j = 0; j < COUNT_OF(rates); j++)
        for (uint64_t n = 1; n <= most; n++) {
            blm_filter *f = made("dcso01", n, rates[j]);
            if (f && judge_filling(f, "dcso01", 1) != 0)
                fail_msg("dcso01 for %llu keys at %g is ambiguous", (unsigned long long)n,
                         rates[j]);
            blm_free(f);
        }
}

/* n is the first field of dcso01: here it is every other format's first four bytes. */
static void test_dcso01_that_begins_like_others(void **state)
{
    (void)state;
    static const char   heads[][5] = { "{\"m\"",       "{\"k\"",   "{\"b\"",   "PAR1", "\37\213\10",
                                       "\25\200\1\34", "\0\0\0\1", "\0\0\0\2", "\1\7" };
    static const double rates[]    = { 0.5, 0.25, 0.1, 0.01, 1e-3, 1e-6 };
    for (size_t i = 0; i < COUNT_OF(heads); i++)
        for (size_t j = 0; j < COUNT_OF(rates); j++) {
            uint8_t  h[64] = { 0 };
            uint64_t n     = blm__get32le((const uint8_t *)heads[i]);
            double   m     = fabs(ceil((double)n * log(rates[j]) / pow(log(2), 2)));
            if (m > UINT32_MAX || m < 1)
                continue;
            blm__put32le(h, (uint32_t)n);
            blm__put64le(h + 4, blm__f64_bits(rates[j]));
            blm__put32le(h + 12, (uint32_t)ceil(log(2) * m / (double)n));
            blm__put32le(h + 16, (uint32_t)m);
            uint64_t total = 24 + ((uint64_t)m + 63) / 64 * 8;
            assert_int_equal(
                judge_own("dcso01", h, total < sizeof h ? (size_t)total : sizeof h, total), 0);
        }
}

/* m and k that do not follow from n and p may be a bip37 filter's bits: then it must be said. */
static void test_unplanned_dcso01(void **state)
{
    (void)state;
    int ties = 0;
    for (uint64_t n = 1; n < 250; n++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f;
        o.scheme = "dcso01";
        o.items  = n;
        o.bits   = 64;
        o.probes = 3;
        assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
        ties += judge_filling(f, "dcso01", 1);
        blm_free(f);
    }
    assert_true(ties > 0); /* n = 22: 32 bytes, of which bip37 has 22 */
}

/* Without a length, too, though it then may as well be a bip37 filter; but bytes that only look like
 * one, as almost any do, are called nobody's. */
static void test_streams(void **state)
{
    (void)state;
    static const struct {
        const char *path, *format;
    } rows[] = {
        { "dcso/v01-binary200/filter.bin", "dcso01" },
        { "dcso/v01-med1000-p03/filter.bin", "dcso01" },
        { "bip37/med1000-p03/filter.bin", "bip37" },
        { "redisbloom-cf/default-auto/dump.bin", "redisbloom-cf-dump" },
    };
    blm_filter *filter = NULL;
    blm_error   e      = { .text = "" };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct golden_file f  = golden_read(rows[i].path);
        struct bytes       in = { .p = (uint8_t *)f.data, .len = f.len, .sip = 1000 };
        if (blm_decode_stream(bytes_get, &in, NULL, &filter, &e) != BLM_OK)
            fail_msg("%s: %s", rows[i].path, e.text);
        assert_string_equal(params_of(filter).format, rows[i].format);
        blm_free(filter);
        golden_free_file(&f);
    }
    uint8_t      any[300];
    struct bytes in = { .p = any, .len = sizeof any };
    memset(any, 100, sizeof any);
    assert_status(blm_decode_stream(bytes_get, &in, NULL, &filter, &e), BLM_E_FORMAT);
    assert_non_null(strstr(e.text, "not a filter of any format"));
    assert_int_equal(e.offset, 0);
    blm_options o = BLM_OPTIONS_INIT; /* …unless it was said whose they are */
    o.format      = "bip37";
    in.at         = 0;
    assert_status(blm_decode_stream(bytes_get, &in, &o, &filter, &e), BLM_E_FORMAT);
    assert_non_null(strstr(e.text, "bip37 has at most 50"));
}

/* Sizes by hand: without a length nobody knows whose it is. */
static void test_unplanned_dcso01_stream(void **state)
{
    (void)state;
    blm_options  o = BLM_OPTIONS_INIT;
    struct bytes b = { 0 };
    blm_filter  *f, *g = NULL;
    blm_error    e = { .text = "" };
    o.scheme       = "dcso01";
    o.items        = 22;
    o.bits         = 6400;
    o.probes       = 3;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    assert_int_equal(blm_encode(f, "dcso01", bytes_add, &b, NULL), BLM_OK);
    assert_status(blm_decode_stream(bytes_get, &b, NULL, &g, &e), BLM_E_AMBIGUOUS);
    assert_non_null(strstr(e.text, "dcso01, bip37"));
    free(b.p);
    blm_free(f);
}

/* The first bytes fit, the length does not: the error says whose they are. */
static void test_near_miss_is_named(void **state)
{
    (void)state;
    struct golden_file f = golden_read("guava/m64-small10/filter.bin");
    blm_filter        *filter;
    blm_error          e = { .text = "" };
    assert_int_equal(blm_decode(f.data, f.len - 1, NULL, &filter, &e), BLM_E_FORMAT);
    assert_non_null(strstr(e.text, "guava"));
    golden_free_file(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_near_misses),
        cmocka_unit_test(test_json_heads),
        cmocka_unit_test(test_dcso_flags),
        cmocka_unit_test(test_own_files),
        cmocka_unit_test(test_own_dcso01),
        cmocka_unit_test(test_dcso01_that_begins_like_others),
        cmocka_unit_test(test_unplanned_dcso01),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_unplanned_dcso01_stream),
        cmocka_unit_test(test_near_miss_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
